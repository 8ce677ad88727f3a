"""Words are sent once and heard once, in the order of their lane, whatever the broker in between does."""

import asyncio
import contextlib

import pytest
from parties import NAMES, Party, make_parties, until

from coterie.deploy.keys import load_keys
from coterie.deploy.message import Word
from coterie.deploy.wire import post
from coterie.deploy.wire.envelope import SIGNATURE, decode, sealer, signed
from coterie.deploy.wire.lanes import Lanes
from coterie.deploy.wire.memory import Faults, MemoryBroker, MemoryWire
from coterie.deploy.wire.post import end, mark_of
from coterie.errors import FencedError, StateError, StorageError

BAD = Faults(refused=0.1, unanswered=0.1, doubled=0.2, shuffled=0.5)


@contextlib.asynccontextmanager
async def at_work(folder, broker, federation=None, names=NAMES):
    federation = federation or make_parties(folder)
    parties = {name: Party(folder / name, federation, name) for name in names}
    try:
        for party in parties.values():
            await party.start(wire_of(broker, party))
        yield parties
    finally:
        for party in parties.values():
            await party.stop()


def wire_of(broker, party):
    return broker.wire(party.name, Lanes(party.federation, party.name).heard)


async def claimed(parties):
    await until(lambda: all(party.post.claimed.is_set() for party in parties.values()))


async def has_heard(party, expected):
    await until(lambda: is_equal(party, expected))


async def is_equal(party, expected):
    try:
        return await party.heard() == expected
    except AssertionError:  # a gap that is about to close
        return False


@pytest.mark.parametrize("faults", [Faults(), BAD])
def test_every_word_is_heard_once_and_in_order(tmp_path, faults):
    async def run():
        async with at_work(tmp_path, MemoryBroker(1, faults)) as parties:
            said = {name: [f"{name} {i}".encode() for i in range(40)] for name in NAMES}
            for i in range(40):
                for name in NAMES:
                    await parties[name].say(said[name][i])
            for name in NAMES:
                await has_heard(parties[name], {f"say.{other}": said[other] for other in NAMES if other != name})

    asyncio.run(run())


def test_what_is_said_to_one_is_heard_by_one(tmp_path):
    async def run():
        async with at_work(tmp_path, MemoryBroker()) as parties:
            await parties["north"].say(b"for south", to="south")
            await has_heard(parties["south"], {"to.north": [b"for south"]})
            assert await parties["west"].heard() == {}

    asyncio.run(run())


def test_nothing_leaves_before_its_tick_whatever_wakes_the_post(tmp_path):
    """Who could make it leave at once would see how long its noise took."""

    async def run():
        async with at_work(tmp_path, MemoryBroker()) as parties:
            north, south = parties["north"], parties["south"]
            await claimed(parties)
            north.holding = True
            await north.say(b"released")
            for _ in range(20):
                north.outgoing.tell()
                await asyncio.sleep(0.01)
            assert await south.heard() == {}
            north.holding = False
            north.outgoing.tell()
            await has_heard(south, {"say.north": [b"released"]})

    asyncio.run(run())


def test_a_start_goes_on_where_it_stopped(tmp_path):
    """Killed with words unsent, and with words that came meanwhile."""

    async def run():
        broker = MemoryBroker(2, BAD)
        async with at_work(tmp_path, broker) as parties:
            north, south = parties["north"], parties["south"]
            await claimed(parties)
            for i in range(5):
                for party in parties.values():
                    await party.say(b"%d" % i)
                await north.stop()
                await north.start(wire_of(broker, north))
            await has_heard(south, {f"say.{name}": [b"%d" % i for i in range(5)] for name in ("north", "west")})
            await has_heard(north, {f"say.{name}": [b"%d" % i for i in range(5)] for name in ("south", "west")})

    asyncio.run(run())


def test_a_broker_that_lost_its_tail_gets_it_again(tmp_path):
    async def run():
        broker = MemoryBroker()
        async with at_work(tmp_path, broker) as parties:
            await claimed(parties)
            for i in range(10):
                await parties["north"].say(b"%d" % i)
            await has_heard(parties["south"], {"say.north": [b"%d" % i for i in range(10)]})
            known, lane = set(broker.words), [word for word in broker.words if word[0].endswith("say.north")]
            await broker.lose_tail(broker.words.index(lane[len(lane) // 2]))
            assert set(broker.words) < known
            await until(lambda: set(broker.words) >= known)
            await parties["north"].say(b"10")
            await has_heard(parties["south"], {"say.north": [b"%d" % i for i in range(11)]})
            assert all(party.task and not party.task.done() for party in parties.values())

    asyncio.run(run())


def test_a_stream_that_is_gone_is_told_and_gets_its_words_again(tmp_path):
    """All through the gap the broker itself answers; and nobody says anything new when it is over."""

    async def run():
        broker = MemoryBroker()
        async with at_work(tmp_path, broker) as parties:
            await claimed(parties)
            said = [b"%d" % i for i in range(10)]
            for word in said:
                await parties["north"].say(word)
            await has_heard(parties["south"], {"say.north": said})
            known = set(broker.words)
            await broker.lose_stream()
            await until(lambda: not any(party.seen.connected for party in parties.values()))
            assert all(("broker", "the broker has no stream") in party.seen.alarms for party in parties.values())
            await parties["north"].say(b"meanwhile")
            await until(lambda: parties["north"].seen.connected is False)
            await broker.make_stream()
            await until(lambda: set(broker.words) > known and all(party.seen.connected for party in parties.values()))
            for name in ("south", "west"):
                await has_heard(parties[name], {"say.north": [*said, b"meanwhile"]})
            assert not any(party.task.done() or party.seen.unsent for party in parties.values())

    asyncio.run(run())


def test_an_older_ledger_stops_itself(tmp_path):
    async def run():
        broker = MemoryBroker()
        async with at_work(tmp_path, broker) as parties:
            north = parties["north"]
            await north.say(b"1")
            await claimed(parties)
            await north.stop()
            old = north.copy_to(tmp_path / "backup")
            await north.start(wire_of(broker, north))
            await north.release()
            await has_heard(parties["south"], {"say.north": [b"1", b"released"]})
            await north.stop()
            await old.start(wire_of(broker, old))
            error = await old.ended()
            assert isinstance(error, StateError) and error.exit_code == 4 and "older" in str(error)
            assert not old.post.claimed.is_set()
            await old.stop()

    asyncio.run(run())


@pytest.mark.parametrize("broker_lost_all", [False, True])
def test_a_deleted_ledger_stops_itself_also_if_only_peers_know(tmp_path, broker_lost_all):
    async def run():
        broker = MemoryBroker()
        async with at_work(tmp_path, broker) as parties:
            north = parties["north"]
            await claimed(parties)
            await north.say(b"1")
            await has_heard(parties["south"], {"say.north": [b"1"]})
            await north.stop()
            for file in north.folder.glob("ledger.db*"):
                file.unlink()
            if broker_lost_all:
                await broker.lose_tail(0)
            await north.start(wire_of(broker, north))
            error = await north.ended()
            assert isinstance(error, StateError) and error.exit_code == 4
            assert (await parties["south"].heard())["say.north"] == [b"1"]
            assert all(not parties[name].task.done() for name in ("south", "west"))

    asyncio.run(run())


def test_of_two_copies_of_a_folder_one_is_stopped(tmp_path):
    async def run():
        broker = MemoryBroker()
        async with at_work(tmp_path, broker) as parties:
            north = parties["north"]
            await claimed(parties)
            copy = north.copy_to(tmp_path / "copy")
            await copy.start(wire_of(broker, copy))
            await until(copy.post.claimed.is_set)
            await north.say(b"from the one that was overtaken")
            error = await north.ended()
            assert isinstance(error, FencedError) and error.exit_code == 6
            await copy.say(b"from the copy")
            await has_heard(parties["south"], {"say.north": [b"from the copy"]})
            await copy.stop()

    asyncio.run(run())


@pytest.mark.parametrize("word", [b"junk", b"\x99" + 9 * b"\xa1\xff", b"\x91" * 5000, b"\x94\x01"], ids=repr)
def test_a_malformed_word_with_the_own_signature_ends_in_6(tmp_path, word):
    """Whoever has the key may sign anything, also what no version of ours can read: text that is no text, many brackets."""

    async def run():
        broker = MemoryBroker()
        async with at_work(tmp_path, broker) as parties:
            north = parties["north"]
            await claimed(parties)
            subject = north.post.own["say"].subject
            other = wire_of(broker, north)
            await other.append(subject, signed(north.keys.sign, subject, word), (await other.last(subject)).number)
            await north.say(b"after it")
            error = await north.ended()
            assert isinstance(error, FencedError) and error.exit_code == 6

    asyncio.run(run())


def test_two_copies_that_start_at_once_do_not_both_go_on(tmp_path):
    async def run():
        broker = MemoryBroker()
        federation = make_parties(tmp_path)
        first = Party(tmp_path / "north", federation, "north")
        second = first.copy_to(tmp_path / "copy")
        for party in (first, second):
            await party.start(wire_of(broker, party))
        await until(lambda: first.task.done() or second.task.done())
        lost = first if first.task.done() else second
        assert isinstance(await lost.ended(), FencedError)
        for party in (first, second):
            await party.stop()

    asyncio.run(run())


def test_junk_in_a_lane_stops_nobody(tmp_path):
    """A broker writes an acknowledgement wherever a reply subject points."""

    async def run():
        broker = MemoryBroker()
        async with at_work(tmp_path, broker) as parties:
            north, south = parties["north"], parties["south"]
            await claimed(parties)
            for i in range(5):
                await broker.append(north.post.own["say"].subject, b'{"stream":"x","seq":%d}' % i)
                await north.say(b"%d" % i)
            await has_heard(south, {"say.north": [b"%d" % i for i in range(5)]})
            assert south.seen.rejected == {"signature": 5} and north.seen.rejected["junk"] >= 1
            assert not north.task.done()

    asyncio.run(run())


def test_a_full_stream_and_an_absent_broker_are_waited_for(tmp_path):
    async def run():
        broker = MemoryBroker()
        async with at_work(tmp_path, broker) as parties:
            await claimed(parties)
            for trouble in ("full", "away"):
                setattr(broker, trouble, True)
                await parties["north"].say(trouble.encode())
                await until(lambda: parties["north"].seen.connected is False and parties["north"].seen.unsent >= 1)
                setattr(broker, trouble, False)
                await broker.wake()
                await until(lambda: parties["north"].seen.connected is True and parties["north"].seen.unsent == 0)
            await has_heard(parties["south"], {"say.north": [b"full", b"away"]})

    asyncio.run(run())


@pytest.mark.parametrize("broken", [False, True])
def test_a_full_disk_is_waited_for_and_a_broken_one_ends_it(tmp_path, broken):
    async def run():
        async with at_work(tmp_path, MemoryBroker()) as parties:
            await claimed(parties)
            south, refusals = parties["south"], [StorageError("ledger.db: cannot be written: no space left")] * 3

            async def receive(message, raw, signature):
                if refusals:
                    south.store.broken = broken
                    raise refusals.pop()
                return await Party.receive(south, message, raw, signature)

            south.receive = receive
            await parties["north"].say(b"1")
            if broken:
                assert isinstance(await south.ended(), StorageError)
            else:
                await has_heard(south, {"say.north": [b"1"]})
                assert ("storage", "ledger.db: cannot be written: no space left") in south.seen.alarms

    asyncio.run(run())


def test_an_old_copy_claims_no_lane_and_the_true_one_goes_on_after_it(tmp_path):
    """In most of its lanes nothing was said since it was made; the others may end with an old word that was said again."""

    async def run():
        broker = MemoryBroker()
        async with at_work(tmp_path, broker) as parties:
            north = parties["north"]
            await claimed(parties)
            old = north.copy_to(tmp_path / "backup")
            await north.say(b"since then", to="west")
            await has_heard(parties["west"], {"to.north": [b"since then"]})
            await north.stop()
            words = [word for word in broker.words if word[0].endswith(".north")]
            await old.start(wire_of(broker, old))
            assert isinstance(await old.ended(), FencedError)
            await old.stop()
            assert [word for word in broker.words if word[0].endswith(".north")] == words
            await north.start(wire_of(broker, north))
            await until(north.post.claimed.is_set)

    asyncio.run(run())


def test_an_old_copy_is_stopped_where_the_true_one_was_killed_while_it_said_words_again(tmp_path):
    async def run():
        broker = MemoryBroker()
        async with at_work(tmp_path, broker) as parties:
            north = parties["north"]
            await claimed(parties)
            old = north.copy_to(tmp_path / "backup")
            for word in (b"1", b"2"):
                await north.say(word)
            await has_heard(parties["south"], {"say.north": [b"1", b"2"]})
            for party in parties.values():
                await party.stop()
            subject = Lanes(north.federation, "north").subject("say")
            said = {decode(data[SIGNATURE:]).seq: data for its, data in broker.words if its == subject}
            mark = mark_of(said[1][SIGNATURE:], said[max(said)][SIGNATURE:])
            await broker.append(subject, said[1], beyond=signed(north.keys.sign, subject, mark).hex())
            words = list(broker.words)
            await old.start(wire_of(broker, old))
            assert isinstance(await old.ended(), FencedError)
            await old.stop()
            assert broker.words == words
            await north.start(wire_of(broker, north))
            await until(north.post.claimed.is_set)
            assert [data for its, data in broker.words[len(words) :] if its == subject][: len(said) - 1] == [
                said[seq] for seq in sorted(said)[1:]
            ]

    asyncio.run(run())


def test_a_mark_that_others_have_made_stops_nobody(tmp_path):
    async def run():
        broker = MemoryBroker()
        async with at_work(tmp_path, broker) as parties:
            north, west = parties["north"], parties["west"]
            await claimed(parties)
            subject = Lanes(north.federation, "north").subject("say")
            word = next(data for its, data in broker.words if its == subject)
            forged = signed(west.keys.sign, subject, mark_of(word[SIGNATURE:], b"never said")).hex()
            other = signed(north.keys.sign, subject, mark_of(b"another word", b"never said")).hex()
            for mark in ("0" * 64, "no hexadecimal", forged, other):
                await broker.append(subject, word, beyond=mark)
                await north.say(mark.encode())
            await has_heard(parties["south"], {"say.north": [b"0" * 64, b"no hexadecimal", forged.encode(), other.encode()]})

    asyncio.run(run())


async def stubborn(lost, times):
    """Loses so many cancellations."""
    while True:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            if len(lost) == times:
                raise
            lost.append(True)


def test_who_loses_a_cancellation_is_cancelled_again():
    async def run():
        lost = []
        tasks = [asyncio.create_task(stubborn(lost, 2))]
        await asyncio.sleep(0)
        async with asyncio.timeout(20):
            await end(tasks)
        assert tasks[0].cancelled() and len(lost) == 2

    asyncio.run(run())


def test_who_is_cancelled_while_it_ends_others_leaves_none_of_them(monkeypatch):
    """A member's own end is cancelled again where it takes its time. One task was left, and turned for ever."""
    monkeypatch.setattr(post, "MOMENT", 0.01)

    async def run():
        lost, inner = [], []

        async def member():
            inner.append(asyncio.create_task(stubborn(lost, 5)))
            try:
                await asyncio.wait(inner)
            finally:
                await end(inner)

        outer = asyncio.create_task(member())
        while not inner:
            await asyncio.sleep(0)
        try:
            async with asyncio.timeout(20):
                await end([outer])
            assert outer.cancelled() and inner[0].cancelled() and len(lost) == 5
        finally:
            await end(inner)

    asyncio.run(run())


def test_of_one_batch_no_word_of_an_earlier_start_is_taken_after_one_of_a_later(tmp_path):
    async def run():
        broker, federation = MemoryBroker(), make_parties(tmp_path)
        key, subject = load_keys(tmp_path / "north").sign, Lanes(federation, "north").subject("say")
        for seq, start in ((1, 3), (2, 2)):
            word = sealer(federation, "north", start)("say", seq, Word("say", 1, b""), bytes(32))
            await broker.append(subject, signed(key, subject, word))
        south = Party(tmp_path / "south", federation, "south")

        async def receive(*word):
            await asyncio.sleep(0.01)  # as a disk does
            return await Party.receive(south, *word)

        south.receive = receive
        await south.start(wire_of(broker, south))
        await until(lambda: not broker.waiting["south"])
        assert await south.heard() == {"say.north": [b""]}
        assert south.seen.rejected == {"stale": 1}
        await south.stop()

    asyncio.run(run())


class QuietWire(MemoryWire):
    """Nothing comes for a while: at once. The words with these numbers never come."""

    quiet, lost = 0, ()

    async def receive(self, wait):
        for number in self.lost:
            self.broker.waiting[self.name].pop(number, None)
        found = await super().receive(wait=False)
        self.quiet += not found
        return found


def quiet_wire(broker, party):
    wire_of(broker, party)
    return QuietWire(broker, party.name)


def test_a_gap_that_nobody_closes_is_told_a_few_times_and_not_for_ever(tmp_path):
    """Hellos of one who lacks a word break the silence for the others who lack it."""

    async def run():
        broker, federation = MemoryBroker(), make_parties(tmp_path)
        key, subject = load_keys(tmp_path / "north").sign, Lanes(federation, "north").subject("say")
        word = sealer(federation, "north", 1)("say", 2, Word("say", 1, b""), bytes(32))
        await broker.append(subject, signed(key, subject, word))
        parties = [Party(tmp_path / name, federation, name) for name in ("south", "west")]
        for party in parties:
            await party.start(quiet_wire(broker, party))
        await until(lambda: all(party.wire.quiet > 300 for party in parties))
        for party in parties:
            said = [data for subject, data in broker.words if subject.endswith(f".{party.name}")]
            assert all(decode(data[SIGNATURE:]).kind == "hello" for data in said)
            assert 9 < len(said) <= 3 * (2 + 9)  # in each lane a claim, what is missing, and that after 1, 2, 4 .. 256 moments
            await party.stop()

    asyncio.run(run())


def test_a_gap_in_the_own_lane_is_closed(tmp_path):
    """Where all count for themselves a member hears its own words, too, in the order of the stream."""

    async def run():
        broker, federation = MemoryBroker(), make_parties(tmp_path, "ddp-mab")
        north = Party(tmp_path / "north", federation, "north")
        await north.start(quiet_wire(broker, north))
        north.wire.lost = (2, 3, 4)
        for _ in range(4):
            await north.post._say_hello(["say"])
        query = "SELECT seq FROM inbox ORDER BY seq"

        async def whole():
            seqs = [seq for (seq,) in await north.store.do(lambda c: c.execute(query).fetchall())]
            return len(seqs) > 4 and seqs == list(range(1, len(seqs) + 1))

        await until(whole)
        await north.stop()

    asyncio.run(run())
