"""A broker does not check where an answer goes: with only its own keys, north has answers sent where it may not write.

What is answered can be chosen, as the last word of an own lane is. Whatever is tried, it happens in an account of north's own,
in which there is nothing but what north may do.
"""

import asyncio
import contextlib
import json

import nats
import pytest
from nats.js.api import ConsumerConfig
from parties import at_work, broker_of, has_heard, make_parties

from coterie.deploy.keys import load_keys, read_private
from coterie.deploy.wire.broker import OWNER, lay_out, stream_configuration
from coterie.deploy.wire.lanes import Lanes

SECRET = b"only for the coordinator"


class Attack:
    """North's keys, and what it knows of the run: names, stream and lanes, which are in the public file."""

    def __init__(self, federation, client, admin):
        self.client, self.admin, self.heard = client, admin, []
        self.lanes = {name: Lanes(federation, name) for name in ("north", "south", "centre")}
        self.own, self.stream = self.lanes["north"].subject("say"), self.lanes["north"].stream
        self.wanted = stream_configuration(federation)

    async def have_sent(self, body, reply):
        """The broker sends this body to `reply`, as the last word of north's own lane."""
        await self.client.request(self.own, body)
        await self.client.publish(f"$JS.API.DIRECT.GET.{self.stream}.{self.own}", b"", reply=reply)
        await self.settle()

    async def settle(self):
        for _ in range(2):
            await self.client.flush()
        await asyncio.sleep(0.2)

    async def listen(self, inbox):
        async def note(message):
            self.heard.append(message.data)

        await self.client.subscribe(inbox, cb=note)

    async def state(self):
        """What nobody but the owner may change: the stream, its consumers, and the words of others."""
        info = await self.admin.stream_info(self.stream, subjects_filter=">")
        words = {subject: count for subject, count in (info.state.subjects or {}).items() if not subject.endswith(".north")}
        return info.created, info.config, words, sorted(each.name for each in await self.admin.consumers_info(self.stream))


@contextlib.asynccontextmanager
async def attacking(folder, federation):
    with broker_of(federation, folder):
        assert await lay_out(federation, folder / "broker")
        address, keys = federation.broker.address, load_keys(folder / "north")
        owner = await nats.connect(address, nkeys_seed_str=read_private(folder / "broker" / OWNER))
        client = await nats.connect(address, nkeys_seed_str=keys.seed, inbox_prefix="_INBOX_north", error_cb=quiet)
        attack = Attack(federation, client, owner.jetstream())
        south = attack.lanes["south"]
        await attack.admin.publish(south.subject("to.centre"), SECRET)
        await attack.admin.publish(south.subject("say"), b"said by south")
        before = await attack.state()
        try:
            yield attack
            assert await attack.state() == before
            assert SECRET not in b"".join(attack.heard) and b"said by south" not in b"".join(attack.heard)
        finally:
            await client.close()
            await owner.close()


async def quiet(error):
    pass


def tried(folder, attempt):
    """North does this, and the stream, its consumers and the words of others are as before."""

    async def run():
        async with attacking(folder, make_parties(folder, "pooled-ucb")) as attack:
            await attack.listen("_INBOX_north.spy")
            await attempt(attack)
            await attack.settle()

    asyncio.run(run())


def test_the_stream_cannot_be_deleted(tmp_path):
    tried(tmp_path, lambda attack: attack.have_sent(b"", f"$JS.API.STREAM.DELETE.{attack.stream}"))


def test_its_settings_cannot_be_changed(tmp_path):
    async def attempt(attack):
        wider = json.dumps(attack.wanted.evolve(max_bytes=1 << 20).as_dict()).encode()
        await attack.have_sent(wider, f"$JS.API.STREAM.UPDATE.{attack.stream}")

    tried(tmp_path, attempt)


@pytest.mark.parametrize("verb", ["CONSUMER.CREATE.{}.spy", "CONSUMER.DURABLE.CREATE.{}.spy", "CONSUMER.CREATE.{}"])
def test_the_words_of_others_cannot_be_read(tmp_path, verb):
    async def attempt(attack):
        durable = None if verb.endswith("{}") else "spy"
        wanted = ConsumerConfig(durable_name=durable, deliver_subject="_INBOX_north.spy", ack_policy="none").as_dict()
        body = json.dumps({"stream_name": attack.stream, "config": wanted}).encode()
        await attack.have_sent(body, "$JS.API." + verb.format(attack.stream))

    tried(tmp_path, attempt)


def test_a_word_of_another_cannot_be_asked_for(tmp_path):
    async def attempt(attack):
        wanted = json.dumps({"seq": 1}).encode()
        for subject in (f"$JS.API.STREAM.MSG.GET.{attack.stream}", f"$JS.API.DIRECT.GET.{attack.stream}"):
            await attack.have_sent(wanted, subject)
        lane = attack.lanes["south"].subject("say")
        await attack.have_sent(b"", f"$JS.API.DIRECT.GET.{attack.stream}.{lane}")

    tried(tmp_path, attempt)


@pytest.mark.parametrize("other", ["centre", "south"])
def test_no_answer_comes_to_stand_in_the_lane_of_another(tmp_path, other):
    """An acknowledgement, a last word, an answer to a pull, a trace: each is sent by the broker, and to where north says."""

    async def attempt(attack):
        for lane in attack.lanes[other].own:
            there = attack.lanes[other].subject(lane)
            await attack.client.publish(attack.own, b"junk", reply=there)
            await attack.have_sent(b"junk", there)
            take = f"$JS.API.CONSUMER.MSG.NEXT.{attack.stream}.north"
            await attack.client.publish(take, b'{"batch": 1, "no_wait": true}', reply=there)
            await attack.client.publish(take, b"{", reply=there)
            await attack.client.publish(f"$JS.ACK.{attack.stream}.north.1.1.1.1.0", b"+NXT", reply=there)
            await attack.client.publish(attack.own, b"junk", headers={"Nats-Trace-Dest": there})

    tried(tmp_path, attempt)


def test_what_another_has_to_take_cannot_be_taken_or_acknowledged(tmp_path):
    async def attempt(attack):
        await attack.have_sent(b'{"batch": 10}', f"$JS.API.CONSUMER.MSG.NEXT.{attack.stream}.centre")
        await attack.have_sent(b"+TERM", f"$JS.ACK.{attack.stream}.centre.1.1.1.1.0")
        found = await attack.admin.consumer_info(attack.stream, "centre")
        assert found.delivered.stream_seq == found.ack_floor.stream_seq == found.num_ack_pending == found.num_waiting == 0

    tried(tmp_path, attempt)


def test_nobody_is_blamed_for_what_another_tries(tmp_path):
    """The members at work hear nothing of it, and no alarm names somebody who did nothing."""

    async def run():
        federation = make_parties(tmp_path)
        with broker_of(federation, tmp_path):
            async with at_work(tmp_path, federation) as parties:
                lanes = {name: Lanes(federation, name) for name in parties}
                attacker = parties["west"].wire.client
                for i in range(3):
                    await attacker.publish(lanes["west"].subject("say"), b"junk", reply=lanes["north"].subject("say"))
                    await attacker.flush()
                    await parties["north"].say(b"after %d" % i)
                await has_heard(parties["south"], {"say.north": [b"after %d" % i for i in range(3)]})
                assert "junk" not in parties["north"].seen.rejected
                assert not any("lane of north" in text for party in parties.values() for _, text in party.seen.alarms)
                assert not any(party.task.done() for party in parties.values())

    asyncio.run(run())
