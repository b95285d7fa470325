"""Projects: made, changed, opened, paused, locked and deleted by their owners."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType
from typing import cast

import attrs

from crowdd.core import log_statements, recent_proof
from crowdd.core.log_statements import ActFilter
from crowdd.core.quotas import NETWORK_FACTOR, Attempts, Limit, Quota
from crowdd.core.records import rights
from crowdd.core.records import statements as record_statements
from crowdd.core.records.records import Behaviour
from crowdd.core.records.statements import Keyset, KeysetPage
from crowdd.core.rows import AuditEntry
from crowdd.core.secrets import Secrets, place, token
from crowdd.core.uploads import FileChanges
from crowdd.database.access import Database, Row, Transactions
from crowdd.features.accounts.passwords import Passwords
from crowdd.features.projects import list_statements, project_validation, statements
from crowdd.features.projects.parts import ProjectPart
from crowdd.features.projects.rows import CategoryRow, ListedProject, ProjectPage, ProjectSummary
from crowdd.kernel.errors import (
    NOT_FOUND,
    AnonymousError,
    ConflictError,
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
)
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester, draft_key
from crowdd.kernel.values import Values
from crowdd.kinds.gold_shares import GOLD_SHARES
from crowdd.kinds.kind import Kind
from crowdd.kinds.project import PROJECT
from crowdd.kinds.questions.validation import asks
from crowdd.kinds.roles import HELPERS, OWNERS, Role
from crowdd.kinds.translations import translated
from crowdd.sched.queue import Queue, QueuedTask

MAX_HELPED = 100  # projects on the page of a person who answered in them
_MAX_ATTEMPTS = 20  # at the password of a project, per network
SWEEP = "sweep_project"
_BITES_AT_ONCE = 4  # of what a deleted project leaves; the queue takes the rest
_TRIALS_AT_ONCE = 5000
_KNOWN = HELPERS | {Role.REACHABLE}


class ProjectBehaviour(Behaviour):
    """What REST does to a project."""

    def __init__(self, secrets: Secrets, parts: Sequence[ProjectPart], queue: Queue, quota: Quota) -> None:
        super().__init__(PROJECT)
        self._secrets, self._parts, self._queue, self._quota = secrets, parts, queue, quota

    async def create(self, tx: Database, who: Requester, rows: list[Values]) -> list[int]:
        made = []
        for values in rows:
            project_id = await statements.insert_project(tx, await self.prepare(tx, who, values))
            await statements.set_secret_key(tx, project_id, new_secret_key(self._secrets, project_id))
            for part in self._parts:
                await part.made(tx, who, project_id, values)
            await log_statements.write_act(
                tx, who, "create", "project", project_id, project_id=project_id, after={"name": values["name"]}
            )
            made.append(project_id)
            if who.user_id is not None:
                await self._quota.require_project(tx, who, who.user_id)
        return made

    async def prepare(self, tx: Database, who: Requester, values: Values) -> Values:
        values["short_name"] = project_validation.free_name(
            values["short_name"] or project_validation.slug(values["name"])
        )
        values["category_id"] = await _category(tx, values["category_id"])
        project_validation.check_info(values["info"])
        return {
            **values,
            "info": await self._complete(tx, None, values["info"]),
            "webhook": values["webhook"] or None,
            "owner_id": who.user_id,
            "owners_ids": [who.user_id],
            "secret_key_encrypted": b"",  # bound to the id, which comes with the row
        }

    async def change(self, tx: Database, who: Requester, row: Row, changes: Values) -> None:
        if "short_name" in changes:
            project_validation.free_name(changes["short_name"])
        if "category_id" in changes:
            changes["category_id"] = await _category(tx, changes["category_id"])
        if "info" in changes:
            project_validation.check_info(changes["info"])
            changes["info"] = await self._complete(tx, row, changes["info"])
        if "webhook" in changes:
            changes["webhook"] = changes["webhook"] or None
        for part in self._parts:
            await part.changing(tx, who, row, changes)
        await record_statements.update_row(tx, PROJECT, row["id"], changes)
        for part in self._parts:
            await part.changed(tx, who, row, changes)
        for name, value in changes.items():
            before, after = log_statements.shorten_value(row[name]), log_statements.shorten_value(value)
            await log_statements.write_act(
                tx,
                who,
                "update",
                "project",
                row["id"],
                project_id=row["id"],
                attribute=name,
                before=before,
                after=after,
            )

    async def delete(self, tx: Database, who: Requester, row: Row, files: FileChanges) -> None:
        """Nobody finds the project any more; what hangs on it goes at once, or by the queue when it is much.

        Raises as ``recent_proof.require_to_manage``.
        """
        recent_proof.require_to_manage(who)
        await statements.delete_project(tx, row["id"])
        files.drop_project(row["id"])
        for _bite in range(_BITES_AT_ONCE):
            if not await statements.sweep_project(tx, row["id"]):
                return
        await self._queue.add(tx, SWEEP, {"project_id": row["id"]}, who)

    async def _complete(self, tx: Database, row: Row | None, info: Values) -> Values:
        for part in self._parts:
            info = await part.complete(tx, row, info)
        return info


def new_secret_key(secrets: Secrets, project_id: int) -> bytes:
    """A new key for external users of a project, encrypted."""
    return secrets.encrypt(token(), place("project", "secret_key_encrypted", project_id))


async def sweep(db: Transactions, item: QueuedTask) -> None:
    """Takes away what a deleted project left, bite by bite."""

    async def bite(tx: Database) -> int:
        gone = await statements.sweep_project(tx, item.arguments["project_id"])
        await item.progress(item.done + gone, within=tx)
        return gone

    while await db.transaction(bite):
        pass


@attrs.frozen
class PublishingState:
    """What a draft still lacks before it can be published."""

    presenter: bool
    tasks: bool

    @property
    def ready(self) -> bool:
        """Nothing is missing."""
        return self.presenter and self.tasks


@attrs.frozen(eq=False)
class Projects:
    """What owners do with a project as a whole, for pages, API and command line alike."""

    _db: Transactions
    _notify: Callable[[int], None]
    _passwords: Passwords
    _attempts: Attempts
    _quota: Quota
    _parts: Sequence[ProjectPart]

    async def shown(self, short_name: str, who: Requester, language: str) -> ProjectPage:
        """The record of a project as those who read that language see it: never to be stored again. Raises as ``page``.

        "": as it is.
        """
        row = await self.page(short_name, who, language)
        return cast("ProjectPage", translated(cast("Values", row), row["translation"], language))

    async def page(self, short_name: str, who: Requester, language: str = "") -> ProjectPage:
        """The record of a project for its pages, with its translation into a language, if there is one.

        Raises NotFoundError when there is none, or it is a draft that the requester may not see, and ForbiddenError
        with code ``project_password`` when it is locked.
        """
        row = await statements.find_project_page(self._db, short_name, who, language)
        if row is None or not row["roles"] & _KNOWN:
            raise NotFoundError(NOT_FOUND)
        if not row["roles"] & PROJECT.rights.get:
            raise ForbiddenError(_("This project requires a password."), code="project_password")
        return row

    async def owned(self, short_name: str, who: Requester) -> ProjectPage:
        """The same for those who may change it. AnonymousError tells nobody whether there is such a project."""
        try:
            row = await self.page(short_name, who)
        except NotFoundError:
            if who.acting_user is None and not who.acting_admin:
                raise AnonymousError(_("Sign in first.")) from None
            raise
        rights.require(who, row["roles"], OWNERS)
        return row

    async def require_writer(self, project_id: int, who: Requester) -> None:
        """Passes for owners, administrators, reviewers and translators of a project. Raises as ``owned``."""
        roles = await record_statements.roles_to_project(self._db, project_id, who)
        if roles is None or not roles & (OWNERS | {Role.REACHABLE}):
            raise NotFoundError(NOT_FOUND)
        rights.require(who, roles, HELPERS)

    async def with_link(self, short_name: str, key: str, who: Requester) -> Requester:
        """The requester with the "try it" link of a draft; unchanged once the project was published.

        Raises NotFoundError for a wrong link, and for one that was replaced.
        """
        row = await statements.find_project_page(self._db, short_name, who)
        if row is not None and row["first_published"] is not None:
            return who
        if row is None or row["draft_key"] != draft_key(key):
            raise NotFoundError(NOT_FOUND, hint="This link has expired. Ask the owner of the project for a new one.")
        return attrs.evolve(who, unlocked=(*who.unlocked, draft_key(key)))

    async def renew_link(self, row: ProjectPage, who: Requester) -> None:
        """Ends the "try it" link of a draft; the next one is another. ForbiddenError for a published project."""
        rights.require(who, row["roles"], OWNERS)

        async def work(tx: Database) -> None:
            if not await statements.renew_draft_key(tx, row["id"]):
                raise ForbiddenError(_("Only drafts have a “try it” link."), code="no_draft")
            await log_statements.write_act(tx, who, "renew_link", "project", row["id"], project_id=row["id"])

        await self._db.transaction(work)
        self._notify(row["id"])

    async def of_object(self, kind: Kind, row_id: int) -> int | None:
        """The project of a row: itself, its parent, or None where there is none."""
        if kind.name == PROJECT.name:
            return row_id
        return await record_statements.find_project_id(self._db, kind, row_id) if "project_id" in kind.by_name else None

    async def id_of(self, short_name: str) -> int | None:
        """The id of a project, without a check of rights; None when there is none."""
        return await statements.find_project_id(self._db, short_name)

    async def listed(self) -> list[ProjectSummary]:
        """Published projects that everybody may see, the liveliest first."""
        return await statements.list_published_projects(self._db)

    async def categories(self) -> list[CategoryRow]:
        """All categories."""
        return await statements.list_categories(self._db)

    async def any_at_all(self) -> bool:
        """Whether there is a project. Drafts count."""
        return await statements.has_projects(self._db)

    async def of_owner(self, user_id: int) -> list[ProjectSummary]:
        """What a person owns or co-owns, drafts too."""
        return await statements.list_projects_of_owner(self._db, user_id)

    async def of_volunteer(self, user_id: int) -> tuple[list[ListedProject], int]:
        """Published projects that a person has answered in, the newest MAX_HELPED of them, and how many there are."""
        project_filter = list_statements.ProjectFilter(actor=f"u:{user_id}")
        return await list_statements.list_page(self._db, project_filter, "id", True, MAX_HELPED, 0)

    async def readiness(self, row: ProjectPage) -> PublishingState:
        """What is missing for publishing."""
        return PublishingState(
            presenter=asks(row["info"]),
            tasks=await statements.has_tasks(self._db, row["id"]),
        )

    async def publish(self, row: ProjectPage, who: Requester) -> bool:
        """Opens the project; the first time trial answers go. False when it is published already.

        Raises ForbiddenError when the presenter or the tasks are missing.
        """
        rights.require(who, row["roles"], OWNERS)
        ready = await self.readiness(row)
        if not ready.ready:
            missing = "a task presenter" if not ready.presenter else "tasks"
            raise ForbiddenError(
                f"The project lacks {missing}.", code="not_ready", hint=f"Add {missing}, then publish."
            )

        await self._clear_trials(row)
        return await self._switch(row, who, "publish", statements.publish_project)

    async def open_answers(self, row: ProjectPage, who: Requester, *, is_open: bool) -> None:
        """Says whether everybody may see and download the answers."""
        rights.require(who, row["roles"], OWNERS)

        async def work(tx: Database) -> None:
            await statements.open_answers(tx, row["id"], is_open)
            before, after = {"zip_download": row["zip_download"]}, {"zip_download": is_open}
            await log_statements.write_act(
                tx, who, "update", "project", row["id"], project_id=row["id"], before=before, after=after
            )

        if is_open != row["zip_download"]:
            await self._db.transaction(work)

    async def answers_wanted(self, row: ProjectPage, who: Requester) -> dict[str, int]:
        """How many answers ``tasks`` ask for that are not retired: ``answers`` in all, ``fewest`` and ``most`` of one.

        ``imported``: how many answers came with an import, which stay when the project is published.
        """
        rights.require(who, row["roles"], OWNERS)
        return await statements.count_answers_wanted(self._db, row["id"])

    async def volunteer_rule(self) -> int:
        """How many anonymous answers of one network count per task where a project says nothing; 0: no limit."""
        return await statements.read_volunteer_rule(self._db)

    async def acts(
        self, row: ProjectPage, who: Requester, place: Keyset, user: str | None = None
    ) -> KeysetPage[AuditEntry]:
        """A page of the audit log about the project, of all or of one person by name."""
        rights.require(who, row["roles"], OWNERS)
        return await log_statements.list_acts(self._db, place, ActFilter(user, project=row["id"]))

    async def tell(
        self,
        row: ProjectPage,
        info: Mapping[str, object],
        who: Requester,
        expected: Mapping[str, object] = MappingProxyType({}),
    ) -> None:
        """Changes some keys of ``info``, and those that follow from them (``documents``); others stay.

        Raises ConflictError if a key of ``expected`` has another value now, None for a missing key.
        """
        rights.require(who, row["roles"], OWNERS)
        changed = {**row["info"], **info}
        project_validation.check_info(changed)
        PROJECT.field("info").require_size(changed, row["info"])

        async def work(tx: Database) -> None:
            await _require_unchanged(tx, row["id"], expected)
            completed_info = dict(info)
            for part in self._parts:
                completed_info = await part.complete_keys(tx, row["id"], row["info"], completed_info)
            await statements.write_info_keys(tx, row["id"], completed_info)
            if completed_info.keys() & {*GOLD_SHARES, "gold_feedback"}:
                await statements.touch_project(tx, row["id"])  # the ledger repeats them
            for name, value in completed_info.items():
                before, after = log_statements.shorten_value(row["info"].get(name)), log_statements.shorten_value(value)
                seen = {"project_id": row["id"], "attribute": f"info.{name}", "before": before, "after": after}
                await log_statements.write_act(tx, who, "update", "project", row["id"], **seen)
            await self._quota.require(tx, who)

        await self._db.transaction(work)
        self._notify(row["id"])

    async def _clear_trials(self, row: ProjectPage) -> None:
        """Leaves so few trial answers of a draft that one transaction can take them away."""
        project_id = row["id"]
        while row["first_published"] is None and await statements.has_trials_beyond(
            self._db, project_id, _TRIALS_AT_ONCE
        ):
            await statements.clear_trials(self._db, project_id, _TRIALS_AT_ONCE)

    async def pause(self, row: ProjectPage, who: Requester) -> bool:
        """Stops handing out tasks; answers on their way still count. False when it is not published."""
        rights.require(who, row["roles"], OWNERS)
        return await self._switch(row, who, "pause", statements.pause_project)

    async def _switch(
        self, row: ProjectPage, who: Requester, act: str, statement: Callable[[Database, int], Awaitable[bool]]
    ) -> bool:
        """Opens or pauses a project. False when it is so already."""

        async def work(tx: Database) -> bool:
            done = await statement(tx, row["id"])
            if done:
                await log_statements.write_act(tx, who, act, "project", row["id"], project_id=row["id"])
            return done

        done = await self._db.transaction(work)
        self._notify(row["id"])
        return done

    async def set_password(self, row: ProjectPage, who: Requester, password: str | None) -> None:
        """Locks the project with a password, or opens it with None. Raises as ``recent_proof.require_to_manage``."""
        rights.require(who, row["roles"], OWNERS)
        recent_proof.require_to_manage(who)
        hashed = await self._passwords.hash(password) if password else None

        async def work(tx: Database) -> None:
            await statements.set_password(tx, row["id"], hashed, token() if hashed else None)
            action = "set_password" if hashed else "remove_password"
            await log_statements.write_act(tx, who, action, "project", row["id"], project_id=row["id"])

        await self._db.transaction(work)
        self._notify(row["id"])

    async def lock_opened_by(self, reference: int | str, password: str, who: Requester) -> str | None:
        """The lock id that the password of a project opens, or None. A password that fitted lately costs no hash.

        Raises TooManyRequestsError after many failures, and when a network has many passwords checked, right or wrong.
        Raises BusyError.
        """
        row = await statements.find_project_lock(self._db, reference)
        if row is None or row["passwd_hash"] is None:
            return None
        stored, remembered = row["passwd_hash"], self._passwords.remembered
        if (stored, password) not in remembered:
            await self._attempts.count(Limit(f"project:{who.network}", _MAX_ATTEMPTS * NETWORK_FACTOR))
            limit = Limit(f"project:{row['id']}|{who.network}", _MAX_ATTEMPTS)
            if not await self._attempts.guess(lambda: self._passwords.check(stored, password), limit):
                return None
            remembered.add(stored, password)
        return row["lock_id"]


def link_word(row: ProjectPage) -> str | None:
    """What stands in the "try it" link of a project; None when it is no draft."""
    key = row["draft_key"]
    return None if key is None else str(key).removeprefix("try-")


async def _category(tx: Database, category_id: int | None) -> int:
    if category_id is None:
        category_id = await statements.find_first_category(tx)
    if category_id is None or not await statements.category_exists(tx, category_id):
        raise InvalidRequestError(f"Category {category_id} does not exist.")
    return category_id


async def _require_unchanged(tx: Database, project_id: int, expected: Mapping[str, object]) -> None:
    """Raises ConflictError if a key of ``info`` has another value than expected. Holds the row if any is expected."""
    if not expected:
        return
    await record_statements.lock_row(tx, PROJECT, project_id)
    now = await statements.read_info(tx, project_id)
    if any(now.get(name) != value for name, value in expected.items()):
        raise ConflictError(_("Someone else has changed this in the meantime."), code="changed_meanwhile")
