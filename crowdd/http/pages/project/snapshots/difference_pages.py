"""What differs between two snapshots of a project, as a page and as a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import urlencode

from crowdd.domain.core import rights
from crowdd.domain.projects.projects import Projects
from crowdd.domain.transfer.snapshots.differences.differences import Difference
from crowdd.domain.transfer.snapshots.snapshots import Snapshots
from crowdd.domain.transfer.snapshots.views import view
from crowdd.errors import NotFoundError
from crowdd.http.html.row_lists import outward_rows
from crowdd.http.pages.project.snapshots.sent_files import sent_file
from crowdd.http.pages.project.views import ProjectPublic, ProjectViews, locked_out
from crowdd.http.request import Incoming
from crowdd.http.responses import Page, Response
from crowdd.http.routing import Route, get
from crowdd.languages import _
from crowdd.requester import network
from crowdd.storage.projects.rows import ProjectPage
from crowdd.storage.transfer.snapshot_rows import SnapshotRow
from crowdd.values import Values

_AT: Final = "/project/<short_name>/snapshots/<hash_>/difference"
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
        yield get(_AT, locked_out(self.page))
        yield get(f"{_AT}/changes", locked_out(self.changes), page=False)

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
        return sent_file(incoming, file, _NDJSON)

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
        return outward_rows([view(snapshot, address, owns=rights.owns(row["roles"]))])[0]
