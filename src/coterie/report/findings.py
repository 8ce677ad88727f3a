"""The section 'What came out': sentences about the rows of a study, for readers who have never seen the project.

Two rules hold throughout: a difference is called one only if the intervals of two standard errors do not overlap, and a
row is called private only if its `private` flag says so.
"""

from collections.abc import Sequence
from typing import NamedTuple

from coterie.report.numbers import GLUE, data_size, listed, measured, percent, plural, times
from coterie.report.privacy import Verdict, claims_privacy, epsilon_text, verdict
from coterie.report.rows import Row, all_named, named

# The row that shows what an algorithm loses without noise, where that is another algorithm.
COUNTERPARTS = {
    "fed-ucb": ("gossip-ucb",),
    "private-ucb": ("coop-ucb",),
    "pr-ucb": ("coop-ucb",),
    "dp-ucb-int": ("ucb1",),
    "p-fcb": ("fcb-periodic", "fcb"),
}


class Finding(NamedTuple):
    """A sentence, or the opening of one with its cases."""

    text: str
    cases: tuple[str, ...] = ()


def findings(rows: Sequence[Row]) -> list[Finding]:
    sentences = [privacy_finding(rows), communication_finding(rows), *best_arm_finding(rows)]
    return [
        *map(Finding, [*_single_run_caveat(rows), *regret_findings(rows)]),
        *price_findings(rows),
        *map(Finding, sentences),
    ]


def _single_run_caveat(rows: Sequence[Row]) -> list[str]:
    if rows[0]["replications"] > 1:
        return []
    return ["Everything was run once, so no standard error is known: any difference below may be chance."]


# Regret


def regret_findings(rows: Sequence[Row]) -> list[str]:
    """Lowest regret and what cannot be told from it; the highest too, if it can be told from the lowest."""
    best, worst = min(rows, key=_regret), max(rows, key=_regret)
    if len(rows) == 1:
        return [f"The regret of {named(best)} is {_regret_text(best)}."]
    lowest = f"The lowest regret is that of {named(best)}: {_regret_text(best)}.{_level_with(best, rows)}"
    if too_close(worst, best):
        return [lowest]
    ratio = f", {times(_regret(worst) / _regret(best))} the lowest" if _regret(best) > 0 else ""
    highest = f"The highest is that of {named(worst)}: {_regret_text(worst)}{ratio}.{_level_with(worst, rows)}"
    return [lowest, highest]


def too_close(row: Row, other: Row) -> bool:
    """Do the intervals of two standard errors overlap? Always false between different numbers seen once."""
    here, there = row["regret_per_agent"], other["regret_per_agent"]
    return abs(here["mean"] - there["mean"]) <= 2 * (here["sem"] + there["sem"])


def _regret(row: Row) -> float:
    return row["regret_per_agent"]["mean"]


def _regret_text(row: Row) -> str:
    total, per_agent = (measured(row[key], row["replications"]) for key in ("regret", "regret_per_agent"))
    return f"{total} in total, {per_agent} per agent"


def _level_with(row: Row, rows: Sequence[Row]) -> str:
    """The rows whose regret cannot be told from that of `row`, as further sentences."""
    others = [other for other in rows if other is not row]
    same = [other for other in others if _regret(other) == _regret(row)]
    close = [other for other in others if too_close(other, row) and other not in same]
    sentences = f" Exactly the same: {all_named(same)}." if same else ""
    if close:
        whom = "every other row" if len(close) == len(others) > 1 else all_named(close)
        sentences += f" Too close to call: {whom}."
    return sentences


# The price of noise


def price_findings(rows: Sequence[Row]) -> list[Finding]:
    """What noise costs in regret against the row without privacy, one finding for each such row."""
    by_reference: dict[str, tuple[Row, list[Row]]] = {}
    for row in filter(claims_privacy, rows):
        reference = reference_of(row, rows)
        if reference is not None:
            by_reference.setdefault(reference["label"], (reference, []))[1].append(row)
    return [_price(reference, noisy) for reference, noisy in by_reference.values()]


def reference_of(row: Row, rows: Sequence[Row]) -> Row | None:
    """The row that shows what `row` would lose without noise: the same algorithm if possible, else its counterpart."""
    open_rows = [other for other in rows if not claims_privacy(other)]
    for name in (row["algorithm"], *COUNTERPARTS.get(row["algorithm"], ())):
        candidates = [other for other in open_rows if other["algorithm"] == name]
        alike = [other for other in candidates if _differ_in_noise_only(row, other)]
        for found in (alike, candidates):
            if len(found) == 1:
                return found[0]
    return None


def _differ_in_noise_only(row: Row, other: Row) -> bool:
    one, two = row["parameters"], other["parameters"]
    return all(one[key] == two[key] for key in one.keys() & two.keys() - {"epsilon", "delta", "mode"})


def _price(reference: Row, rows: Sequence[Row]) -> Finding:
    value = measured(reference["regret_per_agent"], reference["replications"])
    opening = f"What the noise costs in regret, compared with {named(reference)} ({value} per agent):"
    if not any(row["privacy"]["private"] for row in rows):
        opening = f"None of these rows is private, so the noise buys no privacy. {opening}"
    return Finding(opening, tuple(f"{named(row)}: {_against(row, reference)} ({_given(row)})" for row in rows))


def _against(row: Row, reference: Row) -> str:
    if _regret(row) == _regret(reference):
        return "the same regret"
    if too_close(row, reference):
        return "too close to call"
    if _regret(reference) <= 0:
        return f"{measured(row['regret_per_agent'], row['replications'])} per agent"
    return f"{times(_regret(row) / _regret(reference))} the regret"


def _given(row: Row) -> str:
    accounted = epsilon_text(row["privacy"]["accounted"])
    if accounted == "none":
        return "not private: no finite epsilon holds"
    return f"accounted epsilon {accounted}" + ("" if row["privacy"]["private"] else ", not private")


# Privacy, communication and the best arm


def privacy_finding(rows: Sequence[Row]) -> str:
    claiming = list(filter(claims_privacy, rows))
    above = [row for row in claiming if verdict(row) is Verdict.ABOVE]
    unsupported = [row for row in claiming if verdict(row) is Verdict.UNSUPPORTED]
    kept = len(claiming) - len(above) - len(unsupported)
    if not claiming:
        return "No row claims any privacy."
    if kept == len(claiming):
        whom = "Every row that claims privacy has"
        return f"{whom} an accounted loss within the claim, against the adversary named under “Privacy in words”."
    sentences = []
    if above:
        losses = [f"{named(row)} ({_claimed_and_accounted(row)})" for row in above]
        sentences.append(f"More privacy is lost than claimed in {listed(losses)}.")
    if unsupported:
        sentences.append(f"The privacy claimed is not guaranteed in {all_named(unsupported)}.")
    if kept:
        whom = "the other row that claims" if kept == 1 else f"the other {kept} rows that claim"
        sentences.append(f"In {whom} privacy the accounted loss is within the claim.")
    return " ".join(sentences)


def _claimed_and_accounted(row: Row) -> str:
    claimed, accounted = (epsilon_text(row["privacy"][key]) for key in ("claimed", "accounted"))
    return f"claimed epsilon{GLUE}{claimed}, accounted{GLUE}{accounted}"


def communication_finding(rows: Sequence[Row]) -> str:
    least, most = min(rows, key=_bytes), max(rows, key=_bytes)
    if _bytes(most) == 0:
        return "Nothing was sent: the agents did not communicate."
    if len(rows) == 1:
        return f"The agents sent {_sent(most)}."
    if _bytes(most) <= 1.01 * _bytes(least):
        return f"Every row sent about the same: {_sent(least)}."
    if _bytes(least) == 0:
        return f"Nothing was sent by {_alike(rows, least)}. Most was sent by {_alike(rows, most)}: {_sent(most)}."
    ratio = times(_bytes(most) / _bytes(least))
    lowest = f"Least was sent by {_alike(rows, least)}: {_sent(least)}."
    return f"{lowest} Most, {ratio} as much data, was sent by {_alike(rows, most)}: {_sent(most)}."


def _alike(rows: Sequence[Row], row: Row) -> str:
    """The names of all rows that sent as much as `row`; where they are many, one and the number of the others."""
    alike = [other for other in rows if _bytes(other) == _bytes(row)]
    return all_named(alike) if len(alike) <= 3 else f"{named(alike[0])} and {len(alike) - 1} others"


def _bytes(row: Row) -> float:
    return row["communication"]["bytes"]


def _sent(row: Row) -> str:
    return f"{data_size(_bytes(row))} in {plural(row['communication']['messages'], 'message')}"


def best_arm_finding(rows: Sequence[Row]) -> list[str]:
    """Nothing where no row knows a best arm (procurement has orders instead)."""
    known = [row for row in rows if row["best_arm_rate"] is not None]
    missed = [row for row in known if row["best_arm_rate"] < 1]
    shares = listed([f"{named(row)} ({percent(row['best_arm_rate'])})" for row in missed])
    if not known:
        return []
    if len(missed) == len(known):
        return [f"Share of agents that ended on the best arm: {shares}."]
    return ["All agents ended on the best arm in every replication" + (f", except in {shares}." if missed else ".")]
