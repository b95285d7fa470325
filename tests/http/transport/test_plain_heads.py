"""Heads that come at once are read as Twisted reads them line by line: the same requests, the same refusals."""

from __future__ import annotations

import itertools
import random
import time
from typing import Any

import pytest
import pytest_twisted
from support.servers.served import Served
from support.until import until
from support.wire import connect
from twisted.internet.testing import StringTransport
from twisted.web.http import HTTPChannel, Request
from twisted.web.http_headers import Headers

from crowdd.http.edge.headers import plain_head

START = b"GET /health HTTP/1.1\r\n"
HOST = b"Host: localhost\r\n"
POST = b"POST /api/taskrun HTTP/1.1\r\n" + HOST
OWN = (b"Date: ", b"X-Request-Id: ", b"X-Ratelimit-Reset: ")
PLAIN = [
    START + HOST + b"\r\n",
    b"HEAD /api/task?a=b&c=%20 HTTP/1.1\r\nhost:localhost\r\nACCEPT: */*\r\nX-Empty:\r\nX-Spaces: \t a  b \t\r\n\r\n",
    b"GET //x/../\x7e HTTP/1.1\r\nHost: localhost\r\nCookie: a=1; b=\xc3\xa4\r\nCookie: c=2\r\nConnection: close\r\n\r\n",
    START + HOST + b"etag: x\r\ndnt: 1\r\nX-Odd: a\x0bb\x0cc\x1cd\x85\r\n\r\n",
    START + HOST + b"A!#$%&'*+.^_`|~9: x:y:z\r\n\r\n",
    POST + b"content-length: \t5 \r\nX-Type: application/json\r\n\r\n[1,2]",
    POST + b"X: y\r\nContent-Length:07\r\n\r\n\r\n\r\nx\x00\xff",
    POST + b"Content-Length: 16384\r\n\r\n" + b"x" * 16_384,
]
NOT_PLAIN = [
    b"",
    b"\r\n" + START + HOST + b"\r\n",
    START + HOST,
    START + HOST + b"\r\nx",
    START + b"\r\n",
    (START + HOST + b"\r\n") * 2,
    b"GET /health HTTP/1.0\r\n" + HOST + b"\r\n",
    POST + b"\r\n",
    POST + b"\r\nx",
    POST + b"Content-Length: 0\r\n\r\n",
    POST + b"Content-Length: 5\r\n\r\n1234",
    POST + b"Content-Length: 5\r\n\r\n123456",
    POST + b"Content-Length: +5\r\n\r\n12345",
    POST + b"Content-Length: 5,5\r\n\r\n12345",
    POST + b"Content-Length:\r\n\r\n12345",
    POST + b"Content-Length: 0000000051\r\n\r\n12345",
    POST + b"Content-Length: 1000005\r\n\r\n" + b"x" * 100_000,
    POST + b"Content-Length: 16385\r\n\r\n" + b"x" * 16_385,
    POST + b"Content-Length: 5\r\nContent-Length: 5\r\n\r\n12345",
    POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n12345",
    POST + b"Content-Length: 5\r\nExpect: 100-continue\r\n\r\n12345",
    POST + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"PUT /health HTTP/1.1\r\n" + HOST + b"Content-Length: 1\r\n\r\nx",
    b"get /health HTTP/1.1\r\n" + HOST + b"\r\n",
    b"GET  /health HTTP/1.1\r\n" + HOST + b"\r\n",
    b"GET /\xe4 HTTP/1.1\r\n" + HOST + b"\r\n",
    START + HOST + b"Content-Length: 1\r\n\r\n",
    START + b"content-length: 0\r\n" + HOST + b"\r\n",
    START + HOST + b"TRANSFER-ENCODING: chunked\r\n\r\n",
    START + HOST + b"Expect: 100-continue\r\n\r\n",
    START + HOST + b"X : y\r\n\r\n",
    START + HOST + b" folded\r\n\r\n",
    START + HOST + b"X: a\x00b\r\n\r\n",
    START + HOST + b"X: a\rb\r\n\r\n",
    START + HOST + b"X: a\nTransfer-Encoding: chunked\r\n\r\n",
    START + HOST + b"no colon\r\n\r\n",
    START + HOST + b": nameless\r\n\r\n",
    START.replace(b"\r", b"") + HOST + b"\r\n",
    START + HOST + b"X: y\r\n" * 100 + b"\r\n",
    START + HOST + b"X: " + b"y" * 9000 + b"\r\n\r\n",
]


Read = tuple[bytes, bytes, list[tuple[bytes, list[bytes]]], bytes]


def of_twisted(data: bytes) -> Read | None:
    """The one request that Twisted reads in a text; None if it reads another, or none."""
    seen: list[Any] = []
    channel, transport = HTTPChannel(), StringTransport()
    channel.requestFactory = type("Seen", (Request,), {"process": lambda self: seen.append(self)})
    channel.makeConnection(transport)
    channel.dataReceived(data)
    if len(seen) != 1 or transport.value() or channel._buffer or any(channel._dataBuffer):
        return None
    request = seen[0]
    return request.method, request.uri, list(request.requestHeaders.getAllRawHeaders()), request.content.read()


def of_us(data: bytes) -> Read | None:
    """The same as it is read at once."""
    head = plain_head(data)
    if head is None:
        return None
    headers = Headers()
    for name, value in head.headers:
        headers.addRawHeader(name, value)
    return head.method, head.target, list(headers.getAllRawHeaders()), head.body


@pytest.mark.parametrize("data", PLAIN)
def test_what_is_plain_is_read_as_twisted_reads_it(data):
    assert of_us(data) == of_twisted(data) is not None


@pytest.mark.parametrize("data", NOT_PLAIN)
def test_what_is_not_plain_is_left_to_twisted(data):
    assert plain_head(data) is None


def test_twisted_reads_whatever_is_taken_for_plain_in_the_same_way():
    chance, pieces = random.Random(20), [*PLAIN, *NOT_PLAIN]
    odd = [
        b"\r",
        b"\n",
        b"\r\n",
        b":",
        b" ",
        b"\t",
        b"\x00",
        b"\x0b",
        b"\x85",
        b"Content-Length: 5\r\n",
        b"HTTP/1.1",
        b"",
        b"\xff",
    ]
    taken = 0
    for _ in range(20_000):
        data = chance.choice(pieces)
        for _ in range(chance.randint(1, 3)):
            at, end = sorted(chance.randint(0, len(data)) for _ in range(2))
            data = data[:at] + chance.choice(odd) + data[chance.choice((at, min(at + 1, end))) :]
        ours = of_us(data)
        if ours is not None:
            taken += 1
            assert ours == of_twisted(data), data
    assert taken > 200, "hardly anything was compared"


def test_a_long_head_takes_no_longer_than_it_is():
    for text in (b"X" * 8000, b"X:\r\n" * 2000, b"X: y" * 2000, b"\r\n" * 4000, b":" * 8000):
        for start in (START + HOST, POST + b"Content-Length: 9\r\n\r\n", POST + b"Content-Length:"):
            began = time.perf_counter()
            plain_head((start + text)[:8192])
            assert time.perf_counter() - began < 0.1


async def answered(served: Served, parts: list[bytes]) -> list[bytes]:
    """The lines of a response to a request that comes in parts, without those that no two responses have alike."""
    wire, came = await connect(served.base, parts[0]), len(parts[0])
    for part in parts[1:]:
        await until(lambda came=came: any(channel._came == came for channel in served.server._site.channels), 10)
        wire.transport.write(part)
        came += len(part)
    lines = (await wire.closed).split(b"\r\n")
    return [line for line in lines if not line.startswith(OWN)]


@pytest_twisted.ensureDeferred
async def test_a_response_does_not_depend_on_the_parts_in_which_its_request_comes(served: Served):
    targets = [START, b"GET /api/task/1 HTTP/1.1\r\n", b"HEAD /health HTTP/1.1\r\n", b"POST /api/task HTTP/1.1\r\n"]
    extra = [b"", b"Origin: https://other.example\r\n", b"Host: other.example\r\n", b"X-Volunteer: 7\r\n"]
    for target, more in itertools.product(targets, extra):
        data = target + HOST + more + b"Connection: close\r\n\r\n"
        whole, parts = await answered(served, [data]), await answered(served, [data[:9], data[9:-3], data[-3:]])
        assert whole == parts and whole[0].startswith(b"HTTP/1.1 "), data


@pytest_twisted.ensureDeferred
async def test_neither_does_one_with_a_body(serve):
    served = await serve(CROWDD_HTTP_MAX_ANONYMOUS_BODY_BYTES="200")
    short = b'{"project_id": 1, "task_id": 2, "info": 3}'
    extra = [b"", b"Host: other.example\r\n", b"Content-Type: application/json\r\n", b"Authorization: wrong\r\n"]
    cases = [
        *itertools.product([b"/api/taskrun", b"/api/nothing"], [short, b"{", b"login_id=x"], extra),
        (b"/api/taskrun", b"[" + b" " * 300 + b"]", b""),
        (b"/project/x/tasks/media/1/files", short, b""),
    ]
    for target, body, more in cases:
        head = b"POST %b HTTP/1.1\r\n%bContent-Length: %d\r\nConnection: close\r\n" % (target, HOST + more, len(body))
        data = head + b"\r\n" + body
        whole, parts = await answered(served, [data]), await answered(served, [data[:9], data[9:]])
        assert whole == parts and whole[0].startswith(b"HTTP/1.1 "), data
