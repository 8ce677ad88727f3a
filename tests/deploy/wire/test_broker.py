"""The broker's side: certificates, configuration, and everything that a member may not do, tried on a real server."""

import asyncio
import json
import ssl
import stat

import nats
import pytest
from cryptography import x509
from parties import broker_of, make_parties, rewrite

from coterie.deploy.keys import load_keys
from coterie.deploy.wire.broker import (
    CERTIFICATE,
    CONFIGURATION,
    HOLDER,
    OWNER,
    account_of,
    consumer_configuration,
    lay_out,
    write_broker,
)
from coterie.deploy.wire.lanes import Lanes, stream_of
from coterie.errors import UsageError


def test_what_is_written_is_private_and_kept(tmp_path):
    federation, out = make_parties(tmp_path, tls=True), tmp_path / "broker"
    write_broker(federation, out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    write_broker(federation, out)
    assert before == {path.name: path.read_bytes() for path in out.iterdir()}
    assert all(stat.S_IMODE((out / name).stat().st_mode) == 0o600 for name in before if name.endswith(".key"))
    certificate = x509.load_pem_x509_certificate((out / CERTIFICATE).read_bytes())
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["localhost"]


def test_a_further_agent_changes_the_configuration_and_no_certificate(tmp_path):
    federation, out = make_parties(tmp_path, tls=True), tmp_path / "broker"
    write_broker(federation, out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    larger = make_parties(tmp_path, tls=True, names=("north", "south", "west", "east"))
    write_broker(larger, out)
    assert {path.name for path in out.iterdir() if path.read_bytes() != before[path.name]} == {CONFIGURATION}
    accounts = json.loads((out / CONFIGURATION).read_text())["accounts"].values()
    known = {user["nkey"] for account in accounts for user in account["users"]}
    assert known >= {member.connects for member in larger.members} and larger.run != federation.run


def test_no_secret_of_a_member_is_in_it(tmp_path):
    federation, out = make_parties(tmp_path), tmp_path / "broker"
    write_broker(federation, out)
    for name in ("north", "south"):
        for path in (tmp_path / name).iterdir():
            assert path.read_text().strip() not in (out / CONFIGURATION).read_text()


def test_alone_there_is_no_broker_to_set_up(tmp_path):
    tables = make_parties(tmp_path, "dp-ucb-int").tables
    del tables["broker"]
    with pytest.raises(UsageError, match="broker must be a table"):
        write_broker(rewrite(tmp_path, tables), tmp_path / "broker")


def test_where_all_count_in_one_order_one_word_is_under_way(tmp_path):
    assert consumer_configuration(make_parties(tmp_path, "ddp-mab"), "north").max_ack_pending == 1
    assert consumer_configuration(make_parties(tmp_path, "fed-ucb"), "north").max_ack_pending > 100


def test_a_broker_that_does_not_run_is_no_error(tmp_path):
    federation = make_parties(tmp_path)
    write_broker(federation, tmp_path / "broker")
    assert asyncio.run(lay_out(federation, tmp_path / "broker")) is False


def forbidden(stream, prefix):
    """What north must not publish, and what it must not read."""
    api, lanes = "$JS.API", ("say.south", "to.north.south", "to.west.south", "say.north.more")
    publish = [*(f"{prefix}.{lane}" for lane in lanes), "c.0123456789abcdef.say.north", "c", "anything"]
    publish += [f"$JS.ACK.{stream}.south.1.1.1.1.0", "_INBOX_south.words", "_INBOX.x"]
    publish += [f"{api}.DIRECT.GET.{stream}.{prefix}.say.south", f"{api}.DIRECT.GET.{stream}"]
    verbs = ("MSG.GET", "MSG.DELETE", "PURGE", "DELETE", "UPDATE", "INFO", "SNAPSHOT", "RESTORE", "CREATE", "LEADER.STEPDOWN")
    publish += [f"{api}.STREAM.{verb}.{stream}" for verb in verbs] + [f"{api}.STREAM.NAMES", f"{api}.STREAM.LIST"]
    verbs = ("MSG.NEXT", "DELETE", "INFO", "PAUSE", "CREATE", "DURABLE.CREATE", "UNPIN")
    publish += [f"{api}.CONSUMER.{verb}.{stream}.south" for verb in verbs]
    publish += [f"{api}.CONSUMER.{verb}.{stream}" for verb in ("CREATE", "LIST", "NAMES")]
    publish += ["$SYS.REQ.SERVER.PING", "$SYS.REQ.USER.INFO.X"]
    subscribe = [f"{prefix}.say.south", f"{prefix}.>", ">", "*", "_INBOX_south.>", "_INBOX.>", "$JS.>", "$JS.API.>", "$SYS.>"]
    return publish, [*subscribe, "$JS.EVENT.ADVISORY.>", "$JS.ACK.>"]


async def as_owner(federation, folder):
    return await nats.connect(federation.broker.address, nkeys_seed_str=(folder / "broker" / OWNER).read_text().strip())


def test_everything_a_member_may_not_do_is_denied(tmp_path):
    """Of each subject that it may not publish or read: the server says so, and nothing happens."""

    async def run():
        federation = make_parties(tmp_path)
        with broker_of(federation, tmp_path):
            assert await lay_out(federation, tmp_path / "broker")
            stream, prefix, denied = stream_of(federation), Lanes(federation, "north").prefix, []

            async def note(error):
                denied.append(str(error))

            keys = load_keys(tmp_path / "north")
            client = await nats.connect(
                federation.broker.address, nkeys_seed_str=keys.seed, inbox_prefix="_INBOX_north", error_cb=note
            )
            owner = await nats.connect(
                federation.broker.address, nkeys_seed_str=(tmp_path / "broker" / OWNER).read_text().strip()
            )
            admin = owner.jetstream()
            await client.publish(f"{prefix}.say.north", b"allowed")
            await client.flush()
            before = (await admin.stream_info(stream)).state.messages
            assert before == 1 and not denied
            publish, subscribe = forbidden(stream, prefix)
            for subject in publish:
                await client.publish(subject, b"{}", reply="_INBOX_north.x")
            for subject in subscribe:
                await client.subscribe(subject)
            await client.flush()
            await asyncio.sleep(0.2)
            for kind, subjects in (("publish", publish), ("subscription", subscribe)):
                for subject in subjects:
                    assert any(f'for {kind} to "{subject}"'.lower() in text.lower() for text in denied), subject
            assert (await admin.stream_info(stream)).state.messages == before
            assert {info.name for info in await admin.consumers_info(stream)} == {"north", "south", "west"}
            await client.close()
            await owner.close()

    asyncio.run(run())


def test_even_the_owner_of_the_broker_cannot_delete_words(tmp_path):
    async def run():
        federation = make_parties(tmp_path)
        with broker_of(federation, tmp_path):
            assert await lay_out(federation, tmp_path / "broker")
            owner = await nats.connect(
                federation.broker.address, nkeys_seed_str=(tmp_path / "broker" / OWNER).read_text().strip()
            )
            stream = owner.jetstream()
            await stream.publish(Lanes(federation, "north").subject("say"), b"said")
            for attempt in (stream.purge_stream(stream_of(federation)), stream.delete_msg(stream_of(federation), 1)):
                with pytest.raises(nats.js.errors.APIError):
                    await attempt
            await owner.close()

    asyncio.run(run())


def test_each_member_is_alone_in_an_account_without_streams(tmp_path):
    """What it may use is exported to it alone, and nothing else is imported."""
    federation, out = make_parties(tmp_path, "pooled-ucb"), tmp_path / "broker"
    write_broker(federation, out)
    accounts = json.loads((out / CONFIGURATION).read_text())["accounts"]
    holder = accounts.pop(HOLDER)
    assert len(accounts) == len(federation.members) == 4 and len(holder["users"]) == 1
    exported = {each["service"]: each["accounts"] for each in holder["exports"]}
    assert len(exported) == len(holder["exports"])
    for member in federation.members:
        account = accounts[account_of(member.name)]
        assert account.keys() == {"users", "imports"} and [user["nkey"] for user in account["users"]] == [member.connects]
        imported = {each["service"]["subject"] for each in account["imports"]}
        assert imported == {subject for subject, whose in exported.items() if whose == [account_of(member.name)]}
        assert all(subject.removesuffix(".>").endswith(f".{member.name}") for subject in imported)


def test_another_authority_does_not_do(tmp_path):
    federation = make_parties(tmp_path, tls=True)
    write_broker(federation, tmp_path / "other")
    write_broker(federation, tmp_path / "broker")
    with pytest.raises(ssl.SSLError):
        other = ssl.create_default_context(cafile=tmp_path / "other" / "ca.pem")
        with broker_of(federation, tmp_path):
            asyncio.run(_connect(federation, other))


async def _connect(federation, trust):
    await nats.connect(federation.broker.address, tls=trust, allow_reconnect=False, error_cb=_quiet)


async def _quiet(error):
    pass
