"""One file, commits in groups: answers come from the disk, and a disk that refuses is believed."""

import asyncio
import errno
import os
import sqlite3
import stat
import threading
import time
from pathlib import Path

import apsw
import pytest
from powercut_disk import Disk

from coterie.deploy.stores import Schema, Store
from coterie.deploy.stores import store as storing
from coterie.errors import AuthError, CoterieError, StateError, StorageError, UsageError

WAYS = [{"inline": True}, {}, {"near": True}]
SCHEMA = Schema(7, 2, ("CREATE TABLE word(word TEXT UNIQUE) STRICT",))


def put(word):
    return lambda c: c.execute("INSERT INTO word VALUES(?)", (word,)).fetchall() or word


def words(c):
    return [word for (word,) in c.execute("SELECT word FROM word ORDER BY rowid").fetchall()]


def opened(folder, **how):
    return Store(folder / "words.db", SCHEMA, **how)


@pytest.fixture
def disk():
    made = Disk("refusing")
    yield made
    made.close()


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_what_was_answered_is_there_after_a_new_start(tmp_path, how):
    async def life():
        store = opened(tmp_path, **how)
        assert await asyncio.gather(*[store.do(put(str(n))) for n in range(300)]) == [str(n) for n in range(300)]
        store.close()
        store = opened(tmp_path, **how)
        assert await store.do(words) == [str(n) for n in range(300)]
        store.close()

    asyncio.run(life())


def test_all_that_waits_is_one_commit(tmp_path, monkeypatch):
    sizes, commit = [], Store._commit
    monkeypatch.setattr(Store, "_commit", lambda store, group: sizes.append(len(group)) or commit(store, group))

    async def life():
        store = opened(tmp_path)
        await asyncio.gather(*[store.do(put(word)) for word in "abc"])
        await asyncio.gather(*[store.do(put(str(n))) for n in range(256)])
        store.close()

    asyncio.run(life())
    assert sizes[0] == 3  # also where nothing is under way that they could wait for
    assert sum(sizes) == 259
    assert len(sizes) <= 10


def test_a_work_that_comes_alone_is_done_where_it_comes_unless_the_disk_is_slow(tmp_path, monkeypatch):
    async def life():
        store, here = opened(tmp_path, near=True), threading.get_ident()
        where = lambda c: threading.get_ident()  # noqa: E731
        assert await store.do(where) == here
        assert here not in await asyncio.gather(store.do(where), store.do(where))
        await store.do(where)  # who comes after a group waits for the thread to be done with it
        while store._handed:
            await asyncio.sleep(0.001)
        assert await store.do(where) == here
        assert await store.do(where, large=True) != here
        while store._handed:
            await asyncio.sleep(0.001)
        monkeypatch.setattr(storing, "QUICK", -1.0)
        assert await store.do(where) != here
        monkeypatch.undo()
        for n in range(2 * storing.CHANGES_TO_CHECKPOINT):  # the thread tidies up
            await store.do(put(str(n)))
        assert store._changes < 2 * storing.CHANGES_TO_CHECKPOINT
        store.close()
        far = opened(tmp_path)
        assert await far.do(where) != here
        far.close()

    asyncio.run(life())


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_what_follows_commits_follows_them_in_their_order(tmp_path, how):
    """A pass of the loop may take so long that the thread is done, and somebody else waits in it to be done at once."""
    told = []

    async def life():
        store = opened(tmp_path, **how)
        for n in range(10):
            many = asyncio.gather(*(store.do(put(f"{n} {k}"), told.append) for k in range(2)))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            last = asyncio.ensure_future(store.do(put(f"{n} last"), told.append))
            await asyncio.sleep(0)
            time.sleep(0.01)
            await asyncio.gather(many, last)
        assert told == await store.do(words)
        store.close()

    asyncio.run(life())


@pytest.mark.parametrize("how", WAYS[1:], ids=str)
def test_several_loops_share_a_store_and_one_that_stops_keeps_nobody_waiting(tmp_path, how):
    """A loop hands in what it was given in its next pass; one that stops before that must not be relied on by others."""
    store, left = opened(tmp_path, **how), asyncio.new_event_loop()

    async def leave():
        tasks.append(asyncio.ensure_future(store.do(put("left behind"))))
        left.call_soon(left.stop)

    async def stay(name):
        return [await asyncio.wait_for(store.do(put(f"{name} {n}")), 20) for n in range(50)]

    tasks = [left.create_task(leave())]
    left.run_forever()
    answers = dict[str, list[str]]()
    threads = [threading.Thread(target=lambda name=name: answers.update({name: asyncio.run(stay(name))})) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {name: [f"{name} {n}" for n in range(50)] for name in "ab"}
    assert left.run_until_complete(tasks[-1]) == "left behind"
    left.close()
    store.close()


def test_nobody_who_comes_alone_overtakes_a_group(tmp_path):
    async def life():
        store = opened(tmp_path, near=True)
        for n in range(50):
            many = asyncio.gather(*(store.do(put(f"{n} {k}")) for k in range(3)))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            await asyncio.gather(many, store.do(put(f"{n} last")))
        assert await store.do(words) == [f"{n} {k}" for n in range(50) for k in (0, 1, 2, "last")]
        store.close()

    asyncio.run(life())


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_a_work_that_raises_undoes_its_own_changes_and_nobody_elses(tmp_path, how):
    def half(c):
        put("half")(c)
        raise UsageError("no")

    async def life():
        store = opened(tmp_path, **how)
        found = await asyncio.gather(*map(store.do, [put("a"), half, put("a"), put("b")]), return_exceptions=True)
        assert [type(each) for each in found] == [str, UsageError, sqlite3.IntegrityError, str]
        assert await store.do(words) == ["a", "b"]
        assert not store.broken
        store.close()

    asyncio.run(life())


def test_who_raises_before_anything_is_changed_has_nobody_done_again(tmp_path):
    done = []

    def noted(word, raises=False):
        def work(c):
            done.append(word)
            if raises:
                raise UsageError("no")
            return put(word)(c)

        return work

    async def life():
        store = opened(tmp_path)
        works = [noted("a"), noted("b", raises=True), noted("c"), noted("c")]  # nor has a statement that fails changed anything
        found = await asyncio.gather(*map(store.do, works), return_exceptions=True)
        assert [type(each) for each in found] == [str, UsageError, str, sqlite3.IntegrityError]
        assert await store.do(words) == ["a", "c"]
        store.close()

    asyncio.run(life())
    assert done == ["a", "b", "c", "c"]


def test_who_no_longer_waits_is_not_answered_and_others_are(tmp_path):
    async def life():
        store = opened(tmp_path)
        gone, waits = (asyncio.ensure_future(store.do(put(word))) for word in "ab")
        await asyncio.sleep(0)
        gone.cancel()
        assert await waits == "b"
        assert set(await store.do(words)) == {"a", "b"}
        store.close()

    asyncio.run(life())


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_what_follows_a_commit_happens_before_the_answer_and_without_anybody_who_waits(tmp_path, how):
    told = []

    def fails(c):
        raise UsageError("no")

    async def life():
        store = opened(tmp_path, **how)
        gone = asyncio.ensure_future(store.do(put("a"), told.append))
        await asyncio.sleep(0)
        gone.cancel()
        told.append((await store.do(put("b"), told.append)).upper())
        with pytest.raises(UsageError):
            await store.do(fails, told.append)
        store.close()

    asyncio.run(life())
    assert told == ["a", "b", "B"]


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_whom_it_wakes_goes_on_before_who_waited_for_the_commit(tmp_path, how):
    async def run():
        store, woken, order = opened(tmp_path, **how), asyncio.Event(), []

        async def sleeper():
            await woken.wait()
            order.append("woken")

        sleeping = asyncio.create_task(sleeper())
        await asyncio.sleep(0)
        await store.do(put("a"), lambda _: woken.set())
        order.append("answered")
        await sleeping
        store.close()
        assert order == ["woken", "answered"]

    asyncio.run(run())


def test_what_follows_a_commit_and_fails_is_told_and_takes_nobody_with_it(tmp_path):
    async def run():
        store, told, followed = opened(tmp_path), [], []
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: told.append(context["exception"]))
        first = store.do(put("a"), lambda word: 1 / 0)
        assert await asyncio.gather(first, store.do(put("b"), followed.append)) == ["a", "b"]
        store.close()
        assert followed == ["b"] and [type(error) for error in told] == [ZeroDivisionError]

    asyncio.run(run())


@pytest.mark.parametrize("when, kept", [("word", False), ("COMMIT", False), ("after COMMIT", True)])
def test_ctrl_c_in_a_commit_of_the_loop_leaves_a_store_that_goes_on(tmp_path, when, kept):
    """It comes in the midst of a work, before a commit is made, and just after it; whoever waits is told which."""

    class Interrupted:
        def __init__(self, path):
            self.real, self.armed = sqlite3.connect(path, isolation_level=None, check_same_thread=False), False

        def execute(self, statement, *values):
            self.interrupt(statement)
            found = self.real.execute(statement, *values)
            self.interrupt(f"after {statement}")
            return found

        def interrupt(self, where):
            if self.armed and where == when:
                self.armed = False
                raise KeyboardInterrupt

        def __getattr__(self, name):
            return getattr(self.real, name)

    def word(c):
        put("a")(c)
        c.interrupt("word")
        return "a"

    loop = asyncio.new_event_loop()
    store, told = opened(tmp_path, connect=Interrupted, near=True), []
    store._connection.armed = True
    waits = loop.create_task(store.do(word, told.append))
    with pytest.raises(KeyboardInterrupt):
        loop.run_until_complete(waits)
    (found,) = loop.run_until_complete(asyncio.gather(waits, return_exceptions=True))
    assert (found, told) == ("a", ["a"]) if kept else isinstance(found, StorageError) and not told
    loop.run_until_complete(store.do(put("b")))
    assert loop.run_until_complete(store.do(words)) == (["a", "b"] if kept else ["b"])
    store.close()
    loop.close()


def test_what_waits_when_a_store_is_closed_is_done_and_nothing_after_it(tmp_path):
    async def life():
        store = opened(tmp_path)
        waits = [asyncio.ensure_future(store.do(put(str(n)))) for n in range(50)]
        await asyncio.sleep(0)
        store.close()
        store.close()
        assert await asyncio.gather(*waits) == [str(n) for n in range(50)]
        with pytest.raises(StorageError, match="it was closed"):
            await store.do(words)

    asyncio.run(life())


def test_only_the_owner_can_read_a_file_and_its_log(tmp_path):
    before = os.umask(0)
    try:
        store = opened(tmp_path, inline=True)
        asyncio.run(store.do(put("a")))
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
        store.close()
    finally:
        os.umask(before)
    assert modes == {"words.db": 0o600, "words.db-wal": 0o600, "words.db-shm": 0o600}


def test_a_file_that_others_can_read_is_refused(tmp_path):
    opened(tmp_path, inline=True).close()
    (tmp_path / "words.db").chmod(0o640)
    with pytest.raises(AuthError, match=r"words.db: must be a file that nobody else can read: chmod 600"):
        opened(tmp_path)


def test_a_newer_schema_a_foreign_file_and_rubbish_are_refused_and_stay(tmp_path):
    path = tmp_path / "words.db"
    Store(path, SCHEMA._replace(version=3), inline=True).close()
    with pytest.raises(StateError, match="must be of schema 2 or older, got 3: take a newer Coterie"):
        opened(tmp_path)
    with pytest.raises(StateError, match="must be a file that Coterie made for this place, got another one"):
        Store(path, SCHEMA._replace(application=8))
    path.write_bytes(b"no database at all" * 100)
    with pytest.raises(StateError, match="is damaged, or no file of ours"):
        opened(tmp_path)
    assert path.read_bytes() == b"no database at all" * 100
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as foreign:
        foreign.execute("CREATE TABLE precious(word)")
    other.chmod(0o600)
    with pytest.raises(StateError, match="must be a file that Coterie made"):
        Store(other, SCHEMA)


def test_a_folder_that_is_not_there_or_no_folder_is_said_in_one_line(tmp_path):
    for path in (tmp_path / "nowhere" / "words.db", tmp_path):
        with pytest.raises(StorageError, match="cannot be opened") as said:
            Store(path, SCHEMA)
        assert "\n" not in str(said.value)


async def tried(store, work):
    try:
        return await store.do(work)
    except CoterieError as error:
        return type(error)


def points_of(tmp_path, disk):
    """How many points a store has before, and with, its first word."""
    store = opened(tmp_path, connect=disk.connect, inline=True)
    before = disk.points
    asyncio.run(store.do(put("first")))
    return store, before, disk.points


def test_a_full_disk_refuses_a_word_and_takes_it_when_there_is_room_again(tmp_path, disk):
    store, _, now = points_of(tmp_path, disk)
    for point in range(now + 1, now + 40):
        disk.refuses = (point, point, "write", apsw.FullError)
        found = asyncio.run(tried(store, put(f"word {point}")))
        assert found in (StorageError, f"word {point}")
        assert not store.broken
        disk.refuses = (0, 0, "", None)
        if found is StorageError:
            assert f"word {point}" not in asyncio.run(store.do(words))
            assert asyncio.run(store.do(put(f"word {point}"))) == f"word {point}"
        now = disk.points


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_who_cannot_even_be_undone_is_answered_and_ends_the_store(tmp_path, how):
    class Refusing:
        """A connection whose disk is full at a commit, and fails when that is to be undone."""

        in_transaction, total_changes = True, 0

        def __init__(self, path):
            self.refused = refused
            self.real = sqlite3.connect(path, isolation_level=None, check_same_thread=False)

        def execute(self, statement, *values):
            if statement in self.refused:
                error = sqlite3.OperationalError("no")
                error.sqlite_errorcode = self.refused[statement]
                raise error
            return self.real.execute(statement, *values)

        def close(self):
            self.real.close()

    refused = {}

    async def life():
        store = opened(tmp_path, connect=Refusing, **how)
        refused.update(COMMIT=sqlite3.SQLITE_FULL, ROLLBACK=sqlite3.SQLITE_IOERR)
        async with asyncio.timeout(20):
            for _ in range(2):
                with pytest.raises(StorageError):
                    await store.do(put("a"))
        assert store.broken
        store.close()

    asyncio.run(life())


@pytest.mark.parametrize("kind", ["write", "sync"])
def test_any_other_failure_ends_the_store_and_what_was_answered_before_it_stays(tmp_path, disk, kind):
    """At every write and sync of a commit and of a checkpoint."""
    refused = 0
    for point in range(1, 30):
        for path in tmp_path.iterdir():
            path.unlink()
        disk.clear()
        store, _, now = points_of(tmp_path, disk)
        store._changes = storing.CHANGES_TO_CHECKPOINT  # so that a checkpoint follows
        disk.refuses = (now + point, now + point, kind, apsw.IOError)
        found = [asyncio.run(tried(store, put("second")))]
        if store.broken:
            refused += 1
            found.append(asyncio.run(tried(store, words)))
            assert found[-1] is StorageError, "a broken store answers nothing any more"
        disk.refuses = (0, 0, "", None)
        disk.come_back(None)
        again = asyncio.run(opened(tmp_path, connect=disk.connect, inline=True).do(words))
        assert "first" in again
        assert found[0] is StorageError or "second" in again
        disk.close()
    assert refused >= (3 if kind == "sync" else 5)


def test_a_failed_sync_is_said_by_everyone_who_waited(tmp_path, disk):
    async def life():
        store = opened(tmp_path, connect=disk.connect)
        disk.refuses = (1, 10**9, "sync", apsw.IOError)
        found = await asyncio.gather(*[tried(store, put(str(n))) for n in range(20)])
        assert found == [StorageError] * 20
        assert store.broken
        store.close()

    asyncio.run(life())


def test_a_folder_that_may_not_be_written_is_a_matter_of_the_disk(tmp_path, monkeypatch):
    def read_only(path, *rest):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)

    monkeypatch.setattr(storing.os, "open", read_only)
    with pytest.raises(StorageError, match="Read-only file system"):
        opened(Path(tmp_path))
