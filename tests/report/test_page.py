"""The whole page: it says everything, fetches nothing, and user text stays text."""

import html
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import coterie
from coterie.errors import StorageError
from coterie.report import render, write
from coterie.studies.results import manifest

MakeRow = Callable[..., dict[str, Any]]
MANIFEST = {
    "version": "0.1.0",
    "platform": "Linux x86_64",
    "seed": 7,
    "hash": "3f9a1c2e",
    "created": "2025-01-31T12:00:00+00:00",
}


@pytest.fixture
def summary(row: MakeRow) -> dict[str, Any]:
    rows = [
        row("each shop alone, no noise", 90.0, algorithm="single-mab"),
        row("cdp-mab epsilon=0.1", 9.0, claimed=0.1, accounted=0.1, extra={"active_sets": 3.5}),
        row("cdp-mab epsilon=1", 8.2, claimed=1, accounted=50),
        row("cdp-mab epsilon=5", 8.1, claimed=5, warnings=["participation below 1 with different means"]),
    ]
    rows[2]["privacy"]["note"] = "fifty agents add a fiftieth of the noise each"
    study = {
        "title": "What does noise cost?",
        "name": "noise",
        "replications": 20,
        "seed": 7,
        "problem": {"kind": "bernoulli", "means": None, "instance": "grid", "heterogeneity": 0.0},
        "network": {
            "graph": "complete",
            "probability": None,
            "edges": None,
            "components": None,
            "switch_every": None,
            "link_cost": {"server": 1.0, "peer": 1.0},
        },
        "faults": {"loss": 0.0, "one_way": False, "churn": 0.0},
        "words": {"agent": "agent", "arm": "arm"},
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


def test_a_run_leaves_all_that_the_page_needs(tmp_path: Path) -> None:
    problem = {"instance": "grid", "agents": 2, "arms": 2}
    algorithms = [{"name": "cdp-mab", "epsilon": float("inf"), "label": "no noise"}, {"name": "cdp-mab", "epsilon": 1}]
    study = coterie.load_study({"horizon": 50, "replications": 2, "problem": problem, "algorithm": algorithms})
    write(tmp_path / "report.html", study.run().document(), manifest(study.specification))
    page = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "2 agents choose one of 2 arms in each of 50 rounds." in page.text
    assert "Without privacy, no noise has a regret of" in page.text


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


def test_the_sections_come_in_the_order_a_reader_needs_them(summary: dict[str, Any]) -> None:
    headings = re.findall(r'<h2 id="(\w+)"', render(summary, MANIFEST))
    assert headings == ["found", "curves", "numbers", "tradeoff", "privacy", "compared", "warnings"]
    summary["rows"][0]["by_agent"]["found"] = [1.0, 0.0, 1.0, 1.0]
    summary["rows"][0]["extra"] = {"lambda_2": 0.5, "bound_per_agent": 9.0, "trivial_bound_per_agent": 8.0}
    headings = re.findall(r'<h2 id="(\w+)"', render(summary, MANIFEST))
    assert headings[:5] == ["found", "agents", "curves", "numbers", "theory"]


def test_rows_are_named_in_bold_type_without_quotation_marks(summary: dict[str, Any]) -> None:
    source = render(summary, MANIFEST)
    assert "The highest is that of <b>each shop alone, no noise</b>:" in source
    assert "Row: <b>each shop alone, no noise</b>" in source
    assert not any(f"“{entry['label']}”" in source for entry in summary["rows"])


def test_one_view_of_the_curves_is_shown_and_its_controls_agree(summary: dict[str, Any]) -> None:
    source = render(summary, MANIFEST)
    (shown,) = re.findall(r'<div class="view"><svg[^>]*data-view="([\w-]+)"', source)
    assert shown == "linear-log-total"
    assert re.findall(r'value="(\w+)" checked', source) == shown.split("-")


def test_the_words_of_the_study_are_used_everywhere(summary: dict[str, Any]) -> None:
    words = re.compile(r"\b(agent|arm)s?\b", re.IGNORECASE)
    assert words.search(Page(render(summary, MANIFEST)).text)
    summary["study"]["words"] = {"agent": "vehicle", "arm": "route"}
    summary["study"]["problem"] |= {"instance": None, "means": [[0.1, 0.2, 0.3]] * 3 + [[0.3, 0.2, 0.1]]}
    first = summary["rows"][0]
    first["communication"] = dict.fromkeys(first["communication"], 0)
    first["by_agent"]["found"] = [0.0, 1.0, 1.0, 1.0]
    first |= {"extra": {"lambda_2": 0.5, "bound_per_agent": 9.0, "trivial_bound_per_agent": 8.0}}
    source = render(summary, MANIFEST)
    shown = Page(source.split("<summary>The study as it was run")[0])
    described = " ".join(attributes.get("aria-label") or "" for _, attributes in shown.tags)
    assert not words.search(shown.text + described)
    for text in (
        "Alone, vehicle 0 is misled",
        "one reward of one vehicle",
        "Regret, per vehicle",
        "route 2",
        "all vehicles",
    ):
        assert text in shown.text


def test_a_study_made_of_records_says_so_before_it_tells_what_came_out(summary: dict[str, Any], row: MakeRow) -> None:
    summary["study"]["problem"] |= {"instance": None, "dataset": "diabetes", "rule": "exclusive", "split": "order"}
    summary["study"]["words"] = {"agent": "hospital", "arm": "treatment"}
    by_agent = {"regret": 3 * [10.0], "found": [1.0, 0.0, 1.0]}
    silent = dict.fromkeys(row()["communication"], 0)
    rows = [
        row("alone", by_agent=by_agent, communication=silent),
        row("together", by_agent=by_agent | {"found": [1.0]}),
    ]
    text = Page(render({"study": summary["study"], "rows": [entry | {"agents": 3} for entry in rows]}, MANIFEST)).text
    places = [
        text.index(part) for part in ("Not a medical finding.", "Epsilon is per draw", "CC BY 4.0", "What came out")
    ]
    assert places == sorted(places)
    assert "Alone, hospital 2 is misled" in text
    assert "Best by its own numbers glipizide group glyburide group glipizide group" in text


def test_broken_claims_are_flagged_in_words(summary: dict[str, Any]) -> None:
    text = Page(render(summary, MANIFEST)).text
    assert "Broken: more is lost than promised" in text and "broken: promised 1, 50 holds" in text
    assert "Broken: no limit holds" in text and "broken: promised 5, no limit holds" in text
    assert "Fifty agents add a fiftieth of the noise each." in text
    assert "one who sees every message" in text


def test_units_and_adversaries_that_differ_are_told_apart_by_letters(summary: dict[str, Any]) -> None:
    assert "A : Epsilon refers to" not in Page(render(summary, MANIFEST)).text
    summary["rows"][2]["privacy"]["unit"] = "one order of one round"
    text = Page(render(summary, MANIFEST)).text
    assert "A : Epsilon refers to one reward of one agent" in text
    assert "B : Epsilon refers to one order of one round" in text


def test_user_text_is_escaped_everywhere(summary: dict[str, Any]) -> None:
    evil = '<script>alert("x")</script><img src=http://evil>&'
    summary["study"] |= {"title": evil, "name": evil}
    summary["study"]["words"] = {"agent": evil, "arm": evil}
    summary["rows"][0]["by_agent"]["found"] = [1.0, 0.0, 1.0, 1.0]
    entry = summary["rows"][1]
    entry |= {"label": evil, "algorithm": evil, "warnings": [evil], "extra": {evil: 1.0}}
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
    assert values[0]["share"] == pytest.approx(1 / 4)


def test_measurements_of_a_family_have_a_table_of_the_rows_that_have_any(summary: dict[str, Any]) -> None:
    source = render(summary, MANIFEST)
    (table,) = re.findall(r"<h3>Further measurements</h3>.*?</table>", source, re.S)
    assert Page(table).text == "Further measurements Row active sets cdp-mab epsilon=0.1 3.5"
    summary["rows"][1]["extra"] = {}
    assert "Further measurements" not in render(summary, MANIFEST)


def test_the_footer_says_where_the_page_comes_from_and_how_to_run_it_again(summary: dict[str, Any]) -> None:
    text = Page(render(summary, MANIFEST)).text
    for value in MANIFEST.values():
        assert str(value) in text
    assert "coterie run noise" in text
    summary["study"]["name"] = "my study"
    assert "coterie run 'my study'" in Page(render(summary, MANIFEST)).text


def test_one_row_seen_once_that_sends_nothing_and_loses_nothing_has_a_page(
    summary: dict[str, Any], row: MakeRow
) -> None:
    entry = row("cdp-mab", 0.0, margin=None, replications=1, best_arm_rate=None)
    entry |= {
        "communication": dict.fromkeys(entry["communication"], 0),
        "curve": {"round": [1], "mean": [0.0], "low": [0.0], "high": [0.0]},
    }
    summary["study"]["replications"] = 1
    page = Page(render({"study": summary["study"], "rows": [entry]}, MANIFEST))
    assert "Everything was run once" in page.text and "too close to call" not in page.text.lower()
    assert "The regret of cdp-mab is 0 in total, 0 per agent." in page.text
    assert "No row promises any privacy." in page.text


def test_the_page_is_light(summary: dict[str, Any]) -> None:
    assert len(render(summary, MANIFEST)) < 300_000


def test_writing_leaves_the_rendered_text_in_the_file(summary: dict[str, Any], tmp_path: Path) -> None:
    write(tmp_path / "report.html", summary, MANIFEST)
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == render(summary, MANIFEST)


def test_a_refusing_disk_is_named(summary: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "taken").touch()
    with pytest.raises(StorageError, match=r"report\.html: cannot be written: "):
        write(tmp_path / "taken" / "report.html", summary, MANIFEST)


def test_a_hundred_rows_that_differ_in_their_liars_have_a_page_that_can_be_read(summary: dict[str, Any], row: MakeRow) -> None:
    """Sentences name algorithms and not rows, few curves are drawn, and every row is in a table."""
    settings = [{}, *({"liars": share, "attack": f"attack{number}"} for share in (0.1, 0.2, 0.3) for number in range(6))]
    rows = []
    for number in range(5):
        for faults in settings:
            words = " ".join(f"{key}={value}" for key, value in faults.items()) or "liars=0"
            regret = 10.0 + number + 9 * len(faults)
            rows.append(row(f"method{number} {words}", regret, faults=faults, warnings=["mind the gap"]))
    source = render({"study": summary["study"], "rows": rows}, MANIFEST)
    page = Page(source)
    assert source.count('<button type="button" data-row=') == 10
    assert "What liars do" in page.text and "Only honest agents count" in page.text
    assert "All 95 rows" in page.text and source.count('<tr class="group">') == 10
    findings = page.text.split("What came out")[1].split("What liars do")[0]
    assert "liars=" not in findings and "method0" in findings
    assert page.text.count("mind the gap") == 1 and "and 94 others: mind the gap" in page.text
    assert len(source) < 900_000
