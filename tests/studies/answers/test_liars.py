"""Who still beats learning alone when agents lie?"""

import numpy as np
import pytest


def study(row, worst, alone=10.0, **more):
    """Methods a, b, ... with 30 % liars under two attacks; `worst` has their regret under the worse one."""
    rows = [row("ucb1", alone, alone=True), row("ucb1 liars=0.3", alone, alone=True, faults={"liars": 0.3, "attack": "x"})]
    for name, mean in zip("abcd", worst, strict=False):
        rows.append(row(name, 1.0, **more.get(name, {})))
        for attack, less in (("x", 0.5), ("y", 1.0)):
            faults = {"liars": 0.3, "attack": attack}
            rows.append(row(f"{name} liars=0.3 attack={attack}", less * mean, faults=faults, **more.get(name, {})))
    return rows


def test_one_method_is_left(row, answered):
    kind, said = answered(*study(row, [20.0, 6.0]))
    assert kind == "liars" and said.sentence == (
        "With 30 % liars, each method under its worst attack, only b still beats learning alone: "
        "it loses 6.0 against 10.0 rewards in 1,000 decisions."
    )
    assert said.headline == 7 and said.alone == 1 and [group["name"] for group in said.groups] == ["ucb1", "a", "b"]
    assert said.swept["key"] == "liars" and said.swept["values"][:2] == [0.0, 0.3]


@pytest.mark.parametrize(
    ("worst", "verdict", "text"),
    [
        ([20.0, 30.0], "no", " no method beats learning alone: a loses 20.0, learning alone 10.0 in 1,000 decisions."),
        ([5.0, 6.0], "yes", " under its worst attack, both methods beat learning alone; a loses 5.0 against 10.0 "),
        ([5.0, 6.0, 30.0], None, " only a and b still beat learning alone; a loses 5.0 against 10.0 "),
        ([5.0], "yes", "Even with 30 % liars a beats learning alone: it loses 5.0 against 10.0 "),
    ],
)
def test_none_some_or_all_are_left(row, answered, worst, verdict, text):
    _, said = answered(*study(row, worst))
    assert said.verdict == verdict and text in said.sentence


def test_a_kept_promise_goes_first_and_a_broken_one_is_no_headline(row, answered):
    kept, broken = {"promised": 1.0, "holds": 1.0}, {"promised": 1.0, "holds": None}
    _, said = answered(*study(row, [5.0, 6.0, 30.0], a=broken, b=kept))
    assert "only a and b still beat learning alone; b loses 6.0" in said.sentence
    _, said = answered(*study(row, [5.0, 6.0, 7.0, 30.0]))
    assert "3 of 4 methods still beat learning alone; a loses 5.0" in said.sentence
    _, said = answered(*study(row, [5.0, 30.0], a=broken))
    assert said.sentence.endswith(" only a still beats learning alone, and its promise is broken.") and said.headline is None


def test_where_nobody_is_beaten_beyond_chance_the_verdict_is_open(row, answered):
    rows = study(row, [10.2])
    wobbles = np.zeros((len(rows), 5))
    wobbles[-1] = [3.0, -3.0, 2.0, -2.0, 0.0]
    _, said = answered(*rows, wobbles=wobbles)
    assert said.verdict == "close" and "no method beats learning alone beyond chance: a loses 10.2, " in said.sentence


def test_who_learns_alone_is_not_asked_about_liars(row, answered):
    assert answered(*study(row, [])[:2])[0] == "other"


def test_few_runs_and_nobody_alone(row, answered):
    _, said = answered(*study(row, [5.0, 30.0]), runs=3)
    assert said.verdict == "close" and said.sentence.startswith("Too few runs to call: with 30 % liars, each method under ")
    _, said = answered(*study(row, [5.0, 30.0])[2:])
    assert said.sentence == "With 30 % liars a loses 5.0 instead of 1.0 and b loses 30.0 instead of 1.0 in 1,000 decisions."


def test_forged_messages_are_told_like_liars(row, answered):
    forged = {"contamination": 0.001, "contaminant": 1}
    kind, said = answered(row("ucb1", 9.0, alone=True, faults=forged), row("a", 3.0), row("a c", 4.0, faults=forged))
    assert kind == "liars" and said.sentence.startswith("Even with 0.1 % of the messages forged a")
