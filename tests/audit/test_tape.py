"""The tape hands back what came out of the door, and says what is wrong with a second life."""

from math import inf
from types import SimpleNamespace

import numpy as np
import pytest

from coterie.audit.compare import unlike
from coterie.audit.findings import Door
from coterie.audit.tape import FAR, FIRST, FULL, NUMBER, SECOND, STRAY, hand_back
from coterie.kernel import UNIT


def node(life, arm=-1, number=0, tape=(0,) * 8):
    return SimpleNamespace(
        audit_life=life, audit_at=0, audit_tape=list(tape), audit_arm=arm, audit_number=number, audit_faults=0, audit_cost=0.0,
        audit_squares=0.0, audit_dearest=0.0, audit_since=0, audit_until=0,
    )  # fmt: skip


def out(*values, arm=0, first=1, last=4, price=0.5):
    n = len(values)
    return SimpleNamespace(
        entries=n, value=list(values), arm=[arm] * n, first=[first] * n, last=[last] * n, price=[price] * n,
        sensitivity=[1.0] * n,
    )


def second(values, taped, arm=0, number=2, stream=False, **about):
    life, passed = node(SECOND, arm, number, [len(taped), *taped]), out(*values, **about)
    hand_back(life, passed, stream)
    return life, passed


def test_a_first_life_fills_the_tape_and_a_second_one_is_handed_it():
    first = node(FIRST)
    hand_back(first, out(7, 9), False)
    hand_back(first, out(5), False)
    assert first.audit_tape[:5] == [2, 7, 9, 1, 5] and first.audit_at == 5
    life, passed = second([7 + UNIT, 9], [7, 9])
    assert passed.value == [7, 9] and life.audit_faults == 0
    assert (life.audit_cost, life.audit_squares, life.audit_dearest) == (0.5, 0.25, 0.5)


@pytest.mark.parametrize(
    ("values", "about", "fault"),
    [
        ([UNIT + 1], {}, FAR),
        ([-UNIT - 1], {}, FAR),
        ([1], {"number": 5}, STRAY),
        ([1], {"arm": 1}, STRAY),
        ([1], {"first": 3}, STRAY),
        ([1], {"first": 2, "last": 9, "stream": True}, 0),
        ([1], {"first": 1, "last": 9, "stream": True}, STRAY),
        ([1, 1], {}, NUMBER),
    ],
)
def test_what_moves_must_cover_the_reward_and_move_no_further_than_its_noise_is_for(values, about, fault):
    known = {"arm": 0, "number": about.pop("number", 2), "stream": about.pop("stream", False)}
    life = node(SECOND, known["arm"], known["number"], [1, 0, 0])
    hand_back(life, out(*values, **about), known["stream"])
    assert life.audit_faults == fault


def test_numbers_of_a_trusted_server_must_have_a_reward_in_common():
    """It does not know by which number it counts the reward, so its number is 0."""
    life = node(SECOND, 0, 0, [2, 0, 0])
    passed = out(1, 1)
    passed.first, passed.last = [1, 5], [4, 8]
    hand_back(life, passed, False)
    assert life.audit_faults == STRAY
    life, _ = second([1, 1], [0, 0], number=0)
    assert life.audit_faults == 0


def test_a_tape_that_is_too_short_is_told():
    life = node(FIRST, tape=[0, 0])
    hand_back(life, out(1, 2), False)
    assert life.audit_faults == FULL and life.audit_tape == [0, 0]


@pytest.mark.parametrize(("adds_up", "stream", "cost", "paid"), [("prices", False, 3.0, 5.0), ("squares", False, 2.0, 3.0),
                                                                ("prices", True, 1.5, 3.0)])  # fmt: skip
def test_what_moved_is_added_up_as_its_mechanism_does(adds_up, stream, cost, paid):
    opens = {"audit_cost": np.array([3.0]), "audit_squares": np.array([4.0]), "audit_dearest": np.array([1.5])}
    ledgers = {"loss": np.array([[2.0, 3.0]]), "squares": np.array([[4.0, 5.0]])}
    assert Door(opens, ledgers, adds_up, stream).prices() == (np.array([cost]), np.array([paid]))
    assert not inf > Door(opens, {"loss": np.array([[inf]]), "squares": np.array([[inf]])}, adds_up, stream).prices()[1][0]


def test_records_are_compared_byte_by_byte():
    one = np.array([[0.0, np.nan], [1.0, 2.0], [0.0, 3.0]])
    other = np.array([[0.0, np.nan], [1.0, 2.5], [-0.0, 3.0]])
    assert unlike(one, other).tolist() == [False, True, True]
