"""What a run leaves: tables of all replications, a summary of every row, and the files that hold them."""

import io
import json
import platform
import shlex
from datetime import UTC, datetime
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from coterie.algorithms import find
from coterie.checking.verdicts import audited
from coterie.engines.forecast import ROUNDS_RECORDED
from coterie.files import alone
from coterie.privacy.statement import best_guess, promise, statement
from coterie.studies import store
from coterie.studies.answers import answer
from coterie.studies.budget import dearest_path
from coterie.studies.case import Case, checkpoints, make_case, problem_of
from coterie.studies.floors import floor_of
from coterie.studies.rows import Summary, SummaryRow
from coterie.studies.running import AGENTS_SHOWN, Batch, Columns, mean_of_known
from coterie.studies.spec import Row, Specification, finite_or_null, rewritten
from coterie.studies.spread import margin, spread
from coterie.version import VERSION


class Result(NamedTuple):
    """The outcome of a study."""

    study: Specification
    summary: list[SummaryRow]  # the rows of summary.json
    checkpoints: pl.DataFrame
    replications: pl.DataFrame  # one line each: what was said, what it cost, what was found and what was spent

    def frame(self) -> pl.DataFrame:
        """Long form: row, label, replication, round, regret (total over agents) and regret_per_agent."""
        return self.checkpoints

    def document(self) -> Summary:
        """summary.json."""
        study = self.study.resolved()
        return {"study": study, "answer": answer(study, self.summary, self.checkpoints), "rows": self.summary}

    def write(self, folder: Path) -> None:
        """Into the folder of a run that was begun there."""
        frames = (self.checkpoints, self.replications)
        store.finish(folder, dict(zip(store.RESULTS, (*map(parquet, frames), store.json_text(self.document())), strict=True)))


def parquet(frame: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="zstd")
    return buffer.getvalue()


def read_result(study: Specification, folder: Path) -> Result:
    """A result that was written."""
    *frames, summary = store.read_results(folder).values()
    stored = json.loads(summary)
    result = Result(study, stored["rows"], *map(pl.read_parquet, frames))
    if stored["study"] == json.loads(store.json_text(study.resolved())):
        return result
    result = relabelled(result)
    with alone(folder):
        result.write(folder)
    return result


def relabelled(result: Result) -> Result:
    """Titles, words and labels do not change a run: what was found under others is told under those of the study now."""
    names = {row["label"]: new.label for row, new in zip(result.summary, result.study.rows, strict=True)}
    for row in result.summary:
        row["label"] = names[row["label"]]
        if "procurement" in row:
            row["procurement"]["against"] = {names[other]: ratio for other, ratio in row["procurement"]["against"].items()}
    return result._replace(checkpoints=result.checkpoints.with_columns(pl.col("label").replace_strict(names)))


def make_result(study: Specification, batches: dict[Batch, Columns]) -> Result:
    summary, curves, ends, whole = [], [], [], []
    for index, row in enumerate(study.rows):
        mine = [columns for batch, columns in batches.items() if batch.row == index]
        joined = {name: np.concatenate([columns[name] for columns in mine]) for name in mine[0]}
        whole.append(joined)
        summary.append(summarise(study, row, joined))
        curves.append(long_form(study, index, joined["curves"]))
        numbers = np.arange(study.replications, dtype=np.int32)
        about = {"row": np.full(study.replications, index, np.int32), "replication": numbers}
        single = {name: values for name, values in joined.items() if values.ndim == 1 and name != "seconds"}
        ends.append(pl.DataFrame(about | single))
    problem_of(study).compare(summary, whole)
    return Result(study, summary, pl.concat(curves), pl.concat(ends, how="diagonal"))


def loss(study: Specification, case: Case, columns: Columns) -> float:
    """What the dearest reward has lost in these runs, or might have lost on another path, where that is cheap to know."""
    seen = float(columns["epsilon"].max())
    promised = case.method.claim.epsilon < inf and not case.doors.void
    return max(seen, dearest_path(case, study.horizon)) if promised and study.horizon <= ROUNDS_RECORDED else seen


def long_form(study: Specification, index: int, curves: np.ndarray) -> pl.DataFrame:
    marks = checkpoints(study)
    return pl.DataFrame({
        "row": np.full(curves.size, index, np.int32),
        "label": [study.rows[index].label] * curves.size,
        "replication": np.repeat(np.arange(len(curves), dtype=np.int32), len(marks)),
        "round": np.tile(marks, len(curves)),
        "regret": curves.ravel(),
        "regret_per_agent": curves.ravel() / study.rows[index].honest(study.problem.agents),
    })


def summarise(study: Specification, row: Row, columns: Columns) -> SummaryRow:
    case = make_case(study, row, 0)
    agents, curves, seconds = study.problem.agents, columns["curves"], columns["seconds"].sum()
    honest, marks = row.honest(agents), checkpoints(study)
    said = statement(case.method.claim, case.doors, loss(study, case, columns), study.problem.rewards_of_person)
    mean = {name: float(values.mean()) for name, values in columns.items() if values.ndim == 1}
    facts = {
        "label": row.label,
        "algorithm": find(row.reference).name,
        "method": method_name(row),
        "alone": mean["messages"] == 0,
        "parameters": row.parameters(),
        "faults": row.troubles(),
        "agents": agents,
        "arms": study.problem.arms,
        "horizon": study.horizon,
        "replications": study.replications,
        "regret": spread(curves[:, -1]),
        "regret_per_agent": spread(curves[:, -1] / honest),
        "per_decision": spread(curves[:, -1] / honest / study.horizon),
        "curve": {
            "round": marks.tolist(),
            "mean": curves.mean(axis=0).tolist(),
            "margin": margin(curves).tolist(),
            "low": curves.min(axis=0).tolist(),
            "high": curves.max(axis=0).tolist(),
            "per_decision": (curves.mean(axis=0) / honest / marks).tolist(),
            "per_decision_margin": (margin(curves) / honest / marks).tolist(),
        },
        "best_arm_rate": float(mean_of_known(columns["best_arm_rate"])),
        **found_counts(columns),
        "by_agent": {
            "regret": mean_of_known(columns["totals"]).tolist(),
            "margin": margin(columns["totals"]).tolist(),
            "found": mean_of_known(columns["found"]).tolist(),
            "count": (columns["found"] == 1).sum(axis=0).tolist(),
            "of": (~np.isnan(columns["found"])).sum(axis=0).tolist(),
        },
        "communication": {name: mean[name] for name in ("rounds", "messages", "bytes", "cost")},
        "privacy": said,
        "promise": promise_of(said),
        "extra": {name.removeprefix("extra_"): value for name, value in mean.items() if name.startswith("extra_")},
        **problem_of(study).tell(case.method, columns, AGENTS_SHOWN),
        "warnings": [*case.method.warnings, *own_file_warnings(study, row)],
        **({"own_file": own_file(study, row)} if row.content else {}),
        **({"floor": floor} if (floor := floor_of(study, row, said)) else {}),
        "seconds": float(seconds),
        "agent_rounds_per_second": agents * study.horizon * study.replications / max(float(seconds), 1e-9),
    }
    return rewritten(facts, finite_or_null)


def method_name(row: Row) -> str:
    """Algorithm and mode."""
    mode = {"paper": " as printed", "corrected": ", corrected"}.get(row.parameters().get("mode", ""), "")
    return f"{find(row.reference).name}{mode}"


def found_counts(columns: Columns) -> dict[str, Any]:
    """In how many replications every honest agent settled on the best arm, and how many agents did; ties do not count."""
    finders, seekers = columns["finders"], columns["seekers"]
    if not seekers.any():
        return {"found": None, "found_by": None}
    runs = {"count": int((finders == seekers)[seekers > 0].sum()), "of": int((seekers > 0).sum())}
    return {"found": runs, "found_by": {"count": int(finders.sum()), "of": int(seekers.sum())}}


def promise_of(said: dict[str, Any]) -> dict[str, Any]:
    """What became of a promise, in the words of JSON."""
    promised = said["claimed"]["epsilon"] if said["claimed"] else None
    holds = said["accounted"]
    return {"state": promise(said).name.lower(), "promised": promised, "holds": holds["epsilon"], "guess": best_guess(holds)}


def own_file(study: Specification, row: Row) -> dict[str, bool]:
    """What is known of a file of a user's own: it was checked before it ran, and an audit may have found nothing wrong."""
    return {"checked": True, "audited": audited(row.reference, row.options, study.problem.agents, study.problem.arms)}


def own_file_warnings(study: Specification, row: Row) -> list[str]:
    if not row.content or own_file(study, row)["audited"]:
        return []
    known = "no audit with these options, agents and arms is known"
    return [f"a file of one's own: it was checked, and {known} (coterie audit {shlex.quote(study.place)})"]


def manifest(study: Specification) -> dict[str, Any]:
    return {
        "study": study.resolved(),
        "name": study.name,
        "hash": study.digest,
        "version": VERSION,
        "seed": study.seed,
        "platform": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}, numpy {np.__version__}",
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }
