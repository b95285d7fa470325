"""Pages that visitors get alike tell them nothing that others may read, and others get pages of their own.

Each page is asked for by somebody with rights first and by a visitor then, and the other way round. What is in the cache
stays there for the whole test.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import attrs
import pytest
import pytest_twisted
from matrix.example_site import Stage
from matrix.planted import PUBLIC_KEY, Value, recognised
from matrix.test_exposure import ON_PAGES, PAGES, assert_silent, forbidden, values  # noqa: F401 - a fixture
from support.checks.proofs import examples

from crowdd.http.page_cache import PageCache
from crowdd.kernel.concurrency.cache import VersionedCache
from crowdd.kinds.user import USER

SHARED = (
    "/", "/leaderboard/", "/stats/", "/account/signin", "/project/category/thinking/", "/project/category/featured/",
    "/project/open/", "/project/open/stats", "/project/open/tasks/", "/project/locked/", "/project/locked/stats",
    "/project/locked/tasks/", "/project/second/", "/account/anna/", "/account/berta/", "/account/dora/", "/account/owner/",
    "/account/volunteer/",
)  # fmt: skip
EVERY = tuple(dict.fromkeys((*SHARED, *(page for page in PAGES if not page.startswith("/api")))))
KNOWN = ("owner", "coowner", "admin", "volunteer", "stranger", "herself")
few_of_them = examples("owner", "stranger")  # who gets most, and who gets what a visitor does with a name at its top
HTML = {"Accept": "text/html"}


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch, stage: Stage) -> Iterator[list[str]]:
    """The pages that were made for many visitors; they stay for ever, and the next test begins without them.

    Everybody here comes from one network, which would get pages of its own for two seconds after somebody signed in.
    """
    pages: list[str] = []
    keep, make = VersionedCache._keep, PageCache._made

    async def noted(self: PageCache, incoming: Any, *more: Any) -> Any:
        pages.append(incoming.path)
        return await make(self, incoming, *more)

    monkeypatch.setattr(
        VersionedCache, "_keep", lambda self, key, entry: keep(self, key, attrs.evolve(entry, until=math.inf))
    )
    monkeypatch.setattr(PageCache, "_made", noted)
    cache = stage.served.server._site.resource._router._page_cache
    monkeypatch.setattr(cache, "_changed", frozenset())
    monkeypatch.setattr(PageCache, "note_change", lambda self, incoming: None)
    yield pages
    entries = cache._pages
    entries._entries.clear()
    entries.size = 0


def secrets(values: list[Value], requester: str) -> set[str]:  # noqa: F811
    """What pages must not tell a requester."""
    shown = {text for v in values if v.field.name in ON_PAGES for text in recognised(v.truth)}
    shown |= {v.truth[PUBLIC_KEY] for v in values if v.kind is USER and v.field.name == "info" and not v.hidden}
    return forbidden(values, requester) - shown


@pytest.mark.inside
def test_every_page_that_is_shared_is_asked_for_here(stage):
    routes = {re.sub(r"<[^>]*>", "[^/]+", route.path) for route in stage.served.routes if route.shared is not None}
    assert len(routes) == 9
    for route in routes:
        assert any(re.fullmatch(route, path) for path in SHARED), route


@pytest.mark.inside
@few_of_them
@pytest.mark.parametrize("known", KNOWN)
@pytest_twisted.ensureDeferred
async def test_visitors_get_nothing_of_who_asked_before_them(known, stage, values, made):  # noqa: F811
    person = await stage[known].by_session()
    for path in EVERY:
        own = await person.get(path, headers=HTML)
        assert path not in made, f"a page of the {known} is in the cache"
        for _ in range(2):
            visitor = await stage.served.client().get(path, headers=HTML)
            assert_silent(visitor, secrets(values, "anonymous"), path)
            assert visitor.status != 200 or "/account/signout" not in visitor.text, path
        assert own.status != 200 or "/account/signout" in own.text or path == "/account/signin", path


@pytest.mark.inside
@few_of_them
@pytest.mark.parametrize("known", KNOWN)
@pytest_twisted.ensureDeferred
async def test_people_get_nothing_of_the_visitor_who_asked_before_them(known, stage, values, made):  # noqa: F811
    person = await stage[known].by_session()
    alone = {path: await person.get(path, headers=HTML) for path in EVERY}
    for path in EVERY:
        made.clear()
        first = await stage.served.client().get(path, headers=HTML)
        if path in SHARED and first.status == 200:
            assert made == [path], f"{path} is not in the cache"
        made.clear()
        again = await person.get(path, headers=HTML)
        assert (again.status, again.header("etag")) == (alone[path].status, alone[path].header("etag")), path
        assert again.status != 200 or "/account/signout" in again.text, path
        assert_silent(again, secrets(values, known), path)
        visitor = await stage.served.client().get(path, headers=HTML)
        assert visitor.status == first.status and (made == [] or first.status != 200), path
        assert_silent(visitor, secrets(values, "anonymous"), path)
