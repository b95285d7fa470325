"""Statistics of a project, the leaderboard, the site's figures and what happened lately, as JSON and as pages."""

from __future__ import annotations

import pytest
import pytest_twisted
from support.browsers import lock
from support.checks.shows import shows

from crowdd.features.accounts import statements as account_statements
from crowdd.features.statistics.feature import StatisticsFeature

PROJECT_KEYS = {
    "n_completed_tasks", "n_tasks", "n_volunteers", "overall_progress", "owner", "pro_features", "project", "template",
    "title",
}  # fmt: skip
FIGURES = {"avg_contrib_time", "projectStats", "userStats"}
SIDE = {"pct_taskruns", "taskruns", "top5", "users"}


async def view(client, path):
    answer = await client.page(path)
    assert answer.status == 200, (path, answer.body)
    return answer.json()


async def answer(client, project):
    task = (await client.get(f"/api/{project['id']}/newtask")).json()
    made = await client.post("/api/taskrun", json={"project_id": project["id"], "task_id": task["id"], "info": 1})
    assert made.status == 200, made.body
    return made.json()


@shows("page-stats", "page-stats-charts")
@pytest_twisted.ensureDeferred
async def test_the_statistics_of_a_project_have_every_key(served):
    owner, ada = await served.person("owner"), await served.person("ada")
    project = await served.project(owner, tasks=4, published=True)
    empty = await view(owner, "/project/birds/stats")
    assert empty.keys() >= PROJECT_KEYS and not FIGURES & empty.keys()
    assert empty["pro_features"]["better_stats_enabled"] is True and empty["template"] == "project/stats.html"
    for who in (ada, ada, served.client()):
        await answer(who, project)
    for who in (owner, served.client()):
        page = await view(who, "/project/birds/stats")
        assert page.keys() >= PROJECT_KEYS | FIGURES and ("secret_key" in page["project"]) is (who is owner)
        for stats in (page["projectStats"], page["userStats"]):
            assert stats["anonymous"].keys() == stats["authenticated"].keys() == SIDE and stats["geo"] is False
            assert [stats["anonymous"][key] for key in ("users", "taskruns", "pct_taskruns")] == [1, 1, 33]
            assert [stats["authenticated"][key] for key in ("users", "taskruns", "pct_taskruns")] == [1, 2, 67]
            assert stats["authenticated"]["top5"] == [{"name": "ada", "fullname": None, "tasks": 2, "restrict": False}]
        assert page["overall_progress"] == 37 and page["estimate"] is None


@shows("page-stats-estimate")
@pytest_twisted.ensureDeferred
async def test_an_estimate_takes_two_days_of_answers_and_an_open_project(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=6, published=True)

    async def estimated():
        page = (await owner.get("/project/birds/stats", headers={"Accept": "text/html"})).text
        assert "NaN" not in page and ("too few answers" in page) == ("Estimate based" not in page)
        return (await view(owner, "/project/birds/stats"))["estimate"]

    await answer(owner, project)
    assert await estimated() is None
    await served.database.execute("UPDATE clock_shift SET ahead = ahead + interval '49 hours'")
    assert await estimated() is None
    await answer(owner, project)
    assert 0 < (await estimated())["per_day"] < 1.1
    await owner.post("/project/birds/pause", json={})
    assert (await view(owner, "/project/birds/stats"))["estimate"] is None


@shows("page-stats")
@pytest_twisted.ensureDeferred
async def test_the_time_of_an_answer_is_in_seconds_on_average(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=2, published=True)
    for seconds in (10, 30):
        task = (await owner.get(f"/api/{project['id']}/newtask")).json()
        await served.database.execute(f"UPDATE clock_shift SET ahead = ahead + interval '{seconds} seconds'")
        await owner.post("/api/taskrun", json={"project_id": project["id"], "task_id": task["id"], "info": 1})
    assert (await view(owner, "/project/birds/stats"))["avg_contrib_time"] == pytest.approx(20, abs=2)
    record = (await owner.get(f"/api/projectstats/{project['id']}")).json()
    assert record["average_time"] == pytest.approx(20, abs=2)


@shows("page-stats")
@pytest_twisted.ensureDeferred
async def test_figures_of_two_weeks_and_of_all_time(served):
    owner, ada = await served.person("owner"), await served.person("ada")
    project = await served.project(owner, tasks=4, published=True)
    await answer(ada, project)
    await served.database.execute("UPDATE clock_shift SET ahead = interval '20 days'")
    await answer(owner, project)
    page = await view(owner, "/project/birds/stats")
    people = [[one["name"] for one in page[key]["authenticated"]["top5"]] for key in ("projectStats", "userStats")]
    assert people == [["owner", "ada"], ["owner"]]
    assert [page[key]["authenticated"]["users"] for key in ("projectStats", "userStats")] == [2, 1]


@pytest_twisted.ensureDeferred
async def test_blocked_people_are_counted_and_not_named(served):
    owner, ada, bob = [await served.person(name) for name in ("owner", "ada", "bob")]
    project = await served.project(owner, tasks=4, published=True)
    for who in (ada, ada, bob):
        await answer(who, project)
    await served.database.execute('UPDATE account SET "restrict" = true WHERE id = %(id)s', {"id": ada.user_id})
    for _ in range(2):
        side = (await view(bob, "/project/birds/stats"))["projectStats"]["authenticated"]
        assert (side["users"], side["taskruns"], [one["name"] for one in side["top5"]]) == (2, 3, ["bob"])
        board = (await view(bob, "/leaderboard/"))["top_users"]
        assert [(user["name"], user["rank"]) for user in board] == [("bob", 1)]
        await served.house[StatisticsFeature].statistics.fold()
    await served.database.execute('UPDATE account SET "restrict" = false WHERE id = %(id)s', {"id": ada.user_id})
    for _ in range(2):
        board = (await view(bob, "/leaderboard/"))["top_users"]
        assert [(user["name"], user["rank"]) for user in board] == [("ada", 1), ("bob", 2)]
        await served.house[StatisticsFeature].statistics.fold()


@pytest_twisted.ensureDeferred
async def test_a_locked_project_shows_its_statistics_to_nobody_else(served):
    owner, stranger = await served.person("owner"), await served.person("stranger")
    await served.project(owner, tasks=1, published=True)
    await lock(served, "birds", owner, "sesame")
    assert (await stranger.page("/project/birds/stats")).status == 403
    assert (await stranger.get("/project/birds/stats", headers={"Accept": "text/html"})).status == 302
    assert (await owner.page("/project/birds/stats")).status == 200
    assert (await stranger.page("/project/nowhere/stats")).status == 404


@pytest_twisted.ensureDeferred
async def test_pages_are_drawn_with_and_without_answers(served):
    owner, ada = await served.person("owner"), await served.person("ada")
    project = await served.project(owner, tasks=2, published=True)
    html = {"Accept": "text/html"}
    for drawn in (False, True):
        page = (await owner.get("/project/birds/stats", headers=html)).text
        assert (page.count('class="chart') == 2) is drawn and ("No answers yet" in page) is not drawn
        assert "Most active in the last 24 hours" in (await owner.get("/stats", headers=html)).text
        board = (await owner.get("/leaderboard", headers=html)).text
        assert 'class="me"' in board
        board = (await served.client().get("/leaderboard", headers=html)).text
        assert ("Nobody has answered yet" in board) is not drawn
        await answer(ada, project)


# The leaderboard ------------------------------------------------------------------------------------------------------


async def scores(served, **answers):
    """People with so many answers, as if given; in the order in which they joined."""
    people = {}
    for name, count in answers.items():
        people[name] = await served.person(name)
        await served.database.execute(
            "INSERT INTO stat_delta (project_id, hour, user_id, runs) VALUES (0, 'epoch', %(id)s, %(n)s)",
            {"id": people[name].user_id, "n": count},
        )
    return people


@shows("account-score")
@pytest_twisted.ensureDeferred
async def test_those_with_equal_scores_share_a_rank(served):
    await scores(served, ada=5, bob=9, cleo=5, dan=1, eve=0)
    for _ in range(2):
        page = await view(served.client(), "/leaderboard/")
        assert page.keys() == {"top_users", "template", "title"}
        board = [(user["name"], user["score"], user["rank"], user["n_answers"]) for user in page["top_users"]]
        assert board == [("bob", 9, 1, 9), ("ada", 5, 2, 5), ("cleo", 5, 2, 5), ("dan", 1, 4, 1)]
        assert all(user["fullname"] is None and "email_addr" not in user for user in page["top_users"])
        await served.house[StatisticsFeature].statistics.fold()


@shows("page-leaderboard")
@pytest_twisted.ensureDeferred
async def test_twenty_are_shown_and_who_asks_if_he_is_not_among_them(served):
    people = await scores(served, **{f"p{n:02}": 100 - n // 2 for n in range(24)})
    for _ in range(2):
        top = (await view(served.client(), "/leaderboard"))["top_users"]
        assert [user["name"] for user in top] == [f"p{n:02}" for n in range(20)]
        mine = (await view(people["p23"], "/leaderboard"))["top_users"]
        assert mine[:20] == top and [(user["name"], user["rank"]) for user in mine[20:]] == [("p23", 23)]
        assert (await view(people["p03"], "/leaderboard"))["top_users"] == top
        await served.house[StatisticsFeature].statistics.fold()


@shows("page-leaderboard")
@pytest_twisted.ensureDeferred
async def test_a_window_shows_those_around_who_asks(served):
    people = await scores(served, **{f"p{n:02}": 100 - n // 2 for n in range(30)}, nobody=0)
    for _ in range(2):
        names = {}
        for name, window in (("p26", 2), ("p21", 3), ("p29", 2), ("nobody", 1), ("p02", 5), ("p26", 0)):
            rows = (await view(people[name], f"/leaderboard/window/{window}"))["top_users"]
            names[name, window] = [(user["name"], user["rank"]) for user in rows[20:]]
        assert names["p26", 2] == [("p24", 25), ("p25", 25), ("p26", 27), ("p27", 27), ("p28", 29)]
        assert names["p21", 3] == [("p20", 21), ("p21", 21), ("p22", 23), ("p23", 23), ("p24", 25)]
        assert names["p29", 2] == [("p27", 27), ("p28", 29), ("p29", 29)]
        assert names["nobody", 1] == [("p29", 29), ("nobody", 31)]
        assert names["p02", 5] == [] and names["p26", 0] == [("p26", 27)]
        await served.house[StatisticsFeature].statistics.fold()
    assert len((await view(people["p29"], "/leaderboard/window/999"))["top_users"]) == 30


@pytest_twisted.ensureDeferred
async def test_ranks_are_those_of_a_count_whoever_is_folded(served):
    import random

    dice = random.Random(3)
    people = await scores(
        served, **{f"p{n:02}": dice.choice((0, 1, 2, 63, 64, 65, 4095, 4096, 300_000)) for n in range(40)}
    )
    db = served.database
    for _ in range(6):
        rows = await db.fetch(
            'SELECT user_id AS id, runs FROM score JOIN account a ON a.id = user_id WHERE NOT a."restrict"'
        )
        for row in rows:
            place = await account_statements.read_profile(db, row["id"])
            assert place["rank"] == 1 + sum(other["runs"] > row["runs"] for other in rows), row
            assert (place["score"], place["total"]) == (row["runs"], len(rows))
        for client in dice.sample([*people.values()], 8):
            await db.execute(
                "INSERT INTO stat_delta (project_id, hour, user_id, runs)"
                " SELECT 0, 'epoch', %(id)s, greatest(%(n)s, -runs) FROM score WHERE user_id = %(id)s",
                {"id": client.user_id, "n": dice.choice((-70, -1, 1, 3, 64, 4096))},
            )
        flip = dice.choice([*people.values()]).user_id
        await db.execute('UPDATE account SET "restrict" = NOT "restrict" WHERE id = %(id)s', {"id": flip})
        await db.fetch("SELECT fold_stats(clock(), %(maximum)s)", {"maximum": dice.choice((1, 7, 100))})


@shows("account-record")
@pytest_twisted.ensureDeferred
async def test_who_is_shown_on_a_profile_has_whole_numbers(served):
    ada = await served.person("ada")
    project = await served.project(await served.person("owner"), tasks=1, published=True)
    await answer(ada, project)
    user = (await view(ada, "/account/profile"))["user"]
    assert [user[name] for name in ("rank", "score", "n_answers", "total")] == [1, 1, 1, 2]
    assert all(type(user[name]) is int for name in ("rank", "score", "n_answers", "total"))


# The site -------------------------------------------------------------------------------------------------------------


@shows("page-site-stats", "site-counts")
@pytest_twisted.ensureDeferred
async def test_the_site_says_how_much_there_is(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=3, published=True)
    await served.project(owner, "draft", tasks=2)
    for who in (owner, served.client()):
        await answer(who, project)
    page = await view(served.client(), "/stats/")
    assert page["stats"] == {
        "n_auth": 1, "n_anon": 1, "n_total_users": 2, "n_published_projects": 1, "n_draft_projects": 1,
        "n_total_projects": 2, "n_tasks": 3, "n_task_runs": 2, "n_results": 0,
    }  # fmt: skip
    (busy,) = page["top5_projects_24_hours"]
    assert (busy["short_name"], busy["n_answers"]) == ("birds", 2)
    await served.project(owner, "closed", tasks=1, published=True)
    await owner.post("/project/closed/update", json={"btn": "Password", "password": "sesame", "protect": True})
    assert (await view(served.client(), "/stats/"))["stats"]["n_published_projects"] == 2
    assert (await served.client().get("/api/globalstats")).json()["n_projects"] == 2
    listed = await view(served.client(), "/project/category/all/")
    assert listed["pagination"]["total"] == 1
    text = (await served.client().get("/stats/", headers={"Accept": "text/html"})).text
    assert "published projects" in text and "Projects with a password are counted, too." in text
    await served.database.execute("UPDATE clock_shift SET ahead = interval '25 hours'")
    assert (await view(served.client(), "/stats/"))["top5_projects_24_hours"] == []


@shows("account-page")
@pytest_twisted.ensureDeferred
async def test_what_happened_lately_is_told_without_drafts_locks_and_blocked_people(served):
    owner, ada, bob = [await served.person(name) for name in ("owner", "ada", "bob")]
    project = await served.project(owner, tasks=2, published=True, n_answers=1)
    draft = await served.project(owner, "draft", tasks=1)
    locked = await served.project(owner, "locked", tasks=1, published=True)
    link = (await owner.page("/project/draft/publish")).json()["try_link"]
    ada.headers = {"X-Draft-Key": link.partition("try=")[2]}
    for who, where in ((ada, project), (served.client(), project), (ada, draft), (ada, locked), (bob, locked)):
        await answer(who, where)
    await lock(served, "locked", owner, "sesame")
    await served.database.execute('UPDATE account SET "restrict" = true WHERE id = %(id)s', {"id": bob.user_id})
    feed = (await view(served.client(), "/account/"))["update_feed"]
    keys = {"updated", "action_updated", "category_id", "p_name", "p_short_name", "u_name"}
    assert all(act.keys() == keys for act in feed)
    events = {(act["action_updated"], act["u_name"], act["p_short_name"]) for act in feed}
    assert events == {
        ("User", "owner", None), ("User", "ada", None), ("Project", "owner", "birds"), ("Task", None, "birds"),
        ("UserContribution", "ada", "birds"), ("TaskCompleted", None, "birds"),
    }  # fmt: skip
    times = [act["updated"] for act in feed]
    assert times == sorted(times, reverse=True) and times[0] > 1_700_000_000
