"""Every command of the page about one's own data runs, and so do its tables and its study."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from coterie.problem.decisions import KNOWN
from coterie.studies.reading import load

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/own-data.md").read_text()
COMMANDS = re.findall(r"^coterie (.+)$", PAGE, re.M)


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_of_the_page_runs(command, tmp_path, line):
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    done = command(*shlex.split(line))
    assert (done.returncode, done.stdout != "") == (0, True), done.stderr


def test_the_page_has_commands_and_knows_every_column():
    assert len(COMMANDS) == 3
    assert all(f"`{column}`" in PAGE for column in KNOWN)


def test_the_tables_of_the_page_are_taken(tmp_path):
    rewards, counts = re.findall(r"```csv\n(.*?)```", PAGE, re.S)
    assert (ROOT / "examples/log.csv").read_text().startswith(rewards)
    (tmp_path / "counts.csv").write_text(counts)
    study = {"horizon": 9, "problem": {"file": str(tmp_path / "counts.csv")}, "algorithm": [{"name": "ucb1"}]}
    assert load(study).problem.table_means().tolist() == [[41 / 120, 70 / 131]]
