"""The commands of docs/data.md are run as they stand there, one after the other."""

from __future__ import annotations

import json
import os
import re
import subprocess
import uuid
from pathlib import Path
from typing import Any

from support.person import Person

PAGE = (Path(__file__).parents[2] / "docs" / "data.md").read_text("utf-8")
SAMPLES = [text for text in re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL) if "tasks/import" in text]
ROWS = "code,url\na,https://pictures.example/1.jpg\nb,https://pictures.example/2.jpg\n"


def test_the_commands_about_imports_do_what_the_page_says(live_server, tmp_path):
    short_name = f"birds{uuid.uuid4().hex[:8]}"
    person = Person(live_server.url).register(f"owner{uuid.uuid4().hex[:8]}")
    person.api("POST", "project", {"name": short_name, "short_name": short_name, "description": "Is there a bird?"})
    (tmp_path / "rows.csv").write_text(ROWS)
    environment = {**os.environ, "KEY": person.key, "SITE": live_server.url}
    answers: list[Any] = []
    for sample in SAMPLES:
        command = sample.replace("/project/birds/", f"/project/{short_name}/").replace("curl ", "curl -sS ")
        done = subprocess.run(["sh", "-euc", command], env=environment, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        answers.append(json.loads(done.stdout))
    assert len(answers) == 3 and [answer["status"] for answer in answers[1:]] == ["success"] * 2, answers
    assert answers[0]["next"].endswith(f"/tasks/import/{answers[0]['import']}") and "queue_item" not in answers[0]
