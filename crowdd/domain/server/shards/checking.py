"""Whether each shard can be used, and what to do if not; for ``crowdctl shards check`` and ``crowdctl doctor``."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Final

from crowdd.domain.server.doctor_rules import Finding
from crowdd.errors import CrowddError
from crowdd.storage import schema
from crowdd.storage.database import Transactions
from crowdd.storage.server.shards import checking, preparing

MAX_BEHIND: Final = 1 << 30
"""Bytes of its log that home may keep for a shard before that is a problem."""

LONG_MINUTES: Final = 10.0
Connect = Callable[[str], AbstractAsyncContextManager[Transactions]]


async def findings(home: Transactions, configured: Mapping[str, str], connect: Connect) -> list[Finding]:
    """All that is wrong. ``configured`` are the connection strings of [db] shards by name; ``connect`` opens one."""
    numbers = {row["name"]: row["number"] for row in await preparing.listed(home)}
    problems = [
        Finding(f"Shard {name} is missing in [db] shards.", "Its projects get 503. Add it, and restart.")
        for name in sorted(numbers.keys() - configured.keys())
    ]
    for name, dsn in configured.items():
        if name not in numbers:
            problems.append(Finding(f"Shard {name} was not added.", f"Run: crowdctl shards add {name}"))
            continue
        try:
            async with connect(dsn) as shard:
                problems += [each async for each in _of_shard(home, shard, name, numbers[name])]
        except CrowddError as error:
            problems.append(Finding(f"Shard {name} cannot be used. {error}", error.hint))
    for move in await checking.begun_moves(home):
        if move.minutes > LONG_MINUTES:
            words = f"A move of project {move.project_id} began {move.minutes:.0f} minutes ago and has not ended."
            problems.append(Finding(words, "Run the same crowdctl shards move again. It finishes the move."))
    return problems


async def _of_shard(home: Transactions, shard: Transactions, name: str, number: int) -> AsyncIterator[Finding]:
    (await schema.status(shard)).require()
    own = await preparing.own(shard)
    if own is None or (own.number, own.name) != (number, name):
        yield Finding(f"The database of shard {name} is another one.", "Correct [db] shards.")
        return
    state, slot = await checking.state(shard, number), await checking.kept_for(home, number)
    if slot is None:
        yield Finding(
            f"Home keeps no changes of accounts for shard {name}.",
            "Its slot was removed. See docs/operating/shards.md, A shard that misses changes.",
        )
    elif slot.behind > MAX_BEHIND:
        yield Finding(
            f"Home keeps {slot.behind / (1 << 30):.1f} GB of its log for shard {name}.",
            "The shard receives nothing. Start it, or home's disk fills up.",
        )
    if not state.receives:
        yield Finding(
            f"Shard {name} receives no changes of accounts.",
            "New people get 503 there. Look into the log of its PostgreSQL, and check its connection to home.",
        )
    if not state.notices:
        yield Finding(
            f"Shard {name} does not notice changes of accounts: pages may show old names.",
            f"Run: crowdctl shards add {name}",
        )
    if not state.may_move:
        yield Finding(
            f"The role of shard {name} may not move projects.",
            "As a superuser there: GRANT SET ON PARAMETER session_replication_role TO the role.",
            wrong=False,
        )
