"""Files of media that arrive in parts (tus 1.0.0): offsets, rights, limits, and requests that nobody should send."""

from __future__ import annotations

import base64
import hashlib

import pytest
import pytest_twisted
from support.checks.shows import shows
from support.media import (
    AT,
    PART,
    TUS,
    begin,
    brought,
    close,
    create,
    files_of,
    metadata,
    picture,
    send,
    state,
    tasks_of,
    upload,
    zipped,
)
from support.servers.queue_runner import worked
from support.until import until
from support.wire import connect, request

from crowdd.features.batches.feature import BatchesFeature
from crowdd.features.media.feature import MediaFeature
from crowdd.http.edge.memory import BodyMemory


@shows("page-media-files")
@pytest_twisted.ensureDeferred
async def test_a_file_comes_in_parts_and_goes_on_where_it_was_cut(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    batch, content = await begin(owner), picture(1)
    made = await create(owner, batch, "trip/fox.jpg", len(content))
    url = made.header("location")
    assert (made.status, made.header("upload-offset"), made.header("tus-resumable")) == (201, "0", "1.0.0")
    assert made.header("upload-expires").endswith("GMT")
    first = await send(owner, url, 0, content[:500])
    assert (first.status, first.header("upload-offset"), first.body) == (204, "500", b"")
    head = await owner.request("HEAD", url, headers=TUS)
    assert (head.header("upload-offset"), head.header("upload-length")) == ("500", str(len(content)))
    assert "no-store" in head.header("cache-control")
    twice = await send(owner, url, 0, content[:500])  # the answer to the first was lost
    assert (twice.status, twice.header("upload-offset"), twice.json()["error_code"]) == (409, "500", "upload_offset")
    same = await create(owner, batch, "trip/fox.jpg", len(content))  # the client was started again
    assert (same.header("location"), same.header("upload-offset")) == (url, "500")
    assert (await send(owner, url, 500, content[500:] + b"x")).status == 400
    assert (await send(owner, url, 500, content[500:])).status == 204
    assert (await send(owner, url, len(content), b"")).status == 409
    done = await close(served, owner, batch)
    assert (done["added"], [info["filename"] for info in await tasks_of(owner, project)]) == (1, ["trip/fox.jpg"])
    assert (await create(owner, batch, "more.jpg", 5)).json()["error_code"] == "batch_closed"


@pytest_twisted.ensureDeferred
async def test_a_file_that_is_whole_on_the_disk_counts_as_arrived_when_its_client_asks(served):
    """As after a kill between the last part and the note of it."""
    owner = await served.person("owner")
    await served.project(owner)
    batch, content = await begin(owner), picture(1)
    url = (await create(owner, batch, "a.jpg", len(content))).header("location")
    incoming = served.house[BatchesFeature].media_batches._incoming
    incoming.path(int(url.rpartition("/")[2])).write_bytes(content)
    head = await owner.request("HEAD", url, headers=TUS)
    assert head.header("upload-offset") == str(len(content))
    await worked(served)
    assert (await state(owner, batch))["left"] == 1, "a task is made of it when the batch is closed"
    assert incoming.files(before=2**40) == []


@pytest_twisted.ensureDeferred
async def test_the_headers_of_the_protocol_are_checked(served):
    owner = await served.person("owner")
    await served.project(owner)
    batch = await begin(owner)
    options = await owner.request("OPTIONS", f"{batch}/files")
    assert options.status == 204 and options.header("tus-version") == "1.0.0"
    assert "creation" in options.header("tus-extension") and int(options.header("tus-max-size")) > 10**8
    made = await owner.post(f"{batch}/files", headers={"Upload-Length": "5"})
    assert (made.status, made.header("tus-resumable")) == (412, "1.0.0")
    url = (await create(owner, batch, "a.jpg", 6)).header("location")
    wrong = [
        ({**PART, "Tus-Resumable": "0.2.0", "Upload-Offset": "0"}, 412),
        ({**TUS, "Content-Type": "text/plain", "Upload-Offset": "0"}, 415),
        (PART, 400),
        ({**PART, "Upload-Offset": "-1"}, 400),
        ({**PART, "Upload-Offset": "9" * 30}, 400),
        ({**PART, "Upload-Offset": "0", "Upload-Checksum": "md5 x"}, 400),
        ({**PART, "Upload-Offset": "0", "Upload-Checksum": "sha1 AAAA"}, 460),
    ]
    for headers, status in wrong:
        answer = await owner.request("PATCH", url, data=b"abc", headers=headers)
        assert (answer.status, answer.json()["code"]) == (status, status), headers
    digest = base64.b64encode(hashlib.sha256(b"abc").digest()).decode()
    good = await send(owner, url, 0, b"abc", **{"Upload-Checksum": f"sha256 {digest}"})
    assert good.header("upload-offset") == "3"
    for size, words in (("x", "a x"), ("", ""), ("5", "filename ***")):
        headers = {**TUS, "Upload-Length": size, "Upload-Metadata": words}
        assert (await owner.post(f"{batch}/files", headers=headers)).status == 400
    assert (await owner.delete(url, headers=TUS)).status == 204
    assert (await owner.request("HEAD", url, headers=TUS)).status == 404
    assert (await state(owner, batch))["arriving"] == 0


@pytest_twisted.ensureDeferred
async def test_only_owners_bring_files_and_guessed_addresses_tell_nothing(served):
    owner, other = await served.person("owner"), await served.person("other")
    await served.project(owner)
    await served.project(other, "fish")
    batch, mine = await begin(owner), await begin(other, "/project/fish/tasks/media")
    url = (await create(owner, batch, "a.jpg", 5)).header("location")
    inside = url.replace("birds", "fish")  # a file of a batch of somebody else, by the address of one's own project
    number = batch.rpartition("/")[2]
    for client, expected, of_part in ((other, 404, 404), (served.client(), 302, 401)):
        assert (await send(client, url, 0, b"x")).status == of_part
        assert (await client.request("HEAD", url, headers=TUS)).status == expected
        assert (await create(client, batch, "b.jpg", 5)).status in (expected, 400)
        assert (await client.page(f"{batch}/files")).status == expected
        assert (await client.page(f"{batch}/live")).status == expected
        assert (await client.page(batch)).status == expected
    for method, path in (("HEAD", inside), ("PATCH", inside), ("DELETE", inside)):
        assert (await other.request(method, path, headers={**PART, "Upload-Offset": "0"})).status == 404, method
    assert (await create(other, f"/project/fish/tasks/media/{number}", "b.jpg", 5)).status == 404
    assert (await other.post(f"/project/fish/tasks/media/{number}/discard", json={})).status == 404
    assert (await other.page(f"/project/fish/tasks/media/{'9' * 25}")).status == 404
    assert (await other.request("HEAD", f"{mine}/files/{'9' * 25}", headers=TUS)).status == 404
    # a session needs its token
    browser = await owner.by_session()
    assert (await send(browser, url, 0, b"abcde")).status == 400
    token = (await owner.session()).csrf_token
    assert (await send(browser, url, 0, b"abcde", **{"X-CSRFToken": token})).status == 204


@pytest_twisted.ensureDeferred
async def test_no_request_above_the_size_of_a_part_is_read(served):
    owner = await served.person("owner")
    await served.project(owner)
    batch = await begin(owner)
    url = (await create(owner, batch, "a.jpg", 50_000_000)).header("location")
    for size, status in ((8_388_609, 413), (60_000_000, 413)):
        line = f"PATCH {url}".encode()
        headers = [b"Authorization: " + owner.key.encode(), b"Upload-Offset: 0", b"Tus-Resumable: 1.0.0"]
        headers.append(b"Content-Length: %d" % size)
        answer = await request(served.base, line, *headers, b"Content-Type: application/offset+octet-stream")
        assert answer[0] == status, answer  # none of the body was sent, so none was waited for
    stranger = [b"Content-Length: 8000000", b"Content-Type: application/offset+octet-stream"]
    assert (await request(served.base, f"PATCH {url}".encode(), *stranger))[0] in (302, 401)
    big = await send(owner, url, 0, bytes(8_388_608))
    assert big.header("upload-offset") == "8388608"


@shows("page-media-room")
@pytest.mark.parametrize(
    ("setting", "value", "size", "code"),
    [
        ("CROWDD_UPLOADS_MAX_FILE_BYTES", "1000", 1001, "file_too_large"),
        ("CROWDD_UPLOADS_MAX_BATCH_FILES", "1", 1, "batch_full"),
        ("CROWDD_UPLOADS_MAX_OPEN_FILES", "1", 1, "uploads_full"),
        ("CROWDD_UPLOADS_MAX_OPEN_BYTES", "1000", 999, "uploads_full"),
        ("CROWDD_UPLOADS_MAX_SITE_OPEN_BYTES", "1000", 999, "uploads_full"),
        ("CROWDD_QUOTA_MAX_BYTES", "5000", 4999, "quota_exceeded"),
        ("CROWDD_UPLOADS_MAX_SITE_BYTES", "1000", 999, "site_full"),
    ],
)
@pytest_twisted.ensureDeferred
async def test_room_is_looked_at_before_any_byte_is_taken(serve, setting, value, size, code):
    served = await serve(**{setting: value})
    owner = await served.person("owner")
    await served.project(owner)
    batch = await begin(owner)
    first = await create(owner, batch, "a.jpg", 500)
    assert first.status == 201, first.body
    refused = (await create(owner, batch, "b.jpg", size)).json()
    assert refused["error_code"] == code, refused
    assert len(await files_of(owner, batch)) == 1
    if code in ("quota_exceeded", "site_full"):
        assert "left" in refused["description"] and "kB" in refused["description"]
    if code == "uploads_full":  # what is no longer arriving makes room
        assert (await owner.delete(first.header("location"), headers=TUS)).status == 204
        assert (await create(owner, batch, "b.jpg", size)).status == 201


@pytest_twisted.ensureDeferred
async def test_hostile_names_and_files_are_refused_with_a_sentence(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    files = {
        "../../../etc/passwd\u202egpj.jpg": picture(1),
        "empty.jpg": b"",
        "page.jpg": b"<html><script>alert(1)</script>",
        "vector.svg": b"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>",
        "cut.jpg": picture(2)[:200],
        "sheet.xlsx": zipped({"[Content_Types].xml": b"<x/>"}),
        "bomb.zip": zipped({"big.jpg": bytes(20_000_000)}),
    }
    done = await brought(served, owner, files)
    assert done["tasks"] == 1 and done["refused"] >= 6
    (info,) = await tasks_of(owner, project)
    assert info["filename"] == "etc/passwdgpj.jpg"
    for file in await files_of(owner, done["at"]):
        assert file["state"] in ("added", "split") or len(file["reason"]) > 10, file
    media_keys = [key async for key, _size in served.house[MediaFeature].media_store.keys(project["id"])]
    assert len(media_keys) == 2
    incoming = served.house[BatchesFeature].media_batches._incoming
    assert list(incoming.folder.iterdir()) == []


@pytest_twisted.ensureDeferred
async def test_names_and_keys_that_cannot_be_are_refused(served):
    owner = await served.person("owner")
    await served.project(owner)
    batch = await begin(owner)
    assert (await create(owner, batch, ".DS_Store", 5)).json()["error_code"] == "system_file"
    assert (await create(owner, batch, "a.jpg", 5, "x" * 500)).status == 400
    assert (await create(owner, batch, "a.jpg", 5, "ä")).status == 400
    words = metadata(filename="a.jpg", key="k" * 5000)
    assert (
        await owner.post(f"{batch}/files", headers={**TUS, "Upload-Length": "1", "Upload-Metadata": words})
    ).status == 400
    for choices in ({"grouping": "colour"}, {"n_answers": 0}, {"column": "x" * 200}):
        answer = await owner.post(AT, json=choices)
        assert answer.status == 415, choices
    for names in (None, "a", [1], ["a"] * 20_000):
        assert (await owner.post(f"{AT}/plan", json={"names": names})).status == 415
    plan = (await owner.post(f"{AT}/plan", json={"names": ["1a.jpg", "1b.jpg", ".DS_Store"]})).json()
    assert plan == {
        "files": 2, "left_out": [".DS_Store"], "tasks_by_file": 2, "tasks_by_name": 1, "groups": {"1": ["1a.jpg", "1b.jpg"]},
    }  # fmt: skip


@pytest_twisted.ensureDeferred
async def test_files_that_do_not_arrive_in_time_are_swept(served):
    owner = await served.person("owner")
    await served.project(owner)
    batch = await begin(owner)
    old, new = [(await create(owner, batch, name, 5)).header("location") for name in ("old.jpg", "new.jpg")]
    await served.database.execute(
        "UPDATE media_file SET expires = clock() - interval '1 minute' WHERE id = %(id)s",
        {"id": int(old.rpartition("/")[2])},
    )
    batches = served.house[BatchesFeature].media_batches
    assert await batches.sweep(2.0**40) == 1
    assert (await owner.request("HEAD", old, headers=TUS)).status == 404
    assert (await owner.request("HEAD", new, headers=TUS)).status == 200
    assert [path.name for path in batches._incoming.folder.iterdir()] == [new.rpartition("/")[2]]
    await served.database.execute("UPDATE media_batch SET created = created - interval '9 days'")
    await served.database.execute(
        "UPDATE media_file SET created = created - interval '9 days', expires = clock() - interval '1 day'"
    )
    await batches.sweep(2.0**40)
    assert (await owner.page(batch)).status == 404  # nothing ever came


@pytest_twisted.ensureDeferred
async def test_the_rest_of_a_batch_can_be_left_out(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    batch = await begin(owner, grouping="name")
    await upload(owner, batch, "1.jpg", picture(1))
    await create(owner, batch, "2.jpg", 10)
    await worked(served)
    assert (await owner.post(f"{batch}/discard", json={})).status == 200
    done = await state(owner, batch)
    assert (done["state"], done["files"], done["arriving"]) == ("done", 0, 0)
    assert await tasks_of(owner, project) == [] and (await create(owner, batch, "3.jpg", 5)).status == 409


class Noted(BodyMemory):
    """Notes the bytes that bodies have got."""

    def take(self, length: int | None) -> int:
        self.taken = [*getattr(self, "taken", ()), super().take(length)]
        return self.taken[-1]


@pytest_twisted.ensureDeferred
async def test_parts_wait_in_memory_which_is_bounded_and_given_back(served):
    """Those for which there is no room wait on the disk. A client that goes in the middle of a part keeps nothing."""
    memory = served.server._site.body_memory = Noted(500_000)
    owner = await served.person("owner")
    await served.project(owner)
    batch, content = await begin(owner), bytes(900_000)
    url = (await create(owner, batch, "a.jpg", len(content))).header("location")
    memory.taken = []
    assert (await send(owner, url, 0, content[:300_000])).status == 204
    assert (await send(owner, url, 300_000, content[300_000:])).status == 204
    assert (memory.taken, memory.left) == ([300_000, 0], 500_000)
    head = await owner.request("HEAD", url, headers=TUS)
    assert head.header("upload-offset") == "900000"
    head = f"PATCH {url} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {owner.key}\r\nContent-Length: 400000\r\n\r\n".encode()
    wire = await connect(owner.base, head + bytes(100_000))
    await until(lambda: memory.left == 100_000)
    wire.transport.abortConnection()
    await until(lambda: memory.left == 500_000)
