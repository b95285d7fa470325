"""Projects that came after PostgreSQL last looked at the tables: its planner takes them for projects of a single task."""

import pytest_twisted
from support.ledger import Ledger

from crowdd.storage import contributions
from crowdd.values import Requester

TASKS = 1_000
MOST_PAGES = 300


class Explained:
    """A database that measures statements instead of answering them."""

    def __init__(self, pool):
        self._pool = pool
        self.pages = 0

    async def fetch(self, sql, values=None):
        await self._pool.fetch(sql, values)  # it is prepared where it is used
        rows = await self._pool.fetch(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {sql.call}", values)
        plan = rows[0]["QUERY PLAN"][0]["Plan"]
        self.pages = plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
        return rows


@pytest_twisted.ensureDeferred
async def test_asking_for_a_task_does_not_read_all_tasks_of_a_new_project(dsn, pool):
    ledger, explained = Ledger(dsn), Explained(pool)
    ledger.project(tasks=TASKS)
    ledger.run("ANALYZE")
    project = ledger.project(tasks=TASKS)
    for address in ("a", "b", "c"):  # the first call of a connection reads the catalogue, too
        ask = contributions.ask(Requester(address=address), project, 1, 0, "priority")
        await contributions.next_tasks(explained, [ask], "http://here", wait=True)
    ledger.close()
    assert 0 < explained.pages <= MOST_PAGES
