"""The sample of docs/data.md that reads an export with pandas is run as it stands there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
from support.person import Person

PAGE = (Path(__file__).parents[2] / "docs" / "data.md").read_text("utf-8")
(SAMPLE,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def run(key: str, site: str, sample: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "SITE": site, "KEY": key}
    return subprocess.run(
        [sys.executable, "-c", sample], env=environment, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.proof
def test_pandas_reads_an_export_with_a_key(live_server):
    name = f"birds{uuid.uuid4().hex[:8]}"
    owner = Person(live_server.url).register(f"owner{uuid.uuid4().hex[:8]}")
    project = owner.api("POST", "project", {"name": name, "short_name": name, "description": "Is there a bird?"})
    task = owner.api("POST", "task", {"project_id": project["id"], "info": 1})
    assert owner.api("GET", f"project/{project['id']}/newtask")["id"] == task["id"]
    owner.api("POST", "taskrun", {"project_id": project["id"], "task_id": task["id"], "info": {"answer": "yes"}})
    sample = SAMPLE.replace("/project/birds/", f"/project/{name}/")
    done = run(owner.key, live_server.url, sample)
    assert done.returncode == 0, done.stderr
    assert re.search(rf"^{task['id']} +yes +1$", done.stdout, re.MULTILINE), done.stdout
    assert run("wrong", live_server.url, sample).returncode != 0, "a draft is for its owner only"
