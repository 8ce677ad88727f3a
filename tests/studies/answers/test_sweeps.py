"""What a setting does: from its least value to its largest."""

import numpy as np
import pytest

from coterie.studies.answers.promises import NONE_KEPT

NOISY = np.array([3.0, -3.0, 2.0, -2.0, 0.0])


def line(row, key, values, means, name="m"):
    pairs = zip(values, means, strict=True)
    return [row(f"{name} {key}={value:g}", mean, parameters={key: value}) for value, mean in pairs]


def promises(row, values, means, factor=1.0, name="m"):
    return [
        row(f"{name} epsilon={value:g}", mean, value, value * factor, parameters={"epsilon": value})
        for value, mean in zip(values, means, strict=True)
    ]


def test_a_fall_is_told_with_its_ends_and_where_it_stops(row, answered):
    kind, said = answered(*line(row, "rate", [1, 2, 4], [10.0, 5.0, 4.0]))
    assert kind == "sweep" and said.sentence == (
        "From rate = 1 to 4 what an agent loses falls 60 %, to 4.0 rewards in 1,000 decisions."
    )
    wobbles = [0 * NOISY, NOISY, 0 * NOISY]
    _, said = answered(*line(row, "rate", [1, 2, 4], [10.0, 4.1, 4.0]), wobbles=wobbles)
    assert said.sentence.endswith(", to 4.0 rewards in 1,000 decisions; after rate = 2 it falls no further beyond chance.")


def test_rises_valleys_and_no_difference(row, answered):
    _, said = answered(*line(row, "rate", [1, 2, 4], [4.0, 5.0, 10.0]))
    assert said.sentence.endswith(" what an agent loses rises 2.5-fold, to 10.0 rewards in 1,000 decisions.")
    _, said = answered(*line(row, "rate", [1, 2, 4], [4.0, 2.0, 10.0]))
    assert said.sentence == (
        "What an agent loses is least at rate = 2: 2.0 rewards in 1,000 decisions, "
        "against 4.0 at rate = 1 and 10.0 at rate = 4."
    )
    _, said = answered(*line(row, "rate", [1, 2], [4.0, 4.2]), wobbles=[NOISY, -NOISY])
    assert said.verdict == "close"
    assert said.sentence == (
        "Between rate = 1 and 2 there is no difference beyond chance: an agent loses 4.0 and 4.2 rewards in 1,000 decisions."
    )
    _, said = answered(*line(row, "rate", [1, 2], [4.0, 9.0]), runs=3)
    assert said.verdict == "close" and said.sentence.startswith("Between rate = 1 and 2 too few runs to call: ")


def test_rows_without_noise_are_a_reference_and_what_holds_is_told(row, answered):
    rows = [*promises(row, [0.1, 1.0], [9.0, 6.0], 50.0), row("m epsilon=inf", 2.0, parameters={"epsilon": None})]
    kind, said = answered(*rows)
    assert kind == "sweep" and (said.headline, said.together) == (2, 2)
    assert said.sentence.endswith(" falls 33 %, to 6.0 rewards in 1,000 decisions; without noise it is 2.0. " + NONE_KEPT + ".")
    assert said.swept == {"key": "epsilon", "values": [0.1, 1.0, None], "log": True}
    rows = [*promises(row, [1.0, 2.0], [9.0, 6.0]), row("other", 2.0)]
    _, said = answered(*rows)
    assert said.sentence.endswith("; without noise it is 2.0.") and said.headline == 0 and not said.swept["log"]


def test_several_lines_are_told_one_by_one_or_counted(row, answered):
    def lines(count):
        ends = {name: 12.0 if name == "b" else 3.0 for name in "abcde"[:count]}
        return [one for name, end in ends.items() for one in line(row, "life", [0, 1, 2], [9.0, 5.0, end], name)]

    kind, said = answered(*lines(2))
    assert kind == "hops" and [group["name"] for group in said.groups] == ["a", "b"]
    assert said.sentence == "From 0 to 2 hops what an agent loses falls 67 % with a and rises 33 % with b."
    _, said = answered(*lines(5))
    assert said.sentence == (
        "From 0 to 2 hops what an agent loses falls in 4 of 5 cases and rises in 1 of 5 cases; "
        "it is least with a (2 hops): 3.0 rewards in 1,000 decisions."
    )


def test_what_several_methods_promise_in_vain_is_the_answer(row, answered):
    rows = promises(row, [0.1, 0.5, 1], [9, 8, 7], 20.0, "a") + [
        one | {"promise": one["promise"] | {"holds": None}} for one in promises(row, [0.1, 0.5, 1], [9, 8, 7], 2.0, "b")
    ]
    _, said = answered(*rows)
    assert said.sentence == (
        "Where ε = 0.1 to 1 is promised, ε = 2 to 20 holds with a and no limit holds with b."
    )
    assert said.headline is None


@pytest.mark.parametrize(("cost", "text"), [(60.0, "; communication costs 6 times as much."), (11.0, "in 1,000 decisions.")])
def test_talking_is_told_where_its_cost_changes(row, answered, cost, text):
    rows = line(row, "participation", [0.5, 1], [10.0, 4.0])
    rows[1]["communication"] = rows[1]["communication"] | {"cost": cost}
    assert answered(*rows)[1].sentence.endswith(text)


def test_a_sweep_of_epsilon_beside_learning_alone_is_about_learning_together(row, answered):
    rows = [row("ucb1", 9.0, alone=True), *promises(row, [1.0, 2.0, 3.0], [9.0, 6.0, 5.0])]
    assert answered(*rows)[0] == "privacy"
    rows = [row("ucb1", 9.0, alone=True), *line(row, "life", [1, 2, 3], [9.0, 6.0, 5.0])]
    kind, said = answered(*rows)
    assert kind == "hops" and said.alone == 0


def test_what_would_make_the_sentence_long_is_a_caveat(row, answered):
    rows = line(row, "participation", [0.5, 0.75, 1], [10.0, 4.1, 4.0], "a method with a long name")
    rows[2]["communication"] = rows[2]["communication"] | {"cost": 60.0}
    rows.append(row("another method with a name that is rather long, too", 3.0))
    _, said = answered(*rows, wobbles=[0 * NOISY, NOISY, 0 * NOISY, 0 * NOISY])
    assert said.sentence.endswith("; after participation = 0.75 it falls no further beyond chance.")
    assert [text.replace("\xa0", " ") for text in said.caveats] == [
        "With another method with a name that is rather long, too it is 3.0.", "Communication costs 6 times as much.",
    ]  # fmt: skip
