"""Programs of crowdd that work beside the server: what they may take, and that they give way to it."""

from __future__ import annotations

import contextlib
import os
import resource
from pathlib import Path


def bound(
    *, memory: int, cpu_seconds: int | None = None, file_bytes: int | None = None, open_files: int | None = None
) -> None:
    """Bounds this process: bytes of its addresses, seconds of CPU, bytes of a file. It leaves no core file."""
    for what, maximum in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, cpu_seconds),
        (resource.RLIMIT_FSIZE, file_bytes),
        (resource.RLIMIT_NOFILE, open_files),
        (resource.RLIMIT_CORE, 0),
    ):
        if maximum is not None:
            resource.setrlimit(what, (maximum, maximum))


def yield_to_requests(niceness: int) -> None:
    """Lets the server and PostgreSQL have the processors before this process, 1 to 19.

    Linux may share the processors out by sessions first, so that a nice value counts within a session only (sched(7),
    autogroup). So the session that this process leads is nice as well.
    """
    with contextlib.suppress(PermissionError):  # a service manager may forbid it
        os.nice(niceness)
    if os.getsid(0) == os.getpid():
        with contextlib.suppress(OSError):
            Path("/proc/self/autogroup").write_text(str(niceness), "ascii")
