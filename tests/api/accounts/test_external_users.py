"""Volunteers of another user base: the project's token speaks for them."""

import time

import jwt
import pytest
import pytest_twisted
from support.browsers import signed_in
from support.checks.shows import shows

from crowdd.features.projects.external_users import signing_key


async def setting(served, **more):
    """An owner, a published project, and its token."""
    owner = await served.person("owner")
    project = await served.project(owner, tasks=3, published=True, **more)
    return owner, project, (await token_of(served, project)).text


async def token_of(served, project, **headers):
    headers = {"Authorization": project["secret_key"], **headers}
    return await served.client().get(f"/api/auth/project/{project['short_name']}/token", headers=headers)


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


@shows("external-token", "external-token-claims")
@pytest_twisted.ensureDeferred
async def test_the_secret_key_buys_a_token(served):
    _, project, token = await setting(served)
    claims = jwt.decode(token, signing_key(served.house.base.secrets, project["secret_key"]), algorithms=["HS256"])
    assert claims.keys() == {"project_id", "short_name", "iat", "exp"}
    assert (claims["project_id"], claims["short_name"], claims["exp"] - claims["iat"]) == (
        project["id"],
        "birds",
        86400,
    )
    assert jwt.get_unverified_header(token)["alg"] == "HS256"
    plain = await token_of(served, project)
    assert plain.header("content-type") == "text/plain; charset=utf-8" and plain.header("cache-control") == "no-store"
    asked = await token_of(served, project, Accept="application/json")
    assert asked.header("content-type") == "application/json" and asked.json().count(".") == 2


@shows("external-token")
@pytest_twisted.ensureDeferred
async def test_a_wrong_key_and_an_unknown_project_are_not_told_apart(served):
    owner, project, _ = await setting(served)
    other = await served.project(owner, "other")
    for name, key in (("birds", "wrong"), ("birds", other["secret_key"]), ("nothing", project["secret_key"])):
        refused = await served.client().get(f"/api/auth/project/{name}/token", headers={"Authorization": key})
        assert (refused.status, refused.json()["exception_msg"]) == (404, "404 Not Found")
    assert (await served.client().get("/api/auth/project/birds/token")).status == 403
    assert (await owner.get("/api/auth/project/birds/token")).status == 403


@shows("caller-external", "external-use", "newtask-external", "taskrun-external")
@pytest_twisted.ensureDeferred
async def test_with_a_token_an_external_user_asks_and_answers(served):
    owner, project, token = await setting(served, n_answers=2)
    client, headers = served.client(), bearer(token)
    for uid in ("one", "two"):
        asked = await client.get(f"/api/{project['id']}/newtask?external_uid={uid}", headers=headers)
        assert asked.json()["id"] == project["tasks"][0]
        body = {"project_id": project["id"], "task_id": asked.json()["id"], "info": 1, "external_uid": uid}
        run = await client.post(f"/api/taskrun?external_uid={uid}", json=body, headers=headers)
        assert run.status == 200, run.body
        assert (run.json()["external_uid"], run.json()["user_id"], run.json()["user_ip"]) == (uid, None, None)
        following = await client.get(f"/api/project/{project['id']}/newtask?external_uid={uid}", headers=headers)
        assert following.json()["id"] == project["tasks"][1]
        done = (await client.get(f"/api/project/birds/userprogress?external_uid={uid}", headers=headers)).json()
        assert done == {"done": 1, "total": 3}
    assert (await owner.get(f"/api/task/{project['tasks'][0]}")).json()["state"] == "completed"


@shows("caller-external", "taskrun-external")
@pytest_twisted.ensureDeferred
async def test_the_external_user_wins_over_the_signed_in_one(served):
    owner, project, token = await setting(served)
    asked = await owner.get(f"/api/{project['id']}/newtask?external_uid=one", headers=bearer(token))
    body = {"project_id": project["id"], "task_id": asked.json()["id"], "info": 1, "external_uid": "one"}
    run = await owner.post("/api/taskrun?external_uid=one", json=body, headers=bearer(token))
    assert (run.json()["user_id"], run.json()["external_uid"]) == (None, "one")
    assert (await owner.get("/api/project/birds/userprogress")).json()["done"] == 0


@shows("external-refused")
@pytest.mark.filterwarnings("ignore::jwt.warnings.InsecureKeyLengthWarning")
@pytest_twisted.ensureDeferred
async def test_a_token_that_is_not_right_is_told_what_is_wrong_with_it(served):
    owner, project, _ = await setting(served)
    other, now = await served.project(owner, "other"), int(time.time())
    key = signing_key(served.house.base.secrets, project["secret_key"])
    good = {"project_id": project["id"], "short_name": "birds", "iat": now, "exp": now + 60}
    cases = {
        "invalid_header": ["", "Bearer", "Bearer a b", "Basic abc", project["secret_key"]],
        "decode_error": [
            "Bearer x.y.z", f"Bearer {jwt.encode(good, 'another key that is long enough too', 'HS256')}",
            f"Bearer {jwt.encode(good, project['secret_key'], 'HS256')}", f"Bearer {jwt.encode(good, None, 'none')}", f"Bearer {jwt.encode(good, key, 'HS512')}",
            f"Bearer {jwt.encode({**good, 'exp': 'never'}, key, 'HS256')}", "Bearer \u00e9.\u00e9.\u00e9",
            f"Bearer {jwt.encode({n: v for n, v in good.items() if n != 'exp'}, key, 'HS256')}",
            f"Bearer {jwt.encode(good, key, 'HS256')[:-2]}",
        ],
        "wrong_project": [
            f"Bearer {jwt.encode({**good, 'project_id': other['id']}, key, 'HS256')}",
            f"Bearer {jwt.encode({**good, 'short_name': 'other'}, key, 'HS256')}",
        ],
        "token_expired": [f"Bearer {jwt.encode({**good, 'exp': now - 1}, key, 'HS256')}"],
    }  # fmt: skip
    path = f"/api/{project['id']}/newtask?external_uid=one"
    for code, headers in cases.items():
        for header in headers:
            refused = await served.client().get(path, headers={"Authorization": header.encode()} if header else {})
            assert (refused.status, refused.json()["error_code"]) == (401, code), header
            assert refused.json()["exception_cls"] == "Unauthorized"
    fine = {"Authorization": f"bearer {jwt.encode(good, key, 'HS256')}"}
    assert (await served.client().get(path, headers=fine)).json()["id"] == project["tasks"][0]


@shows("external-refused")
@pytest_twisted.ensureDeferred
async def test_a_token_of_another_project_opens_nothing(served):
    owner, project, _ = await setting(served)
    other = await served.project(owner, "other", tasks=1, published=True)
    foreign = bearer((await token_of(served, other)).text)
    refused = await served.client().get(f"/api/{project['id']}/newtask?external_uid=one", headers=foreign)
    assert (refused.status, refused.json()["error_code"]) == (401, "decode_error")


@shows("external-token-claims")
@pytest_twisted.ensureDeferred
async def test_a_token_runs_out_by_the_clock_of_the_database(serve):
    served = await serve(CROWDD_EXTERNAL_TOKEN_HOURS="1")
    _, project, token = await setting(served)
    path = f"/api/{project['id']}/newtask?external_uid=one"
    assert (await served.client().get(path, headers=bearer(token))).status == 200
    await served.database.execute("UPDATE clock_shift SET ahead = '61 minutes'")
    assert (await served.client().get(path, headers=bearer(token))).json()["error_code"] == "token_expired"


@shows("taskrun-external")
@pytest_twisted.ensureDeferred
async def test_body_and_address_name_the_same_external_user(served):
    _, project, token = await setting(served)
    client, headers = served.client(), bearer(token)
    task = (await client.get(f"/api/{project['id']}/newtask?external_uid=one", headers=headers)).json()
    body = {"project_id": project["id"], "task_id": task["id"], "info": 1}
    other = await client.post("/api/taskrun?external_uid=one", json={**body, "external_uid": "two"}, headers=headers)
    assert (other.status, other.json()["error_code"]) == (403, "external_uid")
    refused = await client.post("/api/taskrun", json={**body, "external_uid": "one"})
    assert refused.status == 401
    assert (await client.post("/api/taskrun", json={**body, "external_uid": "one"}, headers=headers)).status == 200


@pytest_twisted.ensureDeferred
async def test_an_external_user_has_a_name(served):
    _, project, token = await setting(served)
    for uid in ("", "%00", "%ff", "a" * 256):
        refused = await served.client().get(f"/api/{project['id']}/newtask?external_uid={uid}", headers=bearer(token))
        assert (refused.status, refused.json()["exception_cls"]) == (415, "ValueError"), uid


@shows("newtask-members")
@pytest_twisted.ensureDeferred
async def test_members_only_lets_external_users_in(served):
    owner, project, token = await setting(served)
    await owner.put(f"/api/project/{project['id']}", json={"allow_anonymous_contributors": False})
    path = f"/api/{project['id']}/newtask?external_uid=one"
    assert (await served.client().get(path, headers=bearer(token))).json()["id"] == project["tasks"][0]


@shows("external-refused", "external-token-one")
@pytest_twisted.ensureDeferred
async def test_a_token_for_one_external_user_is_refused_for_another(served):
    _, project, _ = await setting(served)
    headers = {"Authorization": project["secret_key"]}
    token = (await served.client().get("/api/auth/project/birds/token?external_uid=a", headers=headers)).text
    path = f"/api/{project['id']}/newtask?external_uid="
    task = (await served.client().get(f"{path}a", headers=bearer(token))).json()["id"]
    refused = await served.client().get(f"{path}b", headers=bearer(token))
    assert (refused.status, refused.json()["error_code"]) == (401, "wrong_external_uid")
    body = {"project_id": project["id"], "task_id": task, "info": 1}
    for named in ("?external_uid=b", ""):
        answer = {**body, "external_uid": "b"}
        refused = await served.client().post(f"/api/taskrun{named}", json=answer, headers=bearer(token))
        assert (refused.status, refused.json()["error_code"]) == (401, "wrong_external_uid")
    answer = {**body, "external_uid": "a"}
    assert (await served.client().post("/api/taskrun?external_uid=a", json=answer, headers=bearer(token))).status == 200


@shows("external-token-one")
@pytest_twisted.ensureDeferred
async def test_an_owner_demands_tokens_that_name_their_external_user(served):
    owner, project, token = await setting(served)
    info = {"task_presenter": "<p>?</p>", "token_per_volunteer": True}
    assert (await owner.put(f"/api/project/{project['id']}", json={"info": info})).status == 200
    path = f"/api/{project['id']}/newtask?external_uid=a"
    refused = await served.client().get(path, headers=bearer(token))
    assert (refused.status, refused.json()["error_code"]) == (401, "token_names_nobody")
    assert (await token_of(served, project)).status == 400
    headers = {"Authorization": project["secret_key"]}
    named = (await served.client().get("/api/auth/project/birds/token?external_uid=a", headers=headers)).text
    assert (await served.client().get(path, headers=bearer(named))).status == 200


async def answered(client, project, token, *uids):
    """Each of these external users answers the first task."""
    for uid in uids:
        task = (await client.get(f"/api/{project['id']}/newtask?external_uid={uid}", headers=bearer(token))).json()
        body = {"project_id": project["id"], "task_id": task["id"], "info": uid, "external_uid": uid}
        assert (await client.post(f"/api/taskrun?external_uid={uid}", json=body, headers=bearer(token))).status == 200


def naming(served):
    """The addresses that take ``external_uid`` in their query: method, path and whether it is a filter there."""
    for route in served.routes:
        names = [parameter.name for parameter in route.operation.parameters] if route.operation else []
        if "external_uid" in names and "/auth/" not in route.path:
            yield route.method, route.path, route.path == "/api/taskrun" and route.method == "GET"


@shows("external-who", "caller-external", "list-participated", "userprogress")
@pytest.mark.inside
@pytest_twisted.ensureDeferred
async def test_no_address_lets_a_stranger_name_an_external_user(served):
    owner, project, token = await setting(served, n_answers=3)
    other = await served.project(owner, "other", tasks=1, published=True)
    foreign = (await token_of(served, other)).text
    hers = "/api/auth/project/birds/token?external_uid=ada@example.org"
    own = (await served.client().get(hers, headers={"Authorization": project["secret_key"]})).text
    await answered(served.client(), project, token, "ada@example.org", "bob@example.org")
    bob, stranger = await served.person("bob"), served.client()
    addresses = list(naming(served))
    assert {path for _, path, _ in addresses} == {
        "/api/task", "/api/favorites", "/api/taskrun", "/api/task/<int:object_id>/lease", "/api/task/<int:object_id>/release",
        "/api/task/<int:object_id>/renew", "/api/task/<int:object_id>/correct", "/api/<project_id>/newtask",
        "/api/task/<int:object_id>/file/<key>",
        "/api/project/<project_id>/newtask", "/api/project/<reference>/userprogress",
    }  # fmt: skip
    body = {"project_id": project["id"], "task_id": project["tasks"][0], "info": 1}

    async def ask(client, method, path, uid, token=None):
        for name, value in (
            ("project_id", project["id"]),
            ("reference", "birds"),
            ("int:object_id", project["tasks"][0]),
            ("key", "0" * 32),
        ):
            path = path.replace(f"<{name}>", str(value))
        sent = {"json": {"info": 1} if path.endswith("correct") else body} if method == "POST" else {}
        path = (
            f"{path}?participated=1&project_id={project['id']}&external_uid={uid}"
            if method == "GET"
            else f"{path}?external_uid={uid}"
        )
        return await client.request(
            method, path.replace("release", "renew"), headers=bearer(token) if token else {}, **sent
        )

    for method, path, filters in addresses:
        if filters:
            for client in (stranger, bob):
                known = await client.get("/api/taskrun?all=1&external_uid=ada@example.org")
                assert known.json() == [], "answers have a hash for those who may not read the id"
            continue
        wanting = bob if path == "/api/favorites" else stranger
        for uid in ("ada@example.org", "nobody"):
            for client in {wanting, bob}:
                refused = await ask(client, method, path, uid)
                assert (refused.status, refused.json()["error_code"]) == (401, "invalid_header"), (path, uid)
            wrong = await ask(wanting, method, path, uid, foreign)
            assert (wrong.status, wrong.json()["error_code"]) == (401, "decode_error"), (path, uid)
        wrong = await ask(wanting, method, path, "bob@example.org", own)
        assert (wrong.status, wrong.json()["error_code"]) == (401, "wrong_external_uid"), path
        for token_ in (token, own):
            assert (await ask(wanting, method, path, "ada@example.org", token_)).status != 401, path


@shows("external-who", "list-participated", "userprogress")
@pytest_twisted.ensureDeferred
async def test_owners_and_the_person_ask_how_far_an_external_user_is(served):
    owner, project, token = await setting(served, n_answers=3)
    boss, other = await served.person("boss", admin=True), await served.person("other")
    await answered(served.client(), project, token, "one")
    browser = await owner.by_session()
    listed = "/api/task?participated=1&external_uid=one&all=1"
    of_project = f"{listed}&project_id={project['id']}"
    for client, headers in ((owner, {}), (browser, {}), (boss, {}), (served.client(), bearer(token))):
        for reference in (project["id"], "birds"):
            progress = await client.get(f"/api/project/{reference}/userprogress?external_uid=one", headers=headers)
            assert progress.json() == {"done": 1, "total": 3}
        assert [task["id"] for task in (await client.get(of_project, headers=headers)).json()] == project["tasks"][1:]
    assert [task["id"] for task in (await boss.get(listed)).json()] == project["tasks"][1:]
    for client, headers in ((owner, {}), (served.client(), bearer(token))):
        refused = await client.get(listed, headers=headers)
        assert (refused.status, refused.json()["exception_msg"]) == (
            400,
            "Send project_id: external users belong to a project.",
        )
    for client in (other, served.client()):
        assert (await client.get(of_project)).status == 401
    assert (await other.get("/api/task?external_uid=one&all=1")).status == 200, "without participated it names nobody"
    signed = await signed_in(served, "owner")
    made = (await signed.send_form("/account/owner/tokens", {"name": "x", "scope": "read"})).json()
    by_token = await served.client().get(of_project, headers=bearer(made["token"]))
    assert by_token.status == 200, "a token of the owner's account is no token of the project"


@shows("external-who", "external-draft")
@pytest_twisted.ensureDeferred
async def test_a_draft_is_not_told_to_who_names_a_person(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1)
    token, path = (await token_of(served, project)).text, "userprogress?external_uid=a"
    for headers in ({}, bearer("x.y.z")):
        draft, nothing = [
            await served.client().get(f"/api/project/{name}/{path}", headers=headers) for name in ("birds", "nothing")
        ]
        assert (
            draft.status == nothing.status == 404 and draft.json()["exception_msg"] == nothing.json()["exception_msg"]
        )
    for client, headers in ((owner, {}), (served.client(), bearer(token))):
        assert (await client.get(f"/api/project/birds/{path}", headers=headers)).json() == {"done": 0, "total": 1}


@shows("external-who", "gold-accuracy")
@pytest_twisted.ensureDeferred
async def test_a_site_that_is_open_tells_everybody_but_no_accuracy(serve):
    served = await serve(CROWDD_VOLUNTEERS_OPEN_EXTERNAL_UID="true")
    owner, project, token = await setting(served, n_answers=3)
    await answered(served.client(), project, token, "one")
    await owner.put(
        f"/api/project/{project['id']}", json={"info": {"task_presenter": "<p>?</p>", "show_accuracy": True}}
    )
    await served.database.execute(
        "INSERT INTO task_run (project_id, task_id, actor, external_uid, created, finish_time, counted, trial, gold, is_right, info)"
        " SELECT id, 1000 + n, 'x:one', 'one', now(), now() - interval '1 hour', false, false, true, true, '1' FROM project, generate_series(1, 10) n"
    )
    path = "/api/project/birds/userprogress?external_uid=one"
    assert (await served.client().get(path, headers=bearer(token))).json().keys() == {"done", "total", "accuracy"}
    for client in (served.client(), owner, await served.person("ada")):
        assert (await client.get(path)).json().keys() == {"done", "total"}
        listed = await client.get("/api/task?participated=1&external_uid=one&all=1")
        assert [task["id"] for task in listed.json()] == project["tasks"][1:]
    assert (await served.client().get(f"/api/{project['id']}/newtask?external_uid=one")).status == 401


@shows("external-draft")
@pytest_twisted.ensureDeferred
async def test_the_projects_token_tries_its_draft(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1)
    token = (await token_of(served, project)).text
    path = f"/api/{project['id']}/newtask"
    assert (await served.client().get(f"{path}?external_uid=a", headers=bearer(token))).json()["id"]
    assert (await served.client().get(path)).status == 404
