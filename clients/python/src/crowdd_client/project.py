"""One project: its tasks, answers and results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

from crowdd_client.export import Changes, Export, What, WhatFile
from crowdd_client.rows import Rows
from crowdd_client.table import Record
from crowdd_client.transport import Transport
from crowdd_client.upload import MAX_REFUSED, ROWS, Uploader
from crowdd_client.upload_report import UploadReport
from crowdd_client.values import Time, iso


class Project:
    """A project as the server shows it to you. ``record`` has its attributes."""

    def __init__(self, transport: Transport, record: Record) -> None:
        self._transport, self.record = transport, record

    def __repr__(self) -> str:
        return f"<Project {self.id} {self.short_name}>"

    @property
    def id(self) -> int:
        """Its id."""
        return int(self.record["id"])

    @property
    def short_name(self) -> str:
        """Its name in addresses."""
        return str(self.record["short_name"])

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.record["name"])

    def refresh(self) -> Project:
        """Reads its attributes again."""
        self.record = self._transport.json("GET", f"/api/project/{self.id}")
        return self

    def publish(self) -> Project:
        """Publishes the draft, or resumes the paused project. Its trial answers are deleted."""
        self._transport.json("POST", f"/project/{quote(self.short_name, safe='')}/publish", body={})
        return self.refresh()

    def tasks(self, *, at: Time | None = None, **filters: object) -> Rows:
        """Its tasks, page by page. Filters are attributes, such as ``state="completed"``.

        ``at``: as they were at a time (for owners, as with answers, results and statistics). A text is ISO 8601; what
        has no zone is UTC. It goes with few filters. Raises NotKeptError when that is not known any more.
        """
        return self._rows("task", "tasks", filters, at)

    def answers(self, *, at: Time | None = None, **filters: object) -> Rows:
        """Its answers (task runs), page by page. Filters are attributes, such as ``task_id=12``."""
        return self._rows("taskrun", "answers", filters, at)

    def results(self, *, at: Time | None = None, **filters: object) -> Rows:
        """Its results, page by page: of each completed task the last version."""
        return self._rows("result", "results", filters, at)

    def statistics(self, *, at: Time | None = None) -> Record:
        """Its figures (``n_tasks``, ``n_task_runs``, …)."""
        record: Record = self._transport.json("GET", f"/api/projectstats/{self.id}", {"at": iso(at)})
        return record

    def export(self, what: WhatFile) -> Export:
        """All of its tasks, answers, results, consensus, volunteers, events or marks (``what``) in one download.

        It is the fastest way to read all.
        """
        return Export(self._transport, self.id, what)

    def changes(self, what: What, cursor: str = "") -> Changes:
        """What has changed in its tasks, answers or results (``what``) since a cursor; without one, all rows.

        Raises OutdatedError when a cursor cannot be continued.
        """
        return Changes(self._transport, self.id, what, cursor)

    def add_tasks(
        self,
        rows: Iterable[Mapping[str, Any]] | Any,
        *,
        n_answers: int | None = None,
        resume: str | Path | None = None,
        batch: int = ROWS,
        max_refused: int = MAX_REFUSED,
        progress: bool = False,
        uncertain: Literal["", "added", "send"] = "",
    ) -> UploadReport:
        """Adds a task for each row: of an iterable of dicts, of a DataFrame (pandas, polars), or of an Arrow table.

        Columns named ``n_answers``, ``priority_0``, ``quorum`` and ``calibration`` set these attributes, ``n_answers``
        for rows without it. ``state`` is left out, and all other columns are keys of ``info``; a column ``info`` alone
        is all of it. Values that are missing (NaN, NaT, NA) become null, dates and times ISO 8601 texts.

        Rows are sent in batches, and a row that is refused does not keep the others from being added. The report has
        ``sent`` = ``added`` + ``refused``, and why each row was refused. After ``max_refused`` of them
        TooManyRefusedError is raised.

        ``resume`` names a file for the state of the upload. Call it again with the same rows and the same file after an
        interruption: what was added is not added again. If that takes longer than 23 hours, it may be unclear whether
        the last batch was added. ResumeError then names its rows. Look for them, and say with ``uncertain`` whether
        they were ``added`` or are to be sent again.
        """
        uploader = Uploader(self._transport, self.id, n_answers, batch, max_refused)
        return uploader.upload(rows, None if resume is None else Path(resume), uncertain, progress=progress)

    def _rows(self, kind: str, name: str, filters: dict[str, object], at: Time | None) -> Rows:
        return Rows(self._transport, kind, {"all": 1, **filters, "at": iso(at), "project_id": self.id}, name)
