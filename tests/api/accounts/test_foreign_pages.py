"""Pages of other sites may read what is public; they neither take tasks nor answer them as their visitors."""

import pytest
import pytest_twisted
from support.checks.shows import shows

EVIL = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
FRIEND = "https://friend.example"


async def setting(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=3, published=True)
    return owner, project, served.client()


def acts(project, task):
    """Every request that takes a task, answers it or gives it back."""
    body = {"project_id": project["id"], "task_id": task, "info": 1}
    return (
        ("GET", f"/api/{project['id']}/newtask", ...), ("GET", f"/api/project/{project['id']}/newtask", ...),
        ("POST", "/api/taskrun", body), ("POST", f"/api/task/{task}/renew", {}), ("POST", f"/api/task/{task}/release", {}),
        ("POST", f"/api/task/{task}/correct", {"info": 2}),
    )  # fmt: skip


@shows("cors-foreign")
@pytest_twisted.ensureDeferred
async def test_a_page_of_another_site_takes_and_answers_nothing(served):
    owner, project, visitor = await setting(served)
    task = (await visitor.get(f"/api/{project['id']}/newtask")).json()["id"]
    for headers in (EVIL, {"Origin": "https://evil.example"}, {**EVIL, "Authorization": "Bearer made.up.token"}):
        for method, path, body in acts(project, task):
            refused = await visitor.request(method, path, json=body, headers=headers)
            assert (refused.status, refused.json()["error_code"]) == (403, "cross_origin"), (path, refused.body)
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "document"}
    assert (await visitor.get(f"/api/{project['id']}/newtask", headers=link)).status == 403
    assert (await owner.get(f"/api/taskrun?project_id={project['id']}")).json() == []


@shows("cors-foreign")
@pytest_twisted.ensureDeferred
async def test_a_page_of_another_site_reads_what_is_public(served):
    _, project, visitor = await setting(served)
    for path in ("/api/project", f"/api/task?project_id={project['id']}", f"/api/task/{project['tasks'][0]}"):
        response = await visitor.get(path, headers=EVIL)
        assert (response.status, response.header("access-control-allow-origin")) == (200, "*")


@pytest_twisted.ensureDeferred
async def test_our_own_pages_and_programs_take_and_answer_as_before(served):
    _, project, _ = await setting(served)
    own = {"Origin": served.base, "Sec-Fetch-Site": "same-origin"}
    for headers in ({}, own):
        client = served.client()
        client.headers = headers
        task = (await client.get(f"/api/{project['id']}/newtask")).json()["id"]
        for method, path, body in acts(project, task):
            answered = await client.request(method, path, json=body)
            assert answered.status in (200, 403, 404) and b"cross_origin" not in answered.body, (path, answered.body)


@shows("cors-foreign")
@pytest_twisted.ensureDeferred
async def test_a_page_of_another_site_with_a_key_or_a_token_takes_and_answers(served):
    owner, project, visitor = await setting(served)
    assert (await owner.get(f"/api/{project['id']}/newtask", headers=EVIL)).status == 200
    key = {"Authorization": project["secret_key"]}
    token = (await visitor.get("/api/auth/project/birds/token", headers=key)).text
    asked = await visitor.get(
        f"/api/{project['id']}/newtask?external_uid=a", headers={**EVIL, "Authorization": f"Bearer {token}"}
    )
    assert asked.status == 200


@shows("cors-foreign")
@pytest.mark.parametrize("origin, status", [(FRIEND, 200), ("https://evil.example", 403)])
@pytest_twisted.ensureDeferred
async def test_a_front_end_that_the_operator_allowed_takes_tasks(serve, origin, status):
    served = await serve(CROWDD_HTTP_ALLOWED_ORIGINS=FRIEND)
    _, project, visitor = await setting(served)
    headers = {"Origin": origin, "Sec-Fetch-Site": "cross-site"}
    assert (await visitor.get(f"/api/{project['id']}/newtask", headers=headers)).status == status
