"""Rows that differ only in what goes wrong."""

from collections.abc import Callable
from typing import Any

from coterie.report import groups
from coterie.studies.reading import spelled

MakeRow = Callable[..., dict[str, Any]]
ATTACKS = ("random", "sign-flip", "sleeper")
SHARES = (0.1, 0.2, 0.3)


def swept(row: MakeRow, name: str, *regrets: float) -> list[dict[str, Any]]:
    """A row without liars and one for each attack and share; the regrets in that order, and 1 where none is given."""
    settings = [{}, *({"liars": share, "attack": attack} for share in SHARES for attack in ATTACKS)]
    padded = [*regrets, *(1.0 for _ in settings[len(regrets) :])]
    words = [" ".join(f"{key}={value}" for key, value in faults.items()) or "liars=0" for faults in settings]
    triples = zip(words, padded, settings, strict=True)
    return [row(f"{name} {label}", regret, faults=faults) for label, regret, faults in triples]


def test_rows_are_grouped_by_their_labels_without_the_faults_they_differ_in(row: MakeRow) -> None:
    rows = [*swept(row, "a epsilon=1"), *swept(row, "a epsilon=2")]
    found = groups.groups(rows)
    assert {name: len(group) for name, group in found.items()} == {"a epsilon=1": 10, "a epsilon=2": 10}
    assert groups.swept_faults(rows) == ["liars", "attack"]


def test_labels_of_a_study_without_swept_faults_are_left_alone(row: MakeRow) -> None:
    rows = [row("a loss=1", faults={"loss": 0.1}), row("a loss=2", faults={"loss": 0.1})]
    assert list(groups.groups(rows)) == ["a loss=1", "a loss=2"]
    assert not groups.crowded(rows) and groups.spoken_of(rows) == rows


def test_a_users_own_words_are_no_settings(row: MakeRow) -> None:
    """A label may look like a setting of a fault that is swept. What rows share is told by what they were run with."""
    lied_to = {"liars": 0.1, "attack": "random"}
    rows = [row("x attack=ours liars=0"), row("x attack=ours liars=0.1 attack=random", faults=lied_to)]
    assert groups.groups(rows) == {"x attack=ours": rows}


def test_rows_with_other_parameters_are_no_group_whatever_their_labels_say(row: MakeRow) -> None:
    lied_to = row("x liars=0.1", parameters={"epsilon": 2.0}, faults={"liars": 0.1})
    rows = [row("x liars=0", parameters={"epsilon": 1.0}), lied_to]
    assert groups.groups(rows) == {"x liars=0": rows[:1], "x liars=0.1": rows[1:]}


def test_a_setting_of_several_words_is_left_out_as_a_whole(row: MakeRow) -> None:
    ranges = ((0.0, 1.0), (0.0, 2.0))
    rows = [row(f"x {spelled('range', about)}", faults={"range": about}) for about in ranges]
    assert groups.groups(rows) == {"x": rows}


def test_many_rows_are_spoken_of_by_the_calmest_of_each_group_under_its_name(row: MakeRow) -> None:
    rows = [*swept(row, "a", 5.0), *swept(row, "b", 6.0)[::-1]]
    assert groups.crowded(rows)
    assert [(entry["label"], entry["regret_per_agent"]["mean"]) for entry in groups.spoken_of(rows)] == [("a", 5.0), ("b", 6.0)]


def test_of_many_rows_the_calmest_and_the_worst_of_each_group_are_drawn(row: MakeRow) -> None:
    rows = [*swept(row, "a", 5.0, 1.0, 9.0, 7.0), *swept(row, "b", 20.0)]
    assert groups.drawn(rows) == [0, 2, 10]  # the calmest of b is its worst, too


def test_few_rows_are_all_drawn_and_so_are_many_that_differ_in_more_than_faults(row: MakeRow) -> None:
    few, many = swept(row, "a"), [row(f"row{index}") for index in range(40)]
    assert groups.drawn(few) == list(range(10)) and groups.spoken_of(few) == few
    assert groups.drawn(many) == list(range(40)) and groups.spoken_of(many) == many


def test_of_who_learns_alone_the_calmest_is_drawn(row: MakeRow) -> None:
    silent = {"rounds": 0, "messages": 0, "bytes": 0, "cost": 0.0}
    alone = [entry | {"communication": silent} for entry in swept(row, "alone", 5.0, 6.0)]
    assert groups.drawn([*alone, *swept(row, "b", 2.0, 3.0)]) == [0, 10, 11]
