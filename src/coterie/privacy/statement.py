"""What may be said about privacy: the claim of a method beside what its ledger shows, with unit and adversary in words."""

from math import inf
from typing import Any, NamedTuple

UNIT_OF_PRIVACY = "one reward of one agent"
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
