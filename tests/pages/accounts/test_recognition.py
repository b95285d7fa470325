"""What volunteers get back: what they gave, certificates that can be checked and withdrawn, leaderboards that can be left."""

from __future__ import annotations

from typing import Any

import pytest_twisted
from support.browsers import PASSWORD, signed_in
from support.checks.page_reader import Page, faults
from support.checks.shows import shows
from support.servers.queue_runner import worked
from twisted.internet.defer import ensureDeferred, gatherResults

from crowdd.features.people import personal_data_statements
from crowdd.features.recognition import certificates, contributions

HTML = {"Accept": "text/html"}
DOI = "10.1234/owls.2026"
# Each answer took so long as its page tells, within the time since it was handed out.
TIMED = (
    "UPDATE task_run SET created = finish_time - interval '3 hours', circumstances = jsonb_build_object('seconds_active', %(seconds)s)"
    " WHERE project_id = %(project)s"
)


async def answered(who: Any, project: Any, count: int) -> None:
    for _n in range(count):
        task = (await who.get(f"/api/{project['id']}/newtask")).json()
        body = {"project_id": project["id"], "task_id": task["id"], "info": "owl"}
        assert (await who.post("/api/taskrun", json=body)).status == 200


async def timed(served: Any, project: Any, seconds: float) -> None:
    await served.database.execute(TIMED, {"project": project["id"], "seconds": seconds})


async def counted(served: Any) -> None:
    for job in ("fold_counters", "count_boards"):
        await served.run_job(job)


async def certified(browser: Any, account: str, /, **form: str) -> Any:
    days = {"name": "Ada L.", "first_day": "2020-01-01", "last_day": "2999-01-01"}
    return await browser.send_form(f"/account/{account}/contributions", days | form)


async def own(browser: Any, name: str) -> Any:
    return (await browser.page(f"/account/{name}/contributions")).json()


@shows("account-contributions")
@pytest_twisted.ensureDeferred
async def test_a_person_sees_what_they_gave_and_what_came_of_it(served, monkeypatch):
    owner, ada = await served.person("owner"), await served.person("ada")
    questions = {
        "version": 1,
        "steps": [{"name": "s", "questions": [{"name": "line", "type": "short_text", "text": "Read it."}]}],
    }
    letters = await served.project(owner, "letters", tasks=5, published=True)
    info = {"questions": questions, "papers": [{"doi": DOI, "title": "Owls <at> night"}]}
    assert (await owner.put(f"/api/project/{letters['id']}", json={"info": info})).status == 200
    birds = await served.project(owner, "birds", tasks=5, published=True)
    mine = await served.project(ada, "mine", tasks=5, published=True)
    for project, count, seconds in ((letters, 2, 90), (birds, 3, 5), (mine, 1, 600)):
        await answered(ada, project, count)
        await timed(served, project, seconds)
    browser = await signed_in(served, "ada")
    page = await own(browser, "ada")
    assert (page["answers"], page["seconds"], page["whole"]) == (5, 195, True)
    assert [(one["short_name"], one["answers"], one["seconds"]) for one in page["projects"]] == [
        ("letters", 2, 180),
        ("birds", 3, 15),
    ], "answers to one's own project do not count"
    assert page["projects"][0]["papers"] == [{"doi": DOI, "title": "Owls <at> night"}]
    assert [(one["sort"], one["seconds"]) for one in page["works"]] == [("write", 180), ("", 15)]
    assert len(page["months"]) == 12 and page["months"][-1]["seconds"] == 195
    html = (await browser.get("/account/ada/contributions", headers=HTML)).text
    assert "Owls &lt;at&gt; night" in html and f"https://doi.org/{DOI}" in html and faults(Page(html)) == []
    results = (await served.client().get("/project/letters/results", headers=HTML)).text
    assert "Owls &lt;at&gt; night" in results and f"https://doi.org/{DOI}" in results
    card = await browser.get("/account/ada/contributions/card.svg")
    assert card.header("content-type") == "image/svg+xml" and "3 minutes" in card.text and ">ada" in card.text.lower()
    await served.database.execute("UPDATE project SET published = false WHERE short_name = 'letters'")
    assert [one["name"] for one in (await own(browser, "ada"))["projects"]] == [None, "Birds"]
    monkeypatch.setattr(contributions, "MAX_READ", 2)
    page = await own(browser, "ada")
    assert (page["answers"], page["whole"]) == (1, False), "one of the two newest answers is one's own project's"
    for other in (served.client(), await signed_in(served, "owner")):
        assert (await other.page("/account/ada/contributions")).status in (302, 403)


@pytest_twisted.ensureDeferred
async def test_time_that_cannot_be_is_not_certified(served):
    """Neither more than half an hour for an answer, nor more than was between handing out and answer, nor than 12 hours a day."""
    owner, ada = await served.person("owner"), await served.person("ada")
    birds = await served.project(owner, tasks=30, published=True)
    await answered(ada, birds, 30)
    browser = await signed_in(served, "ada")
    assert 0 <= (await own(browser, "ada"))["seconds"] < 600
    await timed(served, birds, 80_000)
    await served.database.execute("UPDATE task_run SET created = finish_time - interval '10 s' WHERE id % 30 > 1")
    assert (await own(browser, "ada"))["seconds"] == 2 * 1800 + 28 * 10
    await timed(served, birds, 80_000)
    assert (await own(browser, "ada"))["seconds"] == 12 * 3600


@shows("account-certificates", "page-certificate")
@pytest_twisted.ensureDeferred
async def test_a_certificate_is_checked_by_its_link_until_it_is_withdrawn(served, tmp_path, monkeypatch):
    owner, ada = await served.person("owner"), await served.person("ada")
    birds = await served.project(owner, "birds", tasks=9, published=True)
    hidden = await served.project(owner, "hidden", tasks=9, published=True)
    for project, count in ((birds, 3), (hidden, 2)):
        await answered(ada, project, count)
        await timed(served, project, 1200)
    await served.database.execute("UPDATE project SET published = false WHERE short_name = 'hidden'")
    browser = await signed_in(served, "ada")
    made = (await certified(browser, "ada", name="Countess <b>Ada</b>")).json()
    (one,) = (await own(browser, "ada"))["certificates"]
    assert one["id"] == made["id"] and len(one["key"]) > 40
    stranger = served.client()
    stated = (await stranger.page(f"/certificate/{one['key']}")).json()["certificate"]
    assert stated.keys() == {
        "name", "created", "first_day", "last_day", "answers", "seconds", "n_projects", "projects",
    }  # fmt: skip
    assert (stated["name"], stated["answers"], stated["seconds"], stated["n_projects"]) == (
        "Countess <b>Ada</b>", 5, 6000, 2,
    )  # fmt: skip
    assert stated["projects"] == [{"name": "Birds", "answers": 3, "seconds": 3600}], "others are not public"
    html = (await stranger.get(f"/certificate/{one['key']}", headers=HTML)).text
    assert "Countess &lt;b&gt;Ada&lt;/b&gt;" in html and "noindex" in html and faults(Page(html)) == []
    assert "gave 5 answers to 2 projects as a volunteer from 1 January 2020 to " in html and "1.7 hours" in html
    at = f"/account/ada/certificates/{one['id']}"
    pdf = await browser.get(f"{at}/certificate.pdf")
    assert pdf.status == 200 and pdf.body.startswith(b"%PDF") and one["key"].encode() in pdf.body
    (tmp_path / "fpdf.py").write_text("raise ModuleNotFoundError('fpdf')\n")
    with monkeypatch.context() as lacking:
        lacking.setenv("PYTHONPATH", str(tmp_path))
        answer = await browser.page(f"{at}/certificate.pdf")
        assert answer.status == 415 and "crowdd[posters]" in answer.text
        moved = await browser.get(f"{at}/certificate.pdf", headers=HTML)
        assert (moved.status, moved.header("location")) == (302, "/account/ada/contributions#certificates")
    other = await signed_in(served, "owner")
    assert (await other.get(f"{at}/certificate.pdf", headers=HTML)).status == 403
    assert (
        await other.send_form(f"/account/owner/certificates/{one['id']}/withdraw", {}, "/account/owner/contributions")
    ).status == 404
    await answered(ada, birds, 2)
    assert (await stranger.page(f"/certificate/{one['key']}")).json()["certificate"] == stated, "as it was written"
    assert (await browser.send_form(f"{at}/withdraw", {}, "/account/ada/contributions")).status == 200
    for key in (one["key"], "x", "x" * 5000, one["key"][:-1]):
        assert (await stranger.page(f"/certificate/{key}")).status == 404


@shows("account-certificates")
@pytest_twisted.ensureDeferred
async def test_certificates_are_bounded_and_true(served, monkeypatch):
    monkeypatch.setattr(certificates, "MAX_CERTIFICATES", 2)
    owner, ada = await served.person("owner"), await served.person("ada")
    birds = await served.project(owner, tasks=9, published=True)
    browser = await signed_in(served, "ada")
    assert "first_day" in (await certified(browser, "ada")).json()["form"]["errors"], "nothing was given"
    await answered(ada, birds, 4)
    for wrong, field in (
        ({"name": " "}, "name"), ({"name": "x" * 101}, "name"), ({"first_day": "soon"}, "first_day"),
        ({"first_day": "2990-01-01"}, "first_day"), ({"last_day": "2019-01-01"}, "last_day"),
    ):  # fmt: skip
        assert list((await certified(browser, "ada", **wrong)).json()["form"]["errors"]) == [field]
    monkeypatch.setattr(certificates, "MAX_READ", 4)
    today = await served.database.fetch("SELECT (clock() AT TIME ZONE 'UTC')::date::text AS day")
    assert (
        "newest 4"
        in (await certified(browser, "ada", first_day=today[0]["day"])).json()["form"]["errors"]["first_day"][0]
    )
    monkeypatch.setattr(certificates, "MAX_READ", 5)
    sent = [ensureDeferred(certified(browser, "ada")) for _n in range(4)]
    done = [each.json() for each in await gatherResults(sent)]
    assert sum("id" in each for each in done) == 2, "two at the same time are one after the other"
    monkeypatch.setattr(certificates, "PER_HOUR", 1)
    assert (await certified(browser, "ada")).status == 429


@pytest_twisted.ensureDeferred
async def test_certificates_go_with_the_account_and_are_in_its_export(served):
    owner, ada = await served.person("owner"), await served.person("ada")
    birds = await served.project(owner, tasks=9, published=True)
    await answered(ada, birds, 2)
    await counted(served)
    browser = await signed_in(served, "ada")
    await certified(browser, "ada")
    (row,) = await served.database.fetch("SELECT id FROM account WHERE name = 'ada'")
    exported = {
        part: await personal_data_statements.rows(served.database, part, row["id"], 0)
        for part in ("certificates", "leaderboards", "news")
    }
    assert [one["name"] for one in exported["certificates"]] == ["Ada L."] and len(exported["leaderboards"]) == 3
    assert exported["news"][0]["off_boards"] is False
    key = exported["certificates"][0]["key"]
    assert (await browser.send_form("/account/ada/delete", {"password": PASSWORD})).status == 200
    await worked(served)
    assert (await served.client().page(f"/certificate/{key}")).status == 404
    assert await served.database.fetch("SELECT FROM certificate") == []
    assert await served.database.fetch("SELECT FROM board_place WHERE user_id = %(user)s", {"user": row["id"]}) == []


@shows("page-leaderboard-time", "project-leaderboard", "account-leaderboards")
@pytest_twisted.ensureDeferred
async def test_a_transcribed_line_is_more_than_a_click_and_leaderboards_can_be_left(served):
    owner, ada, bob = await served.person("owner"), await served.person("ada"), await served.person("bob")
    letters = await served.project(owner, "letters", tasks=9, published=True)
    clicks = await served.project(owner, "clicks", tasks=9, published=True)
    await answered(ada, letters, 2)
    await answered(bob, clicks, 5)
    await answered(owner, letters, 3)
    await timed(served, letters, 120)
    await timed(served, clicks, 4)
    await counted(served)
    client = served.client()

    async def board(path: str) -> list[Any]:
        people = (await client.page(path)).json()["top_users"]
        return [(one["name"], one["rank"], one["answers"], one["seconds"]) for one in people]

    by_time = [("ada", 1, 2, 240), ("bob", 2, 5, 20)]
    assert await board("/leaderboard/time") == by_time == await board("/leaderboard/week")
    assert [one["name"] for one in (await client.page("/leaderboard/")).json()["top_users"]] == ["bob", "ada"]
    assert await board("/project/letters/leaderboard/week") == [("ada", 1, 2, 240)]
    assert ("ada", 2, 2, 240) in await board("/project/letters/leaderboard")
    for path in ("/leaderboard/time", "/leaderboard/week", "/leaderboard/", "/project/letters/leaderboard"):
        html = (await client.get(path, headers=HTML)).text
        assert faults(Page(html)) == [] and "count" in html
    browser = await signed_in(served, "ada")
    at = "/account/ada/contributions"
    assert (await browser.send_form(f"{at}/leaderboards", {"on_boards": "false"}, at)).status == 200
    assert (await own(browser, "ada"))["on_boards"] is False
    for path in ("/leaderboard/time", "/leaderboard/week", "/project/letters/leaderboard/week"):
        assert "ada" not in [one[0] for one in await board(path)], path
    await counted(served)
    assert await board("/leaderboard/time") == [("bob", 1, 5, 20)]
    assert [(one["name"], one["rank"]) for one in (await client.page("/leaderboard/")).json()["top_users"]] == [
        ("bob", 1)
    ]
    assert (await client.page("/account/ada/")).json()["user"]["rank"] is None, "nor on one's own page"
    near = (await (await signed_in(served, "bob")).page("/leaderboard/window/3")).json()["top_users"]
    assert "ada" not in [one["name"] for one in near]
    assert "ada" not in str((await client.page("/project/letters/stats")).json()["projectStats"])
    assert {"ada", "bob"} >= {one["name"] for one in (await browser.page("/leaderboard/")).json()["top_users"]}
    assert (await browser.send_form(f"{at}/leaderboards", {"on_boards": "true"}, at)).status == 200
    await counted(served)
    assert await board("/leaderboard/time") == by_time


@shows("page-papers", "project-info")
@pytest_twisted.ensureDeferred
async def test_owners_name_papers_a_line_each(served):
    owner = await served.person("owner")
    birds = await served.project(owner, "birds", tasks=1, published=True)
    browser, at = await signed_in(served, "owner"), "/project/birds/update"

    async def sent(text: str) -> Any:
        return (await browser.send_form(at, {"papers": text, "btn": "Part"})).json()

    await sent(f"https://doi.org/{DOI}   Owls at  night\n\n doi: 10.5555/x \n")
    assert (await browser.page(at)).json()["form"]["papers"] == f"{DOI} Owls at night\n10.5555/x"
    stored = [{"doi": DOI, "title": "Owls at night"}, {"doi": "10.5555/x", "title": ""}]
    assert (await served.client().get(f"/api/project/{birds['id']}")).json()["info"]["papers"] == stored
    for wrong in (
        "Owls at night",
        "10.12/short x",
        "10.5555/<b>" + "x" * 300,
        "10.5555/x " + "t" * 301,
        "10.5555/x\n" * 21,
    ):
        form = (await sent(wrong))["form"]
        assert list(form["errors"]) == ["papers"] and form["papers"].split() == wrong.split(), wrong
    assert (await browser.page(at)).json()["form"]["papers"].startswith(DOI), "what was refused changed nothing"
    for wrong in (
        "x",
        [{"doi": 5}],
        [{"title": "x"}],
        [{"doi": DOI, "more": 1}],
        [{"doi": DOI, "title": "a\0b"}],
        [{}] * 21,
    ):
        assert (await owner.put(f"/api/project/{birds['id']}", json={"info": {"papers": wrong}})).status == 415, wrong
    await sent("")
    assert (await served.client().get(f"/api/project/{birds['id']}")).json()["info"].get("papers") is None
