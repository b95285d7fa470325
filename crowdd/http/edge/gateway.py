"""What comes before any route, and the one spelling of a path that everything after it reads."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from urllib.parse import quote, unquote

from twisted.web.resource import IResource
from twisted.web.server import NOT_DONE_YET

from crowdd.http.edge.addresses import client_address
from crowdd.http.edge.bodies import Limit
from crowdd.http.edge.headers import matches_etag
from crowdd.http.edge.memory import trim
from crowdd.http.edge.server_request import Request
from crowdd.http.edge.site import RootResource
from crowdd.http.html import frames
from crowdd.http.html.static_files import StaticFiles
from crowdd.http.negotiation import Negotiator
from crowdd.http.request import Incoming
from crowdd.http.responses import BytesResponse
from crowdd.http.router import Router
from crowdd.http.routing import Methods, PathTable
from crowdd.kernel import lazy
from crowdd.kernel.config import Settings
from crowdd.kernel.errors import ForbiddenError

_PLAIN = "!$&'()*+,;=:@"  # what stands unquoted in a path (RFC 3986, 3.3)
_TIDY = re.compile(rb"(?:/[A-Za-z0-9_.~-]+)+/?|/")


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
    ) -> None:
        """``body_limit(request)`` says how long a body may be that is too long for callers without an account."""
        super().__init__()
        self.body_limit = body_limit
        self._inner, self._hot, self._router, self._static = inner, hot, router, static
        self._negotiator, self._settings = negotiator, settings

    def warm_up(self, goes_on: Callable[[], bool]) -> None:
        """Prepares what the first requests would wait for; for a thread, while the server serves."""
        lazy.load_all()
        self._negotiator.templates.compile_all()
        self._static.pack(goes_on)
        trim()  # compiling leaves megabytes

    @property
    def routes(self) -> Mapping[str, Methods]:
        """What answers each address, by method."""
        return self._router.routes

    def render(self, request: Request) -> bytes | int:
        path = normalise_path(request)
        request.route = "(refused)"
        headers, marked = request.header_texts(), b"_presenter" in request.args
        dest = headers.get("sec-fetch-dest", "").strip().lower()
        if path.startswith("/static/") and not frames.is_foreign_worker(path, dest):
            request.route = "/static/"
            return self._static_file(request, path.removeprefix("/static/"))
        request.address = client_address(request, self._settings)
        if frames.is_foreign_worker(path, dest):
            return self._refuse(request, "No service worker is at this address.")
        if frames.wants_stub(path, marked, dest):
            request.route = "(frame)"
            return self._write(request, BytesResponse(frames.STUB.encode(), headers=frames.stub_headers()))
        framed = frames.wants_frame(path, marked, dest) or frames.wants_card(path, dest)
        if not (frames.is_public(path) or framed):
            origin, site = headers.get("origin", "").strip().lower(), headers.get("sec-fetch-site", "").strip().lower()
            reason = frames.refusal(origin, site, "" if frames.is_shown(path) else dest)
            reason = reason or frames.scope_refusal(headers.get("x-presenter", "").strip(), path)
            if reason:
                return self._refuse(request, reason)
        hot_route = self._hot.find(request.postpath)
        if hot_route is None:
            return self._inner.render(request)
        self._router.begin(request, *hot_route)
        return NOT_DONE_YET

    def _static_file(self, request: Request, path: str) -> bytes:
        file = self._static.lookup(path)
        if file is None:
            return self._write(
                request, BytesResponse(b"Not found", "text/plain; charset=utf-8", 404, frames.public_headers())
            )
        version = (request.args.get(b"v") or [b""])[0].decode("ascii", "replace")
        texts = request.header_texts()
        coding = file.coding(texts.get("accept-encoding", ""))
        headers = {
            **frames.public_headers(),
            "ETag": file.etag(coding),
            "Cache-Control": file.cache_control(version),
            "Vary": "Accept-Encoding",
        }
        if matches_etag(texts.get("if-none-match", ""), file.etag()):
            return self._write(request, BytesResponse(b"", file.content_type, 304, headers))
        if coding:
            headers["Content-Encoding"] = coding
        body = file.packed[coding] if coding else file.body
        return self._write(request, BytesResponse(body, file.content_type, headers=headers))

    def _refuse(self, request: Request, reason: str) -> bytes:
        error = ForbiddenError(reason, code="opaque_origin")
        incoming = Incoming(request, request.address)
        incoming.request_id = request.request_id
        body = self._negotiator.error(incoming, error)
        request.setHeader("Content-Length", str(len(body)))
        return body

    def _write(self, request: Request, answer: BytesResponse) -> bytes:
        request.setResponseCode(answer.status)
        request.setHeader("Content-Type", answer.content_type)
        for name, value in answer.headers.items():
            request.setHeader(name, value)
        return answer.body


def normalise_path(request: Request) -> str:
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
