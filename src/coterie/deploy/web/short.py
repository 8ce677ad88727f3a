"""The short way to the endpoints that write: most of what comes are questions and rewards, and layers cost more than they do.

What has no such endpoint, or asks one in another way than it should, goes the long way, to an application that has them all.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple

from starlette.exceptions import HTTPException
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from coterie.deploy.web.answers import Answer
from coterie.errors import CoterieError

EXPECTED = (HTTPException, CoterieError)


class Asked(NamedTuple):
    """As much of a request as these endpoints read."""

    receive: Receive
    path_params: Mapping[str, str]


class Short:
    """`refused` makes an answer of an error."""

    def __init__(self, app: ASGIApp, routes: Sequence[Route], refused: Callable[[Exception], Answer]):
        self.app, self.refused = app, refused
        self.ways = [(method, route.path_regex, route.endpoint) for route in routes for method in route.methods or ()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        endpoint, named = self._way(scope["method"], scope["path"]) if scope["type"] == "http" else (None, {})
        if endpoint is None:
            await self.app(scope, receive, send)
            return
        try:
            answer = await endpoint(Asked(receive, named))
        except Exception as error:
            await self.refused(error)(scope, receive, send)
            if not isinstance(error, EXPECTED):
                raise  # the server notes it
        else:
            await answer(scope, receive, send)

    def _way(self, method: str, path: str) -> tuple[Callable[[Any], Awaitable[Answer]] | None, Mapping[str, str]]:
        for its, pattern, endpoint in self.ways:
            if its == method and (found := pattern.match(path)):
                return endpoint, found.groupdict()
        return None, {}
