"""Pages that visitors without an account get alike, byte by byte, and who gets pages of their own."""

from __future__ import annotations

import gzip
import re

import pytest
import pytest_twisted
from support.browsers import lock
from support.checks.shows import shows
from support.visitors import HTML, VisitedSite, without_own

from crowdd.http import page_cache
from crowdd.http.steps import SharePage

pytestmark = pytest.mark.inside

PAGES = (
    "/", "/leaderboard/", "/stats/", "/project/{p}/", "/project/{p}/stats", "/project/{p}/tasks/", "/project/category/{c}/",
    "/account/{a}/", "/project/{p}/tasks/browse",
)  # fmt: skip
TOKEN = re.compile(r'name="csrf_token" value="([^"]+)"')


@shows("etag-pages")
@pytest_twisted.ensureDeferred
async def test_visitors_get_the_same_bytes_without_cookies_and_nonces(site):
    host, pages = site.served.base.partition("//")[2], []
    for path in PAGES:
        first, second = await site.cached(path), await site.seen(path)
        assert first.body == second.body and first.header("etag") == second.header("etag"), path
        pages += [first, second]
    for page in pages:
        assert page.header("set-cookie") is None and "csrf_token" not in page.text
        assert f"script-src {host}/static/; " in page.header("content-security-policy")
        assert set(re.findall(r'nonce="([^"]*)"', page.text)) <= {""}
        assert set(re.findall(r'<script[^>]* src="(/[a-z]+/)', page.text)) == {"/static/"}
        assert page.header("cache-control") == "public, no-cache"
        varies = {word.strip() for word in page.header("vary").split(",")}
        assert {
            "Accept",
            "Accept-Language",
            "Accept-Encoding",
            "Cookie",
            "Authorization",
            "X-Project-Password",
        } < varies


@shows("etag-pages")
@pytest_twisted.ensureDeferred
async def test_a_page_that_the_visitor_has_is_not_sent_again(site):
    tag, made = (await site.cached("/")).header("etag"), site.made
    assert tag.startswith('"')
    for headers in ({"If-None-Match": tag}, {"If-None-Match": f'"other", W/{tag}'}, {"If-None-Match": "*"}):
        answer = await site.seen("/", **headers)
        assert (answer.status, answer.body, answer.header("etag")) == (304, b"", tag)
        assert answer.header("cache-control") == "public, no-cache" and "Cookie" in answer.header("vary")
        assert answer.header("set-cookie") is None
    assert site.made == made
    assert (await site.seen("/", **{"If-None-Match": '"other"'})).status == 200
    head = await site.visitor().request("HEAD", "/", headers=HTML)
    assert (head.status, head.body, head.header("etag")) == (200, b"", tag)


@pytest_twisted.ensureDeferred
async def test_the_entity_tag_goes_with_the_bytes_and_not_with_the_second(site):
    tag = (await site.cached("/")).header("etag")
    site.clock.advance(1.0)
    made = site.made
    again = await site.seen("/", **{"If-None-Match": tag})
    assert again.status == 304 and site.made == made + 1, "it was made again, and is the same"
    await site.owner.put(f"/api/project/{site.project['id']}", json={"name": f"Feathers of {site.word}"})
    changed = await site.seen("/", **{"If-None-Match": tag})
    assert changed.status == 200 and changed.header("etag") != tag
    german = await site.seen("/", **{"If-None-Match": changed.header("etag"), "Accept-Language": "de"})
    assert german.status == 200


@pytest_twisted.ensureDeferred
async def test_a_compressed_page_has_an_entity_tag_of_its_own(site):
    await site.cached("/")
    plain = await site.bare("/", "identity")
    packed = await site.bare("/", "gzip")
    assert gzip.decompress(packed.body) == plain.body and packed.header("content-encoding") == "gzip"
    assert packed.header("etag") == plain.header("etag")[:-1] + '-gzip"'
    again = await site.seen("/", **{"If-None-Match": packed.header("etag"), "Accept-Encoding": "gzip"})
    assert (again.status, again.body) == (304, b"")


@pytest_twisted.ensureDeferred
async def test_a_cache_in_front_may_send_a_page_for_the_seconds_that_its_operator_chose(serve):
    served = await serve(CROWDD_HTTP_SHARED_CACHE_SECONDS="5")
    page = await served.client().get("/", headers=HTML)
    assert page.header("cache-control") == "public, max-age=0, s-maxage=5, must-revalidate"
    own = await served.client().get("/", headers={**HTML, "Cookie": "volunteer=x"})
    assert own.header("cache-control") == "no-store"
    assert (await served.client().get("/account/signin", headers=HTML)).header("cache-control") == "no-store"


@pytest_twisted.ensureDeferred
async def test_without_memory_for_it_there_is_no_cache(serve):
    served = await serve(CROWDD_HTTP_MAX_PAGE_CACHE_BYTES="0")
    browser = served.client()
    page = await browser.get("/", headers=HTML)
    assert page.header("cache-control") == "no-store" and page.header("etag") is None
    assert "volunteer" in browser.cookies


# Forms


@pytest_twisted.ensureDeferred
async def test_each_visitor_has_a_form_token_of_their_own_on_the_same_page(site):
    await site.cached("/account/signin")
    pages = [await site.seen("/account/signin") for _ in range(2)]
    tokens = [set(TOKEN.findall(page.text)) for page in pages]
    assert [len(page_tokens) for page_tokens in tokens] == [1, 1] and not tokens[0] & tokens[1]
    assert len({without_own(page.text) for page in pages}) == 1
    assert [page.header("cache-control") for page in pages] == ["no-store"] * 2
    assert all(page.header("etag") is None for page in pages)


@pytest_twisted.ensureDeferred
async def test_a_form_is_believed_of_the_browser_that_got_it_alone(site):
    browser, other = site.visitor(), site.visitor()
    token = TOKEN.search((await browser.get("/account/signin", headers=HTML)).text)[1]
    await other.get("/account/signin", headers=HTML)
    form, sent = {"email": "nobody@example.org", "password": "wrong"}, {"X-CSRFToken": token}
    assert (await other.post("/account/signin", json=form, headers=sent)).json()["error_code"] == "csrf"
    assert (await browser.post("/account/signin", json=form, headers=sent)).json().get("error_code") != "csrf"


@shows("page-preferences")
@pytest_twisted.ensureDeferred
async def test_a_visitor_chooses_theme_and_language_without_a_token_from_our_pages_only(site):
    base, chosen = site.served.base, {"theme": "dark", "locale": "de", "next": "/"}
    for headers, status in (
        ({"Origin": base}, 302), ({"Sec-Fetch-Site": "same-origin"}, 302), ({}, 400),
        ({"Origin": "https://evil.example"}, 400), ({"Sec-Fetch-Site": "cross-site"}, 400),
        ({"Origin": "null"}, 400), ({"Sec-Fetch-Site": "same-site"}, 400),
    ):  # fmt: skip
        browser = site.visitor()
        answer = await browser.post("/preferences", data=chosen, headers={**HTML, **headers})
        refused = answer.status in (400, 403)
        assert (302 if not refused else 400, "theme" in browser.cookies) == (status, status == 302), headers
    signed_in = await site.browser("owner")
    assert (await signed_in.post("/preferences", data=chosen, headers={"Origin": base})).status == 400


# Who gets a page of their own


@pytest_twisted.ensureDeferred
async def test_who_is_known_gets_a_page_of_their_own(site):
    for path in PAGES:
        await site.cached(path)
        before, person, volunteer = site.made, await site.browser("owner"), site.visitor()
        own = await person.get(site.at(path), headers=HTML)
        assert "/account/signin" not in own.text and "Owner" in own.text, path
        await volunteer.get("/about", headers=HTML)
        assert "volunteer" in volunteer.cookies
        pages = [own, await volunteer.get(site.at(path), headers=HTML)]
        headers = {"Authorization": "Bearer x", "X-Project-Password": "wrong", "X-Draft-Key": "wrong"}
        pages += [await site.seen(path, **{name: value}) for name, value in headers.items()]
        pages.append(await site.seen(path + "?x=1"))
        assert [(page.header("cache-control"), page.header("etag")) for page in pages] == [("no-store", None)] * 6, path
        assert (await site.seen(path, Accept="application/json")).json()["template"]
        assert site.made == before, "a page of somebody else was kept"


@pytest_twisted.ensureDeferred
async def test_languages_and_themes_are_apart(site):
    english = await site.cached("/")
    german = await site.seen("/", **{"Accept-Language": "de"})
    dark = await site.seen("/", Cookie="theme=dark")
    assert 'lang="en"' in english.text and 'lang="de"' in german.text and 'data-theme="dark"' in dark.text
    again = await site.seen("/")
    assert 'lang="en"' in again.text and "data-theme" not in again.text.partition("<body")[0]


@pytest_twisted.ensureDeferred
async def test_a_network_that_changed_something_sees_it_at_once(site):
    await site.cached("/stats/")
    program = site.visitor()  # it keeps no cookies
    total = (await program.page("/stats/")).json()["stats"]["n_task_runs"]
    await site.answer(program)
    before = site.made
    shown = await program.get("/stats/", headers=HTML)
    assert site.made == before and shown.status == 200
    assert (await program.page("/stats/")).json()["stats"]["n_task_runs"] == total + 1
    assert without_own((await site.seen("/stats/")).text) != without_own(shown.text), "a second has not gone by"


@pytest_twisted.ensureDeferred
async def test_what_is_no_page_is_not_kept(site):
    await lock(site.served, site.short_name, site.owner, "sesame")
    for path, status in (("/project/{p}/", 302), ("/project/none/", 404), ("/account/none/", 404)):
        for _ in range(2):
            answer = await site.seen(path)
            assert answer.status == status and answer.header("cache-control") == "no-store", path
    cache = site.served.step(SharePage).page_cache._pages
    assert not {key[0] for key in cache._entries} & {site.at("/project/{p}/"), "/project/none/", "/account/none/"}


@pytest_twisted.ensureDeferred
async def test_a_volunteer_sees_on_the_page_of_a_project_what_they_answered(site):
    await site.cached("/project/{p}/")
    volunteer = site.visitor()
    await volunteer.get(site.at("/project/{p}/newtask"), headers=HTML)
    for _ in range(2):
        await site.answer(volunteer)
    assert "You have answered all the tasks" in (await volunteer.get(site.at("/project/{p}/"), headers=HTML)).text
    assert "You have answered all the tasks" not in (await site.seen("/project/{p}/")).text


# Figures of the cache


@pytest_twisted.ensureDeferred
async def test_metrics_count_hits_and_misses_and_bytes(site):
    async def figures() -> dict[str, float]:
        text = (await site.served.client().get("/metrics")).text
        return {
            line.rpartition(" ")[0]: float(line.rpartition(" ")[2])
            for line in text.splitlines()
            if line.startswith("crowdd_page_cache")
        }

    await site.seen("/stats/")
    before = await figures()
    for _ in range(3):
        page = await site.seen("/project/{p}/")
    after = await figures()
    grown = {name.partition("{")[2]: after[name] - before[name] for name in after}
    assert (grown['result="miss"}'], grown['result="hit"}']) == (1, 2)
    assert len(page.body) < after["crowdd_page_cache_bytes"] - before["crowdd_page_cache_bytes"] < 3 * len(page.body)


@pytest.mark.parametrize("addresses", [150, pytest.param(10_000, marks=[pytest.mark.proof, pytest.mark.size])])
@pytest_twisted.ensureDeferred
async def test_the_cache_holds_its_bound_whatever_is_asked_for(serve, addresses):
    maximum = 400_000
    served = await serve(CROWDD_HTTP_MAX_PAGE_CACHE_BYTES=str(maximum), CROWDD_HTTP_TRUSTED_PROXIES="127.0.0.1")
    site = VisitedSite(served)
    people = (
        "INSERT INTO account (created, name, fullname, email_addr, api_key_hash, api_key_encrypted)"
        " SELECT clock(), 'p' || n, 'P', 'p' || n || '@example.org', sha256(('p' || n)::bytea), '' FROM generate_series(1, %(n)s) n RETURNING 1"
    )
    await site.sql(people, n=addresses)
    cache = served.step(SharePage).page_cache._pages
    sizes = []
    for number in range(1, addresses + 1):
        assert (await site.seen(f"/account/p{number}/")).status == 200
        sizes.append(cache.size)
    assert maximum / 2 < max(sizes) <= maximum
    assert sum(map(page_cache._size, (entry.value for entry in cache._entries.values()))) == cache.size
    assert {key[0] for key in cache._entries} >= {f"/account/p{addresses}/", f"/account/p{addresses - 1}/"}
