"""The importers that front ends for PyBossa name, and links that share a file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import pytest_twisted
from support.checks.shows import shows
from support.documents import Documents
from support.iiif import manifest
from support.importing import AT, figures, tasks_of
from support.servers.queue_runner import worked


@pytest.fixture
def documents() -> Iterator[Documents]:
    source = Documents()
    yield source
    source.close()


@shows("page-import-importers")
@pytest_twisted.ensureDeferred
async def test_every_importer_that_is_listed_imports_and_others_are_refused(serve, documents):
    served = await serve(CROWDD_OUTGOING_ALLOWED_HOSTS="127.0.0.1:*")
    at = documents.url
    documents.pages = {
        "/csv": b"a\n1\n", "/sheet": b"a\n2\n", "/m": manifest(f"{at}/m", [f"{at}/1.jpg"]),
        "/s/aBcDeFgHiJkLmN9/download": b"a\n3\n",
    }  # fmt: skip
    owner = await served.person("owner")
    project = await served.project(owner)
    listed = (await owner.page(AT)).json()["available_importers"]
    sent = {
        "localCSV": {"rows": "a\n0\n"}, "csv": {"csv_url": f"{at}/csv"}, "gdocs": {"googledocs_url": f"{at}/sheet"},
        "iiif": {"manifest_uri": f"{at}/m", "version": "3"},
    }  # fmt: skip
    assert listed == [*sent]
    for name, fields in sent.items():
        form = (await owner.page(f"{AT}?type={name}")).json()["form"]
        assert form["form_name"] == name and ({*fields} - {"version"}) <= {*form, "rows"}
        answer = (await owner.post(AT, json={"form_name": name, **fields})).json()
        assert answer["status"] == "success", (name, answer)
        assert figures((await worked(served))[-1]["result"]) == {"added": 1}, name
    for name in ("epicollect", "s3", "dropbox", "youtube", "flickr", "twitter"):
        assert (await owner.page(f"{AT}?type={name}")).status == 415
        refused = await owner.post(AT, json={"form_name": name, "csv_url": f"{at}/csv"})
        assert refused.status == 415 and "Available: localCSV, csv, gdocs, iiif." in refused.text
    assert documents.asked["/csv"] == 1
    await owner.post(AT, json={"csv_url": f"{at}/s/aBcDeFgHiJkLmN9"})
    await worked(served)
    values = {task["info"].get("a") for task in await tasks_of(owner, project)}
    assert values == {"0", "1", "2", "3", None}
    wrong = (await owner.post(AT, json={"form_name": "gdocs", "googledocs_url": "http://10.0.0.1/"})).json()
    assert wrong["status"] == "error" and "private address" in wrong["form"]["errors"]["csv_url"][0]
