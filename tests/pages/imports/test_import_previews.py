"""What an owner sees of a file before its rows are added, and what becomes of refused ones."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
import pytest_twisted
from support.checks.shows import shows
from support.importing import AT, bring, brought, figures, looked_at, tasks_of
from support.servers.queue_runner import worked

from crowdd.features.imports import imports, progress, reader
from crowdd.features.imports import runner as import_runner
from crowdd.features.imports.reader import DigestSet
from crowdd.features.projects import starters

HTML = {"Accept": "text/html"}
MIXED = b"url,n_answers\nx1,3\nx2,many\nx1,3\nx3\nx4,\n"  # two good, one twice, two refused


@pytest_twisted.ensureDeferred
async def test_the_preview_counts_every_row_of_the_file_before_anything_is_added(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    await brought(served, owner, b"url\nx4\n")
    upload = await looked_at(owner, MIXED)
    assert figures(upload["preview"]) == {"added": 1, "present": 2, "twice": 1, "refused": 2}
    assert (upload["preview"]["answers"], upload["preview"]["fewest"], upload["preview"]["most"]) == (3, 3, 3)
    refused = await owner.get(f"{AT}/{upload['id']}/errors")
    rows = list(csv.reader(io.StringIO(refused.body.decode("utf-8-sig"))))
    assert rows[0] == ["line", "reason", "row"] and [row[0] for row in rows[1:]] == ["3", "5"]
    page = (await owner.get(f"{AT}/{upload['id']}", headers=HTML)).text
    assert "1 task × 3 answers = 3 answers" in page and "Add 1 task<" in page.replace("\n", "")
    assert "Rows: 5 = 1 added + 2 already there + 2 refused" in page
    assert len(await tasks_of(owner, project)) == 1


@shows("page-import-one")
@pytest_twisted.ensureDeferred
async def test_refused_rows_are_skipped_or_nothing_is_added_and_the_owner_says_which(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    undecided = await bring(owner, MIXED)
    assert (undecided["status"], undecided["state"]) == ("warning", "pending")
    assert "2 of 5 rows are refused" in undecided["flash"]
    stopped = (await owner.post(undecided["next"], json={"on_error": "stop"})).json()
    assert stopped["status"] == "warning" and "nothing is added" in stopped["flash"]
    assert await worked(served) == [] and await tasks_of(owner, project) == []
    skipped = (await owner.post(undecided["next"], json={"on_error": "skip"})).json()
    assert skipped["status"] == "success"
    assert figures((await worked(served))[-1]["result"]) == {"added": 2, "present": 1, "twice": 1, "refused": 2}
    wrong = (await owner.post(AT, json={"rows": "a\n1\n", "on_error": "perhaps"})).json()
    assert "on_error must be one of skip, stop" in wrong["flash"]


@pytest_twisted.ensureDeferred
async def test_all_or_nothing_leaves_nothing_when_a_row_is_refused_in_the_work(served, monkeypatch):
    monkeypatch.setattr(reader, "CHUNK", 10)
    owner = await served.person("owner")
    project = await served.project(owner)
    upload = await looked_at(owner, b"n\n" + b"".join(b"%d\n" % n for n in range(45)))
    # The file on the disk is another one now: what was read does not hold.
    (path,) = (served.house.base.settings.data.dir / "imports").iterdir()
    path.write_bytes(path.read_bytes() + b"1,2\n")
    await owner.post(f"{AT}/{upload['id']}", json={"on_error": "stop"})
    (item,) = await worked(served)
    assert item["state"] == "dead" and "Line 47" in item["error"] and "Nothing was added" in item["error"]
    assert await tasks_of(owner, project) == []
    page = (await owner.page(f"{AT}/{upload['id']}")).json()["import"]
    assert (page["state"], page["added"], page["refused"]) == ("dead", 0, 0)


@pytest_twisted.ensureDeferred
async def test_all_or_nothing_that_is_cancelled_half_way_adds_nothing_and_all_when_it_goes_on(served, monkeypatch):
    monkeypatch.setattr(reader, "CHUNK", 10)
    owner = await served.person("owner")
    project = await served.project(owner)
    add, calls = import_runner.statements.add_new, 0

    async def cancelled_at_the_third(db: Any, project_id: int, new: Any, again: bool) -> Any:
        nonlocal calls
        calls += 1
        if calls == 3:
            await served.database.execute("UPDATE queue_item SET cancel = true")
        return await add(db, project_id, new, again)

    monkeypatch.setattr(import_runner.statements, "add_new", cancelled_at_the_third)
    begun = await bring(owner, b"n\n" + b"".join(b"%d\n" % n for n in range(45)), on_error="stop")
    (item,) = await worked(served)
    assert item["state"] == "cancelled" and await tasks_of(owner, project) == []
    await owner.post(f"/project/birds/queue/{begun['queue_item']}/retry", json={})
    assert figures((await worked(served))[0]["result"]) == {"added": 45}


@pytest_twisted.ensureDeferred
async def test_all_or_nothing_is_for_files_that_one_transaction_takes(served, monkeypatch):
    monkeypatch.setattr(progress, "MAX_ATOMIC_ROWS", 2)
    owner = await served.person("owner")
    await served.project(owner)
    answer = await bring(owner, b"n\n1\n2\n3\n", on_error="stop")
    assert answer["status"] == "warning" and "up to 2 rows" in answer["flash"]
    assert (await bring(owner, b"n\n1\n2\n", on_error="stop"))["status"] == "success"


@pytest_twisted.ensureDeferred
async def test_a_large_file_is_read_in_the_background_and_says_where_to_ask(served, monkeypatch):
    monkeypatch.setattr(imports, "INLINE_BYTES", 10)
    owner = await served.person("owner")
    project = await served.project(owner)
    served.server._worker._size = 0
    answer = await bring(owner, MIXED, map="y")
    page = (await owner.page(answer["next"])).json()["import"]
    assert (page["state"], page["preview"], page["work"]["state"]) == ("reading", None, "waiting")
    assert 'data-reading="true"' in (await owner.get(answer["next"], headers=HTML)).text
    again = (await owner.post(answer["next"], json={})).json()
    assert (again["state"], again["queue_item"]) == ("reading", page["work"]["id"])
    served.server._worker._size = 1
    (item,) = await worked(served)
    assert item["name"] == "check_import" and item["result"]["state"] == "pending"
    page = (await owner.page(answer["next"])).json()["import"]
    assert figures(page["preview"]) == {"added": 2, "present": 1, "twice": 1, "refused": 2}
    assert await tasks_of(owner, project) == []
    # A program that has said all there is to say needs one request.
    assert figures(await brought(served, owner, MIXED, on_error="skip")) == {
        "added": 2, "present": 1, "twice": 1, "refused": 2,
    }  # fmt: skip
    waits = await bring(owner, MIXED)
    assert waits["state"] == "reading"
    assert (await worked(served))[-1]["result"]["state"] == "pending"
    bad = await bring(owner, b"[1, 2, 3, 4, 5]")
    assert "No row of the file" in (await worked(served))[-1]["result"]["error"]
    page = await owner.page(bad["next"])
    assert page.json()["import"]["state"] == "unreadable"
    assert "This file cannot be used" in (await owner.get(bad["next"], headers=HTML)).text


@pytest_twisted.ensureDeferred
async def test_choices_that_change_no_figure_need_no_second_press(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    upload = await looked_at(owner, b"url;place\nx1;a\nx2;b\n")
    form = {"form": "y", "encoding": "utf-8", "delimiter": ";", "header": "y", "line": "1", "use_0": "info", "use_1": "skip",
            "n_answers": "30", "key": "", "response_format": "json"}  # fmt: skip
    begun = (await owner.post(f"{AT}/{upload['id']}", json=form)).json()
    assert begun["status"] == "success", begun
    assert figures((await worked(served))[-1]["result"]) == {"added": 2}
    assert [task["info"] for task in await tasks_of(owner, project)] == [{"url": "x1"}, {"url": "x2"}]


@pytest_twisted.ensureDeferred
async def test_other_choices_are_counted_before_a_form_begins(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    upload = await looked_at(owner, b"url;n_answers\nx1;3\nx2;4\n")
    at = f"{AT}/{upload['id']}"
    form = {"form": "y", "encoding": "utf-8", "delimiter": ";", "header": "y", "use_0": "info", "use_1": "n_answers",
            "n_answers": "30", "key": "", "response_format": "json"}  # fmt: skip
    changed = (await owner.post(at, json={**form, "n_answers": 5, "use_1": "info"})).json()
    assert changed["status"] == "warning" and "changed the numbers" in changed["flash"]
    page = (await owner.page(at)).json()
    assert page["import"]["preview"]["answers"] == 10 and page["uses"]["n_answers"] == "info"
    assert await tasks_of(owner, project) == []
    other = (await owner.post(at, json={"delimiter": ",", "check": True})).json()
    assert other["status"] == "success"
    page = (await owner.page(at)).json()["import"]
    assert page["dialect"]["delimiter"] == "," and page["preview"] is not None
    back = (await owner.post(at, json={**form, "n_answers": 5, "use_1": "info", "use_0": "info", "check": True})).json()
    assert back["status"] == "success"
    await owner.post(at, json={**form, "n_answers": 5, "use_0": "info", "use_1": "info", "check": True})
    begun = (await owner.post(at, json={**form, "n_answers": 5, "use_0": "info", "use_1": "info"})).json()
    assert begun["status"] == "success" and figures((await worked(served))[-1]["result"]) == {"added": 2}
    assert {task["n_answers"] for task in await tasks_of(owner, project)} == {5}
    for choice in ({"encoding": "ebcdic"}, {"n_answers": 0}, {"key": "nowhere"}, {"kind": "poem"}):
        upload = await looked_at(owner, b"url\ny1\n")
        wrong = (await owner.post(f"{AT}/{upload['id']}", json=choice)).json()
        assert wrong["status"] == "error", choice


@pytest_twisted.ensureDeferred
async def test_a_column_called_calibration_is_task_data(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    assert figures(await brought(served, owner, b"url,calibration\nx,yes\n")) == {"added": 1}
    assert [task["info"] for task in await tasks_of(owner, project)] == [{"url": "x", "calibration": "yes"}]
    upload = await looked_at(owner, b"url\nx\n")
    wrong = (await owner.post(f"{AT}/{upload['id']}", json={"uses": {"url": "calibration"}})).json()
    assert "cannot be used as calibration" in wrong["flash"]


@shows("page-publish")
@pytest_twisted.ensureDeferred
async def test_the_publishing_list_says_how_many_answers_are_wanted(served):
    owner = await served.person("owner")
    await served.project(owner)
    for page in ("/project/new", AT):
        assert "5 answers from different people" in (await owner.get(page, headers=HTML)).text, page
    await brought(served, owner, b"url\nx1\nx2\n")
    assert "30 answers from different people" in (await owner.get(AT, headers=HTML)).text, "as its tasks have"
    text = (await owner.get("/project/birds/publish", headers=HTML)).text
    assert "2 tasks × 30 answers = 60 answers" in text and "tasks/redundancy" in text
    await brought(served, owner, b"url,n_answers\nx3,4\n")
    text = (await owner.get("/project/birds/publish", headers=HTML)).text
    assert "3 tasks with 4 to 30 answers each = 64 answers" in text


@pytest_twisted.ensureDeferred
async def test_tasks_that_come_by_the_page_get_five_answers_and_others_thirty(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    assert '<input type="hidden" name="n_answers" value="5">' in (await owner.get(AT, headers=HTML)).text
    sent = await owner.post(AT, json={"rows": "url\nx1\n", "map": "y", "n_answers": "5"})
    begun = await owner.post(sent.json()["next"], json={})
    assert begun.status == 200, begun.body
    await brought(served, owner, b"url\nx2\n")
    tasks = (await owner.get(f"/api/task?project_id={project['id']}")).json()
    assert sorted(task["n_answers"] for task in tasks) == [5, 30]


@pytest_twisted.ensureDeferred
async def test_a_published_project_leads_to_the_page_to_share(served):
    owner = await served.person("owner")
    await served.project(owner, tasks=1)
    assert 'aria-current="step"' in (await owner.get("/project/birds/publish", headers=HTML)).text
    await owner.post("/project/birds/publish", json={})
    page = (await owner.get("/project/birds/publish", headers=HTML)).text
    assert 'aria-current="step"' not in page and 'href="/project/birds/share"' in page
    assert 'href="/project/birds/share"' in (await owner.get("/project/birds/", headers=HTML)).text
    assert 'href="/project/birds/share"' not in (await served.client().get("/project/birds/", headers=HTML)).text


@pytest.mark.parametrize("values", [range(5000), [n << 40 for n in range(3000)], [0, 1, 2**64 - 1]])
def test_a_digest_is_added_once(values):
    digests = DigestSet()
    assert sum(digests.add(n) for n in values) == len({n or 1 for n in values})
    assert not any(digests.add(n) for n in values)


@pytest_twisted.ensureDeferred
async def test_the_publishing_list_shows_the_question_and_its_answers(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1)
    plain = (await owner.get("/project/birds/publish", headers=HTML)).text
    assert "What a volunteer sees for each task." in plain
    document = starters.source("picture")
    await owner.put(f"/api/project/{project['id']}", json={"info": {"task_presenter": document}})
    page = (await owner.get("/project/birds/publish", headers=HTML)).text
    asked = starters.asked(document)
    assert f"“{asked['question']}” {' · '.join(asked['answers'])}" in page and "What a volunteer sees" not in page
