"""Writing an engine down for an algorithm: what is refused, and what makes it another one."""

import importlib
from typing import NamedTuple

import pytest

from coterie.building import build
from coterie.contract import Algorithm, Claim, Entry, Method, Options, Setting, plan_record
from coterie.engines import mesh, star
from coterie.engines.bind import bind
from coterie.errors import AlgorithmError
from coterie.kernel import node, one
from coterie.privacy.mechanisms import GAUSS, PAIR
from coterie.problem import bernoulli, gaussian

OWN_HOOKS = '''"""Hooks of a test."""
from coterie.contract import order
from coterie.kernel import node

@node
def choose(open, p, t, die, plan):
    order(plan, {arm}, 1)
'''


class Params(NamedTuple):
    arms: int = 4


@node
def peek(secret, inner, open, p, t, die, plan):
    """Looks, and does nothing."""


@node
def overhear(secret, inner, open, peer, p, t, message):
    """Looks, and does nothing."""


def entry_of(*roles):
    """An entry that builds a method of these roles: a node, and perhaps a server."""
    made = Method(roles[0], Params(), Claim(1.0), *roles[1:])
    return Entry("own", "a test", Options, lambda options, setting: made)


@pytest.mark.parametrize("hook", [{"peek": peek}, {"overhear": overhear}])
def test_reading_the_secret_needs_a_caveat(hook):
    nosy = Algorithm("nosy", **hook)
    for roles in ((nosy,), (Algorithm("client"), nosy)):
        with pytest.raises(AlgorithmError, match="own: caveat of nosy must say why a hook may read the secret, got ''"):
            build(entry_of(*roles), Options(), Setting(1, 4, 10))
    allowed = entry_of(nosy._replace(caveat="nobody sees the choices"))
    assert build(allowed, Options(), Setting(1, 4, 10)).node.caveat == "nobody sees the choices"


@node
def release(open, p, t, plan, out):
    """A door of its own, whatever passes it."""


def test_raw_rewards_go_only_from_those_who_say_so_to_those_whose_door_is_accounted():
    node, server = Algorithm("client"), Algorithm("served")
    trusting, trusted = node._replace(trusts=True), server._replace(trusted=True)
    for roles in ((node, trusted), (trusting, server), (trusting,)):
        with pytest.raises(AlgorithmError, match="own: trusts and trusted must be both set or neither"):
            build(entry_of(*roles), Options(), Setting(1, 4, 10))
    with pytest.raises(AlgorithmError, match="own: an agent that trusts its server must have no release"):
        build(entry_of(trusting._replace(release=release), trusted), Options(), Setting(1, 4, 10))
    assert build(entry_of(trusting, trusted), Options(), Setting(1, 4, 10)).node.trusts


@pytest.mark.parametrize("number", [0.0, -1.0, float("nan")])
def test_a_claim_that_is_none_is_refused(number):
    entry = entry_of(Algorithm("node"))
    broken = entry._replace(build=lambda options, setting: entry.build(options, setting)._replace(claim=Claim(number)))
    with pytest.raises(AlgorithmError, match="own: epsilon of a claim must be a number in"):
        build(broken, Options(), Setting(1, 4, 10))


def written(text, folder):
    (folder / "own_hooks_of_a_test.py").write_text(text)
    importlib.invalidate_caches()
    return importlib.reload(importlib.import_module("own_hooks_of_a_test"))


def first_arm(run):
    """The arm that the hook of a bound engine orders."""
    plan = one(plan_record(Params()))
    plan.arms = Params().arms
    run.__globals__["choose"](None, Params(), 1, 0, plan)
    return plan.arm[0]


def test_a_changed_hook_gives_another_module_and_the_same_hook_the_same(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr("sys.dont_write_bytecode", True)  # two versions within a second look alike to the cache of bytes
    runs = []
    for arm in (1, 1, 2):
        module = written(OWN_HOOKS.format(arm=arm), tmp_path)
        runs.append(bind(mesh, Algorithm("own", choose=module.choose), bernoulli, compiled=False))
    assert runs[0] is runs[1]
    assert runs[0].__module__ != runs[2].__module__
    assert [first_arm(run) for run in runs] == [1, 1, 2]


def test_engines_problems_roles_and_flags_make_modules_of_their_own():
    plain = Algorithm("plain")
    runs = [
        bind(mesh, plain, bernoulli, compiled=False),
        bind(star, plain, bernoulli, compiled=False),
        bind(mesh, plain, gaussian, compiled=False),
        bind(mesh, plain._replace(mechanism=GAUSS), bernoulli, compiled=False),
        bind(mesh, plain._replace(mechanism=PAIR), bernoulli, compiled=False),
        bind(mesh, plain._replace(peek=peek, caveat="a test"), bernoulli, compiled=False),
        bind(star, plain, bernoulli, plain._replace(peek=peek, caveat="a test"), compiled=False),
        bind(star, plain, bernoulli, flags={"FOLDED": True}, compiled=False),
    ]
    assert len({run.__module__ for run in runs}) == len(runs)
