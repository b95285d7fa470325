"""Categories, other lists, and the search: what is found, in which order, page by page."""

from __future__ import annotations

import re
from typing import Any

import pytest_twisted
from support.browsers import lock
from support.checks.shows import shows

from crowdd.features.statistics.feature import StatisticsFeature

SUMMARY = {
    "name", "short_name", "description", "info", "n_tasks", "n_volunteers", "overall_progress", "created", "updated",
    "category_id", "featured", "n_task_runs", "n_completed_tasks", "n_results", "last_activity", "last_activity_raw",
    "owner",
}  # fmt: skip


async def names(client, path):
    answer = await client.page(path)
    assert answer.status == 200, (path, answer.body)
    return [project["short_name"] for project in answer.json()["projects"]]


async def answered(client, project, times):
    for _ in range(times):
        task = (await client.get(f"/api/{project['id']}/newtask")).json()
        body = {"project_id": project["id"], "task_id": task["id"], "info": 1}
        assert (await client.post("/api/taskrun", json=body)).status == 200


@shows("page-category")
@pytest_twisted.ensureDeferred
async def test_a_category_in_every_order(served):
    ada = await served.person("ada")
    old = await served.project(ada, "old", tasks=3, published=True)
    await served.project(ada, "mid", tasks=1, published=True)
    new = await served.project(ada, "new-one", tasks=2, published=True)
    await served.project(ada, "draft", tasks=9)
    await served.project(ada, "elsewhere", tasks=9, published=True)
    await ada.put(
        f"/api/project/{(await ada.get('/api/project?short_name=elsewhere')).json()[0]['id']}", json={"category_id": 2}
    )
    await answered(ada, old, 1)
    await served.database.fetch("SELECT fold_stats()")
    at = "/project/category/thinking/"
    page = (await served.client().page(at)).json()
    assert page["active_cat"]["short_name"] == "thinking" and page["pagination"]["total"] == 3
    assert [c["short_name"] for c in page["categories"]] == ["featured", "thinking", "sensing"]
    assert page["projects"][0].keys() == SUMMARY and page["projects"][0]["n_tasks"] == 3
    for query, wanted in (
        ("", ["old", "new-one", "mid"]),
        ("?orderby=id", ["old", "mid", "new-one"]),
        ("?orderby=created&desc=true", ["new-one", "mid", "old"]),
        ("?orderby=name", ["mid", "new-one", "old"]),
        ("?orderby=n_tasks&desc=1", ["old", "new-one", "mid"]),
        ("?orderby=n_volunteers&desc=true", ["old", "new-one", "mid"]),
        ("?orderby=last_activity&desc=True", ["old", "new-one", "mid"]),
    ):
        assert await names(served.client(), at + query) == wanted, query
    assert (await served.client().page(f"{at}?desc=maybe")).status == 415
    await served.database.execute("UPDATE project SET featured = true WHERE id = %(id)s", {"id": new["id"]})
    assert (await names(served.client(), at))[0] == "new-one"


ORDERS = (
    "short_name", "description", "long_description", "updated", "category_id", "owner_id", "featured", "published",
    "n_task_runs", "n_completed_tasks", "n_results", "overall_progress", "last_activity_raw", "owner",
)  # fmt: skip


@shows("page-category")
@pytest_twisted.ensureDeferred
async def test_every_key_of_a_summary_orders(served):
    ada = await served.person("ada")
    await served.project(ada, "one", tasks=1, published=True)
    await served.project(ada, "two", tasks=1, published=True)
    for order in ORDERS:
        for down in ("", "&desc=true"):
            short_names = await names(ada, f"/project/category/all/?orderby={order}{down}")
            assert sorted(short_names) == ["one", "two"], order


@shows("page-category-special")
@pytest_twisted.ensureDeferred
async def test_the_shelves_that_are_no_category(served):
    ada, bob = await served.person("ada"), await served.person("bob")
    boss = await served.person("boss", admin=True)
    birds = await served.project(ada, tasks=2, published=True)
    await served.project(ada, "fish", tasks=1, published=True)
    await served.project(ada, "draft")
    await answered(bob, birds, 1)
    await served.database.execute("UPDATE project SET featured = true WHERE short_name = 'fish'")
    assert await names(bob, "/project/category/historical_contributions/") == ["birds"]
    assert await names(ada, "/project/category/historical_contributions/") == []
    assert await names(bob, "/project/category/featured/") == ["fish"]
    assert await names(boss, "/project/category/draft/") == ["draft"]
    assert sorted(await names(bob, "/project/page/1")) == ["birds", "fish"]


@shows("account-profile")
@pytest_twisted.ensureDeferred
async def test_a_profile_counts_all_projects_helped_and_says_how_many_it_lists(served):
    owner, ada = await served.person("owner"), await served.person("ada")
    birds = await served.project(owner, tasks=1, published=True)
    await answered(ada, birds, 1)
    await served.database.execute(
        "WITH made AS (INSERT INTO project (created, updated, name, short_name, secret_key_encrypted, owner_id, owners_ids,"
        "  category_id, published, first_published)"
        " SELECT clock(), clock(), 'P ' || n, 'p' || n, '', p.owner_id, p.owners_ids, p.category_id, true, clock()"
        "  FROM project p, generate_series(1, 120) n RETURNING id),"
        " ledger AS (INSERT INTO project_ledger (project_id, trial) SELECT id, false FROM made)"
        " INSERT INTO volunteer (project_id, actor, runs) SELECT id, 'u:' || %(ada)s, 1 FROM made",
        {"ada": ada.user_id},
    )
    for who in (ada, served.client()):
        assert len((await who.page("/account/ada")).json()["projects_contrib"]) == 100
        text = (await who.get("/account/ada", headers={"Accept": "text/html"})).text
        assert "projects helped</dt><dd>121</dd>" in "".join(text.split("\n")), text
        assert "The newest 100 of 121 projects." in text
    [run] = (await owner.get("/api/taskrun")).json()
    await served.database.fetch("SELECT fold_stats(clock(), 1000)")
    withdrawn = await owner.post(f"/api/project/{birds['id']}/withdraw", json={"taskrun_id": run["id"]})
    assert withdrawn.status == 200
    page = (await ada.page("/project/category/historical_contributions/")).json()
    assert page["pagination"]["total"] == 120, "a withdrawn answer helps no project, also before it is folded"
    text = (await served.client().get("/account/ada", headers={"Accept": "text/html"})).text
    assert "The newest 100 of 120 projects." in text


@shows("page-category")
@pytest_twisted.ensureDeferred
async def test_pages_hold_twenty_and_lose_none(served):
    ada = await served.person("ada")
    for number in range(23):
        body = {"name": f"Bird {number}", "short_name": f"b{number}", "info": {"task_presenter": "x"}}
        await ada.post("/api/project", json=body)
    await served.database.execute("UPDATE project SET published = true, first_published = created")
    first = (await ada.page("/project/category/all/?orderby=id")).json()
    second = (await ada.page("/project/category/all/page/2/?orderby=id")).json()
    assert first["pagination"] == {"page": 1, "per_page": 20, "total": 23, "prev": False, "next": True}
    assert second["pagination"] == {"page": 2, "per_page": 20, "total": 23, "prev": True, "next": False}
    assert [p["short_name"] for p in first["projects"] + second["projects"]] == [f"b{n}" for n in range(23)]
    text = (await ada.get("/project/category/all/page/2/?orderby=id", headers={"Accept": "text/html"})).text
    assert "/project/category/all/page/1/?orderby=id" in text
    assert len(await names(ada, "/project/search?q=bird")) == 20
    assert len(await names(ada, "/project/search?q=bird&page=2")) == 3


@shows("page-search")
@pytest_twisted.ensureDeferred
async def test_a_search_finds_all_words_and_forgives_a_slip(served):
    ada = await served.person("ada")
    for short, description in (
        ("hedgehog", "Who walks at 100% night_time?"),
        ("galaxy", "Does it have arms?"),
        ("sealed", "Secret seals"),
        ("digits", "Which one is it?"),
    ):
        project = await served.project(ada, short, tasks=1, published=True)
        await ada.put(f"/api/project/{project['id']}", json={"description": description})
    await served.project(ada, "hedgehog-draft")
    await lock(served, "sealed", ada, "sesame")
    visitor = served.client()
    for text, wanted in (
        ("hedgehog", ["hedgehog"]), ("HEDGE night", ["hedgehog"]), ("hedgehog arms", []), ("hedgehg", ["hedgehog"]),
        ("100%25", ["hedgehog"]), ("night_time", ["hedgehog"]), ("%25", ["hedgehog"]), ("seals", []),
        ("zebra", []), ("%20", []), ("galxay", ["galaxy"]), ("digts", ["digits"]), ("diggits digit", ["digits"]), ("dose arms", ["galaxy"]), ("galxay night", []), ("esals", []), ("heggehog", ["hedgehog"]), ("arns", []), ("armss", ["galaxy"]), ("'; DROP TABLE project; --", []),
    ):  # fmt: skip
        short_names = await names(visitor, f"/project/search?q={text}")
        assert short_names == wanted, text
    page = (await visitor.page("/project/search?q=zebra")).json()
    assert page["query"] == "zebra" and page["pagination"]["total"] == 0 and page["categories"]
    html = await visitor.get("/project/search?q=zebra", headers={"Accept": "text/html"})
    assert "Nothing found for “zebra”" in html.text
    for bad in ("%00", "x&page=x"):
        assert (await visitor.page(f"/project/search?q={bad}")).status == 415
    assert (await visitor.page("/project/search?q=hedgehog&page=0")).status == 404
    long = await visitor.page("/project/search?q=" + "a%20" * 500)
    assert long.status == 200


@pytest_twisted.ensureDeferred
async def test_before_a_search_the_liveliest_projects_are_shown(served):
    ada, html = await served.person("ada"), {"Accept": "text/html"}
    assert "Most active projects" not in (await ada.get("/project/search", headers=html)).text
    for number in range(10):
        project = await served.project(ada, f"p{number}", tasks=1, published=True)
    await served.project(ada, "secret", tasks=1, published=True)
    await served.project(ada, "draft", tasks=1)
    await lock(served, "secret", ada, "sesame")
    await answered(ada, project, 1)
    await served.database.fetch("SELECT fold_stats()")
    text = (await served.client().get("/project/search", headers=html)).text
    shown = re.findall(r'<h3[^>]*><a href="/project/(\w+)/"', text)
    assert shown == [f"p{number}" for number in range(9, 0, -1)] and "All 10 public projects" in text
    assert (await ada.page("/project/search")).json()["projects"] == []


@pytest_twisted.ensureDeferred
async def test_the_home_page_draws_an_answer_in_its_hour(served):
    ada, html = await served.person("ada"), {"Accept": "text/html"}
    birds = await served.project(ada, tasks=3, published=True, n_answers=1)
    cats = await served.project(ada, "cats", tasks=1)
    await answered(ada, birds, 1)
    await answered(ada, cats, 1)  # a trial
    await served.database.execute("UPDATE clock_shift SET ahead = ahead + interval '71 hours'")
    await answered(ada, birds, 2)
    hours = (await served.house[StatisticsFeature].statistics.for_home())["hours"]
    assert (len(hours), hours[0], hours[-1], sum(hours)) == (72, 1, 2, 3)
    text = (await served.client().get("/", headers=html)).text
    assert "3 answers" in text and text.split('class="pulse')[1].split("</svg>")[0].count("<path") == 72
    assert "All projects" in text and "All 1 public projects" not in text


@shows("page-category-filters")
@pytest_twisted.ensureDeferred
async def test_filters_leave_out_what_does_not_fit(served):
    owner, ada = await served.person("owner"), await served.person("ada")

    def asked(medium: str, type_: str) -> dict[str, Any]:
        media = [{"name": "m", "type": medium, "source": {"column": "n"}, "description": "It."}]
        question = {"name": "q", "type": type_, "text": "What is it?", **({"on": "m"} if type_ == "box" else {})}
        return {"version": 1, "steps": [{"name": "s", "media": media, "questions": [question]}]}

    infos = {
        "calls": {"language": "pt-BR", "questions": asked("sound", "yes_no")},
        "ducks": {"language": "de", "questions": asked("zoom_picture", "box")},
        "own": {"task_presenter": "<p>?</p>"},
    }
    for name, info in infos.items():
        project = await served.project(owner, name, tasks=3, published=True)
        changed = await owner.put(f"/api/project/{project['id']}", json={"info": info})
        assert changed.status == 200, changed.body
    project = (await owner.get("/api/project?short_name=ducks")).json()[0]
    task = (await ada.get(f"/api/project/{project['id']}/newtask")).json()
    body = {"project_id": project["id"], "task_id": task["id"], "info": {}}
    assert (await ada.post("/api/taskrun", json=body)).status == 200
    await served.database.execute("UPDATE task_run SET created = finish_time - interval '90 s'")
    for job in ("fold_counters", "count_boards"):
        await served.run_job(job)
    for query, names in {
        "": {"calls", "ducks", "own"},
        "language=pt": {"calls"},
        "language=pt-PT": {"calls"},
        "medium=picture": {"ducks"},
        "medium=sound": {"calls"},
        "minutes=1": set(),
        "minutes=2": {"ducks"},
        "phone=true": {"calls"},
        "medium=sound&language=de": set(),
    }.items():
        page = (await served.client().page(f"/project/category/all/?{query}")).json()
        assert {one["short_name"] for one in page["projects"]} == names, query
        assert page["pagination"]["total"] == len(names)
    helped = (await served.client().page("/project/category/all/?orderby=needs_help")).json()["projects"]
    assert helped[-1]["short_name"] == "ducks", "somebody was there lately"
    assert (await served.client().page("/project/category/all/?medium=smell")).status == 415
    html = (await served.client().get("/project/category/all/?medium=map", headers={"Accept": "text/html"})).text
    assert "No projects match" in html
