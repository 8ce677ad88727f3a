"""Table cells and cards."""

from collections.abc import Callable
from typing import Any

from coterie.report import tables
from coterie.report.privacy import Verdict

MakeRow = Callable[..., dict[str, Any]]
PRIVATE = {"claimed": 1, "accounted": 1}


def test_numbers_of_a_column_share_their_decimals(row: MakeRow) -> None:
    first, second = tables.table([row("a", 1234.5, margin=3.0), row("b", 10.0, margin=0.05)])
    assert first["regret"] == [("4,938.00", "± 12.00"), ("1,234.500", "± 3.000")]
    assert second["regret"] == [("40.00", "± 0.20"), ("10.000", "± 0.050")]


def test_one_replication_has_no_error_and_an_unknown_best_arm_no_share(row: MakeRow) -> None:
    (entry,) = tables.table([row("a", margin=None, replications=1, best_arm_rate=None)])
    assert entry["regret"] == [("40.0", ""), ("10.0", "")] and entry["best_arm"] == "-"


def test_units_and_adversaries_that_differ_have_letters(row: MakeRow) -> None:
    rows = [row("a", **PRIVATE), row("b"), row("c", **PRIVATE)]
    rows[2]["privacy"]["adversary"] = "the server"
    assert [entry["protection"] for entry in tables.table(rows)] == ["A", "-", "B"]
    assert list(tables.protections(rows)) == [
        ("one reward of one agent", "one who sees every message"),
        ("one reward of one agent", "the server"),
    ]


def test_rows_have_a_cell_for_every_measurement_of_any_family(row: MakeRow) -> None:
    rows = [row("a", extra={"delay": 9.0}), row("b", extra={"violations": 0.25, "delay": None}), row("c")]
    assert tables.further_columns(rows) == ["delay", "violations"]
    assert [entry["further"] for entry in tables.table(rows)] == [["9", "-"], ["-", "0.25"], []]


def test_the_most_worrying_card_comes_first(row: MakeRow) -> None:
    rows = [row("a"), row("b", **PRIVATE), row("c", claimed=1, accounted=2), row("d", claimed=1)]
    kinds = [card["verdict"] for card in tables.cards(rows)]
    assert kinds == [Verdict.UNSUPPORTED, Verdict.ABOVE, Verdict.WITHIN, Verdict.UNCLAIMED]


def test_rows_that_promise_the_same_share_a_card_and_a_line(row: MakeRow) -> None:
    (card,) = tables.cards([row("a", **PRIVATE), row("b", **PRIVATE), row("c", claimed=2, accounted=2)])
    ((lines, _),) = card["notes"]
    assert card["facts"] == {"Unit": "one reward of one agent", "Adversary": "one who sees every message"}
    assert len(lines) == 2
    plain = [" ".join(line.split()) for line in lines]
    assert plain[0].startswith("“a” and “b”: ε = 1 promised and kept:") and plain[1].startswith("“c”: ε = 2 promised and kept:")


def test_notes_are_sentences_beside_the_rows_they_belong_to(row: MakeRow) -> None:
    rows = [row(label, claimed=1, accounted=2) for label in "ab"]
    rows[0]["privacy"]["note"] = "the noise is shared. more agents make it weaker"
    rows[1]["privacy"]["note"] = "Written out."
    (card,) = tables.cards(rows)
    assert [note for _, note in card["notes"]] == ["The noise is shared. More agents make it weaker.", "Written out."]


def test_a_row_that_claims_nothing_names_no_adversary(row: MakeRow) -> None:
    (card,) = tables.cards([row("a")])
    assert card["facts"] == {} and card["notes"][0][1] == ""


def test_regret_per_decision_is_in_a_unit_that_suits_the_lowest(row: MakeRow) -> None:
    first, second = tables.table([row("a", 2.5, horizon=10_000), row("b", 40.0, horizon=10_000)])
    assert (first["per_decisions"], second["per_decisions"]) == ("2.5", "40")


def test_what_belongs_to_theory_is_not_a_further_measurement(row: MakeRow) -> None:
    bounds = {"lambda_2": 0.5, "bound_per_agent": 9.0, "trivial_bound_per_agent": 8.0}
    rows = [row("a", extra=bounds), row("b", extra={"delay": 9.0})]
    assert tables.further_columns(rows) == ["delay"]
    assert [entry["further"] for entry in tables.table(rows)] == [[], ["9"]]
