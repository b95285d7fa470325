"""Starts the process that writes the files of a snapshot."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from crowdd.concurrency import long_process
from crowdd.concurrency.long_process import LongProcess
from crowdd.languages import _

_PROGRAM: Final = "crowdd.domain.transfer.snapshots.program"


def start(raw: Path, folder: Path) -> LongProcess:
    """Has the files written (``program``)."""
    return long_process.start(_PROGRAM, [str(raw), str(folder)], too_costly)


def too_costly() -> str:
    """Why a snapshot that reached a limit failed."""
    return _("The snapshot takes too much memory or time.")
