"""A user's own file is a guest: what goes wrong in it is told in one line, with the file, the line and the function."""

import re
import traceback
from pathlib import Path

LONGEST = 160  # characters of what Python says about an error
OWN = "coterie_own_"  # how the names of modules begin that are files of users' own


def module_name(text: str) -> str:
    """A name that text written by us can import, whatever characters a user chose.

    >>> module_name("my-algo v2.1")
    'my_algo_v2_1'
    """
    return re.sub(r"[^0-9A-Za-z_]", "_", text)


def shown(file: str | Path) -> str:
    """The path of a file, as short as it can be read from here."""
    path = Path(file)
    for folder in (Path.cwd(), Path(__file__).parents[1]):
        if path.is_absolute() and path.is_relative_to(folder):
            return str(path.relative_to(folder))
    return str(path)


def place_of(error: BaseException, file: str | Path) -> str:
    """`file:line: function`, of the innermost call that lies in the file; the file alone where none does."""
    home = Path(file).resolve()
    if isinstance(error, SyntaxError) and error.filename and Path(error.filename).resolve() == home:
        return f"{shown(file)}:{error.lineno}"
    calls = [call for call in traceback.extract_tb(error.__traceback__) if Path(call.filename).resolve() == home]
    if not calls:
        return shown(file)
    named = "" if calls[-1].name.startswith("<") else f": {calls[-1].name}"
    return f"{shown(file)}:{calls[-1].lineno}{named}"


def blamed(error: BaseException) -> str:
    """One line about an error that passed through a user's own file, whatever called it; empty: none was involved."""
    calls = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    files = [frame.f_code.co_filename for frame in calls if str(frame.f_globals.get("__name__")).startswith(OWN)]
    return f"{place_of(error, files[-1])} {reason_of(error)}" if files else ""


def reason_of(error: BaseException) -> str:
    """What happened, as the end of a sentence about a function."""
    text = " ".join(str(error).split())
    if isinstance(error, SyntaxError):
        return f"must be Python, got {error.msg}"
    if isinstance(error, ModuleNotFoundError):
        return f"imports {error.name!r}, which is not installed"
    if isinstance(error, ZeroDivisionError) or (isinstance(error, FloatingPointError) and "divide" in text):
        return "divides by zero"
    if isinstance(error, FloatingPointError) and "invalid" in text:
        return "computes something that is not a number"
    if isinstance(error, OverflowError) or (isinstance(error, FloatingPointError) and "overflow" in text):
        return "computes a number that is too large"
    if isinstance(error, IndexError):
        return "asks for a place that does not exist"
    if isinstance(error, NameError):
        return f"uses {error.name!r}, which is not defined"
    if isinstance(error, RecursionError):
        return "calls itself without end"
    if isinstance(error, SystemExit | KeyboardInterrupt):
        return f"must not stop the program, got {type(error).__name__}"
    text = re.sub(r" at 0x[0-9a-f]+", "", text)
    return f"{type(error).__name__}: {text}"[:LONGEST] if text else type(error).__name__
