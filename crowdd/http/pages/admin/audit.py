"""The audit log and the security log of the site."""

from __future__ import annotations

from collections.abc import Iterator

from crowdd.domain.core.security_log import KINDS
from crowdd.domain.server.administration import Administration
from crowdd.http.html.row_lists import RowList, outward_rows, page_csv
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


class LogPublic(Titled):
    """``chosen`` has the current filters; ``next`` is the entry that the next page begins before."""

    entries: list[Values]
    kinds: list[str]
    chosen: dict[str, str | None]
    next: int | None


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
            kinds=sorted(KINDS),
            chosen={"account": account or None, "kind": kind or None},
            next=_next(part),
        )
        filters = {"account": account, "kind": kind}
        return Page("admin/security.html", public, _LIST.drawn(place, filters, part, lambda row: row["id"]))


def _next(part: KeysetPage[AuditEntry] | KeysetPage[SecurityEntry]) -> int | None:
    return part.rows[-1]["id"] if part.next else None
