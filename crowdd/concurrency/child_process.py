"""What all processes have in common that the server starts for heavy or risky work."""

from __future__ import annotations

import os
import signal
import sys
from threading import Thread
from typing import Final

from crowdd.errors import StoppedError

_ENVIRONMENT: Final = ("PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "TZ")
_ENDINGS: Final = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGHUP})


def command(module: str, *arguments: str) -> list[str]:
    """What runs a module of ours in the same Python."""
    return [sys.executable, "-P", "-m", module, *arguments]


def environment(**more: str) -> dict[str, str]:
    """What such a process needs of the server's environment, without settings and secrets."""
    return {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ} | more


def require_not_stopped(status: int) -> None:
    """Raises StoppedError if a process with this exit status was told to end: that says nothing of its work."""
    if -status in _ENDINGS:
        raise StoppedError("ending")  # the whole service is ending


def watch_server() -> None:
    """Has this process end when the server dies, which holds the other end of its standard input."""
    Thread(target=_end_with_server, daemon=True).start()


def _end_with_server() -> None:
    os.read(sys.stdin.fileno(), 1)
    os._exit(1)
