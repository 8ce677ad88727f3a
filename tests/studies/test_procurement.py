"""Studies of procurement: suppliers from three sources, one line for bad ones, and what a row tells beyond its regret."""

from functools import partial

import numpy as np
import pytest

from coterie.engines.simulate import simulate_mesh
from coterie.errors import UsageError
from coterie.studies import case, load_study
from coterie.studies.case import make_case
from coterie.studies.procurement import suppliers_of

FIXED = {"quality": [0.9, 0.6, 0.3], "cost": [[0.2, 0.3, 0.1], [0.5, 0.1, 0.2]], "capacity": [[5, 4, 3], [2, 0, 9]]}


def study(*rows, horizon=60, replications=2, seed=0, **problem):
    tables = [{"name": "nf-cb"}] if not rows else list(rows)
    about = {"kind": "procurement", **problem}
    return {"horizon": horizon, "replications": replications, "seed": seed, "problem": about, "algorithm": tables}


def specified(**problem):
    return load_study(study(**problem)).specification


# --- where suppliers come from ----------------------------------------------------------------------------


def test_suppliers_written_out_tell_how_many_there_are():
    problem = specified(**FIXED).problem
    assert (problem.agents, problem.producers, problem.arms, problem.alpha, problem.rho) == (2, 3, 3, 0.4, 1.0)
    found = suppliers_of(problem, 0, 0)
    assert found.quality.tolist() == FIXED["quality"]
    assert found.capacity.tolist() == FIXED["capacity"]
    one_row = specified(agents=4, quality=[0.9, 0.8], cost=[0.1, 0.2], capacity=[3, 3]).problem
    assert suppliers_of(one_row, 0, 0).cost.shape == (4, 2)


def test_a_table_beside_the_study_names_agents_and_producers(tmp_path):
    (tmp_path / "table.csv").write_text(
        "agent,producer,cost,capacity,quality\nnorth,elm,0.2,5,0.9\nnorth,oak,0.3,4,0.6\nsouth,oak,0.1,7,\n"
    )
    file = tmp_path / "study.toml"
    file.write_text('horizon = 9\n[problem]\nkind = "procurement"\nfile = "table.csv"\n[[algorithm]]\nname = "nf-cb"\n')
    read = load_study(file).specification
    assert (read.problem.agents, read.problem.producers) == (2, 2)
    written = read.resolved()["problem"]
    assert (written["file"], list(written["agent_names"])) == ("table.csv", ["north", "south"])
    moved = tmp_path / "elsewhere"
    moved.mkdir()
    (moved / "same.csv").write_text((tmp_path / "table.csv").read_text())
    (moved / "study.toml").write_text(file.read_text().replace("table.csv", "same.csv"))
    assert load_study(moved / "study.toml").specification.digest == read.digest
    (moved / "same.csv").write_text((tmp_path / "table.csv").read_text().replace("0.1,7", "0.1,8"))
    assert load_study(moved / "study.toml").specification.digest != read.digest


def test_replications_go_round_the_instances_and_all_rows_meet_the_same():
    read = load_study(study({"name": "nf-cb"}, {"name": "fcb"}, agents=2, producers=3, alpha=0.1, instances=2)).specification
    worlds = [make_case(read, row, replication).worlds.tobytes() for row in read.rows for replication in range(4)]
    assert worlds[:4] == worlds[4:]
    assert worlds[0] == worlds[2] != worlds[1] == worlds[3]


def test_the_first_agents_of_a_larger_draw_are_the_same():
    few, many = (suppliers_of(specified(agents=n, agents_drawn=9, producers=4, alpha=0.1).problem, 0, 0) for n in (2, 9))
    assert np.array_equal(few.cost, many.cost[:2])
    assert np.array_equal(few.quality, many.quality)


def test_suppliers_are_drawn_as_the_study_says():
    alike = suppliers_of(specified(agents=5, producers=4, homogeneous=True, alpha=0.1).problem, 0, 0)
    assert (alike.cost == alike.cost[0]).all()
    narrow = suppliers_of(specified(agents=5, producers=200, distribution="normal", sd=0.01).problem, 0, 0)
    assert np.abs(narrow.quality - 0.4).max() < 0.06


# --- what is refused --------------------------------------------------------------------------------------

REFUSED = {
    "negative capacity": (FIXED | {"capacity": [[5, 4, 3], [2, -1, 9]]}, "capacity[1][1] must be a whole number >= 0, got -1"),
    "half a unit": (FIXED | {"capacity": [5, 2.5, 1]}, "capacity[1] must be a whole number >= 0, got 2.5"),
    "cost above one": (FIXED | {"cost": [0.1, 1.2, 0.3]}, "cost[1] must be a number in [0, 1], got 1.2"),
    "quality below zero": (FIXED | {"quality": [0.9, -0.1, 0.3]}, "quality[1] must be a number in [0, 1], got -0.1"),
    "ragged": (FIXED | {"cost": [[0.1, 0.2, 0.3], [0.1, 0.2]]}, "cost must have rows of equal length, got rows that differ"),
    "too few producers": (
        FIXED | {"cost": [0.1, 0.2]},
        "cost must have 3 entries per row, one for each of problem.quality, got 2",
    ),
    "out of reach": (FIXED | {"alpha": 0.95}, "alpha must be <= 0.9, the best average quality that agent 0 can buy, got 0.95"),
    "nothing on offer": (
        FIXED | {"capacity": [[1, 1, 1], [0, 0, 2]]},
        "alpha must be <= 0.3, the best average quality that agent 1 can buy, got 0.4",
    ),
    "half written out": ({"quality": [0.9, 0.8], "agents": 2}, "cost must be given beside quality, got nothing"),
    "two sources": (
        FIXED | {"distribution": "uniform"},
        " must have at most one of distribution, quality and file, got distribution and quality",
    ),
    "wrong number": (FIXED | {"agents": 3}, "cost must have 1 row or 3, one for each agent, got 2"),
    "no revenue": ({"agents": 2, "producers": 3, "rho": 0}, "rho must be a finite number in [1e-06, 1000000], got 0"),
    "instances of fixed suppliers": (
        FIXED | {"instances": 3},
        "instances must be left out where suppliers are not drawn, got 3",
    ),
    "too few drawn": (
        {"agents": 5, "producers": 3, "agents_drawn": 4},
        "agents_drawn must be at least the number of agents, 5, got 4",
    ),
    "unknown key": ({"agents": 2, "producers": 3, "alfa": 0.3}, "unknown key 'alfa' in problem; did you mean 'alpha'?"),
}  # fmt: skip


@pytest.mark.parametrize(("problem", "line"), REFUSED.values(), ids=REFUSED)
def test_bad_suppliers_are_refused_in_one_line(problem, line):
    with pytest.raises(UsageError) as refused:
        load_study(study(**problem))
    prefix = "study: " if line.startswith("unknown") else "study: problem" if line.startswith(" ") else "study: problem."
    assert str(refused.value) == prefix + line


def test_an_alpha_that_some_drawn_agent_cannot_meet_is_refused_before_anything_runs():
    drawn = study(agents=3, producers=2, alpha=0.9, replications=50)
    with pytest.raises(UsageError, match=r"problem\.alpha must be <= 0\.\d+, the best average quality that agent 0 can buy"):
        load_study(drawn).run()


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"delta": -0.1}, "delta of p-fcb must be a number in [0, 1) (0: Laplace noise), got -0.1"),
        ({"delta": 1.0}, "delta of p-fcb must be a number in [0, 1) (0: Laplace noise), got 1.0"),
        ({"epsilon": 0}, "epsilon of p-fcb must be a number in [1e-06, 1e+06] or inf (inf: no privacy), got 0"),
        ({"omega2": -1.0}, "omega2 of p-fcb must be a number in [0, 1000000] (how often an accepted message counts), got -1.0"),
        (
            {"learning": "guess"},
            "learning of p-fcb must be 'check', 'invvar', 'naive' or 'echo' (what is made of a message), got 'guess'",
        ),
        ({"window": [0, 10]}, "window[0] of p-fcb must be a whole number in [1, 1000000000000], got 0"),
        (
            {"exploration": 0},
            "exploration of p-fcb must be 'common', 'own' or a whole number in [1, 1000000000000] "
            "(rounds, or whose xi is), got 0",
        ),
    ],
)
def test_bad_options_are_refused_in_one_line(options, line):
    with pytest.raises(UsageError) as refused:
        load_study(study({"name": "p-fcb", **options}, **FIXED))
    assert str(refused.value) == f"study: algorithm[0].{line}"


def test_an_epsilon_beyond_the_formula_of_the_paper_is_refused():
    with pytest.raises(UsageError, match=r"epsilon must be < .* for the paper's noise at horizon 60: .*, got 9$"):
        load_study(study({"name": "p-fcb", "mode": "paper", "epsilon": 9.0}, **FIXED)).run()


# --- what a row tells -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rows():
    """Interpreted."""
    tables = [{"name": "nf-cb"}, {"name": "fcb"}, {"name": "p-fcb", "window": [8, 64]}]
    fixed = {"quality": [0.9, 0.6, 0.35], "cost": FIXED["cost"], "capacity": [[5, 4, 9], [2, 0, 9]], "alpha": 0.5, "rho": 2.0}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(case, "simulate_mesh", partial(simulate_mesh, compiled=False))
        return load_study(study(*tables, horizon=400, replications=2, **fixed)).run().summary


def test_a_row_tells_violations_and_regret_after_the_exploration(rows):
    for row in rows:
        about = row["procurement"]
        assert row["best_arm_rate"] is None
        assert about["violations"]["mean"] == pytest.approx(np.mean(about["by_agent"]["violations"]))
        assert row["extra"]["violations"] == pytest.approx(2 * about["violations"]["mean"])
        assert row["extra"]["regret_after_exploration"] == pytest.approx(sum(about["by_agent"]["regret_after"]))
        assert 0 < about["regret_after"]["mean"] < row["regret_per_agent"]["mean"]


def test_a_row_tells_what_was_bought(rows):
    """Agent 1 cannot buy of producer 1; no order brings more than the best one unless it is not good enough."""
    for row in rows:
        orders, by_agent = row["procurement"]["orders"], row["procurement"]["by_agent"]
        assert orders["mean"][1][1] == orders["best"][1][1] == 0
        assert (np.array(orders["mean"]) <= np.array(orders["capacity"])).all()
        assert all(0.35 <= quality <= 0.9 for quality in by_agent["quality"])
        for agent in range(2):
            units, cost = np.array(orders["best"][agent]), np.array(FIXED["cost"][agent])
            assert by_agent["best_revenue"][agent] == pytest.approx(units @ (2.0 * np.array(orders["quality"]) - cost))


def test_rows_are_compared_replication_by_replication(rows):
    alone, pooled = rows[0], rows[1]
    found = pooled["procurement"]["against"][alone["label"]]["whole"]
    assert found["of_means"] == pytest.approx(pooled["regret"]["mean"] / alone["regret"]["mean"])
    assert set(alone["procurement"]["against"]) == {row["label"] for row in rows[1:]}


def test_a_row_tells_how_much_was_learned(rows):
    assert rows[0]["procurement"]["learned"]["by_agent"] == [0.0, 0.0]
    assert min(rows[1]["procurement"]["learned"]["by_agent"]) > 0
    assert rows[1]["communication"]["rounds"] == 400
    assert rows[2]["communication"]["rounds"] == rows[2]["extra"]["exchanges"] == 4
