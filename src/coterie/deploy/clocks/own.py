"""Own clocks: a node's next turn begins when its plan is complete. Others go on; who is slow hears later, and in order.

A turn hears all that has arrived, with the later of the two turns (see Node.hear). What it says leaves with it, and a turn that
releases ends at a tick; where a later word makes earlier ones superfluous, there is one with a release or at a tick.

A meeting never waits for a plan: the plan is dropped without a trace, and the next one is made from what the meeting brought.
"""

from math import floor

from coterie.deploy.clocks.meetings import Meetings
from coterie.deploy.federation import Federation
from coterie.deploy.node import Node


async def live(node: Node, federation: Federation) -> None:
    meetings, mouth = Meetings(node, federation), Mouth(node, federation)

    def speak() -> None:
        mouth.speak()
        meetings.begin()

    while node.t < federation.horizon:
        await meetings.hear()
        for word in [word for word in node.arrived if word.kind == "say"]:
            node.hear(word)
        node.begin(node.t + 1)
        if await node.played(unless=meetings.waiting):
            await node.end(None, speak)
            continue
        node.drop()
        if node.stopped:
            break
    node.over = not node.stopped
    await meetings.refuse_all()


class Mouth:
    """What is said at the end of a turn, and whether."""

    def __init__(self, node: Node, federation: Federation):
        self.node, self.tick, self.latest = node, federation.tick, federation.method().node.latest
        self.is_heard, self.last = bool(federation.heard_by(node.name)), -1

    def speak(self) -> None:
        agent, tick = self.node.agent, floor(self.node.now() / self.tick)
        said = agent.speak(agent.t)
        if said and self.is_heard and (not self.latest or agent.out.entries > 0 or tick > self.last):
            self.node.say("say", said)
            self.last = tick
