"""What a row claims about privacy, what it really gives, and what that means for someone who never met an epsilon.

A row is called private only if its `private` flag says so.
"""

import math
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, Context, Decimal
from enum import Enum
from typing import Any

from coterie.report.numbers import GLUE, listed
from coterie.report.rows import Row, all_named, named


class Verdict(Enum):
    """How what is accounted compares with what is claimed. The symbol carries it where colour cannot."""

    UNSUPPORTED = (
        "unsupported",
        "✕",
        "Claimed, but not guaranteed",
        "An epsilon is claimed, but it is not guaranteed. Do not treat this as private.",
    )
    ABOVE = (
        "above",
        "▲",
        "More is lost than claimed",
        "The loss counted over the whole run is larger than the epsilon that is claimed. Go by the accounted number.",
    )
    WITHIN = (
        "within",
        "✓",
        "The accounted loss is within the claim",
        "The loss counted over the whole run is no larger than the epsilon that is claimed.",
    )
    UNCLAIMED = (
        "unclaimed",
        "○",
        "No privacy claimed",
        "Nothing is promised about what an observer can learn.",
    )

    def __init__(self, key: str, symbol: str, heading: str, explained: str) -> None:
        self.key, self.symbol, self.heading, self.explained = key, symbol, heading, explained


def verdict(row: Row) -> Verdict:
    privacy = row["privacy"]
    claimed, accounted = epsilon_of(privacy["claimed"]), epsilon_of(privacy["accounted"])
    if claimed is None:
        return Verdict.UNCLAIMED
    if accounted is None:
        return Verdict.UNSUPPORTED
    # Sums of prices carry rounding errors; a claim is not broken by the last bit.
    slack = 1 + 1e-9
    if accounted > claimed * slack or privacy["accounted"]["delta"] > privacy["claimed"]["delta"] * slack:
        return Verdict.ABOVE
    return Verdict.WITHIN if privacy["private"] else Verdict.UNSUPPORTED


def claims_privacy(row: Row) -> bool:
    return verdict(row) is not Verdict.UNCLAIMED


def epsilon_of(guarantee: Mapping[str, Any] | None) -> float | None:
    """The finite epsilon of a guarantee, or None where there is none."""
    return None if guarantee is None else guarantee["epsilon"]


def epsilon_text(guarantee: Mapping[str, Any] | None) -> str:
    """Epsilon to four digits, rounded up (a loss must not look smaller than it is), with delta where it is not 0."""
    if guarantee is None or guarantee["epsilon"] is None:
        return "none"
    without_float_error = Decimal(f"{guarantee['epsilon']:.12g}")
    text = f"{Context(prec=4, rounding=ROUND_CEILING).plus(without_float_error).normalize():f}"
    return f"{text}, delta {guarantee['delta']:.3g}" if guarantee["delta"] else text


def success_bound(guarantee: Mapping[str, Any]) -> float:
    """Largest share of cases in which a guess between two equally likely, neighbouring inputs can be right.

    (e^epsilon + delta) / (e^epsilon + 1), the accuracy of the best test under (epsilon, delta)-privacy.

    >>> round(success_bound({"epsilon": 1.0, "delta": 0.0}), 4)
    0.7311
    """
    low = 1 / (1 + math.exp(min(guarantee["epsilon"], 700.0)))
    return min(1.0, 1 - low + guarantee["delta"] * low)


def privacy_text(row: Row) -> str:
    """What a row claims, what it gives, and what that means."""
    privacy = row["privacy"]
    claimed, accounted = epsilon_text(privacy["claimed"]), epsilon_text(privacy["accounted"])
    claim = "" if claimed == "none" else f"claimed epsilon {claimed}, "
    given = "no finite epsilon holds" if accounted == "none" else f"accounted epsilon {accounted}"
    return f"{claim}{given}: {_protection(privacy)}"


def _protection(privacy: Mapping[str, Any]) -> str:
    if epsilon_of(privacy["accounted"]) is None:
        return "nothing is guaranteed about how well an observer can guess"
    if not privacy["private"]:
        return "not private, so count on no protection"
    bound = success_bound(privacy["accounted"])
    if bound > 0.999:
        return f"an observer's guess may be right in more than 99.9{GLUE}% of cases, in practice no protection"
    return f"an observer's guess is right in at most {math.ceil(bound * 1000 - 1e-6) / 10:g}{GLUE}% of cases"


# The findings


def privacy_findings(rows: Sequence[Row]) -> list[str]:
    """Every broken claim, and what the kept ones protect."""
    claiming = list(filter(claims_privacy, rows))
    above = [row for row in claiming if verdict(row) is Verdict.ABOVE]
    unsupported = [row for row in claiming if verdict(row) is Verdict.UNSUPPORTED]
    kept = [row for row in claiming if verdict(row) is Verdict.WITHIN]
    if not claiming:
        return ["No row claims any privacy."]
    sentences = []
    if unsupported:
        sentences.append(f"The privacy claimed is not guaranteed in {listed(with_notes(unsupported))}.")
    if above:
        losses = [f"{named(row)} ({_claimed_and_accounted(row)})" for row in above]
        sentences.append(f"More privacy is lost than claimed in {listed(losses)}.")
    if kept:
        sentences.append(
            f"{_kept(kept, rows)} What is protected is {listed(_units(kept))}; “Privacy in words” says from whom."
        )
    return sentences


def with_notes(rows: Sequence[Row]) -> list[str]:
    """The names of rows, each group that shares a note with that note in brackets."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["privacy"]["note"], []).append(row)
    return [all_named(group) + (f" ({note})" if note else "") for note, group in groups.items()]


def _claimed_and_accounted(row: Row) -> str:
    claimed, accounted = (epsilon_text(row["privacy"][key]) for key in ("claimed", "accounted"))
    return f"claimed epsilon{GLUE}{claimed}, accounted{GLUE}{accounted}"


def _kept(kept: Sequence[Row], rows: Sequence[Row]) -> str:
    others = len(kept) < sum(map(claims_privacy, rows))
    whom = "every row that claims privacy" if not others else all_named(kept)
    return f"The accounted loss is within the claim in {whom}."


def _units(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row["privacy"]["unit"] for row in rows))
