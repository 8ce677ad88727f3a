"""Where a node listens, and where it must not."""

import datetime
import socket
import stat
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from coterie.deploy.web.serve import Listen, _server, read_listen, taken
from coterie.errors import StorageError, UsageError


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    """For localhost, signed by itself."""
    key, folder = ec.generate_private_key(ec.SECP256R1()), tmp_path_factory.mktemp("tls")
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    start = datetime.datetime(2020, 1, 1)
    made = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(1)
        .not_valid_before(start).not_valid_after(start.replace(year=2120))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True).sign(key, hashes.SHA256())
    )  # fmt: skip
    plain = serialization.NoEncryption()
    (folder / "cert.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain))
    return folder / "cert.pem", folder / "key.pem"


def test_beyond_loopback_it_speaks_tls(served, certificate):
    listen = read_listen("0.0.0.0:0", *certificate, names=("north.example",))
    with served(listen=listen) as place:
        assert place.listen.address.startswith("https://")
        assert place("GET", "/v1/state").status == 200
        assert place("GET", "/v1/state", Host="north.example").status == 200
        assert place("GET", "/v1/state", Host="evil.example").status == 421
        with socket.create_connection(("127.0.0.1", place.listen.port), 20) as plain:
            plain.sendall(b"GET /v1/state HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert not plain.recv(100).startswith(b"HTTP/")


@pytest.mark.parametrize("option, given", [("certificate", Path("c.pem")), ("key", Path("k.pem")), ("called", ("north",))])
def test_a_unix_socket_refuses_by_name_what_it_would_not_use(option, given):
    named = {"names" if option == "called" else option: given}
    with pytest.raises(UsageError, match=f"--{option} must be left out where --listen is unix:PATH"):
        read_listen("unix:/run/north.sock", **named)


def test_a_unix_socket_has_a_path():
    with pytest.raises(UsageError, match="--listen must name a path behind unix:, got none"):
        read_listen("unix:")


def test_a_unix_socket_is_its_owners_alone_and_one_of_the_dead_is_replaced(served, tmp_path):
    path = tmp_path / "north.sock"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    with served(listen=read_listen(f"unix:{path}")) as place:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert place("POST", "/v1/decisions", {"key": "a"}).status == 200
        assert place("GET", "/v1/state", Host="any.example").status == 200
        with pytest.raises(UsageError, match="is in use"):
            taken(Listen(unix=path)).__enter__()
    assert not path.exists()


def test_a_socket_that_cannot_be_made_is_said(tmp_path):
    with pytest.raises(StorageError, match="cannot be made"):
        taken(Listen(unix=tmp_path / "missing" / "x.sock")).__enter__()


def test_a_port_in_use_is_said():
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(UsageError, match=f"127.0.0.1:{port} cannot be taken"):
            taken(Listen(port=port)).__enter__()


@pytest.mark.parametrize(
    "text",
    ["", "8400", "localhost", "localhost:", "[::1]:http", "127.0.0.1:65536", "[::1]:-1", ":84", "[::1]:" + "0" * 5000 + "1"],
)
def test_what_is_no_address_is_refused(text):
    with pytest.raises(UsageError, match="--listen must be ADDRESS:PORT"):
        read_listen(text)


@pytest.mark.parametrize("text", ["0.0.0.0:8400", "[::]:8400", "192.0.2.7:8400", "north.example:8400"])
def test_beyond_loopback_without_tls_is_refused(text):
    with pytest.raises(UsageError, match="TLS"):
        read_listen(text)


def test_half_of_tls_and_files_that_are_not_there_are_refused(certificate, tmp_path):
    with pytest.raises(UsageError, match="must be given together"):
        read_listen("127.0.0.1:0", certificate[0])
    with pytest.raises(UsageError, match="must be a file"):
        read_listen("127.0.0.1:0", certificate[0], tmp_path / "none.pem")


def test_what_is_no_certificate_is_said(fake_node, certificate):
    key = certificate[1]
    with pytest.raises(UsageError, match="must be a certificate"):
        _server(fake_node(), "token", read_listen("127.0.0.1:0", key, key))


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "localhost"])
def test_loopback_needs_nothing(host):
    assert read_listen(f"{host}:8400") == Listen(host.strip("[]"), 8400)
