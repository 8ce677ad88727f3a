"""Which row to run, what it will cost, and whether joining is worth it: by running rows on instances that fit a guess.

All rows meet the same instances (`problem.instances.guess`). What a row costs is its regret and its messages, in one sum. A
closed form (`theory.pooled`) tells where to begin the search for the epsilon from which learning together pays.
"""

from collections.abc import Callable, Iterable
from dataclasses import asdict
from functools import cached_property
from math import inf, log, sqrt
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from coterie.building import build
from coterie.studies import Result, Study, load_study
from coterie.studies.case import entry_of
from coterie.studies.estimate import Estimate, estimate_row, setting_of
from coterie.studies.guess import ALONE, Choice, Guess, choices, study_text
from coterie.studies.rows import Floor
from coterie.studies.running import Progress
from coterie.studies.spec import finite_or_null, rewritten
from coterie.theory.pooled import Climb, pulls_needed

RUNS, FEW = 96, 16  # instances that are drawn, and where they take long
PERCENTILES = 10, 90  # of the interval over instances, which holds 80 % of them
EPSILONS = 0.1, 0.3, 1.0, 3.0, inf  # whose price is told
LEAST, MOST = 1e-3, 100.0  # between which the epsilon is looked for from which learning together pays
STEP, CLOSE = 1.5, 1.1  # factors: of a step of that search, and within which it ends
STEPS = 6  # that it takes as a rule
CLEARLY = 0.9  # of what the usual row costs: then another one takes its place
LONERS, UNLIKE_LONERS = 2, 8  # agents of an instance that are simulated where each is alone, and stand for all
SECONDS, SECONDS_MOST = 2.0, 20.0  # of a processor: what takes longer has few instances; then it is shortened, or left out
SHORTENED = ("peer-ucb",)  # whose regret grows in one decade of rounds as in the one before


class Forecast(NamedTuple):
    """Of one row. `regret` has one number for each instance; None: no forecast."""

    choice: Choice
    epsilon: float
    regret: np.ndarray | None = None
    messages: float = 0.0
    total: float = inf  # regret and messages
    floor: Floor | None = None
    shortened: bool = False

    def document(self) -> dict[str, Any]:
        row = self.choice.table(self.epsilon)
        if self.regret is None:
            return {"row": row, "regret": None, "messages": None, "total": None, "shortened": False}
        low, high = np.percentile(self.regret, PERCENTILES, method="weibull")  # between whom the next one lies so often
        mean = float(self.regret.mean())
        regret = {"mean": mean, "low": min(float(low), mean), "high": max(float(high), mean)}
        return {"row": row, "regret": regret, "messages": self.messages, "total": self.total, "shortened": self.shortened}


class Size(NamedTuple):
    """Of a simulation."""

    agents: int
    horizon: int
    runs: int


class Plan:
    """What is found about a guess. Each answer is simulated when it is first asked for."""

    def __init__(self, guess: Guess, workers: int | None = None, progress: Progress | None = None, seed: int = 0):
        self.guess, self.workers, self.progress, self.seed = guess, workers, progress, seed
        self.known: dict[tuple[Choice, float], Forecast] = {}

    # --- answers

    @cached_property
    def rows(self) -> list[Forecast]:
        """All ways to learn together that there are to choose from."""
        return self.simulated([(choice, self.guess.epsilon) for choice in choices(self.guess)])

    @property
    def together(self) -> Forecast:
        """The first of them, unless another one is clearly cheaper."""
        cheapest = min(self.rows, key=lambda row: row.total)
        return cheapest if cheapest.total < CLEARLY * self.rows[0].total else self.rows[0]

    @cached_property
    def alone(self) -> tuple[Forecast, Forecast]:
        """Each alone: where nobody sees what it plays, and it needs no noise; and where everyone does."""
        unseen, seen = self.simulated([(ALONE, inf), (ALONE, self.guess.epsilon)])
        return unseen, seen

    @property
    def recommended(self) -> Forecast:
        unseen, together = self.alone[0], self.together
        return unseen if unseen.total < together.total < inf else together

    @cached_property
    def prices(self) -> list[Forecast]:
        """What epsilon costs, of the best way to learn together."""
        return self.simulated([(self.together.choice, epsilon) for epsilon in EPSILONS])

    @cached_property
    def pays_from(self) -> float | None:
        """The least epsilon at which learning together costs no more than each alone and unseen.

        None: not known; inf: there is none up to MOST; 0: there is none down to LEAST at which it costs more.
        """
        choice, unseen = self.together.choice, self.alone[0].total

        def pays(epsilon: float) -> bool:
            return self.simulated([(choice, epsilon)])[0].total <= unseen

        if self.together.regret is None:
            return None
        alone = self.closed_form(ALONE, inf)
        start = first_true(lambda epsilon: self.closed_form(choice, epsilon) <= alone, 1.0)
        return first_true(pays, min(max(start, LEAST), MOST))

    @property
    def floor(self) -> tuple[Floor, float] | None:
        """The floor of the best way to learn together, or else what is known of it without privacy; with its height."""
        found = self.together.floor or (self.prices[-1].floor if self.together.regret is not None else None)
        return (found, found["constant"] * log(float(self.guess.agents) * self.guess.horizon)) if found else None

    @property
    def text(self) -> str:
        """The study to run."""
        tables = {"title": "{problem.agents} agents, {problem.arms} arms: as planned"} | self.guess.tables
        return study_text(tables, [self.recommended.choice.table(self.recommended.epsilon)])

    def document(self) -> dict[str, Any]:
        """All of it, as JSON takes it."""
        unseen, seen = self.alone
        floor = self.floor
        facts = {
            "guess": asdict(self.guess),
            "study": self.text,
            "recommended": self.recommended.document(),
            "rows": [row.document() for row in self.rows],
            "alone": {"unseen": unseen.document(), "seen": seen.document()},
            "prices": [row.document() for row in self.prices],
            "pays_from": {"epsilon": self.pays_from, "state": self.pays_state},
            "closed_form": self.closed_form(self.together.choice, self.guess.epsilon),
            "floor": {**floor[0], "regret": floor[1]} if floor else None,
        }
        return rewritten(facts, finite_or_null)

    @property
    def pays_state(self) -> str:
        """always | from | never | unknown."""
        if self.pays_from is None:
            return "unknown"
        return {0.0: "always", inf: "never"}.get(self.pays_from, "from")

    # --- simulating

    def estimate(self) -> Estimate:
        """Of all there is to simulate: as if every row, price and step of the search took as long as the dearest."""
        rows, found = [*choices(self.guess), ALONE], Estimate(0.0, 0.0, 0.0)
        for choice in rows:
            if size := self.size(choice, self.guess.epsilon):
                one = self.study([choice.table(self.guess.epsilon)], size).forecast(self.workers)
                found = Estimate(max(found.memory, one.memory), 0.0, max(found.seconds, one.seconds))
        return found._replace(seconds=found.seconds * (len(rows) + len(EPSILONS) + STEPS))

    def simulated(self, wanted: Iterable[tuple[Choice, float]]) -> list[Forecast]:
        """Forecasts, each simulated once; those of one size together."""
        wanted, sizes = list(wanted), dict[Size, list[tuple[Choice, float]]]()
        for choice, epsilon in wanted:
            if (choice, epsilon) not in self.known:
                if size := self.size(choice, epsilon):
                    sizes.setdefault(size, []).append((choice, epsilon))
                else:
                    self.known[choice, epsilon] = Forecast(choice, epsilon)
        for size, pairs in sizes.items():
            rows = [choice.table(epsilon) for choice, epsilon in pairs]
            result = self.study(rows, size).run(self.workers, progress=self.progress)
            for index, (choice, epsilon) in enumerate(pairs):
                self.known[choice, epsilon] = self.read(result, index, choice, epsilon)
        return [self.known[pair] for pair in wanted]

    def size(self, choice: Choice, epsilon: float) -> Size | None:
        """The largest that does not take too long; None: there is none."""
        agents, horizon = self.guess.agents, self.guess.horizon
        if choice == ALONE:
            agents = min(agents, UNLIKE_LONERS if self.guess.unlike else LONERS)
        tries = [(Size(agents, horizon, RUNS), SECONDS), (Size(agents, horizon, FEW), SECONDS_MOST)]
        if choice.name in SHORTENED:
            tries.append((Size(agents, horizon // 10, FEW), SECONDS_MOST))
        for size, most in tries:
            study = self.study([choice.table(epsilon)], size).specification
            if estimate_row(study, study.rows[0]).seconds <= most:
                return size
        return None

    def study(self, rows: list[dict[str, Any]], size: Size) -> Study:
        tree = self.guess.tables | {"horizon": size.horizon, "replications": size.runs, "seed": self.seed, "algorithm": rows}
        tree["problem"] |= {"agents": size.agents}
        if size.agents < self.guess.agents:  # each alone: there is nobody to lie to
            tree.pop("faults", None)
        return load_study(tree)

    def read(self, result: Result, index: int, choice: Choice, epsilon: float) -> Forecast:
        horizon, told = result.study.horizon, result.summary[index]
        curves = result.frame().filter(pl.col("row") == index)
        regret, messages = at_round(curves, horizon), told["communication"]["messages"]
        shortened = horizon < self.guess.horizon
        if shortened:  # the decade to come costs as much as the one before it
            regret = 2 * regret - at_round(curves, horizon // 10)
            messages *= log(self.guess.horizon) / log(horizon)
        if choice == ALONE:
            regret = regret * (self.guess.honest / result.study.rows[0].honest(result.study.problem.agents))
        total = float(regret.mean()) + self.guess.message_cost * messages
        return Forecast(choice, epsilon, regret, messages, total, told.get("floor"), shortened)

    # --- in closed form

    def closed_form(self, choice: Choice, epsilon: float) -> float:
        """The regret of all agents if they pool what they know, as pooled-ucb does, or if each is alone.

        Of an instance whose other arms lie evenly between one and four gaps below the best.
        """
        pooled = choice if choice.name in ("pooled-ucb", ALONE.name) else Choice("pooled-ucb")
        climb, teams = self.climb(pooled, epsilon), self.guess.honest if choice == ALONE else 1
        points = min(max(self.guess.arms - 2, 0), 16)
        gaps = np.minimum(self.guess.gap * np.append(1.0, 1 + 3 * (np.arange(points) + 0.5) / max(points, 1)), self.guess.best)
        lost = [gap * pulls_needed(self.guess.best - gap, self.guess.best, climb) for gap in gaps]
        others = (self.guess.arms - 2) * float(np.mean(lost[1:])) if points else 0.0
        return teams * (lost[0] + others)

    def climb(self, choice: Choice, epsilon: float) -> Climb:
        """By the parameters that the row itself would have."""
        study = self.study([choice.table(epsilon)], Size(self.guess.agents, self.guess.horizon, 1)).specification
        row = study.rows[0]
        setting = setting_of(study, row, self.guess.agents)._replace(homogeneous=not self.guess.unlike)
        p: Any = build(entry_of(study, row), row.options, setting).p
        crowd = float(p.agents) if p.portion == p.agents else max(1.0, p.agents / p.arms)
        draws = 0.0 if epsilon == inf else p.draws or crowd
        return Climb(float(p.agents) * p.horizon, epsilon, p.first, crowd, draws, p.growth, p.thrift)


def at_round(curves: pl.DataFrame, round_: int) -> np.ndarray:
    """Regret of all agents in each run, at the mark that is nearest."""
    marks = curves["round"].unique().to_numpy()
    return curves.filter(pl.col("round") == marks[np.abs(marks - round_).argmin()]).sort("replication")["regret"].to_numpy()


def first_true(holds: Callable[[float], bool], start: float) -> float:
    """From where on something holds that is false below: 0 if it holds down to LEAST, inf if it fails up to MOST.

    >>> abs(first_true(lambda x: x >= 0.3, 5.0) / 0.3 - 1) < CLOSE - 1
    True
    """
    low = high = start
    while holds(low):
        if low <= LEAST:
            return 0.0
        high, low = low, max(low / STEP, LEAST)
    if high == low:  # it fails at the start
        while not holds(high):
            if high >= MOST:
                return inf
            low, high = high, min(high * STEP, MOST)
    while high > CLOSE * low:
        middle = sqrt(low * high)
        low, high = (low, middle) if holds(middle) else (middle, high)
    return sqrt(low * high)
