"""Many volunteers who ask and answer as fast as they are served, or at a given pace, at little cost of their own.

A loop over sockets without a framework: what a client costs is taken away from the server that it measures.
"""

from __future__ import annotations

import random
import re
import selectors
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator

import attrs

from bench.support.figures import Times

_ID = re.compile(rb'"id" ?: ?(\d+)')
_NEXT = re.compile(rb'"next_task" ?: ?\{"id" ?: ?(\d+)')
_LENGTH = re.compile(rb"\r\nContent-Length: (\d+)", re.IGNORECASE)
_EMPTY = b"{}"
_SAME = b'{"answer":"yes","seconds":7}'


@attrs.frozen
class Identity:
    """Who a volunteer is: a line of headers, or words of the query."""

    headers: str = ""
    query: str = ""


class Volunteer:
    """One connection: asks, answers, asks again; a new person when there is nothing left for this one."""

    def __init__(
        self, port: int, project: int, people: Iterator[Identity], says: Callable[[bytes], bytes], stays: int
    ) -> None:
        self._project, self._people, self._says, self._stays = project, people, says, stays
        self.prefers_next = False
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._read, self.asking, self.sent_at = b"", True, 0.0
        self._be(next(people))

    def _be(self, person: Identity) -> None:
        query = "?" + person.query if person.query else ""
        head = f" HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n{person.headers}"
        self._ask = f"GET /api/project/{self._project}/newtask{query}{head}\r\n".encode()
        self._answer = f"POST /api/taskrun{query}{head}Content-Type: application/json\r\nContent-Length: ".encode()
        self._left, self._next = self._stays, b""

    def ask(self) -> None:
        """Sends the request for a task, or the answer to the one that came with the last answer."""
        if self._next:
            self.answer(self._next)
            return
        self.asking = True
        self._send(self._ask)

    def answer(self, task: bytes) -> None:
        """Sends the answer to a task."""
        self.asking = False
        body = b'{"project_id":%d,"task_id":%b,"info":%b}' % (self._project, task, self._says(task))
        prefer = b"\r\nPrefer: next" if self.prefers_next else b""
        self._send(self._answer + b"%d%b\r\n\r\n" % (len(body), prefer) + body)

    def _send(self, request: bytes) -> None:
        self.sent_at = time.perf_counter()
        self.socket.sendall(request)

    def read(self) -> tuple[bytes, bytes] | None:
        """Head and body of the answer; None while it is not whole."""
        self._read += self.socket.recv(65536)
        head, separator, body = self._read.partition(b"\r\n\r\n")
        if not separator:
            return None
        length = _LENGTH.search(head)
        if length is None or len(body) < int(length[1]):
            return None
        self._read = b""
        return head, body

    def change(self) -> None:
        """Becomes the next person."""
        self._be(next(self._people))

    def answered(self, body: bytes) -> None:
        """Keeps the task that came along. Becomes the next person after so many answers as one gives."""
        came = _NEXT.search(body)
        self._next = came[1] if came else b""
        self._left -= 1
        if self._left == 0:
            self.change()


class Rush:
    """All volunteers together."""

    def __init__(
        self,
        port: int,
        project: int,
        people: list[Iterator[Identity]],
        meter: Callable[[], tuple[float, float]] | None = None,
        *,
        says: Callable[[bytes], bytes] = lambda _task: _SAME,
        stays: int = 0,
    ) -> None:
        """``meter`` is read at each request, which makes sense for one volunteer alone: what ran and waited for it.

        ``says``: the ``info`` of an answer to a task, as JSON. ``stays``: how many answers a person gives; 0: as many
        as there are tasks.
        """
        self._meter, self._read = meter, (0.0, 0.0)
        self._volunteers = [Volunteer(port, project, each, says, stays) for each in people]
        self._selector = selectors.EpollSelector()
        for volunteer in self._volunteers:
            self._selector.register(volunteer.socket, selectors.EVENT_READ, volunteer)
        self._idle = list(self._volunteers)
        self.times, self.refused = Times(), Counter[bytes]()
        self.pairs = 0

    def close(self) -> None:
        """Disconnects."""
        for volunteer in self._volunteers:
            volunteer.socket.close()
        self._selector.close()

    def run(self, seconds: float, pace: float = 0.0, *, prefers_next: bool = False) -> float:
        """Works so long; ``pace``: so many pairs begin in a second, else as many as possible. The seconds it took.

        ``prefers_next``: answers bring the next task.
        """
        for volunteer in self._volunteers:
            volunteer.prefers_next = prefers_next
        began = time.perf_counter()
        end, due = began + seconds, began
        self._read = self._meter() if self._meter is not None else self._read
        while (now := time.perf_counter()) < end or len(self._idle) < len(self._volunteers):
            while self._idle and now < end and due <= now:
                due += random.expovariate(pace) if pace else 0.0
                self._idle.pop(0).ask()
            wait = max(0.0, min(due, end) - now) if self._idle and now < end else 1.0
            for key, _ in self._selector.select(wait):
                self._hear(key.data)
        return time.perf_counter() - began

    def _note(self, name: str) -> None:
        if self._meter is not None:
            before, self._read = self._read, self._meter()
            self.times.add(f"{name} ran", self._read[0] - before[0])
            self.times.add(f"{name} waited", self._read[1] - before[1])

    def _hear(self, volunteer: Volunteer) -> None:
        answer = volunteer.read()
        if answer is None:
            return
        head, body = answer
        name = "newtask" if volunteer.asking else "taskrun"
        self.times.add(name, time.perf_counter() - volunteer.sent_at)
        self._note(name)
        task = _ID.search(body)
        if not head.startswith(b"HTTP/1.1 200"):
            self.refused[head[:20] + b" " + body[:200]] += 1
        if volunteer.asking and task is not None and head.startswith(b"HTTP/1.1 200"):
            volunteer.answer(task[1])
            return
        self.pairs += not volunteer.asking
        if volunteer.asking:
            volunteer.change()
        else:
            volunteer.answered(body)
        self._idle.append(volunteer)
