"""Puts a run's numbers, sentences and pictures into one HTML file that fetches nothing.

`render` is a pure function of the run's summary and manifest, apart from reading the template, style sheet and script
that lie beside this file. The template escapes every text; only pictures and names in bold type are passed through.
"""

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from coterie import files
from coterie.report import agents, dataset, liars, tables
from coterie.report.charts import charts_of
from coterie.report.curves import VIEWS, agent_share, first_view, regret_curves, thinned
from coterie.report.findings import answers
from coterie.report.groups import crowded, drawn, groups, spoken_of
from coterie.report.labels import ROWS_MAX, short_labels
from coterie.report.privacy import Verdict, verdict, with_notes
from coterie.report.problems import average, told_of
from coterie.report.question import lead, methods, modes_text, setting
from coterie.report.regret import decisions_shown
from coterie.report.releases import accounts
from coterie.report.rows import Row, emphasised, warnings_of
from coterie.report.svg import colour, swatch
from coterie.report.theory import promises
from coterie.report.tradeoff import EPSILON, shape, tradeoff, tradeoff_axis
from coterie.report.truth import agent_names, truth_of
from coterie.report.truth import table as truth_table
from coterie.studies.numbers import number
from coterie.studies.words import Words

HERE = Path(__file__).parent
NO_SWATCH = '<span class="swatch"></span>'  # of a row that no picture shows


def render(summary: Mapping[str, Any], manifest: Mapping[str, Any]) -> str:
    """The complete HTML text of the report page of one run."""
    study, rows = summary["study"], [with_thin_curve(row) for row in summary["rows"]]
    problem, words, spoken = study["problem"], Words(**study["words"]), spoken_of(rows)
    told = told_of(problem)
    nameable = [*(row["label"] for row in rows), *groups(rows), *liars.blocks(rows)]
    environment = Environment(
        loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"worded": words.in_place_of_ours, "emphasised": lambda text: emphasised(text, nameable, words)}
    return environment.get_template("page.html.j2").render(
        style=_beside("page.css"),
        script=_beside("page.js"),
        title=study["title"],
        lead=lead(study, rows),
        notes=dataset.notes(problem),
        regret_meaning=told.regret(problem),
        words=words,
        told=told,
        procurement=told.sections(study, rows, words),
        answers=answers(rows, agent_names(problem, rows[0]["agents"])),
        setting=setting(study, rows),
        methods=methods(spoken),
        modes=modes_text(spoken),
        replicated=study["replications"] > 1,
        decisions=number(decisions_shown(rows)),
        table=tables.table(rows),
        broken=with_notes([row for row in spoken if verdict(row) is Verdict.UNSUPPORTED]),
        protections=tables.protections(rows),
        further=tables.further_columns(rows),
        promises=promises(rows),
        accounts=accounts(spoken),
        cards=tables.cards(spoken),
        crowded=crowded(rows),
        warnings=warnings_of(rows),
        provenance=_provenance(study, rows, manifest),
        **_single_agents(problem, rows),
        **liars.context(rows),
        charts=charts_of(study, rows, words),
        **_pictures(rows, words),
    )


def with_thin_curve(row: Row) -> Row:
    thin = row.copy()
    thin["curve"] = thinned(row["curve"])
    return thin


def write(path: str | Path, summary: Mapping[str, Any], manifest: Mapping[str, Any]) -> None:
    """Render the page into the file `path`."""
    files.write(Path(path), render(summary, manifest))


def _beside(name: str) -> Markup:
    return Markup((HERE / name).read_text(encoding="utf-8"))


def _single_agents(problem: Mapping[str, Any], rows: Sequence[Row]) -> dict[str, Any]:
    """How each agent fared, and what is true for each."""
    truth, names = truth_of(problem), agent_names(problem, rows[0]["agents"])
    return {
        "agents": names,
        "truth": truth,
        "average": average(problem),
        "truth_table": truth_table(truth, names),
        "fates": agents.table(rows) if agents.differ(rows) else [],
    }




def _pictures(rows: Sequence[Row], words: Words) -> dict[str, Any]:
    places = drawn(rows)
    shown = [rows[place] for place in places]
    names = short_labels(shown)
    present = {verdict(row) for row in rows}
    return {
        "curves": [(view, Markup(regret_curves(shown, names, view, words))) for view in VIEWS],
        "first": first_view(shown),
        "legend": [(Markup(swatch(index)), row["label"]) for index, row in enumerate(shown)],
        "swatches": [Markup(swatch(places.index(place)) if place in places else NO_SWATCH) for place in range(len(rows))],
        "colours": [colour(index) for index in range(len(rows))],
        "values": [_values(index, row) for index, row in enumerate(shown)],
        "tradeoff": Markup(tradeoff(shown, names, words)),
        "tradeoff_by_epsilon": tradeoff_axis(shown) is EPSILON,
        "labelled": len(shown) <= ROWS_MAX,
        "verdicts": [(kind, Markup(shape(kind))) for kind in Verdict if kind in present],
    }


def _values(index: int, row: Row) -> dict[str, Any]:
    """What the script reads off under the pointer."""
    names = {"label": row["label"], "colour": colour(index), "share": agent_share(row)}
    digits = {key: [float(f"{value:.6g}") for value in row["curve"][key]] for key in ("mean", "low", "high")}
    return {**names, "round": row["curve"]["round"], **digits}


def _provenance(study: Mapping[str, Any], rows: Sequence[Row], manifest: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "facts": {
            "Coterie version": manifest["version"],
            "Study": study["name"],
            "Study hash": manifest["hash"],
            "Seed": manifest["seed"],
            "Platform": manifest["platform"],
            "Created": manifest["created"],
            "Computing time": f"{number(sum(row['seconds'] for row in rows))} s",
        },
        "command": f"coterie run {shlex.quote(study['name'])}",
        "study": json.dumps(study, indent=1, ensure_ascii=False),
    }
