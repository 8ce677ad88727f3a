"""Equal bytes: a federation of nodes with stores, posts and clocks ends where the simulator does, tally by tally.

Every algorithm that runs, with every one of its examples, on the common clock or in epochs, with keyed chance and agents as
tasks: over a wire in memory, and a few of them over one that loses, doubles and reorders.
"""

import asyncio
import multiprocessing
import time
from math import inf

import pytest
from cast import (
    act_alone,
    broker_wires,
    differences,
    left_by,
    memory_wires,
    perform,
    rehearsed,
    simulated,
    simulated_customers,
)
from parties import broker_of

from coterie.algorithms import entries
from coterie.deploy.wire.broker import lay_out
from coterie.deploy.wire.memory import Faults
from coterie.errors import UsageError

PEERS = ("fed-ucb", "gossip-ucb", "coop-ucb", "private-ucb", "byzantine-ucb", "pr-ucb", "peer-ucb", "ucb1", "dp-ucb-int")
ALL = {f"{name} {example}": {"name": name, **example} for name, entry in entries().items() for example in entry.examples}
REFUSED = {"mode": "paper", "noise": ("central", "kept"), "through": "components", "mechanism": ("digits", "root")}
NOT_DEPLOYED = [
    case
    for case, options in ALL.items()
    if entries()[options["name"]].problem != "arms" or options["name"] == "hdp-mab"
    or any(options[key] in REFUSED[key] for key in REFUSED if key in options)
]  # fmt: skip
DEPLOYED = [case for case in ALL if case not in NOT_DEPLOYED]
SHORT = ("fed-ucb {}", "pr-ucb {}", "private-ucb {}", "peer-ucb {}", "pooled-ucb {}", "cdp-mab {}", "ddp-mab {}", "solo-ucb {}")


def some(cases, *usual):
    """All of them are slow but for the usual ones."""
    return [case if case in usual else pytest.param(case, marks=pytest.mark.slow) for case in cases]


def federation_of(folder, case, **more):
    options = ALL[case]
    peers = options["name"] in PEERS
    more |= {"clock": "common"} if peers else {}
    if options["name"] in ("gossip-ucb", "coop-ucb", "byzantine-ucb", "ucb1", "solo-ucb") or options.get("epsilon") == inf:
        more |= {} if options.get("epsilon") == 1.0 else {"privacy": "none"}
    if options.get("mode") == "corrected":
        more |= {"privacy": "weak", "budget": {"epsilon": 1000.0}}
    long = {"cdp-mab": 450, "ddp-mab": 450, "single-mab": 2000}  # decisions until there was an epoch
    return rehearsed(folder, options, 24 if peers else long.get(options["name"], 200), **more)


def check_equal(folder, federation, wire_of):
    nodes, run = asyncio.run(perform(folder, federation, wire_of, simulated_customers)), simulated(federation)
    if federation.method().rotate:  # when those whose turn it is have ended, the server counts on until the others have, too
        for server in [node.server for node in nodes if node.server]:
            assert server.open.draws >= run.servers[0, 0].draws
            server.open.draws = run.servers[0, 0].draws
    assert differences(nodes, run) == []
    assert all(node.t >= 2 and not node.seen.rejected for node in nodes)


@pytest.mark.parametrize("case", some(DEPLOYED, *SHORT))
def test_every_algorithm_that_runs_ends_in_the_simulators_bytes(case, tmp_path):
    federation = federation_of(tmp_path, case)
    check_equal(tmp_path, federation, memory_wires(federation))


@pytest.mark.parametrize("case", ["fed-ucb {}", "ddp-mab {}", "pooled-ucb {}"])
def test_a_wire_that_loses_doubles_and_reorders_changes_nothing(case, tmp_path):
    federation = federation_of(tmp_path, case)
    faults = Faults(refused=0.2, unanswered=0.3, doubled=0.3, shuffled=0.0 if "ddp" in case else 0.3)
    check_equal(tmp_path, federation, memory_wires(federation, faults=faults))


ALONE = ("ucb1", "dp-ucb-int", "single-mab", "solo-ucb")
OVER_A_BROKER = [case for case in DEPLOYED if ALL[case]["name"] not in ALONE and not ALL[case].get("isolated")]


@pytest.mark.parametrize("case", some(OVER_A_BROKER, "fed-ucb {}", "ddp-mab {}"))
def test_over_a_real_broker_too(case, tmp_path):
    federation = federation_of(tmp_path, case)
    with broker_of(federation, tmp_path):
        asyncio.run(lay_out(federation, tmp_path / "broker"))
        check_equal(tmp_path, federation, broker_wires(tmp_path, federation))


@pytest.mark.parametrize("case", ["fed-ucb {}", "pooled-ucb {}"])
def test_as_processes_with_tls_and_keys_too(case, tmp_path):
    """Forked when all is imported, which takes longer than the run."""
    federation = federation_of(tmp_path, case, tls=True)
    names, fork = [member.name for member in federation.members], multiprocessing.get_context("fork")
    with broker_of(federation, tmp_path):
        asyncio.run(lay_out(federation, tmp_path / "broker"))
        processes = [fork.Process(target=act_alone, args=(tmp_path, name)) for name in names]
        for process in processes:
            process.start()
        try:
            until = time.monotonic() + 120
            while not all((tmp_path / f"{name}.ended").exists() for name in names):
                assert all(process.is_alive() for process in processes), "a process has ended by itself"
                assert time.monotonic() < until, "it did not happen"
                time.sleep(0.05)
        finally:
            for process in processes:
                process.kill()
                process.join()
    assert differences(list(left_by(tmp_path, federation)), simulated(federation)) == []


@pytest.mark.parametrize("case", NOT_DEPLOYED)
def test_all_else_is_refused_in_words(case, tmp_path):
    with pytest.raises(UsageError, match=r"must (be|do without) ") as refused:
        federation_of(tmp_path, case)
    assert "\n" not in str(refused.value)
