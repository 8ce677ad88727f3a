"""The broker's side: its configuration, certificates, the run's stream and one consumer for each member.

A member may append to its own lanes, look at their ends, and take and acknowledge what its own consumer has for it; nothing
else. Permissions alone do not do for that, as a server checks what is asked and not where the answer is sent: a member could
have its own word sent to any subject of its account, as a request of the server itself. So the stream is in an account of the
owner's, and each member in one without streams, into which exactly what it may use is imported: an answer stays in there.

Only public keys of members are needed. The configuration is JSON, which the server reads as its own format.
"""

import datetime
import ipaddress
import json
import ssl
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import nats
import nats.errors
import nats.js.errors
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from nats.js.api import AckPolicy, ConsumerConfig, DiscardPolicy, StorageType, StreamConfig

from coterie import files
from coterie.deploy.federation import Federation
from coterie.deploy.keys import new_seed, public_nkey, read_private, write_private
from coterie.deploy.wire.envelope import BYTES_MOST
from coterie.deploy.wire.lanes import Lanes, in_order_of_the_stream, stream_of
from coterie.deploy.wire.nats import ABOUT, ONCE, PULL
from coterie.errors import AuthError, StorageError, UsageError

CONFIGURATION, OWNER = "broker.json", "owner.key"
HOLDER = "holder"  # the account of the stream
AUTHORITY, AUTHORITY_KEY, CERTIFICATE, CERTIFICATE_KEY = "ca.pem", "ca.key", "broker.pem", "broker.key"
STREAM_BYTES = 1 << 30
ACK_WAIT = 2.0  # seconds until a word that was not acknowledged comes again
PEM = serialization.Encoding.PEM


def write_broker(federation: Federation, out: Path, *, always_sync: bool = False) -> None:
    """All the files a broker needs. Run again, it keeps certificates and the owner's key, and writes the configuration anew."""
    if federation.broker is None:
        raise UsageError(f"{federation.place}: broker must be a table with an address, got nothing: nobody here speaks")
    files.make_folder(out)
    out.chmod(0o700)
    if not (out / OWNER).exists():
        write_private(out / OWNER, new_seed() + "\n")
    parts = urlsplit(federation.broker.address)
    if parts.scheme == "tls" and not (out / CERTIFICATE).exists():
        make_certificates(out, str(parts.hostname))
    files.write(out / CONFIGURATION, json.dumps(configuration(federation, out, always_sync), indent=1) + "\n")


def configuration(federation: Federation, out: Path, always_sync: bool = False) -> dict[str, Any]:
    assert federation.broker is not None
    parts, out = urlsplit(federation.broker.address), out.resolve()
    store: dict[str, Any] = {"store_dir": str(out / "store")} | ({"sync_interval": "always"} if always_sync else {})
    found: dict[str, Any] = {
        "host": parts.hostname,
        "port": parts.port,
        "max_payload": BYTES_MOST,
        "max_connections": 10 * len(federation.members) + 10,
        "ping_interval": "5s",
        "jetstream": store,
        "accounts": accounts(federation, public_nkey(read_private(out / OWNER))),
        "authorization": {"timeout": 5},
    }
    if parts.scheme == "tls":
        found["tls"] = {"cert_file": str(out / CERTIFICATE), "key_file": str(out / CERTIFICATE_KEY), "timeout": 5}
    return found


def accounts(federation: Federation, owner: str) -> dict[str, Any]:
    """The owner's, which holds the stream and exports each subject to the one member that may use it, and one for each."""
    exports, found = [], {}
    for member in federation.members:
        account, subjects = account_of(member.name), uses(federation, member.name)
        exports += [exported(subject) | {"accounts": [account]} for subject in subjects]
        found[account] = {
            "users": [{"nkey": member.connects, "permissions": permissions(federation, member.name)}],
            "imports": [{"service": {"account": HOLDER, "subject": subject}} for subject in subjects],
        }
    return {HOLDER: {"jetstream": "enabled", "users": [{"nkey": owner}], "exports": exports}} | found


def account_of(name: str) -> str:
    return f"member-{name}"


def exported(subject: str) -> dict[str, Any]:
    """A request for words has many answers, for as long as it stands."""
    if subject.startswith("$JS.API.CONSUMER.MSG.NEXT."):
        return {"service": subject, "response_type": "stream", "response_threshold": f"{4 * int(PULL)}s"}
    return {"service": subject}


def uses(federation: Federation, name: str) -> list[str]:
    """What a member may send to the stream."""
    lanes = Lanes(federation, name)
    own = [lanes.subject(lane) for lane in lanes.own]
    shown = [f"$JS.API.DIRECT.GET.{lanes.stream}.{subject}" for subject in own]
    return [*own, *shown, f"$JS.API.CONSUMER.MSG.NEXT.{lanes.stream}.{name}", f"$JS.ACK.{lanes.stream}.{name}.>"]


def permissions(federation: Federation, name: str) -> dict[str, Any]:
    """The same once more, within its own account; and it may ask whether that has streams, which it must not."""
    return {"publish": {"allow": [*uses(federation, name), ABOUT]}, "subscribe": {"allow": [f"_INBOX_{name}.>"]}}


async def lay_out(federation: Federation, out: Path) -> bool:
    """Make the run's stream and its consumers, as the broker's owner. False: the broker does not run."""
    assert federation.broker is not None
    trust = ssl.create_default_context(cafile=out / AUTHORITY) if (out / AUTHORITY).exists() else None
    try:
        client = await nats.connect(
            federation.broker.address, nkeys_seed_str=read_private(out / OWNER), tls=trust, error_cb=_ignore, **ONCE
        )
    except (nats.errors.Error, OSError, TimeoutError) as error:
        if "authorization" in str(error).lower():
            raise AuthError(f"the broker at {federation.broker.address} does not know the key {out / OWNER}") from None
        return False
    try:
        stream = client.jetstream()
        await _made(stream.add_stream, stream.update_stream, stream_configuration(federation))
        for member in federation.members:
            wanted = consumer_configuration(federation, member.name)
            await stream.add_consumer(stream_of(federation), wanted)
    except nats.js.errors.APIError as error:
        raise StorageError(f"the broker refuses to make the stream of the run: {error.description}") from None
    finally:
        await client.close()
    return True


async def _made(add: Any, update: Any, wanted: StreamConfig) -> None:
    try:
        await add(wanted)
    except nats.js.errors.BadRequestError:  # it is there, with other settings
        await update(wanted)


async def _ignore(error: Exception) -> None:
    """The call that failed says it, too."""


def stream_configuration(federation: Federation) -> StreamConfig:
    """Nothing is ever dropped from it or deleted: what is there was said."""
    prefix = f"c.{federation.run.hex()[:16]}"
    return StreamConfig(
        name=stream_of(federation), subjects=[f"{prefix}.say.*", f"{prefix}.to.*.*"], storage=StorageType.FILE,
        discard=DiscardPolicy.NEW, max_bytes=STREAM_BYTES, max_msg_size=BYTES_MOST, allow_direct=True, deny_delete=True,
        deny_purge=True,
    )  # fmt: skip


def consumer_configuration(federation: Federation, name: str) -> ConsumerConfig:
    """Where all must count in one order, a word comes only after the one before it was stored."""
    heard, pending = sorted(Lanes(federation, name).heard), 1 if in_order_of_the_stream(federation) else 1000
    return ConsumerConfig(
        durable_name=name, ack_policy=AckPolicy.EXPLICIT, ack_wait=ACK_WAIT, filter_subjects=heard, max_ack_pending=pending
    )


# --- certificates -------------------------------------------------------------------------------------


def make_certificates(out: Path, host: str) -> None:
    """An authority of the consortium's own, whose certificate goes to all members, and the broker's certificate."""
    now, day = datetime.datetime.now(datetime.UTC), datetime.timedelta(days=1)
    authority_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    authority_name = _named("coterie authority")
    usage = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
    authority = (
        x509.CertificateBuilder()
        .subject_name(authority_name)
        .issuer_name(authority_name)
        .public_key(authority_key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - day)
        .not_valid_after(now + 3650 * day)
        .add_extension(x509.BasicConstraints(True, 0), True)
        .add_extension(usage, True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(authority_key.public_key()), False)
        .sign(authority_key, hashes.SHA256())
    )
    certificate = (
        x509.CertificateBuilder()
        .subject_name(_named("coterie broker"))
        .issuer_name(authority_name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - day)
        .not_valid_after(now + 825 * day)
        .add_extension(x509.SubjectAlternativeName(_alternatives(host)), False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key()), False)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), False)
        .sign(authority_key, hashes.SHA256())
    )
    for name, private in ((AUTHORITY_KEY, authority_key), (CERTIFICATE_KEY, key)):
        form = (PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        write_private(out / name, private.private_bytes(*form).decode())
    files.write(out / AUTHORITY, authority.public_bytes(PEM))
    files.write(out / CERTIFICATE, certificate.public_bytes(PEM))


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _alternatives(host: str) -> list[x509.GeneralName]:
    """What the certificate stands for: the host of the address, and this machine."""
    found: list[x509.GeneralName] = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
    try:
        other: x509.GeneralName = x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        other = x509.DNSName(host)
    return found if other in found else [*found, other]
