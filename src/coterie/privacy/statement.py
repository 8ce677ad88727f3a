"""What may be said about privacy: what a method promises beside what its ledger shows, with unit and adversary in words.

A guarantee without its unit and its adversary says nothing. Neither is for an algorithm to write: an algorithm promises numbers
(`Claim`), and against whom they hold follows from its ways out (`Doors`). `guarantees` makes a `Guarantee` for each party
around a method, from what passes its doors. Whether a promise is kept is decided in one place (`promise`), and so are the words
for it, whoever prints them.
"""

from collections.abc import Iterator, Mapping
from decimal import ROUND_CEILING, Context, Decimal
from enum import Enum
from math import ceil, exp, inf
from typing import Any, NamedTuple

from coterie.limits import check_epsilon
from coterie.privacy.accountant import Loss
from coterie.privacy.gauss import epsilon_of, mu_of

UNIT_OF_PRIVACY = "one reward of one agent"
ONE_ORDER = "what came of one round's order of one agent with one producer"
SEES_ALL = "anyone who sees every message, count, arm and time, and may control all other agents"
SEES_NO_CHOICES = "anyone who sees every message, but no arm, count or time of an agent's own choices"
SEES_NO_REPORT = "anyone but the server, who sees its decisions, every arm and time, but no report"
SENDS_NOTHING = "sends nothing"  # the one word for who learns alone
SEES_SUMS = "anyone who sees the sum of all reports, every arm and time, but no single report"
SEES_SUMS_OUTSIDE = "anyone who is no agent, sees the sum of all reports, every arm and time, but no single report"
WEAK_ABOVE = 3.0  # odds may then shift by more than a factor of 20: hardly a protection
DELTA_MOST = 0.01  # above it nothing is said by an epsilon
DELTA_WEAK_ABOVE = 1e-3  # a chance that a guarantee fails altogether
SLACK = 1 + 1e-12  # sums of prices carry rounding errors; a promise is not broken by the last bit


class Claim(NamedTuple):
    """What a method promises about its privacy."""

    epsilon: float  # in the range of `limits`; inf: nothing is promised
    delta: float = 0.0
    note: str = ""  # what the numbers mean

    @property
    def fault(self) -> str:
        """What is wrong with the numbers."""
        try:
            check_epsilon(self.epsilon)
        except ValueError as error:
            return f"epsilon of a claim {error}"
        told = f"delta of a claim must be a number in [0, {DELTA_MOST}], got {self.delta}"
        return "" if 0 <= self.delta <= DELTA_MOST else told


class Doors(NamedTuple):
    """What is known of a method's ways out, from which it follows against whom its numbers hold."""

    structure: str = "peers"  # peers | server | synchronise | hybrid | alone
    single: bool = True  # whether a report by itself is protected
    trusted: bool = False  # the server is handed raw rewards, and it is its door that counts
    caveat: str = ""  # why choices rest on raw rewards
    void: str = ""  # why no finite loss holds, whatever the ledger says
    unit: str = UNIT_OF_PRIVACY  # what may change between two histories that are to look alike
    honest: int = 0  # where a report carries a share of the noise: of how many agents it has to be there; 0: of all
    agents: int = 0  # how many report; 0: not said
    quorum: int = 0  # of how many of them a sum is opened; 0: of all

    @property
    def adversary(self) -> str:
        if self.caveat:
            return SEES_NO_CHOICES
        if self.trusted:
            return SEES_NO_REPORT
        return SEES_ALL if self.single else SEES_SUMS_OUTSIDE if self.needs_all else SEES_SUMS

    @property
    def needs_all(self) -> bool:
        """Every share in a sum is needed: an agent who adds its own can take it off again."""
        return not self.single and self.honest in (0, self.quorum or self.agents)

    @property
    def bare(self) -> str:
        """Why no limit holds where what is booked has none.

        >>> Doors("alone").bare
        'an agent sends nothing, but its choices rest on rewards without noise'
        """
        if self.structure == "alone":
            return f"an agent {SENDS_NOTHING}, but its choices rest on rewards without noise"
        return "a number leaves an agent without noise"

    @property
    def trust(self) -> str:
        """Who has to be trusted, and for what.

        >>> Doors(single=False, honest=8, agents=10).trust
        'secure aggregation to show no single report, and that at least 8 of 10 agents add their share of noise and do not look'
        >>> Doors(single=False, honest=7, quorum=9, agents=10).trust[49:]
        'that at least 7 of any 9 of 10 agents add their share of noise and do not look'
        """
        whom = []
        if self.trusted:
            whom.append("the server to keep raw sums to itself and to add the noise")
        if not self.single:
            any_of = f"any {self.quorum} of " if 0 < self.quorum < self.agents else ""
            some = f"at least {self.honest} of {any_of}{self.agents}" if self.honest else f"all {self.agents or ''}".strip()
            shares = f"{some} agents add their share of noise and do not look"
            whom.append(f"secure aggregation to show no single report, and that {shares}")
        if self.caveat:
            whom.append("the agent to keep its choices to itself")
        return "; ".join(whom) or "nobody"


def statement(claim: Claim, doors: Doors, booked: float, rewards: int = 1) -> dict[str, Any]:
    """The privacy of a run as JSON: `private` only if a finite loss was booked and it is no more than was promised.

    With more than one reward both numbers are those of a person with so many, and `per_reward` has what was booked for one.

    >>> statement(Claim(1.0), Doors(), 50.0)["private"]
    False
    >>> statement(Claim(1.0), Doors(), 1.0, rewards=12)["accounted"]["epsilon"]
    12.0
    """
    void = doors.void or ("" if booked < inf else f"no finite epsilon holds: {doors.bare}")
    promised = claim.epsilon < inf
    private = bool(promised and not void and booked <= claim.epsilon * SLACK)
    notes = [claim.note, void if promised else "", doors.caveat]
    one = {"epsilon": None if void else booked, "delta": claim.delta}
    return {
        "claimed": {"epsilon": of_person(claim.epsilon, claim.delta, rewards), "delta": claim.delta} if promised else None,
        "accounted": {"epsilon": None if void else of_person(booked, claim.delta, rewards), "delta": claim.delta},
        **({"rewards": rewards, "per_reward": one} if rewards > 1 else {}),
        "private": private,
        "unit": unit_of(rewards, doors.unit),
        "adversary": doors.adversary,
        "note": ". ".join(dict.fromkeys(note for note in notes if note)),
    }


def of_person(epsilon: float, delta: float, rewards: int) -> float:
    """What a person with so many rewards loses at the same delta, if each of them loses epsilon.

    Pure losses add up. A loss with a delta is one of normal noise, whose mu adds up; no pure loss adds up to more than that.

    >>> of_person(1.0, 0.0, 12), round(of_person(1.0, 1e-6, 2), 3)
    (12.0, 2.123)
    """
    if rewards == 1 or epsilon in (0.0, inf):
        return epsilon
    return rewards * epsilon if delta == 0.0 else epsilon_of(rewards * mu_of(epsilon, delta) * SLACK, delta)


class Promise(Enum):
    """What became of what was promised."""

    KEPT = "promised and kept"
    WEAK = "kept, but weak"
    BROKEN = "broken"
    NOTHING = "nothing promised"

    @property
    def kept(self) -> bool:
        return self in (Promise.KEPT, Promise.WEAK)

    @property
    def mark(self) -> str:
        """Carries it where there is no room for words, on pages and in terminals."""
        return {Promise.KEPT: "●", Promise.WEAK: "◐", Promise.BROKEN: "✕", Promise.NOTHING: "○"}[self]


def promise(said: Mapping[str, Any]) -> Promise:
    """Of a statement: is what holds no more than what was promised?

    >>> promise(statement(Claim(5.0), Doors(), 5.0))
    <Promise.WEAK: 'kept, but weak'>
    """
    claimed, holds = said["claimed"], said["accounted"]
    if claimed is None:
        return Promise.NOTHING
    if not said["private"] or holds["epsilon"] is None:
        return Promise.BROKEN
    if holds["epsilon"] > claimed["epsilon"] * SLACK or holds["delta"] > claimed["delta"] * SLACK:
        return Promise.BROKEN
    weak = holds["epsilon"] > WEAK_ABOVE or holds["delta"] > DELTA_WEAK_ABOVE
    return Promise.WEAK if weak else Promise.KEPT


def promise_words(said: Mapping[str, Any]) -> str:
    """The same with the numbers, where they differ.

    >>> promise_words(statement(Claim(0.1), Doors(), 5.0))
    'broken: promised 0.1, 5 holds'
    """
    found = promise(said)
    if found is not Promise.BROKEN:
        return found.value
    return f"broken: promised {epsilon_text(said['claimed'])}, {epsilon_text(said['accounted'])} holds"


def epsilon_text(guarantee: Mapping[str, Any] | None) -> str:
    """What is promised or holds: epsilon, with delta where it is not 0.

    >>> epsilon_text(None), epsilon_text({"epsilon": None, "delta": 0.0}), epsilon_text({"epsilon": 1.0, "delta": 1e-6})
    ('nothing', 'no limit', '1, delta 1e-06')
    """
    if guarantee is None:
        return "nothing"
    if guarantee["epsilon"] is None:
        return "no limit"
    text = rounded_up_text(guarantee["epsilon"])
    return f"{text}, delta {guarantee['delta']:.3g}" if guarantee["delta"] else text


def rounded_up_text(epsilon: float, digits: int = 4) -> str:
    """To so many digits: a loss must not look smaller than it is.

    >>> rounded_up_text(1.00001), rounded_up_text(0.1 + 0.2), rounded_up_text(inf)
    ('1.001', '0.3', 'no limit')
    """
    if epsilon == inf:
        return "no limit"
    without_float_error = Decimal(f"{epsilon:.12g}")
    return f"{Context(prec=digits, rounding=ROUND_CEILING).plus(without_float_error).normalize():,f}"


def best_guess(holds: Mapping[str, Any]) -> float | None:
    """The largest share of right guesses between two equally likely values of a reward: (e^epsilon + delta) / (e^epsilon + 1).

    None: no limit holds.

    >>> round(best_guess({"epsilon": 1.0, "delta": 0.0}), 4)
    0.7311
    """
    if holds["epsilon"] is None:
        return None
    wrong = 1 / (1 + exp(min(holds["epsilon"], 700.0)))
    return min(1.0, 1 - wrong + holds["delta"] * wrong)


def odds_text(epsilon: float) -> str:
    """By what factor odds may shift, rounded up.

    >>> odds_text(1.0), odds_text(5.0), odds_text(10.0), odds_text(50.0)
    ('2.72', '149', '22,027', 'e^50')
    """
    if epsilon >= 14:
        return f"e^{rounded_up_text(epsilon)}"
    factor = exp(epsilon)
    if factor >= 100:
        return f"{ceil(factor):,}"
    return f"{Context(prec=3, rounding=ROUND_CEILING).create_decimal(factor).normalize():f}"


class Guarantee(NamedTuple):
    """What a party can learn about `unit`. An infinite epsilon means that nothing is kept from it, and `why` says how."""

    party: str
    sees: str
    unit: str
    trusts: str  # whom one has to trust for it
    epsilon: float
    delta: float
    why: str = ""

    def words(self) -> str:
        """One sentence to sign.

        >>> Guarantee("Eve", "all reports", "one reward", "nobody", 1.0, 0.0).words()
        'Eve (sees all reports) can shift its odds about one reward by a factor of at most 2.72 (epsilon 1), trusting nobody.'
        """
        who = f"{self.party} (sees {self.sees})"
        if self.epsilon == inf:
            return f"{who} is not kept from learning {self.unit}: {self.why}."
        if self.epsilon == 0.0 and self.delta == 0.0:
            return f"{who} learns nothing about {self.unit}."
        weak = ", which is weak" if self.epsilon > WEAK_ABOVE else ""
        rest = f", but for a chance of {self.delta:g}" if self.delta else ""
        shift = f"by a factor of at most {odds_text(self.epsilon)} (epsilon {rounded_up_text(self.epsilon)}){weak}{rest}"
        return f"{who} can shift its odds about {self.unit} {shift}, trusting {self.trusts}."

    def document(self) -> dict[str, Any]:
        """As JSON takes it: an infinite epsilon is null."""
        return self._asdict() | {"epsilon": self.epsilon if self.epsilon < inf else None, "words": self.words()}


def unit_of(rewards: int, unit: str = UNIT_OF_PRIVACY) -> str:
    """So many of the unit, all of one person.

    >>> unit_of(10), unit_of(10, ONE_ORDER)
    ('a person with 10 rewards of one agent', "what came of 10 rounds' orders of one agent with one producer")
    """
    if rewards == 1:
        return unit
    if unit == UNIT_OF_PRIVACY:
        return f"a person with {rewards:,} rewards of one agent"
    return unit.replace("one round's order", f"{rewards:,} rounds' orders")


def guarantees(claim: Claim, doors: Doors, loss: Loss, rewards: int = 1, unit: str = "") -> list[Guarantee]:
    """What the server, a neighbour and everyone together can learn about so many rewards of one person.

    `loss` is that of the dearest reward, by the doors that count.
    """
    epsilon = inf if doors.void else loss.times(rewards).epsilon(claim.delta)
    about = unit or unit_of(rewards, doors.unit)
    bare = doors.void or (doors.bare if epsilon == inf else "")
    found = []
    for party, sees, single, choices in _parties(doors.structure):
        trusts, why, lost = doors.trust, bare, epsilon
        if single and doors.trusted:
            why, lost = "reports are raw sums: the server adds the noise", inf
        elif not doors.single and party == EVERYONE:
            why, lost = "a single report carries a share of the noise only", inf
        elif doors.needs_all and party == NEIGHBOUR:
            why, lost = "it knows its own share of the noise, and every share is needed", inf
        elif not doors.single and single:
            sees = "the sum of all reports"
        elif doors.caveat and choices:
            why, lost = doors.caveat, inf
        if sees == NOTHING:
            trusts, why, lost = "nobody", "", 0.0
        found.append(Guarantee(party, sees, about, trusts, lost, claim.delta, why))
    return found


EVERYONE, NEIGHBOUR, NOTHING = "everyone together", "a neighbour", f"nothing: an agent {SENDS_NOTHING}"


def _parties(structure: str) -> Iterator[tuple[str, str, bool, bool]]:
    """(party, what it sees, whether single reports are among it, whether choices are)."""
    decisions = "the decisions that the server sends to all"
    if structure in ("server", "hybrid"):
        yield "the server" if structure == "server" else "the server and the sinks", "every report it receives", True, False
        yield NEIGHBOUR, decisions, False, False
    elif structure == "alone":
        yield NEIGHBOUR, NOTHING, False, False
    else:
        seen = "the reports of all agents" if structure == "synchronise" else "the messages it receives"
        yield NEIGHBOUR, seen, True, False
    yield EVERYONE, "every message, count, arm and time", True, True
