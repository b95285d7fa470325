"""Pages that visitors get alike tell them nothing that others may read, and others get pages of their own.

Each page is asked for by somebody with rights first and by a visitor then, and the other way round. What is in the cache
stays there for the whole test.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

import pytest
import pytest_twisted
from matrix.example_site import Stage
from matrix.planted import PUBLIC_KEY, Value, recognised
from matrix.test_exposure import ON_PAGES, PAGES, assert_silent, forbidden, values  # noqa: F401 - a fixture
from psycopg2.extras import Json as AsJson
from support.checks.proofs import examples
from twisted.internet.defer import ensureDeferred

from crowdd.http.page_cache import PageCache
from crowdd.http.steps import SharePage
from crowdd.kernel.concurrency.cache import Cache
from crowdd.kinds.task import TASK
from crowdd.kinds.user import USER

SHARED = (
    "/", "/leaderboard/", "/stats/", "/account/signin", "/project/category/thinking/", "/project/category/featured/",
    "/project/open/", "/project/open/stats", "/project/open/tasks/", "/project/locked/", "/project/locked/stats",
    "/project/locked/tasks/", "/project/second/", "/project/open/newtask", "/project/locked/newtask",
    "/project/draft/newtask", "/project/closed/newtask", "/project/open/tasks/browse", "/project/locked/tasks/browse",
    "/project/draft/tasks/browse", "/project/closed/tasks/browse", "/project/open/tasks/browse/1", "/account/anna/", "/account/berta/", "/account/dora/", "/account/owner/",
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
    keep, make = Cache._keep, PageCache._made

    async def noted(self: PageCache, incoming: Any, *more: Any) -> Any:
        pages.append(incoming.path)
        return await make(self, incoming, *more)

    monkeypatch.setattr(Cache, "_keep", lambda self, *about: keep(self, *about[:-1], math.inf))
    monkeypatch.setattr(PageCache, "_made", noted)
    cache = stage.served.step(SharePage).page_cache
    monkeypatch.setattr(cache, "_changed", frozenset())
    monkeypatch.setattr(PageCache, "note_change", lambda self, incoming: None)
    yield pages
    entries = cache._pages
    entries._entries.clear()
    entries.size = 0


def is_for(page: Any, person: Any) -> bool:
    """Whether a page was made for somebody: it lets them sign out, or its scripts know them."""
    return "/account/signout" in page.text or f'data-volunteer="{person.user_id}"' in page.text


@pytest.fixture
def tasks_are_shown(stage: Stage, values: list[Value]) -> Iterator[list[str]]:  # noqa: F811
    """Projects have presenters, and there are two that visitors may not enter; gives what only their tasks hold."""
    blocked, infos = (
        pytest_twisted.blockon,
        "UPDATE project SET info = info || %(more)s WHERE id = ANY (%(ids)s) RETURNING 1",
    )
    ids = [*stage.rows["project"], *stage.hidden["project"]]

    async def begin() -> list[int]:
        await stage.sql(infos, more=AsJson({"task_presenter": "<p>?</p>"}), ids=ids)
        made = {}
        for name in ("draft", "closed"):
            made[name] = await stage.served.project(stage["owner"], name, tasks=2, published=name == "closed")
            text = AsJson({"word": f"{name}-task-planted"})
            await stage.sql(
                "UPDATE task SET info = %(i)s WHERE project_id = %(p)s RETURNING 1", i=text, p=made[name]["id"]
            )
        await stage.sql(
            "UPDATE project SET published = false, zip_download = false, name = 'Shut' WHERE id = %(p)s RETURNING 1",
            p=made["closed"]["id"],
        )
        return [one["id"] for one in made.values()]

    async def end(made: list[int]) -> None:
        await stage.sql(
            "UPDATE project SET info = info - 'task_presenter' WHERE id = ANY (%(ids)s) RETURNING 1", ids=ids
        )
        for number in made:
            await stage["owner"].delete(f"/api/project/{number}")

    made = blocked(ensureDeferred(begin()))
    yield ["draft-task-planted", "closed-task-planted"]
    blocked(ensureDeferred(end(made)))


@pytest.mark.inside
@pytest_twisted.ensureDeferred
async def test_first_visits_show_no_task_of_a_project_that_is_shut(stage, values, made, tasks_are_shown):  # noqa: F811
    infos = [v.truth for v in values if v.kind is TASK and v.field.name == "info"]
    tasks = {text for info in infos for text in info.values()}
    assert len(tasks) > len(infos) > 3
    owner = await stage["owner"].by_session()
    for name, status in (("open", 200), ("locked", 302), ("draft", 404), ("closed", 200)):
        for page in ("newtask", "tasks/browse"):
            path = f"/project/{name}/{page}"
            await owner.get(path, headers=HTML)
            for _ in range(2):
                visitor = await stage.served.client().get(path, headers=HTML)
                expected = 302 if path == "/project/closed/tasks/browse" else status
                assert visitor.status == expected, path
                assert_silent(visitor, {*secrets(values, "anonymous"), *tasks_are_shown}, path)
                if page == "newtask":
                    assert_silent(visitor, tasks, path)
                    assert status != 200 or "data-csrf" in visitor.text, path


def secrets(values: list[Value], requester: str) -> set[str]:  # noqa: F811
    """What pages must not tell a requester."""
    shown = {text for v in values if v.field.name in ON_PAGES for text in recognised(v.truth)}
    shown |= {v.truth[PUBLIC_KEY] for v in values if v.kind is USER and v.field.name == "info" and not v.hidden}
    return forbidden(values, requester) - shown


@pytest.mark.inside
def test_every_page_that_is_shared_is_asked_for_here(stage):
    routes = {re.sub(r"<[^>]*>", "[^/]+", route.path) for route in stage.served.routes if route.shared is not None}
    assert len(routes) == 12
    for route in routes:
        assert any(re.fullmatch(route, path) for path in SHARED), route


@pytest.mark.inside
@few_of_them
@pytest.mark.parametrize("known", KNOWN)
@pytest_twisted.ensureDeferred
async def test_visitors_get_nothing_of_who_asked_before_them(known, stage, values, made, tasks_are_shown):  # noqa: F811
    person = await stage[known].by_session()
    for path in EVERY:
        own = await person.get(path, headers=HTML)
        assert path not in made, f"a page of the {known} is in the cache"
        for _ in range(2):
            visitor = await stage.served.client().get(path, headers=HTML)
            assert_silent(visitor, secrets(values, "anonymous"), path)
            assert visitor.status != 200 or not is_for(visitor, stage[known]), path
        assert own.status != 200 or is_for(own, stage[known]) or path == "/account/signin", path


@pytest.mark.inside
@few_of_them
@pytest.mark.parametrize("known", KNOWN)
@pytest_twisted.ensureDeferred
async def test_people_get_nothing_of_the_visitor_who_asked_before_them(known, stage, values, made, tasks_are_shown):  # noqa: F811
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
        assert again.status != 200 or is_for(again, stage[known]), path
        assert_silent(again, secrets(values, known), path)
        visitor = await stage.served.client().get(path, headers=HTML)
        assert visitor.status == first.status and (made == [] or first.status != 200), path
        assert_silent(visitor, secrets(values, "anonymous"), path)
