"""The steps that every request takes: their order, which is that of refusals, and the project that one is about."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import pytest_twisted
from support.browsers import signed_in

from crowdd.http.routing import NO_ROUTE, Area, Route

ROOT = Path(__file__).parents[2]
ORDER = (
    "NoteAddress", "WaitForShare", "DelayRefusals", "SendNotModified", "WaitForPageTurn", "CountAccountForm",
    "Identify", "LimitRate", "RequireRoute", "RequireOwnPage", "Welcome", "OpenLock", "TakeTurn", "RequirePermission (API)",
    "RequireWriter", "ParseInThread", "CheckToken", "RequirePermission (pages)", "ParseBody",
    "SharePage",
)  # fmt: skip


def named(step) -> str:
    reads = {True: " (API)", False: " (pages)"}.get(getattr(step, "of_api", None), "")
    return type(step).__name__ + reads


@pytest.fixture
def steps(served):
    return served.server._site.resource._router.steps


def test_steps_that_refuse_keep_their_places(steps):
    assert tuple(map(named, steps)) == ORDER


def test_architecture_prints_the_steps_in_their_order(steps):
    printed = re.search(r"```text\n(NoteAddress.*?)```", (ROOT / "docs/architecture.md").read_text(), re.DOTALL)[1]
    assert re.split(r"  |\n", printed.strip()) == [*map(named, steps)]


def of_route(served, steps, method: str, path: str) -> list[str]:
    route = next((one for one in served.routes if (one.method, one.path) == (method, path)), NO_ROUTE)
    return [named(step) for step in steps if step.concerns(route)]


def test_a_route_takes_only_the_steps_that_concern_it(served, steps):
    always = ["NoteAddress", "WaitForShare"]
    assert of_route(served, steps, "GET", "/api/<project_id>/newtask") == [
        *always, "WaitForPageTurn", "Identify", "LimitRate", "RequireOwnPage", "OpenLock", "TakeTurn",
        "RequirePermission (API)",
    ]  # fmt: skip
    assert of_route(served, steps, "POST", "/account/signin") == [
        *always, "DelayRefusals", "CountAccountForm", "Identify", "OpenLock", "TakeTurn", "ParseInThread", "CheckToken",
        "RequirePermission (pages)", "SharePage",
    ]  # fmt: skip
    assert of_route(served, steps, "GET", "/") == [
        *always, "SendNotModified", "WaitForPageTurn", "Identify", "Welcome", "OpenLock", "TakeTurn",
        "RequirePermission (pages)", "SharePage",
    ]  # fmt: skip
    assert of_route(served, steps, "GET", "/nowhere")[:6] == [
        *always, "DelayRefusals", "Identify", "LimitRate", "RequireRoute",
    ]  # fmt: skip


def test_every_route_below_admin_is_of_the_area_of_administrators(served):
    admin = [route for route in served.routes if route.path.startswith("/admin")]
    assert len(admin) > 40
    assert all(route.area is Area.ADMIN for route in admin)
    every = {route.path for route in served.routes}
    assert not [path for path in every if path.split("/")[1].startswith("<")], "it could be of any area"


@pytest.mark.parametrize(
    ("path", "area"),
    [
        ("/account/signin", Area.ACCOUNT), ("/account/<name>/", Area.ACCOUNT), ("/admin", Area.ADMIN),
        ("/admin/featured", Area.ADMIN), ("/api", Area.API), ("/api/task", Area.API), ("/", Area.OTHER),
        ("/project/<short_name>/", Area.OTHER),
    ],
)  # fmt: skip
def test_area_of_a_route(path, area):
    async def nothing(incoming):
        raise AssertionError

    assert Route("GET", path, nothing).area is area


@pytest_twisted.ensureDeferred
async def test_of_two_faults_the_first_step_is_told(served):
    ada = await served.person("ada")
    project = await served.project(ada)
    form = {"name": "Reader", "scope": "read"}
    token = (await (await signed_in(served, "ada")).send_form("/account/ada/tokens", form)).json()["token"]
    bar = f"/api/project/{project['id']}/bar"
    broken = await served.client(Authorization=token).post(bar, data=b"{")
    assert (broken.status, broken.json()["error_code"]) == (403, "token_scope"), "before the body"
    assert (await ada.post(bar, data=b"{")).json()["error_code"] == "bad_json"
    page = "/admin/featured/1/remove"
    browser = await ada.by_session()
    assert (await browser.post(page, json={})).json()["error_code"] == "csrf", "before the session's proof"
    assert (await browser.post(f"{page}/more", json={})).status == 404, "before the form's token"


@pytest_twisted.ensureDeferred
async def test_a_password_where_the_path_has_a_number(served):
    boss = await served.person("boss", admin=True)
    project = await served.project(await served.person("owner"), tasks=1, published=True)
    path = f"/admin/featured/{project['id']}"
    assert (await boss.post(path, headers={"X-Project-Password": "sesame"}, json={})).status == 200
