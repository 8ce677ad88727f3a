"""Where the number tags of dots go, so that none covers another tag or a dot at any width of the picture.

A dot lies at its true place, in percent across and pixels down; its tag lies beside it by pixels. A pair is judged over all
widths at once: what is apart on a phone must stay apart on a wide screen, where dots move and tags move with them.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from coterie.report.draw.scale import NARROW
from coterie.report.draw.svg import Point, text_width

WIDEST = 1100  # pixels
RADIUS, DOT = 8.5, 6.5
ABOVE, BELOW, BESIDE, STEP = -17.0, 19.0, 32.0, 20.0


Span = tuple[float, float, float]  # a line down: percent across, and its top and bottom in pixels


class Tag(NamedTuple):
    """From its dot, in pixels. A tag that is not next to its dot has a line that leads to it."""

    right: float
    down: float
    leader: bool

    @property
    def place(self) -> Point:
        return self.right, self.down


def half_width(text: str) -> float:
    """A tag is a circle, or longer where its text is."""
    return max(RADIUS, text_width(text, 12) / 2 + 3)


def tags(dots: Sequence[Point], texts: Sequence[str], height: float, obstacles: Sequence[Point] = (),
         spans: Sequence[Span] = ()) -> list[Tag]:  # fmt: skip
    """A tag for each dot (percent across, pixels down) in a picture of that height; `obstacles` are dots without tags.

    `spans` are intervals, which tags leave free where there is room beside them.
    """
    halves = [half_width(text) for text in texts]
    taken = _Taken(height, [*dots, *obstacles])
    found: dict[int, Tag] = {}
    clusters = sorted(_clusters(dots), key=len)
    for cluster in clusters:
        for stack, avoided in [(stack, avoided) for avoided in (spans, ()) for stack in _stacks(cluster, dots, halves)]:
            if taken.free([(dots[i], tag, halves[i]) for i, tag in stack.items()], avoided):
                break
        else:
            stack = {}
        for i in cluster:
            tag = stack.get(i) or next(
                (tag for tag in _anywhere(height) if taken.free([(dots[i], tag, halves[i])])), Tag(0, ABOVE, False)
            )
            taken.add(dots[i], tag, halves[i])
            found[i] = tag
    return [found[i] for i in range(len(dots))]


class _Taken:
    """The room that dots and tags take."""

    def __init__(self, height: float, dots: Sequence[Point]) -> None:
        self.height, self.dots = height, dots
        self.tags: list[tuple[Point, Tag, float]] = []

    def add(self, dot: Point, tag: Tag, half: float) -> None:
        self.tags.append((dot, tag, half))

    def free(self, wanted: Sequence[tuple[Point, Tag, float]], spans: Sequence[Span] = ()) -> bool:
        """Do these tags stay inside and clear of all others, of each other, of dots and of these lines?"""
        for place, (dot, tag, half) in enumerate(wanted):
            if not self._inside(dot, tag, half):
                return False
            for other, beside, other_half in (*self.tags, *wanted[:place]):
                if _meet(dot, tag.place, other, beside.place, half + other_half + 2, 2 * RADIUS + 2):
                    return False
            for other in self.dots:
                if other != dot and _meet(dot, tag.place, other, (0.0, 0.0), half + DOT, RADIUS + DOT):
                    return False
            for across, top, bottom in spans:
                middle, reach = (top + bottom) / 2, (bottom - top) / 2
                if _meet(dot, tag.place, (across, middle), (0.0, 0.0), half + 1, RADIUS + reach):
                    return False
        return True

    def _inside(self, dot: Point, tag: Tag, half: float) -> bool:
        if not RADIUS <= dot[1] + tag.down <= self.height - RADIUS:
            return False
        ends = [dot[0] / 100 * width + tag.right for width in (NARROW, WIDEST)]
        return ends[0] >= half and ends[1] >= half and ends[0] <= NARROW - half and ends[1] <= WIDEST - half


def _meet(dot: Point, tag: Point, other: Point, beside: Point, across: float, down: float) -> bool:
    """Do two boxes meet at any width from the narrowest to the widest?"""
    if abs(dot[1] + tag[1] - other[1] - beside[1]) >= down:
        return False
    ends = [(dot[0] - other[0]) / 100 * width + tag[0] - beside[0] for width in (NARROW, WIDEST)]
    return min(ends) < across and max(ends) > -across


def _clusters(dots: Sequence[Point]) -> Iterator[list[int]]:
    """Dots that lie so near to each other that their tags, all above them, would meet; each from top to bottom."""
    left = sorted(range(len(dots)), key=lambda i: dots[i][1])
    while left:
        cluster = [left.pop(0)]
        grown = True
        while grown:
            near = [i for i in left if any(_meet(dots[i], (0, 0), dots[j], (0, 0), 19, 22) for j in cluster)]
            cluster += near
            left = [i for i in left if i not in near]
            grown = bool(near)
        yield sorted(cluster, key=lambda i: dots[i][1])


def _stacks(cluster: Sequence[int], dots: Sequence[Point], halves: Sequence[float]) -> Iterator[dict[int, Tag]]:
    """One above, below or next to its dot; several in a column beside them, at the side that has more room first."""
    if len(cluster) == 1:
        yield {cluster[0]: Tag(0.0, ABOVE, False)}
        yield {cluster[0]: Tag(0.0, BELOW, False)}
        for sign in (1, -1):
            yield {cluster[0]: Tag(sign * (halves[cluster[0]] + DOT + 3), 0.0, False)}
    heights = [dots[i][1] for i in cluster]
    apart = spread(heights, STEP)
    side = -1 if sum(dots[i][0] for i in cluster) / len(cluster) > 50 else 1
    for reach in (BESIDE, 1.7 * BESIDE, 2.4 * BESIDE):
        for towards in (side, -side):
            for shift in (0.0, -8.0, 8.0, -16.0, 16.0, -28.0, 28.0):
                yield {
                    i: Tag(towards * (reach + halves[i] - RADIUS), y + shift - dots[i][1], True)
                    for i, y in zip(cluster, apart, strict=True)
                }


def _anywhere(height: float) -> Iterator[Tag]:
    """What is left where a cluster finds no column: near places first."""
    yield Tag(0.0, ABOVE, False)
    yield Tag(0.0, BELOW, False)
    steps = [sign * STEP * step for step in range(int(height / STEP) + 1) for sign in ((1,) if step == 0 else (-1, 1))]
    for reach in range(1, 9):
        for down in steps:
            for side in (-1, 1):
                yield Tag(side * (BESIDE + 24 * (reach - 1)), down, True)


def spread(wanted: Sequence[float], step: float) -> list[float]:
    """Places at least `step` apart, in the order given (rising), as near to those wanted as can be."""
    blocks: list[list[float]] = []  # [sum of (wanted - place in block), number]
    for place, value in enumerate(wanted):
        blocks.append([value - step * place, 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            total, count = blocks.pop()
            blocks[-1] = [blocks[-1][0] + total, blocks[-1][1] + count]
    starts = [total / count for total, count in blocks for _ in range(int(count))]
    return [start + step * place for place, start in enumerate(starts)]
