"""The listener: loopback or a unix socket; beyond loopback only with TLS."""

import asyncio
import contextlib
import ipaddress
import os
import re
import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import NamedTuple

import uvicorn

from coterie.deploy.web.app import Served, make_app
from coterie.deploy.web.guard import LOOPBACK, bare
from coterie.errors import StorageError, UsageError

BACKLOG = 256
BESIDES = {
    "http": "httptools", "ws": "none", "lifespan": "off", "access_log": False, "log_level": "critical", "server_header": False,
    "timeout_keep_alive": 30, "limit_concurrency": 1024, "backlog": BACKLOG, "timeout_graceful_shutdown": 1,
    "proxy_headers": False,
}  # fmt: skip


class Listen(NamedTuple):
    """Where to listen. `names` are further host names by which it is called; TLS needs both files."""

    host: str = "127.0.0.1"
    port: int = 8400
    unix: Path | None = None
    certificate: Path | None = None
    key: Path | None = None
    names: tuple[str, ...] = ()

    @property
    def address(self) -> str:
        if self.unix:
            return f"unix:{self.unix}"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.certificate else 'http'}://{host}:{self.port}/"

    @property
    def hosts(self) -> set[str] | None:
        return None if self.unix else {*LOOPBACK, self.host.lower(), *(name.lower() for name in self.names)}


def read_listen(text: str, certificate: Path | None = None, key: Path | None = None, names: tuple[str, ...] = ()) -> Listen:
    """`127.0.0.1:8400`, `[::1]:8400` or `unix:PATH`; checked before anything is opened.

    >>> read_listen("127.0.0.1:8401").address, read_listen("unix:/run/north.sock").address
    ('http://127.0.0.1:8401/', 'unix:/run/north.sock')
    """
    if text.startswith("unix:"):
        given = [name for name, value in (("--certificate", certificate), ("--key", key), ("--called", names)) if value]
        if given:
            raise UsageError(f"{given[0]} must be left out where --listen is unix:PATH, a socket without TLS or host, got one")
        if text == "unix:":
            raise UsageError("--listen must name a path behind unix:, got none")
        return Listen(unix=Path(text.removeprefix("unix:")))
    host, (_, _, port) = bare(text), text.rpartition(":")
    if not host or ":" not in text or not re.fullmatch(r"[0-9]{1,5}", port) or int(port) > 65535:
        raise UsageError(f"--listen must be ADDRESS:PORT with a port of at most 65535, or unix:PATH, got {text[:80]!r}")
    if (certificate is None) != (key is None):
        raise UsageError("--certificate and --key must be given together, got one of them")
    for path in (certificate, key):
        if path is not None and not path.is_file():
            raise UsageError(f"{path}: must be a file in PEM form, got none")
    if certificate is None and not is_loopback(host):
        raise UsageError(f"--listen must be an address of loopback or have --certificate and --key (TLS), got {host!r} without")
    return Listen(host, int(port), None, certificate, key, names)


def is_loopback(host: str) -> bool:
    """
    >>> is_loopback("localhost"), is_loopback("127.0.0.7"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@contextlib.contextmanager
def taken(listen: Listen) -> Iterator[tuple[Listen, socket.socket]]:
    """The address is ours inside, also before anyone answers there; with the port that was found if 0 was asked for."""
    sock = _bound_unix(listen.unix) if listen.unix else _bound(listen)
    try:
        yield listen if listen.unix else listen._replace(port=sock.getsockname()[1]), sock
    finally:
        sock.close()
        if listen.unix:
            listen.unix.unlink(missing_ok=True)


@contextlib.asynccontextmanager
async def serving(node: Served, token: str, listen: Listen, sock: socket.socket) -> AsyncIterator[None]:
    """The node answers inside."""
    server = _server(node, token, listen)
    running = asyncio.create_task(server.serve(sockets=[sock]))
    try:
        yield
    finally:
        server.should_exit = True
        await running


class _Quiet(uvicorn.Server):
    """Signals are for the program around it."""

    @contextlib.contextmanager
    def capture_signals(self):  # type: ignore[no-untyped-def]
        yield


def _server(node: Served, token: str, listen: Listen) -> uvicorn.Server:
    tls = {"ssl_certfile": str(listen.certificate), "ssl_keyfile": str(listen.key)} if listen.certificate else {}
    config = uvicorn.Config(make_app(node, token, listen.hosts), **BESIDES, **tls)  # type: ignore[arg-type]
    try:
        config.load()
    except OSError as error:
        wrong = error.strerror or error
        raise UsageError(f"{listen.certificate}: must be a certificate with its key in PEM form: {wrong}") from None
    return _Quiet(config)


def _bound(listen: Listen) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in listen.host else socket.AF_INET
        sock = socket.socket(family)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((listen.host, listen.port))
        sock.listen(BACKLOG)
    except OSError as error:
        raise UsageError(f"--listen {listen.host}:{listen.port} cannot be taken: {error.strerror}; name another") from None
    return sock


def _bound_unix(path: Path) -> socket.socket:
    """Its owner alone may connect. One that a dead process left is taken away."""
    sock = socket.socket(socket.AF_UNIX)
    try:
        if path.is_socket():
            with contextlib.suppress(ConnectionRefusedError), socket.socket(socket.AF_UNIX) as other:
                other.connect(str(path))
                raise UsageError(f"--listen unix:{path} is in use; name another")
            path.unlink()
        before = os.umask(0o177)
        try:
            sock.bind(str(path))
            sock.listen(BACKLOG)
        finally:
            os.umask(before)
    except OSError as error:
        raise StorageError(f"{path}: cannot be made: {error.strerror or error}") from None
    return sock
