"""Who may do what: every kind × verb × requester, against a table written by hand.

The table says what docs/interface promises; no declaration of crowdd is read here.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import pytest_twisted
from matrix.example_site import Stage, add, answer, predict
from support.browsers import lock
from support.checks.shows import shows
from twisted.internet.defer import ensureDeferred

from crowdd.kinds import KINDS

WHO = ("anonymous", "external", "stranger", "volunteer", "coowner", "owner", "admin")
# kind, verb, and whose: status for each of WHO. "list" says whether the row is in the list: y or n.
TABLE = """
project         list   open        y   y   y   y   y   y   y
project         list   draft       n   n   n   n   y   y   y
project         list   paused      n   n   n   n   y   y   y
project         list   locked      n   n   n   n   y   y   y
project         get    open      200 200 200 200 200 200 200
project         get    draft     404 404 404 404 200 200 200
project         get    paused    200 200 200 200 200 200 200
project         get    locked    401 401 403 403 200 200 200
project         create -         401 401 200 200 200 200 200
project         update open      401 401 403 403 200 200 200
project         update draft     404 404 404 404 200 200 200
project         update locked    401 401 403 403 200 200 200
project         delete draft     404 404 404 404 403 204 204
project         delete open      401 401 403 403 403 204 204

task            list   open        y   y   y   y   y   y   y
task            list   draft       n   n   n   n   y   y   y
task            list   paused      n   n   n   n   y   y   y
task            list   locked      n   n   n   n   y   y   y
task            get    open      200 200 200 200 200 200 200
task            get    draft     404 404 404 404 200 200 200
task            get    paused    200 200 200 200 200 200 200
task            get    locked    401 401 403 403 200 200 200
task            create open      401 401 403 403 200 200 200
task            create draft     404 404 404 404 200 200 200
task            create locked    401 401 403 403 200 200 200
task            update open      401 401 403 403 200 200 200
task            update locked    401 401 403 403 200 200 200
task            delete open      401 401 403 403 204 204 204

taskrun         list   open        y   y   y   y   y   y   y
taskrun         list   closed      n   n   n   y   y   y   y
taskrun         list   waiting     n   n   n   y   y   y   y
taskrun         list   paused      n   n   n   y   y   y   y
taskrun         list   locked      n   n   n   y   y   y   y
taskrun         get    open      200 200 200 200 200 200 200
taskrun         get    closed    401 401 403 200 200 200 200
taskrun         get    waiting   401 401 403 200 200 200 200
taskrun         get    paused    200 200 200 200 200 200 200
taskrun         get    locked    401 401 403 200 200 200 200
taskrun         create open      403 403 403 403 403 403 403
taskrun         update open      401 401 403 200 403 403 200
taskrun         update locked    401 401 403 200 403 403 200
taskrun         update counted   401 401 403 200 403 403 200
taskrun         delete open      401 401 403 204 204 204 204

result          list   open        y   y   y   y   y   y   y
result          list   closed      n   n   n   n   y   y   y
result          list   waiting     y   y   y   y   y   y   y
result          list   paused      n   n   n   n   y   y   y
result          list   locked      n   n   n   n   y   y   y
result          get    open      200 200 200 200 200 200 200
result          get    closed    401 401 403 403 200 200 200
result          get    waiting   200 200 200 200 200 200 200
result          get    locked    401 401 403 403 200 200 200
result          create -         401 401 403 403 403 403 403
result          update open      401 401 403 403 200 200 200
result          update locked    401 401 403 403 200 200 200
result          delete open      401 401 403 403 403 403 403

blogpost        list   open        y   y   y   y   y   y   y
blogpost        list   unpublished n   n   n   n   y   y   y
blogpost        list   draft       n   n   n   n   y   y   y
blogpost        list   locked      n   n   n   n   y   y   y
blogpost        get    open      200 200 200 200 200 200 200
blogpost        get    unpublished 401 401 403 403 200 200 200
blogpost        get    draft     404 404 404 404 200 200 200
blogpost        get    locked    401 401 403 403 200 200 200
blogpost        create open      401 401 403 403 403 200 200
blogpost        create draft     404 404 404 404 403 200 200
blogpost        update open      401 401 403 403 403 200 200
blogpost        delete open      401 401 403 403 403 204 204

helpingmaterial list   open        y   y   y   y   y   y   y
helpingmaterial list   draft       n   n   n   n   y   y   y
helpingmaterial list   locked      n   n   n   n   y   y   y
helpingmaterial get    open      200 200 200 200 200 200 200
helpingmaterial get    draft     404 404 404 404 200 200 200
helpingmaterial get    locked    401 401 403 403 200 200 200
helpingmaterial create open      401 401 403 403 403 200 200
helpingmaterial update open      401 401 403 403 403 200 200
helpingmaterial delete open      401 401 403 403 403 204 204

prediction      list   open        n   n   n   n   y   y   y
prediction      list   draft       n   n   n   n   y   y   y
prediction      list   locked      n   n   n   n   y   y   y
prediction      get    open      401 401 403 403 200 200 200
prediction      get    draft     404 404 404 404 200 200 200
prediction      get    locked    401 401 403 403 200 200 200
prediction      create open      401 401 403 403 200 200 200
prediction      create draft     404 404 404 404 200 200 200
prediction      update open      405 405 405 405 405 405 405
prediction      delete open      401 401 403 403 204 204 204

projectstats    list   open        y   y   y   y   y   y   y
projectstats    list   draft       n   n   n   n   y   y   y
projectstats    list   paused      n   n   n   n   y   y   y
projectstats    list   locked      n   n   n   n   y   y   y
projectstats    get    open      200 200 200 200 200 200 200
projectstats    get    draft     404 404 404 404 200 200 200
projectstats    get    locked    401 401 403 403 200 200 200
projectstats    create -         405 405 405 405 405 405 405
projectstats    update open      405 405 405 405 405 405 405
projectstats    delete open      405 405 405 405 405 405 405

announcement    list   published   y   y   y   y   y   y   y
announcement    list   unpublished n   n   n   n   n   n   y
announcement    get    published 200 200 200 200 200 200 200
announcement    get    unpublished 401 401 403 403 403 403 200
announcement    create -         401 401 403 403 403 403 200
announcement    update published 401 401 403 403 403 403 200
announcement    delete published 401 401 403 403 403 403 204

category        list   -           y   y   y   y   y   y   y
category        get    -         200 200 200 200 200 200 200
category        create -         401 401 403 403 403 403 200
category        update -         401 401 403 403 403 403 200
category        delete -         401 401 403 403 403 403 204

user            list   stranger    y   y   y   y   y   y   y
user            list   blocked     n   n   n   n   n   n   y
user            get    stranger  200 200 200 200 200 200 200
user            get    blocked   401 401 403 403 403 403 200
user            create -         405 405 405 405 405 405 405
user            update stranger  401 401 200 403 403 403 200
user            flag   stranger  401 401 403 403 403 403 200
user            delete stranger  405 405 405 405 405 405 405
"""
CASES = [
    (kind, verb, state, dict(zip(WHO, cells, strict=True)))
    for kind, verb, state, *cells in (line.split() for line in TABLE.splitlines() if line)
]
CHANGES: dict[str, dict[str, Any]] = {
    "project": {"description": "changed"}, "task": {"info": "changed"}, "taskrun": {"info": "changed"},
    "result": {"info": "changed"}, "blogpost": {"title": "changed"}, "helpingmaterial": {"priority": 2}, "prediction": {"value": 2},
    "announcement": {"title": "changed"}, "category": {"description": "changed"}, "user": {"locale": "de"}, "projectstats": {"n_tasks": 1},
}  # fmt: skip
Maker = Callable[[Stage], Awaitable[int]]


class Site:
    """Rows of each kind in each state, and how to make more of them."""

    def __init__(self, stage: Stage) -> None:
        self.stage, self.found, self._made = stage, {}, 0
        self.projects: dict[str, dict[str, Any]] = {}

    async def build(self) -> None:
        for state in ("open", "paused", "locked", "closed", "waiting"):
            made = await self.project(f"rights-{state}", published=True)
            self.found["taskrun", state] = await answer(self.stage["volunteer"], made["id"])
            self.projects[state] = made
        self.projects["draft"] = await self.project("rights-draft")
        for state, made in self.projects.items():
            self.found["project", state], self.found["task", state] = made["id"], made["tasks"][1]
            self.found["projectstats", state] = made["id"]
            for kind in ("blogpost", "helpingmaterial"):
                self.found[kind, state] = await add(self.stage["owner"], kind, made["id"])
            self.found["prediction", state] = await predict(self.stage["owner"], made["id"], made["tasks"][1])
            await self._complete(state, made)
        await self._others()
        await self.stage["owner"].post("/project/rights-paused/pause", json={})
        await self._close()
        await lock(self.stage.served, "rights-locked", self.stage["owner"], "sesame")

    async def _close(self) -> None:
        """Closes the answers of one project, and those of another's open tasks."""
        waits = {"info": {"task_presenter": "<p>?</p>", "answers_when_complete": True}}
        for state, change in (("closed", {"zip_download": False}), ("waiting", waits)):
            path = f"/api/project/{self.projects[state]['id']}"
            assert (await self.stage["owner"].put(path, json=change)).status == 200

    async def project(self, short_name: str, *, published: bool = False) -> dict[str, Any]:
        owner = self.stage["owner"]
        made = await self.stage.served.project(owner, short_name, tasks=3, published=published)
        sql = "UPDATE project SET owners_ids = owners_ids || %(id)s::bigint WHERE id = %(project)s RETURNING 1"
        await self.stage.sql(sql, id=self.stage["coowner"].user_id, project=made["id"])
        return made

    async def _complete(self, state: str, project: dict[str, Any]) -> None:
        """Gives the last task of a project its result."""
        if state == "draft":
            return
        task = project["tasks"][2]
        assert (
            await self.stage["owner"].put(f"/api/task/{task}", json={"n_answers": 1, "priority_0": 1})
        ).status == 200
        run = await answer(self.stage["volunteer"], project["id"])
        self.found["taskrun", "counted"] = run
        results = (await self.stage["owner"].get(f"/api/result?project_id={project['id']}")).json()
        self.found["result", state] = results[0]["id"]

    async def _others(self) -> None:
        stage = self.stage
        opened = self.projects["open"]["id"]
        self.found["blogpost", "unpublished"] = await add(stage["owner"], "blogpost", opened, published=False)
        self.found["announcement", "published"] = await add(stage["admin"], "announcement", 0)
        self.found["announcement", "unpublished"] = await add(stage["admin"], "announcement", 0, published=False)
        category = await stage["admin"].post("/api/category", json=self.new("category", "-"))
        self.found["category", "-"] = category.json()["id"]
        self.found["user", "stranger"], self.found["user", "blocked"] = (
            stage["stranger"].user_id,
            stage.hidden["user"][0],
        )

    def new(self, kind: str, state: str) -> dict[str, Any]:
        """A body that makes a row."""
        self._made += 1
        name = f"made-{self._made}"
        project_id = self.projects[state]["id"] if state in self.projects else None
        bodies: dict[str, dict[str, Any]] = {
            "project": {"name": name, "short_name": name}, "task": {"project_id": project_id, "info": name},
            "taskrun": {"project_id": project_id, "task_id": self.found["task", "open"], "info": 1}, "result": {},
            "blogpost": {"project_id": project_id, "title": name, "body": name}, "user": {"name": name},
            "helpingmaterial": {"project_id": project_id}, "announcement": {"title": name, "body": name},
            "prediction": self._said(project_id, state, name),
            "category": {"name": name, "short_name": name}, "projectstats": {},
        }  # fmt: skip
        return bodies[kind]

    def _said(self, project_id: int | None, state: str, name: str) -> dict[str, Any]:
        of = {"project_id": project_id, "task_id": self.found.get(("task", state), 0)}
        return {**of, "model": name, "question": "q", "value": 1}

    async def expendable(self, kind: str, state: str) -> int:
        """A row that may be deleted."""
        if kind == "project":
            made = await self.project(self.new(kind, state)["name"], published=state == "open")
            return int(made["id"])
        if kind == "taskrun":
            project = await self._run_project()
            return await answer(self.stage["volunteer"], project)
        if kind in ("result", "user", "projectstats"):
            return int(self.found[kind, state])
        maker = self.stage["admin" if kind in ("announcement", "category") else "owner"]
        return int((await maker.post(f"/api/{kind}", json=self.new(kind, state))).json()["id"])

    async def _run_project(self) -> int:
        if "runs" not in self.projects:
            self.projects["runs"] = await self.project("rights-runs", published=True)
        row = {"project_id": self.projects["runs"]["id"], "info": 1}
        await self.stage["owner"].post("/api/task", json=row)
        return int(self.projects["runs"]["id"])


@pytest.fixture(scope="session")
def site(stage: Stage) -> Site:
    made = Site(stage)
    pytest_twisted.blockon(ensureDeferred(made.build()))
    return made


def test_the_table_has_every_kind_and_verb():
    named = {(kind, verb) for kind, verb, *_ in CASES}
    assert named >= {(kind, verb) for kind in KINDS for verb in ("list", "get", "create", "update", "delete")}


@shows(
    "announcement-who",
    "blogpost-who",
    "caller-admin",
    "error-rights",
    "family-callers",
    "helpingmaterial-who",
    "project-change-who",
    "project-create-who",
    "project-hidden",
    "record-methods",
    "taskrun-delete",
)
@pytest.mark.parametrize("kind, verb, state, expected", CASES, ids=[" ".join(case[:3]) for case in CASES])
@pytest_twisted.ensureDeferred
async def test_rights(kind, verb, state, expected, site):
    """Everybody in one test: beginning a test costs about as much as a request."""
    got = {who: await attempt(site, site.stage[who], kind, verb, state) for who in expected}
    assert got == expected


async def attempt(site: Site, client: Any, kind: str, verb: str, state: str) -> str:
    """What comes of it, as the table says it; a refusal must name itself, too."""
    if verb == "list":
        listed = (await client.get(f"/api/{kind}?all=1&limit=100&desc=true")).json()
        own_link = f"/api/{kind}/{site.found[kind, state]}'"
        return "y" if any(own_link in row["link"] for row in listed) else "n"
    if verb == "get":
        answered = await client.get(f"/api/{kind}/{site.found[kind, state]}")
    elif verb == "create":
        answered = await client.post(f"/api/{kind}", json=site.new(kind, state))
    elif verb == "delete":
        answered = await client.delete(f"/api/{kind}/{await site.expendable(kind, state)}")
    else:
        body = {"pro": True} if verb == "flag" else CHANGES[kind]
        if state == "counted":
            body = {"info": 1}  # as it is: another answer would make another result, which other cases look for
        answered = await client.put(f"/api/{kind}/{site.found[kind, state]}", json=body)
    if answered.status >= 400:
        error = answered.json()
        names = {401: "Unauthorized", 403: "Forbidden", 404: "NotFound", 405: "MethodNotAllowed"}
        cls = names[answered.status]
        assert (error["status"], error["exception_cls"], error["target"]) == ("failed", cls, kind)
    return str(answered.status)


@pytest.mark.parametrize("who", ["coowner", "owner", "admin"])
@pytest_twisted.ensureDeferred
async def test_nothing_is_given_to_another_owner_or_project(who, site):
    other = (await site.stage["stranger"].post("/api/project", json=site.new("project", "-"))).json()["id"]
    stranger = site.stage["stranger"].user_id
    moves = [
        ("project", "open", {"owner_id": stranger}), ("project", "open", {"owners_ids": [stranger]}),
        ("task", "open", {"project_id": other}), ("result", "open", {"project_id": other}),
        ("result", "open", {"task_id": 1}), ("result", "open", {"task_run_ids": [1]}),
    ]  # fmt: skip
    if who != "coowner":
        moves += [("helpingmaterial", "open", {"project_id": other}), ("blogpost", "open", {"project_id": other})]
        moves += [("blogpost", "open", {"user_id": stranger})]
    if who == "admin":
        moves += [("taskrun", "open", {name: other}) for name in ("project_id", "task_id", "user_id")]
        moves += [("announcement", "published", {"user_id": stranger}), ("user", "stranger", {"id": 1})]
    for kind, state, body in moves:
        refused = await site.stage[who].put(f"/api/{kind}/{site.found[kind, state]}", json=body)
        assert (refused.status, refused.json()["exception_cls"]) == (400, "BadRequest"), (kind, body, refused.body)


@shows("user-put-admin")
@pytest.mark.parametrize("name", ["admin", "pro", "flags", "category"])
@pytest_twisted.ensureDeferred
async def test_what_administrators_set_of_a_person_nobody_sets_himself(name, site):
    path, value = f"/api/user/{site.stage['volunteer'].user_id}", 1 if name in ("flags", "category") else True
    refused = await site.stage["volunteer"].put(path, json={name: value, "locale": "fr"})
    assert refused.status == 403 and name in refused.json()["exception_msg"]
    user = (await site.stage["volunteer"].get(path)).json()
    assert user[name] in (None, False) and user["locale"] == "en"
    assert (await site.stage["volunteer"].put(path, json={name: user[name]})).status == 200


@shows("attribute-client", "project-featured", "state-publish")
@pytest_twisted.ensureDeferred
async def test_only_administrators_feature_a_project_and_nobody_publishes_one_here(site):
    path = f"/api/project/{site.found['project', 'draft']}"
    for who in ("owner", "coowner"):
        assert (await site.stage[who].put(path, json={"featured": True})).status == 403
        assert (await site.stage[who].put(path, json={"published": True})).status == 400
    assert (await site.stage["admin"].put(path, json={"featured": True})).status == 200
    assert (await site.stage["admin"].put(path, json={"published": True})).status == 400


@pytest_twisted.ensureDeferred
async def test_tasks_are_handed_out_by_the_state_of_the_project(site):
    stage = site.stage
    for who in ("anonymous", "stranger", "coowner", "owner", "admin"):
        ids = [site.projects[state]["id"] for state in ("open", "draft", "paused", "locked")]
        statuses = [(await stage[who].get(f"/api/{project_id}/newtask")).status for project_id in ids]
        owns = who in ("coowner", "owner", "admin")
        assert statuses == [200, 200 if owns else 404, 403, 200 if owns else 403], who


@shows("state-locked")
@pytest_twisted.ensureDeferred
async def test_the_password_opens_a_locked_project_for_one_request(site):
    path, opened = f"/api/task/{site.found['task', 'locked']}", {"X-Project-Password": "sesame"}
    for who in ("anonymous", "stranger"):
        assert (await site.stage[who].get(path, headers=opened)).status == 200
        assert (await site.stage[who].put(path, json={"info": 1}, headers=opened)).status in (401, 403)
        assert (await site.stage[who].get(path)).status in (401, 403)
