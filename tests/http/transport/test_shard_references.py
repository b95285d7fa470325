"""Which project a request is about, by its address and its body."""

import pytest

from crowdd.domain.server.shards.locations import QUEUE, ProjectId, RowId, ShortName
from crowdd.http.transport.shards.references import needs_project, of_address, of_body
from crowdd.kinds import KINDS

BIRDS, SEVEN = ShortName("birds"), ProjectId(7)
ADDRESSES = {
    "project/birds": BIRDS,
    "project/birds/tasks/browse": BIRDS,
    "project/7": ShortName("7"),
    "project/new": None,
    "project/category/art": None,
    "project": None,
    "api/project": None,
    "api/project/7": SEVEN,
    "api/project/7/newtask": SEVEN,
    "api/projectstats/7": SEVEN,
    "api/project/birds/newtask": BIRDS,
    "api/birds/newtask": BIRDS,
    "api/7/newtask": SEVEN,
    "api/auth/project/birds/token": BIRDS,
    "api/task/3": RowId("task", 3),
    "api/task/3/lease": RowId("task", 3),
    "api/taskrun/1000000000007": RowId("taskrun", 1_000_000_000_007),
    "api/result/x": None,
    "api/task/" + "9" * 19: None,
    "api/favorites/3": RowId("task", 3),
    "api/favorites": None,
    "api/queue/3": RowId(QUEUE, 3),
    "api/user/3": None,
    "uploads/project-7/a.png": SEVEN,
    "uploads/user-7/a.png": None,
    "admin/featured/7": SEVEN,
    "admin/users": None,
    "": None,
}
QUERIES = [
    ("api/task", {"project_id": "7"}, SEVEN),
    ("api/projectstats", {"project_id": "7"}, SEVEN),
    ("api/projectstats", {"id": "7"}, SEVEN),
    ("api/task", {"short_name": "birds"}, BIRDS),
    ("api/task", {"id": "3"}, RowId("task", 3)),
    ("api/taskrun", {"task_id": "3"}, RowId("task", 3)),
    ("api/taskrun", {"limit": "3"}, None),
    ("api/project", {"id": "7"}, SEVEN),
    ("api/project", {"short_name": "birds"}, BIRDS),
    ("account/signin", {"project_id": "7"}, None),
]
BODIES = [
    ("api/taskrun", b'{"project_id": 7, "task_id": 3}', SEVEN),
    ("api/taskrun", b'{"project_id": "7", "info": {"project_id": 8}}', SEVEN),
    ("api/taskrun", b'{"info": {"project_id": 8}, "task_id": 3}', RowId("task", 3)),
    ("api/task", b' [ {"project_id": 7, "info": []}, {"project_id": 8}]', SEVEN),
    ("api/task", b'[{"project_id": 7}, broken', SEVEN),  # the views say that it is no JSON
    ("api/task", b"[]", None),
    ("api/task", b'{"project_id": true', None),
    ("api/task", b"\xff[", None),
    ("api/task", b"[\xff", None),
    ("api/task", b"7", None),
    ("api/favorites", b'{"task_id": 3}', RowId("task", 3)),
    ("api/project", b'{"project_id": 7}', None),
    ("project/new", b'{"project_id": 7}', None),
]


@pytest.mark.parametrize(("path", "reference"), ADDRESSES.items())
def test_a_path_names_a_project_or_none(path, reference):
    assert of_address(path.split("/"), {}) == reference


@pytest.mark.parametrize(("path", "query", "reference"), QUERIES)
def test_a_query_of_the_api_does(path, query, reference):
    assert of_address(path.split("/"), query) == reference


@pytest.mark.parametrize(("path", "body", "reference"), BODIES)
def test_what_is_made_belongs_to_the_project_of_its_first_row(path, body, reference):
    assert of_body(path.split("/"), body) == reference


def test_only_lists_of_rows_of_projects_need_one():
    assert needs_project(["api", "task"]) and needs_project(["api", "result", ""])
    assert not any(
        needs_project(path.split("/")) for path in ("api/project", "api/task/3", "api/category", "task/x", "")
    )


def test_a_row_of_every_kind_of_a_project_is_looked_for_where_its_project_is():
    for kind in KINDS.values():
        if "project" in kind.parents:
            assert of_address(["api", kind.name, "7"], {}) is not None, f"name {kind.name} in OF_PROJECTS"
