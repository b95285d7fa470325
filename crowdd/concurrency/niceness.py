"""Programs of crowdd that work beside the server and give way to it."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def yield_to_requests(niceness: int) -> None:
    """Lets the server and PostgreSQL have the processors before this process, 1 to 19.

    Linux may share the processors out by sessions first, so that a nice value counts within a session only (sched(7),
    autogroup). So the session that this process leads is nice as well.
    """
    os.nice(niceness)
    if os.getsid(0) == os.getpid():
        with contextlib.suppress(OSError):
            Path("/proc/self/autogroup").write_text(str(niceness), "ascii")
