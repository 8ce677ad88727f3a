"""Kinds of noise: each one value, booked first, and noise that follows from sensitivity and price alone."""

from math import inf
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numba import njit
from scipy.stats import dlaplace, norm

from coterie.contract import Algorithm, offer_between, order, out_record, plan_record
from coterie.engines import turn
from coterie.engines.agent import Agent
from coterie.engines.chance import Keyed
from coterie.engines.memory import keys_of, seeds_of
from coterie.kernel import NOISE, UNIT, fold, node, one, rows, side, stream
from coterie.privacy import mechanisms
from coterie.privacy.accountant import WITHOUT_NOISE, accounted, booked_loss
from coterie.privacy.door import book_entries, book_nothing, book_pairs, book_streams
from coterie.privacy.ledger import ledger_record
from coterie.privacy.mechanisms import MECHANISMS
from coterie.privacy.secret import make_secrets


class Params(NamedTuple):
    arms: int = 8


P, HOLDERS = Params(), 3
OUT = out_record(Algorithm("any"), P)
SECRETS = make_secrets(1, P.arms, 1, 1.0, holders=HOLDERS)
PLAIN = ("laplace", "shares", "gauss")  # those whose numbers have nothing to do with one another
DIE = stream(fold(21, 0), 0, NOISE, 1)


def offers(count, value=0, sensitivity=1.0, price=0.5, chain=0, first=1, last=10):
    """Entries as the door has filled them in."""
    out = one(OUT)
    for arm in range(count):
        offer_between(out, arm, 0, 0, 0, price, chain)
    out.value[:count], out.sensitivity[:count], out.first[:count], out.last[:count] = value, sensitivity, first, last
    return out


def noise(mechanism, out, die=DIE):
    before = out.value.copy()
    MECHANISMS[mechanism].add(out, SECRETS.view(np.recarray)[0], die, 0)
    return (out.value - before)[: out.entries].tolist()


# --- one value says it all ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_kind_of_noise_has_a_note_that_exists_and_names_it_or_no_price_of_it_is_a_loss(name):
    mechanism = MECHANISMS[name]
    assert mechanism.name == name
    assert bool(mechanism.proof) == (mechanism.adds_up != "never")
    if mechanism.proof:
        note = (Path(mechanisms.__path__[0]) / mechanism.proof).read_text()
        assert f"`{name}`" in note or f"`{name.upper()}`" in note


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_price_is_booked_by_what_it_pays_for(name):
    books = {"entry": book_entries, "pair": book_pairs, "stream": book_streams, "nothing": book_nothing}
    others = {"pair": "pair", "triangle": "pair", "digits": "stream", "root": "stream", "sums": "nothing"}
    covers = others.get(name, "entry")
    assert MECHANISMS[name].covers == covers
    assert MECHANISMS[name].book is books[covers]


@pytest.mark.parametrize("delta", [0.0, 0.1])
def test_noise_that_adds_up_to_no_loss_is_accounted_as_none_at_all(delta):
    ledgers = np.zeros((2, 1), ledger_record(P.arms, 1)).view(np.recarray)
    kept = MECHANISMS["kept"]
    assert kept.adds_up == "never"
    kept.book(offers(1, price=0.25), ledgers[1, 0])
    assert ledgers["loss"].max() == 0.25
    assert accounted(ledgers, kept, delta).tolist() == [[0.0], [inf]]
    assert booked_loss(ledgers[1, 0], kept) == WITHOUT_NOISE


def test_only_streams_have_a_norm_and_only_shares_need_others():
    assert [name for name, kind in MECHANISMS.items() if kind.norm(9) != 1.0] == ["digits", "root"]
    assert [name for name, kind in MECHANISMS.items() if not kind.single] == ["shares"]


# --- noise --------------------------------------------------------------------------------------------


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
    MECHANISMS[mechanism].book(out, ledger)
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
def noises(add, out, secrets, key, count):
    """[release, entry]: `count` releases of the same offers."""
    drawn = np.empty((count, out[0].entries), np.int64)
    for n in range(count):
        for e in range(out[0].entries):
            out[0].value[e] = 0
        add(out[0], secrets[0], stream(key, 0, NOISE, n), 0)
        for e in range(out[0].entries):
            drawn[n, e] = out[0].value[e]
    return drawn


COMPILED = {mechanism: njit(error_model="numpy")(MECHANISMS[mechanism].add) for mechanism in PLAIN}


def compiled_noises(mechanism, count, **about):
    out = rows(1, OUT, True)
    out[0] = offers(4, **about)
    return noises(COMPILED[mechanism], out, SECRETS, fold(22, 0), count)


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
    drawn = compiled_noises("shares", 90_000, sensitivity=0.75, price=0.5).reshape(-1, HOLDERS, 4).sum(axis=1)
    for e in range(4):
        assert chance_of_fit(drawn[:, e], dlaplace(0.5 / (0.75 * UNIT))) > 1e-7


@pytest.mark.parametrize("mechanism", PLAIN)
def test_the_noise_of_one_number_says_nothing_about_that_of_another(mechanism):
    """Correlations within six standard errors: false alarm below 1e-6 in all six pairs together."""
    drawn = compiled_noises(mechanism, 30_000).astype(float)
    correlations = np.corrcoef(drawn.T) - np.eye(4)
    assert np.abs(correlations).max() < 6 / np.sqrt(30_000)


# --- booked first -------------------------------------------------------------------------------------


@node
def offer_three(open, p, t, plan, out):
    for k in range(3):
        offer_between(out, k, 0, -1, 0, 0.5, 0)


def test_an_agent_books_before_it_draws():
    seen, laplace = [], MECHANISMS["laplace"]
    watched = laplace._replace(add=lambda *_: seen.append(agent.ledger.entries.sum()))
    rule = Algorithm("any", release=offer_three, mechanism=watched)
    agent = Agent(rule, P, Keyed(keys_of(seeds_of(1), 0), 0), rehearsal=True)
    agent.secret.count[:] = 1
    agent.pass_door()
    assert seen == [3]


def test_a_turn_looks_up_and_books_before_it_draws(monkeypatch):
    done = []
    for name in ("regret", "draw", "take_in", "clear", "release", "look_up", "book", "add_noise", "publish"):
        monkeypatch.setattr(turn, name, lambda *_, name=name: done.append(name))
    plan = one(plan_record(P))
    plan.arms = P.arms
    order(plan, 0, 1)
    harvest = one(np.dtype([("total", np.int64, 8)]))
    turn.carry_out(None, None, None, None, P, 1, keys_of(seeds_of(1), 0), 0, plan, harvest, one(OUT))
    assert done == ["regret", "draw", "take_in", "clear", "release", "look_up", "book", "add_noise", "publish"]
