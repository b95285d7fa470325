"""A folder of pictures becomes tasks while everything breaks once.

    make upload-folder                     (python -m bench.transfer.upload_folder [--pictures 2000] [--bytes 2000000])

A client sends the folder in parts; it gives way to the server (nice), for it would have a machine of its own. At a
quarter of the files it is killed (-9) and started again, at a half the server is killed (-9), and at three quarters
every connection is cut. Meanwhile a volunteer asks for tasks of another project. Every TURN_SECONDS the client and the
preparation are halted or go on: so calm and busy times are compared under the same load of the machine. Gates: no
request above MAX_REQUEST; the memory of the server grows by at most MAX_MEMORY (the processes that prepare pictures are
listed apart); each picture is exactly one task; newtask takes at most MAX_RATIO times as long as in calm turns (p99),
or MAX_WAIT.
"""

from __future__ import annotations

import argparse
import bisect
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import attrs
import requests
from PIL import Image, ImageChops
from support.servers.live import LiveServer

from bench.support import testbed
from bench.support.cable import Cable
from bench.support.figures import Times, table

MAX_REQUEST = 10_000_000  # bytes
MAX_MEMORY = 100e6  # bytes
MAX_RATIO = 2.0
MAX_WAIT = 0.010  # seconds: below this nobody notices
CALM_SECONDS = 20.0
TURN_SECONDS, SETTLING_SECONDS = 3.0, 0.3  # what was begun in the first moments of a turn is not counted
WARM_SECONDS = 3.0  # after a start, in which caches are empty; newtask is listed apart
_PROGRAM = b"crowdd.features.media.preparation_program"
_PIXELS = (1800, 1200)


@attrs.frozen
class Plan:
    """How many pictures of how many bytes, about."""

    pictures: int = 2000
    bytes: int = 2_000_000
    seconds: float = 3600.0


def draw(folder: Path, plan: Plan) -> float:
    """Writes different pictures of noise; their bytes on average."""
    folder.mkdir()
    noise = Image.frombytes("RGB", _PIXELS, random.randbytes(3 * _PIXELS[0] * _PIXELS[1]))
    quality = _quality(noise, plan.bytes)
    for number in range(plan.pictures):
        moved = ImageChops.offset(noise, 7 * number % _PIXELS[0], 3 * number % _PIXELS[1])
        moved.save(folder / f"IMG_{number:05}.jpg", quality=quality, comment=f"{number}")
    return sum(path.stat().st_size for path in folder.iterdir()) / plan.pictures


def _quality(noise: Image.Image, size: int) -> int:
    """The lowest quality with which a picture has so many bytes."""
    for quality in range(40, 96, 5):
        out = BytesIO()
        noise.save(out, "JPEG", quality=quality)
        if out.tell() >= size:
            return quality
    return 95


class Asking:
    """A volunteer who asks for a task twenty times a second (``bench.support.asking``)."""

    def __init__(self, server: LiveServer, project: testbed.Project) -> None:
        self.times, self.failed = Times(), 0
        address = f"{server.url}/api/project/{project.id}/newtask"
        command = [sys.executable, "-m", "bench.support.asking", address]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self._lines = list[str]()
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        self._lines.extend(self._process.stdout)

    def end(self, turns: Turns) -> None:
        """It stops asking; each request belongs to the turn that it began in."""
        self._process.kill()
        self._process.wait()
        self._reading.join()
        for line in self._lines:
            began, taken = map(float, line.split())
            phase = turns.at(began)
            if taken < 0:
                self.failed += 1  # the server was killed
            elif phase:
                self.times.add(phase, taken)


class Turns(threading.Thread):
    """Halts the client and the preparation every few seconds, and notes when what was under way."""

    def __init__(self, server: LiveServer) -> None:
        super().__init__(daemon=True)
        self.phase, self.client = "sending", 0
        self.halted = 0.0  # seconds
        self._server, self._over = server, threading.Event()
        self._began = [(time.monotonic(), "calm")]
        time.sleep(CALM_SECONDS)
        self.start()

    def enter(self, phase: str) -> None:
        """Something else is under way from now on, or from the next turn in which nothing is halted."""
        self.phase = phase
        if self._began[-1][1] != "calm":
            self._note(phase)

    def run(self) -> None:
        while not self._over.is_set():
            self._note(self.phase)
            self._over.wait(TURN_SECONDS)
            halted = [*self._signal(signal.SIGSTOP)]
            self._note("calm" if self.phase != "started" else self.phase)
            self._over.wait(TURN_SECONDS)
            self.halted += TURN_SECONDS
            for process in halted:
                signalled(process, signal.SIGCONT)

    def _signal(self, number: int) -> Iterator[int]:
        pid = self._server.process.pid if self._server.process else 0
        for process in (self.client, *(children(pid) if pid else ())):
            if process and signalled(process, number):
                yield process

    def _note(self, phase: str) -> None:
        self._began.append((time.monotonic(), phase))

    def at(self, when: float) -> str:
        """What was under way; "" in the first moments of a turn."""
        number = bisect.bisect(self._began, (when, "~")) - 1
        began, phase = self._began[max(0, number)]
        return phase if when - began > SETTLING_SECONDS or not number else ""

    def end(self) -> None:
        """Nothing is halted any more."""
        self._over.set()
        self.join()


def signalled(process: int, number: int) -> bool:
    """Sends a signal; whether there is such a process."""
    try:
        os.kill(process, number)
    except ProcessLookupError:
        return False
    return True


class Watching(threading.Thread):
    """Notes how much memory the server and the process that it has pictures prepared by have at most, in bytes."""

    def __init__(self, server: LiveServer) -> None:
        super().__init__(daemon=True)
        self.maximum = self.child = 0.0
        self._server, self._over = server, threading.Event()
        self.start()

    def run(self) -> None:
        while not self._over.wait(0.1):
            process = self._server.process
            if process is None:
                continue
            self.maximum = max(self.maximum, resident(process.pid))
            for pid in children(process.pid):
                self.child = max(self.child, resident(pid))

    def end(self) -> None:
        """It stops looking."""
        self._over.set()
        self.join()


def children(pid: int) -> list[int]:
    """The processes that a server has pictures prepared by."""
    pids = list[int]()
    parents = [pid]
    while parents:
        parents = [child for parent in parents for child in _children(parent) if _PROGRAM in _command(child)]
        pids += parents
    return pids


def _children(pid: int) -> list[int]:
    try:
        tasks = [*Path(f"/proc/{pid}/task").iterdir()]
        return [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def resident(pid: int) -> float:
    """The resident memory of a process in bytes; 0 when it has gone."""
    try:
        return 4096.0 * int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0.0


class Breaking:
    """Sends a folder, and breaks something three times."""

    def __init__(self, plan: Plan, server: LiveServer, sql: testbed.Sql, folder: Path, turns: Turns) -> None:
        self._plan, self._server, self._sql, self._folder, self._turns = plan, server, sql, folder, turns
        self._cable = Cable(server.port)
        self.largest, self.breaks = 0, list[str]()

    def send(self, project: testbed.Project) -> int:
        """The id of a batch to which all files have come."""
        headers = {"Authorization": project.owner.key}
        at = f"/project/{project.short_name}/tasks/media"
        made = requests.post(self._server.url + at, json={}, headers=headers, timeout=60).json()
        batch: int = made["batch"]
        command = [sys.executable, "-m", "bench.support.uploading", self._cable.url, project.owner.key, made["next"]]
        client = self._client(command)
        self._reach(batch, 0.25)
        self._turns.client = 0
        client.kill()
        client.wait()
        self.breaks.append(f"client killed at {self._came(batch):,}")
        client = self._client(command)
        self._reach(batch, 0.5)
        self._server.kill()
        self.breaks.append(f"server killed at {self._came(batch):,}")
        self._turns.enter("started")
        self._server.start()
        time.sleep(WARM_SECONDS)
        self._turns.enter("sending")
        self._reach(batch, 0.75)
        self.breaks.append(f"{self._cable.cut()} connections cut at {self._came(batch):,}")
        out, _ = client.communicate(timeout=self._plan.seconds)
        self._turns.client = 0
        self._cable.close()
        if client.returncode:
            raise RuntimeError("The client could not send all files.")
        self.largest = int(out)
        return batch

    def _client(self, command: list[str]) -> subprocess.Popen[str]:
        client = subprocess.Popen(
            [*command, str(self._folder)], stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        self._turns.client = client.pid
        return client

    def _came(self, batch: int) -> int:
        sql = "SELECT count(*) FROM media_file WHERE batch_id = %s AND state <> 'arriving'"
        return int(self._sql.one(sql, (batch,)))

    def _reach(self, batch: int, share: float) -> None:
        until(lambda: self._came(batch) >= share * self._plan.pictures, self._plan.seconds, 0.05)


def until(condition: Callable[[], bool], seconds: float, pause: float) -> None:
    """Waits until something is true. Raises TimeoutError."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"It did not come true within {seconds:g} seconds.")
        time.sleep(pause)


def judged(plan: Plan, sql: testbed.Sql, project: testbed.Project, batch: int) -> list[str]:
    """What is not as it should be of the tasks."""
    wrong = []
    states = {row["state"]: row["n"] for row in sql.rows(_STATES, (batch,))}
    if states != {"added": plan.pictures}:
        wrong.append(f"files by state: {states}")
    (row,) = sql.rows(_TASKS, (project.id,))
    if row["n"] != plan.pictures or row["names"] != plan.pictures:
        wrong.append(f"{row['n']} tasks of {row['names']} files")
    return wrong + sql.broken_rules()


_STATES = "SELECT state, count(*) AS n FROM media_file WHERE batch_id = %s GROUP BY 1"
_TASKS = (
    "SELECT count(*) AS n, count(DISTINCT info->>'filename') AS names FROM task"
    " WHERE project_id = %s AND info ? 'picture'"
)


def play(plan: Plan, dsn: str, place: Path) -> tuple[list[tuple[str, object]], list[str]]:
    """The lines of the table, and what is violated."""
    size = draw(place / "pictures", plan)
    sql = testbed.Sql(dsn)
    with testbed.crowdd(dsn, place) as server:
        assert server.process is not None
        mine = testbed.project(server, tasks=1, n_answers=1)
        asking = Asking(server, testbed.project(server, tasks=1000, n_answers=30))
        turns = Turns(server)
        before, watching, began = resident(server.process.pid), Watching(server), time.monotonic()
        breaking = Breaking(plan, server, sql, place / "pictures", turns)
        batch = breaking.send(mine)
        sent = time.monotonic() - began - turns.halted
        turns.enter("preparing")
        until(lambda: not sql.one(_LEFT, (batch,)), plan.seconds, 0.5)
        taken = time.monotonic() - began - turns.halted
        turns.end()
        asking.end(turns)
        watching.end()
        wrong = judged(plan, sql, mine, batch) + testbed.complaints(server)
    return _lines(plan, size, breaking, watching, before, asking, (sent, taken), wrong), wrong


_LEFT = "SELECT count(*) FROM media_file WHERE batch_id = %s AND state IN ('arriving', 'waiting', 'prepared')"


def _lines(
    plan: Plan,
    size: float,
    breaking: Breaking,
    watching: Watching,
    before: float,
    asking: Asking,
    seconds: tuple[float, float],
    wrong: list[str],
) -> list[tuple[str, object]]:
    grown, calm = watching.maximum - before, asking.times.percentile("calm", 99)
    if breaking.largest > MAX_REQUEST:
        wrong.append(f"a request had {breaking.largest:,} bytes")
    if grown > MAX_MEMORY:
        wrong.append(f"memory grew by {grown / 1e6:.0f} MB")
    newtask = []
    for phase in ("calm", "sending", "preparing"):
        p50, p99 = (1000 * asking.times.percentile(phase, percent) for percent in (50, 99))
        newtask.append(f"{phase} {p50:.0f} and {p99:.0f} ms")
        if p99 / 1000 > max(MAX_WAIT, MAX_RATIO * calm):
            wrong.append(f"newtask took {p99:.0f} ms (p99) while {phase}")
    sent, taken = seconds
    return [
        (f"{plan.pictures:,} pictures", f"{size / 1e6:.2f} MB each"),
        ("broken", ", ".join(breaking.breaks)),
        ("largest request", f"{breaking.largest:,} bytes"),
        ("seconds", f"{sent:.0f} until all had come, {taken:.0f} until all were tasks, without calm turns"),
        ("memory", f"+{grown / 1e6:.0f} MB above {before / 1e6:.0f} MB; preparing {watching.child / 1e6:.0f} MB"),
        ("newtask, p50 and p99", "; ".join(newtask)),
        ("newtask refused", f"{asking.failed} while the server was started again"),
        ("newtask, p99", f"{1000 * asking.times.percentile('started', 99):.0f} ms in the seconds after the start"),
    ]


def main() -> int:
    """Runs it and prints a table; 1 when a gate is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pictures", type=int, default=Plan().pictures)
    parser.add_argument("--bytes", type=int, default=Plan().bytes)
    parser.add_argument("--seed", type=int, default=7)
    options: Any = parser.parse_args()
    random.seed(options.seed)
    with testbed.folder() as place, testbed.postgres(place) as database:
        lines, wrong = play(Plan(options.pictures, options.bytes), database.dsn, place)
    print(table("A folder of pictures", lines, wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
