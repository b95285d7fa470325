"""Projects that came after PostgreSQL last looked at the tables: its planner takes them for projects of a single task."""

import pytest_twisted
from support.checks.explained import Explained
from support.ledger import Ledger

from crowdd.features.tasks import statements as task_statements
from crowdd.kernel.requester import Requester

TASKS = 1_000
MAX_PAGES = 300


@pytest_twisted.ensureDeferred
async def test_asking_for_a_task_does_not_read_all_tasks_of_a_new_project(dsn, pool):
    ledger, explained = Ledger(dsn), Explained(pool)
    ledger.project(tasks=TASKS)
    ledger.run("ANALYZE")
    project = ledger.project(tasks=TASKS)
    for address in ("a", "b", "c"):  # the first call of a connection reads the catalogue, too
        ask = task_statements.build_ask(Requester(network=address), project, 1, 0, "priority")
        await task_statements.lease_next_tasks(explained, [ask], "http://here", wait=True)
    ledger.close()
    assert 0 < explained.pages <= MAX_PAGES
