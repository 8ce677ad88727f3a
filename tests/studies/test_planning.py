"""Forecasts are those of the rows themselves, on the same instances; what is chosen, shortened, scaled and searched for."""

from functools import partial
from math import inf
from types import SimpleNamespace

import numpy as np
import pytest

from coterie.engines.simulate import simulate_mesh, simulate_star
from coterie.studies import case, load_study, planning
from coterie.studies.guess import ALONE, Choice, Guess
from coterie.studies.planning import CLOSE, EPSILONS, LEAST, LONERS, MOST, Forecast, Plan, Size, at_round, first_true

SMALL = Guess(agents=6, arms=3, horizon=60, epsilon=1.0, gap=0.2)
POOLED, PEERS = Choice("pooled-ucb"), Choice("peer-ucb")


@pytest.fixture(autouse=True, scope="module")
def interpreted():
    """Few runs of a few rounds: not worth a compiler."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(case, "simulate_star", partial(simulate_star, compiled=False))
        patch.setattr(case, "simulate_mesh", partial(simulate_mesh, compiled=False))
        patch.setattr(planning, "RUNS", 2)
        patch.setattr(planning, "FEW", 2)
        yield


@pytest.fixture(scope="module")
def plan():
    return Plan(SMALL)


def with_seconds(monkeypatch, per_round):
    """Rows that are thought to take so long."""
    monkeypatch.setattr(planning, "estimate_row", lambda study, row: SimpleNamespace(seconds=per_round * study.horizon))


# --- forecasts


def test_a_forecast_is_what_a_study_of_the_row_gives(plan):
    table = SMALL.tables | {"replications": 2, "seed": 0, "algorithm": [{"name": "pooled-ucb", "epsilon": 1.0}]}
    result = load_study(table).run()
    found = plan.rows[0]
    assert found.choice == POOLED and found.regret.tolist() == at_round(result.frame(), 60).tolist()
    assert found.messages == result.summary[0]["communication"]["messages"]
    assert found.floor == result.summary[0]["floor"]
    assert found.total == pytest.approx(result.summary[0]["regret"]["mean"])


def test_all_rows_meet_the_same_instances_and_each_alone_stands_for_all(plan):
    tables = [[{"name": "pooled-ucb"}], [{"name": "solo-ucb"}]]
    one, other = (plan.study(rows, Size(agents, 60, 2)).specification for rows, agents in zip(tables, (6, LONERS), strict=True))
    for run in range(2):
        assert np.array_equal(*(case.make_case(study, study.rows[0], run).quality for study in (one, other)))
    whole = at_round(load_study(SMALL.tables | {
        "replications": 2, "problem": SMALL.tables["problem"] | {"agents": LONERS}, "algorithm": [ALONE.table(inf)],
    }).run().frame(), 60)  # fmt: skip
    assert plan.alone[0].regret == pytest.approx(whole * 6 / LONERS)
    assert plan.alone[0].messages == 0


def test_liars_count_neither_together_nor_alone():
    plan = Plan(Guess(agents=10, arms=3, horizon=30, epsilon=1.0, gap=0.2, liars=0.2))
    plain = Plan(Guess(agents=10, arms=3, horizon=30, epsilon=1.0, gap=0.2))
    assert plan.alone[0].regret == pytest.approx(0.8 * plain.alone[0].regret)
    assert plan.rows[0].regret.max() <= 8 * 30 * 0.6


def test_messages_are_part_of_the_sum():
    dear = Plan(Guess(agents=6, arms=3, horizon=60, epsilon=1.0, gap=0.2, message_cost=100.0))
    for row in dear.rows:
        assert row.total == pytest.approx(row.regret.mean() + 100.0 * row.messages)
    assert dear.recommended is dear.alone[0]
    assert dear.pays_state == "never"


def test_a_row_that_takes_too_long_is_shortened_by_its_last_decade(monkeypatch):
    guess = Guess(agents=3, arms=2, horizon=1000, epsilon=3.0, gap=0.2, server=False)
    with_seconds(monkeypatch, 0.1)
    found = Plan(guess).simulated([(PEERS, 3.0)])[0]
    table = guess.tables | {"replications": 2, "seed": 0, "horizon": 100, "algorithm": [PEERS.table(3.0)]}
    result = load_study(table).run()
    curves = result.frame()
    assert found.shortened
    assert found.regret == pytest.approx(2 * at_round(curves, 100) - at_round(curves, 10))
    assert found.messages == pytest.approx(1.5 * result.summary[0]["communication"]["messages"])


@pytest.mark.parametrize(("per_round", "size"), [(0.01, Size(6, 60, 96)), (0.1, Size(6, 60, 16)), (1.0, None)])
def test_what_takes_long_has_fewer_instances_and_then_none(monkeypatch, per_round, size):
    monkeypatch.setattr(planning, "RUNS", 96)
    monkeypatch.setattr(planning, "FEW", 16)
    with_seconds(monkeypatch, per_round)
    assert Plan(SMALL).size(POOLED, 1.0) == size


def test_others_and_what_is_still_too_long_have_no_forecast(monkeypatch):
    with_seconds(monkeypatch, 10.0)
    plan = Plan(Guess(agents=6, arms=3, horizon=60, epsilon=1.0, gap=0.2, server=False))
    assert [row.regret for row in plan.rows] == [None] * 3
    assert plan.together.choice == plan.recommended.choice == PEERS
    found = plan.document()
    assert found["pays_from"] == {"epsilon": None, "state": "unknown"} and found["floor"] is None
    assert {row["total"] for row in (*found["rows"], *found["prices"])} == {None}
    assert plan.estimate().seconds == 0.0


def test_the_interval_holds_four_of_five_further_instances():
    """Of n numbers in order, a further one is below the k-th with probability k / (n + 1)."""
    regret = Forecast(POOLED, 1.0, np.arange(1.0, 17.0), 0.0, 8.5).document()["regret"]
    assert regret == {"mean": 8.5, "low": pytest.approx(1.7), "high": pytest.approx(15.3)}


# --- what is made of them


def test_the_document_has_everything_and_its_study_runs(plan):
    found = plan.document()
    assert [row["row"]["epsilon"] for row in found["prices"]] == [*EPSILONS[:-1], None]
    assert found["alone"]["unseen"]["row"] == {"name": "solo-ucb", "epsilon": None}
    assert found["alone"]["seen"]["row"] == {"name": "solo-ucb", "epsilon": 1.0}
    for row in found["rows"]:
        assert row["regret"]["low"] <= row["regret"]["mean"] <= row["regret"]["high"]
    assert found["floor"]["kind"] == "private"
    assert found["floor"]["regret"] == pytest.approx(found["floor"]["constant"] * np.log(6 * 60))
    assert plan.estimate().seconds > 0


@pytest.mark.parametrize(
    ("totals", "alone", "chosen"),
    [
        ((100, 95), 200, "pooled-ucb"),
        ((100, 80), 200, "cdp-mab"),
        ((100, 95), 99, "solo-ucb"),
        ((100, 80), 79, "solo-ucb"),
        ((100, 80), 81, "cdp-mab"),
        ((inf, 80), 200, "cdp-mab"),
        ((inf, inf), 200, "pooled-ucb"),
    ],
)
def test_the_usual_row_is_recommended_unless_another_is_clearly_cheaper_or_each_alone_is(totals, alone, chosen):
    plan = Plan(SMALL)
    names = (POOLED, Choice("cdp-mab"))
    plan.known = {(choice, 1.0): Forecast(choice, 1.0, total=total) for choice, total in zip(names, totals, strict=True)}
    plan.known |= {(ALONE, epsilon): Forecast(ALONE, epsilon, total=alone) for epsilon in (1.0, inf)}
    assert plan.recommended.choice.name == chosen


def test_every_pair_is_simulated_once(plan, monkeypatch):
    plan.document()
    known, asked = dict(plan.known), []
    monkeypatch.setattr(planning.Plan, "study", lambda *given: asked.append(given))
    wanted = [(POOLED, 1.0), (ALONE, inf), *((POOLED, epsilon) for epsilon in EPSILONS)]
    assert [id(known[pair]) for pair in wanted] == [id(found) for found in plan.simulated(wanted)]
    assert asked == []


def test_agents_that_differ_have_a_floor_without_privacy_only():
    plan = Plan(Guess(agents=4, arms=2, horizon=30, epsilon=1.0, gap=0.2, unlike=True))
    assert plan.together.floor is None
    assert plan.floor[0]["kind"] == "unlike"


def test_the_closed_form_takes_first_batches_and_noise_from_the_row():
    large = Guess(agents=400, arms=5, horizon=5000, epsilon=0.2, gap=0.08)
    local, shared = (Plan(large).climb(Choice("pooled-ucb", ("noise", noise)), 0.2) for noise in ("local", "secagg"))
    assert (local.first, local.crowd, local.draws) == (23, 80, 80)
    assert (shared.first, shared.crowd) == (1, 80) and 1 <= shared.draws <= 1.2
    together = Plan(Guess(**vars(large) | {"unlike": True})).climb(POOLED, 0.2)
    assert (together.crowd, together.draws) == (400, 400)
    alone = Plan(large).climb(ALONE, inf)
    assert alone[:5] == (5000, inf, 1, 1, 0)


def test_more_agents_pay_off_at_smaller_epsilons_in_closed_form_too():
    few, many = (Plan(Guess(agents, 10, 100_000, 1.0, 0.05)) for agents in (3, 30))
    for plan in (few, many):
        alone = plan.closed_form(ALONE, inf)
        plan.crossing = first_true(lambda epsilon, plan=plan, alone=alone: plan.closed_form(POOLED, epsilon) <= alone, 1.0)
    assert many.crossing < few.crossing < 2


# --- the search


@pytest.mark.parametrize("start", [LEAST, 0.01, 1.0, 7.0, MOST])
@pytest.mark.parametrize("edge", [0.002, 0.0449, 0.44, 1.0, 60.0])
def test_the_search_ends_within_its_factor_of_the_edge_wherever_it_begins(start, edge):
    found = first_true(lambda epsilon: epsilon >= edge, start)
    assert 1 / CLOSE < found / edge < CLOSE


@pytest.mark.parametrize("start", [LEAST, 1.0, MOST])
def test_the_search_knows_always_and_never(start):
    assert first_true(lambda epsilon: True, start) == 0.0
    assert first_true(lambda epsilon: False, start) == inf


def test_an_interval_holds_its_mean():
    """Of elimination nine instances in ten may cost the same, and the tenth much more."""
    told = Forecast(Choice("cdp-mab"), 1.0, np.array([10.0] * 95 + [500.0] * 5)).document()["regret"]
    assert told == {"mean": 34.5, "low": 10.0, "high": 34.5}
