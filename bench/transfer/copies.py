"""Copies that follow a project through random changes and kills of the server are equal to it, and get nothing twice.

python -m bench.transfer.copies [--changes 10000 --kills 20]

People answer, correct and delete, an owner edits (as in ``bench.exact``), and the server is killed (-9). For each of
answers, tasks and results one program asks every moment what has changed, and another one reads a stream. Both begin
again with their last cursor when the server is gone.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import itertools
import os
import random
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from support.copies import Copy, source

from bench import exact
from bench.crowd import database
from bench.support import testbed
from bench.support.figures import table
from bench.support.testbed import Sql
from bench.support.wire import Client

KINDS = ("task_run", "task", "result")
SECONDS = (
    20  # without a heartbeat, after which a stream is taken for dead; and for all copies to become equal at the end
)
PAUSE = 0.2  # seconds between two questions
CORRECTED, FILLED, DELETED = 0.15, 0.1, 0.05  # shares of the answers after which that happens
_AWAY = (OSError, http.client.HTTPException)


class Reader(threading.Thread):
    """A program that keeps a copy."""

    def __init__(self, port: int, path: str, key: str, kind: str) -> None:
        super().__init__(daemon=True)
        self.copy, self.begun = Copy(kind), 0
        self._port, self._key, self._path = port, key, path
        self._ended = threading.Event()
        self.wrong: list[str] = []

    def run(self) -> None:
        """Reads until ``stop``, and again when the server was away."""
        while not self._ended.is_set():
            try:
                self.read()
            except _AWAY:
                self.copy.interrupted()
                self._ended.wait(0.05)
            except Exception as error:
                self.wrong.append(f"{type(self).__name__} {self.copy.kind}: {error!r}")
                return

    def stop(self) -> None:
        """Ends it soon."""
        self._ended.set()

    def read(self) -> None:
        """Asks what has changed, again and again."""
        while not self._ended.wait(PAUSE):
            with self.lines("") as lines:
                self.copy.take(lines)

    @contextlib.contextmanager
    def lines(self, more: str) -> Iterator[Iterator[bytes]]:
        """The lines that follow the cursor of the copy, as they come. Raises what ``_AWAY`` names."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=SECONDS)
        with contextlib.closing(connection):
            path = f"{self._path}?type={self.copy.kind}&since={self.copy.cursor}{more}"
            connection.request("GET", path, headers={"Authorization": self._key})
            answer = connection.getresponse()
            if answer.status in (429, 503):  # an account may have two downloads at a time
                raise http.client.HTTPException("busy")
            if answer.status != 200:
                raise AssertionError(f"{answer.status} {answer.read(300)!r}")
            self.begun += 1
            yield _whole(answer)


def _whole(answer: http.client.HTTPResponse) -> Iterator[bytes]:
    """The lines of a response. Raises HTTPException for one that breaks off within a line."""
    for line in iter(answer.readline, b""):
        if not line.endswith(b"\n"):
            raise http.client.HTTPException("cut")
        yield line


class StreamReader(Reader):
    """The same with a stream."""

    def read(self) -> None:
        """Reads a stream until it breaks off."""
        with self.lines("&follow=true") as lines:
            for line in lines:
                self.copy.take([line])
                if self._ended.is_set():
                    return
        raise http.client.HTTPException("ended")


class Run(exact.Run):
    """One project that others copy."""

    def __init__(self, plan: exact.Plan, sched: str, server: Any, sql: Sql) -> None:
        super().__init__(plan, sched, server, sql)
        path, key = f"/api/project/{self.project.id}/export", self.project.owner.key
        self.readers = [made(server.port, path, key, kind) for made in (Reader, StreamReader) for kind in KINDS]
        self.more = {"corrected": 0, "filled": 0, "deleted": 0}
        self._numbers = itertools.count()

    async def play(self) -> exact.Seen:
        """As there; then the copies are compared."""
        for reader in self.readers:
            reader.start()
        seen = await super().play()
        equal = await testbed.until(lambda: not self.differing(), SECONDS)
        for reader in self.readers:
            reader.stop()
            seen.violations += reader.wrong
            if reader.copy.twice and reader.copy.kind == "task_run":
                seen.violations.append(f"{type(reader).__name__}: {reader.copy.twice} answers came twice")
        if not equal:
            seen.violations += self.differing()
        return seen

    def differing(self) -> list[str]:
        """The copies that are not equal to the source, and how many of their rows."""
        differences = []
        for kind in KINDS:
            wanted = source(self._whole(kind).splitlines())
            for reader in self.readers:
                have = dict(reader.copy.rows)
                if reader.copy.kind == kind and have != wanted:
                    rows = [id_ for id_ in have.keys() | wanted.keys() if have.get(id_) != wanted.get(id_)]
                    first = [(have.get(id_), wanted.get(id_)) for id_ in rows[:1]]
                    differences.append(f"{type(reader).__name__} {kind}: {len(rows)} rows differ, such as {first}")
        return differences

    def _whole(self, kind: str) -> str:
        """All rows, when one of the places for downloads is free."""
        owner, path = self.project.owner, f"/api/project/{self.project.id}/export?type={kind}"
        while (answer := owner.ask("GET", path, Authorization=owner.key)).status != 200:
            if answer.status not in (429, 503):
                raise AssertionError(f"{answer.status} {answer.text[:300]}")
            time.sleep(PAUSE)
        return str(answer.text)

    async def _answer(self, client: Client, task: Any, late: bool) -> None:
        await super()._answer(client, task, late)
        if random.random() < CORRECTED:
            info = {"seen": 2, "answer": random.choice(exact.CHOICES), "n": next(self._numbers)}
            answer, _ = await self._insist(client, "POST", f"/api/task/{task['id']}/correct", {"info": info})
            self.more["corrected"] += answer.status == 200
        if random.random() < FILLED + DELETED:
            with contextlib.suppress(OSError):  # the server is away
                await asyncio.to_thread(self._fill if random.random() < FILLED / (FILLED + DELETED) else self._delete)

    def _fill(self) -> None:
        rows = self.sql.rows(
            "SELECT id FROM result WHERE project_id = %s AND last_version ORDER BY random() LIMIT 1", [self.project.id]
        )
        for row in rows:
            self._say("PUT", f"result/{row['id']}", {"info": {"n": next(self._numbers)}})
            self.more["filled"] += 1

    def _delete(self) -> None:
        rows = self.sql.rows(
            "SELECT id, task_id FROM task_run WHERE project_id = %s ORDER BY random() LIMIT 1", [self.project.id]
        )
        for row in rows:
            self.lowered.add(row["task_id"])
            self._say("DELETE", f"taskrun/{row['id']}")
            self.more["deleted"] += 1


def play(plan: exact.Plan, dsn: str, place: Path) -> tuple[list[tuple[str, object]], list[str]]:
    """Lines of figures, and all that was wrong."""
    with testbed.crowdd(dsn, place) as server:
        began = time.monotonic()
        run = Run(plan, "default", server, Sql(dsn))
        seen = testbed.run(run.play())
    words = f"{seen.pairs} answers, {seen.edits} edits, {', '.join(f'{n} {what}' for what, n in run.more.items())}"
    lines: list[tuple[str, object]] = [("changes", f"{words}, {seen.kills} kills; {time.monotonic() - began:.0f} s")]
    for reader in run.readers:
        copy = reader.copy
        summary = f"{copy.taken} lines, {len(copy.rows)} rows, {copy.twice} unchanged, {reader.begun} responses"
        lines.append((f"{type(reader).__name__} {copy.kind}", summary))
    return lines, seen.violations


@click.command()
@click.option("--changes", default=10_000, show_default=True, help="About how many answers are given and changed.")
@click.option("--kills", default=20, show_default=True, help="How often the server is killed (-9).")
@click.option("--clients", default=60, show_default=True, help="How many answer at once.")
@click.option("--dsn", default="", help="A database to use; without it a throw-away PostgreSQL is started.")
@click.option("--seed", default=None, type=int, help="For the same dice again.")
def main(changes: int, kills: int, clients: int, dsn: str, seed: int | None) -> None:
    """Looks whether copies become equal to the project. Exit status 1: they do not, or something came twice."""
    random.seed(seed)
    plan = exact.Plan(clients, tasks=changes // 2, n_answers=2, kills=kills)
    with testbed.folder() as place, database(dsn, place) as used:
        lines, violations = play(plan, used, place)
    load = f"load {os.getloadavg()[0]:.0f}"
    click.echo(table(f"{clients} people, {changes // 2} tasks, {kills} kills ({load})", lines, violations))
    sys.exit(bool(violations))


if __name__ == "__main__":
    main()
