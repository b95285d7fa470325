"""A server on which nothing is installed but what crowdd requires: text tasks work, and the rest is missed with a sentence."""

from __future__ import annotations

import os
import re
from datetime import date, timedelta
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name
from support.person import Person
from support.servers.live import LiveServer

from bench.release.constraints import BASE, BUILD, pinned

# What Python reads at its start. Other modules than those of the packages that are required are as if they were not there.
HIDING = """
import sys
from importlib.machinery import PathFinder

HIDDEN = {hidden}

class Required(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name.partition(".")[0] in HIDDEN else PathFinder.find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Required
"""


def hidden() -> list[str]:
    """The modules of installed packages that crowdd does not require."""
    required = {*pinned(BASE), *pinned(BUILD), "crowdd", "pip"}
    packages = packages_distributions()
    return [name for name, owners in packages.items() if not required & {*map(canonicalize_name, owners)}]


@pytest.mark.proof
def test_what_is_required_is_enough_for_text_tasks(dsn: str, tmp_path: Path) -> None:
    (tmp_path / "hiding").mkdir()
    (tmp_path / "hiding/sitecustomize.py").write_text(HIDING.replace("{hidden}", repr({*hidden()})))
    (tmp_path / "data").mkdir()
    assert {"webauthn", "oauthlib", "segno", "fpdf", "xlsxwriter", "pyarrow"} <= {*hidden()}
    paths = f"{tmp_path / 'hiding'}:{os.environ.get('PYTHONPATH', '')}"
    server = LiveServer(dsn, tmp_path / "data", CROWDD_ACCOUNTS_CONFIRM_EMAIL="off", PYTHONPATH=paths)
    server.start()
    try:
        owner = Person(server.url).register("ada")
        works(owner)
        misses(owner)
    finally:
        server.stop()
    assert "Traceback" not in (tmp_path / "data/log").read_text()


def works(owner: Person) -> None:
    """A project of text tasks, from its first task to its last answer."""
    info = {
        "answers": [{"name": "text", "at": "/text", "type": "text"}],
        "task_presenter": "<p>What is written here?</p>",
    }
    body = {"name": "Letters", "short_name": "letters", "description": "What is written here?", "info": info}
    project = owner.api("POST", "project", body)
    owner.api("POST", "task", [{"project_id": project["id"], "n_answers": 2, "info": {"line": n}} for n in range(2)])
    owner.ask("POST", "/project/letters/publish", {}, Authorization=owner.key)
    for name in ("bob", "eve"):
        volunteer = Person(owner.url).register(name)
        while task := volunteer.api("GET", f"project/{project['id']}/newtask"):
            answer = {"text": f"line {task['info']['line']}"}
            volunteer.api("POST", "taskrun", {"project_id": project["id"], "task_id": task["id"], "info": answer})
    assert len(owner.api("GET", "result", project_id=project["id"])) == 2
    rows = owner.ask("GET", f"/api/project/{project['id']}/export?type=task_run&format=csv", Authorization=owner.key)
    assert len(rows.text.splitlines()) == 5 and "line 1" in rows.text
    for page in ("letters/", "letters/results", "letters/stats", "letters/share", "letters/tasks/browse"):
        assert owner.ask("GET", f"/project/{page}", Content_Type="text/html", Accept="text/html").status == 200, page


def misses(owner: Person) -> None:
    """What needs an extra says which."""
    number = owner.api("GET", "project", short_name="letters")[0]["id"]
    asked = {
        "/project/letters/share/qr.svg": "posters",
        "/project/letters/share/poster.pdf": "posters",
        f"/api/project/{number}/export?type=task&format=xlsx": "workbooks",
        f"/api/project/{number}/export?type=task&format=parquet": "data",
    }
    for path, extra in asked.items():
        answer = owner.ask("GET", path)
        assert answer.status == 415 and f"crowdd[{extra}]" in answer.text, (path, answer.status, answer.text)
    as_page = {"Content_Type": "text/html", "Accept": "text/html"}
    passkeys = owner.ask("GET", f"/account/{owner.name}/passkeys", **as_page)
    assert passkeys.status == 200 and "crowdd[signin]" in passkeys.text
    group = {"name": "7b", "size": "28", "last_day": f"{date.today() + timedelta(days=9)}"}
    made = owner.ask("POST", f"/account/{owner.name}/groups", group, **{"X-CSRFToken": owner.csrf()}).json["id"]
    board = owner.ask("GET", f"/account/{owner.name}/groups/{made}/board", **as_page)
    assert board.status == 200 and "enter the code" in board.text and '<svg class="qr' not in board.text
    app = owner.ask("GET", f"/account/{owner.name}/authenticator", **as_page)
    assert app.status == 200 and re.search(r'value="[A-Z2-7]{32}"', app.text), "the secret can be typed"
    assert '<svg class="qr"' not in app.text
