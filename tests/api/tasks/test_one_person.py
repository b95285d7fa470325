"""One person counts once over HTTP: signed in, signed out, and as an external user (23_same_person.sql)."""

from __future__ import annotations

from typing import Any

import pytest
import pytest_twisted
from support.browsers import newcomer, sign_in, who
from support.checks.invariants import invariants
from support.checks.shows import shows
from support.ledger import Ledger
from support.servers.queue_runner import worked
from twisted.internet.defer import ensureDeferred, gatherResults

from crowdd.features.people import personal_data_statements
from crowdd.http.auth.cookies import SESSION, VOLUNTEER


@pytest.fixture
def ledger(dsn):
    made = Ledger(dsn)
    yield made
    assert invariants(made.connection) == []
    made.close()


async def setting(served: Any, tasks: int = 3, n_answers: int = 3) -> tuple[dict[str, Any], Any]:
    """A project, and the browser of somebody with an account, which answers without it."""
    project = await served.project(await served.person("owner"), tasks=tasks, published=True, n_answers=n_answers)
    await newcomer(served, "ada")
    return project, await browser(served)


async def browser(served: Any) -> Any:
    """A browser without an account."""
    client = served.client()
    await client.get("/about")
    assert VOLUNTEER in client.cookies
    return client


async def task(client: Any, project: dict[str, Any], **more: Any) -> int | None:
    answer = await client.get(f"/api/project/{project['id']}/newtask{more.pop('query', '')}", **more)
    assert answer.status == 200, answer.text
    return answer.json().get("id")


async def send(client: Any, project: dict[str, Any], task_id: int | None, **more: Any) -> Any:
    body = {"project_id": project["id"], "task_id": task_id, "info": "yes"}
    return await client.post(f"/api/taskrun{more.pop('query', '')}", json=body, **more)


async def contribute(client: Any, project: dict[str, Any], **more: Any) -> int | None:
    task_id = await task(client, project, **more)
    answer = await send(client, project, task_id, **more)
    assert answer.status == 200, answer.text
    return task_id


async def sign_out(client: Any) -> None:
    assert (await client.page("/account/signout")).json()["status"] == "success"
    assert SESSION not in client.cookies


def actors(ledger: Ledger) -> list[str]:
    return [row["kind"] for row in ledger.rows("SELECT left(actor, 2) AS kind FROM task_run ORDER BY id")]


@shows("caller-one-person", "caller-one-person-begins")
@pytest_twisted.ensureDeferred
async def test_signing_in_and_out_gives_no_task_twice(served, ledger):
    project, client = await setting(served)
    first = await contribute(client, project)
    assert (await sign_in(client, "ada")).json()["status"] == "success"
    second = await contribute(client, project)
    await sign_out(client)
    third = await contribute(client, project)
    assert {first, second, third} == {*project["tasks"]}
    assert (await task(client, project)) is None
    assert actors(ledger) == ["c:", "u:", "c:"]
    assert {row["state"] for row in ledger.rows("SELECT done AS state FROM task_ledger")} == {False}


@shows("caller-one-person-begins")
@pytest_twisted.ensureDeferred
async def test_browser_that_signed_in_first_is_known_when_it_has_signed_out(served, ledger):
    project, _ = await setting(served)
    client = served.client()
    await sign_in(client, "ada")
    assert VOLUNTEER in client.cookies
    first = await contribute(client, project)
    await sign_out(client)
    assert await contribute(client, project) != first
    assert actors(ledger) == ["u:", "c:"]


@pytest_twisted.ensureDeferred
async def test_somebody_who_signs_up_is_known(served, ledger):
    project, client = await setting(served)
    first = await contribute(client, project)
    form = {"name": "bob", "fullname": "Bob", "email_addr": "bob@example.org", "password": "a good password"}
    await client.send_form("/account/register", {**form, "confirm": "a good password"})
    assert await who(client) == "bob"
    assert await contribute(client, project) != first


@shows("caller-one-person-begins")
@pytest.mark.parametrize("begins", ["task", "page", "answer"])
@pytest_twisted.ensureDeferred
async def test_earlier_session_is_linked_by_a_request_with_both_cookies(served, ledger, begins):
    project, client = await setting(served, tasks=2)
    await sign_in(client, "ada")
    if begins != "task":  # before anything was known of both
        held = await task(client, project)
    ledger.run("DELETE FROM same_person")
    stranger = await browser(served)
    stranger.cookies[VOLUNTEER] = client.cookies[VOLUNTEER]
    first = await contribute(stranger, project)
    if begins == "task":
        assert await task(client, project) != first
    elif begins == "page":
        assert (await client.post(f"/api/task/{first}/lease", json={})).json() == {"state": "answered"}
    else:
        refused = await send(client, project, held)
        assert (refused.status, refused.json()["error_code"]) == (403, "duplicate")
    assert ledger.value("SELECT count(*) FROM same_person") == 2


@shows("caller-one-person-begins")
@pytest_twisted.ensureDeferred
async def test_key_proves_no_browser(served, ledger):
    project, client = await setting(served, tasks=1)
    robot = await served.person("robot")
    first = await contribute(client, project)
    program = served.client(robot.key)
    program.cookies[VOLUNTEER] = client.cookies[VOLUNTEER]
    assert await contribute(program, project) == first
    assert ledger.rows("SELECT * FROM same_person WHERE actor = %(a)s", a=f"u:{robot.user_id}") == []
    assert actors(ledger) == ["c:", "u:"]


@pytest_twisted.ensureDeferred
async def test_site_without_volunteer_cookies_links_nobody(serve, ledger):
    served = await serve(CROWDD_VOLUNTEERS_ANONYMOUS="address")
    await newcomer(served, "ada")
    client = served.client()
    await sign_in(client, "ada")
    assert VOLUNTEER not in client.cookies and ledger.rows("SELECT * FROM same_person") == []


@pytest_twisted.ensureDeferred
async def test_session_begins_without_a_new_cookie_when_the_network_has_had_all(serve, ledger):
    served = await serve(CROWDD_VOLUNTEERS_COOKIES_PER_HOUR="1")
    await newcomer(served, "ada")
    await served.client().get("/about")
    client = served.client()
    assert (await sign_in(client, "ada")).json()["status"] == "success"
    assert VOLUNTEER not in client.cookies


# External users


async def token_of(served: Any, project: dict[str, Any]) -> dict[str, str]:
    key = {"Authorization": project["secret_key"]}
    return {"Authorization": "Bearer " + (await served.client().get("/api/auth/project/birds/token", headers=key)).text}


@shows("caller-one-person-external")
@pytest.mark.parametrize("signed_in", [False, True])
@pytest_twisted.ensureDeferred
async def test_external_user_is_one_person_with_the_browser(served, ledger, signed_in):
    project, client = await setting(served)
    if signed_in:
        await sign_in(client, "ada")
    first = await contribute(client, project)
    bob = {"headers": await token_of(served, project), "query": "?external_uid=bob"}
    second = await contribute(client, project, **bob)
    third = await contribute(client, project)
    assert {first, second, third} == {*project["tasks"]}
    assert (await task(client, project, **bob)) is None
    assert ledger.value("SELECT DISTINCT project_id FROM same_person WHERE actor = 'x:bob'") == project["id"]


@shows("caller-one-person-external")
@pytest_twisted.ensureDeferred
async def test_front_end_that_sends_for_many_links_nobody(served, ledger):
    project, _client = await setting(served, tasks=1)
    front_end, token = await served.person("front-end"), await token_of(served, project)
    for uid in ("bob", "eve"):
        more = {"headers": token, "query": f"?external_uid={uid}&api_key={front_end.key}"}
        assert await contribute(served.client(), project, **more) == project["tasks"][0]
    assert ledger.rows("SELECT * FROM same_person WHERE actor LIKE 'x:%%'") == []


# Answers


@shows("caller-one-person-lease")
@pytest.mark.parametrize("begins_signed_in", [False, True])
@pytest_twisted.ensureDeferred
async def test_task_that_was_leased_before_signing_in_or_out_is_answered_afterwards(served, ledger, begins_signed_in):
    project, client = await setting(served, tasks=2, n_answers=1)
    if begins_signed_in:
        await sign_in(client, "ada")
    held = await task(client, project)
    (granted,) = ledger.rows("SELECT granted FROM lease")
    await (sign_out(client) if begins_signed_in else sign_in(client, "ada"))
    answer = await send(client, project, held)
    assert answer.status == 200, answer.text
    (run,) = ledger.rows("SELECT actor LIKE 'u:%%' AS known, created, counted FROM task_run")
    assert (run["known"], run["created"], run["counted"]) == (not begins_signed_in, granted["granted"], True)
    assert ledger.value("SELECT count(*) FROM lease") == 0


@shows("caller-one-person")
@pytest_twisted.ensureDeferred
async def test_of_two_tabs_at_once_one_is_counted(served, ledger):
    project, client = await setting(served, tasks=1)
    signed_out = served.client()
    signed_out.cookies[VOLUNTEER] = client.cookies[VOLUNTEER]
    held = await task(signed_out, project)
    await sign_in(client, "ada")
    await client.post(f"/api/task/{held}/lease", json={})
    sent = await gatherResults([ensureDeferred(send(one, project, held)) for one in (signed_out, client) * 3])
    assert sorted(answer.status for answer in sent) == [200] + [403] * 5
    assert {answer.json()["error_code"] for answer in sent if answer.status == 403} == {"duplicate"}
    assert ledger.value("SELECT count(*) FROM task_run") == 1


@pytest_twisted.ensureDeferred
async def test_of_answers_to_two_servers_at_once_one_is_counted(serve, ledger):
    one, two = await serve(), await serve()
    project, client = await setting(one, tasks=8)
    signed_out = two.client()
    signed_out.cookies[VOLUNTEER] = client.cookies[VOLUNTEER]
    await sign_in(client, "ada")
    ledger.run("DELETE FROM same_person")
    path = f"/api/project/{project['id']}/newtask?limit=8"
    for each in (client, signed_out):  # both hold all tasks, and nothing is known of the two
        assert len((await each.get(path)).json()) == 8
        ledger.run("DELETE FROM same_person")
    both = [send(each, project, held) for held in project["tasks"] for each in (signed_out, client)]
    sent = await gatherResults([ensureDeferred(each) for each in both])
    await one.run_job("settle_links")
    await one.run_job("settle_links")
    counted = ledger.rows("SELECT task_id FROM task_run WHERE counted ORDER BY 1")
    assert [row["task_id"] for row in counted] == project["tasks"]
    assert sum(answer.status == 200 for answer in sent) >= 8


@shows("caller-one-person-twice")
@pytest_twisted.ensureDeferred
async def test_of_two_earlier_answers_the_first_counts_and_the_owner_sees_why(served, ledger):
    project, client = await setting(served, tasks=1, n_answers=2)
    held = await contribute(client, project)
    phone = served.client()
    await sign_in(phone, "ada")
    assert await contribute(phone, project) == held
    assert ledger.ledger(held)["done"]
    await sign_in(client, "ada")
    await served.run_job("settle_links")
    assert not ledger.ledger(held)["done"]
    assert [row["counted"] for row in ledger.rows("SELECT counted FROM task_run ORDER BY id")] == [True, False]
    words = "Does not count: this person had answered before"
    admin = await (await served.person("admin", admin=True)).by_session()
    page = f"/project/birds/tasks/{held}"
    stranger, owner = (await served.client().get(page)).text, (await admin.get(page)).text
    assert "Does not count" in stranger and words not in stranger and words in owner


@shows("list-participated", "userprogress")
@pytest_twisted.ensureDeferred
async def test_lists_and_figures_count_what_the_other_has_answered(served, ledger):
    project, client = await setting(served, tasks=2)
    first = await contribute(client, project)
    await sign_in(client, "ada")
    listed = (await client.get(f"/api/task?project_id={project['id']}&participated=1&all=1")).json()
    assert [row["id"] for row in listed] == [each for each in project["tasks"] if each != first]
    progress = f"/api/project/{project['id']}/userprogress"
    assert (await client.get(progress)).json()["done"] == 1
    await contribute(client, project)
    await sign_out(client)
    assert (await client.get(progress)).json() == {"done": 2, "total": 2}
    record = (await client.get(f"/api/project/{project['id']}")).json()
    assert record["contrib_button"] == "cannot_contribute"


# What goes


@pytest_twisted.ensureDeferred
async def test_links_of_a_deleted_account_go(served, ledger):
    project, client = await setting(served, tasks=2)
    await sign_in(client, "ada")
    first = await contribute(client, project)
    await client.send_form("/account/ada/delete", {"password": "a good password"})
    assert {item["state"] for item in await worked(served)} == {"done"}
    assert ledger.rows("SELECT * FROM same_person") == []
    assert first in await everything(client, project)


async def everything(client: Any, project: dict[str, Any]) -> list[int | None]:
    """What a volunteer still gets."""
    client.cookies.pop(SESSION, None)
    return [await contribute(client, project) for _ in range(2)]


@pytest_twisted.ensureDeferred
async def test_export_of_personal_data_has_the_links(served, ledger):
    project, client = await setting(served, tasks=2)
    await sign_in(client, "ada")
    bob = {"headers": await token_of(served, project), "query": "?external_uid=bob"}
    await contribute(client, project, **bob)
    me = ledger.value("SELECT id FROM account WHERE name = 'ada'")
    rows = await personal_data_statements.rows(served.database, "links", me, 0)
    links = [(row["kind"], row["project_id"], row["external_uid"]) for row in rows]
    assert sorted(links, key=str) == [("browser", None, None)] * 2 + [("external user", project["id"], "bob")]
    assert all(row["id"] for row in rows) and VOLUNTEER not in str(rows)
