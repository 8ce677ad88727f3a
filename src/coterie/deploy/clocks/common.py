"""The common clock: rounds that all peers play together, as in a simulation.

Every node says a word for every round; b"" is silence. A word of round s also says that there was none since the one before it,
so a node that commits to a plan of many rounds is silent for all of them at once, and one that stops, for ever. The ends of a
drawn edge show each other their cards of a round at the end of the one before.

Everyone's learning waits for who is slow; nobody's decisions do.
"""

from coterie.deploy.clocks.coin import coin_of
from coterie.deploy.federation import Federation
from coterie.deploy.message import Message
from coterie.deploy.node import Node
from coterie.engines.rehearsal import draw_edges, rounds_of


async def live(node: Node, federation: Federation) -> None:
    rounds = Rounds(node, federation)
    while node.playing or node.t < federation.horizon:
        if not node.playing:  # a start may find a plan of many rounds under way
            await rounds.hear(node.t + 1)
            await rounds.look_at_card(node.t + 1)
            node.begin(node.t + 1)
            await rounds.promise_silence()
        last = rounds.last_of_plan()
        for t in range(node.t + 1, min(last, federation.horizon) + 1):
            await rounds.hear(t)
        if last > federation.horizon:
            break
        if not await node.played():
            await rounds.stop()
            return
        await node.end(last, rounds.speak)
    node.over = True


class Rounds:
    """Who is to be heard and met in each of them."""

    def __init__(self, node: Node, federation: Federation):
        self.node, self.horizon, self.coin = node, federation.horizon, coin_of(federation)
        self.links, self.is_heard = federation.hears(node.name), bool(federation.heard_by(node.name))
        self.names, self.place = [member.name for member in federation.agents], federation.position(node.name)
        self.method, self.start = federation.method(), federation.method().node.first_round
        self.neighbours = federation.neighbours(node.name) if self.method.meetings else []
        self.edges = federation.links.edges if self.method.meetings else ()
        self.card: bytes | None = None  # of whom to meet in this round

    async def word(self, kind: str, sender: str, t: int) -> Message | None:
        """Of one round. None: silence."""
        while (first := self.first_word(kind, sender)) is None or first.turn < t:
            if first is None:
                await self.node.arrival()
            else:  # of a round that was heard without it: nobody honest sends that
                self.node.skip(first)
                self.node.seen.reject("turn")
        if first.turn > t or first.body:
            return first if first.turn == t else None
        self.node.skip(first)
        return None

    def first_word(self, kind: str, sender: str) -> Message | None:
        words = (message for message in self.node.arrived if (message.kind, message.sender) == (kind, sender))
        return next(words, None)

    async def hear(self, t: int) -> None:
        """The words of round t - delay, in the order of links."""
        for sender, delay in self.links:
            if t - delay >= self.start and (word := await self.word("say", sender, t - delay)):
                self.node.hear(word, t=t)

    def partner(self, t: int) -> str | None:
        """At the other end of the drawn edge."""
        drawn = self.method.meetings if self.start < t <= self.horizon else 0
        ends = draw_edges(self.edges, drawn, self.method.active, [True] * len(self.names), self.coin, t)
        return next((self.names[sum(pair) - self.place] for pair in ends.values() if self.place in pair), None)

    async def look_at_card(self, t: int) -> None:
        partner, self.card = self.partner(t), None
        if partner and (word := await self.word("card", partner, t)):
            self.node.skip(word)
            if self.node.agent.suits(t, word.body):
                self.card = word.body
            else:
                self.node.seen.reject("suits")

    def last_of_plan(self) -> int:
        """The round in which the present plan ends."""
        return self.node.t + (max(1, rounds_of(self.node.agent.plan)) - 1 if self.method.node.commits else 0)

    async def promise_silence(self) -> None:
        if self.is_heard and self.last_of_plan() > self.node.t:
            self.node.say("say", b"", turn=min(self.last_of_plan() - 1, self.horizon))
            await self.node.commit()

    def speak(self) -> None:
        t = self.node.t
        if self.card is not None:
            self.node.meet(t, self.card)
        said = self.node.agent.speak(t)
        if self.is_heard:
            self.node.say("say", said, turn=t)
        if partner := self.partner(t + 1):
            self.node.say("card", self.node.greet(t + 1), to=partner, turn=t + 1)

    async def stop(self) -> None:
        """Nothing more in this run."""
        self.node.drop()
        if self.is_heard:
            self.node.say("say", b"", turn=self.horizon)
        for neighbour in self.neighbours:
            self.node.say("card", b"", to=neighbour, turn=self.horizon)
        await self.node.commit()
