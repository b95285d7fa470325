"""News of projects for those who helped them: what they read on the site, what they are sent, and how they end it."""

from __future__ import annotations

import re
from typing import Any

import pytest
import pytest_twisted
from support.browsers import lock, signed_in
from support.checks.shows import shows
from support.factors import letters, pass_time
from support.servers.mailbox import Mailbox
from twisted.internet import reactor
from twisted.internet.defer import ensureDeferred, gatherResults

from crowdd.core.mail.backend import post
from crowdd.core.mail.mail import Mail
from crowdd.core.mail.message import MailRenderer, Sender
from crowdd.core.mail.returned import sealed_by
from crowdd.features.news.digest import Digest
from crowdd.features.news.feature import NewsFeature
from crowdd.kernel.config.outbound import MailSettings
from crowdd.kernel.languages import Languages
from crowdd.sched import event_statements

HTML = {"Accept": "text/html", "Sec-Fetch-Site": "none"}
AGREED = "UPDATE account SET subscribed = true, valid_email = true WHERE name = %(name)s"
POST = {"title": "Gate 2 is open", "body": "New batteries.", "published": True}


async def answer(who: Any, project: dict[str, Any], info: Any = "fox") -> int:
    task = (await who.get(f"/api/{project['id']}/newtask")).json()
    body = {"project_id": project["id"], "task_id": task["id"], "info": info}
    assert (await who.post("/api/taskrun", json=body)).status == 200
    return int(task["id"])


async def helped(served: Any, short_name: str = "birds", *names: str, tasks: int = 1, **more: Any) -> tuple[Any, Any]:
    """A published project in which each of these answered once, and its owner."""
    owner = await served.person(f"owner-{short_name}")
    project = await served.project(owner, short_name, tasks=tasks, published=True, **{"n_answers": 1, **more})
    for name in names:
        await answer(await served.person(name), project)
    await event_statements.number_events(served.database, project["id"])
    return owner, project


async def told(browser: Any, name: str) -> list[tuple[str, str]]:
    rows = (await browser.page(f"/account/{name}/news")).json()["news"]
    return [(row["kind"], row["project"]["short_name"]) for row in rows]


@shows("account-news")
@pytest_twisted.ensureDeferred
async def test_who_helped_a_project_is_told_and_nobody_else(served):
    owner, project = await helped(served, "birds", "ada")
    await served.person("bob")
    ada, bob, boss = [await signed_in(served, name) for name in ("ada", "bob", "owner-birds")]
    (row,) = (await ada.page("/account/ada/news")).json()["news"]
    assert (row["kind"], row["headline"], row["new"]) == ("finished", "Birds is finished", True)
    assert row["detail"] == "Volunteers gave 1 answers to 1 tasks. One of them is yours."
    assert row["path"] == "/project/birds/results" and (await ada.get(row["path"], headers=HTML)).status == 200
    assert [row["new"] for row in (await ada.page("/account/ada/news")).json()["news"]] == [False]
    assert await told(bob, "bob") == [] and await told(boss, "owner-birds") == []
    assert (await bob.page("/account/ada/news")).status == 403
    draft = (await owner.post("/api/blogpost", json={**POST, "project_id": project["id"], "published": False})).json()
    assert len(await told(ada, "ada")) == 1
    assert (await owner.put(f"/api/blogpost/{draft['id']}", json={"published": True})).status == 200
    assert await told(ada, "ada") == [("post", "birds"), ("finished", "birds")]
    rows = [{"project_id": project["id"], "info": {"n": 9}}]
    assert (await owner.post("/api/task", json=rows)).status == 200
    await event_statements.number_events(served.database, project["id"])
    assert await told(ada, "ada") == [("resumed", "birds"), ("post", "birds")], "it is not finished any more"
    assert (await owner.delete(f"/api/blogpost/{draft['id']}")).status == 204
    await lock(served, "birds", owner, "hush hush hush")
    assert await told(ada, "ada") == []


@pytest_twisted.ensureDeferred
async def test_a_project_says_the_same_once_in_a_week_and_is_muted_by_a_button(served):
    owner, project = await helped(served, "birds", "ada", tasks=2)
    ada = await signed_in(served, "ada")
    for _twice in range(2):
        for act in ("pause", "publish"):
            assert (await owner.post(f"/project/birds/{act}", json={})).status == 200
    assert await told(ada, "ada") == [("resumed", "birds")]
    at = "/account/ada/news"
    assert (await ada.send_form(f"{at}/mute", {"project": "birds"}, at)).json()["status"] == "success"
    page = (await ada.page(at)).json()
    assert page["news"] == [] and [one["short_name"] for one in page["muted"]] == ["birds"]
    assert (await ada.send_form(f"{at}/unmute", {"project": "birds"}, at)).json()["status"] == "success"
    assert await told(ada, "ada") == [("resumed", "birds")]
    await served.project(owner, "owls", tasks=1, published=True)
    assert (await ada.send_form(f"{at}/mute", {"project": "owls"}, at)).status == 404, "they never helped it"
    assert (await ada.send_form(f"{at}/unmute", {"project": "owls"}, at)).status == 404
    assert (await owner.delete(f"/api/project/{project['id']}")).status == 204
    assert await served.database.fetch("SELECT FROM notice") == []


@shows("page-task-comment", "page-comments")
@pytest_twisted.ensureDeferred
async def test_an_owner_answers_a_comment_and_its_author_reads_it(served):
    _owner, project = await helped(served, "birds", "ada", tasks=2)
    ada, boss, stranger = await signed_in(served, "ada"), await signed_in(served, "owner-birds"), served.client()
    await stranger.get("/about", headers=HTML)
    form = f"/project/birds/task/{project['tasks'][0]}/comment"
    for browser in (ada, stranger):
        sent = {"kind": "question", "text": f"<b>Short ears?</b> {browser is ada}"}
        assert (await browser.send_form(form, sent)).json()["status"] == "success"
    at = "/project/birds/comments"
    comments = (await boss.page(at)).json()["comments"]
    reply = {"text": "A young one, <i>in moult</i>."}
    for one in comments:
        for _twice in range(2):
            assert (await boss.send_form(f"{at}/{one['id']}/reply", reply, at)).json()["status"] == "success"
    assert (await boss.page(at)).json()["comments"] == [], "what is answered is done"
    assert [len(one["replies"]) for one in (await boss.page(f"{at}?state=done")).json()["comments"]] == [1, 1]
    for browser in (ada, stranger):
        (own,) = (await browser.page(form)).json()["comments"]
        assert own["text"].endswith(str(browser is ada)) and own["replies"][0]["text"] == reply["text"]
        assert "A young one, &lt;i&gt;in moult&lt;/i&gt;." in (await browser.get(form, headers=HTML)).text
    (row,) = (await ada.page("/account/ada/news")).json()["news"]
    assert (row["kind"], row["detail"], row["path"]) == ("reply", reply["text"], form)
    assert (await ada.send_form(f"{at}/{comments[0]['id']}/reply", reply, form)).status == 403
    assert (await boss.send_form(f"{at}/{10**9}/reply", reply, at)).status == 404
    refused = (await boss.send_form(f"{at}/{comments[0]['id']}/reply", {"text": " "}, at)).json()
    assert refused["status"] == "error"
    assert (await served.client().page(form)).json()["comments"] == []


def digest(served: Any) -> Any:
    return served.house[NewsFeature].digest


@pytest_twisted.ensureDeferred
async def test_who_agreed_is_written_to_once_a_week_and_nobody_else(served):
    owner, project = await helped(served, "birds", "ada", "bob", "carol", "dora", "eve", tasks=5)
    database = served.database
    for name in ("ada", "carol", "dora", "eve"):
        await database.execute(AGREED, {"name": name})
    await database.execute("UPDATE account SET valid_email = false WHERE name = 'carol'")
    await database.execute("UPDATE account SET \"restrict\" = true WHERE name = 'dora'")
    await database.execute(
        "INSERT INTO mail (created, recipient, template, locale, subject, state, due, error, returned)"
        " VALUES (clock(), 'Eve@example.org', 'test', 'en', '', 'dead', clock(), 'no such mailbox', true)"
    )
    await digest(served).send_due()
    assert await letters(served, "news") == [], "what has just happened waits for an hour"
    await pass_time(served, hours=25)
    await gatherResults([ensureDeferred(digest(served).send_due()) for _process in range(3)])
    (letter,) = await letters(served, "news")
    assert letter["recipient"] == "ada@example.org" and "Birds is finished" in letter["text"]
    assert f"{served.house.base.base_url.rstrip('/')}/project/birds/results" in letter["text"]
    eve = await database.fetch("SELECT subscribed FROM account WHERE name = 'eve'")
    assert eve[0]["subscribed"] is False, "what comes back is not tried again when the letter is swept away"
    post = {**POST, "title": "Second\r\nBcc: x@example.org", "project_id": project["id"]}
    assert (await owner.post("/api/blogpost", json=post)).status == 200
    await pass_time(served, days=6)
    await digest(served).send_due()
    assert len(await letters(served, "news")) == 1, "at most one in seven days"
    await pass_time(served, days=1, hours=1)
    await digest(served).send_due()
    _first, second = await letters(served, "news")
    assert "Second Bcc: x@example.org" in second["text"] and "is finished" not in second["text"]
    await pass_time(served, days=30)
    await digest(served).send_due()
    assert len(await letters(served, "news")) == 2, "nothing is new"


@pytest_twisted.ensureDeferred
async def test_a_process_that_is_killed_loses_no_letter_and_doubles_none(served, monkeypatch):
    await helped(served, "birds", "ada")
    await served.database.execute(AGREED, {"name": "ada"})
    await pass_time(served, hours=2)
    original = served.house.base.mail.send.__func__

    async def killed(*args: Any) -> None:
        await original(*args)
        raise RuntimeError("killed")

    monkeypatch.setattr(type(served.house.base.mail), "send", killed)
    with pytest.raises(RuntimeError):
        await digest(served).send_due()
    assert await letters(served, "news") == []
    monkeypatch.undo()
    for _twice in range(2):
        await digest(served).send_due()
    assert len(await letters(served, "news")) == 1


@shows("page-unsubscribe")
@pytest_twisted.ensureDeferred
async def test_one_click_ends_the_letters_and_a_link_that_is_only_followed_does_not(served):
    await helped(served, "birds", "ada")
    await served.database.execute(AGREED, {"name": "ada"})
    await pass_time(served, hours=2)
    await digest(served).send_due()
    (letter,) = await letters(served, "news")
    link = re.search(r"\S+/(unsubscribe\?to=\S+)", letter["text"])[1]
    (stored,) = await served.database.fetch("SELECT unsubscribe FROM mail WHERE template = 'news'")
    assert stored["unsubscribe"].endswith(link)
    mailer, at = served.client(), f"/{link}"

    async def subscribed() -> bool:
        return (await served.database.fetch("SELECT subscribed FROM account WHERE name = 'ada'"))[0]["subscribed"]

    page = await mailer.get(at, headers=HTML)
    assert page.status == 200 and "Stop these e-mails" in page.text and await subscribed()
    for forged in (at[:-1], at + "0", "/unsubscribe", "/unsubscribe?to=1.", re.sub(r"=\d+", "=1", at) + "x"):
        assert (await mailer.post(forged, data={"List-Unsubscribe": "One-Click"})).status == 404
        assert (await mailer.get(forged)).status == 404
    assert await subscribed()
    for _twice in range(2):
        assert (await mailer.post(at, data={"List-Unsubscribe": "One-Click"})).status == 200
    assert not await subscribed()


@pytest_twisted.ensureDeferred
async def test_each_kind_can_be_left_out_of_the_letter(served):
    _owner, _project = await helped(served, "birds", "ada")
    await served.database.execute("UPDATE account SET valid_email = true")
    ada, at = await signed_in(served, "ada"), "/account/ada/news"
    assert (await ada.page(at)).json()["choice"] == {"subscribed": False, "valid_email": True, "without": []}
    chosen = await ada.send_form(at, {"subscribed": True, "finished": False})
    assert chosen.json()["status"] == "success"
    assert (await ada.page(at)).json()["choice"]["without"] == ["finished"]
    await pass_time(served, hours=2)
    await digest(served).send_due()
    assert await letters(served, "news") == []
    await ada.send_form(at, {"finished": True})
    await pass_time(served, days=1, hours=1)
    await digest(served).send_due()
    assert len(await letters(served, "news")) == 1


@shows("page-home-own")
@pytest_twisted.ensureDeferred
async def test_the_home_page_of_somebody_who_answered_is_theirs(served):
    picture = "/uploads/project-1/0123456789abcdef0123456789abcdef.png"
    owner = await served.person("owner")
    project = await served.project(owner, "birds")
    rows = [{"project_id": project["id"], "info": {"image": picture, "n": n}, "n_answers": 2} for n in range(4)]
    assert (await owner.post("/api/task", json=rows)).status == 200
    assert (await owner.post("/project/birds/publish", json={})).status == 200
    ada, bob = await served.person("ada"), await served.person("bob")
    for info in ("fox", "owl", "owl"):
        await answer(ada, project, info)
    for info in ("fox", "heron"):
        await answer(bob, project, info)
    browser, newcomer = await signed_in(served, "ada"), served.client()
    page = (await browser.get("/", headers=HTML)).text
    assert "Go on where you stopped" in page and picture in page and "Small questions" not in page
    assert "Of your last 3, 2 have their result." in page and "3 answers in seven days." in page
    assert 'href="/project/birds/newtask"' in page and "You answered" in page
    visitor = (await newcomer.get("/", headers=HTML)).text
    assert "Small questions" in visitor and "Go on where" not in visitor and picture in visitor
    assert "What volunteers just agreed on" in visitor and "<bdi>fox</bdi>" in visitor
    assert "own" not in (await browser.page("/")).json()
    gold = (await owner.get(f"/api/task?project_id={project['id']}")).json()[-1]
    await served.database.execute("UPDATE project SET has_gold = true")
    page = (await browser.get("/", headers=HTML)).text
    assert gold and "have their result" not in page and "You answered" not in page, "gold tasks never have one"
    assert "Your projects do not show results yet." in page


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_the_letter_arrives_over_smtp_with_a_button_that_ends_it(served):
    await helped(served, "birds", "ada")
    await served.database.execute(AGREED, {"name": "ada"})
    await pass_time(served, hours=2)
    mailbox, base = Mailbox(reactor), served.house.base
    settings = MailSettings(host="127.0.0.1", port=mailbox.listen(), tls="off", sender="crowdd@example.org")
    sender = Sender(lambda: "Site", "crowdd@example.org", "crowdd.example", sealed_by(b"key"))
    renderer = MailRenderer(Languages(), lambda: "Site", served.base)
    mail = Mail(served.database, renderer, sender, post(reactor, settings, "crowdd.example"), 14, lambda _topic: None)
    await Digest(served.database, mail, base.secrets, served.base).send_due()
    assert (await mail.deliver()).sent == 1
    ((recipient, message),) = mailbox.letters
    await mailbox.close()
    assert recipient == "ada@example.org" and message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    address = message["List-Unsubscribe"].strip().removeprefix("<").removesuffix(">").replace(" ", "")
    assert address.startswith(f"{served.base}/unsubscribe?to=")
    clicked = await served.client().post(address.removeprefix(served.base), data={"List-Unsubscribe": "One-Click"})
    assert clicked.status == 200
    rows = await served.database.fetch("SELECT subscribed FROM account WHERE name = 'ada'")
    assert rows[0]["subscribed"] is False
    (kept,) = await served.database.fetch("SELECT text, unsubscribe FROM mail WHERE template = 'news'")
    assert (kept["text"], kept["unsubscribe"]) == (None, None), "what was sent leaves no link behind"


@shows("page-letter")
@pytest_twisted.ensureDeferred
async def test_a_post_goes_as_a_letter_to_those_who_answered_and_agreed_once_a_week(served):
    owner, project = await helped(served, "birds", "ada", "bob", "carol", tasks=3)
    await served.person("dora")
    for name in ("ada", "carol", "dora"):
        await served.database.execute(AGREED, {"name": name})
    await served.database.execute("SELECT fold_stats()")
    body = {"title": "Come on Saturday", "body": "We meet *at the gate*.\n\nBring boots.", "published": True}
    made = [
        (await owner.post("/api/blogpost", json={**body, "project_id": project["id"], "published": shown})).json()
        for shown in (True, True, False)
    ]
    at, later, draft = [f"/project/birds/{post['id']}/letter" for post in made]
    boss, ada, carol = [await signed_in(served, name) for name in ("owner-birds", "ada", "carol")]
    assert (
        await carol.send_form("/account/carol/news/mute", {"project": "birds"}, "/account/carol/news")
    ).status == 200
    assert (await boss.page(at)).json()["readers"] == 1, "carol has muted it, bob has not agreed, dora never helped"
    assert (await boss.page(draft)).status == 404 and (await ada.page(at)).status == 403
    assert (await ada.send_form(at, {}, "/account/ada/news")).status == 403
    sent = await gatherResults([ensureDeferred(boss.send_form(each, {}, each)) for each in (at, at, later)])
    assert sorted(each.status for each in sent) == [200, 415, 415], "of several at once one is sent"
    went = at if (await boss.page(at)).json()["sent"] else later
    assert "A letter from the owners of Birds" in (await ada.get("/account/ada/news", headers=HTML)).text
    await pass_time(served, hours=2)
    await digest(served).send_due()
    (letter,) = await letters(served, "news")
    assert letter["recipient"] == "ada@example.org" and went.removesuffix("/letter") in letter["text"]
    assert "We meet *at the gate*." in letter["text"] and "Bring boots." in letter["text"]
    assert letter["text"].count("Come on Saturday") == 2, "the other post stays a line"
    assert letter["text"].count("Bring boots.") == 1
    other = later if went == at else at
    await pass_time(served, days=6)
    assert (await boss.send_form(other, {}, other)).status == 415
    await pass_time(served, days=1)
    assert (await boss.send_form(other, {}, other)).status == 200
