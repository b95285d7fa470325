"""Files that are made while they are sent."""

from __future__ import annotations

import socket
from typing import Any

import pytest_twisted
from support import wire
from support.until import until
from twisted.internet import reactor
from twisted.internet.task import deferLater

from crowdd.features.exports.feature import ExportsFeature

PART = 100_000


class Source:
    """Parts without end, and how many of them have been asked for."""

    def __init__(self, fails_after: int = 10**9) -> None:
        self.made, self.ended, self._fails_after = 0, False, fails_after

    async def parts(self) -> Any:
        try:
            while self.made < self._fails_after:
                self.made += 1
                await deferLater(reactor, 0, lambda: None)
                yield b"x" * PART
            raise ValueError("no more of this")
        finally:
            self.ended = True


async def asking(served, monkeypatch, source) -> socket.socket:
    """A bare connection on which the file of a project has been asked for."""
    owner = await served.person("owner")
    await served.project(owner, tasks=1, published=True)
    monkeypatch.setattr(type(served.house[ExportsFeature].exports), "download", lambda self, *about: source.parts())
    address = served.server._port.getHost()
    made = socket.create_connection((address.host, address.port))
    made.sendall(b"GET /project/birds/tasks/export?type=task&format=json HTTP/1.1\r\nHost: localhost\r\n\r\n")
    made.setblocking(False)
    return made


def some(connection: socket.socket) -> bytes:
    try:
        return connection.recv(1_000_000)
    except BlockingIOError:
        return b"-"


@pytest_twisted.ensureDeferred
async def test_a_client_that_does_not_read_gets_no_more_than_fits_on_the_way(served, monkeypatch):
    source = Source()
    connection = await asking(served, monkeypatch, source)
    await until(lambda: wire.stalled(served.server._site.requests) == 1)
    before = source.made
    assert source.made * PART < 30_000_000
    await until(lambda: some(connection) == b"-" or source.made > before + 20)
    connection.close()
    await until(lambda: source.ended)
    at_the_end = source.made
    assert (await served.client().get("/project/birds/")).status == 200 and source.made == at_the_end


@pytest_twisted.ensureDeferred
async def test_a_client_that_takes_nothing_is_cut_off(served, monkeypatch):
    monkeypatch.setattr(served.server._site.resource._router._writer._downloads, "_seconds", 0.2)
    source = Source()
    connection = await asking(served, monkeypatch, source)
    await until(lambda: source.ended)
    connection.close()


@pytest_twisted.ensureDeferred
async def test_a_file_that_fails_in_the_middle_does_not_look_whole(served, monkeypatch):
    source = Source(fails_after=3)
    connection = await asking(served, monkeypatch, source)
    received = b""

    def ended() -> bool:
        nonlocal received
        try:
            piece = some(connection)
        except ConnectionResetError:
            return True
        received += b"" if piece == b"-" else piece
        return piece == b""

    await until(ended)
    assert b"0\r\n\r\n" not in received[-7:] and received.startswith(b"HTTP/1.1 200")
    assert b"no more of this" not in received
