"""Hostile input: never a failure of the server's, never a hang, the error object each time, no memory lost."""

from __future__ import annotations

import http.client
import socket
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from support.checks.conformance import administrator
from support.checks.hostile import ODD, Answer, Hostile, requests
from support.checks.proofs import examples

from crowdd.database.embedded.cluster import wait_until

WARM, MAX_GROWTH = 100, 20_000_000


@pytest.fixture(scope="module")
def victim(own_server: Any) -> Any:
    """An administrator with a published project and rows of every kind."""
    owner = administrator(own_server, "victim")
    body = {"name": "Victim", "short_name": "victim", "info": {"task_presenter": "<p>?</p>"}}
    projects = [owner.api("POST", "project", body | {"name": f"V{n}", "short_name": f"v{n}"})["id"] for n in range(3)]
    here = {"project_id": projects[0]}
    tasks = owner.api("POST", "task", [{**here, "info": n, "n_answers": 1} for n in range(30)])
    owner.publish("v0")
    leased = owner.api("GET", f"project/{projects[0]}/newtask", limit=20)
    runs = owner.api("POST", "taskrun", [{**here, "task_id": task["id"], "info": 1} for task in leased])
    content = {"title": "Birds", "body": "Birds"}
    owner.ids = {
        "project": projects,
        "projectstats": projects,
        "task": [task["id"] for task in tasks],
        "taskrun": [run["id"] for run in runs],
        "result": [result["id"] for result in owner.api("GET", "result")],
        "category": [owner.api("POST", "category", {"name": f"V{n}", "short_name": f"v{n}"})["id"] for n in range(9)],
        "user": [owner.profile()["user"]["id"]],
        "blogpost": [owner.api("POST", "blogpost", here | content)["id"] for _ in range(9)],
        "announcement": [owner.api("POST", "announcement", content)["id"] for _ in range(9)],
        "helpingmaterial": [owner.api("POST", "helpingmaterial", here)["id"] for _ in range(9)],
        "prediction": [
            owner.api("POST", "prediction", here | {"task_id": task["id"], "model": "m", "question": "q", "value": 1})[
                "id"
            ]
            for task in tasks[:9]
        ],
    }
    return owner


@examples("20")
@pytest.mark.parametrize("count", [20, 120, pytest.param(1000, marks=pytest.mark.size)])
def test_hostile_requests(own_server: Any, victim: Any, count: int):
    log = own_server.data / "log"
    said_before = log.stat().st_size
    assault(own_server.url, victim, WARM)
    before = memory(own_server.process.pid)
    assault(own_server.url, victim, count)
    grown = memory(own_server.process.pid) - before
    assert grown <= MAX_GROWTH, f"{grown / 1e6:.0f} MB more after {count} requests"
    text = log.read_bytes()[said_before:].decode("utf-8", "replace")
    assert "Traceback" not in text and "Unhandled" not in text, text[-3000:]
    assert victim.ask("GET", "/api/project").status == 200


@pytest.mark.parametrize("fragment", ODD, ids=lambda fragment: fragment[:20])
def test_what_is_stored_can_be_read_again(own_server: Any, victim: Any, fragment: str):
    body = f'{{"project_id": {victim.ids["project"][0]}, "info": {fragment}}}'.encode()
    made = victim.ask("POST", f"/api/task?api_key={victim.key}", body)
    if made.status == 200:
        read = victim.ask("GET", f"/api/task/{made.json['id']}?api_key={victim.key}")
        # Numbers are those of double precision: PostgreSQL writes 1e25 with all its digits.
        assert (read.status, orjson.loads(read.text)["info"]) == (200, orjson.loads(made.text)["info"])
        assert victim.ask("DELETE", f"/api/task/{made.json['id']}?api_key={victim.key}").status == 204
    else:
        assert (made.status, made.json["exception_cls"]) == (415, "ValueError")


def assault(url: str, victim: Any, count: int) -> None:
    """Sends so many requests; fails at the first answer with a fault, with the smallest request that has it."""

    @settings(max_examples=count, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(request=requests(victim.ids, [victim.key]))
    def survives(request: Hostile) -> None:
        assert request.send(url).faults(request.method) == [], request

    survives()


@pytest.mark.proof
def test_memory_of_a_large_request_is_given_back(own_server: Any, victim: Any):
    rows = [{"project_id": victim.ids["project"][0], "info": {"n": n, "text": "x" * 600}} for n in range(10_000)]
    body = orjson.dumps(rows)
    before = memory(own_server.process.pid)
    assert victim.ask("POST", f"/api/task?api_key={victim.key}", body).status == 200
    grown = wait_until(lambda: memory(own_server.process.pid) - before <= 30_000_000, 60)
    assert grown, f"{(memory(own_server.process.pid) - before) / 1e6:.0f} MB more after a minute"


def memory(pid: int) -> int:
    """Bytes that a process holds in memory."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS"))


@pytest.mark.parametrize("size", [10_000_001, 200_000_000])
def test_a_body_that_is_too_large_is_refused_before_it_is_read(own_server: Any, victim: Any, size: int):
    connection = http.client.HTTPConnection(urlsplit(own_server.url).netloc, timeout=60)
    connection.putrequest("POST", f"/api/task?api_key={victim.key}")
    connection.putheader("Content-Length", str(size))
    connection.endheaders()
    response = connection.getresponse()
    answer = Answer(response.status, response.headers["Content-Type"], response.read())
    assert (answer.status, answer.faults("POST")) == (413, [])
    connection.close()


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET /api/project HTTP/1.1\r\nHost: localhost\r\nNo colon\r\n\r\n", 400),
        (b"GET /api/project HTTP/1.1\r\nHost: localhost\r\nA: a\0b\r\n\r\n", 400),
        (b"GET /api/project\r\n\r\n", 400),
        (b"\0\0\0\0\r\n\r\n", 400),
        (b"POST /api/task HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n", 400),
        (
            b"POST /api/task HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            400,
        ),
        (b"POST /api/task HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n", 400),
        (b"GET /api/project HTTP/1.1\r\nHost: localhost\r\n" + b"A: b\r\n" * 600 + b"\r\n", 400),
        (b"GET /api/project HTTP/1.1\r\nHost: localhost\r\n" + (b"A: " + b"a" * 9000 + b"\r\n") * 2 + b"\r\n", 413),
        (b"GET /api/project HTTP/1.1\r\nHost: localhost\r\nA: " + b"a" * 900_000 + b"\r\n\r\n", 413),
        (b"GET /api/" + b"a" * 900_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", 413),
        (
            b"POST /api/task HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900000000\r\nExpect: 100-continue\r\n\r\n"
            + b"a" * 900_000,
            413,
        ),
    ],
    ids=[
        "header",
        "nul",
        "0.9",
        "nothing",
        "negative",
        "two lengths",
        "chunk",
        "many",
        "sum",
        "long",
        "address",
        "body",
    ],
)
def test_what_is_no_request_is_refused_in_words_and_the_connection_ends(own_server: Any, sent: bytes, status: int):
    where = urlsplit(own_server.url)
    with socket.create_connection((where.hostname, where.port), timeout=60) as wire:
        wire.sendall(sent)
        got = b""
        while piece := wire.recv(65536):
            got += piece
    head, _, body = got.partition(b"\r\n\r\n")
    assert head.startswith(f"HTTP/1.1 {status} ".encode()), head
    assert Answer(status, "application/json", body).faults("GET") == []


def test_a_connection_that_says_nothing_more_after_a_refusal_is_closed(own_server: Any):
    where = urlsplit(own_server.url)
    wire = socket.create_connection((where.hostname, where.port), timeout=60)
    wire.sendall(b"nonsense\r\n")
    while wire.recv(65536):
        pass
    with pytest.raises(OSError):
        while True:
            wire.sendall(b"a" * 65536)
    wire.close()
