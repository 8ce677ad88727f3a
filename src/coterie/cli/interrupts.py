"""Ctrl-C, SIGTERM and SIGHUP: every command is out within a second, whatever it is at.

First the gentle way: the main thread is interrupted, so that children are ended and files put in order. If it does not answer
in time (it may be inside a library), the program ends where it stands: all files are written under another name and renamed.
Either way there is one line on stderr, and the exit code is 128 + the number of the signal: 130, 143 and 129.
"""

import contextlib
import functools
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

GRACE = 0.6  # seconds for the gentle way
SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
INTERRUPTED = 128 + signal.SIGINT
_kept: list[tuple[str, Path | None]] = []  # what the line on stderr says
_heard: list[int] = []  # signals


def keeps(what: str, folder: Path | None = None) -> None:
    """What is left of this command if it is interrupted from now on: in a folder, once that is there."""
    _kept[:] = [(what, folder)]


def interruptible(command: Callable[[], Any]) -> Callable[[], None]:
    """A command that ends by `SystemExit`. Once a signal was heard the code is that of the signal, whatever came of it."""

    @functools.wraps(command)
    def called() -> None:
        _kept.clear()
        _heard.clear()
        code = None
        try:
            with _listening():
                code = command()
        except SystemExit as ending:
            code = ending.code
        except BaseException:
            if not _heard:
                raise
        if code == INTERRUPTED or _heard:
            _say()
        if _heard:
            _end(128 + _heard[0])
        sys.exit(code)

    return called


def is_interrupted() -> bool:
    """Whatever goes wrong from now on: libraries raise errors of their own where they are interrupted while they are loaded."""
    return bool(_heard)


@contextlib.contextmanager
def _listening() -> Iterator[None]:
    """To signals, which are noted. The first one interrupts the main thread, and the others nothing more."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    over = threading.Event()

    def hear(number: int, frame: FrameType | None) -> None:
        first = not _heard and not over.is_set()
        _heard.append(number)
        if first:
            raise KeyboardInterrupt

    ours = [one for one in SIGNALS if signal.getsignal(one) in (signal.SIG_DFL, signal.default_int_handler)]
    before = {one: signal.signal(one, hear) for one in ours}  # one that is ignored (nohup, or in the background) stays so
    untold, sys.unraisablehook = sys.unraisablehook, lambda lost: None if _heard else untold(lost)  # inside the compiler
    inlet, outlet = socket.socketpair()
    inlet.setblocking(False)
    wakeup = signal.set_wakeup_fd(inlet.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=_enforce, args=(outlet, over, set(ours)), daemon=True).start()
    try:
        yield
    finally:
        over.set()
        signal.set_wakeup_fd(wakeup)
        sys.unraisablehook = untold
        for one, handler in before.items():
            signal.signal(one, handler)
        inlet.close()


def _enforce(outlet: socket.socket, over: threading.Event, ours: set[int]) -> None:
    """The operating system writes signals into the socket at once, even if the main thread does not come to look at them."""
    with outlet:
        while told := outlet.recv(1):
            if told[0] in ours:
                if not over.wait(GRACE):
                    if sys.stderr and sys.stderr.isatty():
                        _write("\n")  # off the line of a bar
                    _say()
                    _end(128 + told[0])
                return


def _say() -> None:
    told = [what for what, folder in _kept if folder is None or folder.exists()]
    _write("interrupted" + "".join(f": {what}" for what in told) + "\n")


def _write(text: str) -> None:
    with contextlib.suppress(OSError, ValueError, AttributeError):  # stderr may be closed, or absent
        sys.stderr.write(text)
        sys.stderr.flush()


def _end(code: int) -> None:
    """At once: the interpreter's own way out takes its time, and a thread inside the compiler would not survive it."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(code)
