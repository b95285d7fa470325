"""Sources of imports: addresses that are read again each hour, day or week, in the name of an owner.

A reading is one background task: the file is fetched unless it has not changed, read against the project, and its new
rows are added. Rows that are there already are found as by any import. A source never has two such tasks. After a
failure it is read again later, and after too many it is switched off.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Final

from twisted.logger import Logger

from crowdd.core import log_statements
from crowdd.core.mail.mail import Mail
from crowdd.core.outbound.client import Outgoing, Response
from crowdd.core.records import rights
from crowdd.core.records import statements as record_statements
from crowdd.database.access import Database, Transactions
from crowdd.features.imports import exported_files, source_statements, statements
from crowdd.features.imports.import_roles import Choices
from crowdd.features.imports.imports import FETCH_SECONDS, Imports
from crowdd.features.imports.prepared.process import discard
from crowdd.features.imports.share_links import download_address
from crowdd.features.imports.source_statements import ImportSource, ListedSource
from crowdd.features.projects.rows import ProjectPage
from crowdd.kernel.concurrency.timing import back_off
from crowdd.kernel.errors import (
    NOT_FOUND,
    CrowddError,
    ForbiddenError,
    InvalidValueError,
    NotFoundError,
    StatementTimeoutError,
    StoppedError,
    TooManyRequestsError,
    UnavailableError,
)
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kinds.roles import OWNERS
from crowdd.sched.queue import Queue, QueuedTask

log = Logger()


HOUR, DAY, WEEK = 3600, 86_400, 604_800
PERIODS: Final = (HOUR, DAY, WEEK)
MAX_SOURCES: Final = 10  # of a project
MAX_FAILURES: Final = 8  # in a row; then it is switched off
_FIRST_PAUSE, _GROWTH = 900.0, 2.0


def pause_seconds(failures: int, period: int) -> float:
    """Seconds to the next attempt after so many failures in a row: 15 minutes, 30, an hour … up to its period.

    A source that is read each hour waits longer and longer, too, up to a day.
    """
    return back_off(failures, _FIRST_PAUSE, _GROWTH, max(float(period), float(DAY)))


def is_off(failures: int) -> bool:
    """Whether a source is switched off after so many failures in a row."""
    return failures >= MAX_FAILURES


HANDLER = "read_source"
_AT_ONCE = 50  # sources of one look
_LATER = 600.0  # seconds; when the person's queue is full
_OK, _NOT_MODIFIED = 200, 304
# What goes away by itself: the queue tries again.
_PASSING = (StoppedError, UnavailableError, StatementTimeoutError)


class Sources:
    """Keeping addresses of imports, and reading them when they are due."""

    def __init__(
        self,
        db: Transactions,
        notify: Callable[[int], None],
        queue: Queue,
        outgoing: Outgoing,
        imports: Imports,
        mail: Mail,
    ) -> None:
        self._db, self._notify, self._queue = db, notify, queue
        self._outgoing, self._imports, self._mail = outgoing, imports, mail

    # For owners

    async def of_project(self, who: Requester, row: ProjectPage) -> list[ListedSource]:
        """The sources of a project."""
        rights.require(who, row["roles"], OWNERS)
        return await source_statements.list_sources(self._db, row["id"])

    async def keep(self, who: Requester, row: ProjectPage, import_id: int, period: int) -> int:
        """Has the address of an import read again every ``period`` seconds, as that import was. The id of the source.

        Raises InvalidValueError for what was no address or is an export, and when the project has enough sources.
        """
        import_row = await self._imports.get(who, row, import_id)
        url = import_row["name"]
        if who.acting_user is None:
            raise ForbiddenError(_("Sign in first."))
        if not is_address(url) or import_row["kind"] not in ("", exported_files.TABLE):
            raise InvalidValueError(
                _("Only tables and manifests that were fetched from an address can be imported on a schedule.")
            )
        self._outgoing.target(url)
        values = {
            "project": row["id"],
            "user": who.acting_user,
            "url": url,
            "period": _period(period),
            "choices": dict(statements.choices_of(import_row)),
        }

        async def work(tx: Database) -> int:
            source_id = await source_statements.insert_source(tx, values, MAX_SOURCES)
            if source_id is None:
                words = _("A project can have at most %(max)s scheduled imports.", max=MAX_SOURCES)
                raise InvalidValueError(words)
            after = {"url": url, "period": period}
            await log_statements.write_act(
                tx, who, "keep_source", "project", row["id"], project_id=row["id"], after=after
            )
            return source_id

        return await self._db.transaction(work)

    async def change(self, who: Requester, row: ProjectPage, source_id: int, act: str, period: int = 0) -> None:
        """Does what an owner says of a source: pause, resume, now, delete, or period. Raises NotFoundError."""
        rights.require(who, row["roles"], OWNERS)
        at = (self._db, row["id"], source_id if source_id < 2**63 else 0)
        changes: Mapping[str, Callable[[], Awaitable[bool]]] = {
            "pause": lambda: source_statements.set_active(*at, False),
            "resume": lambda: source_statements.set_active(*at, True),
            "now": lambda: source_statements.set_active(*at, True, soon=True),
            "delete": lambda: source_statements.delete_source(*at),
            "period": lambda: source_statements.set_period(*at, _period(period)),
        }
        if act not in changes:
            raise InvalidValueError(_("%(name)s must be one of %(choices)s.", name="act", choices=", ".join(changes)))
        if not await changes[act]():
            raise NotFoundError(NOT_FOUND)
        await log_statements.write_act(
            self._db, who, f"{act}_source", "project", row["id"], project_id=row["id"], after={"source": source_id}
        )
        if act == "now":
            await self.start_due()

    # By the clock

    async def start_due(self) -> int:
        """Puts a background task in the queue for each source that is due; how many."""
        for source in await source_statements.list_abandoned_sources(self._db, _AT_ONCE):
            await self._failed(source, source.queue_item, _("The background task was cancelled or failed."))
        return await self._db.transaction(self._start)

    async def _start(self, tx: Database) -> int:
        started = 0
        for source in await source_statements.list_due_sources(tx, _AT_ONCE):
            who = Requester(user_id=source.user_id, admin=source.admin, via="job")
            try:
                item = await self._queue.add(tx, HANDLER, {"source": source.id}, who, source.project_id)
            except TooManyRequestsError:
                await source_statements.postpone_reading(tx, source.id, _LATER)
                continue
            await source_statements.begin_reading(tx, source.id, item)
            started += 1
        return started

    # In the background

    async def read(self, item: QueuedTask) -> dict[str, object]:
        """Reads a source, and goes on where an attempt before was cut."""
        source = await source_statements.get_source(self._db, int(item.arguments["source"]))
        if source is None or source.queue_item != item.id:
            return {"outcome": "removed"}
        try:
            return await self._read(source, item)
        except _PASSING:
            raise
        except CrowddError as error:
            roles = await record_statements.roles_to_project(self._db, source.project_id, item.who)
            if not (roles or frozenset()) & OWNERS:
                words = _("The person who set it up no longer owns the project.")
                return await self._failed(source, item.id, words, off=True)
            return await self._failed(source, item.id, str(error))

    async def _read(self, source: ImportSource, item: QueuedTask) -> dict[str, object]:
        marks = {"etag": source.etag, "last_modified": source.last_modified, "digest": source.digest}
        import_id = await source_statements.find_import(self._db, source.id, item.id)
        if import_id is None:
            await self._require(source, item.who)
            fetched = await self._fetched(source, item)
            if fetched is None:
                await source_statements.record_success(
                    self._db, source.id, item.id, "unchanged", float(source.period), marks
                )
                self._notify(source.project_id)
                return {"outcome": "unchanged"}
            path, marks = fetched
            choices = Choices(**_choices(source))
            import_id = await self._imports.bring_file(item.who, source.project_id, source.url, path, choices)
            await self._db.transaction(lambda tx: self._link(tx, source, import_id, item, marks))
        else:
            marks = {**marks, **(item.checkpoint or {}).get("marks", {})}
        item.arguments = {**item.arguments, "import": import_id}
        result = await self._imports.carry_on(item)
        if error := result.get("error"):
            raise InvalidValueError(str(error))
        await source_statements.record_success(self._db, source.id, item.id, "read", float(source.period), marks)
        self._notify(source.project_id)
        return {"outcome": "read", **result}

    async def _link(
        self, tx: Database, source: ImportSource, import_id: int, item: QueuedTask, marks: Mapping[str, str]
    ) -> None:
        await source_statements.link_import(tx, import_id, source.id, item.id)
        await item.progress(0, None, {"marks": dict(marks)}, within=tx)

    async def _require(self, source: ImportSource, who: Requester) -> None:
        roles = await record_statements.roles_to_project(self._db, source.project_id, who)
        if roles is None:
            raise NotFoundError("The project has been deleted.")
        rights.require(who, roles, OWNERS)

    async def _fetched(self, source: ImportSource, item: QueuedTask) -> tuple[Path, dict[str, str]] | None:
        """The file of a source and by what it is known; None when it is what it was. A collection is always read."""
        path, digest = self._imports.new_file(), hashlib.sha256()
        dialect = source.choices.get("dialect")
        collection = isinstance(dialect, dict) and dialect.get("format") == "iiif"
        try:
            with path.open("wb") as file:

                def write(piece: bytes) -> None:
                    digest.update(piece)
                    file.write(piece)

                reply = await self._outgoing.fetch(
                    download_address(source.url),
                    seconds=FETCH_SECONDS,
                    max_bytes=self._imports.max_bytes,
                    sink=write,
                    headers={} if collection else _conditions(source),
                )
            same = reply.status == _NOT_MODIFIED or digest.hexdigest() == source.digest
            if same and not collection:
                discard(path)
                return None
            self._imports.require_whole(reply)
        except BaseException:
            discard(path)
            raise
        return path, {**_marks(reply), "digest": digest.hexdigest()}

    async def _failed(
        self, source: ImportSource, item: int | None, problem: str, *, off: bool = False
    ) -> dict[str, object]:
        failures = source.failures + 1
        why_off = problem if off or is_off(failures) else ""

        async def work(tx: Database) -> None:
            recipient = await source_statements.record_failure(
                tx, source.id, item, problem, pause_seconds(failures, source.period), why_off
            )
            if recipient is not None and why_off:
                log.info(
                    "import source switched off: project={project} source={source}",
                    project=source.project_id,
                    source=source.id,
                )
                context = {
                    "name": recipient.name,
                    "short_name": recipient.short_name,
                    "url": recipient.url,
                    "reason": problem,
                }
                await self._mail.send(tx, recipient.email_addr, "source_off", context, recipient.locale)

        await self._db.transaction(work)
        self._notify(source.project_id)
        return {"outcome": "off" if why_off else "failed", "error": problem, "failures": min(failures, MAX_FAILURES)}


def is_address(name: str) -> bool:
    """Whether the name of an import is the address that it was fetched from."""
    return name.startswith(("https://", "http://"))


def _period(value: int) -> int:
    if value not in PERIODS:
        choices = ", ".join(map(str, PERIODS))
        raise InvalidValueError(_("%(name)s must be one of %(choices)s.", name="period", choices=choices))
    return value


def _choices(source: ImportSource) -> dict[str, Any]:
    """The choices of the first import, for one whose rows are added without being asked for."""
    choices = source.choices
    return {
        "dialect": choices.get("dialect"),
        "kind": choices.get("kind") or None,
        "uses": choices.get("uses"),
        "key": choices.get("key_name") or "",
        "keep_columns": bool(choices.get("keep_columns")),
        "again": False,
        "n_answers": choices.get("n_answers"),
        "on_error": "skip",
        "begin": True,
    }


def _conditions(source: ImportSource) -> dict[str, str]:
    """What asks the other server for the file only if it has changed."""
    conditions = {"If-None-Match": source.etag, "If-Modified-Since": source.last_modified}
    return {name: value for name, value in conditions.items() if value}


def _marks(reply: Response) -> dict[str, str]:
    """By what the other server knows this version of the file."""
    marks = {"etag": reply.headers.get("etag", ""), "last_modified": reply.headers.get("last-modified", "")}
    return {name: value if value.isprintable() and len(value) <= 200 else "" for name, value in marks.items()}
