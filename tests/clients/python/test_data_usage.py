"""The page "Use this data": its programs are run as they stand there, and it shows no key."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import pytest_twisted
from support.checks.proofs import examples
from support.checks.shows import shows
from support.person import Person

CLIENT = Path(__file__).parents[3] / "clients" / "python" / "src"


@pytest.fixture(scope="module")
def birds(live_server: Any) -> Any:
    """A draft with three answers, whose name has to be escaped in addresses: its owner, its tasks, its page as JSON."""
    name = f"vögel+{uuid.uuid4().hex[:8]}"
    owner = Person(live_server.url).register(f"owner{uuid.uuid4().hex[:8]}")
    project = owner.api("POST", "project", {"name": name, "short_name": name, "description": "Is there a bird?"})
    tasks = owner.api("POST", "task", [{"project_id": project["id"], "info": {"n": n}} for n in range(3)])
    for info in ({"answer": "=1+1", "n": 1}, {"answer": 'a,b\n"c"', "n": None}, {"answer": "ü", "n": "x"}):
        task = owner.api("GET", f"project/{project['id']}/newtask")
        owner.api("POST", "taskrun", {"project_id": project["id"], "task_id": task["id"], "info": info})
    page = owner.ask("GET", f"/project/{quote(name)}/data")
    assert page.status == 200, page.text
    return owner, [task["id"] for task in tasks], page


def program(birds: Any, name: str) -> str:
    """The text of a program."""
    (text,) = [one["text"] for one in birds[2].json["snippets"] if one["name"] == name]
    return str(text)


def run(birds: Any, folder: Path, *command: str, key: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "KEY": birds[0].key if key is None else key, "PYTHONPATH": str(CLIENT)}
    return subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )


@examples("client")
@shows("page-data")
@pytest.mark.parametrize("name", ["pandas", "polars", "duckdb", "client"])
def test_each_python_program_counts_the_answers_of_each_task(birds, tmp_path, name):
    text = program(birds, name)
    done = run(birds, tmp_path, sys.executable, "-c", text)
    assert done.returncode == 0, done.stderr
    for task in birds[1]:
        assert re.search(rf"^\W*{task}\b\D+1\b", done.stdout, re.MULTILINE), done.stdout
    if name == "client":
        assert "{'n': 1, 'answer': '=1+1'}" in done.stdout
    assert run(birds, tmp_path, sys.executable, "-c", text, key="wrong").returncode != 0, (
        "a draft is for its owner only"
    )


def test_the_program_in_r_counts_the_answers(birds, tmp_path):
    rscript = shutil.which("Rscript")
    if rscript is None:
        pytest.skip("R is not installed: apt-get install r-base-core")
    done = run(birds, tmp_path, rscript, "-e", program(birds, "r"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [*map(str, birds[1]), "1", "1", "1"]


@pytest.mark.proof
def test_the_commands_of_curl_save_all_and_read_a_page(birds, tmp_path):
    done = run(birds, tmp_path, "sh", "-euc", program(birds, "curl"))
    assert done.returncode == 0, done.stderr
    assert [answer["info"]["n"] for answer in json.loads(done.stdout)] == [1, None, "x"]
    rows = list(csv.DictReader((tmp_path / "task_run.csv").open(encoding="utf-8-sig", newline="")))
    assert [row["info_answer"] for row in rows] == ["=1+1", 'a,b\n"c"', "ü"]
    assert {path.name for path in tmp_path.iterdir()} == {"task.csv", "task_run.csv", "result.csv"}


def test_the_page_has_no_key_and_a_button_for_each_program(birds):
    owner, _, page = birds
    html = owner.ask(
        "GET",
        f"/project/{quote(page.json['project']['short_name'])}/data",
        Accept="text/html",
        Content_Type="text/plain",
    )
    assert owner.key not in html.text and html.text.count("data-copy=") == len(page.json["snippets"]) == 6
    programs = json.dumps(page.json["snippets"])
    assert owner.key not in programs and page.json["project"]["secret_key"] not in programs
    assert page.json["needs_key"] is True and 'href="/account/profile"' in html.text


@shows("page-data")
@pytest_twisted.ensureDeferred
async def test_who_may_export_sees_it_and_nobody_else(served):
    owner, other = await served.person("owner"), await served.person("other")
    project = await served.project(owner, tasks=1, published=True)
    at, html = "/project/birds/data", {"Accept": "text/html"}
    for client in (served.client(), other, owner):
        page = (await client.page(at)).json()
        assert page["needs_key"] is False and len(page["snippets"]) == 6
        for path in ("/project/birds/tasks/", "/project/birds/tasks/export"):
            assert f'href="{at}"' in (await client.get(path, headers=html)).text
    assert "without an API key" in (await served.client().get(at, headers=html)).text
    await owner.put(f"/api/project/{project['id']}", json={"zip_download": False})
    assert (await other.page(at)).status == 403 and (await served.client().page(at)).status == 302
    assert (await owner.page(at)).json()["needs_key"] is True
    assert (await owner.page("/project/nothing/data")).status == 404
