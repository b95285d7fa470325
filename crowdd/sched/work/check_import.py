"""Reads the file of an import against its project, for its owner to see what would become of the rows."""

from __future__ import annotations

from crowdd.domain import imports
from crowdd.domain.domain import Domain
from crowdd.domain.queue import Item
from crowdd.sched.works import Work


async def _run(domain: Domain, item: Item) -> dict[str, object]:
    return await domain.imports.carry_on(item)


WORK = Work(imports.CHECK, _run)
