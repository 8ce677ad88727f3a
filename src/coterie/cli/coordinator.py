"""`coterie coordinator`."""

from coterie.cli.deployed import serving


@serving("coordinator")
def coordinator() -> None:
    """Run the coordinator of this folder: it collects noised reports and decides what is tried next. Ctrl-C stops it.

    It never holds a reward. Its keys are made by `coterie agent init`, as an agent's are.

    Example: coterie coordinator centre/ --listen 127.0.0.1:8403
    """
