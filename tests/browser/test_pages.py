"""The pages of eight built-in studies, of audits and of statements, at small size: nobody stumbles over their looks."""

import csv
import tomllib
from functools import cache
from xml.etree import ElementTree

import pytest

from coterie.report import audit, render, statement
from coterie.studies import BUILTIN, load_study, manifest
from coterie.studies.budget import price_study

SPACE = "{http://www.w3.org/2000/svg}"
FEW = ["horizon=3000", "replications=5"]
DUBEY = ["horizon=60", "replications=5", "problem.agents=12", "network.probability=0.4"]
STUDIES = {
    "hospitals": FEW,
    "quickstart": FEW,
    "li-song-4": FEW,  # all promises are broken
    "li-song-5": FEW,  # something else than epsilon is swept
    "zhu-2a": ["horizon=3000", "replications=2"],  # too few runs for intervals
    "suppliers": ["horizon=600", "replications=5"],
    "dubey-1c": DUBEY,  # hops
    "dubey-a": DUBEY,  # liars
}
LIED_TO = ("ucb1", "byzantine-ucb", "pr-ucb")  # of dubey-a: compiling all five would take a minute
PRIVACY = {
    "claimed": {"epsilon": 1.0, "delta": 0.0}, "accounted": {"epsilon": None, "delta": 0.0}, "private": False,
    "unit": "one reward of one agent", "adversary": "anyone", "note": "the first reward is sent without noise",
}  # fmt: skip
REPLAY = {"rewards": 80, "rewards_in_all": 800, "pairs": 160, "left_out": 0, "faults": ["no faults", "loss"], "price": None,
          "findings": [], "excused": [], "together": 1}  # fmt: skip
EVENT = {"statistic": "equality", "about": "total in the message of agent 0, turn 2", "threshold": 4.5, "side": 1}
GAME = {"canary": {"text": "first reward: number 1 of arm 0 of agent 0, all others 0", "to": "one"}, "epsilon": 2.6,
        "trials": 100, "hits": 60, "misses": 2, "event": EVENT,
        "scores": {"edges": [-2.0, 1.0, 4.0, 7.0], "zero": [50, 48, 2], "one": [10, 30, 60]}}  # fmt: skip
AUDIT = {"algorithm": "fed-ucb", "parameters": {"mode": "paper", "epsilon": 1.0}, "view": "public", "covered_by_claim": True,
         "privacy": PRIVACY, "limit": 1.0, "proven": {"epsilon": 2.6, "confidence": 0.99}, "violation": True, "failed": True,
         "verdict": "broken: promised 1, no limit holds; at least ε = 2.600 leaks", "replay": REPLAY, "games": [GAME],
         "trials": 300, "seed": 0, "command": "coterie audit fed-ucb --mode paper --epsilon 1"}  # fmt: skip
ROW = {"label": "together, private, epsilon=1", "agents": 20, "arms": 10, "horizon": 800, "privacy": PRIVACY, "replay": REPLAY,
       "failed": True, "verdict": "broken: promised 1, no limit holds"}  # fmt: skip
AUDITS = {
    "broken": AUDIT,
    "passed": AUDIT
    | {"failed": False, "violation": False, "proven": {"epsilon": 0.3, "confidence": 0.99}}
    | {"privacy": PRIVACY | {"accounted": {"epsilon": 0.98, "delta": 0.0}, "private": True}},
    "study": {"study": "mine", "rows": [ROW], "failed": True, "verdict": "1 of 1 rows that promise privacy break it"}
    | {"seed": 0, "command": "coterie audit mine"},
}


@cache
def page_of(name):
    written = name
    if name == "dubey-a":
        written = tomllib.loads((BUILTIN / "dubey-a.toml").read_text())
        written["algorithm"] = [one for one in written["algorithm"] if one["name"] in LIED_TO]
    study = load_study(written, STUDIES[name])
    return render(study.run().document(), manifest(study.specification))


@pytest.fixture
def kept(tmp_path):
    """A page as a file."""

    def file(text):
        (tmp_path / "page.html").write_text(text, encoding="utf-8")
        return tmp_path / "page.html"

    return file


SELDOM = ("zhu-2a", "suppliers", "dubey-1c", "dubey-a")  # their engines take a minute to compile


@pytest.mark.parametrize("name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SELDOM)) for name in STUDIES])
def test_the_page_of_a_study_reads_well_at_every_width_light_and_dark(browser, look, kept, name):
    page = page_of(name)
    assert look(kept(page), hero=True) == []
    assert len(page.encode()) < 500_000


@pytest.mark.parametrize("name", AUDITS)
def test_the_page_of_an_audit_reads_well_at_every_width_light_and_dark(look, kept, name):
    assert look(kept(audit.render(AUDITS[name])), hero=True) == []


@cache
def priced_quickstart():
    study = load_study("quickstart", FEW).specification
    return study, price_study(study)


@pytest.mark.parametrize("row", [1, 3, 6], ids=["nothing promised", "kept", "broken"])
def test_a_statement_reads_well_and_prints_on_one_sheet(look, opened, kept, sheets, row):
    path = kept(statement.render(statement.facts(*priced_quickstart(), row)))
    assert look(path) == []
    with opened(path) as page:
        assert sheets(page) == 1


LONG = "=<" + 36 * "abc"  # 110 letters without a space


@cache
def page_of_long_names():
    written = tomllib.loads((BUILTIN / "quickstart.toml").read_text())
    for place, one in enumerate(written["algorithm"]):
        one["label"] = f"{LONG[:-1]}{place}"
    study = load_study(written, FEW)
    return render(study.run().document(), manifest(study.specification))


def test_a_long_name_without_a_space_breaks_on_a_phone_and_is_saved_whole(browser, opened, look, kept, saved):
    path = kept(page_of_long_names())
    assert look(path, widths=[360, 420]) == []
    with opened(path) as page:
        _, *lines = csv.reader(saved(page, page.locator("figure[data-name]").first, "CSV").splitlines())
        assert lines[0][1].startswith(f"'{LONG[:-1]}")


# --- without scripts, in print, by keyboard, saved


def test_without_scripts_answer_picture_and_details_are_all_there(browser, opened, kept):
    with opened(kept(page_of("quickstart")), java_script_enabled=False) as page:
        assert page.locator(".answer").inner_text().startswith(("Yes", "No", "Too"))
        assert page.locator("#hero svg").count() >= 7 and page.locator("#hero svg").first.is_visible()
        assert page.locator(".save").count() == 0
        for one in page.locator("details").all():
            if one.get_attribute("open") is None:
                one.locator("summary").first.click()
            assert one.locator(":scope > :not(summary)").first.is_visible()


def test_in_print_all_details_are_open_on_a_few_sheets(browser, opened, kept, sheets):
    with opened(kept(page_of("quickstart"))) as page:
        assert not page.locator("details:not([open]) .inside").first.is_visible()
        assert 3 <= sheets(page) <= 9
        page.emulate_media(media="print")
        assert all(inside.is_visible() for inside in page.locator("details .inside").all())
        assert not any(button.is_visible() for button in page.locator(".save button").all())


def test_values_are_read_off_a_picture_by_arrow_keys(browser, opened, kept):
    with opened(kept(page_of("quickstart"))) as page:
        pictures = page.locator("[data-readout]")
        assert pictures.count() >= 2
        for picture in (pictures.first, pictures.last):
            picture.focus()
            read = []
            for key in ("ArrowRight", "ArrowRight", "ArrowLeft"):
                page.keyboard.press(key)
                read.append(page.locator("[role=status]:visible").inner_text())
            assert read[0] == read[2] != read[1] and all(any(letter.isdigit() for letter in text) for text in read)
            page.keyboard.press("Escape")
            assert page.locator("[role=status]:visible").count() == 0
        assert page.noise == []


def test_every_picture_can_be_saved_with_its_numbers(browser, opened, kept, saved):
    with opened(kept(page_of("quickstart"))) as page:
        figures = page.locator("figure[data-name]").all()
        assert len(figures) >= 3
        for figure in figures:
            root = ElementTree.fromstring(saved(page, figure, "SVG"))
            assert root.tag == f"{SPACE}svg" and len(list(root.iter(f"{SPACE}text"))) >= 3
            assert not any("var(" in value for element in root.iter() for value in element.attrib.values())
            columns, *lines = csv.reader(saved(page, figure, "CSV").splitlines())
            assert len(lines) >= 3 and all(len(line) == len(columns) for line in lines)
        assert page.noise == []
