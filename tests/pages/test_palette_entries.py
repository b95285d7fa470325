"""What the command palette is told: own projects, the project at hand, a task by its number; and prefetched pages."""

from __future__ import annotations

from html import unescape
from typing import Any

import pytest_twisted
from support.checks.page_reader import Page
from support.checks.shows import shows
from twisted.internet.defer import DeferredList, ensureDeferred

from crowdd.features.projects.project_lists import MAX_PROJECTS

HTML = {"Accept": "text/html", "Sec-Fetch-Site": "same-origin"}


async def entries(client: Any, query: str = "") -> list[dict[str, str]]:
    answer = await client.page(f"/palette?{query}")
    assert answer.status == 200 and answer.header("cache-control") == "private, no-store", answer.body
    palette: list[dict[str, str]] = answer.json()["entries"]
    return palette


async def addresses(client: Any, query: str) -> list[str]:
    return [entry["address"] for entry in await entries(client, query)]


@shows("page-palette")
@pytest_twisted.ensureDeferred
async def test_own_projects_are_found_by_all_words_and_recent_ones_come_first(served):
    ada, bob = await served.person("ada"), await served.person("bob")
    for name in ("moths", "moss", "100_birds"):
        await served.project(ada, name, tasks=1, published=name == "moss")
    await served.database.execute("UPDATE project SET updated = clock() WHERE short_name = 'moss'")
    await served.project(bob, "moths-of-bob")
    assert await addresses(ada, "q=mo") == ["/project/moss/", "/project/moths/"]
    assert await addresses(ada, "q=mo&recent=nothing,moths,moths-of-bob") == ["/project/moths/", "/project/moss/"]
    assert await addresses(ada, "q=mo%20TH") == ["/project/moths/"]
    assert await addresses(ada, "q=0_b") == ["/project/100_birds/"] and await addresses(ada, "q=%25") == []
    assert [entry["note"] for entry in await entries(ada, "q=mo")] == ["", "Not published"]
    await ada.post("/project/moths/add_coowner/bob", json={})
    assert sorted(await addresses(bob, "q=moths")) == ["/project/moths-of-bob/", "/project/moths/"]
    # Two people at once: each is told their own.
    both = [ensureDeferred(addresses(who, "q=mo")) for who in (ada, bob)]
    assert [len(paths) for _, paths in await DeferredList(both)] == [2, 2]
    carol = await served.person("carol", admin=True)
    assert await addresses(carol, "q=mo") == []
    assert (await served.client().get("/palette")).status == 302


@shows("page-palette")
@pytest_twisted.ensureDeferred
async def test_at_most_fifty_projects_are_sent(served):
    ada = await served.person("ada")
    await served.project(ada, "p")
    columns = "created, updated, description, owner_id, owners_ids, category_id, secret_key_encrypted"
    await served.database.execute(
        f"INSERT INTO project (name, short_name, draft_key, {columns})"
        f" SELECT 'p' || n, 'p' || n, new_draft_key(), {columns} FROM project, generate_series(1, 60) n"
    )
    assert len(await addresses(ada, "q=p")) == MAX_PROJECTS == 50
    assert await addresses(ada, "q=p60") == ["/project/p60/"]


@shows("page-palette")
@pytest_twisted.ensureDeferred
async def test_a_task_is_found_by_its_number_by_those_who_may_change_it(served):
    ada, bob = await served.person("ada"), await served.person("bob")
    project = await served.project(ada, "moths", tasks=1)
    task = project["tasks"][0]
    at = f"/project/moths/tasks/{task}"
    for text in (f"{task}", f"%23{task}", f"task%20{task}", f"Aufgabe%20%23{task}"):
        assert at in await addresses(ada, f"q={text}")
    assert await addresses(ada, f"q={task}0") == [] == await addresses(ada, f"q=x{task}")
    assert await addresses(ada, "q=9999999999999999999") == []
    assert await addresses(bob, f"q={task}") == []
    assert await addresses(await served.person("root", admin=True), f"q={task}") == [at]


@shows("page-palette")
@pytest_twisted.ensureDeferred
async def test_every_entry_leads_to_a_page_and_settings_have_the_names_of_their_page(served):
    ada = await served.person("ada", admin=True)
    await served.project(ada, "moths", tasks=1)
    english = await entries(ada, "project=moths")
    groups = list(dict.fromkeys(entry["group"] for entry in english))
    assert groups == ["Moths", "My projects", "Site", "Your account", "Administration"]
    browser = await ada.by_session()
    settings = (await browser.get("/project/moths/settings", headers=HTML)).text
    words, ids = unescape(settings), Page(settings).ids()
    for entry in english:
        path, _, anchor = entry["address"].partition("#")
        answer = await browser.get(path, headers=HTML)
        assert answer.status == 200 or answer.header("location").startswith("/account/prove"), entry
        assert not anchor or anchor in ids, entry
    named = [entry["words"] for entry in english if entry["group"] == "Moths"]
    assert "Task order" in named and "Webhook" in named and len(named) > 20
    assert [name for name in named if name not in words] == [
        "Browse tasks",
        "Export",
        "Use this data",
    ]  # pages beside the settings
    bob = await served.person("bob")
    assert {entry["group"] for entry in await entries(bob, "project=moths")} == {"Site", "Your account"}
    german = (await ada.get("/palette?project=moths", headers={"Accept-Language": "de"})).json()["entries"]
    assert [entry["address"] for entry in german] == [entry["address"] for entry in english]


@shows("format-prefetch")
@pytest_twisted.ensureDeferred
async def test_a_prefetch_leaves_the_message_to_the_page_that_is_opened(served):
    ada = await served.person("ada")
    await served.project(ada, "moths", tasks=1)
    browser, settings = await ada.by_session(), "/project/moths/settings"
    ahead = HTML | {"Sec-Purpose": "prefetch"}
    assert (await browser.get(settings, headers=ahead)).status == 200
    form = {"csrf_token": (await ada.session()).csrf_token}
    assert (await browser.post("/project/moths/publish", data=form, headers=HTML)).status == 302
    refused = await browser.get(settings, headers=ahead)
    assert (refused.status, refused.body, refused.header("set-cookie")) == (503, b"", None)
    assert "Project published." in (await browser.get(settings, headers=HTML)).text
    assert (await browser.get(settings, headers=ahead)).status == 200
