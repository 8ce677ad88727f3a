"""What persons have lost adds up over runs, exactly, and nothing takes it back. Power cuts are in test_powercut.py."""

import asyncio
from fractions import Fraction

import pytest
from nodes import Home, make_federation

from coterie.deploy.stores import Store, persons, rewards
from coterie.deploy.stores.chain import digest
from coterie.deploy.stores.erasure import forget_before
from coterie.deploy.stores.persons import Persons
from coterie.errors import StateError, StorageError

ALGORITHM = {"name": "dp-ucb-int", "epsilon": 1.0}


def opened(path, limit=2.5, run=b"run", epsilon=1.0, **how):
    return Persons(Store(path, persons.SCHEMA, **{"inline": True} | how), limit, run, epsilon)


def do(work):
    return asyncio.run(work)


def test_three_runs_add_up_and_a_person_without_budget_is_answered_and_not_learned_from(tmp_path):
    """Epsilon is 1 in every run, and a person has 2.5: two rewards in a lifetime, in whichever runs."""

    async def live(number, asked):
        folder = tmp_path / f"run {number}"
        folder.mkdir()
        federation = make_federation(folder, ALGORITHM, agents=("north",), horizon=1000 + number)
        home, book = Home(folder, federation), opened(tmp_path / "persons.db", run=digest(federation.run, "north"))
        node = await home.start(persons=book)
        found = {}
        for key, person in asked:
            await home.settle()
            decision = await node.ask(key, person)
            found[key] = decision.learned
            assert await node.ask(key, person) == decision, "the same key, the same decision, and no second charge"
            await node.tell(decision.id, 1.0)
        await home.settle()
        rows = await home.stores.rewards.do(lambda c: c.execute("SELECT key, learns, place FROM decision").fetchall())
        assert {key: (bool(learns), place is not None) for key, learns, place in rows} == {k: (v, v) for k, v in found.items()}
        if number == 2:
            await node.cancel((await node.ask("cancelled", "Ada")).id)  # it was learned from, and is paid for
        home.stop()
        book.store.close()
        return found

    first = do(live(1, [("a", "Ada"), ("b", "Ben"), ("nobody", None)]))
    assert forget_before(tmp_path / "run 1" / "north", 2e9) == 3
    second = do(live(2, [("c", "Ben"), ("d", "Cid"), ("e", "Ben")]))
    third = do(live(3, [("f", "Ada"), ("g", "Ben"), ("h", "Cid"), ("i", "Cid"), ("j", "Dan")]))
    assert first == {"a": True, "b": True, "nobody": False}
    assert second == {"c": True, "d": True, "e": False}
    assert third == {"f": False, "g": False, "h": True, "i": False, "j": True}
    store = Store(tmp_path / "persons.db", persons.SCHEMA, inline=True)
    assert do(store.do(persons.summary)) == {"runs": 3, "persons": 4, "rewards": 7, "most": 2.0}
    store.close()
    assert not any(name in (tmp_path / "persons.db").read_bytes() for name in (b"Ada", b"Ben", b"Cid", b"Dan"))


def test_sums_are_exact(tmp_path):
    """Three times the number 0.1 is a little more than the number 0.3, and so the third one is refused."""
    book = opened(tmp_path / "persons.db", limit=0.3, epsilon=0.1)
    do(book.introduce(0))
    assert [do(book.charge("Ada", key)) for key in "abc"] == [True, True, False]
    assert 3 * Fraction(0.1) > Fraction(0.3)


def test_two_processes_may_charge_at_once(tmp_path):
    """An old run that still goes on, and the new one: together they never give more than there is."""
    books = [opened(tmp_path / "persons.db", limit=5.0, run=run, inline=False) for run in (b"old", b"new")]

    async def both():
        for book in books:
            await book.introduce(0)
        found = await asyncio.gather(*(book.charge("Ada", f"{i}") for i in range(20) for book in books))
        assert sum(found) == 5

    do(both())
    for book in books:
        book.store.close()


def test_a_file_that_was_restored_or_set_up_too_late_is_refused(tmp_path):
    book = opened(tmp_path / "persons.db")
    do(book.introduce(0))
    assert do(book.charge("Ada", "a"))
    do(book.introduce(1))
    with pytest.raises(StateError, match="must have a charge for each of 2 rewards of this run, got 1") as caught:
        do(book.introduce(2))
    assert caught.value.exit_code == 4


def test_a_file_without_its_secret_is_refused_as_everybody_would_be_somebody_else(tmp_path):
    book = opened(tmp_path / "persons.db")
    do(book.introduce(0))
    assert do(book.charge("Ada", "a"))
    do(book.store.do(lambda c: c.execute("DELETE FROM secret") and None))
    with pytest.raises(StateError, match="the secret of a file that has runs must be there"):
        do(book.introduce(1))


def test_where_the_file_cannot_be_written_answers_go_on_and_nothing_is_learned(tmp_path):
    async def live():
        home, book = Home(tmp_path, make_federation(tmp_path, ALGORITHM, agents=("north",))), opened(tmp_path / "persons.db")
        node = await home.start(persons=book)

        async def refuse(work):
            raise StorageError("persons.db: cannot be written: disk full")

        Refusing = type("Refusing", (), {"do": staticmethod(refuse), "probe": staticmethod(refuse), "path": "x"})
        node.persons = book._replace(store=Refusing())
        assert not (await node.ask("a", "Ada")).learned
        assert [alarm.kind for alarm in node.view().alarms] == ["storage"]
        node.persons = book
        assert (await node.ask("b", "Ada")).learned and not (await node.ask("a", "Ada")).learned
        assert await home.stores.rewards.do(rewards.learning) == 1
        home.stop()

    do(live())
