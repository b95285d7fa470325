"""projectstats, project?stats=1, globalstats: figures in PyBossa's shape, true at once."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest_twisted
from support.browsers import lock
from support.checks.shows import shows

from crowdd.features.statistics.feature import StatisticsFeature

RECORD = {
    "id", "project_id", "n_tasks", "n_task_runs", "n_results", "n_volunteers", "n_completed_tasks", "overall_progress",
    "average_time", "n_blogposts", "last_activity", "info", "link", "links",
}  # fmt: skip
TOP = {"name", "fullname", "tasks", "restrict"}


async def answer(client, project, info="yes"):
    task = (await client.get(f"/api/{project['id']}/newtask")).json()
    made = await client.post("/api/taskrun", json={"project_id": project["id"], "task_id": task["id"], "info": info})
    assert made.status == 200, made.body
    return made.json()


async def later(served, days):
    await served.database.execute(
        "UPDATE clock_shift SET ahead = ahead + make_interval(days => %(days)s)", {"days": days}
    )


async def record(client, project, query="full=1"):
    (figures,) = (await client.get(f"/api/projectstats?project_id={project['id']}&{query}")).json()
    return figures


@shows("projectstats-fields")
@pytest_twisted.ensureDeferred
async def test_a_record_has_the_figures_and_without_full_an_empty_info(served):
    owner, ada = await served.person("owner"), await served.person("ada")
    project = await served.project(owner, tasks=2, published=True)
    figures = await record(served.client(), project, "")
    assert figures.keys() == RECORD and figures["info"] == {} and figures["last_activity"] is None
    assert (figures["n_tasks"], figures["n_task_runs"], figures["average_time"]) == (2, 0, 0)
    for who in (owner, ada, served.client()):
        run = await answer(who, project)
    figures = await record(served.client(), project, "")
    assert figures == await record(served.client(), project, "full=")
    assert figures == (await served.client().get(f"/api/projectstats/{project['id']}")).json()
    assert (figures["n_task_runs"], figures["n_volunteers"], figures["n_completed_tasks"]) == (3, 3, 1)
    assert (figures["overall_progress"], figures["n_results"], figures["last_activity"]) == (75, 0, run["finish_time"])
    base = served.house.base.settings.base_url
    assert figures["link"] == f"<link rel='self' title='projectstats' href='{base}/api/projectstats/{project['id']}'/>"
    assert figures["links"] == [f"<link rel='parent' title='project' href='{base}/api/project/{project['id']}'/>"]


@shows("result-info")
@pytest_twisted.ensureDeferred
async def test_results_count_once_their_owner_has_filled_them(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1, published=True, n_answers=1)
    run = await answer(await served.person("ada"), project)
    path = f"/api/result/{(await owner.get('/api/result')).json()[0]['id']}"
    counts = []
    for info in ({"cat": 1}, {"cat": 2}, None, "seen"):
        assert (await owner.put(path, json={"info": info})).status == 200
        counts.append((await record(owner, project))["n_results"])
    assert counts == [1, 1, 0, 1]
    await owner.delete(f"/api/taskrun/{run['id']}")
    assert (await record(owner, project))["n_results"] == 0, "its task is open again"


@shows("projectstats-full")
@pytest_twisted.ensureDeferred
async def test_full_has_hours_days_and_people_of_two_weeks(served):
    owner, ada = await served.person("owner"), await served.person("ada")
    project = await served.project(owner, tasks=20, published=True, n_answers=1)
    await ada.put(f"/api/user/{ada.user_id}", json={"privacy_mode": False})
    await answer(owner, project)
    await later(served, 14)
    for who in (ada, ada, served.client(), owner):
        await answer(who, project)
    info = (await record(served.client(), project))["info"]
    assert info.keys() == {"hours_stats", "dates_stats", "users_stats"}
    now = (await served.database.fetch("SELECT clock() AS now"))[0]["now"].astimezone(UTC)
    whole, anonymous, authenticated = info["hours_stats"]
    assert [one["label"] for one in info["hours_stats"]] == ["Anon + Auth", "Anonymous", "Authenticated"]
    assert whole["disabled"] == "True" and whole["max"] == 4 and len(whole["values"]) == 24
    assert whole["values"][now.hour] == [now.hour, 4, 5] and sum(value[1] for value in whole["values"]) == 4
    assert (anonymous["max"], authenticated["max"]) == (1, 3)
    series = info["dates_stats"]
    assert [one["label"] for one in series] == ["Anon + Auth", "Anonymous", "Authenticated", "Completed Tasks"]
    midnight = datetime(now.year, now.month, now.day, tzinfo=UTC).timestamp() * 1000
    assert [one["values"][-1] for one in series] == [[midnight, count] for count in (4, 1, 3, 5)]
    assert all(len(one["values"]) == 14 for one in series) and series[3]["values"][0][1] == 1
    users = info["users_stats"]
    assert users.keys() == {"users", "anon", "auth", "n_anon", "n_auth"}
    assert (users["n_anon"], users["n_auth"]) == (1, 2)
    assert [one["value"] for one in users["users"]["values"]] == [[0, 1], [0, 2]]
    assert users["auth"]["top5"] == [
        {"name": "ada", "fullname": "Ada", "tasks": 2, "restrict": False},
        {"name": "owner", "fullname": None, "tasks": 1, "restrict": False},
    ]
    assert [one["tasks"] for one in users["anon"]["top5"]] == [1] and users["anon"]["locs"] == []


@shows("projectstats-full")
@pytest_twisted.ensureDeferred
async def test_two_weeks_end_without_a_job_and_with_one(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=9, published=True)
    await answer(owner, project)
    await served.house[StatisticsFeature].statistics.fold()
    await later(served, 13)
    await answer(await served.person("ada"), project)
    users = [(await record(owner, project))["info"]["users_stats"]]
    await later(served, 1)
    for _ in range(2):
        users.append((await record(owner, project))["info"]["users_stats"])
        await served.house[StatisticsFeature].statistics.fold()
    assert [one["n_auth"] for one in users] == [2, 1, 1]
    assert [[top["name"] for top in one["auth"]["top5"]] for one in users] == [["owner", "ada"], ["ada"], ["ada"]]


@shows("projectstats-filter")
@pytest_twisted.ensureDeferred
async def test_projects_are_named_by_a_list_and_listed_by_id(served):
    owner = await served.person("owner")
    made = [await served.project(owner, name, tasks=1, published=True) for name in ("a", "b", "c")]
    ids = [project["id"] for project in made]
    client = served.client()
    for query, expected in (
        ("", ids), (f"project_id=[{ids[0]},{ids[2]}]", [ids[0], ids[2]]), (f"project_id={ids[1]}", [ids[1]]),
        ("limit=2", ids[:2]), (f"last_id={ids[0]}", ids[1:]), ("project_id=[999999]", []), ("desc=true", ids[::-1]),
    ):  # fmt: skip
        listed = (await client.get(f"/api/projectstats?{query}")).json()
        assert [one["project_id"] for one in listed] == expected, query
    assert (await client.get("/api/projectstats?colour=red")).json()["exception_cls"] == "AttributeError"
    assert (await client.get("/api/projectstats/999999")).status == 404


@shows("project-hidden", "projectstats-filter")
@pytest_twisted.ensureDeferred
async def test_drafts_and_locked_projects_are_listed_for_their_owners_alone(served):
    owner, stranger = await served.person("owner"), await served.person("stranger")
    draft = await served.project(owner, "draft", tasks=1)
    locked = await served.project(owner, "locked", tasks=1, published=True)
    await lock(served, "locked", owner, "sesame")
    assert [one["id"] for one in (await owner.get("/api/projectstats")).json()] == [draft["id"], locked["id"]]
    assert (await stranger.get("/api/projectstats")).json() == []
    assert (await stranger.get(f"/api/projectstats?project_id={draft['id']}&full=1")).json() == []
    assert (await stranger.get(f"/api/projectstats/{locked['id']}")).status == 403
    assert (await stranger.get("/api/project?all=1&stats=1")).json() == []


@shows("projectstats-beside")
@pytest_twisted.ensureDeferred
async def test_project_lists_bring_statistics_along(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1, published=True)
    await served.project(owner, "second", tasks=1, published=True)
    await answer(owner, project)
    for value in ("1", "True", "true"):
        first, second = (await served.client().get(f"/api/project?stats={value}")).json()
        assert first["stats"].keys() == RECORD and first["stats"]["overall_progress"] == 50
        assert first["stats"]["info"]["users_stats"]["n_auth"] == 1
        assert first["n_tasks"] is None and second["stats"]["n_task_runs"] == 0
    assert "stats" not in (await served.client().get("/api/project")).json()[0]
    assert (await served.client().get("/api/task?stats=1")).status == 415


@pytest_twisted.ensureDeferred
async def test_a_list_with_statistics_takes_the_same_statements_for_one_project_and_for_many(served):
    owner = await served.person("owner")
    counts = []
    for names in (("a",), ("b", "c", "d", "e")):
        for name in names:
            await served.project(owner, name, tasks=1, published=True)
        counts.append(await counted(served, owner, "/api/project?stats=1"))
    assert counts == [3, 3]


async def counted(served, client, path):
    """How many statements about figures the server runs for a request; its jobs run others meanwhile."""
    seen, pool = [], served.database
    original = pool._run
    pool._run = lambda sql, values, read: seen.append(sql) or original(sql, values, read)
    try:
        assert (await client.get(path)).status == 200
    finally:
        del pool._run
    texts = [sql if isinstance(sql, str) else sql.text for sql in seen]
    return sum("FROM project" in sql or "shown_hours" in sql for sql in texts)


@shows("globalstats")
@pytest_twisted.ensureDeferred
async def test_figures_of_the_site(served):
    owner, nobody = await served.person("owner"), served.client()
    project = await served.project(owner, tasks=3, published=True)
    await served.project(owner, "draft", tasks=1)
    for who in (owner, nobody):
        await answer(who, project)
    for folded in (False, True):
        if folded:
            await served.house[StatisticsFeature].statistics.fold()
        figures = (await nobody.get("/api/globalstats")).json()
        assert figures == {
            "n_projects": 1, "n_users": 2, "n_tasks": 8, "n_task_runs": 2, "n_pending_tasks": 6, "n_results": 0,
            "categories": [{"draft": 1}, {"featured": 0}, {"sensing": 0}, {"thinking": 1}],
        }  # fmt: skip
