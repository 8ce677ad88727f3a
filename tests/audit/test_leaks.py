"""Every leak that can still be written is found: by the ledger, or by living twice."""

from pathlib import Path

import numpy as np
import pytest

from coterie.algorithms import find
from coterie.audit import replay as replaying
from coterie.audit import twice
from coterie.audit.auditing import broken_promise
from coterie.audit.stage import small_case, small_case_twice
from coterie.privacy.statement import statement

FILE = str(Path(__file__).with_name("leaks.py"))
SEEDS = {"rare": 1}
ROUNDS = 80  # one length, so that one engine serves all
LEAKY = find(FILE)
PRICES, PEEKS = (getattr(__import__("sys").modules[LEAKY.options.__module__], name) for name in ("PRICES", "PEEKS"))
HOLDS = {
    "bare-first": "no limit", "dear": "50", "retry": "2", "half-noise": "2", "two-chains": "2", "late-price": "50",
    "second-price": "50", "crowd-price": "50", "heir-price": "no limit", "rare-price": "no limit",
}  # fmt: skip


def lived_twice(leak, most=40, seed=0, **how):
    case = small_case(FILE, {"leak": leak}, ROUNDS)
    told = replaying.replay(case, seed, most, **how)
    return told, statement(case.method.claim, case.doors, told.booked)


@pytest.mark.parametrize("leak", PRICES)
def test_prices_that_add_up_to_more_than_was_promised_break_the_promise(leak):
    """One run in 2,000 has 1,280 pairs of lives with 4 agents each to happen in."""
    told, said = lived_twice(leak, 320 if leak == "rare-price" else 40)
    assert broken_promise(said) == f"promised 1, {HOLDS[leak]} holds" and said["private"] is False
    assert told.findings == ()  # nothing but the price is wrong


def test_without_a_leak_the_promise_holds_and_nothing_is_found():
    told, said = lived_twice("none")
    assert told.findings == () and said["private"] and broken_promise(said) == ""
    assert (told.rewards, told.rewards_in_all, told.left_out) == (40, 320, 0)
    assert told.price == told.booked == 1


@pytest.mark.parametrize("leak", [leak for leak in PEEKS if leak != "choices"])
def test_what_a_peek_writes_into_the_open_is_found_whenever_it_does(leak):
    """What happens in one run of 2,000 has 4,480 of them, in half of which it is about the arm of the changed reward."""
    told, said = lived_twice(leak, replaying.REWARDS_AT_MOST if leak in ("rare", "thrice") else 40, SEEDS.get(leak, 0))
    assert any("shows the reward" in finding for finding in told.findings)
    assert broken_promise(said) == "promised 1, no limit holds"


def test_choices_that_rest_on_raw_rewards_are_told_apart():
    told, said = lived_twice("choices")
    assert told.findings == () and told.excused == ("choices show the reward",)
    assert said["accounted"]["epsilon"] is None


def test_a_leak_after_a_neighbour_left_is_found_where_agents_leave_and_nowhere_else():
    told, _ = lived_twice("heir")
    assert "churn" in told.findings[0] or "all faults" in told.findings[0]


def test_an_interpreted_replay_finds_what_a_compiled_one_does():
    interpreted, compiled = (lived_twice("copy", 1, compiled=compiled)[0] for compiled in (False, True))
    assert interpreted == compiled and compiled.findings != ()


def test_every_agent_and_place_is_changed_and_a_sample_is_always_the_same():
    everyone = [(agent, place) for agent in range(3) for place in range(10)]
    assert replaying.sample(everyone, 30) == everyone and replaying.sample(everyone, 7) == replaying.sample(everyone, 7)
    work = dict(replaying.share_out(everyone, ["calm", "loss"], replaying.REWARDS_AT_MOST))
    assert {name: len(part) for name, part in work.items()} == {"calm": 60, "loss": 60}
    assert {(reward.agent, reward.place) for reward in work["loss"]} == set(everyone)


def test_the_place_of_a_reward_is_counted_arm_by_arm():
    class Run:
        secrets = {"count": np.array([[[2, 0, 3, 0]]] * 5)}  # noqa: RUF012

    arm, number = twice.find_rewards(Run, np.arange(5), np.zeros(5, int), np.arange(5))
    assert arm.tolist() == [0, 0, 2, 2, 2] and number.tolist() == [1, 2, 1, 2, 3]


def test_around_a_server_there_is_room_for_two_epochs():
    case = small_case_twice("cdp-mab", {"epsilon": 0.3}, 24)
    assert case.horizon > 24 and case.links is None
