"""What a study may not ask of the elimination family, and what it is warned about."""

import numpy as np
import pytest

from coterie.errors import UsageError
from coterie.privacy.statement import statement
from coterie.studies import load_study
from coterie.studies.case import make_case
from coterie.studies.running import check_rows

GRID = {"instance": "grid", "agents": 10, "arms": 10}


def study(name="cdp-mab", problem=None, network=None, horizon=1000, **options):
    return load_study(
        {
            "horizon": horizon,
            "replications": 1,
            "problem": problem or GRID,
            "network": network or {},
            "algorithm": [{"name": name, **options}],
        }
    ).specification


def case(**options):
    about = study(**options)
    return make_case(about, about.rows[0], 0)


# --- combinations without meaning -----------------------------------------------------------------------


BAD = [
    (
        {"noise": "secagg", "radius": "printed"},
        "radius must be joint, chernoff or subexp with noise = 'secagg', got 'printed'",
    ),
    ({"noise": "central", "mode": "paper"}, "radius must be joint, chernoff or subexp with noise = 'central', got 'printed'"),
    (
        {"radius": "joint", "aggregation": "median"},
        "radius must be chernoff or subexp where reports count differently or old ones again, got 'joint'",
    ),
    (
        {"radius": "joint", "participation": 0.5, "rotation": True},
        "radius must be chernoff or subexp where reports count differently or old ones again, got 'joint'",
    ),
    ({"noise": "central", "participation": 0.5}, "participation must be 1 with noise = 'central', got 0.5"),
    (
        {"noise": "secagg", "aggregation": "median"},
        "aggregation must be mean with noise = 'secagg' (nobody sees single reports), got 'median'",
    ),
    (
        {"liars_assumed": 0.1},
        "liars_assumed must be 0 with aggregation = 'mean' (one liar moves a mean anywhere), got 0.1",
    ),
    ({"aggregation": "trimmed"}, "liars_assumed must be a number > 0 and < 0.5 with aggregation = 'trimmed', got 0"),
    ({"aggregation": "median", "participation": 0.5}, "participation must be 1 with aggregation = 'median', got 0.5"),
    ({"gap": 0.1}, "gap is used only together with rounds, got gap = 0.1 without rounds"),
    ({"gap": "true"}, "gap is used only together with rounds, got gap = 'true' without rounds"),
    (
        {"participation": 0.2, "rotation": True, "rounds": 4},
        "rounds must be a whole number >= 5 (one turn of all agents), got 4",
    ),
]


@pytest.mark.parametrize("options, text", BAD, ids=str)
def test_options_that_exclude_each_other_are_refused_before_anything_runs(options, text):
    about = study(**options)
    with pytest.raises(UsageError) as caught:
        check_rows(about)
    assert str(caught.value) == f"study: {about.rows[0].label}: {text}"


EPSILON = "must be a number in [1e-06, 1e+06] or inf (inf: no privacy)"
OUT_OF_RANGE = [
    ("cdp-mab", {"epsilon": 0}, f"epsilon of cdp-mab {EPSILON}, got 0"),
    ("cdp-mab", {"epsilon": float("nan")}, f"epsilon of cdp-mab {EPSILON}, got NaN"),
    ("cdp-mab", {"epsilon": "1"}, f"epsilon of cdp-mab {EPSILON}, got '1' (text)"),
    (
        "cdp-mab", {"participation": 0},
        "participation of cdp-mab must be a number in (0, 1] (share of agents that report in an epoch), got 0",
    ),
    (
        "cdp-mab", {"participation": 1.5},
        "participation of cdp-mab must be a number in (0, 1] (share of agents that report in an epoch), got 1.5",
    ),
    ("cdp-mab", {"rounds": 0},
     "rounds of cdp-mab must be a whole number in [1, 1000000000000] (most rounds of communication), got 0"),
    (
        "cdp-mab", {"rounds": 2, "gap": 1.0},
        "gap of cdp-mab must be 'true' or a number in [1e-06, 1) (between the best two arms), got 1.0",
    ),
    (
        "cdp-mab",
        {"aggregation": "median", "liars_assumed": 0.5},
        "liars_assumed of cdp-mab must be a number in [0, 0.5) (share of reports that may be lies), got 0.5",
    ),
    (
        "ddp-mab", {"noise": "secagg"},
        "noise of ddp-mab must be 'paper', 'local' or 'none' (who adds how much of it), got 'secagg'",
    ),
    (
        "hdp-mab", {"noise": "central"},
        "noise of hdp-mab must be 'paper', 'local' or 'none' (who adds how much of it), got 'central'",
    ),
    (
        "hdp-mab", {"weighting": "sizes"},
        "weighting of hdp-mab must be 'agents' or 'components' (what counts alike in the mean), got 'sizes'",
    ),
]


@pytest.mark.parametrize("name, options, text", OUT_OF_RANGE, ids=str)
def test_a_value_out_of_range_is_named_with_its_range(name, options, text):
    with pytest.raises(UsageError) as caught:
        study(name, **options)
    assert str(caught.value) == f"study: algorithm[0].{text}"


@pytest.mark.parametrize(
    "name, key",
    [("single-mab", "participation"), ("hdp-mab", "aggregation"), ("cdp-mab", "weighting"), ("ddp-mab", "rotation")],
)
def test_a_key_of_another_structure_is_unknown(name, key):
    with pytest.raises(UsageError, match=rf"^study: unknown key '{key}' in algorithm\[0\] \({name}\); "):
        study(name, **{key: 1})


def test_peers_need_a_connected_graph():
    about = study("ddp-mab", network={"components": [5, 5]})
    with pytest.raises(UsageError) as caught:
        check_rows(about)
    found = "{0, 1, 2, 3, 4}, {5, 6, 7, 8, 9}"
    assert str(caught.value) == f"study: ddp-mab: graph must be connected, got 2 components: {found}"


# --- warnings -----------------------------------------------------------------------------------------------


DIFFERENT = {**GRID, "heterogeneity": 1.0}
PARTIAL = (
    "participation < 1 is sound for homogeneous rewards only: the mean of those drawn differs from the mean of all by "
    "an amount the radius does not cover; set rotation = true"
)
UNWEIGHTED = "weighting = 'components' is for comparison only: no radius is valid for unequal weights"
MIDDLE = "aggregation = 'median' estimates the middle of the agents' means, which differs from their mean"
UNBOUNDED = "rewards are unbounded: no finite noise is a guarantee; give problem.clip = [low, high]"


def printed_for(reporters):
    needs = f"the printed radius needs ln(8 K r^2 T) < N = {reporters} to be a valid bound"
    return f"{needs}; radius = 'chernoff' always is one"


WARNED = [
    ({"participation": 0.5, "problem": DIFFERENT}, PARTIAL),
    ({"name": "hdp-mab", "weighting": "components", "network": {"components": [3, 7]}}, UNWEIGHTED),
    ({"mode": "paper"}, printed_for(10)),
    ({"radius": "printed"}, printed_for(10)),
    ({"mode": "paper", "participation": 0.5, "problem": {**GRID, "agents": 20}}, printed_for(10)),
    ({"name": "single-mab", "mode": "paper", "problem": {**GRID, "agents": 50}}, printed_for(1)),
    ({"aggregation": "median", "problem": DIFFERENT}, MIDDLE),
    ({"problem": {**GRID, "kind": "gaussian"}}, UNBOUNDED),
]


@pytest.mark.parametrize("options, text", WARNED, ids=str)
def test_what_is_not_sound_is_warned_about(options, text):
    assert case(**options).method.warnings == (text,)


SOUND = [
    {"participation": 0.5},
    {"participation": 0.5, "rotation": True, "problem": DIFFERENT},
    {"name": "hdp-mab", "network": {"components": [3, 7]}},
    {"mode": "paper", "problem": {**GRID, "agents": 50}},
    {"mode": "paper", "radius": "chernoff"},
    {"mode": "paper", "epsilon": float("inf")},
    {"aggregation": "median"},
    {"problem": {**GRID, "kind": "gaussian", "clip": [0.0, 1.0]}},
    {"problem": DIFFERENT},
]


@pytest.mark.parametrize("options", SOUND, ids=str)
def test_what_is_sound_is_not_warned_about(options):
    assert case(**options).method.warnings == ()


@pytest.mark.parametrize("beyond", [False, True])
def test_the_printed_radius_is_warned_about_where_its_logarithm_reaches_the_number_of_agents(beyond):
    """ln(8 * 10 * T) reaches 12 at T = e^12 / 80."""
    horizon = int(np.exp(12) / 80) + beyond
    assert bool(case(mode="paper", problem={**GRID, "agents": 12}, horizon=horizon).method.warnings) == beyond


def test_warnings_reach_the_summary():
    row = (
        load_study(
            {
                "horizon": 1000,
                "replications": 1,
                "problem": GRID,
                "algorithm": [{"name": "cdp-mab", "mode": "paper"}],
            }
        )
        .run()
        .summary[0]
    )
    assert row["warnings"] == [printed_for(10)]


def test_unbounded_rewards_are_never_called_private():
    unbounded = case(problem={**GRID, "kind": "gaussian"})
    said = statement(unbounded.method.claim, unbounded.doors, 1.0)
    assert said["private"] is False
    assert said["accounted"]["epsilon"] is None
    assert "rewards are not bounded" in said["note"]
    clipped = case(problem={**GRID, "kind": "gaussian", "clip": [0.0, 1.0]})
    assert statement(clipped.method.claim, clipped.doors, 1.0)["private"] is True
