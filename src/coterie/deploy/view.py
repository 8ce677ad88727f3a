"""All that may be seen of a node: what its page, its metrics and `GET /v1/state` show, and no more.

There is no field for a reward, a raw sum or the key of a patient. Estimates are the algorithm's own, made of what was released.
Times are seconds since 1970, for readers only: no rule rests on them.
"""

from msgspec import Struct


class ArmView(Struct, frozen=True):
    """`choices` are answers given here; `worth` is the present estimate, None where there is none yet."""

    name: str
    choices: int
    worth: float | None
    withheld: bool = False


class ReleaseView(Struct, frozen=True):
    """A noised sum that left: of so many rewards of an arm, at a price."""

    turn: int
    arm: str
    rewards: int
    price: float
    at: float | None = None


class BudgetView(Struct, frozen=True):
    """Of one reward. An infinite epsilon (`privacy = "none"`) is None; so is what is left of it."""

    epsilon: float | None
    delta: float
    spent: float
    left: float | None
    refused: bool = False


class PeerView(Struct, frozen=True):
    """Another member: the turn of its last word, when that came, and how many turns it is behind us."""

    name: str
    turn: int | None = None
    at: float | None = None
    lag: int | None = None


class AlarmView(Struct, frozen=True):
    kind: str
    text: str
    at: float | None = None


class View(Struct, frozen=True):
    """role       "agent" or "coordinator"
    turn       the number of its own turn; around a server the epoch
    missing    who has not reported in an open epoch, of whom `quorum` are needed
    learned    of `decisions`: those whose reward is, or will be, learned from
    waiting    decisions whose reward may still come
    connected  whether the broker answers; None: there is none to ask
    unsent     messages that the broker has not acknowledged
    rejected   messages of others that were not taken in, by reason
    silent     why nothing is reported any more: "budget", "withheld"; None while it is
    """

    name: str
    role: str
    run: str
    algorithm: str
    clock: str
    turn: int
    horizon: int
    budget: BudgetView
    arms: tuple[ArmView, ...] = ()
    decisions: int = 0
    learned: int = 0
    waiting: int = 0
    missing: tuple[str, ...] = ()
    quorum: int | None = None
    released: int = 0
    releases: tuple[ReleaseView, ...] = ()
    peers: tuple[PeerView, ...] = ()
    connected: bool | None = None
    unsent: int = 0
    rejected: dict[str, int] = {}
    alarms: tuple[AlarmView, ...] = ()
    silent: str | None = None
