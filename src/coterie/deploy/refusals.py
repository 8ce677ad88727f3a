"""Why an application's word is not taken. The agent is as it was; the web side has a status for each."""

from coterie.errors import ProtocolError


class UnknownDecision(ProtocolError):
    """A reward for, or a word about, a decision that was never made here."""


class Conflict(ProtocolError):
    """Another value for a decision whose reward is known, or a reward for one that was cancelled."""


class Closed(ProtocolError):
    """The window of the decision is over."""


class Unfit(ProtocolError):
    """A reward out of range or no number, a key that is too long, an arm that does not exist."""
