"""What leaves a project in files: tasks, answers, results, as JSON and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol, TypeVar

import attrs
from twisted.internet.defer import ensureDeferred

from crowdd.concurrency.concurrency_limit import Turns
from crowdd.domain.core import rights
from crowdd.domain.core.csv_escape import cell
from crowdd.domain.core.records import NOT_FOUND
from crowdd.domain.projects.answers.answer_visibility import complete_only
from crowdd.domain.tasks import task_selection
from crowdd.domain.transfer.download_limits import DownloadLimits
from crowdd.domain.transfer.spool import Spool, Spools
from crowdd.errors import InvalidValueError, NotFoundError
from crowdd.kinds.answers import declared
from crowdd.kinds.kind import Field, Kind
from crowdd.kinds.result import RESULT
from crowdd.kinds.roles import OWNERS, Role
from crowdd.kinds.task import TASK
from crowdd.kinds.task_run import TASK_RUN
from crowdd.languages import _
from crowdd.requester import Requester
from crowdd.storage.database import Database
from crowdd.storage.projects.rows import ProjectPage
from crowdd.storage.tasks.selection import TaskFilter
from crowdd.storage.transfer import exports
from crowdd.values import Values

T = TypeVar("T")
KINDS: Mapping[str, Kind] = {"task": TASK, "task_run": TASK_RUN, "result": RESULT}
FORMATS: Mapping[str, str] = {"json": "application/json", "csv": "text/csv; charset=utf-8"}
PART = 500  # rows of one statement, and of one write, at most
MAX_KEYS = 2000  # columns of a table that are keys of info
_COUNTED = {"task": "n_tasks", "task_run": "n_task_runs"}  # counters; of results there is none that has every version
MAX_COUNTED = 100_000  # rows that are counted one by one
Named = Sequence[int] | None  # tasks; None: all
Sink = Callable[[bytes, int], None]
"""Takes a part of a file and how many rows are in it."""
_FRAME_BYTES = 450  # of a row as JSON, beside its info


class Reading(Protocol):
    """Connections for long reading; ``crowdd.storage.connections.dedicated_connections.Apart`` has some of its own, and
    a pool will do.
    """

    async def transaction(self, work: Callable[[Database], Awaitable[T]]) -> T:
        """The result of ``work`` in a transaction."""
        ...


@attrs.frozen
class Resources:
    """What all downloads of a process share."""

    reading: Reading
    turns: Turns
    limits: DownloadLimits


@attrs.frozen
class ExportFile:
    """A file that somebody may have: its name, its type, and what it is made of."""

    name: str
    content_type: str
    format: str
    raw: bool
    kind: Kind
    roles: frozenset[Role]
    chosen: exports.Chosen
    answer_key: str | None
    fields: Sequence[str] = ()
    analysis: int | None = None


class Exports:
    """Files of a project, for pages, API and command line alike."""

    def __init__(self, db: Database, resources: Resources, spools: Spools, base_url: str, mask: bytes) -> None:
        self._db, self._spools = db, spools
        self._reading, self._turns, self._limits = resources.reading, resources.turns, resources.limits
        self._base_url, self._mask = base_url, mask

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
        return await task_selection.named(self._db, row["id"], attrs.evolve(chosen, owns=bool(row["roles"] & OWNERS)))

    def file(
        self,
        who: Requester,
        row: ProjectPage,
        type_: str,
        format_: str,
        *,
        raw: bool = False,
        named: Named = None,
        volunteer: str = "",
        analysis: int | None = None,
    ) -> ExportFile:
        """The rows of a kind (``type_``: one of KINDS) of a project (a row of ``Projects.page``).

        ``named``: only of these tasks. ``volunteer``: only answers with this code. ``analysis``: whose labels stand
        beside results, for owners; None for the last one. Each row is what its kind shows the requester. In a table no
        text is a formula, unless ``raw``. Raises NotFoundError, InvalidValueError for another
        format, ForbiddenError, AnonymousError.
        """
        if type_ not in KINDS:
            raise NotFoundError("404 Not Found", hint=f"type must be one of {', '.join(KINDS)}.")
        if format_ not in FORMATS:
            raise InvalidValueError(
                _("%(name)s must be one of %(choices)s.", name="format", choices=", ".join(FORMATS))
            )
        if volunteer and type_ != "task_run":
            raise InvalidValueError("volunteer requires type=task_run.")
        self.require(who, row)
        owns = bool(row["roles"] & OWNERS)
        if analysis is not None and (type_ != "result" or not owns):
            raise InvalidValueError("analysis requires type=result, and an owner.")
        chosen = exports.Chosen(row["id"], named, complete_only(row), volunteer, self._mask, owns)
        name = f"{row['id']}_{row['short_name']}_{type_}.{format_}"
        answer_key = row["info"].get("answer_key")
        key = answer_key if isinstance(answer_key, str) else None
        fields = [field.name for field in declared(row["info"])] if type_ == "result" else []
        return ExportFile(
            name, FORMATS[format_], format_, raw, KINDS[type_], row["roles"], chosen, key, fields, analysis
        )

    async def sizes(self, row: ProjectPage, named: Named = None) -> list[Values]:
        """What the files hold for the requester of this row: ``type``, ``rows``, about how many ``bytes`` as JSON.

        ``more``: there are more than so many rows, MAX_COUNTED.
        """
        of = exports.Chosen(row["id"], named, complete_only(row))
        figures: Mapping[str, Any] = row
        known = {type_: int(figures[counter]) for type_, counter in _COUNTED.items() if self._is_known(type_, of)}
        counted = [KINDS[type_] for type_ in KINDS if type_ not in known]
        found = await exports.sizes(self._db, of, counted, MAX_COUNTED + 1)
        sizes = []
        for type_ in KINDS:
            rows = known.get(type_, min(int(found.get(f"n_{type_}", 0)), MAX_COUNTED))
            more = type_ not in known and found[f"n_{type_}"] > MAX_COUNTED
            sizes.append(
                {"type": type_, "rows": rows, "more": more, "bytes": round(rows * (found[type_] + _FRAME_BYTES))}
            )
        return sizes

    def _is_known(self, type_: str, of: exports.Chosen) -> bool:
        """Whether a counter of the project says how many rows of a kind leave."""
        return of.named is None and (type_ == "task" or not of.complete)

    async def download(self, who: Requester, file: ExportFile, network: str) -> AsyncGenerator[bytes, None]:
        """The file in parts, for somebody on a network. It is made at the pace of the database, not of the reader.

        Close it: what is not wanted any more is then no longer made. Raises TooManyRequestsError, and as ``write``.
        """
        own = bool(file.roles & OWNERS)
        with self._limits.place(str(who.user_id) if own else network, own=own):
            spool = self._spools.open()
            ensureDeferred(self._fill(file, spool))
            try:
                async for part in spool.parts():
                    yield part
            finally:
                spool.close()

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

        async def work(tx: Database) -> None:
            await exports.begin(tx)
            await (self._json if file.format == "json" else self._csv)(tx, file, sink)

        await self._reading.transaction(work)

    async def _json(self, tx: Database, file: ExportFile, sink: Sink) -> None:
        lines = exports.as_json(file.kind, file.roles, self._base_url, file.chosen)
        rows = await self._lines(tx, lines, sink, b"[\n", b",\n")
        sink(b"\n]\n" if rows else b"[]\n", 0)

    async def _csv(self, tx: Database, file: ExportFile, sink: Sink) -> None:
        fields = [field for field in file.kind.fields if field.read & file.roles or field.name in file.kind.reduced]
        keys = await self._keys(tx, file)
        more = await self._more(tx, file)
        lines = exports.as_table(
            file.kind, fields, keys, file.roles, file.chosen, raw=file.raw, said=file.fields, more=more
        )
        said = [_said(name, of) for name in file.fields for of in exports.SAID]
        names = [*_names(fields, keys), *said, *(name for each in more for name in each.names)]
        # The mark says UTF-8 to spreadsheets; programs that read "utf-8-sig" do not see it.
        sink(b"\xef\xbb\xbf" + _line([cell(name, raw=file.raw) for name in names]), 0)
        if await self._lines(tx, lines, sink, b"", b"\r\n"):
            sink(b"\r\n", 0)

    async def _more(self, tx: Database, file: ExportFile) -> list[exports.Trusted]:
        """Further columns of a table. Raises NotFoundError for an analysis that is not there."""
        choices = await exports.label_choices(tx, file.chosen.project_id)
        trusted = exports.trusted(file.kind, choices, owns=file.chosen.owns, raw=file.raw)
        more = [] if trusted is None else [trusted]
        if file.kind is RESULT and file.chosen.owns:
            analysis = await exports.analysis(tx, file.chosen.project_id, file.analysis)
            if analysis is None and file.analysis is not None:
                raise NotFoundError(NOT_FOUND, hint=f"The project has no finished analysis {file.analysis}.")
            more += [] if analysis is None else [exports.analysed(analysis, raw=file.raw)]
        return more

    async def _lines(self, tx: Database, lines: exports.Lines, sink: Sink, begin: bytes, between: bytes) -> int:
        statement, after, rows = lines.statement(), 0, 0
        while (piece := await self._turns.run("", partial(lines.next, tx, statement, after, PART))) is not None:
            sink((between if rows else begin) + piece.text.encode(), piece.rows)
            after, rows = piece.last, rows + piece.rows
        return rows

    async def _keys(self, tx: Database, file: ExportFile) -> list[str]:
        """The keys of ``info`` of all rows: in the order of imported files, else as rows first have them."""
        found: dict[str, None] = {}
        after: int | None = 0
        while after is not None:
            keys, after = await self._turns.run(
                "", partial(exports.info_keys, tx, file.kind, file.chosen, found, after)
            )
            found.update(dict.fromkeys(keys))
            if len(found) > MAX_KEYS:
                raise InvalidValueError(_too_wide())
        first = await exports.imported_columns(tx, file.chosen.project_id) if file.kind is TASK else []
        return in_order(found, first if file.kind is TASK else [file.answer_key or ""])


def in_order(found: Mapping[str, None], first: Sequence[str]) -> list[str]:
    """The keys that were found: those of ``first`` in its order, then the others in their own."""
    known = [key for key in first if key in found]
    return [*known, *(key for key in found if key not in set(known))]


def _too_wide() -> str:
    maximum = f"{MAX_KEYS:,}"
    return _(
        "The rows have more than %(maximum)s different keys, too many for a table. Download JSON instead.",
        maximum=maximum,
    )


def _said(name: str, of: str) -> str:
    return f"consensus_{name}" if of == "value" else f"consensus_{name}_{of}"


def _names(fields: Sequence[Field], keys: Sequence[str]) -> list[str]:
    return [*(field.name for field in fields), *(f"info_{key}" for key in keys)]


def _line(cells: Sequence[str]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text).writerow(cells)
    return text.getvalue().encode()
