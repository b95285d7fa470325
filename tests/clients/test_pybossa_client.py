"""The package pybossa-client, unmodified: every function that an owner's script calls."""

from __future__ import annotations

import uuid
from typing import Any

import pbclient
import pytest
from support.person import Person


@pytest.fixture
def owner(live_server: Any) -> Person:
    """Somebody whose key the client uses; the client's address ends with a slash, as many write it."""
    person = Person(live_server.url).register(f"owner{uuid.uuid4().hex[:8]}")
    pbclient.set("endpoint", live_server.url + "/")
    pbclient.set("api_key", person.key)
    # Its functions keep the first key they ever saw as a default argument.
    for function in (pbclient._pybossa_req,):
        if function.__defaults__:
            for default in function.__defaults__:
                if isinstance(default, dict):
                    default.pop("api_key", None)
    return person


def answer_everything(url: str, project: Any, volunteers: int) -> int:
    """Volunteers without an account answer until there is nothing left; returns how many answers there are."""
    given = 0
    for _ in range(volunteers):
        volunteer = Person(url)
        volunteer.ask("GET", "/", Content_Type="text/html")
        while task := volunteer.api("GET", f"project/{project.id}/newtask"):
            volunteer.api("POST", "taskrun", {"project_id": project.id, "task_id": task["id"], "info": {"answer": 42}})
            given += 1
    return given


def test_from_a_project_to_its_results_and_back_to_nothing(owner, live_server):
    short_name = f"client{uuid.uuid4().hex[:8]}"
    project = pbclient.create_project(f"Client {short_name}", short_name, "Made by a client")
    assert project.id and project.info == {}
    project.info["task_presenter"] = "<p>How many?</p>"
    project.long_description = "Longer."
    project = pbclient.update_project(project)
    assert project.info["task_presenter"] == "<p>How many?</p>"
    for number in range(100):
        task = pbclient.create_task(project.id, {"n": number}, n_answers=2, priority_0=0.5)
        assert task.n_answers == 2
    assert owner.ask("POST", f"/project/{short_name}/publish", {}, Authorization=owner.key).status == 200
    tasks = pbclient.get_tasks(project.id, limit=100)
    assert sorted(task.info["n"] for task in tasks) == list(range(100))
    assert answer_everything(live_server.url, project, 2) == 200
    first, second = pbclient.get_taskruns(project.id, limit=100), pbclient.get_taskruns(project.id, limit=100, offset=100)
    assert len({run.id for run in [*first, *second]}) == 200
    results = pbclient.get_results(project.id, limit=100)
    assert all(len(result.task_run_ids) == 2 for result in results) and len(results) == 100
    wanted = results[0].id  # the client takes it out of the object that it sends
    results[0].info = {"count": 42}
    assert pbclient.update_result(results[0]).info == {"count": 42}
    assert pbclient.find_results(project.id, id=wanted)[0].info == {"count": 42}
    reopened = tasks[0].id
    tasks[0].n_answers = "3"
    assert pbclient.update_task(tasks[0]).state == "ongoing"
    assert [task.id for task in pbclient.find_tasks(project.id, state="ongoing")] == [reopened]
    assert pbclient.delete_task(tasks[1].id) is True
    assert pbclient.delete_taskrun(second[-1].id) is True
    assert pbclient.delete_project(project.id) is True
    assert pbclient.find_project(short_name=short_name) == []


def test_a_name_that_is_taken_is_told_as_clients_expect(owner):
    short_name = f"client{uuid.uuid4().hex[:8]}"
    assert pbclient.create_project(short_name, short_name, "one").id
    refused = pbclient.create_project(short_name, short_name, "two")
    assert (refused["status_code"], refused["exception_cls"], refused["target"]) == (415, "DBIntegrityError", "project")
    assert refused["action"] == "POST" and refused["status"] == "failed"
