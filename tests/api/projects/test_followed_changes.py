"""``since`` of /api/project/<id>/export: what changed after a cursor, once, with deletions; and streams of it."""

from __future__ import annotations

from typing import Any

import orjson
import psycopg2
import pytest
import pytest_twisted
from support.checks.shows import shows
from support.copies import Copy, source
from support.until import until
from twisted.internet import reactor
from twisted.internet.defer import Deferred
from twisted.internet.protocol import Protocol
from twisted.web.client import Agent
from twisted.web.http_headers import Headers

from crowdd.features.exports.feature import ExportsFeature

KINDS = ("task_run", "task", "result")


async def answer(client: Any, project: dict[str, Any], task: int, info: Any = "fox") -> int:
    """The id of an answer of somebody to a task."""
    assert (await client.post(f"/api/task/{task}/lease", json={})).status == 200
    body = {"project_id": project["id"], "task_id": task, "info": info}
    made = await client.post("/api/taskrun", json=body)
    assert made.status == 200, made.text
    return int(made.json()["id"])


def at(project: dict[str, Any], kind: str = "task_run", since: str = "", more: str = "") -> str:
    return f"/api/project/{project['id']}/export?type={kind}&since={since}{more}"


async def pull(client: Any, project: dict[str, Any], copy: Copy) -> list[Any]:
    """Brings a copy up to date; what came."""
    response = await client.get(at(project, copy.kind, copy.cursor))
    assert response.status == 200, response.text
    lines = response.text.splitlines()
    copy.take(lines)
    return [orjson.loads(line) for line in lines[:-1]]


async def whole(client: Any, project: dict[str, Any], kind: str) -> dict[int, Any]:
    return source((await client.get(f"/api/project/{project['id']}/export?type={kind}")).text.splitlines())


async def begun(served: Any, **about: Any) -> tuple[Any, Any, dict[str, Any]]:
    """An owner, a volunteer, and a published project with four tasks that need one answer each."""
    owner, ada = await served.person("owner"), await served.person("ada")
    return owner, ada, await served.project(owner, tasks=4, published=True, n_answers=1, **about)


class Session:
    """A transaction beside the server."""

    def __init__(self, dsn: str) -> None:
        self.connection = psycopg2.connect(dsn, options="-c search_path=public,code")

    def run(self, sql: str, *values: Any) -> list[Any]:
        with self.connection.cursor() as cursor:
            cursor.execute(sql, values)
            return cursor.fetchall() if cursor.description else []


@pytest.fixture
def beside(dsn):
    session = Session(dsn)
    yield session
    session.connection.close()


@shows("export-since", "export-cursor")
@pytest_twisted.ensureDeferred
async def test_each_change_comes_once(served):
    owner, ada, project = await begun(served)
    copies = {kind: Copy(kind) for kind in KINDS}

    async def came(kind: str) -> list[Any]:
        changes = await pull(owner, project, copies[kind])
        assert copies[kind].rows == await whole(owner, project, kind)
        assert await pull(owner, project, copies[kind]) == []  # and not again
        return changes

    first, second, third, fourth = project["tasks"]
    run = await answer(ada, project, first)
    assert [row["id"] for row in await came("task_run")] == [run]
    assert {row["id"]: row["state"] for row in await came("task")} == {
        first: "completed", second: "ongoing", third: "ongoing", fourth: "ongoing"
    }  # fmt: skip
    (result,) = await came("result")
    other = await answer(ada, project, second)
    assert [row["id"] for row in await came("task_run")] == [other]
    assert (await ada.post(f"/api/task/{first}/correct", json={"info": "owl"})).status == 200
    assert [(row["id"], row["info"]) for row in await came("task_run")] == [(run, "owl")]
    later = {row["id"]: row["last_version"] for row in await came("result")}
    assert later.pop(result["id"]) is False and set(later.values()) == {True}
    await came("task")
    assert (await owner.delete(f"/api/taskrun/{run}")).status == 204
    assert await came("task_run") == [{"id": run, "deleted": True}]
    assert [(row["id"], row["state"]) for row in await came("task")] == [(first, "ongoing")]
    assert (await owner.put(f"/api/task/{third}", json={"info": {"n": 30}})).status == 200
    assert (await owner.post(f"/api/task/{fourth}/retire", json={})).status == 200
    assert {row["id"] for row in await came("task")} == {third, fourth}
    assert (await owner.delete(f"/api/task/{second}")).status == 204
    assert await came("task") == [{"id": second, "deleted": True}]
    assert await came("task_run") == [{"id": other, "deleted": True}]
    came_last = {row["id"]: row.get("deleted") or row["last_version"] for row in await came("result")}
    assert sorted(came_last.values()) == [False, True]  # the result of the first task is the last one no more
    assert all(copy.twice == 0 for copy in copies.values())


@shows("export-since")
@pytest_twisted.ensureDeferred
async def test_a_transaction_that_commits_late_is_not_passed(served, beside):
    owner, ada, project = await begun(served)
    copy, (first, second, third, _) = Copy("task_run"), project["tasks"]
    early = await answer(ada, project, first)
    await pull(owner, project, copy)
    changed = "UPDATE task_run SET info = '\"heron\"' WHERE project_id = %s AND id = %s RETURNING changed_xid"
    ((position,),) = beside.run(changed, project["id"], early)
    late = [await answer(ada, project, task) for task in (second, third)]  # later numbers, and committed before it
    assert await pull(owner, project, copy) == [] and copy.rows[early]["info"] == "fox"
    beside.connection.commit()
    changes = await pull(owner, project, copy)
    assert [row["id"] for row in changes] == [early, *late] and copy.rows[early]["info"] == "heron"
    assert await pull(owner, project, copy) == []
    assert int(copy.cursor.rpartition("-")[2]) > position


@shows("export-since")
@pytest_twisted.ensureDeferred
async def test_a_transaction_that_is_undone_holds_back_and_leaves_nothing(served, beside):
    owner, ada, project = await begun(served)
    copy = Copy("task_run")
    run = await answer(ada, project, project["tasks"][0])
    await pull(owner, project, copy)
    beside.run("SELECT delete_run(%s, %s, clock())", project["id"], run)
    later = await answer(ada, project, project["tasks"][1])
    assert await pull(owner, project, copy) == []
    beside.connection.rollback()
    assert [row["id"] for row in await pull(owner, project, copy)] == [later]
    assert copy.rows == await whole(owner, project, "task_run")


@shows("export-cursor")
@pytest_twisted.ensureDeferred
async def test_what_is_no_cursor_is_refused(served):
    owner, _, project = await begun(served)
    other = orjson.loads((await owner.get(at(project, "task"))).text.splitlines()[-1])["cursor"]
    for since in (
        "x",
        "-1",
        "0",
        other,
        "task_run-o0-1e3",
        "task_run-o0-" + "9" * 19,
        "task_run-o0-9" + "%00",
        "task_run-o0-٣",
    ):
        response = await owner.get(at(project, "task_run", since))
        assert (response.status, response.json()["error_code"]) == (415, "invalid_value"), since
    for more in ("&format=csv", "&format=json", "&info=columns", "&rows=mark", "&task_ids=1", "&volunteer=x"):
        assert (await owner.get(at(project, more=more))).status == 415, more
    for kind in ("event", "volunteer", "consensus"):
        assert (await owner.get(at(project, kind))).status == 415, kind
    assert (await owner.get(f"/api/project/{project['id']}/export?follow=true")).status == 415


@shows("export-outdated")
@pytest_twisted.ensureDeferred
async def test_a_cursor_that_cannot_be_continued_is_gone(served, beside):
    owner, ada, project = await begun(served)
    copies = {kind: Copy(kind) for kind in KINDS}
    run = await answer(ada, project, project["tasks"][0])
    for copy in copies.values():
        await pull(owner, project, copy)

    async def status(kind: str, since: str = "", client: Any = owner) -> int:
        response = await client.get(at(project, kind, since or copies[kind].cursor))
        assert response.status == 200 or response.json()["error_code"] == "outdated_cursor"
        return int(response.status)

    assert await status("task_run", client=ada) == 410  # was made for an owner
    name, _, place = copies["task_run"].cursor.rpartition("-")
    assert await status("task_run", f"{name}-{int(place) + 10_000}") == 410  # ahead of everything
    # Deletions are forgotten.
    assert (await owner.delete(f"/api/taskrun/{run}")).status == 204
    house = served.house
    assert await house[ExportsFeature].exports.forget_deletions() == 0
    beside.run("UPDATE tombstone SET at = at - interval '91 days'")
    beside.connection.commit()
    assert await house[ExportsFeature].exports.forget_deletions() > 0
    assert await status("task_run") == 410
    again = Copy("task_run")
    assert await pull(owner, project, again) == [] and again.rows == {}
    assert await status("task_run", again.cursor) == 200
    # All rows look different.
    info = {"info": {"column_roles": {"n": "hidden"}}}
    assert (await owner.put(f"/api/project/{project['id']}", json=info)).status == 200
    assert await status("task") == 410 and await status("task_run", again.cursor) == 200
    assert await status("result") == 200
    info = {"info": {"answers": [{"name": "what", "at": "/answer", "type": "text"}]}}
    assert (await owner.put(f"/api/project/{project['id']}", json=info)).status == 200
    assert await status("result") == 410


@shows("export-outdated")
@pytest_twisted.ensureDeferred
async def test_a_cursor_goes_on_after_the_database_moved_unless_it_has_seen_more(served, beside):
    owner, ada, project = await begun(served)
    copy = Copy("task_run")
    await answer(ada, project, project["tasks"][0])
    await pull(owner, project, copy)
    lost = await answer(ada, project, project["tasks"][1])
    ahead = Copy("task_run")
    await pull(owner, project, ahead)
    # As in a dump that was made before the second answer, restored into another PostgreSQL.
    beside.run("SELECT delete_run(%s, %s, clock())", project["id"], lost)
    beside.run("DELETE FROM tombstone")
    beside.run("UPDATE cluster SET system_identifier = 1")
    assert beside.run("SELECT know_cluster(clock())") == [(True,)]
    assert beside.run("SELECT know_cluster(clock())") == [(False,)]
    beside.connection.commit()
    response = await owner.get(at(project, since=ahead.cursor))
    assert (response.status, response.json()["error_code"]) == (410, "outdated_cursor")
    assert await pull(owner, project, copy) == []
    later = await answer(ada, project, project["tasks"][2])
    assert [row["id"] for row in await pull(owner, project, copy)] == [later]
    assert (await owner.get(at(project, since=ahead.cursor))).status == 410
    assert beside.run("SELECT know_cluster(clock(), true)") == [(True,)]  # restored once more, here
    beside.connection.commit()
    assert await pull(owner, project, copy) == []
    assert copy.rows == await whole(owner, project, "task_run")


@shows("export-rights")
@pytest_twisted.ensureDeferred
async def test_who_may_follow_is_who_may_export(served):
    owner, ada, project = await begun(served)
    await answer(ada, project, project["tasks"][0])
    public, own = Copy("task_run"), Copy("task_run")
    await pull(ada, project, public)
    await pull(owner, project, own)
    assert public.rows == await whole(ada, project, "task_run")
    assert public.cursor.startswith("task_run-p") and own.cursor.startswith("task_run-o")
    info = {"answers_when_complete": True}
    assert (await owner.put(f"/api/project/{project['id']}", json={"info": info})).status == 200
    assert (await ada.get(at(project, since=public.cursor))).status == 403
    assert (await owner.get(at(project, since=own.cursor))).status == 200
    assert (await owner.put(f"/api/project/{project['id']}", json={"info": {}})).status == 200
    assert (await ada.get(at(project, since=public.cursor))).status == 200
    assert (await owner.put(f"/api/project/{project['id']}", json={"zip_download": False})).status == 200
    for kind in KINDS:
        for more in ("", "&follow=1"):
            assert (await ada.get(at(project, kind, more=more))).status == 403
            assert (await served.client().get(at(project, kind, more=more))).status == 401


@pytest_twisted.ensureDeferred
async def test_two_accounts_that_become_one_are_followed(served):
    """The answers that an account takes over, and those that stay with another code."""
    owner, ada, project = await begun(served)
    copy, browser = Copy("task_run"), served.client()
    for task in project["tasks"][:2]:
        assert (await browser.post(f"/api/task/{task}/lease", json={})).status == 200
        body = {"project_id": project["id"], "task_id": task, "info": "wren"}
        assert (await browser.post("/api/taskrun", json=body)).status == 200
    await pull(owner, project, copy)
    rows = await served.database.fetch(
        "SELECT DISTINCT actor FROM task_run WHERE project_id = %(p)s", {"p": project["id"]}
    )
    move = "SELECT move_runs(%(p)s, %(a)s, NULL, %(to)s, %(user)s, NULL, %(t)s, clock())"
    values = {"p": project["id"], "a": rows[0]["actor"], "to": f"u:{ada.user_id}", "user": ada.user_id}
    await served.database.execute(move, {**values, "t": [project["tasks"][0]]})
    assert [row["user_id"] for row in await pull(owner, project, copy)] == [ada.user_id]
    await served.database.execute(move, {**values, "t": [project["tasks"][1]]})
    await pull(owner, project, copy)
    assert copy.rows == await whole(owner, project, "task_run")


class Lines(Protocol):
    """An open stream of lines."""

    def __init__(self, response: Any) -> None:
        self.status, self.headers = response.code, response.headers
        self.lines: list[bytes] = []
        self.ended = False
        self._rest = b""
        self.woken: list[Deferred[None]] = []

    def dataReceived(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        self.lines += lines

    def connectionLost(self, reason: Any = None) -> None:
        self.ended = True

    @property
    def values(self) -> list[Any]:
        return [orjson.loads(line) for line in self.lines if line]

    @property
    def cursors(self) -> int:
        return sum("cursor" in value for value in self.values)


async def follow(client: Any, path: str) -> Lines:
    headers = {"Authorization": [client.key]} if client.key else {}
    response = await Agent(reactor).request(b"GET", (client.base + path).encode(), Headers(headers))
    lines = Lines(response)
    response.deliverBody(lines)
    return lines


@shows("export-follow")
@pytest_twisted.ensureDeferred
async def test_a_stream_has_the_changes_as_they_happen(served):
    owner, ada, project = await begun(served)
    run = await answer(ada, project, project["tasks"][0])
    stream = await follow(owner, at(project, more="&follow=true"))
    assert stream.status == 200 and stream.headers.getRawHeaders("content-type") == ["application/x-ndjson"]
    assert stream.headers.getRawHeaders("cache-control") == ["no-store"]
    await until(lambda: stream.cursors == 1)
    assert [value["id"] for value in stream.values[:-1]] == [run]
    others = [await answer(ada, project, task) for task in project["tasks"][1:3]]
    assert (await owner.delete(f"/api/taskrun/{run}")).status == 204
    await until(lambda: {"id": run, "deleted": True} in stream.values)
    copy = Copy("task_run")
    await until(lambda: "cursor" in stream.values[-1])
    copy.take(stream.lines)
    assert copy.rows == await whole(owner, project, "task_run") and set(copy.rows) == set(others) and copy.twice == 0
    stream.transport.stopProducing()
    again = await follow(owner, at(project, since=copy.cursor, more="&follow=true"))
    await until(lambda: again.cursors == 1)
    assert again.values == [{"cursor": copy.cursor}]
    again.transport.stopProducing()


@shows("export-follow")
@pytest_twisted.ensureDeferred
async def test_a_stream_ends_with_the_right_to_read_and_with_the_server(served):
    owner, ada, project = await begun(served)
    streams = [await follow(client, at(project, more="&follow=true")) for client in (ada, owner)]
    for stream in streams:
        await until(lambda stream=stream: stream.cursors == 1)
    assert (await owner.put(f"/api/project/{project['id']}", json={"zip_download": False})).status == 200
    await answer(ada, project, project["tasks"][0])
    await until(lambda: streams[0].ended)
    assert streams[0].values[-1]["error_code"] == "forbidden" and len(streams[0].values) == 2
    await until(lambda: streams[1].cursors == 2)
    assert (await follow(ada, at(project, more="&follow=true"))).status == 403
    served.server._site.streams.close()
    await until(lambda: streams[1].ended)
    assert "cursor" in streams[1].values[-1]


@shows("export-follow")
@pytest_twisted.ensureDeferred
async def test_streams_of_a_network_are_counted_and_get_heartbeats(serve):
    served = await serve(CROWDD_LIVE_MAX_STREAMS_PER_ADDRESS="2", CROWDD_LIVE_HEARTBEAT_SECONDS="1")
    owner, _, project = await begun(served)
    streams = [await follow(owner, at(project, more="&follow=true")) for _ in range(3)]
    assert [stream.status for stream in streams] == [200, 200, 429]
    await until(lambda: all(stream.lines.count(b"") >= 3 for stream in streams[:2]))
    assert all(stream.cursors == 1 for stream in streams[:2])
    refused = await follow(owner, at(project, since="task_run-o9-9", more="&follow=true"))
    assert refused.status == 410
