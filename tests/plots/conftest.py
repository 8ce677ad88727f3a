"""A small finished run, made once."""

import pytest

from coterie.studies import load_study

SMALL = {
    "title": "Does noise cost much?",
    "horizon": 400,
    "replications": 6,
    "problem": {"means": [0.9, 0.5, 0.4], "agents": 4},
    "algorithm": [{"name": "cdp-mab", "sweep": {"epsilon": [1, 2, 5]}}, {"name": "cdp-mab", "epsilon": float("inf")}],
}


@pytest.fixture(scope="session")
def run(tmp_path_factory):
    """(its folder, its summary)"""
    folder = tmp_path_factory.mktemp("runs") / "small"
    return folder, load_study(SMALL).run(out=folder).document()
