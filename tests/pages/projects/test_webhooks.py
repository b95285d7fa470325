"""The webhook's page: who may, what it shows, and each of its buttons; over the web, with the server's own deliverer."""

from __future__ import annotations

import pytest
import pytest_twisted
from standardwebhooks import Webhook
from support.checks.refused import REFUSED
from support.checks.shows import shows
from support.servers.receiver import Receiver
from support.until import until

from crowdd.core.outbound.url_policy import target
from crowdd.kernel.errors import RefusedTargetError

HERE = "/project/birds/webhook"


@pytest.fixture
def receiver():
    made = Receiver()
    yield made
    made.close()


async def prepared(serve, receiver, tasks=3):
    """A server that may send to this machine, an owner, and a project that tells the receiver."""
    served = await serve(CROWDD_OUTGOING_ALLOWED_HOSTS="127.0.0.1:*", CROWDD_WEBHOOKS_FIRST_DELAY="0.05")
    owner = await served.person("ada")
    project = await served.project(owner, tasks=tasks, n_answers=1, published=True)
    if receiver is not None:
        assert (await owner.put(f"/api/project/{project['id']}", json={"webhook": receiver.url})).status == 200
    return served, owner, project


async def answer(served, project):
    client = served.client()
    task = (await client.get(f"/api/project/{project['id']}/newtask")).json()
    body = {"project_id": project["id"], "task_id": task["id"], "info": 1}
    assert (await client.post("/api/taskrun", json=body)).status == 200
    return task["id"]


async def seen(owner, path=HERE):
    answer = await owner.page(path)
    assert answer.status == 200, answer.text
    return answer.json()


@shows("page-webhook")
@pytest_twisted.ensureDeferred
async def test_an_answer_reaches_the_receiver_and_the_page_shows_it(serve, receiver):
    served, owner, project = await prepared(serve, receiver)
    task = await answer(served, project)

    async def delivered():
        return [row["state"] for row in (await seen(owner))["deliveries"]] == ["delivered"]

    await until(delivered)
    page = await seen(owner)
    body = Webhook(page["secret"]).verify(receiver.taken[0].body, receiver.taken[0].headers)
    assert (body["task_id"], body["project_short_name"], body["user_ids"]) == (task, "birds", [])
    (row,) = page["deliveries"]
    assert (row["payload"], row["response_status_code"], row["project_id"]) == (body, 204, project["id"])
    assert (page["webhook"]["state"], page["webhook"]["url"], page["next"]) == ("on", receiver.url, None)
    one = (await seen(owner, f"{HERE}/{row['id']}"))["delivery"]
    assert one["attempts_made"][0]["body"] == receiver.taken[0].body.decode()
    html = await owner.get(HERE, headers={"Accept": "text/html"})
    assert f'href="{HERE}/{row["id"]}"' in html.text and page["secret"] in html.text


@shows("page-webhook")
@pytest_twisted.ensureDeferred
async def test_only_owners_see_it_and_only_what_is_theirs(serve, receiver):
    served, owner, project = await prepared(serve, receiver)
    await answer(served, project)

    async def sent():
        return (await seen(owner))["deliveries"]

    await until(sent)
    delivery = (await seen(owner))["deliveries"][0]["id"]
    stranger, anonymous = await served.person("eve"), served.client()
    await served.project(stranger, "stars")
    for path in ("", f"/{delivery}"):
        assert (await stranger.page(HERE + path)).status == 403
        assert (await anonymous.page(HERE + path)).status == 302
    for path in ("", "/test", "/on", "/secret", "/redeliver", "/backfill", f"/{delivery}"):
        assert (await stranger.post(HERE + path, json={})).status == 403
        assert (await anonymous.post(HERE + path, json={})).status in (302, 400)
    assert (await stranger.page(f"/project/stars/webhook/{delivery}")).status == 404
    assert (await stranger.post(f"/project/stars/webhook/{delivery}", json={})).status == 400, "no address"
    assert len(receiver.requests) == 1
    record = (await anonymous.get(f"/api/project/{project['id']}")).text
    assert receiver.url not in record and "whsec" not in record


@shows("delivery-log", "page-webhook")
@pytest_twisted.ensureDeferred
async def test_every_button(serve, receiver):
    served, owner, project = await prepared(serve, None)
    await answer(served, project)

    async def numbered():
        return (await seen(owner))["webhook"]["n_events"] == 1

    await until(numbered)
    assert (await seen(owner))["webhook"]["state"] == "none"
    assert (await owner.post(f"{HERE}/test", json={})).status == 400
    saved = await owner.post(HERE, json={"webhook": receiver.url})
    assert saved.json() == {"next": HERE, "flash": "The address is saved.", "status": "success"}
    test = (await owner.post(f"{HERE}/test", json={})).json()
    assert test["next"] == f"{HERE}/{test['id']}"

    async def count(number):
        await until(lambda: _is(lambda: len(receiver.taken) == number))

    await count(1)
    assert receiver.taken[0].json["event"] == "ping"
    filled = (await owner.post(f"{HERE}/backfill", json={})).json()
    assert (filled["count"], filled["flash"]) == (1, "1 event is sent.")
    await count(2)

    async def all_sent():
        return {row["state"] for row in (await seen(owner))["deliveries"]} == {"delivered"}

    await until(all_sent)
    row = (await seen(owner))["deliveries"][0]
    again = (await owner.post(f"{HERE}/{row['id']}", json={})).json()
    assert (again["id"], again["state"], again["payload"]["sequence"]) == (row["id"], "waiting", 1)
    await count(3)
    await until(all_sent)
    assert (await owner.post(f"{HERE}/redeliver", json={"from": "1", "to": "9"})).json()["count"] == 1
    await count(4)
    await until(all_sent)
    chosen = {"ticked": "1", "scope": "page", "page_ids": f"{row['id']},{row['id']},{10**15}"}
    assert (await owner.post(f"{HERE}/redeliver", json=chosen)).json()["count"] == 1, "no other one, and once"
    await count(5)
    assert (await owner.post(f"{HERE}/redeliver", json={"ticked": "1"})).json()["count"] == 0, "none is selected"
    secret = (await seen(owner))["secret"]
    new = (await owner.post(f"{HERE}/secret", json={})).json()["secret"]
    assert new == (await seen(owner))["secret"] != secret and (await seen(owner))["webhook"]["old_secret_until"]
    assert (await owner.post(f"{HERE}/redeliver", json={})).json()["count"] == 0
    assert (await owner.post(f"{HERE}/redeliver", json={"from": "5"})).status == 400
    receiver.behave = lambda request: 410
    await answer(served, project)

    async def off():
        return (await seen(owner))["webhook"]["state"] == "off"

    await until(off)
    receiver.behave = lambda request: 200
    assert (await owner.post(f"{HERE}/on", json={})).status == 200
    await count(6)
    assert (await owner.post(f"{HERE}/redeliver", json={})).json()["count"] == 0
    gone = await owner.post(HERE, json={"webhook": ""})
    assert gone.json()["flash"] == "The webhook address was removed."
    assert (await owner.get(f"/api/project/{project['id']}")).json()["webhook"] is None


async def _is(condition):
    return condition()


@shows("delivery-address")
@pytest_twisted.ensureDeferred
async def test_an_address_that_crowdd_never_asks_is_refused_on_the_page(served):
    owner = await served.person("ada")
    await served.project(owner)
    refused = (await owner.post(HERE, json={"webhook": "http://10.0.0.1/"})).json()
    assert refused["status"] == "error" and "private address" in refused["form"]["errors"]["webhook"][0]
    assert (await seen(owner))["webhook"]["url"] is None


@shows("page-webhook")
@pytest_twisted.ensureDeferred
async def test_a_request_without_the_address_changes_nothing(served):
    owner = await served.person("ada")
    await served.project(owner)
    await owner.post(HERE, json={"webhook": "https://hooks.example/x"})
    before = (await seen(owner))["webhook"]
    for body in ({}, {"url": "https://other.example/"}):
        assert (await owner.post(HERE, json=body)).json()["flash"] == "The address is saved."
    assert (await seen(owner))["webhook"] == before and before["url"] == "https://hooks.example/x"


def _told_apart(url):
    """Whether an address is refused before anybody is asked."""
    try:
        target(url)
    except RefusedTargetError:
        return True
    return False


@shows("delivery-address")
@pytest_twisted.ensureDeferred
async def test_the_api_refuses_the_addresses_that_the_forms_refuse(served):
    owner = await served.person("ada")
    project = await served.project(owner)
    bad = ["file:///etc/passwd", "hooks.example", *filter(_told_apart, REFUSED)]
    assert len(bad) > 40
    for n, url in enumerate(bad):
        put = await owner.put(f"/api/project/{project['id']}", json={"webhook": url})
        assert put.status == 415 and put.json()["error_code"] == (
            "refused_target" if len(url) < 2000 else "invalid_value"
        ), url
        body = {"name": f"P{n}", "short_name": f"p{n}", "description": "x", "webhook": url}
        assert (await owner.post("/api/project", json=body)).status == 415, url
        form = (await owner.post(HERE, json={"webhook": url})).json()
        assert form["form"]["errors"]["webhook"] == [put.json()["exception_msg"]] or len(url) > 2000, url
        update = (await owner.post("/project/birds/update", json={"webhook": url})).json()
        assert list(update["form"]["errors"]) == ["webhook"], url
    assert (await seen(owner))["webhook"]["url"] is None
    (count,) = await served.database.fetch("SELECT count(*) AS n FROM project")
    assert count["n"] == 1
    good = {"webhook": "https://hooks.example/x"}
    assert (await owner.put(f"/api/project/{project['id']}", json=good)).json()["webhook"] == good["webhook"]


@pytest_twisted.ensureDeferred
async def test_an_old_address_that_is_refused_now_keeps_no_project_from_being_changed(served):
    owner = await served.person("ada")
    project = await served.project(owner)
    await served.database.execute("UPDATE project SET webhook = 'http://10.0.0.1/'")
    whole = {"description": "Owls?", "webhook": "http://10.0.0.1/"}
    assert (await owner.put(f"/api/project/{project['id']}", json=whole)).json()["description"] == "Owls?"


@shows("page-webhook")
@pytest_twisted.ensureDeferred
async def test_the_log_goes_on_and_is_chosen_from(serve, receiver):
    served, owner, _ = await prepared(serve, None)
    await served.database.execute("UPDATE project SET webhook = 'http://127.0.0.1:1/'")
    await served.database.execute(
        "INSERT INTO delivery (project_id, kind, created, next_at, state, finished)"
        " SELECT id, 'ping', clock(), clock(), CASE n % 2 WHEN 0 THEN 'failed' ELSE 'delivered' END, clock()"
        " FROM project, generate_series(1, 50) n"
    )
    first = await seen(owner)
    second = await seen(owner, f"{HERE}?before={first['next']}&state=failed")
    assert len(first["deliveries"]) == 20 and first["next"] == 31
    assert [row["id"] for row in second["deliveries"]] == [*range(30, 0, -2)] and second["next"] is None
    for query in ("state=lost", "before=x", "before=99999999999999999999"):
        assert (await owner.page(f"{HERE}?{query}")).status == 415
