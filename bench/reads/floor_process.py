"""The floor as a process beside crowdd, on the same database."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from support.servers.live import free_port

from bench.reads.readers import Read
from bench.support import testbed
from bench.support.cpu import Cpu

# Of crowdd, which is compared with it: clients are not slowed down.
SETTINGS = dict.fromkeys(("CROWDD_RATELIMIT_LIMIT", "CROWDD_RATELIMIT_KEY_LIMIT"), "100000000")
FLOOR = Read("floor", "/", floor=True)


@contextlib.contextmanager
def floor_of(database: testbed.Postgres, place: Path) -> Iterator[tuple[int, Cpu]]:
    """The port of a floor, and the meter of its CPU."""
    port = free_port()
    environment = {**os.environ, "CROWDD_DB_DSN": database.dsn, "CROWDD_DATA_DIR": str(place / "data")}
    command = [sys.executable, "-m", "bench.reads.floor", str(port)]
    process = subprocess.Popen(command, env=environment, cwd=Path(__file__).parents[2])
    try:
        _wait_for(f"http://127.0.0.1:{port}/", process)
        yield port, Cpu(process.pid, database.pid)
    finally:
        process.terminate()
        process.wait(30)


def _wait_for(url: str, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 60
    while True:
        try:
            urllib.request.urlopen(url, timeout=5).close()
            return
        except OSError:
            if process.poll() is not None or time.monotonic() > end:
                raise SystemExit("The floor does not start.") from None
            time.sleep(0.05)
