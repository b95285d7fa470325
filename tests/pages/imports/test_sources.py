"""Addresses that are imported again by the clock: what is new is added, what fails is told, and it ends when it must."""

from __future__ import annotations

import http.server
import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
import pytest_twisted
from support.checks.shows import shows
from support.iiif import manifest
from support.importing import AT, tasks_of
from support.servers.queue_runner import worked
from twisted.internet.defer import ensureDeferred, gatherResults

from crowdd.features.imports.feature import ImportsFeature
from crowdd.features.imports.sources import DAY, HOUR, MAX_FAILURES, MAX_SOURCES, WEEK, is_off, pause_seconds

ALLOWED = {"CROWDD_OUTGOING_ALLOWED_HOSTS": "127.0.0.1:*"}


class Table:
    """A server with one file. ``asked`` has the conditions of each request; ``status`` is what it answers."""

    def __init__(self) -> None:
        self.content, self.etag, self.status = b"", "", 200
        self.asked: list[dict[str, str]] = []
        self.codes: Counter[int] = Counter()
        source = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                source.asked.append({k.lower(): v for k, v in self.headers.items() if k.lower().startswith("if-")})
                same = source.etag and self.headers.get("If-None-Match") == source.etag
                status = 304 if same and source.status == 200 else source.status
                source.codes[status] += 1
                self.send_response(status)
                if source.etag:
                    self.send_header("ETag", source.etag)
                self.end_headers()
                if status != 304:
                    self.wfile.write(source.content)

            def log_message(self, *_: object) -> None: ...

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/table.csv"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def table() -> Iterator[Table]:
    source = Table()
    yield source
    source.close()


async def kept(served: Any, table: Table, content: bytes, **fields: str) -> tuple[Any, dict[str, Any], int]:
    """An owner, a project, and the source of an import that has been made from its address."""
    owner = await served.person("owner")
    project = await served.project(owner)
    table.content = content
    begun = (await owner.post(AT, json={"csv_url": table.url, "on_error": "skip", **fields})).json()
    assert begun["status"] == "success", begun
    await worked(served)
    answer = (await owner.post(f"{AT}/{begun['import']}/again", json={"period": DAY})).json()
    assert answer["status"] == "success", answer
    return owner, project, answer["source"]


async def passed(served: Any) -> list[dict[str, Any]]:
    """A day later: what is due has been read."""
    await served.database.execute("UPDATE import_source SET next_at = clock() WHERE next_at > clock()")
    await served.house[ImportsFeature].sources.start_due()
    return await worked(served)


async def shown(owner: Any) -> dict[str, Any]:
    (source,) = (await owner.page(AT)).json()["sources"]
    return dict(source)


@shows("page-import-again")
@pytest_twisted.ensureDeferred
async def test_new_rows_of_an_address_are_added_and_the_figures_add_up(serve, table):
    served = await serve(**ALLOWED)
    owner, project, source_id = await kept(served, table, b"n,w\n1,a\n2,b\n", key="n")
    assert (await shown(owner))["outcome"] == "" and (await shown(owner))["active"]
    assert await served.house[ImportsFeature].sources.start_due() == 0, "it is not due before a day has passed"
    table.content, table.etag = b"n,w\n1,a\n2,changed\n3,c\n,d\n", '"v2"'
    items = await passed(served)
    assert (items[-1]["name"], items[-1]["state"], items[-1]["result"]["outcome"]) == ("read_source", "done", "read")
    source = await shown(owner)
    figures = {name: source[name] for name in ("rows", "added", "updated", "present", "refused")}
    assert figures == {"rows": 4, "added": 1, "updated": 1, "present": 1, "refused": 1}
    assert (source["outcome"], source["failures"], source["reading"]) == ("read", 0, False)
    assert [task["info"]["w"] for task in await tasks_of(owner, project)] == ["a", "changed", "c"]
    # The same file is not sent again, and one without a mark is known by its content.
    await passed(served)
    assert table.codes[304] == 1 and table.asked[-1] == {"if-none-match": '"v2"'}
    assert (await shown(owner))["outcome"] == "unchanged" and (await shown(owner))["added"] == 1
    table.etag = ""
    await passed(served)
    assert (await shown(owner))["outcome"] == "unchanged" and len(table.asked) == 4
    page = (await owner.get(AT, headers={"Accept": "text/html"})).text
    assert "Rows: 4 = 1 added + 1 updated + 1 already there + 1 refused" in page and "the file had not changed" in page
    # Rows that are gone from the file are counted, and their tasks stay.
    table.content = b"n,w\n3,c\n4,d\n"
    await passed(served)
    source = await shown(owner)
    assert {name: source[name] for name in figures} == {**figures, "rows": 2, "updated": 0, "refused": 0}
    newest = max(one["id"] for one in (await owner.page(AT)).json()["imports"])
    assert (await owner.page(f"{AT}/{newest}")).json()["import"]["gone"] == 2
    assert (await owner.post(f"{AT}/sources/{source_id}", json={"act": "delete"})).json()["status"] == "success"
    assert (await owner.page(AT)).json()["sources"] == [] and len(await tasks_of(owner, project)) == 4


@shows("page-import-again")
@pytest_twisted.ensureDeferred
async def test_an_address_that_fails_is_asked_less_often_then_switched_off_and_its_owner_written_to(serve, table):
    served = await serve(**ALLOWED)
    owner, project, source_id = await kept(served, table, b"n\n1\n")
    table.status = 500
    for n in range(1, MAX_FAILURES + 1):
        items = await passed(served)
        assert items[-1]["state"] == "done" and items[-1]["result"]["error"] == "The other server returned status 500."
        source = await shown(owner)
        assert (source["failures"], source["active"]) == (n, n < MAX_FAILURES)
    assert source["why_off"] == "The other server returned status 500."
    (letter,) = await served.database.fetch("SELECT recipient, text FROM mail WHERE template = 'source_off'")
    assert letter["recipient"] == "owner@example.org" and table.url in letter["text"] and "status 500" in letter["text"]
    assert await passed(served) == items, "nothing is read any more"
    page = (await owner.get(AT, headers={"Accept": "text/html"})).text
    assert "Switched off" in page and "The other server returned status 500." in page
    # A page instead of a table fails too; when the table is there again, it goes on.
    table.status, table.content = 200, b"<!DOCTYPE html><html><title>Sign in</title></html>"
    await owner.post(f"{AT}/sources/{source_id}", json={"act": "now"})
    await worked(served)
    assert "sign-in page" in (await shown(owner))["problem"] and (await shown(owner))["failures"] == 1
    table.content = b"n\n1\n2\n"
    await passed(served)
    assert (await shown(owner))["failures"] == 0 and len(await tasks_of(owner, project)) == 2


@shows("page-import-again")
@pytest_twisted.ensureDeferred
async def test_who_owns_the_project_no_more_reads_nothing_and_a_paused_project_waits(serve, table):
    served = await serve(**ALLOWED)
    owner, project, source_id = await kept(served, table, b"n\n1\n")
    assert (await owner.post("/project/birds/publish", json={})).status == 200
    table.content = b"n\n1\n2\n"
    await served.database.execute("UPDATE project SET published = false")
    asked = len(table.asked)
    await passed(served)
    assert len(table.asked) == asked and (await shown(owner))["waits"]
    await served.database.execute("UPDATE project SET published = true")
    await owner.post(f"{AT}/sources/{source_id}", json={"act": "pause"})
    await passed(served)
    assert len(table.asked) == asked and not (await shown(owner))["active"]
    await owner.post(f"{AT}/sources/{source_id}", json={"act": "resume"})
    other = await served.person("other")
    await served.database.execute(
        "UPDATE project SET owner_id = %(other)s, owners_ids = ARRAY[%(other)s::bigint]", {"other": other.user_id}
    )
    await passed(served)
    source = await shown(other)
    assert not source["active"] and "no longer owns the project" in source["why_off"] and len(table.asked) == asked
    assert (await owner.post(f"{AT}/sources/{source_id}", json={"act": "now"})).status == 403
    (letter,) = await served.database.fetch("SELECT recipient FROM mail WHERE template = 'source_off'")
    assert letter["recipient"] == "other@example.org"
    assert (await other.request("DELETE", f"/api/project/{project['id']}")).status == 204
    assert await served.house[ImportsFeature].sources.start_due() == 0
    assert await served.database.fetch("SELECT FROM import_source") == []


@pytest_twisted.ensureDeferred
async def test_never_two_readings_at_once_and_one_that_was_cut_goes_on(serve, table, monkeypatch):
    served = await serve(**ALLOWED)
    owner, project, _source_id = await kept(served, table, b"n\n1\n")
    table.content = b"n\n1\n2\n3\n"
    await served.database.execute("UPDATE import_source SET next_at = clock()")
    sources = served.house[ImportsFeature].sources
    started = await gatherResults([ensureDeferred(sources.start_due()) for _ in range(4)])
    assert sum(started) == 1
    assert await served.database.fetch("SELECT count(*) AS n FROM queue_item WHERE name = 'read_source'") == [{"n": 1}]
    # The process dies after the file has been fetched and before its rows are added.
    carry_on, cut = served.house[ImportsFeature].imports.carry_on, []

    async def killed(item: Any) -> Any:
        if not cut:
            cut.append(item.id)
            raise RuntimeError("killed")
        return await carry_on(item)

    monkeypatch.setattr(served.house[ImportsFeature].imports, "carry_on", killed)
    await worked(served)
    await served.database.execute("UPDATE queue_item SET due = clock() WHERE state = 'waiting'")
    asked = len(table.asked)
    await worked(served)
    assert len(table.asked) == asked, "the file that was fetched is used"
    assert (await shown(owner))["added"] == 2 and len(await tasks_of(owner, project)) == 3
    # A reading that its owner cancels is told and tried again later.
    await served.database.execute("UPDATE import_source SET next_at = clock()")
    await sources.start_due()
    await served.database.execute("UPDATE queue_item SET state = 'cancelled' WHERE state = 'waiting'")
    await sources.start_due()
    source = await shown(owner)
    assert (source["failures"], source["reading"]) == (1, False) and "cancelled" in source["problem"]


@pytest_twisted.ensureDeferred
async def test_what_cannot_be_kept_is_refused(serve, table):
    served = await serve(**ALLOWED)
    owner, _project, source_id = await kept(served, table, b"n\n1\n")
    pasted = (await owner.post(AT, json={"rows": "a\n1\n"})).json()["import"]
    first = (await owner.page(AT)).json()["imports"][-1]["id"]
    for at, body, words in (
        (f"{pasted}/again", {"period": DAY}, "fetched from an address"), (f"{first}/again", {"period": 60}, "must be one of 3600"),
        (f"{first}/again", {}, "must be one of"), (f"sources/{source_id}", {"act": "explode"}, "must be one of pause"),
    ):  # fmt: skip
        answer = (await owner.post(f"{AT}/{at}", json=body)).json()
        assert answer["status"] == "error" and words in answer["flash"], (at, answer)
    assert (await owner.post(f"{AT}/sources/9999", json={"act": "pause"})).status == 404
    stranger = await served.person("eve")
    for at in (f"{first}/again", f"sources/{source_id}"):
        assert (await stranger.post(f"{AT}/{at}", json={"act": "delete", "period": DAY})).status == 404
    await served.database.execute(
        "INSERT INTO import_source (project_id, user_id, created, url, period, choices, next_at)"
        " SELECT project_id, user_id, created, url || n, period, choices, clock() + interval '1 day' FROM import_source, generate_series(1, %(n)s) n",
        {"n": MAX_SOURCES},
    )
    await served.database.execute("UPDATE task_import SET name = name || '?other' WHERE id = %(id)s", {"id": first})
    full = (await owner.post(f"{AT}/{first}/again", json={"period": WEEK})).json()
    assert full["status"] == "error" and f"at most {MAX_SOURCES}" in full["flash"]
    changed = (await owner.post(f"{AT}/sources/{source_id}", json={"act": "period", "period": HOUR})).json()
    assert changed["status"] == "success"
    assert (await owner.page(AT)).json()["sources"][0]["period"] == HOUR


@pytest_twisted.ensureDeferred
async def test_a_manifest_is_read_again_whatever_its_server_says_of_it(serve, table):
    served = await serve(**ALLOWED)
    at = table.url
    owner, project, _source_id = await kept(served, table, orjson.dumps(manifest(at, [f"{at}/1.jpg"])))
    table.etag = '"same"'
    table.content = orjson.dumps(manifest(at, [f"{at}/1.jpg", f"{at}/2.jpg"]))
    await passed(served)
    table.content = orjson.dumps(manifest(at, [f"{at}/1.jpg", f"{at}/2.jpg", f"{at}/3.jpg"]))
    await passed(served)
    assert table.codes[304] == 0 and len(await tasks_of(owner, project)) == 3
    assert (await shown(owner))["present"] == 2


def test_pauses_grow_to_the_period_or_a_day_and_end():
    assert [pause_seconds(n, DAY) for n in (1, 2, 3)] == [900, 1800, 3600]
    assert pause_seconds(50, HOUR) == DAY and pause_seconds(50, WEEK) == WEEK
    assert not is_off(MAX_FAILURES - 1) and is_off(MAX_FAILURES)
