"""Every algorithm that promises something is lived twice in all its examples, and nothing shows but what was paid for."""

from math import inf

import pytest

from coterie.algorithms import entries
from coterie.audit.replay import replay
from coterie.audit.stage import small_case, small_case_twice, with_room
from coterie.building import is_silent
from coterie.privacy.mechanisms import SHARES

EXAMPLES = [(name, example) for name, entry in entries().items() for example in entry.examples]


def by_name(part):
    return " ".join(map(str, part.values())) or "plain" if isinstance(part, dict) else part


def kept(told):
    return told.findings == () and told.left_out == 0 and told.price <= told.booked * (1 + 1e-12)


@pytest.mark.parametrize(("name", "example"), EXAMPLES, ids=by_name)
def test_a_changed_reward_shows_only_where_it_was_paid_for(name, example):
    """One reward, interpreted. Where a caveat says so choices are held fixed."""
    case = with_room(lambda rounds: small_case(name, example, rounds), 16, 500)
    if case.method.claim.epsilon == inf:
        pytest.skip("promises nothing")
    assert kept(replay(case, 3, 1, compiled=False))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "example"), EXAMPLES, ids=by_name)
def test_every_reward_of_every_agent_shows_only_where_it_was_paid_for(name, example):
    case = small_case_twice(name, example)
    if case.method.claim.epsilon == inf:
        pytest.skip("promises nothing")
    told = replay(case, 3)
    assert kept(told) and (told.price > 0 or is_silent(case.method))


@pytest.mark.parametrize("name", ["cdp-mab", "pooled-ucb"])
def test_what_a_server_opens_is_held_against_what_the_agents_have_paid(name):
    """No agent's door shows what is sealed; the sums that a server opens do, and an agent that books nothing is found."""
    case = with_room(lambda rounds: small_case(name, {"noise": "secagg"}, rounds), 16, 500)
    told = replay(case, 3, 4, compiled=False)
    assert kept(told) and told.price == told.booked == pytest.approx(1.0)
    free = case.method.node._replace(mechanism=SHARES._replace(covers="nothing"))
    cheated = replay(case._replace(method=case.method._replace(node=free)), 3, 4, compiled=False)
    assert any(found.startswith("more is lost than was booked") for found in cheated.findings)
