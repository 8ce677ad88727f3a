"""What goes wrong. Each is a coroutine that does its harm and, where the world would, mends it; `FAULTS` says how often."""

from coterie.deploy.wire.lanes import Lanes
from year.process import DAY, HOUR, Process


async def crash(year):
    member = year.anyone()
    if member.process and not member.process.dead:
        member.process.kill()
    return member.name


async def crash_at_a_point(year):
    """In the middle of something: around a commit, or when a word is out and its answer is not."""
    member = year.anyone()
    if member.process:
        member.process.doom = year.chance.choice(("before", "after", "sent")), year.chance.randrange(1, 12)
    return f"{member.name} {member.process and member.process.doom}"


async def stop_for_long(year):
    member = year.anyone()
    member.down = year.chance.uniform(0, DAY)
    if member.process:
        member.process.kill()
    return f"{member.name} for {member.down / HOUR:.1f} h"


async def cut_off(year):
    member = year.anyone()
    year.broker.cut.add(member.name)
    year.later(year.chance.expovariate(1 / (5 * HOUR)), lambda: year.broker.cut.discard(member.name))
    return member.name


async def broker_away(year):
    year.broker.away = True
    year.later(year.chance.expovariate(1 / (3 * HOUR)), year.broker_back)


async def broker_full(year):
    year.broker.full = True
    year.later(year.chance.expovariate(1 / (3 * HOUR)), lambda: setattr(year.broker, "full", False))


async def broker_restored(year):
    """From an older copy of its disk."""
    words = len(year.broker.words)
    keep = max(0, words - int(year.chance.expovariate(1 / 20)))
    await year.broker.lose_tail(keep)
    return f"{words - keep} words"


async def far_network(year):
    year.broker.far = year.chance.uniform(10, 3000)
    year.later(year.chance.expovariate(1 / (3 * HOUR)), lambda: setattr(year.broker, "far", 1.0))


async def slow_disk(year):
    folder = year.anyone().folder
    folder.slow = year.chance.uniform(10, 1000)
    year.later(year.chance.expovariate(1 / (3 * HOUR)), lambda: setattr(folder, "slow", 1.0))


async def full_disk(year):
    """For less or more than a process is patient."""
    member = year.anyone()
    folder = member.folder
    folder.full = folder.trouble = True
    year.later(year.chance.expovariate(1 / year.chance.choice((20.0, HOUR))), lambda: setattr(folder, "full", False))
    return member.name


async def torn_disk(year):
    """One sync fails."""
    member = year.anyone()
    member.folder.torn = member.folder.trouble = True
    return member.name


async def junk(year):
    """In somebody's lane: what a broker's own acknowledgements look like, and worse."""
    lanes = Lanes(year.federation, year.anyone().name)
    subject = lanes.subject(year.chance.choice(lanes.own))
    for _ in range(year.chance.randrange(1, 4)):
        await year.put(subject, year.chance.randbytes(year.chance.choice((0, 3, 64, 200))))
    return subject


async def old_words(year):
    """Somebody who can write to the broker says again what was said before."""
    if year.broker.words:
        subject, data = year.chance.choice(year.broker.words)
        await year.put(year.chance.choice((subject, year.chance.choice(year.broker.words)[0])), data)


async def clone(year):
    """A copy of a folder is started elsewhere, beside the true one."""
    member = year.anyone(lose=True)
    if member is None or member.twin or year.hours_left() < 0:
        return "nobody"
    folder = member.folder.copy()
    folder.seen.losses = member.folder.seen.losses = year.broker.losses
    year.spawn(member.watch(Process(year, member, folder)))
    return member.name


async def old_copy(year):
    """A folder from a backup, or an empty one, takes the place of the true one for a while."""
    member = year.anyone()
    backup = year.backups.pop(member.name, None)
    if backup is None or backup.seen.losses != year.broker.losses or not year.has_spoken_since(member, backup):
        year.backups[member.name] = member.folder.copy()
        year.backups[member.name].seen.losses = year.broker.losses
        return f"{member.name} has a backup"
    if member.process is None or member.twin:
        return "nobody"
    member.process.kill()
    member.down = HOUR
    year.spawn(year.try_copy(member, backup))
    return member.name


async def clock_back(year):
    member = year.anyone()
    member.skew = -year.chance.uniform(100.0, DAY)
    if member.process:
        member.process.kill()
    return member.name


async def withhold(year):
    member = year.anyone()
    if member.node is None or member.node.agent is None or any(each.stopped for each in year.members.values()):
        return "nobody"
    member.stopped = True
    await member.process.call(member.node.withhold(year.chance.choice(year.federation.arms)))
    return member.name


FAULTS = {
    crash: 6, crash_at_a_point: 12, stop_for_long: 2, cut_off: 4, broker_away: 2, broker_full: 1, broker_restored: 3,
    far_network: 2, slow_disk: 2, full_disk: 3, torn_disk: 2, junk: 4, old_words: 3, clone: 2, old_copy: 3, clock_back: 1,
    withhold: 0.2,
}  # fmt: skip
