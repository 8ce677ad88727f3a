"""What is erased is gone from every byte of the folder; what was released and paid stays."""

import asyncio

import pytest

from coterie.deploy.stores import Store, rewards
from coterie.deploy.stores.erasure import forget_before
from coterie.errors import FencedError, UsageError
from coterie.files import locked


def folder_with(tmp_path, decisions=300):
    store = Store(tmp_path / "rewards.db", rewards.SCHEMA, inline=True)

    def fill(c):
        for n in range(decisions):
            rewards.decide(c, f"id of {n:04}", f"patient-{n:04}", 0, float(n), True)
            rewards.tell(c, f"id of {n:04}", n, at_once=True)
        rewards.keep_secret(c, 1, b"sums", range(1, 50))

    asyncio.run(store.do(fill))
    return store


def bytes_of(folder):
    return b"".join(path.read_bytes() for path in folder.iterdir())


def test_no_byte_of_what_was_erased_is_left(tmp_path):
    folder_with(tmp_path).close()
    assert b"patient-0017" in bytes_of(tmp_path)
    assert forget_before(tmp_path, 200.0) == 200
    left = bytes_of(tmp_path)
    assert [n for n in range(300) if b"patient-%04d" % n in left] == list(range(200, 300))
    assert [n for n in range(300) if b"id of %04d" % n in left] == list(range(200, 300))
    store = Store(tmp_path / "rewards.db", rewards.SCHEMA, inline=True)
    assert asyncio.run(store.do(lambda c: rewards.secret(c, 1))) == b"sums"
    assert len(asyncio.run(store.do(rewards.queue))) == 100
    store.close()
    assert forget_before(tmp_path, 200.0) == 0


def test_what_was_deleted_while_the_log_still_held_it_is_gone_too(tmp_path):
    """As after a crash: the log was not moved into the file."""
    running = folder_with(tmp_path)
    assert b"patient-0017" in (tmp_path / "rewards.db-wal").read_bytes()
    assert forget_before(tmp_path, 200.0) == 200
    assert b"patient-0017" not in bytes_of(tmp_path)
    running.close()


def test_an_agent_that_runs_keeps_its_rewards_to_itself(tmp_path):
    folder_with(tmp_path).close()
    with locked(tmp_path), pytest.raises(FencedError, match="is in use: stop its agent first"):
        forget_before(tmp_path, 200.0)


def test_a_folder_without_rewards_is_named(tmp_path):
    for place in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(UsageError, match=r"must be the folder of an agent that has run, got one without rewards\.db"):
            forget_before(place, 1.0)
