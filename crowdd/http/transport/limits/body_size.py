"""How long a request's body may be, decided at the end of its head by its address and by who sends it."""

from __future__ import annotations

import re
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Self
from urllib.parse import unquote

import attrs
from twisted.internet.defer import Deferred

from crowdd.config import Settings
from crowdd.domain.projects.projects import Projects
from crowdd.errors import AnonymousError, TooLargeError
from crowdd.http.auth.identity import Identity, client_address
from crowdd.http.request import Incoming

if TYPE_CHECKING:
    from crowdd.http.transport.site import Request

_IMPORT = re.compile(rb"/project/([^/?]+)/tasks/import/?(?:\?.*)?", re.DOTALL)
_HINT = "Sign in or send an API key to send more."
Limit = Callable[["Request"], Coroutine[Deferred[object], object, int]]


def imports_into(target: bytes) -> str | None:
    """The short name of the project that a request brings a file of tasks to; None for every other request."""
    found = _IMPORT.fullmatch(target)
    return unquote(found[1].decode("ascii", "replace"), errors="replace") if found else None


def too_large(limit: int, hint: str = "") -> TooLargeError:
    """The error for a body beyond the limit."""
    return TooLargeError(f"The body is larger than {limit:,} bytes.", hint=hint)


@attrs.frozen
class BodyLimits:
    """Bytes of a body: without an account, with one, and of a file of tasks."""

    anonymous: int
    known: int
    imports: int

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Those of the settings; nobody may send less for being known."""
        http = settings.http
        anonymous = min(http.max_anonymous_body_bytes, http.max_body_bytes)
        return cls(anonymous, http.max_body_bytes, max(http.max_body_bytes, http.max_import_bytes))

    def limit(self, target: bytes, *, known: bool) -> int:
        """How long a body to this address may be; ``known``: its sender has an account."""
        if not known:
            return self.anonymous
        return self.known if imports_into(target) is None else self.imports


@attrs.frozen
class Senders:
    """Looks up who sends a large body before it is read."""

    settings: Settings
    identity: Identity
    projects: Projects

    async def limit(self, request: Request) -> int:
        """How long the body of this request may be; only its head is known.

        Raises TooLargeError without an account, and what the import itself would raise for those who may not import.
        """
        incoming = Incoming(request, client_address(request, self.settings))
        incoming.who = await self.identity.find(incoming, renew=False)
        short_name, limits = imports_into(request.uri), BodyLimits.of(self.settings)
        if short_name is not None:
            await self._require_owner(short_name, incoming)
        elif not incoming.who.signed_in:
            raise too_large(limits.anonymous, _HINT)
        return limits.limit(request.uri, known=True)

    async def _require_owner(self, short_name: str, incoming: Incoming) -> None:
        if not incoming.who.signed_in:
            raise AnonymousError("Sign in to import tasks.")
        await self.projects.owned(short_name, incoming.who)
