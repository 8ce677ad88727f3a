"""They come at Poisson times, ask until answered, and tell later: in time, too late, twice, something else, or never."""

import asyncio

from coterie.deploy.refusals import Closed, Conflict, UnknownDecision
from coterie.errors import StorageError

HOUR = 3600.0
ANSWERED_WITHIN = 600.0  # seconds, on the slowest disk


async def come(year, member, rate):
    """At one agent, so many in an hour."""
    number, chance = 0, year.chance
    mean = [chance.random() for _ in year.federation.arms]
    while True:
        await asyncio.sleep(chance.expovariate(rate / HOUR))
        number += 1
        year.spawn(visit(year, member, f"{member.name} {number}", mean))


async def visit(year, member, key, mean):
    chance = year.chance
    while (made := await _ask(year, member, key)) is None:
        await asyncio.sleep(chance.expovariate(1 / HOUR))
    process, decision = made
    year.witness.answered(process, key, decision)
    fate = chance.random()
    if fate < 0.05:  # it never comes
        return
    await asyncio.sleep(chance.expovariate(1 / (2 * HOUR)) if fate > 0.15 else chance.uniform(0, 100 * HOUR))
    reward = float(chance.random() < mean[decision.arm])
    while not await _tell(year, member, decision.id, reward):
        await asyncio.sleep(chance.expovariate(1 / HOUR))
    if fate > 0.95:
        await _tell(year, member, decision.id, reward)
        await _tell(year, member, decision.id, 0.25, wrong=True)


async def _ask(year, member, key):
    process, began = member.process, year.now()
    if process is None or process.node is None:
        return None
    decision = await process.call(process.node.ask(key))
    if decision is None:
        return None
    year.witness.check(year.now() - began <= ANSWERED_WITHIN, f"{member.name} took {year.now() - began:.0f} s to answer")
    year.asked += 1
    if year.chance.random() < 0.02 and process.node:
        process.node.view()
    return process, decision


async def _tell(year, member, id, reward, wrong=False):
    """Whether there is no sense in telling it again."""
    process = member.process
    if process is None or process.node is None:
        return False
    steps = process.node.agent.desk.steps(reward)
    try:
        word = await process.call(process.node.tell(id, reward))
    except StorageError:
        return False
    except UnknownDecision:
        year.witness.check(id not in process.folder.seen.decided, f"{member.name} does not know a decision that it made")
        return True
    except Closed:
        windows = year.federation.rewards.within != "at once"
        year.witness.check(windows and id not in process.folder.seen.told, "a reward that was acknowledged is refused as late")
        return True
    except Conflict:
        year.witness.check(wrong, "a reward is refused that was told once")
        return True
    if word is not None:
        year.witness.rewarded(process, id, steps, wrong)
    return word is not None
