"""How far a command is, in words: one line for a terminal of any width, a line for a log, an object for a machine."""

import json
from bisect import bisect_right
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size

SURE = 3.0  # seconds of work before anything is said about the rest
LAG, LAG_EARLY = 0.25, 0.4  # of what was done: if less of it was done in the first half of the time, nothing is said
EARLY = 0.01  # of all there is to do
FURTHER = 1.02  # a factor of time between two looks that are remembered
LEAST = 6  # cells of a bar: where there is less room, the label and the numbers are worth more
MARKS, PLAIN = "━─…", "#-."  # of a bar: done, not yet, and where a label was cut


class View(NamedTuple):
    """What there is to tell at one moment."""

    stage: str
    label: str
    done: int = 0
    total: int = 0  # 0: not known
    seconds: float = 0.0  # since the command began
    left: float | None = None  # seconds; None: not known

    @property
    def share(self) -> float:
        return min(1.0, self.done / self.total) if self.total else 0.0


class Pace:
    """Tells from what was done so far how long the rest takes. Time in which the compiler alone was at work does not count.

    Where nearly all was done of late nothing is said: plans that grow are over ever sooner.
    """

    def __init__(self) -> None:
        self.total, self.first, self.done, self.busy, self.now = 0, 0, 0, 0.0, 0.0
        self.past = [(0.0, 0)]  # busy, done

    def left(self, now: float, done: int, total: int, held_up: bool) -> float | None:
        if total != self.total:  # something else is being done
            self.total, self.first, self.done, self.busy, self.now = total, done, done, 0.0, now
            self.past = [(0.0, done)]
        if done > self.done or not held_up:
            self.busy += now - self.now
        self.now, self.done = now, done
        if self.busy > FURTHER * self.past[-1][0]:
            self.past.append((self.busy, done))
        if self.busy < SURE or done <= self.first:
            return None
        lag = LAG if done - self.first > EARLY * total else LAG_EARLY
        if self._in_the_first_half(done) < lag * (done - self.first):
            return None
        return self.busy * (total - done) / (done - self.first)

    def _in_the_first_half(self, done: int) -> float:
        """What was done by then, between two looks by a straight line."""
        half = self.busy / 2
        place = bisect_right(self.past, (half, self.total))
        before, later = self.past[place - 1], [*self.past[place : place + 1], (self.busy, done)][0]
        share = (half - before[0]) / (later[0] - before[0])
        return before[1] + share * (later[1] - before[1]) - self.first


def clock(seconds: float) -> str:
    """
    >>> clock(5), clock(3725), clock(200_000)
    ('0:05', '1:02:05', '2 d 7 h')
    """
    whole = round(seconds)
    if whole >= 86_400:
        return f"{whole // 86_400} d {whole % 86_400 // 3600} h"
    hours = f"{whole // 3600}:" if whole >= 3600 else ""
    return f"{hours}{whole // 60 % 60:0{2 if hours else 1}d}:{whole % 60:02d}"


def bar(view: View, width: int, marks: str = MARKS) -> str:
    """
    >>> bar(View("running", "cdp-mab", 3, 10, 12.0, 28.0), 50)
    'cdp-mab ━━━━━━──────────────  30 % 0:12, 0:28 left'
    """
    tail = f"  {int(100 * view.share):2d} %" if view.done and view.total else ""
    tail += f" {clock(view.seconds)}" + (f", {clock(view.left)} left" if view.left is not None else "")
    room = width - cell_len(tail)
    label = cut(view.label, room, marks)
    cells = room - cell_len(label) - 1
    cells = cells if view.total and cells >= LEAST else 0
    done = round(cells * view.share)
    return cut(label + (" " + marks[0] * done + marks[1] * (cells - done) if cells else "") + tail, width, marks)


def cut(text: str, width: int, marks: str) -> str:
    text = "".join(letter if letter.isprintable() else " " for letter in text)
    return text if cell_len(text) <= width else set_cell_size(text, max(0, width - 1)) + marks[2] * (width > 0)


def line(view: View) -> str:
    """
    >>> line(View("running", "cdp-mab", 3, 10, 12.0, 28.0))
    'cdp-mab: 30 % after 0:12, about 0:28 left'
    """
    share = f"{int(100 * view.share)} % " if view.total else ""
    left = "" if view.left is None else f", about {clock(view.left)} left"
    return f"{cut(view.label, 200, MARKS)}: {share}after {clock(view.seconds)}{left}"


def record(view: View) -> str:
    """
    >>> record(View("running", "cdp-mab", 3, 10, 12.0, 28.0))
    '{"stage": "running", "label": "cdp-mab", "done": 3, "total": 10, "seconds": 12.0, "seconds_left": 28.0}'
    """
    left = None if view.left is None else round(view.left, 1)
    facts = {"stage": view.stage, "label": view.label, "done": view.done, "total": view.total or None}
    return json.dumps(facts | {"seconds": round(view.seconds, 1), "seconds_left": left})
