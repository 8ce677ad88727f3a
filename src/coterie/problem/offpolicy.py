"""What another way to choose would have earned, from a log that says how likely each choice was when it was made.

A log is a table of `decisions` with the columns reward and probability. A policy says how likely each agent chooses each arm.
Of a row with arm k of agent i the weight is w = policy[i, k] / probability. Three estimates of the mean reward of a choice:

ips     inverse propensity: the mean of w r. Right on average, whatever was left out of the log but the probabilities
snips   self-normalised: sum of w r over sum of w. Hardly biased, and steadier; the one to read
dr      doubly robust: a model's value of the policy, plus the mean of w (r - model). As right as ips, and steadier where
        the model is good

All are functions of a few sums for each agent and arm, so that a log may be larger than memory. `why_not` says when a log
cannot answer. Policies are fixed: one that learns would have met other rewards, and is played on the log by a study (`logged`).
"""

from math import nan, sqrt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from coterie.errors import UsageError, hint
from coterie.limits import REWARD_MOST
from coterie.problem.decisions import Log, Z, numbered, read, source

SUMMED = ("n", "r", "w", "ww", "wr", "wwr", "wwrr")  # over the rows of a cell, where w is 1 / probability
EFFECTIVE_LEAST = 50.0  # equally weighted rows that would tell as much
SHARE_MOST = 0.1  # of all weight on one row
DEVIATIONS = 5.0  # of the mean weight from 1, in standard errors
ROUNDED = 0.015  # by which probabilities of two digits may miss 1
ROWS_STEADY = 10  # of an arm, of which it can be said that its probability is always the same
CHANCE_LEAST = 1e-6  # that arms of the missing probability were never chosen


class Logged(NamedTuple):
    """Sums over the rows of each agent and arm; 0 where there are none."""

    agents: tuple[str, ...]  # none where there is no such column
    arms: tuple[str, ...]
    sums: dict[str, np.ndarray]  # SUMMED: [agents or 1, arms]
    heaviest: np.ndarray  # largest 1 / probability

    @property
    def rows(self) -> float:
        return float(self.sums["n"].sum())

    @property
    def earned(self) -> float:
        """The mean reward of what was really chosen."""
        return float(self.sums["r"].sum()) / self.rows


class Estimate(NamedTuple):
    """Of the mean reward of a choice, with its standard error."""

    value: float
    error: float

    @property
    def interval(self) -> tuple[float, float]:
        """95 %."""
        return self.value - Z * self.error, self.value + Z * self.error


def read_log(file: str, place: str = "LOG") -> Logged:
    """The sums of a log, in one stream over the file."""
    frame = Log(source(file, place))
    if frame.counted or "probability" not in frame.columns:
        given = f"only {', '.join(map(repr, frame.columns[:12]))}"
        raise frame.source.unfit("have the columns arm, reward and probability", given)
    by = [column for column in ("agent", "arm") if column in frame.columns]
    bad = pl.any_horizontal(~fits.fill_null(False) for _, _, fits in frame.checks())
    r, w = pl.col("r"), pl.col("w")
    cells = frame.collect(
        frame.lazy.select(
            *(frame.name(column).alias(column) for column in by), "row", bad.alias("bad"),
            frame.number("reward").alias("r"), (1 / frame.number("probability")).alias("w"),
        )
        .group_by(by)
        .agg(
            pl.col("row").min(), pl.col("bad").any(), pl.len().alias("n").cast(pl.Float64), r.sum(), w.sum(),
            (w * w).sum().alias("ww"), (w * r).sum().alias("wr"), (w * w * r).sum().alias("wwr"),
            (w * w * r * r).sum().alias("wwrr"), w.max().alias("heaviest"), w.min().alias("lightest"),
        )
        .sort("row")
    )  # fmt: skip
    if not cells.height:
        raise frame.source.unfit("have rows", "none")
    if cells["bad"].any():
        frame.require()
    return _laid_out(frame, cells)


def _laid_out(frame: Log, cells: pl.DataFrame) -> Logged:
    arm, arms = numbered(cells["arm"])
    agent, agents = numbered(cells["agent"]) if "agent" in cells.columns else (np.zeros(cells.height, np.int64), ())

    def table(name: str) -> np.ndarray:
        values = np.zeros((max(1, len(agents)), len(arms)))
        values[agent, arm] = cells[name].to_numpy()
        return values

    found = Logged(agents, arms, {name: table(name) for name in SUMMED}, table("heaviest"))
    _require_sums(frame, found, table("lightest"))
    return found


def _require_sums(frame: Log, log: Logged, lightest: np.ndarray) -> None:
    """Where each arm of an agent always has the same probability, these sum to 1, but for arms that were never chosen."""
    chosen = log.sums["n"] > 0
    chance = np.divide(1.0, log.heaviest, out=np.zeros_like(lightest), where=chosen)
    often = (~chosen | (log.sums["n"] >= ROWS_STEADY)).all(axis=1)
    steady = often & (np.where(chosen, log.heaviest - lightest, 0.0) <= 1e-9 * log.heaviest).all(axis=1)
    total, rows = chance.sum(axis=1), log.sums["n"].sum(axis=1)
    unlikely = rows * np.log1p(-np.clip(1.0 - total, 0.0, 1.0 - 1e-12)) < np.log(CHANCE_LEAST)
    wrong = steady & ((total > 1 + ROUNDED) | ((total < 1 - ROUNDED) & unlikely))
    if wrong.any():
        who = int(wrong.argmax())
        whose = f" for agent {log.agents[who]!r}" if log.agents else ""
        raise frame.source.unfit(f"have probabilities that sum to 1 over the arms{whose}", f"{total[who]:.6g}")


# --- policies -------------------------------------------------------------------------------------------


def policy_of(text: str, log: Logged, place: str = "--policy") -> np.ndarray:
    """[agents or 1, arms]: `uniform`, the name of an arm, shares such as a=0.3,b=0.7, or a table of agent, arm, probability."""
    agents, arms = max(1, len(log.agents)), len(log.arms)
    if text in log.arms:
        return np.tile(np.arange(arms) == log.arms.index(text), (agents, 1)).astype(float)
    if text == "uniform":
        return np.full((agents, arms), 1 / arms)
    if Path(text).suffix in (".csv", ".parquet"):
        return _policy_table(text, log, place)
    if "=" not in text:
        wanted = "uniform, an arm of the log, shares such as a=0.3,b=0.7, or the path of a table"
        raise UsageError(f"{place} must be {wanted}, got {text!r}{hint(text, log.arms)}")
    shares = dict[str, float]()
    for part in text.split(","):
        arm, number = (side.strip() for side in part.rpartition("=")[::2])
        if arm not in log.arms:
            raise UsageError(f"{place} must name arms of the log, got {arm!r}{hint(arm, log.arms)}")
        if arm in shares:
            raise UsageError(f"{place} must name each arm once, got {arm!r} twice")
        shares[arm] = _share(number)
        if not 0 <= shares[arm] <= 1:
            raise UsageError(f"{place} must have a number in [0, 1] for {arm!r}, got {number!r}")
    return _require_shares(np.tile([shares.get(arm, 0.0) for arm in log.arms], (agents, 1)), log, place)


def _share(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return nan


def _policy_table(file: str, log: Logged, place: str) -> np.ndarray:
    """A row for each agent and arm, or each arm alike for all agents; what has none is never chosen."""
    found = source(file, place)
    try:
        frame = pl.read_parquet(file) if Path(file).suffix == ".parquet" else pl.read_csv(file, infer_schema=False)
        chance = frame["probability"].cast(pl.Float64).to_list()
        told = [column for column in ("arm", "agent") if column in frame.columns]
        names = {column: frame[column].cast(pl.String).str.strip_chars() for column in told}
        arm, agent = names["arm"], names.get("agent")
    except (pl.exceptions.PolarsError, KeyError):
        raise found.unfit("be a table of arm and probability, and agent where they differ", "none") from None
    shares, met = np.zeros((max(1, len(log.agents)), len(log.arms))), set[tuple[Any, Any]]()
    for row, number in enumerate(chance):
        who = None if agent is None else agent[row]
        if (who, arm[row]) in met:
            raise found.unfit_row("arm", "one that was not there before", row, arm[row])
        met.add((who, arm[row]))
        if arm[row] not in log.arms:
            raise found.unfit_row("arm", "an arm of the log", row, arm[row])
        if agent is not None and agent[row] not in log.agents:
            raise found.unfit_row("agent", "an agent of the log", row, agent[row])
        if number is None or not 0 <= number <= 1:
            raise found.unfit_row("probability", "a number in [0, 1]", row, number)
        shares[slice(None) if agent is None else log.agents.index(agent[row]), log.arms.index(arm[row])] = number
    return _require_shares(shares, log, place)


def _require_shares(shares: np.ndarray, log: Logged, place: str) -> np.ndarray:
    wrong = ~((shares >= 0).all(axis=1) & (np.abs(shares.sum(axis=1) - 1) <= 1e-9))
    if wrong.any():
        who = int(wrong.argmax())
        whose = f" for agent {log.agents[who]!r}" if log.agents and not (shares == shares[0]).all() else ""
        raise UsageError(f"{place} must have shares >= 0 that sum to 1{whose}, got {shares[who].sum():.9g}")
    return shares


# --- estimates ------------------------------------------------------------------------------------------


def ips(log: Logged, policy: np.ndarray) -> Estimate:
    mean = float((policy * log.sums["wr"]).sum()) / log.rows
    return Estimate(mean, _error(float((policy**2 * log.sums["wwrr"]).sum()), mean, log.rows))


def snips(log: Logged, policy: np.ndarray) -> Estimate:
    """Its error is that of the ratio of two means (delta method)."""
    s, weight = log.sums, float((policy * log.sums["w"]).sum())
    value = float((policy * s["wr"]).sum()) / weight
    spread = (policy**2 * (s["wwrr"] - 2 * value * s["wwr"] + value**2 * s["ww"])).sum()
    return Estimate(value, sqrt(max(0.0, float(spread))) / weight)


def doubly_robust(log: Logged, policy: np.ndarray, model: np.ndarray) -> Estimate:
    """`model` is [agents or 1, arms]: what it takes for the mean rewards."""
    s, base = log.sums, (policy * model).sum(axis=1, keepdims=True)
    rows, rest = s["n"].sum(axis=1, keepdims=True), policy * (s["wr"] - model * s["w"])
    mean = float((rows * base).sum() + rest.sum()) / log.rows
    squares = (rows * base**2).sum() + (2 * base * rest).sum()
    squares += (policy**2 * (s["wwrr"] - 2 * model * s["wwr"] + model**2 * s["ww"])).sum()
    return Estimate(mean, _error(float(squares), mean, log.rows))


def _error(squares: float, mean: float, rows: float) -> float:
    """Of the mean of numbers whose squares sum to that."""
    return sqrt(max(0.0, squares / rows - mean**2) / rows)


def effective_rows(log: Logged, policy: np.ndarray) -> float:
    """How many rows of equal weight would tell as much: (sum of w)^2 / sum of w^2."""
    squares = float((policy**2 * log.sums["ww"]).sum())
    return float((policy * log.sums["w"]).sum()) ** 2 / squares if squares else 0.0


def why_not(log: Logged, policy: np.ndarray) -> str:
    """Why the log cannot tell what the policy earns; nothing where it can."""
    unseen = (policy > 0) & (log.sums["n"] == 0)
    if unseen.any():
        agent, arm = (int(place) for place in np.argwhere(unseen)[0])
        return f"the log never chose {log.arms[arm]!r}{f' for agent {log.agents[agent]!r}' if log.agents else ''}"
    total = float((policy * log.sums["w"]).sum())
    mean = total / log.rows
    error = _error(float((policy**2 * log.sums["ww"]).sum()), mean, log.rows)
    if abs(mean - 1) > DEVIATIONS * error + ROUNDED:
        return f"its rows stand for {mean:.3g} of all choices and not for 1: probabilities are wrong, or some choices had none"
    size = effective_rows(log, policy)
    if size < EFFECTIVE_LEAST:
        return f"its rows tell as much as {size:.3g} equally likely ones, and {EFFECTIVE_LEAST:g} are needed"
    share = float((policy * log.heaviest).max()) / total
    if share > SHARE_MOST:
        return f"one row has {100 * share:.3g} % of all weight, more than {100 * SHARE_MOST:g} %"
    return ""


def model_of(file: str, log: Logged, place: str = "--model") -> np.ndarray:
    """The means of another table of one's own, for the agents and arms of the log."""
    found = read(file, -REWARD_MOST, REWARD_MOST, place=place)
    if found.agents and not log.agents:
        raise source(file, place).unfit("have no column agent, as the log has none", f"agent {found.agents[0]!r}")
    agents = log.agents if found.agents else ()
    missing = [*(arm for arm in log.arms if arm not in found.arms), *(who for who in agents if who not in found.agents)]
    if missing:
        raise source(file, place).unfit("have all agents and arms of the log", f"none called {missing[0]!r}")
    means = found.shares[:, [found.arms.index(arm) for arm in log.arms]]
    return means[[found.agents.index(who) for who in agents]] if agents else means[:1]


def answer(log: Logged, policy: np.ndarray, model: np.ndarray | None = None) -> dict[str, Any]:
    """All that the log tells of a policy, as JSON takes it: estimates are null where it cannot answer."""
    why = why_not(log, policy)
    found = {} if why else {"ips": ips(log, policy), "snips": snips(log, policy)}
    if model is not None and not why:
        found["dr"] = doubly_robust(log, policy, model)
    told = {name: {"value": one.value, "error": one.error, "interval": list(one.interval)} for name, one in found.items()}
    return {"answered": not why, "why": why, "effective_rows": effective_rows(log, policy), "estimates": told or None}
