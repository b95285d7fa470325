"""``/health``, ``/ready`` and ``/metrics``, the id of a request, and what a drained server does with it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import pytest_twisted
from prometheus_client.parser import text_string_to_metric_families
from support import wire
from support.checks.shows import shows
from twisted.internet.defer import Deferred, ensureDeferred, gatherResults
from twisted.internet.threads import deferToThread

from crowdd.admin_cli.serve import complaints
from crowdd.features.operations import readiness
from crowdd.kernel.config import load

ROOT = Path(__file__).parents[2]


def figures(text):
    """The value of every series as Prometheus reads it."""
    families = text_string_to_metric_families(text)
    return {(s.name, *sorted(s.labels.items())): s.value for family in families for s in family.samples}


@shows("health", "ready")
@pytest_twisted.ensureDeferred
async def test_a_server_that_can_work_says_so(served):
    client = served.client()
    assert (await client.get("/health")).text == "ok\n"
    ready = await client.get("/ready")
    assert ready.json() == {"ready": True, "checks": {"disk": "ok", "database": "ok", "migrations": "ok", "key": "ok"}}
    assert ready.header("cache-control") == "no-store"


@shows("ready")
@pytest.mark.parametrize(
    ("statement", "check"),
    [
        ("INSERT INTO migration (number, name) VALUES (9999, 'from the future')", "migrations"),
        ("DELETE FROM definition", "migrations"),
    ],
)
@pytest_twisted.ensureDeferred
async def test_a_database_of_another_version_is_not_ready(served, statement, check):
    await served.database.execute(statement)
    client = served.client()
    answer = await client.get("/ready")
    assert answer.status == 503 and answer.json()["checks"][check].endswith((".", "upgrade"))
    assert {name for name, words in answer.json()["checks"].items() if words != "ok"} == {check}
    assert (await client.get("/health")).status == 200


@shows("ready")
@pytest_twisted.ensureDeferred
async def test_without_room_on_the_disk_it_is_not_ready(serve):
    served = await serve(CROWDD_DATA_MIN_FREE_BYTES=str(10**18))
    answer = await served.client().get("/ready")
    assert answer.status == 503 and "free space" in answer.json()["checks"]["disk"]


@pytest_twisted.ensureDeferred
async def test_a_database_that_does_not_answer_is_told_in_time(served, monkeypatch):
    monkeypatch.setattr(readiness, "PATIENCE", 0.2)
    over: Deferred[None] = Deferred()

    async def occupy(tx):
        await over

    occupying = [ensureDeferred(served.database.transaction(occupy)) for _ in range(served.database.figures().size)]
    answer = await served.client().get("/ready")
    settings = load(None, {"CROWDD_HTTP_PORT": served.base.rpartition(":")[2]})
    named = await deferToThread(complaints, settings)
    over.callback(None)
    await gatherResults(occupying)
    checks = answer.json()["checks"]
    assert answer.status == 503 and "in time" in checks["database"] and checks["migrations"] == "unknown"
    assert named == [checks["database"]], "crowdctl doctor names what is wrong, and not what nobody knows"


@shows("metrics")
@pytest_twisted.ensureDeferred
async def test_figures_count_what_was_done(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=2, published=True)
    volunteer = served.client()
    await volunteer.get("/about")
    for _ in range(3):
        await volunteer.get(f"/api/project/{project['id']}/newtask")
    await volunteer.get("/nowhere?api_key=secret")
    answer = await served.client().get("/metrics")
    samples = figures(answer.text)
    counted = [key[1] for key in samples if key[0] == "crowdd_request_duration_seconds_count"]
    (route,) = [each for each in counted if "newtask" in each[1]]
    assert "<" in route[1], "not the address itself"
    assert samples["crowdd_requests_total", ("method", "GET"), route, ("status", "200")] == 3
    assert samples["crowdd_request_duration_seconds_count", route] == 3
    assert samples["crowdd_requests_total", ("method", "GET"), ("route", "(unknown)"), ("status", "404")] == 1
    assert samples["crowdd_active_leases",] == 1
    assert samples["crowdd_database_up",] == 1
    assert "# TYPE crowdd_cpu_seconds_total counter" in answer.text
    assert samples["crowdd_pool_connections", ("pool", "requests"), ("state", "free")] > 0
    assert samples["crowdd_resident_memory_bytes",] > 10_000_000 and samples["crowdd_open_fds",] > 10
    assert ("crowdd_job_overdue_seconds", ("job", "send_mail")) in samples
    assert "secret" not in answer.text and "nowhere" not in answer.text


@shows("metrics")
@pytest_twisted.ensureDeferred
async def test_figures_are_not_public(serve):
    served = await serve()
    through_a_proxy = await served.client().get("/metrics", headers={"X-Forwarded-For": "192.0.2.1"})
    assert through_a_proxy.status == 401, "Prometheus got an HTML page"
    assert through_a_proxy.header("www-authenticate") == "Bearer"
    assert through_a_proxy.text.count("\n") == 1 and "[metrics] token" in through_a_proxy.text
    served = await serve(CROWDD_METRICS_TOKEN="a good token")
    for headers, status in (
        ({}, 401), ({"Authorization": "Bearer wrong"}, 401), ({"Authorization": "Bearer a good token"}, 200),
        ({"Authorization": "Bearer a good token", "X-Forwarded-For": "192.0.2.1"}, 200),
    ):  # fmt: skip
        assert (await served.client().get("/metrics", headers=headers)).status == status, headers


@pytest_twisted.ensureDeferred
async def test_figures_of_every_name_are_documented_and_no_others(served):
    text = (await served.client().get("/metrics")).text
    names = set(re.findall(r"^# TYPE (\S+)", text, re.MULTILINE))
    page = (ROOT / "docs/operations.md").read_text("utf-8").partition("## Metrics")[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| `(crowdd_\w+)", page, re.MULTILINE)) == names


@shows("format-request-id")
@pytest_twisted.ensureDeferred
async def test_every_answer_names_its_request(served):
    client = served.client()
    paths = ("/", "/api/nothing", "/nowhere", "/static/none", "/health", "/project/x?_presenter=1")
    ids = [(await client.get(path)).header("x-request-id") for path in paths]
    assert all(re.fullmatch("[0-9a-f]{16}", one) for one in ids) and len(set(ids)) == len(ids)
    page = await client.get("/nowhere", headers={"Accept": "text/html"})
    assert page.header("x-request-id") in page.text
    answer = await wire.exchange(served.base, b"NO HTTP\r\n\r\n")
    assert re.search(rb"\r\nX-Request-Id: [0-9a-f]{16}\r\n", answer)


@pytest_twisted.ensureDeferred
async def test_health_has_the_headers_of_every_response_whoever_asks(served):
    bare = await served.client().get("/health")
    asked = await served.client("", Origin="https://other.example", Cookie="session=x").get("/health")
    head = await served.client().request("HEAD", "/health")
    names = {"server", "content-type", "cache-control", "vary"}
    for answer in (asked, head):
        assert {name: answer.header(name) for name in names} == {name: bare.header(name) for name in names}
    assert (bare.text, asked.text, head.body) == ("ok\n", "ok\n", b"")
    assert bare.header("x-request-id") and bare.header("date") and head.header("content-length") == "3"
    whole = await wire.exchange(served.base, b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert b"\r\nContent-Length: 3\r\n" in whole and whole.endswith(b"\r\n\r\nok\n")
    assert (await served.client().post("/health", json={})).status == 405
