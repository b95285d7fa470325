"""What clients that mean harm do: raw connections and floods of whole requests, each in a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import multiprocessing
import os
import resource
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import attrs

from bench.support.testbed import Project
from bench.support.volunteers import address
from bench.support.wire import LostError, Wire
from crowdd.kernel.concurrency.isolated import yield_to_requests

IDLE, HOARD = "idle connections", "hoarders"
_CHUNK = b"x" * 65_536
_PER_NETWORK = 200  # connections that one address opens; the server closes those beyond 256
# Addresses of attackers that say so (bench.support.volunteers.address), away from everybody else's.
_FIRST_ADDRESS = 1_000_000


class Attack(Protocol):
    """Something that goes on while others are served."""

    number: int  # connections it opens

    def run(self) -> None:
        """Until this process is ended."""


@contextlib.contextmanager
def going_on(attack: Attack) -> Iterator[None]:
    """While in this block; in a process of its own, so that those who are measured do not wait for it on this side."""
    process = multiprocessing.get_context("spawn").Process(target=attack.run, daemon=True)
    process.start()
    try:
        yield
    finally:
        process.terminate()
        process.join()


@attrs.frozen
class Connections:
    """Connections that are opened, do something again and again, and are closed, from as many networks as it takes."""

    port: int
    number: int
    head: bytes
    more: bytes = b""
    pause: float = 1.0

    def run(self) -> None:
        """Until this process is ended."""
        allow_files()
        asyncio.run(self._all())

    async def _all(self) -> None:
        tasks = []
        for first in range(0, self.number, 250):
            numbers = range(first, min(first + 250, self.number))
            tasks += [asyncio.create_task(self._one(f"127.1.0.{1 + number // _PER_NETWORK}")) for number in numbers]
            await asyncio.sleep(0.2)
        await asyncio.gather(*tasks)

    async def _one(self, source: str) -> None:
        while True:
            with contextlib.suppress(OSError):
                await self._connection(source)
            await asyncio.sleep(1.0)

    async def _connection(self, source: str) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, local_addr=(source, 0))
        try:
            writer.write(self.head)
            if not self.more:
                # Without a timer: those of ten thousand would take a processor from the others.
                await reader.read(-1)
                return
            closed = asyncio.create_task(reader.read(-1))
            while not closed.done():
                writer.write(self.more)
                await writer.drain()
                await asyncio.wait({closed}, timeout=self.pause)
        finally:
            writer.transport.abort()


@attrs.frozen
class Request:
    """One request of a flood; ``{n}`` in path and body is a number that no other request has."""

    method: str
    path: str
    body: bytes = b""
    headers: Mapping[str, str] = attrs.field(factory=dict)

    def render(self, port: int, number: int, source: str) -> bytes:
        """Its bytes, as coming from this address behind the proxy that the server trusts."""
        sent = {"Host": f"127.0.0.1:{port}", "Content-Type": "application/json", "X-Forwarded-For": source}
        body = self.body.replace(b"{n}", str(number).encode())
        sent |= {**self.headers, **({"Content-Length": str(len(body))} if self.method != "GET" else {})}
        lines = "".join(f"{name}: {value}\r\n" for name, value in sent.items())
        return f"{self.method} {self.path.replace('{n}', str(number))} HTTP/1.1\r\n{lines}\r\n".encode() + body


@attrs.frozen
class Flood:
    """Requests sent as fast as they are answered, over ``number`` connections.

    ``addresses``: how many networks they come from in turn; 0: each request from another one. ``refused``: whether each
    has to be refused, and at little cost.
    """

    port: int
    number: int
    requests: Sequence[Request]
    addresses: int = 0
    refused: bool = False

    def run(self) -> None:
        """Until this process is ended."""
        give_way()
        asyncio.run(self._all())

    async def _all(self) -> None:
        numbers = itertools.count()
        await asyncio.gather(*(self._one(numbers) for _ in range(self.number)))

    async def _one(self, numbers: Iterator[int]) -> None:
        wire = None
        for number in numbers:
            source = address(_FIRST_ADDRESS + (number % self.addresses if self.addresses else number))
            request = self.requests[number % len(self.requests)].render(self.port, number, source)
            try:
                wire = wire if wire is not None and wire.alive else await Wire.open(self.port)
                await wire.ask(request)
            except (LostError, OSError, TimeoutError):
                await asyncio.sleep(0.05)  # refused: the connection is closed


def give_way() -> None:
    """In life attackers have machines of their own, and take no processor from those who are measured."""
    os.setsid()
    yield_to_requests(10)


def on_connections(port: int, idle: int, trickles: int, bodies: int, headers: int) -> dict[str, Attack]:
    """Connections that never become a whole request, by name."""
    body = b"POST /api/task HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    endless = body + b"Transfer-Encoding: chunked\r\n\r\n"
    head = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
    return {
        IDLE: Connections(port, idle, b""),
        "slowloris": Connections(port, trickles, head, b"X-a: b\r\n", 2.0),
        "bodies of 100 MB": Connections(port, bodies, body + b"Content-Length: 100000000\r\n\r\n", _CHUNK, 0.01),
        "endless bodies": Connections(port, bodies, endless, b"10000\r\n" + _CHUNK + b"\r\n", 0.01),
        "endless headers": Connections(port, headers, head, b"X-a: " + b"b" * 1000 + b"\r\n", 0.01),
    }


def of_requests(port: int, mine: Project, key: str, target: Project, form: Mapping[str, str]) -> dict[str, Attack]:
    """Whole requests that cost the most, by name.

    ``mine`` is a project of the attackers with answers of the largest size, ``key`` their API key, ``target`` the
    project that the others work on, ``form`` the headers with which a form is sent.
    """
    by_key = {"Authorization": key}
    texts = [json.dumps({"long_description": text}).encode() for text in DEAREST_MARKDOWN]
    empty_run = {"project_id": target.id, "task_id": 1, "info": 1}
    task = {"project_id": mine.id, "info": {"n": 1}}
    newtask = f"/api/project/{target.id}/newtask"
    return {
        "the dearest Markdown": Flood(port, 4, [Request("PUT", f"/api/project/{mine.id}", t, by_key) for t in texts]),
        "arrays of 200,000 answers": Flood(port, 4, [Request("POST", "/api/taskrun", _array(empty_run, 200_000))]),
        "arrays of 200 answers": Flood(port, 4, [Request("POST", "/api/taskrun", _array(empty_run, 200))]),
        "arrays of 250,000 tasks": Flood(port, 4, [Request("POST", "/api/task", _array(task, 250_000), by_key)]),
        "arrays of 10,000 tasks": Flood(port, 2, [Request("POST", "/api/task", _array(task, 10_000), by_key)]),
        "lists of big answers": Flood(port, 3, [Request("GET", f"/api/taskrun?project_id={mine.id}&limit=100")]),
        "files of tasks": Flood(port, 3, [upload(mine, key, "rows.csv", _ROWS)]),
        "wrong passwords, one network": Flood(port, 50, [_sign_in(form)], addresses=1),
        "wrong passwords, many networks": Flood(port, 50, [_sign_in(form)]),
        "sign-ups": Flood(port, 20, [Request("POST", "/account/register", _SIGN_UP, form)]),
        HOARD: Flood(port, 6, [Request("GET", f"{newtask}?limit=100&offset=100")], addresses=6),
        "pages of search": Flood(port, 8, [Request("GET", "/api/task?info=a::{n}%26b::x&fulltextsearch=1&all=1")]),
    }


_SIGN_UP = json.dumps(
    {"name": "h{n}", "fullname": "H {n}", "email_addr": "h{n}@example.org"}
    | dict.fromkeys(("password", "confirm"), "correct-horse-{n}")
).encode()
# Each fits into 50,000 characters and costs the most that a text of that size can cost a parser.
DEAREST_MARKDOWN = (
    (("|a" * 1500 + "\n" + "|-" * 1500 + "\n" + "x\n" * 60 + "\n") * 5)[:50_000],
    "**a*b_c__" * 5_500,
    "[" * 50_000,
    "> " * 20_000 + "a",
    "`" * 25_000 + "a" + "`" * 24_000,
)


def _array(item: Mapping[str, Any], count: int) -> bytes:
    return b"[" + b",".join([json.dumps(item).encode()] * count) + b"]"


def _sign_in(form: Mapping[str, str]) -> Request:
    body = b'{"email": "owner@example.org", "password": "wrong-{n}-wrong"}'
    return Request("POST", "/account/signin", body, form)


# A file of 8 MB whose every second line opens a quotation mark that nobody closes.
_ROWS = b"a,b,c\n" + b'1,"x,3\n4,5,6\n' * 650_000


def upload(mine: Project, key: str, name: str, content: bytes) -> Request:
    """A file of tasks for a project of the attackers."""
    boundary = uuid.uuid4().hex
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    headers = {"Authorization": key, "Content-Type": f"multipart/form-data; boundary={boundary}"}
    path = f"/project/{mine.short_name}/tasks/import?response_format=json"
    return Request("POST", path, head.encode() + content + f"\r\n--{boundary}--\r\n".encode(), headers)


def allow_files() -> None:
    """As many as the system lets this process and its children have open."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
