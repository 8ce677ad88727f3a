"""The contract between an algorithm and the engines: what a node may do, and what each part of it may see.

An algorithm is a set of small functions (hooks) on flat records. The same functions run interpreted, compiled inside a
simulation loop, and one event at a time in a deployed agent; the three end in the same bytes.

    secret   raw reward sums. Written by `observe` and `collect`, read by `release` (and by a declared `peek`, `overhear`).
    open     all that was released or received. Every visible act is a function of it.
    peer     what a node knows and remembers of one sender (open).
    plan     the pulls a node has committed to: entries (arm, pulls), taking `rounds` rounds.
    out      numbers on their way through the door; an entry says what it covers and what it costs.
    message  what travels between nodes (a function of open).
    card     what the two ends of a drawn edge show each other (a function of open).
    tale     what a liar wants to be believed (see engines.faults).
    p        parameters: a NamedTuple of numbers, the same for all nodes.
    t        the number of the turn: a round among peers, an epoch around a server.

Three rules carry the privacy argument. No hook receives another node's record. No hook that acts visibly receives the secret,
so acts are post-processing by signature. What leaves the secret is an `offer`, and the door derives the noise from the
sensitivity and the price, so less noise cannot be had without paying more.

Each function below is the default of a hook: it does nothing, and its docstring is the contract.
"""

from collections.abc import Callable
from math import inf
from typing import Any, NamedTuple

from numpy import dtype, float64, int64
from pydantic import BaseModel, ConfigDict

from coterie.kernel import capacity, node, record
from coterie.privacy.statement import Claim


@node
def choose(open, p, t, die, plan):
    """Decide: order(plan, arm, pulls), once or more. May draw uniform(die, 0), uniform(die, 1), ..."""


@node
def peek(secret, open, p, t, die, plan):
    """In place of choose, but reads the secret. Needs a written caveat; no adversary may see the choices."""


@node
def idle(open, p, t, die):
    """The arm to play while rewards or messages are under way. These pulls are not learned from. -1: the plan's first."""
    return -1


@node
def observe(secret, p, t, arm, pulls, total):
    """`pulls` rewards of `arm` sum to `total` on the integer grid. Order and batching must not matter."""


@node
def release(secret, open, p, t, plan, out):
    """Fill entries of `out` by offer(...) with exact statistics, and clear what was handed out. Must not write `open`."""


@node
def publish(open, p, t, plan, out):
    """The entries came back noised: take them into the open state. Called every turn."""


@node
def speak(open, p, t, message):
    """Fill the message; return how many of its 64-bit words are said (0: silence). The rest is neither sent nor read."""
    return 0


@node
def hear(open, peer, p, t, message):
    """A message arrived. If messages are additive, the sum of the round's news on one arm; hearing zeros changes nothing."""


@node
def overhear(secret, open, peer, p, t, message):
    """In place of hear, but reads the secret. Needs a written caveat, as peek does."""


@node
def collect(secret, peer, p, t, message):
    """In place of hear, for a trusted aggregator: what arrives is raw and goes into its secret, and nowhere else."""


@node
def weigh(open, peers, p, t):
    """Look at all senders at once (a median, votes): a peer just before it decides, a server just before it speaks."""


@node
def greet(open, p, t, card):
    """What a node shows to the other end of a drawn edge: its state at the end of the last round. Returns words, as speak."""
    return 0


@node
def meet(open, p, t, mine, theirs):
    """Both ends of a drawn edge act on the two cards, atomically, after their turns."""


@node
def leave(open, p, t, card):
    """Going away for a while: what to hand over to a neighbour, and no longer keep."""


@node
def inherit(open, p, t, card):
    """A neighbour went away and handed this over."""


@node
def lie(open, p, t, tale, die, message):
    """In place of speak, for a liar: a well-formed message that tells the tale. Returns words, as speak; -1: cannot lie.

    Where the tale names an arm and a message is about one arm, it is about that arm; -1: about the one it was about anyway.
    """
    return -1


@node
def pose(open, p, t, tale, die, card):
    """In place of greet, for a liar: a card that tells the tale. Returns words, as greet; -1: cannot lie."""
    return -1


@node
def order(plan, arm, pulls):
    """Commit to `pulls` pulls of `arm`. A plan goes round its entries in the order they were made."""
    plan.arm[plan.entries] = arm
    plan.pulls[plan.entries] = pulls
    plan.entries += 1


@node
def offer(out, arm, value, sensitivity, price, chain, first, last):
    """Offer `value` to the door.

    sensitivity  how far one covered reward can move it, in rewards
    price        what to spend: epsilon (Laplace) or mu (Gauss); inf: no noise, and the ledger says so
    first, last  the rewards it covers, on a clock of the arm's own (pulls or rounds)
    chain        entries of one (arm, chain) should cover disjoint stretches; where they overlap, costs add
    """
    e = out.entries
    out.arm[e] = arm
    out.value[e] = value
    out.sensitivity[e] = sensitivity
    out.price[e] = price
    out.chain[e] = chain
    out.first[e] = first
    out.last[e] = last
    out.entries += 1


@node
def offer_each(out, plan, values, sensitivity, price, chain, first, last):
    """One offer for every arm of the plan, values[arm], all with the same cover and price. `out` must be empty."""
    for e in range(plan.entries):
        out.arm[e] = plan.arm[e]
        out.value[e] = values[plan.arm[e]]
        out.sensitivity[e] = sensitivity
        out.price[e] = price
        out.chain[e] = chain
        out.first[e] = first
        out.last[e] = last
    out.entries = plan.entries


def plan_record(p: Any) -> dtype:
    """`total` (rewards drawn for an entry) and `lap` (regret of one pull of each entry before) are the engine's."""
    n = capacity(p.arms)
    slots = {"arm": (int64, n), "pulls": (int64, n), "total": (int64, n), "lap": (float64, n + 4)}
    return record(entries=int64, rounds=int64, **slots)


def out_record(p: Any, width: int = 1) -> dtype:
    n = capacity(p.arms) * width
    return record(
        entries=int64,
        arm=(int64, n),
        value=(int64, n),
        sensitivity=(float64, n),
        price=(float64, n),
        chain=(int64, n),
        first=(int64, n),
        last=(int64, n),
    )


def nothing(p: Any) -> dtype:
    """The record of a role that keeps none."""
    return record(unused=int64)


class Algorithm(NamedTuple):
    """One role: its record types and its hooks. Variants are made by `_replace`."""

    name: str
    secret: Callable[[Any], dtype] = nothing
    open: Callable[[Any], dtype] = nothing
    message: Callable[[Any], dtype] = nothing
    peer: Callable[[Any], dtype] = nothing
    card: Callable[[Any], dtype] = nothing
    hears: Callable[[Any], dtype] | None = None  # what it receives, if not its own kind of message
    choose: Callable = choose
    idle: Callable = idle
    observe: Callable = observe
    release: Callable = release
    publish: Callable = publish
    speak: Callable = speak
    hear: Callable = hear
    greet: Callable = greet
    meet: Callable = meet
    leave: Callable = leave
    inherit: Callable = inherit
    lie: Callable = lie
    pose: Callable = pose
    peek: Callable | None = None
    overhear: Callable | None = None
    collect: Callable | None = None
    weigh: Callable | None = None
    mechanism: str = "laplace"  # which noise the door adds: one of privacy.door.NOISES
    chains: Callable[[Any], int] = lambda p: 1
    width: int = 1  # numbers per arm that may pass the door in one turn
    first_round: int = 1  # 0: one free round of start-up pulls
    additive: str = ""  # messages (arm, whole numbers) add up: "words" replace a sender's former ones on an arm, "news" do not
    seldom: bool = False  # speaks in few rounds: the engine then looks at who spoke, and not at who is heard
    caveat: str = ""  # why a hook may read the secret; required with `peek` and `overhear`


HOOKS = (
    "choose", "idle", "observe", "release", "publish", "speak", "hear", "greet", "meet", "leave", "inherit", "lie", "pose",
)  # fmt: skip
SWITCHES = ("peek", "overhear", "collect", "weigh")  # hooks that replace or precede another one where they are given


class Options(BaseModel):
    """The base of an algorithm's options: no coercion, no unknown keys, no change after checking."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")


class Terms(NamedTuple):
    """The public facts of a procurement: what each producer asks of each agent, and when an order is good enough."""

    cost: Any  # of a unit [agents, arms]
    limit: Any  # units per round [agents, arms]; 0: does not sell to this agent
    alpha: float  # least average quality of an order
    rho: float  # a unit of quality q earns rho q


class Setting(NamedTuple):
    """The public facts of a study that an algorithm may build its parameters from."""

    agents: int
    arms: int
    horizon: int
    homogeneous: bool = True
    gap: float = 0.0  # the true smallest gap, for experiments that hand it to the algorithm
    low: float = 0.0  # rewards are guaranteed to lie in low .. high; infinite without clipping
    high: float = 1.0
    proxy: float = 0.5  # sub-Gaussian standard deviation of one reward: half the range, or sigma
    weights: tuple[float, ...] = ()  # of the agents in the mean that counts; empty: all alike
    components: tuple[int, ...] = ()  # sizes of the parts of the network, in order of their agents
    told: tuple[float, ...] = ()  # the values a reward may have in a message, where they are few; empty: any in low .. high
    liars: float = 0.0  # share of agents that lie, or of messages that are contaminated, for algorithms that are told it
    terms: Terms | None = None  # of a procurement

    @property
    def reach(self) -> float:
        """How far one reward can move a sum; 1 where nothing bounds it."""
        return 1.0 if self.unbounded else self.high - self.low

    @property
    def unbounded(self) -> str:
        """Why no noise is a guarantee, where rewards have no bounds."""
        return "" if self.high - self.low < inf else "noise level, not a guarantee: rewards are not bounded"


class Method(NamedTuple):
    """An algorithm made ready for one setting: what `build` of an algorithm file returns."""

    node: Algorithm
    p: Any
    claim: Claim
    server: Algorithm | None = None
    structure: str = "peers"  # peers | server | synchronise | hybrid | alone
    reporters: int = 0  # how many agents report in an epoch; 0: all
    rotate: bool = False  # those who report take turns in a fixed random order; else drawn afresh each epoch
    folds: bool = False  # all agents may share one record where there is no delay (see engines.star)
    weights: tuple[float, ...] = ()  # of the agents' reports, where the server weighs them
    known: dict[str, Any] = {}  # noqa: RUF012  # facts of each agent that stand in `open` before round 1
    life: int | str | None = None  # among peers: hops a message lives, as a network has it; None: what the network says
    meetings: int = 0  # among peers: edges drawn for a meeting in each round
    active: float = 1.0  # among peers: probability that a drawn edge is active
    warnings: tuple[str, ...] = ()
    exploration: int = 0  # among peers: rounds at the start whose regret is told apart
    facts: dict[str, float] = {}  # noqa: RUF012  # what else a summary should tell
    bound: Callable[[Any, float], float] | None = None  # regret per agent by the paper's theorem, of the gaps and lambda_2
    extra: Callable[[Any, Any], dict[str, Any]] | None = None  # of (secrets, opens): further numbers for each replication


class Entry(NamedTuple):
    """What an algorithm file exports for each name: `ENTRIES = (Entry(...), ...)`."""

    name: str
    summary: str
    options: type[Options]  # the keys a study may set, with ranges and defaults
    build: Callable[[Any, Setting], Method]
    examples: tuple[dict[str, Any], ...] = ({},)  # option sets that between them reach every hook: the batteries run them
    problem: str = "arms"  # what it is for: "arms" or "procurement"
