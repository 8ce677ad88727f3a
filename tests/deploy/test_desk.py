"""Queues by arm against a model: nothing is lost or counts twice, and a question has an answer while one is needed."""

from types import SimpleNamespace

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from coterie.deploy.desk import Desk
from coterie.deploy.stores.rewards import Queued

ARMS = 4


def plan_of(*orders):
    arms, pulls = zip(*orders, strict=True) if orders else ((), ())
    return SimpleNamespace(entries=len(orders), arm=arms, pulls=pulls)


def answers(desk, number):
    return [desk.decide() for _ in range(number)]


def test_arms_of_a_plan_come_in_turn():
    desk = Desk(ARMS)
    desk.lay_out(plan_of((2, 2), (0, 3), (1, 0)))
    assert answers(desk, 5) == [2, 0, 2, 0, 0]


def test_who_commits_plays_one_arm_after_the_other():
    desk = Desk(ARMS, in_turn=False)
    desk.lay_out(plan_of((2, 2), (0, 3)))
    assert answers(desk, 5) == [2, 2, 0, 0, 0]


def test_what_is_asked_for_beyond_the_plan_is_what_it_waits_for():
    desk = Desk(ARMS)
    desk.lay_out(plan_of((2, 1), (0, 1)))
    answers(desk, 2)
    assert set(answers(desk, 4)) == {0, 2}
    desk.add(Queued(1, 2, 7))
    assert answers(desk, 3) == [0, 0, 0]
    desk.add(Queued(2, 0, 7))
    assert desk.ready
    assert desk.decide() is None


def test_a_late_reward_serves_the_next_plan():
    desk = Desk(ARMS)
    desk.add(Queued(1, 3, 10))
    desk.lay_out(plan_of((3, 2)))
    assert answers(desk, 1) == [3]
    desk.add(Queued(2, 3, 5))
    assert desk.serve() == {3: (2, 15)}
    assert [reward.place for reward in desk.used] == [1, 2]


def test_a_plan_that_needs_nothing_is_ready():
    desk = Desk(ARMS)
    desk.lay_out(plan_of((1, 0)))
    assert desk.ready
    assert desk.serve() == {1: (0, 0)}


class Queues(RuleBasedStateMachine):
    """The model: what came, in order, and how much of it is in a commit."""

    def __init__(self):
        super().__init__()
        self.desk, self.came, self.committed, self.need = Desk(ARMS), [], [], {}

    @rule(orders=st.lists(st.tuples(st.integers(0, ARMS - 1), st.integers(0, 4)), max_size=4), in_turn=st.booleans())
    def lay_out(self, orders, in_turn):
        self.desk.in_turn = in_turn
        self.desk.lay_out(plan_of(*orders))
        self.need = {}
        for arm, pulls in orders:
            self.need[arm] = self.need.get(arm, 0) + pulls

    @rule(arm=st.integers(0, ARMS - 1), value=st.integers(-9, 9))
    def add(self, arm, value):
        self.came.append(Queued(len(self.came), arm, value))
        self.desk.add(self.came[-1])

    @rule()
    def decide(self):
        lacks, left = self.lacks(), dict(self.desk.left)
        arm = self.desk.decide()
        assert (arm is None) == (not any(lacks.values()))
        if arm is not None:
            assert lacks[arm] > 0
            assert left[arm] > 0 or not any(left.values())

    @precondition(lambda self: self.desk.ready)
    @rule()
    def serve(self):
        before = len(self.desk.used)
        sums = self.desk.serve()
        served = self.desk.used[before:]
        assert {arm: pulls for arm, (pulls, _) in sums.items()} == self.need
        for arm, (_, total) in sums.items():
            assert total == sum(reward.value for reward in served if reward.arm == arm)
        self.need = {}

    @rule()
    def commit(self):
        self.committed += self.desk.used
        self.desk.used = []

    @rule()
    def give_up(self):
        self.desk.unserve()
        self.need = {}

    def lacks(self):
        return {arm: max(0, pulls - len(self.desk.queues[arm])) for arm, pulls in self.need.items()}

    @invariant()
    def nothing_is_lost_or_counts_twice(self):
        queued = [reward for queue in self.desk.queues for reward in queue]
        assert sorted(r.place for r in [*queued, *self.desk.used, *self.committed]) == [r.place for r in self.came]
        for arm, queue in enumerate(self.desk.queues):
            assert all(reward.arm == arm for reward in queue)
            assert [r.place for r in queue] == sorted(r.place for r in queue)

    @invariant()
    def knows_what_it_needs(self):
        lacks = self.lacks()
        assert self.desk.lacking == sum(lacks.values())
        assert all(0 <= self.desk.left[arm] <= lacks[arm] for arm in self.need)


TestQueues = Queues.TestCase
TestQueues.settings = settings(max_examples=60, stateful_step_count=40)
