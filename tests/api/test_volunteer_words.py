"""What an answer says of who gave it: a random word for everybody, more for the owners of the project alone."""

import ipaddress
import re

import pytest_twisted
from twisted.internet.defer import DeferredList, ensureDeferred


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
    found = await served.client().get(f"/api/taskrun?project_id={birds['id']}&volunteer={first['volunteer']}")
    assert len(found.json()) == 2


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


@pytest_twisted.ensureDeferred
async def test_the_pseudonym_of_an_address_is_replaced_each_year(served):
    owner, (birds,) = await setting(served, n_answers=1)
    anonymous, seconds = served.client(), served.domain.seconds
    await answer(anonymous, birds)
    served.domain.contributions._seconds = lambda: seconds() + 366 * 86400
    await answer(anonymous, birds)
    one, two = [run["user_ip"] for run in await runs(owner, birds)]
    assert one != two and None not in (one, two)


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
