"""The audit log and the security log of the site."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from crowdd.domain.core import security_log as log
from crowdd.domain.server.administration import Administration
from crowdd.http.html.row_lists import RowList, WithTable, outward_rows, page_csv
from crowdd.http.pages.admin.access import admins_only
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Response, Titled
from crowdd.http.routing import Route, get
from crowdd.languages import _
from crowdd.storage.core.keyset import KeysetPage
from crowdd.storage.core.rows import AuditEntry, SecurityEntry
from crowdd.values import Values

_LIST = RowList()
_ACTS = ("id", "at", "user_name", "via", "action", "kind", "object_id", "attribute", "before", "after", "network")
_EVENTS = ("id", "last_at", "kind", "count", "user_name", "actor_name", "network", "agent", "detail", "request_id")


_WORDS: Final = {
    log.SIGN_IN: _("Signed in"),
    log.SIGN_IN_FAILED: _("Sign-in failed"),
    log.SIGN_IN_THROTTLED: _("Sign-in refused after too many failures"),
    log.SIGN_OUT: _("Signed out"),
    log.NEW_DEVICE: _("Signed in with a new browser"),
    log.PASSWORD_WRONG: _("Wrong password when asked again"),
    log.PASSWORD_CHANGED: _("Password changed"),
    log.RESET_ASKED: _("Link for a new password requested"),
    log.RESET_DONE: _("Password replaced with a link"),
    log.ADDRESS_CHANGED: _("E-mail address changed"),
    log.KEY_MADE: _("API key replaced"),
    log.KEY_NEW_NETWORK: _("API key or token used from a new network"),
    log.TOKEN_MADE: _("API token created"),
    log.TOKEN_REMOVED: _("API token removed"),
    log.FACTOR_ADDED: _("Second factor added"),
    log.FACTOR_REMOVED: _("Second factor removed"),
    log.RECOVERY_CODE_USED: _("Recovery code used"),
    log.CSRF_REFUSED: _("Form without a valid token refused"),
    log.ORIGIN_REFUSED: _("Request of another site or a presenter refused"),
    log.ADMIN_REFUSED: _("Administration refused"),
    log.ADMIN_MADE: _("Administrator rights given"),
    log.ADMIN_REMOVED: _("Administrator rights removed"),
    log.ACCOUNT_BLOCKED: _("Account blocked"),
    log.ACCOUNT_UNBLOCKED: _("Account unblocked"),
}
WORDS: Final = {kind.name: words for kind, words in _WORDS.items()}
"""What the page says for each kind of entry in the security log, by its name."""
DETAILS: Final = {
    "totp_added": _("Authenticator app"),
    "totp_removed": _("Authenticator app"),
    "passkey_added": _("Passkey"),
    "passkey_removed": _("Passkey"),
    "all_removed": _("All second factors"),
    log.MORE: _("Further entries from this network"),
    log.MORE_NETWORKS: _("Entries from further networks"),
}
"""The same for details that are codes."""


class LogPublic(Titled):
    """``chosen`` has the current filters; ``next`` is the entry that the next page begins before."""

    entries: list[Values]
    kinds: list[str]
    chosen: dict[str, str | None]
    next: int | None


class SecurityPrivate(WithTable):
    """``words`` of kinds, and of ``details`` that are codes."""

    words: dict[str, str]
    details: dict[str, str]


class AdminLogs:
    """``/admin/audit`` and ``/admin/security``."""

    def __init__(self, administration: Administration) -> None:
        self._administration = administration

    def routes(self) -> Iterator[Route]:
        yield get("/admin/audit", admins_only(self.audit))
        yield get("/admin/security", admins_only(self.security))

    async def audit(self, incoming: Incoming) -> Response:
        """A page of the audit log. ``user`` and ``kind`` are filters."""
        place = _LIST.place(incoming)
        user, kind = (incoming.query.get(name, "").strip() or None for name in ("user", "kind"))
        part = await self._administration.acts(incoming.who, place=place, user=user, kind=kind)
        if incoming.query.get("csv") and not incoming.wants_json:
            return page_csv("audit", _ACTS, outward_rows(part.rows))
        public = LogPublic(
            title=_("Audit log"),
            entries=outward_rows(part.rows),
            kinds=await self._administration.kinds_acted_upon(incoming.who),
            chosen={"user": user, "kind": kind},
            next=_next(part),
        )
        filters = {"user": user or "", "kind": kind or ""}
        return Page("admin/audit.html", public, _LIST.drawn(place, filters, part, lambda row: row["id"]))

    async def security(self, incoming: Incoming) -> Response:
        """A page of the security log. ``account`` and ``kind`` are filters."""
        place = _LIST.place(incoming)
        account, kind = (incoming.query.get(name, "") for name in ("account", "kind"))
        part = await self._administration.security(incoming.who, account.strip(), place, kinds=[kind] if kind else [])
        if incoming.query.get("csv") and not incoming.wants_json:
            return page_csv("security", _EVENTS, outward_rows(part.rows))
        public = LogPublic(
            title=_("Security log"),
            entries=outward_rows(part.rows),
            kinds=sorted(log.KINDS),
            chosen={"account": account or None, "kind": kind or None},
            next=_next(part),
        )
        filters = {"account": account, "kind": kind}
        drawn = _LIST.drawn(place, filters, part, lambda row: row["id"])
        return Page("admin/security.html", public, SecurityPrivate(words=WORDS, details=DETAILS, **drawn))


def _next(part: KeysetPage[AuditEntry] | KeysetPage[SecurityEntry]) -> int | None:
    return part.rows[-1]["id"] if part.next else None
