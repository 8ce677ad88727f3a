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
        "With b an agent loses 20 % more than with a: 6.0 against 5.0 rewards in 1,000 decisions; "
        "communication then costs the same."
    )
    rows[1]["communication"] = rows[1]["communication"] | {"cost": 30.0}
    assert answered(*rows)[1].sentence.endswith("; communication then costs 3 times as much.")
    more = answered(row("a", 5.0), row("b", 15.0))[1]
    assert more.sentence.startswith("With b an agent loses 3 times as much as with a: 15.0 against 5.0 ")
    same = answered(row("a", 5.0), row("b", 5.0))[1]
    assert same.sentence.startswith("With b an agent loses as much as with a, 5.0 rewards in 1,000 decisions; ")
    assert "loses 0.006 % more than with a: 5.000 rewards" in answered(row("a", 5.0), row("b", 5.0003))[1].sentence


def test_close_rows_and_many_rows(row, answered):
    _, said = answered(row("a", 5.0), row("b", 5.2), wobbles=[NOISY, -NOISY])
    assert said.sentence.startswith("Too close to call: with b an agent loses 5.2, with a 5.0 rewards in 1,000 decisions; ")
    wobbles = [NOISY, -NOISY, 0 * NOISY]
    _, said = answered(row("a", 5.0), row("b", 5.2), row("c", 5.1), wobbles=wobbles)
    assert said.sentence == "Too close to call: an agent loses between 5.0 (a) and 5.2 (b) in 1,000 decisions."
    _, said = answered(row("a", 5.0), row("b", 6.0), row("c", 20.0))
    assert said.sentence == (
        "An agent loses least with a, 5.0, and most with c, 20.0 rewards in 1,000 decisions, 4 times as much."
    )
    assert (said.headline, list(said.order)) == (0, [0, 1, 2])


def test_the_least_may_be_a_broken_promise_but_is_no_headline(row, answered):
    _, said = answered(row("a", 5.0, 1.0, 9.0), row("b", 6.0, 1.0, 1.0), row("c", 20.0, 2.0, 2.0))
    assert said.headline == 1 and said.sentence.endswith("; of promises that are kept, least with b, 6.0.")
