"""rewards.db says whose it is before its first decision, and a start rests on nothing in it that was changed."""

import asyncio
import shutil

import pytest
from nodes import Home, make_federation

from coterie.deploy.stores import secrets
from coterie.errors import StateError

ALGORITHM = {"name": "dp-ucb-int", "epsilon": 1.0}


def lived(home, questions):
    async def live():
        node = await home.start()
        for _ in range(questions):
            await home.settle()
            await node.tell((await node.ask()).id, 1.0)
        await home.settle()
        s = node.s
        home.stop()
        return s

    return asyncio.run(live())


def refused(home):
    async def live():
        try:
            with pytest.raises(StateError) as caught:
                await home.start()
        finally:
            home.stop()
        return caught.value

    return str(asyncio.run(live()))


def changed(home, statement):
    async def change():
        await home.start()
        await home.stores.rewards.do(lambda c: c.execute(statement).fetchall())
        home.stop()

    asyncio.run(change())


@pytest.mark.parametrize("questions", [0, 1, 30])
def test_rewards_of_another_member_or_run_are_refused_whatever_their_state(tmp_path, questions):
    federation = make_federation(tmp_path, ALGORITHM, agents=("north", "south"))
    north, south = (Home(tmp_path, federation, name) for name in ("north", "south"))
    states = [lived(home, questions) for home in (north, south)]
    assert (states[0] > 1) == (questions > 1) and states[0] == states[1]
    for path in north.folder.glob("rewards.db*"):
        path.unlink()
    shutil.copy(south.folder / "rewards.db", north.folder)
    before = (north.folder / "rewards.db").read_bytes()
    assert "rewards.db: must be of this member and this run, got that of another" in refused(north)
    assert (north.folder / "rewards.db").read_bytes() == before


@pytest.mark.parametrize(
    "statement, says",
    [
        ("UPDATE secret SET record = x'00'", "a secret in it is not what was committed"),
        ("UPDATE secret SET record = x'80'", "a secret in it is not what was committed"),
        ("UPDATE secret SET record = substr(record, 1, 20)", "a secret in it is not what was committed"),
        ("UPDATE decision SET arm = 99 WHERE n = 2", "decision 2 is not what was committed"),
        ("UPDATE decision SET arm = -1 WHERE n = 2", "decision 2 is not what was committed"),
        ("UPDATE decision SET value = NULL WHERE n = 3", "decision 3 is not what was committed"),
    ],
)
def test_what_was_changed_is_refused_and_shows_no_reward(tmp_path, statement, says):
    home = Home(tmp_path, make_federation(tmp_path, ALGORITHM, agents=("north",)))
    lived(home, 30)
    changed(home, statement)
    assert says in refused(home)


def test_decisions_without_a_word_whose_they_are_belong_to_nobody(tmp_path):
    home = Home(tmp_path, make_federation(tmp_path, ALGORITHM, agents=("north",)))
    lived(home, 0)
    changed(home, "INSERT INTO decision(id, arm, at, learns) VALUES('a', 0, 1.0, 1)")
    changed(home, "DELETE FROM secret")
    assert "must say whose it is, and does not" in refused(home)


def test_a_file_has_one_origin_for_its_whole_life(tmp_path):
    home = Home(tmp_path, make_federation(tmp_path, ALGORITHM, agents=("north",)))
    found = []

    async def look():
        found.append((await home.start()).origin)
        home.stop()

    asyncio.run(look())
    lived(home, 30)
    asyncio.run(look())
    assert found[0] == found[1]


def test_a_record_is_read_as_it_was_written():
    secret = secrets.Secret({"agent": b"sums"}, b"north", b"origin")
    assert secrets.unpack(secrets.pack(secret), b"north") == secret
