"""`coterie ledger`: what was released, what it cost, what is left; and kind words where there is none."""

import asyncio
import json
from math import inf

import pytest
from typer.testing import CliRunner

from coterie.cli.ledger import ledger_lines
from coterie.cli.main import app
from coterie.deploy.stores import Store, ledger, rewards
from coterie.deploy.stores.ledger import Facts, Release, Turn
from coterie.deploy.stores.summary import covered, summary_of
from coterie.errors import StateError, UsageError
from coterie.kernel import UNIT
from coterie.privacy.events import Event

FACTS = Facts(bytes(range(32)), "north", ("old", "new"), "fed-ucb", 2.0)


def release(entry, arm, first, last, price, value=UNIT):
    return Release(entry, arm, 0, first, last, "laplace", 1.0, price, value, 1_800_000_000.0)


def write(folder, facts=FACTS, refused=False, price=0.5):
    store = Store(folder / "ledger.db", ledger.SCHEMA, inline=True)

    def fill(c):
        ledger.introduce(c, facts)
        ledger.commit_turn(c, Turn(1, 3, {}, (release(0, 0, 1, 4, price), release(1, 1, 1, 2, price))))
        ledger.commit_turn(c, Turn(2, 9, {}, (release(0, 0, 1, 8, price, -3 * UNIT // 2),), refused=refused))

    asyncio.run(store.do(fill))
    return store


def printed(folder, width=100):
    return "\n".join(str(line) for line in ledger_lines(summary_of(folder), width))


def test_the_sum_of_prices_over_the_dearest_reward_is_what_is_spent(tmp_path):
    write(tmp_path).close()
    found = summary_of(tmp_path)
    assert found["budget"] == {"epsilon": 2.0, "delta": 0.0, "spent": 1.0, "left": 1.0, "refused": False}
    assert found["arms"] == [
        {"arm": "old", "releases": 2, "rewards": 8, "spent": 1.0},
        {"arm": "new", "releases": 1, "rewards": 2, "spent": 0.5},
    ]
    assert [(each["turn"], each["arm"], each["sum"]) for each in found["releases"]] == [
        (3, "old", 1),
        (3, "new", 1),
        (9, "old", -1.5),
    ]
    assert found["chain"]["links"] == 3


def test_the_lines_say_what_is_left_and_fit_the_terminal(tmp_path):
    write(tmp_path).close()
    for width in (30, 60, 120):
        text = printed(tmp_path, width)
        assert max(map(len, text.splitlines())) <= width
    assert text.splitlines()[0] == "north: the dearest reward has lost ε = 1 of 2, 1 is left for it"
    assert "chain: all of its 3 releases are as they were committed" in text
    assert "last release: 2027-01-15 08:00 UTC, in turn 9" in text


def test_a_budget_that_has_refused_is_said_so(tmp_path):
    write(tmp_path, refused=True).close()
    assert "a release was refused, as it would cost more, and none follows" in printed(tmp_path, 200)


def test_without_privacy_nothing_is_said_to_be_left(tmp_path):
    write(tmp_path, FACTS._replace(epsilon=None), price=inf).close()
    assert printed(tmp_path).startswith("north: no privacy was promised, and sums leave without noise")
    json.dumps(summary_of(tmp_path), allow_nan=False)


def test_it_can_be_read_while_its_owner_writes(tmp_path):
    store = write(tmp_path)
    before = summary_of(tmp_path)
    asyncio.run(store.do(lambda c: ledger.commit_turn(c, Turn(3, 10, {}, (release(0, 1, 3, 4, 0.25),)))))
    after = summary_of(tmp_path)
    store.close()
    assert (before["chain"]["links"], after["chain"]["links"]) == (3, 4)


def test_a_folder_that_has_no_ledger_is_named_and_nothing_is_made(tmp_path):
    (tmp_path / "file").write_text("")
    for folder, got in ((tmp_path, "one without ledger.db"), (tmp_path / "nowhere", "none"), (tmp_path / "file", "a file")):
        with pytest.raises(UsageError, match=f"must be the folder of .*, got {got}"):
            summary_of(folder)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_changed_row_foreign_files_and_a_newer_schema_are_refused(tmp_path):
    store = write(tmp_path)
    asyncio.run(store.do(lambda c: c.execute("UPDATE release SET price = 0.01 WHERE number = 2") and None))
    store.close()
    with pytest.raises(StateError, match="release 2 is not what was committed"):
        summary_of(tmp_path)
    (tmp_path / "ledger.db").write_bytes(b"rubbish" * 1000)
    with pytest.raises(StateError, match="is damaged, or no file of ours"):
        summary_of(tmp_path)
    (tmp_path / "ledger.db").unlink()
    Store(tmp_path / "ledger.db", rewards.SCHEMA, inline=True).close()
    with pytest.raises(StateError, match="must be a file that Coterie made for this place"):
        summary_of(tmp_path)
    (tmp_path / "ledger.db").unlink()
    Store(tmp_path / "ledger.db", ledger.SCHEMA._replace(version=9), inline=True).close()
    with pytest.raises(StateError, match="must be of schema 1 or older, got 9: take a newer Coterie"):
        summary_of(tmp_path)
    (tmp_path / "ledger.db").unlink()
    Store(tmp_path / "ledger.db", ledger.SCHEMA, inline=True).close()
    with pytest.raises(StateError, match="must say whose it is"):
        summary_of(tmp_path)


def test_rewards_that_several_releases_are_about_are_counted_once():
    def event(first, last):
        return Event(0, 0, 0, first, last, "laplace", 1.0, 1.0)

    assert covered([]) == 0
    assert covered([event(1, 4), event(5, 9)]) == 9
    assert covered([event(1, 9), event(2, 3), event(8, 12)]) == 12
    assert covered([event(3, 3), event(9, 10)]) == 3


def test_the_command_prints_lines_or_json(tmp_path):
    write(tmp_path).close()
    done = CliRunner().invoke(app, ["ledger", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert "is left" in done.stdout
    done = CliRunner().invoke(app, ["ledger", str(tmp_path), "--json"])
    assert json.loads(done.stdout) == summary_of(tmp_path)
