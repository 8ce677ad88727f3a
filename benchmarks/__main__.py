"""Run benchmarks and print ratios. Absolute figures move with the machine; ratios of one run do not.

    python -m benchmarks                      all of them, some minutes
    python -m benchmarks gossip workers       some of them
    python -m benchmarks.audit --help         what audits find
"""

import argparse
import resource
import threading
import time

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks import cooperative, elimination, gossip, procurement
from coterie.errors import hint
from coterie.network import path


def best_of(repeats, work):
    """Least CPU seconds of several passes, the first of which warms up."""
    work()
    times = []
    for _ in range(repeats):
        began = time.process_time()
        work()
        times.append(time.process_time() - began)
    return min(times)


def compare_elimination(console):
    """CDP-MAB beside a direct translation and a numpy loop."""
    agents, arms, horizon = 50, 100, 1_000_000
    printed, private = (elimination.case(agents, arms, horizon, mode=mode) for mode in ("paper", "private"))
    means, marks = printed.quality, printed.marks
    ours = best_of(7, lambda: printed.simulate(0, 0, 20)) / 20
    rows = [
        ("coterie, as printed", ours),
        ("coterie, private", best_of(7, lambda: private.simulate(0, 0, 20)) / 20),
        ("direct numba translation", best_of(7, lambda: elimination.direct(0, agents, means, horizon, 1.0, marks))),
        ("a researcher's numpy loop", best_of(7, lambda: elimination.numpy_loop(0, agents, means, horizon, 1.0, marks))),
    ]
    table = Table(title=f"CDP-MAB, {agents} agents, {arms} arms, {horizon:,} rounds: CPU time of one run")
    for heading in ("", "microseconds", "of coterie's"):
        table.add_column(heading, justify="right" if heading else "left")
    for name, seconds in rows:
        table.add_row(name, f"{seconds * 1e6:,.0f}", f"{seconds / ours:.2f} x")
    console.print(table)


def a_million_agents(console):
    """One run of a million agents: time and memory."""
    case = elimination.case(1_000_000, 100, 1_000_000_000)
    seconds = best_of(3, lambda: case.simulate(0, 0, 1))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    console.print(f"one million agents, 100 arms, 10^9 rounds: {seconds:.2f} s CPU, {memory:.2f} GB at most in this process")


def growth(console):
    """Cost must grow with agents and epochs, not with the horizon."""
    base = best_of(5, lambda: elimination.case(50, 100, 10**6).simulate(0, 0, 20))
    longer = best_of(5, lambda: elimination.case(50, 100, 10**9).simulate(0, 0, 20))
    more = best_of(5, lambda: elimination.case(500, 100, 10**6).simulate(0, 0, 20))
    console.print(f"a horizon 1,000 times as long costs {longer / base:.2f} x; ten times the agents {more / base:.2f} x")


def per_agent_round(case, replications=1):
    """CPU nanoseconds."""
    return best_of(4, lambda: case.simulate(0, 0, replications)) / (case.agents * case.horizon * replications) * 1e9


def compare_gossip(console):
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
    print_rounds(console, "Gossip, 10 agents on a path, 10 arms", rows)


def compare_cooperative(console):
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
    print_rounds(console, "Cooperation, 200 agents, 5 arms, messages live 2 hops", rows)


def print_rounds(console, title, rows):
    table = Table(title=f"{title}: CPU time of one agent-round")
    for heading in ("", "nanoseconds", f"of {rows[0][0]}'s"):
        table.add_column(heading, justify="right" if heading else "left")
    for name, nanoseconds in rows:
        table.add_row(name, f"{nanoseconds:,.0f}", f"{nanoseconds / rows[0][1]:.2f} x")
    console.print(table)


def compare_procurement(console):
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
        print_rounds(console, title, rows)


def two_workers(console):
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
    console.print(f"two workers do {one / two:.2f} x the work of one in the same time")


BENCHMARKS = {
    "elimination": compare_elimination, "million": a_million_agents, "growth": growth, "workers": two_workers,
    "gossip": compare_gossip, "cooperative": compare_cooperative, "procurement": compare_procurement,
}  # fmt: skip


def main(arguments=None):
    listed = "\n".join(f"  {name:<12} {benchmark.__doc__}" for name, benchmark in BENCHMARKS.items())
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, epilog=f"benchmarks:\n{listed}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("names", nargs="*", metavar="NAME", help="which; default: all of them")
    names = parser.parse_args(arguments).names or list(BENCHMARKS)
    for name in names:
        if name not in BENCHMARKS:
            parser.error(f"NAME must be one of {', '.join(BENCHMARKS)}, got {name!r}{hint(name, BENCHMARKS)}")
    console = Console()
    np.seterr(all="raise")
    for name in names:
        BENCHMARKS[name](console)


if __name__ == "__main__":
    main()
