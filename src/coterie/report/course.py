"""How regret falls over time: a panel for each method, both scales logarithmic, with all other rows in grey.

Shown is what one decision has cost so far, so lines fall and end at the numbers of the other pictures.
"""

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from coterie.report.draw.lines import HEIGHT, Line, panel
from coterie.report.draw.scale import Scale, log
from coterie.report.draw.scatter import Axis, margin_of
from coterie.report.template import csv_text
from coterie.report.view import Shown, View
from coterie.studies.numbers import GLUE, compact
from coterie.theory.floor import so_far

MOMENTS_MAX, MOMENTS_OF_MANY = 36, 14
STRONG_MAX = 6  # lines of one panel that are all strong
FLOOR = (
    " Dashed: asymptotic floor, c ln(M t) of M agents after t rounds, with the ε that holds; in the long run no method "
    "stays below it, but early it may."
)
FLOORS_MAX = 3  # of one panel; of more only the lowest is drawn
CONTEXT_MAX = 30  # with more rows there are fewer moments, no bands, and no grey behind a panel


class CoursePanel(NamedTuple):
    heading: str
    note: str
    picture: Markup
    broken: bool  # the promises of its rows


class Course(NamedTuple):
    panels: list[CoursePanel]
    left: float
    caption: str
    numbers: str


def course(view: View) -> Course:
    lines = {one.place: _line(view, one) for one in view.rows}
    across = log([moment for line in lines.values() for moment, _ in line.values])
    floors = {one.place: floor_of(view, one, lines[one.place]) for one in view.rows if "floor" in one.row}
    up = _upward([*lines.values(), *floors.values()])
    ticks = Axis(across, [(tick, compact(tick)) for tick in [*across.ticks(4)[:-1], across.high] if tick >= across.low])
    grey = len(view.rows) <= CONTEXT_MAX
    panels, floored = [], False
    for heading, members in _groups(view):
        own = {one.place for one in members}
        others = [line for place, line in lines.items() if grey and place not in own]
        drawn = _emphasised([lines[one.place] for one in members])
        said = f"{heading}: {view.lost} so far, by round. Ends: " + "; ".join(f"{one.name} {one.full}" for one in members[:12])
        under = few(inside([floors[one.place] for one in members if one.place in floors], up))
        floored |= bool(under)
        picture = panel([*drawn, *under], others, ticks, up, said, _steps(view, members, drawn))
        panels.append(CoursePanel(heading, f"ends at {_ends(members)}", picture, all(one.broken for one in members)))
    return Course(
        panels,
        margin_of(up),
        f"Regret so far: {view.lost}, by round. {view.intervals(f'Band: 95{GLUE}% interval of the mean. ')}"
        f"{'Grey: the other rows. ' if grey and len(panels) > 1 else ''}Each line ends at the number used above."
        f"{FLOOR if floored else ''}",
        csv_text(
            ["row", "name", "round", f"regret so far {view.answer['unit']['text']}", "95 % interval, half"],
            [
                (one.number, one.name, moment, value, margin)
                for one in view.rows
                for (moment, value), margin in zip(lines[one.place].values, _margins(view, one), strict=True)
            ],
        ),
    )


def _groups(view: View) -> list[tuple[str, list[Shown]]]:
    """Rows of one method share a panel; where rows are grouped by what is swept, those of one group do."""
    found: dict[str, list[Shown]] = {}
    for one in view.rows:
        found.setdefault(view.lines.get(one.place) or view.method(one), []).append(one)
    return [(view.lines.get(members[0].place) or _heading(members), members) for members in found.values()]


def _emphasised(lines: Sequence[Line]) -> list[Line]:
    """Of many lines the one that ends lowest and the one that ends highest are strong, and only they have bands."""
    ends = [line.values[-1][1] for line in lines]
    kept = {ends.index(min(ends)), ends.index(max(ends))} if len(lines) > STRONG_MAX else range(len(lines))
    return [line if place in kept else line._replace(kind="ln thin", margins=()) for place, line in enumerate(lines)]


def _ends(members: Sequence[Shown]) -> str:
    """The numbers that lines end at; of more than three the least and the largest."""
    if len(members) <= 3:
        return " / ".join(one.text for one in members)
    ranked = sorted(members, key=lambda one: one.value)
    return f"{ranked[0].text} to {ranked[-1].text}"


def _heading(members: Sequence[Shown]) -> str:
    """What the names of the rows share, or the name of the one there is."""
    if len(members) == 1:
        return members[0].name
    words = [one.name.split(" ") for one in members]
    shared = []
    for parts in zip(*words, strict=False):
        if len(set(parts)) > 1:
            break
        shared.append(parts[0])
    return " ".join(shared).rstrip(",:;") or members[0].row["method"]


def kept_moments(view: View, one: Shown) -> list[int]:
    """Places in the curve, spread evenly over logarithmic time."""
    rounds = one.row["curve"]["round"]
    last, most = len(rounds) - 1, MOMENTS_MAX if len(view.rows) <= CONTEXT_MAX else MOMENTS_OF_MANY
    if last < most:
        return list(range(len(rounds)))
    wanted = [rounds[0] * (rounds[-1] / rounds[0]) ** (step / (most - 1)) for step in range(most)]
    found, place = [], 0
    for moment in wanted:
        while place < last and rounds[place + 1] <= moment * (1 + 1e-9):
            place += 1
        found.append(place)
    return sorted({*found, last})


def _line(view: View, one: Shown) -> Line:
    curve, kept = one.row["curve"], kept_moments(view, one)
    values = [(float(curve["round"][place]), curve["per_decision"][place] * view.decisions) for place in kept]
    return Line(one.style, values, _margins(view, one) if len(view.rows) <= CONTEXT_MAX else ())


def _margins(view: View, one: Shown) -> list[float | None]:
    margins = one.row["curve"]["per_decision_margin"]
    found = [margins[place] for place in kept_moments(view, one)]
    return [None if margin is None or not view.enough else margin * view.decisions for margin in found]


def floor_of(view: View, one: Shown, line: Line) -> Line:
    """What regret must come to in the long run, whatever the method."""
    constant, agents = one.row["floor"]["constant"], one.row["agents"]
    values = [(moment, view.decisions * so_far(constant, agents, moment)) for moment, _ in line.values]
    return Line(one.style, values, kind="ref")


def inside(floors: Sequence[Line], up: Axis) -> list[Line]:
    """Each floor once, as far as it is not above all that is shown."""
    each = {tuple(floor.values): floor for floor in floors}.values()
    cut = [floor._replace(values=[(x, y) for x, y in floor.values if 0 < y <= up.scale.high]) for floor in each]
    return [floor for floor in cut if len(floor.values) > 1]


def few(floors: list[Line]) -> list[Line]:
    return floors if len(floors) <= FLOORS_MAX else [min(floors, key=lambda floor: floor.values[-1][1])]


def _upward(lines: Sequence[Line]) -> Axis:
    """Down to the least that a row ends at: a lucky start must not stretch the axis by decades."""
    ends = [line.values[-1][1] for line in lines if line.values[-1][1] > 0] or [1.0]
    highest = max([value for line in lines for _, value in line.values if line.kind != "ref"] + ends)
    scale = log([min(ends) / 1.3, max(highest, 2 * min(ends))], HEIGHT, 6.0)
    return Axis(Scale(*scale), [(tick, compact(tick)) for tick in scale.ticks(4)])


def _steps(view: View, members: Sequence[Shown], drawn: Sequence[Line]) -> list[list[str]]:
    """What is read off at each moment; of many lines the first few."""
    found = []
    for place, (moment, _) in enumerate(drawn[0].values):
        told = [f"Round {moment:,.0f}"]
        for one, line in list(zip(members, drawn, strict=True))[:6]:
            value = next((value for when, value in line.values if when == moment), None)
            if value is not None:
                margin = line.margins[place] if place < len(line.margins) else None
                range_ = view.interval(value, margin)
                told.append(f"{one.number} {one.name}: {view.amount(value)}" + (f" ({range_})" if range_ else ""))
        found.append(told)
    return found
