"""`coterie agent`: `init`, `forget`, and without either the agent itself."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from coterie.cli.deployed import DIR, installed, serving
from coterie.cli.usage import Command
from coterie.errors import UsageError


class Agents(TyperGroup):
    """`coterie agent north/` is `coterie agent run north/`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] != "--help":
            args = ["run", *args]
        return super().parse_args(ctx, args)


agent = typer.Typer(
    cls=Agents, no_args_is_help=True, add_completion=False,
    help="Run an agent: [bold]coterie agent DIR[/bold]. Make its keys first: [bold]coterie agent init DIR --name NAME[/bold].",
)  # fmt: skip


@agent.command(cls=Command)
@serving("agent")
def run() -> None:
    """Run the agent of this folder: it decides, learns with the others, and shows a page. Ctrl-C stops it.

    Example: coterie agent north/ --listen 127.0.0.1:8400
    """


@agent.command(cls=Command)
def init(
    folder: Path = typer.Argument(metavar="DIR", help="The folder to make the keys in."),
    name: str = typer.Option(..., metavar="NAME", help="The member's name: letters, digits, - and _."),
    anew: bool = typer.Option(False, "--anew", help="Make new keys in place of those that are there (rotation)."),
) -> None:
    """Make the two keys of an agent, or of a coordinator, and print the one public line to hand over.

    Example: coterie agent init north/ --name north
    """
    installed()
    from coterie.deploy.keys import make_keys
    from coterie.deploy.tables import NAME

    if not NAME.fullmatch(name):
        raise UsageError(f"--name must be 1 to 40 letters, digits, - or _, got {name[:60]!r}")
    keys = make_keys(folder, anew=anew)
    folder.chmod(0o700)
    print("{ " + ", ".join(f'{key} = "{value}"' for key, value in keys.line(name).items()) + " }")


@agent.command(cls=Command)
def forget(
    folder: Path = DIR,
    before: str = typer.Option(..., metavar="DATE", help="A day such as 2026-01-31, or a time such as 2026-01-31T12:00 (UTC)."),
) -> None:
    """Erase the rewards, and the keys of decisions, from before a day. What was released stays, and so does what it cost.

    Example: coterie agent forget north/ --before 2026-01-31
    """
    installed()
    from coterie.deploy.stores.erasure import forget_before

    count = forget_before(folder, read_day(before))
    print(f"{count:,} rewards and keys were erased; the budget is as it was")


def read_day(text: str) -> float:
    """Seconds since 1970; a time without a zone is meant in UTC.

    >>> read_day("1970-01-02"), read_day("1970-01-01T00:01+00:00")
    (86400.0, 60.0)
    """
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"--before must be a day such as 2026-01-31, got {text[:40]!r}") from None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
