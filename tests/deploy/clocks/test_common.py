"""The common clock: everyone's learning waits for who is slow, and for nobody who has stopped."""

import asyncio

import numpy as np
import pytest
from cast import (
    Actor,
    differences,
    eager,
    killed_and_performed,
    memory_wires,
    nobody,
    rehearsed,
    simulated,
    until,
)  # fmt: skip

HORIZON = 12


def federation_of(folder, name="fed-ucb"):
    return rehearsed(folder, {"name": name}, HORIZON, clock="common")


async def start(folder, federation, wires, **customers):
    cast = {name: Actor(folder, federation, name) for name in customers}
    for name, actor in cast.items():
        await actor.start(wires(name), customers[name])
    return cast


def test_who_is_slow_is_waited_for_and_answers_meanwhile(tmp_path):
    federation = federation_of(tmp_path)

    async def play():
        cast = await start(tmp_path, federation, memory_wires(federation), north=eager, south=eager, west=nobody)
        north, west = cast["north"].node, cast["west"].node
        await until(lambda: north.s == 1)  # it has said its word of round 0
        for _ in range(50):
            await asyncio.sleep(0.001)
        assert (north.t, north.playing, west.t, west.playing) == (0, False, 0, True)
        assert {(await west.ask()).arm for _ in range(9)} == {0, 1, 2}
        for actor in cast.values():
            await actor.stop()

    asyncio.run(play())


@pytest.mark.parametrize("name", ["fed-ucb", "peer-ucb"])
def test_who_has_stopped_is_silent_for_ever_and_the_others_go_on(tmp_path, name):
    federation = federation_of(tmp_path, name)

    async def play():
        cast = await start(tmp_path, federation, memory_wires(federation), north=eager, south=eager, west=nobody)
        await cast["west"].node.withhold("placebo")
        await until(lambda: cast["north"].finished and cast["south"].finished)
        assert cast["west"].node.t == (0 if name == "peer-ucb" else -1)
        assert cast["west"].node.silent == "withheld"
        for actor in cast.values():
            await actor.stop()

    asyncio.run(play())


def test_a_word_that_does_not_fit_is_silence(tmp_path):
    """South lies about more pulls than there were turns: it is counted, and has no effect."""
    federation = federation_of(tmp_path)

    async def play():
        cast = await start(tmp_path, federation, memory_wires(federation), north=eager, south=nobody, west=eager)
        south = cast["south"].node
        await until(lambda: south.playing)
        south.say("say", np.array([10**6, 0, 0], np.int64).tobytes(), turn=0)
        await south.commit()
        north = cast["north"].node
        await until(lambda: north.seen.rejected.get("fits"))
        assert int(north.agent.open.belief.max()) <= 2
        for actor in cast.values():
            await actor.stop()

    asyncio.run(play())


def test_nodes_that_are_killed_go_on_and_end_in_the_simulators_bytes(tmp_path):
    federation = federation_of(tmp_path)
    nodes = asyncio.run(killed_and_performed(tmp_path, federation, (3, 7)))
    assert differences(nodes, simulated(federation)) == []
