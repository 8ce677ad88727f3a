"""Studies and results as Python shows them: a short line in a console, a table in a notebook, pictures on request."""

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coterie import studies
from coterie.privacy.statement import SENDS_NOTHING, epsilon_text
from coterie.studies.names import sends_nothing
from coterie.studies.numbers import measured, number, plural
from coterie.studies.spread import RUNS_LEAST

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROWS_SHOWN = 30


class Study(studies.Study):
    def __repr__(self) -> str:
        told = self.specification
        sizes = {"agent": told.problem.agents, "arm": told.problem.arms, "round": told.horizon, "run": told.replications}
        counts = ", ".join(plural(count, noun) for noun, count in sizes.items())
        return f"<Study {told.name}: {counts}, {plural(len(told.rows), 'row')}>".replace("\N{NO-BREAK SPACE}", " ")

    def _repr_html_(self) -> str:
        told = self.specification
        rows = [(row.label, row.name, _options(row.options.model_dump(exclude_defaults=True))) for row in told.rows]
        return _html(f"<b>{escape(told.title)}</b><br>{escape(repr(self)[1:-1])}", ("row", "algorithm", "options"), rows)

    def run(self, *arguments: Any, **named: Any) -> "Result":
        return Result(*super().run(*arguments, **named))

    run.__doc__ = studies.Study.run.__doc__


class Result(studies.Result):
    __slots__ = ()

    def __repr__(self) -> str:
        return f"<Result of {self.study.name}: {plural(len(self.summary), 'row')}. {self.document()['answer']['sentence']}>"

    def _repr_html_(self) -> str:
        runs = self.study.replications
        few = runs < RUNS_LEAST  # as in the terminal: no interval of so few
        rows = [
            (row["label"], number(row["regret_per_agent"]["mean"]) if few else measured(row["regret_per_agent"]),
             epsilon_text(row["privacy"]["claimed"]),
             SENDS_NOTHING if sends_nothing(row) else epsilon_text(row["privacy"]["accounted"]))
            for row in self.summary
        ]  # fmt: skip
        regret = "regret per agent" if few else "regret per agent ± half of its 95 % interval"
        above = f"<b>{escape(self.document()['answer']['sentence'])}</b>"
        above += f"<br>{plural(runs, 'run')}: too few for an interval" if few else ""
        return _html(above, ("row", regret, "ε promised", "ε that holds"), rows)

    def plot(self, figure: str = "regret") -> "Figure":
        """A picture for a paper, as matplotlib has it: regret, tradeoff, sweep or bars (see `coterie plot --help`)."""
        from coterie.plots import draw

        return draw(self.document(), figure)


def load_study(source: str | Path | Mapping[str, Any], sets: Sequence[str] = ()) -> Study:
    return Study(studies.load_study(source, sets).specification)


load_study.__doc__ = studies.load_study.__doc__


def _options(given: dict[str, Any]) -> str:
    return ", ".join(f"{key} = {value}" for key, value in given.items())


def _html(above: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    cells = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows[:ROWS_SHOWN])
    more = f"<p>and {len(rows) - ROWS_SHOWN} more rows</p>" if len(rows) > ROWS_SHOWN else ""
    return f"<p>{above}</p><table><tr>{''.join(f'<th>{escape(word)}</th>' for word in head)}</tr>{cells}</table>{more}"
