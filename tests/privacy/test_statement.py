"""What may be said about a run: a truth table."""

import json
from fractions import Fraction
from math import inf, nan

import pytest

from coterie.privacy.accountant import Loss
from coterie.privacy.statement import BLIND_TO_CHOICES, EVERYONE, UNIT_OF_PRIVACY, Claim, Doors, guarantees, statement

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


# --- guarantees: who learns what -------------------------------------------------------------------------------


ONE, BARE, TRIFLE = Loss(Fraction(1), Fraction(1)), Loss(inf, inf, inf), Loss(normal_squares=Fraction(1, 4))


def learned(claim, doors, **about):
    """{party: epsilon}"""
    return {found.party: found.epsilon for found in guarantees(claim, doors, **about)}


@pytest.mark.parametrize(
    ("structure", "parties"),
    [
        ("peers", ["a neighbour", EVERYONE]),
        ("synchronise", ["a neighbour", EVERYONE]),
        ("server", ["the server", "a neighbour", EVERYONE]),
        ("hybrid", ["the server and the sinks", "a neighbour", EVERYONE]),
    ],
)
def test_local_noise_protects_from_everybody_and_asks_for_no_trust(structure, parties):
    found = guarantees(Claim(1.0, "all"), Doors(structure, "laplace", ONE))
    assert [one.party for one in found] == parties
    assert {(one.epsilon, one.trusts) for one in found} == {(1.0, "nobody")}


def test_who_plays_alone_tells_a_neighbour_nothing_but_its_arms_tell():
    assert learned(Claim(1.0, "all"), Doors("alone", "laplace", ONE)) == {"a neighbour": 0.0, EVERYONE: 1.0}


def test_a_trusted_server_learns_all_and_its_decisions_cost_what_its_own_door_says():
    claim, doors = Claim(1.0, "all", booked_by="server"), Doors("server", "laplace", BARE, ONE)
    assert learned(claim, doors) == {"the server": inf, "a neighbour": 1.0, EVERYONE: inf}
    assert [one.trusts for one in guarantees(claim, doors)][1] == "the server"


def test_shares_protect_only_where_nobody_sees_a_single_report():
    found = guarantees(Claim(1.0, "all"), Doors("server", "shares", ONE))
    assert [one.epsilon for one in found] == [1.0, 1.0, inf]
    assert "secure aggregation" in found[0].trusts and "share of the noise" in found[2].why


def test_choices_from_raw_rewards_are_shown_to_those_who_see_choices():
    doors = Doors("peers", "gauss", TRIFLE, caveat="orders follow raw data")
    found = guarantees(Claim(1.0, "all", delta=1e-6), doors)
    assert [one.epsilon for one in found] == [TRIFLE.epsilon(1e-6), inf]
    assert found[1].why == "orders follow raw data" and "choices" in found[0].trusts


@pytest.mark.parametrize("doors", [Doors("peers", "laplace", ONE), Doors("server", "laplace", BARE)])
def test_nothing_is_promised_where_no_finite_loss_holds(doors):
    void = "rewards are not bounded" if doors.agent == ONE else ""
    found = guarantees(Claim(1.0, "all", void=void), doors)
    assert {one.epsilon for one in found} == {inf}
    assert all((void or "without noise") in one.why for one in found)


def test_units_are_named_and_cost_what_their_rewards_do():
    claim, doors = Claim(1.0, "all"), Doors("peers", "laplace", ONE)
    assert learned(claim, doors, rewards=7)[EVERYONE] == 7.0
    assert guarantees(claim, doors)[0].unit == UNIT_OF_PRIVACY
    assert "7 rewards" in guarantees(claim, doors, rewards=7)[0].unit
    assert guarantees(claim, doors, 7, "all rewards of one agent")[0].unit == "all rewards of one agent"


def test_words_and_json_say_the_same():
    for loss, told in ((ONE, "2.72"), (ONE.times(50), "protects nothing"), (BARE, "not kept from learning")):
        for one in guarantees(Claim(1.0, "all", delta=1e-6), Doors("server", "laplace", loss)):
            written = json.loads(json.dumps(one.document(), allow_nan=False))
            assert told in written["words"] and one.unit in written["words"] and one.sees in written["words"]
            assert written["epsilon"] == (None if one.epsilon == inf else one.epsilon)
    alone = guarantees(Claim(1.0, "all"), Doors("alone", "laplace", ONE))[0]
    assert "learns nothing" in alone.words()
