"""What a run prints: its answer, what was promised and what holds, in words and marks that need no colour."""

from itertools import pairwise

import pytest

from coterie.cli.studies import studies
from coterie.cli.table import ROWS_MOST, summary_lines, warnings_of
from coterie.studies import builtin_studies
from coterie.studies.groups import groups_by


def row(label, claimed=None, accounted=None, size=1000.0, regret=10.0, margin=0.1, parameters=None, **faults):
    privacy = {
        "claimed": None if claimed is None else {"epsilon": claimed, "delta": 1e-6},
        "accounted": {"epsilon": accounted, "delta": 1e-6},
        "private": None not in (claimed, accounted) and accounted <= claimed,
        "unit": "one reward of one agent",
    }
    return {
        "label": label, "agents": 4, "arms": 3, "horizon": 100, "replications": 20, "privacy": privacy,
        "found": {"count": 19, "of": 20}, "found_by": {"count": 79, "of": 80},
        "per_decision": {"mean": regret / 1000, "margin": None if margin is None else margin / 1000},
        "alone": not size, "communication": {"messages": 2, "bytes": size}, "faults": faults, "algorithm": label.split()[0],
        "parameters": parameters or {},
    }  # fmt: skip


def lines_of(rows, width=100, every=False, decimals=1, red=None, kind="liars", groups=None, **words):
    unit = {"decisions": 1000, "text": "per 1,000 decisions", "decimals": decimals}
    groups = groups or groups_by(rows, ("liars", "attack"))
    answer = {"kind": kind, "sentence": "Yes: it helps.", "red": red, "groups": groups, "unit": unit}
    document = {"study": {"title": "t", "problem": {}, "words": words}, "answer": answer, "rows": list(rows)}
    return [line.plain.replace("\xa0", " ") for line in summary_lines(document, width, every)]


@pytest.fixture
def printed():
    """{label: its line, by words}, and the whole text."""

    def show(*rows, **how):
        lines = lines_of(rows, **how)
        found = {row["label"]: next(line for line in lines if line.startswith(f"{row['label']} ")) for row in rows}
        return {label: line.split() for label, line in found.items()}, "\n".join(lines)

    return show


def test_every_promise_has_its_mark_and_the_key_explains_those_that_occur(printed):
    rows = [row("kept", 1.0, 1.0), row("weak", 5.0, 5.0), row("broken", 0.1, 5.0)]
    rows += [row("lost", 1.0, None), row("bare", None, None)]
    lines, text = printed(*rows)
    assert lines["kept"][-3:] == ["1", "1", "●"] and lines["weak"][-3:] == ["5", "5", "◐"]
    assert lines["broken"][-3:] == ["0.1", "5", "✕"] and lines["lost"][-4:] == ["1", "no", "limit", "✕"]
    assert lines["bare"][-4:] == ["nothing", "no", "limit", "○"]
    assert "● promised and kept, ◐ kept, but weak, ✕ broken, ○ nothing promised" in " ".join(text.split())
    assert "◐" not in printed(rows[0])[1]


def test_an_epsilon_just_above_the_promise_does_not_look_like_it(printed):
    lines, _ = printed(row("near", 1.0, 1.00001))
    assert lines["near"][-3:] == ["1", "1.001", "✕"]


def test_runs_are_called_runs_and_no_bytes_sends_nothing(printed):
    lines, text = printed(row("alone", None, None, size=0.0), row("single", None, None))
    assert lines["alone"][-6:-4] == ["sends", "nothing"] and "20 runs" in text
    for word in ("claimed", "true", "none", "replication", "0 bytes"):
        assert word not in text


def test_the_answer_comes_before_the_table_and_broken_promises_with_it():
    lines = lines_of([row("a")])
    assert lines[:3] == ["t", "Yes: it helps.", ""]
    lines = lines_of([row("a")], red="One promise is broken: a promises ε = 1, but no limit holds.", width=40)
    assert lines[2].startswith("✕ One promise is broken") and max(map(len, lines[:5])) <= 40


def test_regret_is_in_the_unit_of_the_answer_with_its_decimals(printed):
    lines, text = printed(row("a", margin=0.25), decimals=2)
    assert lines["a"][1:4] == ["10.00", "±", "0.25"]
    assert "regret: what an agent loses per 1,000 decisions; ±: 95 % interval of the mean over the runs (Student's t)" in text


@pytest.mark.parametrize("runs", [1, 4])
def test_of_few_runs_there_is_no_interval(printed, runs):
    lines, text = printed(row("a", margin=None if runs == 1 else 2.0) | {"replications": runs})
    assert lines["a"][1] == "10.0" and "±" not in text and "fewer than 5 runs: too few for an interval" in text


def test_no_interval_is_rounded_to_nothing(printed):
    lines, _ = printed(*(row(label, margin=2.0) for label in "abc"), row("d", margin=0.004), row("e", margin=0.0))
    assert lines["d"][3] == "0.004" and lines["e"][3] == "0.0"


def test_shares_are_counts_of_runs_or_of_many_agents_of_these(printed):
    lines, text = printed(row("a"))
    assert lines["a"][4:7] == ["19", "of", "20"] and "best arm found: runs in which every agent played it most" in text
    lines, text = printed(row("a") | {"agents": 30})
    assert lines["a"][4:7] == ["79", "of", "80"] and "best arm found: agents, over all runs, that played it most" in text
    assert printed(row("a") | {"found": None})[0]["a"][4] == "-"


def test_orders_that_were_not_good_enough_are_a_share_of_rounds(printed):
    lines, text = printed(row("a") | {"procurement": {"alpha": 0.7, "below": {"mean": 0.125}}})
    assert lines["a"][4:6] == ["12.5", "%"] and "rounds below 0.7: share of an agent's rounds" in text


def test_a_warning_is_told_once_with_the_rows_it_is_about():
    rows = [row(f"r{n}") | {"warnings": ["w"] if n else ["w", "v"]} for n in range(9)]
    assert warnings_of(rows) == [("“r0” and 8 others", "w"), ("“r0”", "v")]


def test_the_words_of_a_study_are_used_and_its_labels_left_alone(printed):
    lines, text = printed(row("every agent alone"), agent="hospital", arm="therapy")
    assert lines["every agent alone"]
    expected = ["a hospital loses", "best therapy found", "every hospital", "4 hospitals, 3 therapies", "one hospital"]
    assert [words for words in expected if words not in text] == []
    assert text.count("agent") == 1  # the label's


# --- whatever the width -------------------------------------------------------------------------------------------

LONG = "fed-ucb epsilon=0.1 mechanism=tree-as-printed"


@pytest.mark.parametrize("width", [120, 80, 60, 40, 30])
def test_nothing_is_wider_than_the_terminal_and_no_label_is_lost(width):
    """But for the title and the key, which the terminal breaks."""
    entries = [row(LONG, 0.1, 5.0), row("ucb1", size=0.0, regret=123_456.7)]
    lines = lines_of(entries, width)
    table = lines[3 : lines.index("", 3)]
    assert max(map(len, table)) <= width
    text = "".join("".join(table).split())
    assert LONG.replace(" ", "") in text and "ucb1" in text and "sendsnothing" in text and "5✕" in text


def test_a_row_takes_one_line_where_it_fits_then_two_then_a_block():
    heights = {width: len(lines_of([row(LONG, 0.1, 5.0)], width)) for width in (120, 80, 30)}
    assert heights[80] == heights[120] + 1 and heights[30] > heights[80]
    assert "messages" in "".join(lines_of([row("ucb1")], 80)) and "messages" not in "".join(lines_of([row(LONG)], 100))


def test_of_many_rows_the_telling_ones_are_shown_and_the_rest_is_said_to_exist():
    rows = [
        row(f"{name} liars={liars} attack={attack}", regret=10.0 + liars, liars=liars, attack=attack)
        for name in ("coop-ucb", "pr-ucb") for liars in (1, 2, 3) for attack in "abcde"
    ]  # fmt: skip
    lines = lines_of(rows)
    shown = [line for line in lines if "-ucb" in line]
    assert [line.split()[:2] for line in shown] == [[name, f"liars={n}"] for name in ("coop-ucb", "pr-ucb") for n in (1, 3)]
    assert "4 of 30 rows" in lines[-1] and "summary.json" in lines[-1] and "--all" in lines[-1]
    assert sum("-ucb" in line for line in lines_of(rows, every=True)) == 30


def test_of_many_rows_that_cannot_be_grouped_the_lowest_and_the_highest_are_among_those_shown():
    rows = [row(f"cdp-mab epsilon={n}", regret=10.0 + (n * 37) % 101, parameters={"epsilon": n}) for n in range(100)]
    shown = [line for line in lines_of(rows) if "cdp-mab" in line]
    assert len(shown) <= ROWS_MOST and "cdp-mab epsilon=0 " in shown[0] and "cdp-mab epsilon=99 " in shown[-1]
    regrets = {line.split()[2] for line in shown}
    assert {f"{10 + least:.1f}" for least in (0, 100)} <= regrets


def test_of_one_long_sweep_rows_all_along_it_are_shown_and_both_its_ends():
    rows = [row(f"cdp-mab epsilon={n}", regret=90.0 - n, parameters={"epsilon": n}) for n in range(1, 31)]
    lines = lines_of(rows, kind="sweep", groups=groups_by(rows, ("epsilon",)))
    shown = [int(line.split()[1].partition("=")[2]) for line in lines if line.startswith("cdp-mab")]
    assert shown[0] == 1 and shown[-1] == 30 and len(shown) in range(20, ROWS_MOST + 1)
    assert max(later - earlier for earlier, later in pairwise(shown)) <= 2


@pytest.mark.parametrize("promised", [None, 1.0])
def test_who_sends_nothing_has_no_epsilon_unless_it_promised_one(printed, promised):
    """Whatever is accounted for it: no limit, where choices might be seen, or 0."""
    for holds in (None, 0.0) if promised is None else (1.0,):
        lines, _ = printed(row("alone", promised, holds, size=0.0))
        assert lines["alone"][-3:] == (["sends", "nothing", "○"] if promised is None else ["1", "1", "●"])


@pytest.mark.parametrize("width", [120, 40])
def test_the_list_of_studies_can_be_read_in_any_terminal(monkeypatch, capsys, width):
    monkeypatch.setenv("COLUMNS", str(width))
    studies(as_json=False)
    told = capsys.readouterr().out
    assert max(map(len, told.splitlines())) <= width and len(told.splitlines()) < 8 * len(builtin_studies())
    assert "li-song-12-heterogeneous-random-hybrid" in told and "does learning together help" in " ".join(told.split())
