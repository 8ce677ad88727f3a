"""Five treatments in three hospitals: a bandit made of the records of 101,766 stays of diabetic patients.

The records are "Diabetes 130-US Hospitals for Years 1999-2008" (B. Strack and others, 2014; UCI Machine Learning
Repository, CC BY 4.0). A reward is 1 if the patient was readmitted after more than 30 days, and 0 if sooner or never.
An arm is a treatment, read off the 23 drug columns, each of which says No, Steady, Up or Down. A rule says which
records are samples of which arms:

exclusive     no drug is Up or Down and all Steady drugs belong to one arm, or all 23 are No
multi         a sample of every arm with a Steady drug; Up and Down do not matter
precedence    a sample of the first such arm only

The samples are cut into three equal parts, which stand for hospitals (the records do not name any), in the order of
the file or after one fixed random permutation. A simulation draws its rewards from the resulting means; they are its
truth and no medical finding. The tables of the rule `exclusive` are part of this module, the others need the file.
"""

import gzip
import hashlib
import zlib
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Literal, NamedTuple, get_args

import numpy as np
import polars as pl

from coterie.errors import UsageError

Rule = Literal["exclusive", "multi", "precedence"]
Split = Literal["order", "random"]

ROWS, COLUMNS = 101_766, 50
SHA256 = "0689e7ec031237dc63031b938805c48377748761a3b26acab621567afa24df97"  # of the file without compression

HOSPITALS = ("hospital 1", "hospital 2", "hospital 3")
# A group of drugs is named after the one most used. The source of the groups (Zhu et al.) lists glyburide twice and
# tolazamide never; here tolazamide has the second place. `citoglipton` is how the file spells sitagliptin.
DRUGS = {
    "insulin": ("insulin",),
    "metformin": ("metformin",),
    "glipizide group": ("repaglinide", "glipizide", "rosiglitazone", "acarbose", "miglitol", "troglitazone"),
    "glyburide group": (
        *("nateglinide", "chlorpropamide", "glimepiride", "acetohexamide", "glyburide", "tolbutamide", "pioglitazone"),
        *("tolazamide", "examide", "citoglipton", "glyburide-metformin", "glipizide-metformin"),
        *("glimepiride-pioglitazone", "metformin-rosiglitazone", "metformin-pioglitazone"),
    ),
    "no diabetes drug": (),
}
ARMS = tuple(DRUGS)


class Table(NamedTuple):
    """How many samples each hospital has of each arm, and how many of them have reward 1."""

    successes: np.ndarray  # int64 [hospitals, arms]
    counts: np.ndarray  # int64 [hospitals, arms]

    @property
    def means(self) -> np.ndarray:
        return self.successes / self.counts


EXCLUSIVE = {
    "order": Table(
        np.array([[1882, 349, 659, 758, 2269], [1879, 501, 785, 925, 2751], [1770, 524, 640, 742, 2207]]),
        np.array([[5385, 1191, 1850, 2288, 7834], [5297, 1359, 1837, 2126, 7929], [5579, 1673, 1624, 2031, 7640]]),
    ),
    "random": Table(
        np.array([[1787, 471, 657, 786, 2457], [1839, 457, 690, 850, 2382], [1905, 446, 737, 789, 2388]]),
        np.array([[5375, 1420, 1751, 2142, 7860], [5398, 1404, 1765, 2203, 7778], [5488, 1399, 1795, 2100, 7765]]),
    ),
}


@cache
def table(rule: Rule = "exclusive", split: Split = "order", file: str | PathLike[str] | None = None) -> Table:
    """The table of a rule and a split: the one in this module, or the one the file gives where a file is named."""
    _require_choice("rule", rule, get_args(Rule))
    _require_choice("split", split, get_args(Split))
    if file is not None:
        return share_out(*samples(load(file), rule), split)
    if rule != "exclusive":
        raise _refusal(f"nothing (only the rule 'exclusive' is built in, not {rule!r})")
    return EXCLUSIVE[split]


def load(file: str | PathLike[str]) -> pl.DataFrame:
    """The records, all columns as text, of exactly the file that is meant."""
    content = _read(file)
    digest = hashlib.sha256(content).hexdigest()
    try:
        frame = pl.read_csv(content, infer_schema=False)
    except pl.exceptions.PolarsError:
        raise _refusal(f"{str(file)!r}, which is not a CSV table") from None
    if digest != SHA256:  # rows and columns help to see which other file this is
        size = f"{frame.height:,} rows, {frame.width} columns"
        raise _refusal(f"{str(file)!r} with {size} and sha256 {digest[:12]}...")
    return frame


def samples(frame: pl.DataFrame, rule: Rule) -> tuple[np.ndarray, np.ndarray]:
    """The arm and the reward of every sample, in the order of the records and, within a record, of the arms."""
    drugs = [drug for group in DRUGS.values() for drug in group]
    takes = [pl.any_horizontal(pl.col(group) == "Steady").alias(arm) for arm, group in DRUGS.items() if group]
    takes_none = pl.all_horizontal(pl.col(drugs) == "No").alias(ARMS[-1])
    fits = frame.select(*takes, takes_none).to_numpy(writable=True)
    if rule == "exclusive":
        changed = frame.select(pl.any_horizontal(pl.col(drugs).is_in(["Up", "Down"]))).to_series().to_numpy()
        fits[changed | (fits.sum(axis=1) > 1)] = False
    elif rule == "precedence":
        fits &= fits.cumsum(axis=1) == 1
    record, arm = np.nonzero(fits)
    return arm, (frame["readmitted"] == ">30").to_numpy()[record]


def share_out(arm: np.ndarray, reward: np.ndarray, split: Split) -> Table:
    """Sample number r of n, in the order of the split, goes to hospital floor(3 r / n)."""
    number = len(arm)
    order = np.random.default_rng(0).permutation(number) if split == "random" else np.arange(number)
    hospital = len(HOSPITALS) * np.arange(number) // number
    cell = len(ARMS) * hospital + arm[order]
    return Table(_tally(cell[reward[order]]), _tally(cell))


def _tally(cell: np.ndarray) -> np.ndarray:
    return np.bincount(cell, minlength=len(HOSPITALS) * len(ARMS)).reshape(len(HOSPITALS), len(ARMS))


def _read(file: str | PathLike[str]) -> bytes:
    try:
        content = Path(file).read_bytes()
        return gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise _refusal(f"{str(file)!r}, which is a gzip file cut short or damaged") from None
    except OSError as error:
        raise _refusal(f"{str(file)!r}, which cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise _refusal(f"{str(file)!r}, which is no path: {error}") from None


def _refusal(given: str) -> UsageError:
    return UsageError(
        f"problem.file must be the path of diabetic_data.csv, plain or gzipped, with {ROWS:,} rows, {COLUMNS} columns "
        f"and sha256 {SHA256[:12]}... (UCI Machine Learning Repository, "
        f'"Diabetes 130-US Hospitals for Years 1999-2008", CC BY 4.0), got {given}'
    )


def _require_choice(key: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise UsageError(f"problem.{key} must be one of {', '.join(choices)}, got {value!r}")
