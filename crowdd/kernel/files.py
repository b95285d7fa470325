"""Folders of work under way with a lock each, owners of the data folder, and files that come with crowdd.

The lock of a folder ends with its process, however that ends. What root writes into the data folder belongs to the
folder's owner: the server may run as another user than a command. A wheel has crowdd's files inside the package, a
checkout beside it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from crowdd import PACKAGE
from crowdd.kernel.errors import UnavailableError


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


def make_folder(path: Path, owner_of: Path) -> None:
    """Makes a folder that is not there, and those between it and ``owner_of``, which only their owner can enter.

    As root, gives them to the owner of ``owner_of``, also if they were there.
    """
    if owner_of in path.parent.parents:
        make_folder(path.parent, owner_of)
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not belongs_to_owner(path, owner_of):
        owner = owner_of.stat()
        os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)


def give_to_owner(descriptor: int, owner_of: Path) -> None:
    """Gives an open file that root has made to the owner of a folder."""
    if os.geteuid() == 0:
        owner = owner_of.stat()
        os.fchown(descriptor, owner.st_uid, owner.st_gid)


def belongs_to_owner(path: Path, owner_of: Path) -> bool:
    """False for what root may have to give to the owner of a folder."""
    return os.geteuid() != 0 or path.lstat().st_uid == owner_of.stat().st_uid


def name_page(page: str, section: str) -> str:
    """A section of a page of docs, for people on this machine: every installation has the pages."""
    return f"{section} in {find_shipped(f'docs/{page}')}"


def find_shipped(name: str) -> Path:
    """Where the file or folder of this name in the checkout lies (setup.py says which a wheel has)."""
    inside = PACKAGE / "shipped" / name
    return inside if inside.exists() else PACKAGE.parent / name


def require_space(folder: Path, min_free_bytes: int) -> None:
    """Raises UnavailableError when less is free than must be."""
    if shutil.disk_usage(folder).free < min_free_bytes:
        raise UnavailableError("The disk of the server is nearly full.", retry_after=300)
