"""The wire over a real server: words, a server from a backup, keys that change, and keys that do not do."""

import asyncio
import datetime
import json
import shutil
import signal
from types import SimpleNamespace

import nats
import nats.errors
import pytest
from parties import NAMES, Party, at_work, broker_of, has_heard, make_parties, public_line, rewrite, until

from coterie.deploy.keys import load_keys, make_keys, read_private
from coterie.deploy.wire.broker import CONFIGURATION, HOLDER, OWNER, lay_out, write_broker
from coterie.deploy.wire.lanes import stream_of
from coterie.deploy.wire.nats import ONCE, NatsWire
from coterie.errors import AuthError, UsageError


@pytest.mark.parametrize("tls", [False, True])
def test_words_come_through(tmp_path, tls):
    async def run():
        federation = make_parties(tmp_path, tls=tls)
        with broker_of(federation, tmp_path):
            async with at_work(tmp_path, federation) as parties:
                for i in range(20):
                    for name in NAMES:
                        await parties[name].say(f"{name} {i}".encode())
                await parties["north"].say(b"for south", to="south")
                said = {name: [f"{name} {i}".encode() for i in range(20)] for name in NAMES}
                await has_heard(parties["north"], {f"say.{name}": said[name] for name in ("south", "west")})
                south = {f"say.{name}": said[name] for name in ("north", "west")} | {"to.north": [b"for south"]}
                await has_heard(parties["south"], south)

    asyncio.run(run())


def test_a_broker_from_an_older_copy_gets_its_words_again_without_a_sound(tmp_path):
    async def run():
        federation = make_parties(tmp_path)
        with broker_of(federation, tmp_path) as broker:
            async with at_work(tmp_path, federation) as parties:
                said = [b"%d" % i for i in range(30)]
                for word in said[:10]:
                    await parties["north"].say(word)
                await has_heard(parties["south"], {"say.north": said[:10]})
                broker.stop()
                shutil.copytree(tmp_path / "broker" / "store", tmp_path / "backup")
                broker.start()
                for word in said[10:20]:
                    await parties["north"].say(word)
                await has_heard(parties["south"], {"say.north": said[:20]})
                broker.stop()
                shutil.rmtree(tmp_path / "broker" / "store")
                shutil.copytree(tmp_path / "backup", tmp_path / "broker" / "store")
                broker.start()
                end = parties["north"].post.own["say"]
                last = parties["north"].wire.last
                await until(lambda: is_said(last, end.subject, said[19]))
                for word in said[20:]:
                    await parties["north"].say(word)
                for name in ("south", "west"):
                    await has_heard(parties[name], {"say.north": said})
                assert not any(party.task.done() for party in parties.values())
                assert not any(kind == "quarantine" for party in parties.values() for kind, _ in party.seen.alarms)

    asyncio.run(run())


@pytest.mark.parametrize("deleted", ["stream", "consumer"])
def test_what_is_gone_while_the_connection_lives_is_told_and_made_up_for(tmp_path, deleted):
    """The owner deletes the stream, or north's consumer, and makes it again: nobody connects anew, or says anything new."""

    async def run():
        federation = make_parties(tmp_path)
        with broker_of(federation, tmp_path):
            async with at_work(tmp_path, federation) as parties:
                north, clients = parties["north"], [party.wire.client for party in parties.values()]
                await north.say(b"1")
                await parties["south"].say(b"of south")
                await has_heard(parties["west"], {"say.north": [b"1"], "say.south": [b"of south"]})
                owner = await nats.connect(federation.broker.address, nkeys_seed_str=read_private(tmp_path / "broker" / OWNER))
                admin, stream = owner.jetstream(), stream_of(federation)
                before = await words_of_lanes(admin, stream)
                if deleted == "stream":
                    await admin.delete_stream(stream)
                    await until(lambda: not any(party.seen.connected for party in parties.values()))
                else:
                    await admin.delete_consumer(stream, "north")
                    await until(lambda: north.seen.connected is False)
                assert any("has no stream" in text and "or no consumer" in text for _, text in north.seen.alarms)
                assert await lay_out(federation, tmp_path / "broker")
                await until(lambda: all(party.seen.connected and not party.seen.unsent for party in parties.values()))
                await until(lambda: holds(admin, stream, before))
                await north.say(b"2")
                await has_heard(parties["west"], {"say.north": [b"1", b"2"], "say.south": [b"of south"]})
                await parties["south"].say(b"more")
                await has_heard(north, {"say.south": [b"of south", b"more"]})
                assert [party.wire.client for party in parties.values()] == clients
                assert not any(party.task.done() for party in parties.values())
                await owner.close()

    asyncio.run(run())


async def words_of_lanes(admin, stream):
    return (await admin.stream_info(stream, subjects_filter=">")).state.subjects or {}


async def holds(admin, stream, expected):
    """Whether each lane has at least as many words; hellos may have been said since."""
    found = await words_of_lanes(admin, stream)
    return all(found.get(subject, 0) >= count for subject, count in expected.items())


def test_a_reload_takes_no_word_from_those_who_are_connected(tmp_path):
    """It forgets the requests that stand; they are made again over the same connections."""

    async def run():
        federation = make_parties(tmp_path)
        with broker_of(federation, tmp_path) as broker:
            async with at_work(tmp_path, federation) as parties:
                clients = [party.wire.client for party in parties.values()]
                larger = make_parties(tmp_path, names=(*NAMES, "east"), broker=federation.tables["broker"])
                found = json.loads((tmp_path / "broker" / CONFIGURATION).read_text())
                write_broker(larger, tmp_path / "broker", always_sync=True)
                more = json.loads((tmp_path / "broker" / CONFIGURATION).read_text())["accounts"]
                found["accounts"][HOLDER]["exports"] += [e for e in more[HOLDER]["exports"] if e["accounts"] == ["member-east"]]
                found["accounts"]["member-east"] = more["member-east"]
                (tmp_path / "broker" / CONFIGURATION).write_text(json.dumps(found))
                broker.process.send_signal(signal.SIGHUP)
                await until(lambda: known(larger, tmp_path / "east"))
                for i in range(5):
                    await parties["north"].say(b"%d" % i)
                for name in ("south", "west"):
                    await has_heard(parties[name], {"say.north": [b"%d" % i for i in range(5)]})
                assert [party.wire.client for party in parties.values()] == clients
                assert not any("broker" in kind for party in parties.values() for kind, _ in party.seen.alarms)

    asyncio.run(run())


async def known(federation, folder):
    try:
        client = await nats.connect(federation.broker.address, nkeys_seed_str=load_keys(folder).seed, **ONCE)
    except (nats.errors.Error, OSError):
        return False
    await client.close()
    return True


@pytest.mark.parametrize("headers", [None, {"Status": "503"}])
def test_empty_words_of_one_do_not_keep_those_of_others_back(tmp_path, headers):
    """A server takes an empty answer for the last one: what it sends after it is lost, and comes again only later."""

    async def run():
        federation = make_parties(tmp_path)
        with broker_of(federation, tmp_path):
            async with at_work(tmp_path, federation) as parties:
                lane, client = parties["west"].post.own["say"], parties["west"].wire.client
                for i in range(100):
                    await client.publish(lane.subject, b"", headers=headers)
                    if i % 10 == 0:
                        await parties["north"].say(b"%d" % i)
                await has_heard(parties["south"], {"say.north": [b"%d" % i for i in range(0, 100, 10)]})
                south = parties["south"]
                assert not south.wire.gone and not any("broker" in kind for kind, _ in south.seen.alarms)
                assert bool(south.wire.one_by_one) is (headers is None)

    asyncio.run(run())


async def is_said(last, subject, body):
    """Whether the lane ends with this word; the broker may be away."""
    try:
        return (await last(subject)).data.endswith(body)
    except Exception:
        return False


def test_new_keys_while_the_run_goes_on(tmp_path):
    """The member sends its kept words again under its new key; of the old one nothing counts any more, and nobody connects."""

    async def run():
        federation = make_parties(tmp_path)
        with broker_of(federation, tmp_path) as broker:
            async with at_work(tmp_path, federation) as parties:
                await parties["west"].stop()  # away while south speaks under its old key
                await parties["south"].say(b"under the old key")
                await has_heard(parties["north"], {"say.south": [b"under the old key"]})
                stolen = parties["south"].copy_to(tmp_path / "stolen")
                for party in parties.values():
                    await party.stop()
                make_keys(tmp_path / "south", anew=True)
                tables = federation.tables | {"agents": [public_line(tmp_path, name) for name in NAMES]}
                renewed = rewrite(tmp_path, tables)
                assert renewed.run == federation.run
                write_broker(renewed, tmp_path / "broker", always_sync=True)
                broker.process.send_signal(signal.SIGHUP)
                await until(lambda: refused(stolen))
                for name in NAMES:
                    await parties[name].wire.close()
                    parties[name] = Party(tmp_path / name, renewed, name)
                    await parties[name].start(NatsWire(renewed, name, parties[name].keys))
                await parties["south"].say(b"under the new key")
                for name in ("north", "west"):
                    await has_heard(parties[name], {"say.south": [b"under the old key", b"under the new key"]})

    asyncio.run(run())


async def refused(party):
    """Whether the broker turns a member away, once it has read its new configuration."""
    wire = NatsWire(party.federation, party.name, party.keys)
    try:
        await wire.last("c")
    except AuthError as error:
        return "does not know the key" in str(error)
    except Exception:
        return False
    finally:
        await wire.close()


@pytest.mark.parametrize(
    "withheld", ["say.north", "CONSUMER.MSG.NEXT", "DIRECT.GET", "to.south.north"]
)  # fmt: skip
def test_a_permission_that_is_not_granted_is_named(tmp_path, withheld):
    async def run():
        federation = make_parties(tmp_path)
        write_broker(federation, tmp_path / "broker")
        broker = Withholding(federation, tmp_path / "broker", withheld)
        broker.start()
        try:
            async with at_work(tmp_path, federation, names=("north",)) as parties:
                error = await parties["north"].ended()
                assert isinstance(error, AuthError) and error.exit_code == 5
                assert withheld in str(error) and "does not grant north the subject" in str(error)
                assert not parties["north"].post.claimed.is_set()
        finally:
            broker.stop()

    asyncio.run(run())


class Withholding:
    """A broker whose owner forgot a subject."""

    def __init__(self, federation, folder, withheld):
        from coterie.deploy.wire import embedded

        self.broker, self.folder, self.withheld = embedded.EmbeddedBroker(federation, folder), folder, withheld
        self.write, self.embedded = embedded.write_broker, embedded

    def start(self):
        def write(*args, **kwargs):
            self.write(*args, **kwargs)
            found = json.loads((self.folder / CONFIGURATION).read_text())
            for user in (account["users"][0] for name, account in found["accounts"].items() if name != HOLDER):
                allowed = user["permissions"]["publish"]["allow"]
                user["permissions"]["publish"]["allow"] = [each for each in allowed if self.withheld not in each]
            (self.folder / CONFIGURATION).write_text(json.dumps(found))

        self.embedded.write_broker = write
        try:
            self.broker.start()
        finally:
            self.embedded.write_broker = self.write

    def stop(self):
        self.broker.stop()


def test_keys_and_certificates_that_do_not_do_end_a_start(tmp_path):
    async def run():
        federation = make_parties(tmp_path, tls=True)
        with broker_of(federation, tmp_path):
            assert await lay_out(federation, tmp_path / "broker")
            stranger = Party(tmp_path / "north", federation, "north")
            stranger.keys = make_keys(tmp_path / "stranger")
            await stranger.start(NatsWire(federation, "north", stranger.keys))
            error = await stranger.ended()
            assert isinstance(error, AuthError) and "does not know the key of north" in str(error)
            await stranger.stop()
            write_broker(federation, tmp_path / "other")
            shutil.copy(tmp_path / "other" / "ca.pem", tmp_path / "broker" / "ca.pem")
            north = Party(tmp_path / "north", federation, "north")
            await north.start(NatsWire(federation, "north", north.keys))
            error = await north.ended()
            assert isinstance(error, AuthError) and "its certificate does not do" in str(error)
            await north.stop()
            await north.wire.close()
            (tmp_path / "broker" / "ca.pem").unlink()
            with pytest.raises(UsageError, match=r"broker\.ca must be the path of a certificate"):
                NatsWire(federation, "north", north.keys)

    asyncio.run(run())


def test_a_broker_that_is_away_is_waited_for(tmp_path):
    async def run():
        federation = make_parties(tmp_path)
        north = Party(tmp_path / "north", federation, "north")
        await north.start(NatsWire(federation, "north", north.keys))
        await until(lambda: north.seen.connected is False)
        assert not north.post.claimed.is_set() and "does not answer" in north.seen.alarms[0][1]
        with broker_of(federation, tmp_path):
            await until(lambda: any("has no stream" in text for _, text in north.seen.alarms))
            assert await lay_out(federation, tmp_path / "broker")
            await until(north.post.claimed.is_set)
            await north.wire.close()
            await north.stop()

    asyncio.run(run())


def test_an_expired_certificate_does_not_do(tmp_path, monkeypatch):
    federation = make_parties(tmp_path, tls=True)
    past = SimpleNamespace(now=lambda zone: datetime.datetime.now(zone) - datetime.timedelta(days=1000))
    calendar = SimpleNamespace(datetime=past, UTC=datetime.UTC, timedelta=datetime.timedelta)
    with monkeypatch.context() as patched:
        patched.setattr("coterie.deploy.wire.broker.datetime", calendar)
        write_broker(federation, tmp_path / "broker")

    async def run():
        with broker_of(federation, tmp_path):
            north = Party(tmp_path / "north", federation, "north")
            await north.start(NatsWire(federation, "north", north.keys))
            error = await north.ended()
            assert isinstance(error, AuthError) and "expired" in str(error)
            await north.stop()

    asyncio.run(run())
