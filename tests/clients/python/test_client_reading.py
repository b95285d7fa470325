"""What the client reads: pages, exports, projects, and errors as exceptions."""

from __future__ import annotations

import contextlib
import csv
import itertools
import json
import tracemalloc
from datetime import UTC, date, datetime

import pytest
from crowdd_client import (
    ApiError,
    Changes,
    Client,
    ConflictError,
    ForbiddenError,
    IncompleteError,
    InvalidValueError,
    NotFoundError,
    NotKeptError,
    OutdatedError,
)
from crowdd_client.export import elements, lines
from support.person import Person

NASTY = {
    "word": "Ärger \u2028 🦉 \u202eabc\u202c",
    "n": 12345678901234567890,
    "deep": [[{"x": None}]],
    "nan": "NaN",
    "tab": "\t\x01",
}


def answered(project, url, *infos):
    volunteer = Person(url).register(f"v{project.short_name[5:]}")
    for info in infos:
        task = volunteer.api("GET", f"project/{project.id}/newtask")
        volunteer.api("POST", "taskrun", {"project_id": project.id, "task_id": task["id"], "info": info})


def test_pages_and_export_give_every_row_once_and_the_same(project, client, live_server):
    report = project.add_tasks({"n": n} for n in range(250))
    assert (report.sent, report.added) == (250, 250)
    tasks = list(project.tasks())
    assert [task["info"]["n"] for task in tasks] == list(range(250))
    assert list(project.export("tasks")) == tasks
    assert [task["info"]["n"] for task in project.tasks(id=tasks[7]["id"])] == [7]
    assert list(itertools.islice(project.tasks(), 3)) == tasks[:3]
    project.publish()
    assert project.record["published"] is True
    answered(project, live_server.url, NASTY, "yes")
    first, second = project.answers()
    assert (first["info"], second["info"]) == (json.loads(json.dumps(NASTY)), "yes")
    assert list(project.export("answers")) == [first, second]
    assert list(project.answers(task_id=first["task_id"])) == [first]
    assert list(project.results()) == [] == list(project.export("results"))
    assert client.project(project.id).record == client.project(project.short_name).record


def test_iterating_again_reads_again(project):
    tasks = project.tasks()
    assert list(tasks) == []
    project.add_tasks([{"n": 1}])
    assert len(list(tasks)) == 1


def test_projects_are_ones_own_unless_all_are_wanted(client, project, live_server):
    assert [record.short_name for record in client.projects()] == [project.short_name]
    project.add_tasks([{"n": 1}])
    project.publish()
    with Client(live_server.url, "") as anonymous:
        assert project.id in [record.id for record in anonymous.projects(all=1)]
        assert len(list(anonymous.project(project.short_name).tasks())) == 1


def test_an_export_is_saved_whole_or_not_at_all(project, tmp_path, proxy, owner):
    project.add_tasks([{"word": "=cmd()"}, {"word": "owl"}])
    path = tmp_path / "tasks.csv"
    size = project.export("tasks").save(path)
    assert size == path.stat().st_size > 100
    rows = list(csv.DictReader(path.read_text("utf-8-sig").splitlines()))
    assert [row["info_word"] for row in rows] == ["'=cmd()", "owl"]
    project.export("tasks").save(path, raw=True)
    assert "'=cmd()" not in path.read_text("utf-8-sig")
    assert project.export("tasks").save(tmp_path / "tasks.json", "json") and json.loads(
        (tmp_path / "tasks.json").read_text()
    )
    before = sorted(tmp_path.iterdir())
    broken = Client(proxy.url, owner.key).project(project.short_name)
    proxy.plan = ["cut"]
    with pytest.raises(Exception, match="broke"):
        broken.export("tasks").save(tmp_path / "other.csv")
    assert sorted(tmp_path.iterdir()) == before


def test_an_array_that_arrives_in_parts_is_read_element_by_element():
    rows = [{"text": 'a "quoted" ] , { \\ 🦉'}, {"n": 1.5, "deep": [{}, [1]]}, {}]
    whole = "[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]\n"
    for size in (1, 2, 3, 7, 1000):
        data = whole.encode()
        parts = [data[at : at + size] for at in range(0, len(data), size)]
        assert list(elements(parts)) == rows, size
        cut = data[:-2]
        with pytest.raises(IncompleteError):
            list(elements(cut[at : at + size] for at in range(0, len(cut), size)))
    assert list(elements([b"[", b"]\n"])) == []


@pytest.mark.proof
def test_a_long_array_needs_little_memory():
    row = json.dumps({"id": 1, "info": {"answer": "yes", "text": "x" * 200}}).encode()

    def parts():
        yield b"[\n"
        for n in range(2000):
            yield b",\n".join([row] * 50) + (b",\n" if n < 1999 else b"\n]\n")

    tracemalloc.start()
    try:
        assert sum(1 for _ in elements(parts())) == 100_000
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


def test_refusals_are_exceptions_with_what_the_server_says(client, project, live_server, new_name):
    with pytest.raises(NotFoundError, match="no project"):
        client.project("no-such-project")
    with pytest.raises(NotFoundError) as missing:
        client.request("GET", "/api/task/999999999")
    assert (missing.value.status, missing.value.exception_cls) == (404, "NotFound") and missing.value.request_id
    with pytest.raises(ConflictError, match="exists already") as taken:
        client.create_project(new_name(), project.short_name)
    assert taken.value.exception_cls == "DBIntegrityError" and taken.value.status == 415
    with pytest.raises(InvalidValueError, match="nonsense") as unknown:
        list(project.tasks(nonsense=1))
    assert unknown.value.exception_cls == "AttributeError"
    project.add_tasks([{"n": 1}])
    project.publish()
    with Client(live_server.url, "wrong") as stranger, pytest.raises(ForbiddenError) as anonymous:
        stranger.request("POST", "/api/task", body={"project_id": project.id, "info": 1})
    assert anonymous.value.status == 401
    client.request("PUT", f"/api/project/{project.id}", body={"zip_download": False})
    other = Person(live_server.url).register(new_name())
    with Client(live_server.url, other.key) as stranger, pytest.raises(ForbiddenError) as closed:
        list(stranger.project(project.short_name).export("answers"))
    assert closed.value.status == 403


def test_what_cannot_be_meant_is_refused_before_anything_is_sent(project):
    with pytest.raises(ValueError, match="http"):
        Client("crowdd.example")
    with pytest.raises(ValueError, match="offset"):
        project.tasks(offset=3)
    with pytest.raises(ValueError, match="answers"):
        project.export("task_run")


def test_an_address_that_is_no_crowdd_is_told(live_server):
    with Client(live_server.url, "") as client, pytest.raises(Exception, match="did not return JSON"):
        client.request("GET", "/static/style.css")


def test_a_copy_follows_its_source(project, live_server):
    project.add_tasks({"n": n} for n in range(3))
    project.publish()
    answered(project, live_server.url, "fox", "owl")
    copy, changes = {}, project.changes("answers")
    assert (changes.apply(copy), [row["info"] for row in copy.values()]) == (2, ["fox", "owl"])
    assert changes.apply(copy) == 0
    first, _ = copy
    project._transport.json("DELETE", f"/api/taskrun/{first}")
    assert list(project.changes("answers", changes.cursor)) == [{"id": first, "deleted": True}]
    assert changes.apply(copy) == 1 and list(project.answers()) == list(copy.values())
    with pytest.raises(OutdatedError, match="Begin a new copy"):
        list(project.changes("answers", changes.cursor.replace("-o0-", "-o7-")))
    with pytest.raises(ValueError, match="Changes are those of"):
        project.changes("people")


def test_changes_without_their_end_are_incomplete():
    parts = [b'{"id": 1}\n{"id"', b": 2}\n", b'{"id": 3']
    assert [json.loads(line) for line in lines(parts)] == [{"id": 1}, {"id": 2}]

    class Broken:
        @contextlib.contextmanager
        def stream(self, path, query):
            yield iter(parts)

    changes = Changes(Broken(), 1, "answers", "task_run-o0-5")
    with pytest.raises(IncompleteError):
        list(changes)
    assert changes.cursor == "task_run-o0-5"


def test_what_was_at_a_time(client, project, live_server):
    project.add_tasks([{"word": "fox"}], n_answers=1)
    project.publish()
    before = datetime.now(UTC)
    answered(project, live_server.url, "owl")
    (task,) = project.tasks()
    client.request("PUT", f"/api/task/{task['id']}", body={"info": {"word": "heron"}})
    assert list(project.tasks(at=before)) == [{**task, "state": "ongoing", "closed": None}]
    assert list(project.answers(at=before)) == list(project.results(at=before.isoformat())) == []
    figures = ("n_tasks", "n_task_runs", "n_completed_tasks")
    assert [project.statistics(at=before)[name] for name in figures] == [1, 0, 0]
    assert [project.statistics()[name] for name in figures] == [1, 1, 1]
    with pytest.raises(NotKeptError, match="kept from"):
        list(project.answers(at=date(2001, 2, 3)))
    with pytest.raises(ApiError) as refused:
        list(project.tasks(at="9000-01-01"))
    assert refused.value.status == 400
