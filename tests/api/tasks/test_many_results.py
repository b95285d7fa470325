"""PUT of an array of results: all or nothing, each element's refusal named, and two writers at once."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
import pytest_twisted
from support.checks.shows import shows
from twisted.internet import reactor
from twisted.internet.defer import ensureDeferred, gatherResults
from twisted.internet.task import deferLater

from crowdd.features.results.feature import ResultsFeature
from crowdd.features.signin.feature import SigninFeature
from crowdd.http.edge.headers import etag
from crowdd.kernel.requester import Requester
from crowdd.kinds.result import RESULT
from crowdd.sched.feature import Scheduling


@attrs.frozen
class Stage:
    """An owner with completed tasks in a published project, and somebody else with one in theirs."""

    owner: Any
    stranger: Any
    project: dict[str, Any]
    rows: list[dict[str, Any]]
    foreign: dict[str, Any]

    @property
    def ids(self) -> list[int]:
        return [row["id"] for row in self.rows]

    def bodies(self, info: Any = "new", **more: Any) -> list[dict[str, Any]]:
        return [{"id": row_id, "info": info, **more} for row_id in self.ids]

    async def infos(self) -> list[Any]:
        rows = (await self.owner.get(f"/api/result?project_id={self.project['id']}")).json()
        return [row["info"] for row in sorted(rows, key=lambda row: row["id"])]


async def completed(served, owner, short_name, tasks, published=True):
    """A project all of whose tasks are completed, and its results by id."""
    project = await served.project(owner, short_name, tasks=tasks, published=published, n_answers=1)
    held = (await owner.get(f"/api/{project['id']}/newtask?limit={tasks}")).json()
    for task in held if isinstance(held, list) else [held]:
        run = {"project_id": project["id"], "task_id": task["id"], "info": 1}
        assert (await owner.post("/api/taskrun", json=run)).status == 200
    rows = (await owner.get(f"/api/result?project_id={project['id']}")).json()
    return project, sorted(rows, key=lambda row: row["id"])


@pytest_twisted.async_yield_fixture
async def stage(served):
    owner, stranger = await served.person("owner"), await served.person("stranger")
    project, rows = await completed(served, owner, "birds", 5)
    _, (foreign,) = await completed(served, stranger, "bees", 1)
    yield Stage(owner, stranger, project, rows, foreign)


def told(answer, status, code, item=None):
    error = answer.json()
    assert (answer.status, error["error_code"], error.get("item")) == (status, code, item), error
    return error


@shows("result-array")
@pytest_twisted.ensureDeferred
async def test_all_results_of_an_array_are_filled_and_answered_in_its_order(stage):
    sent = [{"id": row_id, "info": {"n": number}} for number, row_id in enumerate(reversed(stage.ids))]
    answer = await stage.owner.put("/api/result", json=sent)
    assert answer.status == 200
    assert answer.json() == [{**row, "info": {"n": number}} for number, row in enumerate(reversed(stage.rows))], (
        "whole records, as GET shows them"
    )
    for row in answer.json():
        assert (await stage.owner.get(f"/api/result/{row['id']}")).json() == row
    assert (await stage.owner.get("/api/project")).json()[0]["n_results"] == 5


@shows("result-array")
@pytest_twisted.ensureDeferred
async def test_whole_records_come_back_as_they_were_read(stage):
    sent = [{**row, "info": [1, None, "ü"]} for row in stage.rows]
    assert [row["info"] for row in (await stage.owner.put("/api/result", json=sent)).json()] == [[1, None, "ü"]] * 5


@shows("result-array")
@pytest_twisted.ensureDeferred
async def test_each_refusal_names_its_element_and_changes_nothing(stage):
    third = stage.ids[3]
    cases = (
        ({"id": third}, 415, "missing_attribute"), ({"info": 1}, 415, "missing_attribute"), (5, 415, "invalid_value"),
        ({"id": "x", "info": 1}, 415, "invalid_value"), ({"id": 10**12, "info": 1}, 404, "not_found"),
        ({"id": stage.foreign["id"], "info": 1}, 403, "forbidden"), ({"id": stage.ids[0], "info": 1}, 415, "invalid_value"),
        ({"id": third, "info": 1, "colour": 1}, 415, "unknown_attribute"),
        ({"id": third, "info": "x" * 256_001}, 413, "attribute_too_large"),
        ({"id": third, "info": 1, "task_id": 9}, 400, "reserved_attribute"),
        ({"id": third, "info": 1, "task_run_ids": [9]}, 400, "reserved_attribute"),
        ({"id": third, "info": 1, "last_version": False}, 400, "reserved_attribute"),
        ({"id": third, "info": {"a": "\0"}}, 415, "invalid_value"),
    )  # fmt: skip
    for bad, status, code in cases:
        sent = stage.bodies()
        sent[3] = bad
        told(await stage.owner.put("/api/result", json=sent), status, code, 3)
    assert await stage.infos() == [None] * 5


@pytest_twisted.ensureDeferred
async def test_the_array_itself_may_be_refused(stage):
    for body, status, code in (
        ([], 415, "invalid_value"), ({"id": stage.ids[0], "info": 1}, 415, "invalid_value"),
        ([{"id": 1, "info": 1}] * 10_001, 413, "too_many_rows"),
    ):  # fmt: skip
        told(await stage.owner.put("/api/result", json=body), status, code)
    answer = await stage.owner.put("/api/result?colour=red", json=stage.bodies())
    assert (answer.status, answer.json()["error_code"]) == (415, "unknown_attribute")


@pytest_twisted.ensureDeferred
async def test_others_may_not_and_their_rows_are_not_parsed(stage, served, monkeypatch):
    parsed: list[object] = []
    field = RESULT.field("info")
    parse = type(field).parse
    monkeypatch.setattr(type(field), "parse", lambda self, value: parsed.append(self.name) or parse(self, value))
    told(await served.client().put("/api/result", json=stage.bodies()), 401, "sign_in_required")
    told(await stage.stranger.put("/api/result", json=stage.bodies()), 403, "forbidden", 0)
    marked = {"X-Presenter": str(stage.project["id"])}
    assert (await stage.owner.put("/api/result", json=stage.bodies(), headers=marked)).status == 401
    assert "info" not in parsed
    admin = await served.person("boss", admin=True)
    mixed = [*stage.bodies(), {"id": stage.foreign["id"], "info": "new"}]
    assert len((await admin.put("/api/result", json=mixed)).json()) == 6


@pytest_twisted.ensureDeferred
async def test_a_draft_hides_its_results(stage, served):
    _, (draft,) = await completed(served, stage.owner, "wasps", 1, published=False)
    sent = [{"id": draft["id"], "info": 1}]
    told(await stage.stranger.put("/api/result", json=sent), 404, "not_found", 0)
    assert (await stage.owner.put("/api/result", json=sent)).status == 200


@pytest_twisted.ensureDeferred
async def test_a_token_writes_as_far_as_its_scope_goes(stage, served):
    other, (row,) = await completed(served, stage.owner, "wasps", 1)
    user_id = stage.owner.user_id
    make, who = served.house[SigninFeature].api_tokens.create, Requester(user_id=user_id)
    one = served.client(Authorization=await make(user_id, "one", "project", "wasps", "", who))
    read = served.client(Authorization=await make(user_id, "read", "read", "", "", who))
    mine = [{"id": row["id"], "info": 1}]
    assert (await one.put("/api/result", json=mine)).status == 200
    told(await one.put("/api/result", json=[*mine, *stage.bodies()]), 403, "forbidden", 1)
    told(await read.put("/api/result", json=mine), 403, "token_scope")
    assert other["id"] == row["project_id"]


@shows("result-array-repeat")
@pytest_twisted.ensureDeferred
async def test_if_match_is_refused_and_last_version_takes_its_place(stage, served):
    headers = {"If-Match": etag(stage.rows[0])}
    told(await stage.owner.put("/api/result", json=stage.bodies(), headers=headers), 400, "bad_request")
    assert (await stage.owner.put("/api/result", json=stage.bodies(), headers={"If-Match": "*"})).status == 200
    first = stage.rows[0]
    await stage.owner.put(f"/api/task/{first['task_id']}", json={"n_answers": 2})
    volunteer = await served.person("volunteer")
    await volunteer.get(f"/api/{stage.project['id']}/newtask")
    run = {"project_id": stage.project["id"], "task_id": first["task_id"], "info": 2}
    assert (await volunteer.post("/api/taskrun", json=run)).status == 200
    told(
        await stage.owner.put("/api/result", json=stage.bodies("late", last_version=True)), 400, "reserved_attribute", 0
    )
    assert (await stage.owner.put("/api/result", json=stage.bodies("late"))).status == 200, "old versions can be filled"


@shows("result-array-repeat")
@pytest_twisted.ensureDeferred
async def test_the_same_array_again_writes_nothing(stage, served):
    looked_at = (
        "SELECT (SELECT count(*) FROM stat_delta) AS deltas, array_agg(xmin::text ORDER BY id) AS written FROM result"
    )
    assert (await stage.owner.put("/api/result", json=stage.bodies())).status == 200
    before = await served.house.base.db.fetch(looked_at)
    assert (await stage.owner.put("/api/result", json=stage.bodies())).status == 200
    assert await served.house.base.db.fetch(looked_at) == before
    assert (await stage.owner.put("/api/result", json=stage.bodies("other"))).status == 200
    assert await served.house.base.db.fetch(looked_at) != before


@attrs.define
class Counting:
    """A database that counts the statements that it is asked."""

    inner: Any
    count: int = 0

    async def fetch(self, sql, values=None):
        self.count += 1
        return await self.inner.fetch(sql, values)

    async def execute(self, sql, values=None):
        self.count += 1
        return await self.inner.execute(sql, values)

    async def transaction(self, work):
        async def counted(tx):
            here = Counting(tx)
            try:
                return await work(here)
            finally:
                self.count += here.count

        return await self.inner.transaction(counted)


@pytest_twisted.ensureDeferred
async def test_many_rows_take_as_many_statements_as_one(stage, served):
    counts = []
    for sent in (stage.bodies("a")[:1], stage.bodies("b"), stage.rows):
        counting = Counting(served.database)
        who = Requester(user_id=stage.owner.user_id)
        await served.house.with_database(counting)[ResultsFeature].results.fill(
            who, [{**one, "info": "c"} for one in sent]
        )
        counts.append(counting.count)
    assert counts[0] == counts[1] == counts[2] - 1 <= 10


@shows("result-array")
@pytest.mark.parametrize("reverse", [False, True])
@pytest_twisted.ensureDeferred
async def test_two_writers_of_the_same_results_take_effect_one_after_the_other(stage, reverse):
    other = stage.bodies("b")[::-1] if reverse else stage.bodies("b")
    for _ in range(5):
        answers = await gatherResults(
            [ensureDeferred(stage.owner.put("/api/result", json=sent)) for sent in (stage.bodies("a"), other)] * 2
        )
        assert [answer.status for answer in answers] == [200] * 4
        assert await stage.infos() in (["a"] * 5, ["b"] * 5)


WAITS = "SELECT count(*) AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%%task_ledger%%'"


async def somebody_waits(served):
    """Until a statement waits for the row of a task."""
    for _ in range(3000):
        if (await served.database.fetch(WAITS))[0]["n"]:
            return
        await deferLater(reactor, 0.01)
    pytest.fail("nobody waits for the task")


HOLD = "SELECT FROM task_ledger WHERE task_id = %(task)s FOR UPDATE"


@pytest_twisted.ensureDeferred
async def test_tasks_are_held_by_their_ids_whatever_the_projects_and_the_array(stage, served):
    """A later project has the lower task: answers to both are taken by task, so results have to be, too."""
    low, high = [await served.project(stage.owner, name) for name in ("wasps", "ants")]
    rows = []
    for project in (high, low):
        task = {"project_id": project["id"], "info": 0, "n_answers": 1}
        assert (await stage.owner.post("/api/task", json=task)).status == 200
        assert (await stage.owner.post(f"/project/{project['short_name']}/publish", json={})).status == 200
        task_id = (await stage.owner.get(f"/api/{project['id']}/newtask")).json()["id"]
        run = {"project_id": project["id"], "task_id": task_id, "info": 1}
        assert (await stage.owner.post("/api/taskrun", json=run)).status == 200
        rows += (await stage.owner.get(f"/api/result?project_id={project['id']}")).json()
    first, second = (row["task_id"] for row in rows)
    assert first < second and rows[0]["project_id"] > rows[1]["project_id"]
    written: Any = None

    async def before_them(tx):
        nonlocal written
        await tx.fetch(HOLD, {"task": first})
        sent = [{"id": row["id"], "info": 1} for row in reversed(rows)]
        written = ensureDeferred(stage.owner.put("/api/result", json=sent))
        await somebody_waits(served)
        await tx.fetch(f"{HOLD} NOWAIT", {"task": second})

    await served.database.transaction(before_them)
    assert (await written).status == 200


@pytest_twisted.ensureDeferred
async def test_a_task_that_is_deleted_meanwhile_refuses_the_array(stage, served):
    tasks = [stage.rows[4]["task_id"]]
    written: Any = None

    async def deleter(tx):
        nonlocal written
        await tx.fetch("SELECT delete_tasks(%(p)s, %(t)s::bigint[], clock())", {"p": stage.project["id"], "t": tasks})
        written = ensureDeferred(stage.owner.put("/api/result", json=stage.bodies()))
        await somebody_waits(served)

    await served.database.transaction(deleter)
    told(await written, 404, "not_found", 4)
    assert await stage.infos() == [None] * 4


@pytest_twisted.ensureDeferred
async def test_what_only_the_database_refuses_is_traced_to_its_element(stage, served):
    check = "CHECK (CASE WHEN info->>'n' IS NULL THEN true ELSE 1 / (info->>'n')::int >= 0 END) NOT VALID"
    await served.house.base.db.execute(f"ALTER TABLE result ADD {check}")
    sent = stage.bodies({"n": 1})
    sent[2]["info"] = {"n": 0}
    told(await stage.owner.put("/api/result", json=sent), 415, "invalid_value", 2)
    assert await stage.infos() == [None] * 5


@pytest_twisted.ensureDeferred
async def test_the_answers_that_results_name_together_are_limited(stage, monkeypatch):
    monkeypatch.setattr("crowdd.features.results.results.MAX_ANSWERS", 4)
    told(await stage.owner.put("/api/result", json=stage.bodies()), 413, "too_many_rows")
    assert (await stage.owner.put("/api/result", json=stage.bodies()[:4])).status == 200


@pytest_twisted.ensureDeferred
async def test_counters_of_results_and_bytes_are_those_of_single_puts(stage, served):
    assert (await stage.owner.put("/api/result", json=stage.bodies({"label": "owl"}))).status == 200
    assert [difference async for difference in served.house[Scheduling].checking.run()] == []
