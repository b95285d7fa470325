"""Snapshots of a project: the list, making one, and what each has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from urllib.parse import quote

from crowdd.domain.core import rights
from crowdd.domain.projects import dataset
from crowdd.domain.projects.projects import Projects
from crowdd.domain.transfer.snapshots import zip_stream
from crowdd.domain.transfer.snapshots.snapshots import MAX_KEPT, Snapshots
from crowdd.domain.transfer.snapshots.views import file_view, view
from crowdd.errors import ConflictError, InvalidValueError, TooManyRequestsError
from crowdd.http import queries
from crowdd.http.auth.csrf import Csrf
from crowdd.http.html.row_lists import outward_rows
from crowdd.http.pages.project.snapshots.sent_files import sent_file
from crowdd.http.pages.project.views import ProjectPrivate, ProjectPublic, ProjectViews, locked_out
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Redirect, Response
from crowdd.http.routing import Route, get, post
from crowdd.languages import _
from crowdd.requester import network
from crowdd.storage.projects.rows import ProjectPage
from crowdd.storage.transfer.snapshot_rows import SnapshotRow
from crowdd.values import Values

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
        snapshot_id = queries.number(incoming.field("snapshot_id"), "snapshot_id", 0)
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
        public = queries.flag(incoming.field("public"), "public")
        await self._snapshots.set_public(incoming.who, snapshot, public=public)
        words = _("The snapshot is public.") if public else _("Only owners can see the snapshot.")
        return Redirect(f"{_list(short_name)}/{hash_}", words)

    async def archive(self, incoming: Incoming, short_name: str, hash_: str) -> Response:
        """All files as one ZIP archive."""
        row, snapshot = await self._found(incoming, short_name, hash_)
        file = await self._snapshots.archive(incoming.who, row, snapshot, network(incoming.address))
        return sent_file(incoming, file, zip_stream.CONTENT_TYPE)

    async def file(self, incoming: Incoming, short_name: str, hash_: str, file_name: str) -> Response:
        """One file."""
        row, snapshot = await self._found(incoming, short_name, hash_)
        file = await self._snapshots.file(incoming.who, row, snapshot, file_name, network(incoming.address))
        return sent_file(incoming, file, _OCTETS)

    async def _found(self, incoming: Incoming, short_name: str, hash_: str) -> tuple[ProjectPage, SnapshotRow]:
        row = await self._projects.page(short_name, incoming.who)
        return row, await self._snapshots.get(incoming.who, row, hash_)

    def _view(self, row: ProjectPage, snapshot: SnapshotRow) -> Values:
        address = f"{self._views.address(row)}snapshots"
        return outward_rows([view(snapshot, address, owns=rights.owns(row["roles"]))])[0]


def _list(short_name: str) -> str:
    return f"/project/{quote(short_name)}/snapshots"


def _described(row: ProjectPage) -> dataset.Dataset:
    """What the project says of its data set; nothing where that is wrong, so that the form can put it right."""
    try:
        return dataset.read(row["info"])
    except InvalidValueError:
        return dataset.Dataset()
