"""The pages of snapshots: list, creation, files, differences between two, and the deposit in a repository.

Files are sent whole, or the part that a client asks for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import quote, urlencode

from crowdd.core.records import rights
from crowdd.features.projects import dataset
from crowdd.features.projects.projects import Projects
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.projects.views import ProjectPrivate, ProjectPublic, ProjectViews, locked_out
from crowdd.features.snapshots import zip_stream
from crowdd.features.snapshots.contents import file_view, snapshot_view
from crowdd.features.snapshots.deposits import Deposits, Destination
from crowdd.features.snapshots.differences import Difference
from crowdd.features.snapshots.repository import PUBLIC
from crowdd.features.snapshots.rows import SnapshotRow
from crowdd.features.snapshots.snapshots import MAX_KEPT, GivenFile, Snapshots
from crowdd.http import queries
from crowdd.http.auth.csrf import Csrf
from crowdd.http.edge import downloads
from crowdd.http.html.frames import api_headers
from crowdd.http.html.tables import outward_rows
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, PiecesResponse, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import ConflictError, InvalidValueError, NotFoundError, TooManyRequestsError
from crowdd.kernel.languages import _
from crowdd.kernel.requester import network
from crowdd.kernel.values import Values


def send_file(incoming: Incoming, file: GivenFile, content_type: str) -> Response:
    """A file to keep. No cache has it, because its snapshot may be closed or deleted, but its tag stays the same."""
    headers = {
        **api_headers(),
        "Cache-Control": "private, no-cache",
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(file.name, safe='')}",
        "X-Accel-Buffering": "no",
    }

    def sent(begin: int, end: int, status: int, response_headers: dict[str, str]) -> Response:
        return PiecesResponse(file.pieces(begin, end), end - begin, content_type, status, response_headers)

    return downloads.answer_file(incoming, file.etag, file.size, content_type, headers, sent)


_AT: Final = "/project/<short_name>/snapshots"
_ONE: Final = f"{_AT}/<hash_>"
_OCTETS: Final = "application/octet-stream"


class SnapshotsPublic(ProjectPublic):
    """``owns``: the requester owns the project; ``every`` and ``dataset`` are for owners, and empty for others."""

    items: list[Values]
    owns: bool
    every: str
    dataset: Values
    licences: list[Values]
    max_kept: int
    csrf: str


class SnapshotPublic(ProjectPublic):
    """``withdrawn`` are codes of volunteers who deleted their account since; ``open``: others may read it now."""

    snapshot: Values
    files: list[Values]
    withdrawn: list[str]
    owns: bool
    csrf: str


class SnapshotsPrivate(ProjectPrivate):
    """``authors`` are the lines of the form."""

    authors: str


class SnapshotPages:
    """``/project/<short_name>/snapshots``."""

    def __init__(self, projects: Projects, snapshots: Snapshots, csrf: Csrf, views: ProjectViews) -> None:
        self._projects, self._snapshots, self._csrf, self._views = projects, snapshots, csrf, views

    def routes(self) -> Iterator[Route]:
        yield get(_AT, locked_out(self.page))
        yield post(_AT, locked_out(self.add))
        yield post(f"{_AT}/settings", locked_out(self.save))
        yield post(f"{_AT}/delete", locked_out(self.delete))
        yield get(_ONE, locked_out(self.one))
        yield post(f"{_ONE}/access", locked_out(self.set_access))
        yield get(f"{_ONE}/archive", locked_out(self.archive), page=False)
        yield get(f"{_ONE}/files/<file_name>", locked_out(self.file), page=False)

    async def page(self, incoming: Incoming, short_name: str) -> Response:
        """All snapshots, the newest first; for owners with the forms that make one and describe the data set."""
        row = await self._projects.page(short_name, incoming.who)
        snapshots = await self._snapshots.listed(incoming.who, row)
        owns = rights.owns(row["roles"])
        schedule = await self._snapshots.schedule(row["id"]) if owns else None
        described = _described(row) if owns else dataset.Dataset()
        context = await self._views.context(incoming, row, _("Snapshots"))
        public = SnapshotsPublic(
            **context.public,
            items=[self._view(row, each) for each in snapshots],
            owns=owns,
            every="" if schedule is None else schedule["every"],
            dataset=dataset.written(described) if owns else {},
            licences=[{"id": each.id, "name": each.name, "url": each.url} for each in dataset.LICENCES.values()],
            max_kept=MAX_KEPT,
            csrf=self._csrf.token(incoming),
        )
        private = SnapshotsPrivate(**context.private, authors=dataset.lines(described))
        return Page("project/snapshots.html", public, private)

    async def add(self, incoming: Incoming, short_name: str) -> Response:
        """Has a snapshot made."""
        row = await self._projects.owned(short_name, incoming.who)
        try:
            snapshot = await self._snapshots.add(incoming.who, row["id"])
        except (ConflictError, InvalidValueError, TooManyRequestsError) as error:
            return Redirect(_list(short_name), error.args[0], "error")
        words = _("The snapshot is being made. This continues when you close this page.")
        return Redirect(_list(short_name), words, more={"snapshot": self._view(row, snapshot)})

    async def save(self, incoming: Incoming, short_name: str) -> Response:
        """Saves the licence, the authors and the schedule of the form. What it does not have stays."""
        row = await self._projects.owned(short_name, incoming.who)
        stored = _described(row)
        license_id = incoming.text("license", stored.license.id if stored.license else "")
        try:
            described = dataset.from_lines(license_id, incoming.text("authors", dataset.lines(stored)))
            if "every" in incoming.form:
                await self._snapshots.set_schedule(incoming.who, row["id"], incoming.field("every"))
        except InvalidValueError as error:
            return Redirect(_list(short_name), error.args[0], "error")
        if described != stored:
            await self._projects.tell(row, {dataset.KEY: dataset.written(described)}, incoming.who)
        return Redirect(_list(short_name), _("The settings are saved."))

    async def delete(self, incoming: Incoming, short_name: str) -> Response:
        """Deletes the snapshot ``snapshot_id``."""
        row = await self._projects.owned(short_name, incoming.who)
        snapshot_id = queries.parse_number(incoming.field("snapshot_id"), "snapshot_id", 0)
        await self._snapshots.delete(incoming.who, row["id"], snapshot_id)
        return Redirect(_list(short_name), _("The snapshot has been deleted."))

    async def one(self, incoming: Incoming, short_name: str, hash_: str) -> Response:
        """A snapshot with its files."""
        row, snapshot = await self._found(incoming, short_name, hash_)
        title = _("Snapshot %(hash)s", hash=hash_[:12])
        context = await self._views.context(incoming, row, title)
        public = SnapshotPublic(
            **context.public,
            snapshot=self._view(row, snapshot),
            files=[{**file_view(each)} for each in await self._snapshots.files(snapshot)],
            withdrawn=await self._snapshots.withdrawn(snapshot),
            owns=rights.owns(row["roles"]),
            csrf=self._csrf.token(incoming),
        )
        return Page("project/snapshot.html", public, context.private)

    async def set_access(self, incoming: Incoming, short_name: str, hash_: str) -> Response:
        """Makes a snapshot public (``public`` = 1), or one for owners."""
        row = await self._projects.owned(short_name, incoming.who)
        snapshot = await self._snapshots.get(incoming.who, row, hash_)
        public = queries.parse_flag(incoming.field("public"), "public")
        await self._snapshots.set_public(incoming.who, snapshot, public=public)
        words = _("The snapshot is public.") if public else _("Only owners can see the snapshot.")
        return Redirect(f"{_list(short_name)}/{hash_}", words)

    async def archive(self, incoming: Incoming, short_name: str, hash_: str) -> Response:
        """All files as one ZIP archive."""
        row, snapshot = await self._found(incoming, short_name, hash_)
        file = await self._snapshots.archive(incoming.who, row, snapshot, network(incoming.address))
        return send_file(incoming, file, zip_stream.ZIP_CONTENT_TYPE)

    async def file(self, incoming: Incoming, short_name: str, hash_: str, file_name: str) -> Response:
        """One file."""
        row, snapshot = await self._found(incoming, short_name, hash_)
        file = await self._snapshots.file(incoming.who, row, snapshot, file_name, network(incoming.address))
        return send_file(incoming, file, _OCTETS)

    async def _found(self, incoming: Incoming, short_name: str, hash_: str) -> tuple[ProjectPage, SnapshotRow]:
        row = await self._projects.page(short_name, incoming.who)
        return row, await self._snapshots.get(incoming.who, row, hash_)

    def _view(self, row: ProjectPage, snapshot: SnapshotRow) -> Values:
        address = f"{self._views.address(row)}snapshots"
        return outward_rows([snapshot_view(snapshot, address, owns=rights.owns(row["roles"]))])[0]


def _list(short_name: str) -> str:
    return f"/project/{quote(short_name)}/snapshots"


def _described(row: ProjectPage) -> dataset.Dataset:
    """What the project says of its data set; nothing where that is wrong, so that the form can put it right."""
    try:
        return dataset.read(row["info"])
    except InvalidValueError:
        return dataset.Dataset()


_DEPOSIT_AT: Final = "/project/<short_name>/snapshots/<hash_>/deposit"


class DepositPublic(ProjectPublic):
    """``deposit`` is null while there is none. ``repository``: the address that the form begins with."""

    snapshot: Values
    deposit: Values | None
    repository: str
    csrf: str


class DepositPages:
    """``/project/<short_name>/snapshots/<hash>/deposit``."""

    def __init__(
        self, projects: Projects, snapshots: Snapshots, deposits: Deposits, csrf: Csrf, views: ProjectViews
    ) -> None:
        self._projects, self._snapshots, self._deposits = projects, snapshots, deposits
        self._csrf, self._views = csrf, views

    def routes(self) -> Iterator[Route]:
        yield get(_DEPOSIT_AT, self.page)
        yield post(_DEPOSIT_AT, self.add)
        yield post(f"{_DEPOSIT_AT}/continue", self.go_on)
        yield post(f"{_DEPOSIT_AT}/delete", self.delete)

    async def page(self, incoming: Incoming, short_name: str, hash_: str) -> Response:
        """The deposit of a snapshot, or the form that begins one."""
        row, snapshot = await self._found(incoming, short_name, hash_)
        deposit = await self._deposits.find(incoming.who, row["id"], snapshot["id"])
        context = await self._views.context(incoming, row, _("Deposit in a repository"))
        address = f"{self._views.address(row)}snapshots"
        public = DepositPublic(
            **context.public,
            snapshot=outward_rows([snapshot_view(snapshot, address, owns=True)])[0],
            deposit=None if deposit is None else outward_rows([deposit])[0],
            repository=PUBLIC,
            csrf=self._csrf.token(incoming),
        )
        return Page("project/deposit.html", public, context.private)

    async def add(self, incoming: Incoming, short_name: str, hash_: str) -> Response:
        """Deposits the snapshot at the site ``url`` with the access token ``token``; ``publish`` = y publishes it."""
        row, snapshot = await self._found(incoming, short_name, hash_)
        url, token = (incoming.field(name) for name in ("url", "token"))
        publish = incoming.flag("publish", False)
        try:
            await self._deposits.add(incoming.who, row["id"], snapshot["id"], Destination(url, token, publish))
        except (ConflictError, InvalidValueError, TooManyRequestsError) as error:
            return Redirect(_here(short_name, hash_), error.args[0], "error")
        words = _("The files are being sent. This continues when you close this page.")
        return Redirect(_here(short_name, hash_), words)

    async def go_on(self, incoming: Incoming, short_name: str, hash_: str) -> Response:
        """Tries again; with ``publish`` = 1 publishes the deposit."""
        row, snapshot = await self._found(incoming, short_name, hash_)
        publish = incoming.flag("publish", False)
        try:
            await self._deposits.go_on(incoming.who, row["id"], snapshot["id"], publish=publish)
        except (ConflictError, TooManyRequestsError) as error:
            return Redirect(_here(short_name, hash_), error.args[0], "error")
        words = _("The deposit is being published.") if publish else _("The files are being sent again.")
        return Redirect(_here(short_name, hash_), words)

    async def delete(self, incoming: Incoming, short_name: str, hash_: str) -> Response:
        """Forgets the deposit and its token."""
        row, snapshot = await self._found(incoming, short_name, hash_)
        await self._deposits.delete(incoming.who, row["id"], snapshot["id"])
        words = _("The deposit is removed here. What the repository has stays there.")
        return Redirect(_here(short_name, hash_), words)

    async def _found(self, incoming: Incoming, short_name: str, hash_: str) -> tuple[ProjectPage, SnapshotRow]:
        row = await self._projects.owned(short_name, incoming.who)
        return row, await self._snapshots.get(incoming.who, row, hash_)


def _here(short_name: str, hash_: str) -> str:
    return f"/project/{quote(short_name)}/snapshots/{quote(hash_)}/deposit"


_DIFFERENCE_AT: Final = "/project/<short_name>/snapshots/<hash_>/difference"
_NDJSON: Final = "application/x-ndjson"


class DifferencePublic(ProjectPublic):
    """``before`` is the snapshot that ``snapshot`` is compared with, null without an other one; then nothing differs.

    ``others`` are the snapshots that it can be compared with. ``counts`` has added, removed and changed for tasks,
    answers and results. ``file`` is the address of all changes.
    """

    snapshot: Values
    before: Values | None
    others: list[Values]
    counts: Values
    settings: list[Values]
    documents: list[Values]
    file: str | None
    owns: bool


class DifferencePages:
    """``/project/<short_name>/snapshots/<hash>/difference``."""

    def __init__(self, projects: Projects, snapshots: Snapshots, views: ProjectViews) -> None:
        self._projects, self._snapshots, self._views = projects, snapshots, views

    def routes(self) -> Iterator[Route]:
        yield get(_DIFFERENCE_AT, locked_out(self.page))
        yield get(f"{_DIFFERENCE_AT}/changes", locked_out(self.changes), page=False)

    async def page(self, incoming: Incoming, short_name: str, hash_: str) -> Response:
        """What became of the rows since the snapshot ``from``: a hash. Without one, since the snapshot before."""
        row, after, others = await self._found(incoming, short_name, hash_)
        before = await self._before(incoming, row, after, others)
        difference = None if before is None else await self._snapshots.difference(before, after)
        summary: Values = {"counts": {}, "settings": [], "documents": []} if difference is None else difference.summary
        here = f"{self._views.address(row)}snapshots/{hash_}/difference/changes"
        context = await self._views.context(incoming, row, _("Differences between snapshots"))
        public = DifferencePublic(
            **context.public,
            snapshot=self._view(row, after),
            before=None if before is None else self._view(row, before),
            others=[self._view(row, each) for each in others],
            counts=summary["counts"],
            settings=summary["settings"],
            documents=summary["documents"],
            file=None if before is None else f"{here}?{urlencode({'from': before['hash']})}",
            owns=rights.owns(row["roles"]),
        )
        return Page("project/difference.html", public, context.private)

    async def changes(self, incoming: Incoming, short_name: str, hash_: str) -> Response:
        """All changes since the snapshot ``from``, one JSON object per line."""
        row, after, others = await self._found(incoming, short_name, hash_)
        before = await self._before(incoming, row, after, others)
        if before is None:
            raise NotFoundError("404 Not Found", hint="There is no other snapshot.")
        difference: Difference = await self._snapshots.difference(before, after)
        name = f"{row['short_name']}-{str(before['hash'])[:12]}-{hash_[:12]}.ndjson"
        file = self._snapshots.difference_file(incoming.who, row, difference, name, network(incoming.address))
        return send_file(incoming, file, _NDJSON)

    async def _found(
        self, incoming: Incoming, short_name: str, hash_: str
    ) -> tuple[ProjectPage, SnapshotRow, list[SnapshotRow]]:
        """The project, the snapshot, and the others that are made, the newest first."""
        row = await self._projects.page(short_name, incoming.who)
        after = await self._snapshots.get(incoming.who, row, hash_)
        listed = await self._snapshots.listed(incoming.who, row)
        return row, after, [each for each in listed if each["hash"] not in (None, hash_)]

    async def _before(
        self, incoming: Incoming, row: ProjectPage, after: SnapshotRow, others: Sequence[SnapshotRow]
    ) -> SnapshotRow | None:
        if wanted := incoming.query.get("from"):
            return await self._snapshots.get(incoming.who, row, wanted)
        return next((each for each in others if each["id"] < after["id"]), None)

    def _view(self, row: ProjectPage, snapshot: SnapshotRow) -> Values:
        address = f"{self._views.address(row)}snapshots"
        return outward_rows([snapshot_view(snapshot, address, owns=rights.owns(row["roles"]))])[0]
