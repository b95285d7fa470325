"""What holds for every request: CORS, compression, conditions, keys against doing a thing twice."""

import gzip

import pytest_twisted
from support.checks.shows import shows
from twisted.internet.defer import ensureDeferred, gatherResults

ELSEWHERE = "https://front.example"


@shows("cors-api")
@pytest_twisted.ensureDeferred
async def test_any_page_may_read_the_api_without_cookies(served):
    answer = await served.client().get("/api/category", headers={"Origin": ELSEWHERE})
    assert answer.header("access-control-allow-origin") == "*"
    assert answer.header("access-control-allow-credentials") is None
    page = await served.client().get("/", headers={"Origin": ELSEWHERE})
    assert page.header("access-control-allow-origin") is None


@shows("cors-configured")
@pytest_twisted.ensureDeferred
async def test_a_configured_front_end_may_use_cookies_everywhere(serve):
    served = await serve(CROWDD_HTTP_ALLOWED_ORIGINS=ELSEWHERE)
    for path in ("/api/category", "/"):
        answer = await served.client().get(path, headers={"Origin": ELSEWHERE})
        assert answer.header("access-control-allow-origin") == ELSEWHERE
        assert answer.header("access-control-allow-credentials") == "true"
        assert "Origin" in answer.header("vary")
    asked = {"Origin": ELSEWHERE, "Access-Control-Request-Method": "PUT"}
    preflight = await served.client().request("OPTIONS", "/api/task/1", headers=asked)
    assert preflight.status == 204 and "X-CSRFToken" in preflight.header("access-control-allow-headers")
    other = await served.client().get("/api/category", headers={"Origin": "https://other.example"})
    assert other.header("access-control-allow-origin") == "*"


@shows("cors-opaque")
@pytest_twisted.ensureDeferred
async def test_an_opaque_origin_is_refused_and_told_nothing(served):
    answer = await served.client().get("/api/category", headers={"Origin": "null"})
    assert answer.status == 403 and answer.header("access-control-allow-origin") is None
    assert answer.json()["error_code"] == "opaque_origin"


@shows("format-gzip")
@pytest_twisted.ensureDeferred
async def test_long_answers_are_compressed_for_those_who_ask(served):
    owner = await served.person("owner")
    await served.project(owner, tasks=20)
    answers = {coding: await served.bare(f"/api/task?api_key={owner.key}", coding) for coding in ("identity", "gzip")}
    plain, packed = answers["identity"], answers["gzip"]
    assert plain.header("content-encoding") is None and packed.header("content-encoding") == "gzip"
    assert gzip.decompress(packed.body) == plain.body and len(packed.body) < len(plain.body) / 3
    assert plain.header("etag") != packed.header("etag")


@shows("etag-get")
@pytest_twisted.ensureDeferred
async def test_what_the_client_has_is_not_sent_again(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    address = f"/api/project/{project['id']}"
    first = await owner.get(address)
    again = await owner.get(address, headers={"If-None-Match": first.header("etag")})
    assert (again.status, again.body) == (304, b"")
    await owner.put(address, json={"description": "changed"})
    assert (await owner.get(address, headers={"If-None-Match": first.header("etag")})).status == 200


@shows("etag-put")
@pytest_twisted.ensureDeferred
async def test_a_change_of_what_somebody_else_changed_is_refused(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    address = f"/api/project/{project['id']}"
    read = (await owner.get(address)).header("etag")
    first = await owner.put(address, json={"description": "one"}, headers={"If-Match": read})
    second = await owner.put(address, json={"description": "two"}, headers={"If-Match": read})
    assert (first.status, second.status) == (200, 412)
    assert second.json()["exception_cls"] == "PreconditionFailed"
    third = await owner.put(address, json={"description": "two"}, headers={"If-Match": first.header("etag")})
    assert third.status == 200 and third.json()["description"] == "two"


@shows("idempotency-body", "idempotency-key")
@pytest_twisted.ensureDeferred
async def test_the_same_key_makes_a_thing_once(served):
    owner = await served.person("owner")
    body, key = {"name": "Once", "short_name": "once"}, {"Idempotency-Key": "k1"}
    first = await owner.post("/api/project", json=body, headers=key)
    second = await owner.post("/api/project", json=body, headers=key)
    assert first.status == second.status == 200 and first.json()["id"] == second.json()["id"]
    other = await owner.post("/api/project", json={**body, "name": "Other"}, headers=key)
    assert other.status == 422 and other.json()["error_code"] == "idempotency_key_reused"
    stranger = await served.person("stranger")
    assert (await stranger.post("/api/project", json={"name": "Mine"}, headers=key)).status == 200


@shows("idempotency-refusals")
@pytest_twisted.ensureDeferred
async def test_a_refusal_does_not_use_up_the_key(served):
    owner = await served.person("owner")
    key = {"Idempotency-Key": "k1"}
    assert (await owner.post("/api/project", json={"name": ""}, headers=key)).status == 415
    assert (await owner.post("/api/project", json={"name": "Good"}, headers=key)).status == 200


@shows("idempotency-twins")
@pytest_twisted.ensureDeferred
async def test_twins_at_the_same_moment_make_one(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1)
    body = [{"project_id": project["id"], "info": {"n": n}} for n in range(5)]
    twins = [ensureDeferred(owner.post("/api/task", json=body, headers={"Idempotency-Key": "k"})) for _ in range(6)]
    answers = await gatherResults(twins)
    assert {answer.status for answer in answers} == {200}
    assert len({tuple(task["id"] for task in answer.json()) for answer in answers}) == 1
    assert len((await owner.get("/api/task?limit=100")).json()) == 6


@shows("idempotency-key")
@pytest_twisted.ensureDeferred
async def test_an_answer_sent_twice_counts_once_and_is_answered_twice(served):
    owner, volunteer = await served.person("owner"), await served.person("volunteer")
    project = await served.project(owner, tasks=1, published=True)
    task = (await volunteer.get(f"/api/{project['id']}/newtask")).json()
    body = {"project_id": project["id"], "task_id": task["id"], "info": "yes"}
    first = await volunteer.post("/api/taskrun", json=body, headers={"Idempotency-Key": "a"})
    second = await volunteer.post("/api/taskrun", json=body, headers={"Idempotency-Key": "a"})
    assert (first.status, second.status) == (200, 200) and first.json()["id"] == second.json()["id"]
    assert (await volunteer.post("/api/taskrun", json=body)).status == 403
