"""The command line client pybossa-pbs, unmodified: every command that it has.

``update-project --watch`` repeats what ``update-project`` sends whenever a file of the folder changes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import attrs
import pytest
import pytest_twisted
from support.checks.shows import shows
from support.person import Person
from support.servers.forks import Ended, Warm

pytestmark = pytest.mark.proof  # beside pybossa-client, which asks the same addresses
PNG = b"\x89PNG\r\n\x1a\n" + b"\x00" * 40
PO = """msgid ""
msgstr ""
"Content-Type: text/plain; charset=utf-8\\n"

#: main.py:12
msgid "Hello"
msgstr ""

msgid "Bye"
msgstr ""
"""


@attrs.frozen
class Workplace:
    """A folder with a project, as somebody who works with pbs has it."""

    command: Path
    warm: Warm
    folder: Path
    owner: Person
    short_name: str

    def run(self, *words: str, answer: str = "") -> Ended:
        environment = {**os.environ, "HOME": str(self.folder)}
        return self.warm.run([str(self.command), *words], environment, str(self.folder), answer)

    def does(self, *words: str, answer: str = "") -> str:
        """What a command says that succeeds."""
        done = self.run(*words, answer=answer)
        assert done.status == 0, done.output + done.complaint
        return done.output

    def write(self, name: str, content: Any) -> None:
        text = content if isinstance(content, str) else json.dumps(content)
        (self.folder / name).write_text(text)

    @property
    def project(self) -> dict[str, Any]:
        return self.owner.api("GET", "project", short_name=self.short_name)[0]

    def tasks(self, **query: Any) -> list[dict[str, Any]]:
        return self.owner.api("GET", "task", project_id=self.project["id"], limit=100, **query)


@pytest.fixture
def work(pbs, warm_pbs, live_server, tmp_path) -> Workplace:
    """A folder whose project does not exist yet."""
    owner = Person(live_server.url).register(f"pbs{uuid.uuid4().hex[:8]}")
    short_name = f"pbs{uuid.uuid4().hex[:8]}"
    made = Workplace(pbs, warm_pbs, tmp_path, owner, short_name)
    made.write("project.json", {"name": f"Pbs {short_name}", "short_name": short_name, "description": "Made by pbs"})
    made.write(".pybossa.cfg", f"[default]\nserver: {live_server.url}\napikey: {owner.key}\n")
    for name in ("template.html", "results.html", "tutorial.html", "long_description.md"):
        made.write(name, f"<p>{name}</p>")
    return made


@pytest.fixture
def made(work) -> Workplace:
    """A folder whose project exists."""
    assert f"Project: {work.short_name} created!" in work.does("create-project")
    return work


def test_version(work):
    assert work.does("version").strip() == "3.0.0"


def test_create_project(made):
    project = made.project
    assert (project["description"], project["info"], project["long_description"]) == ("Made by pbs", {}, "")
    again = made.run("create-project")
    assert again.status != 0
    assert "DBIntegrityError" in again.output and "A project with this name exists already." in again.output
    assert "ProjectAlreadyExists: PyBossa project already exists." in again.complaint


@shows("attribute-whole-record")
def test_update_project(made):
    made.write("bundle.js", "var answer = 42;")
    assert f"Project {made.short_name} updated!" in made.does("update-project")
    project = made.project
    assert project["long_description"] == "<p>long_description.md</p>"
    assert project["info"]["task_presenter"] == "<p>template.html</p><script>\nvar answer = 42;\n</script>"
    assert project["info"]["results"] == "<p>results.html</p>" and project["info"]["tutorial"] == "<p>tutorial.html</p>"
    made.owner.api("POST", "task", {"project_id": project["id"], "info": 1})
    made.owner.publish(made.short_name)
    made.write("bundle.min.js", "1")
    made.does("update-project")
    assert made.project["published"] and made.project["info"]["task_presenter"].endswith("<script>\n1\n</script>")


@pytest.mark.parametrize(
    "name, content, infos",
    [
        ("t.json", [{"n": 1}, {"info": {"n": 2}}], [{"n": 1}, {"n": 2}]),
        ("t.csv", "n,word\n1,one\n2,zwei\n", [{"n": "1", "word": "one"}, {"n": "2", "word": "zwei"}]),
        ("t.properties", "a=Hello\nb=Bye\n", [{"var_id": "a", "string": "Hello"}, {"var_id": "b", "string": "Bye"}]),
    ],
)  # fmt: skip
def test_add_tasks(name, content, infos, made):
    made.write(name, content)
    output = made.does("add-tasks", "--tasks-file", name, "--redundancy", "5", "--priority", "1")
    assert f"2 tasks added to project: {made.short_name}" in output
    assert [task["info"] for task in made.tasks()] == infos
    assert {(task["n_answers"], task["priority_0"]) for task in made.tasks()} == {(5, 1.0)}


def test_add_tasks_from_translations(made):
    made.write("t.po", PO)
    made.does("add-tasks", "--tasks-file", "t.po", "--tasks-type", "po")
    first, second = (task["info"] for task in made.tasks())
    assert (first["msgid"], second["msgid"]) == ("Hello", "Bye") and first["occurrences"] == [["main.py", "12"]]
    assert first["previous_msgid"] is None and first["obsolete"] in (False, 0)


@shows("format-coerced")
def test_update_task_redundancy(made):
    made.write("t.json", [{"n": n} for n in range(3)])
    made.does("add-tasks", "--tasks-file", "t.json")
    one = str(made.tasks()[1]["id"])
    assert "updated to 7" in made.does("update-task-redundancy", "--task-id", one, "--redundancy", "7")
    assert [task["n_answers"] for task in made.tasks()] == [30, 7, 30]
    output = made.does("update-task-redundancy", "--redundancy", "2", answer="y\n")
    assert "All tasks redundancy have been updated" in output
    assert [task["n_answers"] for task in made.tasks()] == [2, 2, 2]


def test_delete_tasks(made):
    made.write("t.json", [{"n": n} for n in range(3)])
    made.does("add-tasks", "--tasks-file", "t.json")
    made.does("delete-tasks", "--task-id", str(made.tasks()[1]["id"]))
    assert [task["info"]["n"] for task in made.tasks()] == [0, 2]
    missing = made.run("delete-tasks", "--task-id", "999999999")
    assert missing.status != 0 and "TaskNotFound" in missing.complaint
    assert "All tasks and task_runs have been deleted" in made.does("delete-tasks", answer="y\n")
    assert made.tasks() == []


def test_add_helpingmaterials(made):
    (made.folder / "bird.png").write_bytes(PNG)
    made.write("h.json", [{"name": "with", "file_path": "bird.png"}, {"name": "without"}])
    output = made.does("add-helpingmaterials", "--helping-materials-file", "h.json")
    assert f"2 helping materials added to project: {made.short_name}" in output
    first, second = made.owner.api("GET", "helpingmaterial", project_id=made.project["id"])
    assert first["info"]["name"] == "with" and first["info"]["file_name"] and first["media_url"].endswith(".png")
    assert second["info"]["name"] == "without" and second["media_url"] is None


def test_projects_of_others_are_reached_by_administrators_with_all(made, live_server):
    admin = Person(live_server.url).register(f"pbs{uuid.uuid4().hex[:8]}")
    environment = {**live_server.environment}
    grant = [str(Path(sys.executable).parent / "crowdctl"), "admin", "add", admin.name]
    subprocess.run(grant, env=environment, cwd=live_server.data, check=True, capture_output=True, timeout=60)
    missing = made.does("--api-key", admin.key, "update-project")
    assert "Project not found!" in missing and "--all=1" in missing
    assert "updated!" in made.does("--api-key", admin.key, "--all", "1", "update-project")


@shows("limit-rate-headers")
@pytest_twisted.ensureDeferred
async def test_what_pbs_reads_of_the_limit(serve):
    client = (await serve(CROWDD_RATELIMIT_LIMIT="5", CROWDD_RATELIMIT_WINDOW="86400")).client()
    head = await client.request("HEAD", "/api/task")
    assert (head.status, head.body) == (200, b"")
    remaining, reset = int(head.header("X-RateLimit-Remaining")), int(head.header("X-RateLimit-Reset"))
    assert remaining == 4 and 0 < reset - time.time() <= 86400
    unknown = await client.request("HEAD", "/api/helpinmaterial")  # its own spelling
    assert (unknown.status, unknown.body) == (404, b"") and int(unknown.header("X-RateLimit-Remaining")) == 4
