"""The threads that hash passwords, in a process that has a low priority already."""

from __future__ import annotations

import subprocess
import sys

LOW = """
import os
from crowdd.features.accounts.passwords import _EndingThread
os.nice(19)
if os.geteuid() == 0:
    os.setresuid(65534, 65534, 65534)
thread = _EndingThread(target=print, args=("hashed",))
thread.start()
thread.join()
"""


def test_a_process_without_rights_and_of_lowest_priority_hashes_passwords():
    """Its thread died, and ``nice crowdctl admin create`` waited for ever."""
    done = subprocess.run([sys.executable, "-c", LOW], capture_output=True, text=True, check=False)
    assert done.stdout == "hashed\n", done.stderr
