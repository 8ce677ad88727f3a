"""What a study of procurement is judged by: regret with and without the exploration, violations beside it, quality, revenue,
and whether anything was learned from others.

A violated round can cost a hundred times what a poor order does, so no regret stands here without the number of violated
rounds. A row is said to have learned from others only if it beats both its echo and learning alone (see `controls`).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from coterie.privacy.statement import epsilon_text
from coterie.report.controls import BASELINE, Comparison, alone_of, compared, echo_of, learns_from_itself
from coterie.report.privacy import claims_privacy
from coterie.report.rows import Finding, Row, all_named, named
from coterie.report.traffic import talks
from coterie.studies.numbers import listed, measured, number, percent, plural, times
from coterie.studies.rows import BoughtByAgent

DELTAS = ("0.01", "0.001", "1e-05")
SHOWN = ("violations", "regret_after_exploration")

# Regret in excess of FCB that the source prints for its first experiment, and the setting in which it does.
SOURCE_SETTING = {"agents": 10, "arms": 30, "horizon": 100_000}
SOURCE_EXCESS = {"uniform": {"p-fcb": 1.36, BASELINE: 2.33}, "normal": {"p-fcb": 2.35, BASELINE: 3.94}}


def after(row: Row) -> float:
    """Regret per agent after the exploration."""
    return row["procurement"]["regret_after"]["mean"]


def violated(row: Row) -> float:
    """Rounds per agent whose order was not good enough."""
    return row["procurement"]["violations"]["mean"]


def with_violations(row: Row) -> str:
    """What belongs beside a regret; nothing where there is no constraint to violate."""
    return f", with {plural(violated(row), 'violated round')} per agent" if "procurement" in row else ""


# --- tables -------------------------------------------------------------------------------------------


def table(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """For each row what was bought, how good it was and what it brought."""
    return [
        {
            "index": index,
            "label": row["label"],
            "regret": measured(row["regret_per_agent"]),
            "after": measured(row["procurement"]["regret_after"]),
            "median": number(row["procurement"]["median_after"]),
            "violations": number(violated(row)),
            "violated": percent(violated(row) / row["horizon"]),
            "quality": _span([f"{value:.3f}" for value in _ascending(row["procurement"]["by_agent"]["quality"])]),
            "revenue": _revenue(row["procurement"]["by_agent"]),
        }
        for index, row in enumerate(rows)
    ]


def _ascending(values: Sequence[float | None]) -> list[float]:
    return sorted(value for value in values if value is not None)


def _span(texts: Sequence[str]) -> str:
    """From the first to the last, where they differ."""
    return "-" if not texts else texts[0] if texts[0] == texts[-1] else f"{texts[0]} to {texts[-1]}"


def _revenue(by_agent: BoughtByAgent) -> str:
    best = sum(by_agent["best_revenue"])
    return percent(sum(by_agent["revenue"]) / best) if best > 0 else "-"


def agents_table(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """For each row and agent the regret after the exploration and the violated rounds."""
    return [
        {
            "index": index,
            "label": row["label"],
            "cells": [
                (number(regret), number(rounds))
                for regret, rounds in zip(
                    row["procurement"]["by_agent"]["regret_after"], row["procurement"]["by_agent"]["violations"], strict=True
                )
            ],
        }
        for index, row in enumerate(rows)
    ]


def slacks(rows: Sequence[Row]) -> list[str]:
    return ["-" if slack is None else f"{slack:+.3f}" for slack in rows[0]["procurement"]["by_agent"]["slack"]]


def learning_table(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """For each row that takes in messages: from how many units, at which epsilon, and what it saved, beside its controls."""
    lines = []
    for index, row in enumerate(rows):
        bought = row["procurement"]
        if not talks(row):
            continue
        lines.append(
            {
                "index": index,
                "label": row["label"],
                "claimed": epsilon_text(row["privacy"]["claimed"]),
                "accounted": epsilon_text(row["privacy"]["accounted"]),
                "learned": _span([number(weight) for weight in sorted(bought["learned"]["by_agent"])]),
                "after": measured(bought["regret_after"]),
                "violations": number(violated(row)),
                "alone": _ratio(compared(row, alone_of(row, rows))),
                "echo": _ratio(compared(row, echo_of(row, rows))),
            }
        )
    return lines


def _ratio(comparison: Comparison | None) -> str:
    return times(comparison.of_means) if comparison else "-"


def lessons(rows: Sequence[Row], names: Sequence[str]) -> list[dict[str, Any]]:
    """For each row on a fixed instance: for one unit of its own, the units that each agent took from others, by producer."""
    return [
        {
            "label": row["label"],
            "lines": [
                (name, [number(weight) for weight in line])
                for name, line in zip(names, row["procurement"]["learned"]["about"], strict=False)
            ],
        }
        for row in rows
        if talks(row) and row["procurement"]["learned"]["about"]
    ]


def losses(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """For each row with noise, exactly: what one changed order loses, and what all exchanges lose if each may change."""
    lines = []
    for index, row in enumerate(rows):
        if "mu_event" in row["extra"] and claims_privacy(row):
            cells = [_loss(row["extra"][f"epsilon_{name}_at_{delta}"]) for name in ("event", "sequential") for delta in DELTAS]
            claimed = epsilon_text(row["privacy"]["claimed"])
            lines.append({"index": index, "label": row["label"], "claimed": claimed, "cells": cells})
    return lines


def _loss(epsilon: float | None) -> str:
    """Rounded up: a loss must not look smaller than it is."""
    return epsilon_text({"epsilon": epsilon, "delta": 0.0})


def is_shown(measurement: str) -> bool:
    """Has this page a place of its own for it, outside the further measurements?"""
    return measurement in SHOWN or measurement.startswith(("epsilon_event_at_", "epsilon_sequential_at_"))


def source_table(study: Mapping[str, Any], rows: Sequence[Row]) -> list[dict[str, str]]:
    """The source's first experiment beside this run; nothing where the setting is another one."""
    printed = SOURCE_EXCESS.get(study["problem"].get("distribution") or "")
    pooled = next((row for row in rows if row["algorithm"] == "fcb"), None)
    if printed is None or pooled is None or any(dict(pooled)[key] != value for key, value in SOURCE_SETTING.items()):
        return []
    if after(pooled) <= 0:  # nothing is left after an exploration of the whole run
        return []
    lines = []
    for name, excess in printed.items():
        found = [row for row in rows if row["algorithm"] == name and not learns_from_itself(row)]
        found = [row for row in found if name == BASELINE or row["parameters"]["epsilon"] == 1]
        if len(found) == 1:
            whole = found[0]["regret_per_agent"]["mean"] / pooled["regret_per_agent"]["mean"] - 1
            later = after(found[0]) / after(pooled) - 1
            cells = {"source": f"{excess:+.0%}", "measured": f"{whole:+.0%}", "after": f"{later:+.0%}"}
            lines.append({"label": found[0]["label"], **cells})
    return lines


# --- findings -----------------------------------------------------------------------------------------


def quality_findings(rows: Sequence[Row], names: Sequence[str]) -> list[Finding]:
    """Was what was bought good enough? Nothing where nothing is bought."""
    if "procurement" not in rows[0]:
        return []
    alpha = rows[0]["procurement"]["alpha"]
    broken = [row for row in rows if violated(row) > 0]
    if not broken:
        return [Finding(f"In every row and round all orders had an average quality of at least {alpha:g}.")]
    kept = [row for row in rows if violated(row) == 0]
    opening = f"Orders fell below an average quality of {alpha:g}" + (
        f", but never in {all_named(kept)}:" if kept else " in every row:"
    )
    return [Finding(opening, tuple(_broken(row, names) for row in broken))]


def _broken(row: Row, names: Sequence[str]) -> str:
    by_agent = row["procurement"]["by_agent"]["violations"]
    worst = max(range(len(by_agent)), key=by_agent.__getitem__)
    share = percent(violated(row) / row["horizon"])
    whose = f"; {names[worst]} the most ({number(by_agent[worst])})" if len(by_agent) > 1 else ""
    return f"{named(row)}: in {plural(violated(row), 'round')} per agent ({share}){whose}"


def together_findings(rows: Sequence[Row]) -> list[Finding]:
    """What is saved by messages of others once the exploration is over."""
    talking = [row for row in rows if "procurement" in row and talks(row) and not learns_from_itself(row)]
    pairs = [(row, compared(row, alone_of(row, rows))) for row in talking]
    cases = [f"{named(row)}: {_saved(found)}{with_violations(row)}" for row, found in pairs if found]
    opening = "Once the exploration is over, regret compared with learning alone by the same rule:"
    return [Finding(opening, tuple(cases))] if cases else []


def _saved(comparison: Comparison) -> str:
    return times(comparison.of_means) if comparison.lower or comparison.higher else "too close to call"


def echo_findings(rows: Sequence[Row]) -> list[Finding]:
    """Did rows with noise learn from others? Only where an echo control was run beside them."""
    noisy = [row for row in rows if claims_privacy(row) and not learns_from_itself(row)]
    known = [(row, echo) for row in noisy if (echo := echo_of(row, rows)) and compared(row, echo)]
    if not known:
        return []
    opening = (
        "The yardstick is an echo control, which takes messages made of an agent's own data for news. Regret after the "
        "exploration, compared with it:"
    )
    cases = [f"{named(row)}: {_beyond_echo(row, echo, alone_of(row, rows))}" for row, echo in known]
    return [Finding(opening, tuple(cases))]


def _beyond_echo(row: Row, echo: Row, alone: Row | None) -> str:
    """Others have taught something if a row is better than its echo and better than learning alone."""
    found, saved = compared(row, echo), compared(row, alone)
    assert found is not None
    rounds = f"({plural(violated(row), 'violated round')} per agent against {number(violated(echo))})"
    if found.higher:
        return f"{times(found.of_means)} {rounds}, so listening to others did harm"
    if not found.lower:
        return f"too close to call {rounds}, so what it saves is not shown to come from others"
    if saved and not saved.lower:
        return f"{times(found.of_means)} {rounds}, but no gain over learning alone is shown"
    return f"{times(found.of_means)} {rounds}, so others did teach something"


def exploration_text(rows: Sequence[Row]) -> str:
    """How long everybody orders of each producer first, whatever it knows."""
    lengths = sorted({row["procurement"]["exploration"] for row in rows})
    return f"{listed([number(length) for length in lengths])} {'round' if lengths == [1] else 'rounds'}"
