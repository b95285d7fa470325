"""Tasks that come as a file: brought, mapped, made by the queue, refused row by row, stopped and killed half-way."""

from __future__ import annotations

import csv
import http.server
import io
import threading
import time
from pathlib import Path
from typing import Any

import pytest_twisted
from support.checks.shows import shows
from support.servers.queue_runner import worked
from twisted.internet import reactor
from twisted.internet.defer import ensureDeferred, gatherResults
from twisted.internet.task import deferLater

from crowdd.features.imports import reader as reading_module
from crowdd.features.imports import runner as running_module
from crowdd.features.imports.feature import ImportsFeature
from crowdd.http.request import MAX_PARSED_AT_ONCE
from crowdd.sched.queue import QueuedTask

AT = "/project/birds/tasks/import"
TABLE = b"url,n_answers,where\nx1,3,north\nx2,,south\nx3,many,south\nx4\nx1,3,north\n"
HTML = {"Accept": "text/html"}
FORM = {"none": b""}  # makes a multipart form of the fields beside it


async def bring(client: Any, content: bytes, name: str = "tasks.csv", **fields: str) -> Any:
    files = {"file": (name, "application/octet-stream", io.BytesIO(content))}
    return await client.post(f"{AT}?response_format=json", data=fields or None, files=files)


def of(result: dict[str, int]) -> tuple[int, int, int]:
    """What came of an import: added, present, refused, which are all its rows."""
    assert result["rows"] == result["added"] + result["updated"] + result["present"] + result["refused"], result
    return result["added"], result["present"], result["refused"]


async def tasks_of(owner: Any, project: dict[str, Any]) -> list[dict[str, Any]]:
    return (await owner.get(f"/api/task?project_id={project['id']}&limit=100")).json()


@shows("page-import", "page-import-one")
@pytest_twisted.ensureDeferred
async def test_a_file_is_looked_at_mapped_and_made_to_tasks(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    first = (await owner.page(AT)).json()
    pybossa = {"available_importers", "task_tmpls", "form", "target", "loading_text"}
    assert (
        pybossa <= first.keys()
        and first["imports"] == []
        and first["available_importers"] == ["localCSV", "csv", "gdocs", "iiif"]
    )
    assert (await owner.page(f"{AT}?type=csv")).json()["form"]["form_name"] == "csv"
    assert (await owner.page(f"{AT}?type=ftp")).status == 415
    brought = (await bring(owner, TABLE, map="y", form_name="localCSV")).json()
    assert brought.keys() == {"next", "import"} and brought["next"] == f"{AT}/{brought['import']}"
    page = (await owner.page(brought["next"])).json()
    upload = page["import"]
    assert (upload["columns"], upload["rows"], upload["format"]) == (["url", "n_answers", "where"], 5, "csv")
    assert (upload["state"], upload["name"], upload["bytes"]) == ("pending", "tasks.csv", len(TABLE))
    assert upload["sample"][0] == {"url": "x1", "n_answers": "3", "where": "north"} and "file" not in upload
    assert page["uses"] == {"url": "info", "n_answers": "n_answers", "where": "info"}
    assert await tasks_of(owner, project) == []
    assert upload["preview"]["refused"] == 2 and upload["waits"].startswith("2 of 5 rows are refused.")
    waiting = (await owner.post(brought["next"], json={"uses": {"where": "skip"}})).json()
    assert (waiting["status"], waiting["state"]) == ("warning", "pending") and "on_error=skip" in waiting["flash"]
    begun = (await owner.post(brought["next"], json={"on_error": "skip"})).json()
    assert begun["status"] == "success" and begun["queue_item"]
    (item,) = await worked(served)
    assert item["state"] == "done" and item["result"] == {
        "import": upload["id"], "rows": 5, "added": 2, "updated": 0, "present": 1, "twice": 1, "kept": 0, "refused": 2,
        "empty": 0,
    }, item  # fmt: skip
    made = await tasks_of(owner, project)
    assert [(task["info"], task["n_answers"]) for task in made] == [({"url": "x1"}, 3), ({"url": "x2"}, 30)]
    page = (await owner.page(brought["next"])).json()["import"]
    assert (page["state"], page["added"], page["present"], page["refused"]) == ("done", 2, 1, 2)
    refused = await owner.get(f"{brought['next']}/errors")
    assert "attachment" in refused.header("content-disposition")
    rows = list(csv.DictReader(io.StringIO(refused.body.decode("utf-8-sig"))))
    assert [(row["line"], row["reason"]) for row in rows] == [
        ("4", "`n_answers` is not an integer."), ("5", "It has 1 cells, but the first line has 3."),
    ]  # fmt: skip
    assert list((served.house.base.settings.data.dir / "imports").iterdir()) == []
    again = (await owner.post(brought["next"], json={})).json()
    assert again["status"] == "error" and "already started" in again["flash"]
    acts = await served.database.fetch("SELECT after FROM audit WHERE action = 'import'")
    assert [act["after"] for act in acts] == [{"name": "tasks.csv", "rows": 5, "kind": "table"}]


@shows("page-import")
@pytest_twisted.ensureDeferred
async def test_a_program_imports_in_one_request_and_what_is_there_is_left_out(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    for content, name, added in (
        (b'[{"info":{"a":1},"n_answers":2},{"info":{"a":2}}]', "t.json", 2),
        (b'{"a":2}\n{"a":3}\n{"a":1}\n', "t.ndjson", 1),
        (b"\xef\xbb\xbfb\nx\n", "../../etc/passwd", 1),
    ):
        begun = (await bring(owner, content, name)).json()
        assert begun["status"] == "success", begun
        assert (await worked(served))[-1]["result"]["added"] == added
    assert [task["info"] for task in await tasks_of(owner, project)] == [{"a": 1}, {"a": 2}, {"a": 3}, {"b": "x"}]
    brought = (await bring(owner, b"b\nx\nx\n", map="y")).json()
    await owner.post(brought["next"], json={"again": True})
    assert of((await worked(served))[-1]["result"]) == (2, 0, 0)
    assert len(await tasks_of(owner, project)) == 6


@shows("page-import")
@pytest_twisted.ensureDeferred
async def test_only_owners_bring_tasks(served):
    owner, stranger, boss = (
        await served.person("owner"),
        await served.person("stranger"),
        await served.person("boss", admin=True),
    )
    await served.project(owner, tasks=1, published=True)
    await served.project(stranger, "fish", tasks=1, published=True)
    brought = (await bring(owner, TABLE, map="y")).json()
    one = brought["next"]
    for path in (AT, one, f"{one}/errors"):
        assert (await stranger.page(path)).status == 403 and (await served.client().page(path)).status == 302, path
        assert (await boss.page(path)).status == 200, path
    other = one.replace("birds", "fish")
    for client, path, status in (
        (stranger, one, 403), (stranger, f"{one}/forget", 403), (stranger, other, 404), (stranger, f"{other}/forget", 404),
        (owner, f"{AT}/{10**30}", 404), (owner, f"{AT}/999", 404),
    ):  # fmt: skip
        assert (await client.post(path, json={})).status == status, path
    assert (await bring(stranger, TABLE)).status == 403
    assert (await bring(served.client(), TABLE)).status in (302, 400)
    gone = (await owner.post(f"{one}/forget", json={})).json()
    assert gone["status"] == "success" and (await owner.page(one)).status == 404
    folder = served.house.base.settings.data.dir / "imports"
    assert list(folder.iterdir()) == [] and folder.stat().st_mode & 0o777 == 0o700


@pytest_twisted.ensureDeferred
async def test_a_file_that_is_no_good_is_told_and_leaves_nothing(served):
    owner = await served.person("owner")
    await served.project(owner)
    for content, words in (
        (b"", "empty"), (b"PK\x03\x04abc", "archive"), (b"a,b\n", "no rows"),
        (b"<html>", "web page"), (b"[1,2,3]", "can be used"), (b"GIF89a", "picture"),
    ):  # fmt: skip
        refused = (await bring(owner, content, map="y")).json()
        assert refused["status"] == "error" and words in refused["form"]["errors"]["file"][0], content
        assert refused["template"] == "project/import.html"
    nothing = (await owner.post(AT, json={"form_name": "csv"})).json()
    assert nothing["form"]["errors"]["file"] == ["Choose a file, or give its address."]
    assert list((served.house.base.settings.data.dir / "imports").iterdir()) == []
    brought = (await bring(owner, TABLE, map="y")).json()
    for uses in ({"url": "price"}, dict.fromkeys(("url", "where", "n_answers"), "skip"), [1]):
        wrong = (await owner.post(brought["next"], json={"uses": uses})).json()
        assert list(wrong["form"]["errors"]) == ["uses"] and wrong["status"] == "error", uses
    for _ in range(19):
        await bring(owner, TABLE, map="y")
    full = (await bring(owner, TABLE, map="y")).json()
    assert "20 files waiting" in full["form"]["errors"]["file"][0]
    assert await served.database.fetch("SELECT FROM queue_item") == []


@pytest_twisted.ensureDeferred
async def test_hostile_values_are_text_on_the_page_and_in_the_file_of_errors(served):
    owner = await served.person("owner")
    await served.project(owner)
    evil = "<script>alert(1)</script>"
    content = f'x{evil},n_answers\n"=cmd()|{evil}",x\n{evil},2\n'.encode()
    brought = (await bring(owner, content, f"{evil}\x01.csv", map="y")).json()
    page = await owner.get(brought["next"], headers=HTML)
    assert page.status == 200 and evil not in page.text and "&lt;script&gt;" in page.text
    await owner.post(brought["next"], json={"on_error": "skip"})
    await worked(served)
    (row,) = csv.DictReader(io.StringIO((await owner.get(f"{brought['next']}/errors")).body.decode("utf-8-sig")))
    assert row["row"].startswith("'=cmd()|") and row["line"] == "2"
    nul = (await bring(owner, b'{"a\\u0000":1,"b":"\\u0000"}\n{"b":2}\n', "t.ndjson", map="y")).json()
    assert (await owner.page(nul["next"])).json()["import"]["columns"] == ["b"]
    await owner.post(nul["next"], json={"on_error": "skip"})
    assert of((await worked(served))[-1]["result"]) == (1, 0, 1)


class Source:
    """A server that files can be fetched from; ``asked`` counts requests, ``hold`` delays answers to /slow."""

    def __init__(self) -> None:
        self.asked, self.hold = 0, threading.Event()
        source = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                source.asked += 1
                if self.path == "/slow":
                    source.hold.wait(60)
                if self.path in ("/on", "/in"):
                    self.send_response(302)
                    self.send_header("Location", "http://127.0.0.1:1/" if self.path == "/in" else "/tasks.csv")
                else:
                    self.send_response(404 if self.path == "/none" else 200)
                self.end_headers()
                self.wfile.write(b"a\n" * 2_000_000 if self.path == "/large" else TABLE)

            def log_message(self, *_: object) -> None: ...

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"


@pytest_twisted.ensureDeferred
async def test_20_pending_imports_of_a_person_end_further_downloads_before_they_begin(serve):
    served = await serve(CROWDD_OUTGOING_ALLOWED_HOSTS="127.0.0.1:*")
    source, owner = Source(), await served.person("owner")
    await served.project(owner)
    await served.project(owner, "bees")
    for project in ["birds"] * 10 + ["bees"] * 10:
        path = f"/project/{project}/tasks/import"
        assert "import" in (await owner.post(path, json={"rows": "a\n1\n", "map": True})).json()
    full = (await owner.post(AT, json={"csv_url": f"{source.url}/tasks.csv"})).json()
    assert "20 files waiting" in full["form"]["errors"]["csv_url"][0] and source.asked == 0
    other = await served.person("other")
    await served.project(other, "cats")
    asked = {"csv_url": f"{source.url}/tasks.csv", "on_error": "skip"}
    fetched = await other.post("/project/cats/tasks/import", json=asked)
    assert fetched.json()["status"] == "success"


@pytest_twisted.ensureDeferred
async def test_three_downloads_of_a_person_run_at_a_time(serve):
    served = await serve(CROWDD_OUTGOING_ALLOWED_HOSTS="127.0.0.1:*")
    source, owner = Source(), await served.person("owner")
    await served.project(owner)
    slow = {"csv_url": f"{source.url}/slow", "map": True}
    first = [ensureDeferred(owner.post(AT, json=slow)) for _ in range(3)]
    while source.asked < 3:
        await deferLater(reactor, 0.01, lambda: None)
    refused = (await owner.post(AT, json=slow)).json()
    assert "Your other files" in refused["form"]["errors"]["csv_url"][0] and source.asked == 3
    source.hold.set()
    assert all("import" in each.json() for each in await gatherResults(first))
    assert "import" in (await owner.post(AT, json=slow)).json()


@shows("page-import")
@pytest_twisted.ensureDeferred
async def test_a_file_is_fetched_from_public_addresses_alone(serve):
    source = Source()
    served = await serve(CROWDD_HTTP_MAX_IMPORT_BYTES="1000000")
    owner = await served.person("owner")
    await served.project(owner)
    for address in (
        source.url,
        "http://169.254.169.254/latest",
        "file:///etc/passwd",
        "http://[::1]/",
        "gopher://x",
        "x",
    ):
        refused = (await owner.post(AT, json={"form_name": "csv", "csv_url": address})).json()
        assert refused["status"] == "error" and refused["form"]["errors"]["csv_url"], address
        assert refused["form"]["csv_url"] == address
    trusting = await serve(CROWDD_OUTGOING_ALLOWED_HOSTS="127.0.0.1:*", CROWDD_HTTP_MAX_IMPORT_BYTES="1000000")
    owner = trusting.client(owner.key)
    for path, words in (
        ("/in", "refused the connection"),
        ("/none", "returned status 404"),
        ("/large", "more than 1,000,000 bytes"),
    ):
        refused = (await owner.post(AT, json={"csv_url": source.url + path})).json()
        assert words in refused["form"]["errors"]["csv_url"][0], path
    folder = trusting.house.base.settings.data.dir / "imports"
    assert list(folder.iterdir()) == []
    asked = {"form_name": "csv", "csv_url": f"{source.url}/on", "on_error": "skip"}
    begun = (await owner.post(AT, json=asked)).json()
    assert begun["status"] == "success"
    assert (await worked(trusting))[-1]["result"]["added"] == 2
    assert (await owner.page(begun["next"])).json()["import"]["name"] == f"{source.url}/on"
    source.server.shutdown()


@shows("limit-body")
@pytest_twisted.ensureDeferred
async def test_a_file_of_tasks_may_be_longer_than_any_other_body(serve):
    served = await serve(CROWDD_HTTP_MAX_BODY_BYTES="300000", CROWDD_HTTP_MAX_IMPORT_BYTES="900000")
    owner = await served.person("owner")
    project = await served.project(owner)
    content = b"a\n" + b"".join(b"%d%s\n" % (n, b"x" * 1000) for n in range(600))
    assert len(content) > 2 * MAX_PARSED_AT_ONCE
    assert (await bring(owner, content, map="y")).json()["import"]
    assert (await bring(owner, content * 2)).status == 413
    assert (await owner.post("/api/task", data=content)).status == 413
    assert (await owner.post(f"/api/project/{project['id']}/tasks/import", data=content)).status == 413


@pytest_twisted.ensureDeferred
async def test_an_import_that_fails_half_way_goes_on_where_it_was(served, monkeypatch):
    monkeypatch.setattr(reading_module, "CHUNK", 10)
    owner = await served.person("owner")
    project = await served.project(owner)
    progress, calls = QueuedTask.progress, 0

    async def fails_once(self: QueuedTask, *figures: Any, **more: Any) -> None:
        nonlocal calls
        calls += 1
        await progress(self, *figures, **more)
        if calls == 3:
            raise RuntimeError("the plug was pulled")

    monkeypatch.setattr(QueuedTask, "progress", fails_once)
    content = b"n,n_answers\n" + b"".join(b"%d,1\n" % n for n in range(45)) + b"1,many\n3,1\n44,1\n"
    await bring(owner, content, on_error="skip")
    (item,) = await worked(served)
    assert item["state"] == "waiting" and len(await tasks_of(owner, project)) == 20
    await served.database.execute("UPDATE queue_item SET due = clock()")
    (item,) = await worked(served)
    assert item["state"] == "done" and of(item["result"]) == (45, 2, 1) and item["result"]["twice"] == 2
    assert [task["info"]["n"] for task in await tasks_of(owner, project)] == [str(n) for n in range(45)]
    figures = (await owner.page("/project/birds/tasks/")).json()
    assert figures["n_tasks"] == 45


@shows("page-queue")
@pytest_twisted.ensureDeferred
async def test_an_import_can_be_stopped_and_goes_on_when_told_to(served, monkeypatch):
    monkeypatch.setattr(reading_module, "CHUNK", 10)
    owner = await served.person("owner")
    project = await served.project(owner)
    add = running_module.statements.add_new

    async def stopped_after_two(db: Any, project_id: int, new: Any, again: bool) -> Any:
        made = await add(db, project_id, new, again)
        if len(await tasks_of(owner, project)) == 20:
            await served.database.execute("UPDATE queue_item SET cancel = true")
        return made

    monkeypatch.setattr(running_module.statements, "add_new", stopped_after_two)
    begun = (await bring(owner, b"n\n" + b"".join(b"%d\n" % n for n in range(45)))).json()
    (item,) = await worked(served)
    assert item["state"] == "cancelled" and len(await tasks_of(owner, project)) == 20
    page = (await owner.page(begun["next"])).json()["import"]
    assert (page["state"], page["added"], page["rows"]) == ("cancelled", 20, 45)
    monkeypatch.setattr(running_module.statements, "add_new", add)
    await owner.post(f"/project/birds/queue/{begun['queue_item']}/retry", json={})
    assert (await worked(served))[0]["result"]["added"] == 45 and len(await tasks_of(owner, project)) == 45


@pytest_twisted.ensureDeferred
async def test_who_is_no_owner_any_more_imports_nothing_and_a_lost_file_is_told(served):
    owner, other = await served.person("owner"), await served.person("other")
    project = await served.project(owner)
    worker = served.server._worker
    worker._size = 0
    begun = (await bring(owner, TABLE, on_error="skip")).json()
    sql = "UPDATE project SET owner_id = %(u)s, owners_ids = ARRAY[%(u)s::bigint]"
    await served.database.execute(sql, {"u": other.user_id})
    worker._size = 1
    (item,) = await worked(served)
    assert item["state"] == "dead" and await tasks_of(other, project) == []
    worker._size = 0
    await bring(other, TABLE, on_error="skip")
    for path in (served.house.base.settings.data.dir / "imports").iterdir():
        path.unlink()
    worker._size = 1
    assert "The file no longer exists." in (await worked(served))[-1]["error"]
    await other.delete(f"/api/project/{project['id']}")
    assert await served.database.fetch("SELECT FROM task_import") == []
    assert begun["import"]


@pytest_twisted.ensureDeferred
async def test_who_loses_his_rights_half_way_imports_no_more(served, monkeypatch):
    monkeypatch.setattr(reading_module, "CHUNK", 10)
    owner, other = await served.person("owner"), await served.person("other")
    project = await served.project(owner)
    add = running_module.statements.add_new

    async def then_somebody_elses(db: Any, project_id: int, new: Any, again: bool) -> Any:
        made = await add(db, project_id, new, again)
        sql = "UPDATE project SET owner_id = %(u)s, owners_ids = ARRAY[%(u)s::bigint]"
        await served.database.execute(sql, {"u": other.user_id})
        return made

    monkeypatch.setattr(running_module.statements, "add_new", then_somebody_elses)
    await bring(owner, b"n\n" + b"".join(b"%d\n" % n for n in range(45)))
    (item,) = await worked(served)
    assert item["state"] == "dead" and len(await tasks_of(other, project)) == 10


@pytest_twisted.ensureDeferred
async def test_what_is_over_is_swept_away(served):
    owner = await served.person("owner")
    await served.project(owner)
    await bring(owner, TABLE, map="y")
    await bring(owner, TABLE, on_error="skip")
    await worked(served)
    folder: Path = served.house.base.settings.data.dir / "imports"
    (folder / "left").write_bytes(b"x")
    now = time.time()
    assert await served.house[ImportsFeature].imports.sweep(now) == 0 and len(list(folder.iterdir())) == 2
    await served.database.execute("UPDATE clock_shift SET ahead = '3 days'")
    assert await served.house[ImportsFeature].imports.sweep(now) == 1
    await served.house[ImportsFeature].imports.sweep(now + 2 * 86400)
    assert list(folder.iterdir()) == []
    await served.database.execute("UPDATE clock_shift SET ahead = '15 days'")
    assert await served.house[ImportsFeature].imports.sweep(now) == 1


@shows("page-import")
@pytest_twisted.ensureDeferred
async def test_pasted_rows_are_looked_at_mapped_and_made_to_tasks(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    assert (await owner.page(AT)).json()["form"]["rows"] is None
    table = 'url\tn_answers\twhere\r\nx1\t3\tnorth\r\nx2\t\t"south,\r\nby the sea"\r\nx3\tmany\tsouth\r\n'
    brought = await owner.post(AT, data={"form_name": "paste", "map": "y", "rows": table}, files=FORM)
    assert brought.status == 302
    page = (await owner.page(brought.header("location"))).json()
    pasted = page["import"]
    assert (pasted["name"], pasted["format"], pasted["rows"]) == ("", "csv", 3)
    assert pasted["columns"] == ["url", "n_answers", "where"] and len(pasted["sample"]) == 3
    assert "Pasted rows" in (await owner.get(brought.header("location"), headers=HTML)).text
    await owner.post(brought.header("location"), json={"on_error": "skip"})
    assert of((await worked(served))[-1]["result"]) == (2, 0, 1)
    errors = (await owner.get(f"{AT}/{pasted['id']}/errors")).body.decode("utf-8-sig")
    assert next(csv.DictReader(io.StringIO(errors)))["reason"] == "`n_answers` is not an integer."
    for rows, added in (("a;b\n1;2\n", 1), ('[{"a":1},{"a":2}]', 2), ('{"a":3}\r\n{"a":1}\r\n', 1), ("a\nlone\n", 1)):
        begun = (await owner.post(AT, json={"rows": rows})).json()
        assert begun["status"] == "success" and begun["queue_item"], rows
        assert (await worked(served))[-1]["result"]["added"] == added, rows
    infos = [task["info"] for task in await tasks_of(owner, project)]
    assert infos[1:4] == [{"url": "x2", "where": "south,\r\nby the sea"}, {"a": "1", "b": "2"}, {"a": 1}], infos
    two = await gatherResults([ensureDeferred(owner.post(AT, json={"rows": "a\nat once\n"})) for _ in range(2)])
    assert [each.json()["status"] for each in two] == ["success"] * 2
    assert sum(item["result"]["added"] for item in (await worked(served))[-2:]) == 1


@pytest_twisted.ensureDeferred
async def test_pasted_rows_that_are_no_good_are_told_and_stay_in_the_field(serve):
    served = await serve(CROWDD_HTTP_MAX_BODY_BYTES="300000", CROWDD_HTTP_MAX_IMPORT_BYTES="20000000")
    owner, stranger = await served.person("owner"), await served.person("stranger")
    await served.project(owner, tasks=1, published=True)
    for rows, words in (
        ("", "Paste some rows."), (" \n\t", "Paste some rows."), ("<html>", "web page"), ("[1,2]", "can be used"),
        (7, "no rows"), (["a"], "must be a string"), ("a", "no rows"),
    ):  # fmt: skip
        refused = (await owner.post(AT, json={"rows": rows, "map": True})).json()
        assert refused["status"] == "error", rows
        assert list(refused["form"]["errors"]) == ["rows"] and words in refused["form"]["errors"]["rows"][0], refused
        assert refused["form"]["rows"] == (rows.replace("\0", "?") if isinstance(rows, str) else None)
    evil = '</textarea><script>alert(1)</script>,"=cmd()"'
    page = await owner.post(AT, data={"form_name": "paste", "map": "y", "rows": evil}, files=FORM, headers=HTML)
    assert "<script>alert" not in page.text and "&lt;/textarea&gt;" in page.text
    broken = {"form_name": "paste", "map": "y", "rows": b"a\n\xff\xfe\n"}
    refused = (await owner.post(f"{AT}?response_format=json", data=broken, files=FORM)).json()
    assert "NUL or a lone surrogate" in refused["form"]["errors"]["rows"][0]
    much = await owner.post(AT, data={"rows": "a\n" + "x" * 11_000_000}, files=FORM)
    assert much.status == 413
    assert (await owner.post(AT, data={"rows": "a\n" + "x" * 21_000_000}, files=FORM)).status == 413
    assert (await stranger.post(AT, json={"rows": "a\n1\n"})).status == 403
    assert (await served.client().post(AT, json={"rows": "a\n1\n"})).status in (302, 400)
    assert list((served.house.base.settings.data.dir / "imports").glob("*")) == []
    assert await served.database.fetch("SELECT FROM task_import") == []
