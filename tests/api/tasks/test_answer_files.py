"""Files of answers: sent in parts, prepared, named by one answer, opened for few, and gone with it."""

from __future__ import annotations

import hashlib
import io
import zipfile

import pytest
import pytest_twisted
from PIL import Image
from support.answer_files import PART, answer_with, asked, key_of, noise, send_file, sent
from support.browsers import PASSWORD, newcomer
from support.checks.shows import shows
from support.media import picture, zipped
from support.questions.question_lists import FILES
from support.servers.queue_runner import worked
from twisted.internet.defer import ensureDeferred, gatherResults

from crowdd.features.answer_files.feature import AnswerFilesFeature
from crowdd.features.media.feature import MediaFeature
from crowdd.features.people.feature import PeopleFeature
from crowdd.kernel.requester import Requester


async def project_for_files(served, **rules):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=3, published=True, n_answers=3)
    info = {**project["info"], "answer_files": rules}
    changed = await owner.put(f"/api/project/{project['id']}", json={"info": info})
    assert changed.status == 200, changed.body
    return owner, {**project, "info": info}


async def kept(served, project):
    """The files of a project in the store."""
    return [key async for key, _size in served.house[MediaFeature].media_store.keys(project["id"])]


async def held(served):
    """The bytes that are counted of all projects, which are those of their files."""
    sql = "SELECT coalesce(sum(bytes), 0)::bigint AS n FROM answer_file"
    (counted,), (files,) = [await served.house.base.db.fetch(each) for each in (sql + "_sum", sql)]
    assert counted["n"] == files["n"]
    return counted["n"]


async def sweep(served):
    return await served.house[AnswerFilesFeature].answer_files.sweep(2**33)


def with_place() -> bytes:
    """A photo that says where it was taken."""
    exif = Image.Exif()
    exif[0x8825] = {1: "N", 2: (52.0, 31.0, 12.0), 3: "E", 4: (13.0, 24.0, 36.0)}
    exif[0x010F] = "CAMERA-OF-ADA"
    return picture(3, exif=exif.tobytes())


@shows("answer-files")
@pytest_twisted.ensureDeferred
async def test_a_photo_comes_in_parts_and_with_an_answer(served):
    owner, project = await project_for_files(served)
    ada, content = await served.person("ada"), with_place()
    task = await asked(ada, project)
    half = len(content) // 2
    first = await send_file(ada, task, content[:half], offset=0, bytes=len(content))
    assert first.json() == {"offset": half, "file": None}, first.body
    again = await send_file(ada, task, content[:half], offset=0, bytes=len(content))  # the answer was lost
    assert again.json() == {"offset": half, "file": None}
    last = (await send_file(ada, task, content[half:], offset=half, bytes=len(content))).json()
    file = last["file"]
    assert last["offset"] == len(content) and (file["kind"], file["type"]) == ("picture", "image/jpeg")
    assert (file["width"], file["height"], len(file["sha256"])) == (480, 320, 64)
    assert (await send_file(ada, task, content)).json()["file"] == file, "the same key is the same file"
    made = await answer_with(ada, project, task, {"file": file["file"], "type": "text/html"})
    assert made.status == 200 and made.json()["info"] == {"photo": [file]}, (
        "what is known of it, not what is said of it"
    )
    for reader, query in ((owner, ""), (owner, "?small=1"), (ada, "")):
        opened = await reader.get(file["file"] + query)
        assert (opened.status, opened.header("content-type")) == (200, "image/jpeg")
        assert opened.header("cache-control") == "private, no-cache" and "sandbox" in opened.header(
            "content-security-policy"
        )
        assert b"CAMERA-OF-ADA" not in opened.body and not Image.open(io.BytesIO(opened.body)).getexif()
    for path in await kept(served, project):
        assert (await owner.get(f"/uploads/{path}")).status == 404, "only the address of the answer's file serves it"


@shows("answer-files-rights")
@pytest_twisted.ensureDeferred
async def test_nobody_else_opens_it_unless_the_owner_shows_files(served):
    owner, project = await project_for_files(served)
    ada, ben = await served.person("ada"), await served.person("ben")
    task = await asked(ada, project)
    file = (await sent(ada, task, picture(1)))["file"]
    assert [(await each.get(file)).status for each in (ada, owner, ben, served.client())] == [200, 404, 404, 404]
    await answer_with(ada, project, task, {"file": file})
    assert [(await each.get(file)).status for each in (ada, owner, ben, served.client())] == [200, 200, 404, 404]
    info = {**project["info"], "answer_files": {"shown": True}}
    assert (await owner.put(f"/api/project/{project['id']}", json={"info": info})).status == 200
    assert [(await each.get(file)).status for each in (ben, served.client())] == [200, 200]
    assert (await served.client().get("/answer-files/" + "0" * 40)).status == 404
    assert (await served.client().get("/answer-files/x")).status == 404


@shows("answer-files-rules")
@pytest_twisted.ensureDeferred
async def test_only_who_was_handed_the_task_sends_files_and_only_where_they_are_wanted(served):
    owner, project = await project_for_files(served, max_bytes=20_000, total_bytes=1_000_000)
    ada, ben = await served.person("ada"), await served.person("ben")
    task = await asked(ada, project)
    assert (await send_file(ben, task, picture(1))).json()["error_code"] == "no_lease"
    assert (await send_file(ada, 10**12, picture(1))).status == 404
    assert (await send_file(ada, task, picture(1), key="x" * 32)).json()["error_code"] == "invalid_value"
    large = (await send_file(ada, task, b"x", bytes=20_001)).json()
    assert (large["error_code"], large["status_code"]) == ("file_too_large", 413)
    assert (await owner.put(f"/api/project/{project['id']}", json={"info": {"answer_files": None}})).status == 200
    assert (await send_file(ada, task, picture(1))).json()["error_code"] == "no_files"


@pytest.mark.proof
@pytest.mark.parametrize(
    ("made", "why"),
    [
        (lambda: b"<html><script>alert(1)</script>", "web page"),
        (lambda: b"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>", "SVG"),
        (lambda: picture(2)[:400], "damaged"),
        (lambda: zipped({"big.jpg": bytes(3_000_000)}), "archive"),
        (lambda: b"RIFF\xff\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff", "million pixels"),
        (lambda: b"MZ" + noise(500), "not supported"),
    ],
)
@pytest_twisted.ensureDeferred
async def test_hostile_files_are_refused_and_nothing_of_them_is_kept(served, made, why):
    _owner, project = await project_for_files(served)
    ada = await served.person("ada")
    task = await asked(ada, project)
    refused = (await send_file(ada, task, made())).json()
    assert refused["error_code"] == "bad_file" and why in refused["exception_msg"], refused
    await sweep(served)
    incoming = served.house[AnswerFilesFeature].answer_files._incoming
    assert await kept(served, project) == [] and list(incoming.folder.iterdir()) == []


@shows("answer-files-multipart")
@pytest_twisted.ensureDeferred
async def test_a_multipart_answer_brings_its_file(served):
    owner, project = await project_for_files(served)
    ada = await served.person("ada")
    task = await asked(ada, project)
    fields = {"project_id": project["id"], "task_id": task, "info": '{"said": "hello"}'}
    parts = [f'--b\r\nContent-Disposition: form-data; name="{k}"\r\n\r\n{v}\r\n'.encode() for k, v in fields.items()]
    head = b'--b\r\nContent-Disposition: form-data; name="file"; filename="blob"\r\n\r\n'
    body = b"".join(parts) + head + picture(1) + b"\r\n--b--\r\n"
    made = await ada.post("/api/taskrun", data=body, headers={"Content-Type": "multipart/form-data; boundary=b"})
    assert made.status == 200, made.body
    run = made.json()
    (file,) = run["info"]["file"]
    assert run["info"]["said"] == "hello" and run["media_url"].endswith(file["file"])
    assert (await owner.get(file["file"])).status == 200
    corrected = await ada.post(f"/api/task/{task}/correct", json={"info": {"said": "bye"}})
    assert corrected.json()["media_url"] is None, "the address is gone with the file"
    assert (await owner.get(file["file"])).status == 404
    without = await ada.post(
        "/api/taskrun", data=b"--b--\r\n", headers={"Content-Type": "multipart/form-data; boundary=b"}
    )
    assert without.status == 415


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_one_file_is_in_one_answer_also_when_two_are_sent_at_once(served):
    _owner, project = await project_for_files(served)
    ada = await served.person("ada")
    tasks = [task["id"] for task in (await ada.get(f"/api/{project['id']}/newtask?limit=2")).json()]
    file = await sent(ada, tasks[0], picture(1))
    elsewhere = await answer_with(ada, project, tasks[1], file)
    assert elsewhere.json()["error_code"] == "unknown_file", "it was sent for another task"
    both = await gatherResults([ensureDeferred(answer_with(ada, project, tasks[0], file)) for _nth in range(2)])
    assert sorted(answer.status for answer in both) == [200, 403]
    (run,) = (await ada.get(f"/api/taskrun?task_id={tasks[0]}&all=1")).json()
    assert run["info"]["photo"][0]["file"] == file["file"] and (await ada.get(file["file"])).status == 200


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_a_file_sent_twice_at_once_is_one_file(served):
    _owner, project = await project_for_files(served)
    ada = await served.person("ada")
    task, content = await asked(ada, project), picture(1)
    both = await gatherResults([ensureDeferred(send_file(ada, task, content)) for _nth in range(2)])
    assert {answer.status for answer in both} <= {200, 409, 415, 503}, [answer.body for answer in both]
    file = await sent(ada, task, content)
    assert (await answer_with(ada, project, task, file)).status == 200
    await sweep(served)
    assert len(await kept(served, project)) == 2, "the photo and its thumbnail"


@pytest.mark.proof
@shows("answer-files-gone")
@pytest_twisted.ensureDeferred
async def test_files_go_with_their_answer_their_task_and_their_correction(served):
    owner, project = await project_for_files(served)
    ada = await served.person("ada")
    addresses = []
    for nth in range(3):
        before, task = await held(served), await asked(ada, project)
        first, second = [await sent(ada, task, picture(10 * nth + n), key_of(10 * nth + n)) for n in range(2)]
        assert await held(served) > before
        run = (await answer_with(ada, project, task, first, second)).json()
        if nth == 0:
            info = {"photo": [second]}
            assert (await ada.post(f"/api/task/{task}/correct", json={"info": info})).json()["info"] == info
            assert [(await ada.get(each["file"])).status for each in (first, second)] == [404, 200]
            addresses.append(second)
        elif nth == 1:
            assert (await ada.delete(f"/api/taskrun/{run['id']}")).status == 204
        else:
            assert (await owner.delete(f"/api/task/{task}")).status == 204
        if nth:
            assert [(await owner.get(each["file"])).status for each in (first, second)] == [404, 404]
            assert await held(served) == before
    await sweep(served)
    assert len(await kept(served, project)) == 2
    usage = served.house.base.db
    rows = await usage.fetch("SELECT count(*) AS n FROM upload_file")
    assert rows[0]["n"] == 2, "what is gone no longer counts for the quota"
    assert (await owner.delete(f"/api/project/{project['id']}")).status == 204
    assert (await ada.get(addresses[0]["file"])).status == 404 and await held(served) == 0


@pytest_twisted.ensureDeferred
async def test_a_file_that_no_answer_names_is_deleted_after_a_day(served):
    _owner, project = await project_for_files(served)
    ada = await served.person("ada")
    task = await asked(ada, project)
    waiting = await sent(ada, task, picture(1))
    await served.house.base.db.execute("UPDATE answer_file SET created = created - interval '25 hours'")
    named = await sent(ada, task, picture(2), key_of(2))
    assert await sweep(served) == 2
    assert [(await ada.get(each["file"])).status for each in (waiting, named)] == [404, 200]
    assert (await answer_with(ada, project, task, waiting)).json()["error_code"] == "unknown_file"


@shows("answer-files-rules")
@pytest_twisted.ensureDeferred
async def test_quotas_of_the_project_and_of_files_without_an_answer(served):
    _owner, project = await project_for_files(served, max_files=1, total_bytes=1_000_000)
    ada = await served.person("ada")
    task = await asked(ada, project)
    assert (await send_file(ada, task, b"x", bytes=999_000)).status == 200
    full = (await send_file(ada, task, b"x", key_of(2), bytes=2000)).json()
    assert full["error_code"] == "files_full", "also what is still arriving counts"
    sends = [send_file(ada, task, b"x", key_of(nth), bytes=600) for nth in (40, 41)]
    both = await gatherResults([ensureDeferred(each) for each in sends])
    assert sorted(answer.status for answer in both) == [200, 403] and await held(served) == 999_600
    for nth in range(3, 21):
        assert (await send_file(ada, task, b"x", key_of(nth), bytes=2)).status == 200
    many = (await send_file(ada, task, b"x", key_of(30), bytes=2)).json()
    assert (many["error_code"], many["status_code"]) == ("uploads_full", 429)


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_an_answer_has_no_more_files_than_its_project_allows(served):
    _owner, project = await project_for_files(served, max_files=1)
    ada = await served.person("ada")
    task = await asked(ada, project)
    files = [await sent(ada, task, picture(nth), key_of(nth)) for nth in range(2)]
    assert (await answer_with(ada, project, task, *files)).json()["error_code"] == "too_many_files"
    assert (await answer_with(ada, project, task, files[0])).status == 200


@pytest_twisted.ensureDeferred
async def test_a_project_that_goes_while_a_file_comes_takes_it_along(served):
    owner, project = await project_for_files(served)
    ada, content = await served.person("ada"), picture(1)
    task = await asked(ada, project)
    assert (await send_file(ada, task, content[:100], bytes=len(content))).status == 200
    assert (await owner.delete(f"/api/project/{project['id']}")).status == 204
    assert (await send_file(ada, task, content[100:], offset=100, bytes=len(content))).status == 404
    await sweep(served)
    assert await kept(served, project) == []


@shows("answer-files-rules")
@pytest_twisted.ensureDeferred
async def test_the_rules_of_a_project_are_checked(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    for wrong in ([], {"max_bytes": 1}, {"max_files": 1.5}, {"shown": 1}, {"colour": 1}, {"total_bytes": 10**15}):
        refused = await owner.put(f"/api/project/{project['id']}", json={"info": {"answer_files": wrong}})
        assert "answer_files" in refused.json()["exception_msg"], wrong


@pytest.mark.proof
@shows("answer-files-gone", "taskrun-anonymised")
@pytest_twisted.ensureDeferred
async def test_who_leaves_gets_their_files_and_takes_them_along(served):
    owner, project = await project_for_files(served)
    browser = await newcomer(served, "ada")
    task = await asked(browser, project)
    file, other = [await sent(browser, task, picture(nth), key_of(nth)) for nth in range(2)]
    run = (await answer_with(browser, project, task, file)).json()
    data = served.house[PeopleFeature].personal_data
    target = data.folder.parent / "ada.zip"
    await data.write_to(run["user_id"], target, Requester(via="cli"), _quiet)
    with zipfile.ZipFile(target) as archive:
        content = archive.read(f"file_{file['file'].rpartition('/')[2]}.jpg")
        assert hashlib.sha256(content).hexdigest() == file["sha256"]
        assert f"file_{other['file'].rpartition('/')[2]}.jpg" in archive.namelist()
    assert (await browser.send_form("/account/ada/delete", {"password": PASSWORD})).status < 400
    await worked(served)
    (left,) = (await owner.get(f"/api/taskrun?project_id={project['id']}")).json()
    assert left["id"] == run["id"] and left["user_id"] is None
    assert [(await owner.get(each["file"])).status for each in (file, other)] == [404, 404]
    await sweep(served)
    assert await kept(served, project) == []


async def _quiet(done: int) -> None:
    """Nobody is told."""


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_without_an_account_a_file_comes_in_small_parts(served):
    owner, project = await project_for_files(served)
    tab = served.client()
    await tab.get("/project/birds/newtask", headers={"Accept": "text/html"})  # makes it a volunteer
    task, content = await asked(tab, project), noisy_photo()
    assert len(content) > 300_000
    assert (await send_file(tab, task, content)).status == 413
    at = 0
    while at < len(content):
        part = content[at : at + PART]
        got = (await send_file(tab, task, part, offset=at, bytes=len(content))).json()
        at = got["offset"]
    assert (await answer_with(tab, project, task, got["file"])).status == 200
    assert (await tab.get(got["file"]["file"])).status == 200 and (await owner.get(got["file"]["file"])).status == 200


def noisy_photo() -> bytes:
    """A picture of more bytes than a request without an account may have."""
    out = io.BytesIO()
    Image.frombytes("RGB", (600, 600), noise(1_080_000)).save(out, "JPEG", quality=95)
    return out.getvalue()


@pytest.mark.proof
@shows("taskrun-fields")
@pytest_twisted.ensureDeferred
async def test_exports_have_the_address_and_the_hash_of_each_file(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1, published=True)
    info = {**project["info"], "questions": FILES}
    assert (await owner.put(f"/api/project/{project['id']}", json={"info": info})).status == 200
    ada = await served.person("ada")
    task = await asked(ada, project)
    file = await sent(ada, task, picture(1))
    assert (await answer_with(ada, project, task, file)).status == 200
    export = await owner.get("/project/birds/tasks/export?type=task_run&format=csv&info=wide")
    text = exported(export.body)
    assert file["file"] in text and file["sha256"] in text and "info_photo_sha256" in text
    results = (await owner.get("/project/birds/results", headers={"Accept": "text/html"})).text
    assert (
        f"{file['file']}?small=1" in results
        and file["file"] not in (await ada.get("/project/birds/results", headers={"Accept": "text/html"})).text
    )


def exported(body: bytes) -> str:
    """The table of a download, which may be in an archive."""
    if body[:2] != b"PK":
        return body.decode()
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        return "".join(archive.read(name).decode() for name in archive.namelist())
