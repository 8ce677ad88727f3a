"""What audits find: every private algorithm in its modes, the trials that a broken promise needs, and false alarms.

    python -m benchmarks.audit                    the table of modes in docs/audit.md
    python -m benchmarks.audit fed-ucb pr-ucb     the same of some algorithms
    python -m benchmarks.audit --trials-needed    the fewest trials that prove what some algorithms lose
    python -m benchmarks.audit --alarms 200       as many games on clean algorithms, each with noise of its own

Not a part of the tests: it takes minutes.
"""

import argparse
import itertools
from pathlib import Path
from typing import get_args

from coterie.algorithms import entries
from coterie.audit import TRIALS_QUICK, audit
from coterie.audit.auditing import CONFIDENCE
from coterie.audit.game import Table, choose_canaries, play
from coterie.audit.stage import set_stage
from coterie.audit.views import visible
from coterie.errors import UsageError

LEAKY = str(Path(__file__).parents[1] / "tests/audit/leaks.py")
CLEAN = ("cdp-mab", "fed-ucb", LEAKY, "single-mab")
BROKEN = (
    ("fed-ucb", {"mode": "paper"}), ("cdp-mab", {"mode": "paper"}), ("private-ucb", {"mode": "corrected"}),
    (LEAKY, {"leak": "bare-first"}), (LEAKY, {"leak": "dear"}), (LEAKY, {"leak": "half-noise"}),
)  # fmt: skip
FEWEST = (300, 600, 900, 1500, 3000, 6000)
TRIALS = 1500  # of a game that is to raise no alarm


def modes(names):
    print("| algorithm | mode | promised | holds | proven | rewards | pairs of lives | exit code |")
    print("|---|---|---|---|---|---|---|---|")
    for name, entry in entries().items():
        fields = entry.options.model_fields
        chosen = get_args(fields["mode"].annotation) if "mode" in fields else ("",)
        wanted = "epsilon" in fields and (not names or name in names)
        for mode, epsilon in itertools.product(chosen, (0.1, 1.0, 5.0) if wanted else ()):
            try:
                found = audit(name, {"epsilon": epsilon} | ({"mode": mode} if mode else {}), trials=TRIALS_QUICK)
            except UsageError:
                continue  # some modes have a largest epsilon
            accounted, told = found.statement["accounted"]["epsilon"], found.replay
            shown = "no limit" if accounted is None else f"{accounted:.3g}"
            lived = f"{told.rewards:,} of {told.rewards_in_all:,} | {told.pairs:,}"
            row = f"| `{name}` | {mode} | {epsilon:g} | {shown} | {found.proven:.3f} | {lived} | {int(found.failed)} |"
            print(row, flush=True)


def trials_needed():
    print("| algorithm | trials of each side | proven | statistic |\n|---|---|---|---|")
    for name, options in BROKEN:
        for trials in FEWEST:
            found = audit(name, {"epsilon": 1.0} | options, trials=trials, rewards=10)
            if found.violated:
                break
        needed = f"{trials:,}" if found.violated else f"more than {trials:,}"
        about = " ".join([Path(name).name, *options.values()])
        print(f"| {about} | {needed} | {found.proven:.2f} | {found.witness.event.statistic.name} |", flush=True)


def alarms(seeds):
    """Canaries are chosen once for each algorithm, by a pilot that shares no noise with any game."""
    false, largest, tables = 0, 0.0, {}
    for name in CLEAN:
        stage = set_stage(name, {"epsilon": 1.0})
        table = Table(stage, visible(stage, "public"), 0, lambda played: None)
        tables[name] = table, choose_canaries(table)
    for seed in seeds:
        table, canaries = tables[CLEAN[seed % len(CLEAN)]]
        table.seed = 1000 + seed
        error = (1 - CONFIDENCE) / len(canaries)
        proven = max(play(table, canary, keep, TRIALS, 0.0, error).epsilon for canary, keep in canaries.items())
        false, largest = false + (proven > 1.0), max(largest, proven)
    print(f"{false} false alarms in {len(seeds)} games at epsilon 1; the largest bound was {largest:.3f}", flush=True)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("names", nargs="*")
    arguments.add_argument("--alarms", type=int, default=0, metavar="N")
    arguments.add_argument("--trials-needed", action="store_true")
    asked = arguments.parse_args()
    if asked.alarms:
        alarms(range(asked.alarms))
    elif asked.trials_needed:
        trials_needed()
    else:
        modes(asked.names)
