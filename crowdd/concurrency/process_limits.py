"""Programs of crowdd that work beside the server: what they may take and reach, and that they give way to it."""

from __future__ import annotations

import contextlib
import os
import resource
from pathlib import Path

from crowdd.concurrency.no_network import forbid


def bound(
    *, memory: int, cpu_seconds: int | None = None, file_bytes: int | None = None, open_files: int | None = None
) -> None:
    """Bounds this process: bytes of its addresses, seconds of CPU, bytes of a file.

    It leaves no core file, and opens no socket where the system can forbid that (``no_network``).
    """
    forbid()
    for what, maximum in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, cpu_seconds),
        (resource.RLIMIT_FSIZE, file_bytes),
        (resource.RLIMIT_NOFILE, open_files),
        (resource.RLIMIT_CORE, 0),
    ):
        if maximum is not None:
            resource.setrlimit(what, (maximum, maximum))


def yield_to_requests(niceness: int, pid: int = 0) -> None:
    """Lets others have the processors before a process, this one unless told; 1 to 19.

    Linux may share the processors out by sessions first, so that a nice value counts within a session only (sched(7),
    autogroup). So the session that the process leads is nice as well. Nothing changes where the system forbids it.
    """
    with contextlib.suppress(PermissionError, ProcessLookupError):  # a service manager may forbid it
        os.setpriority(os.PRIO_PROCESS, pid, os.getpriority(os.PRIO_PROCESS, pid) + niceness)
    with contextlib.suppress(OSError):
        if os.getsid(pid) == (pid or os.getpid()):
            Path(f"/proc/{pid or 'self'}/autogroup").write_text(str(niceness), "ascii")
