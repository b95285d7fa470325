"""The API for files of a project and for exports that follow its changes as they happen.

Files hold tasks, answers, results and more, in formats for programs and for people.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence

from crowdd.core.records.records import Records
from crowdd.features.exports.exports import FOLLOWED_FORMAT, Exports, FollowedChanges
from crowdd.features.exports.formats import INFOS, KINDS, ROWS, SEPARATORS, WORKBOOK, ExportFile, Options, content_types
from crowdd.features.exports.spools import KeptSpool
from crowdd.features.projects.projects import Projects
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.signin.identity import Identity
from crowdd.features.statistics.live_updates import Broadcast
from crowdd.features.tasks.change_bodies import CODE, TasksBody
from crowdd.http import queries
from crowdd.http.api.objects import checked_id
from crowdd.http.api.operations import PASSWORD, PROJECT_ID
from crowdd.http.edge import downloads
from crowdd.http.edge.streams import SseConnection
from crowdd.http.operation import Operation, Parameter
from crowdd.http.reader_language import locale_of
from crowdd.http.request import Incoming
from crowdd.http.responses import BytesResponse, Download, PiecesResponse, Response, Stream
from crowdd.http.routing import Route, get
from crowdd.kernel.errors import (
    AnonymousError,
    ForbiddenError,
    InvalidValueError,
    NotFoundError,
    OutdatedError,
    TooManyRequestsError,
)
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester, network
from crowdd.kinds.project import PROJECT
from crowdd.kinds.types import Boolean, Integer, clean_text


class ExportFollower:
    """Streams of changes, with the rights of each moment."""

    def __init__(self, exports: Exports, projects: Projects, identity: Identity, broadcast: Broadcast) -> None:
        self._exports, self._projects, self._identity, self._broadcast = exports, projects, identity, broadcast

    async def stream(self, incoming: Incoming, row: ProjectPage, file: ExportFile) -> Stream:
        """What follows the cursor of a file, and then each change. Raises InvalidValueError, OutdatedError."""
        if file.since is None:
            raise InvalidValueError("follow requires since.")
        await self._exports.has_changes(file)  # a cursor that cannot be continued is refused at once
        kind, short_name = file.kind.table, row["short_name"]
        followed = FollowedChanges(self._exports, incoming.query["since"], network(incoming.address))

        async def ask() -> tuple[Requester, ExportFile]:
            who = await self._identity.find_again(incoming)
            now = await self._projects.page(short_name, who)
            return who, self._exports.file(who, now, kind, FOLLOWED_FORMAT, since=followed.since)

        async def judge() -> None:
            await ask()

        def begin(client: SseConnection) -> Callable[[], None]:
            client.judge = judge
            return self._broadcast.follow_changes(row["id"], lambda: followed.ready(ask), followed.batch, client)

        return Stream(begin, lines=True)


_ID = Integer(minimum=0).schema()
_TEXT = {"type": "string"}
_IDS = _TEXT | {"pattern": r"^([0-9]{1,18}(,[0-9]{1,18})*)?$"}
_FLAG = Boolean().text_schema()
_MAX_WORD = 100  # characters
_EXPORT = Operation(
    name="export_project",
    section="project",
    summary="Download tasks, answers or results of a project",
    about="For those who may see the answers. The file shows the data as it was at one moment. With If-Range and Range,"
    " you can continue an interrupted download for ten minutes after the file was made.",
    parameters=(
        PROJECT_ID,
        Parameter(
            "type",
            {"type": "string", "enum": [*KINDS, WORKBOOK]},
            "What a row is (default: task_run). workbook has sheets of results, answers and tasks, for format=xlsx.",
        ),
        Parameter(
            "format",
            {"type": "string", "enum": list(content_types())},
            "Format of the file (default: ndjson). dictionary describes the columns of the others.",
        ),
        Parameter(
            "info",
            {"type": "string", "enum": list(INFOS)},
            "info as columns of its keys, also of what is in them (wide), as JSON, or as columns and JSON.",
        ),
        Parameter(
            "rows",
            {"type": "string", "enum": list(ROWS)},
            "Of answers: a row is a record, a mark in an answer, or a task with a column for each volunteer.",
        ),
        Parameter(
            "task",
            {"type": "string", "enum": ["columns"]},
            "With columns, each row also has the columns of its task. Hidden columns are for owners.",
            empty=True,
        ),
        Parameter(
            "separator", {"type": "string", "enum": list(SEPARATORS)}, "Between the cells of CSV (default: comma)."
        ),
        Parameter(
            "headings",
            {"type": "string", "enum": ["words"]},
            "With words, the texts of questions stand above the columns of CSV and Excel, in the caller's language.",
            empty=True,
        ),
        Parameter("raw", _FLAG, "With 1, texts in CSV are not guarded against spreadsheets.", empty=True),
        Parameter("bom", _FLAG, "With 1, CSV begins with a byte order mark.", empty=True),
        Parameter("task_ids", _IDS, "Only rows of these tasks: ids, separated by commas.", empty=True),
        Parameter("volunteer", CODE.schema(), "Only answers of this volunteer. For type=task_run.", empty=True),
        Parameter("analysis", _ID, "Analysis whose labels stand beside results. For owners.", empty=True),
        Parameter(
            "since",
            _TEXT,
            "Only what changed after this cursor, with deletions; empty to begin a copy. The last line has the next"
            " cursor. For ndjson and type=task_run, task or result.",
        ),
        Parameter("follow", _FLAG, "With 1, the response does not end: changes come as they happen.", empty=True),
        PASSWORD,
    ),
    answer={},
    refusals=(AnonymousError, ForbiddenError, NotFoundError, InvalidValueError, OutdatedError, TooManyRequestsError),
    media=tuple(dict.fromkeys(type_.partition(";")[0] for type_ in content_types().values())),
)


class ExportsApi:
    """/api/project/<id>/export."""

    def __init__(self, exports: Exports, records: Records, projects: Projects, follower: ExportFollower) -> None:
        self._exports, self._records, self._projects, self._follower = exports, records, projects, follower

    def routes(self) -> Iterator[Route]:
        yield get("/api/project/<int:object_id>/export", self.export, endpoint="export", operation=_EXPORT)

    async def export(self, incoming: Incoming, object_id: int) -> Response:
        project = await self._records.get(PROJECT, incoming.who, checked_id(object_id))
        row = await self._projects.page(project["short_name"], incoming.who)
        query, named = incoming.query, clean_text(incoming.query.get("task_ids", ""))
        chosen = TasksBody.parse({"task_ids": named.split(",") if named.strip() else None}).chosen
        type_, format_ = query.get("type", "task_run"), query.get("format", "ndjson")
        file = asked_file(incoming, self._exports, row, type_, format_, chosen, bom=False)
        if queries.parse_flag(query.get("follow", ""), "follow"):
            return await self._follower.stream(incoming, row, file)
        return download(incoming, self._exports, file)


def asked_file(
    incoming: Incoming,
    exports: Exports,
    row: ProjectPage,
    type_: str,
    format_: str,
    named: Sequence[int] | None,
    *,
    bom: bool,
) -> ExportFile:
    """The file that an address asks for. ``bom``: CSV begins with a byte order mark, unless the address has it."""
    query = incoming.query
    word, number = clean_text(query.get("volunteer", ""))[:_MAX_WORD], query.get("analysis", "")
    analysis = queries.parse_number(number, "analysis", 0) if number else None
    return exports.file(
        incoming.who,
        row,
        type_,
        format_,
        _options(query, locale_of(incoming), bom=bom),
        named=named,
        volunteer=word,
        analysis=analysis,
        since=query.get("since"),
    )


def _options(query: Mapping[str, str], language: str, *, bom: bool) -> Options:
    headings = query.get("headings", "")
    if headings not in ("", "words"):
        raise InvalidValueError(_("%(name)s must be one of %(choices)s.", name="headings", choices="words"))
    return Options(
        info=query.get("info", ""),
        rows=query.get("rows", "record"),
        raw=queries.parse_flag(query.get("raw", ""), "raw"),
        task=query.get("task", ""),
        separator=query.get("separator", "comma"),
        headings=language if headings else "",
        bom=queries.parse_flag(query["bom"], "bom") if query.get("bom") else bom,
    )


def download(incoming: Incoming, exports: Exports, file: ExportFile) -> Response:
    """The file: as it was made a short while ago if the client asks for the rest of that, otherwise as it is now."""
    place = network(incoming.address)
    if file.since is not None:  # no ranges: a repeated request returns later changes
        return Download(file.name, file.content_type, exports.download(incoming.who, file, place))
    if incoming.header("range"):
        spooled_export = exports.kept(incoming.who, file, place, _tag(incoming.header("if-range")))
        if spooled_export is not None:
            return _rest(incoming, file, spooled_export)
    tag = secrets.token_hex(16)
    headers = {"ETag": f'"{tag}"', "Accept-Ranges": "bytes"}
    return Download(file.name, file.content_type, exports.download(incoming.who, file, place, tag), headers)


def _tag(header: str) -> str:
    """The tag of an If-Range header. A date, or a tag that is not ours, names no file."""
    return header.strip().strip('"') if header else ""


def _rest(incoming: Incoming, file: ExportFile, spooled_export: KeptSpool) -> Response:
    size, headers = (
        spooled_export.spool.size,
        {"ETag": f'"{spooled_export.tag}"', "Accept-Ranges": "bytes", "Cache-Control": "no-store"},
    )
    try:
        part = downloads.parse_range(incoming.header("range"), size)
    except ValueError:
        return BytesResponse(b"", file.content_type, 416, {**headers, "Content-Range": f"bytes */{size}"})
    begin, end = part or (0, size)
    range_headers = {} if part is None else {"Content-Range": f"bytes {begin}-{end - 1}/{size}"}
    return PiecesResponse(
        spooled_export.spool.part(begin, end),
        end - begin,
        file.content_type,
        200 if part is None else 206,
        {**headers, **range_headers},
    )
