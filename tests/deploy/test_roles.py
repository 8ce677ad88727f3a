"""Who a member is, made from the file."""

import pytest
from nodes import make_federation

from coterie.deploy.roles import chance_of, make_roles
from coterie.engines.chance import Keyed, System


def senders(federation, name):
    return {role: who.senders for role, who in make_roles(federation, name, None, []).items()}


def test_peers_know_those_they_hear_by_name(tmp_path):
    edges = [["north", "south"], ["south", "west"]]
    federation = make_federation(tmp_path, network={"edges": edges})
    assert senders(federation, "south") == {"agent": ["north", "west"]}
    assert senders(federation, "west") == {"agent": ["south"]}


def test_around_a_coordinator_agents_know_the_server_and_it_knows_them_all(tmp_path):
    federation = make_federation(tmp_path, "pooled-ucb")
    assert senders(federation, "south") == {"agent": ["server"]}
    assert senders(federation, "centre") == {"server": ["north", "south", "west"]}


def test_without_a_coordinator_everyone_is_both(tmp_path):
    federation = make_federation(tmp_path, "ddp-mab")
    assert senders(federation, "south") == {"agent": ["server"], "server": ["north", "south", "west"]}


def test_who_is_alone_has_a_server_that_knows_it_alone(tmp_path):
    federation = make_federation(tmp_path, "single-mab")
    assert senders(federation, "south") == {"agent": ["server"], "server": ["south"]}


def test_only_an_agent_has_a_budget_and_it_is_that_of_the_file(tmp_path):
    federation = make_federation(tmp_path, "pooled-ucb", budget={"epsilon": 2.0})
    assert make_roles(federation, "north", None, [])["agent"].budget.epsilon == 2.0
    assert make_roles(federation, "centre", None, [])["server"].budget is None


def test_chance_is_the_systems_unless_this_is_a_rehearsal(tmp_path):
    assert isinstance(chance_of(make_federation(tmp_path), 0), System)
    rehearsal = make_federation(tmp_path, clock="common", rehearsal={"seed": 3})
    assert isinstance(chance_of(rehearsal, 1), Keyed)
    dice = [make_roles(rehearsal, name, None, [])["agent"].chance.die(5) for name in ("north", "south", "north")]
    assert dice[0] == dice[2] != dice[1]


@pytest.mark.parametrize("name", ["pooled-ucb", "fed-ucb"])
def test_what_is_known_beforehand_stands_in_the_open_state(tmp_path, name):
    federation = make_federation(tmp_path, name)
    known = federation.method().known
    for place, member in enumerate(federation.agents):
        agent = make_roles(federation, member.name, None, [])["agent"]
        assert all((agent.open[field] == values[place]).all() for field, values in known.items())
