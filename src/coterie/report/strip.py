"""Was privacy promised, and was the promise kept? A line for each row, the broken ones first."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from coterie.privacy.statement import Promise, epsilon_text
from coterie.report.draw.gauge import gauge
from coterie.report.view import TAGGED_MAX, Shown, View
from coterie.studies.names import sends_nothing
from coterie.studies.numbers import GLUE, at_most, listed

ORDER = ("broken", "kept", "weak", "nothing")
ICONS = {"broken": "✕", "kept": "✓", "weak": "✓", "nothing": ""}
HEADINGS = {
    "broken": "Promised and broken",
    "kept": "Promised and kept",
    "weak": "Kept, but weak",
    "nothing": "Nothing promised",
}
assert {promise.name.lower() for promise in Promise} == set(ORDER)


class StripLine(NamedTuple):
    state: str
    icon: str
    heading: str
    numbers: list[int]
    name: str
    text: str
    gauge: Markup
    guess: str


def strip(view: View) -> list[StripLine]:
    """Rows of which the same is to be said share a line."""
    together: dict[tuple[str, str, bool], list[Shown]] = {}
    for one in view.rows:
        together.setdefault((one.row["promise"]["state"], says(view, one), _unread(one)), []).append(one)
    found = sorted(together.values(), key=lambda group: (_rank(group[0]), group[0].number))
    return [_line(view, group) for group in found]


def _rank(one: Shown) -> tuple[int, float]:
    told = one.row["promise"]
    return ORDER.index(told["state"]), told["holds"] if told["holds"] is not None else math.inf


def _line(view: View, group: Sequence[Shown]) -> StripLine:
    one = group[0]
    state, guess = one.row["promise"]["state"], one.row["promise"]["guess"]
    drawn = Markup("") if _unread(one) else gauge(guess)
    text = "no message to read" if _unread(one) else guess_text(guess)
    few = [one.number for one in group] if len(group) <= TAGGED_MAX else []
    return StripLine(state, ICONS[state], HEADINGS[state], few, name_of(group), says(view, one), drawn, text)


def _unread(one: Shown) -> bool:
    return sends_nothing(one.row) or (one.row["alone"] and one.row["promise"]["guess"] is None)


def name_of(group: Sequence[Shown]) -> str:
    """Of several rows what all their names have in common, or their names: a name is a method and, in brackets, settings."""
    if len(group) == 1:
        return group[0].name
    names = [one.name for one in group]
    methods, settings = zip(*(_taken_apart(name) for name in names), strict=True)
    if len(set(methods)) > 1:
        return listed(names if len(names) <= 3 else [names[0], f"{len(names) - 1} more"])
    shared = [part for part in settings[0] if all(part in others for others in settings)]
    return methods[0] + (f" ({', '.join(shared)})" if shared else "") + f": {len(group)} rows"


def _taken_apart(name: str) -> tuple[str, list[str]]:
    """
    >>> _taken_apart("fed-ucb as printed (votes median, 3 hops)")
    ('fed-ucb as printed', ['votes median', '3 hops'])
    """
    method, bracket, settings = name.removesuffix(")").partition(" (")
    return (method, settings.split(", ")) if bracket and name.endswith(")") else (name, [])


def guess_text(guess: float | None) -> str:
    """How often an observer is right at best, rounded up."""
    if guess is None:
        return "up to certainty"
    if guess > 0.999:
        return f"right in over 99.9{GLUE}%"
    return f"right at most {at_most(guess)}"


def says(view: View, one: Shown) -> str:
    """What is promised, what holds, and why."""
    privacy, state = one.row["privacy"], one.row["promise"]["state"]
    promised, holds = (f"ε{GLUE}={GLUE}{epsilon_text(privacy[key])}" for key in ("claimed", "accounted"))
    note = as_sentences(privacy["note"])
    no_limit = privacy["accounted"]["epsilon"] is None
    if state == "broken":
        opening = f"Promised {promised}, but {'no limit' if no_limit else holds} holds."
        text = f"{opening} {note} Do not treat it as private."
    elif state != "nothing":
        weak = " That is weak: an observer may become almost certain." if state == "weak" else ""
        text = f"Promised {promised}, and {holds} holds.{weak} {note}"
    elif sends_nothing(one.row):
        text = f"Nothing is sent, so no message can leak. The choices of an agent, if seen, are not protected. {note}"
    elif not no_limit:
        text = f"Nothing is promised; {holds} holds. {note}"
    else:
        text = f"What is sent is not hidden, and nobody said it would be. {note}"
    if state != "nothing" and len(adversaries(view)) > 1:
        text += f" Against {privacy['adversary']}."
    return view.words.in_place_of_ours(" ".join(text.split()))


def adversaries(view: View) -> list[tuple[str, str]]:
    """What is protected, and from whom, in the rows that promise anything."""
    told = [one.row["privacy"] for one in view.rows if one.row["promise"]["state"] != "nothing"]
    return list(dict.fromkeys((privacy["unit"], privacy["adversary"]) for privacy in told))


def meaning(view: View) -> str:
    """What the promises are about, and how to read the bars."""
    found = adversaries(view)
    if not found:
        return "No row promises anything."
    whom = f", from {found[0][1]}" if len(found) == 1 else ""
    units = listed(list(dict.fromkeys(unit for unit, _ in found)))
    return view.words.in_place_of_ours(
        f"Protected is {units}{whom}. The bar: how often such an observer can at best tell which of two values it had. "
        f"Empty is a blind guess (50{GLUE}%), full is certainty."
    )


def as_sentences(text: str) -> str:
    """Notes of several origins are joined by full stops; each begins with a capital."""
    parts = [f"{part[0].upper()}{part[1:]}" for part in text.removesuffix(".").split(". ") if part]
    return ". ".join(parts) + "." if parts else ""
