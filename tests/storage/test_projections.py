"""What PostgreSQL shows of a row as JSON is what the view shows."""

import itertools

import orjson
import pytest
import pytest_twisted
from support.browsers import newcomer

from crowdd.core.records.projection_statements import json_of
from crowdd.features.tasks.statements import VOLUNTEER
from crowdd.kinds.project import PROJECT
from crowdd.kinds.roles import Role
from crowdd.kinds.task import TASK

STANDINGS = [
    frozenset(some)
    for size in (1, 2, 3)
    for some in itertools.combinations([Role.ANYBODY, Role.UNLOCKED, Role.OWNER, Role.ADMIN], size)
]
INFOS = [None, "yes", 0, 1.5, [], {"a": [1, None, {"b": "ü \"'\\ \n %s %(x)s"}]}, {"big": 2**53, "small": -1e-7}]


@pytest_twisted.ensureDeferred
async def test_for_each_requester_both_show_the_same(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1, published=True)
    rows = [{"project_id": project["id"], "info": info, "priority_0": 0.25, "quorum": 3} for info in INFOS]
    await owner.post("/api/task", json=rows)
    base = "https://it's.example/%s"
    tasks = await served.database.fetch("SELECT * FROM task_record ORDER BY id")
    for roles in STANDINGS:
        sql = f"SELECT {json_of(TASK, roles)}::text AS shown FROM task_record t ORDER BY t.id"
        shown = [orjson.loads(row["shown"]) for row in await served.database.fetch(sql, {"base_url": base})]
        assert shown == [TASK.view(row, roles, base) for row in tasks], roles
        assert [list(row) for row in shown] == [list(TASK.view(row, roles, base)) for row in tasks]


@pytest_twisted.ensureDeferred
async def test_whoever_asks_is_handed_what_he_may_see(served):
    owner, admin = await served.person("owner"), await served.person("boss", admin=True)
    project = await served.project(owner, tasks=1, published=True, n_answers=9, calibration=5)
    browser = served.client()
    await browser.get("/project/birds/newtask")
    path = "/api/auth/project/birds/token"
    secret = (await owner.get(f"/api/project/{project['id']}")).json()["secret_key"]
    token = (await served.client().get(path, headers={"Authorization": secret})).body.decode()
    outside = served.client("", Authorization=f"Bearer {token}")
    (row,) = await served.database.fetch("SELECT * FROM task_record")
    expected = TASK.view(row, VOLUNTEER, served.house.base.records.base_url)
    seen = (await served.client().get(f"/api/task/{row['id']}")).json()
    for who, query in (
        (served.client(), ""), (browser, ""), (await newcomer(served, "ada"), ""), (await served.person("eve"), ""),
        (outside, "?external_uid=zoe"), (owner, ""), (admin, ""),
    ):  # fmt: skip
        task = (await who.get(f"/api/{project['id']}/newtask{query}")).json()
        assert task == expected == seen


def test_a_kind_that_is_shown_in_part_is_refused():
    with pytest.raises(ValueError, match="project"):
        json_of(PROJECT, VOLUNTEER)
