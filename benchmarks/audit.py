"""What audits find: every private algorithm in its modes, the trials each planted leak needs, and false alarms.

    python -m benchmarks.audit                 the two tables of docs/audit.md
    python -m benchmarks.audit --alarms 200    as many games on clean algorithms, each with noise of its own

Not a part of the tests: it takes minutes.
"""

import argparse
import itertools
from pathlib import Path
from typing import get_args

from coterie.algorithms import entries, find
from coterie.audit import TRIALS_QUICK, audit
from coterie.audit.auditing import CONFIDENCE
from coterie.audit.game import Table, choose_canaries, play
from coterie.audit.stage import set_stage
from coterie.audit.views import visible
from coterie.errors import UsageError

LEAKY = str(Path(__file__).parents[1] / "tests/audit/leaks.py")
CLEAN = ("cdp-mab", "fed-ucb", LEAKY, "single-mab")
FEWEST = (300, 600, 900, 1500, 3000, 6000)
TRIALS = 1500  # of a game that is to raise no alarm


def modes():
    print("| algorithm | mode | claimed | accounted | proven | exit code |\n|---|---|---|---|---|---|")
    for name, entry in entries().items():
        fields = entry.options.model_fields
        chosen = get_args(fields["mode"].annotation) if "mode" in fields else ("",)
        for mode, epsilon in itertools.product(chosen, (0.1, 1.0, 5.0) if "epsilon" in fields else ()):
            try:
                found = audit(name, {"epsilon": epsilon} | ({"mode": mode} if mode else {}), trials=TRIALS_QUICK)
            except UsageError:
                continue  # some modes have a largest epsilon
            accounted = found.statement["accounted"]["epsilon"]
            shown = "none" if accounted is None else f"{accounted:.3g}"
            print(f"| `{name}` | {mode} | {epsilon:g} | {shown} | {found.proven:.3f} | {int(found.failed)} |", flush=True)


def leaks():
    print("| leak | trials of each side | proven | statistic | replay |\n|---|---|---|---|---|")
    for leak in find(LEAKY).options.model_fields["leak"].annotation.__args__[1:]:
        for trials in FEWEST:
            found = audit(LEAKY, {"leak": leak}, trials=trials)
            if found.violated:
                break
        findings = "; ".join(found.replay.findings) or "nothing: it is booked"
        name = found.witness.event.statistic.name
        print(f"| {leak} | {trials:,} | {found.proven:.2f} | {name} | {findings} |", flush=True)


def alarms(seeds):
    """Canaries are chosen once for each algorithm, by a pilot that shares no noise with any game."""
    false, largest, tables = 0, 0.0, {}
    for name in CLEAN:
        stage = set_stage(name, {"epsilon": 1.0})
        tables[name] = stage, choose_canaries(Table(stage, visible(stage, "public"), 0, lambda played: None))
    for seed in seeds:
        stage, canaries = tables[CLEAN[seed % len(CLEAN)]]
        table = Table(stage, visible(stage, "public"), 1000 + seed, lambda played: None)
        error = (1 - CONFIDENCE) / len(canaries)
        proven = max(play(table, canary, keep, TRIALS, 0.0, error).epsilon for canary, keep in canaries.items())
        false, largest = false + (proven > 1.0), max(largest, proven)
    print(f"{false} false alarms in {len(seeds)} games at epsilon 1; the largest bound was {largest:.3f}", flush=True)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--alarms", type=int, default=0, metavar="N")
    count = arguments.parse_args().alarms
    if count:
        alarms(range(count))
    else:
        modes()
        leaks()
