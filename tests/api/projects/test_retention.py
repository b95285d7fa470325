"""Personal data ends when the operator says so, in bounded steps."""

import pytest_twisted
from support.checks.shows import shows

from crowdd.features.operations import statements as operation_statements
from crowdd.features.operations.feature import OperationsFeature

DAY = 86400


async def setting(served, tasks=4):
    """A project with answers of a browserless volunteer and of a person; the person's user id."""
    owner, ada = await served.person("owner"), await served.person("ada")
    project = await served.project(owner, tasks=tasks, published=True, n_answers=2)
    for client in (served.client(), ada):
        for _ in range(tasks):
            task = (await client.get(f"/api/{project['id']}/newtask")).json()["id"]
            body = {"project_id": project["id"], "task_id": task, "info": 1}
            assert (await client.post("/api/taskrun", json=body)).status == 200
    return ada.user_id


async def kept(served):
    """How many answers have an address, what the events say of who answered, and how many acts there are."""
    (row,) = await served.database.fetch(
        "SELECT (SELECT count(*) FROM task_run WHERE user_ip IS NOT NULL) AS addresses, (SELECT count(*) FROM audit) AS acts,"
        " (SELECT jsonb_agg(data->'user_ids' ORDER BY id) FROM event WHERE kind = 'task_completed') AS users"
    )
    return row["addresses"], row["users"], row["acts"] > 0


@shows("event-anonymised")
@pytest_twisted.ensureDeferred
async def test_personal_data_goes_when_its_days_are_over_and_not_before(serve):
    served = await serve(
        CROWDD_RETENTION_ADDRESS_DAYS="30", CROWDD_RETENTION_EVENT_DAYS="60", CROWDD_RETENTION_AUDIT_DAYS="90"
    )
    ada = await setting(served)
    remaining = []
    for days in (29, 31, 61, 91):
        await served.database.execute("UPDATE clock_shift SET ahead = make_interval(days => %(d)s)", {"d": days})
        await served.house[OperationsFeature].retention.sweep()
        remaining.append(await kept(served))
    whole, nobody = [[ada]] * 4, [[]] * 4
    assert remaining == [(4, whole, True), (0, whole, True), (0, nobody, True), (0, nobody, False)]


@pytest_twisted.ensureDeferred
async def test_a_sweep_goes_on_where_it_stopped(served, monkeypatch):
    await setting(served)
    await served.database.execute("UPDATE clock_shift SET ahead = '400 days'")
    monkeypatch.setattr(operation_statements, "BITE", 3)
    assert await operation_statements.forget_addresses(served.database, 365) == 3
    assert (await kept(served))[0] == 1
    assert (await served.house[OperationsFeature].retention.sweep())["answers"] == 5
    assert (await kept(served))[:2] == (0, [[]] * 4)
    assert (await served.house[OperationsFeature].retention.sweep())["answers"] == 0


@pytest_twisted.ensureDeferred
async def test_with_zero_days_everything_is_kept(serve):
    served = await serve(
        CROWDD_RETENTION_ADDRESS_DAYS="0", CROWDD_RETENTION_EVENT_DAYS="0", CROWDD_RETENTION_AUDIT_DAYS="0"
    )
    ada = await setting(served)
    await served.database.execute("UPDATE clock_shift SET ahead = '40000 days'")
    await served.house[OperationsFeature].retention.sweep()
    assert await kept(served) == (4, [[ada]] * 4, True)
