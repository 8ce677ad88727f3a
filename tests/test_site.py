"""The site is built without a warning and without a network, fetches nothing from elsewhere, and its notebook runs."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]
NOTEBOOK = ROOT / "docs/first-study.ipynb"
OFFLINE = """
import socket, sys
from sphinx.cmd.build import main
def refuse(*given):
    raise OSError("there is no network")
socket.socket.connect = socket.getaddrinfo = refuse
sys.exit(main(sys.argv[1:]))
"""


class Resources(HTMLParser):
    """What a browser fetches by itself to show a page."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attributes):
        told = dict(attributes)
        fetched = tag in ("script", "img", "iframe", "source") or (tag == "link" and "stylesheet" in told.get("rel", ""))
        self.found += [told[key] for key in ("src", "href", "srcset") if fetched and told.get(key)]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    out = tmp_path_factory.mktemp("site")
    words = ["-W", "--keep-going", "-q", "-c", "docs", "-d", str(out / "trees"), ".", str(out / "html")]
    done = subprocess.run([sys.executable, "-c", OFFLINE, *words], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return out / "html"


def test_every_document_is_a_page_and_the_first_one_is_found(site):
    pages = {path.with_suffix(".html").relative_to(ROOT) for path in [*ROOT.glob("docs/*.md"), NOTEBOOK]}
    assert len(pages) > 20 and [page for page in sorted(pages) if not (site / page).is_file()] == []
    assert 'url=docs/index.html"' in (site / "index.html").read_text()


def test_a_page_fetches_nothing_from_elsewhere(site):
    fetched = 0
    for page in site.rglob("*.html"):
        found = Resources()
        found.feed(page.read_text())
        fetched += len(found.found)
        for address in found.found:
            assert not re.match(r"(\w+:)?//", address) or address.startswith("data:"), (page, address)
            place = re.sub(r"[?#].*", "", address)
            assert address.startswith("data:") or (page.parent / place).is_file(), (page, address)
    assert fetched > 100
    styles = "".join(path.read_text() for path in site.rglob("*.css"))
    assert styles and not re.search(r"@import|url\(['\"]?(https?:)?//", styles)


def test_the_pages_have_a_dark_form_and_fit_a_telephone(site):
    page = (site / "docs/index.html").read_text()
    assert 'name="viewport"' in page and "prefers-color-scheme: dark" in page + (site / "_static/styles/furo.css").read_text()


def test_the_notebook_shows_what_it_shows_when_it_is_run(tmp_path):
    """But for numbers and pictures, which are as the machine draws them."""
    kept, run = (nbformat.read(NOTEBOOK, as_version=4) for _ in range(2))
    kernel = {"env": os.environ | {"PYTHONPATH": str(ROOT / "src")}, "cwd": str(tmp_path)}
    NotebookClient(run, timeout=600, kernel_name="python3").execute(**kernel)
    assert [shown(cell) for cell in run.cells] == [shown(cell) for cell in kept.cells]
    assert sum(len(cell.get("outputs", [])) for cell in kept.cells) == 4 and NOTEBOOK.stat().st_size < 100_000


def shown(cell):
    """Each output by its kinds, and its words without numbers and without what depends on their length."""
    outputs = [output["data"] for output in cell.get("outputs", []) if output["output_type"] == "execute_result"]
    return [(sorted(data), re.sub(r"[\d.,\s─]+", " ", data["text/plain"])) for data in outputs]
