"""The commands of docs/differences.md move a project, with its tasks, answers and results, from one server to another."""

from __future__ import annotations

import os
import re
import subprocess
import textwrap
import uuid
from pathlib import Path

from support.person import Person

PAGE = (Path(__file__).parents[2] / "docs" / "differences.md").read_text("utf-8")
MOVE = PAGE.partition("## Move a project")[2].partition("\n## ")[0]
COMMANDS = "".join(
    textwrap.dedent(text) for text in re.findall(r"^ *```sh\n(.*?)^ *```$", MOVE, re.MULTILINE | re.DOTALL)
)


def test_a_project_moves_with_its_tasks_answers_and_results(live_server, tmp_path):
    """Both servers are the same one here, so the project gets another name."""
    word = uuid.uuid4().hex[:8]
    owner, volunteer = (Person(live_server.url).register(f"{name}{word}") for name in ("owner", "volunteer"))
    presenter = {"task_presenter": "<p>Is there a bird?</p>"}
    body = {"name": f"birds{word}", "short_name": f"birds{word}", "description": "Is there a bird?", "info": presenter}
    project = owner.api("POST", "project", body)
    for number in range(3):
        owner.api("POST", "task", {"project_id": project["id"], "info": {"n": number}, "n_answers": 1})
    owner.api("POST", "task", {"project_id": project["id"], "info": {"n": 3}, "n_answers": 2})
    assert owner.ask("POST", f"/project/birds{word}/publish", {}, Authorization=owner.key).status == 200
    for _ in range(2):
        task = volunteer.api("GET", f"project/{project['id']}/newtask")
        volunteer.api(
            "POST", "taskrun", {"project_id": project["id"], "task_id": task["id"], "info": {"answer": "yes"}}
        )
    first = owner.api("GET", "result", project_id=project["id"])[0]
    owner.api("PUT", f"result/{first['id']}", {"info": {"label": "wren"}})
    commands = COMMANDS.replace('"name": old["name"]', '"name": old["name"] + " here"')
    assert commands != COMMANDS
    environment = {**os.environ, "OLD": live_server.url, "OLD_KEY": owner.key, "NAME": f"birds{word}"}
    environment |= {"SITE": live_server.url, "KEY": owner.key, "NEW": f"owls{word}"}
    done = subprocess.run(
        ["sh", "-euc", commands],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "4 tasks, 2 answers\n"
    (moved,) = owner.api("GET", "project", short_name=f"owls{word}")
    assert moved["published"] and moved["info"]["task_presenter"] == presenter["task_presenter"]
    states = sorted((task["info"]["n"], task["n_answers"]) for task in owner.api("GET", "task", project_id=moved["id"]))
    assert states == [(0, 1), (1, 1), (2, 1), (3, 2)]
    assert len(owner.api("GET", "taskrun", project_id=moved["id"])) == 2
    results = sorted(owner.api("GET", "result", project_id=moved["id"]), key=lambda result: result["task_id"])
    assert [result["info"] for result in results] == [{"label": "wren"}, None]
