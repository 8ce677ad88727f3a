"""A deliberately wrong algorithm turns a claim of its family red.

A mutant is the family's own file with one line changed, in the place of the true one. Each claim is judged on a small form of
its study, on which the true algorithm passes.
"""

import hashlib
import importlib.util
import sys
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest

from coterie import algorithms
from coterie.claims import Lab, Paper, judge, papers
from coterie.engines.simulate import simulate_mesh
from coterie.studies import case


class Mutant(NamedTuple):
    paper: str
    claim: str
    small: tuple[str, ...]  # settings of the study
    family: str
    line: str
    wrong: str


MUTANTS = {
    "elimination, noise doubled": Mutant(
        "li-song", "thm1-m-epsilon", ("replications=2", "horizon=2000"), "elimination",
        '"paper": averaged * o.epsilon', '"paper": 0.5 * averaged * o.epsilon',
    ),
    "elimination, radius halved": Mutant(
        "li-song", "fig6-cost", ("replications=5",), "elimination",
        "best_score(open) - 2.0 * radius", "best_score(open) - radius",
    ),
    "elimination, weight of the past dropped": Mutant(
        "li-song", "thm1-logarithmic", ("replications=5",), "elimination",
        "open.total[out.arm[e]] += out.value[e]\n    count_samples", "open.total[out.arm[e]] = out.value[e]\n    count_samples",
    ),
    "gossip, noise doubled": Mutant(
        "zhu", "private-form-keeps", ("replications=2", "horizon=200"), "gossip",
        "offer(out, k, p.price)", "offer(out, k, 0.5 * p.price)",
    ),
    "cooperation, weight of others dropped": Mutant(
        "dubey", "no-knowledge", ("replications=3",), "cooperative",
        "count, total = own.count[k] + view.heard_count[k], own.total[k] + view.heard_total[k]",
        "count, total = own.count[k], own.total[k]",
    ),
    "procurement, weight of others dropped": Mutant(
        "solanki", "federation-helps-normal", ("replications=2", "horizon=3000", "problem.producers=12"), "procurement_printed",
        "units = real(secret.count[k]) + inner.learned_units[k]\n        known", "units = real(secret.count[k])\n        known",
    ),
}  # fmt: skip


@pytest.fixture
def put_in_place(monkeypatch, tmp_path):
    """The family's file with another line: its algorithms take the places of the true ones."""

    def put(mutant):
        source = Path(import_module(f"coterie.algorithms.{mutant.family}").__file__).read_text()
        assert source.count(mutant.line) == 1
        text = source.replace(mutant.line, mutant.wrong)
        name = f"mutant_{mutant.family}_{hashlib.sha256(text.encode()).hexdigest()[:16]}"
        path = tmp_path / f"{name}.py"
        path.write_text(text)
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, module)
        spec.loader.exec_module(module)
        known = algorithms.entries() | {entry.name: entry for entry in module.ENTRIES}
        monkeypatch.setattr(algorithms, "entries", lambda: known)

    return put


def judged(mutant):
    (claim,) = (claim for claim in papers()[mutant.paper].claim if claim.id == mutant.claim)
    alone = Paper(id="alone", authors="a", year=1, title="t", reduced={"*": mutant.small}, claim=(claim,))
    return judge(claim, Lab(alone, workers=1))


FURTHER = ("elimination, noise doubled", "elimination, weight of the past dropped")  # one of each family is enough by default


@pytest.mark.parametrize(
    "mutant", [pytest.param(mutant, id=name, marks=[pytest.mark.slow] * (name in FURTHER)) for name, mutant in MUTANTS.items()]
)
def test_a_wrong_algorithm_turns_a_claim_red(mutant, put_in_place, monkeypatch):
    """Gossip is interpreted: it pays in a few rounds what it pays in many."""
    if mutant.family == "gossip":
        monkeypatch.setattr(case, "simulate_mesh", partial(simulate_mesh, compiled=False))
    assert (true := judged(mutant)).confirmed, true.text
    put_in_place(mutant)
    assert not (wrong := judged(mutant)).confirmed, wrong.text
