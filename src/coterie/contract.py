"""The contract between an algorithm and the engines: what a node may do, and what each part of it may see.

An algorithm is a set of small functions (hooks) on flat records. The same functions run interpreted, compiled inside a
simulation loop, and one event at a time in a deployed agent; the three end in the same bytes.

    secret   the engine's record of a node's rewards (see privacy.secret). No hook is handed it but `peek` and `overhear`, which
             need a written caveat, and they only read it.
    inner    what `peek` and `overhear` derive from the secret and keep. No other hook is handed it.
    open     all that was released or received. Every visible act is a function of it.
    peer     what a node knows and remembers of one sender (open).
    plan     the pulls a node commits to: entries (arm, pulls).
    out      what is to leave: `release` names stretches of rewards and prices, `publish` finds the noised sums there.
    message  what travels between nodes (a function of open).
    card     what the two ends of a drawn edge show each other (a function of open).
    tale     what a liar wants to be believed (see engines.faults).
    p        parameters: numbers with names, or records of tables, the same for all nodes (see `params`).
    t        the number of the turn: a round among peers, an epoch around a server.

Among peers a plan takes one round, whatever it orders, unless an algorithm `commits`. Then it takes as many rounds as it has
pulls, its entries one after the other. `choose` is called in its first round; what others say meanwhile is heard in the round
in which it comes; in its last round all its rewards are booked, and `release`, `publish` and `speak` are called, with the
number of that round. In the next round the node chooses anew. A plan that the horizon cuts is not observed, and nothing leaves.
So the cost of a run follows plans and messages, and not rounds.

Three rules carry the privacy argument. No hook receives another node's record. No hook without a caveat receives a reward, or
anything that was made of one and has not passed the door. What leaves is the sum of an arm's rewards between two points of its
past, both named by what is open: the door forms the sum, and knows what it covers and how far one reward moves it. All that is
left to an algorithm is the price.

Each function below is the default of a hook: it does nothing, and its docstring is the contract.
"""

from collections.abc import Callable
from math import inf, nan
from typing import Any, NamedTuple

from numpy import dtype, float64, int64

from coterie.kernel import UNIT, capacity, node, record
from coterie.kernel.params import params_of
from coterie.options import Options, numbers_of
from coterie.privacy.mechanisms import LAPLACE, Mechanism
from coterie.privacy.statement import Claim
from coterie.privacy.stretch import NOW, NOWHERE, START, stretch_of

NOISE_TAIL = 64.0  # Laplace noise is larger than so many of its scales with probability e^-64
SUM_MOST = 1 << 56  # of a message
ROOM = 1 << 62  # of all that were heard


@node
def choose(open, p, t, die, plan):
    """Decide: order(plan, arm, pulls), once or more. May draw uniform(die, 0), uniform(die, 1), ..."""


@node
def peek(secret, inner, open, p, t, die, plan):
    """In place of choose, but reads the secret. Needs a written caveat. It must not write `open` or the secret: what it
    ordered reaches `release` and `publish` as the plan."""


@node
def idle(open, p, t, die):
    """The arm to play while rewards or messages are under way. These pulls are not learned from. -1: the plan's first."""
    return -1


@node
def release(open, p, t, plan, out):
    """Say what is to leave, by offer(...) and its kin. Called every turn, when all rewards of the plan have come."""


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
def overhear(secret, inner, open, peer, p, t, message):
    """In place of hear, but reads the secret. Needs a written caveat, and writes `inner` only, as peek does."""


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
def fits(open, p, t, message):
    """Whether an honest node could have said this, by turn t: asked before a deployed node hears it, and never in a simulation.

    It must take any numbers. An algorithm without it is simulated and not deployed.
    """
    return False


@node
def suits(open, p, t, card):
    """Whether an honest node could have shown this card, as `fits`. Without it nobody meets in a deployment."""
    return False


@node
def worth(open, p, t, k):
    """The present estimate of arm k, for pages and safety stops; nan: none."""
    return nan


@node
def order(plan, arm, pulls):
    """Commit to `pulls` pulls of `arm`, of each arm once.

    A plan goes round its entries in the order they were made. Of peers that commit, one entry is played after the other.
    """
    e = plan.entries
    if (arm >= 0) & (arm < plan.arms) & (pulls >= 0) & (e < len(plan.arm)):
        plan.arm[e] = arm
        plan.pulls[e] = pulls
        plan.entries = e + 1
    else:
        plan.wrong += 1


@node
def offer(out, arm, price):
    """Let the sum of the arm's rewards since its last offer out: every reward is told once.

    price: what to spend on it, an epsilon (Laplace) or a mu (normal noise); inf: no noise, and the ledger says so. Where there
    is no reward to tell of, noise alone leaves, and nothing is booked.
    """
    offer_between(out, arm, 0, NOW, 0, price, 0)


@node
def offer_all(out, arm, price):
    """The sum of all of the arm's rewards so far. The next one tells of them again, and its price is added to this one."""
    offer_between(out, arm, START, NOW, NOWHERE, price, 0)


@node
def offer_each(out, plan, price):
    """An `offer` for every arm of the plan, all at one price: of an arm that comes again, noise alone. `out` must be empty.

    Loops over it use vectors.
    """
    for e in range(min(plan.entries, len(out.arm))):
        out.arm[e] = plan.arm[e]
    out.entries, out.each = plan.entries, price if price != 0.0 else -1.0  # 0 says that this is no such offer


@node
def offer_between(out, arm, since, until, keep, price, chain):
    """The sum of the arm's rewards between two points of its past.

    since, until  marks 0, 1, ... of as many as the algorithm has for each arm, NOW, or (since) START, which is also where a
                  mark lies that was never kept. NOW to NOW: noise alone. All points are those before this turn's are kept.
    keep          the mark that the present point is kept as; NOWHERE: none
    chain         entries of one (arm, chain) should cover disjoint stretches; where they overlap, prices add up
    """
    e = out.entries
    if (e >= 0) & (e < len(out.arm)):
        out.arm[e] = arm
        out.stretch[e] = stretch_of(since, until, keep)
        out.price[e] = price
        out.chain[e] = chain
    out.entries += 1


@node
def remember(out, arm, mark, keep):
    """Keep a point that is marked under another mark, too. It shows nothing."""
    e = out.moves
    if e < len(out.move_arm):
        out.move_arm[e] = arm
        out.move_from[e] = mark
        out.move_to[e] = keep
    if len(out.move_arm) == 0:  # where there is no room at all, nobody counts moves
        out.entries = len(out.arm) + 1
    out.moves += 1


@node
def can_sum_to(total, count, low, high, noise):
    """Whether so many rewards in low..high can sum to `total`, with noise of some draws whose scales sum to `noise`."""
    slack = NOISE_TAIL * noise + 1.0 / UNIT
    return -SUM_MOST < total < SUM_MOST and UNIT * (count * low - slack) <= total <= UNIT * (count * high + slack)


@node
def has_room(total):
    """Whether another message can be added to a sum without overflow."""
    return -ROOM < total < ROOM


def plan_record(p: Any) -> dtype:
    """`arms` there are, and orders that were `wrong`, so that no engine has to look at every entry again."""
    n = capacity(p.arms)
    return record(entries=int64, arms=int64, wrong=int64, arm=(int64, n), pulls=(int64, n))


def out_record(role: "Algorithm", p: Any) -> dtype:
    """What `release` says, then what the door puts in. A pair of numbers takes two entries."""
    n = capacity(p.arms) * role.width * (2 if role.mechanism.covers == "pair" else 1)
    m = capacity(role.moves(p))
    said = dict.fromkeys(("arm", "stretch", "chain"), (int64, n)) | {"price": (float64, n)}
    moved = dict.fromkeys(("move_arm", "move_from", "move_to"), (int64, m))
    filled_in = {"first": (int64, n), "last": (int64, n), "value": (int64, n), "sensitivity": (float64, n)}
    return record(entries=int64, moves=int64, each=float64, **said, **moved, **filled_in)


def nothing(p: Any) -> dtype:
    """The record of a role that keeps none."""
    return record(unused=int64)


class Algorithm(NamedTuple):
    """One role: its record types and its hooks. Variants are made by `_replace`."""

    name: str
    open: Callable[[Any], dtype] = nothing
    message: Callable[[Any], dtype] = nothing
    peer: Callable[[Any], dtype] = nothing
    card: Callable[[Any], dtype] = nothing
    inner: Callable[[Any], dtype] = nothing
    hears: Callable[[Any], dtype] | None = None  # what it receives, if not its own kind of message
    choose: Callable = choose
    idle: Callable = idle
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
    weigh: Callable | None = None
    fits: Callable | None = None  # these three are for deployment, and no engine of a simulation has them
    suits: Callable | None = None
    worth: Callable = worth
    mechanism: Mechanism = LAPLACE  # which noise the door adds
    chains: Callable[[Any], int] = lambda p: 1
    marks: Callable[[Any], int] = lambda p: 1  # points in an arm's past that can be kept at a time; `offer` has mark 0
    moves: Callable[[Any], int] = lambda p: 0  # marks that may be copied in one turn
    stream: Callable[[Any], int] = lambda p: 0  # rewards of an arm that a stream of running sums can hold
    trusts: bool = False  # an agent whose raw rewards go to its server with every report; it releases nothing itself
    trusted: bool = False  # a server that is handed them
    sums: bool = False  # a server that is handed the sums of what its agents' doors let out, and no single report
    width: int = 1  # offers for each arm in one turn
    first_round: int = 1  # 0: one free round of start-up pulls
    additive: str = ""  # messages (arm, whole numbers) add up: "words" replace a sender's former ones on an arm, "news" do not
    seldom: bool = False  # speaks in few rounds: the engine then looks at who spoke, and not at who is heard
    latest: bool = False  # a later message makes a sender's earlier ones superfluous
    rounds: bool = False  # among peers: turns are common to all, so it is deployed on the common clock only
    commits: bool = False  # among peers: a plan is played to its end, one round for each pull
    caveat: str = ""  # why a hook may read the secret; required with `peek` and `overhear`


HOOKS = (
    "choose", "idle", "release", "publish", "speak", "hear", "greet", "meet", "leave", "inherit", "lie", "pose",
)  # fmt: skip
SWITCHES = ("peek", "overhear", "weigh")  # hooks that replace or precede another one where they are given
DEPLOYED = ("fits", "suits", "worth")  # hooks that only a deployed node calls


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
    gap: float = 0.0  # the true smallest gap, for experiments that hand it to the algorithm; nan: nobody knows it
    low: float = 0.0  # rewards are guaranteed to lie in low .. high; infinite without clipping
    high: float = 1.0
    proxy: float = 0.5  # sub-Gaussian standard deviation of one reward: half the range, or sigma
    weights: tuple[float, ...] = ()  # of the agents in the mean that counts; empty: all alike
    components: tuple[int, ...] = ()  # sizes of the parts of the network, in order of their agents
    reward_values: tuple[float, ...] = ()  # those a reward may have in a message, where they are few; empty: any in low .. high
    liars: float = 0.0  # share of agents that lie, or of messages that are contaminated, for algorithms that are told it
    terms: Terms | None = None  # of a procurement
    heard: Callable[[int | str | None], int] | None = None  # see `hears`

    def hears(self, life: int | str | None) -> int:
        """How many others an agent hears at most, among peers whose messages live so long (see `Method.life`)."""
        return self.agents - 1 if self.heard is None else self.heard(life)

    @property
    def reach(self) -> float:
        """How far one reward can move a sum; 1 where nothing bounds it."""
        return 1.0 if self.unbounded else self.high - self.low

    @property
    def unbounded(self) -> str:
        """Why no noise is a guarantee, where rewards have no bounds."""
        return "" if self.high - self.low < inf else "noise level, not a guarantee: rewards are not bounded"


def params(options: Options, setting: Setting, **computed: Any) -> Any:
    """What hooks read as `p`: `arms`, the options that are declared as int, float or bool, and what is worked out.

    Of two with one name what is worked out counts. An option that may be absent or a word is no number: work one out of it.
    What is worked out may also be a record (kernel.one) of tables that hooks only read: all nodes share it.
    """
    return params_of({"arms": setting.arms} | numbers_of(options) | computed)


class Method(NamedTuple):
    """An algorithm made ready for one setting: what `build` of an algorithm file returns."""

    node: Algorithm
    p: Any
    claim: Claim
    server: Algorithm | None = None
    structure: str = "peers"  # peers | server | synchronise | hybrid | alone
    holders: int = 1  # agents whose shares make one draw of noise: of those in a sum so many must be honest
    quorum: int = 0  # reports without which no sum of shares is opened
    reporters: int = 0  # how many agents report in an epoch; 0: all
    rotate: bool = False  # those who report take turns in a fixed random order; else drawn afresh each epoch
    folds: bool = False  # all agents may share one record where there is no delay (see engines.star)
    crowds: tuple[int, ...] = ()  # how many agents always act alike, in their order: each crowd may share one record
    weights: tuple[float, ...] = ()  # of the agents' reports, where the server weighs them
    known: dict[str, Any] = {}  # noqa: RUF012  # facts of each agent that stand in `open` before round 1
    life: int | str | None = None  # among peers: hops a message lives, as a network has it; None: what the network says
    meetings: int = 0  # among peers: edges drawn for a meeting in each round
    active: float = 1.0  # among peers: probability that a drawn edge is active
    warnings: tuple[str, ...] = ()
    exploration: int = 0  # among peers: rounds at the start whose regret is told apart
    facts: dict[str, float] = {}  # noqa: RUF012  # what else a summary should tell
    bound: Callable[[Any, float], float] | None = None  # regret per agent by the paper's theorem, of the gaps and lambda_2
    extra: Callable[[Any, Any], dict[str, Any]] | None = None  # of (inners, opens): further numbers for each replication


class Entry(NamedTuple):
    """What an algorithm file exports for each name: `ENTRIES = (Entry(...), ...)`."""

    name: str
    summary: str  # what the page says of it, in half a sentence
    options: type[Options]  # the keys a study may set, with ranges and defaults
    build: Callable[[Any, Setting], Method]
    examples: tuple[dict[str, Any], ...] = ({},)  # option sets that between them reach every hook: the batteries run them
    problem: str = "arms"  # what it is for: "arms" or "procurement"
