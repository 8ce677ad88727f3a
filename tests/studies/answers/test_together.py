"""Does learning together help, and what does privacy cost? Every way in which it can be answered."""

import numpy as np

NOISY = np.array([3.0, -3.0, 2.0, -2.0, 0.0])  # of runs that differ by more than rows do


def alone(row, mean=10.5, label="ucb1", **more):
    return row(label, mean, alone=True, **more)


def test_yes_with_what_privacy_costs(row, answered):
    kind, said = answered(alone(row), row("open", 1.6), row("private", 2.2, 1.0, 1.0), row("loose", 2.0, 2.0, 2.0))
    assert (kind, said.verdict) == ("privacy", "yes")
    assert said.sentence == (
        "Yes: learning together cuts what an agent loses from 10.5 to 1.6 rewards in 1,000 decisions, "
        "and ε = 1 costs 0.6 of that back."
    )
    assert (said.alone, said.together, said.headline) == (0, 1, 2) and list(said.order) == [0, 1, 2, 3]


def test_the_price_of_privacy_is_taken_between_rows_of_one_method(row, answered):
    """As one learner everybody loses less, with privacy or without: that is no part of what ε costs the others."""
    rows = [alone(row, 180.0), row("cdp-mab", 74.8), row("cdp-mab private", 153.3, 0.3, 0.3), row("pooled, no noise", 6.7)]
    rows.append(row("pooled, private, epsilon=1", 10.2, 1.0, 1.0, parameters={"epsilon": 1.0}))
    _, said = answered(*rows)
    assert (said.alone, said.together, said.headline) == (0, 1, 2)
    assert said.sentence.endswith("from 180.0 to 74.8 rewards in 1,000 decisions, and ε = 0.3 costs 78.5 of that back; "
                                  "pooled with ε = 1: 10.2.")  # fmt: skip
    assert answered(*rows[:4])[1].sentence.endswith(" costs 78.5 of that back.")


def test_no_where_it_does_harm(row, answered):
    _, said = answered(alone(row, 2.0), row("open", 5.0))
    assert said.verdict == "no"
    assert said.sentence == "No: learning together raises what an agent loses from 2.0 to 5.0 rewards in 1,000 decisions."


def test_too_close_to_call_where_the_interval_of_the_difference_holds_0(row, answered):
    rows = alone(row, 2.2), row("open", 2.0), row("private", 2.1, 1.0, 1.0)
    _, said = answered(*rows, wobbles=[NOISY, 0 * NOISY, 0 * NOISY])
    assert said.verdict == "close"
    assert said.sentence == (
        "Too close to call: an agent loses 2.2 alone and 2.0 together in 1,000 decisions; with ε = 1 it loses 2.1."
    )
    _, said = answered(*rows)  # the same means, but equal chance in every run: paired, the difference shows
    assert said.verdict == "yes" and said.sentence.startswith("Yes: ")


def test_fewer_than_five_runs_have_no_verdict(row, answered):
    rows = alone(row), row("open", 1.6), row("private", 2.2, 1.0, 1.0)
    for runs in (1, 4):
        _, said = answered(*rows, runs=runs)
        assert said.verdict == "close" and said.sentence.startswith("Too few runs to call: an agent loses 10.")
    assert answered(*rows, runs=5)[1].verdict == "yes"


def test_privacy_may_cost_too_little_to_call_or_all_of_the_gain(row, answered):
    base = [alone(row), row("open", 1.6)]
    _, said = answered(*base, row("private", 1.7, 1.0, 1.0), wobbles=[0 * NOISY, 0 * NOISY, NOISY])
    assert said.sentence.endswith(", and what ε = 1 costs of that is too close to call.")
    _, said = answered(*base, row("private", 12.0, 1.0, 1.0))
    assert said.sentence.endswith(", but with ε = 1 it loses 12.0, more than alone.")
    _, said = answered(*base, row("private", 12.0, 1.0, 1.0), row("b", 3.0, 2.0, 2.0))
    assert said.sentence.endswith(", but with ε = 1 it loses 12.0, more than alone; ε = 2 still gains (3.0).")
    _, said = answered(*base, row("private", 10.0, 1.0, 1.0), wobbles=[0 * NOISY, 0 * NOISY, NOISY])
    assert said.sentence.endswith(", but with ε = 1 it loses 10.0: no gain beyond chance.")
    _, said = answered(*base, row("private", 1.2, 1.0, 1.0))
    assert said.sentence.endswith(", and ε = 1 cuts it to 1.2.")


def test_a_broken_promise_is_never_the_headline(row, answered):
    rows = alone(row), row("open", 1.6), row("printed", 1.7, 0.1, 5.0), row("lost", 1.7, 0.2, None), row("good", 3.0, 1.0, 1.0)
    _, said = answered(*rows)
    assert said.headline == 4 and "ε = 1 costs 1.4 of that back" in said.sentence
    assert list(said.order)[-2:] == [2, 3]
    _, said = answered(*rows[:4])
    assert said.headline is None and said.verdict == "yes"
    assert said.sentence.endswith(" in 1,000 decisions, but no row keeps its promise.")


def test_the_lowest_epsilon_is_kept_to_and_of_equal_ones_the_least_regret(row, answered):
    _, said = answered(alone(row), row("open", 1.0), row("a", 4.0, 1.0, 1.0), row("b", 3.0, 1.0, 0.9), row("c", 2.0, 3.0, 3.0))
    assert said.headline == 3
    _, said = answered(alone(row), row("open", 1.0), row("weak", 2.0, 5.0, 5.0))
    assert "ε = 5 (weak) costs 1.0" in said.sentence
    _, said = answered(alone(row), row("open", 1.0), row("mute", 9.0, 0.1, 0.0), row("c", 2.0, 3.0, 3.0))
    assert said.headline == 3  # who says nothing at all keeps any promise


def test_only_broken_promises_beside_learning_alone(row, answered):
    _, said = answered(alone(row), row("printed", 1.7, 0.1, 5.0))
    assert said.sentence == "No row keeps its promise; an agent loses 1.7 together and 10.5 alone in 1,000 decisions."
    _, said = answered(alone(row, promised=1.0, holds=1.0), row("printed", 1.7, 0.1, 5.0))
    assert said.sentence.startswith("No row that shares keeps its promise; ") and (said.verdict, said.headline) == (None, None)


def test_without_an_open_row_or_without_anybody_alone(row, answered):
    _, said = answered(alone(row), row("private", 2.0, 1.0, 1.0))
    assert said.sentence.startswith("Yes: learning together with ε = 1 cuts what an agent loses from 10.5 to 2.0 ")
    kind, said = answered(row("open", 1.6), row("private", 2.0, 1.0, 1.0))
    assert said.sentence == "With ε = 1 what an agent loses rises from 1.6 to 2.0 rewards in 1,000 decisions."
    assert kind == "privacy"
    _, said = answered(row("open", 1.6), row("private", 1.7, 1.0, 1.0), wobbles=[NOISY, -NOISY])
    assert said.verdict == "close" and "1.6 without privacy and 1.7 with ε = 1" in said.sentence


def test_the_words_of_the_study_are_used(row, answered):
    _, said = answered(alone(row), row("open", 1.6), words={"agent": "hospital", "arm": "treatment"})
    assert "cuts what a hospital loses" in said.sentence


def test_the_best_of_several_who_learn_alone_is_the_one_to_beat(row, answered):
    noisy = alone(row, 1.0, "noisy", promised=1.0, holds=1.0)
    _, said = answered(alone(row, 12.0), alone(row, 8.0, "b"), noisy, row("open", 9.0))
    assert (said.alone, said.verdict) == (1, "no")
