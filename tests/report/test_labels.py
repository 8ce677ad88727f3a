"""Names inside pictures: short, whole, and not on top of each other."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from coterie.report import labels

MakeRow = Callable[..., dict[str, Any]]


def shortened(row: MakeRow, *settings: tuple[str, dict[str, Any]]) -> list[str]:
    """Of rows with these labels and parameters."""
    return labels.short_labels([row(label, parameters=parameters) for label, parameters in settings])


def test_short_labels_drop_what_all_share_and_stay_distinct(row: MakeRow) -> None:
    by_epsilon = ("cdp-mab epsilon=0.1", {"epsilon": 0.1}), ("cdp-mab epsilon=inf", {"epsilon": None})
    assert shortened(row, *by_epsilon) == ["ε=0.1", "ε=∞"]
    by_rounds = ("cdp-mab", {"rounds": None}), ("cdp-mab rounds=4", {"rounds": 4})
    assert shortened(row, *by_rounds) == ["cdp-mab", "cdp-mab rounds=4"]
    other = ("fed-ucb mechanism=tree", {"mechanism": "tree"}), ("gossip-ucb", {})
    assert shortened(row, *other) == ["fed-ucb tree", "gossip-ucb"]
    same = ("a noise=paper", {"noise": "paper"}), ("a mode=paper", {"mode": "paper"})
    assert shortened(row, *same) == ["a noise=paper", "a mode=paper"]
    assert shortened(row, ("my variant 1", {}), ("my variant 12", {})) == ["variant 1", "variant 12"]
    assert shortened(row, ("only one", {})) == ["only one"]


def test_words_of_the_user_stay_as_they_are_even_if_they_look_like_a_setting(row: MakeRow) -> None:
    names = ["each shop alone, no noise", "together, any epsilon", "x epsilon=large", "y mode=paper"]
    assert shortened(row, *((name, {"epsilon": 1.0, "mode": "private"}) for name in names)) == names


def test_a_long_name_goes_on_in_a_second_line_before_anything_is_cut() -> None:
    assert labels.in_lines("each shop alone, no noise") == ["each shop alone, no noise"]
    name = "together without a server, private, ε=1"
    assert labels.in_lines(name) == ["together without a server,", "private, ε=1"]
    assert labels.in_lines(name, 1) == ["together without a…"]
    assert len(labels.in_lines("word " * 50)) == 2 and labels.in_lines("word " * 50)[1].endswith("…")


@pytest.mark.parametrize("middles", [[10, 11, 12], [10, 50, 90], [96, 97, 98], [0, 99, 99]])
def test_stacked_names_do_not_overlap_and_stay_above_the_bottom(middles: list[float]) -> None:
    heights = [16, 32, 16]
    tops = labels.stacked(middles, heights, bottom=100)
    assert all(top + height <= below for (top, below), height in zip(pairwise(tops), heights, strict=False))
    assert tops[-1] + heights[-1] <= 100


def test_a_name_with_room_around_it_stays_where_it_is_wanted() -> None:
    assert labels.stacked([20, 60], [16, 16], bottom=100) == [12, 52]


def test_a_name_goes_above_its_mark_if_nothing_is_there() -> None:
    place = labels.best_place(["name"], (400, 200), 8, [])
    assert place.box[3] <= 200 - 8 and place.spot[2] == "middle" and place.leader is None


def test_a_name_avoids_what_is_drawn_and_is_led_to_its_mark_when_far_away() -> None:
    beside = [(200.0, 160.0, 395.0, 240.0), (405.0, 160.0, 600.0, 240.0)]
    place = labels.best_place(["name"], (400, 200), 8, beside)
    assert place.box[3] <= 160
    assert place.leader == (400, place.box[3], 400, 192)
