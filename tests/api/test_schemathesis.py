"""A short run of what bench/fuzz/schemathesis.py does for minutes: every operation, every check, with a key and without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.checks import conformance

# The same requests each time; bench/fuzz/schemathesis.py looks for new ones.
SHORT = ("--phases=fuzzing", "--no-shrink", "--seed=20261121")


@pytest.fixture(scope="module")
def administrator(own_server: Any) -> Any:
    return conformance.administrator(own_server, "conformance")


def project(person: Any, name: str) -> int:
    """A published project that has tasks enough for every answer; the run before may have changed its own."""
    made = person.api("POST", "project", {"name": name, "short_name": name, "info": {"task_presenter": "<p>?</p>"}})
    person.api("POST", "task", [{"project_id": made["id"], "info": n, "n_answers": 10} for n in range(20)])
    person.publish(name)
    return int(made["id"])


# Most of what is asked without a key is refused alike.
@pytest.mark.proof
@pytest.mark.parametrize(("known", "examples"), [(True, 3), (False, 1)], ids=["with a key", "without"])
def test_the_server_does_what_the_document_says(
    own_server: Any, administrator: Any, tmp_path: Path, known: bool, examples: int
):
    key = administrator.key if known else ""
    about = project(administrator, f"conformance{int(known)}")
    done = conformance.check(own_server.url, tmp_path, about, *SHORT, f"--max-examples={examples}", key=key)
    assert done.returncode == 0, done.stdout
    paths = administrator.ask("GET", "/api/openapi.json").json["paths"]
    operations = sum(map(len, paths.values())) - 1  # all but that which gives the document itself
    assert f"Tested: {operations}\n" in done.stdout
