"""Categories over REST, which administrators manage."""

import pytest_twisted
from support.checks.shows import shows


@shows("category-fields", "category-who")
@pytest_twisted.ensureDeferred
async def test_administrators_make_change_and_delete_categories(served):
    admin, person = await served.person("boss", admin=True), await served.person("person")
    body = {"name": "Seeing", "short_name": "seeing", "description": "Look"}
    for who, status in ((served.client(), 401), (person, 403)):
        assert (await who.post("/api/category", json=body)).status == status
    made = (await admin.post("/api/category", json=body)).json()
    assert {**made, **body} == made and made["info"] == {} and made["created"]
    path = f"/api/category/{made['id']}"
    for who, status in ((served.client(), 401), (person, 403)):
        assert (await who.put(path, json={"name": "x"})).status == status
        assert (await who.delete(path)).status == status
    assert (await person.get(path)).json() == made
    assert (await admin.delete(path)).status == 204
    assert (await admin.get(path)).status == 404


@shows("attribute-whole-record")
@pytest_twisted.ensureDeferred
async def test_a_whole_record_can_be_put_back(served):
    admin = await served.person("boss", admin=True)
    record = (await admin.get("/api/category")).json()[0]
    changed = await admin.put(f"/api/category/{record['id']}", json={**record, "description": "New"})
    assert changed.status == 200 and changed.json() == {**record, "description": "New"}
    assert (await admin.put(f"/api/category/{record['id']}", json={**record, "id": 99})).status == 400


@shows("category-who")
@pytest_twisted.ensureDeferred
async def test_names_are_unique(served):
    admin = await served.person("boss", admin=True)
    for body in ({"name": "THINKING", "short_name": "x"}, {"name": "x", "short_name": "thinking"}):
        error = (await admin.post("/api/category", json=body)).json()
        assert (error["status_code"], error["exception_cls"]) == (415, "DBIntegrityError")
        assert error["exception_msg"].startswith("A category with this")


@shows("category-who")
@pytest_twisted.ensureDeferred
async def test_a_category_in_use_stays(served):
    admin = await served.person("boss", admin=True)
    project = await served.project(admin)
    answer = await admin.delete(f"/api/category/{project['category_id']}")
    error = answer.json()
    assert (answer.status, error["exception_cls"], error["error_code"]) == (415, "DBIntegrityError", "conflict")
    assert "constraint" not in answer.text and "category" not in error["exception_msg"]
    assert (await admin.get(f"/api/category/{project['category_id']}")).status == 200
