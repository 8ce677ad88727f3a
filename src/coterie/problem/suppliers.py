"""Who sells what to whom: the quality, cost and capacity that a procurement study runs on.

A unit of a producer is good with the probability `quality`, the same for all agents and unknown to them. Cost (of a unit,
in [0, 1]) and capacity (units per round) are known and may differ between agents. A capacity of 0 means that the
producer does not sell to the agent.

Suppliers are drawn, written out in a study, or read from a table (CSV with a header, or Parquet) with one row for each
agent and producer that trade:

agent       name of the agent; agents are numbered in the order in which they first appear
producer    name of the producer, numbered likewise
cost        of one unit, in [0, 1]
capacity    units per round, a whole number in 0..1,000,000
quality     in [0, 1]; needed in one row of each producer, and where it is repeated it must be the same

A pair without a row does not trade. Other columns are ignored. Row 1 is the first below the header.
"""

from collections.abc import Callable, Mapping
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from coterie.choices import Kind
from coterie.errors import UsageError

CAPACITY_DRAWN = 50  # capacities are drawn from 1..50
CAPACITY_MOST = 1_000_000
COLUMNS = ("agent", "producer", "cost", "capacity", "quality")


class Suppliers(NamedTuple):
    quality: np.ndarray  # float64 [producers]
    cost: np.ndarray  # float64 [agents, producers]
    capacity: np.ndarray  # int64 [agents, producers]; 0: does not sell to this agent
    agents: tuple[str, ...] = ()  # names, where a table has them
    producers: tuple[str, ...] = ()

    @property
    def available(self) -> np.ndarray:
        """Which producer sells to which agent."""
        return self.capacity > 0

    def first(self, agents: int) -> Self:
        """The same suppliers with the first few agents only."""
        return self._replace(cost=self.cost[:agents], capacity=self.capacity[:agents], agents=self.agents[:agents])


def draw(
    distribution: str,
    agents: int,
    producers: int,
    rng: np.random.Generator,
    *,
    centre: float = 0.5,
    sd: float = 0.1,
    homogeneous: bool = False,
) -> Suppliers:
    """Qualities and costs of one distribution, capacities uniform on 1..50, all independent.

    In a homogeneous draw all agents have the costs and capacities of the first. To compare numbers of agents, draw for the
    largest and take the `first` ones.
    """
    rows, numbers = 1 if homogeneous else agents, DISTRIBUTIONS[distribution].make
    quality = numbers((producers,), rng, centre, sd)
    cost = numbers((rows, producers), rng, centre, sd)
    capacity = rng.integers(1, CAPACITY_DRAWN, (rows, producers), endpoint=True)
    return explicit(quality, cost, capacity, agents)


def _uniform(shape: tuple[int, ...], rng: np.random.Generator, centre: float, sd: float) -> np.ndarray:
    return rng.random(shape)


def _normal(shape: tuple[int, ...], rng: np.random.Generator, centre: float, sd: float) -> np.ndarray:
    return rng.normal(centre, sd, shape).clip(0, 1)


def _truncated_normal(shape: tuple[int, ...], rng: np.random.Generator, centre: float, sd: float) -> np.ndarray:
    from scipy.special import ndtr, ndtri

    low, high = ndtr((np.array([0, 1]) - centre) / sd)
    return (centre + sd * ndtri(rng.uniform(low, high, shape))).clip(0, 1)


def _normal_said(outside: str) -> Callable[[Mapping[str, Any]], str]:
    return lambda problem: f"normal ({outside}) around {problem['alpha']:g} with standard deviation {problem['sd']:g}"


DISTRIBUTIONS = {
    "uniform": Kind(_uniform, "uniform between 0 and 1", drawn=True),
    "normal": Kind(_normal, _normal_said("moved to the ends of 0..1 where outside"), drawn=True),
    "truncated-normal": Kind(_truncated_normal, _normal_said("drawn again where outside 0..1"), drawn=True),
}


def explicit(quality: ArrayLike, cost: ArrayLike, capacity: ArrayLike, agents: int | None = None) -> Suppliers:
    """Suppliers written out: cost and capacity have a row for each agent, or one row that holds for all `agents`."""
    qualities = _rows("quality", quality)
    if len(qualities) > 1:
        raise UsageError(f"problem.quality must be one number per producer, the same for all agents, got {len(qualities)} rows")
    costs, capacities = _rows("cost", cost), _rows("capacity", capacity)
    producers = qualities.shape[1]
    for key, values in (("cost", costs), ("capacity", capacities)):
        if values.shape[1] != producers:
            text = f"must have {producers} entries per row, one for each of problem.quality, got {values.shape[1]}"
            raise UsageError(f"problem.{key} {text}")
    _require("quality", "lie in [0, 1]", qualities, (qualities >= 0) & (qualities <= 1))
    _require("cost", "lie in [0, 1]", costs, (costs >= 0) & (costs <= 1))
    _require("capacity", f"be whole numbers in 0..{CAPACITY_MOST:,}", capacities, _is_capacity(capacities))
    most = agents if agents is not None else max(len(costs), len(capacities))
    for key, values in (("cost", costs), ("capacity", capacities)):
        if len(values) not in (1, most):
            raise UsageError(f"problem.{key} must have 1 row or {most}, one for each agent, got {len(values)}")
    shape = (most, producers)
    try:
        terms = np.broadcast_to(costs, shape).copy(), np.broadcast_to(capacities, shape).astype(np.int64)
        return Suppliers(qualities[0], *terms)
    except (ValueError, MemoryError):
        raise UsageError(f"problem.agents must be so many that their terms fit into memory, got {most}") from None


def read_table(file: str | PathLike[str]) -> Suppliers:
    """Suppliers from a table; see the module's docstring for its columns."""
    frame = _read(Path(file))
    missing = [name for name in COLUMNS if name not in frame.columns]
    if missing:
        raise _unfit(f"have the columns {', '.join(COLUMNS)}", f"none called {missing[0]!r} in {Path(file).name!r}")
    if not frame.height:
        raise _unfit("have a row for each agent and producer that trade", f"no rows in {Path(file).name!r}")
    agent, agents = _names(frame, "agent")
    producer, producers = _names(frame, "producer")
    cost = _column(frame, "cost", "a number in [0, 1]", lambda values: (values >= 0) & (values <= 1))
    capacity = _column(frame, "capacity", f"a whole number in 0..{CAPACITY_MOST:,}", _is_capacity)
    _require_pairs_once(agent, producer, agents, producers)
    shape = (len(agents), len(producers))
    costs, capacities = np.zeros(shape), np.zeros(shape, np.int64)
    costs[agent, producer], capacities[agent, producer] = cost, capacity
    return Suppliers(_quality_of_each(frame, producer, producers), costs, capacities, agents, producers)


def _read(file: Path) -> pl.DataFrame:
    """All columns as text without blanks around it, an empty field as null: numbers are read where they are checked."""
    wanted = "be the path of a CSV or Parquet table"
    try:
        content = BytesIO(file.read_bytes())
        frame = pl.read_parquet(content) if file.suffix == ".parquet" else pl.read_csv(content, infer_schema=False)
        text = frame.select(pl.col(name).cast(pl.String) for name in COLUMNS if name in frame.columns)
    except OSError as error:
        raise _unfit(wanted, f"{str(file)!r}, which cannot be read: {error.strerror}") from None
    except (pl.exceptions.PolarsError, ValueError):
        raise _unfit(wanted, f"{str(file)!r}, which is none") from None
    stripped = text.with_columns(pl.all().str.strip_chars())
    return stripped.with_columns(pl.when(pl.all() != "").then(pl.all()))


def _names(frame: pl.DataFrame, column: str) -> tuple[np.ndarray, tuple[str, ...]]:
    """The number of the name in each row, and the names in order of their first appearance."""
    given = frame[column].to_list()
    if None in given:
        raise _unfit_row(column, "the name of one", given.index(None), "nothing")
    names = tuple(dict.fromkeys(given))
    number = {name: index for index, name in enumerate(names)}
    return np.array([number[name] for name in given]), names


def _column(frame: pl.DataFrame, column: str, wanted: str, fits: Callable, optional: bool = False) -> np.ndarray:
    """The numbers of a column, NaN where an optional one has none."""
    given = frame[column]
    numbers = given.cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy()
    bad = ~fits(numbers)
    if optional:
        bad &= given.is_not_null().to_numpy()
    if bad.any():
        row = int(bad.argmax())
        raise _unfit_row(column, wanted, row, "nothing" if given[row] is None else repr(given[row]))
    return numbers


def _require_pairs_once(agent: np.ndarray, producer: np.ndarray, agents: tuple[str, ...], producers: tuple[str, ...]) -> None:
    seen: dict[tuple[int, int], int] = {}
    for row, pair in enumerate(zip(agent.tolist(), producer.tolist(), strict=True)):
        first = seen.setdefault(pair, row)
        if first != row:
            names = f"{agents[pair[0]]!r} and {producers[pair[1]]!r}"
            raise _unfit("name each pair of agent and producer once", f"{names} in rows {first + 1} and {row + 1}")


def _quality_of_each(frame: pl.DataFrame, producer: np.ndarray, producers: tuple[str, ...]) -> np.ndarray:
    given = _column(frame, "quality", "a number in [0, 1]", lambda values: (values >= 0) & (values <= 1), optional=True)
    quality = np.full(len(producers), np.nan)
    for row in np.flatnonzero(~np.isnan(given)):
        known = quality[producer[row]]
        if not np.isnan(known) and known != given[row]:
            name = producers[producer[row]]
            raise _unfit_row("quality", f"{known:g} as before for {name!r}", int(row), f"{given[row]:g}")
        quality[producer[row]] = given[row]
    if np.isnan(quality).any():
        name = producers[int(np.isnan(quality).argmax())]
        raise _unfit("have the quality of each producer in one of its rows", f"none for {name!r}")
    return quality


def _rows(key: str, values: ArrayLike) -> np.ndarray:
    try:
        rows = np.atleast_2d(np.asarray(values, float))
    except ValueError:
        raise UsageError(f"problem.{key} must have rows of equal length, got rows that differ") from None
    if rows.ndim > 2 or not rows.size:
        raise UsageError(f"problem.{key} must be one row of numbers, or one for each agent, got shape {np.shape(values)}")
    return rows


def _require(key: str, wanted: str, values: np.ndarray, fits: np.ndarray) -> None:
    if not fits.all():
        agent, producer = np.argwhere(~fits)[0].tolist()
        place = f"[{producer}]" if len(values) == 1 else f"[{agent}][{producer}]"
        raise UsageError(f"problem.{key} must {wanted}, got {values[agent, producer]:g} at {place}")


def _is_capacity(values: np.ndarray) -> np.ndarray:
    return (values >= 0) & (values <= CAPACITY_MOST) & (values == np.floor(values))


def _unfit_row(column: str, wanted: str, row: int, got: str) -> UsageError:
    return _unfit(f"have {wanted} as {column} in row {row + 1}", got)


def _unfit(wanted: str, got: str) -> UsageError:
    return UsageError(f"problem.file must {wanted}, got {got}")
