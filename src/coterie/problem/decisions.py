"""A table of one's own: what was chosen, and what came of it.

CSV with a header, or Parquet; an agent's and an arm's means are those of its rows. The columns:

agent                 who chose; agents are numbered in the order in which they first appear. Without it all agents are alike
arm                   what was chosen, numbered likewise
successes, trials     of so many choices so many were good: rewards of `high`, the others of `low` (1 and 0 by default)
reward                in place of both: one row for each choice, with its reward
probability           of the choice when it was made, in (0, 1]: rows then count by 1 / probability
person                whose reward it is: the same name is the same person, whichever agent it meets

Several rows of successes and trials add up. Other columns are ignored, unless one looks like a misspelling. Row 1 is the first
below the header. A table is read in a stream, so that it may be larger than memory.
"""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import inf, isfinite
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from coterie.errors import UsageError, nearest
from coterie.limits import AGENTS_MOST, ARMS_MOST, REWARD_MOST

FORMS = (("successes", "trials"), ("reward",))
NAMES = ("agent", "arm", "person")
KNOWN = ("agent", "arm", "successes", "trials", "reward", "probability", "person")
FEW = 30  # rewards, below which a mean is hardly known
Z = 1.959963984540054  # of a 95 % interval
COUNT_MOST = 2**53
END_LOOKED_AT = 4096  # bytes of a CSV that may be empty lines
CHANCE_FLOOR = 1e-12  # of a choice: what is less likely has more weight than any sum can bear
TWICE = re.compile(r"(.+)_duplicated_\d+")  # what polars calls the second column of a name


@dataclass(frozen=True, eq=False)
class Decisions:
    """What a table tells of each agent [or of all alike] and arm."""

    agents: tuple[str, ...]  # names; none where there is no such column
    arms: tuple[str, ...]
    counts: np.ndarray  # int64 [agents or 1, arms]: rewards
    sizes: np.ndarray  # float64: as many equally likely ones tell as much
    shares: np.ndarray  # float64: the mean reward, or the share of successes
    counted: bool  # whether they are shares of successes
    cut: int = 0  # rewards that were cut to the range
    persons: int = 0  # how many; 0: no such column
    person_most: int = 0  # rewards of the one with most

    def means(self, low: float, high: float) -> np.ndarray:
        """In the unit of the rewards."""
        return low + (high - low) * self.shares if self.counted else self.shares

    @cached_property
    def few(self) -> int:
        """Cells of which little is known."""
        return int((self.counts < FEW).sum())

    def margins(self, low: float, high: float, deviation: float) -> np.ndarray:
        """Half of the 95 % interval of each mean.

        Wilson's, as if each reward were low or high: no other rewards in that range vary more. Without a range by the standard
        deviation.
        """
        if high - low == inf:
            return Z * deviation / np.sqrt(self.sizes)
        share, n = (self.means(low, high) - low) / (high - low), self.sizes
        return (high - low) * Z / (1 + Z * Z / n) * np.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n))

    def facts(self, low: float, high: float, deviation: float) -> dict[str, Any]:
        """How sure the means are, as JSON takes it."""
        margins = self.margins(low, high, deviation)
        agent, arm = np.unravel_index(margins.argmax(), margins.shape)
        whose = f"{self.agents[agent]} with {self.arms[arm]}" if self.agents else self.arms[arm]
        rewards, widest = int(self.counts.sum()), float(margins.max())
        told = f"The means are those of {rewards:,} rewards in a table"
        told += f"; the least sure, of {whose}, is known to ± {widest:.2g} (95 %)."
        if self.few:
            told += f" {self.few:,} of {margins.size:,} means rest on fewer than {FEW} rewards."
        if self.cut:
            told += f" {self.cut:,} rewards were cut to {low:g}..{high:g}."
        sizes = {"agents": len(self.agents), "rewards": rewards, "cells": margins.size}
        return sizes | {"widest": widest, "of": whose, "few": self.few, "cut": self.cut, "note": told}


class Rows(NamedTuple):
    """Every row of a log. A cell is an agent and an arm: agent * arms + arm."""

    cell: np.ndarray
    reward: np.ndarray
    probability: np.ndarray  # 1 where the log has none
    least: np.ndarray  # of each cell, the least probability


class Source(NamedTuple):
    """A file as it was when it was looked at: it is read again where it has changed."""

    place: str  # what messages call it
    path: str
    changed: int
    size: int

    def unfit(self, wanted: str, got: str) -> UsageError:
        return UsageError(f"{self.place} must {wanted}, got {got} in {Path(self.path).name!r}")

    def unfit_row(self, column: str, wanted: str, row: int, got: Any) -> UsageError:
        told = "nothing" if got is None or got == "" else repr(got) if isinstance(got, str) else f"{got:g}"
        return self.unfit(f"have {wanted} as {column} in row {row + 1:,}", told)


def source(file: str, place: str) -> Source:
    path, wanted = Path(file), "be the path of a CSV or Parquet table"
    if not file:
        raise UsageError(f"{place} must {wanted}, got nothing")
    try:
        found = path.stat()
        if path.is_dir():
            raise UsageError(f"{place} must {wanted}, got {file!r}, which is a directory")
        with path.open("rb"):
            pass
    except OSError as error:
        raise UsageError(f"{place} must {wanted}, got {file!r}, which cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{place} must {wanted}, got {file!r}, which is no path: {error}") from None
    if not found.st_size:
        raise UsageError(f"{place} must {wanted}, got {file!r}, which is empty")
    return Source(place, str(path), found.st_mtime_ns, found.st_size)


def read(file: str, low: float, high: float, cut: bool = False, place: str = "problem.file") -> Decisions:
    """The table in a file. Rewards lie in low..high, or are cut to it."""
    return _within(source(file, place), low, high, cut)


def read_rows(file: str, low: float, high: float, place: str = "problem.file") -> Rows:
    """Every row of a table that was read, with its reward in low..high."""
    frame, found = Log(source(file, place)), _whole(source(file, place))[0]
    if frame.counted:
        raise frame.source.unfit("have one row for each choice, with its reward, for kind 'logged'", "successes and trials")
    one, by = pl.lit(1.0), [(name, names) for name, names in (("agent", found.agents), ("arm", found.arms)) if names]
    numbers = [frame.name(name).replace_strict(list(names), list(range(len(names))), return_dtype=pl.Int64).alias(name)
               for name, names in by]  # fmt: skip
    chance = frame.number("probability") if "probability" in frame.columns else one
    rows = frame.collect(frame.lazy.select(*numbers, frame.number("reward").clip(low, high), chance.alias("probability")))
    agent = rows["agent"].to_numpy() if found.agents else 0
    cell, probability = agent * len(found.arms) + rows["arm"].to_numpy(), rows["probability"].to_numpy()
    least = np.ones(found.counts.size)
    np.minimum.at(least, cell, probability)
    return Rows(cell, rows["reward"].to_numpy(), probability, least)


def names_in(file: str, place: str = "problem.file") -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Of the agents and of the arms, in order."""
    found = _whole(source(file, place))[0]
    return found.agents, found.arms


@lru_cache(maxsize=4)
def _within(found: Source, low: float, high: float, cut: bool) -> Decisions:
    whole, least, most = _whole(found)
    if whole.counted or (low <= least and most <= high):
        return whole
    frame = Log(found)
    outside = ~frame.number("reward").is_between(low, high)
    if not cut:
        row, values = frame.first(outside, "reward")
        wanted = f"have a number in [{low:g}, {high:g}] as reward in row {row + 1:,}"
        raise found.unfit(f"{wanted} (give low and high, or outside = 'clip')", f"{values['reward']}")
    clipped, _, _ = _tables(frame, frame.number("reward").clip(low, high))
    count = int(frame.collect(frame.lazy.select(outside.sum().alias("n")))["n"][0])
    return replace(clipped, cut=count, persons=whole.persons, person_most=whole.person_most)


@lru_cache(maxsize=4)
def _whole(found: Source) -> tuple[Decisions, float, float]:
    """With the least and the largest reward there is."""
    frame = Log(found)
    cells, least, most = _tables(frame, frame.number("reward") if "reward" in frame.columns else pl.lit(0.0))
    persons, most_of_one = _persons(frame)
    return replace(cells, persons=persons, person_most=most_of_one), least, most


class Log:
    """The lazy frame of a file, with its columns in the types that are wanted, and what each must be."""

    def __init__(self, found: Source):
        self.source, path = found, found.path
        try:
            if Path(path).suffix == ".parquet":
                scan = pl.scan_parquet(path, glob=False)
            else:
                scan = _without_end(pl.scan_csv(path, infer_schema=False, glob=False), _blank_end(found))
            self.schema = scan.collect_schema()
        except pl.exceptions.PolarsError as error:
            raise self.unreadable(error) from None
        self.columns = self.schema.names()
        self.lazy = scan.select(name for name in KNOWN if name in self.columns).with_row_index("row")
        self.require_columns()
        self.counted = "reward" not in self.columns

    def require_columns(self) -> None:
        """Refuse what is missing, and what looks like a misspelling of what may be there."""
        given = [form for form in FORMS if all(name in self.columns for name in form)]
        absent = [name for name in KNOWN if name not in self.columns]
        strangers = [name for name in self.columns if name not in KNOWN]
        wanted = "have the columns arm and either reward or successes and trials"
        twice = [found[1] for found in map(TWICE.fullmatch, self.columns) if found and found[1] in self.columns]
        if twice:
            raise self.source.unfit("have each column once", f"{twice[0]!r} twice")
        if len(self.columns) == 1 and re.search(r"[;\t|]", self.columns[0]):
            raise self.source.unfit(f"{wanted}, with commas between them", f"{self.columns[0]!r}")
        if "arm" not in self.columns or len(given) != 1:
            both = "both" if len(given) == 2 else f"only {', '.join(map(repr, self.columns[:12]))}"
            meant = [word for name in strangers if (word := nearest(name.strip(), absent)) is not None and not given[1:]]
            hinted = f" (did you mean {', '.join(map(repr, dict.fromkeys(meant)))}?)" if meant else ""
            raise self.source.unfit(wanted + hinted, both)
        for name in KNOWN:
            if name in self.columns and self.schema[name].is_nested():
                raise self.source.unfit(f"have one value in each row of {name}", f"{self.schema[name]}")
        if given == [FORMS[0]] and "probability" in self.columns:
            raise self.source.unfit("have one row for each choice where it has the column probability", "successes and trials")
        for name in strangers:
            near = nearest(name, absent)
            if near is not None and near not in ("successes", "trials", "reward"):
                raise self.source.unfit(f"have a column {near!r} or nothing like it", f"{name!r}")

    def number(self, column: str) -> pl.Expr:
        text = pl.col(column).str.strip_chars() if self.schema[column] == pl.String else pl.col(column)
        return text.cast(pl.Float64, strict=False)

    def name(self, column: str) -> pl.Expr:
        known = pl.col(column).fill_nan(None) if self.schema[column].is_float() else pl.col(column)
        text = known.cast(pl.String).str.strip_chars()
        return pl.when(text != "").then(text)

    def checks(self) -> Iterator[tuple[str, str, pl.Expr]]:
        """(column, what its entries must be, whether they are)."""
        for column in NAMES:
            if column in self.columns:
                yield column, "a name", self.name(column).is_not_null()
        if self.counted:
            trials, successes = self.number("trials"), self.number("successes")
            whole = f"a whole number in 0..{COUNT_MOST:,}"
            yield "trials", whole, trials.is_between(0, COUNT_MOST) & (trials == trials.floor())
            yield "successes", "a whole number in 0..trials", successes.is_between(0, trials) & (successes == successes.floor())
        else:
            size = f"a number in [{-REWARD_MOST:g}, {REWARD_MOST:g}]"
            yield "reward", size, self.number("reward").is_between(-REWARD_MOST, REWARD_MOST)
        if "probability" in self.columns:
            chance = self.number("probability")
            yield "probability", f"a number in [{CHANCE_FLOOR:g}, 1]", chance.is_between(CHANCE_FLOOR, 1)

    def collect(self, lazy: pl.LazyFrame) -> pl.DataFrame:
        try:
            return lazy.collect(engine="streaming")
        except (pl.exceptions.PolarsError, OSError) as error:
            raise self.unreadable(error) from None

    def unreadable(self, error: Exception) -> UsageError:
        told = "is not text in UTF-8" if "utf-8" in str(error) else "is none"
        if Path(self.source.path).suffix != ".parquet":
            told = _misshapen(self.source.path) or told
        wanted = "be the path of a CSV or Parquet table"
        return UsageError(f"{self.source.place} must {wanted}, got {self.source.path!r}, which {told}")

    def first(self, bad: pl.Expr, *columns: str) -> tuple[int, dict[str, Any]]:
        """The first row of which this is true, and what it has in these columns."""
        found = self.collect(self.lazy.filter(bad).select("row", *columns).head(1))
        return int(found["row"][0]), found.drop("row").row(0, named=True)

    def require(self) -> None:
        """Called where something is known to be wrong: say what, of the first row."""
        wrong = [(column, wanted, ~fits.fill_null(False)) for column, wanted, fits in self.checks()]
        row, values = self.first(pl.any_horizontal(bad for _, _, bad in wrong), *(column for column, _, _ in wrong))
        if all(value is None for value in values.values()):
            raise self.source.unfit("have no empty lines", f"one as row {row + 1:,}")
        for column, wanted, bad in wrong:
            if column == "reward" and isinstance(values[column], str) and not _is_number(values[column]):
                wanted = "a number"  # in which range is the study's to say
            if self.collect(self.lazy.filter(pl.col("row") == row).select(bad.alias("bad")))["bad"][0]:
                raise self.source.unfit_row(column, wanted, row, values[column])


def _blank_end(found: Source) -> int:
    """How many empty lines a CSV ends with: editors leave them. UTF-16 is refused."""
    with open(found.path, "rb") as file:
        if file.read(2) in (b"\xff\xfe", b"\xfe\xff"):
            wanted = "be the path of a CSV or Parquet table"
            raise UsageError(f"{found.place} must {wanted}, got {found.path!r}, which is text in UTF-16: save it as UTF-8")
        file.seek(max(0, found.size - END_LOOKED_AT))
        end = file.read().decode(errors="replace")
    return max(0, end[len(end.rstrip()) :].count("\n") - 1)


def _without_end(scan: pl.LazyFrame, lines: int) -> pl.LazyFrame:
    """Without as many of the last rows as are empty, which is asked only where there are empty lines."""
    if not lines or not (rows := int(scan.select(pl.len()).collect(engine="streaming").item())):
        return scan
    ends = scan.slice(max(0, rows - lines)).select(pl.all_horizontal(pl.all().str.strip_chars().fill_null("") == ""))
    empty = ends.collect(engine="streaming").to_series().to_list()
    return scan.head(rows - next((place for place, one in enumerate(reversed(empty)) if not one), len(empty)))


def _misshapen(path: str) -> str:
    """The first row of a CSV that cannot be read, and why. Only where it is known that there is one: this is slow."""
    row = 0
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            fields = len(next(reader))
            for row, entries in enumerate(reader, 1):
                if len(entries) > fields:
                    return f"has {len(entries)} fields in row {row:,}, and {fields} in its header"
    except UnicodeDecodeError:
        return "is not text in UTF-8"
    except csv.Error:
        return f"has a quote that is not closed, or stands inside a field, in row {row + 1:,}"
    except (OSError, StopIteration):
        pass
    return ""


def _is_number(text: str) -> bool:
    try:
        return isfinite(float(text))
    except ValueError:
        return False


def _tables(frame: Log, reward: pl.Expr) -> tuple[Decisions, float, float]:
    """Sums of each cell, in one stream over the file, with the least and the largest reward."""
    counts = frame.number("trials") if frame.counted else pl.lit(1.0)
    weight = 1 / frame.number("probability") if "probability" in frame.columns else pl.lit(1.0)
    sums = frame.number("successes") if frame.counted else reward
    bad = pl.any_horizontal(~fits.fill_null(False) for _, _, fits in frame.checks())
    named = [frame.name(column).alias(column) for column in ("agent", "arm") if column in frame.columns]
    values = frame.lazy.select(
        *named, "row", bad.alias("bad"), sums.alias("reward"), counts.alias("n"), (weight * counts).alias("weight"),
        (weight * weight * counts).alias("square"), (weight * sums).alias("total"),
    )  # fmt: skip
    cells = frame.collect(
        values.group_by([column for column in ("agent", "arm") if column in frame.columns]).agg(
            pl.col("row").min(), pl.col("bad").any(), pl.col("reward").min().alias("least"),
            pl.col("reward").max().alias("most"), pl.col("n", "weight", "square", "total").sum(),
        )
    )  # fmt: skip
    if not cells.height:
        raise frame.source.unfit("have a row for each agent and arm", "no rows")
    if cells["bad"].any():
        frame.require()
    return _matrix(frame, cells.sort("row")), float(cells["least"].min()), float(cells["most"].max())  # type: ignore[arg-type]


def _matrix(frame: Log, cells: pl.DataFrame) -> Decisions:
    """Cells as agents x arms; each must be there."""
    arm, arms = numbered(cells["arm"])
    agent, agents = numbered(cells["agent"]) if "agent" in cells.columns else (np.zeros(cells.height, np.int64), ())
    for column, names, most in (("agent", agents, AGENTS_MOST), ("arm", arms, ARMS_MOST)):
        if len(names) > most:
            raise frame.source.unfit(f"have at most {most:,} names as {column}", f"{len(names):,}")
    if len(arms) < 2:
        raise frame.source.unfit("have at least 2 arms", "1")
    empty = cells["n"].to_numpy() == 0
    rows = np.bincount(agent[~empty], minlength=max(1, len(agents)))
    if rows.min() < len(arms):
        who = int((rows < len(arms)).argmax())
        missing = next(k for k in range(len(arms)) if k not in set(arm[(agent == who) & ~empty].tolist()))
        whose = f" of agent {agents[who]!r}" if agents else ""
        raise frame.source.unfit("have rewards of each agent with each arm", f"none{whose} with arm {arms[missing]!r}")
    shape = (max(1, len(agents)), len(arms))

    def laid_out(values: np.ndarray) -> np.ndarray:
        table = np.zeros(shape, values.dtype)
        table[agent, arm] = values
        return table

    names = ("n", "weight", "square", "total", "least", "most")
    count, weight, square, total, lowest, highest = (cells[name].to_numpy() for name in names)
    mean = total / weight if frame.counted else np.clip(total / weight, lowest, highest)
    sizes = laid_out(weight**2 / square)
    return Decisions(agents, arms, laid_out(count.astype(np.int64)), sizes, laid_out(mean), frame.counted)


def numbered(names: pl.Series) -> tuple[np.ndarray, tuple[str, ...]]:
    """The number of each name, in the order in which they first appear, and the names."""
    unique = names.unique(maintain_order=True)
    number = dict(zip(unique, range(len(unique)), strict=True))
    return names.replace_strict(number, return_dtype=pl.Int64).to_numpy(), tuple(unique)


def _persons(frame: Log) -> tuple[int, int]:
    """How many persons there are, and the most rewards of one. Their names are hashed: they need less room."""
    if "person" not in frame.columns:
        return 0, 0
    rewards = frame.number("trials").sum() if frame.counted else pl.len()
    each = frame.lazy.group_by(frame.name("person").hash().alias("who")).agg(rewards.alias("n"))
    found = frame.collect(each.select(pl.len().alias("persons"), pl.col("n").max()))
    return int(found["persons"][0]), int(found["n"][0])
