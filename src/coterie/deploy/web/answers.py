"""What an answer looks like: JSON, and for every refusal one line under `error`."""

from collections.abc import Mapping
from typing import Any

import msgspec
from starlette.types import Receive, Scope, Send

encode = msgspec.json.Encoder().encode
JSON = (b"content-type", b"application/json")


class Answer:
    """What is sent, as it is: questions and rewards come by the thousand, and a general response costs as much as they do."""

    def __init__(self, status: int, body: bytes = b"", headers: tuple[tuple[bytes, bytes], ...] = ()):
        self.start = {"type": "http.response.start", "status": status, "headers": headers}
        self.body = {"type": "http.response.body", "body": body}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send(self.start)
        await send(self.body)


def json(content: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    body = encode(content)
    more = [(name.lower().encode(), value.encode()) for name, value in headers.items()] if headers else ()
    return Answer(status, body, (JSON, (b"content-length", b"%d" % len(body)), *more))


def done() -> Answer:
    """There is nothing to be said."""
    return Answer(204)


def refusal(status: int, line: str) -> Answer:
    return json({"error": line}, status, {"WWW-Authenticate": "Bearer"} if status == 401 else None)
