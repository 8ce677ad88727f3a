"""`coterie up`."""

from pathlib import Path

import typer

from coterie.cli.console import output, visible
from coterie.cli.deployed import installed
from coterie.cli.interrupts import keeps
from coterie.cli.options import number, whole
from coterie.errors import FencedError, UsageError

RATE_MOST, SECONDS = 1000.0, "a number > 0"


def up(
    file: Path = typer.Argument(None, help="A federation file; its members' keys are made here. Default: three hospitals."),
    algorithm: str = typer.Option(None, metavar="NAME", help="Run this one in place of the file's, such as fed-ucb."),
    rate: float = typer.Option(
        10.0,
        metavar="R",
        parser=number("--rate", f"a number > 0 and <= {RATE_MOST:g}"),
        help="Patients a second at each agent.",
    ),
    seconds: float = typer.Option(
        None, metavar="S", parser=number("--seconds", SECONDS), help="Stop after so long. Default: when you press Ctrl-C."
    ),
    port: int = typer.Option(8400, metavar="N", parser=whole("--port", 1, 65535), help="The first page's port; others follow."),
    out: Path = typer.Option(None, metavar="DIR", help="Where to keep everything. Default: runs/up-<file>[-<algorithm>]"),
    fresh: bool = typer.Option(False, "--fresh", help="Begin again: remove what an earlier `up` left in DIR first."),
) -> None:
    """A whole federation on this machine: a broker, a process for each member, simulated patients, and live pages.

    Ctrl-C stops all of it; the same command goes on where it stopped. The outcomes are made up, and no medical finding.

    Example: coterie up --seconds 60
    """
    installed()
    from coterie import files
    from coterie.deploy import up as household

    if not 0 < rate <= RATE_MOST:
        raise UsageError(f"--rate must be a number > 0 and <= {RATE_MOST:g}, got {rate:g}")
    if seconds is not None and not seconds > 0:
        raise UsageError(f"--seconds must be {SECONDS}, got {seconds:g}")
    folder, console = out or household.folder_of(file, algorithm), output()

    def say(line: str) -> None:
        console.print(visible(line), soft_wrap=True, highlight=False)

    plan = household.plan(file, algorithm)
    in_use = f"{folder}: is in use by another `coterie up`: stop that one, or name another folder (--out)"
    if folder.is_dir() and files.in_use(folder):  # said before its ports are
        raise FencedError(in_use)
    household.check_ours(folder)
    places = household.seats(plan.federation, folder, port)
    files.make_folder(folder)
    with files.locked(folder, wait=False) as is_mine:
        if not is_mine:
            raise FencedError(in_use)
        if fresh:
            household.clear(folder)
        federation = household.make(folder, plan)
        keeps(f"all that was started is stopped; the same command goes on where {folder} stands")
        say(f"starting {len(places)} members and a broker ({federation.algorithm.name}) in {folder}")
        with household.running(federation, folder, places, say) as home, household.asking(federation, places, rate) as patients:
            for seat in places:
                say(f"  {seat.name:<12} {seat.address}")
            say(f"page: {places[0].address}   (Ctrl-C stops everything)")
            household.watch(home, seconds)
        asked, told = sum(one.asked for one in patients), sum(one.told for one in patients)
    say(f"stopped after {asked:,} decisions and {told:,} rewards; `coterie ledger {places[0].folder}` says what has left")
