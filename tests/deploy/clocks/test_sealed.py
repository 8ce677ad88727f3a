"""Secure sums among deployed members: what is opened is the sum, whoever vanishes when, and nobody spoils it unseen."""

import asyncio
import time

import pytest
from cast import Actor, differences, eager, memory_wires, nobody, perform, rehearsed, simulated, simulated_customers, until
from msgspec import msgpack
from parties import make_parties

from coterie.deploy.journal import unpack
from coterie.deploy.secure.shamir import to_bytes
from coterie.deploy.secure.sums import Member
from coterie.deploy.secure.words import Roll, Share, Sum, decode, encode
from coterie.deploy.stores import ledger
from coterie.deploy.wire.envelope import unseal
from coterie.deploy.wire.memory import Faults

CDP, POOLED = {"name": "cdp-mab", "noise": "secagg"}, {"name": "pooled-ucb", "noise": "secagg"}
HORIZON = {"cdp-mab": 700, "pooled-ucb": 150}


@pytest.mark.parametrize("algorithm", [CDP, POOLED], ids=str)
@pytest.mark.parametrize("faults", [Faults(), Faults(0.1, 0.1, 0.2, 0.3)], ids=["calm", "rough"])
def test_a_rehearsal_ends_in_the_simulators_bytes(tmp_path, algorithm, faults):
    """With the simulator's noise the opened sums are its sums, to the last step of the grid."""
    federation = rehearsed(tmp_path, algorithm, HORIZON[algorithm["name"]])
    nodes = asyncio.run(perform(tmp_path, federation, memory_wires(federation, faults=faults), simulated_customers))
    assert nodes[-1].server.t >= 2
    assert differences(nodes, simulated(federation)) == []
    assert not any(node.seen.rejected or node.seen.alarms for node in nodes)


def test_who_is_killed_at_any_moment_goes_on_with_the_same_words(tmp_path):
    """All are killed in the middle of epochs and started again, and end in the simulator's bytes."""
    federation = rehearsed(tmp_path, POOLED, HORIZON["pooled-ucb"])
    wires = memory_wires(federation)

    async def play():
        cast = [Actor(tmp_path, federation, member.name) for member in federation.members]
        for moment in range(25):
            for actor in cast:
                await actor.start(wires(actor.name), simulated_customers)
            for _ in range(60 + 7 * moment):
                await asyncio.sleep(0)
            for actor in cast:
                await actor.stop()
        return await perform(tmp_path, federation, wires, simulated_customers)

    assert differences(asyncio.run(play()), simulated(federation)) == []


# --- with the operating system's noise -----------------------------------------------------------------


class Hurried:
    """Twenty seconds pass in one: members who are awake have the time that an epoch gives them."""

    def __call__(self):
        return 20.0 * time.monotonic()

    async def sleep(self, seconds):
        await asyncio.sleep(seconds / 20.0)


class Stage:
    """Agents of a federation with real noise. What each has shared, and what was opened, is written down."""

    def __init__(self, folder, monkeypatch, algorithm=POOLED, **options):
        agents = options.pop("agents", ("a1", "a2", "a3", "a4"))
        options = {**algorithm, **options}
        self.federation = make_parties(folder, options, agents, horizon=100_000, epochs={"within": 20.0})
        self.wires = memory_wires(self.federation)
        self.cast = {member.name: Actor(folder, self.federation, member.name, Hurried()) for member in self.federation.members}
        self.shared, self.opened, real = {}, {}, Member.share

        def share(member, epoch, said, rows):
            self.shared[epoch, member.box.name] = rows
            return real(member, epoch, said, rows)

        monkeypatch.setattr(Member, "share", share)

    async def start(self, name, customers=eager):
        node = await self.cast[name].start(self.wires(name), customers)
        if name == "centre":
            hear = node.server.hear

            def note(t, sender, data):
                self.opened.setdefault(t, []).append((sender, data))
                return hear(t, sender, data)

            node.server.hear = note
        return node

    async def start_all(self, *but):
        return {name: await self.start(name) for name in self.cast if name not in but}

    def check_sums(self):
        """Of every epoch that was opened: each arm's sum is that of what those in it have shared."""
        for t, heard in self.opened.items():
            shared = [self.shared[t, sender] for sender, _ in heard]
            rows = read_rows(heard[0][1])
            for place, (arm, pulls, total) in enumerate(rows):
                assert [row[place][0] for row in shared] == [arm] * len(shared)
                assert pulls == sum(row[place][1] for row in shared)
                assert total == sum(row[place][2] for row in shared)
            assert all(not read_rows(data) for _, data in heard[1:])
        return len(self.opened)

    async def __aenter__(self):
        return self

    async def __aexit__(self, *problem):
        for actor in self.cast.values():
            await actor.stop()


def read_rows(data):
    words = [int.from_bytes(data[i : i + 8], "little", signed=True) for i in range(0, len(data), 8)]
    rows = words[len(words) - 1 - 3 * words[-1] : -1]
    return [tuple(rows[i : i + 3]) for i in range(0, len(rows), 3)]


@pytest.mark.parametrize("algorithm", [CDP, POOLED], ids=str)
def test_the_opened_sum_is_the_sum_of_the_noised_vectors_and_no_single_one_is_seen(tmp_path, monkeypatch, algorithm):
    async def play():
        async with Stage(tmp_path, monkeypatch, algorithm) as stage:
            nodes = await stage.start_all()
            await until(lambda: len(stage.opened) >= 2)
            assert stage.check_sums() >= 2
            for member in stage.federation.agents:
                released = await nodes[member.name].stores.ledger.do(ledger.releases)
                assert released and all(release.value == 0 for _, _, release in released)  # not even its own ledger has it
            assert not any(node.seen.rejected or node.seen.alarms for node in nodes.values())

    asyncio.run(play())


def is_in(centre, name):
    """Its share of the open epoch has come, and before the roll if that was said."""
    shares = [word.sender for word in centre.arrived if word.kind == "share" and word.turn == centre.server.t]
    rolled, chosen = msgpack.decode(centre.memo) if centre.memo else (0, [])
    return name in (chosen if rolled == centre.server.t else shares)


@pytest.mark.parametrize("step", ["before its share", "after its share", "after the roll"])
def test_a_member_may_vanish_at_every_step(tmp_path, monkeypatch, step):
    """One of four is killed; three are a quorum. The others go on, and the sums are right."""

    async def play():
        async with Stage(tmp_path, monkeypatch, quorum=3, colluders=0) as stage:
            nodes = await stage.start_all(*(["a4"] if step == "before its share" else []))
            centre = nodes["centre"]
            if step == "after its share":
                await until(lambda: is_in(centre, "a4"))
                await stage.cast["a4"].stop()
            elif step == "after the roll":
                nodes["a4"].reply = lambda *answer: asyncio.Event().wait()
                await until(lambda: centre.t >= 2)
            await until(lambda: centre.t >= 4)
            assert stage.check_sums() >= 3
            in_it = {sender for heard in stage.opened.values() for sender, _ in heard}
            assert {"a1", "a2", "a3"} <= in_it
            assert ("a4" in in_it) == (step != "before its share")

    asyncio.run(play())


def test_below_the_quorum_nothing_opens_until_somebody_comes_back(tmp_path, monkeypatch):
    async def play():
        async with Stage(tmp_path, monkeypatch, quorum=4, colluders=1) as stage:
            centre = await stage.start("centre")
            for name in ("a1", "a2", "a3"):
                await stage.start(name)
            await until(lambda: centre.seen.missing == ("a4",))
            for _ in range(300):
                await asyncio.sleep(0)
            assert (centre.t, stage.opened, centre.view().missing) == (1, {}, ("a4",))
            await stage.start("a4")
            await until(lambda: centre.t >= 2)
            assert stage.check_sums() == 1

    asyncio.run(play())


def test_a_second_roll_is_refused_and_told(tmp_path, monkeypatch):
    async def play():
        async with Stage(tmp_path, monkeypatch, quorum=3, colluders=0) as stage:
            nodes = await stage.start_all()
            centre, agent = nodes["centre"], nodes["a1"]
            await until(lambda: centre.t >= 2)
            await stage.cast["centre"].stop_tasks()
            centre.say("roll", encode(Roll((0, 1, 2), (0,), (b"x",) * 3)), to="a1", turn=1)
            await centre.commit()
            await stage.cast["centre"].stop()
            await stage.start("centre", nobody)
            await until(lambda: agent.seen.rejected["roll"] == 1)
            assert "a roll must be the first of its epoch, got another one of epoch 1" in agent.seen.alarms[-1].text
            answers = [word for word in await words_of(agent, "sum") if word.turn == 1]
            assert len(answers) == 1

    asyncio.run(play())


def test_a_holder_that_answers_falsely_voids_the_epoch_and_is_named_and_the_run_goes_on(tmp_path, monkeypatch):
    real = Member.answer

    def answer(member, epoch, roll):
        found = real(member, epoch, roll)
        lies = member.box.name == "a2" and epoch == 2
        return Sum(found.roll, to_bytes((7,) * len(roll.arms))) if lies else found

    async def play():
        async with Stage(tmp_path, monkeypatch, quorum=4, colluders=0, agents=("a1", "a2", "a3", "a4", "a5")) as stage:
            monkeypatch.setattr(Member, "answer", answer)
            nodes = await stage.start_all()
            await until(lambda: nodes["centre"].t >= 4)
            said = [alarm.text for alarm in nodes["centre"].seen.alarms]
            assert said == ["epoch 2: answers contradict each other: that of a2 is the false one"]
            assert 2 not in stage.opened and {1, 3} <= stage.opened.keys()
            stage.check_sums()

    asyncio.run(play())


def test_a_reporter_whose_pieces_do_not_open_is_named(tmp_path, monkeypatch):
    async def play():
        async with Stage(tmp_path, monkeypatch, quorum=3, colluders=0) as stage:
            good = Member.share

            def share(member, epoch, said, rows):
                found = good(member, epoch, said, rows)
                if (member.box.name, epoch) != ("a3", 1):
                    return found
                return Share(found.said, found.arms, found.pulls, (b"junk", *found.pieces[1:]))

            monkeypatch.setattr(Member, "share", share)
            nodes = await stage.start_all()
            await until(lambda: nodes["centre"].t >= 3)
            assert [alarm.text for alarm in nodes["centre"].seen.alarms] == ["epoch 1: pieces of a3 did not open at a1"]
            assert {1, 2} <= stage.opened.keys()  # the other three are enough
            stage.check_sums()

    asyncio.run(play())


def test_a_share_that_no_honest_agent_sends_takes_no_part(tmp_path, monkeypatch):
    async def play():
        async with Stage(tmp_path, monkeypatch, quorum=3, colluders=0) as stage:
            good = Member.share

            def share(member, epoch, said, rows):
                return Share(said, (1, 0), (1, 1), ()) if member.box.name == "a3" else good(member, epoch, said, rows)

            monkeypatch.setattr(Member, "share", share)
            nodes = await stage.start_all()
            await until(lambda: nodes["centre"].t >= 3)
            assert nodes["centre"].seen.rejected["fits"] >= 2
            assert {sender for heard in stage.opened.values() for sender, _ in heard} == {"a1", "a2", "a4"}

    asyncio.run(play())


def test_the_journal_has_no_nearly_raw_sum_and_tells_the_run_again(tmp_path, monkeypatch):
    async def play():
        async with Stage(tmp_path, monkeypatch) as stage:
            nodes = await stage.start_all()
            await until(lambda: nodes["a1"].t >= 3)
            node = nodes["a1"]
            await stage.cast["a1"].stop_tasks()
            notes = unpack(await node.stores.ledger.do(ledger.journal))
            assert all(set(note[2]) <= {0} for note in notes if note[1] == "noise")
            told = [decode(Share, word.body) for word in await words_of(node, "share")]
            assert told and all(len(share.pieces) == 4 for share in told)
            return notes

    notes = asyncio.run(play())
    assert any(note[1] == "noise" for note in notes)


async def words_of(node, kind):
    words = await node.stores.ledger.do(lambda c: ledger.outbox(c, "to.centre"))
    return [word for word in (unseal("to.centre", said.body) for said in words) if word.kind == kind]
