"""The way of every request: refusals, who asks, limits, the handler, the answer.

Of the API: scope and recent proof, rights, then the body. Of pages: the body, the CSRF token, then scope and proof.

Klein matches addresses; what it would do with errors and cancelled handlers is not used: an error goes through the one
table, and a handler whose client has gone runs to its end.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, cast

import attrs
from klein import Klein
from twisted.internet.defer import Deferred, ensureDeferred
from twisted.logger import Logger
from twisted.python.failure import Failure
from werkzeug.exceptions import HTTPException

from crowdd.core.records import rights
from crowdd.features.accounts import recent_proof
from crowdd.features.accounts.validation import RESERVED_NAMES
from crowdd.features.projects.project_validation import RESERVED_SHORT_NAMES
from crowdd.features.projects.projects import Projects
from crowdd.features.signin.identity import Identity, client_address
from crowdd.http.auth.csrf import Csrf, Refusals
from crowdd.http.edge.fair_share import PAGES, CostlyRequests, FairShare, PageTurns
from crowdd.http.edge.headers import set_headers
from crowdd.http.edge.rate_limits import (
    BROWSER,
    KEY,
    NETWORK,
    LimitedClient,
    RateLimit,
    SharedWindow,
    Window,
    count_hit,
)
from crowdd.http.edge.response_writer import Long, ResponseWriter
from crowdd.http.edge.site import Request
from crowdd.http.negotiation import Negotiator
from crowdd.http.operation import Audience
from crowdd.http.page_cache import PageCache
from crowdd.http.request import MAX_PARSED_AT_ONCE, Incoming
from crowdd.http.responses import JsonResponse, NotModified, Response
from crowdd.http.routing import Methods, Names, Route, Shared
from crowdd.kernel.concurrency.throttling import Turns
from crowdd.kernel.concurrency.timing import shield
from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.kernel.config import Settings
from crowdd.kernel.errors import (
    AnonymousError,
    CrowddError,
    ForbiddenError,
    MethodError,
    NotFoundError,
    TooLargeError,
    TooManyRequestsError,
    full_disk,
)
from crowdd.kernel.languages import _
from crowdd.kernel.logs import request_id
from crowdd.kernel.requester import network
from crowdd.kernel.stalls import StallWatch
from crowdd.kinds import KINDS

log = Logger()
_NOT_FOUND = "404 Not Found"


class Router:
    """Carries a request from a matched route to its answer."""

    def __init__(
        self,
        settings: Settings,
        identity: Identity,
        csrf: Csrf,
        limit: RateLimit,
        posts: Window | SharedWindow,
        negotiator: Negotiator,
        projects: Projects,
        writer: ResponseWriter,
        worker_thread: WorkerThread,
        refusals: Refusals,
        share: FairShare,
        pages: PageTurns,
        account_forms: Turns,
        costly: CostlyRequests,
        page_cache: PageCache,
        stalls: StallWatch,
    ) -> None:
        self._stalls = stalls
        self._page_cache = page_cache
        self._account_forms, self._costly = account_forms, costly
        self._worker_thread, self._refusals = worker_thread, refusals
        self._share, self._pages = share, pages
        self._settings, self._identity, self._csrf, self._writer = settings, identity, csrf, writer
        self._limit, self._posts, self._negotiator, self._projects = limit, posts, negotiator, projects
        self.routes: Mapping[str, Methods] = {}

    def klein(self, routes: Mapping[str, Methods]) -> Klein:
        """A Klein application of the routes of each address."""
        self.routes = routes
        return _addresses(tuple(routes)).__get__(self, Router)

    def serve(self, request: Request, methods: Methods, names: Names) -> Deferred[bytes]:
        """Fires with the body; status and headers are set on the request. Nothing may cancel it."""
        request.route = next(iter(methods.values())).path if methods else "(unknown)"
        self._stalls.note(request.method, request.route)
        return ensureDeferred(self._serve(request, methods, names))

    def begin(self, request: Request, methods: Methods, names: Names) -> None:
        """Serves a request and sends its response."""
        route = next(iter(methods.values()))
        request.route = route.path
        self._stalls.note(request.method, request.route)
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
        incoming = Incoming(request, client_address(request, self._settings))
        incoming.request_id = request.request_id
        request_id.set(request.request_id)
        # No variable here keeps a long body while it is sent.
        return await self._writer.finish(incoming, await self._body(incoming, methods, names))

    async def _body(self, incoming: Incoming, methods: Methods, names: Names) -> bytes | None:
        """The body of the response; None when all of it has been sent."""
        try:
            answer = await self._in_turn(incoming, methods, names)
            if isinstance(answer, Long):
                await self._writer.send(incoming, answer)
                return None
            body = self._negotiator.write(incoming, answer)
        except Exception as error:
            body = self._failed(incoming, error)
        self._costly.answered(incoming, incoming.request.route, len(body))
        return body

    async def _in_turn(self, incoming: Incoming, methods: Methods, names: Names) -> Response:
        place = network(incoming.address)
        if not self._share.begin(place):
            await self._share.wait(place)
        route = methods.get(incoming.method)
        works = route is not None and route.assigns and incoming.is_api
        self._pages.volunteers += works
        try:
            if incoming.method == "GET" and not incoming.is_api and route is not None and route.page:
                known = await self._page_cache.known(incoming, route.shared)
                return known or await self._page(incoming, methods, names)
            return await self._answer(incoming, methods, names)
        finally:
            self._pages.volunteers -= works
            self._share.leave(place)

    async def _page(self, incoming: Incoming, methods: Methods, names: Names) -> Response:
        """A page, when it is its turn to be sent: many clients wait for the same one, and for the same statement."""
        answer = await self._answer(incoming, methods, names)
        if isinstance(answer, NotModified):
            return answer
        if not self._pages.begin(PAGES):
            await self._pages.wait(PAGES)
        self._pages.leave(PAGES)
        return answer

    async def _answer(self, incoming: Incoming, methods: Methods, names: Names) -> Response:
        method = "GET" if incoming.method == "HEAD" else incoming.method
        route = methods.get(method)
        if route is not None and incoming.changes_state and route.path.startswith("/account/"):
            await self._count_post(incoming, route.path)
        key_header = all(r.key_header for r in methods.values())
        incoming.who = await self._identity.find(incoming, key_header=key_header)
        if incoming.is_api:
            await self._count(incoming, next(iter(methods.values())).endpoint if methods else "unknown")
        if not methods:
            raise NotFoundError(_NOT_FOUND)
        if route is None:
            return self._other_method(incoming, methods)
        if route.assigns and not incoming.is_frame:  # a frame's document reserves nothing, and it may reload itself
            self._require_own_page(incoming)
        shared = self._page_cache.group(incoming, route.shared)  # what many get sets no cookie
        plain = not (incoming.is_api or incoming.changes_state or incoming.wants_json or incoming.is_frame)
        if route.page and plain and shared is None:
            await self._identity.welcome(incoming)
        if incoming.header("x-project-password"):
            await self._open_lock(incoming, names)
        turns = self._turns(incoming, route)
        if turns is None:
            return await self._handled(incoming, route, names, shared)
        return await turns.run(network(incoming.address), partial(self._handled, incoming, route, names, shared))

    def _turns(self, incoming: Incoming, route: Route) -> Turns | None:
        """The turns that requests of this kind take; None for most."""
        if incoming.changes_state and route.path.startswith("/account/"):
            return self._account_forms
        if route.spooled:
            return None
        return self._costly.turns(incoming, route.path)

    async def _handled(self, incoming: Incoming, route: Route, names: Names, shared: Shared | None) -> Response:
        """What the handler of a route answers, if the request may have it. The body is read after that is known."""
        if incoming.is_api:
            await self._require_allowed(incoming, route, names)
            await self._admit(incoming, route, names)
        if incoming.takes_long_to_parse:
            await self._worker_thread.do(incoming.parse)
        if incoming.changes_state and not incoming.is_api and route.csrf and self._with_cookies(incoming):
            self._csrf.check(incoming)
        if not incoming.is_api:
            await self._require_allowed(incoming, route, names)
        handler = partial(route.handler, incoming, **names)
        if shared is not None:
            return await self._page_cache.get(incoming, shared, handler)
        try:
            return await handler()
        finally:
            if incoming.changes_state:
                self._page_cache.note_change(incoming)

    async def _require_allowed(self, incoming: Incoming, route: Route, names: Names) -> None:
        """Refuses what the route asks for and the requester's session or token does not have."""
        who = incoming.who
        if who.scope:
            await self._require_scope(incoming, route, names)
        if route.proof and who.signed_in:
            recent_proof.require(who)
        if route.manages and who.signed_in and (who.session or route.needs != "read"):
            recent_proof.require_to_manage(who)
        if route.path.startswith("/admin"):
            needed = self._settings.accounts.require_second_factor == "admins"
            recent_proof.require_for_admin(who, second_factor=needed)
            await self._identity.note_admin_use(who)

    async def _admit(self, incoming: Incoming, route: Route, names: Names) -> None:
        """Refuses those who may not write here at all, before their body is read."""
        if not incoming.changes_state or route.operation is None:
            return
        needs_account = route.operation.audience is Audience.SIGNED_IN and not incoming.who.signed_in
        if not (needs_account or incoming.is_large):
            return  # it is parsed within milliseconds, and the handler asks for the rights next
        if route.admits is not None:
            await route.admits(incoming, **names)
        elif needs_account:
            pass  # whether there is such a project is told to nobody
        elif (project_id := await self._project_in_path(incoming, names)) is not None:
            await self._projects.require_writer(project_id, incoming.who)
        else:
            raise TooLargeError(f"The body is larger than {MAX_PARSED_AT_ONCE:,} bytes.")
        if needs_account:
            raise AnonymousError("Only signed-in people may do this.")

    async def _require_scope(self, incoming: Incoming, route: Route, names: Names) -> None:
        rights.require_scope(incoming.who, route.needs)
        if incoming.who.only_project is None or route.needs == "read" or route.by_role:
            return
        rights.require_project_scope(incoming.who, await self._project_in_path(incoming, names))

    async def _project_in_path(self, incoming: Incoming, names: Names) -> int | None:
        """The id of the one project that the path is about; what the query says does not count."""
        if "object_id" in names:
            return await self._projects.of_object(KINDS[incoming.path.split("/")[2]], names["object_id"])
        reference = str(names.get("short_name") or names.get("project_id") or names.get("reference") or "")
        if "short_name" in names or not (reference.isascii() and reference.isdigit() and len(reference) < 19):
            return await self._projects.id_of(reference)
        return int(reference)

    def _other_method(self, incoming: Incoming, methods: Methods) -> Response:
        allowed = sorted({*methods, "OPTIONS"} | ({"HEAD"} if "GET" in methods else set()))
        if incoming.method == "OPTIONS":
            return JsonResponse(None, 204, {"Allow": ", ".join(allowed)})
        raise MethodError("405 Method Not Allowed", allowed=tuple(allowed))

    def _require_own_page(self, incoming: Incoming) -> None:
        """A page of another site may take tasks and answer them with a key or a token only, never as its visitors."""
        key = incoming.who.signed_in and not incoming.by_cookie
        token = "external_uid" in incoming.query and incoming.header("authorization").lower().startswith("bearer ")
        if not (key or token or self._csrf.same_site(incoming)):
            hint = "Use an API key or a token, or ask the operator of this server to allow your origin."
            words = _("Pages of other sites may read public data, but not take or answer tasks.")
            raise ForbiddenError(words, code="cross_origin", hint=hint)

    def _with_cookies(self, incoming: Incoming) -> bool:
        """A form is believed by its cookies, unless an API key speaks for it."""
        return incoming.by_cookie or not incoming.who.signed_in

    async def _count(self, incoming: Incoming, endpoint: str) -> None:
        if not self._limit.active:
            return
        allowance = await self._limit.take(endpoint, limited(incoming))
        set_headers(incoming.request.responseHeaders, allowance.headers())
        if not allowance.allowed:
            wait = max(1, allowance.reset - int(self._limit.seconds()))
            raise TooManyRequestsError("429 Too Many Requests", retry_after=wait, hint=f"Try again in {wait} seconds.")

    async def _count_post(self, incoming: Incoming, path: str) -> None:
        """Forms of accounts cost hashes, letters and rows: a network sends each of them so many times and no more."""
        allowance = await count_hit(self._posts, (path, network(incoming.address)))
        if not allowance.allowed:
            wait = max(1, allowance.reset - int(self._limit.seconds()))
            raise TooManyRequestsError("429 Too Many Requests", retry_after=wait, hint=f"Try again in {wait} seconds.")

    async def _open_lock(self, incoming: Incoming, names: Names) -> None:
        """A client that sends X-Project-Password opens the one project that its request names."""
        password = incoming.header("x-project-password")
        reference = await self._project_named(incoming, names)
        if reference is not None:
            lock = await self._projects.lock_opened_by(reference, password, incoming.who)
            if lock:
                incoming.who = attrs.evolve(incoming.who, unlocked=(*incoming.who.unlocked, lock))

    async def _project_named(self, incoming: Incoming, names: Names) -> int | str | None:
        """The id or short name of the one project that an address is about: in the path, by an object, in the query."""
        if "short_name" in names:
            return str(names["short_name"])
        if "object_id" in names:
            return await self._projects.of_object(KINDS[incoming.path.split("/")[2]], names["object_id"])
        if "container" in names:  # of uploads
            names = {"project_id": str(names["container"]).removeprefix("project-")}
        query = incoming.query
        candidates = (names.get("project_id"), names.get("reference"), query.get("project_id"), query.get("short_name"))
        reference = next((word for word in candidates if word is not None), None)
        number = reference is not None and reference.isascii() and reference.isdigit() and len(reference) < 19
        return int(reference) if reference is not None and number else reference

    def _failed(self, incoming: Incoming, error: Exception) -> bytes:
        if (full := full_disk(error)) is not None:
            log.error("disk full: route={route} error={error}", route=incoming.request.route, error=error)
            error = full
        elif not isinstance(error, CrowddError):
            log.failure(
                "request failed: method={method} route={route}", method=incoming.method, route=incoming.request.route
            )
        self._refusals.note(incoming, error)
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


def limited(incoming: Incoming) -> LimitedClient:
    """Whose requests this one is counted with. A wrong key counts for the network, whatever cookie comes with it."""
    who, here = incoming.who, network(incoming.address)
    if incoming.key_name:
        return LimitedClient(here, KEY, incoming.key_name)
    if not incoming.wrong_key and (incoming.by_cookie or who.volunteer):
        return LimitedClient(here, BROWSER, who.actor, who.presenter)
    return LimitedClient(here, NETWORK, "", None if incoming.wrong_key else who.presenter)


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
