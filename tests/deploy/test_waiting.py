"""Who waits is woken by what happens after that, once, and not later than was asked for."""

import asyncio

from coterie.deploy.waiting import Answers, Broadcast, within


async def passes(count=5):
    for _ in range(count):
        await asyncio.sleep(0)


def test_a_broadcast_wakes_all_who_wait_and_nobody_who_comes_later():
    async def story():
        told = Broadcast()
        early = [asyncio.ensure_future(told.wait()) for _ in range(3)]
        await passes()
        assert not any(each.done() for each in early)
        told.tell()
        late = asyncio.ensure_future(told.wait())
        await passes()
        assert all(each.done() for each in early) and not late.done()
        late.cancel()

    asyncio.run(story())


def test_the_next_answer_is_one_of_those_under_way_and_without_any_nobody_waits():
    async def story():
        answers = Answers()
        await answers.next()
        with answers:
            with answers:
                waiting = asyncio.ensure_future(answers.next())
                await passes()
                assert (answers.count, waiting.done()) == (2, False)
            await passes()
            assert (answers.count, waiting.done()) == (1, True)
        await answers.next()

    asyncio.run(story())


def test_what_happens_in_time_is_told_from_what_does_not():
    async def story():
        async def at_once(seconds):
            await asyncio.sleep(0)

        async def never(seconds):
            await asyncio.Event().wait()

        told = Broadcast()
        assert not await within(told.wait(), 1.0, at_once)
        for seconds in (None, 1.0):
            asyncio.get_running_loop().call_soon(lambda: told.tell())
            assert await within(told.wait(), seconds, never)

    asyncio.run(story())
