"""Left out, nothing there and can't tell: three answers, in what is stored, in files and in tables."""

from __future__ import annotations

import csv
import io

import orjson
import pyarrow
import pyarrow.parquet
import pytest_twisted
from support.checks.shows import shows
from support.questions.marked_lists import only

ASKED = [
    {"name": "count", "type": "number", "text": "How many?", "unsure": True, "nothing": True},
    {"name": "line", "type": "short_text", "text": "What does it say?", "unsure": True, "nothing": {"en": "A blank line"}},
    {"name": "day", "type": "date", "text": "When?", "partial": True, "nothing": True},
    {"name": "seen", "type": "multiple_choice", "text": "What?", "choices": [{"value": "fox", "text": "Fox"}], "nothing": True},
    {"name": "kind", "type": "single_choice", "text": "Kind?", "unsure": True, "choices": [{"value": "a", "text": "A"}, {"value": "b", "text": "B"}]},
]  # fmt: skip
ANSWERS = [
    {"count": 0, "line": "", "day": "1834", "seen": ["fox"], "kind": "a"},
    {"count": [], "line": [], "day": [], "seen": []},
    {"count": None, "line": None, "kind": None},
    {},
]
STATES = ["answered", "nothing", "unsure", "left_out"]


@shows("answer-instead")
@pytest_twisted.ensureDeferred
async def test_three_answers_are_told_apart_in_every_file_and_table(served):
    owner, ada = await served.person("owner"), await served.person("ada")
    questions = {"version": 1, "steps": [{"name": "one", "questions": ASKED}]}
    project = await served.project(owner, tasks=4, published=True, n_answers=1)
    path = f"/api/project/{project['id']}"
    assert (await owner.put(path, json={"info": {"questions": questions}})).status == 200
    tasks = []
    for info in ANSWERS:
        task = (await ada.get(f"/api/{project['id']}/newtask")).json()["id"]
        body = {"project_id": project["id"], "task_id": task, "info": {**info, "questions_version": 1}}
        assert (await ada.post("/api/taskrun", json=body)).status == 200
        tasks.append(task)
    runs = (await owner.get(f"/api/taskrun?project_id={project['id']}")).json()
    assert [{key: value for key, value in run["info"].items() if key != "questions_version"} for run in runs] == ANSWERS
    export = f"/api/project/{project['id']}/export?info=columns&format="
    rows = [orjson.loads(line) for line in (await owner.get(f"{export}ndjson")).body.splitlines()]
    table = [*csv.DictReader(io.StringIO((await owner.get(f"{export}csv")).body.decode("utf-8-sig")))]
    frame = pyarrow.parquet.read_table(pyarrow.BufferReader((await owner.get(f"{export}parquet")).body))
    for read in (rows, table, frame.to_pylist()):
        assert [row["info_count_state"] for row in read] == [row["info_line_state"] for row in read] == STATES
        assert [row["info_day_state"] for row in read] == ["answered", "nothing", "left_out", "left_out"]
        assert [row["info_kind_state"] for row in read] == ["answered", "left_out", "unsure", "left_out"]
    assert frame["info_count"].to_pylist() == [0, None, None, None] and frame.schema.field("info_count").type in (
        pyarrow.int64(), pyarrow.float64(),
    )  # fmt: skip
    assert frame["info_line"].to_pylist() == ["", None, None, None]
    by_volunteer = f"/api/project/{project['id']}/export?rows=task&format="
    (word,) = {run["volunteer"] for run in runs}
    sheet = [*csv.DictReader(io.StringIO((await owner.get(f"{by_volunteer}csv")).body.decode("utf-8-sig")))]
    frame = pyarrow.parquet.read_table(pyarrow.BufferReader((await owner.get(f"{by_volunteer}parquet")).body))
    assert [row[f"{word}_state"] for row in sheet] == frame[f"{word}_state"].to_pylist() == STATES
    assert frame[word].to_pylist() == [0, None, None, None] and [row[word] for row in sheet] == ["0", "", "", ""]
    pages = [(await owner.get(f"/project/birds/tasks/{task}", headers={"Accept": "text/html"})).text for task in tasks]
    assert ["Nothing there" in page for page in pages] == [False, True, False, False]
    assert ["Can’t tell" in page for page in pages] == [False, False, True, False]


@shows("answer-instead")
@pytest_twisted.ensureDeferred
async def test_an_answer_without_marks_has_a_row_that_says_why(served):
    owner, ada = await served.person("owner"), await served.person("ada")
    project = await served.project(owner, tasks=4, published=True, n_answers=1)
    path = f"/api/project/{project['id']}"
    assert (await owner.put(path, json={"info": {"questions": only("box", "picture", "/photo.jpg")}})).status == 200
    box = {"x": 1, "y": 2, "width": 3, "height": 4}
    for info in ({"one_box": [box, box]}, {"one_box": []}, {"one_box": None}, {}):
        task = (await ada.get(f"/api/{project['id']}/newtask")).json()["id"]
        body = {"project_id": project["id"], "task_id": task, "info": {**info, "questions_version": 1}}
        assert (await ada.post("/api/taskrun", json=body)).status == 200
    export = f"/api/project/{project['id']}/export?rows=mark&format="
    rows = [orjson.loads(line) for line in (await owner.get(f"{export}ndjson")).body.splitlines()]
    assert [(row["mark"], row["state"], row["x"]) for row in rows] == [
        (1, "answered", 1), (2, "answered", 1), (None, "nothing", None), (None, "unsure", None), (None, "left_out", None),
    ]  # fmt: skip
    table = [*csv.DictReader(io.StringIO((await owner.get(f"{export}csv")).body.decode("utf-8-sig")))]
    assert [row["state"] for row in table] == [row["state"] for row in rows]
