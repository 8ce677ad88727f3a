"""Errors say whose fault it is. The class decides the exit code of a command.

A message is one line: it names the field, the allowed range and what was given, never a private value.
"""


class CoterieError(Exception):
    """The base of all errors a caller may want to catch. On its own it is a bug of ours."""

    exit_code = 70


class UsageError(CoterieError):
    """Bad input or configuration; nothing was created and nothing was sent."""

    exit_code = 2


class ProtocolError(UsageError):
    """An event that an agent does not allow: not now, or not with these values. The agent is as it was."""


class AlgorithmError(UsageError):
    """An algorithm's file breaks the contract: the line names the file, the hook and, where it is known, the line."""


class BudgetError(CoterieError):
    """A release would cost more privacy than is left; nothing was released."""

    exit_code = 3


class StateError(CoterieError):
    """What lies on disk does not fit: another study's results, or damaged ones."""

    exit_code = 4


class StorageError(CoterieError):
    """The disk refused."""

    exit_code = 7
