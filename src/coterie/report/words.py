"""Sentences about a study and its rows, for readers who have never seen the project.

Pure functions from the numbers of `summary.json` to plain text; no HTML and no I/O. Two rules hold throughout:
a difference is called one only if the intervals of two standard errors do not overlap, and a row is called
private only if its `private` flag says so. A row is one entry of `summary["rows"]`.
"""

import math
from collections.abc import Mapping, Sequence
from decimal import ROUND_CEILING, Context, Decimal
from enum import Enum
from typing import Any, NamedTuple

Row = Mapping[str, Any]

ALGORITHMS = {
    "cdp-mab": "agents drop bad arms together; a server averages their noisy reports",
    "ddp-mab": "agents drop bad arms together by exchanging noisy reports among themselves, without a server",
    "hdp-mab": "agents drop bad arms together; one agent of each group collects noisy reports for a server",
    "single-mab": "every agent drops bad arms alone and tells nobody anything",
    "gossip-ucb": "neighbours average their estimates in pairs; nothing is hidden",
    "fed-ucb": "neighbours average noisy estimates in pairs",
    "coop-ucb": "agents pass their exact counts and sums to agents nearby",
    "private-ucb": "agents pass noisy means to agents nearby",
    "byzantine-ucb": "agents pass single rewards to agents nearby and trim what looks forged",
    "pr-ucb": "agents pass noisy means to agents nearby and take the median, so that a minority of liars cannot win",
    "ucb1": "every agent learns alone from its exact rewards",
    "dp-ucb-int": "every agent learns alone from noisy means of its rewards",
    "nf-cb": "every agent learns the producers' qualities alone",
    "fcb": "agents pool what they learn about the producers in every round",
    "fcb-periodic": "agents pool what they learn about the producers now and then",
    "p-fcb": "agents pool noisy summaries of what they learn about the producers now and then",
}
MODES = {
    "private": "the epsilon stated is meant to be the true one",
    "paper": "as printed in its paper, labelled with what it really gives",
    "corrected": "corrected variant at the printed epsilon, with the true loss accounted",
}
# The row that shows what an algorithm loses without noise, where that is another algorithm.
COUNTERPARTS = {
    "fed-ucb": ("gossip-ucb",),
    "private-ucb": ("coop-ucb",),
    "pr-ucb": ("coop-ucb",),
    "dp-ucb-int": ("ucb1",),
    "p-fcb": ("fcb-periodic", "fcb"),
}
INSTANCES = {
    "grid": "the arms' mean rewards are evenly spaced between 0 and 1",
    "uniform": "the arms' mean rewards are drawn at random between 0 and 1",
    "middle": "the arms' mean rewards are evenly spaced between 0.3 and 0.7",
}
GRAPHS = {
    "complete": "every agent is linked to every other",
    "star": "one agent in the middle is linked to all others",
    "ring": "the agents form a ring",
    "path": "the agents form a chain",
    "erdos-renyi": "links are drawn at random",
}


# Numbers ----------------------------------------------------------------------------------------------------------


def number(value: float) -> str:
    """Three significant digits, whole from 1,000 on: 0.0123, 4.57, 128, 1,234,567."""
    if value == 0 or not 1e-6 <= abs(value) < 1e15:
        return f"{value:.3g}"
    decimals = max(0, 2 - math.floor(math.log10(abs(value))))
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def decimals_of(sems: Sequence[float]) -> int:
    """Decimals that show the smallest standard error above zero with two significant digits, at most six."""
    known = [sem for sem in sems if sem > 0]
    return min(6, max(0, 1 - math.floor(math.log10(min(known))))) if known else 1


def measured(statistic: Mapping[str, float], replications: int) -> str:
    """Mean and standard error; the mean alone after one replication, when no error is known."""
    mean, sem = statistic["mean"], statistic["sem"]
    if replications == 1 or sem == 0:
        return number(mean) + ("" if replications == 1 else " ± 0")
    decimals = decimals_of([sem])
    return f"{mean:,.{decimals}f} ± {sem:,.{decimals}f}"


def data_size(count: float) -> str:
    """Bytes in the unit people would say: 980 bytes, 12.5 kB, 3.1 MB."""
    for power, unit in ((4, "TB"), (3, "GB"), (2, "MB"), (1, "kB")):
        if count >= 999.5 * 1000 ** (power - 1):
            return f"{number(count / 1000**power)} {unit}"
    return f"{number(count)} bytes"


def compact(value: float) -> str:
    """An axis label: 250, 20k, 1.5M."""
    for size, suffix in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.4g}{suffix}"
    return f"{value:.4g}"


def listed(items: Sequence[str]) -> str:
    """a; a and b; a, b and c."""
    return " and ".join(filter(None, [", ".join(items[:-1]), *items[-1:]]))


def times(ratio: float) -> str:
    """How many times as large: 0.05 times, 1.00 times, 2.34 times, 23.1 times."""
    return f"{ratio:.2f} times" if 0.1 <= ratio < 10 else f"{number(ratio)} times"


def plural(count: float, noun: str) -> str:
    return f"{number(count)} {noun}" + ("" if count == 1 else "s")


# Privacy ----------------------------------------------------------------------------------------------------------


class Verdict(Enum):
    """How what is accounted compares with what is claimed. The symbol carries it where colour cannot."""

    WITHIN = ("within", "✓", "The accounted loss is within the claim")
    ABOVE = ("above", "▲", "More is lost than claimed")
    UNSUPPORTED = ("unsupported", "✕", "Claimed, but not guaranteed")
    UNCLAIMED = ("unclaimed", "○", "No privacy claimed")

    def __init__(self, key: str, symbol: str, heading: str) -> None:
        self.key, self.symbol, self.heading = key, symbol, heading


def epsilon_of(guarantee: Mapping[str, Any] | None) -> float | None:
    """The finite epsilon of a guarantee, or None where there is none."""
    return None if guarantee is None else guarantee.get("epsilon")


def verdict(privacy: Mapping[str, Any]) -> Verdict:
    claimed, accounted = epsilon_of(privacy.get("claimed")), epsilon_of(privacy.get("accounted"))
    if claimed is None:
        return Verdict.UNCLAIMED
    if accounted is None:
        return Verdict.UNSUPPORTED
    # Sums of prices carry rounding errors; a claim is not broken by the last bit.
    if accounted > claimed * (1 + 1e-9) or _delta(privacy["accounted"]) > _delta(privacy["claimed"]) * (1 + 1e-9):
        return Verdict.ABOVE
    return Verdict.WITHIN if privacy["private"] else Verdict.UNSUPPORTED


def is_private(row: Row) -> bool:
    return bool(row["privacy"]["private"]) and epsilon_of(row["privacy"].get("accounted")) is not None


def _delta(guarantee: Mapping[str, Any]) -> float:
    return guarantee.get("delta") or 0.0


def epsilon_text(guarantee: Mapping[str, Any] | None) -> str:
    """Epsilon to four digits, rounded up (a loss must not look smaller than it is), with delta where it is not 0."""
    epsilon = epsilon_of(guarantee)
    if guarantee is None or epsilon is None:
        return "none"
    without_float_error = Decimal(f"{epsilon:.12g}")
    text = f"{Context(prec=4, rounding=ROUND_CEILING).plus(without_float_error).normalize():f}"
    return f"{text}, delta {_delta(guarantee):.3g}" if _delta(guarantee) else text


def success_bound(guarantee: Mapping[str, Any]) -> float:
    """Largest share of cases in which a guess between two equally likely, neighbouring inputs can be right.

    (e^epsilon + delta) / (e^epsilon + 1), the accuracy of the best test under (epsilon, delta)-privacy.

    >>> round(success_bound({"epsilon": 1.0, "delta": 0.0}), 4)
    0.7311
    """
    low = 1 / (1 + math.exp(min(guarantee["epsilon"], 700.0)))
    return min(1.0, 1 - low + _delta(guarantee) * low)


def protection(privacy: Mapping[str, Any]) -> str:
    """What the accounted guarantee means for someone who never met an epsilon."""
    if epsilon_of(privacy.get("accounted")) is None:
        return "nothing is guaranteed about how well an observer can guess"
    if not privacy["private"]:
        return "not marked as private, so count on no protection"
    bound = success_bound(privacy["accounted"])
    if bound > 0.999:
        return "an observer's guess may be right in more than 99.9 % of cases: in practice no protection"
    return f"an observer's guess is right in at most {math.ceil(bound * 1000 - 1e-6) / 10:g} % of cases"


def privacy_line(row: Row) -> str:
    """What a row claims, what it gives, and what that means."""
    privacy = row["privacy"]
    claimed, accounted = epsilon_text(privacy.get("claimed")), epsilon_text(privacy.get("accounted"))
    claim = "no epsilon claimed" if claimed == "none" else f"claimed epsilon {claimed}"
    given = "no finite epsilon holds" if accounted == "none" else f"really accounted epsilon {accounted}"
    return f"{claim}; {given}; {protection(privacy)}"


PRIVACY_EXPLAINED = {
    Verdict.WITHIN: "The loss counted over the whole run is no larger than the epsilon that is claimed.",
    Verdict.ABOVE: "The loss counted over the whole run is larger than the epsilon that is claimed. "
    "Go by the accounted number.",
    Verdict.UNSUPPORTED: "An epsilon is claimed, but it is not guaranteed. Do not treat this as private.",
    Verdict.UNCLAIMED: "Nothing is promised about what an observer can learn.",
}


# Comparing rows -----------------------------------------------------------------------------------------------------


def regret_of(row: Row) -> float:
    return row["regret_per_agent"]["mean"]


def within_noise(row: Row, other: Row) -> bool:
    """Do the intervals of two standard errors overlap? Always false between different numbers seen once."""
    here, there = row["regret_per_agent"], other["regret_per_agent"]
    return abs(here["mean"] - there["mean"]) <= 2 * (here["sem"] + there["sem"])


def regret_text(row: Row) -> str:
    total = measured(row["regret"], row["replications"])
    return f"{total} in total, {measured(row['regret_per_agent'], row['replications'])} per agent"


def short_labels(labels: Sequence[str]) -> list[str]:
    """Names for use inside pictures: without the words all begin with, and with short settings, if still distinct."""
    words = [label.split() for label in labels]
    shared = 0
    while len(labels) > 1 and all(len(parts) > shared + 1 and parts[shared] == words[0][shared] for parts in words):
        shared += 1
    short = [" ".join(map(_short_setting, parts[shared:])) for parts in words]
    return short if len(set(short)) == len(labels) else list(labels)


def _short_setting(word: str) -> str:
    """`epsilon=1` becomes `ε=1` and `mechanism=tree` becomes `tree`; other numbers keep their names."""
    key, equals, value = word.partition("=")
    if key == "epsilon":
        return f"ε{equals}{value}"
    return value if value.isalpha() and value not in ("inf", "nan", "true", "false") else word


def reference_of(row: Row, rows: Sequence[Row]) -> Row | None:
    """The row that shows what `row` would lose without noise: the same algorithm if possible, else its counterpart."""
    open_rows = [other for other in rows if verdict(other["privacy"]) is Verdict.UNCLAIMED]
    for name in (row["algorithm"], *COUNTERPARTS.get(row["algorithm"], ())):
        candidates = [other for other in open_rows if other["algorithm"] == name]
        alike = [other for other in candidates if _apart_from_noise(other) == _apart_from_noise(row)]
        for found in (alike, candidates):
            if len(found) == 1:
                return found[0]
    return None


def _apart_from_noise(row: Row) -> dict[str, Any]:
    return {key: value for key, value in row["parameters"].items() if key not in ("epsilon", "delta", "mode")}


# What came out ------------------------------------------------------------------------------------------------------


class Finding(NamedTuple):
    """A sentence, or the opening of one with its cases."""

    text: str
    cases: tuple[str, ...] = ()


def findings(rows: Sequence[Row]) -> list[Finding]:
    """The section 'What came out'."""
    sentences = [privacy_finding(rows), communication_finding(rows), *best_arm_finding(rows)]
    return [
        *map(Finding, [*_single_run_caveat(rows), *regret_findings(rows)]),
        *price_findings(rows),
        *map(Finding, sentences),
    ]


def _single_run_caveat(rows: Sequence[Row]) -> list[str]:
    if any(row["replications"] > 1 for row in rows):
        return []
    return ["Everything was run once, so no standard error is known: any difference below may be chance."]


def regret_findings(rows: Sequence[Row]) -> list[str]:
    """Lowest regret and what cannot be told from it; the highest too, if it can be told from the lowest."""
    best, worst = min(rows, key=regret_of), max(rows, key=regret_of)
    if len(rows) == 1:
        return [f"The regret of {best['label']} is {regret_text(best)}."]
    lowest = f"{best['label']} has the lowest regret: {regret_text(best)}.{_level_with(best, rows)}"
    if within_noise(worst, best):
        return [lowest]
    ratio = f", {times(regret_of(worst) / regret_of(best))} as much" if regret_of(best) > 0 else ""
    return [lowest, f"{worst['label']} has the highest: {regret_text(worst)}{ratio}.{_level_with(worst, rows)}"]


def _level_with(row: Row, rows: Sequence[Row]) -> str:
    """The rows whose regret cannot be told from that of `row`, as further sentences."""
    others = [other for other in rows if other is not row]
    same = [other["label"] for other in others if regret_of(other) == regret_of(row)]
    close = [other["label"] for other in others if within_noise(other, row) and regret_of(other) != regret_of(row)]
    sentences = f" Exactly the same: {listed(same)}." if same else ""
    if close:
        named = "every other row" if len(close) == len(others) > 1 else listed(close)
        sentences += f" Within noise of it: {named}."
    return sentences


def price_findings(rows: Sequence[Row]) -> list[Finding]:
    """What noise costs in regret against the row without privacy, one finding for each such row."""
    by_reference: dict[str, tuple[Row, list[Row]]] = {}
    for row in rows:
        reference = reference_of(row, rows)
        if reference is not None and verdict(row["privacy"]) is not Verdict.UNCLAIMED:
            by_reference.setdefault(reference["label"], (reference, []))[1].append(row)
    return [_price(reference, noisy) for reference, noisy in by_reference.values()]


def _price(reference: Row, rows: Sequence[Row]) -> Finding:
    value = measured(reference["regret_per_agent"], reference["replications"])
    opening = f"Price of the noise, against {reference['label']} without privacy ({value} per agent):"
    if not any(is_private(row) for row in rows):
        opening = f"None of these rows is private, so this is no price of privacy. {opening}"
    return Finding(opening, tuple(f"{row['label']} {_against(row, reference)} ({_given(row)})" for row in rows))


def _given(row: Row) -> str:
    accounted = epsilon_text(row["privacy"].get("accounted"))
    if accounted == "none":
        return "not private: no finite epsilon holds"
    return f"accounted epsilon {accounted}" + ("" if is_private(row) else ", not private")


def _against(row: Row, reference: Row) -> str:
    if within_noise(row, reference):
        same = regret_of(row) == regret_of(reference)
        return "has the same regret" if same else "is within noise of it"
    if regret_of(reference) <= 0:
        return f"has {measured(row['regret_per_agent'], row['replications'])} per agent"
    return f"has {times(regret_of(row) / regret_of(reference))} its regret"


def privacy_finding(rows: Sequence[Row]) -> str:
    claiming = [row for row in rows if verdict(row["privacy"]) is not Verdict.UNCLAIMED]
    above = [row for row in claiming if verdict(row["privacy"]) is Verdict.ABOVE]
    unsupported = [row["label"] for row in claiming if verdict(row["privacy"]) is Verdict.UNSUPPORTED]
    if not claiming:
        return "No row claims any privacy."
    sentences = []
    if above:
        losses = [f"{row['label']} ({_claimed_and_accounted(row)})" for row in above]
        sentences.append(f"More is lost than claimed in {listed(losses)}.")
    if unsupported:
        sentences.append(f"The privacy claimed is not guaranteed in {listed(unsupported)}.")
    kept = len(claiming) - len(above) - len(unsupported)
    if kept == len(claiming):
        whom = "The one row that claims privacy has" if kept == 1 else f"All {kept} rows that claim privacy have"
        return f"{whom} an accounted loss within the claim, against the adversary named under “Privacy in words”."
    sentences.append(f"The accounted loss is within the claim in {kept} of {len(claiming)} rows that claim privacy.")
    return " ".join(sentences)


def _claimed_and_accounted(row: Row) -> str:
    privacy = row["privacy"]
    return f"claimed {epsilon_text(privacy['claimed'])}, accounted {epsilon_text(privacy['accounted'])}"


def communication_finding(rows: Sequence[Row]) -> str:
    least, most = min(rows, key=_bytes), max(rows, key=_bytes)
    if _bytes(most) == 0:
        return "Nothing was sent: the agents did not communicate."
    if len(rows) == 1:
        return f"{least['label']} sent {_sent(least)}."
    if _bytes(most) <= 1.01 * _bytes(least):
        return f"Every row sent about the same: {_sent(least)}."
    if _bytes(least) == 0:
        return f"Nothing was sent by {_alike(rows, least)}; most by {_alike(rows, most)}: {_sent(most)}."
    ratio = times(_bytes(most) / _bytes(least))
    lowest = f"Least was sent by {_alike(rows, least)}: {_sent(least)}."
    return f"{lowest} Most, {ratio} as much data, by {_alike(rows, most)}: {_sent(most)}."


def _alike(rows: Sequence[Row], row: Row) -> str:
    """The labels of all rows that sent as much as `row`; where they are many, one and the number of the others."""
    labels = [other["label"] for other in rows if _bytes(other) == _bytes(row)]
    return listed(labels) if len(labels) <= 3 else f"{labels[0]} and {len(labels) - 1} others"


def _bytes(row: Row) -> float:
    return row["communication"]["bytes"]


def _sent(row: Row) -> str:
    traffic = row["communication"]
    rounds = plural(traffic["rounds"], "round")
    return f"{data_size(traffic['bytes'])} in {plural(traffic['messages'], 'message')}, over {rounds} of communication"


def best_arm_finding(rows: Sequence[Row]) -> list[str]:
    """Nothing where no row knows a best arm (procurement has orders instead)."""
    known = [row for row in rows if row.get("best_arm_rate") is not None]
    missed = [f"{row['label']} ({percent(row['best_arm_rate'])})" for row in known if row["best_arm_rate"] < 1]
    if not known:
        return []
    if not missed:
        which = "In every row" if len(known) == len(rows) else "In every row for which it is known"
        return [f"{which} all agents ended on the best arm in every replication."]
    share = "Share of agents that ended on the best arm, where it was not all of them"
    return [f"{share}: {listed(missed)}."]


def percent(share: float) -> str:
    """A share in percent that says 0 or 100 only if it is."""
    rounded = round(100 * share, 1)
    if rounded in (0, 100) and share not in (0, 1):
        return "under 0.1 %" if share < 0.5 else "over 99.9 %"
    return f"{rounded:g} %"


# What was asked -----------------------------------------------------------------------------------------------------


def question(study: Mapping[str, Any], rows: Sequence[Row]) -> list[str]:
    """The paragraphs that say what was asked: problem, network, faults and repetitions."""
    problem, first = study.get("problem") or {}, rows[0]
    faults = fault_text(study.get("faults") or {})
    return [
        f"{_choosing(problem, first)} {problem_text(problem)}",
        " ".join(filter(None, [network_text(study.get("network") or {}), faults])),
        repetition_text(first["replications"], study.get("seed")),
    ]


def _choosing(problem: Mapping[str, Any], row: Row) -> str:
    agents, rounds = plural(row["agents"], "agent"), plural(row["horizon"], "round")
    if problem.get("kind") == "procurement":
        return f"{agents} order{_s(row)} from {plural(row['arms'], 'producer')} in each of {rounds}."
    return f"{agents} choose{_s(row)} one of {plural(row['arms'], 'arm')} in each of {rounds}."


def _s(row: Row) -> str:
    return "s" if row["agents"] == 1 else ""


def problem_text(problem: Mapping[str, Any]) -> str:
    if problem.get("kind") == "procurement":
        alpha = problem.get("alpha")
        limit = "" if alpha is None else f" of at least {alpha:g}"
        return f"What is bought must have an average quality{limit}; only costs and capacities are known beforehand."
    return f"{_reward_text(problem)}; {_means_text(problem)}."


def _reward_text(problem: Mapping[str, Any]) -> str:
    if problem.get("kind") != "gaussian":
        return "Every choice brings a reward of 0 or 1"
    clip = problem.get("clip")
    return "Every choice brings a reward with normal noise" + (f", cut to {clip[0]:g}..{clip[1]:g}" if clip else "")


def _means_text(problem: Mapping[str, Any]) -> str:
    means, instance, spread = problem.get("means"), problem.get("instance"), problem.get("heterogeneity")
    if problem.get("dataset"):
        split = f", split “{problem['split']}”" if problem.get("split") else ""
        text = f"the arms' mean rewards come from the data set “{problem['dataset']}”{split}"
    elif instance:
        text = INSTANCES.get(instance, f"the arms form the instance “{instance}”")
    else:
        text = "the arms' mean rewards are given in the study"
    if spread:
        text += f"; agents see different means (heterogeneity {spread:g})"
    if spread or problem.get("dataset") or (means and isinstance(means[0], list | tuple)):
        text += "; an arm counts by its average over agents"
    return text


def network_text(network: Mapping[str, Any]) -> str:
    graph, edges, prices = network.get("graph"), network.get("edges"), network.get("link_cost")
    sentences = []
    if edges:
        sentences.append(f"Agents that talk to each other do so over {plural(len(edges), 'given link')}.")
    elif graph:
        sentences.append(f"Agents that talk to each other do so on a graph “{graph}”: {_graph_text(network)}.")
    if prices:
        named = {"server": "to a server", "peer": "between agents"}
        costs = [f"{price:g} for a link {named.get(link, link)}" for link, price in prices.items()]
        sentences.append(f"Communication cost counts {listed(costs)}.")
    return " ".join(sentences)


def _graph_text(network: Mapping[str, Any]) -> str:
    text = GRAPHS.get(network["graph"], "see the study")
    if network.get("probability") is not None:
        text += f", each with probability {network['probability']:g}"
    if network.get("components"):
        text += f", inside groups of {listed([number(size) for size in network['components']])}"
    return text


def fault_text(faults: Mapping[str, Any]) -> str:
    """Only the faults that are switched on; the rest of a study has none."""
    parts = []
    if faults.get("liars"):
        attack = f" (attack “{faults['attack']}”)" if faults.get("attack") else ""
        parts.append(f"{percent(faults['liars'])} of the agents lie{attack}")
    if faults.get("contamination"):
        parts.append(f"a message is forged with probability {faults['contamination']:g}")
    if faults.get("loss"):
        parts.append(f"a message is lost with probability {faults['loss']:g}")
    if faults.get("dropout"):
        parts.append(f"an agent drops out with probability {faults['dropout']:g}")
    return f"Faults: {listed(parts)}." if parts else ""


def repetition_text(replications: int, seed: int | None) -> str:
    seeded = "" if seed is None else f" (seed {seed})"
    if replications == 1:
        return f"Everything was run once{seeded}."
    repeated = f"Everything was run {replications:,} times with fresh random numbers{seeded}"
    return f"{repeated}; what follows are means ± one standard error."


def algorithm_text(name: str) -> str:
    return ALGORITHMS.get(name, "an algorithm of the study's author")


def modes_text(modes: Sequence[str]) -> str:
    """What the modes that occur mean; nothing where none does."""
    known = [f"“{mode}”: {MODES[mode]}" for mode in dict.fromkeys(modes) if mode in MODES]
    return f"Mode {'; mode '.join(known)}." if known else ""


def regret_meaning(problem: Mapping[str, Any]) -> str:
    """What regret is, in the terms of the problem at hand."""
    if problem.get("kind") == "procurement":
        return "expected revenue given up against the best allowed order; a round that breaks the limit costs a penalty"
    return "reward given up, in expectation, by not always choosing the best arm; 25 means as much as 25 full rewards"
