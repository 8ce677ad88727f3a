"""The section 'What was asked': a study in sentences, for readers who have never seen the project."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from coterie.algorithms import entries
from coterie.network import GRAPHS
from coterie.report.problems import told_of
from coterie.report.rows import Row, all_named
from coterie.studies.numbers import GLUE, either, listed, number, percent, plural

MODES = {
    "paper": "run as printed in the paper, with the loss of privacy that really results",
    "corrected": "corrected variant at the epsilon printed in the paper, with the loss of privacy that really results",
}
LIVES = {
    "half-diameter": "half of the longest way through the network, rounded up",
    "half-diameter-down": "half of the longest way through the network, rounded down",
    "diameter": "all the way",
}


class Method(NamedTuple):
    """An algorithm of the study, with the rows whose labels do not tell that they run it."""

    name: str
    text: str
    rows: str


def methods(rows: Sequence[Row]) -> list[Method]:
    found = []
    for name in dict.fromkeys(row["algorithm"] for row in rows):
        hidden = [row for row in rows if row["algorithm"] == name and not row["label"].startswith(name)]
        whose = f"{'Row' if len(hidden) == 1 else 'Rows'}: {all_named(hidden)}" if hidden else ""
        entry = entries().get(name)
        found.append(Method(name, entry.summary if entry else "an algorithm of the study's author", whose))
    return found


def modes_text(rows: Sequence[Row]) -> str:
    """What is special about rows that do not run in the usual mode; nothing where all do."""
    sentences = []
    for mode, text in MODES.items():
        running = [row for row in rows if row["parameters"].get("mode") == mode]
        if running:
            sentences.append(f"{'Every row' if len(running) == len(rows) else all_named(running)}: {text}.")
    return " ".join(sentences)


def lead(study: Mapping[str, Any], rows: Sequence[Row]) -> str:
    """Who chooses what how often, and how often all of it was repeated."""
    problem = study["problem"]
    told, repeated = told_of(problem), repetition_text(study["replications"], study["seed"])
    return f"{told.choosing(rows[0])} {told.setting(problem)} {repeated}"


def setting(study: Mapping[str, Any], rows: Sequence[Row]) -> str:
    """The network and what goes wrong in it."""
    texts = [network_text(study["network"]), life_text(study["network"], rows), fault_text(rows)]
    return " ".join(filter(None, texts))


def network_text(network: Mapping[str, Any]) -> str:
    named = GRAPHS.get(network["graph"])
    links = named.said(network) if named else f"they use {plural(len(network['edges']), 'given link')}"
    if network["switch_every"]:
        links += f", anew every {plural(network['switch_every'], 'round')}"
    if network["components"]:
        links += f", inside {_groups(network['components'])}"
    price = network["link_cost"]
    costs = f"{price['server']:g} for a link to a server and {price['peer']:g} for a link between agents"
    return f"Where agents talk to each other, {links}. Communication cost counts {costs}."


def _groups(sizes: Sequence[int]) -> str:
    if len(set(sizes)) == 1:
        return f"{plural(len(sizes), 'group')} of {number(sizes[0])}"
    return f"groups of {listed([number(size) for size in sizes])}"


def life_text(network: Mapping[str, Any], rows: Sequence[Row]) -> str:
    """How far messages go, where an algorithm lets them go on from agent to agent."""
    lives = [row["parameters"]["life"] for row in rows if "life" in row["parameters"]]
    own = any(life is not None for life in lives)
    if not lives or (own and None not in lives):
        return "How far messages go is said in the rows." if own else ""
    far = LIVES.get(network["life"]) or plural(network["life"], "hop")
    return f"Messages go {far}, one hop in a round{', unless a row says otherwise' if own else ''}."


def fault_text(rows: Sequence[Row]) -> str:
    """Only what goes wrong in some row; where rows differ, all the values there are."""

    def values(key: str) -> list[Any]:
        return list(dict.fromkeys(row["faults"].get(key, 0) for row in rows))

    def chance(key: str) -> str:
        return f"with probability {either([f'{value:g}' for value in values(key)])}"

    parts = []
    if any(values("liars")):
        attacks = [f"“{attack}”" for attack in values("attack") if attack]
        shares = either([percent(share) for share in values("liars")])
        parts.append(f"{shares} of the agents lie ({'attack' if len(attacks) == 1 else 'attacks'} {listed(attacks)})")
    if any(values("contamination")):
        told = {row["faults"].get("contaminant") for row in rows if row["faults"].get("contamination")}
        forged = either(["the highest value allowed" if value is None else f"{value:g}" for value in sorted(told, key=str)])
        parts.append(f"the value of a message is replaced by {forged} {chance('contamination')}")
    if any(values("loss")):
        meetings = "single directions of meetings" if any(values("one_way")) else "meetings"
        parts.append(f"messages and {meetings} are lost {chance('loss')}")
    if any(values("dropout")):
        parts.append(f"an agent sits out a round {chance('dropout')}")
    if any(values("churn")):
        parts.append(f"{either([percent(share) for share in values('churn')])} of the agents go away for a while")
    return f"Faults: {listed(parts)}." if parts else ""


def repetition_text(replications: int, seed: int) -> str:
    if replications == 1:
        return f"Everything was run once (seed {seed})."
    repeated = f"Everything was run {replications:,} times with fresh random numbers (seed {seed})"
    return f"{repeated}; numbers are means, and ±{GLUE}is their 95{GLUE}% interval (Student's t over the runs)."
