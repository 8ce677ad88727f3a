"""What a start rests on, and what it recalls; crashes and power cuts have files of their own."""

import asyncio

import pytest
from nodes import Home, make_federation, plain_seal

from coterie.deploy.message import Message
from coterie.errors import UsageError


def test_a_clock_behind_the_last_decision_is_refused(tmp_path):
    home = Home(tmp_path, make_federation(tmp_path))

    async def story():
        await home.start()
        await home.node.ask()
        at = home.node.now()
        home.clock.seconds = at - 3600
        with pytest.raises(UsageError, match=r"3[56]\d\d seconds behind"):
            await home.start()
        home.clock.seconds = at - 1  # what a time server may do
        node = await home.start()
        assert at - 2 < node.now() <= at
        home.stop()

    asyncio.run(story())


def test_a_start_recalls_the_last_words_of_others_and_no_time_that_nobody_kept(tmp_path):
    home = Home(tmp_path, make_federation(tmp_path), live=lambda node: asyncio.sleep(0))

    async def story():
        node = await home.start()
        for seq in (1, 2):
            message = Message("say.south", seq, "south", seq + 3, "say", b"word")
            await node.receive(message, plain_seal(message.lane, seq, message, b""))
            node.skip(message)
        assert node.view().peers[0].at is not None
        await node.commit()
        south, west = (await home.start()).view().peers
        assert (south.name, south.turn, south.at, west.turn) == ("south", 5, None, None)
        home.stop()

    asyncio.run(story())
