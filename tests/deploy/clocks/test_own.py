"""Own clocks: nobody waits for anybody, and who is slow hears what others said, with their turns."""

import asyncio

import pytest
from cast import Actor, eager, memory_wires, nobody, rehearsed, until

from coterie.deploy.clocks.own import Mouth
from coterie.errors import UsageError


def federation_of(folder, name="pr-ucb", horizon=60, **options):
    return rehearsed(folder, {"name": name, **options}, horizon, clock="own")


def test_a_slow_node_counts_the_votes_of_fast_ones(tmp_path):
    """A vote of 16 pulls is older than a run that is in its first turn: the later of the two turns tells that it is not."""
    federation = federation_of(tmp_path)

    async def play():
        wires = memory_wires(federation)
        cast = {name: Actor(tmp_path, federation, name) for name in ("north", "south", "west")}
        for name, actor in cast.items():
            await actor.start(wires(name), nobody if name == "west" else eager)
        await until(lambda: cast["north"].finished and cast["south"].finished)
        west = cast["west"].node
        assert west.t == 1
        await west.tell((await west.ask()).id, 1.0)
        await until(lambda: west.t == 2)
        assert int(west.agent.peers.rung.max()) >= 1
        assert not west.seen.rejected
        for actor in cast.values():
            await actor.stop()

    asyncio.run(play())


def test_catching_up_is_refused_and_left_out_where_nothing_is_said(tmp_path):
    with pytest.raises(UsageError, match="catch_up of fed-ucb must be false on own clocks, got true"):
        federation_of(tmp_path, "fed-ucb", catch_up=True)
    assert federation_of(tmp_path, "fed-ucb").method().p.lag == 2**62


def test_where_a_later_word_makes_earlier_ones_superfluous_there_is_one_at_a_tick(tmp_path):
    federation = federation_of(tmp_path, "fed-ucb")

    async def play():
        actor = Actor(tmp_path, federation, "north")
        node = await actor.start(None)
        await actor.stop_tasks()
        node.drop()
        mouth, said = Mouth(node, federation), []
        for t in range(6):
            node.begin(t)
            for _ in range(node.agent.plan.pulls[: node.agent.plan.entries].sum()):
                await node.tell((await node.ask()).id, 1.0)
            node.agent.finish(t, node.desk.serve())
            if t == 5:
                actor.clock.seconds += federation.tick
            mouth.speak()
            said.append((len(node.words), node.agent.out.entries > 0))
            node.words.clear()
        assert said[0] == (1, True)  # with a release
        assert (0, False) in said[:5]
        assert said[5][0] == 1  # at the tick
        await actor.stop()

    asyncio.run(play())
