"""Finished runs side by side, as one summary: replication r of all of them met the same instance with the same seeds."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from coterie.errors import UsageError
from coterie.studies import store
from coterie.studies.answers import answer
from coterie.studies.answers.promises import red_line
from coterie.studies.answers.told import Told
from coterie.studies.differences import difference, runs_of
from coterie.studies.messages import given
from coterie.studies.numbers import amount, listed
from coterie.studies.rows import Answer, Difference, Summary, SummaryRow

SHARED = ("problem", "horizon", "seed", "replications", "checkpoints")
WAYS = {
    "less": ("loses less", "lose less"),
    "more": ("loses more", "lose more"),
    "close": ("is too close to call", "are too close to call"),
}
NOT_COMPARED = {*SHARED, "name", "title", "algorithm", "words"}


class Kept(NamedTuple):
    """A finished run as it lies in its folder."""

    name: str
    summary: Summary
    checkpoints: pl.DataFrame


class Comparison(NamedTuple):
    summary: Summary
    differences: list[Difference]  # of each row to the one it is held against
    differ: dict[str, list[Any]]  # settings in which the studies differ beside their algorithms, with the value of each


def read_run(folder: Path) -> Kept:
    summary = store.read_summary(folder)
    return Kept(folder.name, summary, pl.read_parquet(folder / store.RESULTS[0]))


def compare(folders: Sequence[Path], against: str | None = None) -> Comparison:
    """All rows of all runs, each held against the row of that label.

    By default against the row that has its label in the first run; where that has none, and in the first run itself, against
    the first row of all.
    """
    if len(folders) < 2:
        raise UsageError(f"runs to compare must be at least 2, got {len(folders)}")
    if len({folder.resolve() for folder in folders}) < len(folders):
        raise UsageError("runs to compare must be different folders, got one of them twice")
    runs = [read_run(folder) for folder in folders]
    _check_shared(runs, folders)
    rows: list[Any] = []
    differ = _differ(runs)
    frames, labels = [], _labels(runs, differ)
    for run in runs:
        start = len(rows)
        rows += [row | {"label": labels[start + place]} for place, row in enumerate(run.summary["rows"])]
        frames.append(run.checkpoints.with_columns(pl.col("row") + start))
    frame = pl.concat(frames).with_columns(pl.col("row").replace_strict(dict(enumerate(labels))).alias("label"))
    if against is not None and against not in labels:
        raise UsageError(f"against must be the label of a row, one of {', '.join(map(repr, labels))}, got {against!r}")
    bases = [labels.index(against)] * len(labels) if against is not None else _counterparts(runs)
    study = _joined([run.summary["study"] for run in runs], labels)
    paired = runs_of(frame, rows)
    held = [difference(paired, place, base) for place, base in enumerate(bases) if place != base]
    new = held if against is not None else [one for one in held if one["row"] >= len(runs[0].summary["rows"])]
    found = answer(study, rows, frame)
    sentence = _sentence(found, rows, new, against)
    told = found | {"sentence": sentence, "verdict": None, "red": red_line(Told(study, _once(runs), ()), sentence)}
    return Comparison({"study": study, "answer": told, "rows": rows}, held, differ)


def _sentence(found: Answer, rows: Sequence[SummaryRow], held: Sequence[Difference], against: str | None) -> str:
    """What the runs say of each other; what one of them says by itself is on its own page.

    A single difference with its interval, several by their number.
    """
    unit, beside = found["unit"], "the first run" if against is None else f"“{against}”"
    if len(held) > 1:
        counts = {way: sum(one["verdict"] == way for one in held) for way in WAYS}
        told = listed([f"{count} {WAYS[way][count != 1]}" for way, count in counts.items() if count])
        return f"Of {len(held)} rows beside {beside}, {told}."
    (one,) = held
    mean, margin = one["mean"] * unit["decisions"], one["margin"]
    half = "" if margin is None else f" ± {amount(margin * unit['decisions'], unit['decimals'])}"
    label, base = rows[one["row"]]["label"], rows[one["against"]]["label"]
    if mean == 0:
        return f"“{label}” loses as much as “{base}”."
    called = "" if one["verdict"] != "close" else f"{'Too few runs' if margin is None else 'Too close'} to call: "
    more = f"{amount(abs(mean), unit['decimals'])}{half} {'more' if mean > 0 else 'less'}"
    return f"{called}“{label}” loses {more} than “{base}”, {unit['text']}."


def _once(runs: Sequence[Kept]) -> list[SummaryRow]:
    """The rows of all runs, each promise once: a method that occurs in two runs breaks it once."""
    rows = [row for run in runs for row in run.summary["rows"]]
    return list({(row["label"], row["method"], str(row["promise"])): row for row in reversed(rows)}.values())[::-1]


def _counterparts(runs: Sequence[Kept]) -> list[int]:
    first = [row["label"] for row in runs[0].summary["rows"]]
    others = [row["label"] for run in runs[1:] for row in run.summary["rows"]]
    return [0] * len(first) + [first.index(label) if label in first else 0 for label in others]


def _check_shared(runs: Sequence[Kept], folders: Sequence[Path]) -> None:
    first = runs[0].summary["study"]
    for run, folder in zip(runs[1:], folders[1:], strict=True):
        other = run.summary["study"]
        for key in SHARED:
            if first[key] != other[key]:
                values = "" if isinstance(first[key], dict) else f": {given(first[key])} and {given(other[key])}"
                shared = ", ".join(SHARED)
                raise UsageError(f"runs must share {shared} to be compared, got another {key} in {folder}{values}")


def _labels(runs: Sequence[Kept], differ: dict[str, list[Any]]) -> list[str]:
    """Of all rows; one that occurs again is told apart by what its study has of its own, else by its folder."""
    words = {key.split(".")[-1]: [given(value).strip("'") for value in values] for key, values in differ.items()}
    told = [", ".join(f"{key} {values[place]}" for key, values in words.items()) for place in range(len(runs))]
    names = told if len(differ) <= 2 and len(set(told)) == len(runs) else [run.name for run in runs]
    plain = [row["label"] for run in runs for row in run.summary["rows"]]
    full = [f"{row['label']} ({name})" for run, name in zip(runs, names, strict=True) for row in run.summary["rows"]]
    named = [long if plain.count(short) > 1 else short for short, long in zip(plain, full, strict=True)]
    return [label if named.count(label) == 1 else f"{label} #{place + 1}" for place, label in enumerate(named)]


def _joined(studies: Sequence[dict[str, Any]], labels: Sequence[str]) -> dict[str, Any]:
    titles = list(dict.fromkeys(study["title"] for study in studies))
    algorithms = [algorithm for study in studies for algorithm in study["algorithm"]]
    named = [algorithm | {"label": label} for algorithm, label in zip(algorithms, labels, strict=True)]
    return studies[0] | {"name": "compare", "title": f"Compared: {' / '.join(titles)}", "algorithm": named}


def _differ(runs: Sequence[Kept]) -> dict[str, list[Any]]:
    studies = [run.summary["study"] for run in runs]
    found = {}
    for key in dict.fromkeys(key for study in studies for key in study if key not in NOT_COMPARED):
        tables = [study.get(key) for study in studies]
        inner = dict.fromkeys(name for table in tables if isinstance(table, dict) for name in table)
        for name in inner:
            values = [table.get(name) if isinstance(table, dict) else None for table in tables]
            if any(value != values[0] for value in values):
                found[f"{key}.{name}"] = values
    return found
