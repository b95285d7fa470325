"""The way of every request: refusals, who asks, limits, the handler, the answer.

Klein matches addresses; what it would do with errors and cancelled handlers is not used: an error goes through the one
table, and a handler whose client has gone runs to its end.
"""

from __future__ import annotations

import functools
import gzip
import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, cast
from urllib.parse import quote, unquote

import attrs
from klein import Klein
from twisted.internet.defer import Deferred, ensureDeferred
from twisted.logger import Logger
from twisted.python.failure import Failure
from twisted.web.http_headers import Headers
from twisted.web.resource import IResource
from twisted.web.server import NOT_DONE_YET
from werkzeug.exceptions import HTTPException

from crowdd.concurrency.concurrency_limit import Turns
from crowdd.concurrency.shield import shield
from crowdd.concurrency.worker_thread import WorkerThread
from crowdd.config import Settings
from crowdd.domain.accounts.account_validation import RESERVED_NAMES
from crowdd.domain.accounts.authentication import recent_proof
from crowdd.domain.core import rights
from crowdd.domain.projects.projects import RESERVED_SHORT_NAMES, Projects
from crowdd.errors import CrowddError, ForbiddenError, MethodError, NotFoundError, TooManyRequestsError
from crowdd.http.auth.csrf import Csrf
from crowdd.http.auth.identity import Identity, client_address
from crowdd.http.auth.refusals import Refusals
from crowdd.http.html import presenter
from crowdd.http.html.static_files import StaticFiles
from crowdd.http.negotiation import Negotiator
from crowdd.http.page_cache import PageCache
from crowdd.http.request import Incoming
from crowdd.http.responses import (
    BytesResponse,
    Download,
    FileResponse,
    JsonResponse,
    PiecesResponse,
    Response,
    Stream,
)
from crowdd.http.routing import Route, Shared
from crowdd.http.transport.cors import Cors
from crowdd.http.transport.downloads import LONG, Downloads, packed_parts, pieces_of, spilled
from crowdd.http.transport.fixed_headers import encode, set_headers
from crowdd.http.transport.limits.body_size import Limit
from crowdd.http.transport.limits.expensive_requests import CostlyRequests
from crowdd.http.transport.limits.fair_share import FairShare
from crowdd.http.transport.limits.rate_limits import (
    BROWSER,
    KEY,
    NETWORK,
    LimitedClient,
    RateLimit,
    SharedWindow,
    Window,
    count_hit,
)
from crowdd.http.transport.path_table import Methods, Names, PathTable
from crowdd.http.transport.request_headers import accepts_gzip, gzip_etag, matches
from crowdd.http.transport.site import Request, RootResource
from crowdd.http.transport.streams import Streams
from crowdd.kinds import KINDS
from crowdd.languages import _
from crowdd.logs import request_id
from crowdd.requester import network

log = Logger()
_NOT_FOUND = "404 Not Found"
_PLAIN = "!$&'()*+,;=:@"  # what stands unquoted in a path (RFC 3986, 3.3)
_TIDY = re.compile(rb"(?:/[A-Za-z0-9_.~-]+)+")
_VARY = encode({"Vary": "Origin, Accept-Encoding"})
_MIN_PACKED, _GZIP_LEVEL = 1000, 4
_MAX_PACKED_AT_ONCE = 64_000  # bytes; compressing more would hold the reactor up


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
        cors: Cors,
        streams: Streams,
        downloads: Downloads,
        worker_thread: WorkerThread,
        refusals: Refusals,
        share: FairShare,
        account_forms: Turns,
        costly: CostlyRequests,
        page_cache: PageCache,
    ) -> None:
        self._page_cache = page_cache
        self._account_forms, self._costly = account_forms, costly
        self._worker_thread, self._refusals, self._share = worker_thread, refusals, share
        self._cors, self._streams, self._downloads = cors, streams, downloads
        self._settings, self._identity, self._csrf = settings, identity, csrf
        self._limit, self._posts, self._negotiator, self._projects = limit, posts, negotiator, projects
        self.routes: Mapping[str, Methods] = {}

    def klein(self, routes: Mapping[str, Methods]) -> Klein:
        """A Klein application of the routes of each address."""
        self.routes = routes
        return _addresses(tuple(routes)).__get__(self, Router)

    def serve(self, request: Request, methods: Methods, names: Names) -> Deferred[bytes]:
        """Fires with the body; status and headers are set on the request. Nothing may cancel it."""
        request.route = next(iter(methods.values())).path if methods else "(unknown)"
        return ensureDeferred(self._serve(request, methods, names))

    def begin(self, request: Request, methods: Methods, names: Names) -> None:
        """Serves a request and sends its response."""
        request.route = next(iter(methods.values())).path
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
        answer: Response | None = None
        try:
            answer = await self._in_turn(incoming, methods, names)
            if isinstance(answer, Stream):
                return await self._stream(incoming, answer)
            if isinstance(answer, Download):
                return await self._download(incoming, answer)
            if isinstance(answer, FileResponse):
                return await self._file(incoming, answer)
            if isinstance(answer, PiecesResponse):
                return await self._pieces(incoming, answer)
            body = self._negotiator.write(incoming, answer)
        except Exception as error:
            body = self._failed(incoming, error)
        self._costly.answered(incoming, request.route, len(body))
        body = await self._finished(incoming, body)
        if request.code not in (204, 304):  # those have no body, and say nothing of its length (RFC 9110, 8.6)
            set_headers(request.responseHeaders, ((b"Content-Length", b"%d" % len(body)),))
        if len(body) < LONG or incoming.method == "HEAD":
            return body
        length, file = len(body), await self._worker_thread.do_soon(spilled, body)  # a busy disk makes a write wait
        body, answer = b"", None  # not kept while a slow client takes it
        await self._downloads.send(request, b"", pieces_of(file, 0, length))
        return b""

    async def _stream(self, incoming: Incoming, answer: Stream) -> bytes:
        """What is left to send when the stream is over."""
        place = network(incoming.address)
        self._streams.require_room(place)
        self._negotiator.write(incoming, answer)
        await self._finished(incoming, b"")
        if incoming.method != "HEAD":
            await self._streams.serve(incoming.request, place, answer.begin)
        return b""

    async def _download(self, incoming: Incoming, answer: Download) -> bytes:
        """What is left to send when the file has gone."""
        first = b"" if incoming.method == "HEAD" else await anext(answer.parts, b"")
        self._negotiator.write(incoming, answer)
        await self._finished(incoming, b"")
        if incoming.method == "HEAD":
            return b""
        parts, headers = answer.parts, incoming.request.responseHeaders
        if is_text(headers) and accepts_gzip(incoming.header("accept-encoding")) and not incoming.header("range"):
            _mark_packed(headers)
            parts = packed_parts(first, parts, self._worker_thread)
            first = await anext(parts)
        await self._downloads.send(incoming.request, first, parts)
        return b""

    async def _file(self, incoming: Incoming, answer: FileResponse) -> bytes:
        """What is left to send when the file has gone."""
        source = answer.path.open("rb")
        self._negotiator.write(incoming, answer)
        await self._finished(incoming, b"")
        set_headers(incoming.request.responseHeaders, ((b"Content-Length", b"%d" % (answer.end - answer.begin)),))
        if incoming.method != "HEAD":
            await self._downloads.send(incoming.request, b"", pieces_of(source, answer.begin, answer.end))
        source.close()
        return b""

    async def _pieces(self, incoming: Incoming, answer: PiecesResponse) -> bytes:
        """What is left to send when the pieces have gone."""
        first = b"" if incoming.method == "HEAD" else await anext(answer.pieces, b"")
        self._negotiator.write(incoming, answer)
        await self._finished(incoming, b"")
        set_headers(incoming.request.responseHeaders, ((b"Content-Length", b"%d" % answer.length),))
        if incoming.method != "HEAD":
            await self._downloads.send(incoming.request, first, answer.pieces)
        return b""

    async def _finished(self, incoming: Incoming, body: bytes) -> bytes:
        """The body as it goes out: not at all when the client has it, compressed when that helps.

        Headers are complete before a large body is compressed in a thread.
        """
        request, preflight = incoming.request, incoming.method == "OPTIONS"
        origin, headers = incoming.header("origin"), request.responseHeaders
        if origin:
            for name, value in self._cors.headers(origin, is_api=incoming.is_api, preflight=preflight).items():
                request.setHeader(name, value)
        entity_tag = headers.getRawHeaders(b"etag", [b""])[0].decode()
        _vary_more(headers)
        fresh = incoming.method in ("GET", "HEAD") and request.code == 200 and entity_tag
        if fresh and matches(incoming.header("if-none-match"), entity_tag):
            request.setResponseCode(304)
            return b""
        if not worth_packing(headers, body, incoming.header("accept-encoding")):
            return body
        if entity_tag:
            request.setHeader("ETag", gzip_etag(entity_tag))
        request.setHeader("Content-Encoding", "gzip")
        if len(body) > _MAX_PACKED_AT_ONCE:
            return await self._worker_thread.do_soon(_packed, body)
        return _packed(body)

    async def _in_turn(self, incoming: Incoming, methods: Methods, names: Names) -> Response:
        place = network(incoming.address)
        if not self._share.begin(place):
            await self._share.wait(place)
        try:
            return await self._answer(incoming, methods, names)
        finally:
            self._share.leave(place)

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
        """What the handler of a route answers, if the request may have it."""
        if incoming.takes_long_to_parse:
            await self._worker_thread.do(incoming.parse)
        if incoming.changes_state and not incoming.is_api and route.csrf and self._with_cookies(incoming):
            self._csrf.check(incoming)
        await self._require_allowed(incoming, route, names)
        handler = partial(route.handler, incoming, **names)
        if shared is not None:
            return await self._page_cache.get(incoming, shared, handler)
        try:
            return await handler()
        finally:
            if incoming.changes_state:
                self._page_cache.note_change(incoming.who.network)

    async def _require_allowed(self, incoming: Incoming, route: Route, names: Names) -> None:
        """Refuses what the route asks for and the requester's session or token does not have."""
        who = incoming.who
        if who.scope:
            await self._require_scope(incoming, route, names)
        if route.proof and who.signed_in:
            recent_proof.require(who)
        if route.path.startswith("/admin"):
            needed = self._settings.accounts.require_second_factor == "admins"
            recent_proof.require_for_admin(who, second_factor=needed)
            await self._identity.note_admin_use(who)

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
        given = (names.get("project_id"), names.get("reference"), query.get("project_id"), query.get("short_name"))
        found = next((word for word in given if word is not None), None)
        number = found is not None and found.isascii() and found.isdigit() and len(found) < 19
        return int(found) if found is not None and number else found

    def _failed(self, incoming: Incoming, error: Exception) -> bytes:
        if not isinstance(error, CrowddError):
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


class Gateway(RootResource):
    """What comes before any route: static files, frames that lost their way, requests without an origin.

    Then the short way to the hot routes, and ``inner`` (Klein) for all others.
    """

    def __init__(
        self,
        inner: IResource,
        hot: PathTable,
        router: Router,
        static: StaticFiles,
        negotiator: Negotiator,
        settings: Settings,
        body_limit: Limit,
        refusals: Refusals,
    ) -> None:
        """``body_limit(request)`` says how long a body may be that is too long for callers without an account."""
        super().__init__()
        self.body_limit = body_limit
        self._refusals = refusals
        self._inner, self._hot, self._router, self._static = inner, hot, router, static
        self._negotiator, self._settings = negotiator, settings

    @property
    def routes(self) -> Mapping[str, Methods]:
        """What answers each address, by method."""
        return self._router.routes

    def render(self, request: Request) -> bytes | int:
        path = _normalise_path(request)
        request.route = "(refused)"
        if path.startswith("/static/"):
            request.route = "/static/"
            return self._static_file(request, path.removeprefix("/static/"))
        headers, marked = request.header_texts(), b"_presenter" in request.args
        dest = headers.get("sec-fetch-dest", "").strip().lower()
        if presenter.wants_stub(path, marked, dest):
            request.route = "(frame)"
            return self._write(request, BytesResponse(presenter.STUB.encode(), headers=presenter.stub_headers()))
        framed = presenter.wants_frame(path, marked, dest) or presenter.wants_card(path, dest)
        if not (presenter.is_public(path) or framed):
            origin, site = headers.get("origin", "").strip().lower(), headers.get("sec-fetch-site", "").strip().lower()
            reason = presenter.refusal(origin, site, dest)
            reason = reason or presenter.scope_refusal(headers.get("x-presenter", "").strip(), path)
            if reason:
                return self._refuse(request, reason)
        found = self._hot.find(request.postpath)
        if found is None:
            return self._inner.render(request)
        self._router.begin(request, *found)
        return NOT_DONE_YET

    def _static_file(self, request: Request, path: str) -> bytes:
        file = self._static.lookup(path)
        if file is None:
            return self._write(
                request, BytesResponse(b"Not found", "text/plain; charset=utf-8", 404, presenter.public_headers())
            )
        version = (request.args.get(b"v") or [b""])[0].decode("ascii", "replace")
        texts = request.header_texts()
        packed = file.gzipped if accepts_gzip(texts.get("accept-encoding", "")) else None
        headers = {
            **presenter.public_headers(),
            "ETag": file.etag(packed=packed is not None),
            "Cache-Control": file.cache_control(version),
            "Vary": "Accept-Encoding",
        }
        if matches(texts.get("if-none-match", ""), file.etag()):
            return self._write(request, BytesResponse(b"", file.content_type, 304, headers))
        if packed is not None:
            headers["Content-Encoding"] = "gzip"
        return self._write(
            request, BytesResponse(file.body if packed is None else packed, file.content_type, headers=headers)
        )

    def _refuse(self, request: Request, reason: str) -> bytes:
        incoming = Incoming(request, client_address(request, self._settings))
        incoming.request_id = request.request_id
        error = ForbiddenError(reason, code="opaque_origin")
        self._refusals.note(incoming, error)
        body = self._negotiator.error(incoming, error)
        request.setHeader("Content-Length", str(len(body)))
        return body

    def _write(self, request: Request, answer: BytesResponse) -> bytes:
        request.setResponseCode(answer.status)
        request.setHeader("Content-Type", answer.content_type)
        for name, value in answer.headers.items():
            request.setHeader(name, value)
        return answer.body


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
    matcher, kept = app.url_map.bind(""), RESERVED_SHORT_NAMES | RESERVED_NAMES

    def answered(path: str) -> bool:
        try:
            _, names = matcher.match(path, "GET")
        except HTTPException:
            return False
        return not kept & {str(names.get("short_name", "")), str(names.get("name", ""))}

    return answered


def worth_packing(headers: Headers, body: bytes, accepted: str) -> bool:
    """Whether a body is text, long enough, and wanted compressed."""
    if len(body) < _MIN_PACKED or headers.hasHeader(b"content-encoding") or not accepts_gzip(accepted):
        return False
    return is_text(headers)


def is_text(headers: Headers) -> bool:
    """Whether a response is of a type that is worth compressing."""
    type_: bytes = headers.getRawHeaders(b"content-type", [b""])[0]
    return type_.startswith((b"text/", b"application/json", b"application/x-ndjson"))


def _mark_packed(headers: Headers) -> None:
    entity_tag = headers.getRawHeaders(b"etag", [b""])[0].decode()
    if entity_tag:
        headers.setRawHeaders(b"etag", [gzip_etag(entity_tag).encode()])
        headers.setRawHeaders(b"accept-ranges", [b"none"])
    headers.setRawHeaders(b"content-encoding", [b"gzip"])


def _packed(body: bytes) -> bytes:
    return gzip.compress(body, _GZIP_LEVEL, mtime=0)


def _vary_more(headers: Headers) -> None:
    """Says that every answer depends on who asks for it from where, and on the codings that they accept."""
    if not headers.hasHeader(b"vary"):
        set_headers(headers, _VARY)
        return
    named = [word.strip() for line in headers.getRawHeaders("vary") or [] for word in line.split(",")]
    headers.setRawHeaders("vary", [", ".join(dict.fromkeys([*named, "Origin", "Accept-Encoding"]))])


def _normalise_path(request: Request) -> str:
    """The path in its one spelling, put where Klein looks: no doubled slashes, nothing quoted that need not be.

    What decides by the path (limits, cookies, frames) and what matches the route then read the same. A quoted slash
    stays one and ends no segment.
    """
    if _TIDY.fullmatch(request.path):
        request.postpath = request.path.split(b"/")[1:]
        return str(request.path, "ascii")
    path_only = re.sub(rb"^https?://[^/]*", b"", request.path, flags=re.IGNORECASE)  # RFC 9112, 3.2.2
    words = re.sub(rb"/{2,}", b"/", path_only).split(b"/")[1:]
    segments = [unquote(word.decode("ascii", "replace"), errors="replace") for word in words]
    request.postpath = [segment.replace("/", "%2F").encode() for segment in segments]
    path = "/" + "/".join(quote(segment, safe=_PLAIN) for segment in segments)
    request.path = path.encode()
    return path
