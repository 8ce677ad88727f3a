"""What a member sees of its broker: what is granted and must not be, tried with requests of which nothing comes."""

import asyncio
import json

import nats
import pytest
from parties import broker_of, make_parties

from coterie.deploy.keys import load_keys, read_private
from coterie.deploy.wire import broker
from coterie.deploy.wire.lanes import Lanes, stream_of
from coterie.deploy.wire.probe import by_answers, look


def seen(folder, federation):
    """What north is told, and whether the stream and its consumers are as before."""

    async def run():
        with broker_of(federation, folder):
            assert await broker.lay_out(federation, folder / "broker")
            address, seed = federation.broker.address, read_private(folder / "broker" / broker.OWNER)
            owner = await nats.connect(address, nkeys_seed_str=seed)
            admin, stream = owner.jetstream(), stream_of(federation)
            await admin.publish(Lanes(federation, "south").subject("say"), b"said")

            async def state():
                info, consumers = await admin.stream_info(stream), await admin.consumers_info(stream)
                taken = [(one.name, one.delivered.stream_seq, one.num_ack_pending, one.num_waiting) for one in consumers]
                return info.created, info.config, info.state.messages, taken

            before = await state()
            told = await look(federation, "north", load_keys(folder / "north"))
            assert await state() == before
            await owner.close()
            return told

    return asyncio.run(run())


def test_a_broker_as_it_is_written_grants_what_is_needed_and_nothing_else(tmp_path):
    told = seen(tmp_path, make_parties(tmp_path, "pooled-ucb"))
    assert told.granted == told.denied == []


@pytest.mark.parametrize("may_ask", [True, False])
def test_an_account_with_the_stream_in_it_is_told_and_nothing_comes_of_the_attempt(tmp_path, monkeypatch, may_ask):
    """Permissions alone, as an earlier version wrote them: answers reach what the member itself does not."""
    written = broker.configuration

    def together(*args):
        found = written(*args)
        users = [user for account in found.pop("accounts").values() for user in account["users"]]
        if not may_ask:
            for user in users[1:]:
                user["permissions"]["publish"]["allow"].remove("$JS.API.INFO")
        return json.loads(json.dumps(found | {"authorization": {"users": users}}))

    monkeypatch.setattr(broker, "configuration", together)
    federation = make_parties(tmp_path, "pooled-ucb")
    told = seen(tmp_path, federation)
    if may_ask:
        assert told.granted == by_answers(federation, "north") and told.denied == []
        assert f"answers to $JS.API.STREAM.DELETE.{stream_of(federation)}" in told.granted
    else:
        assert told.granted == [] and told.denied == ["$JS.API.INFO"]
