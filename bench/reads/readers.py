"""Clients that ask for one address as fast as they are answered, at little cost of their own."""

from __future__ import annotations

import re
import selectors
import socket
import time
from collections import Counter
from collections.abc import Sequence

import attrs

from bench.support.volunteers import address

_LENGTH = re.compile(rb"\r\nContent-Length: (\d+)", re.IGNORECASE)


@attrs.frozen
class Read:
    """An address that is asked for: its name in the table, its path, further lines of headers, and goals of the floor.

    ``{n}`` in the path is another number for each client, ``{etag}`` in the headers the entity tag of its number among
    ``etags``. ``status`` is that of the answers. ``goal`` 0: nothing is promised. ``floor``: the floor answers, not
    crowdd. ``beside`` is the read to whose rate the goal belongs, instead of that of the floor.
    """

    name: str
    path: str
    goal: float = 0.0
    headers: str = ""
    status: int = 200
    floor: bool = False
    etags: tuple[str, ...] = ()
    beside: str = ""

    @property
    def conditional(self) -> bool:
        """Whether clients say what they have."""
        return "{etag}" in self.headers

    def address(self, number: int) -> str:
        """The path for the client with this number."""
        return self.path.replace("{n}", str(number))

    def request(self, number: int) -> bytes:
        """The request of the client with this number, which has an address of its own."""
        head = f"GET {self.address(number)} HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: {address(number)}\r\n"
        headers = self.headers.replace("{etag}", self.etags[number % len(self.etags)]) if self.etags else self.headers
        return f"{head}{headers}\r\n".encode()


class _Reader:
    """One connection."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.request = self._read = b""
        self._end = 0

    def ask(self) -> None:
        self._read, self._end = b"", 0
        self.socket.sendall(self.request)

    def answer(self) -> tuple[bytes, int] | None:
        """The line with the status, and the length of the body; None while the answer is not whole."""
        part = self.socket.recv(262_144)
        if not part:
            raise ConnectionError("The server closed a connection.")
        self._read += part
        if not self._end:
            at = self._read.find(b"\r\n\r\n")
            if at < 0:
                return None
            length = _LENGTH.search(self._read, 0, at)
            self._end = at + 4 + (int(length[1]) if length else 0)
            self._body = self._end - at - 4
        return (self._read[9:12], self._body) if len(self._read) >= self._end else None


@attrs.define
class Outcome:
    """Answers, what they were, and the seconds that they took."""

    answers: int = 0
    seconds: float = 0.0
    body_bytes: int = 0
    statuses: Counter[bytes] = attrs.field(factory=Counter)

    @property
    def rate(self) -> float:
        """Answers a second."""
        return self.answers / self.seconds


class Readers:
    """All clients of a server together."""

    def __init__(self, port: int, clients: int) -> None:
        self._readers = [_Reader(port) for _ in range(clients)]
        self._selector = selectors.EpollSelector()
        for reader in self._readers:
            self._selector.register(reader.socket, selectors.EVENT_READ, reader)

    def close(self) -> None:
        """Disconnects."""
        for reader in self._readers:
            reader.socket.close()
        self._selector.close()

    def run(self, read: Read, seconds: float) -> Outcome:
        """Asks so long; every request that was sent is answered."""
        return self.run_several([read], seconds)

    def run_several(self, reads: Sequence[Read], seconds: float) -> Outcome:
        """The same for several reads; each client asks for one of them."""
        outcome, began = Outcome(), time.perf_counter()
        for number, reader in enumerate(self._readers):
            reader.request = reads[number % len(reads)].request(number)
            reader.ask()
        under_way = len(self._readers)
        while under_way:
            for key, _ in self._selector.select():
                response = key.data.answer()
                if response is None:
                    continue
                outcome.answers += 1
                outcome.body_bytes = response[1]
                outcome.statuses[response[0]] += 1
                if time.perf_counter() - began < seconds:
                    key.data.ask()
                else:
                    under_way -= 1
        outcome.seconds = time.perf_counter() - began
        return outcome
