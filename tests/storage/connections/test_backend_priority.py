"""The backend that makes a file yields to those that answer requests, where that can be; it never touches another process."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from pathlib import Path

import psycopg2
import pytest
import pytest_twisted
from psycopg2.extensions import make_dsn, parse_dsn
from support.outside.silent_line import SilentLine
from twisted.internet import reactor
from twisted.internet.threads import deferToThread

from crowdd.database.connection import yield_backend
from crowdd.database.copying import Copies
from crowdd.database.pool import Pool

LOWER = 10


def nice(pid: int) -> int:
    return os.getpriority(os.PRIO_PROCESS, pid)


def yielded(dsn: str) -> tuple[bool, int]:
    """Whether the backend of a new connection says that it yields, and by how much it does."""
    with contextlib.closing(psycopg2.connect(dsn)) as session:
        before = nice(session.info.backend_pid)
        return yield_backend(session), nice(session.info.backend_pid) - before


def test_a_backend_of_this_machine_yields_and_others_stay_as_they_are(dsn):
    with contextlib.closing(psycopg2.connect(dsn)) as other:
        before = nice(other.info.backend_pid), nice(0)
        assert yielded(dsn) == (True, LOWER)
        assert (nice(other.info.backend_pid), nice(0)) == before


@pytest.mark.skipif(
    not Path("/proc/self/autogroup").exists(),
    reason="This kernel has no autogroups: boot one with CONFIG_SCHED_AUTOGROUP.",
)
def test_its_session_yields_too(dsn):
    with contextlib.closing(psycopg2.connect(dsn)) as session:
        yield_backend(session)
        words = Path(f"/proc/{session.info.backend_pid}/autogroup").read_text("ascii").split()
    assert words[-2:] == ["nice", str(LOWER)]


@pytest_twisted.ensureDeferred
async def test_a_number_from_another_machine_says_nothing_here(dsn):
    line = SilentLine(dsn)
    try:
        assert await deferToThread(yielded, line.dsn) == (False, 0)
    finally:
        await line.close()


def test_a_pooler_between_says_nothing_of_the_backend_either(dsn, tmp_path):
    words = parse_dsn(dsn)
    name = f".s.PGSQL.{words.get('port', '5432')}"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / name))
        listening.listen()
        between = threading.Thread(target=_between, args=(listening, str(Path(words["host"]) / name)))
        between.start()
        assert yielded(make_dsn(dsn, host=str(tmp_path))) == (False, 0)
        between.join()


def _between(listening: socket.socket, target: str) -> None:
    """Passes one connection on until one of both ends."""
    near, _ = listening.accept()
    with near, socket.socket(socket.AF_UNIX) as far:
        far.connect(target)
        back = threading.Thread(target=_pour, args=(far, near))
        back.start()
        _pour(near, far)
        back.join()


def _pour(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while content := source.recv(65536):
            sink.sendall(content)
        sink.shutdown(socket.SHUT_WR)


@pytest_twisted.ensureDeferred
async def test_the_backend_of_a_file_yields_and_that_of_the_transaction_beside_it_does_not(dsn):
    pool = await Pool(reactor, dsn, size=1).start()
    copies = Copies(reactor, dsn, ())

    async def read(tx):
        own = (await tx.fetch("SELECT pg_backend_pid() AS pid"))[0]["pid"]
        copy = await copies.open(tx, "SELECT n FROM generate_series(1, 100000) n", "FORMAT csv", {}, b"\n")
        try:
            rows = await tx.fetch(
                "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()"
                " AND backend_xmin IS NOT NULL"
            )
            return nice(own), [nice(row["pid"]) for row in rows]
        finally:
            copy.close()

    async def work(tx):
        await tx.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        return await read(tx)

    try:
        own, others = await pool.transaction(work)
        assert others == [own + LOWER]
    finally:
        copies.close()
        await pool.close()
