"""What a notebook shows of studies and results."""

import html.parser

import pytest

import coterie

SMALL = {
    "title": "Is <b> harmless & kind?", "horizon": 200, "replications": 5, "problem": {"means": [0.9, 0.5], "agents": 3},
    "algorithm": [{"name": "cdp-mab", "label": "<i>one</i>"}],
}  # fmt: skip


@pytest.fixture(scope="module")
def result():
    return coterie.load_study(SMALL).run()


class Words(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.text = [], ""

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)

    def handle_data(self, data):
        self.text += data


def read(page):
    words = Words()
    words.feed(page)
    return words


def test_names_that_are_public_are_what_is_listed():
    assert dir(coterie) == sorted(coterie.__all__)


def test_a_study_is_one_line():
    study = coterie.load_study(SMALL)
    assert repr(study) == "<Study study: 3 agents, 2 arms, 200 rounds, 5 runs, 1 row>"
    page = read(study._repr_html_())
    assert "Is <b> harmless & kind?" in page.text and "<i>one</i>" in page.text and "i" not in page.tags


def test_a_result_is_its_answer(result):
    assert result.document()["answer"]["sentence"] in repr(result) and len(repr(result)) < 1000
    page = read(result._repr_html_())
    assert "<i>one</i>" in page.text and set(page.tags) <= {"p", "b", "table", "tr", "th", "td"}


def test_a_result_draws_itself_and_is_still_the_one_of_studies(result):
    assert result.plot("bars").axes[0].patches
    assert result.frame().height == result.checkpoints.height and len(result.summary) == 1


def test_a_picture_shows_itself_and_leaves_the_notebooks_own_pictures_alone(result, monkeypatch):
    import matplotlib

    monkeypatch.setitem(matplotlib.rcParams, "backend", "svg")
    before = dict(matplotlib.rcParams)
    assert result.plot()._repr_png_().startswith(b"\x89PNG")
    assert dict(matplotlib.rcParams) == before


def test_types_are_handed_on():
    from importlib.resources import files

    assert files("coterie").joinpath("py.typed").is_file()


def test_few_runs_have_no_interval_and_who_learns_alone_sends_nothing():
    rows = [{"name": "cdp-mab"}, {"name": "ucb1"}]
    page = read(coterie.load_study(SMALL | {"replications": 3, "algorithm": rows}).run()._repr_html_())
    assert "±" not in page.text and "too few for an interval" in page.text
    assert page.text.endswith("nothingsends nothing")
