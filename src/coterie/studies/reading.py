"""From a file, a name or a dict to a specification.

A study is read, changed by the `--set` overrides and checked, and its sweeps are expanded into rows. All complaints are
collected before one is reported: it is the first in the order of the file, whatever was checked first.
A file of a user's own is checked before it is asked what it takes.
"""

import hashlib
import itertools
import re
import tomllib
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel

from coterie.algorithms import names
from coterie.checking import find
from coterie.errors import UsageError, hint
from coterie.guests import shown
from coterie.studies.filling import filled
from coterie.studies.messages import (
    Complaint,
    KeyPath,
    check,
    first_of,
    given,
    spell,
    unfit_values,
    unknown_key,
)
from coterie.studies.spec import AlgorithmTable, Faults, FaultTable, Row, Settings, Specification, StudyFile

BUILTIN = Path(__file__).parent / "builtin"
DESCRIBES = {"attack": "liars", "contaminant": "contamination", "range": "contamination", "one_way": "loss"}  # which fault


class Algorithm(NamedTuple):
    """The algorithm a table names; see `Row` for `reference` and `content`."""

    name: str
    reference: str
    options: type[BaseModel]
    content: str | None = None


class Document(NamedTuple):
    """A study as it was written, but with tuples for lists. `place` is what messages call it."""

    name: str
    place: str
    folder: Path
    tree: dict[str, Any]


def load(source: str | Path | Mapping[str, Any], sets: Sequence[str] = ()) -> Specification:
    """Read a study: the path of a TOML file, the name of a built-in one, or a dict of the same shape."""
    document = read(source)
    tree, origins, given_keys = with_paths_from(document.tree, document.folder), dict[KeyPath, str](), set[str]()
    for setting in sets:
        tree, paths = override(tree, setting)
        origins |= dict.fromkeys(paths, f"--set {setting}")
        key = setting.partition("=")[0].strip()
        if key in given_keys:
            raise UsageError(f"--set {setting}: {key} must be given once, got it twice")
        given_keys.add(key)
    tree = with_paths_from(tree, Path.cwd())
    file, complaints = check(StudyFile, tree)
    complaints = [*unfit_values(tree), *complaints]
    rows = []
    for index, table in enumerate(entries(tree.get("algorithm"))):
        found, more = read_algorithm(("algorithm", index), table, document.folder)
        rows += found
        complaints += more
    faults, more = read_faults(tree.get("faults", {}), file)
    complaints += more
    if file is None or complaints:
        first, others = first_of(complaints, tree)
        place = next((text for path, text in origins.items() if first.path[: len(path)] == path), document.place)
        raise UsageError(f"{place}: {first.text}{f' (and {others} more)' if others else ''}")
    settings = {key: getattr(file, key) for key in Settings.model_fields}
    labelled = tuple(with_unique_labels(itertools.chain.from_iterable(with_faults(row, faults) for row in rows)))
    title = filled(file.title or document.name, file)
    return Specification(name=document.name, title=title, place=document.place, rows=labelled, **settings)


def read(source: str | Path | Mapping[str, Any]) -> Document:
    """Find the study and parse it."""
    if isinstance(source, Mapping):
        return Document("study", "study", Path.cwd(), frozen(source))
    file = file_of(source)
    return Document(file.stem, str(source), file.parent, parse(text_of(source), str(source)))


def builtin_names() -> list[str]:
    return sorted(path.stem for path in BUILTIN.glob("*.toml"))


def file_of(source: str | Path) -> Path:
    """A built-in name goes before a file of that name, which can be written `./name`."""
    return BUILTIN / f"{source}.toml" if isinstance(source, str) and source in builtin_names() else Path(source)


def text_of(source: str | Path) -> str:
    file = file_of(source)
    try:
        if not str(source):  # a path of no letters is the folder one stands in
            raise FileNotFoundError
        return file.read_text(encoding="utf-8-sig")  # some editors put a mark before the text
    except FileNotFoundError:
        near = hint(file.stem, builtin_names(), "`coterie studies` lists them")
        wanted = "the path of a TOML file or the name of a built-in study"
        raise UsageError(f"study must be {wanted}, got {given(str(source))}{near}") from None
    except OSError as error:
        raise UsageError(f"{source}: cannot be read: {error.strerror}") from None
    except ValueError:
        raise UsageError(f"{source}: is not text in UTF-8, as TOML is") from None


def title_of(study: str) -> str:
    """Of a built-in study, without a look at its algorithms."""
    document = read(study)
    file, _ = check(StudyFile, with_paths_from(document.tree, document.folder))
    return filled(document.tree["title"], file)


def parse(text: str, place: str) -> dict[str, Any]:
    try:
        return frozen(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        reason, _, where = str(error).partition(" (at ")
        number = re.search(r"line (\d+)", where)
        line = number[1] if number else len(text.splitlines())
        raise UsageError(f"{place}: line {line} is not valid TOML: {reason}") from None
    except (ValueError, RecursionError):  # a number of thousands of digits, brackets nested thousands deep
        raise UsageError(f"{place}: is too large or too deep for a study") from None


def frozen(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: frozen(entry) for key, entry in value.items()}
    return tuple(map(frozen, value)) if isinstance(value, list | tuple) else value


def entries(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else ()


def override(tree: dict[str, Any], setting: str) -> tuple[dict[str, Any], list[KeyPath]]:
    """Carry out one `KEY=VALUE`; also returns the places it has changed.

    A parameter of an algorithm, or a fault, replaces the sweep over it, and a sweep replaces the parameter.
    """
    key, text = split_setting(setting, "horizon=1000 or algorithm.0.epsilon=2")
    keys = key.split(".")
    try:
        paths = list(targets(tree, keys))
    except (LookupError, ValueError) as error:
        raise UsageError(f"--set {setting}: {error.args[0]}") from None
    for path in paths:
        tree = put(tree, path, parse_value(text))
        match path:
            case ("faults", "sweep", str(name)):
                tree = put(tree, ("faults",), without(tree["faults"], name))
            case ("faults", str(name)) if "sweep" in tree["faults"]:
                tree = put(tree, ("faults", "sweep"), without(tree["faults"]["sweep"], name))
            case ("algorithm", int(index), "sweep", str(name)):
                tree = put(tree, ("algorithm", index), without(tree["algorithm"][index], name))
            case ("algorithm", int(index), _) if "sweep" in tree["algorithm"][index]:
                sweep = without(tree["algorithm"][index]["sweep"], path[-1])
                tree = put(tree, ("algorithm", index, "sweep"), sweep)
    return tree, paths


def split_setting(setting: str, example: str) -> tuple[str, str]:
    """The key and the text of one `KEY=VALUE`."""
    key, equals, text = setting.partition("=")
    if not equals or not all(key.strip().split(".")):
        raise UsageError(f"--set must be KEY=VALUE such as {example}, got {given(setting)}")
    return key.strip(), text


def parse_value(text: str) -> Any:
    """Read a TOML value; what is none is text, so that quotes need not get past the shell."""
    try:
        parsed = frozen(tomllib.loads(f"value = {text}"))
    except (ValueError, RecursionError):
        return text
    return parsed["value"] if len(parsed) == 1 else text


def targets(tree: Any, keys: Sequence[str], above: KeyPath = ()) -> Iterator[KeyPath]:
    """The places dotted keys mean. A key on a list of tables, without an index, means every table of it."""
    if not keys:
        yield above
    elif isinstance(tree, tuple) and re.fullmatch(r"-\d+", keys[0]):
        raise LookupError(f"{spell(above)} must have an index in 0..{len(tree) - 1}, got {keys[0]}")
    elif isinstance(tree, tuple) and not keys[0].isdecimal():
        for index, entry in enumerate(tree):
            yield from targets(entry, keys, (*above, index))
    elif isinstance(tree, tuple):
        index = int(keys[0])
        if index >= len(tree):
            raise LookupError(f"{spell(above)} must have an index in 0..{len(tree) - 1}, got {index}")
        yield from targets(tree[index], keys[1:], (*above, index))
    elif isinstance(tree, dict):
        yield from targets(tree.get(keys[0], {}), keys[1:], (*above, keys[0]))
    else:
        raise LookupError(f"{spell(above)} must be a table to have the key {given(keys[0])}, got {given(tree)}")


def put(tree: Any, path: KeyPath, value: Any) -> Any:
    """A copy of the tree with another value at `path`."""
    if not path:
        return value
    if isinstance(tree, tuple):
        return tuple(put(entry, path[1:], value) if index == path[0] else entry for index, entry in enumerate(tree))
    return tree | {path[0]: put(tree.get(path[0], {}), path[1:], value)}


def without(table: Any, key: Any) -> Any:
    return {name: value for name, value in table.items() if name != key} if isinstance(table, dict) else table


def with_paths_from(tree: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The paths of data and of own algorithms are meant from this folder, unless they are absolute already."""
    match tree:
        case {"problem": {"file": str(file)}}:
            tree = put(tree, ("problem", "file"), str((folder / file).absolute()))
    for index, table in enumerate(entries(tree.get("algorithm"))):
        match table:
            case {"name": str(name)} if name.endswith(".py"):
                tree = put(tree, ("algorithm", index, "name"), str((folder / name).absolute()))
    return tree


def read_algorithm(path: KeyPath, table: Any, folder: Path) -> tuple[list[Row], list[Complaint]]:
    """Turn one algorithm table into its rows."""
    checked, complaints = check(AlgorithmTable, table, path)
    if checked is None:
        return [], complaints
    algorithm = identify(checked.name, (*path, "name"), folder)
    if isinstance(algorithm, Complaint):
        return [], [algorithm]
    return expand(path, table, checked, algorithm)


def read_faults(table: Any, file: StudyFile | None) -> tuple[list[tuple[str, Faults]], list[Complaint]]:
    """One set of faults for each combination of the swept values, with what tells it from others."""
    path, fields, checked = ("faults",), Faults.model_fields, file.faults if file else FaultTable()
    low, high = checked.range or (file.problem.range if file else (-inf, inf))
    wrong = [unknown_key((*path, "sweep", key), fields) for key in checked.sweep if key not in fields]
    for key in checked.sweep:
        if isinstance(table, dict) and key in table:
            place = (*path, "sweep", key)
            wrong.append(Complaint(place, f"{spell(place)} must be left out where {spell((*path, key))} is given"))
    if wrong or not isinstance(table, dict):
        return [], wrong
    wrong = [*idle_faults(table, checked.sweep), *repeated(path, checked.sweep)] if file else []
    if wrong:
        return [], wrong
    fixed, found, complaints = without(table, "sweep"), dict[Faults, str](), []
    for combination in itertools.product(*(list(enumerate(values)) for values in checked.sweep.values())):
        chosen = dict(zip(checked.sweep, combination, strict=True))
        moved: dict[str, KeyPath] = {key: (*path, "sweep", key, index) for key, (index, _) in chosen.items()}
        faults, more = check(Faults, fixed | {key: value for key, (_, value) in chosen.items()}, path, moved=moved)
        complaints += more
        if faults is not None and faults.contaminant is not None and not low <= faults.contaminant <= high:
            where = moved.get("contaminant", (*path, "contaminant"))
            wanted = f"must lie in {given((low, high))}, what a message may hold (faults.range)"
            complaints.append(Complaint(where, f"{spell(where)} {wanted}, got {given(faults.contaminant)}"))
        if faults is not None:
            words = [spelled(key, value) for key in chosen if (value := getattr(faults, key)) is not None]
            found.setdefault(faults, " ".join(words))
    return [(words, faults) for faults, words in found.items()], complaints


def idle_faults(table: dict[str, Any], sweep: Mapping[str, tuple[Any, ...]]) -> Iterator[Complaint]:
    """What describes a fault needs one. A fault that is written as 0 is switched off, with all that describes it."""
    for key, fault in DESCRIBES.items():
        path, value = (("faults", "sweep", key), sweep[key]) if key in sweep else (("faults", key), table.get(key))
        if value not in (None, False) and fault not in table and fault not in sweep:
            yield Complaint(path, f"{spell(path)} must be left out without faults.{fault}, got {given(value)}")


def repeated(path: KeyPath, sweep: Mapping[str, tuple[Any, ...]], owner: str = "") -> Iterator[Complaint]:
    """A value that is swept twice would run the same row twice."""
    for key, values in sweep.items():
        met = set[Any]()
        for index, value in enumerate(values):
            if not isinstance(value, Hashable):
                continue
            if (type(value) is bool, value) in met:
                place = (*path, "sweep", key, index)
                yield Complaint(place, f"{spell(place, owner)} must be a value that was not there before, got {given(value)}")
            met.add((type(value) is bool, value))


def with_faults(row: Row, faults: list[tuple[str, Faults]]) -> Iterator[Row]:
    for words, fault_set in faults:
        yield row.model_copy(update={"faults": fault_set, "label": f"{row.label} {words}".rstrip()})


def identify(name: str, path: KeyPath, folder: Path) -> Algorithm | Complaint:
    if not name.endswith(".py"):
        known = names()
        if name in known:
            return Algorithm(name, name, find(name).options)
        near = hint(name, known, f"known algorithms: {', '.join(known)}")
        wanted = "a known algorithm or the path of a .py file"
        return Complaint(path, f"{spell(path)} must be {wanted}, got {given(name)}{near}")
    try:
        file = (folder / name).resolve()
        content = hashlib.sha256(file.read_bytes()).hexdigest()
    except (OSError, ValueError):
        return Complaint(path, f"{spell(path)} must be the path of a file that can be read, got {given(shown(name))}")
    return Algorithm(file.stem, str(file), find(str(file)).options, content)


def expand(
    path: KeyPath, table: dict[str, Any], checked: AlgorithmTable, algorithm: Algorithm
) -> tuple[list[Row], list[Complaint]]:
    """One row for each combination of the swept values; the first key changes slowest."""
    fields = algorithm.options.model_fields
    complaints = [*misplaced_keys(path, checked, algorithm), *repeated(path, checked.sweep, algorithm.name)]
    fixed = {key: value for key, value in checked.parameters.items() if key in fields}
    sweep = {key: list(enumerate(values)) for key, values in checked.sweep.items() if key in fields}
    rows = []
    for combination in itertools.product(*sweep.values()):
        chosen = dict(zip(sweep, combination, strict=True))
        moved = {key: (*path, "sweep", key, index) for key, (index, _) in chosen.items()}
        parameters = fixed | {key: value for key, (_, value) in chosen.items()}
        options, found = check(algorithm.options, parameters, path, algorithm.name, moved)
        complaints += found
        if options is not None and not complaints:
            label = label_of(table, algorithm.name, options)
            row = Row(
                name=algorithm.name,
                reference=algorithm.reference,
                label=label,
                options=options,
                content=algorithm.content,
            )
            rows.append(row)
    return rows, complaints


def misplaced_keys(path: KeyPath, checked: AlgorithmTable, algorithm: Algorithm) -> Iterator[Complaint]:
    fields = algorithm.options.model_fields
    for key in checked.parameters:
        if key not in fields:
            yield unknown_key((*path, key), [*fields, *AlgorithmTable.model_fields], algorithm.name)
    for key in checked.sweep:
        place = (*path, "sweep", key)
        if key not in fields:
            yield unknown_key(place, fields, algorithm.name)
        elif key in checked.parameters:
            text = f"must be left out where {spell((*path, key))} is given"
            yield Complaint(place, f"{spell(place, algorithm.name)} {text}")


def label_of(table: dict[str, Any], name: str, options: BaseModel) -> str:
    """The name (or the label given) and what tells the row from others: the parameters given, in the order of the file.

    A choice such as `mode = "private"` that is the default anyway is left out, and so are, beside a label of the user's
    own, all parameters but the swept ones.
    """
    words = [filled(table.get("label") or name, options)]
    for key in table:
        if key == "sweep":
            words += [spelled(swept, getattr(options, swept)) for swept in table["sweep"]]
        elif key not in AlgorithmTable.model_fields and "label" not in table:
            value = getattr(options, key)
            if not (isinstance(value, str) and value == type(options).model_fields[key].default):
                words.append(spelled(key, value))
    return " ".join(words)


def spelled(key: str, value: Any) -> str:
    """A setting as one word of a label, or more where it is a list.

    >>> spelled("epsilon", 0.5)
    'epsilon=0.5'
    """
    if isinstance(value, str):
        return f"{key}={value}"
    return f"{key}={value:.15g}" if isinstance(value, int | float) and not isinstance(value, bool) else f"{key}={given(value)}"


def with_unique_labels(rows: Iterable[Row]) -> Iterator[Row]:
    used: set[str] = set()
    for row in rows:
        labels = itertools.chain([row.label], (f"{row.label} ({number})" for number in itertools.count(2)))
        label = next(label for label in labels if label not in used)
        used.add(label)
        yield row.model_copy(update={"label": label})
