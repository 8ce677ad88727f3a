"""The parts of a method: do its parameters, records, hooks and claim have the form that the contract asks for?"""

import sys
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np
from pydantic import ValidationError

from coterie import contract
from coterie.checking.source import Function, check_body, check_parameters, function_of, parameters_of
from coterie.contract import DEPLOYED, HOOKS, SWITCHES, Algorithm, Entry, Method, Options, out_record, plan_record
from coterie.engines.faults import tale_record
from coterie.errors import AlgorithmError
from coterie.guests import place_of, reason_of, shown
from coterie.privacy.mechanisms import Mechanism
from coterie.privacy.secret import secret_record
from coterie.privacy.statement import Claim

RECORDS = ("open", "message", "peer", "card", "inner", "hears")
COUNTS = ("chains", "marks", "moves", "stream")
STRUCTURES = ("peers", "server", "synchronise", "hybrid", "alone")


def file_of(entry: Entry) -> str:
    """Where an algorithm is written."""
    module = sys.modules.get(entry.options.__module__)
    return str(getattr(module, "__file__", None) or entry.name)


def check_entry(entry: Entry, file: str) -> None:
    """Before it is built."""
    if not (isinstance(entry.options, type) and issubclass(entry.options, Options)):
        raise AlgorithmError(f"{shown(file)}: options of {entry.name!r} must be a class that is made from Options")
    examples = entry.examples
    if not isinstance(examples, tuple | list) or not examples or not all(isinstance(one, dict) for one in examples):
        raise AlgorithmError(f"{shown(file)}: examples of {entry.name!r} must be a tuple of dicts, got {examples!r:.40}")
    if entry.problem not in ("arms", "procurement"):
        raise AlgorithmError(f"{shown(file)}: problem of {entry.name!r} must be 'arms' or 'procurement', got {entry.problem!r}")
    for example in examples:
        try:
            entry.options(**example)
        except Exception as error:
            what = f"example {example} of {entry.name!r} must be options that it takes"
            known = f"it takes {', '.join(entry.options.model_fields) or 'none'}, each in its range"
            strange = isinstance(error, ValidationError)  # whose own words are about classes
            raise AlgorithmError(f"{shown(file)}: {what}: {known if strange else reason_of(error)}") from None


def check_method(method: Any, file: str) -> None:
    """What `build` returned."""
    place = f"{shown(file)}: build"
    wanted = ((method, Method), (getattr(method, "node", None), Algorithm), (getattr(method, "claim", None), Claim))
    for given, kind in wanted:
        if not isinstance(given, kind):
            got = f"{type(given).__name__} for {kind.__name__}"
            raise AlgorithmError(f"{place} must return a Method(Algorithm, params(...), Claim), got {got}")
    if not isinstance(method.claim.epsilon, Real) or not isinstance(method.claim.delta, Real):
        raise AlgorithmError(f"{place}: epsilon and delta of a claim must be numbers, got {method.claim.epsilon!r:.40}")
    if method.claim.fault:
        raise AlgorithmError(f"{place}: {method.claim.fault}")
    if method.structure not in STRUCTURES:
        raise AlgorithmError(f"{place}: structure must be one of {', '.join(STRUCTURES)}, got {method.structure!r}")
    if (method.structure == "peers") != (method.server is None):
        needs = "no server" if method.structure == "peers" else "a server (an Algorithm)"
        raise AlgorithmError(f"{place}: structure {method.structure!r} has {needs}, got {type(method.server).__name__}")
    check_params(method.p, place)
    for role in roles_of(method):
        check_role(role, method.p, file)
    check_known(method, place)
    check_talk(method, place)


def roles_of(method: Method) -> list[Algorithm]:
    return [method.node, *([method.server] if method.server else [])]


def check_params(p: Any, place: str) -> None:
    names = getattr(p, "_fields", None)
    if not isinstance(p, tuple) or names is None:
        raise AlgorithmError(f"{place}: parameters must be made by params(options, setting), got {type(p).__name__}")
    if "arms" not in names:
        raise AlgorithmError(f"{place}: parameters must have a field 'arms', got {', '.join(names) or 'none'}")
    for name, value in zip(names, p, strict=True):
        if not isinstance(value, bool | int | float | np.integer | np.floating | np.bool_ | np.record):
            raise AlgorithmError(f"{place}: parameter {name!r} must be a number, got {value!r:.40}")
        if isinstance(value, int | np.integer) and not -(2**63) <= int(value) < 2**63:
            raise AlgorithmError(
                f"{place}: parameter {name!r} must be in [-2^63, 2^63 - 1], got {int(value).bit_length()} bits"
            )


def check_known(method: Method, place: str) -> None:
    fields = method.node.open(method.p).names or ()
    for field in method.known:
        if field not in fields:
            raise AlgorithmError(f"{place}: known must name fields of open ({', '.join(fields)}), got {field!r}")


def check_talk(method: Method, place: str) -> None:
    """Either side hears what the other one says."""
    if method.server is None:
        return
    for ear, mouth in ((method.node, method.server), (method.server, method.node)):
        if (ear.hears or ear.message)(method.p) != mouth.message(method.p):
            raise AlgorithmError(f"{place}: hears of {ear.name} must be the message of {mouth.name}, got another record")


def check_role(role: Algorithm, p: Any, file: str) -> None:
    place = f"{shown(file)}: {role.name}"
    if not isinstance(role.name, str) or not role.name.isidentifier():
        raise AlgorithmError(f"{shown(file)}: the name of an Algorithm must be letters, digits and _, got {role.name!r:.40}")
    if not isinstance(role.mechanism, Mechanism):
        raise AlgorithmError(f"{place}: mechanism must be one of coterie.privacy.mechanisms, got {role.mechanism!r:.40}")
    if role.additive not in ("", "words", "news"):
        raise AlgorithmError(f"{place}: additive must be '', 'words' or 'news', got {role.additive!r:.40}")
    if (role.peek or role.overhear) and not role.caveat:
        raise AlgorithmError(f"{place}: caveat must say why {'peek' if role.peek else 'overhear'} may read the secret, got ''")
    records = {name: check_record(getattr(role, name), name, p, place) for name in RECORDS if getattr(role, name)}
    for name in COUNTS:
        count = called(getattr(role, name), name, p, place)
        if not isinstance(count, int | np.integer) or count < (1 if name == "chains" else 0):
            raise AlgorithmError(f"{place}: {name} must give a whole number, got {count!r:.40}")
    if role.additive:
        check_sum(records["message"], place)
    for name, hook in hooks_of(role, place):
        check_parameters(hook, name, getattr(contract, name))
        check_body(hook, fields_for(role, p, records, name, hook))


def hooks_of(role: Algorithm, place: str) -> list[tuple[str, Function]]:
    """Those that are its own."""
    given = [(name, getattr(role, name)) for name in HOOKS + SWITCHES + DEPLOYED]
    return [
        (name, function_of(made, place, name))
        for name, made in given
        if made is not None and made is not getattr(contract, name)
    ]


def called(function: Callable, name: str, p: Any, place: str) -> Any:
    """The answer of a function of the parameters."""
    if not callable(function):
        raise AlgorithmError(f"{place}: {name} must be a function of the parameters, got {function!r:.40}")
    try:
        return function(p)
    except Exception as error:
        code = getattr(function, "__code__", None)
        where = place_of(error, code.co_filename) if code else place
        raise AlgorithmError(f"{where}: {reason_of(error)}") from error


def check_record(function: Any, name: str, p: Any, place: str) -> np.dtype:
    kind = called(function, name, p, place)
    code = getattr(function, "__code__", None)
    where = f"{shown(code.co_filename)}:{code.co_firstlineno}: {function.__name__}" if code else f"{place}: {name}"
    if not isinstance(kind, np.dtype) or not kind.names:
        raise AlgorithmError(f"{where} must return record(field=int64, ...), got {kind!r:.40}")
    for field in kind.names:
        if kind[field].base not in (np.int64, np.float64):
            raise AlgorithmError(f"{where}: field {field!r} must be int64 or float64, got {kind[field].base}")
        if hasattr(np.void, field):
            raise AlgorithmError(f"{where}: field {field!r} must have another name: numpy hides it behind a method")
    if kind.itemsize != sum(kind[field].itemsize for field in kind.names):
        raise AlgorithmError(f"{where} must be made by record(...), got fields with gaps between them")
    return kind


def check_sum(message: np.dtype, place: str) -> None:
    fields = [message[name] for name in message.names or ()]
    if any(field.base != np.int64 for field in fields) or fields[0].shape or message.itemsize < 16:
        raise AlgorithmError(f"{place}: a message that is additive must be an arm and then whole numbers, all int64")


def fields_for(role: Algorithm, p: Any, records: dict[str, np.dtype], name: str, hook: Function) -> dict[str, frozenset[str]]:
    """What each parameter of a hook is made of, by its place in the contract."""
    message = records.get("hears", records["message"]) if name in ("hear", "overhear", "fits") else records["message"]
    kinds: dict[str, Any] = {
        "secret": secret_record(p.arms, role.marks(p), True), "inner": records["inner"], "open": records["open"],
        "peer": records["peer"], "peers": records["peer"], "plan": plan_record(p), "out": out_record(role, p),
        "message": message, "card": records["card"], "mine": records["card"], "theirs": records["card"],
        "tale": tale_record(p),
    }  # fmt: skip
    fields = {parameter: frozenset(kind.names or ()) for parameter, kind in kinds.items()} | {"p": frozenset(p._fields)}
    pairs = zip(parameters_of(getattr(contract, name)), hook.names, strict=True)
    return {own: fields[parameter] for parameter, own in pairs if parameter in fields}
