"""Anonymous volunteers of one network over HTTP: by cookies, by addresses, by the class room's limit, and barred."""

from __future__ import annotations

from typing import Any

import pytest
import pytest_twisted
from support.checks.invariants import invariants
from support.checks.shows import shows
from support.ledger import Ledger
from support.servers.queue_runner import worked
from twisted.internet.defer import ensureDeferred, gatherResults

from crowdd.features.tasks import barring
from crowdd.features.tasks.feature import TasksFeature
from crowdd.http.auth.cookies import VOLUNTEER, YEAR
from crowdd.kernel.requester import Requester, network

RULE = {"CROWDD_VOLUNTEERS_COUNTED_PER_NETWORK": "1", "CROWDD_HTTP_TRUSTED_PROXIES": "127.0.0.1"}


@pytest.fixture
def ledger(dsn):
    made = Ledger(dsn)
    yield made
    assert invariants(made.connection) == []
    made.close()


def at(served: Any, address: str) -> Any:
    """A program without a cookie at an address."""
    return served.client(**{"X-Forwarded-For": address})


async def browser(served: Any, address: str = "192.0.2.1") -> Any:
    """A browser that has been given a volunteer cookie at an address."""
    client = at(served, address)
    await client.get("/about", headers={"Accept": "text/html"})
    assert VOLUNTEER in client.cookies
    return client


async def asked(client: Any, project: dict[str, Any]) -> int | None:
    answer = await client.get(f"/api/{project['id']}/newtask")
    assert answer.status == 200, answer.text
    return answer.json().get("id")


async def answer(client: Any, project: dict[str, Any], task: int | None) -> Any:
    body = {"project_id": project["id"], "task_id": task, "info": "yes"}
    return await client.post("/api/taskrun", json=body)


async def contribute(client: Any, project: dict[str, Any]) -> int | None:
    task = await asked(client, project)
    assert (await answer(client, project, task)).status == 200
    return task


@shows("lease-network")
@pytest_twisted.ensureDeferred
async def test_thirty_cookies_on_one_address_make_one_counted_answer(serve, ledger):
    served = await serve(**RULE)
    project = await served.project(await served.person("owner"), tasks=1, published=True, n_answers=30)
    (task,) = project["tasks"]
    jars = [await browser(served) for _ in range(30)]
    task_ids = [await asked(jar, project) for jar in jars]
    assert task_ids == [task] + [None] * 29
    for jar in jars:
        await served.house[TasksFeature].contributions.hold(await who(served, jar), project["id"], task)
        await answer(jar, project, task)
    rows = ledger.rows("SELECT counted, user_ip FROM task_run")
    assert len(rows) == 30 and len({row["user_ip"] for row in rows}) == 1
    assert sum(row["counted"] for row in rows) == 1


async def who(served: Any, client: Any) -> Any:
    """The requester that a browser is, as the page of a task would hold it."""
    name = client.cookies[VOLUNTEER].partition("~")[0]
    place = served.house.base.secrets.pseudonym(network(client.headers["X-Forwarded-For"]))
    return Requester(volunteer=name, network=place)


@shows("caller-network")
@pytest_twisted.ensureDeferred
async def test_thirty_addresses_of_one_64_are_one_volunteer(serve, ledger):
    served = await serve(**RULE)
    project = await served.project(await served.person("owner"), tasks=1, published=True, n_answers=30)
    (task,) = project["tasks"]
    statuses = []
    for n in range(30):
        client = at(served, f"2001:db8:1:2::{n:x}")
        statuses.append((await asked(client, project), (await answer(client, project, task)).status))
    assert statuses == [(task, 200)] + [(None, 403)] * 29
    assert await asked(at(served, "2001:db8:1:3::1"), project) == task
    assert ledger.value("SELECT count(DISTINCT actor) FROM task_run") == 1


@pytest_twisted.ensureDeferred
async def test_two_cookies_of_a_network_answer_a_task_at_once_and_one_counts(serve, ledger):
    served = await serve(**RULE)
    project = await served.project(await served.person("owner"), tasks=1, published=True, n_answers=3)
    (task,) = project["tasks"]
    first, second = await browser(served), await browser(served, "198.51.100.1")
    assert await asked(first, project) == await asked(second, project) == task
    second.headers["X-Forwarded-For"] = "192.0.2.1"  # a phone that comes home
    both = [ensureDeferred(answer(client, project, task)) for client in (first, second)]
    assert [each.status for each in await gatherResults(both)] == [200, 200]
    assert ledger.value("SELECT count(*) FROM task_run WHERE counted") == 1


@shows("lease-network")
@pytest_twisted.ensureDeferred
async def test_others_of_the_network_get_other_tasks(serve, ledger):
    served = await serve(**RULE)
    project = await served.project(await served.person("owner"), tasks=3, published=True, n_answers=3)
    pupils = [await browser(served) for _ in range(3)]
    assert [await contribute(pupil, project) for pupil in pupils] == project["tasks"]
    assert [await asked(pupil, project) for pupil in pupils] == [None] * 3
    assert [await contribute(await browser(served, "198.51.100.1"), project) for _ in range(3)] == project["tasks"]


@shows("newtask-network", "lease-networks-accounts")
@pytest_twisted.ensureDeferred
async def test_second_person_of_a_network_is_told_that_signing_in_helps(serve, ledger):
    served = await serve(**RULE)
    project = await served.project(await served.person("owner"), tasks=1, published=True, n_answers=3)
    first, second, ada = await browser(served), await browser(served), await served.person("ada")
    task = await contribute(first, project)
    path = f"/api/project/{project['id']}/newtask?explain=1"
    response = await second.get(path)
    assert response.header("X-No-Task") == response.json()["reason"] == "network"
    assert response.json()["message"] == "Somebody in your network has answered the remaining tasks."
    assert (await second.get(path.partition("?")[0])).json() == {}
    assert (await first.get(path)).header("X-No-Task") == "none"  # they have answered it themselves
    assert (await ada.get(path, headers=second.headers)).json()["id"] == task
    elsewhere = await browser(served, "198.51.100.1")
    assert await contribute(elsewhere, project) == task


@shows("lease-network")
@pytest_twisted.ensureDeferred
async def test_owner_raises_the_limit_for_a_class_room(serve, ledger):
    served = await serve(**RULE)
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1, published=True, n_answers=3)
    (task,) = project["tasks"]
    pupils = [await browser(served) for _ in range(3)]
    await contribute(pupils[0], project)
    await served.house[TasksFeature].contributions.hold(await who(served, pupils[1]), project["id"], task)
    await answer(pupils[1], project, task)
    assert ledger.ledger(task)["answers"] == 1
    path, info = f"/api/project/{project['id']}", {"task_presenter": "<p>?</p>"}
    for wrong in (-1, 1001, "3", 2.5, True):
        refused = await owner.put(path, json={"info": {**info, "counted_per_network": wrong}})
        assert refused.status == 415 and "counted_per_network" in refused.text
    assert (await owner.put(path, json={"info": {**info, "counted_per_network": 3}})).status == 200
    assert ledger.ledger(task)["answers"] == 2  # what was stored counts now
    assert await contribute(pupils[2], project) == task
    assert ledger.ledger(task)["done"]


@shows("lease-network")
@pytest_twisted.ensureDeferred
async def test_the_rule_of_the_site_holds_for_projects_that_say_nothing(serve, ledger):
    served = await serve(**RULE)
    owner = await served.person("owner")
    plain, own = await served.project(owner), await served.project(owner, "trees")
    body = {"info": {"task_presenter": "<p>?</p>", "counted_per_network": 4}}
    assert (await owner.put(f"/api/project/{own['id']}", json=body)).status == 200
    rules = "SELECT counted_per_network AS n FROM project_ledger ORDER BY project_id"
    assert [row["n"] for row in ledger.rows(rules)] == [1, 4]
    await serve(CROWDD_VOLUNTEERS_COUNTED_PER_NETWORK="2")
    assert [row["n"] for row in ledger.rows(rules)] == [2, 4]
    assert (await served.project(owner, "birds2"))["id"] > plain["id"]
    assert [row["n"] for row in ledger.rows(rules)] == [2, 4, 2]


# Cookies -------------------------------------------------------------------------------------------------------------


@pytest_twisted.ensureDeferred
async def test_volunteer_cookie_says_when_and_where_it_was_given(serve):
    served = await serve(**RULE)
    client = await browser(served, "192.0.2.77")
    _name, issued_at, place = served.house.base.secrets.verify(VOLUNTEER, client.cookies[VOLUNTEER]).split("~")
    assert issued_at.isdigit()
    assert place == served.house.base.secrets.pseudonym("192.0.2.77")


@shows("caller-cookie")
@pytest_twisted.ensureDeferred
async def test_volunteer_cookie_is_good_in_another_network(serve):
    served = await serve(**RULE)
    project = await served.project(await served.person("owner"), tasks=2, published=True, n_answers=3)
    client = await browser(served)
    task = await asked(client, project)
    client.headers["X-Forwarded-For"] = "198.51.100.1"
    assert await asked(client, project) == task
    assert (await answer(client, project, task)).status == 200


@shows("caller-cookie")
@pytest.mark.parametrize(("age", "known"), [(0, True), (YEAR - 10, True), (YEAR + 10, False), (None, True)])
@pytest_twisted.ensureDeferred
async def test_volunteer_cookie_ends_after_a_year(serve, ledger, age, known):
    served = await serve(**RULE)
    project = await served.project(await served.person("owner"), tasks=1, published=True)
    now = served.server._reactor.seconds()
    text = "anna" if age is None else f"anna~{int(now - age)}~10.0.0.1"
    client = at(served, "192.0.2.1")
    client.cookies[VOLUNTEER] = served.house.base.secrets.sign(VOLUNTEER, text)
    await asked(client, project)
    assert (ledger.value("SELECT actor FROM lease") == "c:anna") is known


@shows("caller-cookie-budget")
@pytest.mark.parametrize("setting", ["HOUR", "DAY"])
@pytest_twisted.ensureDeferred
async def test_cookies_of_a_network_have_a_budget(serve, setting):
    served = await serve(**{**RULE, f"CROWDD_VOLUNTEERS_COOKIES_PER_{setting}": "2"})
    jars = []
    for n in range(4):
        client = at(served, f"2001:db8:7:7::{n}")
        await client.get("/about", headers={"Accept": "text/html"})
        jars.append(VOLUNTEER in client.cookies)
    assert jars == [True, True, False, False]
    await browser(served, "2001:db8:7:8::1")


# Bars ----------------------------------------------------------------------------------------------------------------


async def spoiled(served: Any) -> tuple[Any, dict[str, Any], Any]:
    """An owner, a finished project, and the anonymous volunteer who spoiled it."""
    owner = await served.person("owner")
    project = await served.project(owner, tasks=3, published=True, n_answers=1)
    spammer = await browser(served)
    for _ in range(3):
        await contribute(spammer, project)
    return owner, project, spammer


@shows("volunteer-bar", "volunteer-barred", "volunteer-set-aside")
@pytest_twisted.ensureDeferred
async def test_barred_volunteer_is_refused_and_their_answers_are_set_aside(serve, ledger):
    served = await serve(**RULE)
    owner, project, spammer = await spoiled(served)
    run = ledger.value("SELECT min(id) FROM task_run")
    response = await owner.post(f"/api/project/{project['id']}/bar", json={"taskrun_id": run, "reason": "noise"})
    assert response.json()["answers"] == 3 and response.json()["queue_item"] is None
    assert ledger.value("SELECT count(*) FROM task_run WHERE counted OR aside IS NULL") == 0
    assert ledger.value("SELECT count(*) FROM task_ledger WHERE done") == 0
    assert ledger.value("SELECT count(*) FROM result WHERE last_version") == 0
    for refused in (
        await spammer.get(f"/api/{project['id']}/newtask"),
        await answer(spammer, project, project["tasks"][0]),
        await spammer.post(f"/api/task/{project['tasks'][0]}/renew", json={}),
    ):
        assert (refused.status, refused.json()["error_code"]) == (403, "barred"), refused.text
    assert await contribute(await browser(served), project) == project["tasks"][0]


@shows("volunteer-unbar")
@pytest_twisted.ensureDeferred
async def test_removed_bar_brings_answers_back_where_places_are_free(serve, ledger):
    served = await serve(**RULE)
    owner, project, spammer = await spoiled(served)
    path = f"/api/project/{project['id']}"
    run = ledger.value("SELECT min(id) FROM task_run")
    bar = (await owner.post(f"{path}/bar", json={"taskrun_id": run})).json()["id"]
    await contribute(await browser(served, "198.51.100.1"), project)
    (one,) = (await owner.get(f"{path}/barred")).json()
    assert (one["id"], one["sort"], one["by"]) == (bar, "anonymous", "owner")
    assert (await owner.post(f"{path}/unbar", json={"id": bar})).json()["answers"] == 3
    assert ledger.value("SELECT count(*) FROM task_ledger WHERE done") == 3
    assert (
        ledger.value("SELECT count(*) FROM task_run WHERE counted AND actor LIKE 'c:%%' AND user_ip IS NOT NULL") == 3
    )
    assert ledger.value("SELECT count(*) FROM task_run WHERE aside IS NOT NULL") == 0
    assert await asked(spammer, project) is None
    assert (await owner.post(f"{path}/unbar", json={"id": bar})).status == 404
    actions = [row["action"] for row in ledger.rows("SELECT action FROM audit WHERE action LIKE '%%bar' ORDER BY id")]
    assert actions == ["bar", "unbar"]


@shows("volunteer-bar")
@pytest_twisted.ensureDeferred
async def test_barred_network_keeps_out_all_its_anonymous_volunteers_alone(serve, ledger):
    served = await serve(**RULE)
    owner, project, _spammer = await spoiled(served)
    run = ledger.value("SELECT min(id) FROM task_run")
    body = {"taskrun_id": run, "network": True, "set_aside": False}
    assert (await owner.post(f"/api/project/{project['id']}/bar", json=body)).json()["answers"] == 0
    assert ledger.value("SELECT count(*) FROM task_run WHERE counted") == 3
    for client in (await browser(served), at(served, "192.0.2.1")):
        assert (await client.get(f"/api/{project['id']}/newtask")).status == 403
    ada = await served.person("ada")
    ada.headers["X-Forwarded-For"] = "192.0.2.1"
    assert (await ada.get(f"/api/{project['id']}/newtask")).status == 200
    assert (await (await browser(served, "198.51.100.1")).get(f"/api/{project['id']}/newtask")).status == 200


@shows("volunteer-bar")
@pytest_twisted.ensureDeferred
async def test_many_answers_are_set_aside_and_brought_back_in_the_background(serve, ledger, monkeypatch):
    monkeypatch.setattr(barring, "CHUNK", 1)
    served = await serve(**RULE)
    owner, project, _spammer = await spoiled(served)
    path = f"/api/project/{project['id']}"
    run = ledger.value("SELECT min(id) FROM task_run")
    barred = (await owner.post(f"{path}/bar", json={"taskrun_id": run, "network": True})).json()
    assert barred["answers"] == 1 and barred["queue_item"]
    await worked(served)
    assert ledger.value("SELECT count(*) FROM task_run WHERE aside = %(bar)s", bar=barred["id"]) == 3
    assert (await owner.post(f"{path}/unbar", json={"id": barred["id"]})).json()["queue_item"]
    await worked(served)
    assert ledger.value("SELECT count(*) FROM task_run WHERE counted") == 3


@pytest_twisted.ensureDeferred
async def test_answers_that_two_bars_name_stay_aside_until_both_are_removed(serve, ledger):
    served = await serve(**RULE)
    owner, project, _spammer = await spoiled(served)
    path = f"/api/project/{project['id']}"
    run = ledger.value("SELECT min(id) FROM task_run")
    one = (await owner.post(f"{path}/bar", json={"taskrun_id": run})).json()["id"]
    two = (await owner.post(f"{path}/bar", json={"taskrun_id": run, "network": True})).json()["id"]
    await owner.post(f"{path}/unbar", json={"id": one})
    assert ledger.value("SELECT count(*) FROM task_run WHERE aside = %(two)s", two=two) == 3
    await owner.post(f"{path}/unbar", json={"id": two})
    assert ledger.value("SELECT count(*) FROM task_run WHERE counted") == 3


@shows("volunteer-bar")
@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 415),
        ({"user_id": 1, "external_uid": "x"}, 415),
        ({"user_name": "nobody"}, 404),
        ({"taskrun_id": 10**9}, 404),
        ({"taskrun_id": "x"}, 415),
        ({"user_id": 1, "network": True}, 415),
        ({"user_id": 1, "colour": "red"}, 415),
    ],
)
@pytest_twisted.ensureDeferred
async def test_bar_that_names_nobody_is_refused(served, body, status):
    owner = await served.person("owner")
    project = await served.project(owner)
    assert (await owner.post(f"/api/project/{project['id']}/bar", json=body)).status == status


@shows("volunteer-bars")
@pytest_twisted.ensureDeferred
async def test_only_owners_bar_and_see_who_is_barred(served, ledger):
    owner, stranger = await served.person("owner"), await served.person("stranger")
    project = await served.project(owner, tasks=1, published=True)
    path = f"/api/project/{project['id']}"
    for client, status in ((stranger, 403), (served.client(), 401)):
        assert (await client.post(f"{path}/bar", json={"user_id": owner.user_id})).status == status
        assert (await client.post(f"{path}/unbar", json={"id": 1})).status == status
        assert (await client.get(f"{path}/barred")).status == status
    assert (await owner.post(f"{path}/bar", json={"user_name": "Stranger"})).status == 200
    assert (await stranger.get(f"/api/{project['id']}/newtask")).json()["error_code"] == "barred"
    (one,) = (await owner.get(f"{path}/barred")).json()
    assert (one["sort"], one["shown"], one["user_name"]) == ("account", "stranger", "stranger")


# The page ------------------------------------------------------------------------------------------------------------


@shows("page-volunteers")
@pytest_twisted.ensureDeferred
async def test_owner_bars_and_lets_in_again_on_the_page(serve, ledger):
    served = await serve(**RULE)
    owner, project, spammer = await spoiled(served)
    run = ledger.value("SELECT min(id) FROM task_run")
    page = "/project/birds/volunteers"
    shown = (await owner.page(f"{page}?taskrun_id={run}")).json()
    assert shown["form"]["taskrun_id"] == str(run) and shown["default"] == 1 and shown["barred"] == []
    response = await owner.send_form(f"{page}/bar", {"taskrun_id": str(run), "set_aside": True}, token_from=page)
    assert response.json()["answers"] == 3, response.text
    (one,) = (await owner.page(page)).json()["barred"]
    assert (await spammer.get(f"/api/{project['id']}/newtask")).status == 403
    assert (await owner.send_form(f"{page}/unbar/{one['id']}", {}, token_from=page)).status == 200
    shown = (await owner.page(f"{page}?volunteer={one['volunteer']}")).json()
    assert shown["barred"] == [] and shown["form"]["volunteer"] == one["volunteer"]
    unknown, empty = "This project has no answers from volunteer nobody.", "Please fill this in."
    for pseudonym, words in (("nobody", unknown), ("", empty)):
        refused = (await owner.send_form(f"{page}/bar", {"volunteer": pseudonym}, token_from=page)).json()
        assert refused["form"]["errors"] == {"volunteer": [words]}
    response = await owner.send_form(f"{page}/bar", {"volunteer": one["volunteer"]}, token_from=page)
    assert response.json()["status"] == "success"
    assert (await spammer.get(f"/api/{project['id']}/newtask")).status == 403


@shows("page-volunteers")
@pytest_twisted.ensureDeferred
async def test_owner_sets_the_limit_on_the_page(serve, ledger):
    served = await serve(**RULE)
    owner = await served.person("owner")
    await served.project(owner)
    page, maximum = "/project/birds/volunteers", "SELECT counted_per_network FROM project_ledger"
    for limit, stored in (("30", 30), ("0", 0), ("", 1)):
        for form in ({"counted_per_network": limit}, {}):
            assert (await owner.send_form(page, form)).json()["status"] == "success"
            assert ledger.value(maximum) == stored
    refused = (await owner.send_form(page, {"counted_per_network": "many"})).json()
    assert refused["form"]["errors"]["counted_per_network"]
    assert ledger.value(maximum) == 1
