"""A study as its answer sees it: what each row loses in one unit, who promised what, and which differences were asked for."""

import math
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

from coterie.privacy.statement import rounded_up_text
from coterie.studies.differences import Runs, difference
from coterie.studies.names import names_of
from coterie.studies.numbers import GLUE, amount, decimals_apart, interval_ends
from coterie.studies.rows import Difference, Group, SummaryRow, Swept, Unit
from coterie.studies.spread import RUNS_LEAST
from coterie.studies.words import Words

NOUNS = {"bernoulli": "rewards", "procurement": "of revenue"}  # what is lost, by the kind of problem
Verdict = Literal["yes", "no", "close"] | None


class Said(NamedTuple):
    """What one kind of study has to say."""

    sentence: str
    verdict: Verdict = None
    headline: int | None = None
    alone: int | None = None
    together: int | None = None
    order: Sequence[int] = ()
    groups: Sequence[Group] = ()
    swept: Swept | None = None
    caveats: Sequence[str] = ()


class Told:
    """The rows of a study with the numbers of their single runs."""

    def __init__(self, study: dict[str, Any], rows: Sequence[SummaryRow], runs: Runs):
        self.study, self.rows, self.runs = study, rows, runs
        self.words = Words(**study["words"])
        self.names = names_of(rows)
        self.unit = unit_of(rows)
        self.asked: dict[tuple[int, int], Difference] = {}  # the answer rests on these

    # --- numbers

    def mean(self, row: int) -> float:
        return self.rows[row]["per_decision"]["mean"]

    def losses(self, *rows: int) -> list[str]:
        """What each of these loses in the unit, with decimals that tell them apart: the unit's from now on."""
        found = [self.mean(row) * self.unit["decisions"] for row in rows]
        self.unit["decimals"] = max(self.unit["decimals"], decimals_apart(found, self.unit["decimals"]))
        return [self.amount(value) for value in found]

    def amount(self, value: float) -> str:
        return amount(value, self.unit["decimals"])

    def interval(self, row: int) -> str:
        """95 % of what a row loses; nothing where there are too few runs, or no doubt."""
        found, size = self.rows[row]["per_decision"], self.unit["decisions"]
        if self.few or not found["margin"]:
            return ""
        low, high = (size * end for end in interval_ends(found["mean"], found["margin"]))
        decimals = decimals_apart([low, high], self.unit["decimals"])
        return f"95{GLUE}%: {amount(low, decimals)} to {amount(high, decimals)}"

    def difference(self, row: int, against: int) -> Difference:
        return self.asked.setdefault((row, against), difference(self.runs, row, against))

    def least(self, rows: Iterable[int]) -> int | None:
        return min(rows, key=self.mean, default=None)

    def most(self, rows: Iterable[int]) -> int | None:
        return max(rows, key=self.mean, default=None)

    # --- who they are

    def all(self) -> range:
        return range(len(self.rows))

    def state(self, row: int) -> str:
        return self.rows[row]["promise"]["state"]

    def kept(self, row: int) -> bool:
        return self.state(row) in ("kept", "weak")

    def broken(self, row: int) -> bool:
        return self.state(row) == "broken"

    def silent(self, row: int) -> bool:
        return self.rows[row]["alone"]

    def echo(self, row: int) -> bool:
        """A control that takes its own data for news (see `algorithms.procurement`)."""
        return self.rows[row]["parameters"].get("learning") == "echo"

    def best_kept(self, rows: Iterable[int]) -> int | None:
        """The row to speak of: the lowest epsilon that is kept, then the least regret; never a broken promise.

        A promise that is kept because nothing was said at all is nothing to speak of.
        """
        kept = [row for row in rows if self.kept(row) and self.rows[row]["promise"]["holds"] and not self.echo(row)]
        return min(kept, key=lambda row: (self.rows[row]["promise"]["promised"], self.mean(row)), default=None)

    def best(self, rows: Iterable[int]) -> int | None:
        """The same, or where nothing is promised the least regret."""
        rows = list(rows)
        kept = self.best_kept(rows)
        return kept if kept is not None else self.least(row for row in rows if self.state(row) == "nothing")

    def none_kept(self, rows: Iterable[int]) -> bool:
        """Something is promised, and nothing kept."""
        states = {self.state(row) for row in rows}
        return "broken" in states and not states & {"kept", "weak"}

    # --- words

    @property
    def few(self) -> bool:
        return self.rows[0]["replications"] < RUNS_LEAST

    @property
    def undecided(self) -> str:
        return "Too few runs to call" if self.few else "Too close to call"

    @property
    def per(self) -> str:
        """In how many decisions."""
        count = self.unit["decisions"]
        return f"in {count:,}{GLUE}decisions" if count > 1 else "per decision"

    @property
    def within(self) -> str:
        """The same after a number: with its noun."""
        return f"{NOUNS.get(self.study['problem']['kind'], '')} {self.per}".strip()

    def say(self, text: str) -> str:
        """In the words of the study. Names of rows are the user's and must not pass through here."""
        return self.words.in_place_of_ours(text)

    def epsilon(self, row: int) -> str:
        """What a row keeps: ε = 1."""
        promised = self.rows[row]["promise"]["promised"]
        assert promised is not None
        whose = " per person" if "per_reward" in self.rows[row]["privacy"] else ""
        return f"ε{GLUE}={GLUE}{rounded_up_text(promised, 3)}{whose}{' (weak)' if self.state(row) == 'weak' else ''}"


def unit_of(rows: Sequence[SummaryRow]) -> Unit:
    """Regret per 10^k decisions, k so that the best row loses at least 1; a row that loses nothing does not count.

    >>> unit_of([{"per_decision": {"mean": mean}} for mean in (0.0016, 0.01)])
    {'decisions': 1000, 'text': 'per 1,000 decisions', 'decimals': 1}
    """
    least = min((row["per_decision"]["mean"] for row in rows if row["per_decision"]["mean"] > 0), default=1.0)
    decisions = 10 ** max(0, math.ceil(-math.log10(least) - 1e-9))
    text = f"per {decisions:,} decisions" if decisions > 1 else "per decision"
    return {"decisions": decisions, "text": text, "decimals": 0 if least * decisions >= 100 else 1}


def with_all_rows(told: Told, said: Said) -> Said:
    """Every row has a place and a group."""
    order = [*said.order, *(row for row in told.all() if row not in said.order)]
    return said._replace(order=order, groups=said.groups or [Group(name=told.names[row], rows=[row]) for row in order])
