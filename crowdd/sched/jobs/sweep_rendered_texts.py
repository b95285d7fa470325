"""Remove rendered HTML of texts that nobody has read for a month. It is rendered again when it is read."""

from __future__ import annotations

from crowdd.domain.core.text.rendered_text import Prose
from crowdd.sched.job import DAY, Job


async def _sweep_rendered_texts(prose: Prose) -> str:
    return f"{await prose.sweep()} removed"


JOB = Job("sweep_rendered_texts", DAY, lambda services: _sweep_rendered_texts(services.prose))
