"""A refused array says which of its elements is the cause: ``item`` in the error object, and in its sentence."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
import pytest_twisted
from support.checks.shows import shows

from crowdd.features.tasks.tasks import TaskBehaviour
from crowdd.kernel.errors import NotFoundError
from crowdd.kernel.requester import Requester
from crowdd.kinds.task import TASK

KEYS = {"status", "status_code", "action", "target", "exception_cls", "exception_msg", "error_code", "hint"}


@attrs.frozen
class Stage:
    """A published project of an owner, a foreign one, and a volunteer who was handed three tasks."""

    owner: Any
    stranger: Any
    volunteer: Any
    project: dict[str, Any]
    foreign: dict[str, Any]
    held: list[int]

    def task(self, **more: Any) -> dict[str, Any]:
        return {"project_id": self.project["id"], "info": 0, **more}

    def answer(self, nth: int, **more: Any) -> dict[str, Any]:
        return {"project_id": self.project["id"], "task_id": self.held[nth], "info": 0, **more}


@pytest_twisted.async_yield_fixture
async def stage(served):
    owner, stranger = await served.person("owner"), await served.person("stranger")
    project = await served.project(owner, tasks=4, published=True, n_answers=2)
    foreign = await served.project(stranger, "bees", tasks=1, published=True)
    volunteer = await served.person("volunteer")
    held = (await volunteer.get(f"/api/{project['id']}/newtask?limit=3")).json()
    yield Stage(owner, stranger, volunteer, project, foreign, [task["id"] for task in held])


def told(answer, status, code, item):
    """The sentence of an error, which names the item as the object does."""
    error = answer.json()
    assert (answer.status, error["error_code"], error.get("item")) == (status, code, item), error
    assert error.keys() == KEYS | ({"item"} if item is not None else set()), "and no code, which pbs takes for a status"
    assert error["exception_msg"].startswith(f"item {item}: ") is (item is not None), error
    return error["exception_msg"]


@shows("error-item")
@pytest_twisted.ensureDeferred
async def test_each_refusal_of_a_task_names_its_place(stage):
    good = [stage.task()] * 3
    cases = (
        (stage.task(n_answers=0), 415, "invalid_value"), (stage.task(colour=1), 415, "unknown_attribute"),
        ({"project_id": stage.project["id"], "id": 5}, 400, "reserved_attribute"), ({"info": 0}, 415, "missing_attribute"),
        (7, 415, "invalid_value"), (stage.task(info="x" * 300_000), 413, "attribute_too_large"),
        ({"project_id": stage.foreign["id"], "info": 0}, 403, "forbidden"), ({"project_id": 10**9, "info": 0}, 404, "not_found"),
        ({"project_id": "seven", "info": 0}, 415, "invalid_value"),
    )  # fmt: skip
    for bad, status, code in cases:
        told(await stage.owner.post("/api/task", json=[*good, bad, *good]), status, code, 3)
    assert len((await stage.owner.get(f"/api/task?project_id={stage.project['id']}")).json()) == 4


@shows("error-item")
@pytest_twisted.ensureDeferred
async def test_the_sentence_says_where_and_what(stage):
    rows = [stage.task()] * 1234 + [stage.task(n_answers=0)]
    message = told(await stage.owner.post("/api/task", json=rows), 415, "invalid_value", 1234)
    assert message == "item 1234: `n_answers` must be between 1 and 10000 (got 0)."


@pytest_twisted.ensureDeferred
async def test_a_request_of_one_object_and_faults_of_the_whole_array_have_no_item(stage):
    told(await stage.owner.post("/api/task", json=stage.task(n_answers=0)), 415, "invalid_value", None)
    told(await stage.owner.post("/api/task", json=[]), 415, "invalid_value", None)
    told(await stage.owner.post("/api/task", json=[stage.task()] * 10_001), 413, "too_many_rows", None)
    assert "item" not in (await stage.owner.get("/api/task?colour=1")).json()


@shows("error-item")
@pytest_twisted.ensureDeferred
async def test_each_refusal_of_an_answer_names_its_place(stage):
    first, last = stage.answer(0), stage.answer(2)
    other = next(n for n in stage.project["tasks"] if n not in stage.held)
    cases = (
        (stage.answer(1, colour=1), 415, "unknown_attribute"), (5, 415, "invalid_value"),
        (stage.answer(1, info="x" * 300_000), 413, "attribute_too_large"),
        (stage.answer(1, task_id=other), 403, "no_lease"), (stage.answer(1, task_id=10**9), 403, "invalid_task"),
        (stage.answer(1, external_uid="ann"), 401, "invalid_header"), (stage.answer(0), 403, "duplicate"),
    )  # fmt: skip
    for bad, status, code in cases:
        told(await stage.volunteer.post("/api/taskrun", json=[first, bad, last]), status, code, 1)
    marked = {"X-Presenter": str(stage.project["id"])}
    foreign = {**last, "project_id": stage.foreign["id"]}
    told(await stage.volunteer.post("/api/taskrun", json=[first, foreign], headers=marked), 403, "presenter", 1)
    response = await stage.volunteer.post("/api/taskrun", json=[first, last])
    assert response.status == 200 and len(response.json()) == 2, "a refused array left everything as it was"
    told(await stage.volunteer.post("/api/taskrun", json=[first]), 403, "duplicate", 0)


@shows("error-item")
@pytest_twisted.ensureDeferred
async def test_ids_of_tasks_in_a_change_are_named_by_their_place(stage):
    path = f"/api/project/{stage.project['id']}/priority"
    body = {"priority_0": 1, "task_ids": [stage.held[0], stage.held[1], "x"]}
    told(await stage.owner.post(path, json=body), 415, "invalid_value", 2)


DIVIDES = (
    "ALTER TABLE {} ADD CHECK (CASE WHEN info->>'n' IS NULL THEN true ELSE 1 / (info->>'n')::int >= 0 END) NOT VALID"
)


@pytest.mark.parametrize("place", [0, 1, 6, 11])
@pytest_twisted.ensureDeferred
async def test_what_only_the_database_refuses_is_traced_to_its_item(stage, served, place):
    await served.house.base.db.execute(DIVIDES.format("task"))
    before = len((await stage.owner.get(f"/api/task?project_id={stage.project['id']}&limit=100")).json())
    rows = [stage.task(info={"n": 1}) for _ in range(12)]
    rows[place]["info"] = {"n": 0}
    told(await stage.owner.post("/api/task", json=rows), 415, "invalid_value", place)
    now = (await stage.owner.get(f"/api/task?project_id={stage.project['id']}&limit=100")).json()
    assert len(now) == before
    rows[place]["info"] = {"n": 2}
    assert len((await stage.owner.post("/api/task", json=rows)).json()) == 12


@pytest_twisted.ensureDeferred
async def test_an_answer_that_only_the_database_refuses_is_traced_too(stage, served):
    await served.house.base.db.execute(DIVIDES.format("task_run"))
    answers = [stage.answer(nth, info={"n": 1}) for nth in range(3)]
    answers[2]["info"] = {"n": 0}
    told(await stage.volunteer.post("/api/taskrun", json=answers), 415, "invalid_value", 2)
    answers[2]["info"] = {"n": 3}
    assert (await stage.volunteer.post("/api/taskrun", json=answers)).status == 200


@pytest_twisted.ensureDeferred
async def test_a_project_that_is_deleted_while_its_tasks_are_on_their_way_is_named(stage, served):
    rows = [{**TASK.creation(stage.task()), "project_id": number} for number in (stage.project["id"], 10**9)]

    async def work(tx):
        await TaskBehaviour().create(tx, Requester(), rows)

    with pytest.raises(NotFoundError) as refused:
        await served.database.transaction(work)
    assert refused.value.item == 1
