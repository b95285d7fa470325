"""The security log, as administrators see it."""

from __future__ import annotations

from collections.abc import Iterator

from crowdd.domain.core.security_log import KINDS
from crowdd.domain.server.administration import ACTS, Administration
from crowdd.errors import InvalidValueError
from crowdd.http.pages.admin.access import admins_only
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Response, Titled
from crowdd.http.routing import Route, get
from crowdd.kinds.kind import outward
from crowdd.languages import _
from crowdd.values import Values


class SecurityPublic(Titled):
    entries: list[Values]
    kinds: list[str]
    chosen: dict[str, str | None]
    next: int | None


class AdminSecurity:
    """``/admin/security``."""

    def __init__(self, administration: Administration) -> None:
        self._administration = administration

    def routes(self) -> Iterator[Route]:
        yield get("/admin/security", admins_only(self.page))

    async def page(self, incoming: Incoming) -> Response:
        """The newest entries, or those before one. ``account`` and ``kind`` are filters."""
        before, account, kind = (incoming.query.get(name, "") for name in ("before", "account", "kind"))
        if before and not (before.isascii() and before.isdigit() and len(before) < 19):
            raise InvalidValueError(_("before must be the number of an entry."))
        kinds = [kind] if kind else []
        rows = await self._administration.security(
            incoming.who, account.strip(), kinds=kinds, before=int(before) if before else None
        )
        public = SecurityPublic(
            title=_("Security log"),
            entries=[{name: outward(value) for name, value in row.items()} for row in rows],
            kinds=sorted(KINDS),
            chosen={"account": account or None, "kind": kind or None},
            next=rows[-1]["id"] if len(rows) == ACTS else None,
        )
        return Page("admin/security.html", public)
