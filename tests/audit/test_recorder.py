"""A recorded run is the run itself, with fixed rewards and a true transcript."""

import numpy as np
import pytest

from coterie.audit.dealing import deal
from coterie.audit.replay import live
from coterie.audit.stage import AGENTS, Canary, set_stage
from coterie.engines.rehearsal import rehearse_mesh, rehearse_star
from coterie.kernel import UNIT, one, record
from coterie.problem import bernoulli

CASES = [("fed-ucb", {}), ("cdp-mab", {}), ("ddp-mab", {})]
ZEROS = Canary(-1, 0, 0)


def nothing_but_zeros(case):
    return case._replace(worlds=bernoulli.world(np.zeros((1, 2))))


@pytest.mark.parametrize(("name", "options"), CASES)
def test_a_recorded_run_ends_in_the_bytes_of_the_run_itself(name, options):
    """All rewards 0: the same are drawn from means of 0."""
    stage = set_stage(name, options)
    recorded, method = stage.play(ZEROS, 0, 9, 0, 3), stage.case.method._replace(folds=False)
    plain = nothing_but_zeros(stage.case)._replace(method=method).simulate(9, 0, 3)
    for field in plain.opens.dtype.names:
        assert np.array_equal(recorded.opens[field], plain.opens[field]), field
    assert recorded.ledgers.tobytes() == plain.ledgers.tobytes()
    assert recorded.tallies.tobytes() == plain.tallies.tobytes()


@pytest.mark.parametrize(("name", "options"), CASES)
def test_the_transcript_holds_what_a_rehearsed_agent_was_seen_to_do(name, options):
    stage = set_stage(name, options)
    case = nothing_but_zeros(stage.case)
    about = (case.method, case.problem, case.worlds, case.agents, case.horizon)
    if case.links is not None:
        tape = live(lambda make: rehearse_mesh(*about, case.links, seed=9, make=make))[0].tape
    else:
        tape = live(lambda make: rehearse_star(*about, seed=9, delay=case.delay, make=make))[0].tape
    seen = stage.play(ZEROS, 0, 9, 0, 1).opens["audit_seen"][0, 0].reshape(stage.agent.turns, -1)
    at = {(column.channel, column.word): j for j, column in enumerate(stage.agent.columns)}
    start = {channel: at[channel, "words"] for channel in ("message", "card")}
    checked = 0
    for call, arguments, _, (plan, answer, _) in tape:
        turn = seen[arguments[0] - stage.agent.first] if call in ("begin", "speak", "greet") else None
        if call == "begin":
            assert turn[: 2 + 2 * len(plan[0])].tolist() == [len(plan[0]), plan[2], *np.column_stack(plan[:2]).ravel()]
        elif turn is not None:
            begin = start["message" if call == "speak" else "card"]
            words = np.frombuffer(answer or b"", np.int64)
            assert turn[begin] == len(words)
            assert turn[begin + 1 : begin + 1 + len(words)].tolist() == words.tolist()
            checked += len(words)
    assert checked > 0


@pytest.mark.parametrize("rest", [0, 1])
@pytest.mark.parametrize("cuts", [(10,), (1,) * 10, (3, 1, 4, 2)])
def test_rewards_are_dealt_alike_however_the_pulls_are_cut(rest, cuts):
    fields = dict.fromkeys(("audit_arm", "audit_number", "audit_value", "audit_rest"), np.int64)
    for number in range(1, 11):
        for value in (0, 1):
            open = one(record(**fields, audit_pulls=(np.int64, 4)))
            open.audit_arm, open.audit_number, open.audit_value, open.audit_rest = 1, number, value, rest
            expected = [rest * (n % 2) if n != number else value for n in range(1, 11)]
            dealt = [deal(open, 1, pulls) for pulls in cuts]
            assert dealt == [UNIT * sum(part) for part in np.split(expected, np.cumsum(cuts)[:-1])]
            assert deal(open, 0, 4) == 2 * rest * UNIT


def test_only_agent_0_has_a_canary():
    played = set_stage("fed-ucb", {}).play(Canary(1, 3, 1), 1, 3, 0, 2).opens
    assert played["audit_arm"].tolist() == 2 * [[1, *[-1] * (AGENTS - 1)]]
    assert (played["audit_rest"] == 1).all() and (played["audit_pulls"].sum(axis=2) == 24 + 2).all()
