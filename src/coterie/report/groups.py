"""Rows that differ only in what goes wrong.

A study that sweeps its faults has every algorithm once for each set of them. Such rows are a group, named by what they share.
Where there are many rows, sentences and cards speak of the calmest row of each group, and pictures show that one and the worst.
"""

import re
from collections.abc import Sequence

from coterie.report.labels import ROWS_MAX
from coterie.report.regret import mean_regret
from coterie.report.rows import Row, renamed, settings_in, settings_of
from coterie.report.traffic import talks


def swept_faults(rows: Sequence[Row]) -> list[str]:
    """The faults in which rows differ."""
    keys = dict.fromkeys(key for row in rows for key in row["faults"])
    return [key for key in keys if len({str(row["faults"].get(key)) for row in rows}) > 1]


def groups_by(rows: Sequence[Row], keys: Sequence[str]) -> dict[str, list[Row]]:
    """Rows that differ in the settings of these keys only, under their labels without the words that spell these."""
    members: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        name = row["label"]
        for text, key in settings_in(row).items():
            name = re.sub(rf"(?<!\S){re.escape(text)}(?!\S)", "", name) if key in keys else name
        others = {key: value for key, value in settings_of(row).items() if key not in keys}
        members.setdefault((" ".join(name.split()) or row["label"], f"{row['algorithm']} {others}"), []).append(row)
    names = [name for name, _ in members]
    return {name if names.count(name) == 1 else group[0]["label"]: group for (name, _), group in members.items()}


def groups(rows: Sequence[Row]) -> dict[str, list[Row]]:
    return groups_by(rows, swept_faults(rows))


def crowded(rows: Sequence[Row]) -> bool:
    """Are there too many rows to tell of each, and do groups help?"""
    return len(rows) > ROWS_MAX and len(groups(rows)) < len(rows)


def calmest(group: Sequence[Row]) -> Row:
    """In which the least goes wrong."""
    return min(group, key=lambda row: len(row["faults"]))


def spoken_of(rows: Sequence[Row]) -> list[Row]:
    """The rows that sentences are about: all, or the calmest of each group, under the group's name."""
    if not crowded(rows):
        return list(rows)
    return [renamed(calmest(group), name) for name, group in groups(rows).items()]


def drawn(rows: Sequence[Row]) -> list[int]:
    """The places of the rows that pictures show: all, or of each group the calmest and the one with the highest regret.

    Of who learns alone the calmest is enough.
    """
    if not crowded(rows):
        return list(range(len(rows)))
    places = {row["label"]: place for place, row in enumerate(rows)}
    shown = [calmest(group) for group in groups(rows).values()]
    shown += [max(group, key=mean_regret) for group in groups(rows).values() if any(map(talks, group))]
    return sorted({places[row["label"]] for row in shown})
