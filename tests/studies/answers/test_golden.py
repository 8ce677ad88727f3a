"""The answers of all built-in studies, at a small size, in one file that a person can read: answers.md.

When a sentence is meant to change, make the file anew and read it (minutes):

    python tests/studies/answers/test_golden.py
"""

import re
from functools import cache
from pathlib import Path

import polars as pl
import pytest
from scipy.stats import t, ttest_rel

from coterie.studies import builtin_names, load_study
from coterie.studies.results import Result, parquet

FILE = Path(__file__).with_name("answers.md")
HEAD = """# What the built-in studies answer

Of small runs: a few agents, short horizons, few runs. Made by `python tests/studies/answers/test_golden.py`.
"""
SIZES = {
    "dubey": ["problem.agents=24", "network.probability=0.3", "horizon=300", "replications=6"],
    "hospitals": ["horizon=20000", "replications=6"],
    "li": ["horizon=100000", "replications=5"],
    "quickstart": ["horizon=20000", "replications=6"],
    "secure": ["horizon=20000", "replications=5"],
    "solanki": ["horizon=2000", "replications=5"],
    "suppliers": ["horizon=1000", "replications=5"],
    "zhu": ["horizon=20000", "replications=5"],
}
HANDFUL = ("quickstart", "li-song-4", "li-song-8-homogeneous", "li-song-10-ring")
FURTHER = ("hospitals", "suppliers")


@cache
def small(name: str) -> Result:
    return load_study(name, SIZES[name.partition("-")[0]]).run(1)


def entry(name: str) -> str:
    document = small(name).document()
    answer = document["answer"]
    lines = [f"**{name}** ({answer['kind']}): {document['study']['title']}", answer["sentence"]]
    return "  \n".join([*lines, *([f"✕ {answer['red']}"] if answer["red"] else [])])


def kept() -> dict[str, str]:
    entries = FILE.read_text().strip().split("\n\n")[2:]
    return {re.match(r"\*\*(.*?)\*\*", text)[1]: text for text in entries}


@pytest.mark.parametrize("name", HANDFUL)
def test_a_handful_of_answers_is_as_written(name):
    assert entry(name) == kept()[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", builtin_names())
def test_all_answers_are_as_written(name):
    assert entry(name) == kept()[name]


def test_every_built_in_study_has_an_answer_and_none_is_long():
    assert list(kept()) == builtin_names()
    for name, text in kept().items():
        sentence = text.splitlines()[1]
        assert len(sentence) < 260 and sentence[0].isupper() and sentence.strip().endswith("."), name


@pytest.mark.parametrize("name", [*HANDFUL, *(pytest.param(name, marks=pytest.mark.slow) for name in FURTHER)])
def test_verdicts_follow_from_the_table_of_all_runs(name, tmp_path):
    """By another library, from the file that a run leaves."""
    result = small(name)
    (tmp_path / "results.parquet").write_bytes(parquet(result.frame()))
    frame = pl.read_parquet(tmp_path / "results.parquet")
    document = result.document()
    answer, horizon = document["answer"], document["study"]["horizon"]
    last = frame.filter(pl.col("round") == horizon).sort("row", "replication")
    runs = [one["regret_per_agent"].to_numpy() / horizon for one in last.partition_by("row")]
    for found in answer["differences"]:
        test = ttest_rel(runs[found["row"]], runs[found["against"]])
        low, high = test.confidence_interval(0.95)
        assert found["mean"] == pytest.approx((low + high) / 2) and found["margin"] == pytest.approx((high - low) / 2)
        assert found["verdict"] == ("less" if high < 0 else "more" if low > 0 else "close")
        assert (test.pvalue < 0.05) == (found["verdict"] != "close")
    for place, row in enumerate(document["rows"]):
        mean, error = runs[place].mean(), runs[place].std(ddof=1) / len(runs[place]) ** 0.5
        assert row["per_decision"]["mean"] == pytest.approx(mean)
        assert row["per_decision"]["margin"] == pytest.approx(t.ppf(0.975, len(runs[place]) - 1) * error)
    if answer["together"] is not None and answer["alone"] is not None and answer["verdict"] == "yes":
        alone, together = (f"{runs[answer[who]].mean() * answer['unit']['decisions']:,.1f}" for who in ("alone", "together"))
        assert f"from {alone} to {together}" in answer["sentence"]
        assert ttest_rel(runs[answer["together"]], runs[answer["alone"]], alternative="less").pvalue < 0.025


if __name__ == "__main__":
    found = []
    for name in builtin_names():
        found.append(entry(name))
        print(found[-1], flush=True)
    FILE.write_text("\n\n".join([HEAD.strip(), *found]) + "\n")
