"""`coterie coordinator`."""

from pathlib import Path

from coterie.cli.deployed import CALLED, CERTIFICATE, DIR, KEY, LISTEN, LOG, serve_member


def coordinator(
    folder: Path = DIR,
    listen: str = LISTEN,
    certificate: Path = CERTIFICATE,
    key: Path = KEY,
    called: list[str] = CALLED,
    log: str = LOG,
) -> None:
    """Run the coordinator of this folder: it collects noised reports and decides what is tried next. Ctrl-C stops it.

    It never holds a reward. Its keys are made by `coterie agent init`, as an agent's are.

    Example: coterie coordinator centre/ --listen 127.0.0.1:8403
    """
    serve_member("coordinator", folder, listen, certificate, key, called, log)
