"""The example in one click: made once, one's own, changed as one likes; nobody else's project is touched."""

from __future__ import annotations

import pytest_twisted
from support.browsers import newcomer
from support.checks.shows import shows
from twisted.internet.defer import ensureDeferred, gatherResults

from crowdd.features.gallery.drafts import EXAMPLES
from crowdd.kernel.files import find_shipped
from crowdd.kinds.questions.text_languages import columns_of

CLICK = "/project/new/example"
HTML = {"Accept": "text/html"}


async def click(browser, **more):
    return await browser.send_form(CLICK, {}, token_from="/project/new", **more)


async def projects_of(served):
    return await served.database.fetch("SELECT id, short_name, name, owner_id, published FROM project ORDER BY id")


@shows("page-new-example")
@pytest_twisted.ensureDeferred
async def test_one_click_makes_a_draft_of_ones_own_and_the_next_one_leads_to_it(served):
    ada = await newcomer(served, "ada")
    for page in ("/", "/project/new", "/account/ada/projects"):
        assert f'action="{CLICK}"' in (await ada.get(page, headers=HTML)).text, page
    done = (await click(ada)).json()
    assert done["next"] == "/project/digits-1/" and done["status"] == "success"
    (row,) = await projects_of(served)
    assert (row["name"], row["owner_id"], row["published"]) == ("Handwritten digits (ada)", 1, False)
    page = (await ada.page(done["next"])).json()
    assert page["n_tasks"] == 200 and "Nobody else" in done["flash"]
    frame = await ada.get("/project/digits-1/newtask?_presenter=1", headers={"Sec-Fetch-Dest": "iframe"})
    assert "Which digit is this?" in frame.text
    task = (await ada.get(f"/api/project/{row['id']}/newtask")).json()
    assert (await ada.get(task["info"]["image"])).body[:4] == b"\x89PNG" and task["n_answers"] == 3
    log = (await ada.page("/project/digits-1/auditlog")).json()["auditlog"]
    assert {act["user_name"] for act in log} == {"ada"}
    info = {**page["project"]["info"], "task_presenter": "<p>mine</p>"}
    key = served.client((await ada.page("/account/profile")).json()["user"]["api_key"])
    await key.put(f"/api/project/{row['id']}", json={"info": info, "name": "My digits"})
    assert (await click(ada)).json()["next"] == "/project/digits-1/"
    (row,) = await projects_of(served)
    changed = (await ada.page("/project/digits-1/")).json()
    assert row["name"] == "My digits" and changed["project"]["info"]["task_presenter"] == "<p>mine</p>"
    await key.delete(f"/api/project/{row['id']}")
    assert (await click(ada)).json()["next"] == "/project/digits-1/", "one that was deleted is created again"


@pytest_twisted.ensureDeferred
async def test_two_clicks_at_once_make_one_example(served):
    ada = await newcomer(served, "ada")
    token = (await ada.page("/project/new")).json()["form"]["csrf"]
    clicks = [ensureDeferred(ada.post(CLICK, json={}, headers={"X-CSRFToken": token})) for _ in range(3)]
    answers = [answer.json() for answer in await gatherResults(clicks)]
    assert {answer["next"] for answer in answers} == {"/project/digits-1/"}, answers
    assert len(await projects_of(served)) == 1
    assert (await ada.page("/project/digits-1/")).json()["n_tasks"] == 200


@shows("page-new-example")
@pytest_twisted.ensureDeferred
async def test_nobody_gets_one_without_an_account_or_a_token(served):
    anonymous, ada = served.client(), await newcomer(served, "ada")
    for page in ("/", "/account/ada/"):
        assert CLICK not in (await anonymous.get(page, headers=HTML)).text, page
    assert (await anonymous.post(CLICK, json={})).status == 400, "no token"
    refused = await anonymous.send_form(CLICK, {}, token_from="/account/signin")
    assert (refused.status, refused.header("location")) == (302, "/account/signin?next=/")
    assert (await ada.post(CLICK, json={})).status == 400
    assert (await ada.page(CLICK)).status == 405
    assert await projects_of(served) == []


@pytest_twisted.ensureDeferred
async def test_names_that_are_taken_are_left_alone(served):
    bob = await served.person("bob")
    theirs = await served.project(bob, "digits-2")
    ada = await newcomer(served, "ada")
    assert (await click(ada)).json()["next"] == "/project/digits-2-2/"
    assert (await click(ada)).json()["next"] == "/project/digits-2-2/"
    rows = await projects_of(served)
    assert [(row["short_name"], row["owner_id"]) for row in rows] == [("digits-2", bob.user_id), ("digits-2-2", 2)]
    left = (await bob.get(f"/api/project/{theirs['id']}")).json()
    assert left["name"] != rows[1]["name"] and left["n_tasks"] == 0


@shows("page-new-example")
@pytest_twisted.ensureDeferred
async def test_each_example_is_whole_and_can_be_answered(served):
    ada = await newcomer(served, "ada")
    page = (await ada.get("/templates", headers=HTML)).text
    for name in EXAMPLES:
        assert f'value="{name}"' in page, name
        done = (await ada.send_form(CLICK, {"example": name}, token_from="/project/new")).json()
        assert done["next"] == f"/project/{name}-1/", done
        made = (await ada.page(done["next"])).json()
        tasks = (find_shipped(f"examples/{name}") / "tasks.ndjson").read_text().splitlines()
        assert made["n_tasks"] == len(tasks), name
        task = (await ada.get(f"/api/project/{made['project']['id']}/newtask")).json()
        files = [value for value in task["info"].values() if str(value).startswith("/uploads/")]
        assert [(await ada.get(file)).status for file in files] == [200] * len(files)
        info = made["project"]["info"]
        assert info.get("task_presenter") or columns_of(info["questions"]) <= task["info"].keys(), name
        assert (find_shipped(f"examples/{name}") / "README.md").read_text().startswith("# ")
    wrong = await ada.send_form(CLICK, {"example": "../digits"}, token_from="/project/new")
    assert wrong.status == 404
