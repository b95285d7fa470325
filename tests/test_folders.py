"""The sources hold nothing that was built, and no folder of modules that is nearly empty."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FEWEST = 3


@pytest.fixture(scope="module")
def files() -> list[Path]:
    """What is under version control."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("This tree is not a git clone (git clone), so it is not known which files belong to it.")
    return [path for path in map(Path, listed.stdout.splitlines()) if (ROOT / path).is_file()]


def test_nothing_built_lies_among_the_sources(files):
    assert [path for path in files if path.name.endswith((".whl", ".tar.gz", ".egg", ".pyc", ".log"))] == []


def test_a_folder_of_the_product_has_several_modules(files):
    modules = [path for path in files if path.suffix == ".py" and path.parts[0] == "crowdd" and path.stem != "__init__"]
    folders = Counter(str(path.parent) for path in modules)
    assert {folder: count for folder, count in folders.items() if count < FEWEST} == {}
