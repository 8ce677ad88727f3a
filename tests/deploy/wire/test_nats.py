"""The wire over a real server: words, a server from a backup, keys that change, and keys that do not do."""

import asyncio
import datetime
import json
import shutil
import signal
from types import SimpleNamespace

import pytest
from parties import NAMES, Party, at_work, broker_of, has_heard, make_parties, public_line, rewrite, until

from coterie.deploy.keys import make_keys
from coterie.deploy.wire.broker import CONFIGURATION, HOLDER, lay_out, write_broker
from coterie.deploy.wire.nats import NatsWire
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
