"""The door: booked first, and noise that follows from sensitivity and price alone."""

from math import inf
from typing import NamedTuple

import numpy as np
import pytest
from numba import njit
from scipy.stats import dlaplace, norm

from coterie.contract import Algorithm, offer, out_record
from coterie.engines import turn
from coterie.engines.chance import Keyed
from coterie.kernel import NOISE, UNIT, fold, one, rows, side, stream
from coterie.privacy.door import NOISES, book_all
from coterie.privacy.ledger import ledger_record


class Params(NamedTuple):
    arms: int = 8
    holders: int = 3


P = Params()
PLAIN = ("laplace", "shares", "gauss")  # those whose numbers have nothing to do with one another
DIE = stream(fold(21, 0), 0, NOISE, 1)


def offers(count, value=0, sensitivity=1.0, price=0.5, chain=0, first=1, last=10):
    out = one(out_record(P))
    for arm in range(count):
        offer(out, arm, value, sensitivity, price, chain, first, last)
    return out


def noise(mechanism, out, die=DIE):
    before = out.value.copy()
    NOISES[mechanism](out, P, die, 0)
    return (out.value - before)[: out.entries].tolist()


@pytest.mark.parametrize("mechanism", PLAIN)
def test_noise_follows_from_sensitivity_over_price_and_from_nothing_else(mechanism):
    plain = noise(mechanism, offers(5))
    assert len(set(plain)) == 5
    assert noise(mechanism, offers(5, value=10**9, chain=1, first=7, last=12)) == plain
    assert noise(mechanism, offers(5, sensitivity=3.0, price=1.5)) == plain
    assert noise(mechanism, offers(5, price=0.25)) == noise(mechanism, offers(5, sensitivity=2.0)) != plain
    assert noise(mechanism, offers(5), die=side(DIE, 9)) != plain


@pytest.mark.parametrize("mechanism", PLAIN)
def test_an_infinite_price_adds_nothing_and_is_booked(mechanism):
    out, ledger = offers(4, value=77, price=inf), one(ledger_record(P.arms, 1))
    book_all(out, ledger)
    assert noise(mechanism, out) == [0] * 4
    assert ledger.loss[:4, 0].tolist() == [inf] * 4
    assert ledger.loss[4:, 0].tolist() == [0.0] * 4


@pytest.mark.parametrize("mechanism", PLAIN)
def test_a_number_that_passes_without_noise_does_not_change_that_of_the_others(mechanism):
    mixed = offers(5)
    mixed.price[2] = inf
    plain = noise(mechanism, offers(5))
    assert noise(mechanism, mixed) == [*plain[:2], 0, *plain[3:]]


@njit(error_model="numpy")
def noises(add, out, p, key, count):
    """[release, entry]: `count` releases of the same offers."""
    drawn = np.empty((count, out[0].entries), np.int64)
    for n in range(count):
        for e in range(out[0].entries):
            out[0].value[e] = 0
        add(out[0], p, stream(key, 0, NOISE, n), 0)
        for e in range(out[0].entries):
            drawn[n, e] = out[0].value[e]
    return drawn


COMPILED = {mechanism: njit(error_model="numpy")(NOISES[mechanism]) for mechanism in PLAIN}


def compiled_noises(mechanism, count, **about):
    out = rows(1, out_record(P), True)
    out[0] = offers(4, **about)
    return noises(COMPILED[mechanism], out, P, fold(22, 0), count)


@pytest.mark.parametrize("price", [0.5, 3000.0, 40_000.0, inf])
@pytest.mark.parametrize("mechanism", PLAIN)
def test_a_compiled_door_adds_the_same_bits(mechanism, price):
    compiled = compiled_noises(mechanism, 50, price=price).tolist()
    dice = [stream(fold(22, 0), 0, NOISE, n) for n in range(50)]
    assert compiled == [noise(mechanism, offers(4, price=price), die) for die in dice]


@pytest.mark.parametrize("price", [0.5, 800.0, 20_000.0])
def test_laplace_noise_has_scale_sensitivity_over_price_on_the_grid(price, chance_of_fit):
    """Chi-squared at 1e-7: false alarm below 1e-6."""
    drawn = compiled_noises("laplace", 30_000, sensitivity=0.75, price=price)
    for e in range(4):
        assert chance_of_fit(drawn[:, e], dlaplace(price / (0.75 * UNIT))) > 1e-7


def test_gauss_noise_has_standard_deviation_sensitivity_over_price_on_the_grid(chance_of_fit):
    """Chi-squared at 1e-7: false alarm below 1e-6."""
    drawn = compiled_noises("gauss", 30_000, sensitivity=0.75, price=1000.0)
    for e in range(4):
        assert chance_of_fit(drawn[:, e], norm(-0.5, 0.75 * UNIT / 1000.0)) > 1e-7


def test_shares_of_all_holders_are_one_laplace_draw_of_that_scale(chance_of_fit):
    """Three releases in a row stand for the three holders. Chi-squared at 1e-7: false alarm below 1e-6."""
    drawn = compiled_noises("shares", 90_000, sensitivity=0.75, price=0.5).reshape(-1, P.holders, 4).sum(axis=1)
    for e in range(4):
        assert chance_of_fit(drawn[:, e], dlaplace(0.5 / (0.75 * UNIT))) > 1e-7


@pytest.mark.parametrize("mechanism", PLAIN)
def test_the_noise_of_one_number_says_nothing_about_that_of_another(mechanism):
    """Correlations within six standard errors: false alarm below 1e-6 in all six pairs together."""
    drawn = compiled_noises(mechanism, 30_000).astype(float)
    correlations = np.corrcoef(drawn.T) - np.eye(4)
    assert np.abs(correlations).max() < 6 / np.sqrt(30_000)


def test_a_keyed_door_books_before_it_draws(monkeypatch):
    out, ledger, seen = offers(3), one(ledger_record(P.arms, 1)), []
    monkeypatch.setitem(NOISES, "laplace", lambda out, p, die, lasting: seen.append(ledger.entries.sum()))
    Keyed(1, 0).door(Algorithm("any"), P, 1, out, ledger)
    assert seen == [3]


def test_a_turn_books_before_it_draws(monkeypatch):
    order = []
    for name in ("release", "book_entries", "add_noise", "publish"):
        monkeypatch.setattr(turn, name, lambda *_, name=name: order.append(name))
    monkeypatch.setattr(turn, "draw", lambda *_: None)
    plan = one(np.dtype([("entries", np.int64)]))
    turn.carry_out(None, None, None, None, P, 1, 0, 0, plan, one(out_record(P)), True)
    assert order == ["release", "book_entries", "add_noise", "publish"]
