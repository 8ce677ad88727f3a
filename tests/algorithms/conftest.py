"""Cases of a procurement, made by a study."""

import pytest

from coterie.studies import load_study
from coterie.studies.case import make_case


def make_purchase(name, horizon=300, problem=None, seed=3, **options):
    """One algorithm on 5 agents and 4 producers, unless `problem` says otherwise; the exploration takes 10 rounds."""
    about = {"kind": "procurement", "agents": 5, "producers": 4, "instances": 1} | (problem or {})
    table = {"name": name, "exploration": 10} | options
    study = load_study({"horizon": horizon, "seed": seed, "problem": about, "algorithm": [table]}).specification
    return make_case(study, study.rows[0], 0)


@pytest.fixture(scope="session")
def purchase():
    return make_purchase
