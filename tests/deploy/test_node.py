"""A node between its application and its clock, on real files: what is answered, learned, committed and seen."""

import asyncio
import random
from collections import Counter

import pytest
from nodes import Home, make_federation, plain_seal

from coterie.deploy.message import Message
from coterie.deploy.node import KEY_BYTES_MOST, UNCOMMITTED_MOST
from coterie.deploy.refusals import Closed, Conflict, Unfit, UnknownDecision
from coterie.deploy.stores import ledger, rewards
from coterie.engines.chance import Keyed, System
from coterie.engines.memory import keys_of, seeds_of
from coterie.errors import ProtocolError, StateError, StorageError, UsageError
from coterie.kernel import UNIT

MEANS = (0.2, 0.4, 0.8)


def run(story):
    """A story is over when its clock waits; what went wrong in the clock goes wrong here."""
    return asyncio.run(story)


async def customers(home, number, seed=0, means=MEANS):
    """Ask and tell, one after the other. Returns the arms that were answered."""
    draw, arms = random.Random(seed), []
    for _ in range(number):
        await home.settle()
        decision = await home.node.ask()
        await home.node.tell(decision.id, float(draw.random() < means[decision.arm]))
        arms.append(decision.arm)
    await home.settle()
    return arms


def totals(node):
    """(pulls, sum) of each arm in the secret."""
    return [(int(node.agent.secret.count[k]), int(node.agent.secret.total[k])) for k in range(node.agent.p.arms)]


async def rows(home, statement):
    return await home.stores.rewards.do(lambda c: c.execute(statement).fetchall())


# --- answers ------------------------------------------------------------------------------------------


def test_learns_which_arm_is_best(tmp_path):
    home = Home(tmp_path, make_federation(tmp_path, "ucb1", privacy="none"))

    async def story():
        await home.start()
        arms = await customers(home, 300, means=(0.0, 0.0, 1.0))
        assert Counter(arms[100:])[2] > 150
        home.stop()

    run(story())


@pytest.mark.parametrize("how", [{"inline": True}, {"inline": False}], ids=str)
def test_who_asks_without_a_pause_after_telling_is_answered_from_the_next_plan(tmp_path, how):
    """In the node's own loop. While a turn is committed there is none; after it those that waited are played in a row."""

    async def live(node):
        while True:
            node.begin(node.t + 1)
            await node.played()
            await node.end(node.t)

    home = Home(tmp_path, make_federation(tmp_path, "fed-ucb"), live=live, **how)

    async def story():
        await home.start()
        committed, node, idle = [], home.node, home.node._idle

        def noted():
            committed.append(node.writing or node.holding)
            return idle()

        node._idle = noted
        for _ in range(200):
            await node.tell((await node.ask()).id, 1.0)
        assert committed.count(False) < 20  # nearly all, where nobody gives way
        home.stop()

    run(story())


@pytest.mark.parametrize("algorithm", ["fed-ucb", "pr-ucb", "private-ucb", "dp-ucb-int"])
def test_every_reward_is_learned_from_where_none_is_late(tmp_path, algorithm):
    home = Home(tmp_path, make_federation(tmp_path, algorithm))

    async def story():
        await home.start()
        arms = Counter(await customers(home, 200))
        queued = Counter(reward.arm for queue in home.node.desk.queues for reward in queue)
        assert {k: pulls + queued[k] for k, (pulls, _) in enumerate(totals(home.node))} == {k: arms[k] for k in range(3)}
        assert queued.total() <= 3
        view = home.node.view()
        assert (view.decisions, view.learned, view.waiting) == (200, 200, 0)
        assert view.released > 0
        home.stop()

    run(story())


def test_the_same_key_gets_the_same_decision_also_after_a_crash(tmp_path):
    home = Home(tmp_path, make_federation(tmp_path))

    async def story():
        await home.start()
        first = [await home.node.ask(f"patient {i}") for i in range(20)]
        again = await asyncio.gather(*(home.node.ask(f"patient {i % 20}") for i in range(40)))
        assert again == [*first, *first]
        await home.start()
        assert [await home.node.ask(f"patient {i}") for i in range(20)] == first
        assert home.node.view().decisions == 20
        home.stop()

    run(story())


def test_one_key_at_once_is_one_decision(tmp_path):
    home = Home(tmp_path, make_federation(tmp_path), inline=False)

    async def story():
        await home.start()
        found = await asyncio.gather(*(home.node.ask("same") for _ in range(50)))
        assert len(set(found)) == 1
        home.stop()

    run(story())


def test_rewards_come_late_in_any_order_and_twice(tmp_path):
    home = Home(tmp_path, make_federation(tmp_path), inline=False)

    async def story():
        await home.start()
        draw, told = random.Random(3), Counter()
        for _ in range(5):
            made = list(await asyncio.gather(*(home.node.ask() for _ in range(30))))
            draw.shuffle(made)
            values = {decision.id: draw.random() for decision in made}
            assert await asyncio.gather(*(home.node.tell(id, value) for id, value in values.items())) == ["new"] * 30
            assert await asyncio.gather(*(home.node.tell(id, value) for id, value in values.items())) == ["same"] * 30
            told.update(decision.arm for decision in made)
            await asyncio.sleep(0.05)
        queued = Counter(reward.arm for queue in home.node.desk.queues for reward in queue)
        assert {k: pulls + queued[k] for k, (pulls, _) in enumerate(totals(home.node))} == dict(told)
        home.stop()

    run(story())


def test_decisions_that_nobody_tells_of_hold_nothing_up(tmp_path):
    home = Home(tmp_path, make_federation(tmp_path))

    async def story():
        await home.start()
        for _ in range(50):
            await home.node.ask()
        turn = home.node.t
        await customers(home, 50)
        assert home.node.t > turn + 30
        home.stop()

    run(story())


@pytest.mark.parametrize("reward", [1.5, -0.1, float("nan"), float("inf"), True, "1", None, 10**400, [1.0]])
def test_what_is_no_reward_is_refused(tmp_path, reward):
    home = Home(tmp_path, make_federation(tmp_path))

    async def story():
        await home.start()
        decision = await home.node.ask()
        with pytest.raises(Unfit, match=r"^a reward must be a number in 0\.\.1, got another$"):
            await home.node.tell(decision.id, reward)
        assert await home.node.tell(decision.id, 1.0) == "new"
        home.stop()

    run(story())


def test_what_is_clipped_by_the_file_counts_as_an_end(tmp_path):
    home = Home(tmp_path, make_federation(tmp_path, rewards={"within": "at once", "low": -1.0, "high": 3.0, "clip": True}))

    async def story():
        await home.start()
        for value in (7.0, -5.0, 10**400):
            decision = await home.node.ask()
            await home.node.tell(decision.id, value)
        assert [value for (value,) in await rows(home, "SELECT value FROM decision")] == [3 * UNIT, -UNIT, 3 * UNIT]
        home.stop()

    run(story())


@pytest.mark.parametrize("key", ["", "k" * (KEY_BYTES_MOST + 1), "ä" * (KEY_BYTES_MOST // 2 + 1), 17, b"key", "\ud800"])
def test_what_is_no_key_is_refused(tmp_path, key):
    home = Home(tmp_path, make_federation(tmp_path))

    async def story():
        await home.start()
        with pytest.raises(Unfit, match="1 to 200 bytes"):
            await home.node.ask(key)
        assert home.node.view().decisions == 0
        home.stop()

    run(story())


@pytest.mark.parametrize("id", ["", "nobody", 17, None, "\ud800", "x" * 1000])
def test_what_is_no_decision_is_refused(tmp_path, id):
    home = Home(tmp_path, make_federation(tmp_path))

    async def story():
        await home.start()
        for word in (home.node.tell(id, 1.0), home.node.cancel(id)):
            with pytest.raises(UnknownDecision):
                await word
        home.stop()

    run(story())


def test_another_value_and_a_cancelled_decision_are_refused(tmp_path):
    home = Home(tmp_path, make_federation(tmp_path))

    async def story():
        await home.start()
        first, second = await home.node.ask(), await home.node.ask("not carried out")
        assert second.learned
        await home.node.tell(first.id, 1.0)
        with pytest.raises(Conflict):
            await home.node.tell(first.id, 0.0)
        with pytest.raises(Conflict):
            await home.node.cancel(first.id)
        assert [await home.node.cancel(second.id) for _ in range(2)] == ["new", "same"]
        with pytest.raises(Conflict):
            await home.node.tell(second.id, 1.0)
        assert await home.node.ask("not carried out") == second._replace(learned=False)
        home.stop()

    run(story())


def test_a_customer_who_hangs_up_loses_no_reward(tmp_path):
    home = Home(tmp_path, make_federation(tmp_path), inline=False)

    async def story():
        await home.start()
        decision = await home.node.ask()
        telling = asyncio.create_task(home.node.tell(decision.id, 1.0))
        await asyncio.sleep(0)
        telling.cancel()
        for _ in range(100):
            await asyncio.sleep(0.01)
            if home.node.t > 0 or any(home.node.desk.queues) or sum(pulls for pulls, _ in totals(home.node)):
                break
        else:
            raise AssertionError("the reward is on disk and nowhere else")
        home.stop()

    run(story())


# --- windows ------------------------------------------------------------------------------------------


def test_a_reward_counts_at_the_end_of_its_window(tmp_path):
    home = Home(tmp_path, make_federation(tmp_path, rewards={"within": "1 hour", "missing": 0.25}))

    async def story():
        node = await home.start()
        early = await node.ask()
        home.clock.seconds += 600
        late, never, cancelled = [await node.ask() for _ in range(3)]
        assert await node.tell(early.id, 1.0) == "new"
        await node.cancel(cancelled.id)
        await node.close_windows()
        await home.settle()
        assert not any(node.desk.queues)
        assert node.t == 0
        home.clock.seconds += 3000
        await node.close_windows()
        assert [value for (value,) in await rows(home, "SELECT value FROM decision WHERE place IS NOT NULL")] == [UNIT]
        await node.tell(late.id, 0.5)
        home.clock.seconds += 600
        await node.close_windows()
        found = await rows(home, "SELECT value FROM decision WHERE place IS NOT NULL ORDER BY place")
        assert [value for (value,) in found] == [UNIT, UNIT // 2, UNIT // 4]
        with pytest.raises(Closed):
            await node.tell(never.id, 1.0)
        home.stop()

    run(story())


@pytest.mark.parametrize("inline", [True, False])
def test_the_disk_is_asked_for_windows_only_when_one_may_be_over_and_none_stays_open(tmp_path, monkeypatch, inline):
    home = Home(tmp_path, make_federation(tmp_path, rewards={"within": "1 hour"}), inline=inline)
    looks, close_until, draw = [], rewards.close_until, random.Random(1)
    monkeypatch.setattr(rewards, "close_until", lambda c, until, missing: looks.append(until) or close_until(c, until, missing))

    async def story():
        node, most = await home.start(), 1
        for step in range(400):
            if step == 200:
                node, most = await home.start(), most + 1
            most += (asks := draw.choice((0, 0, 0, 1, 2)))
            await asyncio.gather(*draw.sample([node.close_windows(), *(node.ask() for _ in range(asks))], asks + 1))
            await node.close_windows()
            late = f"SELECT 1 FROM decision WHERE state = 0 AND at <= {home.clock.seconds - 3600}"
            assert not await rows(home, late)
            home.clock.seconds += draw.choice((1, 60, 600))
        assert 10 < len(looks) <= most
        home.stop()

    run(story())


def test_a_disk_that_refused_and_is_not_asked_ends_the_life_of_a_node_all_the_same(tmp_path):
    home = Home(tmp_path, make_federation(tmp_path, rewards={"within": "1 hour"}))

    async def story():
        node = await home.start()
        await node.close_windows()
        home.stores.rewards.broken = True
        with pytest.raises(StorageError):
            await node.keep_windows()
        home.stop()

    run(story())


def test_who_asks_a_node_that_stops_gets_an_error_and_no_decision_that_nobody_keeps(tmp_path):
    """A full disk is another matter: there the node goes on. Once, a known key got another decision while its agent stopped."""
    home = Home(tmp_path, make_federation(tmp_path))

    async def story():
        node = await home.start()
        await node.ask("patient 17")
        home.stores.rewards.close()
        for key in ("patient 17", "patient 18", None):
            with pytest.raises(StorageError, match="it was closed"):
                await node.ask(key)
        home.stop()

    run(story())


@pytest.mark.parametrize("order", ["late", "backwards"])
def test_nothing_depends_on_when_a_reward_came_within_its_window(tmp_path, order):
    """The same rewards at once, or late and in another order: the same places in the queue, and the same turns."""

    async def story(home, told_when):
        node, told = await home.start(), []
        for i in range(40):
            told.append(((await node.ask()).id, (i % 7) / 8))
            if told_when == "at once":
                await node.tell(*told[-1])
            home.clock.seconds += 60
        for word in reversed(told) if told_when == "backwards" else told:
            await node.tell(*word)
        for _ in range(100):
            home.clock.seconds += 60
            await node.close_windows()
            await home.settle()
        found = await rows(home, "SELECT place, arm, value FROM decision ORDER BY place"), node.t, totals(node)
        home.stop()
        return found

    found = []
    for told_when in ("at once", order):
        folder = tmp_path / told_when.split()[-1]
        folder.mkdir()
        federation = make_federation(folder, "ucb1", privacy="none", rewards={"within": "1 hour"})
        found.append(run(story(Home(folder, federation), told_when)))
    assert found[0] == found[1]
    assert [place for place, _, _ in found[0][0]] == list(range(1, 41))


# --- the end of a turn --------------------------------------------------------------------------------


class Gate:
    """Lets a node's commits to one of its stores wait, and nothing else."""

    def __init__(self, node, store):
        self.node, self.store, self.open, self.waiting = node, store, asyncio.Event(), 0
        self.plain, node._patiently = node._patiently, self.patiently

    async def patiently(self, store, work):
        if store is self.store:
            self.waiting += 1
            await self.open.wait()
        return await self.plain(store, work)


@pytest.mark.parametrize("which", ["rewards", "ledger"])
def test_no_answer_waits_for_a_release_and_none_shows_it(tmp_path, which):
    home = Home(tmp_path, make_federation(tmp_path, "pr-ucb"))

    async def story():
        node = await home.start()
        await customers(home, 200)
        before, gate = node.view(), Gate(node, getattr(node.stores, which))
        while not gate.waiting:
            await customers(home, 1)
        for _ in range(5):
            await node.tell((await node.ask()).id, 1.0)
        view = node.view()
        assert [arm.worth for arm in view.arms] == [arm.worth for arm in before.arms]
        assert (view.released, len(await node.stores.ledger.do(ledger.releases))) == (before.released,) * 2
        gate.open.set()
        await home.settle()
        assert node.view().released > before.released
        assert [arm.worth for arm in node.view().arms] != [arm.worth for arm in before.arms]
        home.stop()

    run(story())


@pytest.mark.parametrize("which", ["rewards", "ledger"])
def test_nobody_sees_what_is_spent_before_it_is_on_disk(tmp_path, which):
    """A crash would undo it, and spending would be seen to fall."""
    home = Home(tmp_path, make_federation(tmp_path, "pr-ucb"))

    async def story():
        node = await home.start()
        gate = Gate(node, getattr(node.stores, which))
        while not gate.waiting:
            await customers(home, 1)
        assert node.agent.budget.spent == 1.0 and node.view().budget.spent == 0.0
        gate.open.set()
        await home.settle()
        assert node.view().budget.spent == 1.0
        node.agent.budget.events += node.agent.budget.events  # in a backlog there is always something under way
        node.seen.accounted = 0, 0.0
        assert node.view().budget.spent == 1.0
        home.stop()

    run(story())


def test_a_turn_gives_way_to_who_waits_for_an_answer(tmp_path):
    """A backlog of rewards is many turns, and each would be reckoned between two steps of one answer."""
    home, order = Home(tmp_path, make_federation(tmp_path), live=lambda node: asyncio.sleep(0), inline=False), []

    async def story():
        node = await home.start()
        node.begin(1)
        while not node.desk.ready:
            await node.tell((await node.ask()).id, 1.0)

        async def answer():
            await node.ask()
            order.append("answer")

        async def turn():
            assert await node.played()
            order.append("reckoned")
            node.say("say", b"word")
            await node.end(node.t)

        commits, commit = [], node.stores.rewards._commit
        node.stores.rewards._commit = lambda group: commits.append(len(group)) or commit(group)
        asked, turned = asyncio.create_task(answer()), asyncio.create_task(turn())
        await asked
        await asyncio.gather(answer(), turned)
        assert order == ["answer", "reckoned", "answer"]  # reckoned while the second question is on its way
        assert sum(commits) == 3  # two questions, and the secret of the turn
        home.stop()

    run(story())


def test_a_turn_waits_for_one_answer_and_not_for_all(tmp_path):
    """However many ask without a pause."""
    home = Home(tmp_path, make_federation(tmp_path), inline=False)

    async def story():
        node = await home.start()

        async def patient():
            while node.t < 20:
                await node.tell((await node.ask()).id, 1.0)

        async with asyncio.timeout(60):
            await asyncio.gather(*(patient() for _ in range(5)))
        assert node.t >= 20
        home.stop()

    run(story())


def test_what_was_released_is_seen_and_sent_at_a_tick(tmp_path):
    """So that nobody sees how long its noise took: a turn that releases ends at a whole number of ticks."""
    home = Home(tmp_path, make_federation(tmp_path, "pr-ucb", tick=0.5))
    shown, sent = [], []

    async def story():
        node = await home.start()
        home.clock.seconds += 0.123
        release, tell = node.seen.release, node.outgoing.tell
        node.seen.release = lambda *a: (shown.append(home.clock.seconds), release(*a))
        node.outgoing.tell = lambda: (sent.append(home.clock.seconds), tell())
        for _ in range(60):
            home.clock.seconds += 0.01
            await customers(home, 1)
        home.stop()

    run(story())
    assert len(shown) > 3
    assert set(sent) >= set(shown)
    assert all(abs(moment / 0.5 - round(moment / 0.5)) < 1e-5 for moment in shown)


def test_turns_without_a_release_are_played_again_from_the_queue(tmp_path):
    """They need no commit: a start ends where the crash was, in the same plan of the same turn."""
    home = Home(tmp_path, make_federation(tmp_path, "pr-ucb"))

    async def story():
        node, played_again = await home.start(), 0
        for _ in range(80):
            await customers(home, 1)
            before = node.t, totals(node), node.agent.open.tobytes(), node.agent.plan.tobytes()
            played_again += len(node.desk.used)
            node = await home.start()
            await home.settle()
            assert (node.t, totals(node), node.agent.open.tobytes(), node.agent.plan.tobytes()) == before
        assert played_again > 300
        home.stop()

    run(story())


def test_a_start_never_has_to_play_much_again(tmp_path):
    """Also where nothing is released: every so many rewards are committed."""
    home = Home(tmp_path, make_federation(tmp_path, {"name": "pr-ucb", "batch": 1000}, agents=("north", "south"), horizon=5000))

    async def story():
        node = await home.start()
        for _ in range(3):
            await customers(home, 300)
            assert len(node.desk.used) + len(node.notes) < UNCOMMITTED_MOST
        assert node.s > 0
        assert node.seen.released == 0
        home.stop()

    run(story())


def test_words_leave_with_a_commit_that_holds_them(tmp_path):
    """Numbers of a lane have no gaps, whatever is said without a release, and whatever is lost in a crash."""
    home = Home(tmp_path, make_federation(tmp_path, "fed-ucb"))

    async def story():
        node = await home.start()
        for i in range(12):
            await customers(home, 7, seed=i)
            node.say("say", b"lost in the crash")
            node = await home.start()
        said = await node.stores.ledger.do(lambda c: ledger.outbox(c, "say"))
        assert [word.seq for word in said] == list(range(1, len(said) + 1))
        assert len(said) > 5
        assert not any(b"lost" in word.body for word in said)
        home.stop()

    run(story())


def test_a_plan_can_be_dropped_without_a_trace(tmp_path):
    """And with it all turns since the last commit: their rewards are back in their queues, and what they heard is unheard."""
    home = Home(tmp_path, make_federation(tmp_path, "pr-ucb"))

    async def story():
        node = await home.start()
        await customers(home, 40)
        home.task.cancel()
        used = len(node.desk.used)
        assert used > 3
        node.drop()
        before = node._give(), node._give_secret(), [list(queue) for queue in node.desk.queues]
        assert sum(map(len, node.desk.queues)) == used
        for turns in range(used):
            for _ in range(turns):
                node.begin(node.t + 1)
                node.agent.finish(node.t, node.desk.serve())
            node.drop()
            assert (node._give(), node._give_secret(), [list(queue) for queue in node.desk.queues]) == before
            assert node.notes == []
        home.stop()

    run(story())


# --- stops --------------------------------------------------------------------------------------------


def test_a_withheld_arm_is_never_answered_and_nothing_is_reported(tmp_path):
    home = Home(tmp_path, make_federation(tmp_path, "pr-ucb"))

    async def story():
        node = await home.start()
        await customers(home, 100, means=(0.0, 0.5, 1.0))
        released = node.seen.released
        await node.withhold("arm 2")
        for _ in range(2):
            best = max((0, 1), key=node.worth)
            assert set(await customers(home, 50)) == {best}
            view = node.view()
            assert (view.silent, view.released) == ("withheld", released)
            assert [arm.withheld for arm in view.arms] == [False, False, True]
            assert not (await node.ask()).learned
            node = await home.start()
        await node.withhold("arm 2", False)
        node = await home.start()
        assert node.silent == "withheld"  # in this run it reports no more
        assert set(await customers(home, 10)) == {max((0, 1, 2), key=node.worth)}
        assert node.seen.released == released
        home.stop()

    run(story())


def test_safety_outranks_a_key(tmp_path):
    """Who asks again under a key whose decision was for a withheld arm gets another one."""
    home = Home(tmp_path, make_federation(tmp_path))

    async def story():
        node = await home.start()
        await home.settle()
        made = {f"patient {i}": await node.ask(f"patient {i}") for i in range(12)}
        assert {decision.arm for decision in made.values()} == {0, 1, 2}
        await node.withhold("arm 1")
        for key, before in made.items():
            now = await node.ask(key)
            assert now.arm != 1
            assert (now.id == before.id) == (before.arm != 1)
        home.stop()

    run(story())


def test_an_arm_to_withhold_must_exist_and_one_must_remain(tmp_path):
    home = Home(tmp_path, make_federation(tmp_path))

    async def story():
        node = await home.start()
        with pytest.raises(Unfit, match="did you mean 'arm 1'"):
            await node.withhold("Arm 1")
        await node.withhold("arm 0")
        await node.withhold("arm 1")
        with pytest.raises(Unfit, match="one arm at least"):
            await node.withhold("arm 2")
        assert (await node.ask()).name == "arm 2"
        home.stop()

    run(story())


def test_the_budget_refuses_after_any_crash_and_decisions_go_on(tmp_path):
    federation = make_federation(tmp_path, {"name": "private-ucb"}, budget={"epsilon": 0.2})
    home = Home(tmp_path, federation)

    async def story():
        node = await home.start()
        while node.silent is None:
            await customers(home, 1)
        spent, s, turn = node.view().budget.spent, node.s, node.t
        assert 0 < spent <= 0.2
        for _ in range(3):
            node = await home.start()
            await customers(home, 60)
            view = node.view()
            assert (view.silent, view.budget.refused, view.budget.spent) == ("budget", True, spent)
            assert not (await node.ask()).learned
            assert node.t > turn + 40  # plans go on
            turn = node.t
        kept = await node.stores.ledger.do(ledger.releases)
        assert max(state for state, _, _ in kept) < s <= node.s
        before = home.clock.seconds + 1
        await node.stores.rewards.do(lambda c: rewards.forget(c, before))  # gives no budget back
        node = await home.start()
        assert node.view().budget.spent == spent
        assert node.silent == "budget"
        home.stop()

    run(story())


# --- starts -------------------------------------------------------------------------------------------


def test_keyed_chance_is_refused_outside_a_rehearsal_and_none_else_in_one(tmp_path):
    keyed = {"agent": Keyed(keys_of(seeds_of(0), 0), 0)}

    async def story(home, chances):
        try:
            await home.start(chances=chances)
        finally:
            home.stop()

    with pytest.raises(UsageError, match="only a rehearsal"):
        run(story(Home(tmp_path, make_federation(tmp_path)), keyed))
    rehearsal = Home(tmp_path / "r", make_federation(tmp_path, clock="common", rehearsal={"seed": 0}))
    (tmp_path / "r").mkdir()
    with pytest.raises(UsageError, match="keyed by its seed"):
        run(story(rehearsal, {"agent": System()}))


@pytest.mark.parametrize("what", ["secret", "older ledger", "another run", "another agent"])
def test_stores_that_do_not_fit_are_refused(tmp_path, what):
    home = Home(tmp_path, make_federation(tmp_path, "pr-ucb"))

    async def story():
        node = await home.start()
        await customers(home, 60)
        if what == "secret":
            await node.stores.rewards.do(lambda c: c.execute("DELETE FROM secret"))
        if what == "older ledger":
            home.stop()
            for file in home.folder.glob("ledger.db*"):
                file.unlink()
        if what == "another run":
            home.federation = make_federation(tmp_path, "pr-ucb", horizon=2000)
        if what == "another agent":
            home.name = "south"
        with pytest.raises(StateError):
            await home.start()
        home.stop()

    run(story())


def test_a_full_disk_may_clear_and_nothing_is_released_meanwhile(tmp_path):
    home = Home(tmp_path, make_federation(tmp_path, "pr-ucb"))

    async def story():
        node = await home.start()
        store, plain, refusals = node.stores.ledger, node.stores.ledger.do, 5

        async def refuse(work):
            nonlocal refusals
            if refusals:
                refusals -= 1
                raise StorageError("ledger.db: cannot be written: database or disk is full")
            return await plain(work)

        store.do = refuse
        arms = await customers(home, 60)
        assert len(arms) == 60
        assert refusals == 0
        refusals = 5
        assert await node.receive(Message("say.south", 1, "south", 1, "say", b"word"), b"word") == "new"
        assert refusals == 0
        assert node.seen.released == len(await plain(ledger.releases)) > 0
        assert node.view().alarms == ()
        home.stop()

    run(story())


def test_a_disk_that_stays_full_ends_the_clock_and_not_the_answers(tmp_path):
    home = Home(tmp_path, make_federation(tmp_path, "pr-ucb"))

    async def story():
        node = await home.start()

        async def refuse(work):
            raise StorageError("ledger.db: cannot be written: database or disk is full")

        node.stores.ledger.do = refuse
        for _ in range(200):
            await node.tell((await node.ask()).id, 1.0)
            await asyncio.sleep(0)
        assert isinstance(home.task.exception(), StorageError)
        assert [alarm.kind for alarm in node.view().alarms] == ["storage"]
        assert node.seen.released == 0
        home.stop()

    run(story())


# --- what others say ----------------------------------------------------------------------------------


def test_messages_are_heard_in_the_order_of_their_lane_and_once(tmp_path):
    home = Home(tmp_path, make_federation(tmp_path), live=lambda node: asyncio.sleep(0))
    words = {
        (sender, seq): Message(f"say.{sender}", seq, sender, seq, "hello" if seq == 3 else "say", bytes([seq]))
        for sender in ("south", "west")
        for seq in range(1, 7)
    }

    async def receive(node, message):
        return await node.receive(message, plain_seal(message.lane, message.seq, message, b""))

    async def story():
        node, order = await home.start(), list(words.values())
        random.Random(5).shuffle(order)
        for message in order[:9]:
            assert await receive(node, message) == "new"
            assert await receive(node, message) == "same"
        assert await node.receive(order[0], b"other bytes") == "other"
        node = await home.start()
        for message in order[9:]:
            await receive(node, message)
        for sender in ("south", "west"):
            assert [m.seq for m in node.arrived if m.sender == sender] == [1, 2, 4, 5, 6]
        for message in node.arrived[:4]:
            node.skip(message)
        await node.commit()
        left = [(m.sender, m.seq) for m in node.arrived]
        node = await home.start()
        assert sorted((m.sender, m.seq) for m in node.arrived) == sorted(left)
        assert node.view().peers[0].turn == 6
        home.stop()

    run(story())


def test_what_no_honest_node_says_has_no_effect_and_is_counted(tmp_path):
    home = Home(tmp_path, make_federation(tmp_path, "pr-ucb"), live=lambda node: asyncio.sleep(0))

    async def story():
        node = await home.start()
        before = node.agent.open.tobytes(), node.agent.peers.tobytes()
        for seq, body in enumerate((b"", b"x", b"\xff" * 24, b"\x00" * 8000), start=1):
            await node.receive(Message("say.south", seq, "south", 1, "say", body), body)
        for message in node.arrived:
            assert not node.hear(message)
        assert (node.agent.open.tobytes(), node.agent.peers.tobytes()) == before
        assert node.view().rejected == {"fits": 4}
        home.stop()

    run(story())


def test_a_coordinator_has_no_desk(tmp_path):
    federation = make_federation(tmp_path, "pooled-ucb", agents=("north", "south"))
    home = Home(tmp_path, federation, "centre", live=lambda node: asyncio.sleep(0))

    async def story():
        node = await home.start()
        for word in (node.ask(), node.tell("x", 1.0), node.cancel("x")):
            with pytest.raises(ProtocolError, match="coordinator"):
                await word
        await node.commit(lambda: node.say("decision", node.announce(1), turn=1))
        view = node.view()
        assert (view.role, view.turn, view.decisions) == ("coordinator", 1, 0)
        node = await home.start()
        assert node.t == 1
        assert len(await node.stores.ledger.do(lambda c: ledger.outbox(c, "say"))) == 1
        home.stop()

    run(story())


def test_rewards_and_keys_appear_in_nothing_that_is_seen(tmp_path):
    home = Home(tmp_path, make_federation(tmp_path, "pr-ucb"))

    async def story():
        node = await home.start()
        for i in range(50):
            decision = await node.ask(f"patient {i}")
            await node.tell(decision.id, 0.7310585786300049)
            await home.settle()
        seen = str(node.view()) + str(node.view().alarms)
        assert "patient" not in seen
        assert "0.73105" not in seen  # a time may well end with fewer of these digits
        ledger_bytes = b"".join(file.read_bytes() for file in home.folder.glob("ledger.db*"))
        assert b"patient" not in ledger_bytes
        home.stop()

    run(story())
