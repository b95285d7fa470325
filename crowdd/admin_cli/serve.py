"""``crowdctl serve``: prepare everything, run the server in the foreground, and check that it is ready.

PostgreSQL and the daemon are restarted when one of them exits.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import select
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FrameType

import click

from crowdd.database.embedded import (
    Home,
    PostgresServer,
    StartError,
    check_configured_server,
    find_home,
    hold_folder,
    start,
)
from crowdd.database.embedded.cluster import ended_with_parent, wait_until
from crowdd.kernel.concurrency.isolated import Restarts
from crowdd.kernel.config import Settings, load, location
from crowdd.kernel.errors import ConfigError
from crowdd.kernel.files import find_shipped

OK, UNKNOWN = "ok", "unknown"  # what /ready says of a check that is well, and of one that could not be made
_ASK_SECONDS = 5.0


def complaints(settings: Settings) -> list[str] | None:
    """What the server says that it lacks (``/ready``): nothing when it is well; None when no server answers."""
    connection = _connection(settings)
    try:
        connection.request("GET", "/ready")
        checks = json.loads(connection.getresponse().read())["checks"]
        return [words for words in checks.values() if words not in (OK, UNKNOWN)]
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError):
        return None
    finally:
        connection.close()


def healthy(settings: Settings) -> bool:
    """Whether a server answers that it can do its work."""
    return complaints(settings) == []


def reachable(host: str) -> str:
    """Where to ask a server that listens here; one that listens everywhere is asked on this machine."""
    return {"0.0.0.0": "127.0.0.1", "": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104


def _connection(settings: Settings) -> http.client.HTTPConnection:
    host, port = reachable(settings.http.host), settings.http.port
    if not settings.http.tls_certificate:
        return http.client.HTTPConnection(host, port, timeout=_ASK_SECONDS)
    # It is asked by its address, which no certificate names; and it is our own.
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    return http.client.HTTPSConnection(host, port, timeout=_ASK_SECONDS, context=trusting)


# What is run, in this order; each is told the configuration and the database by its environment.
# The last two run while the daemon comes up, which saves a third of the time.
UPGRADE = ("crowdctl", "db", "upgrade")
DAEMON = ("twistd", "--pidfile=", "-n", "crowdd", "-c", "{config}")
EXAMPLE = ("crowdctl", "project", "load", "{example}", "--if-empty")
LINK = ("crowdctl", "admin", "link", "--json")
EXAMPLE_FOLDER = find_shipped("examples/digits")

HEALTH_SECONDS = 60.0
# make passes a signal on that the terminal or the system has sent to all of its group: two of one are no impatience.
IMPATIENT_SECONDS = 1.0
_FIRST_PAUSE, _MAX_PAUSE = 0.5, 30.0  # seconds before a process that ended is started again
_MAX_RESTARTS = 5  # in a row, of a process that does not run for a minute
_MIN_FREE_BYTES = 48 << 20  # three segments of its log: PostgreSQL cannot start with less
_SPACE_SECONDS = 1.0  # between two looks whether there is room
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@click.command()
@click.option("-c", "--config", type=click.Path(path_type=Path), help="Configuration file (default: as of crowdctl).")
@click.pass_context
def serve(ctx: click.Context, config: Path | None) -> None:
    """Start PostgreSQL, prepare the database and serve until Ctrl-C.

    The command uses the PostgreSQL in [db] dsn. Without that setting it runs an embedded PostgreSQL in the data folder,
    which it makes in a checkout of the source, and in the folder that [data] dir names.
    """
    if config:
        ctx.find_root().obj = config
    config = ctx.find_root().obj
    settings = load(config)
    require_database_place(config, settings)
    stop = Stop()
    with stop.listening():
        sys.exit(run(settings, config, stop))


def require_database_place(config: Path | None, settings: Settings) -> None:
    """Raise ConfigError unless a database is configured, or an embedded one is there or may be made."""
    exists = os.path.lexists(settings.data.dir / "postgres")
    if not (settings.db.dsn or exists or location.may_embed(config, os.environ, Path())):
        raise ConfigError(location.NO_DATABASE, hint=location.WHAT_TO_DO)


class Stop:
    """Turns signals into an orderly end: the first asks the daemon to finish, one more later on kills it.

    Before there is a daemon the first one is raised as KeyboardInterrupt, so that what was begun is taken back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.daemon: subprocess.Popen[bytes] | None = None
        self._clock = clock
        self._asked_at: float | None = None

    @property
    def asked(self) -> bool:
        """Whether a signal has come."""
        return self._asked_at is not None

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """While in this block the signals come here."""
        before = {number: signal.signal(number, self) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """A signal has come."""
        if self._asked_at is None:
            self._asked_at = self._clock()
            if self.daemon is None:
                raise KeyboardInterrupt
            self.daemon.terminate()
        elif self.daemon and self._clock() - self._asked_at > IMPATIENT_SECONDS:
            self.daemon.kill()


def run(settings: Settings, config: Path | None, stop: Stop) -> int:
    """Everything from the lock to the end; returns the exit status. Raises StartError when it cannot begin."""
    try:
        with contextlib.ExitStack() as at_the_end:
            lock = hold_folder(settings.data.dir)
            check_port(settings.http.host, settings.http.port)
            database = DatabaseService(settings)
            database.start()
            at_the_end.callback(database.stop)
            words = {"config": str(config or ""), "example": str(EXAMPLE_FOLDER)}
            variables = {location.VARIABLE: words["config"], "CROWDD_DB_DSN": database.dsn}
            commands = Commands(words, {**os.environ, **variables})
            commands.run(UPGRADE)
            return Running(settings, commands, database, stop, lock).attend()
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


class Commands:
    """The programs of this installation, with the configuration they share."""

    def __init__(self, words: Mapping[str, str], environment: Mapping[str, str]) -> None:
        self._words, self._environment = words, environment

    def run(self, command: tuple[str, ...]) -> str:
        """What the command prints. Raises StartError with what it complains of when it fails."""
        done = subprocess.run(  # noqa: S603
            self._line(command), env=self._environment, capture_output=True, text=True, check=False,
            stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=ended_with_parent(signal.SIGTERM),
        )  # fmt: skip
        if done.returncode:
            reason = complaint_of(done.stderr or done.stdout) or f"it ended with status {done.returncode}"
            raise StartError(f"{' '.join(command[:3])} failed: {reason}")
        return done.stdout

    def spawn(self, command: tuple[str, ...], lock: int) -> subprocess.Popen[bytes]:
        """Starts the command on our terminal; it holds the lock with us and ends when we do."""
        # A session of its own: the terminal's Ctrl-C must not reach it beside the signal that we send.
        return subprocess.Popen(  # noqa: S603
            self._line(command), env=self._environment, stdin=subprocess.DEVNULL, pass_fds=[lock],
            start_new_session=True, preexec_fn=ended_with_parent(signal.SIGTERM),  # noqa: PLW1509
        )  # fmt: skip

    def _line(self, command: tuple[str, ...]) -> list[str]:
        program, *rest = (word.format_map(self._words) for word in command)
        return [str(Path(sys.executable).with_name(program)), *rest]


def complaint_of(output: str) -> str:
    """The sentence of a program that failed: its error, or the last line of what it printed, such as a traceback."""
    lines = output.strip().splitlines() or [""]
    errors = [line.removeprefix("Error: ") for line in lines if line.startswith("Error: ")]
    return (errors or lines)[-1]


def check_port(host: str, port: int) -> None:
    """Raises StartError unless the address is free, before anything slow is begun."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise StartError(
            f"Cannot listen on {host} port {port} ({error.strerror}): end the program that uses it, "
            "or choose another by CROWDD_HTTP_PORT or CROWDD_HTTP_HOST."
        ) from None


def own_database(settings: Settings) -> PostgresServer | None:
    """A PostgreSQL of our own, or None when one is configured. Raises StartError when that does not answer."""
    if settings.db.dsn:
        check_configured_server(settings.db.dsn)
        return None
    home = find_home(settings.data.dir, settings.data.postgres_user)
    if home.elsewhere:
        click.echo(moved(home))
    return start(home)


def moved(home: Home) -> str:
    """Says where the database lies when that is not the data folder."""
    return f"The database is kept in {home.folder}: user {home.account.name}, who runs it, cannot enter {home.data}."


def prepare(commands: Commands) -> str | None:
    """Loads something to try; returns the link that makes the first admin, unless there is one."""
    if EXAMPLE_FOLDER.is_dir():
        commands.run(EXAMPLE)
    link: str | None = json.loads(commands.run(LINK))["url"]
    return link


class DatabaseService:
    """The configured PostgreSQL, or one of our own, which can be started again at the same address."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.server: PostgresServer | None = None

    def start(self) -> None:
        """Raises StartError when it does not come up."""
        self.server = own_database(self._settings)

    @property
    def dsn(self) -> str:
        """Where it is."""
        return self.server.dsn if self.server else self._settings.db.dsn

    @property
    def lost(self) -> bool:
        """Whether our own has ended."""
        return self.server is not None and not self.server.running()

    @property
    def has_space(self) -> bool:
        """Whether the disk of our own has room for its log."""
        return self.server is None or shutil.disk_usage(self.server.cluster).free >= _MIN_FREE_BYTES

    def stop(self) -> None:
        """Ends our own."""
        if self.server is not None:
            self.server.stop()


class Running:
    """The daemon and its database, from the daemon's start to the end of both."""

    def __init__(
        self, settings: Settings, commands: Commands, database: DatabaseService, stop: Stop, lock: int
    ) -> None:
        self._settings, self._commands, self._database, self._stop = settings, commands, database, stop
        self._lock = lock
        self._postgresql, self._server = (
            Restarts(time.monotonic, _FIRST_PAUSE, _MAX_PAUSE, _MAX_RESTARTS) for _ in range(2)
        )
        self._daemon = self._spawn()

    def _spawn(self) -> subprocess.Popen[bytes]:
        daemon = self._stop.daemon = self._commands.spawn(DAEMON, self._lock)
        self._server.began()
        if self._stop.asked:  # the signal came while there was none to pass it on to
            daemon.terminate()
        return daemon

    def attend(self) -> int:
        """Announces the daemon when it answers, keeps it and PostgreSQL running, and returns the exit status."""
        try:
            link = prepare(self._commands)
            if await_health(self._settings, self._daemon) and not self._stop.asked:
                announce(self._settings.base_url, link)
                self._keep()
        finally:
            if self._daemon.poll() is None:
                self._daemon.terminate()
            self._daemon.wait()
        return status(self._daemon.returncode, asked=self._stop.asked)

    def _keep(self) -> None:
        """Returns when the daemon has ended on purpose. Raises StartError when something ends again and again."""
        while True:
            first_to_end(self._daemon, self._database.server)
            if self._stop.asked or not self._start_again():
                return

    def _start_again(self) -> bool:
        """Whether what ended was started again; a daemon that was asked to end, by anybody, is not."""
        if self._database.lost:
            self._await_space()
            self._pause("PostgreSQL", self._postgresql)
            self._start_database()
            return True
        if self._daemon.wait() == 0:
            return False
        self._pause("server", self._server)
        self._start_daemon()
        return True

    def _await_space(self) -> None:
        """PostgreSQL ends where the disk is full, and would end again and again."""
        if not self._database.has_space:
            needed = _MIN_FREE_BYTES >> 20
            log(f"PostgreSQL exited and its disk is full: waiting for {needed} MB of free space")
        while not self._database.has_space and not self._stop.asked:
            wait_until(lambda: self._stop.asked, _SPACE_SECONDS)

    def _pause(self, name: str, restarts: Restarts) -> None:
        seconds = restarts.pause()
        if restarts.exhausted:
            raise StartError(f"The {name} process exits repeatedly. See the logs in the data folder.")
        log(f"{name} process exited: restart_in={seconds:g}s")
        wait_until(lambda: self._stop.asked, seconds)

    def _start_database(self) -> None:
        if not self._stop.asked:
            self._database.start()
            self._postgresql.began()
            log("PostgreSQL process restarted")

    def _start_daemon(self) -> None:
        if not self._stop.asked:
            self._daemon = self._spawn()
            if wait_until(lambda: self._daemon.poll() is not None or healthy(self._settings), HEALTH_SECONDS):
                log("server process restarted")


def log(words: str) -> None:
    """Writes a line as the server writes its log, beside which it stands."""
    click.echo(f"{time.strftime('%Y-%m-%dT%H:%M:%S%z')} [crowdctl.serve#info] {words}", err=True)


def await_health(settings: Settings, daemon: subprocess.Popen[bytes]) -> bool:
    """True when the daemon answers, False when it has ended. Raises StartError when it does neither."""
    if not wait_until(lambda: daemon.poll() is not None or healthy(settings), HEALTH_SECONDS):
        raise StartError(f"The server does not answer on {settings.base_url}/ready. Its output above says why.")
    return daemon.poll() is None


def status(code: int, *, asked: bool) -> int:
    """Exit status for the daemon's: an end that was asked for is a good one, whatever the signal."""
    if asked:
        return 0
    return code if code >= 0 else 128 - code


def announce(base_url: str, link: str | None) -> None:
    """Tells where the server is, how to become its first admin, and what to try."""
    click.echo(f"\n  crowdd            {base_url}")
    if link:
        click.echo(f"  Become admin      {link}  (works once)")
    if EXAMPLE_FOLDER.is_dir():
        click.echo(f"  Try the example   {base_url}/project/{EXAMPLE_FOLDER.name}/")
    click.echo("  Press Ctrl-C to stop.\n")


def first_to_end(daemon: subprocess.Popen[bytes], server: PostgresServer | None) -> None:
    """Returns when the daemon or our PostgreSQL has ended."""
    processes = [process for process in (daemon, server.process if server else None) if process]
    if any(process.poll() is not None for process in processes):
        return
    waiting = select.poll()
    descriptors = [os.pidfd_open(process.pid) for process in processes]
    for descriptor in descriptors:
        waiting.register(descriptor, select.POLLIN)
    waiting.poll()
    for descriptor in descriptors:
        os.close(descriptor)
