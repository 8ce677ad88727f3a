"""The page of benchmarks: what is kept of it, and how it is compared."""

import io
import json
import platform
import sys
from pathlib import Path

import pytest
from rich.console import Console

ROOT = Path(__file__).parents[1]


@pytest.fixture
def page(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks import page

    monkeypatch.setattr(page, "PAGES", tmp_path)
    return page


def printed(page, section):
    console = Console(file=io.StringIO(), width=120)
    page.print_section(console, section, page.kept())
    return [line.split() for line in console.file.getvalue().splitlines() if line.strip()]


def test_a_page_is_compared_with_the_last_one_of_the_same_processor(page):
    then, now = (page.Section("Race", "ns", {"ours": 10.0, "theirs": theirs}) for theirs in (40.0, 30.0))
    assert printed(page, now)[-1] == ["theirs", "30", "3.00", "x"]
    page.keep([then])
    assert printed(page, now)[-1] == ["theirs", "30", "3.00", "x", "4.00", "x"]
    page.keep([page.Section("Other", "", {"s": 1.0}, ratios=False)])
    assert set(page.kept()["figures"]) == {"Race", "Other"}


def test_what_is_kept_names_the_processor_and_no_machine(page, tmp_path):
    page.keep([page.Section("Race", "ns", {"ours": 10.0})])
    (file,) = tmp_path.iterdir()
    kept = json.loads(file.read_text())
    assert kept["processor"] == page.processor() and kept["processor"].endswith(" cores")
    assert platform.node() not in file.read_text() and str(ROOT) not in file.read_text()


def test_the_page_of_the_docs_is_that_of_what_is_kept(page, monkeypatch):
    monkeypatch.setattr(page, "PAGES", ROOT / "benchmarks/pages")
    anew = "make it anew: python -m benchmarks.page docs/benchmarks.md"
    assert (ROOT / "docs/benchmarks.md").read_text() == page.written(), anew


def test_an_unknown_benchmark_is_refused_with_the_nearest(page, capsys):
    from benchmarks.__main__ import main

    with pytest.raises(SystemExit):
        main(["gosip"])
    assert "did you mean 'gossip'" in capsys.readouterr().err
    sys.modules.pop("benchmarks.__main__", None)
