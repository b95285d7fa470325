"""Analyse the answers of a project."""

from __future__ import annotations

from crowdd.features.analyses.analyses import HANDLER as ANALYSE_TASK
from crowdd.features.analyses.analyses import Analyses
from crowdd.kernel.languages import _
from crowdd.sched.job import Handler
from crowdd.sched.queue import QueuedTask


async def _run(analyses: Analyses, item: QueuedTask) -> dict[str, object]:
    return await analyses.runner.run(item)


HANDLER = Handler(
    ANALYSE_TASK,
    lambda services, item: _run(services.analyses, item),
    title=_("Analysis of answers"),
    note=_("Results do not change. Volunteers can answer in the meantime."),
)
