"""How the site is doing, and who changed what."""

from __future__ import annotations

from collections.abc import Iterator

from crowdd.domain.projects.statistics import Statistics
from crowdd.domain.server.administration import ACTS, Administration
from crowdd.errors import InvalidValueError
from crowdd.http.pages.admin.access import admins_only
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response
from crowdd.http.routing import Route, get
from crowdd.kinds.kind import outward
from crowdd.languages import _

_WANTED = frozenset({"1", "true", "yes", "on"})


class AdminDashboard:
    """``/admin/dashboard/`` and ``/admin/audit``."""

    def __init__(self, administration: Administration, statistics: Statistics) -> None:
        self._administration, self._statistics = administration, statistics

    def routes(self) -> Iterator[Route]:
        yield get("/admin/", admins_only(self.index))
        yield get("/admin/dashboard/", admins_only(self.dashboard))
        yield get("/admin/audit", admins_only(self.audit))

    async def index(self, incoming: Incoming) -> Response:
        return Redirect("/admin/dashboard/")

    async def dashboard(self, incoming: Incoming) -> Response:
        """The last week; ``?refresh=1`` asks for figures of now."""
        refresh = incoming.query.get("refresh", "").lower() in _WANTED
        figures = await self._administration.figures(incoming.who, refresh)
        feed = await self._statistics.update_feed()
        return Page("admin/dashboard.html", title=_("Dashboard"), update_feed=feed, **figures)

    async def audit(self, incoming: Incoming) -> Response:
        """The audit log, page by page towards the past; ``user`` and ``kind`` choose."""
        before, user, kind = (incoming.query.get(name) or None for name in ("before", "user", "kind"))
        if before is not None and not (before.isascii() and before.isdigit() and len(before) < 19):
            raise InvalidValueError(_("before is the number of an entry."))
        earliest = int(before) if before else None
        rows = await self._administration.acts(incoming.who, before=earliest, user=user, kind=kind)
        return Page(
            "admin/audit.html",
            title=_("Audit log"),
            entries=[{name: outward(value) for name, value in row.items()} for row in rows],
            kinds=await self._administration.kinds_acted_upon(incoming.who),
            chosen={"user": user, "kind": kind},
            next=rows[-1]["id"] if len(rows) == ACTS else None,
        )
