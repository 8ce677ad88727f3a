"""Quality first, then what sharing gains."""

import pytest


@pytest.fixture
def buy(row):
    def make(label, mean, below=0.0, oracle="greedy", **more):
        bought = {"alpha": 0.7, "violations": {"mean": below * 1000, "max": below * 2000}, "below": {"mean": below}}
        parameters = {"oracle": oracle, **more.pop("parameters", {})}
        return row(label, mean, procurement=bought, parameters=parameters, **more)

    return make


KIND = {"problem": {"kind": "procurement"}}


def test_only_the_cautious_rule_is_good_enough(buy, answered):
    rows = [buy("nf-cb", 20, 0.1, alone=True), buy("fcb", 21, 0.2), buy("alone", 10.6, oracle="safe", alone=True)]
    rows += [buy("shared", 5.7, oracle="safe"), buy("private", 16.5, oracle="safe", promised=1.0, holds=1.0)]
    rows += [buy("echo", 17.0, 0.01, oracle="safe", promised=1.0, holds=1.0, parameters={"learning": "echo"})]
    kind, said = answered(*rows, **KIND)
    assert (kind, said.verdict, said.headline) == ("procurement", "yes", 4)
    assert said.sentence == (
        "Only the cautious rule never buys below 0.7; learning together cuts what an agent loses from 10.6 to 5.7 "
        "of revenue in 1,000 decisions, but with ε = 1 it loses 16.5, more than alone."
    )
    assert list(said.order)[:3] == [2, 3, 4] and said.caveats == ["echo buys below 0.7 at times."]


@pytest.mark.parametrize(
    ("shares", "text"),
    [
        ((0.0, 0.0), "No row ever buys below 0.7; learning together cuts"),
        ((0.0, 0.1), "Only nf-cb never buys below 0.7; learning together cuts"),
        ((0.02, 0.1), "Every row buys below 0.7 at times, in 2 % to 10 % of rounds; learning together cuts"),
    ],
)
def test_who_buys_what_is_not_good_enough(buy, answered, shares, text):
    _, said = answered(buy("nf-cb", 20, shares[0], alone=True), buy("fcb", 10, shares[1]), **KIND)
    assert said.sentence.startswith(text) and said.verdict == "yes"


@pytest.mark.parametrize(
    ("mean", "text"),
    [
        (8.0, "it beats its echo control, so others did teach something."),
        (30.0, "it does worse than its echo control, so listening did harm."),
    ],
)
def test_an_echo_control_tells_whether_others_taught_anything(buy, answered, mean, text):
    rows = [buy("nf-cb", 20, alone=True), buy("p-fcb", mean, promised=1.0, holds=1.0, parameters={"learning": "check"})]
    rows += [buy("p-fcb echo", 15.0, promised=1.0, holds=1.0, parameters={"learning": "echo"})]
    assert answered(*rows, **KIND)[1].sentence.endswith(text)


def test_a_sweep_of_epsilon_is_told_as_one(buy, answered):
    rows = [buy("nf-cb", 20, alone=True)]
    rows += [buy(f"p epsilon={e}", 40 / e, promised=e, holds=e, parameters={"epsilon": e}) for e in (1, 2, 4)]
    _, said = answered(*rows, **KIND)
    assert said.sentence == (
        "No row ever buys below 0.7; from ε = 1 to 4 what an agent loses falls 75 %, to 1.0 of revenue in 100 decisions; "
        "alone it is 2.0."
    )


def test_one_row(buy, answered):
    assert answered(buy("fcb", 10, 0.02), **KIND)[1].sentence == "fcb buys below 0.7 in 2 % of rounds."
