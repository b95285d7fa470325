"""Disks that fill up under a server: that of its database, that of uploads, those of the log and of temporary files.

    make full-disks             (as root: python -m bench.full_disks [--away 8])

Each is a small file system in memory, which is filled to the last byte, and has room again after a while. Gates:
nothing that was confirmed is lost, refusals are 503 with Retry-After and say why, /ready says what is full, reading
goes on, and everything works again without anybody's help.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import psycopg2
from support.person import Person
from support.servers.live import BIN, LiveServer, free_port

from bench.support import testbed
from bench.support.figures import table
from bench.support.outage import Outage
from bench.support.testbed import Postgres, Project, Sql

# What is full long before a disk of such a size is has to be switched off.
SETTINGS = {"CROWDD_DATA_MIN_FREE_BYTES": "1000000", "CROWDD_DB_POOL_TIMEOUT": "2"}
PICTURE = b"\x89PNG\r\n\x1a\n" + b"\0" * 40_000
BACK_SECONDS = 90.0
MAX_LOG = 200  # MB

Lines = list[tuple[str, object]]


class SmallDisk:
    """A file system of so many megabytes at a folder, until the end of the block."""

    def __init__(self, folder: Path, megabytes: int) -> None:
        self.folder, self._ballast = folder, folder / "ballast"
        folder.mkdir(parents=True, exist_ok=True)
        size = f"size={megabytes}m,mode=0755"
        subprocess.run(["mount", "-t", "tmpfs", "-o", size, "crowdd-full-disks", str(folder)], check=True)

    def fill(self) -> None:
        """To the last byte."""
        with self._ballast.open("ab", buffering=0) as file:
            for size in (1 << 20, 4096, 1):
                with contextlib.suppress(OSError):
                    while True:
                        file.write(b"\0" * size)

    def free(self) -> None:
        """There is room again."""
        self._ballast.unlink(missing_ok=True)

    def close(self) -> None:
        """It goes with all that is on it."""
        subprocess.run(["umount", "--lazy", str(self.folder)], check=True)


@contextlib.contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[SmallDisk]:
    """A small disk at a folder."""
    made = SmallDisk(folder, megabytes)
    try:
        yield made
    finally:
        made.close()


class Filling:
    """In the place of a PostgreSQL that is stopped and started: one whose disk is full for a while.

    PostgreSQL ends where it cannot write its log. It is then started again, as ``crowdctl serve`` and systemd do.
    ``panics``: somebody's writes see to it that this is the case.
    """

    def __init__(self, disk: SmallDisk, postgres: Postgres, looks: Callable[[], str], *, panics: bool) -> None:
        self._disk, self._postgres, self._looks, self._panics = disk, postgres, looks, panics
        self.said: set[str] = set()
        self.ended = False

    def stop(self) -> None:
        """Fill it, and look at what the server says of it."""
        self._disk.fill()
        if self._panics:
            self._fill_log()
        until = time.monotonic() + 4
        while time.monotonic() < until:
            self.said.add(self._looks())
            time.sleep(0.2)

    def _fill_log(self) -> None:
        """Writes to the log and to nothing else, until PostgreSQL cannot begin its next file."""
        with contextlib.suppress(psycopg2.OperationalError):
            for _ in range(MAX_LOG):
                Sql(self._postgres.dsn).rows("SELECT pg_logical_emit_message(false, 'full disk', repeat('x', 1000000))")

    def start(self) -> None:
        """Give it room."""
        self.said.add(self._looks())
        self._disk.free()
        self.ended = not Path(f"/proc/{self._postgres.pid}").exists() or _is_over(self._postgres.pid)
        if self.ended:
            self._postgres.start()


def _log(disk: SmallDisk) -> str:
    """What PostgreSQL has written about itself."""
    return "".join(path.read_text(errors="replace") for path in disk.folder.rglob("*.log"))


def _is_over(pid: int) -> bool:
    return "Z" in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def checks(server: LiveServer) -> dict[str, str]:
    """What /ready says."""
    answer = Person(server.url).ask("GET", "/ready")
    return dict(answer.json["checks"]) if answer.json else {"server": answer.text[:100]}


def back(what: str, condition: Callable[[], bool]) -> tuple[Lines, list[str]]:
    """How long until something is as before."""
    began = time.monotonic()
    while not condition():
        if time.monotonic() - began > BACK_SECONDS:
            return [], [f"{what}: not back within {BACK_SECONDS:.0f} s"]
        time.sleep(0.05)
    return [(f"{what}: back after", f"{time.monotonic() - began:.1f} s")], []


def database(place: Path, away: float, *, panics: bool = False) -> tuple[Lines, list[str]]:
    """Its disk is full while people answer, look and add tasks."""
    with small_disk(place / "small", 160) as disk, testbed.postgres(disk.folder) as postgres:
        with testbed.crowdd(postgres.dsn, place, **SETTINGS) as server:
            project, sql = testbed.project(server, tasks=500, n_answers=10), Sql(postgres.dsn)
            filling = Filling(disk, postgres, lambda: checks(server)["database"], panics=panics)
            outage = Outage(server, project, filling, clients=6, away=away, crashes=panics)
            testbed.run(outage.run())
            read = [seen for seen in outage.seen if outage.stopped < seen.asked < outage.returned - 1]
            lines, violations = back("database", lambda: set(checks(server).values()) == {"ok"})
            violations += outage.violations(2.0, sql) + testbed.complaints(server)
            if not panics and "The database has no disk space left." not in filling.said:
                violations.append(f"/ready did not say that the disk is full: {filling.said}")
            if panics and not (filling.ended and "PANIC" in _log(disk)):
                violations.append("PostgreSQL could write its log")
        violations += sql.broken_rules()
    lines += [
        *outage.lines(),
        ("answered while it was full", sum(seen.status == 200 for seen in read)),
        ("/ready said", ", ".join(sorted(filling.said - {"ok"}))),
        ("PostgreSQL ended and was started again", filling.ended),
    ]
    return lines, violations


def _picture(server: LiveServer, project: Project) -> tuple[int, str]:
    """The owner brings a picture of the project: the status, and the text of a refusal."""
    boundary = "crowddfulldisk"
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n'
    body = head.encode() + b"Content-Type: image/png\r\n\r\n" + PICTURE + f"\r\n--{boundary}--\r\n".encode()
    address = f"/api/helpingmaterial?project_id={project.id}&api_key={project.owner.key}"
    field = f'--{boundary}\r\nContent-Disposition: form-data; name="project_id"\r\n\r\n{project.id}\r\n'.encode()
    answer = project.owner.ask(
        "POST", address, field + body, **{"Content-Type": f"multipart/form-data; boundary={boundary}"}
    )
    return (
        answer.status,
        "" if answer.status == 200 else f"{answer.json.get('exception_msg')} {answer.json.get('hint')}",
    )


def uploads(place: Path) -> tuple[Lines, list[str]]:
    """The folder of uploads is a disk of its own."""
    violations = []
    with (
        small_disk(place / "data" / "uploads", 8) as disk,
        testbed.postgres(place) as postgres,
        testbed.crowdd(postgres.dsn, place, **SETTINGS) as server,
    ):
        project = testbed.project(server, tasks=5, n_answers=2)
        first, words = _picture(server, project)
        if first != 200:
            violations.append(f"A picture was refused before: {first} {words}")
        disk.fill()
        files = _files(disk.folder)
        status, words = _picture(server, project)
        if status != 503 or "full" not in words:
            violations.append(f"A picture on a full disk: {status} {words}")
        time.sleep(1.1)
        disk_status = checks(server)["disk"]
        if "folder of uploads" not in disk_status:
            violations.append(f"/ready did not say that the disk is full: {disk_status}")
        if _files(disk.folder) != files:
            violations.append("Half a file was left")
        answer = project.owner.ask("GET", f"/api/{project.id}/newtask")
        if answer.status != 200:
            violations.append(f"newtask while uploads were full: {answer.status}")
        disk.free()
        lines, late = back("uploads", lambda: _picture(server, project)[0] == 200)
        ready, unready = back("/ready", lambda: set(checks(server).values()) == {"ok"})
    return [*lines, *ready, ("a picture on a full disk", f"{status}: {words}"), ("/ready said", disk_status)], [
        *violations,
        *late,
        *unready,
    ]


def _files(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


def others(place: Path) -> tuple[Lines, list[str]]:
    """The folder of the log, and that of temporary files, are full."""
    violations: list[str] = []
    log, temporary = place / "log", place / "tmp"
    with small_disk(log, 4) as logs, small_disk(temporary, 4) as temps, testbed.postgres(place) as postgres:
        settings = {**SETTINGS, "CROWDD_LOG_FILE": str(log / "crowdd.log"), "CROWDD_LOG_REQUESTS": "on"}
        with testbed.crowdd(postgres.dsn, place, **settings, TMPDIR=str(temporary)) as server:
            project = testbed.project(server, tasks=5, n_answers=2)
            before = (log / "crowdd.log").stat().st_size
            body = [{"project_id": project.id, "info": {"text": "x" * 200_000}} for _ in range(4)]
            address = f"/api/task?api_key={project.owner.key}"
            project.owner.ask("POST", address, body)  # Python chooses the folder at the first one
            logs.fill()
            temps.fill()
            answer = project.owner.ask("POST", address, body)
            if answer.status != 503 or "full" not in answer.text:
                violations.append(f"A large body without room: {answer.status} {answer.text[:200]}")
            if project.owner.ask("POST", address, {"project_id": project.id, "info": {}}).status != 200:
                violations.append("A small body was refused, too")
            if Person(server.url).ask("GET", "/").status != 200:
                violations.append("The home page was refused")
            doctor = _doctor(server)
            if "log" not in doctor:
                violations.append(f"crowdctl doctor says nothing of the log: {doctor}")
            logs.free()
            temps.free()
            lines, late = back("large bodies", lambda: project.owner.ask("POST", address, body).status == 200)
            written, unwritten = back("log", lambda: _asked_and_written(server, log / "crowdd.log", before))
    return [*lines, *written, ("a large body without room", f"{answer.status}: {answer.text[:200]}")], [
        *violations,
        *late,
        *unwritten,
    ]


def _doctor(server: LiveServer) -> str:
    command = [BIN / "crowdctl", "doctor"]
    done = subprocess.run(command, env=server.environment, cwd=server.data, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def _asked_and_written(server: LiveServer, path: Path, before: int) -> bool:
    Person(server.url).ask("GET", "/about")
    return path.stat().st_size > before and "/about" in path.read_text(errors="replace")[-2000:]


def embedded(place: Path) -> tuple[Lines, list[str]]:
    """The embedded PostgreSQL ends while its disk is full: crowdctl serve waits for room, and starts it again."""
    violations: list[str] = []
    with small_disk(place / "all", 400) as disk:
        port, output = free_port(), place / "output"
        environment = {**os.environ, **SETTINGS, "CROWDD_HTTP_PORT": str(port)}
        environment["CROWDD_DATA_DIR"] = str(disk.folder / "data")
        with output.open("wb") as log:
            serving = subprocess.Popen([BIN / "crowdctl", "serve"], env=environment, cwd=place, stdout=log, stderr=log)
        try:
            _, late = back("start", lambda: "Press Ctrl-C" in output.read_text())
            violations += late
            disk.fill()
            postmaster = int((disk.folder / "data" / "postgres" / "postmaster.pid").read_text().split()[0])
            os.kill(postmaster, signal.SIGKILL)
            waits, never = back("noticed", lambda: "waiting for 48 MB of free space" in output.read_text())
            time.sleep(3)
            if serving.poll() is not None:
                violations.append("crowdctl serve has ended")
            disk.free()
            lines, late = back("PostgreSQL", lambda: _is_ready(port))
            violations += never + late
        finally:
            serving.terminate()
            serving.wait(60)
    return [*waits, *lines], violations


def _is_ready(port: int) -> bool:
    try:
        return Person(f"http://127.0.0.1:{port}").ask("GET", "/ready").status == 200
    except OSError:
        return False


@click.command()
@click.option("--away", default=8.0, show_default=True, help="Seconds for which the disk of the database is full.")
@click.option("--only", default="", help="One of: database, panic, uploads, others, embedded.")
def main(away: float, only: str) -> None:
    """Fill each disk; exit with 1 if a gate does not hold."""
    if os.geteuid():
        raise click.ClickException("Only root may mount file systems.")
    disks: dict[str, Callable[[Path], tuple[Lines, list[str]]]] = {
        "database": lambda place: database(place, away),
        "panic": lambda place: database(place, away, panics=True),
        "uploads": uploads,
        "others": others,
        "embedded": embedded,
    }
    violations = []
    for name, disk in disks.items():
        if only in ("", name):
            with testbed.folder() as place:
                lines, disk_violations = disk(place)
            click.echo(table(f"Full disk: {name}", lines or [("", "")], disk_violations))
            violations += disk_violations
    sys.exit(bool(violations))


if __name__ == "__main__":
    main()
