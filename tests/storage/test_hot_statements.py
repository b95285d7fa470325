"""What the hot statements touch is bounded by the same number for every project, volunteer and neighbour.

Pages of memory as PostgreSQL counts them, through the server's own pool and the statements that it sends. A small project
and a large one share a database, each with newcomers and with a veteran. bench.cost does the same at a million tasks.
"""

from __future__ import annotations

from typing import Any

import pytest
import pytest_twisted
from support.checks.explained import Explained
from support.ledger import Ledger
from twisted.internet import reactor
from twisted.internet.defer import ensureDeferred

from bench.support.filled import Filling, fill
from bench.support.testbed import Sql
from crowdd.core import base
from crowdd.core.records import statements as record_statements
from crowdd.features.accounts import session_statements
from crowdd.features.accounts import statements as account_statements
from crowdd.features.projects import statements as project_statements
from crowdd.features.tasks import statements as task_statements
from crowdd.kernel import config
from crowdd.kernel.requester import Requester
from crowdd.kinds.task import TASK
from crowdd.kinds.task_run import TASK_RUN

pytestmark = pytest.mark.proof
SIZES = {
    "small": Filling(1_000, 10_000, veterans={"u:1": 900}),
    "large": Filling(60_000, 120_000, veterans={"u:1": 50_000}),
}
TOGETHER = 64
# Pages for each statement; of a batch for each of its members.
MAXIMUM = {
    "ask": 80, "answer": 60, "ask together": 90, "answer together": 55, "progress": 22, "task": 15, "task run": 10,
    "key": 5, "session": 5, "secret key": 5,
}  # fmt: skip


class Site:
    """A database with a project of each size, and what a statement touches in it."""

    def __init__(self, dsn: str, folder: Any) -> None:
        ledger = Ledger(dsn)
        self.projects = {name: ledger.project(tasks=1, n=1) for name in SIZES}
        self.first = {name: fill(Sql(dsn), self.projects[name], filling) for name, filling in SIZES.items()}
        ledger.close()
        self.pool = base.make_pool(
            reactor, config.load(None, {"CROWDD_DB_DSN": dsn, "CROWDD_DATA_DIR": str(folder)}), size=1
        )
        self.explained = Explained(self.pool)

    async def touched(self, work: Any) -> int:
        """Pages of a call of storage with this database."""
        await work
        return self.explained.pages

    async def pair(self, size: str, people: list[Requester]) -> tuple[int, int]:
        """Pages for their asks together and for their answers."""
        project = self.projects[size]
        asks = [task_statements.build_ask(who, project, 1, 0, "priority") for who in people]
        wait = len(people) == 1
        asked = await self.touched(task_statements.lease_next_tasks(self.explained, asks, "http://here", wait=wait))
        rows = await task_statements.lease_next_tasks(self.pool, asks, "http://here", wait=wait)
        sql = "SELECT task_id FROM lease WHERE project_id = %(p)s AND actor = %(a)s"
        answers = []
        for who, row in zip(people, rows, strict=True):
            assert row["state"] == "ok"
            (lease,) = await self.pool.fetch(sql, {"p": project, "a": who.actor})
            answers.append(task_statements.build_answer(who, {"project_id": project, **lease, "info": "yes"}, None))
        return asked, await self.touched(task_statements.submit_answers(self.explained, answers))


@pytest.fixture(scope="module")
def site(postgres, tmp_path_factory):
    dsn = postgres.make()
    made = Site(dsn, tmp_path_factory.mktemp("data"))
    pytest_twisted.blockon(made.pool.start())
    for size in SIZES:  # the first call of a connection reads the catalogue, too
        for user in (1, 2):
            pytest_twisted.blockon(ensureDeferred(made.pair(size, [Requester(user_id=user)])))
        pytest_twisted.blockon(ensureDeferred(task_statements.read_progress(made.pool, "u:1", made.projects[size])))
    yield made
    pytest_twisted.blockon(made.pool.close())
    postgres.drop(dsn)


def judge(found: dict[str, int]) -> None:
    assert all(0 < pages <= MAXIMUM[name] for name, pages in found.items()), found


@pytest.mark.parametrize("size", SIZES)
@pytest_twisted.ensureDeferred
async def test_the_pairs_of_newcomers_and_of_a_veteran(site, size):
    for user in (1, 11, 12, 1, 13):
        ask, answer = await site.pair(size, [Requester(user_id=user)])
        judge({"ask": ask, "answer": answer})


@pytest.mark.parametrize("size", SIZES)
@pytest_twisted.ensureDeferred
async def test_the_pairs_of_a_crowd(site, size):
    people = [Requester(user_id=user) for user in (1, *range(100, 99 + TOGETHER))]
    for _ in range(2):
        ask, answer = await site.pair(size, people)
        judge({"ask together": ask // TOGETHER, "answer together": answer // TOGETHER})


async def look_up(site: Site, size: str, run: int) -> dict[str, int]:
    """Pages for each of the look-ups."""
    db, project, who = site.explained, site.projects[size], Requester(user_id=1)
    return {
        "progress": await site.touched(task_statements.read_progress_together(db, "id", [(who.actor, project)])),
        "task": await site.touched(record_statements.get_row(db, TASK, site.first[size] + 500, who)),
        "task run": await site.touched(record_statements.get_row(db, TASK_RUN, run, who)),
        "key": await site.touched(account_statements.find_by_key(db, [b"x"])),
        "session": await site.touched(session_statements.find(db, [b"x"])),
        "secret key": await site.touched(project_statements.list_secret_keys(db, [project])),
    }


@pytest.mark.parametrize("size", SIZES)
@pytest_twisted.ensureDeferred
async def test_what_is_looked_up(site, size):
    project = site.projects[size]
    (run,) = await site.pool.fetch("SELECT max(id) AS id FROM task_run WHERE project_id = %(p)s", {"p": project})
    # The least of three: after an autovacuum a session reads the catalogue again.
    looked_up = [await look_up(site, size, run["id"]) for _ in range(3)]
    judge({name: min(pages[name] for pages in looked_up) for name in looked_up[0]})
