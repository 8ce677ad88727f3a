"""Q."""

from collections.abc import Mapping, Sequence
from typing import Any

from coterie.report.numbers import listed, number, percent, plural
from coterie.report.privacy import Row

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
