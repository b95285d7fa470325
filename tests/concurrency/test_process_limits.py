"""Programs beside the server give way, also where Linux shares the processors out by sessions."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

AUTOGROUP = Path("/proc/self/autogroup")
_SAYS = (
    "import os, pathlib; from crowdd.kernel.concurrency.isolated import yield_to_requests; yield_to_requests(7);"
    "group = pathlib.Path('/proc/self/autogroup'); print(os.nice(0), group.exists() and group.read_text())"
)


def niceness(*, own_session: bool) -> list[str]:
    """The nice value of such a program, and the line about its session."""
    line = [sys.executable, "-c", _SAYS]
    return subprocess.run(
        line, check=True, capture_output=True, text=True, start_new_session=own_session
    ).stdout.split()


def test_a_program_is_nice():
    expected = str(min(19, os.nice(0) + 7))
    assert niceness(own_session=False)[0] == niceness(own_session=True)[0] == expected


@pytest.mark.skipif(
    not AUTOGROUP.exists(), reason="This kernel has no autogroups: boot one with CONFIG_SCHED_AUTOGROUP."
)
def test_its_session_is_nice_if_it_is_its_own_and_no_session_of_others():
    assert niceness(own_session=True)[-1] == "7"
    before = AUTOGROUP.read_text("ascii")
    assert niceness(own_session=False)[1:] == before.split() == AUTOGROUP.read_text("ascii").split()
