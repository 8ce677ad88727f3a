"""An audit from beginning to end: what is printed breaks its word, what is private keeps it, and the words say so.

Audits of clean algorithms fail with probability 1 % by construction; with fixed seeds they do or do not.
"""

from math import inf

import numpy as np
import pytest

from coterie.audit import audit, document
from coterie.audit.auditing import Audit
from coterie.audit.game import Game
from coterie.audit.replay import Replay
from coterie.audit.stage import Canary
from coterie.errors import UsageError

TRIALS = 900
NOTHING = np.zeros(10)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("name", ["cdp-mab", "fed-ucb"])
def test_private_modes_keep_their_word(name, epsilon):
    found = audit(name, {"epsilon": epsilon}, trials=TRIALS)
    assert not found.failed and found.limit == pytest.approx(epsilon) and found.proven < epsilon
    assert found.verdict.startswith("no violation found above ") and "private" not in found.verdict
    assert found.replay.findings == () and found.replay.price == pytest.approx(epsilon)


def test_fed_ucb_as_printed_is_proven_to_break_its_word():
    found = audit("fed-ucb", {"mode": "paper", "epsilon": 1.0}, trials=TRIALS)
    assert found.violated and found.proven > 3.5 and found.statement["accounted"]["epsilon"] is None
    assert found.witness.canary.number == 1 and found.replay.price == inf


def test_elimination_as_printed_is_proven_to_lose_more_than_it_claims_and_no_more_than_is_booked():
    found = audit("cdp-mab", {"mode": "paper", "epsilon": 1.0}, trials=TRIALS)
    assert found.violated and found.limit == 1 < found.proven < found.statement["accounted"]["epsilon"] == 3


def test_the_same_seed_plays_the_same_trials_and_another_one_others():
    first, again, other = (document(audit("cdp-mab", {}, trials=300, seed=seed)) for seed in (4, 4, 5))
    assert first == again
    assert first["games"] != other["games"]


def test_the_server_sees_what_its_clients_report():
    found = audit("cdp-mab", {"mode": "paper", "epsilon": 1.0}, view="server", trials=TRIALS)
    assert found.violated and found.covered


@pytest.mark.parametrize(("arguments", "message"), [({"trials": 3}, "--trials must be"), ({"seed": -1}, "--seed must be")])
def test_bad_numbers_are_refused_in_one_line(arguments, message):
    with pytest.raises(UsageError, match=message):
        audit("cdp-mab", {}, **arguments)


def made(claimed, accounted, proven, findings=(), covered=True):
    game = Game(Canary(0, 1, 0), None, 0, 0, 10, proven, NOTHING, NOTHING)
    statement = {"claimed": claimed and {"epsilon": claimed, "delta": 0.0}, "accounted": {"epsilon": accounted, "delta": 0.0}}
    return Audit("mine", {"mode": "x"}, "public", covered, statement, Replay(6, 1.0, findings), [game], 30, 0)


@pytest.mark.parametrize(
    ("audited", "failed", "verdict"),
    [
        (made(1.0, 1.0, 0.9), False, "no violation found above 0.900"),
        (made(1.0, 3.0, 1.1), True, "violation proven: epsilon is at least 1.100, not 1"),
        (made(3.0, 1.0, 1.1), True, "violation proven: epsilon is at least 1.100, not 1"),
        (made(1.0, None, 1.1), True, "violation proven: epsilon is at least 1.100, not 1"),
        (made(1.0, 1.0, 5.0, (), False), True, "for someone the claim leaves out, epsilon is at least 5.000, not 1"),
        (made(1.0, 1.0, 0.0, ("speak shows the reward",)), True, "the rules are broken: speak shows the reward"),
        (made(None, None, 5.0, ("speak shows the reward",)), False, "nothing is claimed; epsilon is at least 5.000"),
    ],
)
def test_the_verdict_follows_from_what_is_claimed_accounted_and_proven(audited, failed, verdict):
    assert (audited.failed, audited.verdict) == (failed, verdict)
    assert audited.command == "coterie audit mine --mode x --view public --trials 30 --seed 0"
