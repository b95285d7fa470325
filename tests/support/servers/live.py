"""crowdd as a process of its own."""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

BIN = Path(sys.executable).parent
# All of a test's people come from one address: what a network may do is unlimited, except where a test is about it.
CROWDED = {
    "CROWDD_ACCOUNTS_SIGNUPS_PER_HOUR": "0",
    "CROWDD_ACCOUNTS_MAX_POSTS": "0",
    "CROWDD_EXPORTS_MAX_DOWNLOADS_PER_NETWORK": "0",
}


# Below those that the system gives to programs that ask for any, so that nobody else is given one while a program starts, and
# above those that browsers refuse.
_PORTS = itertools.cycle(random.sample(range(10_100, 32_000), 21_900))


def free_port() -> int:
    """A port that nobody listens on, another one each time."""
    for port in _PORTS:
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("there are ports without end")


class LiveServer:
    """``url`` answers between ``start`` and ``stop``; ``kill`` is kill -9."""

    def __init__(self, dsn: str, data: Path, **environment: str) -> None:
        self.dsn, self.data, self.port = dsn, data, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.environment = {
            **os.environ,
            "CROWDD_DB_DSN": dsn,
            "CROWDD_DATA_DIR": str(data),
            "CROWDD_HTTP_PORT": str(self.port),
            "CROWDD_RATELIMIT_LIMIT": "0",
            "CROWDD_HTTP_MAX_CONNECTIONS_PER_NETWORK": "0",
            **CROWDED,
            "CROWDD_VOLUNTEERS_COOKIES_PER_HOUR": "100000",
            "CROWDD_VOLUNTEERS_COOKIES_PER_DAY": "100000",
            **environment,
        }
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, seconds: float = 120) -> None:
        """Returns when it answers."""
        log = (self.data / "log").open("ab")
        command = [str(BIN / "twistd"), "--pidfile=", "-n", "crowdd"]
        self.process = subprocess.Popen(command, env=self.environment, stdout=log, stderr=log, cwd=self.data)
        log.close()
        end = time.monotonic() + seconds
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"crowdd does not start: {(self.data / 'log').read_text()[-2000:]}")
            time.sleep(0.05)
        if len(self.workers()) != self._wanted:
            raise RuntimeError(f"There are {len(self.workers())} workers instead of {self._wanted}")

    @property
    def _wanted(self) -> int:
        number = int(self.environment.get("CROWDD_DAEMON_WORKERS", "1"))
        return number if number > 1 else 0

    def workers(self) -> list[int]:
        """The processes that answer, where there are several of them; else none."""
        assert self.process is not None
        place = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [child for child in map(int, place.read_text().split()) if b"--worker" in _line(child)]

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/ready", timeout=2) as response:
                return response.status == 200
        except (urllib.error.URLError, OSError):
            return False

    def kill(self) -> None:
        """As a crash does."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def kill_worker(self, seconds: float = 60) -> None:
        """One of several processes, as a crash does; returns when there are as many again."""
        victim = self.workers()[0]
        os.kill(victim, signal.SIGKILL)
        end = time.monotonic() + seconds
        while victim in (now := self.workers()) or len(now) != self._wanted:
            assert time.monotonic() < end, "the worker is not replaced"
            time.sleep(0.05)

    def stop(self) -> None:
        """As an operator does."""
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(60)


def _line(pid: int) -> bytes:
    """What a process was started with; nothing when it has just gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
