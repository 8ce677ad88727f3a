"""Guesses that cannot be true, which rows there are to choose from, and studies as text."""

import tomllib
from math import inf, nan

import pytest

from coterie.algorithms import find
from coterie.errors import UsageError
from coterie.studies import load_study
from coterie.studies.guess import ALONE, Choice, Guess, choices, study_text

FIRST = {"agents": 20, "arms": 10, "horizon": 1000, "epsilon": 1.0, "gap": 0.05}


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        ({"agents": 1}, "agents must be a whole number in [2, 10000000], got 1"),
        ({"arms": 1}, "arms must be a whole number in [2, 100000], got 1"),
        ({"horizon": 0}, "horizon must be a whole number in [1, 1000000000000], got 0"),
        ({"epsilon": 0}, "epsilon must be a number in [1e-06, 1e+06] or inf, got 0"),
        ({"epsilon": nan}, "epsilon must be a number in [1e-06, 1e+06] or inf, got nan"),
        ({"best": 0.0}, "best must be a number > 0 and < 1, got 0.0"),
        ({"best": 1.0}, "best must be a number > 0 and < 1, got 1.0"),
        ({"gap": 0.0}, "gap must be a number >= 1e-06 and < best (0.6), got 0.0"),
        ({"gap": 0.6}, "gap must be a number >= 1e-06 and < best (0.6), got 0.6"),
        ({"gap": 1e-320}, "gap must be a number >= 1e-06 and < best (0.6), got 1e-320"),
        ({"gap": nan}, "gap must be a number >= 1e-06 and < best (0.6), got nan"),
        ({"message_cost": -1.0}, "message-cost must be a finite number >= 0, got -1.0"),
        ({"message_cost": inf}, "message-cost must be a finite number >= 0, got inf"),
        ({"liars": 0.5}, "liars must be a number >= 0 and < 0.5, got 0.5"),
        ({"trust": "god"}, "trust must be nobody or aggregation or server, got god"),
        ({"trust": "server", "server": False}, "trust must be nobody without a server, got server"),
        ({"trust": "aggregation", "liars": 0.1}, "trust must be nobody with liars, as single reports are to be looked at, got "
         "aggregation"),
        ({"liars": 0.1, "unlike": True}, "unlike must be left out with liars: a lie and an agent that differs cannot be told "
         "apart"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_in_one_line(wrong, line):
    with pytest.raises(UsageError) as refused:
        Guess(**FIRST | wrong)
    assert str(refused.value) == line


@pytest.mark.parametrize(
    ("known", "first", "others"),
    [
        ({}, Choice("pooled-ucb"), ["cdp-mab"]),
        ({"unlike": True}, Choice("pooled-ucb"), ["cdp-mab"]),
        ({"trust": "aggregation"}, Choice("pooled-ucb", ("noise", "secagg")), ["cdp-mab"]),
        ({"trust": "server"}, Choice("pooled-ucb", ("noise", "central")), ["cdp-mab"]),
        ({"server": False}, Choice("peer-ucb"), ["pooled-ucb", "ddp-mab"]),
        ({"server": False, "unlike": True}, Choice("pooled-ucb", ("through", "peers")), ["ddp-mab"]),
        ({"liars": 0.1, "agents": 400}, Choice("pr-ucb", ("liars_assumed", 0.13)), []),
        ({"liars": 0.2, "agents": 16}, Choice("pr-ucb", ("liars_assumed", 0.4)), []),
        ({"liars": 0.499, "server": False}, Choice("pr-ucb", ("liars_assumed", 0.49)), []),
    ],
)
@pytest.mark.parametrize("epsilon", [0.3, inf])
def test_what_there_is_to_choose_from_and_that_every_row_of_it_is_a_study(known, first, others, epsilon):
    guess = Guess(**FIRST | known | {"epsilon": epsilon})
    found = choices(guess)
    assert found[0] == first and [choice.name for choice in found[1:]] == others
    rows = [choice.table(epsilon) for choice in (*found, ALONE)]
    study = load_study(tomllib.loads(study_text(guess.tables, rows))).specification
    assert [find(row.reference).name for row in study.rows] == [row["name"] for row in rows]
    assert (study.horizon, study.problem.agents, study.problem.gap) == (guess.horizon, guess.agents, guess.gap)
    assert study.rows[0].options.epsilon == epsilon and study.faults.liars == guess.liars
