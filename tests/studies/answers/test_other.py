"""Lowest and highest, where nothing else is asked."""

import numpy as np

NOISY = np.array([3.0, -3.0, 2.0, -2.0, 0.0])


def test_one_row_has_its_interval_if_there_are_runs_enough(row, answered):
    kind, said = answered(row("a", 5.0))
    assert kind == "other" and said.sentence == "With a an agent loses 5.0 rewards in 1,000 decisions (95 %: 4.8 to 5.2)."
    assert answered(row("a", 5.0), runs=4)[1].sentence == "With a an agent loses 5.0 rewards in 1,000 decisions."
    _, said = answered(row("a", 5.0, 1.0, 7.0))
    assert said.sentence.endswith(". No row keeps its promise.") and said.headline is None


def test_two_rows_are_compared_also_by_what_talking_costs(row, answered):
    rows = [row("a", 5.0), row("b", 6.0)]
    assert answered(*rows)[1].sentence == (
        "An agent loses 20 % more with b than with a: 6.0 against 5.0 rewards in 1,000 decisions; communication costs the same."
    )
    rows[1]["communication"] = rows[1]["communication"] | {"cost": 30.0}
    assert answered(*rows)[1].sentence.endswith("; communication costs 3 times as much.")
    assert "15.0 against 5.0" in answered(row("a", 5.0), row("b", 15.0))[1].sentence


def test_close_rows_and_many_rows(row, answered):
    _, said = answered(row("a", 5.0), row("b", 5.2), wobbles=[NOISY, -NOISY])
    assert said.sentence == "Too close to call: an agent loses between 5.0 (a) and 5.2 (b) in 1,000 decisions."
    _, said = answered(row("a", 5.0), row("b", 6.0), row("c", 20.0))
    assert said.sentence == "An agent loses least with a (5.0) and most with c (20.0), 4 times as much, in 1,000 decisions."
    assert (said.headline, list(said.order)) == (0, [0, 1, 2])


def test_the_least_may_be_a_broken_promise_but_is_no_headline(row, answered):
    _, said = answered(row("a", 5.0, 1.0, 9.0), row("b", 6.0, 1.0, 1.0), row("c", 20.0, 2.0, 2.0))
    assert said.headline == 1 and "least with a (5.0), whose promise is broken, less with b (6.0)" in said.sentence
