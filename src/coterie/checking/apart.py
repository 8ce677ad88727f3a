"""A process of its own for a guest's code: whatever it does, this process goes on and says where the guest was.

The child writes one line of JSON for each step. A step has a limit of processor seconds, so that a busy machine does not
matter, and a wider one by the clock, for those who sleep. Where one runs out, or the child crashes, Python itself notes the
line it was at (`faulthandler`, also from inside compiled code).
"""

import contextlib
import faulthandler
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from coterie.errors import AlgorithmError, CoterieError, UsageError
from coterie.guests import shown

try:
    import resource
except ImportError:  # a system without it has the clock only
    resource = None  # type: ignore[assignment]

SECONDS = {"interpreted": 8, "compiled": 200}  # of the processor, for one step; a compiler takes its time
PATIENCE = 8  # by the clock it may take so many times as long
CALL = re.compile(r'File "(.+?)", line (\d+) in (\S+)')


def steps(target: str, part: str, seconds: int | None = None) -> Iterator[str]:
    """What the child found in order, as it comes. What it found wrong is raised."""
    with tempfile.TemporaryFile("w+", errors="replace") as notes:
        child = _start(target, part, seconds or SECONDS[part], notes)
        assert child.stdout
        try:
            for line in child.stdout:
                said = json.loads(line)
                if "step" in said:
                    yield said["step"]
                elif "done" in said:
                    return
                elif "wrong" in said:
                    raise AlgorithmError(said["wrong"])
                elif "refused" in said:
                    raise UsageError(said["refused"])
                else:
                    raise RuntimeError(said["broken"])
            code = child.wait()
            notes.seek(0)
            raise AlgorithmError(_last_words(notes.read(), target, resource is not None and code == -signal.SIGXCPU))
        finally:
            child.kill()
            child.wait()
            child.stdout.close()


def _start(target: str, part: str, seconds: int, notes: IO[str]) -> subprocess.Popen[str]:
    """Bounds inside samplers and other compiled helpers are looked at, too, where nothing of it is kept."""
    paths = {"PYTHONPATH": os.pathsep.join(place for place in sys.path if place)}
    bounds = {"NUMBA_BOUNDSCHECK": "1"} if part == "interpreted" else {}
    command = [sys.executable, "-P", "-m", "coterie.checking.apart", part, target, str(seconds)]
    return subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=notes, text=True, env=os.environ | paths | bounds
    )


def _last_words(notes: str, target: str, late: bool) -> str:
    """Of a child that did not come to its end: where the guest's file was."""
    late = late or "Timeout (" in notes
    what = "takes too long, or has no end" if late else "stops the program, as code does that writes where it may not"
    for file, line, function in CALL.findall(notes):
        if Path(file).resolve() == Path(target).resolve() or "/algorithms/" in file.replace(os.sep, "/"):
            name = "" if function.startswith("<") else f" {function}"
            return f"{shown(file)}:{line}:{name} {what}"
    return f"{shown(target)}: {what}"


def main(part: str, target: str, seconds: str) -> None:
    """The child. Whatever a guest prints goes nowhere."""
    from coterie.checking import inspection

    answers = os.fdopen(os.dup(1), "w")
    notes = os.fdopen(os.dup(2), "w")
    with open(os.devnull, "w") as nowhere:
        for number in (1, 2):
            os.dup2(nowhere.fileno(), number)
        faulthandler.enable(notes)
        try:
            checks = inspection.interpreted if part == "interpreted" else inspection.compiled
            _limit(int(seconds), notes)
            for step in checks(target):
                _limit(int(seconds), notes)
                _say(answers, step=step)
            _say(answers, done=target)
        except AlgorithmError as error:
            _say(answers, wrong=str(error))
        except CoterieError as error:
            _say(answers, refused=str(error))
        except Exception as error:
            _say(answers, broken=f"{type(error).__name__}: {error}")
        finally:
            faulthandler.cancel_dump_traceback_later()
    answers.flush()
    os._exit(0)  # a guest's threads and exit handlers do not count


def _limit(seconds: int, notes: IO[str]) -> None:
    """From now on."""
    faulthandler.dump_traceback_later(PATIENCE * seconds, exit=True, file=notes)
    if resource:
        faulthandler.register(signal.SIGXCPU, file=notes, all_threads=False, chain=True)
        used, (_, most) = resource.getrusage(resource.RUSAGE_SELF), resource.getrlimit(resource.RLIMIT_CPU)
        limit = int(used.ru_utime + used.ru_stime) + seconds
        resource.setrlimit(resource.RLIMIT_CPU, (limit if most == resource.RLIM_INFINITY else min(limit, most), most))


def _say(answers: IO[str], **said: str) -> None:
    with contextlib.suppress(BrokenPipeError):
        answers.write(json.dumps(said) + "\n")
        answers.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
