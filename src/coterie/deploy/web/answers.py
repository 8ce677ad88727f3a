"""What an answer looks like: JSON, and for every refusal one line under `error`."""

from typing import Any

import msgspec
from starlette.responses import Response

encode = msgspec.json.Encoder().encode


class Json(Response):
    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return encode(content)


def refusal(status: int, line: str) -> Json:
    headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
    return Json({"error": line}, status, headers)
