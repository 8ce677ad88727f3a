"""What liars do: a panel for each method with its regret by the share of liars, and the table of all attacks.

The worst attack of a method, by the highest mean, is drawn bold; learning alone, which hears no lies, is what it must beat.
"""

from collections.abc import Sequence
from typing import NamedTuple

from coterie.engines.attacks import ATTACKS
from coterie.report.course import CoursePanel
from coterie.report.draw.lines import Line, panel
from coterie.report.draw.scale import Scale, linear, log, wide
from coterie.report.draw.scatter import Axis, margin_of
from coterie.report.template import csv_text
from coterie.report.view import Shown, View
from coterie.studies.numbers import GLUE, compact, percent

HEIGHT = 150.0


class Attacks(NamedTuple):
    heading: str
    title: str
    panels: list[CoursePanel]
    left: float
    caption: str
    numbers: str


class Cell(NamedTuple):
    text: str
    error: str
    worst: bool  # of all attacks with this share of liars


class AttackLine(NamedTuple):
    attack: str
    sentence: str
    cells: list[Cell | None]


class Block(NamedTuple):
    name: str
    calm: Cell | None
    lines: list[AttackLine]


FAULTS = {"liars": "liars", "contamination": "of the messages forged"}  # what lies are told of, in the words of a share


def share_of(one: Shown) -> float:
    """Of liars, or of messages that are forged on their way."""
    faults = one.row["faults"]
    return float(next((faults[key] for key in FAULTS if faults.get(key)), 0.0))


def said_of(view: View, share: float) -> str:
    key = next((key for key in FAULTS if any(one.row["faults"].get(key) for one in view.rows)), "liars")
    return f"{percent(share)} {FAULTS[key]}"


def shares(view: View) -> list[float]:
    """All there are, without 0."""
    return sorted({share_of(one) for one in view.rows} - {0.0})


def attacks(view: View) -> Attacks | None:
    """Nothing where no row lies, or all are lied to alike."""
    groups = [(name, members) for name, members in _groups(view) if len(_worst(members)) > 1]
    talking = [(name, members) for name, members in groups if not _deaf(members)]
    if not talking:
        return None
    alone = next((_worst(members) for _, members in groups if _deaf(members)), [])
    across = Scale(0.0, 100 * shares(view)[-1])
    ticks = [(100 * share, f"{100 * share:g}{GLUE}%") for share in (0.0, *shares(view))]
    values = [one.value for one in view.rows]
    up_scale = log(values, HEIGHT - 6, 6.0, room=1.1) if wide(values) else linear(values, HEIGHT, 6.0)
    up = Axis(up_scale, [(tick, compact(tick)) for tick in up_scale.ticks(4)])
    panels = []
    for name, members in talking:
        worst = _worst(members)
        lines = [Line("r0", [(100 * share_of(one), one.value) for one in alone], kind="ref")] if alone else []
        bold = Line(worst[0].style, [(100 * share_of(one), one.value) for one in worst], [one.margin for one in worst])
        others = [Line(line[0].style, [(100 * share_of(one), one.value) for one in line]) for line in _by_attack(members)]
        end = worst[-1]
        attack = end.row["faults"].get("attack", "")
        note = f"{end.text} with {said_of(view, share_of(end))}" + (f", attack “{attack}”" if attack else "")
        steps = [[said_of(view, share_of(one)), f"{one.name}: {one.full}"] for one in worst]
        told = ", ".join(f"{said_of(view, share_of(one))} {one.full}" for one in worst)
        said = f"{name}, {view.lost}, worst attack: {told}"
        drawn = panel([bold, *lines], others, Axis(across, ticks), up, said, steps, HEIGHT)
        panels.append(CoursePanel(name, note, drawn, all(one.broken for one in members)))
    several = any(len(_by_attack(members)) > 1 for _, members in talking)
    dashed = f"Dashed: learning alone, {alone[-1].text}. " if alone else ""
    return Attacks(
        "What liars do to each method",
        f"Regret of honest {view.words.in_place_of_ours('agents')}: {view.lost}, by the share that lies",
        panels,
        margin_of(up),
        f"Bold: the attack that does most harm at that share. {'Grey: the other attacks. ' if several else ''}{dashed}"
        + view.intervals(f"Band: 95{GLUE}% interval of the mean. ")
        + ("The upward scale is logarithmic. " if up_scale.log else "")
        + ("✕: promise broken." if any(one.broken for _, members in talking for one in members) else ""),
        csv_text(
            ["row", "name", "liars", "attack", f"regret {view.answer['unit']['text']}", "95 % interval, half"],
            [
                (one.number, one.name, share_of(one), one.row["faults"].get("attack", ""), one.value, one.margin)
                for one in view.rows
            ],
        ),
    )


def _groups(view: View) -> list[tuple[str, list[Shown]]]:
    found = []
    for group in view.answer["groups"]:
        members = [one for place in group["rows"] if (one := view.at(place)) is not None]
        if len({(share_of(one), one.row["faults"].get("attack")) for one in members}) > 1:
            found.append((group["name"], members))
    return found


def _deaf(members: Sequence[Shown]) -> bool:
    """Who listens to nobody does the same whatever liars say."""
    return all(one.row["alone"] for one in members)


def _worst(members: Sequence[Shown]) -> list[Shown]:
    """At each share of liars the row with the highest regret."""
    steps = sorted({share_of(one) for one in members})
    return [max((one for one in members if share_of(one) == share), key=lambda one: one.value) for share in steps]


def _by_attack(members: Sequence[Shown]) -> list[list[Shown]]:
    """A line for each attack, from the row without liars on."""
    calm = [one for one in members if not share_of(one)]
    found: dict[str, list[Shown]] = {}
    for one in sorted((one for one in members if share_of(one)), key=share_of):
        found.setdefault(one.row["faults"].get("attack", ""), list(calm)).append(one)
    return list(found.values())


def table(view: View) -> list[Block]:
    """All attacks on all methods; nothing where no row lies."""
    if not shares(view):
        return []
    return [_block(view, name, members) for name, members in _groups(view)]


def _block(view: View, name: str, members: Sequence[Shown]) -> Block:
    tops = {share_of(one): one for one in _worst(members)}
    calm = tops.get(0.0)
    attacked = _by_attack(members)
    deaf = _deaf(members)
    lines = []
    for line in attacked[:1] if deaf else attacked:
        attack = line[-1].row["faults"].get("attack", "")
        by_share = {share_of(one): one for one in line}
        cells = [
            _cell(by_share[share], worst=not deaf and by_share[share] is tops[share]) if share in by_share else None
            for share in shares(view)
        ]
        sentence = ATTACKS[attack].sentence if attack in ATTACKS else ""
        lines.append(AttackLine("any attack" if deaf else attack, view.words.in_place_of_ours(sentence), cells))
    return Block(name, _cell(calm) if calm else None, lines)


def _cell(one: Shown, *, worst: bool = False) -> Cell:
    return Cell(one.text, one.interval, worst)
