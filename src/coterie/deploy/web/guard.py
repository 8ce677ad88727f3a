"""Who may say what: the host that was meant, the token for writing, and how much is read at all."""

import hmac
import re
import secrets
from collections.abc import Collection, Mapping
from pathlib import Path

from starlette.types import ASGIApp, Receive, Scope, Send

from coterie import files
from coterie.deploy.keys import write_private
from coterie.deploy.web.answers import refusal
from coterie.errors import AuthError

BODY_MOST = 4096
READING = ("GET", "HEAD")
LOOPBACK = ("localhost", "127.0.0.1", "::1")
TOKEN = re.compile(r"[A-Za-z0-9_-]{32,200}")
LENGTH = re.compile(r"[0-9]{1,20}")  # more digits are no size of anything, and take long to read


def token_of(path: Path) -> str:
    """What writers must show; made on first use, in a file that only its owner reads."""
    if not path.exists():
        write_private(path, secrets.token_urlsafe(24) + "\n")
    if path.stat().st_mode & 0o077:
        raise AuthError(f"{path}: others can read this token: `chmod 600 {path}`, and make a new one by deleting it")
    found = files.read(path).decode("ascii", "replace").strip()
    if not TOKEN.fullmatch(found):  # of an empty file anybody knows the token
        wanted = "token must be 32 to 200 letters, digits, - or _"
        raise AuthError(f"{path}: {wanted}, got {len(found)} characters: delete the file, and one is made at the next start")
    return found


class Guard:
    """Asked before anything else looks at a request.

    `hosts` are the names under which this listener may be called, so that no page of elsewhere can reach it by a name of its
    own; None: any, on a socket that no browser reaches.
    """

    def __init__(self, app: ASGIApp, token: str, hosts: Collection[str] | None):
        self.app, self.token, self.hosts = app, token.encode(), None if hosts is None else frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = {name: value.decode("latin-1") for name, value in reversed(scope["headers"])}  # of two, the first
        length = headers.get(b"content-length", "0")
        refused = (
            self._host(scope, headers)
            or (not LENGTH.fullmatch(length) and (400, "Content-Length must be a whole number of at most 20 digits"))
            or (scope["method"] not in READING and self._token(headers))
            or (int(length) > BODY_MOST and (413, f"a body must be at most {BODY_MOST} bytes"))
        )
        if refused:
            await refusal(*refused)(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    def _host(self, scope: Scope, headers: Mapping[bytes, str]) -> tuple[int, str] | None:
        if sum(name == b"host" for name, _ in scope["headers"]) > 1:
            return 400, "Host must be said once"
        if self.hosts is None or bare(headers.get(b"host", "")) in self.hosts:
            return None
        return 421, f"Host must be {' or '.join(sorted(self.hosts))}"

    def _token(self, headers: Mapping[bytes, str]) -> tuple[int, str] | None:
        kind, _, given = headers.get(b"authorization", "").partition(" ")
        given = given.strip()
        if kind.lower() != "bearer" or not given:
            return (
                401,
                "writing needs a header `Authorization: Bearer TOKEN`, with what the file `token` of the folder holds",
            )
        if not hmac.compare_digest(given.encode(), self.token):
            return 403, "the token is not this agent's; it is in the file `token` of its folder"
        return None


def bare(host: str) -> str:
    """A host without its port.

    >>> bare("localhost:8401"), bare("[::1]:8401"), bare("north.example")
    ('localhost', '::1', 'north.example')
    """
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower()
