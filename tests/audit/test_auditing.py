"""An audit from beginning to end: what is printed breaks its word, what is private keeps it, and the words say so.

The bound of an audit of a clean algorithm is false with probability 1 % by construction; with fixed seeds it is or is not.
"""

from math import inf
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from coterie.audit import audit, audit_study, document, study_document
from coterie.audit import rows as audit_rows
from coterie.audit.auditing import Audit, broken_promise
from coterie.audit.game import Game
from coterie.audit.replay import Replay
from coterie.audit.rows import AuditedRow, StudyAudit
from coterie.audit.stage import Canary
from coterie.errors import UsageError

TRIALS, REWARDS = 900, 40
LEAKS = str(Path(__file__).with_name("leaks.py"))
NOTHING = np.zeros(10)


def audited(name, options, **how):
    return audit(name, options, **{"trials": TRIALS, "rewards": REWARDS} | how)


def keeps_its_word(name, epsilon):
    found = audited(name, {"epsilon": epsilon})
    assert not found.failed and found.limit == pytest.approx(epsilon) and found.proven < epsilon
    assert found.verdict.startswith("No leak found; that is no proof (at least ε = ")
    assert found.replay.findings == () and found.replay.price == pytest.approx(epsilon)


def test_a_private_mode_keeps_its_word():
    keeps_its_word("cdp-mab", 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
@pytest.mark.parametrize("name", ["cdp-mab", "fed-ucb", "single-mab", "pr-ucb"])
def test_private_modes_keep_their_word(name, epsilon):
    keeps_its_word(name, epsilon)


@pytest.mark.slow
def test_fed_ucb_as_printed_is_proven_to_break_its_word():
    found = audited("fed-ucb", {"mode": "paper", "epsilon": 1.0})
    assert found.violated and found.proven > 3.5 and found.statement["accounted"]["epsilon"] is None
    assert found.verdict.startswith("broken: promised 1, no limit holds; at least ε = 3.")
    assert found.witness.canary.number == 1 and found.replay.price == inf


def test_elimination_as_printed_is_proven_to_lose_more_than_it_promises_and_no_more_than_is_booked():
    found = audited("cdp-mab", {"mode": "paper", "epsilon": 1.0})
    assert found.violated and found.limit == 1 < found.proven < found.statement["accounted"]["epsilon"] == 4


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["paper", "corrected"])
def test_private_ucb_as_printed_and_as_corrected_is_proven_to_lose_more_than_its_nominal_epsilon(mode):
    found = audited("private-ucb", {"mode": mode, "epsilon": 1.0}, trials=6000)
    assert found.failed and found.broken


def test_the_same_seed_plays_the_same_trials_and_another_one_others():
    first, again, other = (document(audited("cdp-mab", {}, trials=300, rewards=10, seed=seed)) for seed in (4, 4, 5))
    assert first == again
    assert first["games"] != other["games"]


def test_the_server_sees_what_its_clients_report():
    found = audited("cdp-mab", {"mode": "paper", "epsilon": 1.0}, view="server")
    assert found.violated and found.covered


def test_a_study_is_lived_twice_row_by_row_at_its_own_size(tmp_path):
    """As long as the lives of test_leaks.py, so that one engine serves both."""
    text = 'horizon = 5000\n[problem]\nmeans = [0.9, 0.5]\nagents = 3\n'
    rows = f'[[algorithm]]\nname = "ucb1"\n[[algorithm]]\nname = "{LEAKS}"\nsweep.leak = ["none", "dear"]\n'
    (tmp_path / "mine.toml").write_text(text + rows)
    found = audit_study(str(tmp_path / "mine.toml"), horizon=80, quick=True)
    assert [(row.agents, row.arms, row.horizon, row.failed) for row in found.rows] == [(3, 2, 80, False), (3, 2, 80, True)]
    assert found.failed and found.verdict == "1 of 2 rows that promise privacy break it"
    facts = study_document(found)
    assert facts["rows"][1]["verdict"] == "broken: promised 1, 50 holds" and facts["command"].endswith("--quick --seed 0")
    assert facts["rows"][0]["replay"]["rewards"] == facts["rows"][0]["replay"]["rewards_in_all"] == 240


def test_rows_that_differ_in_faults_only_are_lived_twice_once(tmp_path, monkeypatch):
    """A replay meets every kind of fault by itself."""
    asked = []
    work = SimpleNamespace(seconds=lambda: 1.5)
    monkeypatch.setattr(audit_rows, "prepare", lambda case, *more: asked.append(case) or work)
    monkeypatch.setattr(audit_rows, "live_twice", lambda work, progress: told())
    text = 'horizon = 200\n[problem]\nmeans = [0.9, 0.5]\nagents = 10\n[faults]\nsweep.liars = [0, 0.1, 0.2]\n'
    (tmp_path / "mine.toml").write_text(text + '[[algorithm]]\nname = "cdp-mab"\nsweep.epsilon = [1, 2]\n')
    forecasts = []
    found = audit_study(str(tmp_path / "mine.toml"), quick=True, ask=forecasts.append)
    assert forecasts == [3.0]
    assert len(found.rows) == 6 and [case.method.claim.epsilon for case in asked] == [1.0, 2.0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"trials": 3}, "--trials must be"), ({"seed": -1}, "--seed must be"), ({"horizon": 5}, "--horizon must be")],
)
def test_bad_numbers_are_refused_in_one_line(arguments, message):
    with pytest.raises(UsageError, match=message):
        audit("cdp-mab", {}, **arguments)


def told(*findings):
    return Replay(6, 6, 12, 0, ("no faults",), 1.0, 1.0, findings)


def said(claimed, accounted):
    return {"claimed": claimed and {"epsilon": claimed, "delta": 0.0}, "accounted": {"epsilon": accounted, "delta": 0.0}}


def made(claimed, accounted, proven, findings=(), covered=True):
    game = Game(Canary(0, 0, 1), None, 0, 0, 10, proven, NOTHING, NOTHING)
    return Audit("mine", {"mode": "x"}, "public", covered, said(claimed, accounted), told(*findings), [game], 30, 0)


@pytest.mark.parametrize(
    ("audited", "failed", "verdict"),
    [
        (made(1.0, 1.0, 0.9), False, "No leak found; that is no proof (at least ε = 0.900 leaks, 1 was promised)"),
        (made(1.0, 50.0, 0.9), True, "broken: promised 1, 50 holds"),
        (made(1.0, 3.0, 1.1), True, "broken: promised 1, 3 holds; at least ε = 1.100 leaks"),
        (made(0.1, 5.0, 0.0), True, "broken: promised 0.1, 5 holds"),
        (made(3.0, 1.0, 1.1), True, "broken: at least ε = 1.100 leaks, 1 was promised"),
        (made(1.0, None, 0.0), True, "broken: promised 1, no limit holds"),
        (made(1.0, None, 1.1), True, "broken: promised 1, no limit holds; at least ε = 1.100 leaks"),
        (made(1.0, 1.0, 5.0, (), False), True, "for someone the promise leaves out, at least ε = 5.000 leaks, 1 was promised"),
        (made(1.0, 1.0, 0.0, ("a message shows the reward",)), True, "broken: a message shows the reward"),
        (made(None, None, 5.0, ("a message shows the reward",)), False, "nothing promised; at least ε = 5.000 leaks"),
    ],
)
def test_the_verdict_follows_from_what_is_promised_what_holds_and_what_is_proven(audited, failed, verdict):
    assert (audited.failed, audited.verdict) == (failed, verdict)
    assert audited.command == "coterie audit mine --mode x --view public --trials 30 --seed 0"


def test_a_promise_is_not_broken_by_the_last_bit_and_none_cannot_be():
    assert broken_promise(said(1.0, 1.0 + 1e-12)) == "" and broken_promise(said(None, None)) == ""


def test_a_study_fails_with_one_of_its_rows():
    good, bad = (AuditedRow("a", 3, 2, 200, said(1.0, holds), told()) for holds in (1.0, 2.0))
    leaky = good._replace(replay=told("a card shows the reward"))
    assert (good.verdict, leaky.verdict) == ("No leak found; that is no proof", "broken: a card shows the reward")
    assert not StudyAudit("x", (), [good], 0, 0).failed and StudyAudit("x", (), [good, bad], 0, 0).failed
    assert StudyAudit("x", (), [good], 0, 0).verdict == "No leak found in 1 rows; that is no proof"
    assert StudyAudit("x", (), [], 0, 0).verdict == "no row promises privacy"
