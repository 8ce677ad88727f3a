"""What noise costs: regret with it against regret without."""

from collections.abc import Sequence

from coterie.privacy.statement import Promise, epsilon_text, promise
from coterie.report.controls import learns_from_itself
from coterie.report.privacy import claims_privacy, epsilon_of
from coterie.report.procurement import with_violations
from coterie.report.regret import decisions_shown, mean_regret, per_decisions, too_close
from coterie.report.rows import Finding, Row, all_named, named
from coterie.studies.numbers import number, times

# The row that shows what an algorithm loses without noise, where that is another algorithm.
COUNTERPARTS = {
    "fed-ucb": ("gossip-ucb",),
    "private-ucb": ("coop-ucb",),
    "pr-ucb": ("coop-ucb",),
    "dp-ucb-int": ("ucb1",),
    "p-fcb": ("fcb-periodic", "fcb"),
}


def price_findings(rows: Sequence[Row]) -> list[Finding]:
    """What noise costs in regret against the row without privacy, one finding for each such row."""
    by_reference: dict[str, tuple[Row, list[Row]]] = {}
    for row in rows:
        if not claims_privacy(row) or learns_from_itself(row):
            continue
        reference = reference_of(row, rows)
        if reference is not None:
            by_reference.setdefault(reference["label"], (reference, []))[1].append(row)
    findings = []
    for reference, noisy in by_reference.values():
        findings += [_price(reference, noisy, decisions_shown(rows)), *_no_gain(noisy)]
    return findings


def reference_of(row: Row, rows: Sequence[Row]) -> Row | None:
    """The row that shows what `row` would lose without noise: the same algorithm if possible, else its counterpart.

    Where there is neither, the only row that learns together in the open: not the same without noise, but what the
    reader has to choose from.
    """
    open_rows = [other for other in rows if not claims_privacy(other)]
    for name in (row["algorithm"], *COUNTERPARTS.get(row["algorithm"], ())):
        candidates = [other for other in open_rows if other["algorithm"] == name]
        alike = [other for other in candidates if _differ_in_noise_only(row, other)]
        for found in (alike, candidates):
            if len(found) == 1:
                return found[0]
        if candidates:
            return None
    talking = [other for other in open_rows if other["communication"]["messages"] > 0]
    return talking[0] if len(talking) == 1 and row["communication"]["messages"] > 0 else None


def _differ_in_noise_only(row: Row, other: Row) -> bool:
    one, two = row["parameters"], other["parameters"]
    return all(one[key] == two[key] for key in one.keys() & two.keys() - {"epsilon", "delta", "mode"})


def _price(reference: Row, rows: Sequence[Row], decisions: int) -> Finding:
    regret = number(per_decisions(reference, decisions))
    opening = (
        f"Without privacy, {named(reference)} has a regret of {regret} per {number(decisions)} decisions of an "
        f"agent{with_violations(reference)}. "
        "With noise, in the same unit:"
    )
    if not any(row["privacy"]["private"] for row in rows):
        opening = f"None of the rows with noise is private, so the noise buys no privacy. {opening}"
    return Finding(opening, tuple(_case(row, reference, decisions) for row in rows))


def _case(row: Row, reference: Row, decisions: int) -> str:
    same = row["algorithm"] in (reference["algorithm"], *_noisy_forms(reference))
    regret, without = (per_decisions(entry, decisions) for entry in (row, reference))
    difference = _difference(row, reference, regret - without)
    given = f"{_given(row)}{with_violations(row)}{'' if same else ', by another algorithm'}"
    return f"{named(row)}: {number(regret)}, {difference}; {given}"


def _noisy_forms(reference: Row) -> list[str]:
    return [name for name, counterparts in COUNTERPARTS.items() if reference["algorithm"] in counterparts]


def _difference(row: Row, reference: Row, more: float) -> str:
    if mean_regret(row) == mean_regret(reference):
        return "the same"
    if too_close(row, reference):
        return "too close to call"
    change = f"which is {number(float(f'{abs(more):.2g}'))} {'more' if more > 0 else 'less'}"
    if mean_regret(reference) <= 0:
        return change
    return f"{change} ({times(mean_regret(row) / mean_regret(reference))} as much)"


def _given(row: Row) -> str:
    if not row["privacy"]["private"]:
        return "not private"
    weak = " (weak)" if promise(row["privacy"]) is Promise.WEAK else ""
    return f"private at epsilon {epsilon_text(row['privacy']['accounted'])}{weak}"


def _no_gain(rows: Sequence[Row]) -> list[Finding]:
    """Private rows of one algorithm that differ in epsilon and not, as far as can be told, in regret."""
    findings = []
    for name in dict.fromkeys(row["algorithm"] for row in rows):
        alike = [row for row in rows if row["algorithm"] == name and row["privacy"]["private"]]
        epsilons = {epsilon_of(row["privacy"]["accounted"]) for row in alike}
        if len(epsilons) > 1 and too_close(min(alike, key=mean_regret), max(alike, key=mean_regret)):
            text = f"Between {all_named(alike)} the regret is too close to call: here a larger epsilon shows no gain."
            findings.append(Finding(text))
    return findings
