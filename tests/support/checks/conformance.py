"""schemathesis against a running crowdd: it reads the OpenAPI document and tries to prove it wrong."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import crowdd
from support.person import Person
from support.servers.live import BIN, LiveServer

ROOT = Path(crowdd.__file__).parents[1]
HOOKS = "support.checks.conformance_hooks"
ALL_PHASES = "examples,coverage,fuzzing,stateful"
CONFIG = """
[generation]
# PostgreSQL holds no NUL, which a schema cannot say of every text; hostile input is tested elsewhere.
allow-x00 = false
# Beside a key that is right, schemathesis would send one that is not, and take the answer for a hole.
with-security-parameters = {without_key}

[checks.negative_data_rejection]
# All of the default, and 412: If-Match is looked at before the body (RFC 9110, 13.2.1).
expected-statuses = [400, 401, 403, 404, 405, 406, 409, 412, 413, 415, 422, 428, 429]
"""


def administrator(server: LiveServer, name: str) -> Person:
    """A new person whose key may do everything."""
    person = Person(server.url).register(name)
    command = [BIN / "crowdctl", "admin", "add", name]
    subprocess.run(command, env=server.environment, cwd=server.data, check=True, capture_output=True)
    return person


def check(url: str, place: Path, project_id: int, *words: str, key: str = "") -> subprocess.CompletedProcess[str]:
    """Runs schemathesis with all checks; ``words`` are further options. Its report is in ``stdout``.

    Requests go to the project and the tasks that it hands out, so that they are about something.
    """
    config = place / "schemathesis.toml"
    config.write_text(CONFIG.format(without_key="false" if key else "true"))
    command = [BIN / "schemathesis", "--config-file", config, "run", f"{url}/api/openapi.json", "--checks=all"]
    command += ["--continue-on-failure", "--suppress-health-check=all", "--max-response-time=10", *words]
    if key:
        command += ["--header", f"Authorization: {key}"]
    volunteer = Person(url)
    volunteer.key = key
    document = volunteer.api("GET", f"project/{project_id}/newtask", limit=100)
    leased = document if isinstance(document, list) else [document]
    environment = {
        **os.environ,
        "SCHEMATHESIS_HOOKS": HOOKS,
        "PYTHONPATH": f"{ROOT / 'tests'}{os.pathsep}{ROOT}",
        "CONFORMANCE_PROJECT": str(project_id),
        "CONFORMANCE_TASKS": " ".join(str(task["id"]) for task in leased),
    }
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "stdin": subprocess.DEVNULL}
    return subprocess.run(command, env=environment, cwd=place, text=True, **streams)  # type: ignore[call-overload]
