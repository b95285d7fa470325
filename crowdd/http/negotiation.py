"""Turns what handlers return into HTTP responses: HTML or JSON, redirects, errors, and the headers of each."""

from __future__ import annotations

import secrets as random
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TypedDict
from urllib.parse import quote, urlsplit

import attrs
import orjson

from crowdd.http.auth.cookies import FLASH, Cookies
from crowdd.http.auth.csrf import Csrf, Refusals
from crowdd.http.edge.headers import EncodedHeaders, accepts_gzip, encode, set_headers
from crowdd.http.errors import error_object, headers_of, message_of, status_of, target_of
from crowdd.http.html import frames
from crowdd.http.html.forms import local
from crowdd.http.html.rendering import Templates
from crowdd.http.reader_language import locale_of
from crowdd.http.request import Incoming
from crowdd.http.responses import (
    BytesResponse,
    Download,
    FileResponse,
    JsonResponse,
    NotModified,
    Page,
    PiecesResponse,
    Redirect,
    Response,
    SharedPage,
    Stream,
    Titled,
)
from crowdd.kernel.errors import AnonymousError, CrowddError, ForbiddenError, ProofNeededError, SecondFactorNeededError
from crowdd.kernel.languages import Languages, Sentence
from crowdd.kernel.languages.content_languages import direction_of
from crowdd.kernel.values import Values

_JSON, _TYPE = "application/json", "text/html; charset=utf-8"
_API = encode({**frames.api_headers(), "Cache-Control": "no-cache"})
_API_JSON = (*_API, *encode({"Content-Type": _JSON}))
_PRIVATE = encode({"Cache-Control": "private, no-store"})  # what was made for one person stays in no cache
_MEMBERS_ONLY = "members_only"
_OURS = frozenset({"flash", "description"})  # keys whose text is always ours, also where it is no Sentence


class _ErrorPublic(Titled):
    code: int
    description: str
    reason: str
    error_code: str


class _ErrorPrivate(TypedDict):
    request_id: str
    retry_after: int | None


@attrs.frozen
class Negotiator:
    """Writes responses. Handlers do not know whether a client wants HTML or JSON."""

    templates: Templates
    cookies: Cookies
    csrf: Csrf
    languages: Languages
    refusals: Refusals

    def write(self, incoming: Incoming, answer: Response) -> bytes:
        """The body; status and headers are set on the request."""
        match answer:
            case NotModified():
                incoming.request.setResponseCode(304)
                set_headers(incoming.request.responseHeaders, answer.headers)
                body = b""
            case Page():
                body = self._page(incoming, answer)
            case SharedPage():
                body = self._shared_page(incoming, answer)
            case Redirect():
                body = self._redirect(incoming, answer)
            case JsonResponse():
                body = self._data(incoming, answer)
            case BytesResponse():
                body = self._raw(incoming, answer)
            case FileResponse() | PiecesResponse():
                body = self._raw(incoming, BytesResponse(b"", answer.content_type, answer.status, answer.headers))
            case Stream():
                body = self._stream_head(incoming, "application/x-ndjson" if answer.lines else "text/event-stream")
            case Download():
                body = self._file_head(incoming, answer)
        _send_cookies(incoming)
        return body

    def error(self, incoming: Incoming, error: Exception) -> bytes:
        """An error in the shape that the address promises. The security log counts it if it is a refusal."""
        self.refusals.note(incoming, error)
        if incoming.is_api:
            shown = error_object(error, incoming.method, target_of(incoming.path))
            return self.write(incoming, JsonResponse(shown, shown["status_code"], headers_of(error)))
        if isinstance(error, AnonymousError) and incoming.who.user_id is None:
            return self._sign_in(incoming, error)
        if isinstance(error, ProofNeededError | SecondFactorNeededError) and not incoming.wants_json:
            return self._lead(incoming, error)
        status, _ = status_of(error)
        for name, value in headers_of(error).items():
            incoming.request.setHeader(name, value)
        code = error.code if isinstance(error, CrowddError) else "internal"
        public = _ErrorPublic(
            title=str(status), code=status, description=message_of(error), reason=code, error_code=code
        )
        private = _ErrorPrivate(request_id=incoming.request_id, retry_after=getattr(error, "retry_after", None))
        return self._page(incoming, Page(f"{status}.html", public, private, status, drawn_as="error.html"))

    def _page(self, incoming: Incoming, page: Page) -> bytes:
        if incoming.is_prefetch and incoming.cookie(FLASH):  # the message is for the page that is opened (record 48)
            return self._raw(incoming, BytesResponse(b"", status=503, headers={"Cache-Control": "no-store"}))
        self._head(incoming, page.http_status, {"Vary": "Accept, Content-Type, Cookie", "Cache-Control": "no-store"})
        if incoming.wants_json:
            self._headers(incoming, frames.api_headers())
            incoming.request.setHeader("Content-Type", _JSON)
            return page.as_json()
        incoming.nonce = random.token_urlsafe(12)
        self._headers(incoming, frames.page_headers(incoming.nonce, incoming.header("host"), self._inlined(page)))
        incoming.request.setHeader("Content-Type", _TYPE)
        return self.html(incoming, page)

    def _shared_page(self, incoming: Incoming, page: SharedPage) -> bytes:
        incoming.request.setResponseCode(200)
        headers = incoming.request.responseHeaders
        if page.drawn:
            set_headers(headers, _shared_page_headers(incoming.header("host"), self._inlined(page)))
        packed = accepts_gzip(incoming.header("accept-encoding"))
        set_headers(headers, page.packed_headers if packed else page.headers)
        if page.marked is None:
            return page.packed if packed else page.body
        token = self.csrf.token(incoming).encode()
        return page.marked.packed(token) if packed else page.marked.plain(token)

    def _inlined(self, page: Page | SharedPage) -> frames.Inlined | None:
        return self.templates.inlined if page.inlined else None

    def html(self, incoming: Incoming, page: Page) -> bytes:
        """A page as HTML, with the nonce that the request has got."""
        return self.templates.render(*self._drawing(incoming, page)).encode()

    def html_in_pieces(self, incoming: Incoming, page: Page) -> Iterator[str]:
        """The same in pieces, each made when it is asked for."""
        return self.templates.pieces(*self._drawing(incoming, page))

    def _drawing(self, incoming: Incoming, page: Page) -> tuple[str, Values]:
        """The template of a page, and its context."""
        frame = self._frame(incoming)
        public: Values = {**page.public}
        if public.get("flash") and public.get("status") == "success":  # the form itself shows its mistakes
            words = self.languages.say(public["flash"], frame["locale"])
            frame["flashes"] = [*frame["flashes"], {"message": words, "status": "success"}]
        context = {
            "title": "",
            **self._translated(public | (page.private or {}), frame["locale"]),
            **frame,
            "template": page.template,
        }
        return page.drawn_as or page.template, context

    def _frame(self, incoming: Incoming) -> Values:
        """The part of the context that is the same for every page."""
        who = incoming.who
        locale = locale_of(incoming)
        flashes = self.cookies.take_flash(incoming)
        if notice := self.cookies.move(incoming):
            flashes = [*flashes, {"message": self.languages.say(notice, locale), "status": "warning"}]
        return {
            "who": {
                "signed_in": who.signed_in,
                "name": who.user_name,
                "fullname": who.fullname,
                "admin": who.admin,
                "guest": who.guest,
            },
            "csrf": self.csrf.token(incoming),
            "csp_nonce": incoming.nonce,
            "flashes": flashes,
            "locale": locale,
            "direction": direction_of(locale),
            "theme": incoming.cookie("theme") if incoming.cookie("theme") in ("light", "dark") else "",
            "path": incoming.path,
        }

    def _translated(self, context: Mapping[str, object], locale: str) -> Values:
        """The context with our own sentences in a language."""
        return {name: self._in_language(name, value, locale) for name, value in context.items()}

    def _in_language(self, name: str, value: object, locale: str) -> object:
        """Sentences, what is wrong with a form, and the reason of a refusal; programs get all that in English."""
        if isinstance(value, Sentence) or (name in _OURS and isinstance(value, str)):
            return self.languages.say(value, locale)
        if name in _OURS and isinstance(value, list):
            return [self.languages.say(words, locale) for words in value]
        if isinstance(value, dict) and isinstance(value.get("errors"), dict):
            errors = {field: self._in_language("flash", words, locale) for field, words in value["errors"].items()}
            return {**value, "errors": errors}
        return value

    def _redirect(self, incoming: Incoming, answer: Redirect) -> bytes:
        if incoming.wants_json:
            self._head(incoming, 200, {"Vary": "Accept, Content-Type, Cookie", "Cache-Control": "no-store"})
            self._headers(incoming, frames.api_headers())
            incoming.request.setHeader("Content-Type", _JSON)
            flash = {"flash": answer.flash, "status": answer.status} if answer.flash else {}
            return orjson.dumps({"next": answer.location, **flash, **answer.more})
        if answer.flash:
            words = self.languages.say(answer.flash, locale_of(incoming))
            self.cookies.flash(incoming, words, answer.status)
        return self._go(incoming, answer.location)

    def _sign_in(self, incoming: Incoming, error: CrowddError) -> bytes:
        """Both faces get a real 302 where signing in is required. People who need not everywhere are told why."""
        if error.code == _MEMBERS_ONLY and not incoming.wants_json and not incoming.is_prefetch:
            self.cookies.flash(incoming, self.languages.say(message_of(error), locale_of(incoming)), "info")
        here = incoming.path if incoming.method in ("GET", "HEAD") else "/"
        body = self._go(incoming, f"/account/signin?next={quote(here.encode('utf-8', 'replace'))}")
        _send_cookies(incoming)
        return body

    def _lead(self, incoming: Incoming, error: ForbiddenError) -> bytes:
        """A browser goes to the page on which it can do what is missing, and comes back."""
        if isinstance(error, SecondFactorNeededError):
            words = self.languages.say(message_of(error), locale_of(incoming))
            self.cookies.flash(incoming, words, "info")
            body = self._go(incoming, f"/account/{quote(incoming.who.user_name)}/security")
        else:
            body = self._go(incoming, f"/account/prove?next={quote(_way_back(incoming), safe='/')}")
        _send_cookies(incoming)
        return body

    def _go(self, incoming: Incoming, location: str) -> bytes:
        self._head(incoming, 302, {"Location": location, "Cache-Control": "no-store"})
        self._headers(incoming, frames.page_headers())
        incoming.request.setHeader("Content-Type", _TYPE)
        return b""

    def _data(self, incoming: Incoming, answer: JsonResponse) -> bytes:
        self._head(incoming, answer.status, answer.headers)
        set_headers(incoming.request.responseHeaders, _API if answer.status == 204 else _API_JSON)
        if incoming.who.signed_in:
            set_headers(incoming.request.responseHeaders, _PRIVATE)
        if answer.status == 204:
            return b""
        return answer.json()

    def _raw(self, incoming: Incoming, answer: BytesResponse) -> bytes:
        self._head(incoming, answer.status, answer.headers)
        incoming.request.setHeader("Content-Type", answer.content_type)
        return answer.body

    def _stream_head(self, incoming: Incoming, content_type: str) -> bytes:
        """What comes later is not kept, not buffered by a proxy, and the last of its connection."""
        self._head(incoming, 200, {"Vary": "Accept, Content-Type, Cookie", "Cache-Control": "no-store"})
        self._headers(incoming, frames.api_headers())
        self._headers(incoming, {"X-Accel-Buffering": "no", "Connection": "close"})
        incoming.request.setHeader("Content-Type", content_type)
        return b""

    def _file_head(self, incoming: Incoming, answer: Download) -> bytes:
        """A file to keep, never a document of ours; no proxy waits for its end."""
        self._head(incoming, 200, {"Vary": "Accept, Content-Type, Cookie", "Cache-Control": "no-store"})
        self._headers(incoming, frames.api_headers())
        named = f"attachment; filename*=UTF-8''{quote(answer.name, safe='')}"
        self._headers(incoming, {"Content-Disposition": named, "X-Accel-Buffering": "no", **answer.headers})
        incoming.request.setHeader("Content-Type", answer.content_type)
        return b""

    def _head(self, incoming: Incoming, status: int, headers: dict[str, str]) -> None:
        incoming.request.setResponseCode(status)
        self._headers(incoming, headers)

    def _headers(self, incoming: Incoming, headers: dict[str, str]) -> None:
        for name, value in headers.items():
            # A header must not end early: what a line break would begin is somebody else's header.
            incoming.request.setHeader(name, value.replace("\r", "").replace("\n", "").encode("utf-8", "replace"))


@lru_cache(maxsize=64)
def _shared_page_headers(host: str, inlined: frames.Inlined | None) -> EncodedHeaders:
    return encode(frames.shared_page_headers(host, inlined))


def _send_cookies(incoming: Incoming) -> None:
    for cookie in incoming.cookies_to_set:
        incoming.request.responseHeaders.addRawHeader(b"set-cookie", cookie)


def _way_back(incoming: Incoming) -> str:
    """The address that was asked for; of a form that was sent, the page that it stands on."""
    if not incoming.changes_state:
        return incoming.request.uri.decode("ascii", "replace")
    referer = urlsplit(incoming.header("referer"))
    return local(referer.path, "/") if referer.netloc == incoming.header("host") else "/"
