"""A chain of hashes: every row's covers the row and the hash before it, so that no row can change, go or come unseen."""

from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any

from msgspec import msgpack


def digest(*parts: Any) -> bytes:
    """SHA-256 of values whose encoding is one to one."""
    return sha256(msgpack.encode(parts, order="sorted")).digest()


def links(head: bytes, rows: Iterable[tuple]) -> Iterator[bytes]:
    """The hashes of rows that follow a head."""
    for row in rows:
        head = digest(head, *row)
        yield head
