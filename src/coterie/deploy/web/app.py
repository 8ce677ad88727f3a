"""The endpoints around a node.

    POST   /v1/decisions                {"key": "visit 17"}: which arm to play; the same key, the same decision
    PUT    /v1/decisions/{id}/reward    {"reward": 1.0}: late, in any order; twice is once
    DELETE /v1/decisions/{id}           it was not carried out
    PUT    /v1/arms/{arm}/withheld      {"withheld": true}: the safety stop
    GET    /v1/state, /v1/events        all that may be seen, once or whenever it changes
    GET    /, /metrics, /health/live, /health/ready, /openapi.json

Nothing here waits for a broker, a peer or a release.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from typing import Any, Protocol, TypeVar

import msgspec
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive

from coterie.deploy.refusals import Closed, Conflict, Unfit, UnknownDecision
from coterie.deploy.view import View
from coterie.deploy.web.answers import Answer, done, encode, json, refusal
from coterie.deploy.web.guard import BODY_MOST, Guard
from coterie.deploy.web.metrics import metrics_of
from coterie.deploy.web.openapi import DESCRIPTION
from coterie.deploy.web.page import HEADERS, page_of
from coterie.deploy.web.short import Asked, Short
from coterie.errors import CoterieError

STATUS = {UnknownDecision: 404, Conflict: 409, Closed: 410, Unfit: 422}
PAUSE = 1.0  # seconds between two words about what has changed, at least
HEARTBEAT = 15.0  # seconds after which a silent line is shown to be alive
PATIENCE = 10.0  # seconds for a body to come
FRESH = {"Cache-Control": "no-store"}

Body = TypeVar("Body")


class Ask(msgspec.Struct, forbid_unknown_fields=True):
    key: str | None = None
    person: str | None = None


class Tell(msgspec.Struct, forbid_unknown_fields=True):
    reward: float


class Withhold(msgspec.Struct, forbid_unknown_fields=True):
    withheld: bool


class Served(Protocol):
    """What is asked of a node; `changed.wait()` answers after the next change."""

    changed: Any

    async def ask(self, key: str | None = None, person: str | None = None) -> Any: ...
    async def tell(self, id: str, reward: float) -> Any: ...
    async def cancel(self, id: str) -> Any: ...
    async def withhold(self, arm: str, yes: bool) -> Any: ...
    def view(self) -> View: ...


def make_app(node: Served, token: str, hosts: Collection[str] | None) -> ASGIApp:
    """All endpoints; a coordinator makes no decisions, and has only those that show something."""
    writing = written(node) if node.view().role == "agent" else []
    handlers: Any = dict.fromkeys((HTTPException, CoterieError, Exception), _told)
    whole = Starlette(routes=[*writing, *shown(node)], exception_handlers=handlers)
    return Guard(Short(whole, writing, refused), token, hosts)


def shown(node: Served) -> list[Route]:
    async def page(request: Request) -> Response:
        return HTMLResponse(page_of(node.view()), headers=HEADERS)

    async def state(request: Request) -> Answer:
        return json(node.view(), headers=FRESH)

    async def events(request: Request) -> Response:
        return StreamingResponse(_changes(node), media_type="text/event-stream", headers=FRESH)

    async def metrics(request: Request) -> Response:
        return Response(metrics_of(node.view()), media_type=CONTENT_TYPE_LATEST)

    async def live(request: Request) -> Answer:
        return json({"live": True}, headers=FRESH)

    async def ready(request: Request) -> Answer:
        trouble = [alarm.text for alarm in node.view().alarms if alarm.kind == "storage"]
        return refusal(503, trouble[0]) if trouble else json({"ready": True}, headers=FRESH)

    async def described(request: Request) -> Answer:
        return json(DESCRIPTION)

    ways = {
        "/": page, "/v1/state": state, "/v1/events": events, "/metrics": metrics, "/health/live": live, "/health/ready": ready,
        "/openapi.json": described,
    }  # fmt: skip
    return [Route(path, answer, methods=["GET"]) for path, answer in ways.items()]


def written(node: Served) -> list[Route]:
    asking, telling, stopping = reader(Ask), reader(Tell), reader(Withhold)

    async def ask(asked: Asked) -> Answer:
        told = await asking(asked.receive)
        decision = await node.ask(told.key, told.person)
        return json(decision._asdict())

    async def tell(asked: Asked) -> Answer:
        await node.tell(asked.path_params["id"], (await telling(asked.receive)).reward)
        return done()

    async def cancel(asked: Asked) -> Answer:
        await node.cancel(asked.path_params["id"])
        return done()

    async def withhold(asked: Asked) -> Answer:
        await node.withhold(asked.path_params["arm"], (await stopping(asked.receive)).withheld)
        return done()

    return [
        Route("/v1/decisions", ask, methods=["POST"]),
        Route("/v1/decisions/{id}/reward", tell, methods=["PUT"]),
        Route("/v1/decisions/{id}", cancel, methods=["DELETE"]),
        Route("/v1/arms/{arm}/withheld", withhold, methods=["PUT"]),
    ]


def reader(kind: type[Body]) -> Callable[[Receive], Awaitable[Body]]:
    """Reads a body of this kind, and never more than is allowed, whatever its header says. None at all is `{}`."""
    decode = msgspec.json.Decoder(kind).decode
    wanted = f"a JSON object with {' and '.join(kind.__struct_fields__)}"  # type: ignore[attr-defined]

    async def read(receive: Receive) -> Body:
        body, more = b"", True
        try:
            async with asyncio.timeout(PATIENCE):
                while more:
                    piece = await receive()
                    if piece["type"] == "http.disconnect":
                        raise HTTPException(400, "a body must come as a whole")  # nobody hears it
                    body, more = body + piece.get("body", b""), piece.get("more_body", False)
                    if len(body) > BODY_MOST:
                        raise HTTPException(413, f"a body must be at most {BODY_MOST} bytes")
            return decode(body or b"{}")
        except TimeoutError:
            raise HTTPException(408, f"a body must come within {PATIENCE:g} seconds") from None
        except UnicodeDecodeError:
            raise HTTPException(422, f"the body must be {wanted}, in UTF-8") from None
        except msgspec.DecodeError as error:
            raise HTTPException(422, f"the body must be {wanted}: {_without_values(error)}") from None

    return read


def _without_values(error: msgspec.DecodeError) -> str:
    """The decoder names types and places; only a field that it does not know is the sender's own word."""
    text = str(error)
    return "it has another field" if "unknown field" in text else text


async def _changes(node: Served) -> AsyncIterator[bytes]:
    """The state now, and again after changes; what changes many times in a second is told once."""
    while True:
        change = asyncio.ensure_future(node.changed.wait())
        try:
            await asyncio.sleep(0)  # it waits before the state is read: no change is missed
            yield b"event: state\ndata: " + encode(node.view()) + b"\n\n"
            await asyncio.sleep(PAUSE)
            while not (await asyncio.wait({change}, timeout=HEARTBEAT))[0]:
                yield b": still here\n\n"
        finally:
            change.cancel()


async def _told(request: Request, error: Exception) -> Answer:
    return refused(error)


def refused(error: Exception) -> Answer:
    """What the node does not take has its status; when it cannot store or has been overtaken, it does not serve any more."""
    if isinstance(error, HTTPException):
        return refusal(error.status_code, error.detail)
    if isinstance(error, CoterieError):
        return refusal(STATUS.get(type(error), 503), str(error))  # type: ignore[arg-type]
    return refusal(500, f"a bug of ours: {type(error).__name__}")
