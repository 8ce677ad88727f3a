"""Every algorithm that promises something is lived twice in all its examples, and nothing shows but what was paid for."""

from math import inf

import pytest

from coterie.algorithms import entries
from coterie.audit.replay import replay
from coterie.audit.stage import small_case, small_case_twice, with_room
from coterie.building import is_silent

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
    told, sealed = replay(case, 3), not case.method.node.mechanism.single  # what is sealed nobody sees at an agent's door
    assert kept(told) and (told.price > 0 or is_silent(case.method) or sealed)
