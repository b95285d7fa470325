"""Monitoring: liveness, readiness and metrics."""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Awaitable, Callable, Iterator

import orjson

from crowdd.domain.server.readiness import OK, Readiness
from crowdd.errors import ForbiddenError
from crowdd.http.request import Incoming
from crowdd.http.responses import BytesResponse, Response
from crowdd.http.routing import Route, get
from crowdd.http.transport.response_writer import fixed

HEALTH = "/health"
_UNKEPT = {"Cache-Control": "no-store"}
_FORWARDED = ("x-forwarded-for", "forwarded", "x-real-ip", "via")
_PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"


class Monitoring:
    """``/health``, ``/ready`` and ``/metrics``. They have no rate limit: frequent requests get cached values."""

    def __init__(self, readiness: Readiness, token: str, figures: Callable[[], Awaitable[bytes]]) -> None:
        self._readiness, self._token, self._figures = readiness, token, figures

    def routes(self) -> Iterator[Route]:
        yield get(HEALTH, self.health, page=False, hot=True, fixed=fixed(healthy()))
        yield get("/ready", self.ready, page=False)
        yield get("/metrics", self.metrics, page=False, key_header=False)

    async def health(self, incoming: Incoming) -> Response:
        """A fixed answer: the process is alive."""
        return healthy()

    async def ready(self, incoming: Incoming) -> Response:
        """The readiness checks; status 503 if one of them fails."""
        return readiness(await self._readiness.checks())

    async def metrics(self, incoming: Incoming) -> Response:
        """The metrics. Raises ForbiddenError without the token, or from another machine if there is no token."""
        sent = incoming.header("authorization").removeprefix("Bearer ")
        with_token = self._token and hmac.compare_digest(sent.encode("utf-8", "replace"), self._token.encode())
        if not with_token and (self._token or not on_this_machine(incoming)):
            hint = "Send the request from the server itself, without a proxy, or send the token of [metrics] token."
            raise ForbiddenError("The metrics of this server are not public.", code="metrics_closed", hint=hint)
        return BytesResponse(await self._figures(), _PROMETHEUS, headers=_UNKEPT)


def healthy() -> BytesResponse:
    """The response of ``/health``."""
    return BytesResponse(b"ok\n", "text/plain; charset=utf-8", headers=_UNKEPT)


def readiness(checks: dict[str, str]) -> BytesResponse:
    """The response of ``/ready`` for the checks by name."""
    ready = all(words == OK for words in checks.values())
    body = orjson.dumps({"ready": ready, "checks": checks})
    return BytesResponse(
        body, "application/json", 200 if ready else 503, _UNKEPT if ready else {**_UNKEPT, "Retry-After": "5"}
    )


def on_this_machine(incoming: Incoming) -> bool:
    """Whether the connection comes from this machine and not through a proxy."""
    host: str | None = getattr(incoming.request.getClientAddress(), "host", None)
    if any(incoming.header(name) for name in _FORWARDED):
        return False
    try:
        return host is None or ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False
