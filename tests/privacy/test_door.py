"""What the door refuses: a fault lets nothing of its turn out. What becomes of a run then is in tests of the engines."""

from math import inf, nan
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
from numba import TypingError, njit

from coterie.contract import (
    NOW,
    NOWHERE,
    START,
    Algorithm,
    offer,
    offer_all,
    offer_between,
    offer_each,
    out_record,
    plan_record,
    remember,
)
from coterie.engines.memory import role_secrets
from coterie.errors import AlgorithmError
from coterie.kernel import UNIT, one, rows
from coterie.privacy.door import (
    FAULTS,
    FINEST,
    ORDER,
    PRICE,
    RANGE,
    ROOM,
    STREAM,
    clear,
    look_up,
    why_refused,
    wipe,
)
from coterie.privacy.ledger import ledger_record
from coterie.privacy.mechanisms import DIGITS, GAUSS, LAPLACE, PAIR, ROOT, TRIANGLE
from coterie.privacy.offers import SAID, offers_of
from coterie.privacy.secret import make_secrets, take_in

ARMS, MARKS, CHAINS = 3, 2, 2


class Params(NamedTuple):
    arms: int = ARMS


P = Params()
ROLE = Algorithm("any", marks=lambda p: MARKS, chains=lambda p: CHAINS, moves=lambda p: 2)
OUT, LEDGER = out_record(ROLE, P), ledger_record(ARMS, CHAINS)
ROOM_FOR = len(one(OUT).arm)


def past(reach=1.0, **about):
    """Five rewards of each arm. Mark 0 lies after two of them and mark 1 after four."""
    secret = make_secrets(1, ARMS, MARKS, reach, **about).view(np.recarray)[0]
    for k in range(ARMS):
        secret.mark_count[k], secret.mark_total[k] = (2, 4), (2 * UNIT, 3 * UNIT)
        take_in(secret, k, 5, 4 * UNIT)
    return secret


def ask(say, secret=None, mechanism=LAPLACE):
    """(outbox, secret, ledger) after `say(out)` went through the door and was booked."""
    secret = past() if secret is None else secret
    out, ledger = one(OUT), one(LEDGER)
    say(out)
    look_up(out, secret, ledger, ARMS, mechanism.covers == "pair")
    mechanism.book(out, ledger)
    return out, secret, ledger


def count_wrong(out):
    out.entries = -1


def plan_of(*arms):
    """Not by `order`, which would count an arm that does not exist and leave it out."""
    plan = one(plan_record(P))
    plan.arms, plan.entries, plan.arm[: len(arms)], plan.pulls[: len(arms)] = ARMS, len(arms), arms, 1
    return plan


def between(arm=1, since=0, until=NOW, keep=0, price=0.5, chain=0):
    return lambda out: offer_between(out, arm, since, until, keep, price, chain)


def each(price, *arms):
    return lambda out: offer_each(out, plan_of(*arms), price)


def many(number, say):
    def repeat(out):
        for _ in range(number):
            say(out)

    return repeat


def both(first, second):
    def one_after_the_other(out):
        first(out)
        second(out)

    return one_after_the_other


PRICES = [nan, 0.0, -0.0, -1.0, -inf, FINEST / 2, np.nextafter(FINEST, 0.0)]
WRONG = {f"price {price}": (between(price=price), PRICE) for price in PRICES}
WRONG |= {f"price {price} for each": (each(price, 0, 1), PRICE) for price in PRICES}
WRONG |= {f"arm {arm}": (between(arm=arm), RANGE) for arm in (-1, ARMS, ROOM_FOR, 10**9)}
WRONG |= {f"arm {arm} for each": (each(0.5, 0, arm), RANGE) for arm in (-1, ARMS, 10**9)}
WRONG |= {f"since {mark}": (between(since=mark), RANGE) for mark in (-3, MARKS, 10**9)}
WRONG |= {f"until {mark}": (between(until=mark), RANGE) for mark in (START, MARKS, 10**9)}
WRONG |= {f"keep {mark}": (between(keep=mark), RANGE) for mark in (-2, MARKS, 10**9)}
WRONG |= {f"chain {chain}": (between(chain=chain), RANGE) for chain in (-1, CHAINS, 10**9)}
WRONG |= {
    "from now to a mark": (between(since=NOW, until=1), ORDER),
    "from a mark to an earlier one": (between(since=1, until=0), ORDER),
    "too many": (many(ROOM_FOR + 1, between()), ROOM),
    "far too many": (many(10 * ROOM_FOR, between()), ROOM),
    "each, and more": (both(each(0.5, 0, 1, 2), many(ROOM_FOR - 2, between())), ROOM),
    "each, and a point": (both(each(0.5, 0, 1, 2), lambda out: remember(out, 0, 0, 1)), ROOM),
    "too many points": (many(ROOM_FOR + 1, lambda out: remember(out, 0, 0, 1)), ROOM),
    "less than none": (count_wrong, ROOM),
    "less than none for each": (both(each(0.5, 0), count_wrong), ROOM),
    "a point of no arm": (lambda out: remember(out, ARMS, 0, 1), RANGE),
    "a point that is no mark": (lambda out: remember(out, 0, NOW, 1), RANGE),
    "a point for no mark": (lambda out: remember(out, 0, 0, MARKS), RANGE),
}


def nothing_left(out, secret, ledger):
    marks = past()
    assert (out.entries, out.moves, out.value.any()) == (0, 0, False)
    assert (secret.mark_count.tolist(), secret.mark_total.tolist()) == (marks.mark_count.tolist(), marks.mark_total.tolist())
    assert not any(ledger[field].any() for field in LEDGER.names)


@pytest.mark.parametrize("case", WRONG)
def test_a_fault_lets_nothing_out_keeps_no_point_and_books_nothing(case):
    say, fault = WRONG[case]
    out, secret, ledger = ask(say)
    assert secret.refused == fault
    nothing_left(out, secret, ledger)


@pytest.mark.parametrize("case", [name for name in WRONG if "each" not in name])
def test_a_fault_lets_nothing_out_of_what_was_said_with_it(case):
    """In front of what is wrong there is an offer with which nothing is wrong, and a point to be kept."""
    out, secret, ledger = ask(both(between(arm=0, keep=1), WRONG[case][0]))
    assert secret.refused & WRONG[case][1]
    nothing_left(out, secret, ledger)


def test_what_is_not_wrong_passes():
    """So that the cases above are refused for what is wrong with them."""
    out, secret, ledger = ask(both(between(arm=0, keep=1), lambda out: remember(out, 1, 0, 1)))
    assert (secret.refused, out.entries, out.value[0]) == (0, 1, 2 * UNIT)
    assert (secret.mark_count[0, 1], secret.mark_count[1, 1]) == (5, 2)
    assert ledger.loss[0, 0] == 0.5
    out, secret, ledger = ask(each(FINEST, 2, 0))
    assert (secret.refused, out.value[:2].tolist()) == (0, [2 * UNIT] * 2)
    assert ledger.loss[:, 0].tolist() == [FINEST, 0.0, FINEST, 0.0]


@pytest.mark.parametrize("say", [between(price=FINEST * 3), each(FINEST * 3, 0, 1)])
def test_the_least_price_grows_with_what_one_reward_can_move(say):
    assert ask(say, past(reach=3.0))[1].refused == 0
    assert ask(say, past(reach=4.0))[1].refused == PRICE
    assert ask(say, past(reach=np.array([1.0, 4.0, 1.0])))[1].refused == PRICE


def test_every_node_goes_by_the_reach_of_its_own_arms():
    """Where arms have spans of their own, the largest of them is the reach; not that of another node's."""
    secrets = make_secrets((2, 2), ARMS, MARKS, np.array([[1.0, 2.0, 3.0], [0.0, 7.0, 5.0]]))
    assert secrets["reach"].tolist() == [[3.0, 7.0]] * 2
    assert secrets["spans"][1, 1, :ARMS].tolist() == [0.0, 7.0, 5.0]


def test_a_price_of_before_does_not_stand_in_for_a_price_of_zero():
    out, secret, ledger = ask(each(0.5, 0, 1))
    for k in range(ARMS):
        take_in(secret, k, 1, UNIT)
    clear(out)
    each(0.0, 0, 1)(out)
    look_up(out, secret, ledger, ARMS, False)
    assert (secret.refused, out.entries, out.value.any()) == (PRICE, 0, False)


# --- no write past the record -------------------------------------------------------------------------


@njit(error_model="numpy")
def fill(outs, number):
    for _ in range(number):
        offer(outs[0], 1, 0.5)
        remember(outs[0], 1, 0, 1)


@njit(error_model="numpy")
def fill_each(outs, plans):
    offer_each(outs[0], plans[0], 0.5)


@pytest.mark.parametrize("compiled", [True, False])
def test_more_offers_than_there_is_room_for_do_not_reach_the_record_behind(compiled):
    outs = rows(2, OUT, compiled)
    (fill if compiled else fill.py_func)(outs, 1000)
    assert outs[1].tobytes() == bytes(OUT.itemsize)
    assert (outs[0]["entries"], outs[0]["moves"]) == (1000, 1000)


@pytest.mark.parametrize("compiled", [True, False])
def test_a_plan_with_more_entries_than_an_outbox_does_not_reach_the_record_behind(compiled):
    large = plan_record(SimpleNamespace(arms=60))
    outs, plans = rows(2, OUT, compiled), rows(1, large, compiled)
    plans["entries"], plans["arm"] = 60, 1
    (fill_each if compiled else fill_each.py_func)(outs, plans)
    assert outs[1].tobytes() == bytes(OUT.itemsize)
    secret, ledger = past(), one(LEDGER)
    look_up(outs.view(np.recarray)[0], secret, ledger, ARMS, False)
    assert secret.refused == ROOM
    assert not outs["value"].any()


# --- streams ------------------------------------------------------------------------------------------


def stream_past(most=8):
    return past(stream=most, norm=DIGITS.norm(most))


@pytest.mark.parametrize(
    "say",
    [
        lambda out: offer(out, 1, 0.5),
        between(since=NOW),
        between(since=START, until=0, keep=NOWHERE),
        between(since=START, keep=NOWHERE, chain=1),
        each(0.5, 0, 1),
    ],
    ids=["since a mark", "noise alone", "until a mark", "another chain", "each"],
)
def test_a_stream_begins_at_the_start_ends_now_and_has_one_chain(say):
    out, secret, ledger = ask(say, stream_past(), DIGITS)
    assert secret.refused == STREAM
    nothing_left(out, secret, ledger)


def test_a_stream_keeps_its_price():
    out, secret, ledger = ask(lambda out: offer_all(out, 1, 0.5), stream_past(), DIGITS)
    assert ledger.loss[1, 0] == 0.5
    for price, refused in ((0.5, 0), (0.25, STREAM)):
        clear(out)
        offer_all(out, 1, price)
        look_up(out, secret, ledger, ARMS, False)
        assert secret.refused == refused
    assert (out.entries, out.value.any()) == (0, False)


@pytest.mark.parametrize(("most", "refused"), [(5, 0), (4, STREAM)])
def test_a_stream_does_not_outgrow_its_length(most, refused):
    assert ask(lambda out: offer_all(out, 1, 0.5), stream_past(most))[1].refused == refused


def test_the_least_price_of_a_stream_grows_with_its_norm():
    least = FINEST * DIGITS.norm(8)
    assert ask(lambda out: offer_all(out, 1, least), stream_past())[1].refused == 0
    assert ask(lambda out: offer_all(out, 1, np.nextafter(least, 0.0)), stream_past())[1].refused == PRICE


@pytest.mark.parametrize("mechanism", [DIGITS, ROOT], ids=lambda mechanism: mechanism.name)
def test_noise_of_streams_needs_their_length_and_other_noise_has_none(mechanism):
    """Without a length the norm would be 0, and so would the noise."""
    assert mechanism.norm(0) == 0.0
    with pytest.raises(AlgorithmError, match="stream of long must be > 0"):
        role_secrets(Algorithm("long", mechanism=mechanism), P, 1, 1.0)
    with pytest.raises(AlgorithmError, match="stream of short must be > 0 with a mechanism of streams and else 0, got 9"):
        role_secrets(Algorithm("short", mechanism=GAUSS, stream=lambda p: 9), P, 1, 1.0)
    assert role_secrets(Algorithm("fits", mechanism=mechanism, stream=lambda p: 9), P, 1, 1.0)["norm"][0] > 1.0


# --- pairs --------------------------------------------------------------------------------------------

PAIRS = Algorithm("pairs", marks=lambda p: MARKS, moves=lambda p: 2, mechanism=TRIANGLE)


@pytest.mark.parametrize("say", [both(between(arm=2), between(arm=0)), each(0.5, 2, 0)], ids=["one by one", "each"])
def test_both_numbers_of_a_pair_leave_for_every_arm_that_is_booked(say):
    out, secret, ledger = one(out_record(PAIRS, P)), past(), one(LEDGER)
    say(out)
    look_up(out, secret, ledger, ARMS, True)
    TRIANGLE.book(out, ledger)
    assert out.entries == 4
    assert out.arm[:4].tolist() == [2, 2, 0, 0]
    assert out.value[:4].tolist() == [3 * UNIT, 2 * UNIT] * 2  # three rewards since mark 0, of which two were 1
    assert ledger.entries[:, 0].tolist() == [1, 0, 1, 0]
    assert ledger.loss[:, 0].tolist() == [0.5, 0.0, 0.5, 0.0]


@pytest.mark.parametrize("say", [many(3, between()), each(0.5, 0, 1, 2)], ids=["one by one", "each"])
def test_pairs_need_twice_the_room(say):
    out, secret, ledger = ask(say, mechanism=PAIR)  # an outbox for single numbers
    assert secret.refused == ROOM
    nothing_left(out, secret, ledger)


# --- what passes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("say", [between(price=inf), each(inf, 1)], ids=["one", "each"])
def test_an_infinite_price_lets_the_raw_sum_out_and_is_booked_as_infinite(say):
    out, secret, ledger = ask(say)
    LAPLACE.add(out, secret, 1, 2)
    assert (secret.refused, out.entries, out.value[0]) == (0, 1, 2 * UNIT)
    assert (ledger.loss[1, 0], ledger.squares[1, 0], ledger.loss.max()) == (inf, inf, inf)
    assert ledger.loss[[0, 2]].max() == 0


@pytest.mark.parametrize("total", [0, UNIT, 12345])
@pytest.mark.parametrize("mechanism", [LAPLACE, GAUSS], ids=lambda mechanism: mechanism.name)
def test_an_empty_stretch_is_noise_alone_and_books_nothing(mechanism, total):
    noises = []
    for say in (between(since=NOW), between(since=1, until=1), both(between(since=0, until=0), lambda out: None)):
        secret = past()
        take_in(secret, 1, 1, total)
        out, secret, ledger = ask(say, secret)
        assert (secret.refused, out.entries, out.value[0]) == (0, 1, 0)
        assert out.first[0] == out.last[0] + 1
        assert not any(ledger[field].any() for field in LEDGER.names)
        mechanism.add(out, secret, 7, 8)
        noises.append(int(out.value[0]))
    assert noises[0] != 0 and len(set(noises)) == 1  # whatever the rewards are


SUMS = ("first", "last", "value", "sensitivity")


def test_what_release_is_handed_is_the_outbox_without_what_the_door_puts_in():
    out = ask(between())[0]
    handed = offers_of(out)
    assert out.value[0] == 2 * UNIT
    for field in SUMS:
        with pytest.raises(AttributeError, match=f"no field '{field}'"):
            getattr(handed, field)
        with pytest.raises(AttributeError, match=f"no field '{field}'"):
            setattr(handed, field, 0)
    assert set(SAID) | set(SUMS) == set(OUT.names)
    offer(handed, 2, 0.25)
    assert (out.entries, out.arm[1], out.price[1]) == (2, 2, 0.25)  # it is the same memory


@njit
def look_inside(outs):
    return offers_of(outs[0]).value[0]


@njit
def offer_there(outs):
    offer(offers_of(outs[0]), 2, 0.25)


def test_compiled_code_does_not_find_a_sum_there_either():
    outs = np.zeros(1, OUT)
    offer_there(outs)
    assert (outs["entries"][0], outs["arm"][0, 0], outs["price"][0, 0]) == (1, 2, 0.25)
    with pytest.raises((KeyError, TypingError), match="value"):
        look_inside(outs)


def test_a_new_turn_begins_with_an_empty_outbox_and_what_is_wiped_has_no_sum():
    for say in (between(), many(ROOM_FOR, between()), each(0.5, 0, 1, 2)):
        out = ask(say)[0]
        assert out.value.any()
        clear(out)
        assert (out.entries, out.moves, out.each) == (0, 0, 0.0)
        wipe(out)
        assert (out.entries, out.moves, out.each, out.value.any()) == (0, 0, 0.0, False)


@pytest.mark.parametrize("offers", [0, 1, 2])
def test_an_outbox_without_room_for_points_counts_them_and_refuses(offers):
    out, secret, ledger = one(out_record(Algorithm("none", marks=lambda p: MARKS), P)), past(), one(LEDGER)
    assert len(out.move_arm) == 0
    many(offers, between())(out)
    remember(out, 0, 0, 1)
    look_up(out, secret, ledger, ARMS, False)
    assert secret.refused == ROOM
    nothing_left(out, secret, ledger)


def test_every_fault_is_told_in_words_of_its_own():
    assert len({why_refused(bit) for bit in FAULTS}) == len(FAULTS) == 7
    assert why_refused(PRICE | ORDER) == f"{FAULTS[PRICE]}; {FAULTS[ORDER]}"
