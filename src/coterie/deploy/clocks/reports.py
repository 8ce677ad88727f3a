"""Who reports in an epoch, and where the reports come together."""

from collections.abc import Iterator

from coterie.deploy.clocks.coin import coin_of
from coterie.deploy.federation import Federation
from coterie.deploy.message import Message
from coterie.deploy.node import Node
from coterie.deploy.roles import SERVER
from coterie.engines.rehearsal import reporting


class Reporters:
    """Who reports in each epoch: all, or those on whom the run's public coin falls."""

    def __init__(self, federation: Federation):
        self.names = [member.name for member in federation.agents]
        self.drawn: Iterator[list[int]] = reporting(federation.method(), len(self.names), 0, coin_of(federation))
        self.known: list[list[str]] = []

    def of(self, t: int) -> list[str]:
        while len(self.known) < t:
            self.known.append([self.names[i] for i in next(self.drawn)])
        return self.known[t - 1]


class Hall:
    """Where the reports of an epoch come together, in the order in which they arrive."""

    kinds: tuple[str, ...] = ("report",)

    def __init__(self, node: Node, federation: Federation):
        self.node, self.reporters, self.horizon = node, Reporters(federation), federation.horizon
        self.quorum, self.within = federation.epochs.quorum, federation.epochs.within
        self.names, self.gone = [member.name for member in federation.agents], set[str]()
        self.reports: dict[str, Message] = {}

    def ended(self) -> bool:
        """Whether this epoch is over for everyone; `reports` are those that count, the first of each reporter."""
        assert self.node.server is not None
        t, self.reports = self.node.server.t, {}
        wanted = self.reporters.of(t)
        for word in [word for word in self.node.arrived if word.kind in (*self.kinds, "close")]:
            if word.kind == "report" and word.turn == self.horizon and not word.body:
                self.gone.add(word.sender)
            elif word.turn < t:
                self.node.skip(word)
            elif word.turn == t and word.kind in self.kinds:  # later ones wait: another lane may be behind
                if word.sender in self.reports or word.sender not in wanted:
                    self.node.skip(word)
                else:
                    self.reports[word.sender] = word
            if not self.missing() or (word.kind == "close" and word.turn == t and self.enough):
                return True
        return False

    @property
    def enough(self) -> bool:
        """Whether the epoch may end though some have not reported."""
        return len(self.reports) >= self.quorum

    def missing(self) -> list[str]:
        assert self.node.server is not None
        return [name for name in self.reporters.of(self.node.server.t) if name not in self.gone and name not in self.reports]

    async def closed(self) -> bool:
        """The epoch is over. False: so is the run."""
        opened = self.node.now()
        while not self.ended():
            self.node.seen.missing = tuple(self.missing())
            enough, left = self.enough, opened + self.within - self.node.now()
            if not enough or left > 0:
                await self.node.arrival(left if enough else None)
            elif self.node.agent is None:
                break
            else:
                opened = self.node.now()
                await self.node.commit(self._say_closed)
        self.node.seen.missing = ()
        return len(self.gone) < len(self.names)

    def _say_closed(self) -> None:
        assert self.node.server is not None
        self.node.say("close", b"", turn=self.node.server.t)

    def count(self) -> None:
        """The server hears all reports of the epoch."""
        for word in self.reports.values():
            if word.body:
                self.node.hear(word, SERVER)
            else:
                self.node.skip(word)
        self.node.close()
