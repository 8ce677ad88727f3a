"""Erasing rewards and keys of decisions: what an agent's owner must be able to do, and what never gives budget back."""

import asyncio
from pathlib import Path

from coterie import files
from coterie.deploy.stores import rewards
from coterie.deploy.stores.store import Store
from coterie.errors import FencedError, UsageError


def forget_before(folder: Path, before: float) -> int:
    """Erase all decisions of an agent from before a time, in seconds since 1970. The agent must not run meanwhile."""
    path = folder / "rewards.db"
    if not path.is_file():
        raise UsageError(f"{folder}: must be the folder of an agent that has run, got one without rewards.db")
    with files.locked(folder, wait=False) as is_mine:
        if not is_mine:
            raise FencedError(f"{folder}: is in use: stop its agent first, and start it again afterwards")
        store = Store(path, rewards.SCHEMA, inline=True)
        try:
            count = asyncio.run(store.do(lambda c: rewards.forget(c, before)))
            store.erase()
        finally:
            store.close()
    return count
