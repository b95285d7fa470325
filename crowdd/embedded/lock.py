"""One crowdd per data folder: an flock that lasts as long as any process that was given the descriptor."""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path

from crowdd.embedded.errors import StartError
from crowdd.embedded.home import make_data_folder
from crowdd.embedded.process import alive, wait_until


def hold(folder: Path, *, seconds: float = 15.0) -> int:
    """Takes the folder (made when missing) for this process; returns the descriptor that holds it.

    A holder whose starter was killed is about to end, and is waited for; a running one is refused at once.
    Raises StartError when the folder is in use or cannot be written.
    """
    try:
        make_data_folder(folder)
        descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StartError(
            f"Cannot write to the data folder {folder} ({error.strerror}). "
            "Make the user who starts crowdd its owner, or set CROWDD_DATA_DIR to another folder."
        ) from None
    _take(descriptor, folder, seconds)
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, str(os.getpid()).encode(), 0)
    return descriptor


def _take(descriptor: int, folder: Path, seconds: float) -> None:
    if _try(descriptor):
        return
    holder = _holder(descriptor)
    if not alive(holder) and wait_until(lambda: _try(descriptor), seconds):
        return
    os.close(descriptor)
    raise StartError(
        f"The data folder {folder} is used by another crowdd (process {holder}). "
        "Stop it, or set CROWDD_DATA_DIR to another folder."
    )


def _try(descriptor: int) -> bool:
    with contextlib.suppress(BlockingIOError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def _holder(descriptor: int) -> int:
    with contextlib.suppress(ValueError):
        return int(os.pread(descriptor, 20, 0))
    # Taken this moment, and not yet signed: certainly by a living process.
    return os.getpid()
