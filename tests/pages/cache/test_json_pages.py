"""What programs read is what is committed. It is read again, as soon as anything was committed since it was made."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
import pytest_twisted
from support.checks.shows import shows
from support.until import until
from support.visitors import VisitedSite
from twisted.internet.defer import Deferred, ensureDeferred, gatherResults

from crowdd.database.connection import Connection
from crowdd.features.site.front_pages import HomePages

pytestmark = pytest.mark.inside

JSON = {"Accept": "application/json"}
PAGES = ("/", "/project/{p}/", "/project/{p}/stats", "/leaderboard/")
LISTS = ("/api/project", "/api/task?project_id={id}", "/api/result?limit=3", "/api/taskrun?project_id={id}")


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the server asks PostgreSQL."""
    made: list[str] = []
    run = Connection.run
    monkeypatch.setattr(
        Connection, "run", lambda self, sql, *more, **named: (made.append(str(sql)), run(self, sql, *more, **named))[1]
    )
    return made


async def read(site: VisitedSite, path: str, **headers: str) -> Any:
    """What a program without an account gets."""
    path = site.at(path.replace("{id}", str(site.project["id"])))
    return await site.visitor().get(path, headers={**JSON, **headers})


async def fewest(site: VisitedSite, statements: list[str], path: str, **headers: str) -> tuple[Any, int]:
    """A response, and the fewest statements of many requests: other programs commit now and then."""
    counts: list[int] = []
    for _ in range(200):
        statements.clear()
        answer = await read(site, path, **headers)
        counts.append(len(statements))
        if counts[-1] <= 1:
            break
    return answer, min(counts)


@shows("etag-json-pages")
@pytest.mark.parametrize("path", [*PAGES, "/api/project/{id}", "/api/project"])
@pytest_twisted.ensureDeferred
async def test_what_did_not_change_takes_one_statement(site, statements, path):
    first = await read(site, path)
    again, number = await fewest(site, statements, path)
    assert number == 1 and again.json() == first.json()
    same, number = await fewest(site, statements, path, **{"If-None-Match": again.header("etag")})
    assert (number, same.status, same.body) == (1, 304, b"")
    assert same.header("etag") == again.header("etag") and same.header("cache-control") == again.header("cache-control")


@pytest.mark.parametrize("path", LISTS)
@pytest_twisted.ensureDeferred
async def test_a_list_that_somebody_has_is_not_read_again(site, statements, path):
    first = await read(site, path)
    tag = first.header("etag")
    same, number = await fewest(site, statements, path, **{"If-None-Match": tag})
    assert (number, same.status, same.body, same.header("etag")) == (1, 304, b"", tag)
    other, number = await fewest(site, statements, path, **{"If-None-Match": '"other"'})
    assert (number, other.status, other.json()) == (1, 200, first.json())


@shows("format-fresh")
@pytest_twisted.ensureDeferred
async def test_every_commit_is_read_by_the_next_request(site):
    tags: dict[str, str] = {}

    async def different(*paths: str) -> None:
        """These are something else than before, for who has them and for who has not."""
        for path in paths:
            answer = await read(site, path, **({"If-None-Match": tags[path]} if path in tags else {}))
            assert answer.status == 200, path
            tags[path] = answer.header("etag")
            assert (await read(site, path)).header("etag") == tags[path], path

    project, tasks, runs = "/api/project/{id}", LISTS[1], LISTS[3]
    await different(*PAGES, project, *LISTS)
    await site.answer(await site.served.person(f"bob{site.number}"))
    await different("/", "/project/{p}/", "/project/{p}/stats", "/leaderboard/", runs)
    rename = "UPDATE project SET name = %(name)s WHERE id = %(id)s RETURNING 1"
    for name in ("Feathers", "Wings"):  # past this process
        await site.sql(rename, name=f"{name} {site.number}", id=site.project["id"])
        await different("/", "/project/{p}/", project, "/api/project")
        assert name in (await read(site, project)).text and name in (await read(site, "/")).text
    await site.owner.post("/api/task", json={"project_id": site.project["id"], "info": {"n": 3}})
    await different("/", "/project/{p}/", tasks)


@shows("format-fresh")
@pytest_twisted.ensureDeferred
async def test_a_lock_and_a_deletion_are_seen_by_the_next_request(site):
    lock = "UPDATE project SET lock_id = %(lock)s, passwd_hash = %(lock)s WHERE id = %(id)s RETURNING 1"
    names = [site.word, site.short_name]
    for _ in range(3):
        held = {path: (await read(site, path)).header("etag") for path in (*PAGES[:3], LISTS[0], LISTS[1])}
        assert site.word in (await read(site, "/")).text
        await site.sql(lock, lock="x", id=site.project["id"])
        for path, tag in held.items():
            for headers in ({"If-None-Match": tag}, {}):
                answer = await read(site, path, **headers)
                assert answer.status != 304 and not any(name in answer.text for name in names), path
        await site.sql(lock, lock=None, id=site.project["id"])
        assert site.word in (await read(site, "/")).text
    assert (await site.owner.delete(f"/api/project/{site.project['id']}")).status == 204
    assert (await read(site, "/api/project/{id}")).status == 404 and site.word not in (await read(site, "/")).text


@pytest_twisted.ensureDeferred
async def test_who_has_answered_is_told_so_and_the_others_are_not(site):
    volunteer, path = site.visitor(), f"/api/project/{site.project['id']}"
    await volunteer.get(site.at("/project/{p}/newtask"), headers={"Accept": "text/html"})
    for _ in range(2):
        assert (await volunteer.get(path)).json()["contrib_button"] == "can_contribute"
        await site.answer(volunteer)
    for _ in range(3):
        assert (await volunteer.get(path)).json()["contrib_button"] == "cannot_contribute"
        assert (await read(site, path)).json()["contrib_button"] == "can_contribute"
        assert (await site.owner.get(path)).json()["secret_key"], "an owner sees more"
    assert "secret_key" not in (await read(site, path)).json()


@pytest_twisted.ensureDeferred
async def test_what_is_committed_while_a_page_is_made_is_seen_by_who_asks_after_it(site, monkeypatch):
    home, held = HomePages.home, Deferred()
    begun: list[Any] = []

    async def slow(self: HomePages, incoming: Any) -> Any:
        page = await home(self, incoming)
        begun.append(page)
        if len(begun) == 1:
            await held
        return page

    routes = site.served.server._site.resource._router.routes["/"]
    pages = routes["GET"].handler.__self__
    monkeypatch.setitem(routes, "GET", _with_handler(routes["GET"], slow.__get__(pages)))
    early = [ensureDeferred(read(site, "/")) for _ in range(3)]
    await until(lambda: bool(begun), 10)
    await site.sql("UPDATE project SET name = 'Later' WHERE id = %(id)s RETURNING 1", id=site.project["id"])
    late = [ensureDeferred(read(site, "/")) for _ in range(3)]
    held.callback(None)
    for answer in await gatherResults(late):
        assert "Later" in answer.text
    await gatherResults(early)
    assert "Later" in (await read(site, "/")).text


def _with_handler(route: Any, handler: Any) -> Any:
    return attrs.evolve(route, handler=handler)


@pytest_twisted.ensureDeferred
async def test_a_list_for_somebody_with_a_key_stays_private(site):
    path = f"/api/task?project_id={site.project['id']}"
    mine = await site.owner.get(path)
    same = await site.owner.get(path, headers={"If-None-Match": mine.header("etag")})
    assert same.status == 304 and same.header("cache-control") == "private, no-store"
