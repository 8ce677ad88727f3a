"""What audits find: every private algorithm in both modes, the trials each planted leak needs, and false alarms.

    python -m benchmarks.audit                 the two tables of docs/audit.md
    python -m benchmarks.audit --alarms 200    as many audits of clean algorithms, each with a seed of its own

Not a part of the tests: it takes minutes.
"""

import argparse
import itertools
import sys
from pathlib import Path

from coterie.algorithms import entries, find
from coterie.audit import TRIALS, audit

LEAKY = str(Path(__file__).parents[1] / "tests/audit/leaks.py")
CLEAN = (("cdp-mab", {}), ("fed-ucb", {}), (LEAKY, {}), ("single-mab", {}))
FEWEST = (300, 600, 900, 1500, 3000, 6000)


def modes():
    print("| algorithm | mode | claimed | accounted | proven | verdict |\n|---|---|---|---|---|---|")
    for name, entry in entries().items():
        for mode, epsilon in itertools.product(("private", "paper"), (0.1, 1.0, 5.0)):
            if {"mode", "epsilon"} <= entry.options.model_fields.keys():
                found = audit(name, {"mode": mode, "epsilon": epsilon}, trials=TRIALS)
                accounted = found.statement["accounted"]["epsilon"]
                shown = "none" if accounted is None else f"{accounted:g}"
                verdict = "violation" if found.failed else "none found"
                print(f"| `{name}` | {mode} | {epsilon:g} | {shown} | {found.proven:.3f} | {verdict} |", flush=True)


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


def alarms(count):
    false, largest = 0, 0.0
    for seed in range(count):
        name, options = CLEAN[seed % len(CLEAN)]
        found = audit(name, options, trials=1500, seed=1000 + seed)
        false += found.failed
        largest = max(largest, found.proven / found.limit)
        if (seed + 1) % 20 == 0:
            print(f"{seed + 1}: {false}", file=sys.stderr, flush=True)
    print(f"{false} false alarms in {count} audits; the largest bound was {largest:.3f} of the true epsilon", flush=True)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--alarms", type=int, default=0, metavar="N")
    count = arguments.parse_args().alarms
    if count:
        alarms(count)
    else:
        modes()
        leaks()
