"""A page speaks its reader's language: the account's, else the cookie's, else the browser's."""

from __future__ import annotations

import pytest_twisted
from support.browsers import lock, newcomer, registration
from support.checks.page_reader import Page
from support.checks.shows import shows

from crowdd.kernel.languages import NAMES


async def html(browser, path="/", **headers):
    """A page for people; its ``html`` element."""
    answer = await browser.get(path, headers={"Accept": "text/html", **headers})
    page = Page(answer.text)
    return page, next(page.all("html"))


async def language(browser, accept="", path="/"):
    _, root = await html(browser, path, **({"Accept-Language": accept} if accept else {}))
    return root.get("lang")


async def choose(browser, locale, path="/"):
    tokens = [it.get("value") for it in (await html(browser, path))[0].all("input") if it.get("name") == "csrf_token"]
    form = {"locale": locale, "next": path, **({"csrf_token": tokens[0]} if tokens else {})}
    return await browser.post("/preferences", data=form, headers={"Origin": browser.base})


@pytest_twisted.ensureDeferred
async def test_a_browser_says_what_it_wants(served):
    for accept, shown in (
        ("", "en"), ("de", "de"), ("de-AT,de;q=0.9,en;q=0.8", "de"), ("en;q=0.5,fr;q=0.9", "fr"), ("pt,es;q=0.3", "es"),
        ("*", "en"), ("fr;q=0", "en"), ("ar-EG", "ar"), ("tlh", "en"), ("de;q=x,,;;=,,", "en"), ("x" * 5000, "en"),
    ):  # fmt: skip
        assert await language(served.client(), accept) == shown, accept


@shows("page-languages", "page-preferences")
@pytest_twisted.ensureDeferred
async def test_the_cookie_comes_before_the_browser_and_the_account_before_both(served):
    browser = served.client()
    assert (await choose(browser, "fr")).status == 302
    assert await language(browser, "de") == "fr"
    await choose(browser, "xx")
    assert await language(browser, "de") == "fr"
    signed_in = await newcomer(served, "ada")
    await choose(signed_in, "ar")
    assert (await signed_in.page("/account/profile")).json()["user"]["locale"] == "ar"
    signed_in.cookies["language"] = "fr"
    assert await language(signed_in, "de") == "ar"


@pytest_twisted.ensureDeferred
async def test_a_new_account_keeps_the_language_in_which_it_was_made(served):
    browser = served.client(**{"Accept-Language": "es-MX"})
    await browser.send_form("/account/register", registration("ada"))
    assert (await browser.page("/account/profile")).json()["user"]["locale"] == "es"
    assert await language(browser, "de") == "es"


@pytest_twisted.ensureDeferred
async def test_every_language_has_its_own_words_and_direction(served):
    seen = set()
    for code in NAMES:
        page, root = await html(served.client(), **{"Accept-Language": code})
        assert (root.get("lang"), root.get("dir")) == (code, "rtl" if code == "ar" else "ltr")
        seen.add(next(page.all("h1")).text)
    assert len(seen) == len(NAMES)


@pytest_twisted.ensureDeferred
async def test_a_switch_keeps_the_page(served):
    await served.person("ada")
    browser = served.client()
    answer = await choose(browser, "de", "/account/ada/")
    assert (answer.status, answer.header("location")) == (302, "/account/ada/")


@shows("page-languages")
@pytest_twisted.ensureDeferred
async def test_messages_and_mistakes_are_said_in_it_and_programs_get_english(served):
    owner = await served.person("owner")
    await served.project(owner, tasks=1)
    await lock(served, "birds", owner, "sesame")
    browser, path = served.client(**{"Accept-Language": "de"}), "/project/birds/password"
    page, _ = await html(browser, path)
    token = [it.get("value") for it in page.all("input") if it.get("name") == "csrf_token"][-1]
    wrong = {"csrf_token": token, "password": "open"}
    answer = await browser.post(path, data=wrong, headers={"Accept": "text/html"})
    assert "Dieses Passwort ist falsch." in answer.text
    answer = (await browser.post(path, json=wrong)).json()
    assert (
        answer["form"]["errors"]
        == {"password": [answer["flash"]]}
        == {"password": ["This password is wrong. Try again."]}
    )
    await owner.put(f"/api/user/{owner.user_id}", json={"locale": "de"})
    assert (await owner.post("/project/birds/publish", data={})).status == 302
    assert "Freiwillige finden es jetzt." in (await owner.get("/", headers={"Accept": "text/html"})).text
    assert (await owner.post("/project/birds/publish", json={})).json()["flash"] == "Project already published."


@pytest_twisted.ensureDeferred
async def test_a_refusal_is_explained_in_it(served):
    page, _ = await html(served.client(), "/nothing", **{"Accept-Language": "de"})
    assert next(page.all("h1")).text == "Seite nicht gefunden"
    assert (await served.client(**{"Accept-Language": "de"}).page("/nothing")).json()["description"] == "404 Not Found"


@pytest_twisted.ensureDeferred
async def test_why_an_address_is_refused_is_said_in_it(served):
    owner = await served.person("owner")
    await served.project(owner)
    await owner.put(f"/api/user/{owner.user_id}", json={"locale": "de"})
    path, sent = "/project/birds/tasks/import", {"form_name": "csv", "csv_url": "http://10.0.0.1/a.csv"}
    answer = await owner.post(path, data=sent, headers={"Accept": "text/html"})
    assert "10.0.0.1 ist eine private Adresse. Verwende eine öffentliche Adresse." in answer.text
    wrong = (await owner.post(path, json=sent)).json()["form"]["errors"]["csv_url"]
    assert wrong == ["10.0.0.1 is a private address. Use a public address."]


@pytest_twisted.ensureDeferred
async def test_the_last_answer_of_a_project_is_told_in_it(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1, published=True)
    task = (await owner.get(f"/api/{project['id']}/newtask")).json()
    await owner.post("/api/taskrun", json={"project_id": project["id"], "task_id": task["id"], "info": 1})
    page, _ = await html(served.client(), "/project/birds/", **{"Accept-Language": "de"})
    words = next(it for it in page.all("p") if it.get("id") == "last").text
    assert words.startswith("Letzte Antwort: vor ") and "ago" not in words
    assert (
        (await served.client(**{"Accept-Language": "de"}).page("/project/birds/"))
        .json()["last_activity"]
        .endswith(" ago")
    )
