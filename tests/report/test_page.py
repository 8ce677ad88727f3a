"""The whole page: it says everything, fetches nothing, and user text stays text."""

import html
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from coterie.errors import StorageError, UsageError
from coterie.report import render, write

SEEN = "one who sees every message, count, arm and time"
MANIFEST = {
    "version": "0.1.0",
    "platform": "Linux x86_64",
    "seed": 7,
    "hash": "3f9a1c2e",
    "created": "2025-01-31 12:00 UTC",
}


def row(epsilon: float | None, accounted: float | None, regret: float, **privacy: Any) -> dict[str, Any]:
    rounds = sorted({round(1000 ** (step / 99)) for step in range(100)})
    mean = [regret * (when / 1000) ** 0.5 for when in rounds]
    return {
        "label": f"cdp-mab epsilon={'inf' if epsilon is None else epsilon}",
        "algorithm": "cdp-mab",
        "parameters": {"epsilon": epsilon, "mode": "paper"},
        "agents": 50,
        "arms": 100,
        "horizon": 1000,
        "replications": 20,
        "regret": {"mean": regret, "sem": 5.0, "min": 0.9 * regret, "max": 1.1 * regret},
        "regret_per_agent": {"mean": regret / 50, "sem": 0.1, "min": 0.9 * regret / 50, "max": 1.1 * regret / 50},
        "curve": {
            "round": rounds,
            "mean": mean,
            "low": [0.9 * value for value in mean],
            "high": [1.1 * value for value in mean],
        },
        "best_arm_rate": 1.0,
        "communication": {"rounds": 7.5, "messages": 375, "bytes": 300_000, "cost": 9375.0},
        "privacy": {
            "claimed": None if epsilon is None else {"epsilon": epsilon, "delta": 0.0},
            "accounted": {"epsilon": accounted, "delta": 0.0},
            "private": accounted is not None,
            "unit": "one reward of one agent",
            "adversary": SEEN,
            "note": "",
        }
        | privacy,
        "extra": {},
        "seconds": 0.5,
        "agent_rounds_per_second": 1e6,
    }


@pytest.fixture
def summary() -> dict[str, Any]:
    rows = [
        row(0.1, 0.1, 9000.0),
        row(1, 50, 8200.0, note="fifty agents add a fiftieth of the noise each"),
        row(5, None, 8150.0, note="first rewards are sent as they are"),
        row(None, None, 8100.0),
    ]
    rows[0]["extra"] = {"violations": {"mean": 3.0, "sem": 0.5}, "active_sets": [100, 7, 1], "delays": list(range(30))}
    rows[2]["warnings"] = ["participation below 1 with different means"]
    study = {
        "title": "What does noise cost?",
        "name": "noise",
        "horizon": 1000,
        "replications": 20,
        "seed": 7,
        "problem": {"kind": "bernoulli", "instance": "grid"},
        "network": {"graph": "complete"},
        "algorithms": [{"name": "cdp-mab"}],
    }
    return {"study": study, "rows": rows}


class Page(HTMLParser):
    """What a browser would see of a page: tags with their attributes, and the text outside scripts and styles."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(source)
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not {"script", "style"} & set(self.open):
            self.words.append(data)


def test_nothing_is_fetched(summary: dict[str, Any]) -> None:
    source = render(summary, MANIFEST)
    for _, attributes in Page(source).tags:
        for name in ("src", "href", "xlink:href", "srcset", "data", "action", "poster"):
            assert (attributes.get(name) or "#").startswith(("#", "data:"))
    assert not re.search(r"@import|url\(|\bfetch\(|XMLHttpRequest|WebSocket|https?://", source)


def test_every_row_is_in_table_legend_findings_and_pictures(summary: dict[str, Any]) -> None:
    source = render(summary, MANIFEST)
    page = Page(source)
    for index, entry in enumerate(summary["rows"]):
        assert page.text.count(entry["label"]) >= 4
        assert source.count(f'data-row="{index}"') == 9  # eight views and the button of the legend
    for heading in (
        "What was asked",
        "What came out",
        "Regret over time",
        "The numbers",
        "Privacy in words",
        "Warnings",
    ):
        assert heading in page.text


def test_the_sections_come_in_the_order_a_reader_needs_them(summary: dict[str, Any]) -> None:
    headings = re.findall(r'<h2 id="(\w+)"', render(summary, MANIFEST))
    assert headings == ["asked", "found", "curves", "numbers", "tradeoff", "privacy", "warnings"]


def test_one_view_of_the_curves_is_shown_and_its_controls_agree(summary: dict[str, Any]) -> None:
    summary["rows"][0]["regret"]["mean"] *= 30
    source = render(summary, MANIFEST)
    (shown,) = re.findall(r'<div class="view"><svg[^>]*data-view="([\w-]+)"', source)
    assert shown == "linear-log-total"
    assert re.findall(r'value="(\w+)" checked', source) == shown.split("-")


def test_broken_claims_are_flagged_in_words(summary: dict[str, Any]) -> None:
    text = Page(render(summary, MANIFEST)).text
    assert "More is lost than claimed" in text and "claimed epsilon 1; really accounted epsilon 50" in text
    assert "Claimed, but not guaranteed" in text and "claimed epsilon 5; no finite epsilon holds" in text
    assert "fifty agents add a fiftieth of the noise each" in text
    assert SEEN in text


def test_the_most_worrying_card_comes_first(summary: dict[str, Any]) -> None:
    cards = re.findall(r'<article class="card (\w+)"', render(summary, MANIFEST))
    assert cards == ["unsupported", "above", "within", "unclaimed"]


def test_rows_that_promise_the_same_share_a_card(summary: dict[str, Any]) -> None:
    summary["rows"] = [row(epsilon, epsilon, 8000.0) for epsilon in (0.1, 1, 2)]
    source = render(summary, MANIFEST)
    assert source.count('<article class="card') == 1
    assert "claimed epsilon 2" in source


def test_units_and_adversaries_that_differ_are_told_apart_by_letters(summary: dict[str, Any]) -> None:
    summary["rows"][1]["privacy"]["unit"] = "one order of one round"
    text = Page(render(summary, MANIFEST)).text
    assert "A : Epsilon refers to one reward of one agent" in text
    assert "B : Epsilon refers to one order of one round" in text


def test_user_text_is_escaped_everywhere(summary: dict[str, Any]) -> None:
    evil = '<script>alert("x")</script><img src=http://evil>&'
    summary["study"] |= {
        "title": evil,
        "name": evil,
        "problem": {"dataset": evil, "split": evil},
        "network": {"graph": evil},
    }
    entry = summary["rows"][0]
    entry |= {"label": evil, "algorithm": evil, "warnings": [evil], "extra": {evil: evil}}
    entry["privacy"] |= {"unit": evil, "adversary": evil, "note": evil}
    source = render(summary, dict.fromkeys(MANIFEST, evil))
    page = Page(source)
    assert "<img" not in source
    assert [tag for tag, _ in page.tags].count("script") == 2
    assert page.text.count(evil) > 10
    assert f"<h1>{html.escape(evil, quote=True).replace('&quot;', '&#34;')}</h1>" in source


def test_the_script_reads_the_numbers_of_the_curves(summary: dict[str, Any]) -> None:
    source = render(summary, MANIFEST)
    (block,) = re.findall(r'<script type="application/json" id="values">(.*?)</script>', source, re.S)
    values = json.loads(block)
    assert [entry["label"] for entry in values] == [entry["label"] for entry in summary["rows"]]
    assert values[0]["mean"] == pytest.approx(summary["rows"][0]["curve"]["mean"], rel=1e-5)
    assert values[0]["share"] == pytest.approx(1 / 50)


def test_measurements_of_a_family_have_a_table_of_their_own(summary: dict[str, Any]) -> None:
    text = Page(render(summary, MANIFEST)).text
    assert "Further measurements" in text and "active sets" in text
    assert "3.00 ± 0.50" in text and "100, 7, 1" in text and "30 values, see summary.json" in text
    summary["rows"][0]["extra"] = {}
    assert "Further measurements" not in render(summary, MANIFEST)


def test_the_footer_says_where_the_page_comes_from_and_how_to_run_it_again(summary: dict[str, Any]) -> None:
    text = Page(render(summary, MANIFEST)).text
    for value in MANIFEST.values():
        assert str(value) in text
    assert "coterie run noise" in text
    summary["study"]["name"] = "my study.toml"
    assert "coterie run 'my study.toml'" in Page(render(summary, MANIFEST)).text


def test_a_bare_summary_of_one_row_seen_once_is_enough() -> None:
    entry = row(None, None, 0.0)
    entry["curve"] = {"round": [1000], "mean": [0.0], "low": [0.0], "high": [0.0]}
    entry["regret"] = entry["regret_per_agent"] = {"mean": 0.0, "sem": 0.0, "min": 0.0, "max": 0.0}
    entry |= {"replications": 1, "best_arm_rate": None, "communication": dict.fromkeys(entry["communication"], 0)}
    entry["privacy"] = dict.fromkeys(entry["privacy"]) | {"private": False}
    page = Page(render({"study": {}, "rows": [entry]}, {}))
    assert "Everything was run once" in page.text and "within noise" not in page.text.lower()
    assert "The regret of cdp-mab epsilon=inf is 0 in total, 0 per agent." in page.text
    assert "No row claims any privacy." in page.text


def test_the_page_is_light(summary: dict[str, Any]) -> None:
    assert len(render(summary, MANIFEST)) < 300_000


def test_a_summary_without_rows_is_refused() -> None:
    with pytest.raises(UsageError, match="at least one row, got none"):
        render({"study": {}, "rows": []}, MANIFEST)


def test_writing_leaves_the_rendered_text_in_the_file(summary: dict[str, Any], tmp_path: Path) -> None:
    write(tmp_path / "report.html", summary, MANIFEST)
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == render(summary, MANIFEST)


def test_a_refusing_disk_is_named(summary: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="the report cannot be written to"):
        write(tmp_path / "missing" / "report.html", summary, MANIFEST)
