"""One line that says what is wrong with a study: `<field> must be <what is allowed>, got <what was given>`.

Pydantic reports the one rule that was broken ("should be less than or equal to 1"). A user is better served by the
whole range, so the text is derived from the type of the field: the location pydantic gives is followed through the
models to the annotation that was broken, and `allowed` spells that annotation out. The description of a field, if it
has one, is added in brackets: `epsilon: float = Field(gt=0, description="inf: no privacy")`.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import UnionType
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, Tag, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails, PydanticCustomError

from coterie.errors import hint, nearest
from coterie.options import Takes

KeyPath = tuple[str | int, ...]
Model = TypeVar("Model", bound=BaseModel)

WHOLE_MOST = 2**63 - 1
WIDTH_MAX = 80  # characters of a given value that are shown


class Complaint(NamedTuple):
    """What is wrong at `path`; `meant` is the key that an unknown key was probably meant to be."""

    path: KeyPath
    text: str
    meant: KeyPath | None = None


def check(
    model: type[Model], table: Any, path: KeyPath = (), owner: str = "", moved: Mapping[str, KeyPath] | None = None
) -> tuple[Model | None, list[Complaint]]:
    """Validate `table`, which stands at `path` of a study and holds the parameters of the algorithm `owner`, if any.

    `moved` gives the places of those keys that stand elsewhere in the file (the values of a sweep).
    """
    places = moved or {}

    def place(inner: KeyPath) -> KeyPath:
        return (*places[str(inner[0])], *inner[1:]) if inner and inner[0] in places else (*path, *inner)

    try:
        return model.model_validate(table), []
    except ValidationError as error:
        complaints = []
        for detail in error.errors(include_url=False):
            if detail["type"] == "too_short" and len(detail["input"]) >= detail["ctx"]["min_length"]:
                continue  # pydantic does not count the bad entries, each of which has an error of its own
            inner, kind = locate(model, detail["loc"])
            inner = (*inner, *detail.get("ctx", {}).get("where", ()))
            complaints.append(complain(detail, place(inner), kind, owner))
        return None, complaints


def unfit_values(tree: Any, path: KeyPath = ()) -> Iterator[Complaint]:
    """Complain about what no field may hold, also if it has no range: NaN, numbers the engines have no room for, and text that
    cannot be written down, as comes of a shell that says bytes."""
    if isinstance(tree, dict | tuple):
        for step, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from unfit_values(value, (*path, step))
    elif isinstance(tree, float) and math.isnan(tree):
        yield Complaint(path, f"{spell(path)} must be a number, got {given(tree)}")
    elif isinstance(tree, int) and not -(2**63) <= tree < 2**63:
        yield Complaint(path, f"{spell(path)} must be a number in [-2^63, 2^63 - 1], got {given(tree)}")
    elif isinstance(tree, str) and not is_writable(tree):
        yield Complaint(path, f"{spell(path)} must be text that UTF-8 can hold, got {given(tree)}")


def is_writable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def complain(detail: ErrorDetails, path: KeyPath, kind: Any, owner: str) -> Complaint:
    """Put one error of pydantic, at a place where `kind` is wanted, into our words."""
    context, value = detail.get("ctx", {}), detail["input"]
    match detail["type"]:
        case "extra_forbidden":
            return unknown_key(path, kind.model_fields, owner)
        case "misfit":
            text = context["text"]
        case "value_error" | "assertion_error":
            text = " ".join(str(context["error"]).split())
            if ", got " not in text and not isinstance(value, dict):
                text += f", got {given(value)}"
        case "union_tag_invalid":
            key = context["discriminator"].strip("'")
            path = (*path, key)
            tags = context["expected_tags"].split(", ")
            near = hint(str(value[key]), [tag.strip("'") for tag in tags])
            text = f"must be {alternatives(tags)}, got {given(value[key])}{near}"
        case "missing":
            text = f"must be {allowed(kind)}, got nothing"
        case _:
            wanted = allowed(kind) or detail["msg"].removeprefix("Input should be ")
            surprise = " (text)" if isinstance(value, str) and not takes_text(kind) else ""
            near = hint(value, words_of(kind)) if isinstance(value, str) else ""
            text = f"must be {wanted}, got {given(value)}{surprise}{near}"
    return Complaint(path, f"{spell(path, owner)} {text}")


def misfit(*where: str | int, text: str) -> PydanticCustomError:
    """The error a validator raises about an entry below its own model: `text` follows the name of that entry."""
    return PydanticCustomError("misfit", "{text}", {"where": where, "text": text})


def unknown_key(path: KeyPath, known: Collection[str], owner: str = "") -> Complaint:
    """Complain about the key at the end of `path`, with the nearest of the `known` ones."""
    *parent, key = path
    place = f" in {spell(parent)}" if parent else ""
    algorithm = f" ({owner})" if owner else ""
    near, other = nearest(str(key), known), f"known keys: {', '.join(known)}" if known else "there are none to set"
    text = f"unknown key {given(key)}{place}{algorithm}{hint(str(key), known, other)}"
    return Complaint(path, text, (*parent, near) if near else None)


def first_of(complaints: Iterable[Complaint], study: Any) -> tuple[Complaint, int]:
    """The complaint that comes first in the order of the file, and how many more there are.

    The last word on an entry counts. A key that is missing because it was misspelt is no complaint of its own.
    """
    found = list(complaints)
    meant = {complaint.meant for complaint in found}
    by_path = {complaint.path: complaint for complaint in found if complaint.path not in meant}
    return min(by_path.values(), key=lambda complaint: position(study, complaint.path)), len(by_path) - 1


def position(tree: Any, path: KeyPath) -> list[float]:
    """Where `path` stands in the file; what is missing from a table comes after all that is in it."""
    steps: list[float] = []
    for step in path:
        if isinstance(tree, dict) and step in tree:
            steps.append(list(tree).index(step))
        elif isinstance(tree, tuple) and isinstance(step, int) and step < len(tree):
            steps.append(step)
        else:
            return [*steps, math.inf]
        tree = tree[step]
    return steps


def spell(path: Sequence[str | int], owner: str = "") -> str:
    """Write a path the way it is read, `algorithm[1].epsilon of fed-ucb`. The study itself has an empty path."""
    words = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".") or "study"
    return f"{words} of {owner}" if owner else words


def given(value: Any) -> str:
    """Write a value as it would stand in the file, on one line and not too long."""
    match value:
        case None:
            text = "nothing"
        case bool():
            text = str(value).lower()
        case int() if value.bit_length() > 63:
            text = f"a whole number of {value.bit_length()} bits"
        case float() if math.isnan(value):
            text = "NaN"
        case str() | int() | float():
            text = repr(value)
        case tuple():
            text = f"[{', '.join(map(given, value[:WIDTH_MAX]))}]"
        case dict():
            text = "a table"
        case _:
            text = f"{str(value)!r} ({type(value).__name__})"
    return text if len(text) <= WIDTH_MAX else f"{text[: WIDTH_MAX - 3]}..."


def allowed(annotation: Any) -> str:
    """Spell out what a field takes, with both ends of its range; empty if the type is none of those studies use."""
    return alternatives(choices_of(annotation))


def choices_of(annotation: Any, outer_limits: Mapping[str, Any] | None = None) -> list[str]:
    """What each branch of a union takes, within the limits that are pinned to the union as a whole."""
    bare, marks = unwrap(annotation)
    limits = dict(outer_limits or {}) | limits_of(marks)
    arguments = [argument for argument in get_args(bare) if argument is not type(None)]
    spelt = [mark.text for mark in marks if isinstance(mark, Takes)]
    if spelt:
        choices = spelt[:1]
    elif get_origin(bare) is Literal:
        choices = [repr(argument) for argument in arguments]
    elif is_union(bare):
        choices = [choice for argument in arguments for choice in choices_of(argument, limits)]
    else:
        choices = [values_of(get_origin(bare) or bare, arguments, limits)]
    notes = [f" ({mark.description})" for mark in marks if isinstance(mark, FieldInfo) and mark.description]
    return [*choices[:-1], choices[-1] + "".join(notes)]


def values_of(kind: Any, arguments: list[Any], limits: dict[str, Any]) -> str:
    if kind in (tuple, list):
        return list_of(arguments, limits)
    if kind is dict or is_model(kind):
        return "a table"
    if kind is int:
        return f"a whole number{range_of(limits)}"
    if kind is float:
        return f"a {'number' if limits.get('allow_inf_nan', True) else 'finite number'}{range_of(limits)}"
    return {str: "text", bool: "true or false"}.get(kind, "")


def list_of(items: list[Any], limits: dict[str, Any]) -> str:
    entries = [item for item in items if item is not Ellipsis]
    least = limits.get("min_length")
    size = f"{len(entries)} entries" if len(entries) > 1 else "entries"
    if least:
        size = f"at least {least} {'entry' if least == 1 else 'entries'}"
    texts = {allowed(entry) for entry in entries} - {""}
    return f"a list of {size}, each {texts.pop()}" if len(texts) == 1 else f"a list of {size}"


def range_of(limits: dict[str, Any]) -> str:
    low = next(((sign, limits[name]) for name, sign in (("ge", ">="), ("gt", ">")) if name in limits), None)
    high = next(((sign, limits[name]) for name, sign in (("le", "<="), ("lt", "<")) if name in limits), None)
    if low and high:
        opening, closing = "[" if low[0] == ">=" else "(", "]" if high[0] == "<=" else ")"
        return f" in {opening}{end_of(low[1])}, {end_of(high[1])}{closing}"
    return "".join(f" {sign} {end_of(value)}" for sign, value in filter(None, (low, high)))


def end_of(value: float) -> str:
    """What has nineteen digits is better said by its power."""
    return "2^63 - 1" if value == WHOLE_MOST else f"{value:.15g}"


def limits_of(marks: Iterable[Any]) -> dict[str, Any]:
    names = ("gt", "ge", "lt", "le", "min_length", "allow_inf_nan")
    return {name: getattr(mark, name) for mark in marks for name in names if getattr(mark, name, None) is not None}


def alternatives(texts: Iterable[str]) -> str:
    *others, last = dict.fromkeys(texts)
    return f"{', '.join(others)} or {last}" if others else last


def words_of(annotation: Any) -> list[str]:
    """The words a field takes, of all branches of a union."""
    bare, _ = unwrap(annotation)
    if get_origin(bare) is Literal:
        return [word for word in get_args(bare) if isinstance(word, str)]
    return [word for branch in get_args(bare) for word in words_of(branch)] if is_union(bare) else []


def takes_text(annotation: Any) -> bool:
    bare, _ = unwrap(annotation)
    if is_union(bare):
        return any(map(takes_text, get_args(bare)))
    return bare is str or get_origin(bare) is Literal


def locate(kind: Any, location: Sequence[str | int]) -> tuple[KeyPath, Any]:
    """Follow a location of pydantic through the types: the path in the file, and the type that is wanted there.

    An unknown key ends at the model that does not know it. Pydantic puts the names of the branches of a union into its
    locations, and the file has no such keys: a branch that has a tag is entered, any other ends the path.
    """
    if not location:
        return (), kind
    bare, marks = unwrap(kind)
    step, rest = location[0], location[1:]
    if is_union(bare):
        branches = [branch for branch in get_args(bare) if branch is not type(None)]
        if len(branches) == 1:
            return locate(branches[0], location)
        chosen = [branch for branch in branches if step in tags_of(branch, marks)]
        return locate(chosen[0], rest) if chosen else ((), kind)
    if is_model(bare) and step not in bare.model_fields:
        return (step,), bare
    inside = entry_of(bare, step)
    if inside is None:
        return (), kind
    path, found = locate(inside, rest)
    return (step, *path), found


def entry_of(bare: Any, step: str | int) -> Any:
    """The type of one entry of a table or a list; None for a type without entries."""
    items = [item for item in get_args(bare) if item is not Ellipsis]
    if is_model(bare):
        field = bare.model_fields[step]
        return Annotated[field.annotation, field]
    if get_origin(bare) is dict:
        return items[1]
    if get_origin(bare) in (tuple, list) and isinstance(step, int):
        return items[min(step, len(items) - 1)]
    return None


def tags_of(branch: Any, union_marks: Iterable[Any]) -> set[Any]:
    """What tells this branch of a union from the others: its `Tag`, or its values of the key all branches share."""
    bare, marks = unwrap(branch)
    tags = {mark.tag for mark in marks if isinstance(mark, Tag)}
    for mark in union_marks:
        if isinstance(mark, FieldInfo) and isinstance(mark.discriminator, str):
            tags |= set(get_args(bare.model_fields[mark.discriminator].annotation))
    return tags


def unwrap(annotation: Any) -> tuple[Any, list[Any]]:
    """Split an annotation into the bare type and all that is pinned to it."""
    if get_origin(annotation) is not Annotated:
        return annotation, []
    bare, *pinned = get_args(annotation)
    return bare, [mark for pin in pinned for mark in ([pin, *pin.metadata] if isinstance(pin, FieldInfo) else [pin])]


def is_union(bare: Any) -> bool:
    return get_origin(bare) in (Union, UnionType)


def is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)
