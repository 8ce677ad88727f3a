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
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response, StreamingResponse
from starlette.routing import Route

from coterie.deploy.refusals import Closed, Conflict, Unfit, UnknownDecision
from coterie.deploy.view import View
from coterie.deploy.web.answers import Json, encode, refusal
from coterie.deploy.web.guard import BODY_MOST, Guard
from coterie.deploy.web.metrics import metrics_of
from coterie.deploy.web.openapi import DESCRIPTION
from coterie.deploy.web.page import HEADERS, page_of
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


def make_app(node: Served, token: str, hosts: Collection[str] | None) -> Starlette:
    """All endpoints; a coordinator makes no decisions, and has only those that show something."""
    return Starlette(
        routes=[*(written(node) if node.view().role == "agent" else []), *shown(node)],  # looked through in this order
        middleware=[Middleware(Guard, token=token, hosts=hosts)],
        exception_handlers={HTTPException: _no_such_way, CoterieError: _refused, Exception: _broken},
    )


def shown(node: Served) -> list[Route]:
    async def page(request: Request) -> Response:
        return HTMLResponse(page_of(node.view()), headers=HEADERS)

    async def state(request: Request) -> Response:
        return Json(node.view(), headers=FRESH)

    async def events(request: Request) -> Response:
        return StreamingResponse(_changes(node), media_type="text/event-stream", headers=FRESH)

    async def metrics(request: Request) -> Response:
        return Response(metrics_of(node.view()), media_type=CONTENT_TYPE_LATEST)

    async def live(request: Request) -> Response:
        return Json({"live": True}, headers=FRESH)

    async def ready(request: Request) -> Response:
        trouble = [alarm.text for alarm in node.view().alarms if alarm.kind == "storage"]
        return refusal(503, trouble[0]) if trouble else Json({"ready": True}, headers=FRESH)

    async def described(request: Request) -> Response:
        return Json(DESCRIPTION)

    ways = {
        "/": page, "/v1/state": state, "/v1/events": events, "/metrics": metrics, "/health/live": live, "/health/ready": ready,
        "/openapi.json": described,
    }  # fmt: skip
    return [Route(path, answer, methods=["GET"]) for path, answer in ways.items()]


def written(node: Served) -> list[Route]:
    asking, telling, stopping = reader(Ask), reader(Tell), reader(Withhold)

    async def ask(request: Request) -> Response:
        asked = await asking(request)
        decision = await node.ask(asked.key, asked.person)
        return Json(decision._asdict())

    async def tell(request: Request) -> Response:
        await node.tell(request.path_params["id"], (await telling(request)).reward)
        return Response(status_code=204)

    async def cancel(request: Request) -> Response:
        await node.cancel(request.path_params["id"])
        return Response(status_code=204)

    async def withhold(request: Request) -> Response:
        await node.withhold(request.path_params["arm"], (await stopping(request)).withheld)
        return Response(status_code=204)

    return [
        Route("/v1/decisions", ask, methods=["POST"]),
        Route("/v1/decisions/{id}/reward", tell, methods=["PUT"]),
        Route("/v1/decisions/{id}", cancel, methods=["DELETE"]),
        Route("/v1/arms/{arm}/withheld", withhold, methods=["PUT"]),
    ]


def reader(kind: type[Body]) -> Callable[[Request], Awaitable[Body]]:
    """Reads a body of this kind, and never more than is allowed, whatever its header says. None at all is `{}`."""
    decode = msgspec.json.Decoder(kind).decode
    wanted = f"a JSON object with {' and '.join(kind.__struct_fields__)}"  # type: ignore[attr-defined]

    async def read(request: Request) -> Body:
        body = bytearray()
        try:
            async with asyncio.timeout(PATIENCE):
                async for piece in request.stream():
                    body += piece
                    if len(body) > BODY_MOST:
                        raise HTTPException(413, f"a body must be at most {BODY_MOST} bytes")
            return decode(bytes(body) or b"{}")
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


async def _no_such_way(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return refusal(error.status_code, error.detail)


async def _refused(request: Request, error: Exception) -> Response:
    """What the node does not take has its status; when it cannot store or has been overtaken, it does not serve any more."""
    return refusal(STATUS.get(type(error), 503), str(error))  # type: ignore[arg-type]


async def _broken(request: Request, error: Exception) -> Response:
    return refusal(500, f"a bug of ours: {type(error).__name__}")
