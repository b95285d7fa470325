"""Of a family of tests ``make test`` runs the examples, and ``make proofs`` all others."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.proof

TESTS = Path(__file__).parents[1]
CONFTEST = """
from support.checks.proofs import leave_to_proofs

def pytest_configure(config):
    config.addinivalue_line("markers", "proof: x")
    config.addinivalue_line("markers", "examples: x")

def pytest_collection_modifyitems(config, items):
    leave_to_proofs(config, items)
"""
FAMILY = """
import pytest
from support.checks.proofs import examples

@examples({examples})
@pytest.mark.parametrize("letter", ["a", "b", "c"])
def test_letter(letter):
    pass

@pytest.mark.parametrize("letter", ["d"])
def test_other(letter):
    pass
"""


def collected(folder: Path, examples: str, *words: str) -> subprocess.CompletedProcess[str]:
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "test_letters.py").write_text(FAMILY.format(examples=examples))
    plugins = ["-p", "no:schemathesis", "-p", "no:cacheprovider"]
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            *plugins,
            "-c",
            os.devnull,
            "--rootdir",
            folder,
            "--collect-only",
            "-q",
            *words,
        ],
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=120,
    )


@pytest.mark.parametrize(
    ("chosen", "expected"), [("not proof", ["letter[b]", "other[d]"]), ("proof", ["letter[a]", "letter[c]"])]
)
def test_examples_are_tried_each_time_and_the_others_are_proofs(tmp_path, chosen, expected):
    lines = collected(tmp_path, '"b"', "-m", chosen, "test_letters.py").stdout.splitlines()
    assert [line for line in lines if "::" in line] == [f"test_letters.py::test_{name}" for name in expected]


def test_an_example_that_is_no_case_is_an_error(tmp_path):
    run = collected(tmp_path, '"b", "e"', "test_letters.py")
    assert run.returncode == pytest.ExitCode.USAGE_ERROR and "test_letter', 'e'" in run.stderr, run.stdout


def test_one_case_can_be_asked_for_by_its_name(tmp_path):
    run = collected(tmp_path, '"b"', "test_letters.py::test_letter[c]")
    assert run.returncode == 0 and "test_letter[c]" in run.stdout
