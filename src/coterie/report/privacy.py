"""What a row promises about privacy, what holds, and what that means for someone who never met an epsilon.

Whether a promise is kept is decided by `privacy.statement.promise`, here as everywhere.
"""

import math
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

from coterie.privacy.statement import WEAK_ABOVE, Promise, epsilon_text, promise, promise_words
from coterie.report.rows import Row, all_named, named
from coterie.studies.numbers import GLUE, listed


class Verdict(Enum):
    """What became of a promise. The symbol carries it where colour cannot."""

    UNSUPPORTED = (
        "unsupported",
        Promise.BROKEN.mark,
        "Broken: no limit holds",
        "An epsilon is promised, but no finite one holds. Do not treat this as private.",
    )
    ABOVE = (
        "above",
        Promise.BROKEN.mark,
        "Broken: more is lost than promised",
        "The loss counted over the whole run is larger than the epsilon that is promised. Go by the ε that holds.",
    )
    WEAK = (
        "weak",
        Promise.WEAK.mark,
        "Kept, but weak",
        f"The promise is kept, but with an epsilon above {WEAK_ABOVE:g} odds may shift by more than a factor of 20.",
    )
    WITHIN = (
        "within",
        Promise.KEPT.mark,
        "Promised and kept",
        "The loss counted over the whole run is no larger than the epsilon that is promised.",
    )
    UNCLAIMED = (
        "unclaimed",
        Promise.NOTHING.mark,
        "Nothing promised",
        "Nothing is promised about what an observer can learn.",
    )

    def __init__(self, key: str, symbol: str, heading: str, explained: str) -> None:
        self.key, self.symbol, self.heading, self.explained = key, symbol, heading, explained


VERDICTS = {Promise.KEPT: Verdict.WITHIN, Promise.WEAK: Verdict.WEAK, Promise.NOTHING: Verdict.UNCLAIMED}


def verdict(row: Row) -> Verdict:
    found, holds = promise(row["privacy"]), epsilon_of(row["privacy"]["accounted"])
    if found is not Promise.BROKEN:
        return VERDICTS[found]
    return Verdict.UNSUPPORTED if holds is None else Verdict.ABOVE


def claims_privacy(row: Row) -> bool:
    return verdict(row) is not Verdict.UNCLAIMED


def epsilon_of(guarantee: Mapping[str, Any] | None) -> float | None:
    """The finite epsilon of a guarantee, or None where there is none."""
    return None if guarantee is None else guarantee["epsilon"]


def success_bound(guarantee: Mapping[str, Any]) -> float:
    """Largest share of cases in which a guess between two equally likely, neighbouring inputs can be right.

    (e^epsilon + delta) / (e^epsilon + 1), the accuracy of the best test under (epsilon, delta)-privacy.

    >>> round(success_bound({"epsilon": 1.0, "delta": 0.0}), 4)
    0.7311
    """
    low = 1 / (1 + math.exp(min(guarantee["epsilon"], 700.0)))
    return min(1.0, 1 - low + guarantee["delta"] * low)


def privacy_text(row: Row) -> str:
    """What a row promises, what holds, and what that means."""
    privacy = row["privacy"]
    return f"{_promised(privacy)}: {_protection(privacy)}"


def _promised(privacy: Mapping[str, Any]) -> str:
    found, holds = promise(privacy), epsilon_text(privacy["accounted"])
    if found is Promise.BROKEN:
        return promise_words(privacy)
    if found is Promise.NOTHING:
        return f"nothing promised, {holds}" + ("" if privacy["accounted"]["epsilon"] is None else " holds")
    promised = epsilon_text(privacy["claimed"])
    return f"ε{GLUE}={GLUE}{promised} {found.value}" + ("" if promised == holds else f" ({holds} holds)")


def _protection(privacy: Mapping[str, Any]) -> str:
    """What the epsilon that holds means: the same whatever was promised."""
    if epsilon_of(privacy["accounted"]) is None:
        return "nothing is guaranteed about how well an observer can guess"
    bound = success_bound(privacy["accounted"])
    if bound > 0.999:
        return f"an observer's guess may be right in more than 99.9{GLUE}% of cases, in practice no protection"
    return f"an observer's guess is right in at most {math.ceil(bound * 1000 - 1e-6) / 10:g}{GLUE}% of cases"


# The findings


def privacy_findings(rows: Sequence[Row]) -> list[str]:
    """Every broken promise, and what the kept ones protect."""
    of = {kind: [row for row in rows if verdict(row) is kind] for kind in Verdict}
    above, weak, kept = of[Verdict.ABOVE], of[Verdict.WEAK], of[Verdict.WITHIN]
    if not any(map(claims_privacy, rows)):
        return ["No row promises any privacy."]
    sentences = []
    if of[Verdict.UNSUPPORTED]:
        sentences.append(f"The promise is broken, and no limit holds, in {listed(with_notes(of[Verdict.UNSUPPORTED]))}.")
    if above:
        losses = [f"{named(row)} ({promise_words(row['privacy']).removeprefix('broken: ')})" for row in above]
        sentences.append(f"The promise is broken in {listed(losses)}.")
    if weak:
        sentences.append(f"The promise is kept, but weak (an epsilon above {WEAK_ABOVE:g}), in {all_named(weak)}.")
    if kept:
        sentences.append(f"The promise is kept in {_whom(kept, rows)}.")
    if weak or kept:
        sentences[-1] += f" What is protected is {listed(_units([*weak, *kept]))}; “Privacy in words” says from whom."
    return sentences


def with_notes(rows: Sequence[Row]) -> list[str]:
    """The names of rows, each group that shares a note with that note in brackets."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["privacy"]["note"], []).append(row)
    return [all_named(group) + (f" ({note})" if note else "") for note, group in groups.items()]


def _whom(kept: Sequence[Row], rows: Sequence[Row]) -> str:
    others = len(kept) < sum(map(claims_privacy, rows))
    return all_named(kept) if others else "every row that promises privacy"


def _units(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row["privacy"]["unit"] for row in rows))
