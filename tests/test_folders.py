"""A folder is a list that one reads at a glance: at most twenty files."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MAX_FILES = 20
_FULL = "a file more than the others, of a noun that no other folder of this tree has"
# Folders that may have more, each with its reason.
EXEMPT = {
    "docs/decisions": "one record per decision, found by its number; its README.md is the list",
    "bench/support": _FULL,
    "crowdd/concurrency": _FULL,
    "crowdd/domain/accounts": _FULL,
    "tests/browser": _FULL,
    "tests/ledger": _FULL,
    "tests/pages/accounts": _FULL,
    "tests/pages/projects": _FULL,
    "tests/storage": _FULL,
    "tests/support/servers": _FULL,
    "examples/digits/images": "the pictures of an example project, one per task",
}


@pytest.fixture(scope="module")
def files() -> list[Path]:
    """What is under version control."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("no repository")
    return [path for path in map(Path, listed.stdout.splitlines()) if (ROOT / path).is_file()]


def test_no_folder_has_more_than_twenty_files(files):
    sizes = Counter(str(path.parent) for path in files)
    assert {folder: size for folder, size in sizes.items() if size > MAX_FILES and folder not in EXEMPT} == {}
    assert all(sizes[folder] > MAX_FILES for folder in EXEMPT), "an exemption that nothing needs"


def test_nothing_built_lies_among_the_sources(files):
    assert [path for path in files if path.name.endswith((".whl", ".tar.gz", ".egg", ".pyc", ".log"))] == []
