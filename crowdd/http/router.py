"""The way of every request: from a matched route over the steps to the handler, and its answer back to the client.

Klein matches addresses; what it would do with errors and cancelled handlers is not used: an error goes through the one
table, and a handler whose client has gone runs to its end.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from klein import Klein
from twisted.internet.defer import Deferred, ensureDeferred
from twisted.logger import Logger
from twisted.python.failure import Failure
from werkzeug.exceptions import HTTPException

from crowdd.http.edge.headers import set_headers
from crowdd.http.edge.response_writer import Long, ResponseWriter
from crowdd.http.edge.server_request import Request
from crowdd.http.negotiation import Negotiator
from crowdd.http.request import Incoming
from crowdd.http.routing import NO_ROUTE, Methods, Names
from crowdd.http.steps import Ask, Next, Step, chains_of
from crowdd.kernel.concurrency.timing import shield
from crowdd.kernel.errors import CrowddError, full_disk
from crowdd.kernel.logs import request_id
from crowdd.kinds.names import RESERVED_NAMES, RESERVED_SHORT_NAMES

log = Logger()


class Router:
    """Carries a request from a matched route to its answer. It takes ``steps`` in their order."""

    def __init__(self, steps: Sequence[Step], writer: ResponseWriter, negotiator: Negotiator) -> None:
        self.steps, self._writer, self._negotiator = steps, writer, negotiator
        self.routes: Mapping[str, Methods] = {}
        self._chains: Mapping[tuple[str, str], Next] = {}

    def klein(self, routes: Mapping[str, Methods]) -> Klein:
        """A Klein application of the routes of each address."""
        self.routes = routes
        served = (route for methods in routes.values() for route in methods.values())
        self._chains = chains_of((NO_ROUTE, *served), self.steps)
        return _addresses(tuple(routes)).__get__(self, Router)

    def serve(self, request: Request, methods: Methods, names: Names) -> Deferred[bytes]:
        """Fires with the body; status and headers are set on the request. Nothing may cancel it."""
        request.route = next(iter(methods.values()), NO_ROUTE).path
        return ensureDeferred(self._serve(request, methods, names))

    def begin(self, request: Request, methods: Methods, names: Names) -> None:
        """Serves a request and sends its response."""
        route = next(iter(methods.values()))
        request.route = route.path
        if route.fixed is not None and request.method == b"GET" and "origin" not in request.header_texts():
            set_headers(request.responseHeaders, route.fixed.headers)
            request.deliver(route.fixed.body)
        else:
            ensureDeferred(self._served(request, methods, names))

    async def _served(self, request: Request, methods: Methods, names: Names) -> None:
        try:
            request.deliver(await self._serve(request, methods, names))
        except Exception:
            request.processingFailed(Failure())

    async def _serve(self, request: Request, methods: Methods, names: Names) -> bytes:
        incoming = Incoming(request, request.address)
        incoming.request_id = request.request_id
        request_id.set(request.request_id)
        # No variable here keeps a long body while it is sent.
        return await self._writer.finish(incoming, await self._body(incoming, methods, names))

    async def _body(self, incoming: Incoming, methods: Methods, names: Names) -> bytes | None:
        """The body of the response; None when all of it has been sent."""
        route = methods.get("GET" if incoming.method == "HEAD" else incoming.method, NO_ROUTE)
        try:
            answer = await self._chains[route.path, route.method](Ask(incoming, methods, route, names))
            if isinstance(answer, Long):
                await self._writer.send(incoming, answer)
                return None
            return self._negotiator.write(incoming, answer)
        except Exception as error:
            return self._failed(incoming, error)

    def _failed(self, incoming: Incoming, error: Exception) -> bytes:
        if (full := full_disk(error)) is not None:
            log.error("disk full: route={route} error={error}", route=incoming.request.route, error=error)
            error = full
        elif not isinstance(error, CrowddError):
            log.failure(
                "request failed: method={method} route={route}", method=incoming.method, route=incoming.request.route
            )
        incoming.cookies_to_set.clear()
        try:
            return self._negotiator.error(incoming, error)
        except Exception:
            log.failure("could not render an error page: route={route}", route=incoming.request.route)
            incoming.request.setResponseCode(500)
            return b"Something went wrong on our side."


@functools.cache
def _addresses(paths: tuple[str, ...]) -> Klein:
    """A Klein application of these addresses. Bound to a router, it asks that router to serve them.

    Compiling the addresses is most of what the web interface takes to start, so another router does not repeat it.
    """
    app = Klein()
    for number, path in enumerate(paths):
        _register(app, path, f"route{number}")

    def unmatched(router: Router, request: Any, failure: Failure) -> Deferred[bytes]:
        return shield(router.serve(request, {}, {}))

    app.handle_errors(HTTPException)(cast(Any, unmatched))
    return app


def _register(app: Klein, path: str, name: str) -> None:
    def matched(router: Router, request: Request, **names: str | int) -> Deferred[bytes]:
        return shield(router.serve(request, router.routes[path], names))

    matched.__name__ = name
    app.route(path, endpoint=name, strict_slashes=False)(matched)


def answers(app: Klein) -> Callable[[str], bool]:
    """Whether a path is answered to GET. Names that are kept for pages are no projects and no people."""
    matcher, reserved_names = app.url_map.bind(""), RESERVED_SHORT_NAMES | RESERVED_NAMES

    def answered(path: str) -> bool:
        try:
            _, names = matcher.match(path, "GET")
        except HTTPException:
            return False
        return not reserved_names & {str(names.get("short_name", "")), str(names.get("name", ""))}

    return answered
