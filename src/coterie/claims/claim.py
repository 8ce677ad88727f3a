"""What a claim is, as the files of papers write it down."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from coterie.errors import UsageError, hint

PAPERS = Path(__file__).parent / "papers"
Verdict = Literal["holds", "does not hold", "holds only if", "not testable"]


class Entry(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Pick(Entry):
    """Rows of a study: each is told by words that occur in the label of one row only."""

    study: str
    rows: tuple[str, ...] = Field(min_length=1)


class Check(Entry):
    """One way to judge: the measure of `measures.MEASURES`, what it looks at, and where the number must lie."""

    measure: str
    of: tuple[Pick, ...] = Field(min_length=1)
    quantity: str = "regret"  # or a column of replications.parquet, or a path in the summary, such as privacy.accounted.epsilon
    at: Annotated[float, Field(gt=0, le=1)] = 1.0  # share of the horizon at which regret is taken
    since: Annotated[float, Field(gt=0, le=1)] = 0.5  # of growth: from which share of the horizon on
    low: float = Field(default=float("-inf"))
    high: float = Field(default=float("inf"))
    fails: bool = False  # the papers' words are refuted if this comes out


class Claim(Entry):
    id: Annotated[str, Field(pattern=r"^[a-z0-9-]+$")]
    where: str
    says: str
    verdict: Verdict
    check: tuple[Check, ...] = ()
    why: str = ""  # of a tolerance, of "only if", or why it cannot be tested
    figure: str = ""  # which of the paper's figures it is read off

    @model_validator(mode="after")
    def is_judged_by_something(self) -> Self:
        if (self.verdict == "not testable") == bool(self.check):
            raise ValueError(f"{self.id}: a claim that can be tested must have a check, and no other")
        if self.verdict in ("holds only if", "not testable", "does not hold") and not self.why:
            raise ValueError(f"{self.id}: why must be said where a claim does not simply hold")
        return self


class Curve(Entry):
    """A line of a picture, or a colour of its bars, under the name that the paper has for it."""

    name: str
    of: tuple[Pick, ...] = Field(min_length=1)  # one row for each place across; over time a single one
    beside: tuple[Pick, ...] = ()  # the rows that these are held against, run by run


class Panel(Entry):
    """A picture in the paper's axes. Curves stand in the paper's order."""

    title: str
    kind: Literal["over time", "lines", "bars"]
    across: str  # what the axes say, with the unit
    up: str
    curves: tuple[Curve, ...] = Field(min_length=1)
    places: tuple[str | float, ...] = ()  # across: numbers of lines, names of bars
    quantity: str = "regret"  # or a column of replications.parquet
    quantity_across: str = ""  # in place of places: each point stands at the mean of this
    held: Literal["", "as a ratio", "as a difference"] = ""  # how a curve is held against the rows beside it
    each: bool = False  # of one agent, and not of all
    private: bool = False  # the same experiment in the form whose promise holds
    ordered: bool = False  # curves are values of one number: their colours have an order, too
    log: Literal["", "x", "y", "xy"] = ""

    @model_validator(mode="after")
    def has_a_row_for_every_place(self) -> Self:
        wanted = 1 if self.kind == "over time" else len(self.places)
        for curve in self.curves:
            rows = sum(len(pick.rows) for pick in curve.of)
            if (wanted and rows != wanted) or bool(self.held) != bool(curve.beside):
                need = f"{wanted} rows, and rows beside them where held"
                raise ValueError(f"{self.title}, {curve.name}: must have {need}, got {rows}")
        return self

    @property
    def picks(self) -> list[Pick]:
        return [pick for curve in self.curves for pick in (*curve.of, *curve.beside)]


class Figure(Entry):
    """A figure or table of the paper, and what its text says of it."""

    id: Annotated[str, Field(pattern=r"^[a-z0-9-]+$")]
    where: str
    shows: str
    said: str  # of its axes and curves, in our words
    silent: str  # what the paper does not say, and what was decided
    panel: tuple[Panel, ...] = Field(min_length=1)


class Paper(Entry):
    id: str
    authors: str
    year: int
    title: str
    reduced: dict[str, tuple[str, ...]] = Field(default_factory=dict)  # what a quick run overrides, by study; * for all others
    full: dict[str, tuple[str, ...]] = Field(default_factory=dict)  # what a run at the paper's repetitions does
    figure: tuple[Figure, ...] = ()
    claim: tuple[Claim, ...] = ()

    def overrides(self, study: str, whole: bool = False) -> tuple[str, ...]:
        """Of a study by its name, which may be followed by settings."""
        table = self.full if whole else self.reduced
        return next((table[name] for name in (study, study.split(" ")[0], "*") if name in table), ())

    @property
    def picks(self) -> list[Pick]:
        """All rows that its figures and claims look at."""
        drawn = [pick for figure in self.figure for panel in figure.panel for pick in panel.picks]
        return drawn + [pick for claim in self.claim for check in claim.check for pick in check.of]

    @property
    def studies(self) -> list[str]:
        """All that its figures and claims need, each once."""
        return list(dict.fromkeys(pick.study for pick in self.picks))


@cache
def papers() -> dict[str, Paper]:
    trees = [tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(PAPERS.glob("*.toml"))]
    return {tree["id"]: Paper.model_validate(_frozen(tree)) for tree in trees}


def named(words: list[str]) -> list[Paper]:
    """The papers of these names; all where there are none."""
    for word in words:
        if word not in papers():
            raise UsageError(f"paper must be one of {', '.join(papers())}, got {word!r}{hint(word, papers())}")
    return [papers()[word] for word in dict.fromkeys(words)] or list(papers().values())


def _frozen(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _frozen(inner) for key, inner in value.items()}
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
