"""README's commands are run as they stand there, and print what stands below them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import attrs
import pytest
from support.person import Person

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#]+)\)")


@attrs.frozen
class Block:
    """A fenced block of README."""

    language: str
    text: str


BLOCKS = [Block(*groups) for groups in BLOCK.findall((ROOT / "README.md").read_text("utf-8"))]
SETTINGS, *CURL = [block.text for block in BLOCKS if block.language == "sh"]
PYTHON = [block.text for block in BLOCKS if block.language == "python"]
ANSWERS = {"Elbe": "yes", "Zugspitze": "no", "Neckar": "yes"}


def printed(number: int, language: str) -> str:
    """What README says that a block prints."""
    return [block.text for block in BLOCKS if block.language == language][number]


@pytest.fixture(scope="module")
def owner(live_server: Any) -> Person:
    """Somebody who follows README."""
    return Person(live_server.url).register(f"reader{uuid.uuid4().hex[:8]}")


def run(owner: Person, *command: str) -> str:
    """What a program prints whose environment has the two values that README asks for."""
    environment = {**os.environ, "CROWDD": owner.url, "KEY": owner.key}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_first_block_sets_what_the_others_use():
    assert re.findall(r"^export (\w+)=", SETTINGS, re.MULTILINE) == ["CROWDD", "KEY"]
    assert all("CROWDD" in text for text in PYTHON)


def test_the_project_with_curl(owner):
    lines = run(owner, "sh", "-euc", "\n".join(CURL)).replace("}[", "}\n[").splitlines()
    assert lines[0] == printed(0, "json").strip()
    (result,) = json.loads(lines[1])
    (answer,) = owner.api("GET", "taskrun", project_id=result["project_id"])
    assert result["task_run_ids"] == [answer["id"]] and result["task_id"] == answer["task_id"]
    assert answer["info"] == {"answer": "yes"} and answer["user_id"] is None
    (project,) = owner.api("GET", "project", short_name="lakes")
    assert project["published"] is True and project["n_completed_tasks"] == 1


def test_the_project_with_python(owner):
    create, read = PYTHON
    assert run(owner, sys.executable, "-c", create) == ""
    (project,) = owner.api("GET", "project", short_name="rivers")
    for _ in range(2):
        volunteer = Person(owner.url)
        volunteer.ask("GET", "/", Content_Type="text/html")
        while task := volunteer.api("GET", f"project/{project['id']}/newtask"):
            info = {"answer": ANSWERS[task["info"]["name"]]}
            volunteer.api("POST", "taskrun", {"project_id": project["id"], "task_id": task["id"], "info": info})
    output = run(owner, sys.executable, "-c", read)
    assert output == [block.text for block in BLOCKS if block.language == "text"][-1]


def test_the_list_of_documents_names_each_of_them():
    listed = {target for target in LINK.findall((ROOT / "README.md").read_text("utf-8")) if target.startswith("docs/")}
    documents = {
        str(path.relative_to(ROOT)) for folder in ("", "contributing") for path in (ROOT / "docs" / folder).glob("*.md")
    } - {"docs/index.md"}
    assert documents <= listed


MADE = {ROOT / "docs" / "reference" / name for name in ("crowdctl.md", "addresses.md")}


def test_links_lead_somewhere():
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *ROOT.glob("docs/**/*.md")]
    for page in pages:
        for target in LINK.findall(page.read_text("utf-8")):
            made = (page.parent / target).resolve() in MADE  # by ``make docs``; in no commit
            assert made or target.startswith("http") or (page.parent / target).exists(), (page.name, target)
