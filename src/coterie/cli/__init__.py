"""The command `coterie`: thin wrappers around the packages below, with progress, tables and one-line errors."""

import atexit
import gc
import os
import sys

OBJECTS = 100_000  # made before garbage is looked for: what libraries make while they are loaded stays


def start() -> None:
    """Ctrl-C may come while the libraries are being loaded."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # for matrices, of which there are none here: they turn idly
    if os.environ.get("COLUMNS") == "0":  # of a terminal that does not know its width: nothing at all would be printed
        del os.environ["COLUMNS"]
    gc.set_threshold(OBJECTS)
    atexit.register(gc.freeze)  # nor is any looked for at the end: that took half a second
    try:
        from coterie.cli.main import main
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    main()
