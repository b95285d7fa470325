"""Files come after requests: the backend that makes one yields to those that answer volunteers.

PostgreSQL has no priorities of its own. Its processes are those of the system, though, and where one of them runs on this
machine, under an account that may, the system's priorities do.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
from pathlib import Path
from typing import Final

from psycopg2.extensions import connection

from crowdd.concurrency.process_limits import yield_to_requests

_NICENESS: Final = 10
_CREDENTIALS: Final = struct.Struct("3i")  # struct ucred: process, user, group (unix(7))


def yield_backend(session: connection) -> bool:
    """Lowers the priority of the backend for good; whether it could be.

    A process id says something on its own machine only. So the connection must be a Unix socket, and the process a child
    of the one that listens there.
    """
    pid = session.info.backend_pid
    with contextlib.suppress(OSError), socket.socket(fileno=os.dup(session.fileno())) as line:
        if line.family == socket.AF_UNIX and _parent(pid) == _listening(line):
            yield_to_requests(_NICENESS, pid)
            return True
    return False


def _listening(line: socket.socket) -> int:
    return int(_CREDENTIALS.unpack(line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))[0])


def _parent(pid: int) -> int:
    """Raises OSError if there is no such process."""
    after_name = Path(f"/proc/{pid}/stat").read_text("ascii", "replace").rpartition(")")[2]
    return int(after_name.split()[1])
