"""Leaks that can no longer be written: what they would need is not handed to a hook, or the door does not go by it."""

from pathlib import Path

import numpy as np
import pytest

from coterie import contract
from coterie.algorithms import find
from coterie.audit.auditing import broken_promise
from coterie.audit.stage import small_case
from coterie.building import build
from coterie.contract import Algorithm, Claim, Method, Setting, offer, offer_between
from coterie.engines.simulate import simulate_mesh
from coterie.errors import AlgorithmError
from coterie.privacy.statement import statement
from coterie.studies.running import booked

FILE = str(Path(__file__).with_name("leaks.py"))
CASE = small_case(FILE, {}, 12)
HONEST = CASE.method.node


def run(**hooks):
    """Interpreted: a hook is called as it is written."""
    method = CASE.method._replace(node=HONEST._replace(**hooks))
    about = (method, CASE.problem, CASE.worlds, CASE.agents, CASE.horizon, np.zeros(0, int), CASE.links)
    return simulate_mesh(*about, seed=3, compiled=False)


def release_a_raw_sum(secret, open, p, t, plan, out):
    open.total[plan.arm[0]] += secret.total[plan.arm[0]]


def release_when_the_sum_says_so(secret, open, p, t, plan, out):
    if secret.total[plan.arm[0]] > 0:
        offer(out, plan.arm[0], p.epsilon)


def choose_by_the_total(open, p, t, die, plan):
    open.hint = plan.total[0]


def publish_the_total(open, p, t, plan, out):
    open.hint = plan.total[0]


def publish_the_secret(open, p, t, plan, out):
    open.hint = out.total[0]


@pytest.mark.parametrize(
    ("hook", "function", "error"),
    [
        ("release", release_a_raw_sum, TypeError),
        ("release", release_when_the_sum_says_so, TypeError),
        ("choose", choose_by_the_total, AttributeError),
        ("publish", publish_the_total, AttributeError),
        ("publish", publish_the_secret, AttributeError),
    ],
)
def test_no_hook_is_handed_a_reward_or_a_sum_of_rewards(hook, function, error):
    with pytest.raises(error):
        run(**{hook: function})


def release_with_no_sensitivity(open, p, t, plan, out):
    HONEST.release(open, p, t, plan, out)
    out.sensitivity[:] = 0.0


def release_as_another_stretch(open, p, t, plan, out):
    HONEST.release(open, p, t, plan, out)
    out.first[:], out.last[:] = 1000, 1001


def release_a_value_of_its_own(open, p, t, plan, out):
    HONEST.release(open, p, t, plan, out)
    out.value[:] = 77 << 40


@pytest.mark.parametrize("release", [release_with_no_sensitivity, release_as_another_stretch, release_a_value_of_its_own])
def test_release_cannot_say_anything_of_cover_sensitivity_and_value(release):
    with pytest.raises(AttributeError, match=r"no field '(sensitivity|first|value)' here"):
        run(release=release)
    assert run().ledgers["entries"].sum() > 0


def release_for_nothing(open, p, t, plan, out):
    offer(out, plan.arm[0], 0.0)


def release_below_nothing(open, p, t, plan, out):
    offer(out, plan.arm[0], -1.0)


def release_backwards(open, p, t, plan, out):
    offer_between(out, plan.arm[0], contract.NOW, contract.START, 0, 1.0, 0)


def release_too_much(open, p, t, plan, out):
    for _ in range(9):
        offer(out, plan.arm[0], 1.0)


@pytest.mark.parametrize(
    ("release", "why"),
    [
        (release_for_nothing, "a price that is not above 0"),
        (release_below_nothing, "a price that is not above 0"),
        (release_backwards, "a mark or a chain that does not exist"),
        (release_too_much, "more entries than there is room for"),
    ],
)
def test_what_the_door_refuses_ends_a_run(release, why):
    with pytest.raises(AlgorithmError, match=why):
        run(release=release)


def made(claim, **changes):
    entry = find(FILE)._replace(build=lambda options, setting: Method(HONEST._replace(**changes), CASE.method.p, claim))
    return build(entry, None, Setting(agents=3, arms=2, horizon=24))


@pytest.mark.parametrize("epsilon", [-1.0, 0.0, float("nan")])
def test_a_promise_must_be_a_number_above_zero(epsilon):
    with pytest.raises(AlgorithmError, match="epsilon of a claim must be a number in"):
        made(Claim(epsilon))


def look(secret, inner, open, p, t, die, plan):
    pass


def test_a_hook_that_reads_the_secret_needs_a_caveat():
    with pytest.raises(AlgorithmError, match="caveat of leaky must say why"):
        made(Claim(1.0), peek=look)
    assert made(Claim(1.0), peek=look, caveat="it says why").claim.epsilon == 1


def test_an_understated_promise_is_void_by_its_ledger():
    """The claim is a number of its own: 0.001 at the prices of 1."""
    case = CASE._replace(method=CASE.method._replace(claim=Claim(0.001)))
    told = statement(case.method.claim, case.doors, float(booked(case.method, run()).max()))
    assert told["private"] is False and broken_promise(told) == "promised 0.001, 1 holds"


def test_every_hook_without_a_caveat_is_written_without_the_secret():
    for hook in contract.HOOKS:
        names = getattr(contract, hook).__code__.co_varnames[: getattr(contract, hook).__code__.co_argcount]
        assert not {"secret", "inner", "harvest", "world"} & set(names), hook
    assert Algorithm("x").peek is None and Algorithm("x").overhear is None
