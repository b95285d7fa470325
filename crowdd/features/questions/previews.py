"""What the preview in an editor of a presenter or of questions shows: the project, and some of its tasks or samples."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, TypedDict

import orjson

from crowdd.core.records.listing_statements import Query, equal
from crowdd.core.records.records import Records
from crowdd.features.projects.files import FileAccess, readdressed
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.questions import presenter_contents
from crowdd.kernel import exact_json
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values
from crowdd.kinds.project import PROJECT
from crowdd.kinds.task import TASK

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
        record = presenter_contents.record(self._records.public_view(PROJECT, row), uploads)
        if uploads is not None:
            shown = exact_json.stored(readdressed(orjson.dumps(shown).decode(), row, uploads))
        return Preview(project=record, tasks=shown or invented, invented=not shown)
