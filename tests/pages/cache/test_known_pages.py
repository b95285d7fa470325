"""If-None-Match of visitors: 304 while a page is the same, and the page as soon as anything on it is another."""

from __future__ import annotations

import pytest
import pytest_twisted
from support.browsers import lock
from support.visitors import VisitedSite

from crowdd.features.signin.identity import Identity
from crowdd.http.edge.fair_share import PageTurns

pytestmark = pytest.mark.inside

NAMED = ("/", "/project/{p}/", "/project/{p}/stats", "/project/category/{c}/")  # they show the name of the project
PAGES = (*NAMED, "/leaderboard/", "/account/{a}/")


async def tags_of(site: VisitedSite, paths: tuple[str, ...]) -> dict[str, str]:
    return {path: (await site.cached(path)).header("etag") or "" for path in paths}


@pytest_twisted.ensureDeferred
async def test_each_page_is_known_by_its_tag_and_answered_without_a_body(site):
    for path, tag in (await tags_of(site, PAGES)).items():
        made = site.made
        answer = await site.seen(path, **{"If-None-Match": tag})
        assert (answer.status, answer.body, answer.header("etag")) == (304, b"", tag), path
        assert answer.header("content-type") is None and answer.header("content-length") is None
        assert answer.header("cache-control") == "public, no-cache"
        varies = {word.strip() for word in answer.header("vary").split(",")}
        assert {"Accept", "Cookie", "Authorization", "Origin", "Accept-Encoding"} < varies
        assert site.made == made
        program = await site.visitor().get(site.at(path), headers={"Accept": "application/json", "If-None-Match": tag})
        assert program.status == 200, "another form of the page has another tag"


@pytest_twisted.ensureDeferred
async def test_a_known_page_is_sent_with_the_next_request_after_a_change_of_what_visitors_may_see(site):
    await site.sql("UPDATE account SET privacy_mode = false WHERE name = %(a)s RETURNING 1", a=site.person)
    known = await tags_of(site, PAGES)
    await site.owner.put(f"/api/project/{site.project['id']}", json={"name": f"Feathers of {site.word}"})
    await site.sql("UPDATE account SET fullname = 'Grace' WHERE name = %(a)s RETURNING 1", a=site.person)
    for path, tag in known.items():
        answer = await site.seen(path, **{"If-None-Match": tag})
        assert answer.status == 200 and answer.header("etag") not in (None, tag), path
        assert ("Feathers" if path in NAMED else "Grace") in answer.text, path
        assert (await site.seen(path, **{"If-None-Match": f"{tag}, {answer.header('etag')}"})).status == 304


@pytest_twisted.ensureDeferred
async def test_a_known_page_is_sent_a_second_after_an_answer(site):
    known = await tags_of(site, ("/project/{p}/", "/leaderboard/"))
    await site.answer(site.ada)
    site.clock.advance(1.0)
    for path, tag in known.items():
        answer = await site.seen(path, **{"If-None-Match": tag})
        assert answer.status == 200 and answer.header("etag") != tag, path


@pytest_twisted.ensureDeferred
async def test_a_page_that_is_locked_by_now_is_not_called_unchanged(site):
    (tag,) = (await tags_of(site, ("/project/{p}/",))).values()
    await lock(site.served, site.short_name, site.owner, "a good password")
    for header in (tag, "*", f"W/{tag}"):
        answer = await site.seen("/project/{p}/", **{"If-None-Match": header})
        assert answer.status != 304 and site.word not in answer.text


@pytest_twisted.ensureDeferred
async def test_only_pages_that_are_sent_take_a_turn_among_pages(site, monkeypatch):
    (tag,) = (await tags_of(site, ("/",))).values()
    begun, begin = [], PageTurns.begin
    monkeypatch.setattr(PageTurns, "begin", lambda turns, place: begun.append(place) or begin(turns, place))
    assert (await site.seen("/", **{"If-None-Match": tag})).status == 304 and not begun
    assert (await site.seen("/")).status == 200 and begun


@pytest_twisted.ensureDeferred
async def test_visitors_with_a_known_page_are_answered_before_anybody_asks_who_they_are(site, monkeypatch):
    (tag,) = (await tags_of(site, ("/project/{p}/",))).values()
    asked, find = [], Identity.find
    monkeypatch.setattr(
        Identity, "find", lambda self, incoming, **more: asked.append(incoming.path) or find(self, incoming, **more)
    )
    page = {"If-None-Match": tag}
    assert (await site.seen("/project/{p}/", **page)).status == 304 and not asked
    german = await site.seen("/project/{p}/", **page, **{"Accept-Language": "de"})
    assert german.status == 200 and len(asked) == 1, "another page"


@pytest_twisted.ensureDeferred
async def test_a_known_page_says_nothing_to_who_brings_anything_of_their_own(site):
    """Each of these gets a page that is made for them, or that many get only after it was found out who they are."""
    path = site.at("/project/{p}/")
    tag = (await site.cached("/project/{p}/")).header("etag")
    own = [{"Authorization": site.ada.key}, {"X-Volunteer": "1"}, {"X-Presenter": "1"}, {"X-Draft-Key": "word"}]
    own += [{"X-Project-Password": "word"}, {"Cookie": "session=no"}, {"Purpose": "prefetch"}]
    for headers in own:
        answer = await site.visitor().get(path, headers={"Accept": "text/html", **headers, "If-None-Match": tag})
        assert answer.status != 304, headers
    assert (await site.visitor().get(f"{path}?other=1", headers={"If-None-Match": tag})).status == 200
    browser = await site.browser("ada")
    assert (await browser.get(path, headers={"Accept": "text/html", "If-None-Match": tag})).status == 200
    same = {"Accept": "text/html", "Cookie": "theme=none", "If-None-Match": tag}
    assert (await site.visitor().get(path, headers=same)).status == 304


@pytest_twisted.ensureDeferred
async def test_a_network_that_has_changed_something_gets_a_page_of_its_own(site):
    path, visitor = site.at("/project/{p}/"), site.visitor()
    tag = (await site.cached("/project/{p}/")).header("etag")
    known = {"Accept": "text/html", "If-None-Match": tag}
    assert (await visitor.get(path, headers=known)).status == 304
    await visitor.post("/api/taskrun", json={})
    assert (await visitor.get(path, headers=known)).status == 200
    assert (await site.visitor().get(path, headers=known)).status == 304
