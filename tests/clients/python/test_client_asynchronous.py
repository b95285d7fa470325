"""The client in programs with asyncio, answering through it, and the lists of a project."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from crowdd_client import AsyncClient, AsyncTable, Client, ForbiddenError, NotFoundError
from support.person import Person


def in_a_loop(play: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    """What it returns. In a thread, since tests with a browser leave a loop running in that of the tests."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(asyncio.run, play()).result()


def test_a_program_with_an_event_loop_adds_answers_and_reads_at_once(owner, new_name):
    name = new_name()

    async def play() -> None:
        async with AsyncClient(owner.url, owner.key) as client:
            project = await client.create_project(name, name, info={"task_presenter": "<p>?</p>"})
            report = await project.add_tasks([{"n": n} for n in range(5)], n_answers=1)
            assert str(report) == "5 rows = 5 added + 0 refused"
            await project.publish()
            # All at once, and each task is answered once.
            await asyncio.gather(*(project.submit(task["id"], "yes") for task in await project.next_tasks(5)))
            assert await project.next_tasks() == []
            answers, tasks = project.answers(), project.export("tasks")
            assert {row["info"] async for row in answers} == {"yes"} and await answers.count() == 5
            assert (await tasks.to_pandas())["state"].tolist() == ["completed"] * 5
            assert (await project.statistics())["n_task_runs"] == 5
            copy: dict[int, object] = {}
            changes = project.changes("answers")
            assert await changes.apply(copy) == 5 == len(copy) and changes.cursor
            assert [row async for row in changes] == []
            with pytest.raises(NotFoundError):
                await client.project(f"no-{name}")

    in_a_loop(play)


def test_the_loop_goes_on_while_a_request_is_under_way(project):
    """A coroutine beside it runs while thousands of rows are read."""
    project.add_tasks([{"n": n} for n in range(1500)])

    async def play() -> int:
        turns, reading = 0, asyncio.ensure_future(AsyncTable(project.tasks()).count())
        while not reading.done():
            turns += 1
            await asyncio.sleep(0)
        assert await reading == 1500
        return turns

    assert in_a_loop(play) > 100


def test_answers_are_given_and_refused_through_the_client(client, project, live_server):
    project.add_tasks([{"n": 1}, {"n": 2}], n_answers=1)
    project.publish()
    volunteer = Person(live_server.url).register(f"v{uuid.uuid4().hex[:8]}")
    with Client(live_server.url, volunteer.key) as other:
        mine = other.project(project.id)
        first, second = mine.next_tasks(2)
        stored = mine.submit(first["id"], {"bird": True, "share": 0.5})
        assert stored["task_id"] == first["id"] and stored["info"] == {"bird": True, "share": 0.5}
        assert mine.next_tasks() == [second]
        with pytest.raises(ForbiddenError):
            mine.submit(first["id"], "again")
        mine.submit(second["id"], None)
        assert mine.next_tasks() == []
    assert len(project.answers()) == 2


def test_a_table_can_be_counted_and_shown_and_is_read_once_by_list(project, monkeypatch):
    project.add_tasks([{"n": n, "text": "<b>&" + "x" * 200} for n in range(12)])
    tasks, requests = project.tasks(), []
    ask = tasks._transport.json
    monkeypatch.setattr(tasks._transport, "json", lambda *args: requests.append(args) or ask(*args))
    rows = list(tasks)
    assert len(rows) == 12 and len(requests) == 2  # a page, and the one after it, which is empty
    assert len(tasks) == 12 and len(requests) == 2 and bool(project.answers())
    shown = tasks._repr_html_()
    assert shown.count("<tr>") == 11 and "… and more" in shown and "&lt;b&gt;" in shown and "x" * 101 not in shown
    assert len(project.answers()) == 0 and "<td>" not in project.answers()._repr_html_()
    assert repr(tasks) == "<Rows of tasks>"


def test_gold_tasks_analyses_agreement_and_snapshots_are_lists(project, owner):
    project.add_tasks([{"n": n} for n in range(4)], n_answers=3)
    tasks = [task["id"] for task in project.tasks()]
    assert list(project.gold()) == list(project.analyses()) == list(project.snapshots()) == []
    owner.api("POST", f"project/{project.id}/gold", {"task_id": tasks[0], "answer": "yes"})
    assert [(gold["task_id"], gold["answers"]) for gold in project.gold()] == [(tasks[0], ["yes"])]
    frame = project.gold().to_pandas()
    assert frame["task_id"].tolist() == [tasks[0]] and frame["n_seen"].tolist() == [0]
    assert list(project.agreement()) == []  # no answer fields are declared
    owner.api("POST", f"project/{project.id}/snapshots", {})
    assert len(project.snapshots()) == 1
    with pytest.raises(NotFoundError):
        list(project.analysis_tasks(10**9))
