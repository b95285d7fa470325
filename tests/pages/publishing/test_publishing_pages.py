"""The page before publishing and the page to share: what they say is computed from rows."""

from __future__ import annotations

import json
import re

import pytest_twisted
from support.checks.shows import shows

HTML = {"Accept": "text/html", "Sec-Fetch-Site": "same-origin"}
QUESTIONS = {
    "version": 1,
    "steps": [{
        "name": "look", "media": [{"name": "photo", "type": "picture", "source": {"column": "url"}, "description": "A gate"}],
        "questions": [{"name": "fox", "type": "yes_no", "text": "Is it a fox?"}],
    }],
}  # fmt: skip


async def shown(client, path):
    answer = await client.get(path, headers=HTML)
    assert answer.status == 200, answer.text
    return " ".join(answer.text.split())


@shows("page-publish")
@pytest_twisted.ensureDeferred
async def test_the_estimate_follows_tasks_answers_and_volunteers(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=3, n_answers=30)
    page = await shown(owner, "/project/birds/publish")
    assert "90 answers are needed. Nobody has answered yet. We assume 30 seconds" in page
    assert "With 20 volunteers a day, this takes about 2 days." in page  # each gives 3 answers at most
    assert "With 1 volunteer a day, this takes about 5 weeks." in await shown(
        owner, "/project/birds/publish?volunteers=1"
    )
    refused = await shown(owner, "/project/birds/publish?volunteers=0")
    assert "Enter a whole number from 1 to 100,000." in refused and "With 20 volunteers a day" in refused
    task = (await owner.get(f"/api/project/{project['id']}/newtask")).json()
    run = {"project_id": project["id"], "task_id": task["id"], "info": 1}
    assert (await owner.post("/api/taskrun", json=run)).status == 200
    tried = await shown(owner, "/project/birds/publish")
    assert "The trial answer took 1 second." in tried and "90 answers are needed." in tried  # trial answers go
    assert set((await owner.page("/project/birds/publish")).json()) >= {
        "csrf",
        "try_link",
        "answers_wanted",
        "trial_answers",
    }


@pytest_twisted.ensureDeferred
async def test_what_blocks_and_what_is_advice_are_told_apart_and_data_is_missed(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    empty = await shown(owner, "/project/birds/publish")
    assert empty.count('class="badge bad"') == 1 and "disabled" in empty and "How long it takes" not in empty
    info = {"questions": QUESTIONS}
    assert (await owner.put(f"/api/project/{project['id']}", json={"info": info})).status == 200
    rows = [
        {"project_id": project["id"], "info": info}
        for info in ({"url": "/a.jpg"}, {"url": ""}, {"link": "/b.jpg"}, [1])
    ]
    assert (await owner.post("/api/task", json=rows)).status == 200
    page = await shown(owner, "/project/birds/publish")
    assert "3 of the newest 4 tasks have no “url”." in page and page.count('class="badge warn"') == 1
    assert 'class="badge bad"' not in page and 'class="btn main big">Publish' in page
    assert "/project/birds/tutorial/edit" in page
    assert (await owner.post("/project/birds/publish", json={})).status == 200  # a doubt blocks nothing


@shows("page-share")
@pytest_twisted.ensureDeferred
async def test_a_project_is_shared_by_link_code_poster_and_card(served):
    owner = await served.person("owner")
    await served.project(owner, tasks=1)
    draft = await shown(owner, "/project/birds/share")
    assert "This is a draft." in draft and "?try=" in draft and "poster.pdf" not in draft and "iframe" not in draft
    assert (await owner.get("/project/birds/share/poster.pdf")).status == 404
    await owner.post("/project/birds/publish", json={})
    page = await shown(owner, "/project/birds/share")
    link = f"{served.house.base.settings.base_url.rstrip('/')}/project/birds/"
    assert (
        'class="qr small"' in page and f'value="{link}"' in page and f"You can help, without an account: {link}" in page
    )
    assert f"&lt;iframe src=&#34;{link}embed&#34; title=&#34;Birds&#34;" in page
    assert (await owner.page("/project/birds/share")).json()["link"] == link
    assert link.rstrip("/").removeprefix("http://") in await shown(owner, "/project/birds/share/poster")
    for name, kind, begin in (
        ("poster.pdf", "application/pdf", b"%PDF"), ("qr.png", "image/png", b"\x89PNG"), ("qr.svg", "image/svg+xml", b"<svg"),
    ):  # fmt: skip
        file = await owner.get(f"/project/birds/share/{name}")
        assert (file.status, file.header("content-type")) == (200, kind) and file.body.startswith(begin)
        assert file.header("content-disposition") == f'attachment; filename="birds-{name}"'


@pytest_twisted.ensureDeferred
async def test_a_published_project_leads_to_volunteers_and_then_to_its_answers(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1, published=True)
    first = await shown(owner, "/project/birds/")
    assert "Nobody has answered yet. Invite people." in first and "Download answers" not in first
    task = (await owner.get(f"/api/project/{project['id']}/newtask")).json()
    assert "1 volunteer has a task now." in await shown(owner, "/project/birds/settings")
    await owner.post("/api/taskrun", json={"project_id": project["id"], "task_id": task["id"], "info": 1})
    page = await shown(owner, "/project/birds/")
    assert "1 answer so far · 0 finished tasks" in page and 'href="/project/birds/tasks/export"' in page
    assert "No volunteer has a task at the moment." in await shown(owner, "/project/birds/settings")
    assert "Download answers" not in await shown(served.client(), "/project/birds/")


@shows("page-share")
@pytest_twisted.ensureDeferred
async def test_only_owners_share_and_letters_without_a_font_are_named(served):
    owner, stranger = await served.person("owner"), await served.person("eve")
    project = await served.project(owner, tasks=1, published=True)
    for name in ("share", "share/poster", "share/poster.pdf", "share/qr.svg", "share/qr.png"):
        assert (await stranger.get(f"/project/birds/{name}")).status == 403, name
        assert (await served.client().get(f"/project/birds/{name}")).status in (302, 401), name
    assert (await owner.put(f"/api/project/{project['id']}", json={"name": "Uruk 𐕰"})).status == 200
    refused = await owner.get("/project/birds/share/poster.pdf", headers=HTML)
    assert refused.status == 400 and "No font on this server has these letters: 𐕰." in refused.text
    assert "Uruk 𐕰" in await shown(owner, "/project/birds/share/poster")
    private = {"info": {"task_presenter": "x", "thumbnail": "../../etc/passwd", "container": "user_1"}, "name": "Birds"}
    assert (await owner.put(f"/api/project/{project['id']}", json=private)).status == 200
    assert (await owner.get("/project/birds/share/poster.pdf")).status == 200


@pytest_twisted.ensureDeferred
async def test_each_step_of_a_draft_is_shown_as_done_when_nothing_is_left_to_do_there(served):
    owner = await served.person("owner")
    form = {"name": "Gates", "short_name": "gates", "description": "Is it a fox?"}
    assert (await owner.post("/project/new", json=form)).json()["next"].endswith("/tasks/taskpresentereditor")

    async def done():
        steps = re.findall(r'<li class="done">.*?>([^<]*)<', (await shown(owner, "/project/gates/publish")))
        return [step.strip() for step in steps]

    assert await done() == []
    editor = "/project/gates/tasks/taskpresentereditor?part=questions"
    begun = (await owner.page(editor)).json()["form"]
    assert json.loads(begun["questions"])["steps"][0]["questions"][0]["text"] == "Is it a fox?"
    sent = {"questions": json.dumps(QUESTIONS), "base": begun["base"]}
    assert (await owner.post(editor, json={**sent, "onward": "on"})).json()["next"] == "/project/gates/tasks/media"
    assert await done() == ["Question and answers", "Who sees answers"]
    project = (await owner.get("/api/project", params={"short_name": "gates"})).json()[0]
    await owner.post("/api/task", json={"project_id": project["id"], "info": {"url": "/static/img/sample-1.svg"}})
    assert await done() == ["Question and answers", "Tasks", "Answers per task", "Who sees answers"]


@shows("page-editor-questions-onward")
@pytest_twisted.ensureDeferred
async def test_texts_lead_on_to_tables_and_mistakes_nowhere(served):
    owner = await served.person("owner")
    await served.project(owner, tasks=0)
    editor = "/project/birds/tasks/taskpresentereditor?part=questions"
    step = {**QUESTIONS["steps"][0], "media": []}
    sent = {"questions": json.dumps({**QUESTIONS, "steps": [step]}), "onward": "on"}
    refused = (await owner.post(editor, json={**sent, "questions": "{"})).json()
    assert refused["form"]["errors"] and "next" not in refused
    assert (await owner.post(editor, json=sent)).json()["next"] == "/project/birds/tasks/import"


@pytest_twisted.ensureDeferred
async def test_a_project_without_a_picture_shows_that_of_its_first_task_when_it_is_published(served):
    owner = await served.person("owner")
    mine, theirs = "/uploads/project_1/mine.webp", "/uploads/project_1/first.webp"
    cases = (
        ("own", {"thumbnail_url": mine}, {"thumbnail": theirs}, mine),
        ("none", {}, {"thumbnail": theirs}, theirs),
        ("hidden", {"column_roles": {"thumbnail": "hidden"}}, {"thumbnail": theirs}, None),
        ("elsewhere", {}, {"thumbnail": "https://pictures.example/1.webp"}, None),
        ("list", {}, {"thumbnail": [theirs]}, None),
        ("text", {}, 7, None),
    )
    for name, info, first, shown_picture in cases:
        body = {"name": name, "short_name": name, "description": "?", "info": {"task_presenter": "<p>x</p>", **info}}
        made = (await owner.post("/api/project", json=body)).json()
        for task in (first, {"thumbnail": "/uploads/project_1/second.webp"}):
            sent = await owner.post("/api/task", json={"project_id": made["id"], "info": task})
            assert sent.status == 200, sent.text
        assert (await owner.post(f"/project/{name}/publish", json={})).json()["status"] == "success"
        now = (await owner.get(f"/api/project/{made['id']}")).json()["info"]
        assert now.get("thumbnail_url") == shown_picture, name
