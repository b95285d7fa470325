"""What makes the site installable: the manifest, the service worker, and what it may keep of a project."""

from __future__ import annotations

from typing import Any, Final

import pytest
import pytest_twisted
from support.checks.shows import shows

AS_WORKER: Final = {"Sec-Fetch-Dest": "serviceworker", "Sec-Fetch-Site": "same-origin", "Service-Worker": "script"}
LOOK: Final = {
    "version": 1,
    "steps": [{"name": "look", "questions": [{"name": "it", "type": "yes_no", "text": "Is it so?"}]}],
}
PLACE: Final = {
    "version": 1,
    "steps": [
        {
            "name": "look",
            "media": [{"name": "map", "type": "map", "description": "A map"}],
            "questions": [{"name": "it", "type": "map_place", "text": "Where is it?", "on": "map"}],
        }
    ],
}


@shows("site-installable")
@pytest_twisted.ensureDeferred
async def test_the_manifest_names_the_site_and_its_marks(served: Any) -> None:
    client = served.client()
    page = await client.get("/", headers={"Accept": "text/html"})
    assert '<link rel="manifest" href="/site.webmanifest">' in page.text
    answer = await client.get("/site.webmanifest", headers={"Sec-Fetch-Dest": "manifest"})
    manifest = answer.json()
    assert answer.header("content-type") == "application/manifest+json"
    assert (manifest["name"], manifest["start_url"], manifest["display"]) == ("crowdd", "/app/", "standalone")
    for mark in manifest["icons"]:
        assert (await client.get(mark["src"])).header("content-type") == mark["type"]
    home = await client.get("/app/", headers={"Accept": "text/html"})
    assert home.status == 200 and 'id="rides"' in home.text


@shows("site-worker")
@pytest_twisted.ensureDeferred
async def test_one_script_may_become_a_service_worker_and_answers_for_one_folder(served: Any) -> None:
    client = served.client()
    script = await client.get("/app/worker.js", headers=AS_WORKER)
    assert script.status == 200 and "{release}" not in script.text
    assert script.header("content-security-policy") == "default-src 'none'; connect-src 'self'"
    assert script.header("service-worker-allowed") is None
    for name, allowed in {"birds": "/project/birds/", "a/../b": "/project/a%2F..%2Fb/"}.items():
        of_project = await client.get("/app/worker.js", headers=AS_WORKER, params={"project": name})
        assert of_project.header("service-worker-allowed") == allowed
    for path in ("/static/presenter/worker.js", "/static/ui.js", "/uploads/project-1/a.js", "/", "/project/x/newtask"):
        assert (await client.get(path, headers=AS_WORKER)).status == 403


@shows("tasks-along-document")
@pytest_twisted.ensureDeferred
async def test_a_worker_keeps_questions_as_data_and_no_script_of_an_owner(served: Any) -> None:
    owner = await served.person("owner")
    for name, info, status in (
        ("asked", {"questions": LOOK}, 200),
        ("placed", {"questions": PLACE}, 404),
        ("own", {"task_presenter": "<script>1</script>"}, 404),
        ("both", {"questions": LOOK, "task_presenter": "<p>own</p>"}, 404),
    ):
        project = await served.project(owner, name, tasks=1, published=True)
        changed = {"info": {"task_presenter": None, **info}}
        assert (await owner.put(f"/api/project/{project['id']}", json=changed)).status == 200
        answer = await served.client().get(f"/project/{name}/along")
        assert answer.status == status, name
        if status == 200:
            assert answer.header("content-type") == "text/plain; charset=utf-8"
            assert answer.header("content-security-policy").startswith("sandbox")
            assert "Is it so?" in answer.text
            page = await served.client().get(f"/project/{name}/newtask", headers={"Accept": "text/html"})
            assert "/app/worker.js; frame-src" in page.header("content-security-policy")


@pytest.mark.parametrize("path", ["/", "/project/"])
@pytest_twisted.ensureDeferred
async def test_other_pages_start_no_worker(served: Any, path: str) -> None:
    page = await served.client().get(path, headers={"Accept": "text/html"})
    assert "worker-src 'none'" in page.header("content-security-policy")
