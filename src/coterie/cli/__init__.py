"""The command `coterie`: thin wrappers around the packages below, with progress, tables and one-line errors."""

import sys


def start() -> None:
    """Ctrl-C may come while the libraries are being loaded."""
    try:
        from coterie.cli.main import main
    except KeyboardInterrupt:
        sys.exit(130)
    main()
