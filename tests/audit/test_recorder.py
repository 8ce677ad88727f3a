"""A recorded run is the run itself with a true transcript, and a life that is lived twice is the same life."""

from math import inf

import numpy as np
import pytest

from coterie.audit import world
from coterie.audit.lives import own_worlds, simulate_lives
from coterie.audit.stage import blank_worlds, small_case, with_transcript
from coterie.audit.weathers import NEVER, weathers
from coterie.engines import mesh, pool, star
from coterie.engines.agent import Agent
from coterie.engines.rehearsal import rehearse_mesh, rehearse_star
from coterie.engines.simulate import flags, simulate_mesh, simulate_star

CASES = [("fed-ucb", {}, 12), ("pr-ucb", {}, 12), ("cdp-mab", {}, 1000), ("ddp-mab", {}, 1000)]


def dealt(case):
    """Worlds with rewards by turns, and a canary of agent 1."""
    worlds = blank_worlds(case)
    worlds["rest"] = 2
    worlds["arm"][1], worlds["number"][1], worlds["value"][1] = 0, 2, worlds["middle"][1]
    return worlds


@pytest.mark.parametrize(("name", "options", "horizon"), CASES)
def test_a_recorded_run_ends_in_the_bytes_of_the_run_itself(name, options, horizon):
    """The engine as it is, with one world for all replications, against the audit's own, with a transcript and a tape."""
    case = small_case(name, options, horizon)
    stage, worlds = with_transcript(case, 20, replayed=True), dealt(case)
    recorded = simulate_lives(stage.recorded, np.tile(worlds, (2, 1)), case.weather, 9, 0, compiled=False)
    about = (case.method, world, worlds, case.agents, case.horizon, np.zeros(0, int))
    how = {"seed": 9, "replications": 2, "compiled": False}
    plain = simulate_mesh(*about, case.links, **how) if case.links else simulate_star(*about, delay=case.delay, **how)
    for field in plain.opens.dtype.names:
        assert np.array_equal(recorded.opens[field], plain.opens[field]), field
    assert recorded.ledgers.tobytes() == plain.ledgers.tobytes()
    assert recorded.tallies.tobytes() == plain.tallies.tobytes()


class Noting(Agent):
    """A deployed agent that keeps what it was seen to do."""

    def __init__(self, role, p, chance, reach=1.0, holders=1):
        super().__init__(role, p, chance, rehearsal=True, low=-inf, high=inf, reach=reach, holders=holders)
        self.seen = []

    def begin(self, t):
        super().begin(t)
        n = self.plan.entries
        self.seen.append(("choice", t, [int(n), *np.column_stack([self.plan.arm[:n], self.plan.pulls[:n]]).ravel()]))

    def speak(self, t):
        return self.noted("message", t, super().speak(t))

    def greet(self, t):
        return self.noted("card", t, super().greet(t))

    def noted(self, channel, t, said):
        words = np.frombuffer(said or b"", np.int64)
        self.seen.append((channel, t, [len(words), *words]))
        return said


@pytest.mark.parametrize(("name", "options", "horizon"), CASES)
def test_the_transcript_holds_what_a_rehearsed_agent_was_seen_to_do(name, options, horizon):
    case = small_case(name, options, horizon)
    stage, worlds = with_transcript(case), dealt(case)
    about = (case.method, world, worlds, case.agents, case.horizon)
    if case.links is not None:
        agents = rehearse_mesh(*about, case.links, seed=9, make=Noting).agents
    else:
        agents = rehearse_star(*about, seed=9, delay=case.delay, make=Noting).agents
    seen = simulate_lives(stage.recorded, worlds[None], case.weather, 9, 0, compiled=False).opens["audit_seen"][0]
    starts = {channel: [c.channel for c in stage.agent.columns].index(channel) for channel in ("choice", "message", "card")}
    checked = 0
    for agent, own in zip(agents, seen.reshape(case.agents, stage.agent.turns, -1), strict=True):
        for channel, t, words in agent.seen:
            noted = own[t - stage.agent.first][starts[channel] :][: len(words)]
            assert noted.tolist() == words, (channel, t)
            checked += len(words)
    assert checked > 80


def test_the_audits_own_run_differs_from_the_engines_in_the_world_alone():
    import inspect

    for engine in (mesh, pool, star):
        text = inspect.getsource(engine.run)
        assert own_worlds(text, False).replace("worlds[r],", "worlds,") == text and "worlds[r]," in own_worlds(text, False)
    assert "brief(hall.opens[r, number], worlds[r, number * team.size])" in own_worlds(inspect.getsource(star.run), True)


@pytest.mark.parametrize(("name", "kinds"), [("fed-ucb", 7), ("cdp-mab", 6), ("single-mab", 1)])
def test_one_engine_serves_all_kinds_of_fault(name, kinds):
    found = weathers(small_case(name, {}, 24))
    assert len(found) == kinds and len({tuple(flags(weather).values()) for weather in found.values()}) == 1
    calm = found["no faults"]
    assert max(calm.loss, calm.dropout, calm.contamination) <= NEVER and not calm.liar.any() and (calm.away > 24).all()


def test_where_the_noise_needs_every_report_none_is_lost():
    for options in ({"noise": "central"}, {"noise": "secagg", "radius": "subexp"}):
        assert all(weather.loss == weather.dropout == 0 for weather in weathers(small_case("cdp-mab", options, 1000)).values())
