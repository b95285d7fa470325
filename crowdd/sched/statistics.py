"""Fold counters, recount them from the rows while the server runs, log differences, and repair them on demand.

A check is a function of SQL that lists differences and one that repairs them (``definitions/server/90_check.sql`` says
why answers that come in meanwhile cause no false alarm). To add one, write the two functions and a line here.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence

import attrs
from twisted.logger import Logger

from crowdd.database.access import Database, Transactions
from crowdd.sched import check_statements
from crowdd.sched import statements as sched_statements
from crowdd.sched.job import MINUTE, Job
from crowdd.sched.rows import CounterDifference

log = Logger()


_PROJECTS_AT_ONCE = 1000


@attrs.frozen
class Check:
    """``finds`` and ``repairs`` are SQL functions of (project, moment); a check of the whole site gets none."""

    name: str
    finds: str
    repairs: str
    per_project: bool = True


# In this order: a repair stands on those before it.
CHECKS = (
    Check("places of tasks", "check_places", "repair_places"),
    Check("answers of linked volunteers", "check_links", "repair_links"),
    Check("states and results", "check_states", "repair_states"),
    Check("classes and posteriors", "check_weighing", "repair_weighing"),
    Check("agreement of results", "check_agreement", "repair_agreement"),
    Check("outcomes", "check_outcomes", "repair_outcomes"),
    Check("answers to compare", "check_comparisons", "repair_comparisons"),
    Check("sums of alpha", "check_alpha", "repair_alpha"),
    Check("reliability", "check_trust", "repair_trust"),
    Check("gold tasks", "check_gold", "repair_gold"),
    Check("next steps", "check_chains", "repair_chains"),
    Check("positions", "check_positions", "repair_positions"),
    Check("answers of volunteers", "check_volunteers", "repair_volunteers"),
    Check("the last two weeks", "check_recent", "repair_recent"),
    Check("hours", "check_hours", "repair_hours"),
    Check("figures of projects", "check_figures", "repair_figures"),
    Check("bytes of projects", "check_bytes", "repair_bytes"),
    Check("scores and ranks", "check_people", "repair_people", per_project=False),
)


@attrs.frozen
class Difference:
    """A counter that is not what a recount says. ``key`` names the row within the project, "" for its only one.

    ``more`` is how many further differences of the same check and project are not listed.
    """

    check: str
    project_id: int | None
    what: str
    key: str
    stored: float
    counted: float
    repaired: bool = False
    more: int = 0

    def sentence(self) -> str:
        """The difference for people."""
        where = " ".join(filter(None, ("" if self.project_id is None else f"project {self.project_id}", self.key)))
        text = f"{self.what} of {where or 'the site'}: {self.stored:g} instead of {self.counted:g}"
        text = f"{text}, repaired" if self.repaired else text
        return f"{text} (and {self.more:,} more of this check)" if self.more else text


class Checking:
    """Runs checks one after the other, each project by itself."""

    def __init__(self, db: Transactions, all_checks: tuple[Check, ...] = CHECKS) -> None:
        self._db, self._checks = db, all_checks

    async def run(self, *, repair: bool = False) -> AsyncIterator[Difference]:
        """Every difference; with ``repair`` each after it was repaired, or found again in spite of that."""
        async for project_id in self._projects():
            for check in self._checks:
                if check.per_project:
                    for difference in await self._one(check, project_id, repair):
                        yield difference
        for check in self._checks:
            if not check.per_project:
                for difference in await self._one(check, None, repair):
                    yield difference

    async def _projects(self) -> AsyncIterator[int]:
        last = 0
        while project_ids := await check_statements.list_projects_after(self._db, last, _PROJECTS_AT_ONCE):
            for last in project_ids:
                yield last

    async def _one(self, check: Check, project_id: int | None, repair: bool) -> list[Difference]:
        rows = await check_statements.list_differences(self._db, check.finds, project_id)
        if not (rows and repair):
            return _differences(check, rows, set())
        await check_statements.repair_counters(self._db, check.repairs, project_id)
        left = {
            (row.what, row.key) for row in await check_statements.list_differences(self._db, check.finds, project_id)
        }
        repaired = {(row.what, row.key) for row in rows} - left
        return _differences(check, rows, repaired)


def _differences(check: Check, rows: Sequence[CounterDifference], repaired: set[tuple[str, str]]) -> list[Difference]:
    """Rows of a check as differences; the last one says how many are not among them."""
    listed = []
    for nth, row in enumerate(rows, 1):
        what, key, more = row.what, row.key, row.total - nth if nth == len(rows) else 0
        stored, counted = float(row.stored), float(row.counted)
        done = (what, key) in repaired
        listed.append(Difference(check.name, row.project_id, what, key, stored, counted, done, more))
    return listed


async def check_counters(checking: Checking) -> str:
    """Recount every counter, correct the wrong ones and log each correction."""
    difference_count = 0
    async for difference in checking.run(repair=True):
        log.warn("counter corrected: {sentence}", sentence=difference.sentence())
        difference_count += 1 + difference.more
    return f"{difference_count} differences"


async def _fold(db: Database) -> str:
    return f"{await sched_statements.fold_counters(db)} rows"


# Fold appended counters, so that reading them stays cheap.
FOLD_COUNTERS_JOB = Job("fold_counters", 5 * MINUTE, lambda house: _fold(house.base.db), pause=2)
