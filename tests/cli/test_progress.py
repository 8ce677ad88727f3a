"""What commands show while they work: at a terminal, in a log, for a machine, and where nobody listens."""

import io
import json
import sys

import pytest
from rich.cells import cell_len

from coterie.cli import progress
from coterie.cli.main import main
from coterie.cli.pace import MARKS, PLAIN, Pace, View, bar, line
from coterie.cli.progress import Waiting, waiting
from coterie.engines import compiled
from coterie.engines.compiled import Compiling
from coterie.errors import UsageError

LABELS = ["ucb1", "cdp-mab epsilon=0.5 mode=paper", "医院 " * 20, "two\nlines\x1b[2J"]


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


class Clock:
    seconds = 0.0

    def __call__(self):
        return self.seconds


@pytest.fixture
def shown(monkeypatch):
    """What was written to stderr by then; `shown(...)` is a command's progress with a clock of its own."""

    def made(stream, kind="bar", term="xterm"):
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setenv("TERM", term)
        monkeypatch.setenv("COLUMNS", "60")
        return Waiting("reading", kind, Clock())

    return made


@pytest.mark.parametrize("label", LABELS, ids=ascii)
@pytest.mark.parametrize("marks", [MARKS, PLAIN])
def test_a_bar_fits_every_width_and_is_one_line_without_control_characters(label, marks):
    for width in range(1, 120):
        for numbers in ((), (3, 10, 4000.0, 86_400.0), (10, 10, 1.0)):
            drawn = bar(View("running", label, *numbers), width, marks)
            assert cell_len(drawn) <= width and drawn.isprintable()


def test_a_narrow_bar_gives_up_its_cells_before_its_label_and_its_label_before_its_numbers():
    view = View("running", "cdp-mab epsilon=1 mode=paper", 3, 10, 12.0, 28.0)
    assert bar(view, 60) == "cdp-mab epsilon=1 mode=paper ━━━──────  30 % 0:12, 0:28 left"
    assert bar(view, 52) == "cdp-mab epsilon=1 mode=paper  30 % 0:12, 0:28 left"
    assert bar(view, 37) == "cdp-mab epsilo…  30 % 0:12, 0:28 left"


def test_the_rest_is_told_from_what_was_done_and_not_from_what_lay_there_or_what_was_compiled():
    pace = Pace()
    assert pace.left(10.0, 500, 1000, held_up=True) is None  # a run that goes on with half of it
    assert pace.left(70.0, 500, 1000, held_up=True) is None  # a minute of the compiler
    assert pace.left(71.0, 510, 1000, held_up=False) is None  # one second tells little
    assert pace.left(80.0, 600, 1000, held_up=False) == pytest.approx(10 * 400 / 100)
    assert pace.left(90.0, 600, 1000, held_up=True) == pytest.approx(10 * 400 / 100)
    assert pace.left(91.0, 1, 7, held_up=False) is None  # something else


def lefts(done_at, until=60.0, total=10**9):
    pace, times = Pace(), [0.2 * tick for tick in range(int(5 * until))]
    return times, [pace.left(now, min(total, int(done_at(now))), total, held_up=False) for now in times]


def test_of_work_that_goes_on_evenly_the_rest_is_told_from_the_third_second_on():
    times, told = lefts(lambda now: 10**7 * now)
    assert all(left is None for now, left in zip(times, told, strict=True) if now < 2.9)
    assert all(left == pytest.approx(100 - now, rel=1e-6) for now, left in zip(times, told, strict=True) if now > 3.1)
    slow = Pace()  # a line of a log every five seconds
    assert [slow.left(5.0 * tick, 50 * tick, 1000, held_up=False) for tick in range(4)] == [None, 95.0, 90.0, 85.0]


def test_of_work_that_is_over_ever_sooner_no_rest_is_told_that_is_far_too_long():
    """Plans that double: of a billion rounds the last half is played in the last of fifty seconds. Days were told."""
    _, told = lefts(lambda now: 2.0 ** (now * 30 / 50), until=50.0)
    assert all(left is None or left < 200 for left in told[40:])


def test_the_bar_at_a_terminal_is_drawn_over_and_taken_away(shown):
    stream = Terminal()
    bar = shown(stream)
    bar.show(3, 10, "ucb1")
    bar.tick()
    assert stream.getvalue().startswith("\r") and "ucb1 ━" in stream.getvalue() and "\x1b" not in stream.getvalue()
    bar.clear()
    assert stream.getvalue().endswith("\r" + " " * 59 + "\r") and "\n" not in stream.getvalue()


@pytest.mark.parametrize(("stream", "term"), [(io.StringIO, "xterm"), (Terminal, "dumb")], ids=["no terminal", "TERM=dumb"])
def test_elsewhere_there_are_lines_without_control_characters(shown, stream, term):
    written = stream()
    lines = shown(written, term=term)
    lines.show(3, 10, "ucb1")
    lines.now.seconds = 12.0
    lines.tick()
    lines.clear()
    assert written.getvalue() == "ucb1: 30 % after 0:12\n"


def test_what_is_compiled_is_told_with_how_many_are_left(shown, monkeypatch):
    written = io.StringIO()
    lines = shown(written)
    lines.show(3, 10, "ucb1")
    monkeypatch.setattr(compiled, "compiling", lambda: Compiling("gossip-ucb", 2, 5))
    lines.tick()
    assert written.getvalue() == "compiling gossip-ucb (2 of 5 left): 30 % after 0:00\n"
    written = io.StringIO()
    objects = shown(written, "json")
    objects.show(3, 10, "ucb1")
    objects.tick()
    working, compiling = map(json.loads, written.getvalue().splitlines())
    assert (working["stage"], working["label"], working["done"], working["total"]) == ("running", "ucb1", 3, 10)
    assert (compiling["stage"], compiling["label"], compiling["done"], compiling["total"]) == ("compiling", "gossip-ucb", 3, 5)


@pytest.mark.parametrize(("error", "ended"), [(None, "finished"), (KeyboardInterrupt, "interrupted"), (UsageError, "failed")])
def test_objects_for_a_machine_say_how_it_ended(monkeypatch, error, ended):
    monkeypatch.setattr(sys, "stderr", written := io.StringIO())
    try:
        with waiting("reading", "json") as shown:
            shown.do("writing", "writing the page")
            if error:
                raise error
    except (KeyboardInterrupt, UsageError):
        pass
    found = [json.loads(text) for text in written.getvalue().splitlines()]
    assert [one["stage"] for one in found] == ["writing", ended]
    assert all(list(one) == ["stage", "label", "done", "total", "seconds", "seconds_left"] for one in found)
    assert found[0]["total"] is None and found[0]["seconds_left"] is None


def closed():
    stream = io.StringIO()
    stream.close()
    return stream


@pytest.mark.parametrize("stream", [lambda: None, closed], ids=["absent", "closed"])
@pytest.mark.parametrize("kind", ["bar", "json"])
def test_nobody_listening_is_no_error(shown, stream, kind):
    silent = shown(stream(), kind)
    silent.show(1, 2, "ucb1")
    silent.tick()
    silent.clear()
    assert silent.kind == "none"


def test_a_thread_of_its_own_tells_how_far_it_is(monkeypatch):
    monkeypatch.setattr(sys, "stderr", written := io.StringIO())
    monkeypatch.setitem(progress.EVERY, "line", 0.001)
    with waiting("reading"):
        while "reading: after 0:00\n" not in written.getvalue():
            pass


@pytest.mark.parametrize("arguments", [["run", "quickstart"], ["audit", "cdp-mab"], ["check", "ucb1"]], ids=" ".join)
def test_another_kind_of_progress_is_bad_input(monkeypatch, capsys, tmp_path, arguments):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["coterie", *arguments, "--progress", "loud"])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2 and "--progress must be bar, json or none, got 'loud'" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_line_of_a_log_names_the_time_that_is_left():
    assert line(View("running", "ucb1", 1, 3, 3725.0, 90.0)) == "ucb1: 33 % after 1:02:05, about 1:30 left"
