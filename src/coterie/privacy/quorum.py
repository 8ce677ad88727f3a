"""How many agents a sum of shares needs: reports in it, shares of noise that nobody takes off again, pieces that open it.

A report carries a share of the noise, sized so that those of `holders` agents make a whole draw. A sum is opened only of
`quorum` reports or more, of which `colluders` may come from agents who tell what they know, or left their noise out. So whoever
is away, quorum - colluders shares are in every sum that no adversary can take off: they are the holders.

    threshold = (agents + colluders) // 2 + 1

pieces open a sum. Every honest agent gives its pieces for one sum only, so two sums of one epoch would take
2 (threshold - colluders) of the agents - colluders honest ones, which is more than there are. A quorum has a threshold of
reports, too: then any two sums that somebody asks for share an honest one, and answers to several of them cannot be put
together into sums of groups (docs/secure-sum.md).
"""

from math import ceil
from typing import NamedTuple

from coterie.errors import UsageError

AGENTS_LEAST = 3  # of two, each would know the other's report from the sum


class Quorum(NamedTuple):
    agents: int
    quorum: int  # reports without which no sum is opened
    colluders: int

    @property
    def holders(self) -> int:
        """Agents whose shares make a whole draw of noise."""
        return self.quorum - self.colluders

    @property
    def threshold(self) -> int:
        return (self.agents + self.colluders) // 2 + 1


def quorum_of(agents: int, honest: int | None = None, quorum: int | None = None, colluders: int | None = None) -> Quorum:
    """What a study says of it, checked. If it says nothing all must report, and nine in ten are honest.

    >>> quorum_of(50), quorum_of(50, quorum=45, colluders=5).holders
    (Quorum(agents=50, quorum=50, colluders=5), 40)
    """
    if agents < AGENTS_LEAST:
        raise UsageError(f"agents must be a whole number >= {AGENTS_LEAST} with noise = 'secagg', got {agents}")
    if quorum is None and colluders is None:
        stated = honest or max(2, agents - ceil(agents / 10))
        if stated > agents:
            raise UsageError(f"honest must be a whole number in 2..{agents} (the agents), got {stated}")
        return Quorum(agents, agents, agents - stated)
    if honest is not None:
        raise UsageError(f"honest must be left out beside quorum or colluders (it is quorum - colluders), got {honest}")
    found = Quorum(agents, agents if quorum is None else quorum, colluders or 0)
    if not agents // 2 < found.quorum <= agents:
        most_of = f"{agents // 2 + 1}..{agents} (more than half of the agents)"
        raise UsageError(f"quorum must be a whole number in {most_of}, got {found.quorum}")
    most = min(found.quorum - 2, 2 * found.quorum - agents - 1)
    if found.colluders > most:
        why = f"any two sums of {found.quorum} of {agents} reports must share an honest one, and two be honest"
        raise UsageError(f"colluders must be a whole number in 0..{most} ({why}), got {found.colluders}")
    return found


def check_unused(noise: str, **stated: int | None) -> None:
    """Where no noise is shared, nobody counts its holders."""
    for name, number in stated.items():
        if number is not None and noise != "secagg":
            raise UsageError(f"{name} is used only together with noise = 'secagg', got {name} = {number}")
