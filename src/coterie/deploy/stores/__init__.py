"""What a node keeps: rewards.db with all that is raw, and ledger.db with all that was released, said and heard.

A transaction over two files is not atomic, so their order is the protocol. At the end of a turn that commits:

    rewards.db  the secret of s + 1, and the rewards it used      `rewards.keep_secret`
    in memory   noise, `publish`, `speak`
    ledger.db   releases, the state of s + 1, what is to be sent  `ledger.commit_turn`: from here on it may be seen

A start goes on from the last state s of the ledger; later secrets are dropped, and what they used is free again.
"""

from coterie.deploy.stores.schema import Schema
from coterie.deploy.stores.store import Store

__all__ = ["Schema", "Store"]
