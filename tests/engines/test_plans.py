"""What was played of a plan: against a list of its rounds; and a deployed agent that plays one."""

import numpy as np
import pytest

from coterie.contract import Algorithm, offer, order, plan_record
from coterie.engines.agent import Agent
from coterie.engines.chance import System
from coterie.engines.plans import Plans, cut, goes_on, length_of, make_plans, plans_of, plays_since_noted, under_way
from coterie.errors import ProtocolError
from coterie.kernel import node, one, record
from coterie.kernel.params import params_of
from coterie.privacy.secret import make_secrets

P = params_of({"arms": 4})
PLANS = [[(2, 3)], [(0, 1), (3, 4)], [(1, 2), (0, 0), (2, 5)], []]


def made(entries):
    plan = one(plan_record(P))
    plan.arms = P.arms
    for arm, pulls in entries:
        order(plan, arm, pulls)
    assert plan.wrong == 0
    return plan


@pytest.mark.parametrize("entries", PLANS)
def test_the_first_rounds_of_a_plan_are_its_entries_one_after_the_other(entries):
    plan, part, arms = made(entries), one(plan_record(P)), [arm for arm, pulls in entries for _ in range(pulls)]
    assert length_of(plan, 10**9) == max(1, len(arms))
    for rounds in range(len(arms) + 3):
        cut(plan, rounds, part)
        played = [arm for e in range(part.entries) for arm in [int(part.arm[e])] * int(part.pulls[e])]
        assert played == arms[:rounds]


def test_a_plan_of_any_length_ends_behind_the_horizon():
    assert length_of(made([(k, 2**62) for k in range(4)]), 1000) > 1000


def test_plays_between_two_looks_count_what_is_booked_and_what_is_under_way():
    plans = plans_of(make_plans(P, 1, 2, compiled=False), 0)
    secrets, late, part = make_secrets(2, P.arms, 1, 1.0).view(np.recarray), np.zeros((2, 4), np.int32), one(plan_record(P))
    plans.plan[0], plans.rounds[0], plans.played[0] = made([(1, 2), (2, 5)]), 7, 3
    plans.plan[1], plans.rounds[1], plans.played[1] = made([(0, 4)]), 4, 4  # finished, and booked:
    secrets["count"][1, 0] = 4
    assert isinstance(plans, Plans) and [under_way(plans, i) for i in range(2)] == [3, 0]
    plays_since_noted(late, secrets, plans, part)
    plans.played[0], plans.played[1] = 6, 2
    plays_since_noted(late, secrets, plans, part)
    assert late.tolist() == [[0, 0, 3, 0], [2, 0, 0, 0]]


def test_a_plan_goes_on_until_all_its_rounds_are_played_and_the_next_one_begins_anew():
    plans = plans_of(make_plans(P, 1, 1, compiled=False), 0)
    for entries, rounds in (([(1, 2), (2, 1)], 3), ([(0, 1)], 1), ([(3, 2)], 2)):
        plans.plan[0] = made(entries)
        assert [goes_on(plans, 0, 100) for _ in range(rounds)] == [True] * (rounds - 1) + [False]
        assert under_way(plans, 0) == 0


# --- deployed ------------------------------------------------------------------------------------------


def open_record(p):
    return record(heard=np.int64, released=np.int64, chosen=np.int64)


@node
def choose(open, p, t, die, plan):
    open.chosen = t
    order(plan, 3, 2)
    order(plan, 1, 3)


@node
def release(open, p, t, plan, out):
    open.released = t
    offer(out, 3, 1.0)


@node
def hear(open, peer, p, t, message):
    open.heard = t


COMMITTED = Algorithm("committed", open_record, choose=choose, release=release, hear=hear, commits=True)


def agent(algorithm=COMMITTED):
    begun = Agent(algorithm, P, System())
    begun.know("other")
    begun.begin(5)
    return begun


def played(begun):
    tickets = [begun.ask() for _ in range(5)]
    for ticket, _ in tickets:
        begun.tell(ticket, 1.0)
    return [arm for _, arm in tickets]


@pytest.mark.parametrize(("said", "last"), [(None, 9), (9, 9), (14, 14)])
def test_a_deployed_agent_plays_entry_by_entry_hears_meanwhile_and_ends_in_the_last_round(said, last):
    begun = agent()
    begun.hear(7, "other", bytes(8))
    assert played(begun) == [3, 3, 1, 1, 1]
    begun.finish() if said is None else begun.finish(said)
    assert (begun.t, begun.open.chosen, begun.open.heard, begun.open.released) == (last, 5, 7, last)
    assert begun.secret.count[:4].tolist() == [0, 3, 0, 2]
    begun.speak(last)
    begun.begin(last + 1)


def test_a_plan_does_not_end_before_its_last_round():
    begun = agent()
    played(begun)
    with pytest.raises(ProtocolError, match=r"t must be the number of a turn, 9 or later, got 8"):
        begun.finish(8)
    begun.finish(9)


def test_who_does_not_commit_goes_round_the_arms_and_hears_nothing_meanwhile():
    begun = agent(COMMITTED._replace(commits=False))
    with pytest.raises(ProtocolError, match="hear is not allowed in state PLAYING"):
        begun.hear(7, "other", bytes(8))
    assert played(begun) == [3, 1, 3, 1, 1]
    with pytest.raises(ProtocolError, match=r"t must be the number of a turn, 5, got 9"):
        begun.finish(9)
    begun.finish()
    assert begun.open.released == 5
