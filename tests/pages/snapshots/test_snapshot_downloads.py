"""Downloads of snapshots: tags and parts."""

from __future__ import annotations

import io
import itertools
import zipfile

import pytest_twisted
from support.checks.shows import shows
from support.servers.queue_runner import worked


@shows("page-snapshot")
@pytest_twisted.ensureDeferred
async def test_files_and_archives_come_in_parts_with_a_tag(served):
    owner, ada = await served.person("owner"), await served.person("ada")
    project = await served.project(owner, "birds", tasks=3, published=True, n_answers=1)
    task = (await ada.get(f"/api/{project['id']}/newtask")).json()
    await ada.post("/api/taskrun", json={"project_id": project["id"], "task_id": task["id"], "info": "owl"})
    await owner.post(f"/api/project/{project['id']}/snapshots")
    await worked(served)
    (made,) = (await owner.get(f"/api/project/{project['id']}/snapshots")).json()
    at, tags = f"/project/birds/snapshots/{made['hash']}", set()
    for name in ("archive", "files/answers.ndjson", "files/manifest.json"):
        whole = await owner.get(f"{at}/{name}")
        tag, size = whole.header("etag"), len(whole.body)
        tags.add(tag)
        assert whole.header("accept-ranges") == "bytes"
        assert whole.header("content-disposition").startswith("attachment")
        assert (await owner.get(f"{at}/{name}", headers={"If-None-Match": tag})).status == 304
        cuts = sorted({0, 1, 40, size // 3, size // 2, size - 30, size - 1, size})
        for begin, end in itertools.pairwise(cuts):
            part = await owner.get(f"{at}/{name}", headers={"Range": f"bytes={begin}-{end - 1}", "If-Range": tag})
            assert (part.status, part.body) == (206, whole.body[begin:end]), (name, begin, end)
            assert part.header("content-range") == f"bytes {begin}-{end - 1}/{size}"
        other = await owner.get(f"{at}/{name}", headers={"Range": "bytes=5-", "If-Range": '"other"'})
        assert (other.status, other.body) == (200, whole.body)
        assert (await owner.get(f"{at}/{name}", headers={"Range": f"bytes={size}-"})).status == 416
        refused = await served.client().get(f"{at}/{name}", headers={"Range": "bytes=5-", "If-None-Match": tag})
        assert refused.status == 404, "a tag opens nothing"
    assert len(tags) == 3
    with zipfile.ZipFile(io.BytesIO((await owner.get(f"{at}/archive")).body)) as opened:
        assert opened.testzip() is None
