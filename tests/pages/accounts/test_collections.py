"""Collections: what a person groups, whom it is shown to, and its bounds, also when two requests come at once."""

from __future__ import annotations

from typing import Any

import pytest_twisted
from support.browsers import lock, signed_in
from support.checks.page_reader import Page, faults
from support.checks.shows import shows
from twisted.internet.defer import ensureDeferred, gatherResults

from crowdd.features.community import collections
from crowdd.features.community import statements as community_statements

HTML = {"Accept": "text/html"}
AT = "/account/ada/collections"


async def token(browser: Any, page: str = AT) -> str:
    return str((await browser.page(page)).json()["form"]["csrf"])


async def send(browser: Any, path: str, **fields: Any) -> Any:
    return await browser.post(path, json=fields, headers={"X-CSRFToken": await token(browser)})


async def made(browser: Any, name: str = "Owls", **fields: Any) -> int:
    answered = (await send(browser, AT, name=name, **fields)).json()
    assert answered["next"].startswith(f"{AT}/"), answered
    return int(answered["next"].rsplit("/", 1)[1])


async def tasks(client: Any, number: int, query: str = "") -> list[int]:
    got = await client.page(f"{AT}/{number}{query}")
    assert got.status == 200, got.body
    return [one["task"]["id"] for one in got.json()["tasks"]]


async def rows(served: Any) -> list[dict[str, Any]]:
    return await served.database.fetch("SELECT collection_id, task_id, note FROM collection_item ORDER BY id")


@shows("account-collections", "account-collection", "account-collection-tasks")
@pytest_twisted.ensureDeferred
async def test_a_collection_is_made_filled_renamed_and_deleted(served, monkeypatch):
    monkeypatch.setattr(collections, "PER_PAGE", 2)
    owner, _ada = await served.person("owner"), await served.person("ada")
    birds = await served.project(owner, tasks=3, published=True, info={"title": "An <owl>"})
    browser = await signed_in(served, "ada")
    assert (await browser.page(AT)).json().keys() >= {"title", "collections", "form"}
    number = await made(browser, " Barn \n owls ", description="At night\r\n<b>only</b>")
    for task, note in zip(birds["tasks"], ("first", "", "<i>third</i>"), strict=True):
        asked = (await browser.page(f"{AT}/add?task_id={task}")).json()
        assert asked["task"] == {"id": task, "info": {"title": "An <owl>"}}
        assert [one["has_task"] for one in asked["collections"]] == [False]
        added = await send(browser, f"{AT}/add", task_id=task, collection_id=number, note=note)
        assert added.json()["next"] == f"{AT}/{number}"
    (listed,) = (await browser.page(AT)).json()["collections"]
    assert listed == {"id": number, "name": "Barn owls", "published": False, "n_tasks": 3}
    page = (await browser.page(f"{AT}/{number}")).json()
    assert page["collection"]["description"] == "At night\n<b>only</b>" and page["collection"]["own"] is True
    assert page["tasks"][0]["note"] == "<i>third</i>" and page["tasks"][0]["project"]["short_name"] == "birds"
    second = await tasks(browser, number, f"?before={page['next']}")
    assert [one["task"]["id"] for one in page["tasks"]] + second == birds["tasks"][::-1]
    for address in (AT, f"{AT}/{number}", f"{AT}/add?task_id={birds['tasks'][0]}"):
        html = (await browser.get(address, headers=HTML)).text
        assert faults(Page(html)) == [] and "<i>third" not in html and "<b>only" not in html and "<owl>" not in html
    one = f"{AT}/{number}/tasks/{birds['tasks'][0]}"
    assert (await send(browser, one, note="better")).status == 200
    assert [row["note"] for row in await rows(served)] == ["better", "", "<i>third</i>"]
    assert (await send(browser, f"{one}/remove")).status == 200
    assert (await send(browser, f"{one}/remove")).status == (await send(browser, one, note="x")).status == 404
    assert (await send(browser, f"{AT}/{number}", name="Owls", description="", published="y")).status == 200
    changed = (await browser.page(f"{AT}/{number}")).json()["collection"]
    assert (changed["name"], changed["published"]) == ("Owls", True)
    notes = await rows(served)
    assert (await send(browser, f"{AT}/{number}", description="By day")).status == 200, "what is not sent stays"
    assert (await send(browser, f"{AT}/{number}/tasks/{birds['tasks'][1]}")).status == 415
    changed = (await browser.page(f"{AT}/{number}")).json()["collection"]
    assert [changed[name] for name in ("name", "description", "published")] == ["Owls", "By day", True]
    assert await rows(served) == notes
    assert (await send(browser, f"{AT}/{number}/delete")).json()["next"] == AT
    assert await rows(served) == [] and (await browser.page(f"{AT}/{number}")).status == 404
    assert (await send(browser, f"{AT}/{number}/delete")).status == 404
    assert (await served.client().get(f"/api/task/{birds['tasks'][1]}")).status == 200


@shows("account-collection")
@pytest_twisted.ensureDeferred
async def test_others_see_published_ones_with_the_tasks_that_they_may_see(served):
    owner, _ada, _eve = [await served.person(name) for name in ("owner", "ada", "eve")]
    await served.person("boss", admin=True)
    birds = await served.project(owner, tasks=1, published=True)
    cats = await served.project(owner, "cats", tasks=1, published=True)
    ada, eve, boss = [await signed_in(served, name) for name in ("ada", "eve", "boss")]
    number = await made(ada)
    for task in (*birds["tasks"], *cats["tasks"]):
        assert (await send(ada, f"{AT}/add", task_id=task, collection_id=number)).status == 200
    everybody = (served.client(), eve, boss)
    for who in everybody:
        assert (await who.page(f"{AT}/{number}")).status == 404
    assert (await send(ada, f"{AT}/{number}", name="Owls", published="y")).status == 200
    await lock(served, "cats", owner, "sesame")
    for who in (served.client(), eve):
        assert await tasks(who, number) == birds["tasks"]
        assert (await who.page(f"{AT}/{number}")).json()["collection"]["own"] is False
        html = (await who.get(f"{AT}/{number}", headers=HTML)).text
        assert faults(Page(html)) == [] and "Delete" not in html and "cats" not in html
    assert await tasks(ada, number) == birds["tasks"]  # locked for her, too
    assert await tasks(boss, number) == [*cats["tasks"], *birds["tasks"]]
    assert (await owner.post("/project/birds/pause", json={})).status == 200
    assert await tasks(eve, number) == [] and await tasks(ada, number) == []
    assert (await served.client().page(f"/account/eve/collections/{number}")).status == 404
    await served.database.execute("UPDATE account SET \"restrict\" = true WHERE name = 'ada'")
    assert (await served.client().page(f"{AT}/{number}")).status == 404


@shows("account-collections", "account-collection-tasks")
@pytest_twisted.ensureDeferred
async def test_nobody_changes_what_is_not_theirs(served):
    owner, _ada = await served.person("owner"), await served.person("ada")
    await served.person("eve")
    await served.person("boss", admin=True)
    birds = await served.project(owner, tasks=1, published=True)
    draft = await served.project(owner, "draft", tasks=1)
    ada = await signed_in(served, "ada")
    number = await made(ada, published="y")
    assert (await send(ada, f"{AT}/add", task_id=birds["tasks"][0], collection_id=number, note="mine")).status == 200
    assert (await send(ada, f"{AT}/{number}", name="Owls", published="y")).status == 200
    task = f"tasks/{birds['tasks'][0]}"
    for name in ("eve", "boss"):
        browser = await signed_in(served, name)
        their = f"/account/{name}/collections"
        csrf = {"X-CSRFToken": await token(browser, their)}
        assert (await browser.page(AT)).status == (await browser.page(f"{AT}/add?task_id=1")).status == 403
        for way, fields in (
            ("", {"name": "x"}), ("/delete", {}), (f"/{task}", {"note": "x"}), (f"/{task}/remove", {}),
        ):  # fmt: skip
            for at, status in ((AT, 403), (their, 404)):
                refused = await browser.post(f"{at}/{number}{way}", json=fields, headers=csrf)
                assert refused.status == status, (name, at, way)
        body = {"task_id": birds["tasks"][0], "collection_id": number}
        assert (await browser.post(f"{their}/add", json=body, headers=csrf)).status == 404
    assert [row["note"] for row in await rows(served)] == ["mine"]
    for wrong, status in ((draft["tasks"][0], 404), (10**18, 404), ("x", 415)):
        assert (await send(ada, f"{AT}/add", task_id=wrong, collection_id=number)).status == status
    assert (await served.client().get(AT, headers=HTML)).status == 302
    assert (await ada.post(AT, json={"name": "x"})).status == 400  # without the token of a form


@shows("account-collections", "account-collection-tasks")
@pytest_twisted.ensureDeferred
async def test_number_and_length_are_bounded(served, monkeypatch):
    monkeypatch.setattr(collections, "MAX_COLLECTIONS", 2)
    monkeypatch.setattr(collections, "MAX_TASKS", 1)
    owner, _ada = await served.person("owner"), await served.person("ada")
    birds = await served.project(owner, tasks=2, published=True)
    browser = await signed_in(served, "ada")
    number = await made(browser)
    for fields, wrong in (
        ({"name": " "}, "name"), ({"name": "x" * 101}, "name"), ({"name": "Owls"}, "name"),
        ({"name": "x", "description": "x" * 1001}, "description"),
    ):  # fmt: skip
        assert (await send(browser, AT, **fields)).json()["form"]["errors"].keys() == {wrong}, fields
    first, second = birds["tasks"]
    assert (await send(browser, f"{AT}/add", task_id=first, collection_id=number)).status == 200
    long = (await send(browser, f"{AT}/{number}/tasks/{first}", note="x" * 501)).json()
    assert long["form"]["errors"].keys() == {"note"} and long["tasks"][0]["note"] == ""
    full = (await send(browser, f"{AT}/add", task_id=second, collection_id=number)).json()
    assert full["form"]["errors"] == {"collection_id": ["A collection may have at most 1 tasks."]}
    again = await send(browser, f"{AT}/add", task_id=first, collection_id=number)
    assert again.json()["next"] == f"{AT}/{number}"
    other = await send(browser, f"{AT}/add", task_id=second, collection_id=number, name="New", note="n")
    assert other.json()["next"].startswith(AT)
    assert [(row["task_id"], row["note"]) for row in await rows(served)] == [(first, ""), (second, "n")]
    assert (await send(browser, AT, name="third")).json()["form"]["errors"].keys() == {"name"}
    taken = (await send(browser, f"{AT}/{number}", name="New")).json()
    assert taken["form"]["errors"] == {"name": ["You already have a collection with this name."]}
    assert (await send(browser, AT, name="a\0")).status == 415


@shows("account-collection-tasks")
@pytest_twisted.ensureDeferred
async def test_the_same_task_twice_at_once_is_one_row_and_one_bound(served, monkeypatch):
    monkeypatch.setattr(collections, "MAX_COLLECTIONS", 2)
    owner, _ada = await served.person("owner"), await served.person("ada")
    birds = await served.project(owner, tasks=2, published=True)
    browser = await signed_in(served, "ada")
    number, csrf = await made(browser), {"X-CSRFToken": await token(browser)}
    body = {"task_id": birds["tasks"][0], "collection_id": number, "note": "n"}
    posts = [browser.post(f"{AT}/add", json=body, headers=csrf) for _ in range(5)]
    assert {each.status for each in await gatherResults([ensureDeferred(post) for post in posts])} == {200}
    assert len(await rows(served)) == 1
    names = [browser.post(AT, json={"name": f"new {n % 2}"}, headers=csrf) for n in range(4)]
    answers = await gatherResults([ensureDeferred(post) for post in names])
    assert sum("next" in each.json() for each in answers) == 1
    assert len((await browser.page(AT)).json()["collections"]) == 2


async def while_it_waits(served: Any, hold: Any, post: Any, then: Any) -> Any:
    """The answer to a request that begins once a transaction has done ``hold`` and before it does ``then`` and commits."""
    sent: list[Any] = []

    async def work(tx: Any) -> None:
        await hold(tx)
        sent.append(ensureDeferred(post))
        waiting: list[Any] = []
        while not (waiting or sent[0].called):
            waiting = await served.database.fetch(
                "SELECT FROM pg_locks WHERE NOT granted AND pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database())"
            )
        await then(tx)

    await served.database.transaction(work)
    return await sent[0]


@shows("account-collections")
@pytest_twisted.ensureDeferred
async def test_the_bound_holds_for_two_at_once(served, monkeypatch):
    monkeypatch.setattr(collections, "MAX_COLLECTIONS", 2)
    ada = await served.person("ada")
    browser = await signed_in(served, "ada")
    await made(browser)
    post = browser.post(AT, json={"name": "third"}, headers={"X-CSRFToken": await token(browser)})
    answered = await while_it_waits(
        served,
        lambda tx: community_statements.lock_collections(tx, ada.user_id),
        post,
        lambda tx: community_statements.insert_collection(tx, ada.user_id, "second", ""),
    )
    assert answered.json()["form"]["errors"].keys() == {"name"}
    assert [one["name"] for one in (await browser.page(AT)).json()["collections"]] == ["Owls", "second"]


@shows("account-collection-tasks")
@pytest_twisted.ensureDeferred
async def test_a_task_that_is_deleted_meanwhile_leaves_no_row(served):
    owner, _ada = await served.person("owner"), await served.person("ada")
    birds = await served.project(owner, tasks=2, published=True)
    browser = await signed_in(served, "ada")
    number, csrf = await made(browser), {"X-CSRFToken": await token(browser)}
    first, second = birds["tasks"]

    async def delete(tx: Any) -> None:
        await tx.fetch("SELECT FROM task_ledger WHERE task_id = %(task)s FOR UPDATE", {"task": first})
        await tx.fetch("SELECT clear_tasks(%(p)s, ARRAY[%(task)s::bigint])", {"p": birds["id"], "task": first})

    async def nothing(_tx: Any) -> None:
        return None

    post = browser.post(f"{AT}/add", json={"task_id": first, "collection_id": number}, headers=csrf)
    assert (await while_it_waits(served, delete, post, nothing)).status == 404
    assert await rows(served) == []
    last = {"task_id": second, "collection_id": number}
    assert (await browser.post(f"{AT}/add", json=last, headers=csrf)).status == 200
    assert (await owner.delete(f"/api/task/{second}")).status == 204
    assert await rows(served) == []
