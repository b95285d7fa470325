"""Tokens against forged forms, and which refused requests go into the security log.

A token is bound to the session, or to a cookie of a browser that has none.
"""

from __future__ import annotations

import hmac
import secrets as random
from urllib.parse import urlsplit

import attrs

from crowdd.core.secrets import Secrets
from crowdd.core.security_log import ADMIN_REFUSED, CSRF_REFUSED, ORIGIN_REFUSED, EntryKind, SecurityLog
from crowdd.http.auth.cookies import CSRF, SESSION, Cookies
from crowdd.http.request import Incoming
from crowdd.kernel.errors import AnonymousError, CrowddError, ForbiddenError, InvalidRequestError
from crowdd.kernel.requester import Requester, network

FIELD = "csrf_token"
_WORDS = "CSRF validation failed."


@attrs.frozen
class Csrf:
    """Makes and checks tokens. ``origins``: front ends elsewhere that may post with cookies."""

    secrets: Secrets
    cookies: Cookies
    base_url: str
    origins: frozenset[str]

    def token(self, incoming: Incoming) -> str:
        """A token for a form of this page; each is different, so that compression tells nothing about it.

        On a page that is made for many visitors, a mark that stands for the token of each.
        """
        if incoming.csrf_mark:
            return incoming.csrf_mark
        binding = self._binding(incoming)
        if not binding:
            binding = random.token_urlsafe(16)
            self.cookies.set(incoming, CSRF, binding)
            incoming.keep_cookie(CSRF, binding)
            binding = f"browser:{binding}"
        salt = random.token_urlsafe(9)
        return f"{salt}.{self._mac(salt, binding)}"

    def check(self, incoming: Incoming) -> None:
        """Passes a form that this browser was given; raises InvalidRequestError otherwise."""
        token = incoming.header("x-csrftoken") or incoming.header("x-csrf-token")
        if not token and incoming.content_type != "application/offset+octet-stream":  # a part of a file has no fields
            token = incoming.field(FIELD)
        salt, _, mac = token.partition(".")
        binding = self._binding(incoming)
        good = binding and hmac.compare_digest(self._mac(salt, binding).encode(), mac.encode("utf-8", "replace"))
        if not good or not self.same_site(incoming):
            hint = "Load the form again: GET the same address and send form.csrf as X-CSRFToken."
            raise InvalidRequestError(_WORDS, code="csrf", hint=hint)

    def check_choice(self, incoming: Incoming) -> None:
        """Passes a form that only says how pages look to a browser, and has no token on pages that many get alike.

        Without a session it is enough that the browser says that the form comes from one of our pages. Otherwise as
        ``check``.
        """
        origin = incoming.header("origin")
        own = self._ours(origin, incoming) if origin else incoming.header("sec-fetch-site") == "same-origin"
        if incoming.by_cookie or not own:
            self.check(incoming)

    def same_site(self, incoming: Incoming) -> bool:
        """Whether the request says that it comes from our pages or from a configured front end; silence passes."""
        origin = incoming.header("origin")
        if not origin:
            return incoming.header("sec-fetch-site") in ("", "same-origin", "same-site", "none")
        return self._ours(origin, incoming)

    def _ours(self, origin: str, incoming: Incoming) -> bool:
        return origin in self.origins or self._own(origin, incoming)

    def _own(self, origin: str, incoming: Incoming) -> bool:
        here = urlsplit(origin)
        return origin == self.base_url or (here.scheme in ("http", "https") and here.netloc == incoming.header("host"))

    def _binding(self, incoming: Incoming) -> str:
        if incoming.by_cookie:
            return f"session:{incoming.cookie(SESSION)}"
        return f"browser:{incoming.cookie(CSRF)}" if incoming.cookie(CSRF) else ""

    def _mac(self, salt: str, binding: str) -> str:
        return self.secrets.digest("csrf", f"{salt}|{binding}").hex()[:40]


_ORIGIN_CODES = frozenset({"cross_site", "opaque_origin"})


@attrs.frozen
class Refusals:
    """Looks at every error that a client is told."""

    secrets: Secrets
    security_log: SecurityLog

    def note(self, incoming: Incoming, error: Exception) -> None:
        """Count the refusal if it is of a kind that the security log keeps."""
        kind = kind_of(incoming.path, error)
        if kind is None:
            return
        detail = f"{incoming.method} {incoming.request.route}"
        self.security_log.count(kind, self._who(incoming), detail=detail, request=incoming.request_id)

    def _who(self, incoming: Incoming) -> Requester:
        """The requester, or what is known of them where the refusal came first."""
        if incoming.who.network:
            return incoming.who
        here = self.secrets.pseudonym(network(incoming.address))
        return attrs.evolve(incoming.who, network=here, agent=incoming.header("user-agent"))


def kind_of(path: str, error: Exception) -> EntryKind | None:
    """The kind of a refusal, None for errors that are none."""
    code = error.code if isinstance(error, CrowddError) else ""
    if code == "csrf":
        return CSRF_REFUSED
    if code in _ORIGIN_CODES:
        return ORIGIN_REFUSED
    below = path == "/admin" or path.startswith("/admin/")
    return ADMIN_REFUSED if below and isinstance(error, AnonymousError | ForbiddenError) else None
