"""Who does what for a secure sum: members share and answer, the server rolls and opens. No I/O here, and no clock.

What must last beyond a crash is one number of each member: the latest epoch whose roll it has answered. Whoever calls commits
it together with the answer, before the answer leaves.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from coterie.deploy.secure.sealing import Box, DoesNotOpen, Place
from coterie.deploy.secure.shamir import WORD, Contradiction, Vector, added, from_bytes, opened, points_of, split, to_bytes
from coterie.deploy.secure.words import Roll, Share, Sum
from coterie.errors import ProtocolError
from coterie.privacy.quorum import Quorum

Row = tuple[int, int, int]  # arm, pulls, noised sum


class Party(NamedTuple):
    """What everyone knows: the run, its agents in order, and how many of them it takes."""

    run: bytes
    names: tuple[str, ...]
    about: Quorum

    @property
    def points(self) -> tuple[int, ...]:
        """Where the pieces of each are."""
        return points_of(self.run, self.names)


class Member:
    """One agent: it shares its own sums, and holds pieces of those of all."""

    def __init__(self, party: Party, box: Box, answered: int = 0):
        self.party, self.box, self.answered = party, box, answered

    def share(self, epoch: int, said: bytes, rows: Sequence[Row]) -> Share:
        arms, pulls, sums = (tuple(row[i] for row in rows) for i in range(3))
        place, names = Place(self.party.run, epoch, arms), self.party.names
        pieces = split(sums, self.party.points, self.party.about.threshold)
        sealed = (self.box.seal(place, name, to_bytes(piece)) for name, piece in zip(names, pieces, strict=True))
        return Share(said, arms, pulls, tuple(sealed))

    def answer(self, epoch: int, roll: Roll) -> Sum:
        """The one answer of this epoch: the sum of the pieces, or whose did not open. A refused roll changes nothing."""
        names, about, reporters = self.party.names, self.party.about, roll.reporters
        if epoch <= self.answered:
            raise ProtocolError(f"a roll must be the first of its epoch, got another one of epoch {epoch}")
        if list(reporters) != sorted(set(reporters)) or any(place >= len(names) for place in reporters):
            raise ProtocolError("a roll must name agents of this run, in order and each once, and does not")
        if len(reporters) < about.quorum or len(roll.pieces) != len(reporters):
            raise ProtocolError(f"a roll must have pieces of at least {about.quorum} agents, got {len(reporters)}")
        place, found, bad = Place(self.party.run, epoch, roll.arms), list[Vector](), list[int]()
        for reporter, sealed in zip(reporters, roll.pieces, strict=True):
            try:
                found.append(_read(self.box.open(place, names[reporter], sealed), roll.arms))
            except (DoesNotOpen, ValueError):
                bad.append(reporter)
        self.answered = epoch
        return Sum(roll.digest, b"" if bad else to_bytes(added(found)), tuple(bad))


def _read(data: bytes, arms: Sequence[int]) -> Vector:
    piece = from_bytes(data)
    if len(piece) != len(arms):
        raise ValueError("a piece must have a number for each arm")
    return piece


# --- the server ---------------------------------------------------------------------------------------


def misfit(share: Share, party: Party, pulls_most: int) -> str:
    """Why no honest agent has sent this; empty: one may have."""
    if any(pulls > pulls_most for pulls in share.pulls):
        return f"a share must have at most {pulls_most} pulls of an arm"
    if len(share.pieces) != len(party.names):
        return f"a share must have {len(party.names)} pieces, got {len(share.pieces)}"
    if list(share.arms) != sorted(set(share.arms)) or len(share.pulls) != len(share.arms):
        return "a share must name its arms in order, with the pulls of each"
    return ""


def in_one_sum(shares: Mapping[str, Share], party: Party) -> list[str]:
    """Who can be added up: the largest party whose shares are of the same arms, in order; nobody below the quorum."""
    arms = Counter(share.arms for share in shares.values()).most_common(1)
    alike = [name for name in party.names if name in shares and shares[name].arms == arms[0][0]]
    return alike if len(alike) >= party.about.quorum else []


def rolls(shares: Mapping[str, Share], chosen: Sequence[str], party: Party) -> dict[str, Roll]:
    """What each holder is handed. Said once: no other roll of this epoch may follow, whoever is missing."""
    places, arms = tuple(party.names.index(name) for name in chosen), shares[chosen[0]].arms
    return {
        holder: Roll(places, arms, tuple(shares[name].pieces[i] for name in chosen)) for i, holder in enumerate(party.names)
    }


class Tally:
    """What has been answered to one roll."""

    def __init__(self, roll: Roll, party: Party):
        self.roll, self.party = roll, party
        self.answers: dict[str, Sum] = {}
        self.totals: dict[int, Vector] = {}
        self.faults: list[str] = []  # in words, with the names of those who did it

    def take(self, holder: str, answer: Sum) -> None:
        """The first of each. Who gives two different ones counts with neither."""
        names = self.party.names
        x = self.party.points[names.index(holder)]
        if holder in self.answers:
            if answer != self.answers[holder]:
                self.faults.append(f"{holder} has answered two rolls of one epoch")
                self.totals.pop(x, None)
            return
        self.answers[holder] = answer
        if answer.roll != self.roll.digest:
            self.faults.append(f"{holder} has answered another roll than the one that was sent")
        elif answer.bad:
            whose = ", ".join(names[place] for place in answer.bad if place in self.roll.reporters) or "nobody in the roll"
            self.faults.append(f"pieces of {whose} did not open at {holder}")
        elif len(answer.total) != WORD * len(self.roll.arms):
            self.faults.append(f"{holder} has answered with another number of sums")
        else:
            self._add(x, holder, answer.total)

    def _add(self, x: int, holder: str, total: bytes) -> None:
        try:
            self.totals[x] = from_bytes(total)
        except ValueError:
            self.faults.append(f"{holder} has answered with numbers beyond the field")

    @property
    def enough(self) -> bool:
        return len(self.totals) >= self.party.about.threshold

    def open(self) -> Vector | None:
        """The sums of all in the roll. None: the epoch is void, and `faults` says why; nothing was learned from it."""
        if not self.enough:
            self.faults.append(f"{len(self.totals)} answers are fewer than the {self.party.about.threshold} that open a sum")
            return None
        try:
            return opened(self.totals, self.party.about.threshold)
        except Contradiction as found:
            who = "one of them is false"
            if found.liar:
                who = f"that of {self.party.names[self.party.points.index(found.liar)]} is the false one"
            self.faults.append(f"answers contradict each other: {who}")
            return None
