"""What only administrators do: they look people up, block them, and see how the site is doing and who changed what."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from crowdd.core import log_statements
from crowdd.core.log_statements import ActFilter
from crowdd.core.mail import statements as mail_statements
from crowdd.core.records import rights
from crowdd.core.records.records import Behaviour
from crowdd.core.records.statements import Keyset, KeysetPage
from crowdd.core.rows import AuditEntry, SecurityEntry
from crowdd.core.security_log import ACCOUNT_BLOCKED, ACCOUNT_UNBLOCKED, SecurityLog
from crowdd.core.uploads import FileChanges
from crowdd.database.access import Database, Row, Transactions
from crowdd.features.accounts import list_statements as account_list_statements
from crowdd.features.accounts import statements as account_statements
from crowdd.features.accounts.rows import ListedAccount, RankedPerson
from crowdd.features.projects import list_statements as project_list_statements
from crowdd.features.projects import statements as project_statements
from crowdd.features.projects.rows import AdministeredProject, CountedCategory, ProjectSummary
from crowdd.features.site import statements
from crowdd.kernel.errors import NOT_FOUND, ConflictError, ForbiddenError, InvalidValueError, NotFoundError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values, parse_number
from crowdd.kinds.category import CATEGORY
from crowdd.kinds.kind import outward
from crowdd.kinds.roles import ADMINS
from crowdd.sched import statements as sched_statements
from crowdd.sched.rows import JobState

MAX_FOUND = 50
MAX_EXPORTED = 50_000
MAX_LISTED = 500
MAX_SELECTED = 100
MANY: Mapping[str, tuple[str, Callable[[Database, Sequence[int]], Awaitable[list[int]]]]] = {
    "cancel": ("queue", sched_statements.cancel_items),
    "retry": ("queue", sched_statements.retry_items),
    "send_again": ("mail", mail_statements.again_each),
}
"""What can be done to several rows at once: of what they are rows, and the change."""
_NEWEST = Keyset()
MAX_LISTED_PROJECTS = statements.MAX_LISTED_PROJECTS
"""Projects of the week in each list of the dashboard."""
FRESH_SECONDS, NEWEST_SECONDS = 600, 10
"""How old the dashboard's figures may be, and how old at least before somebody may ask for new ones."""


class Administration:
    """For pages and the command line; every method asks for an administrator."""

    def __init__(self, db: Transactions, security_log: SecurityLog) -> None:
        self._db, self._security_log = db, security_log

    # People

    async def admins(self, who: Requester) -> list[RankedPerson]:
        """All administrators with score and rank."""
        _require(who)
        return await account_list_statements.list_admins(self._db)

    async def found(self, words: str, who: Requester) -> list[RankedPerson]:
        """People whose nickname, full name or e-mail address holds these words, at most MAX_FOUND."""
        _require(who)
        return (
            await account_list_statements.search_accounts(self._db, words.strip(), MAX_FOUND) if words.strip() else []
        )

    async def found_listed(self, words: str, who: Requester) -> list[ListedAccount]:
        """The same people as rows of the list of accounts."""
        _require(who)
        return (
            await account_list_statements.search_account_rows(self._db, words.strip(), MAX_FOUND)
            if words.strip()
            else []
        )

    async def people(self, who: Requester, place: Keyset, role: str | None = None) -> KeysetPage[ListedAccount]:
        """A page of all accounts, or of those with a role (``accounts.list_statements.ROLES``) in the order of ids."""
        _require(who)
        return await account_list_statements.list_accounts(self._db, place, role)

    async def exported(self, after: int, who: Requester, maximum: int = MAX_EXPORTED) -> list[Values]:
        """People by id, beginning after one, at most MAX_EXPORTED."""
        _require(who)
        rows = await account_list_statements.list_accounts_after(self._db, after, min(maximum, MAX_EXPORTED))
        return [{name: outward(value) for name, value in row.items()} for row in rows]

    async def block(self, user_id: int, who: Requester) -> bool:
        """Signs somebody out everywhere and blocks their account; False when it is blocked already.

        Raises NotFoundError, ForbiddenError for oneself and for administrators.
        """
        return await self._restrict(user_id, True, who)

    async def unblock(self, user_id: int, who: Requester) -> bool:
        """Unblocks somebody; False when they are not blocked."""
        return await self._restrict(user_id, False, who)

    async def _restrict(self, user_id: int, restrict: bool, who: Requester) -> bool:
        _require(who)

        async def work(tx: Database) -> bool:
            row = await account_list_statements.lock_account(tx, user_id)
            if row is None:
                raise NotFoundError(NOT_FOUND)
            if restrict and row["admin"]:
                raise ForbiddenError(_("An administrator cannot be blocked. Remove their administrator rights first."))
            if row["restrict"] is not restrict:
                await account_list_statements.set_restrict(tx, user_id, restrict)
                await log_statements.write_act(tx, who, "block" if restrict else "unblock", "user", user_id)
                kind = ACCOUNT_BLOCKED if restrict else ACCOUNT_UNBLOCKED
                await self._security_log.note(tx, kind, who, user_id=user_id)
            return row["restrict"] is not restrict

        return await self._db.transaction(work)

    # Projects and categories

    async def categories(self, who: Requester) -> list[CountedCategory]:
        """All categories, each with the number of its published projects."""
        _require(who)
        return await project_list_statements.list_counted_categories(self._db)

    async def projects(
        self, who: Requester, place: Keyset, *, state: str | None = None, owner: str | None = None
    ) -> KeysetPage[AdministeredProject]:
        """A page of all projects; in a state or of an owner (a user name) in the order of ids."""
        _require(who)
        return await statements.list_administered_projects(self._db, place, state=state, owner=owner)

    async def published(self, who: Requester) -> list[ProjectSummary]:
        """Published projects, featured ones first, then the liveliest, at most MAX_LISTED."""
        _require(who)
        return await project_statements.list_published_projects(self._db, MAX_LISTED)

    # How things are

    async def figures(self, who: Requester, refresh: bool = False) -> Values:
        """The last seven days: as they were found in the last ten minutes, or again.

        ``wait`` says that new figures were wanted and are just being found for somebody else: these are older.
        ``age`` is in seconds. ``people`` are those of the week, each counted once: ``users`` and ``anon``.
        """
        _require(who)
        known = await statements.read_dashboard(self._db)
        if known is not None and known.age < (NEWEST_SECONDS if refresh else FRESH_SECONDS):
            return known.figures | {"wait": False, "age": known.age}
        made = await self._db.transaction(_find)
        if made is None and known is not None:  # somebody else is at it
            return known.figures | {"wait": True, "age": known.age}
        return (made or await _figures(self._db)) | {"wait": False, "age": 0.0}

    async def jobs(self, who: Requester) -> list[JobState]:
        """Every job that ever ran, with how its last run went."""
        _require(who)
        return await sched_statements.list_jobs(self._db)

    async def note(self, action: str, kind: str, object_id: int, who: Requester) -> None:
        """Writes down an act on what has no rules of its own for that: a background task, an e-mail."""
        _require(who)
        await log_statements.write_act(self._db, who, action, kind, object_id)

    async def do_each(self, action: str, ids: Sequence[int], who: Requester) -> int:
        """One of MANY on several rows, at most MAX_SELECTED; how many it was possible for.

        Raises InvalidValueError for too many.
        """
        _require(who)
        if len(ids) > MAX_SELECTED:
            raise InvalidValueError(_("Select at most %(maximum)s rows.", maximum=MAX_SELECTED))
        kind, change = MANY[action]

        async def work(tx: Database) -> int:
            changed = await change(tx, ids)
            await log_statements.write_acts(tx, who, action, kind, changed)
            return len(changed)

        return await self._db.transaction(work)

    async def acts(self, who: Requester, place: Keyset, wanted: ActFilter) -> KeysetPage[AuditEntry]:
        """A page of the audit log."""
        _require(who)
        return await log_statements.list_acts(self._db, place, wanted, origins=True)

    async def security(
        self,
        who: Requester,
        account: str = "",
        place: Keyset = _NEWEST,
        *,
        kinds: Sequence[str] = (),
        since: datetime | None = None,
    ) -> KeysetPage[SecurityEntry]:
        """A page of the security log.

        ``account`` is a nickname, an e-mail address or an id: also what was typed for an account that does not exist.
        """
        _require(who)
        user_id = await self._named(account) if account else None
        return await self._security_log.latest(place, account=user_id, tried=account, kinds=kinds, since=since)

    async def _named(self, account: str) -> int | None:
        row = await account_statements.find_by_login(self._db, account)
        return int(row["id"]) if row else parse_number(account)

    async def kinds_acted_upon(self, who: Requester) -> list[str]:
        """What stands in the audit log."""
        _require(who)
        return await log_statements.list_kinds(self._db)


class CategoryBehaviour(Behaviour):
    """Categories; every change is written to the audit log, and the last category stays."""

    def __init__(self) -> None:
        super().__init__(CATEGORY)

    async def create(self, tx: Database, who: Requester, rows: list[Values]) -> list[int]:
        made = await super().create(tx, who, rows)
        for category_id, values in zip(made, rows, strict=True):
            await log_statements.write_act(tx, who, "create", "category", category_id, after={"name": values["name"]})
        return made

    async def change(self, tx: Database, who: Requester, row: Row, changes: Values) -> None:
        await super().change(tx, who, row, changes)
        await log_statements.write_changes(tx, who, self.kind.name, row, changes)

    async def delete(self, tx: Database, who: Requester, row: Row, files: FileChanges) -> None:
        if await project_list_statements.lock_categories(tx) == [row["id"]]:
            raise ConflictError(_("You cannot delete the last category."))
        await super().delete(tx, who, row, files)


async def _find(tx: Database) -> Values | None:
    if not await statements.try_lock_dashboard(tx):
        return None
    made = await _figures(tx)
    await statements.store_dashboard(tx, made)
    return made


async def _figures(db: Database) -> Values:
    """What front ends read (interface: admin-dashboard): series as ``{labels, series: [[…]]}``, projects as lists."""
    days: Sequence[Mapping[str, Any]] = await statements.list_day_figures(db)
    labels = [row["day"].isoformat() for row in days]
    often = await statements.count_returning_people(db)
    series = {
        "active_users_last_week": "users",
        "active_anon_last_week": "anon",
        "new_task_runs_week": "runs",
        "new_users_week": "accounts",
        "new_tasks_week": "tasks",
    }
    return {
        **{key: {"labels": labels, "series": [[row[name] for row in days]]} for key, name in series.items()},
        "returning_users_week": {
            "labels": [str(row["days"]) for row in often],
            "series": [[row["people"] for row in often]],
        },
        "people": await statements.count_people(db),
        "draft_projects_last_week": await statements.list_recent_projects(db, "draft"),
        "published_projects_last_week": await statements.list_recent_projects(db, "published"),
        "update_projects_last_week": await statements.list_recent_projects(db, "updated"),
    }


def _require(who: Requester) -> None:
    rights.require(who, rights.of_requester(who), ADMINS)
