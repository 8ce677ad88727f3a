"""Regret never without violations, and learning from others never without the echo control."""

from collections.abc import Callable
from typing import Any

import pytest

from coterie.report import procurement
from coterie.report.agents import together_finding
from coterie.report.price import price_findings
from coterie.report.regret import against, regret_findings, too_close
from coterie.report.tables import further_columns, table

MakeRow = Callable[..., dict[str, Any]]
NAMES = ["Anna", "Bert", "Cleo", "Dora"]
SILENT = {"rounds": 0, "messages": 0, "bytes": 0, "cost": 0.0}


def plain(text: str) -> str:
    """With ordinary spaces."""
    return " ".join(text.split())


def noisy(row: MakeRow, label: str, learning: str = "check", epsilon: float = 1.0, **changes: Any) -> dict[str, Any]:
    parameters = {"epsilon": epsilon, "learning": learning}
    return row(label, algorithm="p-fcb", claimed=epsilon, accounted=1.3, parameters=parameters, **changes)


def test_a_regret_of_procurement_is_told_with_its_violations(row: MakeRow, buying_row: MakeRow) -> None:
    one, other = buying_row("a", 10.0, violations=6.0), buying_row("b", 30.0)
    lowest, highest = map(plain, regret_findings([one, other]))
    assert "10.00 ± 0.10 per agent, with 1.5 violated rounds per agent." in lowest
    assert "30.00 ± 0.10 per agent, with 0 violated rounds per agent, 3.00 times" in highest
    assert plain(against(one, other)) == "0.33 times the regret, with 1.5 violated rounds per agent"
    assert "violated" not in " ".join(regret_findings([row("a"), row("b")]))


def test_the_numbers_have_violations_in_place_of_a_best_arm(row: MakeRow, buying_row: MakeRow) -> None:
    assert [line["best_arm"] for line in table([buying_row("a", violations=6.0), row("b")])] == ["1.5", "100\u00a0%"]


def test_rows_on_the_same_instances_are_compared_by_their_paired_ratios(buying_row: MakeRow) -> None:
    """Half of the interval of the ratio is 0.1; those of the regrets would decide otherwise."""
    far, near = buying_row("a", 10.0, against={"b": 0.95}), buying_row("b", 10.1, margin=5.0)
    assert too_close(far, near)
    apart = buying_row("a", 10.0, margin=5.0, against={"b": 0.85})
    assert not too_close(apart, near)


def test_the_table_of_purchases_spans_the_agents_that_bought(buying_row: MakeRow) -> None:
    (line,) = procurement.table([buying_row("a", 10.0, after=4.0, violations=6.0)])
    assert plain(line["after"]) == "4.00 ± 0.10"
    assert line["median"] == "2"
    assert (line["violations"], plain(line["violated"])) == ("1.5", "1.5 %")
    assert line["quality"] == "0.410 to 0.600"
    assert plain(line["revenue"]) == "90 %"


def test_every_agent_has_its_regret_its_violations_and_its_slack(buying_row: MakeRow) -> None:
    rows = [buying_row("a", after=4.0, violations=6.0)]
    assert procurement.agents_table(rows)[0]["cells"] == [("4", "6"), ("4", "0"), ("4", "0"), ("4", "0")]
    assert procurement.slacks(rows) == ["-0.020", "+0.100", "+0.150", "-"]


def test_broken_limits_are_told_with_the_agent_that_breaks_them_most(buying_row: MakeRow) -> None:
    rows = [buying_row("a", violations=6.0), buying_row("b")]
    (finding,) = procurement.quality_findings(rows, NAMES)
    assert finding.text == "Orders fell below an average quality of 0.4, but never in “b”:"
    assert plain(finding.cases[0]) == "“a”: in 1.5 rounds per agent (1.5 %); Anna the most (6)"
    (kept,) = procurement.quality_findings(rows[1:], NAMES)
    assert kept.text == "In every row and round all orders had an average quality of at least 0.4."


def test_a_study_of_arms_has_no_findings_about_purchases(row: MakeRow) -> None:
    assert procurement.quality_findings([row("a")], NAMES) == []
    assert procurement.echo_findings([row("a", claimed=1)]) == []


@pytest.mark.parametrize(
    ("ratio", "saved", "told"),
    [
        (0.8, 0.7, "0.80 times (..), so others did teach something"),
        (0.8, 0.95, "0.80 times (..), but no gain over learning alone is shown"),
        (0.95, 0.7, "too close to call (..), so what it saves is not shown to come from others"),
        (1.2, 0.7, "1.20 times (..), so listening to others did harm"),
    ],
)
def test_learning_is_judged_by_the_echo_control(buying_row: MakeRow, ratio: float, saved: float, told: str) -> None:
    rows = [
        buying_row("nf-cb", 20.0, communication=SILENT),
        noisy(buying_row, "private", violations=12.0, against={"echo": ratio, "nf-cb": saved}),
        noisy(buying_row, "echo", "echo"),
    ]
    (finding,) = procurement.echo_findings(rows)
    (case,) = map(plain, finding.cases)
    assert case.replace("3 violated rounds per agent against 0", "..") == f"“private”: {told}"


def test_nothing_is_said_about_learning_without_an_echo_of_the_same_epsilon(buying_row: MakeRow) -> None:
    rows = [noisy(buying_row, "private", against={"echo": 0.5}), noisy(buying_row, "echo", "echo", epsilon=3.0)]
    assert procurement.echo_findings(rows) == []


def test_the_learning_table_sets_each_row_beside_its_controls(buying_row: MakeRow) -> None:
    rows = [
        buying_row("nf-cb", 20.0, communication=SILENT),
        noisy(buying_row, "private", after=3.0, against={"nf-cb": 0.5, "echo": 0.8}),
        noisy(buying_row, "echo", "echo", against={"nf-cb": 0.6}),
    ]
    rows[1]["procurement"]["learned"] = {"by_agent": [2.0, 0.5, 9.0, 2.0], "about": None}
    private, echo = procurement.learning_table(rows)
    assert (private["claimed"], private["accounted"], private["learned"]) == ("1", "1.3", "0.5 to 9")
    assert (plain(private["alone"]), plain(private["echo"])) == ("0.50 times", "0.80 times")
    assert (plain(echo["alone"]), echo["echo"], echo["learned"]) == ("0.60 times", "-", "0")


def test_what_was_learned_about_each_producer_is_told_on_a_fixed_instance(buying_row: MakeRow) -> None:
    rows = [buying_row("a", communication=SILENT), buying_row("b"), buying_row("drawn")]
    for row in rows[:2]:
        row["procurement"]["learned"] = {"by_agent": [1.0] * 4, "about": [[0.0, 2.0, 1.0]] * 4}
    (lesson,) = procurement.lessons(rows, NAMES)
    assert lesson["label"] == "b"
    assert lesson["lines"][0] == ("Anna", ["0", "2", "1"])


def source_rows(buying_row: MakeRow, **size: int) -> list[dict[str, Any]]:
    made = {"agents": 10, "arms": 30, "horizon": 100_000} | size
    return [
        buying_row("nf-cb", 40.0, after=30.0, **made),
        buying_row("fcb", 20.0, after=5.0, algorithm="fcb", **made),
        noisy(buying_row, "p-fcb", per_agent=30.0, after=20.0, **made),
        noisy(buying_row, "echo", "echo", per_agent=31.0, **made),
        noisy(buying_row, "p-fcb 3", epsilon=3.0, per_agent=25.0, **made),
    ]


def test_the_figures_of_the_source_stand_beside_those_of_its_setting_only(buying_row: MakeRow) -> None:
    study = {"problem": {"distribution": "uniform"}}
    assert procurement.source_table(study, source_rows(buying_row)) == [
        {"label": "p-fcb", "source": "+136%", "measured": "+50%", "after": "+300%"},
        {"label": "nf-cb", "source": "+233%", "measured": "+100%", "after": "+500%"},
    ]
    normal = procurement.source_table({"problem": {"distribution": "normal"}}, source_rows(buying_row))
    assert [line["source"] for line in normal] == ["+235%", "+394%"]
    assert procurement.source_table(study, source_rows(buying_row, horizon=20_000)) == []
    assert procurement.source_table(study, source_rows(buying_row)[:1]) == []
    assert procurement.source_table({"problem": {"file": "mine.csv"}}, source_rows(buying_row)) == []


def test_lengths_of_the_exploration_are_listed_where_they_differ(buying_row: MakeRow) -> None:
    rows = [buying_row("a"), buying_row("b")]
    assert procurement.exploration_text(rows) == "5 rounds"
    rows[1]["procurement"]["exploration"] = 12
    assert procurement.exploration_text(rows) == "5 and 12 rounds"


def test_the_echo_control_is_neither_learning_together_nor_the_price_of_privacy(buying_row: MakeRow) -> None:
    rows = [
        buying_row("nf-cb", 20.0, communication=SILENT),
        buying_row("fcb", 5.0, algorithm="fcb", against={"nf-cb": 0.25}),
        noisy(buying_row, "private", against={"nf-cb": 0.5}),
        noisy(buying_row, "echo", "echo", against={"nf-cb": 0.6}),
    ]
    together = together_finding(rows, NAMES)
    assert together is not None
    found = [together, *procurement.together_findings(rows), *price_findings(rows)]
    assert "“private”" in " ".join(case for finding in found for case in finding.cases)
    assert "echo" not in " ".join(case for finding in found for case in finding.cases)


def test_exact_losses_are_rounded_up_and_leave_the_further_measurements(buying_row: MakeRow) -> None:
    exact = {
        f"epsilon_{name}_at_{delta}": value
        for name, values in (("event", (0.12341, 0.2, 0.3)), ("sequential", (1.0, 2.0, None)))
        for delta, value in zip(("0.01", "0.001", "1e-05"), values, strict=True)
    }
    row = noisy(buying_row, "private", extra={"violations": 3.0, "mu_event": 0.5, **exact})
    (line,) = procurement.losses([buying_row("nf-cb"), row])
    assert (line["index"], line["claimed"]) == (1, "1")
    assert line["cells"] == ["0.1235", "0.2", "0.3", "1", "2", "no limit"]
    assert further_columns([row]) == ["mu_event"]
