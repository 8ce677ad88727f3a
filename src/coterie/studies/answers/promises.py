"""What is said of promises: which are broken, and what holds instead."""

from collections.abc import Iterable, Sequence

from coterie.privacy.statement import rounded_up_text
from coterie.studies.answers.told import Told
from coterie.studies.names import row_name
from coterie.studies.numbers import GLUE, listed

NONE_KEPT = "No row keeps its promise"
DIGITS = 3


def red_line(told: Told, sentence: str) -> str | None:
    """Every broken promise, by method; what the sentence says already is not said again."""
    broken = [row for row in told.all() if told.broken(row)]
    if not broken:
        return None
    opening = "One promise is broken" if len(broken) == 1 else f"{len(broken)} promises are broken"
    if told.none_kept(told.all()):
        opening = NONE_KEPT
    by_method: dict[str, list[int]] = {}
    for row in broken:
        by_method.setdefault(told.rows[row]["method"], []).append(row)
    cases = [_case(told, rows) for rows in by_method.values()]
    if holds(told, by_method[told.rows[broken[0]]["method"]]) in sentence:
        return f"{opening}."
    if opening.lower() not in sentence.lower():
        return f"{opening}: {'; '.join(cases)}."
    alike = len({case.partition(" promises ε")[2] for case in cases}) == 1
    return f"Promised {promised(told, broken)}, but {holds(told, broken)}." if alike else f"{'; '.join(cases)}."


def _case(told: Told, rows: Sequence[int]) -> str:
    who = row_name(told.rows[rows[0]], ("epsilon",)) if len(rows) == 1 else told.rows[rows[0]]["method"]
    return f"{who} promises {promised(told, rows)}, but {holds(told, rows)}"


def promised(told: Told, rows: Iterable[int]) -> str:
    return epsilons([told.rows[row]["promise"]["promised"] for row in rows])


def holds(told: Told, rows: Sequence[int]) -> str:
    """What holds of these, in one clause: `ε = 5 to 50 holds`, or `no limit holds`."""
    found = [told.rows[row]["promise"]["holds"] for row in rows]
    finite = epsilons(found)
    if not finite:
        return "no limit holds"
    return f"{finite} holds" + (", or no limit" if None in found else "")


def epsilons(values: Sequence[float | None]) -> str:
    """From the least to the largest of those that are known: ε = 0.1 to 1."""
    known = sorted(value for value in values if value is not None)
    texts = list(dict.fromkeys(rounded_up_text(value, DIGITS) for value in known))
    return f"ε{GLUE}={GLUE}{' to '.join([texts[0], *texts[1:][-1:]])}" if texts else ""


def promises_by_method(told: Told, rows: Iterable[int]) -> str:
    """`ε = 5 to 50 holds with a, and no limit holds with b`."""
    found: dict[str, list[int]] = {}
    for row in rows:
        found.setdefault(told.rows[row]["method"], []).append(row)
    return listed([f"{holds(told, places)} with {method}" for method, places in found.items()])
