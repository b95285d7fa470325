"""What gives a project away: transfer, deletion, owners, reviewers, invitations, password and secret key.

A session with a recent proof may, and the command line; a key or token only where the site lets it.
"""

from __future__ import annotations

from typing import Any

import attrs
import pytest
import pytest_twisted
from support.browsers import JSON, newcomer, signed_in
from support.checks.shows import shows
from support.factors import pass_time, prove
from support.servers.served import MANAGING
from twisted.internet.defer import ensureDeferred, gatherResults

from crowdd.core import recent_proof
from crowdd.kernel.errors import AnonymousError, CrowddError, ForbiddenError, ProofNeededError
from crowdd.kernel.requester import SYSTEM, Requester

ON = {"CROWDD_ACCOUNTS_KEYS_MANAGE_PROJECTS": "on"}
PASSWORD = {"btn": "Password", "protect": True, "password": "sesame"}
# What bob may do to the project birds of his, with cora as co-owner, dan as reviewer and translator, and open invitations.
ACTS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "transfer": ("POST", "/project/birds/transferownership", {"email_addr": "eve"}),
    "delete": ("POST", "/project/birds/delete", {"confirm": "birds"}),
    "delete over the API": ("DELETE", "/api/project/{id}", {}),
    "add a co-owner": ("POST", "/project/birds/add_coowner/eve", {}),
    "add a co-owner by GET": ("GET", "/project/birds/add_coowner/eve", {}),
    "remove a co-owner": ("POST", "/project/birds/del_coowner/cora", {}),
    "remove a co-owner by GET": ("GET", "/project/birds/del_coowner/cora", {}),
    "invite a co-owner": ("POST", "/project/birds/coowners/invite", {}),
    "withdraw an invitation": ("POST", "/project/birds/coowners/withdraw", {}),
    "add a reviewer": ("POST", "/project/birds/reviewers", {"user": "eve"}),
    "remove a reviewer": ("POST", "/project/birds/reviewers/dan/remove", {}),
    "invite a reviewer": ("POST", "/project/birds/reviewers/invite", {}),
    "withdraw an invitation of a reviewer": ("POST", "/project/birds/reviewers/withdraw", {}),
    "add a translator": ("POST", "/project/birds/translators", {"user": "eve"}),
    "remove a translator": ("POST", "/project/birds/translators/dan/remove", {}),
    "invite a translator": ("POST", "/project/birds/translators/invite", {}),
    "withdraw an invitation of a translator": ("POST", "/project/birds/translators/withdraw", {}),
    "password": ("POST", "/project/birds/update", PASSWORD),
    "password with the details": ("POST", "/project/birds/update", {**PASSWORD, "btn": "", "description": "Changed"}),
    "secret key": ("POST", "/project/birds/resetsecretkey", {}),
}
PAGES = ("coowners", "reviewers", "translators", "transferownership", "delete")


@attrs.define
class Stage:
    """Bob's project, and the people around it."""

    served: Any
    bob: Any
    project: dict[str, Any]

    @classmethod
    async def of(cls, served: Any) -> Stage:
        bob = await served.person("bob")
        for name in ("cora", "dan", "eve"):
            await served.person(name)
        project = await served.project(bob, "birds", tasks=1)
        stage = cls(served, bob, project)
        for path, body in (
            ("add_coowner/cora", {}), ("reviewers", {"user": "dan"}), ("translators", {"user": "dan"}),
            ("coowners/invite", {}), ("reviewers/invite", {}), ("translators/invite", {}),
        ):  # fmt: skip
            assert (await bob.post(f"/project/birds/{path}", json=body)).status == 200
        return stage

    async def state(self) -> list[Any]:
        """What is at stake."""
        return await self.served.database.fetch(
            "SELECT owner_id, owners_ids, reviewer_ids, translator_ids, lock_id, secret_key_encrypted::text, description, (SELECT array_agg(token_hash::text ORDER BY 1)"
            " FROM one_time_link WHERE purpose IN ('coowner', 'reviewer', 'translator')) AS invitations FROM project WHERE short_name = 'birds'"
        )

    async def act(self, client: Any, act: str, headers: dict[str, str] | None = None) -> Any:
        method, path, body = ACTS[act]
        sent = {**JSON, **(headers or {})}
        more = {} if method == "GET" else {"json": body}
        return await client.request(method, path.format(id=self.project["id"]), headers=sent, **more)

    async def token(self, scope: str) -> Any:
        """A program of bob's with a token."""
        browser = await signed_in(self.served, "bob")
        form = {"name": "x", "scope": scope, "project": "birds"}
        made = (await browser.send_form("/account/bob/tokens", form)).json()["token"]
        return self.served.client(Authorization=made)

    def key(self) -> Any:
        """A program of bob's with his API key."""
        return self.served.client(Authorization=self.bob.key)


async def csrf(browser: Any) -> dict[str, str]:
    """A token for forms, which does not come from a page of the project."""
    return {"X-CSRFToken": (await browser.page("/account/prove")).json()["form"]["csrf"]}


# The rule


@pytest.mark.parametrize(
    ("who", "refusal"),
    [
        (Requester(), AnonymousError), (Requester(user_id=1, by_key=True), ForbiddenError),
        (Requester(user_id=1, scope="everything"), ForbiddenError), (Requester(user_id=1, admin=True, by_key=True), ForbiddenError),
        (Requester(user_id=1, session=b"x"), ProofNeededError), (Requester(user_id=1, session=b"x", proved=True), None),
        (Requester(user_id=1, by_key=True, manages_projects=True), None), (SYSTEM, None), (Requester(via="job"), None),
    ],
)  # fmt: skip
def test_who_may_give_a_project_away(who, refusal):
    raised: list[type[Exception]] = []
    try:
        recent_proof.require_to_manage(who)
    except CrowddError as error:
        raised.append(type(error))
    assert raised == ([refusal] if refusal else [])


@pytest_twisted.ensureDeferred
async def test_every_address_that_gives_a_project_away_says_so(served):
    declared = {(route.method, route.path) for route in served.routes if route.manages}
    at = "/project/<short_name>"
    pages = {("GET", f"{at}/{page}") for page in PAGES}
    acts = {
        (method, path.replace("/project/birds", at).replace("/eve", "/<name>").replace("/cora", "/<name>").replace("/dan/", "/<name>/"))
        for method, path, _body in ACTS.values()
    }  # fmt: skip
    assert declared == (pages | acts) - {("DELETE", "/api/project/{id}"), ("POST", f"{at}/update")}
    assert all(MANAGING.match(f"{method} {path.format(id=1)}") for method, path, _body in ACTS.values())


# Keys and tokens


@shows("key-no-projects")
@pytest.mark.parametrize("act", ACTS)
@pytest_twisted.ensureDeferred
async def test_neither_key_nor_token_gives_a_project_away(served, act):
    stage = await Stage.of(served)
    before = await stage.state()
    programs = {
        "key": stage.key(),
        "project": await stage.token("project"),
        "everything": await stage.token("everything"),
    }
    for name, program in programs.items():
        answer = await stage.act(program, act)
        assert (answer.status, answer.json()["error_code"]) == (403, "session_needed"), (name, answer.body)
        error = answer.json().get("description") or answer.json()["exception_msg"]
        assert "Do it on the pages of the project." in error
        hint = answer.json().get("hint", "")
        assert act != "delete over the API" or (
            "crowdctl project" in hint and "[accounts] keys_manage_projects" in hint
        )
        assert await stage.state() == before, name


@shows("key-no-projects")
@pytest_twisted.ensureDeferred
async def test_a_key_goes_on_reading_who_runs_a_project_and_changing_the_rest(served):
    stage = await Stage.of(served)
    program = stage.key()
    for page in PAGES:
        assert (await program.page(f"/project/birds/{page}")).status == 200, page
    assert [each["name"] for each in (await program.page("/project/birds/coowners")).json()["coowners"]] == [
        "bob",
        "cora",
    ]
    form = (await program.page("/project/birds/update")).json()["form"]
    done = await program.post("/project/birds/update", json={**form, "description": "By a program"})
    assert done.json()["status"] == "success"
    changed = await program.put(f"/api/project/{stage.project['id']}", json={"description": "Again"})
    assert (changed.status, changed.json()["description"]) == (200, "Again")


@shows("key-projects-setting")
@pytest.mark.parametrize("act", ACTS)
@pytest_twisted.ensureDeferred
async def test_a_site_may_let_keys_do_it_but_not_tokens_for_one_project(serve, act):
    served = await serve(**ON)
    stage = await Stage.of(served)
    before = await stage.state()
    for scope, code in (("project", "session_needed"), ("read", "token_scope"), ("answer", "token_scope")):
        answer = await stage.act(await stage.token(scope), act)
        assert (answer.status, answer.json()["error_code"]) == (403, code), scope
        assert await stage.state() == before
    answer = await stage.act(await stage.token("everything"), act)
    assert answer.status in (200, 204) and await stage.state() != before, answer.body


@shows("key-projects-setting", "project-delete")
@pytest_twisted.ensureDeferred
async def test_a_key_deletes_a_project_where_the_site_lets_it(serve):
    served = await serve(**ON)
    stage = await Stage.of(served)
    assert (
        await served.client(stage.bob.key).request("DELETE", f"/api/project/{stage.project['id']}", json=None)
    ).status == 204
    assert await stage.state() == []


# Sessions


@shows("project-giving-away")
@pytest.mark.parametrize("act", ACTS)
@pytest_twisted.ensureDeferred
async def test_a_session_needs_a_proof_of_the_last_ten_minutes(served, act):
    stage = await Stage.of(served)
    browser = await signed_in(served, "bob")
    await pass_time(served, minutes=11)
    before, headers = await stage.state(), await csrf(browser)
    refused = await stage.act(browser, act, headers)
    assert (refused.status, refused.json()["error_code"]) == (403, "proof_needed"), refused.body
    assert await stage.state() == before
    assert (await prove(browser)).json()["status"] == "success"
    answer = await stage.act(browser, act, headers)
    assert answer.status in (200, 204) and await stage.state() != before, answer.body


@shows("project-giving-away")
@pytest_twisted.ensureDeferred
async def test_people_are_asked_first_and_come_back_to_the_page(served):
    stage = await Stage.of(served)
    browser = await signed_in(served, "bob")
    await pass_time(served, minutes=11)
    for page in PAGES:
        led = await browser.get(f"/project/birds/{page}")
        assert (led.status, led.header("location")) == (302, f"/account/prove?next=/project/birds/{page}")
    settings = (await browser.get("/project/birds/settings")).text
    for part in ("project-password", "secret-key"):
        assert f'href="/account/prove?next=/project/birds/settings%23{part}"' in settings
    assert 'action="/project/birds/resetsecretkey"' not in settings and 'name="password"' not in settings
    form = {
        "password": "a good password",
        "next": "/project/birds/settings#secret-key",
        "csrf_token": (await csrf(browser))["X-CSRFToken"],
    }
    done = await browser.post("/account/prove", data=form)
    assert (done.status, done.header("location")) == (302, "/project/birds/settings#secret-key")
    settings = (await browser.get("/project/birds/settings")).text
    assert 'action="/project/birds/resetsecretkey"' in settings and 'name="password"' in settings
    for page in PAGES:
        assert (await browser.get(f"/project/birds/{page}")).status == 200, page
    assert await stage.state() != []


@pytest_twisted.ensureDeferred
async def test_a_refused_password_changes_nothing_else_of_the_form(served):
    stage = await Stage.of(served)
    browser = await signed_in(served, "bob")
    await pass_time(served, minutes=11)
    whole = (await browser.page("/project/birds/update")).json()["form"]
    headers = await csrf(browser)
    body = {**whole, "description": "Changed", "protect": True, "password": "sesame"}
    before = await stage.state()
    assert (await browser.post("/project/birds/update", json=body, headers=headers)).json()[
        "error_code"
    ] == "proof_needed"
    assert await stage.state() == before
    done = await browser.post("/project/birds/update", json={**whole, "description": "Changed"}, headers=headers)
    assert done.json()["status"] == "success" and (await stage.state())[0]["description"] == "Changed"


@shows("project-delete")
@pytest_twisted.ensureDeferred
async def test_administrators_delete_projects_in_their_session_and_not_by_their_key(served):
    stage = await Stage.of(served)
    boss = await served.person("grace", admin=True)
    at = f"/api/project/{stage.project['id']}"
    by_key = await served.client(boss.key).request("DELETE", at, json=None)
    assert (by_key.status, by_key.json()["error_code"]) == (403, "session_needed")
    browser = await signed_in(served, "grace")
    await pass_time(served, minutes=11)
    assert (await browser.request("DELETE", at, headers=JSON)).json()["error_code"] == "proof_needed"
    await prove(browser)
    assert (await browser.request("DELETE", at, headers=JSON)).status == 204
    assert await stage.state() == []
    await served.project(stage.bob, "fish")
    assert (await browser.send_form("/project/fish/delete", {"confirm": "fish"})).json()["flash"] == "Project deleted."


@pytest_twisted.ensureDeferred
async def test_a_proof_gives_no_rights(served):
    stage = await Stage.of(served)
    before = await stage.state()
    eve = await newcomer(served, "frank")
    headers = await csrf(eve)
    for act in ACTS:
        assert (await stage.act(eve, act, headers)).status in (403, 404), act
    cora = await signed_in(served, "cora")
    headers = await csrf(cora)
    for act in ("transfer", "delete", "delete over the API"):
        assert (await stage.act(cora, act, headers)).status == 403, "a co-owner"
    assert await stage.state() == before


@pytest_twisted.ensureDeferred
async def test_two_transfers_at_once_give_the_project_to_one_person(served):
    stage = await Stage.of(served)
    browser = await signed_in(served, "bob")
    headers = await csrf(browser)

    async def give(name: str) -> Any:
        body = {"email_addr": name}
        return await browser.post("/project/birds/transferownership", json=body, headers=headers)

    answers = await gatherResults([ensureDeferred(give(name)) for name in ("eve", "dan")])
    owners = await served.database.fetch("SELECT owner_id, owners_ids FROM project WHERE short_name = 'birds'")
    assert {answer.status for answer in answers} <= {200, 403} and 200 in {answer.status for answer in answers}
    assert owners[0]["owners_ids"] == [owners[0]["owner_id"]], stage
