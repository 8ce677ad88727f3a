"""What a row of a procurement tells beyond its regret: what was bought, how often it was not good enough, what was learned.

A violated round costs as much as the worst order could, so regret is told beside the number of violated rounds, and with the
exploration apart. Rows meet the same instances with the same seeds, so they are compared replication by replication.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from coterie.contract import Method
from coterie.engines.simulate import Run
from coterie.problem import oracles, procurement
from coterie.problem.suppliers import Suppliers
from coterie.studies.arms import Arms, Columns, Instance
from coterie.studies.problems import Procurement
from coterie.studies.procurement import check, instance_of, is_drawn, make_procurement, suppliers_of
from coterie.studies.spec import Row, Specification, finite_or_null, rewritten
from coterie.studies.spread import spread

if TYPE_CHECKING:
    from coterie.studies.case import Case


class Purchases(Arms):
    """What a study asks of a procurement."""

    sort, kinds = "procurement", ("procurement",)
    has_best_arm = False  # among producers
    public = "Costs, capacities and the least quality: they are public."
    about: Procurement

    @property
    def drawn(self) -> bool:
        return is_drawn(self.about)

    def check(self) -> None:
        check(self.study, self.about)

    def instance(self, row: Row, replication: int) -> Instance:
        worlds, found, setting = make_procurement(self.study, self.about, replication)
        return Instance(procurement, worlds, found.quality, setting)

    def measure(self, case: "Case", run: Run, first: int) -> Columns:
        return measure(self.about, suppliers_of(self.about, self.study.seed, instance_of(self.about, first)), case, run)

    def tell(self, method: Method, columns: Columns, agents_shown: int) -> dict[str, Any]:
        return {"procurement": tell(self.study, self.about, method, columns, agents_shown)}

    def compare(self, summary: list[Any], columns: list[Columns]) -> None:
        for own, facts in zip(columns, summary, strict=True):
            others = {other["label"]: theirs for other, theirs in zip(summary, columns, strict=True) if theirs is not own}
            against = {label: compare(own, theirs) for label, theirs in others.items()}
            facts["procurement"]["against"] = rewritten(against, finite_or_null)


def measure(about: Procurement, found: Suppliers, case: "Case", run: Run) -> Columns:
    """Of each replication and agent: what was lost and violated, and what was bought after the exploration."""
    method, horizon = case.method, case.horizon
    units = run.secrets["count"][:, :, : about.producers].astype(float)
    learners = run.opens if "learned_units" in (run.opens.dtype.names or ()) else run.inners
    learned = learners["learned_units"][:, :, : about.producers]
    explored = method.exploration * np.minimum(found.capacity, method.p.probe)
    per_round = np.maximum(0.0, units - explored) / max(1, horizon - method.exploration)
    bought = per_round.sum(axis=2)
    slack = [oracles.slack(found.quality, cost, limit, about.alpha, about.rho)
             for cost, limit in zip(found.cost, found.capacity, strict=True)]
    after, everyone = run.totals - run.early, (len(units), about.agents)
    return {
        "regret_after": after,
        "violations": run.violations.astype(float),
        "slack": np.broadcast_to(slack, everyone).copy(),
        "bought_quality": np.where(bought > 0, per_round @ found.quality, np.nan) / np.where(bought > 0, bought, 1.0),
        "revenue": (per_round * (about.rho * found.quality - found.cost)).sum(axis=2),
        "best_revenue": np.broadcast_to(case.worlds["optimum"], everyone).copy(),
        "orders": per_round,
        "learned": learned.sum(axis=2) / np.maximum(units.sum(axis=2), 1.0),
        "learned_about": learned / np.maximum(units, 1.0),
        "extra_violations": run.violations.sum(axis=1).astype(float),
        "extra_regret_after_exploration": after.sum(axis=1),
    }


def tell(study: Specification, about: Procurement, method: Method, columns: Columns, agents_shown: int) -> dict[str, Any]:
    """Of one row, over all its replications."""
    by_agent = {"regret_after": "regret_after", "violations": "violations", "quality": "bought_quality",
                "revenue": "revenue", "best_revenue": "best_revenue"}
    least_slack = {"slack": columns["slack"].min(axis=0)[:agents_shown].tolist()}
    mean_orders, about_each = columns["orders"].mean(axis=0), columns["learned_about"].mean(axis=0)[:agents_shown]
    return {
        "alpha": about.alpha,
        "exploration": method.exploration,
        "regret_after": spread(columns["regret_after"].mean(axis=1)),
        "median_after": float(np.median(columns["regret_after"])),  # of agents and replications: few agents can decide a mean
        "violations": spread(columns["violations"].mean(axis=1)),
        "below": spread(columns["violations"].mean(axis=1) / study.horizon),
        "by_agent": least_slack | {name: columns[key].mean(axis=0)[:agents_shown].tolist() for name, key in by_agent.items()},
        "orders": None if is_drawn(about) else orders(about, suppliers_of(about, study.seed, 0), mean_orders),
        "learned": {  # units taken from others for one of its own
            "by_agent": columns["learned"].mean(axis=0)[:agents_shown].tolist(),
            "about": None if is_drawn(about) else about_each.tolist(),
        },
    }


def orders(about: Procurement, found: Suppliers, mean: np.ndarray) -> dict[str, Any]:
    """Units per round after the exploration, beside the best order and the capacity."""
    best = [oracles.best_order(found.quality, cost, limit, about.alpha, about.rho).tolist()
            for cost, limit in zip(found.cost, found.capacity, strict=True)]
    return {"quality": found.quality.tolist(), "mean": mean.tolist(), "best": best, "capacity": found.capacity.tolist()}


def compare(columns: Columns, other: Columns) -> dict[str, Any]:
    """Regret relative to another row: the ratio of the means, and the mean of the ratios of single replications."""
    return {
        "whole": _ratio(columns["curves"][:, -1], other["curves"][:, -1]),
        "after": _ratio(columns["regret_after"].sum(axis=1), other["regret_after"].sum(axis=1)),
    }


def _ratio(mine: np.ndarray, theirs: np.ndarray) -> dict[str, float | None] | None:
    if (theirs <= 0).any():
        return None
    single = spread(mine / theirs)
    return {"of_means": float(mine.mean() / theirs.mean()), **{key: single[key] for key in ("mean", "sem", "margin")}}
