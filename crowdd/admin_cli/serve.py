"""``crowdctl serve``: from nothing to a running server in the foreground, and back to nothing at the end."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FrameType

import click

from crowdd.admin_cli.reaching import healthy
from crowdd.config import Settings, load
from crowdd.domain.shipped import shipped
from crowdd.storage.server import Home, Server, StartError, check, find_home, hold, start
from crowdd.storage.server.process import ended_with_parent, wait_until

# glibc otherwise keeps a heap for nearly every thread, and gives back little of it.
FEW_HEAPS = {"MALLOC_ARENA_MAX": "2"}

# What is run, in this order; each is told the configuration and the database by its environment.
# The last two run while the daemon comes up, which saves a third of the time.
UPGRADE = ("crowdctl", "db", "upgrade")
DAEMON = ("twistd", "--pidfile=", "-n", "crowdd", "-c", "{config}")
EXAMPLE = ("crowdctl", "project", "load", "{example}", "--if-empty")
LINK = ("crowdctl", "admin", "link", "--json")
EXAMPLE_FOLDER = shipped("examples/digits")

HEALTH_SECONDS = 60.0
# make passes a signal on that the terminal or the system has sent to all of its group: two of one are no impatience.
IMPATIENT_SECONDS = 1.0
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@click.command()
@click.option("-c", "--config", default="", help="The configuration file; etc/crowdd.conf where there is one.")
def serve(config: str) -> None:
    """Start PostgreSQL, prepare the database and serve until Ctrl-C.

    PostgreSQL is the configured one ([db] dsn); without that, crowdd runs one of its own on the data folder.
    """
    settings = load(config)
    stop = Stop()
    with stop.listening():
        sys.exit(run(settings, config, stop))


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


def run(settings: Settings, config: str, stop: Stop) -> int:
    """Everything from the lock to the end; returns the exit status. Raises StartError when it cannot begin."""
    try:
        with contextlib.ExitStack() as at_the_end:
            lock = hold(settings.data.dir)
            check_port(settings.http.host, settings.http.port)
            server = own_database(settings)
            if server:
                at_the_end.callback(server.stop)
            words = {"config": config, "example": str(EXAMPLE_FOLDER)}
            told = {"CROWDD_CONFIG": config, "CROWDD_DB_DSN": server.dsn if server else settings.db.dsn}
            commands = Commands(words, {**FEW_HEAPS, **os.environ, **told})
            commands.run(UPGRADE)
            stop.daemon = commands.spawn(DAEMON, lock)
            return attend(settings, commands, stop.daemon, server, stop)
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
            said = (done.stderr or done.stdout).strip() or f"it ended with status {done.returncode}"
            raise StartError(f"{' '.join(command[:3])} failed: {said.removeprefix('Error: ')}")
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


def own_database(settings: Settings) -> Server | None:
    """A PostgreSQL of our own, or None when one is configured. Raises StartError when that does not answer."""
    if settings.db.dsn:
        check(settings.db.dsn)
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


def attend(
    settings: Settings, commands: Commands, daemon: subprocess.Popen[bytes], server: Server | None, stop: Stop
) -> int:
    """Announces the daemon when it answers, waits for its end, and returns the exit status."""
    try:
        link = prepare(commands)
        if await_health(settings, daemon) and not stop.asked:
            announce(settings.base_url, link)
        first_to_end(daemon, server)
    finally:
        lost = server is not None and not server.running()
        if daemon.poll() is None:
            daemon.terminate()
        daemon.wait()
    if lost and not stop.asked:
        raise StartError("PostgreSQL has ended by itself; its log is in the data folder under postgres/log.")
    return status(daemon.returncode, asked=stop.asked)


def await_health(settings: Settings, daemon: subprocess.Popen[bytes]) -> bool:
    """True when the daemon answers, False when it has ended. Raises StartError when it does neither."""
    if not wait_until(lambda: daemon.poll() is not None or healthy(settings), HEALTH_SECONDS):
        raise StartError(f"The server does not answer on {settings.base_url}/ready: what it printed says why.")
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
        click.echo(f"  Become its admin  {link}  (works once)")
    if EXAMPLE_FOLDER.is_dir():
        click.echo(f"  Try the example   {base_url}/project/{EXAMPLE_FOLDER.name}/")
    click.echo("  Ctrl-C ends it.\n")


def first_to_end(daemon: subprocess.Popen[bytes], server: Server | None) -> None:
    """Returns when the daemon or our PostgreSQL has ended."""
    waiting = select.poll()
    descriptors = [os.pidfd_open(process.pid) for process in (daemon, server.process if server else None) if process]
    for descriptor in descriptors:
        waiting.register(descriptor, select.POLLIN)
    waiting.poll()
    for descriptor in descriptors:
        os.close(descriptor)
