"""Media that owners bring: uploads, their preparation, and the tasks made of them."""

from __future__ import annotations

import time

import attrs

from crowdd.core.base import Base
from crowdd.core.feature import Feature
from crowdd.features.answer_files.answer_files import AnswerFiles
from crowdd.features.answer_files.feature import AnswerFilesFeature
from crowdd.features.batches.batches import HANDLER as PREPARE_MEDIA_TASK
from crowdd.features.batches.batches import Batches
from crowdd.features.batches.runner import BatchRunner
from crowdd.features.imports.feature import ImportsFeature
from crowdd.features.imports.imports import Imports
from crowdd.features.media.feature import MediaFeature
from crowdd.features.media.incoming_files import IncomingFiles
from crowdd.features.tasks.feature import TasksFeature
from crowdd.kernel.languages import _
from crowdd.sched.feature import Scheduling
from crowdd.sched.job import HOUR, Handler, Job
from crowdd.sched.queue import QueuedTask


@attrs.frozen
class BatchesFeature(Feature):
    """What makes tasks of media files."""

    media_batches: Batches

    @classmethod
    def build(
        cls,
        base: Base,
        scheduling: Scheduling,
        media: MediaFeature,
        tasks: TasksFeature,
    ) -> BatchesFeature:
        data, uploads = base.settings.data, base.settings.uploads
        incoming, thread = IncomingFiles(data.dir / "media", data.min_free_bytes), base.worker_thread.another()
        runner = BatchRunner(
            base.db,
            base.notify,
            incoming,
            thread,
            media.media_preparation,
            media.media_store,
            media.media_names,
            base.quota,
            uploads,
        )
        batches = Batches(
            base.db,
            base.notify,
            scheduling.queue,
            incoming,
            thread,
            uploads,
            base.settings.quota,
            runner,
            tasks.changes,
            base.site,
        )
        return cls(batches)


async def _run(batches: Batches, item: QueuedTask) -> dict[str, object]:
    return await batches.carry_on(item)


# Make tasks of media files that an owner brings.
HANDLER = Handler(
    PREPARE_MEDIA_TASK,
    lambda house, item: _run(house[BatchesFeature].media_batches, item),
    title=_("Preparation of media"),
    note=_("Each file becomes a task when it has been prepared."),
)


async def _sweep_imports(imports: Imports, batches: Batches, answer_files: AnswerFiles) -> str:
    now = time.time()
    media_files = await batches.sweep(now) + await answer_files.sweep(now)
    return f"{await imports.sweep(now)} imports and {media_files} media files removed"


# Remove imports that ended long ago, uploads that were never started or never completed, and files without an answer.
JOB = Job(
    "sweep_imports",
    HOUR,
    lambda house: _sweep_imports(
        house[ImportsFeature].imports, house[BatchesFeature].media_batches, house[AnswerFilesFeature].answer_files
    ),
)
