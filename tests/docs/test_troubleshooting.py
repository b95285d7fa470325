"""Every command of docs/troubleshooting.md runs beside a server, and says something that can be understood."""

from __future__ import annotations

import re
import shlex
import uuid
from pathlib import Path

import pytest
from support.person import Person
from support.servers.forks import Ended, Warm
from support.servers.live import BIN

PAGE = (Path(__file__).parents[2] / "docs" / "troubleshooting.md").read_text("utf-8")
COMMANDS = sorted({*re.findall(r"`crowdctl ([^`]+)`", PAGE), *re.findall(r"^crowdctl (.+)$", PAGE, re.MULTILINE)})
# There is nothing that they could do here, and they say so.
REFUSED = {"queue retry <id>", "mail send <id>", "webhook on <project>"}
# They end with 1 when something is wrong, and here there is: no mail, no backup.
FINDS = {"doctor", "doctor --json", "doctor --deep", "mail test you@example.org"}
# They say nothing when nothing differs.
SILENT = {"check", "check --repair"}
# They ask first.
ASKING = {"user remove-factors <name>"}


@pytest.fixture(scope="module")
def run(live_server, tmp_path_factory):
    """Runs a command with the server's settings, in its folder."""
    warm = Warm(tmp_path_factory.mktemp("crowdctl"))

    def command(typed: str) -> Ended:
        argv = [str(BIN / "crowdctl"), *shlex.split(typed)]
        return warm.run(argv, live_server.environment, str(live_server.data), "")

    yield command
    warm.end()


@pytest.fixture(scope="module")
def stand_ins(live_server, run):
    """A project with a webhook, a person, an e-mail, a job."""
    word = uuid.uuid4().hex[:8]
    owner = Person(live_server.url).register(f"owner{word}")
    body = {"name": f"owls{word}", "short_name": f"owls{word}", "description": "Is it an owl?"}
    info = {"task_presenter": "<p>Is it an owl?</p>"}
    project = owner.api("POST", "project", {**body, "info": info, "webhook": "http://127.0.0.1:9/"})
    owner.api("POST", "task", {"project_id": project["id"], "info": 1})
    run("mail test you@example.org")
    letters = run("mail list --json").json
    return {"<project>": f"owls{word}", "<name>": owner.name, "<id>": str(letters[0]["id"])}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_does_what_it_is_for(run, stand_ins, command):
    words = {**stand_ins, "<name>": "fold_counters"} if command.startswith("jobs ") else stand_ins
    typed = f"{command} --yes" if command in ASKING else command
    for name, value in words.items():
        typed = typed.replace(name, value)
    done = run(typed)
    report = f"{typed}: {done.output}{done.complaint}"
    assert "Traceback" not in done.complaint and (command in SILENT or done.output + done.complaint), report
    if command in REFUSED:
        assert done.status in (0, 1), report
    elif command in FINDS:
        assert done.status in (0, 1) and done.output, report
    else:
        assert done.status == 0, report
