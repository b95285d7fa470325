"""``?at=``: what tasks, answers, results and figures were at a time, for those who run the project."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import psycopg2
import pytest
import pytest_twisted
from support.checks.histories import after, answer, at
from support.checks.shows import shows

from crowdd.core.records.history import History
from crowdd.features.people import personal_data_statements
from crowdd.features.people.feature import PeopleFeature

KINDS = ("task", "taskrun", "result", "projectstats")


async def begun(served: Any) -> tuple[Any, Any, dict[str, Any]]:
    """An owner, a volunteer, and a published project with two tasks that need one answer each."""
    owner, ada = await served.person("owner"), await served.person("ada")
    return owner, ada, await served.project(owner, tasks=2, published=True, n_answers=1)


async def then(client: Any, path: str, time: str) -> Any:
    response = await client.get(at(path, time))
    assert response.status == 200, response.text
    return response.json()


@shows("list-at")
@pytest_twisted.ensureDeferred
async def test_a_task_is_as_it_was_before_and_after_each_change(served):
    owner, ada, project = await begun(served)
    task = project["tasks"][0]
    seen = []

    async def look() -> None:
        time = await after(served)
        seen.append((time, (await owner.get(f"/api/task/{task}")).json()))

    await look()
    for change in (
        lambda: owner.put(f"/api/task/{task}", json={"info": {"n": "other"}, "priority_0": 0.25}),
        lambda: owner.put(f"/api/task/{task}", json={"n_answers": 3}),
        lambda: owner.put(f"/api/task/{task}", json={"n_answers": 1}),
        lambda: owner.post(f"/api/task/{task}/retire", json={"reason": "cancelled", "note": "blurred"}),
        lambda: owner.post(f"/api/task/{task}/reopen", json={}),
    ):
        assert (await change()).status == 200
        await look()
    await answer(ada, project, task)
    await look()
    assert (await owner.delete(f"/api/task/{task}")).status == 204
    last = await after(served)
    assert [await then(owner, f"/api/task/{task}", time) for time, _ in seen] == [
        {**row, "retired_by": None} if "retired_by" in row else row for _, row in seen
    ]
    assert [row["state"] for _, row in seen] == ["ongoing"] * 4 + ["completed", "ongoing", "completed"]
    assert (await owner.get(at(f"/api/task/{task}", last))).status == 404
    assert (await owner.get(f"/api/task/{task}")).status == 404
    assert [row["id"] for row in await then(owner, f"/api/task?project_id={project['id']}", last)] == project["tasks"][
        1:
    ]


@shows("list-at")
@pytest_twisted.ensureDeferred
async def test_a_correction_leaves_what_was_said_before(served):
    owner, ada, project = await begun(served)
    task = project["tasks"][0]
    run = await answer(ada, project, task, "fox")
    before = await after(served)
    (result,) = (await owner.get(f"/api/result?task_id={task}")).json()
    assert (await ada.post(f"/api/task/{task}/correct", json={"info": "owl"})).status == 200
    now = await after(served)
    assert (await then(owner, f"/api/taskrun/{run}", before))["info"] == "fox"
    assert (await then(owner, f"/api/taskrun/{run}", now))["info"] == "owl"
    assert await then(owner, f"/api/result?task_id={task}", before) == [result]
    assert result["consensus"]["answer"]["value"] == "fox"
    (other,) = await then(owner, f"/api/result?project_id={project['id']}", now)
    assert other["id"] > result["id"] and other["consensus"]["answer"]["value"] == "owl"
    old = {**result, "last_version": False, "consensus": None}
    assert await then(owner, f"/api/result/{result['id']}", now) == old
    assert await then(owner, f"/api/result?project_id={project['id']}&last_version=false", now) == [old]
    assert (await owner.get(at(f"/api/result/{other['id']}", before))).status == 404


@shows("list-at")
@pytest_twisted.ensureDeferred
async def test_deleted_answers_keep_the_codes_of_their_volunteers(served):
    owner, ada, project = await begun(served)
    await owner.put(f"/api/task/{project['tasks'][0]}", json={"n_answers": 3})
    runs = [
        await answer(who, project, project["tasks"][0], "fox")
        for who in (ada, served.client(), await served.person("bob"))
    ]
    runs.append(await answer(ada, project, project["tasks"][1], "owl"))
    path, time = f"/api/taskrun?project_id={project['id']}", await after(served)
    before = [row["volunteer"] for row in (await owner.get(path)).json()]
    assert len({*before}) == 3 and None not in before
    for run in runs[1:]:
        assert (await owner.delete(f"/api/taskrun/{run}")).status == 204
    assert [row["volunteer"] for row in await then(owner, path, time)] == before
    figures = await then(owner, f"/api/projectstats/{project['id']}", time)
    assert (figures["n_task_runs"], figures["n_volunteers"]) == (4, 3)


@shows("list-at", "history-people")
@pytest_twisted.ensureDeferred
async def test_nothing_that_is_kept_says_who_it_was(served):
    """Of a withdrawn answer neither, what it said."""
    owner, ada, project = await begun(served)
    first, second = project["tasks"]
    await owner.put(f"/api/task/{first}", json={"n_answers": 2})
    mine, spam = await answer(ada, project, first, "my secret"), await answer(served.client(), project, first, "spam")
    times = [await after(served)]
    assert (await ada.post(f"/api/task/{first}/correct", json={"info": "my other secret"})).status == 200
    times.append(await after(served))
    code = (await owner.get(f"/api/taskrun/{spam}")).json()["volunteer"]
    assert (await ada.delete(f"/api/taskrun/{mine}")).status == 204
    assert (await owner.delete(f"/api/taskrun/{spam}")).status == 204
    await owner.post(f"/api/task/{second}/retire", json={"reason": "retired"})
    await owner.post(f"/api/task/{second}/reopen", json={})
    for time in times:
        withdrawn, deleted = await then(owner, f"/api/taskrun?task_id={first}", time)
        assert (withdrawn["id"], withdrawn["info"], deleted["id"], deleted["info"]) == (mine, None, spam, "spam")
        for row in (withdrawn, deleted):
            assert {row[name] for name in ("user_id", "user_ip", "external_uid")} == {None}
        assert withdrawn["volunteer"] is None and deleted["volunteer"] == code
        assert (await then(owner, f"/api/projectstats/{project['id']}", time))["n_volunteers"] == 1
    (summary,) = await served.database.fetch(
        "SELECT string_agg(past_row::text, '') AS text, array_agg(DISTINCT kind ORDER BY kind) AS kinds,"
        ' array_agg(DISTINCT k) AS keys FROM past_row, jsonb_object_keys("row") k'
    )
    assert summary["kinds"] == ["result", "retirement", "task_ledger", "task_run"]
    assert "secret" not in summary["text"]
    assert not {"user_id", "user_ip", "external_uid", "actor", "decided_by"} & set(summary["keys"])


@shows("history-people")
@pytest_twisted.ensureDeferred
async def test_answers_that_an_owner_takes_away_from_a_volunteer_are_emptied(served):
    owner, ada, project = await begun(served)
    task = project["tasks"][0]
    run = await answer(ada, project, task, "a secret")
    time = await after(served)
    await served.database.fetch(
        "SELECT withdraw(%(p)s, ARRAY[%(t)s::bigint], 'u:' || %(u)s, clock())",
        {"p": project["id"], "t": task, "u": ada.user_id},
    )
    (row,) = await then(owner, f"/api/taskrun?task_id={task}", time)
    assert (row["id"], row["info"], row["user_id"]) == (run, None, None)


@shows("list-at-rights")
@pytest.mark.parametrize("published", [True, False])
@pytest_twisted.ensureDeferred
async def test_others_than_those_who_run_the_project_are_refused(served, published):
    owner, ada, eve, root = [
        await served.person(name, admin=name == "root") for name in ("owner", "ada", "eve", "root")
    ]
    project = await served.project(owner, tasks=1, n_answers=1, published=published)
    await answer(ada if published else owner, project, project["tasks"][0])
    await served.database.execute(
        "UPDATE project SET owners_ids = owners_ids || %(eve)s::bigint WHERE id = %(id)s",
        {"eve": eve.user_id, "id": project["id"]},
    )
    time = await after(served)
    (run,) = (await owner.get(f"/api/taskrun?project_id={project['id']}")).json()
    (result,) = (await owner.get(f"/api/result?project_id={project['id']}")).json()
    one = {"task": project["tasks"][0], "taskrun": run["id"], "result": result["id"], "projectstats": project["id"]}
    for kind in KINDS:
        for path in (f"/api/{kind}?project_id={project['id']}", f"/api/{kind}/{one[kind]}"):
            statuses = {
                name: (await client.get(at(path, time))).status
                for name, client in {
                    "owner": owner,
                    "eve": eve,
                    "root": root,
                    "ada": ada,
                    "nobody": served.client(),
                }.items()
            }
            refused = {"ada": 403, "nobody": 401} if published else {"ada": 404, "nobody": 404}
            assert statuses == {"owner": 200, "eve": 200, "root": 200, **refused}, path
        assert (await owner.get(at(f"/api/{kind}/999999", time))).status == 404


@shows("list-at")
@pytest_twisted.ensureDeferred
async def test_pages_are_continued_by_id_and_what_does_not_go_together_is_refused(served):
    owner, _, project = await begun(served)
    many = [{"project_id": project["id"], "info": {"n": n}} for n in range(5)]
    ids = project["tasks"] + [task["id"] for task in (await owner.post("/api/task", json=many)).json()]
    time = await after(served)
    for task in ids[1::2]:
        assert (await owner.delete(f"/api/task/{task}")).status == 204
    await after(served)
    listed_ids, path = [], f"/api/task?project_id={project['id']}&limit=2"
    while page := await then(owner, f"{path}&last_id={listed_ids[-1] if listed_ids else 0}", time):
        assert len(page) <= 2
        listed_ids += [row["id"] for row in page]
    assert listed_ids == ids
    for word in (
        "orderby=id",
        "desc=true",
        "offset=1",
        "related=1",
        "fulltextsearch=1",
        "state=completed",
        "info=n::1",
    ):
        refused = await owner.get(at(f"{path}&{word}", time))
        assert refused.status == 400 and f"`{word.split('=')[0]}`" in refused.json()["exception_msg"], word
    assert (await owner.get(at("/api/task", time))).status == 400
    assert (await owner.get(at(f"/api/task/{ids[0]}?related=1", time))).status == 400
    assert (await owner.get(at(f"/api/projectstats/{project['id']}?full=1", time))).status == 400
    assert (await owner.get(at("/api/project", time))).status == 415  # a kind without a history


@shows("list-at-times")
@pytest_twisted.ensureDeferred
async def test_times_are_read_as_filters_read_them(served):
    owner, _, project = await begun(served)
    task = f"/api/task/{project['tasks'][0]}"
    time = await after(served, "2 days")
    for text in (time, f"{time}Z", f"{time}+00:00", time[:19].replace("T", " "), time[:10]):
        assert (await owner.get(at(task, text))).status == 200, text
    assert (await owner.get(f"{task}?at={time[:19]}%2B00:00")).status == 200
    assert (await owner.get(at(task, "yesterday"))).status == 415
    assert (await owner.get(at(task, "9999-12-31T23:59:59-23:00"))).status in (400, 415)
    assert (await owner.get(at(task, "9000"))).status == 400
    gone = await owner.get(at(task, "2001"))
    assert (gone.status, gone.json()["error_code"]) == (410, "not_kept")
    assert "from 20" in gone.json()["exception_msg"]


@shows("history-kept")
@pytest_twisted.ensureDeferred
async def test_versions_are_kept_as_long_as_the_setting_says(serve):
    served = await serve(CROWDD_HISTORY_DAYS="30")
    owner, _, project = await begun(served)
    task, history = project["tasks"][0], served.house.base.history
    early = await after(served)
    await owner.put(f"/api/task/{task}", json={"info": {"n": "other"}})
    await after(served, "29 days")
    assert await history.sweep() == 0 and (await then(owner, f"/api/task/{task}", early))["info"] == {"n": 0}
    await after(served, "2 days")
    assert (await owner.get(at(f"/api/task/{task}", early))).status == 410
    assert await history.sweep() == 1
    assert await served.database.fetch("SELECT FROM past_row") == []
    await with_days(served, 60).sweep()  # a longer time brings nothing back
    (row,) = await served.database.fetch("SELECT since > clock() - interval '31 days' AS so FROM history")
    assert row["so"]


def with_days(served: Any, days: int) -> Any:
    """The history of the same server with another setting."""
    house = served.house
    return History(house.base.db, house.base.records, house.base.shared.slow_reads, days)


@shows("history-kept")
@pytest_twisted.ensureDeferred
async def test_with_zero_days_nothing_is_kept_and_all_begins_anew_with_more(serve):
    served = await serve(CROWDD_HISTORY_DAYS="0")
    owner, _, project = await begun(served)
    task = project["tasks"][0]
    await owner.put(f"/api/task/{task}", json={"info": {"n": "other"}})
    assert await served.house.base.history.sweep() == 1
    await owner.put(f"/api/task/{task}", json={"info": {"n": "third"}})
    assert await served.database.fetch("SELECT FROM past_row") == []
    time = await after(served)
    assert (await owner.get(at(f"/api/task/{task}", time))).status == 410
    again = with_days(served, 30)
    await again.sweep()
    await owner.put(f"/api/task/{task}", json={"info": {"n": "fourth"}})
    assert len(await served.database.fetch("SELECT FROM past_row")) == 1


@shows("list-at")
@pytest_twisted.ensureDeferred
async def test_an_answer_that_is_corrected_over_and_over_does_not_fill_the_disk(served):
    owner, ada, project = await begun(served)
    task = project["tasks"][0]
    await owner.put(f"/api/task/{task}", json={"n_answers": 2})
    run = await answer(ada, project, task, 0)
    for n in range(1, 104):
        await served.database.fetch(
            "SELECT amend_answer(%(p)s, 'u:' || %(u)s, %(t)s, to_jsonb(%(n)s::int), clock())",
            {"p": project["id"], "u": ada.user_id, "t": task, "n": n},
        )
    (row,) = await served.database.fetch("SELECT count(*) AS n FROM past_row WHERE kind = 'task_run'")
    assert row["n"] == 100
    assert (await then(owner, f"/api/taskrun/{run}", await after(served)))["info"] == 103


@shows("list-at")
@pytest_twisted.ensureDeferred
async def test_nothing_is_kept_of_a_project_that_is_deleted(served):
    owner, ada, project = await begun(served)
    await answer(ada, project, project["tasks"][0])
    await owner.put(f"/api/task/{project['tasks'][1]}", json={"info": {"n": "other"}})
    await owner.delete(f"/api/task/{project['tasks'][0]}")
    assert await served.database.fetch("SELECT FROM past_row") != []
    assert (await owner.delete(f"/api/project/{project['id']}")).status == 204
    while (await served.database.fetch("SELECT sweep_project(%(id)s) AS n", {"id": project["id"]}))[0]["n"]:
        pass
    assert await served.database.fetch("SELECT FROM past_row") == []


@shows("list-at")
@pytest_twisted.ensureDeferred
async def test_a_change_that_began_earlier_and_came_later_is_the_later_version(served, dsn):
    """Versions end one after the other, whatever the clocks of their statements said."""
    owner, _, project = await begun(served)
    task = project["tasks"][0]
    beside = psycopg2.connect(dsn, options="-c search_path=public,code")
    with beside, beside.cursor() as cursor:
        cursor.execute("SELECT set_config('search_path', 'public,code', false)")
        cursor.execute("UPDATE clock_shift SET ahead = ahead + interval '1 minute'")
        cursor.execute("UPDATE task SET info = '1' WHERE id = %s", (task,))
        cursor.execute("UPDATE clock_shift SET ahead = ahead - interval '1 minute'")
        cursor.execute("UPDATE task SET info = '2' WHERE id = %s", (task,))
    beside.close()
    rows = await served.database.fetch("SELECT until, \"row\"->'info' AS info FROM past_row ORDER BY until, n")
    assert [row["info"] for row in rows] == [{"n": 0}, 1] and rows[0]["until"] == rows[1]["until"]
    time = quote(await after(served, "2 minutes"))
    assert (await owner.get(f"/api/task/{task}?at={time}")).json()["info"] == 2
    assert (await owner.get(f"/api/task/{task}?at={time[:10]}")).status in (200, 404, 410)


@shows("list-at")
@pytest_twisted.ensureDeferred
async def test_who_reads_while_others_change_sees_all_or_nothing_of_a_change(served, dsn):
    owner, ada, project = await begun(served)
    task = project["tasks"][0]
    run = await answer(ada, project, task)
    time = await after(served)
    path = f"/api/taskrun?project_id={project['id']}"
    before = await then(owner, path, time)
    beside = psycopg2.connect(dsn, options="-c search_path=public,code")
    with beside.cursor() as cursor:
        cursor.execute("SELECT delete_tasks(%s, ARRAY[%s::bigint], clock())", (project["id"], task))
        assert await then(owner, path, time) == before  # not committed
        assert (await then(owner, f"/api/projectstats/{project['id']}", time))["n_task_runs"] == 1
    beside.commit()
    beside.close()
    ((row),) = await then(owner, path, time)
    assert row["id"] == run and row["info"] == before[0]["info"]
    assert (await then(owner, f"/api/projectstats/{project['id']}", time))["n_task_runs"] == 1


@shows("history-people")
@pytest_twisted.ensureDeferred
async def test_the_deletion_of_an_account_leaves_nothing_in_what_is_kept(served):
    owner, ada, project = await begun(served)
    first, second = project["tasks"]
    runs = [await answer(ada, project, task, {"said": "one"}) for task in (first, second)]
    assert (await ada.post(f"/api/task/{first}/correct", json={"info": {"said": "two"}})).status == 200
    time = await after(served)
    mine = await personal_data_statements.rows(served.database, "earlier_answers", ada.user_id, 0)
    assert [(row["task_run_id"], row["info"]) for row in mine] == [(runs[0], {"said": "one"})]
    assert (await owner.delete(f"/api/task/{second}")).status == 204
    path = f"/api/taskrun?project_id={project['id']}"
    before = await then(owner, path, time)
    assert [row["user_id"] for row in before] == [ada.user_id, None]

    async def told(_done: int) -> None:
        pass

    assert await served.house[PeopleFeature].account_deletion.carry_out(ada.user_id, told) == 1
    rows = await then(owner, path, time)
    assert [(row["id"], row["info"], row["user_id"]) for row in rows] == [
        (row["id"], row["info"], None) for row in before
    ]
    assert rows[1]["volunteer"] is None
    past_rows = await served.database.fetch(
        'SELECT kind, array_agg(DISTINCT k) AS keys FROM past_row, jsonb_object_keys("row") k GROUP BY 1'
    )
    people = {"user_id", "user_ip", "external_uid", "actor", "volunteer", "decided_by", "class", "aside"}
    # The code of a volunteer, who has gone, went with them.
    assert {row["kind"] for row in past_rows} == {"task", "task_ledger", "task_run", "result"}
    assert not people & {key for row in past_rows for key in row["keys"]}
    assert await personal_data_statements.rows(served.database, "earlier_answers", ada.user_id, 0) == []


@shows("list-at")
@pytest_twisted.ensureDeferred
async def test_what_volunteers_do_keeps_no_versions(served):
    """Asking for a task, answering and completing it must cost what they did."""
    owner, ada, project = await begun(served)
    for _ in project["tasks"]:
        task = (await ada.get(f"/api/{project['id']}/newtask")).json()["id"]
        body = {"project_id": project["id"], "task_id": task, "info": 1}
        assert (await ada.post("/api/taskrun", json=body)).status == 200
    assert (await owner.get(f"/api/project/{project['id']}")).json()["overall_progress"] == 100
    assert await served.database.fetch("SELECT FROM past_row") == []
    triggers = await served.database.fetch(
        "SELECT tgname FROM pg_trigger WHERE tgrelid = 'task_ledger'::regclass AND tgtype & 19 = 17 AND NOT tgisinternal"
    )
    assert triggers == [], "an update of the ledger reads its row once more for a trigger"
