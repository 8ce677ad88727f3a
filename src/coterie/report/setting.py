"""What was compared, in sentences: the problem, the methods, the network, what goes wrong, and who hears whom."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from coterie.algorithms import entries
from coterie.network import GRAPHS
from coterie.problem.instances import INSTANCES
from coterie.problem.laws import LAWS
from coterie.problem.suppliers import DISTRIBUTIONS
from coterie.report.data import REWARD
from coterie.report.view import Shown, View, quoted
from coterie.studies.numbers import either, listed, number, percent, plural

MODES = {
    "paper": "run as printed in the paper, with the loss of privacy that really results",
    "corrected": "corrected variant at the epsilon printed in the paper, with the loss of privacy that really results",
}
LIVES = {
    "half-diameter": "half of the longest way through the network, rounded up",
    "half-diameter-down": "half of the longest way through the network, rounded down",
    "diameter": "all the way",
}
# With whom an agent exchanges messages. Of a user's own algorithm nothing more is known than that there are others.
HEARERS = {
    "cdp-mab": "a server",
    "ddp-mab": "all other agents, from neighbour to neighbour",
    "hdp-mab": "the collector of its group, which talks to a server",
    "gossip-ucb": "its neighbours in the network",
    "fed-ucb": "its neighbours in the network",
    "coop-ucb": "agents nearby",
    "private-ucb": "agents nearby",
    "byzantine-ucb": "agents nearby",
    "pr-ucb": "agents nearby",
    "fcb": "agents nearby, in every round",
    "fcb-periodic": "agents nearby, in a few rounds",
    "p-fcb": "agents nearby, in a few rounds",
}


class Method(NamedTuple):
    name: str
    text: str


def methods(view: View) -> list[Method]:
    """Each algorithm with what it does, whom an agent talks to, and the rows whose names do not tell that they run it."""
    found = []
    for name in dict.fromkeys(one.row["algorithm"] for one in view.rows):
        members = [one for one in view.rows if one.row["algorithm"] == name]
        entry = entries().get(name)
        text = entry.summary if entry else "an algorithm of the study's author"
        talking = [one for one in members if not one.row["alone"]]
        heard = f" An agent exchanges messages with {HEARERS.get(name, 'others')}." if talking else ""
        hidden = [quoted(one.name) for one in members if not one.row["label"].startswith(name)]
        whose = f" {'Row' if len(hidden) == 1 else 'Rows'}: {listed(hidden)}." if 0 < len(hidden) <= 8 else ""
        found.append(Method(name, f"{text.rstrip('.')}.{heard}{own_file(members)}{whose}"))
    return found


def own_file(members: Sequence[Shown]) -> str:
    """What is known of an algorithm that is a file of the study's author."""
    told = [one.row["own_file"] for one in members if "own_file" in one.row]
    if not told:
        return ""
    checked = "checked" if all(one["checked"] for one in told) else "not checked"
    audited = "audited" if all(one["audited"] for one in told) else "not audited"
    return f" A file of one's own: {checked}, {audited}."


def modes_text(view: View) -> str:
    """What is special about rows that do not run in the usual mode; nothing where all do."""
    sentences = []
    for mode, text in MODES.items():
        running = [one for one in view.rows if one.row["parameters"].get("mode") == mode]
        if running:
            whose = "Every row" if len(running) == len(view.rows) else _named(running)
            sentences.append(f"{whose}: {text}.")
    return " ".join(sentences)


def _named(rows: Sequence[Shown]) -> str:
    names = [quoted(one.name) for one in rows]
    return listed(names) if len(names) <= 8 else f"{names[0]} and {len(names) - 1} others"


def sentences(view: View) -> list[str]:
    """Who chooses what how often, what comes of it, the network and its faults, and how often all was repeated."""
    rows = [one.row for one in view.rows]
    told = [
        choosing(view),
        bought(view.problem) if view.buys else rewards(view.problem),
        f"Regret is {regret_meaning(view)}.",
        network_text(view.study["network"]),
        life_text(view.study["network"], rows),
        fault_text(rows),
        repetition_text(view),
    ]
    return [view.words.in_place_of_ours(text) for text in told if text]


def choosing(view: View) -> str:
    arms, s = view.rows[0].row["arms"], "s" if view.agents == 1 else ""
    what = f"order{s} from {plural(arms, 'producer')}" if view.buys else f"choose{s} one of {plural(arms, 'arm')}"
    return f"{plural(view.agents, 'agent')} {what} in each of {plural(view.horizon, 'round')}."


def rewards(problem: Mapping[str, Any]) -> str:
    return f"{_reward_text(problem)}; the arms' mean rewards {_means_text(problem)}."


def regret_meaning(view: View) -> str:
    if view.buys:
        return "expected revenue given up against the best allowed order; a round that breaks the limit costs a penalty"
    best = f"the arm that is best on {average(view.problem)} over all agents" if agents_differ(view.problem) else "the best arm"
    return f"reward given up, in expectation, by not always choosing {best}; a regret of 2 means two rewards of 1 fewer"


def bought(problem: Mapping[str, Any]) -> str:
    return (
        f"What is bought must have an average quality of at least {problem['alpha']:g}; "
        f"only costs and capacities are known beforehand. {_suppliers_text(problem)}"
    )


def _suppliers_text(problem: Mapping[str, Any]) -> str:
    """Where qualities, costs and capacities come from."""
    if problem.get("file"):
        return f"The suppliers are those of the table “{problem['file']}”."
    if not problem.get("distribution"):
        return "The suppliers are given in the study."
    law = DISTRIBUTIONS[problem["distribution"]].said(problem)
    instances = problem.get("instances")
    drawn = f"for {plural(instances, 'instance')}, which take turns" if instances else "anew for every run"
    same = " Costs and capacities are the same for all agents." if problem["homogeneous"] else ""
    return f"Qualities and costs are {law}, drawn {drawn}.{same}"


def _reward_text(problem: Mapping[str, Any]) -> str:
    if problem.get("dataset"):
        return f"A choice brings a reward of 1 if the patient is {REWARD}, else 0"
    return LAWS[problem["kind"]].sentence(problem)


def _means_text(problem: Mapping[str, Any]) -> str:
    instance, spread = problem["instance"], problem["heterogeneity"]
    text = f"are {INSTANCES[instance].said(problem)}" if instance else "are given in the study"
    if problem.get("dataset"):
        text = f"come from the data set “{problem['dataset']}”, split “{problem['split']}”"
    elif problem.get("file"):
        text = f"are those of the table “{problem['file']}”"
    if spread:
        text += f"; agents see different means (heterogeneity {spread:g})"
    if agents_differ(problem):
        text += f"; each arm counts by its {average(problem)} over agents"
    return text


def average(problem: Mapping[str, Any]) -> str:
    """What makes an arm the best one."""
    return "weighted average" if problem.get("weights") else "average"


def agents_differ(problem: Mapping[str, Any]) -> bool:
    """Do agents have means of their own?"""
    means = problem["means"]
    named = problem.get("data", {}).get("agents", 0)
    return bool(problem["heterogeneity"] or problem.get("dataset") or named or (means and isinstance(means[0], list)))


def network_text(network: Mapping[str, Any]) -> str:
    named = GRAPHS.get(network["graph"])
    links = named.said(network) if named else f"they use {plural(len(network['edges']), 'given link')}"
    if network["switch_every"]:
        links += f", anew every {plural(network['switch_every'], 'round')}"
    if network["components"]:
        links += f", inside {_sizes(network['components'])}"
    price = network["link_cost"]
    costs = f"{price['server']:g} for a link to a server and {price['peer']:g} for a link between agents"
    return f"Where agents talk to each other, {links}. Communication cost counts {costs}."


def _sizes(sizes: Sequence[int]) -> str:
    if len(set(sizes)) == 1:
        return f"{plural(len(sizes), 'group')} of {number(sizes[0])}"
    return f"groups of {listed([number(size) for size in sizes])}"


def life_text(network: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> str:
    """How far messages go, where an algorithm lets them go on from agent to agent."""
    lives = [row["parameters"]["life"] for row in rows if "life" in row["parameters"]]
    own = any(life is not None for life in lives)
    if not lives or (own and None not in lives):
        return "How far messages go is said in the rows." if own else ""
    far = LIVES.get(network["life"]) or plural(network["life"], "hop")
    return f"Messages go {far}, one hop in a round{', unless a row says otherwise' if own else ''}."


def fault_text(rows: Sequence[Mapping[str, Any]]) -> str:
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


def repetition_text(view: View) -> str:
    seed = view.study["seed"]
    if view.runs == 1:
        return f"Everything was run once (seed {seed})."
    return f"Everything was run {view.runs:,} times with fresh random numbers (seed {seed})."
