"""The responses while the server waits for its database at startup."""

from __future__ import annotations

import orjson

from crowdd.errors import UnavailableError
from crowdd.http.errors import error_object, headers_of
from crowdd.http.negotiation import target_of
from crowdd.http.pages.monitoring import HEALTH, healthy, readiness
from crowdd.http.responses import BytesResponse
from crowdd.http.transport.site import Request, RootResource

_WORDS = "The server is starting and waiting for its database."


class Starting(RootResource):
    """Answers every request while the server starts."""

    async def body_limit(self, request: Request) -> int:
        """Raise UnavailableError: the sender of a large body cannot be identified yet."""
        raise UnavailableError(_WORDS, retry_after=5)

    def render(self, request: Request) -> bytes:
        """503 to everything but ``/health``."""
        answer = _answer(request.method.decode("ascii", "replace"), request.path.decode("ascii", "replace"))
        request.route = "(starting)"
        request.setResponseCode(answer.status)
        request.setHeader("Content-Type", answer.content_type)
        for name, value in answer.headers.items():
            request.setHeader(name, value)
        return answer.body


def _answer(method: str, path: str) -> BytesResponse:
    error = UnavailableError(_WORDS, retry_after=5)
    if path == HEALTH:
        return healthy()
    if path == "/ready":
        return readiness({"database": _WORDS})
    headers = {**headers_of(error), "Cache-Control": "no-store"}
    if path.startswith("/api"):
        return BytesResponse(
            orjson.dumps(error_object(error, method, target_of(path))), "application/json", 503, headers
        )
    return BytesResponse(f"{_WORDS}\n".encode(), "text/plain; charset=utf-8", 503, headers)
