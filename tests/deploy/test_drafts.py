"""The file to fill in: filled in, it is a federation file."""

import tomllib

import pytest
from nodes import member

from coterie.deploy.drafts import draft, structure
from coterie.deploy.federation import federation_text, load_federation
from coterie.errors import UsageError

ROWS = [
    {"name": "pooled-ucb", "epsilon": 1.0},
    {"name": "cdp-mab", "epsilon": 0.5},
    {"name": "fed-ucb", "epsilon": 2.0},
    {"name": "pr-ucb"},
]


def filled_in(tables):
    tables["agents"] = [member(agent["name"]) for agent in tables["agents"]]
    if "coordinator" in tables:
        tables["coordinator"] = member("centre")
    tables["rewards"]["within"] = "28 days"
    tables["broker"]["address"] = "tls://broker.example:4222"
    return federation_text(tables)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_filled_in_it_is_a_federation_file(tmp_path, row):
    text, file = draft(row, 5, 3, 1000, "federation.toml"), tmp_path / "federation.toml"
    file.write_text(text)
    with pytest.raises(UsageError, match="agents"):
        load_federation(file)
    file.write_text(filled_in(tomllib.loads(text)))
    found = load_federation(file)
    assert (found.algorithm.name, len(found.agents), len(found.arms), found.horizon) == (row["name"], 5, 3, 1000)
    assert (found.coordinator is not None) == (structure(row, 5, 3, 1000) == "server")


def test_who_stays_alone_needs_no_file():
    with pytest.raises(UsageError, match="each stays alone"):
        draft({"name": "solo-ucb"}, 5, 3, 1000, "federation.toml")
