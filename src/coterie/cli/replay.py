"""`coterie replay`."""

from typing import TYPE_CHECKING, Any

import typer
from rich.text import Text

from coterie.cli.console import output, visible, write_json
from coterie.cli.layout import Entry, lines, wrapped
from coterie.cli.progress import waiting
from coterie.errors import UsageError

if TYPE_CHECKING:
    from coterie.problem.offpolicy import Logged

NAMES = {"snips": "self-\nnormalised", "ips": "inverse\npropensity", "dr": "doubly\nrobust"}
ARMS_TRIED = 20  # without --policy: each of them, where they are no more


def replay(
    log: str = typer.Argument(metavar="LOG", help="CSV or Parquet with the columns arm, reward, probability, and maybe agent."),
    policy: list[str] = typer.Option(
        [], metavar="POLICY",
        help="uniform, an arm (always that one), shares such as a=0.3,b=0.7, or a table of arm, probability (and agent). "
        "May be given again. Default: uniform, and each arm.",
    ),
    model: str = typer.Option(
        None, metavar="TABLE", help="Means of each agent and arm from elsewhere, as a study's file: adds what is doubly robust."
    ),
    as_json: bool = typer.Option(False, "--json", help="Everything as JSON on stdout, and nothing else there."),
) -> None:
    """What other fixed ways to choose would have earned, from a log with the probability of each choice.

    Where the log cannot answer it says why, and no number. Algorithms that learn are played on a log by a study:
    `problem.kind = "logged"`.

    Example: coterie replay examples/log.csv --policy uniform --policy new
    """
    from coterie.problem import offpolicy

    for text in policy:
        if policy.count(text) > 1:
            raise UsageError(f"--policy {text} must be given once, got it {policy.count(text)} times")
    with waiting("reading the log"):
        found = offpolicy.read_log(log)
        means = None if model is None else offpolicy.model_of(model, found)
    asked = policy or ["uniform", *(found.arms if len(found.arms) <= ARMS_TRIED else ())]
    asked = list(dict.fromkeys(asked))  # an arm may be called uniform
    told = [{"policy": text, **offpolicy.answer(found, offpolicy.policy_of(text, found), means)} for text in asked]
    if as_json:
        about = {"rows": int(found.rows), "agents": found.agents, "arms": found.arms, "earned": found.earned}
        write_json(about | {"policies": told})
        return
    console = output()
    for line in replay_lines(found, told, console.width):
        console.print(line)


def replay_lines(log: "Logged", told: list[dict[str, Any]], width: int) -> list[Text]:
    """A line for each policy that can be judged, then those that cannot, and why."""
    agents = f" of {len(log.agents):,} agents" if log.agents else ""
    head = f"{int(log.rows):,} choices{agents} among {len(log.arms):,} arms earned {log.earned:.4g} each."
    found = [*wrapped(head, width), Text("")]
    names = [name for name in NAMES if any(name in (one["estimates"] or {}) for one in told)]
    if names:
        headings = [*(NAMES[name] for name in names), "effective\nrows"]
        entries = [Entry(one["policy"], _cells(one, names)) for one in told if one["answered"]]
        below = "Mean reward of a choice; ±: 95 % interval (normal). Effective rows: equally likely ones that tell as much."
        found += [*lines(headings, entries, width, name="policy"), Text(""), *wrapped(below, width)]
    for one in told:
        if not one["answered"]:
            told_why = f" {visible(one['policy'])}: {visible(one['why'])}"
            found += wrapped(Text.assemble(("cannot answer", "yellow"), told_why), width)
    return found


def _cells(one: dict[str, Any], names: list[str]) -> list[str]:
    estimates = [one["estimates"][name] for name in names]
    cells = [f"{found['value']:.4g} ± {found['interval'][1] - found['value']:.2g}" for found in estimates]
    return [*cells, f"{one['effective_rows']:,.0f}"]
