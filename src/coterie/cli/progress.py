"""What commands show on stderr while they work: a bar at a terminal, else a line now and then, or objects for a machine.

A thread of its own looks at what is being done, so that a bar moves whatever the command is at. The compiler is watched, too.
No control characters but a return to the beginning of the line, and those at a terminal only; no colours.
"""

import contextlib
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from coterie.cli.pace import MARKS, PLAIN, Pace, View, bar, line, record
from coterie.errors import UsageError

KINDS = ("bar", "json", "none")
EVERY = {"bar": 0.2, "line": 5.0, "json": 1.0}  # seconds
HELP = (
    "On stderr. bar: a bar at a terminal, else a line every 5 seconds; json: an object a line, with stage, label, done, total, "
    "seconds and seconds_left; none."
)


class Waiting:
    """What a command tells about its progress: `show` while it works, `do` when it turns to something else."""

    def __init__(self, label: str, kind: str = "bar", now: Callable[[], float] = time.monotonic, stage: str = "starting"):
        if kind not in KINDS:
            raise UsageError(f"--progress must be bar, json or none, got {kind!r}")
        self.stream, self.kind = sys.stderr, kind if kind != "bar" or _draws(sys.stderr) else "line"
        self.now, self.began, self.pace, self.lock = now, now(), Pace(), threading.Lock()
        self.stage, self.label, self.done, self.total, self.width, self.is_held = stage, label, 0, 0, 0, False

    def show(self, done: int, total: int, label: str) -> None:
        self.stage, self.done, self.total, self.label = "running", done, total, label

    def do(self, stage: str, label: str) -> None:
        """Something of which nobody knows how long it takes."""
        self.stage, self.label, self.done, self.total = stage, label, 0, 0
        if self.kind == "json":
            self.tick()

    def views(self) -> list[View]:
        """What is done now; the last one is for those who can show one only."""
        seconds, at = self.now() - self.began, _compiling()
        left = self.pace.left(self.now(), self.done, self.total, at is not None)
        working = View(self.stage, self.label, self.done, self.total, seconds, left)
        if not at:
            return [working]
        if self.kind == "json":
            compiled = View("compiling", at.name, at.total - at.left, at.total, seconds)
            return [working, compiled] if self.total else [compiled]
        return [working._replace(label=str(at))]

    def tick(self) -> None:
        """Tell how far it is."""
        views = self.views()
        if self.is_held:
            return
        if self.kind == "bar":
            self._draw(views[-1])
        elif self.kind != "none":
            self._write("".join((record if self.kind == "json" else line)(view) + "\n" for view in views))

    def _draw(self, view: View) -> None:
        """Some columns stay free: for ^C, and as many terminals go on to the next line when the last one is used."""
        marks = MARKS if _speaks(self.stream, MARKS) else PLAIN
        width = max(1, shutil.get_terminal_size().columns - 3)
        with self.lock:
            self._write("\r" + " " * self.width + "\r" + bar(view, width, marks))
            self.width = width + 2

    def clear(self) -> None:
        """Take the bar away, so that something else can be printed; it comes back with the next tick."""
        if self.kind == "bar" and self.width:
            with self.lock:
                self._write("\r" + " " * self.width + "\r")
                self.width = 0

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Nothing is shown while the user is asked something."""
        self.is_held = True
        self.clear()
        try:
            yield
        finally:
            self.is_held = False

    def _write(self, text: str) -> None:
        try:
            self.stream.write(text)
            self.stream.flush()
        except (OSError, ValueError, AttributeError):  # nobody listens any more
            self.kind = "none"


@contextlib.contextmanager
def waiting(label: str, kind: str = "bar") -> Iterator[Waiting]:
    """Shows a command's progress as long as the block lasts."""
    shown, over = Waiting(label, kind), threading.Event()

    def watch() -> None:
        while not over.wait(EVERY[shown.kind]):
            shown.tick()
            if shown.kind == "none":
                return

    watcher = threading.Thread(target=watch, daemon=True)
    if shown.kind != "none":
        watcher.start()
    try:
        yield shown
        ended = "finished"
    except KeyboardInterrupt:
        ended = "interrupted"
        raise
    except BaseException:
        ended = "failed"
        raise
    finally:
        over.set()
        if watcher.is_alive():
            watcher.join(0.3)
        shown.clear()
        if shown.kind == "json":
            shown.do(ended, "")


def _draws(stream: Any) -> bool:
    try:
        return stream.isatty() and os.environ.get("TERM", "").lower() not in ("dumb", "unknown")
    except (AttributeError, ValueError):  # closed, or absent
        return False


def _speaks(stream: Any, letters: str) -> bool:
    try:
        letters.encode(stream.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _compiling() -> Any:
    """Only where the compiler has been loaded at all."""
    watched = sys.modules.get("coterie.engines.compiled")
    return watched.compiling() if watched and hasattr(watched, "compiling") else None
