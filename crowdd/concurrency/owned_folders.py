"""Folders of work under way, each held by a lock of the system that ends with its process, however that ends."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def owned_folder(parent: Path, prefix: str) -> Iterator[Path]:
    """A new folder whose name begins with ``prefix``; it goes at the end. Those of processes that were killed go now.

    ``parent`` exists, and has nothing but such folders and files.
    """
    with _locked(parent):  # between making a folder and locking it, it looks like one that was left
        _remove_ownerless(parent)
        own = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        descriptor = os.open(own, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield own
    finally:
        shutil.rmtree(own, ignore_errors=True)
        os.close(descriptor)


def _remove_ownerless(parent: Path) -> None:
    for left in parent.iterdir():
        with contextlib.suppress(OSError):
            descriptor = os.open(left, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(left, ignore_errors=True)
            finally:
                os.close(descriptor)


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
