"""Imports of the same tasks that run side by side."""

import pytest
import pytest_twisted

from crowdd.features.accounts.feature import AccountsFeature
from crowdd.features.gallery import folders
from crowdd.features.gallery.drafts import EXAMPLES
from crowdd.features.gallery.feature import GalleryFeature
from crowdd.features.gallery.folder_import import Import, load
from crowdd.features.gallery.gallery import SHIPPED
from crowdd.features.tasks import statements as task_statements
from crowdd.kernel.errors import NotFoundError
from crowdd.kernel.files import find_shipped
from crowdd.kernel.requester import Requester
from crowdd.kinds.project import PROJECT

PLAIN = {"n_answers": 1, "priority_0": 0.0, "quorum": 0, "calibration": 0}


def numbered(*numbers):
    return [{**PLAIN, "info": {"n": number}} for number in numbers]


@pytest_twisted.async_yield_fixture
async def project_id(house):
    """A draft without tasks."""
    row = await house[AccountsFeature].accounts.of_examples()
    owner = Requester(user_id=row["id"], user_name=row["name"], via="cli")
    yield (await house.base.records.create(PROJECT, owner, {"name": "Birds", "short_name": "birds"}))["id"]


async def numbers(house, project_id):
    rows = await house.base.db.fetch("SELECT info FROM task WHERE project_id = %(id)s ORDER BY id", {"id": project_id})
    return [row["info"]["n"] for row in rows]


@pytest_twisted.ensureDeferred
async def test_what_another_import_adds_meanwhile_is_seen(house, project_id):
    ours, theirs = Import(house.base.db, project_id), Import(house.base.db, project_id)
    assert await ours.add(numbered(1, 2)) == 2
    assert await theirs.add(numbered(1, 2, 3, 4)) == 2
    assert await ours.add(numbered(3, 4, 5)) == 1
    assert await numbers(house, project_id) == [1, 2, 3, 4, 5]


@pytest_twisted.ensureDeferred
async def test_tasks_added_one_by_one_count_too(house, project_id):
    ours = Import(house.base.db, project_id)
    assert await ours.add(numbered(1)) == 1
    await task_statements.insert_tasks(house.base.db, project_id, numbered(2))
    assert await ours.add(numbered(2, 2, 1)) == 2
    assert await numbers(house, project_id) == [1, 2, 2, 1]


@pytest_twisted.ensureDeferred
async def test_order_of_keys_makes_no_other_task(house, project_id):
    await task_statements.insert_tasks(house.base.db, project_id, [{**PLAIN, "info": {"a": 1, "b": [None, "ü"]}}])
    same = [{**PLAIN, "info": {"b": [None, "ü"], "a": 1}}]
    assert await Import(house.base.db, project_id).add(same) == 0


@pytest_twisted.ensureDeferred
async def test_project_that_is_deleted_meanwhile(house, project_id):
    ours = Import(house.base.db, project_id)
    await ours.add(numbered(1))
    await house.base.records.delete(PROJECT, Requester(admin=True, user_id=0, via="cli"), project_id)
    with pytest.raises(NotFoundError, match="The project has been deleted"):
        await ours.add(numbered(2))


@pytest_twisted.ensureDeferred
async def test_every_example_and_template_loads_once(house):
    """As ``crowdctl project load`` does with each folder, into one site; a second time nothing is added."""
    examples = [find_shipped(f"examples/{name}") for name in EXAMPLES]
    templates = sorted(path for path in SHIPPED.iterdir() if path.is_dir())
    assert len(templates) >= 16
    for path in [*examples, *templates]:
        folder = folders.read_folder(path)
        done = await load(house[GalleryFeature].loading, folder)
        assert done.created and done.added == done.tasks == folder.n_tasks > 0, path
        assert done.published is (path in examples) and folder.missing.values == 0, path
        assert (await load(house[GalleryFeature].loading, folder)).added == 0, path
