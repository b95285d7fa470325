"""Initialise, start and stop the embedded PostgreSQL, with a lock on its data folder and its child processes.

The lock is an flock: it lasts as long as any process that was given the descriptor.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import attrs
import psycopg2
from psycopg2.extensions import make_dsn

from crowdd.database.embedded.binaries import Binaries
from crowdd.database.embedded.home import PORT, Home, StartError, make_data_folder

_LIBC = ctypes.CDLL(None, use_errno=True)
_SET_PARENT_DEATH_SIGNAL = 1
_THIS_FOLDER, _EXCHANGE = -100, 2
_STEP_SECONDS = 0.02


def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    """True as soon as the condition holds, False when it does not within the time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(_STEP_SECONDS)
    return True


def ended_with_parent(number: signal.Signals) -> Callable[[], None]:
    """A ``preexec_fn`` after which the kernel sends the child this signal when we die, by whatever cause."""
    return partial(end_with, os.getpid(), number)


def end_with(parent: int, number: signal.Signals) -> None:
    """Has the kernel send this process a signal when its parent, which has that number, dies."""
    _LIBC.prctl(_SET_PARENT_DEATH_SIGNAL, int(number))
    # It may have died before; then nobody would tell us.
    if os.getppid() != parent:
        os.kill(os.getpid(), number)


def exchange(one: Path, two: Path) -> None:
    """Let two paths change places, in one step: whatever happens, both are there. Raises OSError."""
    names = os.fsencode(one), os.fsencode(two)
    if _LIBC.renameat2(_THIS_FOLDER, names[0], _THIS_FOLDER, names[1], _EXCHANGE):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(one))


def alive(pid: int) -> bool:
    """Whether a process of this number runs; one that ended and waits for its parent to ask does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


# Replaying the log after a crash may take long; a start that hangs for ever would say nothing at all.
START_SECONDS = 300.0
STOP_SECONDS = 60.0
QUIT_SECONDS = 10.0
_STATUS_LINE = 7
_MEBIBYTE = 1 << 20
_SETTINGS = """
# What crowdd set when it made this folder; change it as you like. crowdd itself says where to listen.
max_connections = 100
shared_buffers = {shared}MB
effective_cache_size = {cache}MB
work_mem = 8MB
maintenance_work_mem = 64MB
random_page_cost = 1.1
jit = off
max_wal_size = 1GB
wal_compression = on
timezone = 'GMT'
log_timezone = 'GMT'
log_checkpoints = off
log_line_prefix = '%m [%p] '
logging_collector = on
log_directory = 'log'
log_filename = 'postgresql-%a.log'
log_rotation_age = 1d
log_rotation_size = 0
log_truncate_on_rotation = on
"""


# The server works as a user that may not leave its database, as with a PostgreSQL that somebody else runs.
_DATABASE = (
    ("SELECT 1 FROM pg_roles WHERE rolname = 'crowdd'", "CREATE ROLE crowdd LOGIN"),
    ("SELECT 1 FROM pg_database WHERE datname = 'crowdd'", "CREATE DATABASE crowdd OWNER crowdd"),
)


@attrs.frozen
class PostgresServer:
    """A PostgreSQL that runs as our child; ``dsn`` leads to crowdd's database as a user without special rights."""

    dsn: str
    process: subprocess.Popen[bytes]
    cluster: Path

    def running(self) -> bool:
        """Whether it has not ended."""
        return self.process.poll() is None

    def stop(self) -> None:
        """Ends it with all its processes: running transactions are rolled back, what is committed is on the disk."""
        for number, seconds in ((signal.SIGINT, STOP_SECONDS), (signal.SIGQUIT, QUIT_SECONDS)):
            self.process.send_signal(number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(seconds)
                break
        # Its logger reads on until everybody who could write has gone.
        wait_until(lambda: not _at_work(self.cluster), QUIT_SECONDS)


def initialise(home: Home, binaries: Binaries) -> None:
    """Makes the data folder when there is none; an attempt that was cut short is started again."""
    if home.cluster.exists():
        return
    unfinished = home.folder / "postgres.part"
    shutil.rmtree(unfinished, ignore_errors=True)
    home.account.own(unfinished)
    made = subprocess.run(  # noqa: S603
        [binaries.tool("initdb"), "-D", unfinished, "-U", "postgres", "--encoding=UTF8", "--locale=C.UTF-8",
         "--lc-messages=C", "--data-checksums", "--auth-local=trust", "--auth-host=reject"],
        capture_output=True, text=True, check=False, preexec_fn=ended_with_parent(signal.SIGTERM),
        start_new_session=True, **home.account.spawning(),
    )  # fmt: skip
    if made.returncode:
        raise StartError(f"PostgreSQL could not create its data folder {home.cluster}: {_last(made.stderr)}")
    with (unfinished / "postgresql.conf").open("a", encoding="utf-8") as settings:
        settings.write(_tuned())
    unfinished.rename(home.cluster)


def _tuned() -> str:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // _MEBIBYTE
    return _SETTINGS.format(shared=min(256, max(64, memory // 16)), cache=max(256, memory // 2))


def start(home: Home, binaries: Binaries) -> PostgresServer:
    """Starts PostgreSQL on its folder and returns once it takes connections; what is left of an earlier one is ended.

    It listens on the private socket alone. Raises StartError with PostgreSQL's own words when it does not come up.
    """
    end_leftover(home.cluster)
    process = _spawn(home, binaries)
    server = PostgresServer(_dsn(home, "crowdd"), process, home.cluster)
    try:
        wait_until(lambda: not server.running() or _ready(home.cluster, process.pid), START_SECONDS)
        if not _ready(home.cluster, process.pid):
            raise StartError(f"PostgreSQL did not start on {home.cluster}: {_reason(home)}")
        _make_database(home)
    except BaseException:
        server.stop()
        raise
    return server


def answering(home: Home) -> str | None:
    """The DSN of the server that runs on this home. None if none runs."""
    postmaster = int((_pid_file(home.cluster) or ["0"])[0])
    at_work = _ready(home.cluster, postmaster) and postmaster in _at_work(home.cluster)
    return _dsn(home, "crowdd") if at_work else None


def _spawn(home: Home, binaries: Binaries) -> subprocess.Popen[bytes]:
    fixed = {
        "listen_addresses": "",
        "port": PORT,
        "unix_socket_directories": str(home.socket),
        "unix_socket_permissions": "0700",
    }
    settings = [word for name, text in fixed.items() for word in ("-c", f"{name}={text}")]
    with _start_log(home).open("wb") as log:
        # A session of its own: Ctrl-C in the terminal must reach crowdd first, which needs the database to finish.
        return subprocess.Popen(  # noqa: S603
            [binaries.tool("postgres"), "-D", home.cluster, *settings],
            stdout=log, stderr=log, start_new_session=True,
            preexec_fn=ended_with_parent(signal.SIGINT), **home.account.spawning(),  # noqa: PLW1509
        )  # fmt: skip


def _ready(cluster: Path, pid: int) -> bool:
    lines = _pid_file(cluster)
    return len(lines) > _STATUS_LINE and lines[0] == str(pid) and lines[_STATUS_LINE].strip() == "ready"


def _pid_file(cluster: Path) -> list[str]:
    try:
        return (cluster / "postmaster.pid").read_text().splitlines()
    except FileNotFoundError:
        return []


def _start_log(home: Home) -> Path:
    return home.folder / "postgres-start.log"


def _reason(home: Home) -> str:
    logs = sorted((home.cluster / "log").glob("*.log"), key=lambda path: path.stat().st_mtime)
    texts = [path.read_text(errors="replace") for path in (*logs[-1:], _start_log(home))]
    fatal = [line for text in texts for line in text.splitlines() if "FATAL:" in line or "PANIC:" in line]
    message = fatal[-1].partition(":  ")[2] if fatal else _last(texts[-1])
    return f"{message} (its log: {logs[-1] if logs else _start_log(home)})"


def _last(text: str) -> str:
    lines = [line for line in text.splitlines() if "error:" in line or "FATAL:" in line] or text.splitlines()
    return lines[-1] if lines else "it said nothing"


def _dsn(home: Home, name: str) -> str:
    # The port is spelled out: PGPORT may be set for another server.
    return make_dsn(host=str(home.socket), port=PORT, user=name, dbname=name)


def _make_database(home: Home) -> None:
    try:
        connection = psycopg2.connect(_dsn(home, "postgres"))
    except psycopg2.OperationalError as error:
        raise StartError(f"Could not connect to PostgreSQL on {home.cluster}: {_last(str(error))}") from None
    with contextlib.closing(connection):
        connection.autocommit = True
        with connection.cursor() as cursor:
            for test, statement in _DATABASE:
                cursor.execute(test)
                if not cursor.fetchone():
                    cursor.execute(statement)


def end_leftover(cluster: Path) -> None:
    """Stop processes that an earlier crowdd left running on this folder. The caller holds the lock.

    Also removes a stale ``postmaster.pid``: PostgreSQL believes it when an unrelated process has got that number.
    Raises StartError when something does not end.
    """
    postmaster = int((_pid_file(cluster) or ["0"])[0])
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
        pids = _at_work(cluster)
        # SIGINT would only cancel the statement of a backend that has lost its postmaster.
        for pid in {postmaster} & pids or (pids if number != signal.SIGINT else set()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        seconds = STOP_SECONDS if postmaster in pids else QUIT_SECONDS
        if wait_until(lambda: not _at_work(cluster), seconds):
            (cluster / "postmaster.pid").unlink(missing_ok=True)
            return
    raise StartError(f"An earlier PostgreSQL on {cluster} does not stop. End its processes ({_at_work(cluster)}).")


def _at_work(cluster: Path) -> set[int]:
    """Numbers of the PostgreSQL processes of this folder: all of them work in it, the postmaster and its children."""
    process_ids = set()
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (entry / "comm").read_text() == "postgres\n" and os.readlink(entry / "cwd") == str(cluster):
                process_ids.add(int(entry.name))
    return process_ids


def hold_folder(folder: Path, *, seconds: float = 15.0) -> int:
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
