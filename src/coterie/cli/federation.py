"""`coterie federation`."""

import asyncio
from pathlib import Path
from typing import Any

import typer
from rich.text import Text

from coterie.cli.console import output, visible
from coterie.cli.deployed import installed
from coterie.cli.usage import Command

federation = typer.Typer(
    help="Check a federation file, and set up its broker.", no_args_is_help=True, rich_markup_mode="rich", add_completion=False
)
FILE = typer.Argument(metavar="FILE", help="The federation file, which is public and the same for all.")


@federation.command(cls=Command)
def check(file: Path = FILE) -> None:
    """Check a federation file, and say what it says.

    What is wrong is one line with the file, the field and what it may be, and exit code 2. Everyone should see the same run.

    Example: coterie federation check federation.toml
    """
    installed()
    from coterie.deploy.federation import load_federation

    found, console = load_federation(file), output()
    console.print(Text.assemble((visible(found.title), "bold"), f", run {found.run.hex()[:16]}"), soft_wrap=True)
    for word, line in about(found):
        console.print(f"  {word:<8} {visible(line)}", markup=False, highlight=False, soft_wrap=True)


@federation.command(cls=Command)
def broker(
    file: Path = FILE,
    out: Path = typer.Argument(metavar="OUT", help="The folder of the broker, on the machine it runs on."),
) -> None:
    """Write what a NATS server needs: configuration, certificates, and, if it runs, the run's stream and consumers.

    It needs the public keys of the members only, which the file holds. Run it again after a change of the file: certificates
    stay, and nobody's keys change.

    Example: coterie federation broker federation.toml broker/
    """
    installed()
    from coterie.deploy.federation import load_federation
    from coterie.deploy.wire.broker import AUTHORITY, CONFIGURATION, lay_out, write_broker

    found, console = load_federation(file), output()
    write_broker(found, out)
    laid_out = asyncio.run(lay_out(found, out))
    lines = [f"{out / CONFIGURATION} is written for {len(found.members)} members."]
    if (out / AUTHORITY).exists():
        lines.append(f"Hand {out / AUTHORITY} to all members: it is the certificate that broker.ca of the file means.")
    if laid_out:
        lines.append(f"The broker runs, and has the stream and consumers of run {found.run.hex()[:16]}.")
        lines.append("Reload it, so that it knows the members of this file: nats-server --signal reload")
    else:
        lines.append(f"Start the broker: nats-server -c {out / CONFIGURATION}")
        lines.append("Then run this command again: it makes the stream and consumers of the run.")
    for line in lines:
        console.print(visible(line), markup=False, highlight=False, soft_wrap=True)


def about(found: Any) -> list[tuple[str, str]]:
    """What a federation is, in a few lines."""
    names = ", ".join(member.name for member in found.agents)
    around = f", around the coordinator {found.coordinator.name}" if found.coordinator else ""
    lines = [("who", names + around), ("what", f"{found.algorithm.name} on {len(found.arms)} arms: {', '.join(found.arms)}")]
    lines += [("clock", clock_of(found)), ("rewards", rewards_of(found)), ("budget", budget_of(found))]
    lines += [("broker", found.broker.address)] if found.broker else []
    lines.append(("keys", f"{found.fingerprint}: compare it, not by the way this file came; the run does not cover keys"))
    if found.rehearsal:
        lines.append(
            ("chance", f"a rehearsal on seed {found.rehearsal.seed}: nothing is protected, never use it for real rewards")
        )
    return lines


def clock_of(found: Any) -> str:
    if found.clock == "epochs":
        quorum, agents, within = found.epochs.quorum, len(found.agents), span(found.epochs.within)
        some = "" if quorum == agents else f", or with {quorum} after {within}"
        return f"epochs: one ends with the reports of all {agents}{some}"
    return "own: each goes on at its own pace" if found.clock == "own" else "common: a round begins when all have spoken"


def rewards_of(found: Any) -> str:
    rewards = found.rewards
    clipped = ", what lies outside counts as the nearer end" if rewards.clip else ""
    when = "counts at once: the application vouches that its delay tells nothing"
    if rewards.within != "at once":
        when = f"counts {span(rewards.within)} after the decision; one that has not come counts as {rewards.missing:g}"
    return f"in {rewards.low:g} to {rewards.high:g}{clipped}; each {when}"


def budget_of(found: Any) -> str:
    if found.privacy == "none":
        return "none: nothing is protected, and the file says that this is meant"
    epsilon, delta = found.allowance
    at = f" (delta {delta:g})" if delta else ""
    return f"epsilon {epsilon:g}{at} for every reward; a release beyond it is refused, and decisions go on"


def span(seconds: float) -> str:
    """A time in the largest unit that gives a whole number.

    >>> span(2419200.0), span(86400.0), span(90.0), span(0.5)
    ('28 days', '1 day', '90 seconds', '0.5 seconds')
    """
    for unit, size in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds % size == 0:
            return f"{seconds / size:g} {unit}{'s' * (seconds != size)}"
    return f"{seconds:g} second{'s' * (seconds != 1)}"
