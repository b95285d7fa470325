"""The map of a site, a file in the data folder: in parts, to frames, and to nobody where there is none."""

from __future__ import annotations

import pytest
import pytest_twisted
from support.checks.shows import shows
from support.map_files import map_file

from crowdd.kernel import config
from crowdd.kernel.errors import ConfigError


@shows("site-map")
@pytest_twisted.ensureDeferred
async def test_browsers_load_parts_of_the_map_from_any_page(serve):
    served = await serve(CROWDD_MAPS_FILE="world.pmtiles")
    content, client = map_file(), served.client()
    data = served.house.base.settings.data.dir
    assert (await client.get("/site.pmtiles")).status == 404
    (data / "world.pmtiles").write_bytes(content)
    frame = {"Origin": "null", "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "empty"}
    part = await client.get("/site.pmtiles", headers={**frame, "Range": "bytes=0-6"})
    assert (part.status, part.body) == (206, b"PMTiles")
    assert part.header("content-range") == f"bytes 0-6/{len(content)}"
    assert (part.header("access-control-allow-origin"), part.header("access-control-expose-headers")) == ("*", "ETag")
    asked = {**frame, "Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "range"}
    allowed = await client.request("OPTIONS", "/site.pmtiles", headers=asked)
    assert (allowed.status, allowed.header("access-control-allow-headers")) == (204, "Range")
    (data / "world.pmtiles").write_bytes(content + b" ")
    assert (await client.get("/site.pmtiles")).header("etag") != part.header("etag")


@pytest_twisted.ensureDeferred
async def test_a_site_without_a_map_has_no_such_address(served):
    (served.house.base.settings.data.dir / "site.pmtiles").write_bytes(map_file())
    assert (await served.client().get("/site.pmtiles")).status == 404


@pytest.mark.parametrize("name", ["../secret.pmtiles", "maps/world.pmtiles", "secret.key", ".pmtiles"])
def test_the_file_is_in_the_data_folder_itself(name: str):
    with pytest.raises(ConfigError, match="MAPS_FILE"):
        config.load(None, {"CROWDD_MAPS_FILE": name})
