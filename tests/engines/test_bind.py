"""Writing an engine down for an algorithm: what is refused, and what makes it another one."""

import importlib
from typing import NamedTuple

import pytest

from coterie.contract import Algorithm, plan_record
from coterie.engines import mesh, star
from coterie.engines.bind import bind
from coterie.kernel import node, one
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
def peek(secret, open, p, t, die, plan):
    """Looks, and does nothing."""


@node
def overhear(secret, open, peer, p, t, message):
    """Looks, and does nothing."""


@pytest.mark.parametrize("hook", [{"peek": peek}, {"overhear": overhear}])
def test_reading_the_secret_needs_a_caveat(hook):
    nosy = Algorithm("nosy", **hook)
    with pytest.raises(ValueError, match="caveat of nosy must say why it may read the secret"):
        bind(mesh, nosy, bernoulli, compiled=False)
    with pytest.raises(ValueError, match="caveat of nosy"):
        bind(star, Algorithm("client"), bernoulli, nosy, compiled=False)
    bind(mesh, nosy._replace(caveat="nobody sees the choices"), bernoulli, compiled=False)


def written(text, folder):
    (folder / "own_hooks_of_a_test.py").write_text(text)
    importlib.invalidate_caches()
    return importlib.reload(importlib.import_module("own_hooks_of_a_test"))


def first_arm(run):
    """The arm that the hook of a bound engine orders."""
    plan = one(plan_record(Params()))
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
        bind(mesh, plain._replace(mechanism="gauss"), bernoulli, compiled=False),
        bind(mesh, plain._replace(peek=peek, caveat="a test"), bernoulli, compiled=False),
        bind(star, plain, bernoulli, plain._replace(peek=peek, caveat="a test"), compiled=False),
        bind(star, plain, bernoulli, flags={"FOLDED": True}, compiled=False),
    ]
    assert len({run.__module__ for run in runs}) == len(runs)
