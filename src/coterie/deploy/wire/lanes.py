"""A lane is a subject of the broker with one sender. Its words are numbered from 1 on, without a gap.

    c.<run>.say.<sender>            to all who may hear it
    c.<run>.to.<receiver>.<sender>  to one

In its own ledger a member writes `say` and `to.<receiver>` for its own lanes, `say.<sender>` and `to.<sender>` for those it
hears.
"""

from coterie.deploy.federation import Federation

SAY = "say"


class Lanes:
    """The lanes of one member of a run."""

    def __init__(self, federation: Federation, name: str):
        self.name, self.run = name, federation.run.hex()[:16]
        self.prefix, self.stream = f"c.{self.run}", stream_of(federation)
        senders = [sender for sender, _ in federation.hears(name)]
        own = [name] if in_order_of_the_stream(federation) else []
        direct = partners(federation, name)
        self.heard = {f"{self.prefix}.say.{sender}": (f"say.{sender}", sender) for sender in (*senders, *own)}
        self.heard |= {f"{self.prefix}.to.{name}.{sender}": (f"to.{sender}", sender) for sender in direct}
        self.own = [SAY, *(f"to.{receiver}" for receiver in direct)]

    def subject(self, lane: str) -> str:
        """Of one of the member's own lanes."""
        return f"{self.prefix}.say.{self.name}" if lane == SAY else f"{self.prefix}.{lane}.{self.name}"


def stream_of(federation: Federation) -> str:
    """The stream that holds all lanes of a run."""
    return f"c_{federation.run.hex()[:16]}"


def partners(federation: Federation, name: str) -> list[str]:
    """To whom a member speaks alone, and who speaks to it alone: its server, its agents, or whom it may meet."""
    if federation.method().structure == "server":
        return [sender for sender, _ in federation.hears(name)]
    return federation.neighbours(name) if federation.method().meetings else []


def in_order_of_the_stream(federation: Federation) -> bool:
    """Where every agent counts all reports for itself, its own are among them, and all must count in one order."""
    return federation.method().structure == "synchronise"
