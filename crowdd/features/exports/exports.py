"""Exports of a project: who may have which file, how it is made and downloaded, and how changes are followed.

Changes are followed in batches of whole lines (record 30).
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

import attrs
import orjson
from twisted.internet.defer import DeferredSemaphore, ensureDeferred

from crowdd.core.records import rights
from crowdd.database.access import Database
from crowdd.features.exports import changes, statements
from crowdd.features.exports.annotations.annotation_format import Asked
from crowdd.features.exports.annotations.registry import annotation_formats
from crowdd.features.exports.changes import Cursor
from crowdd.features.exports.file_writer import FileWriter, Resources, Sink
from crowdd.features.exports.formats import (
    DICTIONARY,
    KINDS,
    OF_TASKS,
    SHEETS,
    USUAL,
    WORKBOOK,
    ExportFile,
    Options,
    content_types,
)
from crowdd.features.exports.spools import KeptSpool, Spool, Spools
from crowdd.features.exports.table_statements import delete_old_tombstones
from crowdd.features.projects.ownership import complete_only
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.tasks import task_list
from crowdd.features.tasks.list_statements import TaskFilter
from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values
from crowdd.kinds.answers import declared
from crowdd.kinds.answers.words import words_of
from crowdd.kinds.questions.format import QUESTIONS
from crowdd.kinds.result import RESULT
from crowdd.kinds.roles import OWNERS
from crowdd.kinds.task import TASK
from crowdd.kinds.task_run import TASK_RUN

_COUNTED = {"task": "n_tasks", "task_run": "n_task_runs"}  # counters; of results there is none that has every version
MAX_COUNTED = 100_000  # rows that are counted one by one
MAX_BATCHES = 2  # of followed changes that are made at the same time
Named = Sequence[int] | None  # tasks; None: all
_FRAME_BYTES = 450  # of a row as JSON, beside its info
USUAL_OPTIONS = Options()


class Exports:
    """Files of a project, for pages, API and command line alike."""

    def __init__(
        self,
        db: Database,
        resources: Resources,
        spools: Spools,
        base_url: str,
        mask: bytes,
        worker_thread: WorkerThread,
    ) -> None:
        """``worker_thread``: where Parquet and Arrow files are made."""
        self._db, self._spools = db, spools
        self._resources, self._reading, self._limits = resources, resources.reading, resources.limits
        self._kept = resources.kept
        self._mask, self._writer = mask, FileWriter(resources, base_url, worker_thread)
        self._batches = DeferredSemaphore(MAX_BATCHES)

    def require(self, who: Requester, row: ProjectPage) -> None:
        """Owners always; others where answers are open (``zip_download``) and the project is listed for them.

        Others not while it has gold tasks.
        """
        if not row["zip_download"] or row["has_gold"]:
            rights.require(who, row["roles"], OWNERS)
        rights.require(who, row["roles"], TASK_RUN.rights.see)

    def is_open(self, row: ProjectPage) -> bool:
        """Whether everybody may export, without a key."""
        return bool(row["zip_download"] and row["published"] and not row["has_gold"] and row["lock_id"] is None)

    def needs_password(self, row: ProjectPage) -> bool:
        """Whether the programs of the requester of this row have to send the project's password."""
        return row["lock_id"] is not None and not row["roles"] & OWNERS

    async def matching(self, row: ProjectPage, chosen: TaskFilter) -> Named:
        """The tasks that match. Raises InvalidValueError where they are too many to be named."""
        return await task_list.list_named_tasks(
            self._db, row["id"], attrs.evolve(chosen, owns=bool(row["roles"] & OWNERS))
        )

    def file(
        self,
        who: Requester,
        row: ProjectPage,
        type_: str,
        format_: str,
        options: Options = USUAL_OPTIONS,
        *,
        named: Named = None,
        volunteer: str = "",
        analysis: int | None = None,
        since: str | None = None,
    ) -> ExportFile:
        """The rows of a kind (``type_``: one of KINDS, or WORKBOOK) of a project (a row of ``Projects.page``).

        ``named``: only of these tasks. ``volunteer``: only answers with this code. ``analysis``: whose labels stand
        beside results, for owners; None for the last one. ``since``: a cursor, behind which the file begins; "" for the
        first one. Each row is what its kind shows the requester. Raises NotFoundError, InvalidValueError for another
        format or options that do not fit, ForbiddenError, AnonymousError, OutdatedError.
        """
        options.require(type_, format_)
        if volunteer and type_ != "task_run":
            raise InvalidValueError("volunteer requires type=task_run.")
        self.require(who, row)
        if type_ == WORKBOOK:
            if analysis is not None or since is not None:
                raise InvalidValueError("analysis and since require another type.")
            sheets = [
                self.file(who, row, each, format_, options.of_type(each), named=named, volunteer=volunteer)
                for each in SHEETS
            ]
            whole = sheets[SHEETS.index("task_run")]
            return attrs.evolve(whole, name=_name(row, type_, format_, options, changed=False), sheets=sheets)
        kind, owns = KINDS[type_], bool(row["roles"] & OWNERS)
        rights.require(who, row["roles"], kind.rights.see)
        if options.task:
            if type_ not in OF_TASKS:
                raise InvalidValueError(f"task requires type={', '.join(OF_TASKS)}.")
            rights.require(who, row["roles"], TASK.rights.see)
        if analysis is not None and (type_ != "result" or not owns):
            raise InvalidValueError("analysis requires type=result, and an owner.")
        chosen = statements.Chosen(row["id"], named, complete_only(row), volunteer, self._mask, owns)
        cursor = None
        if since is not None:
            plain = format_ == "ndjson" and options.is_plain and analysis is None
            changes.require_followed(kind, chosen, plain=plain)
            cursor = Cursor.parse(since, kind, owns=owns)
        answer_key = row["info"].get("answer_key")
        return ExportFile(
            _name(row, type_, format_, options, changed=cursor is not None),
            content_types()[format_],
            format_,
            options,
            kind,
            row["roles"],
            chosen,
            answer_key if isinstance(answer_key, str) else None,
            declared(row["info"]) if kind in (RESULT, TASK_RUN) else [],
            _questions(row["info"]),
            words_of(row["info"], options.headings) if options.headings else {},
            analysis,
            cursor,
            asked=_asked(row["info"], format_),
        )

    async def sizes(self, row: ProjectPage, named: Named = None) -> list[Values]:
        """What the files hold for the requester of this row: ``type``, ``rows``, about how many ``bytes`` as JSON.

        ``more``: there are more than so many rows, MAX_COUNTED.
        """
        of = statements.Chosen(row["id"], named, complete_only(row))
        figures: Values = {**row}
        known = {type_: int(figures[counter]) for type_, counter in _COUNTED.items() if self._is_known(type_, of)}
        counted = [KINDS[type_] for type_ in USUAL if type_ not in known]
        size_row = await statements.sizes(self._db, of, counted, MAX_COUNTED + 1)
        sizes = []
        for type_ in USUAL:
            rows = known.get(type_, min(int(size_row.get(f"n_{type_}", 0)), MAX_COUNTED))
            more = type_ not in known and size_row[f"n_{type_}"] > MAX_COUNTED
            sizes.append(
                {"type": type_, "rows": rows, "more": more, "bytes": round(rows * (size_row[type_] + _FRAME_BYTES))}
            )
        return sizes

    def _is_known(self, type_: str, of: statements.Chosen) -> bool:
        """Whether a counter of the project says how many rows of a kind leave."""
        return of.named is None and (type_ == "task" or not of.complete)

    def kept(self, who: Requester, file: ExportFile, network: str, tag: str = "") -> KeptSpool | None:
        """The file as it was made for this requester a short while ago; ``tag``: only the one with this tag."""
        return self._kept.find(_key(who, file, network), tag)

    async def download(
        self, who: Requester, file: ExportFile, network: str, tag: str = ""
    ) -> AsyncGenerator[bytes, None]:
        """The file in parts, for somebody on a network. It is made at the pace of the database, not of the reader.

        Once it is whole it is kept for a while, under ``tag`` if there is one. Close it: what is not wanted any more is
        then no longer made. Raises TooManyRequestsError, and as ``write``.
        """
        own = bool(file.roles & OWNERS)
        with self._limits.place(str(who.user_id) if own else network, own=own):
            spool = self._spools.open()
            ensureDeferred(self._fill(file, spool))
            try:
                async for part in spool.parts():
                    yield part
            finally:
                if tag and spool.is_whole:
                    self._kept.keep(_key(who, file, network), tag, spool)
                else:
                    spool.close()

    async def changes(self, file: ExportFile) -> AsyncGenerator[bytes, None]:
        """A file of changes for a stream, in parts. It is not counted as a download. Close it, as ``download``."""
        spool = self._spools.open()
        self._batches.run(lambda: ensureDeferred(self._fill(file, spool)))
        try:
            async for part in spool.parts():
                yield part
        finally:
            spool.close()

    async def has_changes(self, file: ExportFile) -> bool:
        """Whether anything follows the cursor of a file. Raises OutdatedError."""
        return file.since is None or await changes.has_any(self._db, file.since, file.chosen.project_id)

    async def forget_deletions(self) -> int:
        """Deletes tombstones that were kept long enough; how many there were."""
        n = 0
        while more := await delete_old_tombstones(self._db, self._limits.settings.deletion_days):
            n += more
        return n

    async def _fill(self, file: ExportFile, spool: Spool) -> None:
        """Makes the file; what goes wrong is raised where it is read."""
        try:
            await self.write(file, lambda part, rows: spool.write(part))
        except Exception as error:
            spool.end(error)
        else:
            spool.end()

    async def write(self, file: ExportFile, sink: Sink) -> None:
        """Writes a file as it is at one moment. Raises InvalidValueError when a table would have too many columns."""
        await self._reading.transaction(lambda tx: self._writer.write(tx, file, sink))


def _key(who: Requester, file: ExportFile, network: str) -> str:
    """Says which file it is, and for whom."""
    whom = f"{who.user_id}" if who.signed_in else network
    roles = sorted(role.value for role in file.roles)
    return repr(
        (
            whom,
            roles,
            file.name,
            attrs.astuple(file.options),
            attrs.evolve(file.chosen, mask=b""),
            file.analysis,
            str(file.since),
        )
    )


def _asked(info: Values, format_: str) -> list[Asked]:
    """The questions whose answers a format of other programs can hold; [] for other formats.

    Raises InvalidValueError where there are none.
    """
    format_of = annotation_formats().get(format_)
    if format_of is None:
        return []
    asked = [one for one in Asked.of(info.get(QUESTIONS)) if one.type in format_of.types]
    if not asked:
        raise InvalidValueError(
            _("The project has no question whose answers fit into the format %(name)s.", name=format_of.title)
        )
    return asked


def _name(row: ProjectPage, type_: str, format_: str, options: Options, *, changed: bool) -> str:
    other = annotation_formats().get(format_)
    ending = f"{DICTIONARY}.json" if format_ == DICTIONARY else f"{format_}.{other.ending}" if other else format_
    rows = "" if options.rows == "record" else f"_by_{options.rows}"
    rows += "_changes" if changed else ""
    return f"{row['id']}_{row['short_name']}_{type_}{rows}.{ending}"


def _questions(info: Values) -> Values:
    """The questions of a project, by their names."""
    steps = (info.get(QUESTIONS) or {}).get("steps") if isinstance(info.get(QUESTIONS), dict) else None
    return {question["name"]: question for step in steps or [] for question in step.get("questions", [])}


FOLLOWED_FORMAT = "ndjson"
Ask = Callable[[], Awaitable[tuple[Requester, ExportFile]]]


class FollowedChanges:
    """What follows a cursor, batch by batch, for one reader. ``network`` is where the reader is.

    ``ask`` says who reads, and gives the file behind ``since`` with the rights of now; it raises when there are none
    any more.
    """

    def __init__(self, exports: Exports, since: str, network: str) -> None:
        self._exports, self._network = exports, network
        self.since = since
        self._begun = False
        self._next: tuple[Requester, ExportFile] | None = None

    async def ready(self, ask: Ask) -> bool:
        """Whether there is a batch. The first one is there in any case: it says that the stream is there.

        Raises what ``ask`` raises, and OutdatedError.
        """
        who, file = await ask()
        if self._begun and not await self._exports.has_changes(file):
            return False
        self._next = who, file
        return True

    async def batch(self) -> AsyncGenerator[bytes, None]:
        """The lines of the batch that is ready, in parts that end with a line. ``since`` is then behind it.

        Raises TooManyRequestsError where the first one would be a download too many.
        """
        assert self._next is not None
        who, file = self._next
        exports = self._exports
        parts = exports.changes(file) if self._begun else exports.download(who, file, self._network)
        rest = line = b""
        try:
            async for part in parts:
                whole, end, rest = (rest + part).rpartition(b"\n")
                if end:
                    line = whole.rpartition(b"\n")[2]
                    yield whole + end
        finally:
            await parts.aclose()
        self.since, self._begun = orjson.loads(line)["cursor"], True
