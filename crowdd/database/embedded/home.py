"""Where the embedded PostgreSQL keeps its files, and the system user that runs it.

The files are in the data folder, or where that user can reach them. PostgreSQL refuses to run as root.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pwd
import re
import stat
import subprocess
from pathlib import Path
from typing import Any

import attrs

from crowdd.kernel.errors import CrowddError


class StartError(CrowddError):
    """Something that must be there before the server can start is missing, broken or taken; the text says what to do."""

    code = "start"


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


def choose_account(wanted: str, cluster: Path) -> Account:
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


PORT = "5432"
SOCKET_NAME = f".s.PGSQL.{PORT}"
# sun_path has 108 bytes, the last of them zero.
_MAX_SOCKET_LENGTH = 107
# libpq takes a comma in `host` for a list of hosts; other characters would need quoting in three syntaxes.
_PLAIN = re.compile(r"[A-Za-z0-9/._+-]+")
_TEMPORARY = Path("/tmp")  # noqa: S108 - what we make there is private, and its owner is checked
_ELSEWHERE = (Path("/var/lib"), _TEMPORARY)


@attrs.frozen
class Home:
    """``cluster`` is PostgreSQL's data folder, ``folder`` holds it, ``socket`` is the private folder of its socket."""

    data: Path
    cluster: Path
    socket: Path
    account: Account

    @property
    def folder(self) -> Path:
        """What the cluster lies in, with the things that belong to it."""
        return self.cluster.parent

    @property
    def elsewhere(self) -> bool:
        """Whether the database lies outside the data folder."""
        return self.folder != self.data


def make_data_folder(data: Path) -> None:
    """Make the data folder if it is missing: nobody else can enter it.

    Under root, others can enter but not list it, because PostgreSQL runs as another user.
    """
    data.mkdir(mode=0o711 if os.geteuid() == 0 else 0o700, parents=True, exist_ok=True)


def find_home(data: Path, wanted_user: str = "") -> Home:
    """The home of this data folder's database; ``<data>/postgres`` is it, or the symbolic link that leads there.

    Raises StartError when there is no place that the user who runs PostgreSQL can reach.
    """
    make_data_folder(data)
    data = data.resolve()
    record = data / "postgres"
    account = choose_account(wanted_user, record)
    if not os.path.lexists(record) and not _reachable(data, account):
        record.symlink_to(_elsewhere(data, account) / "postgres")
    cluster = record.resolve()
    return Home(data, cluster, _socket_folder(cluster.parent, account), account)


def _reachable(folder: Path, account: Account) -> bool:
    probe = folder / "postgres-socket"
    with contextlib.suppress(OSError):
        account.own(probe)
        if account.reaches(probe, "w"):
            return True
    with contextlib.suppress(OSError):
        probe.rmdir()
    return False


def _elsewhere(data: Path, account: Account) -> Path:
    for base in _ELSEWHERE:
        folder = base / f"crowdd-{_key(data)}"
        if _private(folder, 0o711, os.geteuid()) and _reachable(folder, account):
            return folder
    raise StartError(
        f"User {account.name}, who runs PostgreSQL, can access neither {data} nor {' nor '.join(map(str, _ELSEWHERE))}. "
        "Set CROWDD_DATA_DIR to a folder that other users can enter, or CROWDD_DB_DSN to your own PostgreSQL."
    )


def _socket_folder(folder: Path, account: Account) -> Path:
    socket = folder / "postgres-socket"
    if not fits(socket):
        socket = _TEMPORARY / f"crowdd-{account.uid}-{_key(folder)}"
        if not _private(socket, 0o700, os.geteuid(), account.uid):
            raise StartError(f"{socket} belongs to another user. Remove it, or set CROWDD_DATA_DIR to a shorter path.")
    folder.mkdir(parents=True, exist_ok=True)
    account.own(socket)
    return socket


def fits(socket: Path) -> bool:
    """Whether a folder can hold PostgreSQL's socket and be named in a DSN without quoting."""
    return len(os.fsencode(socket / SOCKET_NAME)) <= _MAX_SOCKET_LENGTH and bool(_PLAIN.fullmatch(str(socket)))


def _private(folder: Path, mode: int, *owners: int) -> bool:
    """Create the folder. False if it exists and belongs to another user, or cannot be created."""
    try:
        folder.mkdir(mode=mode)
        folder.chmod(mode)
    except FileExistsError:
        status = folder.lstat()
        return stat.S_ISDIR(status.st_mode) and status.st_uid in owners and not status.st_mode & 0o022
    except OSError:
        return False
    return True


def _key(path: Path) -> str:
    return hashlib.sha256(os.fsencode(path)).hexdigest()[:12]
