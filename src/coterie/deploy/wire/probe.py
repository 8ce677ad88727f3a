"""A look at the broker with a member's own keys, also beside the member at work: nothing is said, taken or changed.

What must be denied is tried. If it is granted even so, nothing comes of it: the words that are sent ask for a place in their
lane that no lane has, and the requests are broken off in the middle, so that the broker refuses them as soon as it reads them.

Answers can be sent where a member may not write, and whoever sends one there does not see what comes of it. So the member asks
whether its account has streams: in one without, there is nothing to which an answer could go.
"""

import contextlib
import datetime
import socket
import ssl
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import urlsplit

import nats.errors
from cryptography import x509

from coterie.deploy.federation import Federation
from coterie.deploy.keys import Keys
from coterie.deploy.wire.lanes import Lanes
from coterie.deploy.wire.nats import ABOUT, PATIENCE, NatsWire, trust_of
from coterie.deploy.wire.wire import Last, Unreachable
from coterie.errors import AuthError, StorageError

BROKEN_OFF = b"{"
NOWHERE = {"Nats-Expected-Last-Subject-Sequence": str(2**60)}


class Told(NamedTuple):
    """By the broker: how each own lane ends, what it grants that it must not, and what it denies that a member needs."""

    ends: dict[str, Last]
    granted: list[str]
    denied: list[str]


async def look(federation: Federation, name: str, keys: Keys) -> Told:
    """AuthError: it does not know the key; StorageError: it does not answer, or lacks what the run needs."""
    lanes, wire = Lanes(federation, name), NatsWire(federation, name, keys, inbox="doctor")
    try:
        ends = {lane: await wire.last(lanes.subject(lane)) for lane in lanes.own}
        if not await wire.answers(wire.next_words, BROKEN_OFF):
            raise StorageError(f"the broker has no consumer for {name} in this run")
        publish, subscribe = forbidden(federation, name)
        needed = [*(lanes.subject(lane) for lane in lanes.own), wire.next_words, ABOUT]
        denied = await wire.denials([*publish, *needed], subscribe, BROKEN_OFF, NOWHERE)
        answers = by_answers(federation, name) if ABOUT not in denied and await wire.has_streams() else []
    except Unreachable as why:
        raise StorageError(str(why)) from None
    finally:
        await wire.close()
    return Told(ends, [*answers, *sorted({*publish, *subscribe} - denied)], sorted(set(needed) & denied))


def forbidden(federation: Federation, name: str) -> tuple[list[str], list[str]]:
    """What this member must not publish, and what it must not read."""
    lanes, api = Lanes(federation, name), "$JS.API"
    stream, prefix = lanes.stream, lanes.prefix
    others = [member.name for member in federation.members if member.name != name]
    publish = [f"{prefix}.say.{other}" for other in others]
    publish += [f"{api}.DIRECT.GET.{stream}.{prefix}.say.{other}" for other in others]
    publish += [f"{api}.CONSUMER.MSG.NEXT.{stream}.{other}" for other in others]
    publish += [f"$JS.ACK.{stream}.{other}.1.0.0.0.0" for other in others]
    publish += [f"{api}.STREAM.{verb}.{stream}" for verb in ("INFO", "UPDATE", "MSG.GET", "MSG.DELETE", "PURGE", "DELETE")]
    subscribe = [f"{prefix}.>", "$JS.API.>", *(f"_INBOX_{other}.>" for other in others)]
    return publish, subscribe


def by_answers(federation: Federation, name: str) -> list[str]:
    """What must be denied, too, as the place of an answer."""
    publish, _ = forbidden(federation, name)
    return [f"answers to {subject}" for subject in publish]


def ends_of_certificates(federation: Federation) -> dict[str, datetime.datetime]:
    """Until when the broker's certificate is good, and that of its authority. AuthError: it does not do; StorageError: away."""
    assert federation.broker is not None
    trust, parts = trust_of(federation), urlsplit(federation.broker.address)
    assert trust is not None
    found = {}
    if federation.broker.ca is not None:
        authority = x509.load_pem_x509_certificate((federation.folder / federation.broker.ca).read_bytes())
        found["that of its authority"] = authority.not_valid_after_utc
    host = str(parts.hostname)
    with _reached(federation.broker.address), socket.create_connection((host, parts.port), PATIENCE) as line:
        line.settimeout(PATIENCE)
        while not line.recv(1024).endswith(b"\r\n"):  # who it is, in the open; then it listens for TLS
            pass
        with trust.wrap_socket(line, server_hostname=host) as sealed:
            shown = sealed.getpeercert(binary_form=True)
    certificate = x509.load_der_x509_certificate(shown or b"")
    return {"the broker's": certificate.not_valid_after_utc} | found


@contextlib.contextmanager
def _reached(address: str) -> Iterator[None]:
    try:
        yield
    except ssl.SSLError as error:
        why = getattr(error, "verify_message", None) or error.reason
        raise AuthError(f"broker.address {address}: its certificate does not do: {why}") from None
    except (OSError, nats.errors.Error):
        raise StorageError(f"the broker at {address} does not answer") from None
