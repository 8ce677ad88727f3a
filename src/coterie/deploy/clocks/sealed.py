"""Epochs whose reports nobody reads: shares go up in place of reports, and the coordinator opens their sum (see deploy/secure).

The coordinator writes down whom it has rolled before a roll leaves, and an agent which epoch it has answered before an answer
does: after a crash each goes on with the same words. An answer is no part of a turn. It is committed beside the plan under way,
which may end before or after it, or be dropped.
"""

from math import inf

from msgspec import msgpack

from coterie.deploy.clocks.reports import Hall
from coterie.deploy.federation import Federation
from coterie.deploy.message import Message, Word
from coterie.deploy.node import Node
from coterie.deploy.secure.sums import Member, Party, Row, Tally, in_one_sum, misfit, rolls
from coterie.deploy.secure.words import Misformed, Roll, Share, Sum, decode, encode
from coterie.engines.mail import pack_rows, unpack_news
from coterie.errors import ProtocolError
from coterie.privacy.quorum import Quorum

ALARM = "secure sum"


def is_sealed(federation: Federation) -> bool:
    return not federation.method().node.mechanism.single


def party_of(federation: Federation) -> Party:
    method, names = federation.method(), tuple(member.name for member in federation.agents)
    return Party(federation.run, names, Quorum(len(names), method.quorum, method.quorum - method.holders))


class Sealed:
    """What an agent does for a secure sum."""

    def __init__(self, node: Node, federation: Federation, server: str):
        assert node.box is not None
        self.node, self.server = node, server
        answered = msgpack.decode(node.memo, type=int) if node.memo else 0
        self.member = Member(party_of(federation), node.box, answered)

    def share(self, t: int, said: bytes) -> bytes:
        """What was said, with its sums in pieces. Which arms they are of does not depend on them: all that were asked for."""
        agent = self.node.agent
        words, news = unpack_news(said, agent.secret, agent.p.arms, -inf, inf)
        told = {arm: (pulls, total) for arm, pulls, total in news}
        arms = sorted({int(arm) for arm in agent.out.arm[: agent.out.entries]})
        return encode(self.member.share(t, words, [(arm, *told.get(arm, (0, 0))) for arm in arms]))

    def rolls(self) -> list[Message]:
        return [word for word in self.node.arrived if word.kind == "roll"]

    async def answer(self) -> None:
        """Every roll that has come, the first of its epoch; others are refused, and that is told."""
        for word in self.rolls():
            try:
                answer = self.member.answer(word.turn, decode(Roll, word.body))
            except (ProtocolError, Misformed) as fault:
                self.node.seen.reject("roll")
                self.node.seen.alarm(ALARM, f"{word.sender}: {fault}")
                self.node.skip(word)
            else:
                told = Word("sum", word.turn, encode(answer), self.server)
                await self.node.reply(word, told, msgpack.encode(self.member.answered))


class SealedHall(Hall):
    """Where shares come together, and then the answers to the one roll of an epoch."""

    kinds = ("report", "share")

    def __init__(self, node: Node, federation: Federation):
        super().__init__(node, federation)
        self.party, self.known = party_of(federation), dict[tuple[str, int], Share | None]()

    @property
    def t(self) -> int:
        assert self.node.server is not None
        return self.node.server.t

    def shares(self) -> dict[str, Share]:
        found = {sender: self.read(word) for sender, word in self.reports.items() if word.kind == "share"}
        return {sender: share for sender, share in found.items() if share is not None}

    @property
    def enough(self) -> bool:
        return len(self.shares()) >= self.quorum

    def read(self, word: Message) -> Share | None:
        """None: no honest agent can have sent it. It is counted once, and takes no part."""
        if (word.lane, word.seq) not in self.known:
            assert self.node.server is not None
            try:
                share: Share | None = decode(Share, word.body)
                fits = share and not misfit(share, self.party, self.horizon) and self.node.server.fits(self.t, share.said)
            except Misformed:
                fits = False
            if not fits:
                self.node.seen.reject("fits")
            self.known[word.lane, word.seq] = share if fits else None
        return self.known[word.lane, word.seq]

    def rolled(self) -> list[str]:
        """Whom the roll of this epoch has named, if it was said."""
        t, chosen = msgpack.decode(self.node.memo, type=tuple[int, list[str]]) if self.node.memo else (0, [])
        return chosen if t == self.t else []

    async def closed(self) -> bool:
        """After a crash there is nothing more to wait for."""
        return self.ended() or True if self.rolled() else await super().closed()

    async def roll(self) -> list[str]:
        """Who is in the sum of this epoch: said once, whatever happens then. Nobody below the quorum."""
        if chosen := self.rolled():
            return chosen
        shares = self.shares()
        chosen = in_one_sum(shares, self.party)
        if chosen:

            def speak() -> None:
                self.node.memo = msgpack.encode((self.t, chosen))
                for holder, roll in rolls(shares, chosen, self.party).items():
                    self.node.say("roll", encode(roll), to=holder, turn=self.t)

            await self.node.commit(speak)
        return chosen

    async def answered(self, chosen: list[str]) -> Tally:
        """All who are there have answered, or as many as open the sum when the time is over."""
        since = self.node.now()
        while True:
            self.ended()  # some may say meanwhile that they are gone
            tally = self.tally(chosen)
            self.node.seen.missing = waiting = tuple(
                name for name in self.names if name not in self.gone and name not in tally.answers
            )
            left = since + self.within - self.node.now()
            if not waiting or (tally.enough and left <= 0):
                self.node.seen.missing = ()
                return tally
            await self.node.arrival(left if tally.enough else None)

    def tally(self, chosen: list[str]) -> Tally:
        places = tuple(self.party.names.index(name) for name in chosen)
        found = Tally(Roll(places, self.shares()[chosen[0]].arms, ()), self.party)
        for word in self.node.arrived:
            if word.kind == "sum" and word.turn == self.t:
                try:
                    found.take(word.sender, decode(Sum, word.body))
                except Misformed as fault:
                    found.faults.append(f"{word.sender}: {fault}")
        return found

    def count_sum(self, chosen: list[str], tally: Tally | None) -> None:
        """The server is told what the sum says, and of each report that it is in it. A void epoch tells it nothing."""
        shares, sums = self.shares(), tally.open() if tally else None
        for fault in tally.faults if tally else ():
            self.node.seen.alarm(ALARM, f"epoch {self.t}: {fault}")
        for word in [*self.node.arrived]:
            if word.turn <= self.t < self.horizon and word.kind in ("share", "report", "sum"):
                self.node.skip(word)
        if sums is not None:
            arms = shares[chosen[0]].arms
            pulls = [sum(shares[name].pulls[e] for name in chosen) for e in range(len(arms))]
            self.hear_all(chosen, list(zip(arms, pulls, sums, strict=True)))
        self.node.close()

    def hear_all(self, chosen: list[str], rows: list[Row]) -> None:
        """The rows go with the first report: they are of no one."""
        assert self.node.server is not None
        shares, t = self.shares(), self.t
        try:
            for i, name in enumerate(chosen):
                self.node.server.hear(t, name, shares[name].said + pack_rows(rows if i == 0 else []))
        except ProtocolError:
            self.node.seen.alarm(ALARM, f"epoch {t}: a sum that so many rewards cannot have; someone's share is false")
