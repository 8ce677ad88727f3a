"""What the commands of a deployment share: their dependencies, and how a member is served."""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

from coterie.cli.console import visible
from coterie.errors import UsageError

DIR = typer.Argument(metavar="DIR", help="The member's folder: its keys, federation.toml, and its state.")


def installed() -> None:
    """Say what to install where the extra is missing; the core does without it."""
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # it remarks on every connection that ends
    try:
        import coterie.deploy.opening  # noqa: F401
    except ModuleNotFoundError as missing:
        if str(missing.name).startswith("coterie"):
            raise
        raise UsageError(f"this command needs {missing.name}: pip install 'coterie[deploy]'") from None


class Words(logging.Formatter):
    """For people, and for a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        return f"coterie: {visible(record.getMessage())}"


def log_to_stderr(form: str) -> None:
    """As "json" every event; as "text" what somebody should look at."""
    from coterie.deploy.log import LOGGER, JsonLines

    handler, logger = logging.StreamHandler(), logging.getLogger(LOGGER)
    handler.setFormatter(JsonLines() if form == "json" else Words())
    logger.handlers, logger.propagate = [handler], False
    logger.setLevel(logging.INFO if form == "json" else logging.WARNING)


def serving(role: Any) -> Callable[[Callable[[], None]], Callable[..., None]]:
    """A command that serves a member until it is stopped; the function below it has the command's name and help."""

    def command(named: Callable[[], None]) -> Callable[..., None]:
        def serve_member(
            folder: Path = DIR,
            listen: str = typer.Option(
                "127.0.0.1:8400", metavar="ADDRESS", help="HOST:PORT, or unix:PATH. Beyond loopback TLS is needed."
            ),
            certificate: Path = typer.Option(None, metavar="FILE", help="TLS: the certificate chain in PEM form."),
            key: Path = typer.Option(None, metavar="FILE", help="TLS: its private key in PEM form."),
            called: list[str] = typer.Option([], metavar="HOST", help="A further host name by which it may be called."),
            log: str = typer.Option("text", metavar="text|json", help="What goes to stderr: alarms, or every event as JSON."),
        ) -> None:
            installed()
            if log not in ("text", "json"):
                raise UsageError(f"--log must be text or json, got {log[:40]!r}")
            from coterie.deploy.opening import serve
            from coterie.deploy.web.serve import read_listen

            log_to_stderr(log)
            asyncio.run(serve(folder, role, read_listen(listen, certificate, key, tuple(called)), say))

        serve_member.__name__, serve_member.__doc__ = named.__name__, named.__doc__
        return serve_member

    return command


def say(line: str) -> None:
    """Where it listens goes to stdout, its log to stderr."""
    print(visible(line), flush=True)
