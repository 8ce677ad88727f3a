"""Errors say whose fault it is. The class decides the exit code of a command.

A message is one line: it names the field, the allowed range and what was given, never a private value. Where a name was asked
for and another was given, it suggests the nearest (`hint`).
"""

import difflib
from collections.abc import Iterable, Iterator


class CoterieError(Exception):
    """The base of all errors a caller may want to catch. On its own it is a bug of ours."""

    exit_code = 70
    meaning = "a bug of ours; COTERIE_DEBUG=1 shows where"


class UsageError(CoterieError):
    """Bad input or configuration; nothing was created and nothing was sent."""

    exit_code = 2
    meaning = "bad input or configuration; nothing was created"


class ProtocolError(UsageError):
    """An event that an agent does not allow: not now, or not with these values. The agent is as it was."""


class AlgorithmError(UsageError):
    """An algorithm's file breaks the contract: the line names the file, the hook and, where it is known, the line."""


class BudgetError(CoterieError):
    """A release would cost more privacy than is left; nothing was released."""

    exit_code = 3
    meaning = "the privacy budget is spent; nothing was released"


class StateError(CoterieError):
    """What lies on disk does not fit: another study's results, or damaged ones."""

    exit_code = 4
    meaning = "what lies on disk does not fit: another study's results, or damaged ones"


class AuthError(CoterieError):
    """A key, certificate or permission does not do; nothing was sent."""

    exit_code = 5
    meaning = "a key, certificate or permission does not do; nothing was sent"


class FencedError(CoterieError):
    """Another process runs, or ran later, with the same keys: this one stops and releases nothing more."""

    exit_code = 6
    meaning = "another process runs, or ran later, with the same keys or in the same folder; this one stopped"


class StorageError(CoterieError):
    """The disk refused."""

    exit_code = 7
    meaning = "the disk, or whatever was to be written to, refused"


SUCCESS, FAILED, HUNG_UP, INTERRUPTED, BROKEN_PIPE, TERMINATED = 0, 1, 129, 130, 141, 143


def exit_codes() -> dict[int, str]:
    """Every exit code of every command, and what it means."""
    found = {
        SUCCESS: "success; of an audit: no promise was found broken",
        FAILED: "a check failed: a promise is broken (audit), or a claim is not as recorded (claims, reproduce)",
        INTERRUPTED: "interrupted (Ctrl-C); what was finished is kept",
        HUNG_UP: "the terminal went away (SIGHUP); what was finished is kept",
        TERMINATED: "ended from outside (SIGTERM); what was finished is kept",
        BROKEN_PIPE: "whoever read the output stopped reading, such as head (a broken pipe)",
    }
    return dict(sorted((found | {kind.exit_code: kind.meaning for kind in _kinds(CoterieError)}).items()))


def _kinds(kind: type[CoterieError]) -> Iterator[type[CoterieError]]:
    """The error and all that are special cases of it; one without a code of its own shares its parent's."""
    if "exit_code" in vars(kind):
        yield kind
    for special in kind.__subclasses__():
        yield from _kinds(special)


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word a user most likely meant, if any is near.

    >>> nearest("Fed-UBC", ["cdp-mab", "fed-ucb"])
    'fed-ucb'
    """
    folded = {name.casefold(): name for name in reversed(list(known))}
    found = difflib.get_close_matches(word.casefold(), folded, n=1)
    return folded[found[0]] if found else None


def hint(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """How a message about an unknown name ends: with the nearest known one, else with what is said otherwise.

    >>> hint("fed-ubc", ["fed-ucb"]), hint("x", ["fed-ucb"], "`coterie studies` lists them"), hint("x", ["fed-ucb"])
    ("; did you mean 'fed-ucb'?", '; `coterie studies` lists them', '')
    """
    near = nearest(word, known)
    if near is not None:
        return f"; did you mean {near!r}?"
    return f"; {otherwise}" if otherwise else ""
