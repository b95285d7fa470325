"""The samples of docs/analyse-answers.md are run as they stand there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
import uuid
from pathlib import Path

import pytest
from support.person import Person

PAGE = (Path(__file__).parents[2] / "docs" / "analyse-answers.md").read_text("utf-8")


def samples(heading: str) -> str:
    """The Python below a heading, as one program."""
    part = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return "\n".join(
        textwrap.dedent(text) for text in re.findall(r"^ *```python\n(.*?)^ *```$", part, re.MULTILINE | re.DOTALL)
    )


@pytest.fixture(scope="module")
def birds(live_server):
    """A project in which three people have answered two tasks, and its owner."""
    word = uuid.uuid4().hex[:8]
    owner = Person(live_server.url).register(f"owner{word}")
    body = {"name": f"birds{word}", "short_name": f"birds{word}", "description": "Is there a bird?"}
    project = owner.api("POST", "project", {**body, "info": {"task_presenter": "<p>Is there a bird?</p>"}})
    tasks = [owner.api("POST", "task", {"project_id": project["id"], "info": {"n": n}, "n_answers": 3}) for n in (1, 2)]
    assert owner.ask("POST", f"/project/birds{word}/publish", {}, Authorization=owner.key).status == 200
    for number, words in enumerate((("yes", "no"), ("yes", "no"), ("no", "no"))):
        volunteer = Person(live_server.url).register(f"v{number}{word}")
        for task, answer in zip(tasks, words, strict=True):
            assert volunteer.api("GET", f"project/{project['id']}/newtask")["id"] == task["id"]
            run = {"project_id": project["id"], "task_id": task["id"], "info": {"answer": answer}}
            volunteer.api("POST", "taskrun", run)
    return owner, project, [task["id"] for task in tasks]


def printed(birds, heading: str) -> str:
    owner, project, _ = birds
    program = samples(heading).replace("/project/birds/", f"/project/{project['short_name']}/")
    program = program.replace('"birds"', f'"{project["short_name"]}"')
    environment = {**os.environ, "CROWDD": owner.url, "KEY": owner.key}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_pandas_finds_majorities_and_volunteers(birds):
    output, (first, second) = printed(birds, "With pandas"), birds[2]
    assert re.search(rf"^{first} +yes +0\.666667$", output, re.MULTILINE), output
    assert re.search(rf"^{second} +no +1\.000000$", output, re.MULTILINE), output
    assert sorted(re.findall(r" 2 +([01]\.[05])$", output, re.MULTILINE)) == ["0.5", "1.0", "1.0"], output


def test_the_client_of_pybossa_reads_everything(birds):
    first, second = birds[2]
    assert printed(birds, "With programs written for PyBossa") == f"{first} yes\n{second} no\n"


def test_results_are_written_back(birds):
    owner, project, tasks = birds
    assert printed(birds, "Write results back") == "2 results written\n"
    results = owner.api("GET", "result", project_id=project["id"])
    infos = {result["task_id"]: result["info"] for result in results}
    assert infos == {tasks[0]: {"answer": "yes", "votes": 3}, tasks[1]: {"answer": "no", "votes": 3}}
