"""Which settings rows differ in, and which rows differ in nothing else."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from coterie.studies.names import row_name, settings_of, shared_settings
from coterie.studies.rows import Group, SummaryRow

VALUES_LEAST = 3  # of a setting that is swept, unless it is all that rows differ in


class Line(NamedTuple):
    """Rows in the order of one number, in which alone they differ; `rest` have no number there (no noise, no limit)."""

    name: str
    rows: list[int]
    rest: list[int]


class Sweep(NamedTuple):
    key: str
    lines: list[Line]
    others: list[int]  # rows that stand in no line


def groups_by(rows: Sequence[SummaryRow], keys: tuple[str, ...]) -> list[Group]:
    """Rows that differ in the settings of these keys only, under their names without the words that spell these."""
    members: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        others = {key: value for key, value in settings_of(row).items() if key not in keys}
        members.setdefault(f"{row['algorithm']} {row_name(row, keys)} {others}", []).append(place)
    common = shared_settings(rows)
    names = [row_name(rows[places[0]], (*keys, *common)) for places in members.values()]
    return [
        {"name": name if names.count(name) == 1 else row_name(rows[places[0]], common), "rows": places}
        for name, places in zip(names, members.values(), strict=True)
    ]


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def sweep_of(rows: Sequence[SummaryRow], spare: int = 1) -> Sweep | None:
    """The numeric setting by which nearly all rows can be put in line; at most `spare` rows stand in none."""
    settings = [settings_of(row) for row in rows]
    keys = dict.fromkeys(key for each in settings for key in each)
    found = [_sweep(rows, key) for key in keys if any(each.get(key) != settings[0].get(key) for each in settings)]
    good = [sweep for sweep in found if sweep.lines and len(sweep.others) <= spare]
    good = [sweep for sweep in good if len(sweep.lines) == 1 or len(sweep.lines[0].rows) >= VALUES_LEAST]
    return max(good, key=lambda sweep: (-len(sweep.others), len(sweep.lines[0].rows)), default=None)


def _sweep(rows: Sequence[SummaryRow], key: str) -> Sweep:
    lines, others = [], []
    for group in groups_by(rows, (key,)):
        value: dict[int, Any] = {place: settings_of(rows[place]).get(key) for place in group["rows"]}
        numbered = sorted((place for place in value if is_number(value[place])), key=value.__getitem__)
        if len(numbered) > 1 and all(value[here] < value[there] for here, there in pairwise(numbered)):
            lines.append(Line(group["name"], numbered, [place for place in value if place not in numbered]))
        else:
            others += group["rows"]
    return Sweep(key, lines, others)
