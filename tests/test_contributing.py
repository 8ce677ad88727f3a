"""What the guide says about new graphs, attacks, laws and charts: its blocks are written into a copy of the sources and run."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from coterie.studies import builtin_studies, load_study

ROOT = Path(__file__).parents[1]
GUIDE = (ROOT / "CONTRIBUTING.md").read_text()
BLOCK = re.compile(r"```python\n# (src/\S+)\n(.*?)```", re.S)
FILES_MOST = {"A graph": 1, "An attack": 1, "A law of rewards": 2, "A chart": 2}
STUDY = {
    "horizon": 8,
    "replications": 1,
    "problem": {"kind": "even", "means": [0.2, 0.6, 0.7], "agents": 6, "width": 0.5},
    "network": {"graph": "lattice", "width": 3},
    "faults": {"sweep": {"liars": [0.2], "attack": ["praise-all", "random"]}},
    "algorithm": [{"name": "coop-ucb"}],
}
SCRIPT = """
import functools, json, sys
from coterie.errors import UsageError
from coterie.report import render
from coterie.studies import builtin_studies, case, load_study
from coterie.studies.results import manifest

for name in ("simulate_mesh", "simulate_star"):  # nothing is compiled
    setattr(case, name, functools.partial(getattr(case, name), compiled=False))


def refused(**tables):
    try:
        load_study(study | tables)
    except UsageError as error:
        return str(error)


study = json.load(sys.stdin)
loaded = load_study(study)
result = loaded.run(workers=1)
told = {
    "summary": result.document(),
    "page": render(result.document(), manifest(loaded.specification)),
    "refused": [
        refused(network={"graph": "lattice", "width": 1}),
        refused(network={"graph": "ring", "width": 3}),
        refused(network={"graph": "rnig"}),
        refused(problem=study["problem"] | {"width": 0}),
        refused(faults={"liars": 0.2, "attack": "praise"}),
    ],
    "edges": case.GRAPHS["lattice"].made(6, None, loaded.specification.network).edges.tolist(),
    "digests": {name: load_study(name).specification.digest for name in builtin_studies()},
}
json.dump(told, sys.stdout)
"""


def blocks_of(heading):
    section = GUIDE.partition(f"### {heading}\n")[2].partition("\n### ")[0].partition("\n## ")[0]
    return BLOCK.findall(section)


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What a copy of the sources says, once all blocks of the guide stand in it."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for heading in FILES_MOST:
        for path, code in blocks_of(heading):
            with (folder / path).open("a") as file:
                file.write(f"\n\n{code}")
    known = os.environ | {"PYTHONPATH": str(folder / "src")}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], input=json.dumps(STUDY), capture_output=True, text=True, env=known, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("heading", FILES_MOST)
def test_what_is_new_touches_few_files(heading):
    assert 1 <= len({path for path, _ in blocks_of(heading)}) <= FILES_MOST[heading]


def test_a_study_runs_with_all_of_them(told):
    """Six agents in a lattice of two rows, one of whom lies. Gaps are 0.5, 0.1 and 0; each arm is pulled once beforehand."""
    rows = told["summary"]["rows"]
    assert [row["faults"] for row in rows] == [{"liars": 0.2, "attack": name} for name in ("praise-all", "random")]
    assert told["edges"] == [[0, 1], [0, 3], [1, 2], [1, 4], [2, 5], [3, 4], [4, 5]]
    assert all(0 < row["regret_per_agent"]["mean"] <= 8 * 0.5 + 0.6 for row in rows)
    assert told["summary"]["study"]["network"]["width"] == 3 and told["summary"]["study"]["problem"]["width"] == 0.5


def test_the_page_says_what_the_entries_say(told):
    page = re.sub(r"\s+", " ", told["page"])
    for sentence in (
        "they form a lattice 3 wide.",
        "Every choice brings a reward spread evenly around its mean; the arms",
        'title="every arm is worth 1">praise-all<',
        "Bytes that all agents together have sent.",
        'aria-label="coop-ucb',
    ):
        assert sentence in page, sentence


def test_messages_know_them(told):
    assert told["refused"] == [
        "study: network.width must be a whole number in [2, 1000], got 1",
        "study: network.width must be left out unless graph is 'lattice', got 3",
        "study: network.graph must be 'complete', 'star', 'ring', 'path', 'erdos-renyi' or 'lattice', got 'rnig'; "
        "did you mean 'ring'?",
        "study: problem.width must be a number in (0, 1] (share of the room that 0..1 leaves), got 0",
        "study: faults.attack must be 'random', 'promote-worst', 'promote-second', 'sign-flip', 'inside-window', 'sleeper' or "
        "'praise-all', got 'praise'; did you mean 'praise-all'?",
    ]


def test_no_other_study_is_changed_by_them(told):
    assert told["digests"] == {name: load_study(name).specification.digest for name in builtin_studies()}
