"""The administrators' dashboard, audit log and security log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypedDict

from crowdd.core import security_log as log
from crowdd.core.log_statements import ActFilter
from crowdd.core.records.statements import KeysetPage
from crowdd.core.rows import AuditEntry, SecurityEntry
from crowdd.features.projects.views import admins_only
from crowdd.features.site.administration import MAX_LISTED_PROJECTS, Administration
from crowdd.features.statistics.statistics import Statistics
from crowdd.http.html.tables import RowList, WithTable, outward_rows, page_csv
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response, Titled
from crowdd.http.routing import Route, get
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values

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
        part = await self._administration.acts(incoming.who, place, ActFilter(user, kind))
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


_WANTED = frozenset({"1", "true", "yes", "on"})


class Series(TypedDict):
    """A chart: a label for each value of each series."""

    labels: list[str]
    series: list[list[int]]


class DashboardPublic(Titled):
    """The keys of PyBossa; ``wait`` says whether new figures are being calculated."""

    update_feed: list[Values]
    active_users_last_week: Series
    active_anon_last_week: Series
    new_task_runs_week: Series
    new_users_week: Series
    new_tasks_week: Series
    returning_users_week: Series
    draft_projects_last_week: list[Values]
    published_projects_last_week: list[Values]
    update_projects_last_week: list[Values]
    wait: bool


class DashboardPrivate(TypedDict):
    """``totals`` are figures of the whole week by their names; ``minutes``: how old they are.

    Lists of projects end after ``max_listed``, so the number of those left out is not known then.
    """

    totals: dict[str, int]
    minutes: int
    max_listed: int


class AdminDashboard:
    """``/admin/dashboard/``."""

    def __init__(self, administration: Administration, statistics: Statistics) -> None:
        self._administration, self._statistics = administration, statistics

    def routes(self) -> Iterator[Route]:
        yield get("/admin/", admins_only(self.index))
        yield get("/admin/dashboard/", admins_only(self.dashboard))

    async def index(self, incoming: Incoming) -> Response:
        return Redirect("/admin/dashboard/")

    async def dashboard(self, incoming: Incoming) -> Response:
        """The figures of the last week. ``?refresh=1`` asks for current ones."""
        refresh = incoming.query.get("refresh", "").lower() in _WANTED
        figures = await self._administration.figures(incoming.who, refresh)
        feed = await self._statistics.update_feed()
        public = DashboardPublic(
            title=_("Dashboard"),
            update_feed=feed,
            active_users_last_week=figures["active_users_last_week"],
            active_anon_last_week=figures["active_anon_last_week"],
            new_task_runs_week=figures["new_task_runs_week"],
            new_users_week=figures["new_users_week"],
            new_tasks_week=figures["new_tasks_week"],
            returning_users_week=figures["returning_users_week"],
            draft_projects_last_week=figures["draft_projects_last_week"],
            published_projects_last_week=figures["published_projects_last_week"],
            update_projects_last_week=figures["update_projects_last_week"],
            wait=figures["wait"],
        )
        private = DashboardPrivate(
            totals=_totals(figures), minutes=int(figures["age"] // 60), max_listed=MAX_LISTED_PROJECTS
        )
        return Page("admin/dashboard.html", public, private)


def _totals(figures: Values) -> dict[str, int]:
    """Figures of the week. People are counted once, however many days they came."""
    sums = {"answers": "new_task_runs_week", "accounts": "new_users_week", "tasks": "new_tasks_week"}
    return {**figures["people"], **{name: sum(figures[key]["series"][0]) for name, key in sums.items()}}
