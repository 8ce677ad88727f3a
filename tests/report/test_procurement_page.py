"""The page of a real run: what a study of procurement leaves is what the page reads."""

import re

import coterie
from coterie.report import render
from coterie.studies.results import manifest


def page_of(source, *sets):
    """The words of the page, without the study that is printed at its end."""
    small = [f"{key}={value}" for key, value in (("horizon", 300), ("replications", 2)) if not any(key in one for one in sets)]
    study = coterie.load_study(source, [*small, *sets])
    page = render(study.run().document(), manifest(study.specification))
    assert page.count("<h2") == page.count("</h2>")
    return " ".join(re.sub(r"<[^>]+>", " ", page.split("<summary>The study as it was run")[0]).split())


def test_the_page_of_a_suppliers_table_names_buyers_and_producers():
    text = page_of("suppliers")
    for part in ("Millstone Lifts", "Alder Castings (0.96)", "Larch Imports (0.41)", "What was bought", "limit 0.7"):
        assert part in text, part
    assert "What each buyer took in about each producer" in text
    assert "What the printed noise would give" not in text  # no row is printed
    assert "compared with learning alone by the same rule" in text
    assert "The yardstick is an echo control" in text
    assert set(re.findall(r"Figure \d", text)) == {f"Figure {number}" for number in range(1, 6)}
    assert not re.search(r"\b(agent|arm)s?\b", text)


def test_the_page_of_drawn_instances_tells_nothing_of_single_producers():
    problem = {"kind": "procurement", "agents": 3, "producers": 12}
    rows = [{"name": "nf-cb", "exploration": 8}, {"name": "p-fcb", "exploration": 8, "window": [16, 300], "mode": "paper"}]
    text = page_of({"horizon": 300, "problem": problem, "algorithm": rows})
    assert "Average true quality of what an agent bought" in text
    assert "Slack" in text and "agent 2" in text
    assert "Units ordered per round" not in text
    assert "took in about each" not in text
    assert "echo control, which" not in text  # none was run
    assert "What the printed noise would give if orders did not follow from outcomes" in text


def test_a_run_that_only_explores_has_a_page():
    text = page_of("suppliers", "horizon=5", "replications=1")
    assert "limit 0.7" not in text  # nothing was bought after the exploration
    assert "Everything was run once" in text and "takes 5 rounds" in text
