"""Which refused requests go into the security log."""

from __future__ import annotations

import attrs

from crowdd.domain.core.secrets import Secrets
from crowdd.domain.core.security_log import ADMIN_REFUSED, CSRF_REFUSED, ORIGIN_REFUSED, EntryKind, SecurityLog
from crowdd.errors import AnonymousError, CrowddError, ForbiddenError
from crowdd.http.request import Incoming
from crowdd.requester import Requester, network

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
