"""What `/openapi.json` says, for those who make a client from it."""

from typing import Any

from coterie.version import VERSION


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _body(schema: dict[str, Any]) -> dict[str, Any]:
    return {"content": {"application/json": {"schema": schema}}}


def _way(summary: str, done: str, *refusals: int, body: dict[str, Any] | None = None, answer: dict[str, Any] | None = None,
         named: str | None = None, writes: bool = True, kind: str = "application/json") -> dict[str, Any]:  # fmt: skip
    status = "200" if answer is not None or not writes else "204"
    told: dict[str, Any] = {"description": done}
    if answer is not None or not writes:
        told["content"] = {kind: {"schema": answer} if answer is not None else {}}
    found: dict[str, Any] = {
        "summary": summary,
        "responses": {status: told} | {str(one): {"description": REFUSALS[one], **_body(ERROR)} for one in (*refusals, 421)},
    }
    if body is not None:
        found["requestBody"] = _body(body)
    if named:
        found["parameters"] = [{"name": named, "in": "path", "required": True, "schema": {"type": "string"}}]
    if writes:
        found["security"] = [{"token": []}]
    return found


ERROR = _object(error={"type": "string", "description": "one line; it never holds a reward or a key"})
REFUSALS = {
    401: "no token", 403: "another token than this agent's", 404: "no such decision",
    409: "another reward is known for this decision, or it was cancelled", 410: "the window of this decision is closed",
    413: "a body over 4096 bytes", 421: "another host was meant", 422: "the body does not do: what is allowed is in the line",
}  # fmt: skip
KEY = {"type": "string", "maxLength": 200, "description": "at most 200 bytes; the same key, the same decision"}
PERSON = {"type": "string", "maxLength": 200, "description": "whose reward it will be, where persons have a budget"}
DECISION = _object(
    id={"type": "string"},
    arm={"type": "integer", "description": "its number in the federation file, from 0"},
    name={"type": "string", "description": "the arm to play"},
    learned={"type": "boolean", "description": "whether its reward will be learned from"},
)
STATE = {"type": "object", "description": "all that may be seen of a node; deploy/view.py has every field"}
WRITES = (401, 403, 413, 422)

DESCRIPTION: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "A Coterie agent", "version": VERSION},
    "paths": {
        "/v1/decisions": {
            "post": _way("Which arm to play", "A decision", *WRITES, body=_object(key=KEY, person=PERSON), answer=DECISION),
        },
        "/v1/decisions/{id}/reward": {
            "put": _way(
                "What came of it; late, in any order, twice is once", "Kept", *WRITES, 404, 409, 410,
                body=_object(reward={"type": "number"}) | {"required": ["reward"]}, named="id",
            ),
        },
        "/v1/decisions/{id}": {
            "delete": _way("It was not carried out", "Cancelled", *WRITES, 404, 409, 410, named="id"),
        },
        "/v1/arms/{arm}/withheld": {
            "put": _way(
                "The safety stop: a withheld arm is not answered from the next request on", "Done", *WRITES,
                body=_object(withheld={"type": "boolean"}) | {"required": ["withheld"]}, named="arm",
            ),
        },
        "/v1/state": {"get": _way("All that may be seen", "The state", answer=STATE, writes=False)},
        "/v1/events": {"get": _way("The state whenever it changes", "Events", writes=False, kind="text/event-stream")},
        "/metrics": {"get": _way("For Prometheus", "Metrics", writes=False, kind="text/plain")},
        "/health/live": {"get": _way("The process answers", "It does", writes=False)},
        "/health/ready": {"get": _way("The agent decides", "It does", writes=False)},
    },
    "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
}  # fmt: skip
