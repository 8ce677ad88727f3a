"""No hook without a caveat can name a raw reward: by its signature, by what engines hand it, and by what it then finds there.

Engines are read as text, as they are written down for an algorithm: every argument of a hook is traced to the memory it is in.
"""

import ast
import inspect
import sys
from math import inf
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numpy import int64

from coterie import contract
from coterie.algorithms import entries
from coterie.contract import HOOKS, SWITCHES, Algorithm, Claim, Method, Setting, Terms, offer, order, out_record, plan_record
from coterie.engines import leap, mesh, pool, star
from coterie.engines.agent import Agent
from coterie.engines.bind import bind
from coterie.engines.chance import System
from coterie.engines.simulate import simulate_mesh, simulate_star
from coterie.errors import AlgorithmError
from coterie.kernel import node, record
from coterie.network import path
from coterie.privacy.offers import SAID
from coterie.privacy.secret import secret_record
from coterie.problem import bernoulli
from coterie.problem.harvest import harvest_record
from coterie.studies.case import reach

NOSY = ("peek", "overhear")
SETTING = Setting(4, 3, 4000, gap=0.12, components=(3, 1), terms=Terms(np.ones((4, 3)), np.ones((4, 3)), 0.5, 1.0))
METHODS = {
    f"{name} {example}": entry.build(entry.options(**example), SETTING)
    for name, entry in entries().items()
    for example in entry.examples
}


def roles_of(method):
    return [role for role in (method.node, method.server) if role is not None]


def parameters(hook):
    return tuple(inspect.signature(hook).parameters)


# --- by signature -------------------------------------------------------------------------------------


def test_the_contract_hands_the_secret_to_two_hooks_only():
    for name in (*HOOKS, *SWITCHES):
        named = set(parameters(getattr(contract, name)))
        assert ({"secret", "inner"} <= named) == (name in NOSY)
        assert not named & {"harvest", "world", "keys", "ledger"}
        assert name in NOSY or not named & {"secret", "inner"}


@pytest.mark.parametrize("name", METHODS)
def test_hooks_take_as_much_as_the_contract_says_and_none_without_a_caveat_names_the_secret(name):
    for role in roles_of(METHODS[name]):
        given = {hook: parameters(getattr(role, hook)) for hook in (*HOOKS, *SWITCHES) if getattr(role, hook) is not None}
        for hook, named in given.items():
            assert len(named) == len(parameters(getattr(contract, hook)))
            assert hook in NOSY or not set(named) & {"secret", "inner", "harvest", "world", "keys", "ledger"}
        assert role.caveat or not set(given) & set(NOSY)


@pytest.mark.parametrize("name", METHODS)
def test_no_record_of_a_hook_is_one_that_the_engine_fills_with_rewards(name):
    """A plan says what is pulled, an outbox what is asked for. What the door puts in there is not in release's part of it."""
    p = METHODS[name].p
    raw = {secret_record(p.arms, marks, alike) for marks in range(8) for alike in (True, False)} | {harvest_record(p)}
    assert plan_record(p).names == ("entries", "arms", "wrong", "arm", "pulls")
    for role in roles_of(METHODS[name]):
        kinds = [role.open, role.message, role.peer, role.card, role.hears or role.message]
        assert not {kind(p) for kind in kinds} & raw
        said = {"entries", "each", "arm", "stretch", "chain", "price"}
        moved, filled_in = {"moves", "move_arm", "move_from", "move_to"}, {"value", "first", "last", "sensitivity"}
        assert set(out_record(role, p).names) == said | moved | filled_in
        assert set(SAID) == said | moved


# --- by what engines hand over ------------------------------------------------------------------------

KINDS = {  # what lies where, in the words of the engines; an index says whose
    "open": {"open", "opens", "server"},
    "peer": {"peer", "n.peers", "desks"},
    "plan": {"plan", "plans.plan", "o.plans", "part"},
    "out": {"out"},
    "offers": {"offers_of(out)"},  # all of an outbox that release is handed
    "message": {"message", "wire", "o.wire", "report", "decision", "news"},
    "card": {"card", "cards", "mine", "theirs"},
    "tale": {"tale"},
    "p": {"p"},
    "t": {"t", "passed"},
    "secret": {"secret", "secrets"},
    "inner": {"inner", "inners"},
}
SAME = {"peers": "peer", "mine": "card", "theirs": "card", "opens": "open", "decision": "message", "report": "message"}
SOURCES = {  # where the local names of an engine may come from
    "open": {"hall.opens"},
    "opens": {"n.opens"},
    "server": {"hall.opens"},
    "desks": {"hall.desks"},
    "plan": {"common.plan", "plans.plan", "o.plans"},
    "part": {"common.plan"},
    "out": {"common.out", "hall.out"},
    "wire": {"w.wire", "c.wire"},
    "report": {"hall.report"},
    "decision": {"hall.decision"},
    "news": {"o.news"},
    "cards": {"w.cards"},
    "tale": {"common.tale"},
}
ENGINES = {
    "mesh": (mesh, Algorithm("any"), None),
    "leap": (leap, Algorithm("any", commits=True), None),
    "pool": (pool, Algorithm("any", additive="words"), None),
    "star": (star, Algorithm("any"), Algorithm("any_server")),
}


def written_down(engine):
    """The functions of an engine, as it is written down."""
    module, role, server = ENGINES[engine]
    run = bind(module, role, bernoulli, server, compiled=False)
    tree = ast.parse(Path(sys.modules[run.__module__].__file__).read_text())
    return [item for item in tree.body if isinstance(item, ast.FunctionDef)]


def root(value):
    """What an expression is a part of: a name, or a field of a group of arrays."""
    while isinstance(value, ast.Subscript):
        value = value.value
    return ast.unparse(value)


def assignments(function):
    """(name, expression) of every assignment to a name, also of several at once."""
    for item in ast.walk(function):
        if isinstance(item, ast.Assign):
            for target in item.targets:
                several = isinstance(target, ast.Tuple)
                values = item.value.elts if several and isinstance(item.value, ast.Tuple) else [item.value]
                yield from zip((ast.unparse(t) for t in (target.elts if several else [target])), values, strict=False)


def is_die_of_hooks(value, function):
    """Made of keys.dice, and of no other key."""
    if isinstance(value, ast.Name):
        return all(is_die_of_hooks(made, function) for name, made in assignments(function) if name == value.id)
    assert isinstance(value, ast.Call) and value.func.id in ("stream", "fold")
    first = value.args[0]
    return ast.unparse(first) == "keys.dice" if value.func.id == "stream" else is_die_of_hooks(first, function)


def hook_of(call):
    """The name in the contract, if it is a hook that is called."""
    name = getattr(call.func, "id", "").removeprefix("server_")
    return name if name in (*HOOKS, *SWITCHES) else None


def calls(engine):
    """(function it stands in, call, names of the parameters) of hooks, and of the engine's own functions."""
    functions = written_down(engine)
    own = {function.name: tuple(a.arg for a in function.args.args) for function in functions}
    for function in functions:
        for call in ast.walk(function):
            if isinstance(call, ast.Call) and (hook := hook_of(call)):
                named = parameters(getattr(contract, hook))
                yield function, call, tuple("offers" if (hook, n) == ("release", "out") else n for n in named)
            elif isinstance(call, ast.Call) and getattr(call.func, "id", "") in own:
                yield function, call, own[call.func.id]


@pytest.mark.parametrize("engine", ENGINES)
def test_every_argument_of_a_hook_is_of_the_kind_that_it_is_named_after(engine):
    """Also on the way through functions of the engine: where a parameter is called `open`, it is handed an open record."""
    called = set()
    for function, call, named in calls(engine):
        assert len(call.args) == len(named) and not call.keywords
        for name, value in zip(named, call.args, strict=True):
            kind = SAME.get(name, name)
            if kind in KINDS:
                assert root(value) in KINDS[kind], ast.unparse(call)
            elif name == "die" and hook_of(call):
                assert is_die_of_hooks(value, function), ast.unparse(call)
            elif hook_of(call):
                assert root(value) == name, ast.unparse(call)
        called.add(hook_of(call))
    assert {"choose", "release", "publish", "speak", "hear", "peek", "overhear", "lie"} <= called


@pytest.mark.parametrize("engine", ENGINES)
def test_only_hooks_with_a_caveat_are_handed_the_secret_or_what_is_derived_from_it(engine):
    for _, call, _ in calls(engine):
        if (hook := hook_of(call)) and hook not in NOSY:
            words = {word.id if isinstance(word, ast.Name) else word.attr for word in ast.walk(call)
                     if isinstance(word, ast.Name | ast.Attribute)}  # fmt: skip
            raw = {"secret", "secrets", "inner", "inners", "harvest", "world", "worlds", "noise", "ledger", "ledgers"}
            assert not words & raw, ast.unparse(call)
            assert "keys" not in words or "keys.dice" in ast.unparse(call)


@pytest.mark.parametrize("engine", ENGINES)
def test_what_hooks_are_handed_lies_where_its_name_says_and_engines_write_nothing_into_open_records(engine):
    for function in written_down(engine):
        for name, value in assignments(function) if function.name != "run" else ():  # which takes groups of arrays apart
            assert name not in SOURCES or root(value) in SOURCES[name], (function.name, name, ast.unparse(value))
        for item in ast.walk(function):
            targets = item.targets if isinstance(item, ast.Assign) else [item.target] if isinstance(item, ast.AugAssign) else []
            for target in targets:
                for part in target.elts if isinstance(target, ast.Tuple) else [target]:
                    written = root(part).partition(".")[0] if not isinstance(part, ast.Name) else ""
                    assert written not in KINDS["open"] | KINDS["peer"] | KINDS["card"] | {"message", "report", "decision"}


# --- by what is found there ---------------------------------------------------------------------------


class Params(NamedTuple):
    arms: int = 3


def open_record(p):
    return record(seen=int64, passed=int64, arm=int64)


def word_record(p):
    return record(arm=int64, total=int64)


@node
def choose(open, p, t, die, plan):
    open.arm = t % p.arms
    order(plan, open.arm, 2)


@node
def offer_twice(open, p, t, plan, out):
    offer(out, plan.arm[0], inf)
    offer(out, plan.arm[0], 0.5)


@node
def look_and_offer(open, p, t, plan, out):
    if t > 2:
        open.seen = out.value[0]
    offer_twice(open, p, t, plan, out)


@node
def publish(open, p, t, plan, out):
    for e in range(out.entries):
        open.passed += 1 if out.value[e] != 0 else 0


@node
def speak(open, p, t, message):
    message.arm, message.total = open.arm, open.passed
    return 2


HONEST = Algorithm("node", open_record, word_record, choose=choose, release=offer_twice, publish=publish, speak=speak)
SERVER = Algorithm("server", open_record, word_record, release=offer_twice, publish=publish, speak=speak, trusted=True)
LOOKING = {"release": look_and_offer}
WORLDS = bernoulli.world(np.full((1, 3), 0.9))


def meet_peers(node, compiled=False):
    method, links = Method(node, Params(), Claim(inf)), reach([path(4)], 1, 1)
    return simulate_mesh(method, bernoulli, WORLDS, 4, 20, np.array([20]), links, compiled=compiled)


def serve(node, server):
    method = Method(node, Params(), Claim(inf), server, structure="server")
    return simulate_star(method, bernoulli, WORLDS, 4, 40, np.array([40]), compiled=False)


@pytest.mark.parametrize("additive", ["", "news"], ids=["mesh", "pool"])
def test_release_finds_no_value_of_anyone_in_its_outbox_among_peers(additive):
    """All agents have one outbox in turn."""
    node = HONEST._replace(additive=additive)
    assert meet_peers(node).opens["passed"].min() >= 20
    with pytest.raises(AttributeError, match="no field 'value'"):
        meet_peers(node._replace(**LOOKING))


def test_a_release_that_looks_for_a_value_does_not_compile():
    with pytest.raises(AlgorithmError, match="value"):
        meet_peers(HONEST._replace(**LOOKING), compiled=True)


def test_release_finds_no_value_of_anyone_in_its_outbox_around_a_server():
    node = HONEST._replace(trusts=True)
    run = serve(node, SERVER)
    assert run.opens["passed"].min() >= 20
    assert run.servers["passed"].min() >= 20
    for roles in ((node._replace(**LOOKING), SERVER), (node, SERVER._replace(**LOOKING))):
        with pytest.raises(AttributeError, match="no field 'value'"):
            serve(*roles)


def test_release_of_a_deployed_agent_finds_no_value_either():
    agent = Agent(HONEST._replace(**LOOKING), Params(), System())
    for t in (1, 2, 3):
        agent.begin(t)
        while any(agent.left):
            agent.tell(agent.ask()[0], 1.0)
        if t < 3:
            agent.finish()
            assert agent.out.value.any()
    with pytest.raises(AlgorithmError, match="node: look_and_offer of turn 3 broke off with AttributeError"):
        agent.finish()
