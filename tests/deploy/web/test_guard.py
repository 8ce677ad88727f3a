"""Who is let in: host, token, size."""

import os
import socket
import stat

import pytest

from coterie.deploy.web.guard import BODY_MOST, token_of
from coterie.errors import AuthError, StorageError

ONE = "/v1/decisions/0"
WRITES = [("POST", "/v1/decisions"), ("PUT", f"{ONE}/reward"), ("DELETE", ONE), ("PUT", "/v1/arms/aspirin/withheld")]
READS = ["/", "/v1/state", "/metrics", "/health/live", "/health/ready", "/openapi.json"]


@pytest.mark.parametrize("method, path", WRITES)
def test_writing_needs_the_token(place, method, path):
    without = place(method, path, {}, token=None)
    assert without.status == 401 and without.headers["www-authenticate"] == "Bearer"
    assert place(method, path, {}, token="another").status == 403
    assert place(method, path, {}, token=None, Authorization="Basic abc").status == 401
    assert place(method, path, {}, token="").status == 401


@pytest.mark.parametrize("method, path", WRITES)
def test_an_empty_token_never_matches_not_even_an_empty_one(served, method, path):
    for own in ("", "   ", "a token for tests"):
        with served(token=own) as place:
            for shown in ("", " ", "   ", "\t"):
                assert place(method, path, {}, token=shown).status == 401


@pytest.mark.parametrize("path", READS)
def test_reading_needs_none(place, path):
    assert place("GET", path, token=None).status == 200


def test_a_page_of_elsewhere_cannot_reach_it_by_a_name_of_its_own(place):
    for host in ("evil.example", "evil.example:8400", "", "127.0.0.1.evil.example", "localhost@evil.example"):
        assert place("GET", "/v1/state", Host=host).status == 421
        assert place("POST", "/v1/decisions", {}, Host=host).status == 421
    for host in ("localhost", "LOCALHOST:80", "127.0.0.1:1", "[::1]:8400"):
        assert place("GET", "/v1/state", Host=host).status == 200


def test_two_hosts_are_none(place):
    """Which of them a gateway before it has looked at, nobody knows."""
    for hosts in (b"Host: localhost\r\nHost: evil.example\r\n", b"Host: localhost\r\nhost: localhost\r\n"):
        with socket.create_connection(("127.0.0.1", place.listen.port), 20) as line:
            line.sendall(b"GET /v1/state HTTP/1.1\r\n" + hosts + b"\r\n")
            assert line.recv(200).startswith(b"HTTP/1.1 400")


def test_a_body_ends_at_four_kibibytes_whatever_its_header_says(place):
    fits = b'{"key": "a"}'.ljust(BODY_MOST)
    assert place("POST", "/v1/decisions", fits).status == 200
    assert place("POST", "/v1/decisions", fits + b" ").status == 413
    assert place("GET", "/v1/state", fits + b" ").status == 413
    assert in_pieces(place, 5 * [b" " * 1024]).startswith(b"HTTP/1.1 413")
    assert in_pieces(place, [b"{}", b" " * 1024]).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("length", [b"0" * 5000 + b"2", b"0" * 21, b"9" * 5000, b"-1", b"+2", b"2 2", b"0x2", b"\xb2", b"1e1"])
def test_a_length_that_nobody_can_read_is_a_bad_request(place, length):
    ways = (b"GET /v1/state", b"none"), (b"POST /v1/decisions", b"none"), (b"POST /v1/decisions", b"a token for tests")
    for way, token in ways:
        head = b"%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Length: %s\r\n\r\n{}"
        with socket.create_connection(("127.0.0.1", place.listen.port), 20) as line:
            line.sendall(head % (way, token, length))
            assert line.recv(200).startswith(b"HTTP/1.1 400")


def in_pieces(place, pieces):
    head = b"POST /v1/decisions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer a token for tests\r\n"
    head += b"Transfer-Encoding: chunked\r\n\r\n"
    with socket.create_connection(("127.0.0.1", place.listen.port), 20) as line:
        line.sendall(head + b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n")
        return line.recv(200)


def test_the_token_is_made_once_and_is_its_owners_alone(tmp_path):
    path = tmp_path / "token"
    first = token_of(path)
    assert len(first) >= 32 and token_of(path) == first
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    os.chmod(path, 0o640)
    with pytest.raises(AuthError, match="others can read this token"):
        token_of(path)


UNFIT = {
    "empty": "", "blank": " \n", "a word": "short", "short": "a" * 31, "long": "a" * 201, "spaced": "a b" * 20,
    "no letters of ours": "ä" * 32, "two": "a" * 32 + "\n" + "b" * 32,
}  # fmt: skip


@pytest.mark.parametrize("text", UNFIT.values(), ids=UNFIT)
def test_a_token_that_is_none_of_ours_is_refused_at_the_start(tmp_path, text):
    (tmp_path / "token").write_text(text, encoding="utf-8")
    (tmp_path / "token").chmod(0o600)
    with pytest.raises(AuthError, match="token must be 32 to 200 letters, digits, - or _, got") as refused:
        token_of(tmp_path / "token")
    assert not text.strip() or text.strip() not in str(refused.value)


def test_a_token_of_ones_own_of_that_form_is_taken(tmp_path):
    (tmp_path / "token").write_text("a-B_9" * 7)
    (tmp_path / "token").chmod(0o600)
    assert token_of(tmp_path / "token") == "a-B_9" * 7


def test_a_folder_that_cannot_be_written_is_said(tmp_path):
    with pytest.raises(StorageError, match="token"):
        token_of(tmp_path / "missing" / "token")
