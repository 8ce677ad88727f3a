"""A live run's journal, told to agents in memory, ends in the bytes of the run: also after crashes."""

import asyncio
import random

import pytest
from nodes import Town, make_federation

from coterie.deploy.clocks import live
from coterie.deploy.journal import ToldChance, replay, unpack
from coterie.deploy.roles import make_roles
from coterie.deploy.stores import ledger, rewards
from coterie.errors import StateError

MEANS = (0.2, 0.5, 0.8)


async def told_again(home):
    """The roles of a node as its journal makes them."""
    notes = unpack(await home.stores.ledger.do(ledger.journal))
    chances = {role: ToldChance([note for note in notes if note[0] == role]) for role in home.node.roles}
    used = "SELECT place, arm, value FROM decision WHERE used IS NOT NULL"
    kept = await home.stores.rewards.do(lambda c: {place: (arm, value) for place, arm, value in c.execute(used)})
    roles = make_roles(home.federation, home.name, chances, [])
    replay(notes, roles, kept)
    return roles


@pytest.mark.parametrize(
    ("algorithm", "rounds"),
    [("fed-ucb", 60), ({"name": "fed-ucb", "mechanism": "tree"}, 40), ("pr-ucb", 80), ("pooled-ucb", 80)],
    ids=["fed-ucb", "tree", "pr-ucb", "pooled-ucb"],
)
def test_a_journal_ends_in_the_bytes_of_its_run(tmp_path, algorithm, rounds):
    federation = make_federation(tmp_path, algorithm, tick=0.001)

    async def story():
        town, draw = Town(tmp_path, federation, live), random.Random(1)
        await town.start()
        for part in range(4):
            await town.customers(rounds // 4, draw, MEANS)
            await town.homes[("north", "south", "west", "north")[part]].start()
        heard = 0
        for home in town.homes.values():
            state = await home.stores.ledger.do(ledger.last_state)
            secret = await home.stores.rewards.do(lambda c, s=state.s: rewards.secret(c, s))
            roles = await told_again(home)
            for role, who in roles.items():
                assert {f"{role}/{part}": data for part, data in who.give().items()}.items() <= state.parts.items()
                assert who.secret.tobytes() in secret
            heard += len([1 for note in unpack(await home.stores.ledger.do(ledger.journal)) if note[1] in ("hear", "meet")])
            assert state.s > 3
        assert heard > 10
        town.stop()

    asyncio.run(story())


def test_a_journal_holds_no_reward_and_needs_all_of_them(tmp_path):
    federation = make_federation(tmp_path, "pr-ucb", tick=0.001)

    async def story():
        town = Town(tmp_path, federation, live)
        await town.start()
        await town.customers(30, random.Random(1), MEANS)
        home = town.homes["north"]
        notes = unpack(await home.stores.ledger.do(ledger.journal))
        assert {note[1] for note in notes} <= {"die", "noise", "used", "begin", "finish", "speak", "hear"}
        assert all(len(note) == 3 for note in notes if note[1] == "finish")
        await home.stores.rewards.do(lambda c: rewards.forget(c, home.clock.seconds + 1))
        with pytest.raises(StateError, match="some were erased"):
            await told_again(home)
        town.stop()

    asyncio.run(story())
