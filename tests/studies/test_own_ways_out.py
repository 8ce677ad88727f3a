"""What an own file may say about its ways out: noise nobody has proved, servers that are handed what they should not be."""

import pytest

from coterie.algorithms import find
from coterie.contract import Setting, build
from coterie.errors import AlgorithmError
from coterie.kernel import node
from coterie.privacy.mechanisms import LAPLACE, SHARES, SUMS

SETTING = Setting(agents=4, arms=2, horizon=1000)
ENTRY = find("cdp-mab")


@node
def no_noise(out, secret, die, lasting):
    """It says nothing and adds nothing."""


def method_of(noise):
    return ENTRY.build(ENTRY.options(noise=noise), SETTING)


def changed(noise, node=None, server=None, **facts):
    method = method_of(noise)
    roles = {"node": method.node._replace(**(node or {})), "server": method.server._replace(**(server or {}))}
    return method._replace(**roles, **facts)


WRONG = {
    "noise of its own": (lambda: changed("local", {"mechanism": LAPLACE._replace(add=no_noise)}), "nobody has proved it"),
    "a server's own noise": (lambda: changed("central", server={"mechanism": LAPLACE._replace(add=no_noise)}), "proved"),
    "raw sums past the ledger": (lambda: changed("central", server={"mechanism": SUMS}), "must go together"),
    "an agent that books nothing": (lambda: changed("local", {"mechanism": SUMS}), "must go together"),
    "shares that are shown one by one": (lambda: changed("local", {"mechanism": SHARES}), "must go together"),
    "an agent that is handed raw rewards": (lambda: changed("central", {"trusted": True}), "only a server is handed"),
    "trust and shares at once": (lambda: changed("secagg", {"trusts": True}, {"trusted": True}), "either trusts its server"),
    "trust on one side": (lambda: changed("central", {"trusts": False}), "both set or neither"),
    "a sum of one report": (lambda: changed("secagg", structure="alone"), "all agents report"),
    "reports that everyone gets": (lambda: changed("secagg", structure="synchronise"), "all agents report"),
    "a sum of some reports": (lambda: changed("secagg", reporters=2), "all agents report"),
    "more holders than agents": (lambda: changed("secagg", holders=5), r"holders must be in 2\.\.4"),
    "releases beside a trusted server": (
        lambda: changed("central", {"release": method_of("local").node.release}), "nobody accounts for it",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_ways_out_that_nobody_accounts_for_are_refused(name):
    make, said = WRONG[name]
    with pytest.raises(AlgorithmError, match=said):
        build(ENTRY._replace(build=lambda options, setting: make()), None, SETTING)


@pytest.mark.parametrize("noise", ["local", "central", "secagg", "none"])
def test_the_ways_out_of_the_built_in_forms_are_accounted_for(noise):
    assert build(ENTRY, ENTRY.options(noise=noise), SETTING).claim.fault == ""
