"""Several rewards that are changed in one life show what each of them shows by itself."""

from itertools import count
from pathlib import Path

import pytest

from coterie.audit import replay as replaying
from coterie.audit.findings import Collected
from coterie.audit.replay import prepare, replay
from coterie.audit.twice import Play, Reward, apart, batch_of, changed_at_once, deal, pairs
from coterie.studies import load_study
from coterie.studies.case import make_case

LEAKS = str(Path(__file__).with_name("leaks.py"))
ROUNDS = 80  # as in test_leaks.py, so that one engine serves both
AGENTS = 12


def case_of(name, options, agents=AGENTS):
    study = {"horizon": ROUNDS, "problem": {"means": [0.5, 0.5], "agents": agents}, "network": {"graph": "path"},
             "algorithm": [{"name": name, **options}]}  # fmt: skip
    specification = load_study(study).specification
    return make_case(specification, specification.rows[0], 0)


def leaky(leak, agents=AGENTS):
    return case_of(LEAKS, {"leak": leak}, agents)


def lived(case, most=60):
    """(work, play, lives) under all kinds of faults."""
    work, start = prepare(case, 0, most), 0
    for name, dealt in work.lives.items():
        play = Play(work.stage, work.skies[name], 0)
        for lives in pairs(play, dealt, start):
            yield work, play, lives
        start += len(dealt)


def shows(stage, lives):
    """Pairs in which anything shows."""
    return {at for at, _, _ in Collected(stage).troubles(lives)[0]}


def test_an_agent_lives_as_if_its_reward_were_the_only_one_that_is_changed():
    checked = 0
    for work, play, lives in lived(leaky("none"), 12):
        assert not shows(work.stage, lives)
        for pair in range(len(lives.first.totals)):
            for single in apart(play, lives, pair):
                agent = single.changes.agent[0]
                for field in ("opens", "secrets", "inners", "ledgers"):
                    one, other = getattr(lives.second, field)[pair, agent], getattr(single.second, field)[0, agent]
                    assert one.tobytes() == other.tobytes()
                checked += 1
    assert checked >= 12


@pytest.mark.parametrize("leak", ["copy", "late", "second", "heir", "middle", "thrice", "pair"])
def test_a_life_with_several_changes_shows_something_if_and_only_if_one_of_them_does(leak):
    told = set()
    for work, play, lives in lived(leaky(leak)):
        together = shows(work.stage, lives)
        for pair in range(len(lives.first.totals)):
            alone = any(shows(work.stage, single) for single in apart(play, lives, pair))
            assert (pair in together) == alone
            told.add(alone)
    assert True in told and (leak in ("copy", "pair") or False in told)


@pytest.mark.parametrize("leak", ["copy", "second", "crowd", "middle", "pair"])
def test_what_shows_is_told_of_the_reward_it_is_about(leak):
    told = replay(leaky(leak), 0, 60)
    assert told.together == AGENTS // 4 and any("shows the reward" in finding for finding in told.findings)
    assert leak != "second" or all("agent 1, arm 0" in finding for finding in told.findings)


def test_prices_are_the_same_however_many_rewards_are_changed_in_a_life(monkeypatch):
    together = replay(leaky("none"), 0, 60)
    monkeypatch.setattr(replaying, "changed_at_once", lambda case: 1)
    alone = replay(leaky("none"), 0, 60)
    assert alone.together == 1 and alone.pairs > 2 * together.pairs
    assert together.price == alone.price == together.booked == alone.booked == 1 and together.findings == alone.findings == ()


def test_what_shows_together_only_is_told_too():
    found = Collected(prepare(leaky("none", 3), 0, 1).stage)
    assert found.add_apart([], "loss") == 0 and "rewards show together that do not by themselves" in found.findings[0]


def test_not_all_changes_are_made_one_by_one_where_every_life_shows_something(monkeypatch):
    monkeypatch.setattr(replaying, "APART", 1)
    few = replay(leaky("copy"), 0, 60)
    monkeypatch.setattr(replaying, "APART", 10_000)
    assert few.findings and len(few.findings) <= len(replay(leaky("copy"), 0, 60).findings)


def test_no_two_rewards_of_an_agent_are_changed_in_one_life():
    part = [Reward(agent, place, 0) for agent in range(5) for place in range(4 if agent else 9)]
    dealt = deal(part, 4)
    assert sorted(reward for life in dealt for reward in life) == part and len(dealt) == 9
    assert all(len({reward.agent for reward in life}) == len(life) <= 4 for life in dealt)


@pytest.mark.parametrize(("name", "options", "agents", "most"), [
    (LEAKS, {}, 4, 1), (LEAKS, {}, 12, 3), (LEAKS, {}, 3, 1), ("cdp-mab", {}, 12, 1), ("cdp-mab", {"noise": "secagg"}, 12, 1),
])  # fmt: skip
def test_one_reward_of_every_fourth_agent_is_changed_and_one_alone_around_a_server(name, options, agents, most):
    assert changed_at_once(case_of(name, options, agents)) == most


def test_a_forecast_counts_all_lives(monkeypatch):
    """What is timed takes half a second."""
    clock = count(10.0, 0.5)
    monkeypatch.setattr(replaying, "perf_counter", lambda: next(clock))
    work = prepare(leaky("none"), 0, 1000)
    some = batch_of(work.stage) // replaying.TIMED
    assert work.seconds() == pytest.approx(sum(0.5 * max(1, len(dealt) / some) for dealt in work.lives.values()))
    assert max(len(dealt) for dealt in work.lives.values()) > some


def test_which_changes_meet_in_a_life_is_a_matter_of_luck():
    part = [Reward(agent, place, other) for agent in range(12) for place in range(40) for other in (0, 1)]
    dealt = deal(part, 3)
    assert sorted(reward for life in dealt for reward in life) == part
    assert all(len({reward.agent for reward in life}) == len(life) for life in dealt)
    alike = [len({reward[1:] for reward in life}) == 1 for life in dealt]
    assert sum(alike) < 0.1 * len(dealt)  # in the order of agents nearly all would be
