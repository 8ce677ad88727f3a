"""The whole page: it answers, says everything, fetches nothing, and user text stays text."""

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
from coterie.report.draw.colours import HUES, shade
from coterie.report.glossary import GLOSSARY
from coterie.report.study import linked, opened, red_line
from coterie.report.view import View
from coterie.studies.results import manifest

MakeRow = Callable[..., dict[str, Any]]
MakeSummary = Callable[..., dict[str, Any]]
MANIFEST = {
    "version": "0.1.0",
    "platform": "Linux x86_64",
    "seed": 7,
    "hash": "3f9a1c2e",
    "created": "2025-01-31T12:00:00+00:00",
}
BUYS = {"kind": "procurement", "alpha": 0.4}


@pytest.fixture
def rows(row: MakeRow) -> list[dict[str, Any]]:
    return [
        row("each shop alone, no noise", 90.0, algorithm="single-mab", size=0.0),
        row("cdp-mab epsilon=0.1", 9.0, claimed=0.1, accounted=0.1, extra={"active_sets": 3.5}),
        row("cdp-mab epsilon=1", 8.2, claimed=1, accounted=50),
        row("cdp-mab epsilon=5", 8.1, claimed=5, warnings=["participation below 1 with different means"]),
    ]


@pytest.fixture
def study(rows: list[dict[str, Any]], summary: MakeSummary) -> dict[str, Any]:
    return summary(
        rows, kind="privacy", verdict="yes", sentence="Yes: together is better.", red="2 promises are broken: so and so.",
        caveats=["ε protects one reward."], alone=0, headline=1,
    )  # fmt: skip


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
    document = study.run().document()
    write(tmp_path / "report.html", document, manifest(study.specification))
    page = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "2 agents choose one of 2 arms in each of 50 rounds." in page.text
    assert " ".join(document["answer"]["sentence"].split()) in page.text.replace("</b>", "")
    for one in View(document).rows:
        assert page.text.count(one.text) >= 4  # hero, key, table, over time


def test_the_page_answers_first_and_tells_the_rest_in_the_order_a_reader_needs(study: dict[str, Any]) -> None:
    source = render(study, MANIFEST)
    marks = ["kicker", "<h1>", 'class="answer"', 'class="red"', 'class="caveat"', 'class="figs"', 'id="hero"', 'id="trade"',
             'id="privacy"', 'id="time"', 'id="numbers"', 'id="data"', 'id="origin"', 'class="glossary"']  # fmt: skip
    places = [source.index(mark) for mark in marks]
    assert places == sorted(places)
    assert '<p class="answer"><b>Yes:</b> together is better.</p>' in source
    assert '<b>✕ 2 promises are broken:</b> so and so. <a href="#privacy">' in source
    assert re.findall(r'<details id="(\w+)" open>', source) == ["time"]
    assert source.split('id="trade"')[0].count('title="promise broken"') == 2


def test_only_a_verdict_is_bold() -> None:
    assert red_line("1 < 2: so") == "<b>✕ 1 &lt; 2:</b> so" and red_line("Broken.") == "<b>✕ Broken.</b>"
    assert red_line("x" * 81) == f"<b>✕</b> {'x' * 81}"
    assert opened("Yes: a < b.", "yes") == "<b>Yes:</b> a &lt; b."
    assert opened("With liars: so.", None) == "With liars: so."
    assert opened("Too close to call whatever is said: so.", "close") == "Too close to call whatever is said: so."


def test_nothing_is_fetched(study: dict[str, Any]) -> None:
    source = render(study, MANIFEST)
    for _, attributes in Page(source).tags:
        for name in ("src", "href", "xlink:href", "srcset", "data", "action", "poster"):
            assert (attributes.get(name) or "#").startswith(("#", "data:"))
    without_names = source.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"@import|url\(|\bfetch\(|XMLHttpRequest|WebSocket|https?://", without_names)


def test_every_link_inside_the_page_has_an_end(study: dict[str, Any]) -> None:
    page = Page(render(study, MANIFEST))
    ids = [attributes["id"] for _, attributes in page.tags if attributes.get("id")]
    assert len(ids) == len(set(ids))
    wanted = {(attributes["href"] or "")[1:] for tag, attributes in page.tags if tag == "a"}
    assert wanted and wanted <= set(ids)


def test_every_picture_says_its_numbers_and_can_be_saved(study: dict[str, Any]) -> None:
    source = render(study, MANIFEST)
    for tag, attributes in Page(source).tags:
        if tag == "svg" and attributes.get("role") == "img":
            assert re.search(r"\d", attributes["aria-label"] or "")
        assert attributes.get("viewbox") is None or attributes.get("preserveaspectratio") == "none"
    figures = re.findall(r"<figure data-name=\"(\w+)\">(.*?)</figure>", source, re.S)
    assert [name for name, _ in figures] == ["regret", "trade", "time"]
    assert all(content.count('<script type="application/json">') == 1 for _, content in figures)


def test_every_row_is_in_hero_key_strip_and_table_with_its_number(study: dict[str, Any]) -> None:
    page = Page(render(study, MANIFEST))
    for number, row in enumerate(study["rows"], 1):
        assert page.text.count(row["label"]) >= 4
        assert page.text.count(f"{number} {row['label']}") >= 3


def test_a_row_has_the_colour_of_its_number_wherever_it_stands(row: MakeRow, summary: MakeSummary) -> None:
    rows = [row("printed", 4.0, claimed=1), row("alone", 10.0, size=0.0), row("open", 2.0)]
    told = summary(rows, kind="privacy", alone=1, together=2, order=[1, 2, 0])
    grey, orange = (shade(HUES[name], 0).light for name in ("alone", "open"))
    source = render(told, MANIFEST)
    assert f".r2{{--row:{grey}}}" in source and f".r3{{--row:{orange}}}" in source
    assert 'data-row="2"><span class="name"><i class="tag">2</i><span>alone' in source


def test_the_words_of_the_study_are_used_everywhere(study: dict[str, Any]) -> None:
    ours = re.compile(r"\b(agent|arm)s?\b", re.IGNORECASE)
    assert ours.search(Page(render(study, MANIFEST)).text)
    study["study"] |= {"words": {"agent": "vehicle", "arm": "route"}}
    study["study"]["problem"] = study["study"]["problem"] | {"instance": None, "means": [[0.1, 0.2]] * 3 + [[0.2, 0.1]]}
    study["answer"]["sentence"] = "Yes: together is better."
    study["rows"][0]["by_agent"]["regret"] = [90.0, 91.0, 92.0, 93.0]
    study["rows"][0]["extra"] = {"lambda_2": 0.5, "bound_per_agent": 9.0, "trivial_bound_per_agent": 8.0}
    shown = Page(render(study, MANIFEST).split("<summary>The study as it was run")[0])
    described = " ".join(attributes.get("aria-label") or "" for _, attributes in shown.tags)
    assert not ours.search(shown.text + described)
    for text in ("one reward of one vehicle", "mean of 4 vehicles", "route 1", "all vehicles", "vehicle 0"):
        assert text in shown.text


def test_user_text_is_escaped_everywhere(study: dict[str, Any]) -> None:
    evil = '<script>alert("x")</script><img src=http://evil>&'
    study["study"] |= {"title": evil, "name": evil, "words": {"agent": evil, "arm": evil}}
    study["answer"] |= {"sentence": evil, "red": evil, "caveats": [evil], "names": [evil, evil, evil, evil]}
    study["answer"]["figures"] = [{"value": evil, "label": evil}]
    study["rows"][0]["by_agent"]["regret"] = [90.0, 91.0, 92.0, 93.0]
    entry = study["rows"][1]
    entry |= {"label": evil, "algorithm": evil, "method": evil, "warnings": [evil], "extra": {evil: 1.0}}
    entry["privacy"] |= {"unit": evil, "adversary": evil, "note": evil}
    source = render(study, dict.fromkeys(MANIFEST, evil))
    page = Page(source)
    assert "<img" not in source
    harmless = json.loads(json.dumps(study).replace(json.dumps(evil)[1:-1], "x"))
    assert len(scripts(source)) == len(scripts(render(harmless, MANIFEST)))
    assert page.text.count(evil) > 10
    assert f"<h1>{html.escape(evil, quote=True).replace('&quot;', '&#34;')}</h1>" in source


def scripts(source: str) -> list[str]:
    return [tag for tag, _ in Page(source).tags if tag == "script"]


def test_a_study_made_of_records_says_so(study: dict[str, Any]) -> None:
    problem = {"instance": None, "dataset": "diabetes", "rule": "exclusive", "split": "order"}
    study["study"]["problem"] = study["study"]["problem"] | problem
    study["rows"] = [row | {"agents": 3} for row in study["rows"]]
    text = Page(render(study, MANIFEST)).text
    for part in ("Not a medical finding.", "Epsilon is per draw", "CC BY 4.0", "glyburide group"):
        assert part in text


def test_the_foot_says_where_the_page_comes_from_and_how_to_run_it_again(study: dict[str, Any]) -> None:
    text = Page(render(study, MANIFEST)).text
    for value in MANIFEST.values():
        assert str(value) in text
    assert "coterie run noise" in text and "participation below 1 with different means" in text
    study["study"]["name"] = "my study"
    assert "coterie run 'my study'" in Page(render(study, MANIFEST)).text


def test_words_are_explained_at_the_foot_and_linked_where_they_are_used_first(study: dict[str, Any]) -> None:
    source = render(study, MANIFEST)
    assert all(f"<dt>{word}</dt>" in source for word in GLOSSARY)
    assert source.count('href="#word-ε"') == 1 and '<p class="caveat"><a class="word" href="#word-ε">ε</a> protects' in source
    assert linked('<p class="sub">Promised, promised.</p>').count("<a ") == 1


KINDS: list[dict[str, Any]] = [
    {"kind": "privacy", "alone": 0, "together": 1, "headline": 2},
    {"kind": "other"},
    {"kind": "sweep", "swept": {"key": "epsilon", "values": [None, 0.1, 1, 5], "log": True}},
    {"kind": "hops", "swept": {"key": "life", "values": [0, 1, 2, 3], "log": False}},
    {"kind": "hops", "swept": {"key": "life", "values": ["diameter", None, None, None], "log": False}},
    {"kind": "liars", "swept": {"key": "liars", "values": [0, 0.1, 0.2, 0.3], "log": False}},
]


@pytest.mark.parametrize("answer", KINDS, ids=lambda answer: answer["kind"])
@pytest.mark.parametrize("runs", [1, 3, 20])
def test_every_kind_has_a_page_with_a_hero(
    rows: list[dict[str, Any]], summary: MakeSummary, answer: dict[str, Any], runs: int
) -> None:
    for place, row in enumerate(rows):
        row["replications"] = runs
        if answer["kind"] == "liars" and place:
            row["faults"] = {"liars": place / 10, "attack": "random"}
        if runs == 1:
            for key in ("regret", "regret_per_agent", "per_decision"):
                row[key] |= {"margin": None, "sem": None}
    if answer["kind"] != "privacy":
        answer = answer | {"groups": [{"name": "all", "rows": [0, 1, 2, 3]}]}
    source = render(summary(rows, **answer), MANIFEST)
    hero = source.split('id="hero"')[1].split("</section>")[0]
    assert hero.count("<figure") == 1 and "<svg" in hero and 'id="hero-heading"' in hero
    assert ("too few for an interval" in Page(source).text) == (runs < 5)
    assert ("±" in Page(source).text) == (runs >= 5)


def test_a_procurement_has_its_tables_and_pictures(buying_row: MakeRow, summary: MakeSummary) -> None:
    rows = [buying_row("nf-cb", size=0.0), buying_row("fcb", violations=4.0)]
    text = Page(render(summary(rows, study={"problem": BUYS}, kind="procurement"), MANIFEST)).text
    for part in (
        "Rounds below the limit of 0.4",
        "What was bought, how good it was",
        "What was learned from others",
        "How good it was",
    ):
        assert part in text


def test_one_row_seen_once_that_sends_nothing_and_loses_nothing_has_a_page(row: MakeRow, summary: MakeSummary) -> None:
    entry = row("cdp-mab", 0.0, margin=None, replications=1, best_arm_rate=None, found=None, found_by=None, size=0.0)
    entry["curve"] = {key: [values[0]] for key, values in entry["curve"].items()}
    page = Page(render(summary([entry]), MANIFEST))
    assert "Everything was run once" in page.text and "No row promises anything." in page.text


def test_a_hundred_rows_have_a_light_page_that_can_be_read(row: MakeRow, summary: MakeSummary) -> None:
    settings = [{}, *({"liars": share, "attack": f"attack{number}"} for share in (0.1, 0.2, 0.3) for number in range(6))]
    rows, groups = [], []
    for number in range(5):
        groups.append({"name": f"method{number}", "rows": list(range(len(rows), len(rows) + len(settings)))})
        for faults in settings:
            entry = row(f"method{number} {faults}", 10.0 + number + 9 * len(faults), faults=faults, warnings=["mind the gap"])
            entry["curve"] = {key: values * 100 for key, values in entry["curve"].items()} | {"round": list(range(1, 301))}
            rows.append(entry)
    source = render(summary(rows, kind="liars", groups=groups), MANIFEST)
    text = Page(source).text
    assert len(source.encode()) < 500_000
    assert text.count("mind the gap") == 1 and "and 94 others" in text
    assert all(f"{number} {entry['label']}" in text for number, entry in enumerate(rows, 1))
    hero = source.split('id="hero"')[1].split("</section>")[0]
    assert hero.count("<h4>") == 5


def test_a_refusing_disk_is_named(study: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "taken").touch()
    with pytest.raises(StorageError, match=r"report\.html: cannot be written: "):
        write(tmp_path / "taken" / "report.html", study, MANIFEST)  # type: ignore[arg-type]
