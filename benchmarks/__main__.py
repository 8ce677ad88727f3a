"""Measure, and print one page. Absolute figures move with the machine; ratios of one run do not.

    python -m benchmarks                      all of it, some minutes
    python -m benchmarks gossip workers       some of it
    python -m benchmarks --keep               and keep the figures, to be committed: later pages are compared with them
    python -m benchmarks.audit --help         what audits find

A page is compared with the last one that was kept for the same processor model and number of cores.
"""

import argparse
import threading
import time

import numpy as np
from rich.console import Console

from benchmarks import apart, best_of, cooperative, elimination, gossip, others, procurement
from benchmarks.first import first_command
from benchmarks.growth import growth
from benchmarks.leap import leap
from benchmarks.page import Section, keep, kept, print_section, processor
from coterie.errors import hint
from coterie.network import path

NANOSECONDS = "CPU nanoseconds of an agent-round"


def per_agent_round(case, replications=1):
    """CPU nanoseconds."""
    return best_of(4, lambda: case.simulate(0, 0, replications)) / (case.agents * case.horizon * replications) * 1e9


def compare_elimination():
    """CDP-MAB beside a direct translation and a numpy loop."""
    agents, arms, horizon = 50, 100, 1_000_000
    printed, private = (elimination.case(agents, arms, horizon, mode=mode) for mode in ("paper", "private"))
    means, marks = printed.quality, printed.marks
    rows = {
        "CDP-MAB as printed": best_of(7, lambda: printed.simulate(0, 0, 20)) / 20,
        "CDP-MAB, private": best_of(7, lambda: private.simulate(0, 0, 20)) / 20,
        "direct numba translation": best_of(7, lambda: elimination.direct(0, agents, means, horizon, 1.0, marks)),
        "a researcher's numpy loop": best_of(7, lambda: elimination.numpy_loop(0, agents, means, horizon, 1.0, marks)),
    }
    title = f"Elimination, {agents} agents, {arms} arms, {horizon:,} rounds"
    yield Section(title, "CPU microseconds of a run", {name: 1e6 * seconds for name, seconds in rows.items()})


def a_million_agents():
    """One run of a million agents: time and memory."""
    yield Section("One million agents, 100 arms, 10^9 rounds", "", apart(elimination.a_million), ratios=False)


def compare_gossip():
    """Gossip_UCB and Fed_UCB beside a direct translation and a numpy loop."""
    agents, horizon, graph = 10, 200_000, path(10)
    mu, edges = gossip.means(agents, 10), graph.edges
    adjacency = np.zeros((agents, agents), bool)
    adjacency[edges[:, 0], edges[:, 1]] = adjacency[edges[:, 1], edges[:, 0]] = True
    marks = gossip.case("gossip-ucb", agents, horizon).marks
    translated = best_of(4, lambda: gossip.direct(0, mu, graph.first, graph.neighbour, edges, horizon, marks))
    looped = best_of(2, lambda: gossip.numpy_loop(0, mu, adjacency, edges, 2000))
    tree = {"mechanism": "tree", "radius": "paper"}
    rows = [
        ("Gossip_UCB", per_agent_round(gossip.case("gossip-ucb", agents, horizon, radius="paper"))),
        ("Gossip_UCB, ten times as long", per_agent_round(gossip.case("gossip-ucb", agents, 10 * horizon, radius="paper"))),
        ("Fed_UCB, tree, paper's radius", per_agent_round(gossip.case("fed-ucb", agents, horizon, **tree))),
        ("Fed_UCB, tree, tuned radius", per_agent_round(gossip.case("fed-ucb", agents, horizon, mechanism="tree"))),
        ("Fed_UCB, blocks (the default)", per_agent_round(gossip.case("fed-ucb", agents, horizon))),
        ("Fed_UCB as printed", per_agent_round(gossip.case("fed-ucb", agents, horizon, mode="paper"))),
        ("Gossip_UCB, 1,000 agents on a ring", per_agent_round(gossip.case("gossip-ucb", 1000, 2000, "ring", radius="paper"))),
        ("direct numba translation of Gossip_UCB", translated / (agents * horizon) * 1e9),
        ("a researcher's numpy loop", looped / (agents * 2000) * 1e9),
    ]
    yield Section("Gossip, 10 agents on a path, 10 arms", NANOSECONDS, dict(rows))


def compare_cooperative():
    """Coop-UCB and its private and robust forms beside a direct translation and a numpy loop."""
    agents, horizon = 200, 10_000
    coop = cooperative.case("coop-ucb", agents, horizon)
    links, mu = coop.links, coop.quality
    wired = (links.first[0], links.sender, links.delay)
    translated = best_of(2, lambda: cooperative.direct(0, mu, *wired, 1000, coop.marks)) / (agents * 1000)
    looped = best_of(2, lambda: cooperative.numpy_loop(0, mu, *wired, 200)) / (agents * 200)
    rows = [
        ("Coop-UCB", per_agent_round(coop)),
        ("Coop-UCB, ten times as long", per_agent_round(cooperative.case("coop-ucb", agents, 10 * horizon))),
        ("Private UCB as printed", per_agent_round(cooperative.case("private-ucb", agents, horizon, mode="paper"))),
        ("Private UCB, corrected", per_agent_round(cooperative.case("private-ucb", agents, horizon, mode="corrected"))),
        ("Private UCB, private (the default)", per_agent_round(cooperative.case("private-ucb", agents, horizon))),
        ("Byzantine-proof", per_agent_round(cooperative.case("byzantine-ucb", agents, horizon))),
        ("PR-UCB", per_agent_round(cooperative.case("pr-ucb", agents, horizon))),
        ("PR-UCB, scouts", per_agent_round(cooperative.case("pr-ucb", agents, horizon, votes="scouts"))),
        ("Coop-UCB, 2,000 agents", per_agent_round(cooperative.case("coop-ucb", 2000, 500))),
        ("PR-UCB, 2,000 agents", per_agent_round(cooperative.case("pr-ucb", 2000, 500))),
        ("direct numba translation of Coop-UCB", translated * 1e9),
        ("a researcher's numpy loop", looped * 1e9),
    ]
    yield Section("Cooperation, 200 agents, 5 arms, messages live 2 hops", NANOSECONDS, dict(rows))


def compare_procurement():
    """NF, FCB and P-FCB beside a direct translation and a numpy loop."""
    horizon, few = 50_000, 500
    for binding in (False, True):
        quality, cost, capacity = procurement.suppliers(10, 30, binding)
        alone = procurement.case("nf-cb", horizon, binding)
        worlds, explore = alone.worlds, alone.method.exploration
        about = (0, quality, cost, capacity, 0.4, worlds["optimum"].copy(), worlds["loss"].copy(), explore)
        translated = best_of(3, lambda about=about: procurement.direct(*about, horizon // 5)) * 5
        looped = best_of(2, lambda about=about: procurement.numpy_loop(*about, few)) / (10 * few) * 1e9
        rows = [("NF", per_agent_round(alone))]
        for name, options in (("P-FCB", {}), ("P-FCB as printed", {"mode": "paper"})):
            rows.append((name, per_agent_round(procurement.case("p-fcb", horizon, binding, **options))))
        rows.append(("FCB, a pool in every round", per_agent_round(procurement.case("fcb", horizon, binding))))
        rows.append(("direct numba translation of NF", translated / (10 * horizon) * 1e9))
        rows.append(("a researcher's numpy loop", looped))
        title = f"Procurement, 10 agents, 30 producers, constraint {'binding' if binding else 'slack'}"
        yield Section(title, NANOSECONDS, dict(rows))


def compare_others():
    """UCB alone beside another library's, where that is installed."""
    alone = others.case(10, 100_000)
    rows = {"ucb1": per_agent_round(alone)}
    if theirs := others.smpybandits(alone.quality, 5000):
        rows["UCB of SMPyBandits"] = theirs * 1e9
    yield Section("UCB alone, 10 agents, 5 arms", NANOSECONDS, rows, note=others.reason())


def two_workers():
    """How much more two threads do than one."""
    case = elimination.case(50, 100, 10**6)
    case.simulate(0, 0, 1)

    def wall(workers):
        began = time.perf_counter()
        threads = [threading.Thread(target=lambda: [case.simulate(0, 0, 25) for _ in range(20)]) for _ in range(workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return (time.perf_counter() - began) / workers

    one, two = min(wall(1) for _ in range(3)), min(wall(2) for _ in range(3))
    yield Section("Two workers", "", {"work of one, in the same time": one / two}, ratios=False)


def deployed():
    """The deployed system beside the disk, a bare web application, a raw broker and the agent in memory."""
    from benchmarks.deploy import deploy  # which needs coterie[deploy]

    yield from deploy()


def secure_sums():
    """A secure sum of 10, 50 and 200 agents: milliseconds and bytes of an agent and epoch."""
    from benchmarks.secure import secure

    yield from secure()


BENCHMARKS = {
    "elimination": compare_elimination, "gossip": compare_gossip, "cooperative": compare_cooperative,
    "procurement": compare_procurement, "others": compare_others, "growth": growth, "leap": leap, "million": a_million_agents,
    "workers": two_workers, "first": first_command, "deploy": deployed, "secure": secure_sums,
}  # fmt: skip


def main(arguments=None):
    listed = "\n".join(f"  {name:<12} {benchmark.__doc__.splitlines()[0]}" for name, benchmark in BENCHMARKS.items())
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, epilog=f"benchmarks:\n{listed}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("names", nargs="*", metavar="NAME", help="which; default: all of them")
    parser.add_argument("--keep", action="store_true", help="keep the figures in benchmarks/pages")
    given = parser.parse_args(arguments)
    for name in given.names:
        if name not in BENCHMARKS:
            parser.error(f"NAME must be one of {', '.join(BENCHMARKS)}, got {name!r}{hint(name, BENCHMARKS)}")
    console, before, found = Console(), kept(), []
    np.seterr(all="raise", under="ignore")
    beside = f"beside the page of {before['date']}" if before else "no earlier page of this processor"
    console.print(f"{processor()}; {beside}. Figures of a section come from one run; compare ratios.")
    for name in given.names or BENCHMARKS:
        for section in BENCHMARKS[name]():
            print_section(console, section, before)
            found.append(section)
    if given.keep:
        console.print(f"kept: {keep(found)}")


if __name__ == "__main__":
    main()
