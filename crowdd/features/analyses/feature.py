"""Analyses of the answers of a project: Dawid-Skene, GLAD and others."""

from __future__ import annotations

import attrs

from crowdd.core.base import Base
from crowdd.core.feature import Feature
from crowdd.features.analyses.analyses import HANDLER as ANALYSE_TASK
from crowdd.features.analyses.analyses import Analyses
from crowdd.features.analyses.runner import AnalysisRunner
from crowdd.features.tasks.feature import TasksFeature
from crowdd.kernel.languages import _
from crowdd.sched.feature import Scheduling
from crowdd.sched.job import Handler
from crowdd.sched.queue import QueuedTask


@attrs.frozen
class AnalysesFeature(Feature):
    """Methods that weigh all answers of a project together."""

    analyses: Analyses

    @classmethod
    def build(cls, base: Base, scheduling: Scheduling, tasks: TasksFeature) -> AnalysesFeature:
        runner = AnalysisRunner(
            base.db,
            base.notify,
            base.shared.file_turns,
            base.worker_thread.another(),
            base.shared.seconds,
            base.settings.data.dir / "analyses",
        )
        return cls(Analyses(base.db, scheduling.queue, tasks.changes, runner))


async def _run(analyses: Analyses, item: QueuedTask) -> dict[str, object]:
    return await analyses.runner.run(item)


HANDLER = Handler(
    ANALYSE_TASK,
    lambda house, item: _run(house[AnalysesFeature].analyses, item),
    title=_("Analysis of answers"),
    note=_("Results do not change. Volunteers can answer in the meantime."),
)
