"""What comes to a node that no longer learns: it has no effect, and is not kept in memory."""

from collections.abc import Collection

from coterie.deploy.node import Node


async def skip_all(node: Node, but: Collection[str] = ()) -> None:
    """All that has arrived but these kinds, then wait for more: at most one commit a tick."""
    words = [word for word in node.arrived if word.kind not in but]
    for word in words:
        node.skip(word)
    if words:
        await node.commit()
    await node.arrival()
    await node.tick()
