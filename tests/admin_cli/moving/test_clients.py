"""After the move, programs of PyPI go on with their old keys: pybossa-client, enki and pbs, unmodified."""

from __future__ import annotations

import json
import os
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import enki
import pbclient
import pytest
from support.clients.pybossa_client import use
from support.person import Person
from support.servers.live import LiveServer

from moving.conftest import PASSWORD

OWNER, ANN = "key-1", "key-7"  # as PyBossa gave them


@pytest.fixture
def site(moved: Any, crowdctl: Any, dsn: str) -> Iterator[LiveServer]:
    """A server on what was moved in."""
    server = LiveServer(dsn, Path(crowdctl.environment["CROWDD_DATA_DIR"]))
    server.start()
    yield server
    server.stop()


def person(site: LiveServer, key: str = "") -> Person:
    """Somebody with one of PyBossa's keys."""
    somebody = Person(site.url)
    somebody.key = key
    return somebody


@pytest.mark.proof
def test_pybossa_client_reads_and_writes_with_the_old_key(site) -> None:
    use(site.url, OWNER)
    assert [project.id for project in pbclient.get_projects()] == [3]
    project = pbclient.find_project(short_name="birds")[0]
    assert (project.id, project.name, project.secret_key) == (3, "Birds", "secret-3")
    assert [(task.id, task.state, task.info) for task in pbclient.get_tasks(3)] == [
        (11, "completed", {"n": 1}),
        (12, "ongoing", {"n": 1}),
        (13, "ongoing", {"n": 1}),
    ]
    assert [task.id for task in pbclient.find_tasks(3, state="completed")] == [11]
    assert [(run.id, run.user_id, run.info) for run in pbclient.get_taskruns(3)] == [
        (21, 7, {"answer": "tit"}),
        (22, None, {"answer": "tit"}),
        (23, None, {"answer": "tit"}),
        (24, 7, {"answer": "tit"}),
    ]
    assert [run.id for run in pbclient.find_taskruns(3, task_id=12)] == [24]
    (result,) = pbclient.find_results(3, id=32)
    assert (result.task_run_ids, result.last_version, result.info) == ([21, 22], True, {"bird": "tit"})
    assert [result.id for result in pbclient.get_results(3)] == [32]
    assert pbclient.get_helping_materials(3)[0].media_url == "/uploads/user_1/tit.png"
    made = pbclient.create_task(3, {"n": 4}, n_answers=1, priority_0=0.9)
    assert made.id > 13 and made.n_answers == 1
    answer = person(site, ANN).api("POST", "taskrun", asked(site, made.id))
    assert [run.id for run in pbclient.find_taskruns(3, task_id=made.id)] == [answer["id"]] and answer["id"] > 24
    (of_it,) = pbclient.find_results(3, task_id=made.id)
    of_it.info = {"bird": "owl"}
    assert pbclient.update_result(of_it).info == {"bird": "owl"}
    made = pbclient.find_tasks(3, id=made.id)[0]
    made.n_answers = 2
    assert pbclient.update_task(made).state == "ongoing"
    project.description = "Moved"
    assert pbclient.update_project(project).description == "Moved"


def asked(site: LiveServer, task_id: int) -> dict[str, Any]:
    """Ann's answer to the task that she gets next, which is this one."""
    task = person(site, ANN).api("GET", "project/3/newtask")
    assert task["id"] == task_id
    return {"project_id": 3, "task_id": task_id, "info": {"answer": "owl"}}


@pytest.mark.proof
def test_the_key_of_another_user_and_an_unknown_one_are_refused(site) -> None:
    use(site.url, ANN)
    assert pbclient.create_task(3, {"n": 4})["status_code"] == 403
    use(site.url, "key-8")
    assert pbclient.create_task(3, {"n": 4})["status_code"] == 401
    use(site.url, OWNER)
    assert len(pbclient.get_tasks(3)) == 3


@pytest.mark.proof
def test_enki_reads_what_was_moved_in(site) -> None:
    project = enki.Enki(api_key=OWNER, endpoint=site.url, project_short_name="birds")
    project.get_all()
    assert [task.id for task in project.tasks] == [11] and list(project.tasks_df["n"]) == [1]
    answers = project.task_runs_df[11]
    assert list(answers.index) == [21, 22, 23] and answers["answer"].describe()["top"] == "tit"


@pytest.mark.proof
def test_enki_reads_the_exported_files(site, tmp_path) -> None:
    tasks, answers = (exported(site, kind, tmp_path) for kind in ("task", "task_run"))
    project = enki.Enki(api_key=OWNER, endpoint=site.url, project_short_name="birds")
    project.get_tasks(json_file=tasks, state="ongoing")
    assert [task.id for task in project.tasks] == [12, 13]
    project.get_task_runs(json_file=answers)
    assert list(project.task_runs_df[12]["answer"]) == ["tit"] and project.task_runs[13] == []


def exported(site: LiveServer, kind: str, folder: Path) -> str:
    """A file of the project's export, as its owner downloads it with the old key."""
    request = urllib.request.Request(
        f"{site.url}/project/birds/tasks/export?type={kind}&format=json", headers={"Authorization": OWNER}
    )
    path = folder / f"{kind}.json"
    with urllib.request.urlopen(request, timeout=60) as response:
        path.write_bytes(response.read())
    return str(path)


@pytest.mark.proof
def test_pbs_works_with_the_old_key(site, pbs, warm_pbs, tmp_path) -> None:
    (tmp_path / "project.json").write_text(
        json.dumps({"name": "Birds", "short_name": "birds", "description": "By pbs"})
    )
    (tmp_path / ".pybossa.cfg").write_text(f"[default]\nserver: {site.url}\napikey: {OWNER}\n")
    (tmp_path / "t.json").write_text(json.dumps([{"n": 5}, {"n": 6}]))
    for name in ("template.html", "results.html", "tutorial.html", "long_description.md"):
        (tmp_path / name).write_text(f"<p>{name}</p>")

    def does(*words: str) -> str:
        done = warm_pbs.run([str(pbs), *words], {**os.environ, "HOME": str(tmp_path)}, str(tmp_path), "")
        assert done.status == 0, done.output + done.complaint
        return done.output

    assert "Project birds updated!" in does("update-project")
    assert "2 tasks added to project: birds" in does("add-tasks", "--tasks-file", "t.json", "--redundancy", "2")
    owner = person(site, OWNER)
    assert owner.api("GET", "project/3")["info"]["task_presenter"] == "<p>template.html</p>"
    assert [task["info"]["n"] for task in owner.api("GET", "task", project_id=3)] == [1, 1, 1, 5, 6]


@pytest.mark.proof
def test_the_old_password_signs_in_and_is_hashed_again(site, rows) -> None:
    stored = "SELECT passwd_hash FROM account WHERE id = 1"
    for password, status, prefix in (("another", "error", "pbkdf2:"), (PASSWORD, "success", "$argon2id$")):
        somebody = person(site)
        token = somebody.ask("GET", "/account/signin").json["form"]["csrf"]
        form = {"email": "owner@example.org", "password": password, "csrf": token}
        response = somebody.ask("POST", "/account/signin", form, **{"X-CSRFToken": token})
        assert (response.json or {}).get("status", "error") == status, response.text
        assert rows(stored)[0]["passwd_hash"].startswith(prefix)
    assert somebody.profile()["user"]["api_key"] == OWNER
