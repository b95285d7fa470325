"""Requests that come together share a read, and none gets what was read before it came."""

from __future__ import annotations

from typing import Any

import pytest
import pytest_twisted
from support.until import until
from twisted.internet.defer import Deferred, ensureDeferred, gatherResults

from crowdd.core.records.records import RecordTexts
from crowdd.features.presenters.overview_pages import OverviewPages
from crowdd.features.site.front_pages import HomePages

JSON = {"Accept": "application/json"}
CROWD = 12


class Held:
    """Calls of a method: each has read what it gives when it comes to wait for ``go_on``."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, owner: type, name: str) -> None:
        self.calls: list[Deferred[None]] = []
        self.holds = True
        real = getattr(owner, name)

        async def held(*arguments: Any, **names: Any) -> Any:
            outcome = await real(*arguments, **names)
            self.calls.append(Deferred())
            if self.holds:
                await self.calls[-1]
            return outcome

        monkeypatch.setattr(owner, name, held)

    def go_on(self) -> None:
        self.holds = False
        for call in self.calls:
            if not call.called:
                call.callback(None)


def network(served: Any, number: int) -> Any:
    """A program without cookies in a network of its own."""
    return served.client("", **{"X-Forwarded-For": f"10.9.{number}.1"})


async def begin(serve: Any) -> tuple[Any, Any, Any]:
    served = await serve(CROWDD_HTTP_TRUSTED_PROXIES="127.0.0.1")
    owner = await served.person("owner")
    return served, owner, await served.project(owner, tasks=1, published=True)


@pytest.mark.parametrize("what", ["list", "row", "home", "project page"])
@pytest_twisted.ensureDeferred
async def test_who_comes_after_a_change_sees_it(what, serve, monkeypatch):
    path, held = {
        "list": ("/api/project", (RecordTexts, "list")),
        "row": ("/api/project/{}", (RecordTexts, "get")),
        "home": ("/", (HomePages, "home")),
        "project page": ("/project/birds/", (OverviewPages, "page")),
    }[what]
    reads = Held(monkeypatch, *held)
    served, owner, project = await begin(serve)
    path = path.format(project["id"])
    early = [ensureDeferred(network(served, n).get(path, headers=JSON)) for n in range(CROWD)]
    await until(lambda: reads.calls)
    assert (await owner.put(f"/api/project/{project['id']}", json={"name": "Feathers"})).status == 200
    late = [ensureDeferred(network(served, n).get(path, headers=JSON)) for n in range(CROWD, 2 * CROWD)]
    assert (await served.client().get("/health")).status == 200  # they have come by now
    reads.go_on()
    early, late = await gatherResults(early), await gatherResults(late)
    assert {answer.status for answer in (*early, *late)} == {200}
    assert "Feathers" not in early[0].text
    assert all("Feathers" in answer.text for answer in late)
    assert len(reads.calls) < CROWD, "they shared reads"


@pytest_twisted.ensureDeferred
async def test_an_error_is_shared_by_those_who_asked_together_alone(serve, monkeypatch):
    served, owner, project = await begin(serve)
    path = f"/api/task/{project['tasks'][0]}"
    sql = "UPDATE project SET lock_id = %(lock)s, passwd_hash = %(lock)s WHERE id = %(id)s"
    await served.database.execute(sql, {"lock": "x", "id": project["id"]})
    asked = [owner if n % 3 == 0 else network(served, n) for n in range(CROWD)]
    answers = await gatherResults([ensureDeferred(who.get(path)) for who in asked])
    assert [answer.status for answer in answers] == [200 if n % 3 == 0 else 401 for n in range(CROWD)]
    await served.database.execute(sql, {"lock": None, "id": project["id"]})
    answers = await gatherResults([ensureDeferred(who.get(path)) for who in asked])
    assert {answer.status for answer in answers} == {200}


@pytest_twisted.ensureDeferred
async def test_whether_one_can_contribute_is_said_to_each_volunteer(serve):
    served, _, project = await begin(serve)
    done, others = network(served, 0), [network(served, n) for n in range(1, CROWD)]
    paths = ("/api/project", f"/api/project/{project['id']}", "/project/birds/")

    async def buttons(who: Any, path: str) -> str:
        document = (await who.get(path, headers=JSON)).json()
        document = document[0] if isinstance(document, list) else document.get("project", document)
        return str(document["contrib_button"])

    task = (await done.get(f"/api/{project['id']}/newtask")).json()
    body = {"project_id": project["id"], "task_id": task["id"], "info": 1}
    assert (await done.post("/api/taskrun", json=body)).status == 200
    for folded in (False, True):
        for path in paths:
            seen = await gatherResults([ensureDeferred(buttons(who, path)) for who in (done, *others, done)])
            assert seen == ["cannot_contribute", *["can_contribute"] * len(others), "cannot_contribute"], (path, folded)
        await served.database.fetch("SELECT fold_stats()")
