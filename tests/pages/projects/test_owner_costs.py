"""How many statements the pages of owners and of lists take: stated, and the same on a site of thirty or a thousand projects."""

from __future__ import annotations

import pytest
import pytest_twisted
from support.browsers import signed_in

from crowdd.database.connection import Connection

HTML = {"Accept": "text/html"}
# For the owner in a browser: one of them finds the session.
STATED = {
    "/project/new": 3, "/project/birds/": 6, "/project/birds/settings": 5, "/project/birds/update": 5,
    "/project/birds/tasks/taskpresentereditor": 4, "/project/birds/publish": 6, "/project/birds/delete": 3,
    "/project/birds/coowners": 5, "/project/birds/transferownership": 3, "/project/birds/auditlog": 4,
    "/project/birds/blog": 4, "/project/birds/1": 4, "/project/birds/new-blogpost": 4, "/project/birds/1/update": 5, "/project/birds/pictures": 4,
    "/project/category/thinking/": 3, "/project/category/thinking/page/2/": 3, "/project/category/all/": 3,
    "/project/category/thinking/?orderby=last_activity&desc=true": 3, "/project/page/1": 3,
    "/project/search?q=bird": 3, "/project/search?q=brid%20fnich": 4,
}  # fmt: skip
_MANY = """
WITH made AS (
    INSERT INTO project (created, updated, name, short_name, description, secret_key_encrypted, owner_id, owners_ids, category_id,
                         published, first_published)
    SELECT clock(), clock(), 'Bird ' || n, 'bird-' || n, 'Which finch is number ' || n || '?', '', %(owner)s, ARRAY[%(owner)s::bigint],
           (SELECT min(id) FROM category), true, clock() FROM generate_series(1, %(many)s) n RETURNING id
) INSERT INTO project_ledger (project_id) SELECT id FROM made"""


async def stage(served, many):
    await served.person("ada")
    browser = await signed_in(served, "ada")
    owner = served.client((await browser.page("/account/profile")).json()["user"]["api_key"])
    project = await served.project(owner, tasks=2)
    await owner.post("/api/blogpost", json={"project_id": project["id"], "title": "a", "body": "b", "published": True})
    await served.database.execute(_MANY, {"owner": 1, "many": many})
    await served.database.execute("ANALYZE")
    return browser


async def counted(browser, monkeypatch):
    calls: list[str] = []
    run = Connection.run
    monkeypatch.setattr(
        Connection, "run", lambda self, sql, *more, **named: (calls.append(str(sql)), run(self, sql, *more, **named))[1]
    )

    async def minimum(path, stated):
        """The fewest of some tries: jobs of the server run meanwhile."""
        counts: list[int] = []
        while len(counts) < 12 and stated not in counts:
            calls.clear()
            answer = await browser.get(path, headers=HTML)
            assert answer.status == 200, (path, answer.body)
            counts.append(len(calls))
        return min(counts)

    return {path: await minimum(path, stated) for path, stated in STATED.items()}


@pytest_twisted.ensureDeferred
async def test_so_many_statements_among_few_projects(served, monkeypatch):
    assert await counted(await stage(served, 30), monkeypatch) == STATED


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_so_many_statements_among_a_thousand_projects(served, monkeypatch):
    assert await counted(await stage(served, 1000), monkeypatch) == STATED


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_a_search_walks_over_no_project_that_it_does_not_find(served):
    browser = await stage(served, 10_000)
    page = (await browser.page("/project/search?q=finch%20number%204711")).json()
    assert page["projects"][0]["short_name"] == "bird-4711"
    plan = await served.database.fetch(
        "EXPLAIN SELECT p.id FROM project p WHERE p.published AND p.lock_id IS NULL AND (p.name || ' ' || p.description) ILIKE '%finch%'"
        " AND (p.name || ' ' || p.description) ILIKE '%4711%'"
    )
    assert "project_search" in str([list(row.values()) for row in plan])
