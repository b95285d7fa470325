"""What an answer says of who gave it: a random word for everybody, more for the owners of the project alone."""

import ipaddress
import re

import pytest_twisted
from support.checks.shows import shows
from twisted.internet.defer import DeferredList, ensureDeferred

from crowdd.features.people import personal_data_statements
from crowdd.features.signin.feature import SigninFeature
from crowdd.features.statistics.feature import StatisticsFeature
from crowdd.features.tasks.feature import TasksFeature
from crowdd.kernel.requester import Requester
from crowdd.sched import event_statements


async def setting(served, names=("birds",), **task):
    owner = await served.person("owner")
    return owner, [await served.project(owner, name, tasks=3, published=True, **task) for name in names]


async def answer(client, project, headers=None, query=""):
    task = (await client.get(f"/api/{project['id']}/newtask?{query}", headers=headers)).json()["id"]
    body = {"project_id": project["id"], "task_id": task, "info": 1}
    if query:
        body["external_uid"] = query.partition("=")[2]
    made = await client.post(f"/api/taskrun?{query}", json=body, headers=headers)
    assert made.status == 200, made.body
    return made.json()


async def runs(client, project):
    return (await client.get(f"/api/taskrun?project_id={project['id']}&all=1")).json()


@shows("taskrun-volunteer")
@pytest_twisted.ensureDeferred
async def test_answers_carry_one_random_word_per_project_and_volunteer(served):
    _, (birds, fish) = await setting(served, ("birds", "fish"))
    ada, anonymous = await served.person("ada"), served.client()
    first, second, other = await answer(ada, birds), await answer(ada, birds), await answer(ada, fish)
    assert first["volunteer"] == second["volunteer"] != other["volunteer"]
    stranger = await answer(anonymous, birds)
    assert re.fullmatch("[0-9a-f]{15}", first["volunteer"]) and stranger["volunteer"] != first["volunteer"]
    listed = await runs(served.client(), birds)
    assert [run["volunteer"] for run in listed] == [first["volunteer"], first["volunteer"], stranger["volunteer"]]
    exported = await served.client().get("/project/birds/tasks/export?type=task_run&format=csv")
    assert exported.text.count(first["volunteer"]) == 2 and exported.text.count(stranger["volunteer"]) == 1
    response = await served.client().get(f"/api/taskrun?project_id={birds['id']}&volunteer={first['volunteer']}")
    assert len(response.json()) == 2


@shows("taskrun-volunteer")
@pytest_twisted.ensureDeferred
async def test_two_first_answers_at_once_have_one_word(served):
    _, (birds,) = await setting(served)
    ada = await served.person("ada")
    tasks = [task["id"] for task in (await ada.get(f"/api/{birds['id']}/newtask?limit=3")).json()]
    bodies = [{"project_id": birds["id"], "task_id": task, "info": 1} for task in tasks]
    sent = [ensureDeferred(ada.post("/api/taskrun", json=body)) for body in bodies]
    made = [answered.json()["volunteer"] for _, answered in await DeferredList(sent)]
    assert len(made) == 3 and len(set(made)) == 1


@pytest_twisted.ensureDeferred
async def test_a_refused_answer_makes_no_word(served):
    _, (birds,) = await setting(served)
    body = {"project_id": birds["id"], "task_id": birds["tasks"][0], "info": 1}
    assert (await served.client().post("/api/taskrun", json=body)).status == 403
    assert await served.database.fetch("SELECT FROM volunteer_word", {}) == []


@shows("caller-pseudonym")
@pytest_twisted.ensureDeferred
async def test_an_address_has_another_pseudonym_in_each_project_and_owners_read_it_alone(served):
    owner, (birds, fish) = await setting(served, ("birds", "fish"))
    anonymous, ada = served.client(), await served.person("ada")
    made = [await answer(anonymous, project) for project in (birds, birds, fish)]
    assert [run["user_ip"] for run in made] == [None, None, None]
    first, second, other = [run["user_ip"] for project in (birds, fish) for run in await runs(owner, project)]
    assert first == second != other
    assert {ipaddress.ip_address(address).version for address in (first, other)} == {4} and "127.0.0.1" not in (
        first,
        other,
    )
    for reader in (anonymous, ada):
        for run in await runs(reader, birds):
            assert run["user_ip"] is None
        assert (await reader.get(f"/api/taskrun?project_id={birds['id']}&user_ip={first}")).json() == []
        exports = [
            await reader.get(f"/project/birds/tasks/export?type=task_run&format={word}") for word in ("json", "csv")
        ]
        assert all(export.status == 200 and "user_ip" in export.text and first not in export.text for export in exports)
    assert first in (await owner.get("/project/birds/tasks/export?type=task_run&format=csv")).text


@shows("caller-pseudonym")
@pytest_twisted.ensureDeferred
async def test_the_pseudonym_of_an_address_is_replaced_each_year(served):
    owner, (birds,) = await setting(served, n_answers=1)
    anonymous, seconds = served.client(), served.house.base.shared.seconds
    await answer(anonymous, birds)
    served.house[TasksFeature].contributions.networks._seconds = lambda: seconds() + 366 * 86400
    await answer(anonymous, birds)
    one, two = [run["user_ip"] for run in await runs(owner, birds)]
    assert one != two and None not in (one, two)


@shows("taskrun-fields")
@pytest_twisted.ensureDeferred
async def test_an_external_uid_is_read_by_owners_and_its_author_and_is_a_hash_for_others(served):
    owner, (birds, fish) = await setting(served, ("birds", "fish"))
    client, shown = served.client(), {}
    for project in (birds, fish):
        key = {"Authorization": project["secret_key"]}
        token = (await client.get(f"/api/auth/project/{project['short_name']}/token", headers=key)).text
        bearer = {"Authorization": f"Bearer {token}"}
        made = [await answer(client, project, bearer, "external_uid=ada@example.org") for _ in range(2)]
        assert {run["external_uid"] for run in made} == {"ada@example.org"}
        assert {run["external_uid"] for run in await runs(owner, project)} == {"ada@example.org"}
        (shown[project["id"]],) = {run["external_uid"] for run in await runs(client, project)}
    assert shown[birds["id"]] != shown[fish["id"]] and re.fullmatch("[0-9a-f]{32}", shown[birds["id"]])
    hidden = await client.get(f"/api/taskrun?project_id={birds['id']}&external_uid=ada@example.org")
    assert hidden.json() == []
    for word in ("json", "csv"):
        text = (await client.get(f"/project/birds/tasks/export?type=task_run&format={word}")).text
        assert "ada@example.org" not in text and text.count(shown[birds["id"]]) == 2


@pytest_twisted.ensureDeferred
async def test_an_answer_sent_again_with_its_key_is_shown_as_the_first_time(served):
    _, (birds,) = await setting(served)
    client = served.client()
    token = (await client.get("/api/auth/project/birds/token", headers={"Authorization": birds["secret_key"]})).text
    headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": "once"}
    task = (await client.get(f"/api/{birds['id']}/newtask?external_uid=a", headers=headers)).json()["id"]
    body = {"project_id": birds["id"], "task_id": task, "info": 1, "external_uid": "a"}
    sent = [(await client.post("/api/taskrun?external_uid=a", json=body, headers=headers)).json() for _ in range(2)]
    assert sent[0] == sent[1] and sent[0]["external_uid"] == "a" and sent[0]["volunteer"]


async def browsers(served, count):
    """So many browsers with a cookie of their own, all at one address."""
    made = [served.client() for _ in range(count)]
    for browser in made:
        await browser.get("/about")
        assert browser.cookies["volunteer"]
    return made


@pytest_twisted.ensureDeferred
async def test_browsers_behind_one_address_are_told_apart_also_when_their_answers_do_not_count(served):
    owner, (birds,) = await setting(served, n_answers=4)
    some = await browsers(served, 3)
    (task,) = {(await browser.get(f"/api/{birds['id']}/newtask")).json()["id"] for browser in some}
    change = {"info": {"task_presenter": "<p>?</p>", "counted_per_network": 1}}
    assert (await owner.put(f"/api/project/{birds['id']}", json=change)).status == 200
    for browser in some:
        made = await browser.post("/api/taskrun", json={"project_id": birds["id"], "task_id": task, "info": 1})
        assert made.status == 200 and made.json()["volunteer"], made.body
    listed = await runs(owner, birds)
    assert len({run["volunteer"] for run in listed}) == 3 and len({run["user_ip"] for run in listed}) == 1
    counted = await served.database.fetch("SELECT counted FROM task_run ORDER BY id")
    assert sorted(row["counted"] for row in counted) == [False, False, True]


@shows("volunteer-bar")
@pytest_twisted.ensureDeferred
async def test_owners_withdraw_and_bar_one_browser_of_a_class_by_its_code(served):
    owner, (birds,) = await setting(served, n_answers=2)
    spoiler, other = await browsers(served, 2)
    bad = [await answer(spoiler, birds) for _ in range(2)]
    await answer(other, birds)
    word, at = bad[0]["volunteer"], f"/api/project/{birds['id']}"
    seen = (await owner.post(f"{at}/withdraw?dry_run=1", json={"volunteer": word})).json()
    assert (seen["answers"], seen["tasks"]) == (2, 2)
    response = await owner.post(f"{at}/withdraw", json={"volunteer": word})
    assert response.json()["answers"] == 2 and len(await runs(owner, birds)) == 1
    (logged,) = await served.database.fetch("SELECT after FROM audit WHERE action = 'withdraw'")
    assert logged["after"] == {"volunteer": word, "tasks": 2}, "nothing says what the cookie holds"
    await answer(spoiler, birds)
    barred = await owner.post(f"{at}/bar", json={"volunteer": word})
    assert barred.status == 200 and barred.json()["answers"] == 1
    assert (await spoiler.get(f"/api/{birds['id']}/newtask")).json()["error_code"] == "barred"
    assert (await other.get(f"/api/{birds['id']}/newtask")).status == 200
    (bar,) = (await owner.get(f"{at}/barred")).json()
    assert (bar["sort"], bar["shown"], bar["volunteer"]) == ("anonymous", word, word)
    for path in ("withdraw", "bar"):
        for body, status in (
            ({"volunteer": "nobody"}, 404),
            ({"volunteer": word, "user_id": 1}, 415),
            ({"volunteer": 7}, 415),
        ):
            assert (await owner.post(f"{at}/{path}", json=body)).status == status, (path, body)
        assert (await other.post(f"{at}/{path}", json={"volunteer": word})).status in (401, 403)


@shows("volunteer-list")
@pytest_twisted.ensureDeferred
async def test_owners_alone_list_volunteers_with_who_they_are_and_what_they_answered(served):
    owner, (birds,) = await setting(served, n_answers=3)
    ada, (browser,) = await served.person("ada"), await browsers(served, 1)
    client, key = served.client(), {"Authorization": birds["secret_key"]}
    token = (await client.get("/api/auth/project/birds/token", headers=key)).text
    for _ in range(3):
        mine = await answer(ada, birds)
    outside = [
        await answer(client, birds, {"Authorization": f"Bearer {token}"}, "external_uid=pupil") for _ in range(2)
    ]
    theirs = await answer(browser, birds)
    at = f"/api/project/{birds['id']}/volunteers"
    none = {"user_id": None, "user_name": None, "external_uid": None, "barred": False}
    everybody = [
        none
        | {"volunteer": mine["volunteer"], "sort": "account", "user_id": ada.user_id, "user_name": "ada", "answers": 3},
        none | {"volunteer": outside[0]["volunteer"], "sort": "external", "external_uid": "pupil", "answers": 2},
        none | {"volunteer": theirs["volunteer"], "sort": "anonymous", "answers": 1},
    ]
    assert (await owner.get(at)).json() == everybody
    await served.database.fetch("SELECT fold_stats()")
    assert (await owner.get(f"{at}?limit=2&offset=1")).json() == everybody[1:]
    assert (await owner.get(f"{at}?limit=1&before={everybody[0]['volunteer']}")).json() == everybody[1:2]
    assert (await owner.get(f"{at}?before={everybody[1]['volunteer']}")).json() == everybody[2:]
    assert (await owner.get(f"{at}?before=nobody")).json() == []
    page = (await owner.page("/project/birds/volunteers")).json()
    assert page["volunteers"] == everybody and page["pagination"]["total"] == 3
    one = (await owner.page(f"/project/birds/volunteers/{mine['volunteer']}")).json()
    assert one["volunteer"] == everybody[0] and len(one["task_runs"]) == 3
    assert {run["volunteer"] for run in one["task_runs"]} == {mine["volunteer"]}
    assert (await owner.page("/project/birds/volunteers/nobody")).status == 404
    for path in (at, "/project/birds/volunteers", f"/project/birds/volunteers/{mine['volunteer']}"):
        assert (await ada.page(path)).status == 403 and (await browser.get(path)).status in (401, 302)


@shows("event-body")
@pytest_twisted.ensureDeferred
async def test_events_and_personal_data_carry_the_codes(served):
    owner, (birds,) = await setting(served, n_answers=2)
    ada, (browser,) = await served.person("ada"), await browsers(served, 1)
    made = [await answer(ada, birds), await answer(browser, birds)]
    await event_statements.number_events(served.database, birds["id"])
    (event,) = await served.house[StatisticsFeature].live.events({"id": birds["id"], "short_name": "birds"}, 0)
    assert event["user_ids"] == [ada.user_id] and event["volunteers"] == [run["volunteer"] for run in made]
    rows = await personal_data_statements.rows(served.database, "task_runs", ada.user_id, 0)
    assert [row["volunteer"] for row in rows] == [made[0]["volunteer"]]
    assert (await owner.delete(f"/api/taskrun/{made[1]['id']}")).status == 204
    (event,) = await served.house[StatisticsFeature].live.events({"id": birds["id"], "short_name": "birds"}, 0)
    assert event["volunteers"] == [made[0]["volunteer"]]


@pytest_twisted.ensureDeferred
async def test_a_code_goes_along_with_claimed_answers_and_never_names_two(served):
    owner, (birds, fish) = await setting(served, ("birds", "fish"), n_answers=3)
    ada, (browser,) = await served.person("ada"), await browsers(served, 1)
    before = await answer(browser, birds)
    own, also = await answer(ada, fish), await answer(browser, fish)
    here = browser.cookies["volunteer"].partition("~")[0]
    assert await served.house[SigninFeature].answer_claims.claim(ada.user_id, here, Requester(user_id=ada.user_id)) >= 1
    assert (await runs(owner, birds))[0]["volunteer"] == before["volunteer"], "an account without answers takes it over"
    codes = {run["id"]: run["volunteer"] for run in await runs(owner, fish)}
    assert codes[own["id"]] == own["volunteer"], "an account that has a code keeps it"
    if own["task_id"] == also["task_id"]:
        assert codes[also["id"]] == also["volunteer"], "what stays with the browser keeps its own"
    later = await answer(browser, birds)
    assert later["volunteer"] not in (None, before["volunteer"]), "who answers in this browser now may be somebody else"
    pairs = await served.database.fetch(
        "SELECT count(DISTINCT (project_id, actor)) AS actors, count(DISTINCT (project_id, word)) AS words FROM volunteer_word"
    )
    assert pairs[0]["actors"] == pairs[0]["words"]
