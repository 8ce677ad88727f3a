"""What a study or an algorithm costs in privacy before it runs, who learns what, and the noise that a true epsilon needs."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from math import inf
from typing import Any, NamedTuple

import numpy as np
from pydantic import BaseModel

from coterie.building import build, doors_of
from coterie.contract import Entry, Method, Setting, Terms
from coterie.engines.forecast import Course, Forecast, forecast
from coterie.errors import UsageError
from coterie.limits import EPSILON_LEAST
from coterie.privacy.accountant import Loss, booked_loss, rounded_up
from coterie.privacy.statement import Doors, Guarantee, guarantees, statement
from coterie.studies.case import Case, make_case
from coterie.studies.estimate import estimate_study
from coterie.studies.messages import check
from coterie.studies.running import ledgers_of
from coterie.studies.spec import Specification, finite_or_null, rewritten

NOT_PRIVATE = "not private: "  # so begins the note of a claim that says why no finite epsilon holds
NS_OF_ROUND = 100.0  # of one agent with one arm, compiled
PERSON = 10  # rewards of one, where nobody has counted them
STEPS, TOLERANCE = 60, 1e-9  # of the search for the epsilon to state

Allow = Callable[[float], None]  # told a forecast of seconds; raises where nobody wants to wait so long


class Price(NamedTuple):
    """The privacy of one method over one horizon."""

    label: str
    method: Method
    doors: Doors
    setting: tuple[int, int, int]  # agents, arms, horizon
    parameters: dict[str, Any]
    outlook: Forecast

    @property
    def course(self) -> Course:
        """The door whose events bound the loss."""
        return (self.doors.trusted and self.outlook.server) or self.outlook.agent

    @property
    def epsilon(self) -> float:
        return self.epsilon_of(1)

    def epsilon_of(self, rewards: int) -> float:
        """Of a person with so many rewards, by whom the statement is about."""
        return inf if self.doors.void else self.course.loss.times(rewards).epsilon(self.method.claim.delta)

    @property
    def why(self) -> str:
        """Why no finite epsilon holds; empty where one does."""
        if self.epsilon < inf:
            return ""
        note = self.method.claim.note
        told = note.removeprefix(NOT_PRIVATE) if note.startswith(NOT_PRIVATE) else self.doors.bare
        return (self.doors.void or told).removeprefix("no finite epsilon holds: ")

    def statement(self) -> dict[str, Any]:
        """As a run states it, of the dearest path there is."""
        return rewritten(statement(self.method.claim, self.doors, self.epsilon), finite_or_null)

    def guarantees(self, rewards: int = 1, unit: str = "") -> list[Guarantee]:
        return guarantees(self.method.claim, self.doors, self.course.loss, rewards, unit)

    def noise(self) -> dict[str, Any]:
        """Of one release, in rewards: the first and the last that were looked at; of a stream that of one of its parts."""
        events, role = self.course.events, self.course.role
        ends = [events[0], events[-1]] if events else []
        norm = role.mechanism.norm(role.stream(self.method.p))
        return {
            "mechanism": role.mechanism.name,
            "sensitivity": [event.sensitivity for event in ends],
            "price": [event.price for event in ends],
            "scale": [0.0 if event.price == inf else event.sensitivity * norm / event.price for event in ends],
        }

    def document(self, rewards: int) -> dict[str, Any]:
        """One row of the command's JSON: an infinite epsilon is null."""
        agents, arms, horizon = self.setting
        every = f"all {self.outlook.rewards:,} rewards of one agent"
        facts = {
            "label": self.label,
            "agents": agents,
            "arms": arms,
            "horizon": horizon,
            "parameters": self.parameters,
            "privacy": self.statement(),
            "releases": self.course.releases,
            "noise": self.noise(),
            "parties": [found.document() for found in self.guarantees()],
            "person": {"rewards": rewards, "parties": [found.document() for found in self.guarantees(rewards)]},
            "history": [found.document() for found in self.guarantees(self.outlook.rewards, every)],
        }
        return rewritten(facts, finite_or_null)


class Runs(NamedTuple):
    """A row that is run so often on the same data, of which a person has so many rewards."""

    price: Price
    times: int = 1
    rewards: int = 1


def added_up(runs: Iterable[Runs]) -> tuple[float, float]:
    """Epsilon and delta of all of these on the same data: both add up (basic composition), whatever each knew of the others."""
    epsilon = delta = Fraction(0)
    for price, times, rewards in runs:
        loss = price.epsilon_of(rewards)
        if loss == inf:
            return inf, 0.0
        epsilon, delta = epsilon + times * Fraction(loss), delta + times * Fraction(price.method.claim.delta)
    return (inf, 1.0) if delta >= 1 else (rounded_up(epsilon), rounded_up(delta))


def person_of(study: Specification) -> int:
    """Of how many rewards of one person to speak."""
    most = study.problem.rewards_of_person
    return most if most > 1 else PERSON


def seconds_needed(method: Method, horizon: int) -> float:
    """Among peers every round is played; around a server there are few epochs."""
    return NS_OF_ROUND * 1e-9 * horizon if method.server is None and method.claim.epsilon < inf else 0.0


def price_study(study: Specification, allow: Allow = lambda seconds: None) -> list[Price]:
    """Of every row of a study. `allow` is told how long it will take, and may raise."""
    estimate_study(study.model_copy(update={"replications": 1}), 1).refuse()
    about = study.problem.agents, study.problem.arms, study.horizon
    cases, found, outlooks = [make_case(study, row, 0) for row in study.rows], [], dict[Any, Forecast]()
    allow(sum(seconds_needed(case.method, study.horizon) for case in cases))
    for row, case in zip(study.rows, cases, strict=True):
        method = identity(case.method)
        if method not in outlooks:  # rows that differ in their faults alone share it
            outlooks[method] = forecast(case.method, study.horizon)
        outlook = outlooks[method]
        if row.content:
            outlook = outlook.at_least(played(case, study.seed))
        found.append(Price(row.label, case.method, case.doors, about, row.parameters(), outlook))
    return found


def played(case: Case, seed: int) -> Loss:
    """What a file of one's own really costs in a run. That one path is the dearest is argued for our own texts only."""
    ledgers, role = ledgers_of(case.method, case.simulate(seed, 0, 1))
    return max(booked_loss(ledger, role.mechanism) for ledger in ledgers.ravel())


def identity(method: Method) -> tuple[Any, ...]:
    """Equal for methods that go the same way. Tables cannot be looked up, their bytes can."""
    numbers = tuple(one.tobytes() if isinstance(one, np.void) else one for one in method.p)
    known = tuple((field, np.asarray(values).tobytes()) for field, values in method.known.items())
    return method.node, method.server, numbers, known, bool(method.weights), method.claim


_paths: dict[Any, float] = {}


def dearest_path(case: Case, horizon: int) -> float:
    """The epsilon of the dearest reward on any path. Rows that differ in their faults alone share it."""
    key = identity(case.method), horizon
    if key not in _paths:
        _paths[key] = Price("", case.method, case.doors, (0, 0, 0), {}, forecast(case.method, horizon)).epsilon
    return _paths[key]


def usual_terms(setting: Setting) -> Terms:
    """Producers that always pay: what an exchange costs depends on no other fact about them."""
    shape = setting.agents, setting.arms
    return Terms(np.zeros(shape), np.full(shape, 50), alpha=0.4, rho=1.0)


def price_algorithm(
    entry: Entry, parameters: dict[str, Any], setting: Setting, allow: Allow = lambda seconds: None
) -> Price:
    """Of an algorithm with these options."""
    options = check_options(entry, parameters)
    if entry.problem == "procurement" and setting.terms is None:
        setting = setting._replace(terms=usual_terms(setting))
    method = build(entry, options, setting)
    allow(seconds_needed(method, setting.horizon))
    label = " ".join([entry.name, *(f"{key}={value}" for key, value in parameters.items())])
    about = setting.agents, setting.arms, setting.horizon
    named = rewritten(options.model_dump(), finite_or_null)
    return Price(label, method, doors_of(method, setting), about, named, forecast(method, setting.horizon))


def check_options(entry: Entry, parameters: dict[str, Any]) -> BaseModel:
    options, complaints = check(entry.options, parameters, (), entry.name)
    if options is None:
        raise UsageError(complaints[0].text)
    return options


def price_of_truth(
    entry: Entry, parameters: dict[str, Any], setting: Setting, true_epsilon: float, allow: Allow = lambda seconds: None
) -> Price:
    """With the largest stated epsilon whose true loss over the horizon is at most `true_epsilon`."""
    if "epsilon" not in entry.options.model_fields:
        raise UsageError(f"--true-epsilon must be left out: {entry.name} has no epsilon to choose")
    low, high, stated, best = 0.0, inf, true_epsilon, None
    refused = UsageError(f"--true-epsilon must be larger for {entry.name}, got {true_epsilon}")
    for _ in range(STEPS):
        if stated < EPSILON_LEAST:  # nor may less be stated
            break
        try:
            price = price_algorithm(entry, {**parameters, "epsilon": stated}, setting, allow)
        except UsageError as error:  # more than may be stated
            refused, high, stated = error, stated, (low + stated) / 2
            continue
        if price.epsilon == inf:
            raise UsageError(f"--true-epsilon cannot be had from {entry.name} here: {price.why}")
        if price.epsilon <= true_epsilon:
            best, low = price, stated
        else:
            high = stated
        if best and best.epsilon >= true_epsilon * (1 - TOLERANCE):
            break
        stated *= true_epsilon / price.epsilon * (1 - TOLERANCE / 2)  # most losses are in proportion to what is stated
        if not low < stated < high:
            stated = (low + high) / 2 if high < inf else 2 * low
    if best is None:
        raise refused
    return best
