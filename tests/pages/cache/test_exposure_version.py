"""The number that says whether visitors may see something else: what changes it, what does not, and two at once."""

from __future__ import annotations

from typing import Any

import pytest
import pytest_twisted
from support.visitors import VisitedSite
from twisted.internet.defer import Deferred, ensureDeferred, gatherResults

pytestmark = pytest.mark.inside

TOUCH = "UPDATE project SET updated = clock() WHERE id = %(id)s"


async def changed(site: VisitedSite, work: Any) -> int:
    """By how much the number grows."""
    before = await site.version()
    await work
    return await site.version() - before


@pytest_twisted.ensureDeferred
async def test_no_answer_changes_it(site):
    await site.version()

    async def answers() -> None:
        await site.answer(await site.served.person(f"bob{site.number}"))
        await site.answer(site.visitor())
        await site.answer(site.ada)  # both tasks are finished: there are results and events

    assert await changed(site, answers()) == 0


@pytest_twisted.ensureDeferred
async def test_what_a_person_shows_changes_it_and_signing_in_does_not(site):
    for changes in ({"privacy_mode": False}, {"privacy_mode": True}, {"fullname": "Somebody"}):
        assert await changed(site, site.ada.put(f"/api/user/{site.ada.user_id}", json=changes)) > 0, changes
    assert await changed(site, site.browser("ada")) == 0
    assert await changed(site, site.served.person(f"dan{site.number}")) == 0


@pytest_twisted.ensureDeferred
async def test_a_deleted_task_and_a_barred_volunteer_change_it(site):
    assert await changed(site, site.owner.delete(f"/api/task/{site.project['tasks'][1]}")) > 0
    bar = "INSERT INTO barred_volunteer (project_id, subject, shown, at, reason) VALUES (%(p)s, 'x', 'x', clock(), '') RETURNING 1"
    assert await changed(site, site.sql(bar, p=site.project["id"])) == 1


@pytest_twisted.ensureDeferred
async def test_many_rows_of_a_transaction_count_once(site):
    many = (
        "INSERT INTO project (created, updated, name, short_name, description, owner_id, owners_ids, category_id, secret_key_encrypted)"
        " SELECT clock(), clock(), 'many' || n, 'many' || n, '', %(owner)s, ARRAY[%(owner)s::bigint], %(category)s, '' FROM generate_series(1, 200) n RETURNING 1"
    )
    values = {"owner": site.owner.user_id, "category": site.project["category_id"]}
    assert await changed(site, site.sql(many, **values)) == 1
    assert await changed(site, site.sql("UPDATE project SET updated = clock() RETURNING 1")) == 1
    (row,) = await site.sql("SELECT pg_relation_size('exposure') AS bytes")
    assert row["bytes"] == 8192, "the table of one row stays one page"


@pytest_twisted.ensureDeferred
async def test_many_changes_one_after_the_other_leave_the_table_a_page(site):
    for _ in range(600):
        await site.served.database.execute(TOUCH, {"id": site.project["id"]})
    (row,) = await site.sql("SELECT pg_relation_size('exposure') AS bytes")
    assert row["bytes"] <= 2 * 8192


@pytest_twisted.ensureDeferred
async def test_a_change_that_is_undone_moves_nothing(site):
    async def undone(tx: Any) -> None:
        await tx.execute(TOUCH, {"id": site.project["id"]})
        raise KeyError

    before = await site.version()
    with pytest.raises(KeyError):
        await site.served.database.transaction(undone)
    assert await site.version() == before


@pytest_twisted.ensureDeferred
async def test_a_change_counts_after_one_that_a_savepoint_undid(site):
    async def work(tx: Any) -> None:
        await tx.execute("SET CONSTRAINTS ALL IMMEDIATE; SAVEPOINT s")
        await tx.execute(TOUCH, {"id": site.project["id"]})
        await tx.execute("ROLLBACK TO SAVEPOINT s")
        await tx.execute(TOUCH, {"id": site.project["id"]})

    assert await changed(site, site.served.database.transaction(work)) == 1


@pytest_twisted.ensureDeferred
async def test_two_at_once_both_count_and_neither_waits_before_its_commit(site):
    other = await site.served.project(site.owner, f"fish{site.number}", tasks=1, published=True)
    both: Deferred[None] = Deferred()
    came: list[int] = []

    def work(project_id: int) -> Any:
        async def touch(tx: Any) -> None:
            await tx.execute(TOUCH, {"id": project_id})
            came.append(project_id)
            if len(came) == 2:
                both.callback(None)  # the second has changed its project while the first has not committed
            else:
                await both

        return ensureDeferred(site.served.database.transaction(touch))

    before = await site.version()
    await gatherResults([work(site.project["id"]), work(other["id"])])
    assert await site.version() == before + 2
