"""The package pybossa-client, unmodified: every function that an owner's script calls."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pbclient
import pytest
from support.checks.shows import shows
from support.clients.pybossa_client import use
from support.person import Person
from support.servers.live import LiveServer


@pytest.fixture
def owner(live_server: Any) -> Person:
    """Somebody whose key the client uses; the client's address ends with a slash, as many write it."""
    person = Person(live_server.url).register(f"owner{uuid.uuid4().hex[:8]}")
    use(live_server.url + "/", person.key)
    return person


def answer_everything(url: str, project: Any, volunteers: int) -> int:
    """Volunteers without an account answer until there is nothing left; returns how many answers there are."""
    answer_count = 0
    for _ in range(volunteers):
        volunteer = Person(url)
        volunteer.ask("GET", "/", Content_Type="text/html")
        while task := volunteer.api("GET", f"project/{project.id}/newtask"):
            volunteer.api("POST", "taskrun", {"project_id": project.id, "task_id": task["id"], "info": {"answer": 42}})
            answer_count += 1
    return answer_count


@shows("project-create-minimum")
def test_from_a_project_to_its_results(owner, live_server):
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
    first, second = (
        pbclient.get_taskruns(project.id, limit=100),
        pbclient.get_taskruns(project.id, limit=100, offset=100),
    )
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


@shows("key-no-projects")
def test_a_key_does_not_delete_a_project_and_the_client_is_told_why(project):
    refused = pbclient.delete_project(project.id)
    assert (refused["status_code"], refused["exception_cls"], refused["error_code"]) == (
        403,
        "Forbidden",
        "session_needed",
    )
    assert (refused["action"], refused["target"]) == ("DELETE", "project") and "crowdctl project" in refused["hint"]
    assert pbclient.get_project(project.id).id == project.id


@pytest.fixture
def letting_server(postgres: Any) -> Iterator[LiveServer]:
    """A site whose operator lets keys manage projects."""
    dsn, data = postgres.make(), Path(tempfile.mkdtemp(prefix="crowdd-keys-", dir="/tmp"))
    made = LiveServer(dsn, data, CROWDD_ACCOUNTS_KEYS_MANAGE_PROJECTS="on")
    made.start()
    yield made
    made.stop()
    postgres.drop(dsn)
    shutil.rmtree(data, ignore_errors=True)


@shows("key-projects-setting")
def test_a_key_deletes_a_project_where_the_operator_lets_it(letting_server):
    use(letting_server.url, Person(letting_server.url).register("owner").key)
    project = pbclient.create_project("Client", "client", "Made by a client")
    assert pbclient.delete_project(project.id) is True
    assert pbclient.find_project(short_name="client") == []


@shows("error-conflict", "project-names-unique")
def test_a_name_that_is_taken_is_told_as_clients_expect(owner):
    short_name = f"client{uuid.uuid4().hex[:8]}"
    assert pbclient.create_project(short_name, short_name, "one").id
    refused = pbclient.create_project(short_name, short_name, "two")
    assert (refused["status_code"], refused["exception_cls"], refused["target"]) == (415, "DBIntegrityError", "project")
    assert refused["action"] == "POST" and refused["status"] == "failed"


@pytest.fixture
def admin(owner, live_server) -> Person:
    """The same person with an administrator's rights."""
    command = [str(Path(sys.executable).parent / "crowdctl"), "admin", "add", owner.name]
    subprocess.run(
        command, env=live_server.environment, cwd=live_server.data, check=True, capture_output=True, timeout=60
    )
    return owner


@pytest.fixture
def project(owner) -> Any:
    """A project of the owner."""
    short_name = f"client{uuid.uuid4().hex[:8]}"
    return pbclient.create_project(f"Client {short_name}", short_name, "Made by a client")


def test_categories_are_made_found_changed_and_deleted(admin):
    name = f"Shelf {uuid.uuid4().hex[:8]}"
    made = pbclient.create_category(name, "What stands on it")
    assert made.id and made.short_name == name.lower().replace(" ", "")
    assert pbclient.get_category(made.id).description == "What stands on it"
    assert [category.id for category in pbclient.find_category(short_name=made.short_name)] == [made.id]
    made.description = "Something else"
    changed = pbclient.update_category(made)
    assert (changed.id, changed.description) == (made.id, "Something else")
    assert made.id in [category.id for category in pbclient.get_categories(limit=100)]
    after = pbclient.get_categories(last_id=made.id - 1)
    assert [category.id for category in after][:1] == [made.id]
    assert pbclient.delete_category(made.id) is True
    assert pbclient.find_category(short_name=made.short_name) == []


@shows("record-file")
def test_helping_materials_come_with_and_without_a_file(project, tmp_path):
    plain = pbclient.create_helpingmaterial(project.id, {"word": "one"})
    assert plain.id and plain.info == {"word": "one"} and plain.media_url is None
    picture = tmp_path / "bird.png"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n" + b"\x00" * 40)
    with_file = pbclient.create_helpingmaterial(project.id, {"ignored": 1}, file_path=str(picture))
    assert with_file.id and with_file.media_url.endswith(".png") and with_file.info["file_name"]
    media, first, second = with_file.media_url, plain.id, with_file.id
    with_file.info = {**with_file.info, "word": "two"}
    changed = pbclient.update_helping_material(with_file)
    assert changed.info["word"] == "two" and changed.media_url == media
    assert [m.id for m in pbclient.get_helping_materials(project.id)] == [first, second]
    assert [m.id for m in pbclient.get_helping_materials(project.id, last_id=first)] == [second]
    assert [m.id for m in pbclient.find_helping_materials(project.id, id=second)] == [second]


@shows("list-last-id")
def test_lists_go_on_by_the_last_id(owner, project, live_server):
    ids = [pbclient.create_task(project.id, {"n": n}, n_answers=1).id for n in range(5)]
    assert [t.id for t in pbclient.get_tasks(project.id, limit=2, last_id=ids[1])] == ids[2:4]
    assert [t.id for t in pbclient.get_tasks(project.id, limit=2, offset=3)] == ids[3:]
    owner.api("PUT", f"project/{project.id}", {"info": {"task_presenter": "<p>?</p>"}})
    owner.publish(project.short_name)
    assert answer_everything(live_server.url, project, 1) == 5
    runs = [run.id for run in pbclient.get_taskruns(project.id)]
    assert [run.id for run in pbclient.get_taskruns(project.id, last_id=runs[2])] == runs[3:]
    assert [run.task_id for run in pbclient.find_taskruns(project.id, task_id=ids[3])] == [ids[3]]
    results = [result.id for result in pbclient.get_results(project.id)]
    assert [r.id for r in pbclient.get_results(project.id, limit=1, last_id=results[0])] == results[1:2]
    project_ids = [p.id for p in pbclient.get_projects(last_id=project.id - 1)]
    assert project.id in project_ids and pbclient.get_project(project.id).short_name == project.short_name
    assert project.id in [p.id for p in pbclient.get_projects()]


@shows("error-404")
def test_what_does_not_exist_is_told_as_clients_expect(owner):
    missing = pbclient.get_project(999_999_999)
    assert (missing["status_code"], missing["exception_cls"], missing["exception_msg"]) == (
        404,
        "NotFound",
        "404 Not Found",
    )
    assert pbclient.find_project(short_name="nobody-made-this", all=1) == []
    refused = pbclient.delete_task(999_999_999)
    assert (refused["status"], refused["action"], refused["target"]) == ("failed", "DELETE", "task")
