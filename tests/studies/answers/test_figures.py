"""Four figures of the row that a study is about."""

from coterie.studies.answers import find_answer
from coterie.studies.answers.figures import figures


def found(told, rows, **how):
    study = told(rows, **how)
    kept = figures(study, find_answer(study)[1])
    return [(one["value"].replace("\xa0", " "), one["label"].replace("\xa0", " ")) for one in kept]


def test_they_are_of_the_headline(row, told):
    rows = [row("ucb1", 10.0, alone=True), row("open", 1.0), row("private", 2.0, 1.0, 1.0)]
    assert found(told, rows, words={"agent": "shop", "arm": "offer"}) == [
        ("2.0", "rewards lost per 1,000 decisions: private (95 %: 1.8 to 2.2)"),
        ("4 of 5", "runs in which every shop found the best offer"),
        ("ε = 1", "promised and kept: a guess of one reward is right in at most 70 %"),
        ("1 kB", "sent by each shop, 1 byte per decision"),
    ]


def test_broken_promises_nothing_promised_many_agents_and_few_runs(row, told):
    (value, label), (count, whose), broken, _ = found(told, [row("a", 2.0, 1.0, 4.0, agents=30)], runs=2)
    assert value == "2.0" and "95" not in label
    assert (count, whose) == ("14 of 15", "agents, over all runs, that found the best arm")
    assert broken == ("ε = 4", "holds where ε = 1 is promised")
    mute = row("mute", 9.0, 1.0, 0.0)  # keeps its promise by saying nothing, so the other is shown
    assert found(told, [row("a", 2.0, 1.0, 4.0), mute])[2] == ("ε = 4", "holds where ε = 1 is promised")
    *_, promise, sent = found(told, [row("a", 2.0, alone=True)])
    assert promise == ("nothing promised", "sends nothing") and sent == ("sends nothing", "each agent learns alone")
