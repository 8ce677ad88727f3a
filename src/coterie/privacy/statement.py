"""What may be said about privacy: the claim of a method beside what its ledger shows, with unit and adversary in words.

A guarantee without its unit and its adversary says nothing. So a `Guarantee` names both, and whom one has to trust for it;
`guarantees` makes one for each party around a method, from what passes its doors.
"""

from collections.abc import Iterator
from math import exp, inf
from typing import Any, NamedTuple

from coterie.privacy.accountant import Loss

UNIT_OF_PRIVACY = "one reward of one agent"
SEES_ALL = "anyone who sees every message, count, arm and time, and may control all other agents"
BLIND_TO_CHOICES = "anyone who sees every message, but no arm, count or time of an agent's own choices"


class Claim(NamedTuple):
    """What a method says about its privacy."""

    epsilon: float  # inf: none is claimed
    adversary: str  # against whom
    note: str = ""
    delta: float = 0.0
    booked_by: str = "agents"  # whose ledger bounds the loss: "agents" or "server"
    void: str = ""  # why no finite loss holds, whatever the ledger says
    unit: str = UNIT_OF_PRIVACY  # what may change between two histories that are to look alike


def statement(claim: Claim, booked: float, caveat: str = "") -> dict[str, Any]:
    """The privacy of a run as JSON: `private` only if a finite loss was booked and it is no more than the claim.

    A caveat says that choices rest on raw rewards. Whatever such a method claims, what is booked then bounds what messages tell
    and nothing that choices tell, so the statement holds at most against someone who does not see them.

    >>> statement(Claim(1.0, "the server"), 50.0)["private"]
    False
    """
    void = claim.void or ("" if booked < inf else "no finite epsilon holds: a number left an agent without noise")
    private = bool(not void and booked <= claim.epsilon * (1 + 1e-12) and claim.epsilon < inf)
    notes = [claim.note, void if claim.epsilon < inf else "", caveat]
    return {
        "claimed": {"epsilon": claim.epsilon, "delta": claim.delta} if claim.epsilon < inf else None,
        "accounted": {"epsilon": None if void else booked, "delta": claim.delta},
        "private": private,
        "unit": claim.unit,
        "adversary": BLIND_TO_CHOICES if caveat else claim.adversary,
        "note": ". ".join(note for note in notes if note),
    }


class Doors(NamedTuple):
    """What is known of a method's ways out: how reports travel, the noise of agents, and what the dearest reward loses."""

    structure: str  # peers | server | synchronise | hybrid | alone
    single: bool  # whether a report by itself is protected
    agent: Loss
    server: Loss | None = None  # where a trusted server has the door that counts
    caveat: str = ""  # why choices rest on raw rewards


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
        if self.epsilon == 0.0:
            return f"{who} learns nothing about {self.unit}."
        most = f"{exp(self.epsilon):.3g}" if self.epsilon < 20 else f"e^{self.epsilon:.4g}, which protects nothing"
        rest = f", but for a chance of {self.delta:g}" if self.delta else ""
        shift = f"by a factor of at most {most} (epsilon {self.epsilon:.4g}){rest}"
        return f"{who} can shift its odds about {self.unit} {shift}, trusting {self.trusts}."

    def document(self) -> dict[str, Any]:
        """As JSON takes it: an infinite epsilon is null."""
        return self._asdict() | {"epsilon": self.epsilon if self.epsilon < inf else None, "words": self.words()}


def unit_of(rewards: int) -> str:
    return UNIT_OF_PRIVACY if rewards == 1 else f"a person with {rewards:,} rewards of one agent"


def guarantees(claim: Claim, doors: Doors, rewards: int = 1, unit: str = "") -> list[Guarantee]:
    """What the server, a neighbour and everyone together can learn about so many rewards of one person."""
    trusted = claim.booked_by == "server" and doors.server is not None
    loss = (doors.server if trusted and doors.server else doors.agent).times(rewards)
    epsilon, about = inf if claim.void else loss.epsilon(claim.delta), unit or unit_of(rewards)
    bare = claim.void or ("a number leaves an agent without noise" if epsilon == inf else "")
    found = []
    for party, sees, single, choices in _parties(doors.structure):
        trusts, why, lost = "nobody", bare, epsilon
        if single and trusted:
            why, lost = "reports are raw sums: the server adds the noise", inf
        elif trusted:
            trusts = "the server"
        elif not doors.single and party == EVERYONE:
            why, lost = "a single report carries a share of the noise only", inf
        elif not doors.single:
            trusts = "secure aggregation to show no single report"
        elif doors.caveat and choices:
            why, lost = doors.caveat, inf
        elif doors.caveat:
            trusts = "the agent to keep its choices to itself"
        if sees == NOTHING:
            why, lost, trusts = "", 0.0, "nobody"
        found.append(Guarantee(party, sees, about, trusts, lost, claim.delta, why))
    return found


EVERYONE, NOTHING = "everyone together", "nothing"


def _parties(structure: str) -> Iterator[tuple[str, str, bool, bool]]:
    """(party, what it sees, whether single reports are among it, whether choices are)."""
    decisions = "the decisions that the server sends to all"
    if structure in ("server", "hybrid"):
        yield "the server" if structure == "server" else "the server and the sinks", "every report it receives", True, False
        yield "a neighbour", decisions, False, False
    elif structure == "alone":
        yield "a neighbour", NOTHING, False, False
    else:
        seen = "the reports of all agents" if structure == "synchronise" else "the messages it receives"
        yield "a neighbour", seen, True, False
    yield EVERYONE, "every message, count, arm and time", True, True
