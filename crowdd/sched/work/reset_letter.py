"""Writes the letter with a link to a new password, if there is anybody to write to."""

from __future__ import annotations

from crowdd.domain.domain import Domain
from crowdd.domain.people.recovery import WORK as NAME
from crowdd.domain.queue import Item
from crowdd.sched.works import Work


async def _run(domain: Domain, item: Item) -> None:
    await domain.people.recovery.write(item.arguments["user_id"], item.arguments.get("network", ""))


WORK = Work(NAME, _run)
