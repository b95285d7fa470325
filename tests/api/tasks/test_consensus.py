"""What answers say at each declared field, as programs and people get it: results, files, events and pages."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
import pytest_twisted
from support.checks.shows import shows
from twisted.internet import reactor

from crowdd.features.statistics.feature import StatisticsFeature

FIELDS = [
    {"name": "species", "at": "/species", "type": "label", "choices": ["fox", "owl", None], "unsure": None},
    {"name": "count", "at": "/count", "type": "number", "tolerance": 1},
    {"name": "seen", "at": "/seen", "type": "labels", "choices": ["day", "night"]},
    {"name": "note", "at": "/note", "type": "text"},
]
ANSWERS = (
    [{"species": "fox", "count": 2, "seen": ["day"]}, {"species": "fox", "count": 5, "seen": []}, {"species": "owl", "seen": ["day"]}],
    [{"species": "owl", "count": 1, "seen": []}, {"species": None, "count": 1, "seen": []}, {"species": "owl", "seen": []}],
)  # fmt: skip
FIRST = {
    "species": {
        "value": "fox",
        "answers": 3,
        "agreement": pytest.approx(1 / 3),
        "confidence": None,
        "model": pytest.approx(0.7935, abs=0.001),
    },
    "count": {"value": 3.5, "answers": 2, "agreement": 0, "confidence": 0},
    "seen": {"value": ["day"], "answers": 3, "agreement": pytest.approx(1 / 3), "confidence": pytest.approx(2 / 3)},
    "note": {"answers": 0, "agreement": None, "confidence": None},
}
SECOND = {
    "species": {
        "value": "owl",
        "answers": 3,
        "agreement": pytest.approx(1 / 3),
        "confidence": None,
        "model": pytest.approx(0.79, abs=0.1),
    },
    "count": {"value": 1, "answers": 2, "agreement": 1, "confidence": 1},
    "seen": {"value": [], "answers": 3, "agreement": 1, "confidence": 1},
    "note": {"answers": 0, "agreement": None, "confidence": None},
}


async def answered(served: Any, fields: Any = FIELDS) -> tuple[Any, Any]:
    owner = await served.person("owner")
    project = await served.project(owner, tasks=2, published=True, n_answers=3)
    info = (await owner.get(f"/api/project/{project['id']}")).json()["info"]
    changed = {"info": info | ({"answers": fields} if fields else {})}
    assert (await owner.put(f"/api/project/{project['id']}", json=changed)).status == 200
    await compared(served)  # or the answers would be weighed again by what they themselves have taught
    for nth in range(3):
        person = await served.person(f"person{nth}")
        for answers in ANSWERS:
            task = (await person.get(f"/api/{project['id']}/newtask")).json()
            body = {"project_id": project["id"], "task_id": task["id"], "info": answers[nth]}
            assert (await person.post("/api/taskrun", json=body)).status == 200
    await compared(served)
    return owner, project


async def compared(served: Any) -> None:
    """Has compared what is to be compared; the server's own jobs may be doing it."""
    end, due = reactor.seconds() + 60, True
    while due:
        assert reactor.seconds() < end
        await served.run_job("compare_answers")
        await served.run_job("compare_results")
        [row] = await served.database.fetch(
            "SELECT EXISTS (SELECT FROM comparison_due) OR EXISTS (SELECT FROM agreement_due) AS due"
        )
        due = row["due"]


@shows("result-consensus")
@pytest_twisted.ensureDeferred
async def test_a_result_says_what_its_answers_say_by_field(served):
    owner, project = await answered(served)
    stranger = served.client()
    for client in (owner, stranger):
        one, other = (await client.get(f"/api/result?project_id={project['id']}&orderby=id")).json()
        assert (one["consensus"], other["consensus"]) == (FIRST, SECOND)
    assert (await stranger.get(f"/api/result/{one['id']}")).json()["consensus"] == FIRST
    path = f"/api/result/{one['id']}"
    changed = (await owner.put(path, json={**one, "consensus": {"species": "owl"}, "info": "mine"})).json()
    assert (changed["info"], changed["consensus"]) == ("mine", FIRST), "what a body says of it is ignored"
    (many,) = (await owner.put("/api/result", json=[{**one, "info": 2}])).json()
    assert (many["info"], many["consensus"]) == (2, FIRST)
    await owner.put(f"/api/task/{project['tasks'][0]}", json={"n_answers": 4})
    more = await served.person("more")
    task = (await more.get(f"/api/{project['id']}/newtask")).json()
    body = {"project_id": project["id"], "task_id": task["id"], "info": {"species": "fox", "note": "Two "}}
    assert (await more.post("/api/taskrun", json=body)).status == 200
    await compared(served)
    now = {row["task_id"]: row for row in (await stranger.get("/api/result?all=1")).json()}[project["tasks"][0]]
    assert now["consensus"]["species"]["model"] > 0.9 and now["reason"] == "full"
    assert now["posterior"][0] == {"value": "fox", "probability": now["model"]}
    assert now["consensus"]["note"] == {"value": "Two ", "answers": 1, "agreement": None, "confidence": 1}
    assert (await owner.get(path)).json()["consensus"] is None, "an earlier version"
    await owner.put(f"/api/project/{project['id']}", json={"zip_download": False})
    assert (await stranger.get(f"/api/result/{now['id']}")).status in (401, 403)
    assert (await stranger.get("/api/result?all=1")).json() == []


@shows("result-consensus")
@pytest_twisted.ensureDeferred
async def test_a_project_without_fields_has_one_consensus(served):
    owner, project = await answered(served, None)
    one, _ = (await owner.get(f"/api/result?project_id={project['id']}&orderby=id")).json()
    assert one["consensus"] == {"answer": {"answers": 3, "agreement": 0, "confidence": None}}
    await served.database.execute("UPDATE result SET n_compared = NULL, agreement = NULL")
    one, _ = (await owner.get(f"/api/result?project_id={project['id']}&orderby=id")).json()
    assert one["consensus"] == {"answer": None}, "still to be compared"
    events = await served.database.fetch("SELECT data FROM event WHERE kind = 'task_completed'")
    assert all("consensus" not in row["data"] for row in events)


@shows("export-consensus")
@pytest_twisted.ensureDeferred
async def test_files_of_results_have_columns_for_each_field(served):
    owner, project = await answered(served)
    at = f"/project/{project['short_name']}/tasks/export?type=result&format="
    rows = (await owner.get(f"{at}json")).json()
    assert [row["consensus"] for row in sorted(rows, key=lambda row: row["id"])] == [FIRST, SECOND]
    text = (await owner.get(f"{at}csv")).body.decode("utf-8-sig")
    table = sorted(csv.DictReader(io.StringIO(text)), key=lambda row: int(row["id"]))
    for row, expected in zip(table, (FIRST, SECOND), strict=True):
        for name, one in expected.items():
            value = one.get("value")
            shown = row[f"consensus_{name}"]
            assert shown == (
                "" if value is None else value if isinstance(value, str) else str(value).replace("'", '"')
            ), name
            assert row[f"consensus_{name}_answers"] == str(one["answers"])
            agreement = row[f"consensus_{name}_agreement"]
            assert (float(agreement) if agreement else None) == one["agreement"]


@shows("webhook-consensus", "result-compared")
@pytest_twisted.ensureDeferred
async def test_events_say_what_the_answers_say_if_it_is_short(served):
    _, project = await answered(served)
    sql = "SELECT data->'consensus' AS said FROM event WHERE kind = %(kind)s ORDER BY task_id"
    consensuses = [row["said"] for row in await served.database.fetch(sql, {"kind": "task_completed"})]
    assert consensuses == [{**FIRST, "note": None}, {**SECOND, "note": None}], "texts are compared later"
    consensuses = [row["said"] for row in await served.database.fetch(sql, {"kind": "result_compared"})]
    assert consensuses == [FIRST, SECOND]
    long = "x" * 1990
    await served.database.execute(f'UPDATE task_run SET info = info || \'{{"note": "{long}"}}\'')
    task = project["tasks"][0]
    await served.database.execute(f"SELECT complete(l, false, clock()) FROM task_ledger l WHERE task_id = {task}")
    await compared(served)
    (row,) = await served.database.fetch("SELECT data FROM event WHERE kind = 'result_updated'")
    assert row["data"]["consensus"]["note"] is None and "user_ids" in row["data"]
    rows = await served.database.fetch("SELECT data FROM event WHERE kind = 'result_compared' ORDER BY id")
    assert [row["data"].keys() for row in rows[2:]] == [set()], "too long for an event"


@shows("page-results-fields", "page-tasks-fields")
@pytest_twisted.ensureDeferred
async def test_pages_show_each_field(served):
    owner, project = await answered(served)
    at = f"/project/{project['short_name']}"
    for folded in (False, True):
        page = (await served.client().page(f"{at}/results")).json()
        species, count, seen, note = page["fields"]
        assert {key: species[key] for key in page["summary"]} == page["summary"], folded
        assert {one["answer"]: one["n"] for one in species["outcomes"]} == {"fox": 1, "owl": 1}
        assert species["tied"] == 0
        assert {(one["answer"], one["n"]) for one in count["outcomes"]} == {(3.5, 1), (1, 1)} and count["answers"] == 4
        assert seen["agreement"] == pytest.approx(2 / 3) and seen["bands"] == [1, 0, 0, 1]
        assert (note["name"], note["type"], note["unanswered"], note["outcomes"]) == ("note", "text", 2, [])
        row = page["rows"][-1]["fields"]
        assert [(one["name"], one["value"], one["won"]) for one in row] == [
            ("species", "fox", True), ("count", 3.5, True), ("seen", ["day"], True), ("note", None, False),
        ]  # fmt: skip
        await served.house[StatisticsFeature].statistics.fold()
    text = (await served.client().get(f"{at}/results", headers={"Accept": "text/html"})).text
    assert "Answers to: count" in text and "Median 2.25" in text and "Tasks by their consensus: seen" in text
    assert "Nobody has said anything here yet." in text, "of the note"
    page = (await served.client().page(f"{at}/tasks/{project['tasks'][0]}")).json()
    assert page["fields"] == row and page["agreement"]["agreement"] == pytest.approx(1 / 3)
    text = (await served.client().get(f"{at}/tasks/{project['tasks'][0]}", headers={"Accept": "text/html"})).text
    assert '<h2 id="says">Consensus</h2>' in text and ">3.5<" in text
    await owner.put(f"/api/project/{project['id']}", json={"zip_download": False})
    assert "fields" not in (await served.client().page(f"{at}/results")).json()
