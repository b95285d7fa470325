"""Parquet files, Darwin Core archives, and observations with their media that owners import."""

from __future__ import annotations

import io

import pyarrow
import pyarrow.parquet
import pytest_twisted
from support.checks.shows import shows
from support.darwin_core import archive
from support.importing import AT, bring, brought, figures, looked_at, tasks_of
from support.workbooks import zipped

HTML = {"Accept": "text/html"}


@shows("page-import-parquet")
@pytest_twisted.ensureDeferred
async def test_a_parquet_file_is_previewed_and_imported_by_its_key(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    out = io.BytesIO()
    table = pyarrow.table({"id": [2**60, 2, 2, None], "when": pyarrow.array([0, 1, 1, 2], pyarrow.timestamp("s")), "n_answers": [3, 4, 4, 5]})  # fmt: skip
    pyarrow.parquet.write_table(table, out, row_group_size=2)
    upload = await looked_at(owner, out.getvalue(), "birds.parquet", key="id")
    assert (upload["format"], upload["columns"], upload["sheets"]) == ("parquet", ["id", "when", "n_answers"], [])
    assert figures(upload["preview"]) == {"added": 2, "present": 1, "twice": 1, "refused": 1}
    page = (await owner.get(f"{AT}/{upload['id']}", headers=HTML)).text
    assert "PARQUET" in page and 'name="encoding"' not in page and 'name="sheet"' not in page
    done = await brought(served, owner, out.getvalue(), "birds.parquet", key="id", on_error="skip")
    assert figures(done) == {"added": 2, "present": 1, "twice": 1, "refused": 1}
    infos = [task["info"] for task in await tasks_of(owner, project)]
    assert infos == [{"id": 2**60, "when": "1970-01-01T00:00:00"}, {"id": 2, "when": "1970-01-01T00:00:01"}]
    billion = io.BytesIO()
    nulls = pyarrow.table({"n": pyarrow.nulls(2_000_001)})
    pyarrow.parquet.write_table(nulls, billion)
    refused = await bring(owner, billion.getvalue(), "birds.parquet")
    assert refused["status"] == "error" and "The file has 2,000,001 rows." in refused["flash"]


@shows("page-import-darwin-core")
@pytest_twisted.ensureDeferred
async def test_a_darwin_core_archive_becomes_a_task_for_each_picture(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    records = [["1", "StillImage", f"https://example.org/{n}.jpg"] for n in range(3)] + [["1", "StillImage", ""]]
    content = archive("scientificName", [["1", "Vulpes vulpes"]], "type identifier", records)
    assert figures(await brought(served, owner, content, "gbif.zip")) == {"added": 3, "empty": 1}
    infos = [task["info"] for task in await tasks_of(owner, project)]
    assert infos[0] == {"picture": "https://example.org/0.jpg", "scientificName": "Vulpes vulpes", "type": "StillImage"}
    assert figures(await brought(served, owner, content, "gbif.zip")) == {"present": 3, "empty": 1}


@shows("page-import-observations")
@pytest_twisted.ensureDeferred
async def test_observations_with_their_media_become_a_task_for_each_picture(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    media = "observation_id,url\n7,https://example.org/1.jpg\n7,https://example.org/2.jpg\n7,\n"
    content = zipped({"observations-9.csv": "id,species_guess\n7,Fox\n8,Owl\n", "photos-9.csv": media})
    upload = await looked_at(owner, content, "export.zip")
    assert upload["format"] == "observations" and upload["suggested"]["picture"] == "picture"
    assert figures(await brought(served, owner, content, "export.zip")) == {"added": 2, "empty": 1}
    infos = [task["info"] for task in await tasks_of(owner, project)]
    assert infos[1] == {"picture": "https://example.org/2.jpg", "observation_id": "7", "species_guess": "Fox"}
    wrong = zipped({"observations.csv": "id,x\n7,Fox\n", "photos.csv": "number,url\n7,u\n"})
    refused = await bring(owner, wrong, "export.zip")
    assert refused["status"] == "error" and "needs a column that names the observation" in refused["flash"]
