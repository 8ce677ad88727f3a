"""What others said, from its arrival to the commit that has heard it. Each lane is in order: what comes early waits."""

from coterie.deploy.message import Message

OF_NO_TURN = ("hello", "bye")  # kinds that clocks never see; they only count in their lane


class Mailbox:
    """`last`: the number of the last message of each lane that a commit has heard."""

    def __init__(self, last: dict[str, int]):
        self.last = last
        self.early: dict[tuple[str, int], Message] = {}
        self.arrived: list[Message] = []  # to be heard
        self.heard: list[Message] = []  # since the last commit

    def arrive(self, message: Message) -> list[Message]:
        """Those whose turn in their lane has come by this one: itself at once if a commit has heard one that came after it."""
        lane, found = message.lane, []
        if message.seq <= self.last.get(lane, 0):
            found.append(message)
        else:
            self.early[lane, message.seq] = message
        while (lane, self.last.get(lane, 0) + 1) in self.early:
            self.last[lane] = self.last.get(lane, 0) + 1
            found.append(self.early.pop((lane, self.last[lane])))
        for each in found:
            (self.heard if each.kind in OF_NO_TURN else self.arrived).append(each)
        return found

    def hear(self, message: Message) -> None:
        self.arrived.remove(message)
        self.heard.append(message)

    def unhear(self) -> None:
        """All that was heard since the last commit is yet to be heard, before the rest."""
        self.arrived[:0] = [message for message in self.heard if message.kind not in OF_NO_TURN]
        self.heard = [message for message in self.heard if message.kind in OF_NO_TURN]

    def committed(self, heard: int) -> None:
        """The first so many; more may have come meanwhile."""
        del self.heard[:heard]
