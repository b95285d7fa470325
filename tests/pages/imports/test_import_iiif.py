"""IIIF manifests and collections that owners import by address and as files."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

import orjson
import pytest
import pytest_twisted
from support.checks.shows import shows
from support.documents import Documents
from support.iiif import canvas, collection, manifest
from support.importing import AT, bring, figures, looked_at, tasks_of
from support.servers.queue_runner import worked

from crowdd.features.imports.files import Dialect, read_rows
from crowdd.features.imports.prepared import iiif_collections
from crowdd.kernel.errors import StoppedError

ALLOWED = {"CROWDD_OUTGOING_ALLOWED_HOSTS": "127.0.0.1:*"}


@pytest.fixture
def documents() -> Iterator[Documents]:
    source = Documents()
    yield source
    source.close()


async def refusals(owner, at):
    table = (await owner.get(f"{at}/errors")).body.decode("utf-8-sig")
    return [(row["reason"], row["row"]) for row in csv.DictReader(io.StringIO(table))]


@shows("page-import-iiif")
@pytest_twisted.ensureDeferred
async def test_a_manifest_becomes_a_task_for_each_canvas(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    document = manifest("https://example.org/m", ["https://93.184.215.14/1.jpg", "https://93.184.215.14/2.jpg"])
    upload = await looked_at(owner, orjson.dumps(document), "manifest.json")
    assert (upload["format"], upload["rows"]) == ("iiif", 2)
    assert upload["columns"] == ["picture", "service", "title", "label", "manifest", "canvas", "rights", "metadata"]
    page = (await owner.get(f"{AT}/{upload['id']}", headers={"Accept": "text/html"})).text
    assert "Which column is what?" in page and 'name="encoding"' not in page and "<h2>File</h2>" not in page
    await owner.post(f"{AT}/{upload['id']}", json={})
    assert figures((await worked(served))[-1]["result"]) == {"added": 2}
    infos = [task["info"] for task in await tasks_of(owner, project)]
    assert [info["picture"] for info in infos] == ["https://93.184.215.14/1.jpg", "https://93.184.215.14/2.jpg"]
    assert infos[0]["title"] == "Letters" and infos[0]["metadata"] == {}
    again = await looked_at(owner, orjson.dumps(document), "manifest.json")
    assert figures(again["preview"]) == {"present": 2}


@pytest_twisted.ensureDeferred
async def test_a_manifest_that_points_inside_is_refused_and_nothing_inside_is_asked(served, documents):
    owner = await served.person("owner")
    await served.project(owner)
    inside = [f"{documents.url}/1.jpg", "http://169.254.169.254/latest/meta-data", "http://localhost/x.jpg", "file:///etc/passwd", "javascript:alert(1)"]  # fmt: skip
    refused = await bring(owner, orjson.dumps(manifest("https://example.org/m", inside)), "manifest.json")
    assert refused["status"] == "error" and "No row of the file can be used" in refused["flash"]
    mixed = manifest("https://example.org/m", [*inside, "https://93.184.215.14/1.jpg"])
    upload = await looked_at(owner, orjson.dumps(mixed), "manifest.json")
    assert figures(upload["preview"]) == {"added": 1, "refused": 5}
    service = {"id": f"{documents.url}/s", "type": "ImageService2", "profile": "level2"}
    body = {"id": "https://93.184.215.14/1.jpg", "type": "Image", "service": service}
    document = manifest("https://example.org/m", [], items=[canvas("https://example.org/c", body)])
    assert (await bring(owner, orjson.dumps(document), "manifest.json"))["status"] == "error"
    everywhere = [f"http://127.0.{n}.1/1.jpg" for n in range(60)]
    everywhere[:50] = [f"https://93.184.215.{n}/1.jpg" for n in range(50)]
    upload = await looked_at(owner, orjson.dumps(manifest("https://example.org/m", everywhere)), "manifest.json")
    assert figures(upload["preview"]) == {"added": 50, "refused": 10}, "servers that are not looked at are refused"
    listed = collection("https://example.org/c", ("Manifest", f"{documents.url}/m"), ("Manifest", "http://10.0.0.1/"))
    answer = await bring(owner, orjson.dumps(listed), "collection.json", on_error="skip")
    assert answer["state"] == "reading"
    error = (await worked(served))[-1]["result"]["error"]
    assert "No row of the file can be used" in error and "a private address" in error
    assert not documents.asked, "nothing inside was asked"
    by_address = (await owner.post(AT, json={"csv_url": f"{documents.url}/m"})).json()
    assert by_address["status"] == "error" and not documents.asked


@shows("page-import-iiif")
@pytest_twisted.ensureDeferred
async def test_a_collection_is_fetched_in_the_background_and_its_damage_is_told(serve, documents):
    served = await serve(**ALLOWED)
    at = documents.url
    documents.pages = {
        "/c": collection(f"{at}/c", ("Manifest", f"{at}/m1"), ("Collection", f"{at}/sub"), ("Manifest", f"{at}/gone")),
        "/sub": collection(f"{at}/sub", ("Manifest", f"{at}/m2"), ("Manifest", f"{at}/m1"), ("Collection", f"{at}/c"), ("Manifest", f"{at}/page")),
        "/m1": manifest(f"{at}/m1", [f"{at}/1.jpg", f"{at}/2.jpg"]),
        "/m2": manifest(f"{at}/m2", [f"{at}/3.jpg"]),
        "/page": b"<html>",
    }  # fmt: skip
    owner = await served.person("owner")
    project = await served.project(owner)
    answer = (await owner.post(AT, json={"csv_url": f"{at}/c", "on_error": "skip"})).json()
    assert answer["state"] == "reading" and documents.asked == {"/c": 1}
    (done,) = await worked(served)
    assert done["state"] == "done" and figures(done["result"]) == {"added": 3, "refused": 2}
    assert [text for _reason, text in await refusals(owner, answer["next"])] == [f"{at}/gone", f"{at}/page"]
    assert documents.asked == {"/c": 1 + 1, "/m1": 1, "/m2": 1, "/sub": 1, "/gone": 1, "/page": 1}
    infos = [task["info"] for task in await tasks_of(owner, project)]
    assert [info["picture"] for info in infos] == [f"{at}/1.jpg", f"{at}/2.jpg", f"{at}/3.jpg"]


@pytest_twisted.ensureDeferred
async def test_a_collection_goes_on_where_it_was_cut(serve, documents, tmp_path):
    served = await serve(**ALLOWED)
    at, names = documents.url, ["/1", "/2", "/3", "/4"]
    documents.pages = {name: manifest(f"{at}{name}", [f"{at}{name}.jpg"]) for name in names}
    path = tmp_path / "file"
    path.write_bytes(orjson.dumps(collection(f"{at}/c", *(("Manifest", at + name) for name in names))))
    thread = served.house.base.worker_thread
    reader = iiif_collections.CollectionReader(served.house.base.outgoing, thread, 10_000_000)
    steps = []

    async def progress(done: int, total: int) -> None:
        steps.append((done, total))
        if done == 3:
            raise StoppedError("cancelled")

    with pytest.raises(StoppedError):
        await reader.read(path, Dialect("iiif"), progress)
    journal = tmp_path / "file.journal"
    with journal.open("ab") as file:
        file.write(b'{"picture": "half of the next docum')  # as a kill leaves it
    rows = await reader.read(path, Dialect("iiif"), progress)
    assert documents.asked == dict.fromkeys(names, 1) and steps == [(2, 5), (3, 5), (4, 5), (5, 5)]
    with rows.open("rb") as file:
        assert [row.values["picture"] for row in read_rows(Dialect("iiif"), file)] == [f"{at}{n}.jpg" for n in names]
    assert sorted(each.name for each in tmp_path.glob("file*")) == ["file", "file.rows"]


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_a_collection_is_bounded_in_number_depth_bytes_and_failures(serve, documents, tmp_path, monkeypatch):
    served = await serve(**ALLOWED)
    at = documents.url

    async def rows_of(document: object, max_bytes: int = 10_000_000) -> list[str]:
        path = tmp_path / "file"
        path.write_bytes(orjson.dumps(document))
        reader = iiif_collections.CollectionReader(
            served.house.base.outgoing, served.house.base.worker_thread, max_bytes
        )

        async def progress(_done: int, _total: int) -> None: ...

        rows = await reader.read(path, Dialect("iiif"), progress)
        with rows.open("rb") as file:
            texts = [row.error or row.values["picture"] for row in read_rows(Dialect("iiif"), file)]
        rows.unlink()
        return texts

    many = collection(f"{at}/c", *(("Manifest", f"{at}/{n}") for n in range(6)))
    documents.pages = {f"/{n}": manifest(f"{at}/{n}", [f"{at}/{n}.jpg"]) for n in range(6)}
    monkeypatch.setattr(iiif_collections, "MAX_DOCUMENTS", 3)
    assert await rows_of(many) == [
        f"{at}/0.jpg",
        f"{at}/1.jpg",
        "A collection has at most 3 documents. 4 more were left out.",
    ]
    monkeypatch.setattr(iiif_collections, "MAX_DOCUMENTS", 100)
    assert "too large together. 4 more" in (await rows_of(many, 1500))[-1]
    documents.pages = {}
    monkeypatch.setattr(iiif_collections, "MAX_FAILURES", 2)
    assert [words[:40] for words in await rows_of(many)] == [
        "The other server returned status 404.", "The other server returned status 404.", "2 documents in a row could not be read. 4 more were left out."[:40],
    ]  # fmt: skip
    monkeypatch.setattr(iiif_collections, "MAX_MANIFEST_BYTES", 1000)
    documents.pages = {"/0": b"{" * 2000}
    assert "more than 1,000 bytes" in (await rows_of(collection(f"{at}/c", ("Manifest", f"{at}/0"))))[0]
    for n in range(8):
        documents.pages[f"/d{n}"] = collection(f"{at}/d{n}", ("Collection", f"{at}/d{n + 1}"))
    documents.asked.clear()
    assert (await rows_of(documents.pages["/d0"]))[0] == "Collections are nested more than 5 levels deep."
    assert documents.asked["/d5"] == 1 and not documents.asked["/d6"]
