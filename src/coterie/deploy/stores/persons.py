"""persons.db: what the rewards of each person have cost, over all runs of an agent. It lies beside the folders of its runs.

A reward that will be learned from is charged to its person with all that a reward may lose in its run. The charge is on disk
before the decision is:

    persons.db  the charge, if the person has so much left    `charge`
    rewards.db  the decision                                   `rewards.decide`
    then        the answer

A crash in between leaves a charge for an answer that nobody got; asked again with the same key, it is the same charge. Once
decisions were erased, or rewards.db is another file, it no longer is: the old one may have paid for a reward that was released.
No charge is ever taken back: not for a decision that was cancelled, nor for a reward that was erased. Sums are exact. Persons
and keys are digests under a secret of the file's own, for whoever sees it by chance; who has it and a list of persons can tell.
"""

import os
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from coterie.deploy.stores.chain import digest
from coterie.deploy.stores.schema import Schema
from coterie.deploy.stores.store import Store
from coterie.errors import StateError

SCHEMA = Schema(
    application=0xC07E720,
    version=1,
    statements=(
        "CREATE TABLE secret(one INTEGER PRIMARY KEY CHECK(one = 1), salt BLOB NOT NULL) STRICT",
        "CREATE TABLE run(number INTEGER PRIMARY KEY, run BLOB NOT NULL UNIQUE, epsilon REAL NOT NULL) STRICT",
        """CREATE TABLE charge(
            run INTEGER NOT NULL, decision BLOB NOT NULL, person BLOB NOT NULL, PRIMARY KEY(run, decision))
            STRICT, WITHOUT ROWID""",
        "CREATE INDEX persons ON charge(person)",
    ),
)


class Persons(NamedTuple):
    """The budget of persons, as one agent in one run charges it: `epsilon` for each reward, and `limit` for a lifetime."""

    store: Store
    limit: float
    run: bytes
    epsilon: float

    async def introduce(self, learning: int) -> None:
        """A run begins, or goes on; `learning`: how many of its rewards count, by rewards.db."""
        await self.store.do(lambda c: introduce(c, self.run, self.epsilon))
        charges = await self.store.do(lambda c: charged(c, self.run))
        check_charges(self.store.path, charges, learning)

    async def charge(self, person: str, *decision: Any) -> bool:
        """Whether this person has enough left for one more reward, which is then paid for. `decision` is its name, of parts
        whose encoding is one to one."""
        return await self.store.do(lambda c: charge(c, self.run, person, decision, self.limit))


def check_charges(path: Path, charges: int, learning: int) -> None:
    """Every reward of the run that counts was paid for."""
    if charges < learning:
        raise StateError(
            f"{path}: must have a charge for each of {learning} rewards of this run, got {charges}: it was lost or restored, or"
            " the budget of persons was set after the run began"
        )


def check_secret(c: Any) -> None:
    """Under another secret everybody would be somebody else, with nothing spent."""
    if not c.execute("SELECT 1 FROM secret").fetchone() and c.execute("SELECT 1 FROM run").fetchone():
        raise StateError("persons: the secret of a file that has runs must be there, and is not; it stays as it is")


def introduce(c: Any, run: bytes, epsilon: float) -> None:
    """In the first run the file's secret is drawn. What a reward costs in a run never changes."""
    check_secret(c)
    c.execute("INSERT INTO secret VALUES(1, ?) ON CONFLICT DO NOTHING", (os.urandom(32),))
    c.execute("INSERT INTO run(run, epsilon) VALUES(?, ?) ON CONFLICT DO NOTHING", (run, epsilon))


def charge(c: Any, run: bytes, person: str, decision: tuple, limit: float) -> bool:
    """Once for a decision, however often it is asked for."""
    (salt,) = c.execute("SELECT salt FROM secret").fetchone()
    number, epsilon = c.execute("SELECT number, epsilon FROM run WHERE run = ?", (run,)).fetchone()
    who, what = digest(salt, person), digest(salt, person, *decision)
    if c.execute("SELECT 1 FROM charge WHERE run = ? AND decision = ?", (number, what)).fetchone():
        return True
    if spent(c, who) + Fraction(epsilon) > Fraction(limit):
        return False
    c.execute("INSERT INTO charge VALUES(?, ?, ?)", (number, what, who))
    return True


def spent(c: Any, who: bytes) -> Fraction:
    """By one person, over all runs."""
    query = "SELECT epsilon, count(*) FROM charge JOIN run ON number = charge.run WHERE person = ? GROUP BY number"
    return sum((Fraction(epsilon) * rewards for epsilon, rewards in c.execute(query, (who,))), Fraction(0))


def charged(c: Any, run: bytes) -> int:
    """How many rewards of this run were paid for."""
    return c.execute("SELECT count(*) FROM charge JOIN run ON number = charge.run WHERE run.run = ?", (run,)).fetchone()[0]


def summary(c: Any) -> dict[str, Any]:
    """Numbers only. `most` is what the dearest person has spent."""
    persons = [who for (who,) in c.execute("SELECT DISTINCT person FROM charge")]
    (runs,), (rewards,) = (c.execute(f"SELECT count(*) FROM {table}").fetchone() for table in ("run", "charge"))
    most = max((spent(c, who) for who in persons), default=Fraction(0))
    return {"runs": runs, "persons": len(persons), "rewards": rewards, "most": float(most)}


def told(found: dict[str, Any]) -> str:
    """A summary in words.

    >>> told({"persons": 1, "rewards": 2, "runs": 1})
    '1 person has given 2 rewards in 1 run'
    """
    one = found["persons"] == 1
    who, what, where = (f"{found[many]:,} {many if found[many] != 1 else many[:-1]}" for many in ("persons", "rewards", "runs"))
    return f"{who} {'has' if one else 'have'} given {what} in {where}"
