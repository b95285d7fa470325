"""Large pictures of owners are served in tiles as Deep Zoom has them, with the rights and the fate of the project's files."""

from __future__ import annotations

import io

import pytest
import pytest_twisted
from PIL import Image
from support.browsers import lock
from support.checks.shows import shows
from support.media import brought, picture, tasks_of

from crowdd.features.media.feature import MediaFeature
from crowdd.sched.feature import Scheduling

LARGE = (2600, 1700)


async def tiled(served):
    """An owner, the project, and a task with a large picture."""
    owner = await served.person("owner")
    project = await served.project(owner)
    await brought(served, owner, {"a.jpg": picture(1, LARGE), "b.jpg": picture(2)})
    large, small = await tasks_of(owner, project)
    return owner, project, large, small


@shows("upload-tiles")
@pytest_twisted.ensureDeferred
async def test_a_large_picture_is_a_reduced_copy_with_all_its_pixels_in_tiles(served):
    owner, project, large, small = await tiled(served)
    assert "picture_tiles" not in small
    assert (large["width"], large["original_width"], large["original_height"]) == (2000, *LARGE)
    address = large["picture_tiles"]
    description = await served.client().get(address)
    assert (description.status, description.header("content-type")) == (200, "application/xml")
    assert description.header("access-control-allow-origin") == "*"
    assert (
        '<Size Width="2600" Height="1700"/>' in description.text
        and 'TileSize="510" Overlap="1" Format="jpg"' in description.text
    )
    at = address.removesuffix(".dzi") + "_files"
    for tile, size in {
        "12/0_0": (511, 511),
        "12/1_1": (512, 512),
        "12/5_3": (51, 171),
        "11/2_1": (281, 341),
        "0/0_0": (1, 1),
    }.items():
        sent = await served.client().get(f"{at}/{tile}.jpg")
        assert (sent.status, sent.header("content-type")) == (200, "image/jpeg"), tile
        assert Image.open(io.BytesIO(sent.body)).size == size
    known = await served.client().get(f"{at}/12/0_0.jpg", headers={"If-None-Match": sent.header("etag")})
    assert (known.status, known.body) == (304, b"")
    part = await served.client().get(f"{at}/12/0_0.jpg", headers={"Range": "bytes=0-2"})
    assert (part.status, part.body) == (206, b"\xff\xd8\xff")
    for wrong in (
        "12/6_0.jpg",
        "12/0_4.jpg",
        "13/0_0.jpg",
        "12/0_0.webp",
        "12/0_0.html",
        "12/-1_0.jpg",
        "x/0_0.jpg",
        "12/0.jpg",
    ):
        assert (await served.client().get(f"{at}/{wrong}")).status == 404, wrong
    web = large["picture"].rpartition(".")[0]
    assert (await served.client().get(f"{web}_files/0/0_0.jpg")).status == 404  # a file without tiles
    used = await served.house.base.quota.usage(served.database, owner.user_id)
    sizes = [size async for _key, size in served.house[MediaFeature].media_store.keys(project["id"])]
    assert len(sizes) == 5 and used["bytes"]["used"] >= sum(sizes)
    assert [difference async for difference in served.house[Scheduling].checking.run()] == []
    assert (await owner.delete(f"/api/project/{project['id']}")).status == 204
    assert (await served.client().get(address)).status == (await served.client().get(f"{at}/0/0_0.jpg")).status == 404


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_tiles_of_a_locked_project_are_for_those_with_the_lock(served):
    owner, _project, large, _small = await tiled(served)
    await lock(served, "birds", owner, "sesame")
    address = large["picture_tiles"]
    tile = address.removesuffix(".dzi") + "_files/12/0_0.jpg"
    visitor = served.client()
    assert [(await visitor.get(path)).status for path in (address, tile)] == [404, 404]
    await visitor.send_form("/project/birds/password", {"password": "sesame"})
    for path in (address, tile):
        answer = await visitor.get(path)
        assert (answer.status, answer.header("cache-control")) == (200, "private, no-cache")


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_pictures_to_zoom_deeply_into_have_tiles_also_where_they_are_small(served):
    owner = await served.person("owner")
    medium = {"name": "sheet", "type": "zoom_picture", "source": {"column": "scan"}, "description": "A sheet"}
    question = {"name": "it", "type": "yes_no", "text": "Is it?"}
    document = {"version": 1, "steps": [{"name": "one", "media": [medium], "questions": [question]}]}
    project = await served.project(owner)
    made = await owner.put(f"/api/project/{project['id']}", json={"info": {"questions": document}})
    assert made.status == 200, made.body
    await brought(served, owner, {"a.jpg": picture(1, (2100, 700)), "b.jpg": picture(2)})
    wide, small = await tasks_of(owner, project)
    assert "scan_tiles" in wide and "scan_tiles" not in small
