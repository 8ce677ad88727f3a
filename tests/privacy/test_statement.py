"""What may be said about a run: a truth table."""

import json
from math import inf, nan

import pytest

from coterie.privacy.statement import BLIND_TO_CHOICES, UNIT_OF_PRIVACY, Claim, statement

UNBOUNDED = "rewards are not bounded"


@pytest.mark.parametrize(
    ("claimed", "void", "booked", "private", "accounted"),
    [
        (1.0, "", 1.0, True, 1.0),
        (1.0, "", 0.25, True, 0.25),
        (1.0, "", 0.0, True, 0.0),
        (1.0, "", 1.0 + 1e-14, True, 1.0 + 1e-14),  # sums of prices are rounded
        (1.0, "", 1.0001, False, 1.0001),
        (1.0, "", 50.0, False, 50.0),
        (1.0, "", inf, False, None),
        (1.0, "", nan, False, None),
        (1.0, UNBOUNDED, 1.0, False, None),
        (1.0, UNBOUNDED, inf, False, None),
        (inf, "", 1.0, False, 1.0),
        (inf, "", inf, False, None),
        (inf, UNBOUNDED, 1.0, False, None),
    ],
)
def test_private_means_that_a_finite_loss_was_booked_within_the_claim(claimed, void, booked, private, accounted):
    said = statement(Claim(claimed, "the server", void=void), booked)
    assert said["private"] is private
    assert said["claimed"] == (None if claimed == inf else {"epsilon": claimed, "delta": 0.0})
    assert said["accounted"]["epsilon"] == accounted
    assert json.loads(json.dumps(said, allow_nan=False)) == said


def test_the_reason_why_no_finite_loss_holds_is_told_where_one_was_claimed():
    assert UNBOUNDED in statement(Claim(1.0, "all", void=UNBOUNDED), 1.0)["note"]
    assert "without noise" in statement(Claim(1.0, "all"), inf)["note"]
    assert statement(Claim(inf, "all"), inf)["note"] == ""


def test_unit_adversary_note_and_caveat_are_told():
    said = statement(Claim(1.0, "the server", "each reward is used once", delta=1e-6), 1.0, "choices are hidden")
    assert said["unit"] == UNIT_OF_PRIVACY
    assert said["adversary"] == BLIND_TO_CHOICES
    assert said["note"] == "each reward is used once. choices are hidden"
    assert said["claimed"]["delta"] == said["accounted"]["delta"] == 1e-6


def test_a_caveat_limits_the_adversary_whatever_is_claimed():
    claim = Claim(1.0, "anyone who sees every message, count, arm and time")
    said = statement(claim, 1.0, caveat="orders follow raw data")
    assert "no arm, count or time" in said["adversary"] and "orders follow raw data" in said["note"]
    assert statement(claim, 1.0)["adversary"] == claim.adversary
