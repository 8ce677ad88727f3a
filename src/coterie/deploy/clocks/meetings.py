"""Meetings on own clocks: two ends of an edge act on each other's cards, although neither knows when the other does.

    ask     a card, under a number; whoever has asked waits for the answer, and has no other meeting until it comes
    answer  the other end's card: it has met already, in the commit that holds the answer
    busy    it has asked somebody itself, or meets nobody any more

The one who asked then meets with the card it sent. So both ends act on the same two cards, once, and what one gains the other
loses, whatever the network does: lanes bring every word once and in order.
"""

import random

from msgspec import msgpack

from coterie.deploy.clocks.skipping import skip_all
from coterie.deploy.federation import Federation
from coterie.deploy.message import Message
from coterie.deploy.node import Node

KINDS = ("ask", "answer", "busy")
NUMBER = 8  # bytes of a meeting's number, before the card


class Meetings:
    def __init__(self, node: Node, federation: Federation):
        method, rehearsal = federation.method(), federation.rehearsal
        self.node, self.open = node, True
        self.chance = random.Random(f"{rehearsal.seed} {node.name}" if rehearsal else node.entropy(32))
        self.neighbours = federation.neighbours(node.name) if method.meetings else []
        edges = len(federation.links.edges) if self.neighbours else 1
        self.rate = method.active * method.meetings * len(self.neighbours) / (2 * edges)

    def waiting(self) -> bool:
        """Whether a word about a meeting has come."""
        return any(word.kind in KINDS for word in self.node.arrived)

    def begin(self) -> None:
        """Perhaps, at the end of a turn, with any neighbour."""
        number, other = self._under_way()
        if other is None and self.chance.random() < self.rate:
            other = self.chance.choice(self.neighbours)
            self._keep(number + 1, other)
            self.node.say("ask", _number(number + 1) + self.node.greet(self.node.t), to=other)

    async def hear(self) -> None:
        """What has come about meetings, with what it leads to, in one commit."""
        words = [word for word in self.node.arrived if word.kind in KINDS]
        for word in words:
            self.node.skip(word)
            if word.kind == "ask":
                self._answer(word)
            else:
                self._conclude(word)
        if words:
            await self.node.commit()

    async def refuse_all(self) -> None:
        """From now on nobody is met; who asks is told so, and what is under way is concluded."""
        self.open = False
        while self.neighbours:
            await self.hear()
            await skip_all(self.node, but=KINDS)

    def _answer(self, word: Message) -> None:
        number, card = word.body[:NUMBER], word.body[NUMBER:]
        fits = len(number) == NUMBER and self.node.agent.suits(max(self.node.t, word.turn), card)
        if not fits:
            self.node.seen.reject("suits")
        if self.open and fits and self._under_way()[1] is None:
            mine = self.node.greet(self.node.t)
            self.node.meet(self.node.t, card)
            self.node.say("answer", number + mine, to=word.sender)
        else:
            self.node.say("busy", number, to=word.sender)

    def _conclude(self, word: Message) -> None:
        number, other = self._under_way()
        if (word.sender, word.body[:NUMBER]) != (other, _number(number)):
            self.node.seen.reject("meeting")
            return
        self._keep(number, None)
        if word.kind == "answer" and self.node.agent.suits(max(self.node.t, word.turn), word.body[NUMBER:]):
            self.node.meet(self.node.agent.shown, word.body[NUMBER:])
        elif word.kind == "answer":
            self.node.seen.reject("suits")

    def _under_way(self) -> tuple[int, str | None]:
        """The number of the last meeting that was asked for, and whose answer has not come."""
        return msgpack.decode(self.node.memo, type=tuple[int, str | None]) if self.node.memo else (0, None)

    def _keep(self, number: int, other: str | None) -> None:
        self.node.memo = msgpack.encode((number, other))


def _number(number: int) -> bytes:
    return number.to_bytes(NUMBER, "big")
