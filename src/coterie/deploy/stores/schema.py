"""What a file of ours holds, by version: a newer one is refused, an older one that is known is made into this one."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from coterie.errors import StateError

STAYS = "it stays as it is"


class Older(NamedTuple):
    """A version before: how its tables were made, and the steps that make the version after it."""

    statements: tuple[str, ...]
    steps: tuple[str, ...]


class Schema(NamedTuple):
    """What a file holds. `application` tells our files apart from each other and from all else; `version` only ever grows."""

    application: int
    version: int
    statements: tuple[str, ...]
    older: Mapping[int, Older] = MappingProxyType({})


def create(c: Any, schema: Schema) -> None:
    """In an empty file."""
    _together(c, schema, schema.statements, schema.version)


def renew(c: Any, path: Path, schema: Schema) -> None:
    """Step by step, each of them one transaction, from the version that the file has."""
    while (version := check_schema(c, path, schema)) != schema.version:
        _together(c, schema, schema.older[version].steps, version + 1)


def _together(c: Any, schema: Schema, statements: tuple[str, ...], version: int) -> None:
    c.execute("BEGIN IMMEDIATE")
    for statement in statements:
        c.execute(statement)
    c.execute(f"PRAGMA application_id={schema.application}")
    c.execute(f"PRAGMA user_version={version}")
    c.execute("COMMIT")


def check_schema(c: Any, path: Path, schema: Schema) -> int:
    """The version of a file that is one of ours, of a version that is known, and whose tables are as they were made."""
    application, version = (c.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
    known = {old: each.statements for old, each in schema.older.items()} | {schema.version: schema.statements}
    if application != schema.application:
        raise StateError(f"{path}: must be a file that Coterie made for this place, got another one")
    if version > schema.version:
        raise StateError(f"{path}: must be of schema {schema.version} or older, got {version}: take a newer Coterie")
    if version not in known:
        raise StateError(f"{path}: must be of schema {min(known)} or newer, got {version}; {STAYS}")
    made = {(kind, text) for kind, text in c.execute("SELECT type, sql FROM sqlite_master WHERE sql IS NOT NULL")}
    if made != {(kind_of(statement), statement) for statement in known[version]}:
        raise StateError(f"{path}: is damaged: its tables are not as they were made; {STAYS}")
    return version


def kind_of(statement: str) -> str:
    """
    >>> kind_of("CREATE TABLE word(word TEXT)"), kind_of("CREATE UNIQUE INDEX words ON word(word)")
    ('table', 'index')
    """
    return next(word for word in statement.lower().split() if word in ("table", "index"))
