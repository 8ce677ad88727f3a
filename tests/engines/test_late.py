"""Plays in the last tenth of the rounds: against deployed agents that note every decision, and against brute force."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from coterie.algorithms import find
from coterie.contract import Setting
from coterie.engines.agent import Agent
from coterie.engines.faults import Weather
from coterie.engines.memory import first_late
from coterie.engines.rehearsal import keyed_agent, rehearse_mesh
from coterie.engines.simulate import simulate_mesh
from coterie.engines.star import note_late
from coterie.network import path
from coterie.problem import bernoulli
from coterie.studies.case import reach

AGENTS, ARMS, HORIZON = 4, 3, 47
MEANS = np.array([[0.6, 0.5, 0.4]])
AWAY = np.array([[0, 0], [40, 45], [0, 0], [30, 60]])  # of the last five rounds one misses two, and one all


class Diary(Agent):
    """An agent that notes every decision of a plan."""

    def begin(self, t):
        super().begin(t)
        self.played = getattr(self, "played", [])
        self.now = t

    def ask(self):
        ticket, arm = super().ask()
        if ticket is not None:
            self.played.append((self.now, arm))
        return ticket, arm


@pytest.mark.parametrize("weather", [Weather(), Weather(away=AWAY), Weather(dropout=0.4)], ids=["calm", "churn", "dropout"])
@pytest.mark.parametrize("name", ["gossip-ucb", "coop-ucb"])  # peers one by one, and peers whose messages add up
def test_plays_of_the_last_tenth_are_those_a_diary_of_decisions_holds(name, weather):
    entry = find(name)
    method = entry.build(entry.options(), Setting(AGENTS, ARMS, HORIZON, reward_values=(0.0, 1.0)))
    links = reach([path(AGENTS)], 2, "diameter")._replace(meetings=method.meetings)
    about, how = (method, bernoulli, bernoulli.world(MEANS), AGENTS, HORIZON), {"weather": weather, "seed": 3}
    run = simulate_mesh(*about, np.array([HORIZON]), links, compiled=False, **how)

    def with_a_diary(*given):
        return keyed_agent(*given, kind=Diary)

    told = rehearse_mesh(*about, links, make=with_a_diary, **how)
    recount = [[sum(t > 42 and arm == k for t, arm in agent.played) for k in range(ARMS)] for agent in told.agents]
    assert run.late[0].tolist() == recount
    assert run.late.sum() < AGENTS * 5 or weather == Weather()
    assert np.count_nonzero(run.late) > AGENTS - 1


def test_a_plan_counts_for_the_part_of_it_that_lies_in_the_last_tenth():
    """Every plan of up to three arms and nine rounds, at every place about the first late round and the horizon."""
    for entries, laps, now, late, horizon in product((1, 2, 3), (1, 2, 3), range(1, 12), range(4, 9), (8, 9, 14)):
        arms, plays = [2, 0, 1][:entries], np.zeros((2, 3), np.int32)
        plan, harvest = SimpleNamespace(entries=entries, arm=arms), SimpleNamespace(rounds=entries * laps)
        note_late(plan, harvest, now, late, horizon, plays, 1)
        rounds = {now + slot: arms[slot % entries] for slot in range(harvest.rounds)}
        played = [arm for t, arm in rounds.items() if late <= t <= horizon]
        assert plays.tolist() == [[0, 0, 0], [played.count(k) for k in range(3)]]


def test_the_last_tenth_is_rounded_up_and_fits_a_count_of_32_bits():
    assert [1 + horizon - first_late(horizon) for horizon in (1, 9, 10, 11, 1000, 10**9)] == [1, 1, 1, 2, 100, 10**8]
    assert 1 + 10**15 - first_late(10**15) == np.iinfo(np.int32).max
