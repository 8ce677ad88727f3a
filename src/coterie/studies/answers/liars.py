"""Who still beats learning alone when agents lie, or messages are forged? Each method under the attack that harms it most."""

from typing import NamedTuple

from coterie.studies.answers.sweeps import swept_of
from coterie.studies.answers.told import Said, Told, Verdict
from coterie.studies.groups import groups_by
from coterie.studies.names import settings_of
from coterie.studies.numbers import listed, percent
from coterie.studies.rows import Group

NAMES_MOST = 2


class Trouble(NamedTuple):
    share: str  # the setting that says how many
    kind: str  # and how
    said: str


TROUBLES = (Trouble("liars", "attack", "liars"), Trouble("contamination", "contaminant", "of the messages forged"))


def trouble_of(told: Told) -> Trouble | None:
    """In which rows differ."""
    for trouble in TROUBLES:
        if len({(share_of(told, trouble, row), told.rows[row]["faults"].get(trouble.kind)) for row in told.all()}) > 1:
            return trouble
    return None


def share_of(told: Told, trouble: Trouble, row: int) -> float:
    return float(settings_of(told.rows[row])[trouble.share] or 0.0)


class Case(NamedTuple):
    """A method at the largest share, under its worst attack."""

    name: str
    row: int
    calm: int | None  # without trouble


def tell(told: Told, trouble: Trouble) -> Said:
    groups = groups_by(told.rows, (trouble.share, trouble.kind))
    most = max(share_of(told, trouble, row) for row in told.all())
    silent = [group for group in groups if all(map(told.silent, group["rows"]))]
    bare = [group for group in silent if told.state(group["rows"][0]) == "nothing"]
    alone = worst(told, trouble, bare[0], most) if bare else None
    cases = []
    for group in groups:
        row = worst(told, trouble, group, most)
        if row is not None and group not in silent:
            cases.append(Case(group["name"], row, worst(told, trouble, group, 0.0)))
    sentence, verdict, headline = sentence_of(told, trouble, most, cases, alone)
    ordered = [*bare, *(group for group in groups if group not in bare)]
    order = [row for group in ordered for row in sorted(group["rows"], key=lambda row: share_of(told, trouble, row))]
    swept = swept_of(told, trouble.share, order) | {"log": False}
    return Said(f"{sentence}.", verdict, headline, alone, None, order, ordered, swept)


def worst(told: Told, trouble: Trouble, group: Group, share: float) -> int | None:
    return told.most(row for row in group["rows"] if share_of(told, trouble, row) == share)


def sentence_of(
    told: Told, trouble: Trouble, most: float, cases: list[Case], alone: int | None
) -> tuple[str, Verdict, int | None]:
    opening = f"With {percent(most)} {trouble.said}"
    several = len({told.rows[row]["faults"].get(trouble.kind) for row in told.all()} - {None}) > 1
    how = ", each method under its worst attack," if several and len(cases) > 1 else ""
    if alone is None or not cases:
        return (*_spread(told, opening, cases), None)
    winners = [case for case in cases if told.difference(case.row, alone)["verdict"] == "less"]
    best = told.best(case.row for case in winners)
    if told.few:
        text = f"{told.undecided}: {opening[0].lower()}{opening[1:]}{how} {_best(told, cases, alone)}"
        return text, "close", None
    if not winners:
        close = any(told.difference(case.row, alone)["verdict"] == "close" for case in cases)
        text = f"{opening}{how} no method beats learning alone{' beyond chance' if close else ''}: {_best(told, cases, alone)}"
        return text, "close" if close else "no", None
    if best is None:
        names = listed([case.name for case in winners])
        text = f"{opening}{how} only {names} still {_beats(winners)} learning alone, and {_its(winners)} broken"
        return text, None, None
    name = next(case.name for case in winners if case.row == best)
    own, theirs = told.losses(best, alone)
    figures = f"{own} against {theirs} {told.within}"
    if len(winners) == 1 < len(cases):
        return f"{opening}{how} only {name} still beats learning alone: it loses {figures}", None, best
    if len(winners) == len(cases) == 1:
        return f"Even {opening[0].lower()}{opening[1:]} {name} beats learning alone: it loses {figures}", "yes", best
    if len(winners) == len(cases):
        who = "both" if len(cases) == 2 else f"all {len(cases)}"
        text = f"Even {opening[0].lower()}{opening[1:]}{how} {who} methods beat learning alone; {name} loses {figures}"
        return text, "yes", best
    few = f"only {listed([case.name for case in winners])}"
    who = f"{few if len(winners) <= NAMES_MOST else f'{len(winners)} of {len(cases)} methods'} still beat learning alone"
    return f"{opening}{how} {who}; {name} loses {figures}", None, best


def _beats(cases: list[Case]) -> str:
    return "beats" if len(cases) == 1 else "beat"


def _its(cases: list[Case]) -> str:
    return "its promise is" if len(cases) == 1 else "their promises are"


def _best(told: Told, cases: list[Case], alone: int) -> str:
    """The one that comes nearest; where there is a choice, none that breaks its promise."""
    honest = [case for case in cases if not told.broken(case.row)] or cases
    found = min(honest, key=lambda case: told.mean(case.row))
    here, there = told.losses(found.row, alone)
    return f"{found.name} loses {here}, learning alone {there} {told.per}"


def _spread(told: Told, opening: str, cases: list[Case]) -> tuple[str, Verdict]:
    """Without anybody who learns alone: what it costs each method."""
    parts = []
    for case in sorted(cases, key=lambda case: told.mean(case.row))[:: max(1, len(cases) - 1)]:
        if case.calm is None:
            parts.append(f"{case.name} loses {told.losses(case.row)[0]}")
        else:
            here, there = told.losses(case.row, case.calm)
            parts.append(f"{case.name} loses {here} instead of {there}")
            told.difference(case.row, case.calm)
    return f"{opening} {listed(parts)} {told.per}", None
