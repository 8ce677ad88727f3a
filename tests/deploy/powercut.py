"""Lives of a node under power cuts, and what nobody may ever find: two values for one release, a reward lost or counted twice.

`live` drives anything that can `ask`, `tell` and give its `facts`: the number and sum of the rewards in its committed secret.
"""

import contextlib
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from powercut_disk import Cut, Disk

from coterie.deploy.refusals import Closed
from coterie.deploy.stores import ledger
from coterie.deploy.stores import store as storing
from coterie.errors import StorageError
from coterie.privacy.accountant import spent


class World:
    """The application and all others: what they were told and what they have seen, over all lives of a node."""

    def __init__(self) -> None:
        self.decided: dict[str, tuple[str, int]] = {}  # by key
        self.told: dict[str, int] = {}
        self.seen: dict[Any, Any] = {}  # by id of a release, and by lane and number of a message
        self.spent, self.heads = 0.0, [b""]

    def see(self, id: Any, value: Any) -> None:
        assert self.seen.setdefault(id, value) == value, f"two values for {id}"


def run(work: Any) -> Any:
    """A coroutine that never waits."""
    try:
        work.send(None)
    except StopIteration as ended:
        return ended.value
    raise AssertionError("a work of an inline store waits for nothing")


def check(node: Any, world: World) -> None:
    """After any number of cuts."""
    rows = run(node.rewards.do(lambda c: c.execute("SELECT id, key, arm, value, told, place, used FROM decision").fetchall()))
    by_id = {row[0]: row for row in rows}
    for key, (id, arm) in world.decided.items():
        assert by_id.get(id, (None,) * 3)[:3] == (id, key, arm), "a decision was lost or changed"
    assert len(by_id) == len({row[1] for row in rows}), "a key has two decisions"
    for id, value in world.told.items():
        assert by_id[id][3:5] == (value, 1), "an acknowledged reward was lost or changed"
    facts = node.facts()
    for arm, (pulls, total) in enumerate(facts["sums"]):
        used = [row[3] for row in rows if row[2] == arm and row[6] is not None]
        assert (pulls, total) == (len(used), sum(used)), "a reward was lost, or counted twice"
    assert all(row[6] is None or row[6] <= facts["s"] for row in rows)
    head = run(node.ledger.do(ledger.verify_chain))
    chain = [row[0] for row in run(node.ledger.do(lambda c: c.execute("SELECT hash FROM release ORDER BY number").fetchall()))]
    assert [each for each in chain if each in world.heads] == world.heads[1:], "the chain has forked, or lost a link"
    world.heads = [b"", *chain]
    assert not chain or head == chain[-1]
    for s, _, release in run(node.ledger.do(ledger.releases)):
        world.see((s, release.entry), release)
    now = spent(run(node.ledger.do(ledger.spent)), 0.0)
    assert now >= world.spent, "spent has fallen"
    assert now <= run(node.ledger.do(ledger.whose)).epsilon, "more was spent than was allowed"
    world.spent = now


def live(
    folder: Path,
    disk: Disk,
    make: Callable[..., Any],
    cuts: list[int],
    seed: int | None,
    patients: int = 8,
) -> tuple[World, Any]:
    """Patients come and are asked about until all have been told of, with power cuts so many points after one another.

    `seed`: which part of the unsynced is lost; None: all of it.
    """
    chance = None if seed is None else random.Random(seed)
    for path in folder.iterdir():
        path.unlink()
    disk.clear()
    cuts = list(cuts)
    disk.cut_at = cuts.pop(0) if cuts else 0
    world, node, number = World(), None, 0
    before, storing.CHANGES_TO_CHECKPOINT = storing.CHANGES_TO_CHECKPOINT, 5
    try:
        while True:
            try:
                if node is None:
                    node = make(folder, disk, world)
                    check(node, world)
                if number == patients:
                    check(node, world)
                    break
                key = f"patient {number}"
                id, arm = node.ask(key)
                assert world.decided.setdefault(key, (id, arm)) == (id, arm), "another decision for the same key"
                value = 1000 * number + 1
                with contextlib.suppress(Closed):  # a window that closed while power was gone
                    node.tell(id, value)
                    world.told[id] = value
                number += 1
            except (Cut, StorageError):  # a process that its disk has refused ends, and then power goes, too
                node = None
                disk.come_back(chance)
                disk.cut_at = disk.points + cuts.pop(0) if cuts else 0
    finally:
        storing.CHANGES_TO_CHECKPOINT = before
        disk.close()
    return world, node
