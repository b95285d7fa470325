"""One project: its tasks, answers and results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote
from uuid import uuid4

from crowdd_client.export import Changes, Export, What, WhatFile
from crowdd_client.rows import Listing, Rows
from crowdd_client.table import Record
from crowdd_client.transport import Transport
from crowdd_client.upload import MAX_REFUSED, ROWS, Uploader
from crowdd_client.upload_report import UploadReport
from crowdd_client.values import Time, iso, json_value

_LOOK_SECONDS = 1.0  # between two looks at an analysis under way


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

    def gold(self) -> Listing:
        """Its gold tasks with their right answers and how often they were answered rightly, for owners."""
        return self._listing("gold", "gold tasks", ("last_id", "task_id"))

    def agreement(self) -> Listing:
        """How far volunteers agree: Krippendorff's alpha of each answer field, with the tasks and answers behind it."""
        return self._listing("agreement", "agreement")

    def snapshots(self) -> Listing:
        """Its snapshots, the newest first."""
        return self._listing("snapshots", "snapshots")

    def analyses(self) -> Listing:
        """Its analyses (Dawid-Skene, agreement, …), the newest first, for owners."""
        return self._listing("analysis", "analyses")

    def analyse(self, method: str, **parameters: object) -> Record:
        """Starts an analysis, and returns it when it has ended: ``state`` is done, failed or cancelled."""
        path = f"/api/project/{self.id}/analysis"
        analysis: Record = self._transport.json("POST", path, body={"method": method, **parameters})
        while analysis["state"] in ("waiting", "running"):
            self._transport.pause(_LOOK_SECONDS, f"the analysis {analysis['id']} is {analysis['state']}")
            analysis = self._transport.json("GET", f"{path}/{analysis['id']}")
        return analysis

    def analysis_tasks(self, analysis_id: int) -> Listing:
        """What an analysis says of each task: ``value``, ``probabilities``, ``different`` from the result."""
        return self._listing(f"analysis/{analysis_id}/tasks", "tasks of an analysis", ("last_id", "task_id"))

    def analysis_volunteers(self, analysis_id: int) -> Listing:
        """What an analysis says of each volunteer, the least accurate first."""
        return self._listing(f"analysis/{analysis_id}/volunteers", "volunteers of an analysis", ("after", "volunteer"))

    def analysis_items(self, analysis_id: int) -> list[Record]:
        """The items that an analysis ``bradley_terry`` compared, the strongest first, each with its interval."""
        items: list[Record] = self._transport.json("GET", f"/api/project/{self.id}/analysis/{analysis_id}/items")
        return items

    def analysis_agreement(self, analysis_id: int) -> Record | None:
        """The figures of an analysis ``agreement``, each with its interval; None for other methods."""
        found: Record | None = self._transport.json("GET", f"/api/project/{self.id}/analysis/{analysis_id}/agreement")
        return found

    def next_tasks(self, limit: int = 1) -> list[Record]:
        """Tasks to answer, leased to you; none when there is nothing for you to do."""
        tasks = self._transport.json("GET", f"/api/project/{self.id}/newtask", {"limit": limit})
        if isinstance(tasks, dict):  # one task comes by itself, and an empty object says that there is none
            return [tasks] if tasks else []
        return list(tasks or ())

    def submit(self, task_id: int, info: object) -> Record:
        """Your answer to a task. Stored once, even if the connection breaks. Raises ForbiddenError, ConflictError."""
        body = {"project_id": self.id, "task_id": task_id, "info": json_value(info)}
        answer: Record = self._transport.json("POST", "/api/taskrun", body=body, key=uuid4().hex)
        return answer

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

    def _listing(self, what: str, name: str, after: tuple[str, str] | None = None) -> Listing:
        return Listing(self._transport, f"/api/project/{self.id}/{what}", name, after)

    def _rows(self, kind: str, name: str, filters: dict[str, object], at: Time | None) -> Rows:
        return Rows(self._transport, kind, {"all": 1, **filters, "at": iso(at), "project_id": self.id}, name)
