"""The task page of a browser that comes for the first time: the same for all of them, but for what is each one's own."""

from __future__ import annotations

import gzip
import re

import pytest
import pytest_twisted
from support.browsers import lock
from support.checks.shows import shows
from support.visitors import HTML, VisitedSite, without_own
from twisted.internet.defer import ensureDeferred, gatherResults

pytestmark = pytest.mark.inside

TASKS, BROWSE = "/project/{p}/newtask", "/project/{p}/tasks/browse"
TOKEN = re.compile(r'data-csrf="([^"]+)"')
N_LEASES = "SELECT count(*)::int AS n FROM lease WHERE project_id = %(p)s"


async def n_leases(site: VisitedSite) -> int:
    return int((await site.sql(N_LEASES, p=site.project["id"]))[0]["n"])


async def posted(browser: object, token: str) -> str:
    """What is wrong with a form that a browser sends with a token."""
    form = {"email": "nobody@example.org", "password": "wrong"}
    answer = await browser.post("/account/signin", json=form, headers={"X-CSRFToken": token})
    return str(answer.json().get("error_code"))


@shows("page-newtask-first")
@pytest_twisted.ensureDeferred
async def test_first_visitors_get_the_same_page_with_a_token_and_cookies_of_their_own(site):
    await site.cached(TASKS)
    made, browsers = site.made, [site.visitor() for _ in range(3)]
    pages = [await browser.get(site.at(TASKS), headers=HTML) for browser in browsers]
    assert (made, site.made) == (1, 1), "the page was made once"
    assert len({without_own(page.text) for page in pages}) == 1
    assert len({page.header("content-length") for page in pages}) == 1
    tokens = [TOKEN.search(page.text)[1] for page in pages]
    assert len(set(tokens)) == 3
    for name in ("csrf", "volunteer"):
        assert len({browser.cookies[name] for browser in browsers}) == 3, name
    for browser in browsers:
        assert not any(browser.cookies[name] in page.text for page in pages for name in ("csrf", "volunteer"))
    assert [await posted(browsers[0], token) == "csrf" for token in tokens] == [False, True, True]


@pytest_twisted.ensureDeferred
async def test_those_who_wait_for_the_same_page_get_cookies_and_tokens_of_their_own(site):
    browsers = [site.visitor() for _ in range(5)]
    pages = await gatherResults([ensureDeferred(one.get(site.at(TASKS), headers=HTML)) for one in browsers])
    assert site.made == 1
    assert len({TOKEN.search(page.text)[1] for page in pages}) == 5
    assert len({one.cookies["volunteer"] for one in browsers} | {one.cookies["csrf"] for one in browsers}) == 10


@pytest_twisted.ensureDeferred
async def test_nobody_but_the_visitor_keeps_it(site):
    page = await site.cached(TASKS)
    assert page.header("cache-control") == "no-store" and page.header("etag") is None
    assert {"Accept", "Cookie", "Accept-Encoding"} <= {word.strip() for word in page.header("vary").split(",")}
    host = site.served.base.partition("//")[2]
    assert f"script-src {host}/static/ 'sha256-" in page.header("content-security-policy")
    assert set(re.findall(r'nonce="([^"]*)"', page.text)) == {""}
    assert set(re.findall(r'<script[^>]* src="(/[a-z]+/)', page.text)) == {"/static/"}
    browser = site.visitor()
    again = await browser.get(site.at(TASKS), headers={**HTML, "If-None-Match": "*"})
    assert again.status == 200 and {"csrf", "volunteer"} <= set(browser.cookies)


@pytest_twisted.ensureDeferred
async def test_compressed_it_is_the_same_page(site):
    await site.cached(TASKS)
    plain, packed = [await site.bare(site.at(TASKS), coding) for coding in ("identity", "gzip")]
    assert site.made == 1
    assert packed.header("content-encoding") == "gzip" and len(packed.body) < len(plain.body) / 2
    text = gzip.decompress(packed.body).decode()
    assert without_own(text) == without_own(plain.text) and TOKEN.search(text)[1] != TOKEN.search(plain.text)[1]


@shows("page-newtask-first")
@pytest_twisted.ensureDeferred
async def test_the_page_takes_no_task_and_holds_none(site):
    await site.sql(
        """UPDATE task SET info = '{"word": "kingfisher"}' WHERE project_id = %(p)s RETURNING 1""", p=site.project["id"]
    )
    before, browser = await n_leases(site), site.visitor()
    for _ in range(2):
        await site.seen(TASKS)
    page = await browser.get(site.at(TASKS), headers=HTML)
    assert await n_leases(site) == before and "kingfisher" not in page.text
    task = await browser.get(f"/api/{site.project['id']}/newtask")  # as its script does
    assert task.json()["info"] == {"word": "kingfisher"} and await n_leases(site) == before + 1


@pytest_twisted.ensureDeferred
async def test_who_took_a_task_gets_pages_of_their_own(site):
    browser = site.visitor()
    await browser.get(site.at(TASKS), headers=HTML)
    await site.answer(browser)
    before = site.made
    own = await browser.get(site.at(TASKS), headers=HTML)
    assert 'data-count="1"' in own.text and site.made == before
    assert 'data-count="0"' in (await site.cached(TASKS)).text
    signed_in = await (await site.browser("ada")).get(site.at(TASKS), headers=HTML)
    assert f'data-volunteer="{site.ada.user_id}"' in signed_in.text
    assert 'data-volunteer=""' in (await site.seen(TASKS)).text


@pytest.mark.parametrize("path", [TASKS, BROWSE])
@pytest_twisted.ensureDeferred
async def test_languages_and_themes_are_apart(site, path):
    english, made = await site.cached(path), site.made
    german, dark = [await site.seen(path, **one) for one in ({"Accept-Language": "de"}, {"Cookie": "theme=dark"})]
    assert site.made == made + 2
    assert 'lang="en"' in english.text and 'lang="de"' in german.text and 'data-theme="dark"' in dark.text
    again = await site.seen(path)
    assert 'lang="en"' in again.text and 'data-theme="dark"' not in again.text


@pytest.mark.parametrize("path", [TASKS, BROWSE, BROWSE + "/1"])
@pytest_twisted.ensureDeferred
async def test_a_locked_closed_or_hidden_project_is_seen_with_the_next_request(site, path):
    assert site.word in (await site.cached(path)).text
    pause = "UPDATE project SET published = false WHERE id = %(p)s RETURNING 1"
    await site.sql(pause, p=site.project["id"])
    assert "data-paused" in (await site.seen(TASKS)).text
    await site.sql("UPDATE project SET first_published = NULL WHERE id = %(p)s RETURNING 1", p=site.project["id"])
    draft = await site.seen(path)
    assert draft.status == 404 and site.word not in draft.text and "volunteer" not in str(draft.header("set-cookie"))
    await site.sql(
        "UPDATE project SET first_published = now(), published = true WHERE id = %(p)s RETURNING 1",
        p=site.project["id"],
    )
    await site.cached(path)
    await lock(site.served, site.short_name, site.owner, "sesame")
    locked = await site.seen(path)
    assert locked.status == 302 and locked.body == b""


@pytest_twisted.ensureDeferred
async def test_a_project_for_members_sends_strangers_to_sign_in(site):
    await site.cached(TASKS)
    await site.owner.put(f"/api/project/{site.project['id']}", json={"allow_anonymous_contributors": False})
    answer = await site.seen(TASKS)
    assert answer.status == 302 and answer.header("location").startswith("/account/signin?")


@pytest_twisted.ensureDeferred
async def test_a_project_without_tasks_says_so_to_everybody_alike(site):
    empty = await site.served.project(site.owner, f"empty{site.number}", published=False)
    await site.sql(
        "UPDATE project SET published = true, first_published = now() WHERE id = %(p)s RETURNING 1", p=empty["id"]
    )
    page = await site.cached(f"/project/empty{site.number}/newtask")
    assert page.header("set-cookie") is None and page.header("etag")


@pytest_twisted.ensureDeferred
async def test_a_page_of_another_site_gets_none_though_it_is_kept(site):
    await site.cached(TASKS)
    for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "empty"}):
        answer = await site.seen(TASKS, **headers)
        assert answer.status == 403 and "data-csrf" not in answer.text and answer.header("set-cookie") is None


@pytest_twisted.ensureDeferred
async def test_a_browser_that_looks_ahead_gets_a_page_that_is_not_kept(site):
    await site.cached(TASKS)
    before = site.made
    ahead = await site.seen(TASKS, **{"Sec-Purpose": "prefetch"})
    assert ahead.header("cache-control") == "no-store" and re.findall(r'nonce="([^"]+)"', ahead.text)
    assert site.made == before


# The list of tasks


@shows("etag-pages")
@pytest.mark.parametrize("path", [BROWSE, BROWSE + "/1"])
@pytest_twisted.ensureDeferred
async def test_the_list_of_tasks_is_the_same_for_visitors_and_not_sent_twice(site, path):
    page, made = await site.cached(path), site.made
    assert page.header("cache-control") == "public, no-cache" and page.header("set-cookie") is None
    again = await site.seen(path, **{"If-None-Match": page.header("etag")})
    assert (again.status, again.body, site.made) == (304, b"", made)
    for query in ("?words=n", "?state=ongoing", "?per_page=50", "?csv=1"):
        own = await site.seen(path + query)
        assert own.status == 200 and own.header("etag") is None, query
    assert site.made == made


@pytest_twisted.ensureDeferred
async def test_a_list_that_keeps_its_answers_is_closed_with_the_next_request(site):
    await site.cached(BROWSE)
    await site.owner.put(f"/api/project/{site.project['id']}", json={"zip_download": False})
    assert (await site.seen(BROWSE)).status == 302


@pytest_twisted.ensureDeferred
async def test_a_deleted_task_is_gone_from_the_list_with_the_next_request(site):
    number = site.project["tasks"][1]
    assert f"/tasks/{number}" in (await site.cached(BROWSE)).text
    assert (await site.owner.delete(f"/api/task/{number}")).status == 204
    assert f"/tasks/{number}" not in (await site.seen(BROWSE)).text
