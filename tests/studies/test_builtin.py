"""The built-in studies: they load, say what they ask, hold the pinned values, and run at any size."""

import re
from functools import partial

import pytest

from coterie.engines.simulate import simulate_mesh, simulate_star
from coterie.studies import BUILTIN, builtin_studies, load_study
from coterie.studies import case as case_module

NAMES = sorted(builtin_studies())
FIGURES = [name for name in NAMES if name.startswith("li-song-")]
TINY = [name for name in NAMES if not name.startswith("dubey-")]  # those have a file of their own
QUICK = ("hospitals", "li-song-4", "li-song-7", "li-song-11-1", "li-song-12-homogeneous-ring-peers", "quickstart",
         "suppliers")  # fmt: skip
SHORT = {"hospitals": 300, "suppliers": 60}  # rounds, interpreted: each has many engines

# What the experiments of Li and Song are run with: agents, arms, horizon, price of a server link, price of a peer link
# (None: no such link).
PINNED = {
    "4": (50, 100, 100_000, 25, None),
    "5": (50, 100, 1_000_000, 25, None),
    "6": (50, 100, 1_000_000, 25, None),
    "7": (50, 100, 1_000_000, 25, None),
    "8": (5, 10, 200_000, 25, None),
    "10": (50, 100, 100_000, None, 1),
    "11": (100, 100, 100_000, 50, 1),
    "12": (100, 100, 100_000, 50, 1),
}
SHARES, LIMITS = [0.2, 0.4, 0.6, 0.8, 1.0], [2, 3, 4, 5, 6, 8, 12]


def figure_of(name):
    return name.split("-")[2]


def values(study, key, algorithm=None):
    return [getattr(row.options, key) for row in study.rows if algorithm in (None, row.name)]


@pytest.mark.parametrize("name", NAMES)
def test_a_built_in_study_has_a_title_of_one_line(name):
    title = builtin_studies()[name]
    assert load_study(name).specification.title == title
    assert 20 <= len(title) <= 120 and "\n" not in title


@pytest.mark.parametrize("name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in TINY])
def test_a_built_in_study_resolves_and_runs_at_tiny_size(name, monkeypatch):
    horizon = SHORT.get(name, 3000)
    if name in SHORT:
        monkeypatch.setattr(case_module, "simulate_mesh", partial(simulate_mesh, compiled=False))
        monkeypatch.setattr(case_module, "simulate_star", partial(simulate_star, compiled=False))
    study = load_study(name, [f"horizon={horizon}", "replications=2"])
    result = study.run()
    rows = study.specification.resolved()["algorithm"]
    assert [row["label"] for row in result.summary] == [row["label"] for row in rows]
    assert len({row["label"] for row in rows}) == len(rows)
    for row in result.summary:
        assert row["agents"] == study.specification.problem.agents
        assert (row["horizon"], row["replications"]) == (horizon, 2)
        assert row["regret"]["mean"] > 0 or name not in FIGURES
    assert result.frame().height == 2 * len(rows) * len(result.summary[0]["curve"]["round"])


def test_every_figure_of_the_paper_has_its_studies():
    assert {figure_of(name) for name in FIGURES} == PINNED.keys()
    assert {name.rpartition("-")[2] for name in FIGURES if figure_of(name) == "10"} == {
        "complete",
        "star",
        "ring",
        "random",
    }
    assert {name.rpartition("-")[2] for name in FIGURES if figure_of(name) == "11"} == {
        "1",
        "2",
        "2p",
        "3",
        "4",
        "5",
        "6",
    }
    assert sum(figure_of(name) == "12" for name in FIGURES) == 8  # kind of rewards, of graph, hybrid or peers


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_has_its_pinned_values(name):
    study = load_study(name).specification
    agents, arms, horizon, server, peer = PINNED[figure_of(name)]
    if not name.endswith("-2p"):
        assert study.problem.agents == agents
    assert (study.problem.arms, study.horizon, study.problem.instance) == (arms, horizon, "grid")
    assert server is None or study.network.link_cost.server == server
    assert peer is None or study.network.link_cost.peer == peer
    assert study.replications == 20
    assert set(values(study, "mode")) == {"paper"}
    assert set(values(study, "noise")) == set(values(study, "radius")) == {None}  # as the mode has it
    assert figure_of(name) == "4" or set(values(study, "epsilon")) == {1.0}
    assert study.problem.heterogeneity == ("heterogeneous" in name)


def test_studies_of_one_figure_share_their_seed_so_that_settings_can_be_paired():
    seeds = {
        figure: {load_study(name).specification.seed for name in FIGURES if figure_of(name) == figure} for figure in PINNED
    }
    assert all(len(found) == 1 for found in seeds.values())


def test_the_swept_values_are_those_of_the_figures():
    studies = {figure: load_study(f"li-song-{figure}").specification for figure in "4567"}
    assert values(studies["4"], "epsilon") == [0.1, 0.3, 0.5, 1.0, float("inf")]
    assert values(studies["5"], "participation") == SHARES
    assert values(studies["6"], "rounds") == [*LIMITS, None]
    assert values(studies["6"], "gap") == ["true"] * 7 + [None]
    pairs = list(zip(values(studies["7"], "rounds"), values(studies["7"], "participation"), strict=True))
    assert pairs == [(limit, share) for limit in [*LIMITS, None] for share in SHARES]
    assert values(studies["7"], "gap") == ["true"] * 35 + [None] * 5


def test_the_networks_are_those_of_the_figures():
    networks = {name: load_study(name).specification.network for name in FIGURES}
    cases = {
        "1": ("complete", (20,) * 5),
        "2": ("complete", (53, 24, 10, 6, 7)),
        "2p": ("complete", (63, 24, 10, 6, 7)),
        "3": ("complete", (100,)),
        "4": ("erdos-renyi", (20,) * 5),
        "5": ("star", (20,) * 5),
        "6": ("complete", (1,) * 100),
    }
    for case, wanted in cases.items():
        network = networks[f"li-song-11-{case}"]
        assert (network.graph, network.components) == wanted
    for name, network in networks.items():
        family = {"random": "erdos-renyi", "ring": "ring", "star": "star", "complete": "complete"}
        found = [family[word] for word in name.split("-") if word in family]
        assert not found or network.graph == found[0]
        assert network.probability is None  # the default law, 2 ln(M) / M
        if figure_of(name) == "12":
            assert network.components == ((20,) * 5 if name.endswith("hybrid") else None)


def test_the_algorithms_are_those_of_the_figures():
    wanted = {
        "4": {"cdp-mab"},
        "5": {"cdp-mab"},
        "6": {"cdp-mab"},
        "7": {"cdp-mab"},
        "8": {"cdp-mab", "single-mab"},
        "10": {"cdp-mab", "ddp-mab"},
        "11": {"hdp-mab"},
    }
    for name in FIGURES:
        found = {row.name for row in load_study(name).specification.rows}
        if name == "li-song-11-3":
            assert found == {"hdp-mab", "ddp-mab"}
        elif figure_of(name) == "12":
            assert found == {"cdp-mab", "hdp-mab" if name.endswith("hybrid") else "ddp-mab"}
        else:
            assert found == wanted[figure_of(name)]


def test_no_text_of_a_study_claims_what_does_not_hold():
    """Such as: a few rounds are as good as no limit; epsilon = 1 is no privacy; stars are cheaper; p^(-3/2)."""
    claims = "nearly|as good as|non-?private|no privacy|3/2|without modification|cheap|optimal"
    for path in BUILTIN.glob("li-song-*.toml"):
        assert not re.search(claims, path.read_text(), re.IGNORECASE), path.name
