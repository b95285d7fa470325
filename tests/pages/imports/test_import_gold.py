"""Gold tasks from a column of a file: what is right is read from it, and it does not stay in the task."""

from __future__ import annotations

import json
from typing import Any

import pytest_twisted
from support.checks.shows import shows
from support.importing import brought, tasks_of

FIELDS = {
    "label": {"name": "kind", "at": "/answer", "type": "label", "choices": ["fox", "owl", 3]},
    "labels": {"name": "kinds", "at": "/answer", "type": "labels", "choices": ["fox", "owl"]},
    "text": {"name": "words", "at": "/deep/words", "type": "text"},
}
CSV = b'name,gold\na,fox\nb,\nc,3\nd,"[""fox"", ""owl""]"\ne,"{""answer"": ""owl""}"\n'
LINES = [
    {"name": "a", "gold_answers": {"answer": "fox"}},
    {"name": "b", "gold_answers": None},
    {"name": "c", "gold_answers": "owl"},
    {"name": "d", "gold_answers": ["fox", "owl"]},
]


async def project(served: Any, field: str) -> tuple[Any, dict[str, Any]]:
    owner = await served.person("owner")
    made = await served.project(owner)
    assert (await owner.put(f"/api/project/{made['id']}", json={"info": {"answers": [FIELDS[field]]}})).status == 200
    return owner, made


async def gold_of(owner: Any, made: dict[str, Any]) -> dict[str, Any]:
    """The right answers by the name of the task. No task has more in its info than its name."""
    tasks = {task["id"]: task["info"] for task in await tasks_of(owner, made)}
    assert all(set(info) == {"name"} for info in tasks.values()), tasks
    rows = (await owner.get(f"/api/project/{made['id']}/gold")).json()
    return {tasks[row["task_id"]]["name"]: row["answers"] for row in rows}


@shows("page-import-gold")
@pytest_twisted.ensureDeferred
async def test_a_column_of_a_table_says_what_is_right(served):
    owner, made = await project(served, "label")
    assert (await brought(served, owner, CSV))["added"] == 5
    expected = {"a": ["fox"], "c": [3], "d": ["fox", "owl"], "e": ["owl"]}
    assert await gold_of(owner, made) == expected
    await owner.post("/project/birds/publish", json={})
    figures = (await owner.page("/project/birds/stats")).json()
    assert figures["project"]["n_tasks"] == 5, "that four of them are no work is told to nobody"
    # The same file again, now with a right answer for the other row: tasks that exist stay as they are.
    again = await brought(served, owner, CSV.replace(b"b,\n", b"b,owl\n"), key="name")
    assert again["added"] == 0 and await gold_of(owner, made) == expected


@shows("page-import-gold")
@pytest_twisted.ensureDeferred
async def test_lines_of_json_say_what_is_right(served):
    owner, made = await project(served, "label")
    assert (await brought(served, owner, ndjson(LINES), "tasks.ndjson"))["added"] == 4
    assert await gold_of(owner, made) == {"a": ["fox"], "c": ["owl"], "d": ["fox", "owl"]}


@shows("page-import-gold")
@pytest_twisted.ensureDeferred
async def test_an_array_is_one_right_answer_where_answers_are_arrays_and_gold_goes_first(served):
    owner, made = await project(served, "labels")
    lines = [line | {"gold": ["owl", "fox"] if line["name"] == "a" else ""} for line in LINES]
    assert (await brought(served, owner, ndjson(lines), "tasks.ndjson"))["added"] == 4
    assert await gold_of(owner, made) == {"a": [["owl", "fox"]]}


def ndjson(lines: list[dict[str, Any]]) -> bytes:
    return "\n".join(map(json.dumps, lines)).encode()


@pytest_twisted.ensureDeferred
async def test_a_text_that_looks_like_json_is_a_text_where_texts_are_asked_for(served):
    owner, made = await project(served, "text")
    await brought(served, owner, b'name,gold_answers\na,12\nb,"{""deep"": 1}"\n', "tasks.csv")
    assert await gold_of(owner, made) == {"a": ["12"], "b": ['{"deep": 1}']}
