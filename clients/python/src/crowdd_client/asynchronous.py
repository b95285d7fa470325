"""The same client for programs with an event loop of asyncio: what talks to the server is awaited.

Each call is made in a thread, with the retries, the errors and the connections of ``Client``. A call that is cancelled
ends when its request does.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from crowdd_client.client import Client
from crowdd_client.export import Changes, Export, Format, What, WhatFile
from crowdd_client.project import Project
from crowdd_client.rows import Rows
from crowdd_client.table import Record, Table
from crowdd_client.upload_report import UploadReport

if TYPE_CHECKING:
    import pandas
    import polars

TableT = TypeVar("TableT", bound=Table)
_ROWS = 500  # rows that one call of a thread brings


async def rows_of(rows: Iterable[Record]) -> AsyncIterator[Record]:
    """The rows of a table or of changes, read in a thread, some hundred at a time."""
    reading = await asyncio.to_thread(iter, rows)
    while page := await asyncio.to_thread(_some, reading):
        for row in page:
            yield row


def _some(reading: Iterator[Record]) -> list[Record]:
    return [row for _, row in zip(range(_ROWS), reading, strict=False)]


class AsyncTable(Generic[TableT]):
    """Rows that are read with ``async for``, or become a DataFrame. ``rows`` is the table without asyncio."""

    def __init__(self, rows: TableT) -> None:
        self.rows = rows

    def __repr__(self) -> str:
        return f"<AsyncTable of {self.rows.name}>"

    def __aiter__(self) -> AsyncIterator[Record]:
        return rows_of(self.rows)

    async def count(self) -> int:
        """How many rows there are."""
        return await asyncio.to_thread(len, self.rows)

    async def to_pandas(self) -> pandas.DataFrame:
        """All rows as a DataFrame of pandas."""
        return await asyncio.to_thread(self.rows.to_pandas)

    async def to_polars(self) -> polars.DataFrame:
        """All rows as a DataFrame of polars."""
        return await asyncio.to_thread(self.rows.to_polars)


class AsyncExport(AsyncTable[Export]):
    """An export, which can be a file, too."""

    async def save(self, path: str, format: Format = "csv", *, raw: bool = False) -> int:
        """Writes the file, and returns how many bytes it has."""
        return await asyncio.to_thread(self.rows.save, path, format, raw=raw)


class AsyncProject:
    """A project whose calls are awaited. ``project`` is the one without asyncio, with ``id``, ``name`` and ``record``.

    What only names rows needs no waiting: ``AsyncTable(project.project.gold())``.
    """

    def __init__(self, project: Project) -> None:
        self.project = project

    def __repr__(self) -> str:
        return f"<AsyncProject {self.project.id} {self.project.short_name}>"

    def tasks(self, **filters: object) -> AsyncTable[Rows]:
        """Its tasks. Filters and ``at`` as ``Project.tasks`` takes them."""
        return AsyncTable(self.project.tasks(**filters))  # type: ignore[arg-type]

    def answers(self, **filters: object) -> AsyncTable[Rows]:
        """Its answers."""
        return AsyncTable(self.project.answers(**filters))  # type: ignore[arg-type]

    def results(self, **filters: object) -> AsyncTable[Rows]:
        """Its results."""
        return AsyncTable(self.project.results(**filters))  # type: ignore[arg-type]

    def export(self, what: WhatFile) -> AsyncExport:
        """All of its rows of a kind in one download."""
        return AsyncExport(self.project.export(what))

    def changes(self, what: What, cursor: str = "") -> AsyncChanges:
        """What has changed since a cursor."""
        return AsyncChanges(self.project.changes(what, cursor))

    async def refresh(self) -> AsyncProject:
        """Reads its attributes again."""
        return AsyncProject(await asyncio.to_thread(self.project.refresh))

    async def publish(self) -> AsyncProject:
        """Publishes the draft, or resumes the paused project."""
        return AsyncProject(await asyncio.to_thread(self.project.publish))

    async def statistics(self) -> Record:
        """Its figures."""
        return await asyncio.to_thread(self.project.statistics)

    async def add_tasks(self, rows: Iterable[Mapping[str, Any]] | Any, **options: Any) -> UploadReport:
        """Adds a task for each row, with the options of ``Project.add_tasks``."""
        return await asyncio.to_thread(self.project.add_tasks, rows, **options)

    async def next_tasks(self, limit: int = 1) -> list[Record]:
        """Tasks to answer, leased to you."""
        return await asyncio.to_thread(self.project.next_tasks, limit)

    async def submit(self, task_id: int, info: object) -> Record:
        """Your answer to a task."""
        return await asyncio.to_thread(self.project.submit, task_id, info)


class AsyncChanges:
    """New, changed and deleted rows since a cursor, read with ``async for``."""

    def __init__(self, changes: Changes) -> None:
        self.changes = changes

    @property
    def cursor(self) -> str:
        """The place behind the last row that was read."""
        return self.changes.cursor

    def __aiter__(self) -> AsyncIterator[Record]:
        return rows_of(self.changes)

    async def apply(self, rows: dict[int, Record]) -> int:
        """Brings a copy of the rows up to date; returns how many lines there were."""
        return await asyncio.to_thread(self.changes.apply, rows)


class AsyncClient:
    """A server, asked without keeping the event loop. The arguments are those of ``Client``."""

    def __init__(self, site: str, key: str | None = None, **options: Any) -> None:
        self.client = Client(site, key, **options)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Closes the connections."""
        await asyncio.to_thread(self.client.close)

    async def project(self, name: str | int) -> AsyncProject:
        """The project with a short name or an id. Raises NotFoundError."""
        return AsyncProject(await asyncio.to_thread(self.client.project, name))

    async def create_project(
        self, name: str, short_name: str, description: str = "", **attributes: Any
    ) -> AsyncProject:
        """A new draft with these attributes."""
        create = self.client.create_project
        return AsyncProject(await asyncio.to_thread(create, name, short_name, description, **attributes))

    def objects(self, kind: str, **filters: object) -> AsyncTable[Rows]:
        """The objects of a kind of the API."""
        return AsyncTable(self.client.objects(kind, **filters))

    async def request(self, method: str, path: str, *arguments: Any, **options: Any) -> Any:
        """The JSON of any address of the server."""
        return await asyncio.to_thread(self.client.request, method, path, *arguments, **options)
