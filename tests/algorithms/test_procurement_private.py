"""The private P-FCB: every outcome is in one release, orders follow from releases, and what is learned is weighed rightly."""

from itertools import chain, pairwise
from math import exp, inf, log, sqrt
from types import SimpleNamespace

import numpy as np
import pytest

from coterie.algorithms import entries
from coterie.algorithms.procurement import bound, conclude, open_record, weight_of
from coterie.building import doors_of
from coterie.contract import Setting, Terms, out_record, plan_record
from coterie.engines.rehearsal import compare, rehearse_mesh
from coterie.engines.simulate import simulate_mesh
from coterie.errors import UsageError
from coterie.kernel import UNIT, one, stream
from coterie.privacy.accountant import accounted
from coterie.privacy.door import clear, look_up
from coterie.privacy.gauss import mu_of
from coterie.privacy.ledger import ledger_record
from coterie.privacy.secret import make_secrets, take_in
from coterie.privacy.statement import SEES_ALL, statement
from coterie.studies import load_study
from coterie.studies.case import make_case

ARMS, ROUNDS = 3, 40
LIMITS = np.array([[7, 3, 9], [4, 8, 0]])
TERMS = Terms(np.array([[0.5, 0.4, 0.45], [0.2, 0.6, 0.5]]), LIMITS, 0.45, 1.0)
SETTING = Setting(2, ARMS, ROUNDS, terms=TERMS)
QUALITY = np.array([0.6, 0.35, 0.5])
FORMS = [{}, {"delta": 1e-6}, {"learning": "echo"}, {"learning": "naive"}, {"oracle": "safe"}, {"estimate": "thompson"}]


def built(**options):
    entry = entries()["p-fcb"]
    return entry.build(entry.options(**{"exploration": 4, "epsilon": 8.0, "kappa": 0.3} | options), SETTING)


# --- one changed outcome ------------------------------------------------------------------------------------


class Life:
    """All that an agent does and shows, with outcomes that are a function of (round, producer, units), but for one."""

    def __init__(self, method, changed=None, outputs=None, shift=0):
        rule, p = method.node, method.p
        self.method, self.open, self.message = method, one(rule.open(p)), one(rule.message(p))
        self.plan, self.out, self.ledger = one(plan_record(p)), one(out_record(rule, p)), one(ledger_record(ARMS, 1))
        self.plan.arms = ARMS
        self.secret = make_secrets(1, ARMS, rule.marks(p), LIMITS[0].astype(float)).view(np.recarray)[0]
        self.shown, self.asked, self.values, self.outputs = [], [], [], []
        for field, values in method.known.items():
            self.open[field] = values[0]
        for t in range(1, ROUNDS + 1):
            self.act(t, changed)
            self.pass_the_door(t, outputs[t - 1] if outputs else None, shift)

    @property
    def orders(self):
        return [shown for shown in self.shown if isinstance(shown, list)]

    def act(self, t, changed):
        rule, p = self.method.node, self.method.p
        self.plan.entries = 0
        rule.choose(self.open, p, t, stream(1, 0, 0, t), self.plan)
        order = [(int(self.plan.arm[e]), int(self.plan.pulls[e])) for e in range(self.plan.entries)]
        self.shown.append(order)
        for k, units in order:
            good = np.random.default_rng([t, k]).binomial(units, QUALITY[k])
            if changed == (t, k):
                good = units - good if 2 * good != units else 0
            take_in(self.secret, k, units, UNIT * int(good))

    def pass_the_door(self, t, outputs, shift):
        """`outputs`: the noised numbers that are to come out, whatever went in; `shift`: is added to them."""
        rule, p, out = self.method.node, self.method.p, self.out
        clear(out)
        rule.release(self.open, p, t, self.plan, out)
        look_up(out, self.secret, self.ledger, ARMS, False)
        used = slice(0, out.entries)
        self.asked.append([x[used].tolist() for x in (out.arm, out.first, out.last, out.price, out.sensitivity)])
        self.values.append(out.value[used].tolist())
        rule.mechanism.book(out, self.ledger)
        if outputs is None:
            rule.mechanism.add(out, self.secret, stream(2, 0, 1, t), 0)
        else:
            out.value[used] = outputs
        out.value[used] += shift
        self.outputs.append(out.value[used].tolist())
        rule.publish(self.open, p, t, self.plan, out)
        if words := rule.speak(self.open, p, t, self.message):
            self.shown.append(self.message.tobytes()[: 8 * words])
            rule.hear(self.open, None, p, t, self.message)  # a peer that says the same


@pytest.mark.parametrize("options", FORMS)
def test_with_the_same_noised_numbers_a_changed_outcome_changes_nothing_that_is_seen(options):
    """And one number at the door, by no more than the limit, where its price is epsilon (or the mu of epsilon and delta)."""
    method = built(**options)
    first = Life(method)
    price = mu_of(8.0, 1e-6) if "delta" in options else 8.0
    rounds = [(t, k) for t in (1, 3, 6, 11, 20, 29) for k in range(ARMS) if k in dict(first.orders[t - 1])]
    moved_once = 0
    for t, k in rounds:
        other = Life(method, (t, k), first.outputs)
        assert other.shown == first.shown
        assert other.asked == first.asked
        assert other.ledger.tobytes() == first.ledger.tobytes()
        pairs = zip(chain(*first.values), chain(*other.values), strict=True)
        moved = [abs(a - b) for a, b in pairs if a != b]
        assert len(moved) <= 1
        assert sum(moved) <= LIMITS[0, k] * UNIT
        moved_once += len(moved)
    assert moved_once >= len(rounds) // 2  # the others are not released by the end
    assert {price for asked in first.asked for price in asked[3]} == {price}


def test_with_other_noised_numbers_orders_do_change():
    """So that the test above can fail."""
    assert Life(built(), shift=-60 * UNIT).orders != Life(built()).orders


def test_releases_are_of_all_units_since_the_last_and_at_least_as_many_as_before():
    life = Life(built())
    for k in range(ARMS):
        covers = [(a[1][e], a[2][e]) for a in life.asked for e in range(len(a[0])) if a[0][e] == k]
        assert covers[0][0] == 1
        assert all(later[0] == sooner[1] + 1 for sooner, later in pairwise(covers))
        assert all(later[1] >= 2 * sooner[1] for sooner, later in pairwise(covers))


def test_the_messages_of_an_echo_are_noise_alone():
    life = Life(built(learning="echo"))
    own, noise = [[v[side::2] for v in life.values if v] for side in (0, 1)]
    assert not any(map(any, noise))
    assert any(map(any, own))
    sent = np.frombuffer(b"".join(x[: 16 * 8] for x in life.shown if isinstance(x, bytes)))
    assert sent.any()
    told = [out[1::2] for out in life.outputs if out]
    n = len(life.message.good)
    weight = weight_of(life.method.p, 7.0, sqrt(2) * 7 / 8)
    assert np.frombuffer(life.shown[1])[n] == pytest.approx(weight * told[0][0] / UNIT)


# --- stated and accounted -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["solanki-exp2-uniform", "solanki-controls-uniform", "solanki-controls-normal", "suppliers"])
def test_private_rows_of_built_in_studies_lose_no_more_than_they_state(name):
    fewer = [] if name == "suppliers" else ["problem.agents=3"]
    study = load_study(name, ["horizon=24", "replications=1", *fewer]).specification
    seen = 0
    for row in study.rows:
        if row.name != "p-fcb" or row.options.mode == "paper" or row.options.epsilon == inf:
            continue
        case = make_case(study, row, 0)
        about = (case.method, case.problem, case.worlds, case.agents, 12, case.marks[:1], case.links)
        run = simulate_mesh(*about, compiled=False)
        claim = case.method.claim
        booked = accounted(run.ledgers, case.method.node.mechanism, claim.delta).max()
        said = statement(claim, case.doors, booked)
        assert 0 < booked <= claim.epsilon == row.options.epsilon
        assert claim.delta in (0.0, 1e-6)
        assert said["private"] and said["adversary"] == SEES_ALL
        assert "one producer" in said["unit"]
        seen += 1
    assert seen > 1


def test_normal_noise_loses_what_it_states():
    method = built(delta=1e-6, epsilon=1.0)
    ledger = Life(method).ledger
    booked = accounted(np.array([ledger]).view(ledger.dtype), method.node.mechanism, 1e-6)[0]
    assert 0.999 < booked <= 1.0
    assert not doors_of(method, SETTING).void


# --- what is learned ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"delta": 1e-6}, {"learning": "naive"}])
def test_an_estimate_weighs_each_release_by_its_variance(options):
    """From the transcript: W = sum of w^2 / (w + 4 s), Y likewise, all counted twice, because a peer says the same."""
    life = Life(built(**options))
    p, o = life.method.p, life.open
    wanted_units, wanted_good, grain = np.zeros(ARMS), np.zeros(ARMS), np.zeros(ARMS)
    for asked, outputs in zip(life.asked, life.outputs, strict=True):
        for k, first, last, price, limit, value in zip(*asked, outputs, strict=True):
            w, s = last - first + 1, (p.spread * limit / price) ** 2
            weight = 1.0 if "learning" in options else w / (w + 4 * s)
            wanted_units[k] += weight * w
            wanted_good[k] += weight * value / UNIT
            grain[k] = max(grain[k], weight * limit / price)
    assert np.allclose(o.own_units[:ARMS], wanted_units)
    assert np.allclose(o.own_good[:ARMS], wanted_good)
    assert np.allclose(o.grain[:ARMS], grain)
    assert np.allclose(o.learned_units[:ARMS] + o.new_units[:ARMS], wanted_units)
    assert np.allclose(o.estimate[:ARMS], (o.own_good + o.learned_good)[:ARMS] / (o.own_units + o.learned_units)[:ARMS])


def test_without_noise_the_radius_is_that_of_the_paper():
    open, p = bounds(units=400.0, good=100.0, grain=0.0, tail=0.0)
    bound(open, p, 50)
    assert open.upper[0] == pytest.approx(0.25 + sqrt(3 * log(10 * 50) / (2 * 400)))
    assert open.lower[0] == pytest.approx(0.25 - sqrt(3 * log(10 * 50) / (2 * 400)))
    assert (open.upper[1], open.lower[1]) == (1.0, 0.0)


def bounds(units, good, grain, tail):
    p = SimpleNamespace(arms=2, slots=4, agents=10.0, kappa=1.0, tail=tail)
    open = one(open_record(p))
    open.own_units[0], open.own_good[0], open.grain[0] = units, good, grain
    conclude(open, p)
    return open, p


@pytest.mark.parametrize("draws", [1, 2, 10, 100])
@pytest.mark.parametrize("tail", [3.0, 6.9, 13.8])
def test_laplace_noise_leaves_its_radius_with_a_chance_below_the_tail(draws, tail):
    """Chernoff's bound, minimised numerically, of so many equal draws and of the sampling of 10 units to each.

    ln E exp(h (S + sum of L)) <= h^2 w / 8 - sum of ln(1 - h^2 b^2), w units and Laplace noise of scale b.
    """
    b, w = 4.0, 10.0
    weight = w / (w + 8 * b * b)
    open, p = bounds(units=draws * weight * w, good=0.0, grain=weight * b, tail=tail)
    bound(open, p, 1e-3 + 0.1)  # so early that the paper's radius is 0.06: the other one counts
    units = draws * weight * w
    radius = sqrt(tail / (2 * units) + 2 * (tail * weight * b / units) ** 2)
    assert open.upper[0] == pytest.approx(min(1.0, radius))
    far = radius * units / weight  # of the plain sum
    h = np.linspace(0, 1 / b, 20_001)[1:-1]
    exponent = draws * (h * h * w / 8 - np.log(1 - (h * b) ** 2)) - h * far
    assert exp(exponent.min()) <= exp(-tail) * (1 + 1e-9)


# --- engines, options -----------------------------------------------------------------------------------------


def test_compiled_interpreted_and_deployed_runs_end_in_the_same_bytes(purchase):
    case = purchase("p-fcb", 70, {"distribution": "normal", "rho": 2.0}, window=[8, 64])
    about = (case.method, case.problem, case.worlds, case.agents, case.horizon)
    compiled, plain = (
        simulate_mesh(*about, case.marks, case.links, seed=3, replications=2, compiled=how) for how in (True, False)
    )
    for name, mine, theirs in zip(compiled._fields, compiled, plain, strict=True):
        assert mine is None or mine.tobytes() == theirs.tobytes(), name
    assert compare(compiled, rehearse_mesh(*about, case.links, seed=3, replication=1), 1) == []
    assert compiled.opens["learned_units"].sum() > 0
    assert compiled.tallies["rounds"].tolist() == [4, 4]


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"omega1": 0.1}, "omega1 must be left out unless mode = 'paper', got 0.1"),
        ({"guard": True}, "guard must be left out unless mode = 'paper', got True"),
        ({"calibration": "tight"}, "calibration must be left out unless mode = 'paper', got 'tight'"),
        ({"learning": "check"}, "learning must be 'invvar', 'naive' or 'echo' in mode = 'private', got 'check'"),
        ({"window": (9, 3)}, "window must be [first, last] with first <= last, got [9, 3]"),
    ],
)  # fmt: skip
def test_options_of_the_printed_form_are_refused(options, line):
    with pytest.raises(UsageError) as refused:
        built(**options)
    assert str(refused.value) == line
