"""The short way to endpoints that write: who takes it, and what becomes of errors there. Over a socket: test_app.py."""

import asyncio
import json

import pytest
from starlette.routing import Route

from coterie.deploy.refusals import Unfit
from coterie.deploy.web.answers import done
from coterie.deploy.web.app import refused
from coterie.deploy.web.short import Short


def sent(scope, endpoint=None):
    """(status, body) of an answer; "long": it went the long way."""
    said = []

    async def whole(scope, receive, send):
        said.append("long")

    async def send(message):
        said.append(message)

    async def told(asked):
        return await endpoint(**asked.path_params)

    short = Short(whole, [Route("/v1/decisions/{id}", told, methods=["DELETE"])], refused)
    try:
        asyncio.run(short(scope, None, send))
    finally:
        answers.append(said[0] if said == ["long"] else (said[0]["status"], said[1]["body"]))
    return answers[-1]


answers = []
CANCEL = {"type": "http", "method": "DELETE", "path": "/v1/decisions/17"}


async def nothing(id):
    assert id == "17"
    return done()


async def refuse(id):
    raise Unfit("no such thing")


async def fail(id):
    raise ZeroDivisionError("0.731")


def test_an_endpoint_that_writes_is_reached_with_what_its_path_names():
    assert sent(CANCEL, nothing) == (204, b"")


ELSE = [{"method": "GET"}, {"path": "/v1/decisions"}, {"path": "/v1/decisions/1/2"}, {"type": "lifespan"}]


@pytest.mark.parametrize("other", ELSE)
def test_whatever_else_there_is_goes_the_long_way(other):
    assert sent(CANCEL | other, nothing) == "long"


def test_what_the_node_refuses_is_an_answer():
    status, body = sent(CANCEL, refuse)
    assert status == 422 and json.loads(body) == {"error": "no such thing"}


def test_what_nobody_expects_is_answered_without_its_text_and_left_to_the_server_to_note():
    with pytest.raises(ZeroDivisionError):
        sent(CANCEL, fail)
    status, body = answers[-1]
    assert status == 500 and b"ZeroDivisionError" in body and b"0.731" not in body
