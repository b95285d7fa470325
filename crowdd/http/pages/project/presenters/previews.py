"""What the frame of a preview is told: the project, and some tasks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, TypedDict

import orjson

from crowdd import exact_json
from crowdd.domain.core.records import Records
from crowdd.domain.projects.file_access import FileAccess, readdressed
from crowdd.http import starters
from crowdd.http.html import presenter
from crowdd.kinds.project import PROJECT
from crowdd.kinds.task import TASK
from crowdd.requester import Requester
from crowdd.storage.core.listing import Query, equal
from crowdd.storage.projects.rows import ProjectPage
from crowdd.values import Values

_SAMPLES: Final = 5


class Preview(TypedDict):
    """The data for the frame of the preview. ``invented`` says whether the tasks are samples."""

    project: Values
    tasks: list[Values]
    invented: bool


class Previews:
    """Makes previews for the editors of presenters and questions."""

    def __init__(self, records: Records, file_access: FileAccess) -> None:
        self._records, self._file_access = records, file_access

    async def of(self, who: Requester, row: ProjectPage, samples: Iterable[Values]) -> Preview:
        """The project as presenters see it, and some tasks: its own, or samples (their ``info``) if it has none."""
        query = Query(TASK, equal(TASK, project_id=row["id"]), limit=_SAMPLES)
        tasks = await self._records.list(query, who)
        invented = [{"id": n, "project_id": row["id"], "info": info} for n, info in enumerate(samples, 1)]
        return self._told(row, tasks, invented)

    def of_task(self, row: ProjectPage, task: Values) -> Preview:
        """The project, and one of its tasks as the requester may see it."""
        return self._told(row, [task], [])

    def _told(self, row: ProjectPage, tasks: Iterable[Values], invented: list[Values]) -> Preview:
        shown = [{"id": task["id"], "project_id": row["id"], "info": task["info"]} for task in tasks]
        uploads = self._file_access.address(row)
        record = presenter.record(self._records.public_view(PROJECT, row), uploads)
        if uploads is not None:
            shown = exact_json.stored(readdressed(orjson.dumps(shown).decode(), row, uploads))
        return Preview(project=record, tasks=shown or invented, invented=not shown)


def samples_of_questions(document: Any) -> list[dict[str, str]]:
    """What tasks may look like for a valid list of questions: pictures and texts in the columns that it names."""
    texts = [sample["text"] for sample in starters.samples("")]
    rows: list[dict[str, str]] = []
    for number, words in enumerate(texts, 1):
        row: dict[str, str] = {}
        for medium in (medium for step in document["steps"] for medium in step.get("media", [])):
            value = words if medium["type"] == "text" else f"/static/img/sample-{number}.svg"
            source = medium.get("source", [])
            for each in source if isinstance(source, list) else [source]:
                if "column" in each:
                    row[each["column"]] = value
        rows.append(row)
    return rows
