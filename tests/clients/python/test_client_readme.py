"""The samples of the client's README are run as they stand there, and print what stands below them."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[3] / "clients" / "python"
BLOCKS = re.findall(
    r"^```(sh|python|text)\n(.*?)^```$", (SOURCE / "README.md").read_text("utf-8"), re.MULTILINE | re.DOTALL
)


@pytest.mark.proof
def test_the_samples_print_what_the_readme_says(owner, new_name, tmp_path):
    program = "\n".join(text for language, text in BLOCKS if language == "python")
    name = new_name()
    program = program.replace('"Birds", "birds"', f'"{name}", "{name}"')
    environment = {**os.environ, "SITE": owner.url, "KEY": owner.key, "PYTHONPATH": str(SOURCE / "src")}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    outputs = [
        text for before, (language, text) in itertools.pairwise(BLOCKS) if language == "text" and before[0] == "python"
    ]
    first, *others = outputs
    assert done.stdout == first + "0 answers\n" + "".join(others)
    assert len(others) == 3
    assert re.findall(r"^export (\w+)=", next(text for language, text in BLOCKS if language == "sh"), re.MULTILINE) == [
        "SITE",
        "KEY",
    ]
