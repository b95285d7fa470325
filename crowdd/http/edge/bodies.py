"""How large the body of a request may be, decided at the end of its head, by its address and by who sends it.

``site.SiteRequest`` refuses what is larger while it arrives.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine
from typing import Final, Self
from urllib.parse import unquote

import attrs
from twisted.internet.defer import Deferred

from crowdd.http.edge.addresses import client_address
from crowdd.http.edge.server_request import Request
from crowdd.http.interfaces import Identity, Projects
from crowdd.http.request import Incoming
from crowdd.kernel.config import Settings
from crowdd.kernel.errors import AnonymousError, TooLargeError

MAX_PART: Final = 8_388_608
"""Bytes of a part of a file of media."""
_IMPORT = re.compile(rb"/project/([^/?]+)/tasks/import/?(?:\?.*)?", re.DOTALL)
_MEDIA = re.compile(rb"/project/([^/?]+)/tasks/media(/[^?]*)?(?:\?.*)?", re.DOTALL)
_PART = re.compile(rb"/\d+/files(?:/\d+)?/?")
_HINT = "Sign in or send an API key to send more."
Limit = Callable[[Request], Coroutine[Deferred[object], object, int]]


def imports_into(target: bytes) -> str | None:
    """The short name of the project that a request brings a file of tasks to; None for every other request."""
    return _short_name(_IMPORT.fullmatch(target))


def media_into(target: bytes) -> str | None:
    """The short name of the project that a request brings media to, or None."""
    return _short_name(_MEDIA.fullmatch(target))


def is_part(target: bytes) -> bool:
    """Whether a request brings a part of a file of media."""
    match = _MEDIA.fullmatch(target)
    return match is not None and _PART.fullmatch(match[2] or b"") is not None


def _short_name(match: re.Match[bytes] | None) -> str | None:
    return unquote(match[1].decode("ascii", "replace"), errors="replace") if match else None


def too_large(limit: int, hint: str = "") -> TooLargeError:
    """The error for a body beyond the limit."""
    return TooLargeError(f"The body is larger than {limit:,} bytes.", hint=hint)


@attrs.frozen
class BodyLimits:
    """Bytes of a body: without an account, with one, of a file of tasks, and of a part of a file of media."""

    anonymous: int
    known: int
    imports: int
    parts: int

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Those of the settings; nobody may send less for being known."""
        http = settings.http
        anonymous = min(http.max_anonymous_body_bytes, http.max_body_bytes)
        parts = min(http.max_body_bytes, MAX_PART)
        return cls(anonymous, http.max_body_bytes, max(http.max_body_bytes, http.max_import_bytes), parts)

    def limit(self, target: bytes, *, known: bool) -> int:
        """How long a body to this address may be; ``known``: its sender has an account."""
        if not known:
            return self.anonymous
        if is_part(target):
            return max(self.parts, self.anonymous)
        return self.known if imports_into(target) is None else self.imports


@attrs.frozen
class Senders:
    """Looks up who sends a large body before it is read."""

    settings: Settings
    identity: Identity
    projects: Projects

    async def limit(self, request: Request) -> int:
        """How long the body of this request may be; only its head is known.

        Raises TooLargeError without an account, and what the handler would raise for those who may not bring files.
        """
        incoming = Incoming(request, client_address(request, self.settings))
        incoming.who = await self.identity.find(incoming, renew=False)
        limits = BodyLimits.of(self.settings)
        short_name = imports_into(request.uri) or media_into(request.uri)
        if short_name is not None:
            await self._require_owner(short_name, incoming)
        elif not incoming.who.signed_in:
            raise too_large(limits.anonymous, _HINT)
        return limits.limit(request.uri, known=True)

    async def _require_owner(self, short_name: str, incoming: Incoming) -> None:
        if not incoming.who.signed_in:
            raise AnonymousError("Sign in to import tasks.")
        await self.projects.owned(short_name, incoming.who)
