"""The record of a secret in rewards.db: what each role keeps to itself, whose it is, and a hash over all of it.

The first is there before the first decision, so that the rewards of another member are never taken for one's own. `origin` is
drawn with it and stays: the name of this very file, for whoever must tell it from one that was made anew in its place.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from msgspec import DecodeError, msgpack

from coterie.deploy.stores import rewards
from coterie.deploy.stores.chain import digest
from coterie.errors import StateError

STAYS = "; it stays as it is, and nothing is released"


class Secret(NamedTuple):
    """`whose`: a digest of the run and the member's name."""

    roles: Mapping[str, bytes]
    whose: bytes
    origin: bytes


def pack(secret: Secret) -> bytes:
    own = {"whose": secret.whose, "origin": secret.origin}
    return msgpack.encode({**secret.roles, **own, "hash": digest(dict(secret.roles), secret.whose, secret.origin)})


def unpack(record: bytes, whose: bytes) -> Secret:
    """A secret that is whole, and of this member in this run."""
    try:
        roles = msgpack.decode(record, type=dict[str, bytes])
        found, origin, link = (roles.pop(part) for part in ("whose", "origin", "hash"))
    except (DecodeError, KeyError):
        roles, found, origin, link = {}, b"", b"", b""
    if link != digest(roles, found, origin):
        raise StateError(f"rewards.db: a secret in it is not what was committed{STAYS}")
    if found != whose:
        raise StateError(f"rewards.db: must be of this member and this run, got that of another{STAYS}")
    return Secret(roles, found, origin)


def introduce(c: Any, record: bytes) -> None:
    """Say whose rewards these are, before the first of them."""
    if rewards.latest(c) is not None:
        raise StateError(f"rewards.db: must say whose it is, and does not, though it has decisions{STAYS}")
    rewards.keep_secret(c, 0, record, ())


def is_there(c: Any) -> bool:
    """Whether these rewards are somebody's: a ledger was begun before."""
    return c.execute("SELECT 1 FROM secret LIMIT 1").fetchone() is not None


def check(c: Any, whose: bytes, arms: int) -> dict[int, Secret]:
    """By state, if all that a start rests on is as it was committed."""
    row = c.execute(
        "SELECT n FROM decision WHERE arm NOT BETWEEN 0 AND ? OR place IS NOT NULL AND value IS NULL LIMIT 1", (arms - 1,)
    ).fetchone()
    if row is not None:
        raise StateError(f"rewards.db: decision {row[0]} is not what was committed: it lacks an arm or a reward{STAYS}")
    return {s: unpack(record, whose) for s, record in c.execute("SELECT s, record FROM secret ORDER BY s").fetchall()}
