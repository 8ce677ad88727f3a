"""What advances the turns of a node: one coroutine for each clock, all around one text.

    own     among peers: the next turn begins when the plan is complete, and what has arrived is heard
    common  among peers: round t begins when every link's word of round t - delay is here, or its silence
    epochs  the server's decision opens an epoch, which closes when all have reported, or in time with a quorum

Decisions never wait for a clock. What a clock reads of time is how long an epoch is open, and no more.
"""

from coterie.deploy.clocks import common, epochs, own
from coterie.deploy.clocks.skipping import skip_all
from coterie.deploy.federation import Federation
from coterie.deploy.node import Node


async def live(node: Node, federation: Federation) -> None:
    """For as long as the node lives. At the horizon it is `over`; then, and when it was stopped, it learns no more."""
    if federation.clock == "epochs":
        await epochs.live(node, federation)
    elif federation.clock == "common":
        await common.live(node, federation)
    else:
        await own.live(node, federation)
    while True:
        await skip_all(node)
