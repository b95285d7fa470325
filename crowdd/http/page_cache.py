"""Pages that are the same for all visitors without an account: made once, and sent for at most a second.

A visitor here has no account and sends no cookie that tells them from others. They get a page that was made for
another visitor only while it is younger than a second and nothing has changed that visitors may see: each request asks
the database (``core.site.Exposure``). People who may have changed something get pages of their own for a
while. What is kept says nothing of one of them: its scripts need no nonce, and it has a mark where each visitor gets a
form token. Only with such a token do cookies go out, those of this visitor.

Programs get what is committed: JSON is sent again only if nothing at all was committed since it was made. Otherwise it
is made for those who ask at the same time, after all of them have asked.
"""

from __future__ import annotations

import gzip
import secrets as random
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping
from functools import partial
from typing import Final

import attrs
from twisted.internet.interfaces import IReactorTime
from twisted.internet.task import deferLater

from crowdd.core.site import Exposure
from crowdd.http.auth.cookies import CSRF
from crowdd.http.edge.headers import accepts_gzip, coded_etag, encode, etag_of, matches_etag
from crowdd.http.edge.marked_text import MarkedText
from crowdd.http.html import frames
from crowdd.http.reader_language import LANGUAGE_COOKIE, locale_of
from crowdd.http.request import Incoming
from crowdd.http.responses import NotModified, Page, Response, SharedPage
from crowdd.http.routing import Shared
from crowdd.kernel.concurrency.cache import Cache
from crowdd.kernel.config import Settings
from crowdd.kernel.requester import network

SECONDS: Final = 1.0  # that a page is sent after it began to be made
_AFTER_CHANGE: Final = 2.0  # seconds for which a network that changed something gets pages of its own
_MAX_NETWORKS: Final = 10_000
_COOKIES: Final = frozenset({CSRF, LANGUAGE_COOKIE, "theme"})  # that many have alike, or that no page shows
_IDENTITY: Final = frozenset({"authorization", "x-project-password", "x-draft-key", "x-volunteer", "x-presenter"})
_THEMES: Final = ("light", "dark")
_AS_JSON: Final = "as JSON"  # in place of a theme
_OVERHEAD: Final = 1000  # bytes beside those of a page
_GZIP_LEVEL: Final = 4
_VARY: Final = (
    "Accept, Content-Type, Cookie, Accept-Language, Authorization, X-Project-Password, X-Draft-Key"
    ", Origin, Accept-Encoding"
)
_OF_KNOWN: Final = ("ETag", "Cache-Control", "Vary")  # headers of a page that its client has (RFC 9110, 15.4.5)
_OWN: Final = {"Vary": "Accept, Content-Type, Cookie", "Cache-Control": "no-store"}
_HTML: Final = {"Content-Type": "text/html; charset=utf-8"}
_JSON: Final = {
    **frames.api_headers(),
    "Content-Type": "application/json",
    "Cache-Control": "private, no-cache",
    "Vary": _VARY,
}
Make = Callable[[], Awaitable[Response]]
Render = Callable[[Incoming, Page], Iterable[str]]
Counted = Callable[[bool, int], None]


class PageCache:
    """Keeps pages within a number of bytes; those that were sent last stay. ``clock`` has ``seconds``.

    ``counted`` is told of each request whether it found a page, and how many bytes there are. ``site_version`` gives
    the version of the settings of the site that pages are made with.
    """

    def __init__(
        self,
        clock: IReactorTime,
        settings: Settings,
        exposure: Exposure,
        site_version: Callable[[], int],
        render: Render,
        counted: Counted,
    ) -> None:
        self._clock, self._exposure, self._site_version = clock, exposure, site_version
        self._render, self._counted = render, counted
        self._active = bool(settings.http.max_page_cache_bytes)
        self._volunteers_have_cookies = settings.volunteers.anonymous == "cookie"
        self._pages: Cache[SharedPage | None] = Cache(clock, SECONDS, settings.http.max_page_cache_bytes, _size)
        self._changed = Cache[bool](clock, _AFTER_CHANGE, _MAX_NETWORKS)
        self._token_mark = random.token_hex(16)
        self._shared_headers = {"Cache-Control": _lifetime(settings.http.shared_cache_seconds), "Vary": _VARY}

    def note_change(self, incoming: Incoming) -> None:
        """This request may have changed something: its network sees it at once."""
        self._changed.put(network(incoming.address), True)

    def group(self, incoming: Incoming, shared: Shared | None) -> Shared | None:
        """``shared`` of a route if the request is of those who get the same page, otherwise None."""
        who = incoming.who
        named = who.signed_in or who.unlocked or incoming.key_name or incoming.wrong_key or who.presenter is not None
        return None if named else self._group_of_visitors(incoming, shared)

    def _group_of_visitors(self, incoming: Incoming, shared: Shared | None) -> Shared | None:
        """The same by what the request brings: without a key, password or cookie of somebody, it is a visitor's."""
        if shared is None or not self._active or (shared is Shared.NEW_VISITORS and not self._volunteers_have_cookies):
            return None
        if incoming.wants_json and shared is Shared.CONSTANT:  # it has the form token of each visitor
            return None
        return shared if self._is_visitor(incoming) else None

    def _is_visitor(self, incoming: Incoming) -> bool:
        if incoming.query and not (incoming.wants_json and incoming.query.keys() <= {"response_format"}):
            return False  # so it is no presenter's frame either
        bare = incoming.has_no_cookies_but(_COOKIES) and _IDENTITY.isdisjoint(incoming.headers)
        return bare and not incoming.is_prefetch and network(incoming.address) not in self._changed

    async def known(self, incoming: Incoming, shared: Shared | None) -> NotModified | None:
        """The 304 for a visitor who has the page that is kept. None: handle the request as usual.

        Call it before the requester is found out, which is much of the cost of such a response.
        """
        header = incoming.header("if-none-match")
        if not header or incoming.wants_json or self._group_of_visitors(incoming, shared) is None:
            return None
        version = (await self._exposure.version(), self._site_version())
        page = self._pages.peek(_drawn_key(incoming), version)
        answer = None if page is None else _unless_known(incoming, page)
        if not isinstance(answer, NotModified):
            return None
        self._counted(True, self._pages.size)
        return answer

    async def get(self, incoming: Incoming, shared: Shared, make: Make) -> Response:
        """The page for a visitor; ``make`` gives it where there is none. Raises what ``make`` raises.

        Who has this page already is told so: the page is neither written nor compressed, and sent to nobody.
        """
        answer = await (self._fresh_json if incoming.wants_json else self._drawn)(incoming, shared, make)
        return _unless_known(incoming, answer) if isinstance(answer, SharedPage) else answer

    async def _drawn(self, incoming: Incoming, shared: Shared, make: Make) -> Response:
        """The page as HTML."""
        version: Hashable = self._site_version()
        if shared is not Shared.CONSTANT:
            version = (await self._exposure.version(), version)
        key = _drawn_key(incoming)
        page = self._pages.peek(key, version)
        self._counted(page is not None, self._pages.size)
        if page is not None:
            return page
        who, own = incoming.who, list[Response]()
        if shared is Shared.NEW_VISITORS:  # as their browser will be known once they have answered
            incoming.who = attrs.evolve(who, volunteer=random.token_urlsafe(12))
        try:
            page = await self._pages.get(key, partial(self._made, incoming, make, own), version)
            if page is not None:
                return page
            return own[0] if own else await make()
        finally:
            incoming.who = who

    async def _fresh_json(self, incoming: Incoming, shared: Shared, make: Make) -> Response:
        """The page as JSON, as it is now."""
        own = incoming.who
        try:
            if shared is Shared.NEW_VISITORS:
                seen = await self._exposure.alike(own)
                incoming.who = seen.who
                if seen.who is own:
                    return await make()
                moment = seen.moment
            else:
                moment = await self._exposure.moment()
            version = (moment, self._site_version())
            key = (incoming.path, locale_of(incoming), _AS_JSON)
            answer = await self._pages.get(key, partial(self._json_made, incoming, make), version, fresh=True)
        finally:
            incoming.who = own
        return await make() if answer is None else answer

    async def _json_made(self, incoming: Incoming, make: Make) -> SharedPage | None:
        """A page as JSON for many programs. None for another response, and for one that says something of this one."""
        incoming.csrf_mark = self._token_mark
        try:
            answer = await make()
        finally:
            incoming.csrf_mark = ""
        if not isinstance(answer, Page) or answer.http_status != 200 or incoming.cookies_to_set:
            incoming.cookies_to_set.clear()
            return None
        body = answer.as_json()
        if self._token_mark.encode() in body:
            return None
        return _tagged(body, _JSON, drawn=False)

    async def _made(self, incoming: Incoming, make: Make, own: list[Response]) -> SharedPage | None:
        """A page for many visitors. A response of another kind goes into ``own``."""
        incoming.csrf_mark = self._token_mark
        try:
            answer = await make()
            page = await self._shared(incoming, answer)
        finally:
            incoming.csrf_mark = ""
        if not isinstance(answer, Page):
            own.append(answer)
        elif page is not None and answer.inlined:
            page = attrs.evolve(page, inlined=True)
        return page

    async def _shared(self, incoming: Incoming, answer: Response) -> SharedPage | None:
        if not isinstance(answer, Page) or answer.http_status != 200:
            return None
        body = (await join_pieces(self._clock, self._render(incoming, answer))).encode()
        mark = self._token_mark.encode()
        if incoming.cookies_to_set:
            incoming.cookies_to_set.clear()  # it is made again, for this visitor alone
            return None
        if mark in body:
            return _marked(MarkedText.of(body, mark))
        return _tagged(body, {**self._shared_headers, **_HTML}, drawn=True)


def _drawn_key(incoming: Incoming) -> Hashable:
    theme = incoming.cookie("theme")
    return (incoming.path, locale_of(incoming), theme if theme in _THEMES else "")


def _marked(text: MarkedText) -> SharedPage:
    """A page with a form token of each visitor."""
    headers = {**_OWN, **_HTML}
    return SharedPage(b"", b"", encode(headers), encode({**headers, "Content-Encoding": "gzip"}), marked=text)


def _tagged(body: bytes, headers: Mapping[str, str], *, drawn: bool) -> SharedPage:
    """A page without anything of one visitor."""
    tag = etag_of(body)
    plain, packed = {**headers, "ETag": tag}, {**headers, "Content-Encoding": "gzip", "ETag": coded_etag(tag)}
    known = tuple(
        NotModified(each["ETag"], encode({name: each[name] for name in _OF_KNOWN})) for each in (plain, packed)
    )
    packed_body = gzip.compress(body, _GZIP_LEVEL, mtime=0)
    return SharedPage(body, packed_body, encode(plain), encode(packed), drawn=drawn, known=known)


def _unless_known(incoming: Incoming, page: SharedPage) -> SharedPage | NotModified:
    """The page, or that the client has it, in the form in which it would be sent."""
    header = incoming.header("if-none-match")
    if not header or not page.known:
        return page
    known = page.known[accepts_gzip(incoming.header("accept-encoding"))]
    return known if matches_etag(header, known.entity_tag) else page


def _size(page: SharedPage) -> int:
    return page.size + _OVERHEAD


def _lifetime(seconds: int) -> str:
    """What caches between crowdd and visitors may do: ask each time whether the page is the same, or wait so long."""
    return f"public, max-age=0, s-maxage={seconds}, must-revalidate" if seconds else "public, no-cache"


PIECE_SECONDS: Final = 0.001  # after which others come first


async def join_pieces(clock: IReactorTime, pieces: Iterable[str]) -> str:
    """Join the pieces into one text. After each millisecond of work, the reactor handles other events.

    Raises what ``pieces`` raises. ``clock`` has ``seconds`` and ``callLater``.
    """
    parts = []
    until = clock.seconds() + PIECE_SECONDS
    for piece in pieces:
        parts.append(piece)
        if clock.seconds() >= until:
            await deferLater(clock, 0)
            until = clock.seconds() + PIECE_SECONDS
    return "".join(parts)
