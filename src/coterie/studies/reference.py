"""What a study may say: every key of a study file and every option of every algorithm, as the models have it.

`python -m coterie.studies.reference docs/reference.md` writes it down for reading.
"""

import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from coterie import algorithms
from coterie.files import write
from coterie.studies import problems
from coterie.studies.messages import allowed, unwrap
from coterie.studies.spec import AlgorithmTable, Faults, FaultTable, LinkCost, Network, StudyFile, Words

REQUIRED, NONE = "must be given", "-"


class Key(NamedTuple):
    """One key: what it takes, what it is where it is left out, what it means, and the formula it enters, if any."""

    name: str
    takes: str
    default: str
    meaning: str
    formula: str = ""


def options_of(name: str) -> list[Key]:
    """Of an algorithm, by name or by the path of a file of one's own."""
    return list(_keys(algorithms.find(name).options))


def tables() -> dict[str, list[Key]]:
    """Every table of a study file, by its heading; `study` is the top."""
    kinds = {kind: _law(kind) for kind in problems.LAWS}
    found: dict[str, type[BaseModel]] = {
        "study": StudyFile,
        **{f'[problem] with kind = "{kind}"': model for kind, model in kinds.items()},
        '[problem] with kind = "procurement"': problems.Procurement,
        "[network]": Network,
        "[network.link_cost]": LinkCost,
        "[faults]": FaultTable,
        "[words]": Words,
        "[[algorithm]]": AlgorithmTable,
    }
    return {heading: list(_keys(model)) for heading, model in found.items()}


def settable() -> Iterator[str]:
    """What may stand before the = of `--set`, but for options of algorithms."""
    inner: dict[str, tuple[type[BaseModel], ...]] = {
        "problem": (*map(_law, problems.LAWS), problems.Procurement),
        "network": (Network,),
        "faults": (Faults,),
        "words": (Words,),
    }
    for name in StudyFile.model_fields:
        if name not in inner and name != "algorithm":
            yield name
    for table, models in inner.items():
        yield from dict.fromkeys(f"{table}.{key}" for model in models for key in model.model_fields)


def _law(kind: str) -> type[BaseModel]:
    return getattr(problems, problems.LAWS[kind].__name__)


def _keys(model: type[BaseModel]) -> Iterator[Key]:
    for name, field in model.model_fields.items():
        marks = [field, *(mark for kind in _branches(field) for mark in unwrap(kind)[1] if isinstance(mark, FieldInfo))]
        meaning = next((text for mark in marks for text in (mark.title, mark.description) if text), "")
        extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
        bare = FieldInfo.merge_field_infos(field, description=None)
        takes = allowed(Annotated[bare.annotation, bare]).replace(f" ({meaning})", "")
        default = _default(field)
        if default == NONE:
            default = str(extra.get("default") or NONE)
        yield Key(name, takes or "a table", default, meaning or MEANT[name], str(extra.get("formula", "")))


def _branches(field: FieldInfo) -> tuple[Any, ...]:
    return (field.annotation, *get_args(field.annotation))


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True)
    if value is PydanticUndefined:
        return REQUIRED
    if value is None or isinstance(value, BaseModel) or value == {}:
        return NONE
    if isinstance(value, float) and math.isinf(value):
        return "inf"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else repr(value) if isinstance(value, str) else str(value)


MEANT = {  # of keys that name one of several kinds, or the problem itself
    "graph": "who is linked to whom, unless edges are listed; complete by default",
    "instance": "in place of means: how they are drawn",
    "distribution": "of the qualities of producers that are drawn; uniform by default",
    "kind": "the problem; bernoulli by default",
}


LETTERS = (
    "In formulas M is the number of agents, K of arms, T of rounds and t the present one; n counts the pulls of an "
    "arm (in a procurement the agents), x is their mean, N what the average is taken over, ln the natural logarithm; rewards "
    "are in [0, 1]."
)


# --- the page -------------------------------------------------------------------------------------------


def page() -> str:
    lines = [
        "# Reference: study files and options",
        "",
        "Made from the code. `coterie algorithms NAME` prints the same of one algorithm, `coterie show STUDY` a study to copy.",
        "",
        "## Keys of a study file",
    ]
    for heading, keys in tables().items():
        lines += ["", f"### {f'`{heading}`' if heading != 'study' else 'At the top'}", "", *_table(keys)]
    lines += ["", "## Options of algorithms", "", "They stand in the algorithm's table, beside its `name`.", LETTERS]
    for name, entry in sorted(algorithms.entries().items()):
        lines += ["", f"### {name}", "", f"{entry.summary[:1].upper()}{entry.summary[1:]}.", "", *_table(options_of(name))]
    return "\n".join([*lines, ""])


def _table(keys: list[Key]) -> list[str]:
    if not keys:
        return ["It has no options."]
    formulas = any(key.formula for key in keys)
    head = ["key", "takes", "default", "meaning", *(["enters"] if formulas else [])]
    rows = [[f"`{key.name}`", *key[1:4], *([key.formula and f"`{key.formula}`"] if formulas else [])] for key in keys]
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]


if __name__ == "__main__":
    write(Path(sys.argv[1]), page())
