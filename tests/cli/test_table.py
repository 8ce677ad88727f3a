"""The table that a run prints: what was promised, what holds, and who sends nothing, in words and marks that need no colour."""

import pytest
from rich.console import Console

from coterie.cli.table import summary_table


def row(label, claimed, accounted, size=1000.0):
    privacy = {
        "claimed": None if claimed is None else {"epsilon": claimed, "delta": 1e-6},
        "accounted": {"epsilon": accounted, "delta": 1e-6},
        "private": None not in (claimed, accounted) and accounted <= claimed,
        "unit": "one reward of one agent",
    }
    return {
        "label": label, "agents": 4, "arms": 3, "horizon": 100, "replications": 20, "best_arm_rate": 1.0, "privacy": privacy,
        "regret_per_agent": {"mean": 10.0, "sem": 0.1}, "communication": {"messages": 2, "bytes": size},
    }  # fmt: skip


@pytest.fixture
def printed():
    """{label: its line, by words}, and the whole text."""

    def show(*rows, width=100):
        console = Console(width=width, color_system=None)
        with console.capture() as text:
            console.print(summary_table({"study": {"title": "t"}, "rows": list(rows)}))
        lines = text.get().splitlines()
        return {row["label"]: next(line.split() for line in lines if row["label"] in line) for row in rows}, text.get()

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


def test_runs_are_called_runs_and_no_bytes_nothing(printed):
    lines, text = printed(row("alone", None, None, size=0.0), row("single", None, None) | {"replications": 1})
    assert "nothing" in lines["alone"][-4] and "20 runs" in text
    for word in ("claimed", "true", "none", "replication", "0 bytes"):
        assert word not in text


def test_names_of_rows_have_room_in_a_terminal(printed):
    lines, _ = printed(row("cdp-mab epsilon=1", 1.0, 1.0), width=80)
    assert lines["cdp-mab epsilon=1"][:2] == ["cdp-mab", "epsilon=1"]
