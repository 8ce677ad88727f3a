"""The page about one's own data knows every column, and its tables are taken. tests/test_docs.py runs its commands."""

import re
from pathlib import Path

from coterie.problem.decisions import KNOWN
from coterie.studies.reading import load

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/own-data.md").read_text()


def test_the_page_knows_every_column():
    assert all(f"`{column}`" in PAGE for column in KNOWN)


def test_the_tables_of_the_page_are_taken(tmp_path):
    rewards, counts = re.findall(r"```csv\n(.*?)```", PAGE, re.S)
    assert (ROOT / "examples/log.csv").read_text().startswith(rewards)
    (tmp_path / "counts.csv").write_text(counts)
    study = {"horizon": 9, "problem": {"file": str(tmp_path / "counts.csv")}, "algorithm": [{"name": "ucb1"}]}
    assert load(study).problem.table_means().tolist() == [[41 / 120, 70 / 131]]
