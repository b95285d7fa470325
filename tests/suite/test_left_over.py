"""A test that fails, however it does, spoils none of those that follow in its process.

These run pytest in pytest. Whatever goes wrong, other tests fail as well.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.proof

TESTS = Path(__file__).parents[1]

FAILING = """
import pytest
import pytest_twisted

attempts = []


def first_time():
    attempts.append(1)
    if len(attempts) == 1:
        raise {raised}("once")


@pytest_twisted.async_yield_fixture
async def connection(tmp_path):
    {setup}
    yield tmp_path


@pytest.fixture
def server(tmp_path):
    yield tmp_path
    {teardown}


def test_one(connection, server):
    pass


def test_two(connection, server):
    assert connection.name == server.name == "test_two0"
"""


@pytest.mark.parametrize("raised", ["RuntimeError", "GeneratorExit"])
@pytest.mark.parametrize("fails", ["setup", "teardown"])
def test_a_failure_stays_with_its_test(fails, raised, tmp_path):
    parts = {"setup": "pass", "teardown": "pass", fails: "first_time()"}
    (tmp_path / "test_failing.py").write_text(FAILING.format(raised=raised, **parts))
    words = ["-p", "support.suite.left_over", "-p", "no:schemathesis", "-p", "no:cacheprovider", "-q", "--reruns", "1"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *words, "-c", os.devnull, "--rootdir", tmp_path, tmp_path / "test_failing.py"],
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stdout
    assert "1 rerun" in run.stdout and "failed" not in run.stdout and "error" not in run.stdout
