"""Follows the events of a project as a browser's EventSource does: the next stream goes on after the last event."""

from __future__ import annotations

import contextlib
import http.client
import threading
import time

_READ_SECONDS = 60.0
_FIRST_RETRY = 1.0


class Follower:
    """Reads in a thread until ``stop``. ``sequences``: the numbers of the events, as they came.

    ``failures``: what a browser would take for the end: a status other than 200, or a refused connection.
    """

    def __init__(self, port: int, path: str, key: str) -> None:
        self._port, self._path, self._key = port, path, key
        self.sequences: list[int] = []
        self.failures: list[str] = []
        self.connections = 0
        self._last, self._retry, self._stopped = "0", _FIRST_RETRY, threading.Event()
        self._connection: http.client.HTTPConnection | None = None
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends it."""
        self._stopped.set()
        with contextlib.suppress(Exception):
            if self._connection is not None and self._connection.sock is not None:
                self._connection.sock.shutdown(2)
        self._thread.join(_READ_SECONDS)

    def _follow(self) -> None:
        while not self._stopped.is_set():
            try:
                self._read()
            except (OSError, http.client.HTTPException) as error:
                if not self._stopped.is_set():
                    self.failures.append(f"{type(error).__name__}: {error}")
            self._stopped.wait(self._retry)

    def _read(self) -> None:
        connection = self._connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=_READ_SECONDS)
        try:
            connection.request("GET", self._path, headers={"Authorization": self._key, "Last-Event-ID": self._last})
            answer = connection.getresponse()
            if answer.status != http.client.OK:
                self.failures.append(f"status {answer.status}: {answer.read()[:200]!r}")
                return
            self.connections += 1
            self._take(answer)
        finally:
            connection.close()

    def _take(self, answer: http.client.HTTPResponse) -> None:
        number, name = "", ""
        while line := answer.readline().decode():
            field, _, value = line.rstrip("\n").partition(": ")
            if field == "retry":
                self._retry = int(value) / 1000
            elif field == "id":
                number = value
            elif field == "event":
                name = value
            elif not line.strip() and number:
                self._last = number
                if name != "position":
                    self.sequences.append(int(number))
                number, name = "", ""

    def complaints(self, events: int) -> list[str]:
        """What is wrong with what came, where the project has so many events."""
        violations = [f"A follower was refused: {failure}" for failure in self.failures]
        if self.sequences != list(range(1, events + 1)):
            missing = sorted({*range(1, events + 1)} - {*self.sequences})[:10]
            twice = len(self.sequences) - len({*self.sequences})
            violations.append(
                f"A follower got {len(self.sequences)} of {events} events: missing {missing}, {twice} twice,"
                f" {'in order' if self.sequences == sorted(self.sequences) else 'not in order'}"
            )
        return violations

    def await_event(self, number: int, seconds: float) -> None:
        """Returns when this event has come, or after this time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and (not self.sequences or self.sequences[-1] < number):
            time.sleep(0.05)
