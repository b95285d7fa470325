"""Reads the file of an import against its project, for its owner to see what would become of the rows."""

from __future__ import annotations

from crowdd.domain.core.background_queue import Item
from crowdd.domain.server.services import Domain
from crowdd.domain.transfer import imports
from crowdd.sched.task_handlers import Work


async def _run(domain: Domain, item: Item) -> dict[str, object]:
    return await domain.imports.carry_on(item)


WORK = Work(imports.CHECK, _run)
