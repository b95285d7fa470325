"""Bodies of people who may not write: refused before they cost anything, at every address that takes one."""

from __future__ import annotations

import http.client
import re
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urlsplit

import pytest
from support.checks.conformance import administrator
from support.checks.proofs import examples
from support.checks.shows import shows
from support.person import Person

from bench.support.cpu import of_threads
from bench.support.dear_attacks import bodies
from crowdd.http.routing import Route

MAX_CPU: Final = 0.02  # seconds of all threads of the server for one request, beside what receiving so many bytes takes
_SIZES: Final = {
    "anonymous": 262_144,
    "stranger": 10_000_000,
}  # bytes that may be sent without an account, and with one
REFUSED: Final = {302, 400, 401, 403, 404, 405, 413, 415, 422, 429}
# Where anybody who is signed in may write, and pages on which nobody needs to be.
_LEASES: Final = {"/api/task/1/lease", "/api/task/1/renew", "/api/task/1/release"}
_OPEN: Final = {"anonymous": _LEASES, "stranger": {"/api/project", "/api/favorites", *_LEASES}}
_NAMES = {"object_id": "project", "project_id": "project", "reference": "project", "task_id": "task", "name": "name"}


class Sender:
    """Sends requests one after the other, and says what each cost the server."""

    def __init__(self, server: Any, headers: dict[str, str]) -> None:
        self._pid, self._headers = server.process.pid, headers
        self._address = urlsplit(server.url).netloc

    def send(self, method: str, path: str, media: str, body: bytes) -> tuple[int, float]:
        """The status, and seconds of CPU. The head is sent first: a body that is too large is never sent."""
        connection = http.client.HTTPConnection(self._address, timeout=120)
        before = of_threads(self._pid)
        try:
            connection.request(method, path, body, self._headers | {"Content-Type": media})
            status = connection.getresponse().status
        except (BrokenPipeError, ConnectionResetError):  # it was refused by its head
            status = 413
        finally:
            connection.close()
        return status, of_threads(self._pid) - before


@pytest.fixture(scope="module")
def ids(own_server: Any) -> dict[str, Any]:
    """A published project of somebody else, with a task and a result."""
    owner = administrator(own_server, "victim")
    body = {"name": "Victim", "short_name": "victim", "info": {"task_presenter": "<p>?</p>"}}
    project = owner.api("POST", "project", body)["id"]
    tasks = owner.api("POST", "task", [{"project_id": project, "info": n, "n_answers": 1} for n in range(2)])
    owner.publish("victim")
    leased = owner.api("GET", f"project/{project}/newtask")
    owner.api("POST", "taskrun", {"project_id": project, "task_id": leased["id"], "info": 1})
    (result,) = owner.api("GET", "result")
    return {"project": project, "task": tasks[0]["id"], "result": result["id"], "name": "victim", "owner": owner}


def addresses(routes: list[Route], ids: dict[str, Any], *, api: bool) -> list[tuple[str, str]]:
    """Methods and addresses that take a body, each with the ids of somebody else's rows."""

    def filled(path: str) -> str:
        kind = path.split("/")[2] if path.startswith("/api/") else ""
        own = {"object_id": ids.get(kind, 1), "short_name": "victim"}
        return re.sub(r"<(?:\w+:)?(\w+)>", lambda m: str(own.get(m[1], ids.get(_NAMES.get(m[1], ""), 1))), path)

    writes = {(route.method, filled(route.path)) for route in routes if route.method in ("POST", "PUT", "PATCH")}
    return sorted(one for one in writes if one[1].startswith("/api/") is api)


def too_dear(sender: Sender, method: str, path: str, size: int, ids: dict[str, Any]) -> Iterator[str]:
    """Which bodies cost too much at an address; each is tried again before it counts, for what is done once."""
    for name, media, body in bodies(size, ids):
        status, seconds = sender.send(method, path, media, body)
        for _again in range(3):
            if seconds > MAX_CPU:
                _nowhere, receiving = sender.send("POST", "/api/nowhere", media, body)
                status, again = sender.send(method, path, media, body)
                seconds = min(seconds, again - receiving)
        if seconds > MAX_CPU or status not in REFUSED:
            yield f"{method} {path}, {name} of {len(body):,} bytes: {status} after {seconds * 1000:.0f} ms"


@shows("limit-rights-first")
@examples("api, anonymous")
@pytest.mark.parametrize("who", ["api, anonymous", "api, stranger", "pages, anonymous"])
def test_who_has_no_rights_costs_little_whatever_they_send(own_server: Any, ids: dict[str, Any], served: Any, who: str):
    where, _, kind = who.partition(", ")
    stranger = kind == "stranger"
    headers = {"Authorization": Person(own_server.url).register("stranger").key} if stranger else {}
    sender = Sender(own_server, headers)
    paths = [one for one in addresses(served.routes, ids, api=where == "api") if one[1] not in _OPEN[kind]]
    assert len(paths) > 35
    dear = [line for method, path in paths for line in too_dear(sender, method, path, _SIZES[kind], ids)]
    assert not dear, "\n".join(dear)
