"""The system user that runs PostgreSQL, which refuses to run as root."""

from __future__ import annotations

import os
import pwd
import subprocess
from pathlib import Path
from typing import Any

import attrs

from crowdd.embedded.errors import StartError

_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TZ": "GMT"}


@attrs.frozen
class Account:
    """A user of this machine; ``foreign`` when it is not the one we run as (then we are root)."""

    name: str
    uid: int
    gid: int
    foreign: bool

    def spawning(self) -> dict[str, Any]:
        """Keywords for ``subprocess`` that start a program as this user, in a folder and environment fit for it."""
        user = {"user": self.uid, "group": self.gid, "extra_groups": []} if self.foreign else {}
        return {**user, "cwd": "/", "env": _ENVIRONMENT, "umask": 0o077, "stdin": subprocess.DEVNULL}

    def reaches(self, path: Path, right: str) -> bool:
        """Whether the user may read ("r"), write ("w") or enter and execute ("x") what lies there."""
        if not self.foreign:
            return os.access(path, {"r": os.R_OK, "w": os.W_OK, "x": os.X_OK}[right])
        asked = subprocess.run(["/usr/bin/test", f"-{right}", path], check=False, **self.spawning())  # noqa: S603
        return asked.returncode == 0

    def own(self, folder: Path) -> None:
        """Makes the folder when it is missing, gives it to this user and closes it to all others."""
        folder.mkdir(mode=0o700, exist_ok=True)
        if self.foreign:
            os.chown(folder, self.uid, self.gid, follow_symlinks=False)
        folder.chmod(0o700)


def choose(wanted: str, cluster: Path) -> Account:
    """Ourselves; when we are root: the owner of an existing database, else the wanted user, else postgres, else nobody.

    Raises StartError when a user is not known here, or when the database is not ours.
    """
    owner = cluster.stat().st_uid if cluster.exists() else None
    me = os.geteuid()
    if me != 0:
        return _ourselves(me, owner, cluster)
    if owner:
        return Account(_name(owner), owner, cluster.stat().st_gid, foreign=True)
    return _by_name([wanted] if wanted else ["postgres", "nobody"])


def _ourselves(me: int, owner: int | None, cluster: Path) -> Account:
    if owner not in (None, me):
        raise StartError(
            f"The database in {cluster} belongs to user {_name(owner or 0)}. Start crowdd as that user or as root, "
            "or set CROWDD_DATA_DIR to another folder."
        )
    return Account(_name(me), me, os.getegid(), foreign=False)


def _by_name(names: list[str]) -> Account:
    for name in names:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        if entry.pw_uid != 0:
            return Account(name, entry.pw_uid, entry.pw_gid, foreign=True)
    raise StartError(
        f"PostgreSQL cannot run as root, and the user {' or '.join(names)} does not exist. "
        "Set CROWDD_DATA_POSTGRES_USER to another user, or start crowdd as an ordinary user."
    )


def _name(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)
