"""Puts a run's numbers, sentences and pictures into one HTML file that fetches nothing.

`render` is a pure function of the run's summary and manifest apart from reading the template and style sheet that lie
beside this file. The template escapes every text; only pictures drawn by `figures` are passed through as they are.
"""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from coterie.errors import StorageError, UsageError
from coterie.report import curves, findings, numbers, question, svg, tradeoff
from coterie.report.privacy import PRIVACY_EXPLAINED, Row, Verdict, epsilon_text, privacy_line, verdict

HERE = Path(__file__).parent


def render(summary: Mapping[str, Any], manifest: Mapping[str, Any]) -> str:
    """The complete HTML text of the report page of one run."""
    study, rows = summary["study"], [{**row, "curve": curves.thinned(row["curve"])} for row in summary["rows"]]
    if not rows:
        raise UsageError("rows of the summary must hold at least one row, got none")
    environment = Environment(
        loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template("page.html.j2").render(
        style=Markup((HERE / "page.css").read_text(encoding="utf-8")),
        title=study.get("title") or study.get("name") or "A study",
        question=question.question(study, rows),
        regret_meaning=question.regret_meaning(study.get("problem") or {}),
        procurement=(study.get("problem") or {}).get("kind") == "procurement",
        algorithms=[(name, question.algorithm_text(name)) for name in dict.fromkeys(row["algorithm"] for row in rows)],
        modes=question.modes_text([row["parameters"].get("mode") for row in rows]),
        findings=findings.findings(rows),
        emphasised=lambda text: _emphasised(text, [row["label"] for row in rows]),
        replicated=any(row["replications"] > 1 for row in rows),
        table=_table(rows),
        protections=[(_letter(index), *protected) for index, protected in enumerate(_protections(rows))],
        further=_further_numbers(rows),
        cards=_cards(rows),
        warnings=[(row["label"], row["warnings"]) for row in rows if row.get("warnings")],
        provenance=_provenance(study, rows, manifest),
        **_pictures(rows),
    )


def write(path: str | Path, summary: Mapping[str, Any], manifest: Mapping[str, Any]) -> None:
    """Render the page into the file `path`."""
    text = render(summary, manifest)
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise StorageError(f"the report cannot be written to {path}: {error.strerror}") from error


def _emphasised(text: str, labels: Sequence[str]) -> Markup:
    """The text, escaped, with the rows' labels set apart; of two labels that fit, the longer one counts."""
    longest_first = sorted(filter(None, labels), key=len, reverse=True)
    pieces = re.split(f"({'|'.join(map(re.escape, longest_first))})", text)
    return Markup("").join(Markup("<b>{}</b>").format(piece) if piece in labels else piece for piece in pieces)


def _pictures(rows: Sequence[Row]) -> dict[str, Any]:
    names = svg.short_labels([row["label"] for row in rows])
    axis = tradeoff.tradeoff_axis(rows)
    present = {verdict(row["privacy"]) for row in rows}
    verdicts = [kind for kind in Verdict if kind in present]
    return {
        "verdicts": verdicts,
        "curves": [(view, Markup(curves.regret_curves(rows, names, view))) for view in curves.VIEWS],
        "first": curves.first_view(rows),
        "swatches": [Markup(svg.swatch(index)) for index in range(len(rows))],
        "values": [_values(index, row) for index, row in enumerate(rows)],
        "tradeoff": Markup(tradeoff.tradeoff(rows, names)),
        "tradeoff_by_epsilon": axis is tradeoff.EPSILON,
        "labelled": svg.labelled(rows),
        "shapes": [(Markup(tradeoff.shape(kind)), kind.heading) for kind in verdicts],
    }


def _values(index: int, row: Row) -> dict[str, Any]:
    """What the script reads off under the pointer."""
    names = {"label": row["label"], "colour": svg.colour(index), "share": curves.agent_share(row)}
    digits = {key: [float(f"{value:.6g}") for value in row["curve"][key]] for key in ("mean", "low", "high")}
    return {**names, "round": row["curve"]["round"], **digits}


def _table(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """One entry for each row, all cells as text; numbers of a column share their decimals."""
    total, agent = ([row[key] for row in rows] for key in ("regret", "regret_per_agent"))
    protections = _protections(rows)
    return [
        {
            "label": row["label"],
            "regret": _cells(row["regret"], total, row["replications"]),
            "per_agent": _cells(row["regret_per_agent"], agent, row["replications"]),
            "best_arm": "-" if row.get("best_arm_rate") is None else numbers.percent(row["best_arm_rate"]),
            "traffic": _traffic(row["communication"]),
            "claimed": epsilon_text(row["privacy"].get("claimed")),
            "accounted": epsilon_text(row["privacy"].get("accounted")),
            "verdict": verdict(row["privacy"]),
            "key": _key(protections, row),
        }
        for row in rows
    ]


def _cells(statistic: Mapping[str, float], column: Sequence[Mapping[str, float]], replications: int) -> tuple[str, str]:
    decimals = numbers.decimals_of([entry["sem"] for entry in column])
    error = "" if replications == 1 else f"± {statistic['sem']:,.{decimals}f}"
    return f"{statistic['mean']:,.{decimals}f}", error


def _traffic(communication: Mapping[str, float]) -> list[str]:
    counts = [numbers.number(communication[key]) for key in ("rounds", "messages")]
    return [*counts, numbers.data_size(communication["bytes"]), numbers.number(communication["cost"])]


def _protections(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """The distinct pairs (unit, adversary) of rows that claim an epsilon; the table names them by letter."""
    claiming = [row["privacy"] for row in rows if verdict(row["privacy"]) is not Verdict.UNCLAIMED]
    return list(dict.fromkeys((privacy.get("unit") or "", privacy.get("adversary") or "") for privacy in claiming))


def _key(protections: Sequence[tuple[str, str]], row: Row) -> str:
    privacy = row["privacy"]
    if verdict(privacy) is Verdict.UNCLAIMED:
        return "-"
    return _letter(protections.index((privacy.get("unit") or "", privacy.get("adversary") or "")))


def _letter(index: int) -> str:
    return chr(ord("A") + index) if index < 26 else str(index + 1)


def _further_numbers(rows: Sequence[Row]) -> dict[str, Any] | None:
    """The family's own measurements (violations, delays, ...) as a second table; None where no row has any."""
    columns = list(dict.fromkeys(key for row in rows for key in row.get("extra") or {}))
    if not columns:
        return None
    cells = [[_extra_text((row.get("extra") or {}).get(key)) for key in columns] for row in rows]
    return {"columns": [key.replace("_", " ") for key in columns], "rows": cells}


def _extra_text(value: Any) -> str:
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case int() | float():
            return numbers.number(value)
        case {"mean": mean, "sem": sem}:
            return numbers.measured({"mean": mean, "sem": sem}, replications=2)
        case list() if len(value) > 8:
            return f"{len(value)} values, see summary.json"
        case list():
            return ", ".join(map(_extra_text, value))
        case dict():
            return "; ".join(f"{key} {_extra_text(part)}" for key, part in value.items())
    return str(value)


def _cards(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Rows that make the same statement apart from the size of epsilon share a card; the worst verdicts come first."""
    cards: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in rows:
        privacy, kind = row["privacy"], verdict(row["privacy"])
        told = ("note",) if kind is Verdict.UNCLAIMED else ("unit", "adversary", "note")
        facts = {key: privacy[key] for key in told if privacy.get(key)}
        new: dict[str, Any] = {"verdict": kind, "explained": PRIVACY_EXPLAINED[kind], "facts": facts, "lines": {}}
        card = cards.setdefault((kind, bool(privacy["private"]), *facts.items()), new)
        card["lines"].setdefault(privacy_line(row), []).append(row["label"])
    urgency = [Verdict.UNSUPPORTED, Verdict.ABOVE, Verdict.WITHIN, Verdict.UNCLAIMED]
    return sorted(cards.values(), key=lambda card: urgency.index(card["verdict"]))


def _provenance(study: Mapping[str, Any], rows: Sequence[Row], manifest: Mapping[str, Any]) -> dict[str, Any]:
    seconds = sum(row.get("seconds") or 0.0 for row in rows)
    facts = {
        "Coterie version": manifest.get("version"),
        "Study": study.get("name"),
        "Study hash": manifest.get("hash"),
        "Seed": manifest.get("seed"),
        "Platform": manifest.get("platform"),
        "Created": manifest.get("created"),
        "Computing time": f"{numbers.number(seconds)} s" if seconds else None,
    }
    return {
        "facts": {key: value for key, value in facts.items() if value is not None},
        "command": f"coterie run {shlex.quote(str(study.get('name') or 'STUDY.toml'))}",
        "study": json.dumps(study, indent=1, ensure_ascii=False),
    }
