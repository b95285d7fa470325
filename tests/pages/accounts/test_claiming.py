"""Answers given in a browser before its person signed up: whose they are, and that every figure stays exact."""

import psycopg2
import pytest_twisted
from support.browsers import PASSWORD, registration, sign_in
from support.checks.invariants import invariants
from support.checks.shows import shows
from support.servers.queue_runner import worked
from twisted.internet.defer import ensureDeferred, gatherResults

from crowdd.features.signin import answer_claims


async def answer(client, project, times=1):
    """Answers that many tasks; the ids of the tasks."""
    done = []
    for _ in range(times):
        task = (await client.get(f"/api/{project['id']}/newtask")).json()
        sent = await client.post("/api/taskrun", json={"project_id": project["id"], "task_id": task["id"], "info": "a"})
        assert sent.status == 200, sent.body
        done.append(task["id"])
    return done


async def volunteer(served):
    """A browser without an account."""
    browser = served.client()
    await browser.get("/about")
    assert browser.cookies["volunteer"]
    return browser


def broken(dsn, highest=0):
    connection = psycopg2.connect(dsn, options="-c search_path=public,code")
    try:
        return invariants(connection, highest)
    finally:
        connection.close()


async def actors(served):
    rows = await served.database.fetch(
        "SELECT task_id, left(actor, 2) AS actor, user_id, user_ip FROM task_run ORDER BY task_id, id"
    )
    return [(row["task_id"], row["actor"]) for row in rows]


@shows("account-claim", "taskrun-claim")
@pytest_twisted.ensureDeferred
async def test_answers_are_claimed_at_sign_up(served, dsn):
    owner = await served.person("owner")
    birds = await served.project(owner, tasks=4, published=True, n_answers=2)
    fish = await served.project(owner, "fish", tasks=2, published=True, n_answers=1)
    browser, other = await volunteer(served), await volunteer(served)
    await answer(browser, birds, 3)
    await answer(browser, fish, 1)
    await answer(other, birds, 1)
    await served.database.fetch("SELECT fold_stats()")
    await answer(other, birds, 1)
    page = await browser.get("/account/register")
    assert "Put the 4 answers given in this browser under my name" in page.text
    done = await browser.send_form("/account/register", {**registration("ada"), "claim": True})
    assert done.json()["flash"] == "4 answers are now under your name."
    me = (await browser.page("/account/profile")).json()
    assert (me["user"]["n_answers"], len(me["projects_contrib"])) == (4, 2)
    for path, done_ in ((birds, 3), (fish, 1)):
        assert (await browser.get(f"/api/project/{path['id']}/userprogress")).json()["done"] == done_
    assert broken(dsn) == []
    await served.database.fetch("SELECT fold_stats()")
    assert broken(dsn) == []
    figures = (await served.client().page("/project/birds/")).json()
    assert (figures["n_volunteers"], figures["n_task_runs"]) == (2, 5)


@shows("taskrun-claim")
@pytest_twisted.ensureDeferred
async def test_nothing_is_claimed_unasked(served, dsn):
    owner = await served.person("owner")
    birds = await served.project(owner, tasks=2, published=True)
    browser = await volunteer(served)
    await answer(browser, birds, 2)
    await browser.send_form("/account/register", registration("ada"))
    assert {actor for _, actor in await actors(served)} == {"c:"}
    assert (await browser.page("/account/ada/claim")).json()["answers"] == 2
    assert "2 answers without a name" in (await browser.get("/account/ada/claim")).text
    done = await browser.send_form("/account/ada/claim", {})
    assert done.json()["flash"] == "2 answers are now under your name."
    assert {actor for _, actor in await actors(served)} == {"u:"} and broken(dsn) == []
    assert (await browser.page("/account/ada/claim")).json()["answers"] == 0


@shows("taskrun-claim")
@pytest_twisted.ensureDeferred
async def test_what_the_account_has_answered_itself_stays_anonymous(served, dsn):
    owner, ada = await served.person("owner"), await served.person("ada")
    birds = await served.project(owner, tasks=3, published=True, n_answers=3)
    first = await answer(ada, birds, 1)
    browser = await volunteer(served)
    both = await answer(browser, birds, 2)
    assert first[0] in both
    await sign_in(browser, "ada")
    assert (await browser.send_form("/account/ada/claim", {})).json()["flash"] == "One answer is now under your name."
    mine = [task for task, actor in await actors(served) if actor == "u:"]
    assert sorted(mine) == sorted(both) and broken(dsn) == []
    row = (
        await served.database.fetch(
            "SELECT count(*) AS n FROM task_run WHERE actor LIKE 'c:%%' AND task_id = %(t)s", {"t": first[0]}
        )
    )[0]
    assert row["n"] == 1


@pytest_twisted.ensureDeferred
async def test_a_question_that_was_open_while_signing_up_can_be_answered(served, dsn):
    owner = await served.person("owner")
    birds = await served.project(owner, tasks=2, published=True, n_answers=1)
    browser = await volunteer(served)
    await answer(browser, birds, 1)
    task = (await browser.get(f"/api/{birds['id']}/newtask")).json()
    await browser.send_form("/account/register", {**registration("ada"), "claim": "y"})
    sent = await browser.post("/api/taskrun", json={"project_id": birds["id"], "task_id": task["id"], "info": "b"})
    assert sent.status == 200 and sent.json()["user_id"] and sent.json()["timeout"] is None, sent.body
    assert broken(dsn) == []


@pytest_twisted.ensureDeferred
async def test_leases_of_the_account_on_claimed_tasks_become_free(served, dsn):
    owner, ada = await served.person("owner"), await served.person("ada")
    birds = await served.project(owner, tasks=1, published=True, n_answers=2)
    browser = await volunteer(served)
    await ada.get(f"/api/{birds['id']}/newtask")
    await answer(browser, birds, 1)
    await sign_in(browser, "ada")
    await browser.send_form("/account/ada/claim", {})
    assert (await served.database.fetch("SELECT count(*) AS n FROM lease"))[0]["n"] == 0 and broken(dsn) == []
    assert await answer(await volunteer(served), birds, 1)
    assert broken(dsn) == []


@pytest_twisted.ensureDeferred
async def test_who_gave_the_answers_away_does_not_meet_the_tasks_again(served, dsn):
    owner = await served.person("owner")
    birds = await served.project(owner, tasks=5, published=True, n_answers=3)
    browser = await volunteer(served)
    before = await answer(browser, birds, 3)
    cookie = browser.cookies["volunteer"]
    await browser.send_form("/account/register", {**registration("ada"), "claim": True})
    anonymous = served.client()
    anonymous.cookies["volunteer"] = cookie
    assert broken(dsn) == []
    assert (await answer(anonymous, birds, 1))[0] not in before and broken(dsn) == []


@pytest_twisted.ensureDeferred
async def test_many_answers_are_moved_by_the_queue(served, dsn, monkeypatch):
    monkeypatch.setattr(answer_claims, "AT_ONCE", 2)
    owner = await served.person("owner")
    birds = await served.project(owner, tasks=7, published=True)
    browser = await volunteer(served)
    await answer(browser, birds, 7)
    done = await browser.send_form("/account/register", {**registration("ada"), "claim": True})
    assert done.json()["flash"] == "2 answers are now under your name."
    assert [(item["state"], item["result"]) for item in await worked(served)] == [("done", {"answers": 5})]
    assert {actor for _, actor in await actors(served)} == {"u:"} and broken(dsn) == []


@pytest_twisted.ensureDeferred
async def test_nobody_claims_with_a_cookie_that_is_not_ours(served):
    owner = await served.person("owner")
    birds = await served.project(owner, tasks=2, published=True)
    browser = await volunteer(served)
    await answer(browser, birds, 2)
    thief = served.client()
    thief.cookies["volunteer"] = browser.cookies["volunteer"].split(".")[0] + "." + "0" * 40
    await thief.send_form("/account/register", {**registration("mallory"), "claim": True})
    await thief.send_form("/account/mallory/claim", {})
    assert {actor for _, actor in await actors(served)} == {"c:"}


@pytest_twisted.ensureDeferred
async def test_claiming_while_others_answer_and_claim_leaves_all_exact(served, dsn):
    owner = await served.person("owner")
    birds = await served.project(owner, tasks=12, published=True, n_answers=3)
    browsers = [await volunteer(served) for _ in range(4)]
    for browser in browsers:
        await answer(browser, birds, 5)
    for name in ("person0", "person1"):
        await served.person(name)
    for number, browser in enumerate(browsers):
        await browser.send_form("/account/signin", {"email": f"person{number % 2}", "password": PASSWORD})
    tokens = [(await b.page(f"/account/person{n % 2}/claim")).json()["form"]["csrf"] for n, b in enumerate(browsers)]
    claims = [
        browser.post(f"/account/person{n % 2}/claim", json={}, headers={"X-CSRFToken": tokens[n]})
        for n, browser in enumerate(browsers)
    ]
    fresh = [await volunteer(served) for _ in range(3)]
    work = [ensureDeferred(each) for each in [*claims, *(answer(browser, birds, 2) for browser in fresh)]]
    results = await gatherResults(work, consumeErrors=True)
    assert [each.status for each in results[:4]] == [200] * 4
    assert broken(dsn) == []
    people = await served.database.fetch("SELECT user_id, count(*) AS n FROM task_run GROUP BY 1 ORDER BY 1")
    assert sum(row["n"] for row in people) == 26
