"""Wherever a node ends, the next start goes on: nothing that was acknowledged is lost, nothing counts twice, no release has two
values, and what was spent is never less."""

import asyncio
import random
import tempfile
from functools import cache
from itertools import product
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, precondition, rule
from nodes import Home, make_federation

from coterie.deploy.refusals import Closed, Conflict
from coterie.deploy.stores import Store, ledger
from coterie.kernel import UNIT


class Crash(BaseException):
    """The process is gone."""


class Fragile:
    """Ends the process before or after a certain call of either store, or never."""

    def __init__(self, at, after):
        self.at, self.after, self.calls = at, after, 0

    def around(self, store):
        plain = store.do

        async def do(work, then=None, large=False):
            self.calls += 1
            if self.calls == self.at and not self.after:
                raise Crash
            answer = await plain(work, then)
            if self.calls == self.at:
                raise Crash
            return answer

        store.do = do


def read(store, work):
    """Past whatever breaks."""
    return Store.do(store, work)


class World:
    """What customers and peers have ever been told."""

    def __init__(self):
        self.answers, self.told, self.seen, self.spent = {}, {}, {}, 0.0

    async def look(self, home):
        """At what has left, or may have."""
        found = {word.seq: word.body for word in await read(home.stores.ledger, lambda c: ledger.outbox(c, "say"))}
        found |= {(s, release.entry): release.value for s, _, release in await read(home.stores.ledger, ledger.releases)}
        assert self.seen.items() <= found.items(), "two values for one number, or none any more"
        spent = home.node.view().budget.spent
        assert spent >= self.spent, "spent has fallen"
        self.seen, self.spent = found, spent


async def conserved(home):
    """Every reward that counts is in a queue, or used, exactly once; and the secret is the sum of those used."""
    node = home.node
    rows = await read(
        home.stores.rewards,
        lambda c: c.execute("SELECT place, arm, value, used FROM decision WHERE place IS NOT NULL ORDER BY place").fetchall(),
    )
    in_memory = sorted(reward.place for reward in [*(r for queue in node.desk.queues for r in queue), *node.desk.used])
    assert in_memory == [place for place, _, _, used in rows if used is None]
    queued = {reward.place for queue in node.desk.queues for reward in queue}
    for arm in range(node.agent.p.arms):
        mine = [value for place, k, value, _ in rows if k == arm and place not in queued]
        assert (int(node.agent.secret.count[arm]), int(node.agent.secret.total[arm])) == (len(mine), sum(mine))
    assert len({place for place, _, _, _ in rows}) == len(rows)


async def life(folder, federation, at, after, decisions):
    """One crash, and what comes of it. Returns how many calls there were."""
    home, world, fragile = Home(folder, federation), World(), Fragile(at, after)
    await home.start()
    for store in home.stores:
        fragile.around(store)
    draw = random.Random(7)
    script = [(f"patient {i}", draw.randrange(9) / 8) for i in range(decisions)]
    while script:
        key, value = script[0]
        try:
            decision = await home.node.ask(key)
            assert world.answers.setdefault(key, decision) == decision, "two decisions for one key"
            await home.node.tell(decision.id, value)
            world.told[decision.id] = value
            await home.settle()
            script.pop(0)
        except Crash:
            await world.look(home)
            await home.start()
            await home.settle()
        await world.look(home)
        await conserved(home)
    found = dict(await read(home.stores.rewards, lambda c: c.execute("SELECT id, value FROM decision WHERE told").fetchall()))
    assert {id: value * UNIT for id, value in world.told.items()} == found
    await read(home.stores.ledger, ledger.verify_chain)
    home.stop()
    return fragile.calls


async def lives(folder, algorithm, every, decisions=14):
    """A crash around every so-manieth call."""
    federation = make_federation(folder, algorithm)
    calls = await life(folder / "whole", federation, None, False, decisions)
    assert calls > 2 * decisions + 4  # questions, rewards, and two commits at least
    for at, after in list(product(range(1, calls + 1), (False, True)))[::every]:
        await life(folder / f"{at}{after}", federation, at, after, decisions)


@pytest.mark.parametrize("algorithm", ["fed-ucb", "pr-ucb"])
def test_a_node_that_ends_around_a_call_of_a_store_goes_on(tmp_path, algorithm):
    asyncio.run(lives(tmp_path, algorithm, every=5))


@pytest.mark.slow
@pytest.mark.parametrize(("algorithm", "every"), [("fed-ucb", 1), ("pr-ucb", 1), ("private-ucb", 3), ("dp-ucb-int", 3)])
def test_a_node_that_ends_around_any_call_of_a_store_goes_on(tmp_path, algorithm, every):
    """The last two release every ten turns, so they take more of them."""
    asyncio.run(lives(tmp_path, algorithm, every, decisions=14 if every == 1 else 34))


def test_a_clock_that_ends_in_the_middle_of_a_turn_harms_nothing(tmp_path):
    """The clock's own task is cancelled at every place where it waits, and the node goes on with another one."""

    async def story():
        home = Home(tmp_path, make_federation(tmp_path, "fed-ucb"), inline=False)
        await home.start()
        draw = random.Random(1)
        for i in range(60):
            decision = await home.node.ask()
            await home.node.tell(decision.id, draw.randrange(9) / 8)
            await asyncio.sleep(draw.random() * 0.004)
            if i % 3 == 0:
                await home.start()
                await conserved(home)
        home.stop()

    asyncio.run(story())


@cache
def one_federation(within):
    with tempfile.TemporaryDirectory() as folder:
        return make_federation(Path(folder), "pr-ucb", rewards={"within": within}, arms=2)


class Application(RuleBasedStateMachine):
    """Customers who ask, tell, change their minds and come late; windows that close; a node that is killed and starts again."""

    decisions = Bundle("decisions")
    within = "1 hour"

    @initialize()
    def open(self):
        self.loop, self.folder = asyncio.new_event_loop(), tempfile.TemporaryDirectory()
        folder = Path(self.folder.name)
        federation = one_federation(self.within)
        self.home, self.told, self.cancelled, self.arms = Home(folder, federation), {}, set(), {}
        self.run(self.home.start())

    def run(self, story):
        return self.loop.run_until_complete(story)

    def teardown(self):
        if hasattr(self, "home"):
            self.home.stop()
            self.run(asyncio.sleep(0))
            self.loop.close()
            self.folder.cleanup()

    @rule(target=decisions, number=st.integers(1, 4))
    def ask(self, number):
        made = [self.run(self.home.node.ask()) for _ in range(number)]
        self.arms |= {decision.id: decision.arm for decision in made}
        return multiple(*(decision.id for decision in made))

    @rule(id=decisions, value=st.integers(0, 8))
    def tell(self, id, value):
        try:
            word = self.run(self.home.node.tell(id, value / 8))
            assert word == ("same" if id in self.told else "new")
            assert self.told.setdefault(id, value / 8) == value / 8
        except Conflict:
            assert id in self.cancelled or self.told[id] != value / 8
        except Closed:
            assert self.within != "at once"
            assert id not in self.told

    @rule(number=st.integers(1, 8), seed=st.integers(0, 99))
    def be_asked_and_told(self, number, seed):
        """Customers who come at once, so that turns go by."""
        for i in range(number):
            self.run(self.home.settle())
            decision = self.run(self.home.node.ask())
            self.arms[decision.id] = decision.arm
            self.told[decision.id] = (seed + i) % 9 / 8
            self.run(self.home.node.tell(decision.id, self.told[decision.id]))

    @rule(id=consumes(decisions))
    def cancel(self, id):
        try:
            self.run(self.home.node.cancel(id))
            assert id not in self.told
            self.cancelled.add(id)
        except Conflict:
            assert id in self.told
        except Closed:
            assert id not in self.told

    @rule(minutes=st.integers(1, 70))
    def wait(self, minutes):
        self.home.clock.seconds += 60 * minutes
        self.run(self.home.node.close_windows())

    @rule()
    def play(self):
        self.run(self.home.settle())

    @rule()
    def crash(self):
        self.run(self.home.start())

    @precondition(lambda self: self.home.node.agent.t > 0)
    @rule()
    def drop(self):
        """A clock may drop a plan at any time, and begin again."""
        self.home.task.cancel()
        self.run(asyncio.sleep(0))
        self.home.node.drop()
        self.home.task = self.loop.create_task(self.home.live(self.home.node))

    @invariant()
    def every_reward_is_queued_used_or_void_exactly_once(self):
        if not hasattr(self, "home"):
            return
        self.run(conserved(self.home))
        rows = self.run(self.home.stores.rewards.do(
            lambda c: c.execute("SELECT id, arm, told, value, place, state FROM decision").fetchall()
        ))  # fmt: skip
        assert {id: arm for id, arm, *_ in rows} == self.arms
        assert {id: value / UNIT for id, _, told, value, _, _ in rows if told} == self.told
        assert {id for id, *_, state in rows if state == 1} == self.cancelled
        places = [place for *_, place, _ in rows if place is not None]
        assert sorted(places) == list(range(1, len(places) + 1))
        for id, _, told, _, place, state in rows:
            open_, void = state == 0, state == 1
            assert (place is None) == (open_ or void)
            if self.within == "at once":
                assert (place is not None) == bool(told)
            assert not (void and id in self.told)


class AtOnce(Application):
    within = "at once"


TestWindows = Application.TestCase
TestWindows.settings = settings(max_examples=12, stateful_step_count=25)
TestAtOnce = AtOnce.TestCase
TestAtOnce.settings = settings(max_examples=12, stateful_step_count=25)
