"""Named API tokens: what each scope allows and refuses, expiry, revocation, last use."""

import pytest
import pytest_twisted
from support.browsers import newcomer, signed_in, who
from support.checks.shows import shows
from support.factors import letters, pass_time

from crowdd.features.signin.feature import SigninFeature


async def token(browser, name, scope, **more):
    """A new token of this person."""
    answer = await browser.send_form(f"/account/{name}/tokens", {"name": "Importer", "scope": scope, **more})
    assert answer.json()["status"] == "success", answer.body
    return answer.json()["token"]


async def stage(served):
    """Ada with two projects of her own, and one of Bob's; her browser and her key."""
    ada, bob = await served.person("ada"), await served.person("bob")
    projects = [await served.project(ada, name, tasks=3, published=True) for name in ("birds", "stars")]
    projects.append(await served.project(bob, "fish", tasks=3, published=True))
    return await signed_in(served, "ada"), ada, projects


def program(served, text, scheme=""):
    """A client that sends a token."""
    return served.client(Authorization=f"{scheme}{text}")


async def acts(client, project, other):
    """What a client may do: the status of each act."""
    own = project["id"]
    task = (await client.get(f"/api/{own}/newtask")).json()
    answered = await client.post("/api/taskrun", json={"project_id": own, "task_id": task.get("id", 0), "info": 1})
    return {
        "read": (await client.get(f"/api/project/{own}")).status,
        "read list": (await client.get("/api/task?all=1")).status,
        "newtask": 200 if "id" in task else task["status_code"],
        "answer": answered.status,
        "release": (await client.post(f"/api/task/{project['tasks'][1]}/release", json={})).status,
        "change": (await client.put(f"/api/project/{own}", json={"description": "x"})).status,
        "add task": (await client.post("/api/task", json={"project_id": own, "info": {}})).status,
        "page": (await client.post(f"/project/{project['short_name']}/pause", json={})).status,
        "get with effect": (await client.page(f"/project/{project['short_name']}/add_coowner/bob")).status,
        "other: change": (await client.put(f"/api/project/{other['id']}", json={"description": "x"})).status,
        "other: add task": (await client.post("/api/task", json={"project_id": other["id"], "info": {}})).status,
        "other: page": (await client.post(f"/project/{other['short_name']}/pause", json={})).status,
        "new project": (
            await client.post("/api/project", json={"name": "N", "short_name": "n", "description": "n"})
        ).status,
        "new project by page": (await client.post("/project/new?short_name=birds&project_id=1", json={})).status,
        "own record": (await client.put("/api/user/1", json={"fullname": "Ada L"})).status,
        "favourite": (await client.post("/api/favorites", json={"task_id": project["tasks"][0]})).status,
        "provider tokens": (await client.get("/api/token")).status,
    }


READS = {"read": 200, "read list": 200}
ANSWERS = {"newtask": 200, "answer": 200, "release": 200}
WRITES = {"change": 200, "add task": 200, "page": 200}
ELSEWHERE = {"other: change": 200, "other: add task": 200, "other: page": 200}
ACCOUNT = {"new project": 200, "new project by page": 200, "own record": 200, "favourite": 200, "provider tokens": 200}
EVERY = READS | ANSWERS | WRITES | ELSEWHERE | ACCOUNT
GIVING_AWAY = {"get with effect": 403}  # a co-owner may do what owners may: that takes a session


@shows("token-scopes")
@pytest.mark.parametrize(
    ("scope", "allowed"),
    [
        ("read", READS),
        ("answer", READS | ANSWERS),
        ("project", READS | WRITES),
        ("everything", EVERY),
    ],
)
@pytest_twisted.ensureDeferred
async def test_scope_allows_this_and_refuses_the_rest(served, scope, allowed):
    ada, _key, (birds, stars, _fish) = await stage(served)
    text = await token(ada, "ada", scope, **({"project": "birds"} if scope == "project" else {}))
    assert await acts(program(served, text), birds, stars) == dict.fromkeys(EVERY, 403) | allowed | GIVING_AWAY


@shows("token-scopes")
@pytest_twisted.ensureDeferred
async def test_refusal_names_the_scope(served):
    ada, _key, (birds, *_others) = await stage(served)
    text = await token(ada, "ada", "read")
    refused = (await program(served, text).put(f"/api/project/{birds['id']}", json={"description": "x"})).json()
    assert refused["error_code"] == "token_scope" and '"read"' in refused["hint"]


@shows("token-scopes")
@pytest_twisted.ensureDeferred
async def test_project_token_sees_drafts_of_its_project_only(served):
    browser, key, _projects = await stage(served)
    hidden = [await served.project(key, name) for name in ("draft-a", "draft-b")]
    text = await token(browser, "ada", "project", project=str(hidden[0]["id"]))
    projects = (await program(served, text).get("/api/project?all=1&limit=100")).json()
    assert {"draft-a"} == {each["short_name"] for each in projects} & {"draft-a", "draft-b"}


@shows("token-scopes")
@pytest_twisted.ensureDeferred
async def test_token_that_may_not_write_learns_no_secret(served):
    browser, key, (birds, *_others) = await stage(served)
    path = f"/api/project/{birds['id']}"
    secret = (await key.get(path)).json()["secret_key"]
    assert secret
    for scope, seen in (("read", None), ("answer", None), ("project", secret), ("everything", secret)):
        more = {"project": "birds"} if scope == "project" else {}
        client = program(served, await token(browser, "ada", scope, **more))
        assert (await client.get(path)).json().get("secret_key") == seen, scope
        assert key.key not in (await client.get("/api/user/1")).text
        assert (await client.page("/project/birds/webhook")).status == (200 if seen else 403), scope


@pytest_twisted.ensureDeferred
async def test_project_token_ends_with_its_owners_rights(served):
    browser, _key, (birds, *_others) = await stage(served)
    client = program(served, await token(browser, "ada", "project", project="birds"))
    await served.database.execute("UPDATE project SET owner_id = 2, owners_ids = '{2}' WHERE id = %(id)s", birds)
    assert (await client.put(f"/api/project/{birds['id']}", json={"description": "x"})).status == 403


@pytest_twisted.ensureDeferred
async def test_nobody_makes_a_token_for_a_project_of_others(served):
    browser, _key, (*_own, fish) = await stage(served)
    for reference in ("fish", str(fish["id"]), "none", ""):
        answer = await browser.send_form("/account/ada/tokens", {"name": "x", "scope": "project", "project": reference})
        assert answer.json()["form"]["errors"]["project"], reference


@shows("caller-order", "token-use")
@pytest.mark.parametrize("scheme", ["", "Bearer ", "bearer "])
@pytest_twisted.ensureDeferred
async def test_token_comes_in_the_header_below_api_and_project_only(served, scheme):
    ada = await newcomer(served, "ada")
    text = await token(ada, "ada", "everything")
    client = program(served, text, scheme)
    assert (await client.get("/api/user/1")).json()["email_addr"] == "ada@example.org"
    assert (await client.page("/project/new")).status == 200
    assert await who(client) is None
    assert "email_addr" not in (await served.client().get(f"/api/user/1?api_key={text}")).json()


@shows("token-use")
@pytest_twisted.ensureDeferred
async def test_expired_token_is_nobody(served):
    ada = await newcomer(served, "ada")
    client = program(served, await token(ada, "ada", "read", days="2"))
    await pass_time(served, hours=47)
    assert "email_addr" in (await client.get("/api/user/1")).json()
    await pass_time(served, hours=2)
    assert "email_addr" not in (await client.get("/api/user/1")).json()


@shows("token-use")
@pytest_twisted.ensureDeferred
async def test_revoked_token_is_nobody_at_once(served):
    ada, bob = await newcomer(served, "ada"), await newcomer(served, "bob")
    client = program(served, await token(ada, "ada", "read"))
    (row,) = (await ada.page("/account/ada/tokens")).json()["tokens"]
    assert (await bob.send_form("/account/bob/tokens", {"revoke": str(row["id"])})).status == 404
    assert "email_addr" in (await client.get("/api/user/1")).json()
    await ada.send_form("/account/ada/tokens", {"revoke": str(row["id"])})
    assert "email_addr" not in (await client.get("/api/user/1")).json()
    assert (await ada.page("/account/ada/tokens")).json()["tokens"] == []


@pytest_twisted.ensureDeferred
async def test_token_of_a_blocked_person_is_nobody(served):
    ada = await newcomer(served, "ada")
    client = program(served, await token(ada, "ada", "read"))
    await served.database.execute('UPDATE account SET "restrict" = true')
    assert (await client.get("/api/token")).status == 401


@pytest_twisted.ensureDeferred
async def test_last_use_is_noted_once_an_hour(served):
    ada = await newcomer(served, "ada")
    client = program(served, await token(ada, "ada", "read"))

    async def used():
        await client.get("/api/user/1")
        return (await served.database.fetch("SELECT last_used FROM api_token"))[0]["last_used"]

    assert (await ada.page("/account/ada/tokens")).json()["tokens"][0]["last_used"] is None
    first = await used()
    assert first is not None and await used() == first
    await pass_time(served, minutes=59)
    assert await used() == first
    await pass_time(served, minutes=2)
    assert await used() > first


@shows("token-pages")
@pytest_twisted.ensureDeferred
async def test_token_is_shown_once_and_stored_as_a_hash(served):
    ada = await newcomer(served, "ada")
    text = await token(ada, "ada", "read")
    assert text.startswith("crowdd_")
    page = await ada.page("/account/ada/tokens")
    assert text not in page.text and page.json()["token"] is None
    stored = await served.database.fetch("SELECT t::text AS row, encode(token_hash, 'escape') AS hash FROM api_token t")
    assert text not in str(stored)


@shows("token-pages")
@pytest.mark.parametrize(
    ("form", "field"),
    [({"name": ""}, "name"), ({"name": "x" * 61}, "name"), ({"scope": "root"}, "scope"), ({"days": "0"}, "days"), ({"days": "x"}, "days")],
)  # fmt: skip
@pytest_twisted.ensureDeferred
async def test_form_with_mistakes_makes_no_token(served, form, field):
    ada = await newcomer(served, "ada")
    answer = (await ada.send_form("/account/ada/tokens", {"name": "x", "scope": "read", **form})).json()
    assert answer["form"]["errors"].keys() == {field} and answer["tokens"] == []


@shows("key-query")
@pytest_twisted.ensureDeferred
async def test_keys_in_addresses_can_be_switched_off(serve):
    served = await serve(CROWDD_ACCOUNTS_KEY_IN_QUERY="off")
    ada = await served.person("ada")
    assert "email_addr" not in (await ada.get("/api/user/1")).json()
    assert "email_addr" in (await program(served, ada.key).get("/api/user/1")).json()


@pytest_twisted.ensureDeferred
async def test_password_reset_by_letter_revokes_tokens(served):
    ada = await newcomer(served, "ada")
    client = program(served, await token(ada, "ada", "everything"))
    await served.house[SigninFeature].recovery.write(1)
    (letter, *_more) = await letters(served, "reset_password")
    path = letter["text"].partition("/account/reset-password")[2].split()[0]
    form = {"new_password": "another good one", "confirm": "another good one"}
    await served.client().send_form(f"/account/reset-password{path}", form)
    assert (await client.get("/api/token")).status == 401
