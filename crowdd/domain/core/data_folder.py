"""What root writes into the data folder belongs to its owner: the server may run as another user than a command."""

from __future__ import annotations

import os
from pathlib import Path


def make(path: Path, owner_of: Path) -> None:
    """Makes a folder that is not there, and those between it and ``owner_of``, which only their owner can enter.

    As root, gives them to the owner of ``owner_of``, also if they were there.
    """
    if owner_of in path.parent.parents:
        make(path.parent, owner_of)
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not belongs(path, owner_of):
        owner = owner_of.stat()
        os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)


def give(descriptor: int, owner_of: Path) -> None:
    """Gives an open file that root has made to the owner of a folder."""
    if os.geteuid() == 0:
        owner = owner_of.stat()
        os.fchown(descriptor, owner.st_uid, owner.st_gid)


def belongs(path: Path, owner_of: Path) -> bool:
    """False for what root may have to give to the owner of a folder."""
    return os.geteuid() != 0 or path.lstat().st_uid == owner_of.stat().st_uid
