"""Every command of docs/troubleshooting.md runs beside a server, and says something that can be understood."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import uuid
from pathlib import Path

import pytest
from support.person import Person
from support.servers.live import BIN

PAGE = (Path(__file__).parents[2] / "docs" / "troubleshooting.md").read_text("utf-8")
COMMANDS = sorted({*re.findall(r"`crowdctl ([^`]+)`", PAGE), *re.findall(r"^crowdctl (.+)$", PAGE, re.MULTILINE)})
# There is nothing that they could do here, and they say so.
REFUSED = {"queue retry <id>", "mail send <id>", "webhook on <project>"}
# They end with 1 when something is wrong, and here there is: no mail, no backup.
FINDS = {"doctor", "doctor --json"}
# They say nothing when nothing differs.
SILENT = {"check", "check --repair"}
# They ask first.
ASKING = {"user remove-factors <name>"}


@pytest.fixture(scope="module")
def stand_ins(live_server):
    """A project with a webhook, a person, a letter, a job."""
    word = uuid.uuid4().hex[:8]
    owner = Person(live_server.url).register(f"owner{word}")
    body = {"name": f"owls{word}", "short_name": f"owls{word}", "description": "Is it an owl?"}
    info = {"task_presenter": "<p>Is it an owl?</p>"}
    project = owner.api("POST", "project", {**body, "info": info, "webhook": "http://127.0.0.1:9/"})
    owner.api("POST", "task", {"project_id": project["id"], "info": 1})
    run(live_server, "mail test you@example.org")
    letters = json.loads(run(live_server, "mail list --json").stdout)
    return {"<project>": f"owls{word}", "<name>": owner.name, "<id>": str(letters[0]["id"])}


def run(live_server, command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [BIN / "crowdctl", *shlex.split(command)],
        env=live_server.environment,
        cwd=live_server.data,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_does_what_it_is_for(live_server, stand_ins, command):
    words = {**stand_ins, "<name>": "fold_counters"} if command.startswith("jobs ") else stand_ins
    typed = f"{command} --yes" if command in ASKING else command
    for name, value in words.items():
        typed = typed.replace(name, value)
    done = run(live_server, typed)
    said = f"{typed}: {done.stdout}{done.stderr}"
    assert "Traceback" not in done.stderr and (command in SILENT or done.stdout + done.stderr), said
    if command in REFUSED:
        assert done.returncode in (0, 1), said
    elif command in FINDS:
        assert done.returncode in (0, 1) and done.stdout, said
    else:
        assert done.returncode == 0, said
