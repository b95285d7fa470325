"""Imports: read files and addresses, and make tasks of their rows."""

from __future__ import annotations

import attrs

from crowdd.core.base import Base
from crowdd.core.feature import Feature
from crowdd.features.imports.imports import CHECK as CHECK_IMPORT_TASK
from crowdd.features.imports.imports import HANDLER as IMPORT_TASKS_TASK
from crowdd.features.imports.imports import Imports
from crowdd.features.imports.sources import HANDLER as READ_SOURCE_TASK
from crowdd.features.imports.sources import Sources
from crowdd.features.tasks.feature import TasksFeature
from crowdd.kernel.languages import _
from crowdd.sched.feature import Scheduling
from crowdd.sched.job import MINUTE, Handler, Job
from crowdd.sched.queue import QueuedTask


@attrs.frozen
class ImportsFeature(Feature):
    """What makes tasks of rows."""

    imports: Imports
    sources: Sources

    @classmethod
    def build(
        cls,
        base: Base,
        scheduling: Scheduling,
        tasks: TasksFeature,
    ) -> ImportsFeature:
        imports = Imports(
            base.db,
            base.notify,
            scheduling.queue,
            base.outgoing,
            base.worker_thread.another(),
            base.settings.data.dir / "imports",
            base.settings.http.max_import_bytes,
            base.quota,
            base.secrets,
            tasks.changes,
            base.site,
        )
        sources = Sources(base.db, base.notify, scheduling.queue, base.outgoing, imports, base.mail)
        return cls(imports, sources)


async def _check_import(imports: Imports, item: QueuedTask) -> dict[str, object]:
    return await imports.carry_on(item)


# Read the file of an import and show its owner which tasks the rows would become.
CHECK_IMPORT_HANDLER = Handler(
    CHECK_IMPORT_TASK,
    lambda house, item: _check_import(house[ImportsFeature].imports, item),
    title=_("Preview of an import"),
    note=_("The file is being read. Nothing is imported before you confirm."),
)


async def _import_tasks(imports: Imports, item: QueuedTask) -> dict[str, object]:
    return await imports.carry_on(item)


# Create tasks from the rows of a file.
IMPORT_TASKS_HANDLER = Handler(
    IMPORT_TASKS_TASK,
    lambda house, item: _import_tasks(house[ImportsFeature].imports, item),
    title=_("Import of tasks"),
    note=_("Rows are added in the order of the file."),
)


async def _read_source(sources: Sources, item: QueuedTask) -> dict[str, object]:
    return await sources.read(item)


# Read an address of an import again, and add its new rows.
READ_SOURCE_HANDLER = Handler(
    READ_SOURCE_TASK,
    lambda house, item: _read_source(house[ImportsFeature].sources, item),
    title=_("Scheduled import"),
    note=_("New rows are added. Rows that already are tasks are skipped."),
)


async def _start(sources: Sources) -> str:
    return f"{await sources.start_due()} started"


# Start the reading of addresses that owners have imported again and again, when they are due.
JOB = Job("read_sources", MINUTE, lambda house: _start(house[ImportsFeature].sources))
