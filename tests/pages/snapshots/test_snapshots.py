"""Snapshots: what is in them, that equal content has an equal hash, who may read them, and that a changed byte is found."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from typing import Any

import pytest_twisted
from support.checks.shows import shows
from support.servers.queue_runner import worked

from crowdd.features.accounts.feature import AccountsFeature
from crowdd.features.media.feature import MediaFeature
from crowdd.features.people.feature import PeopleFeature
from crowdd.features.snapshots.feature import SnapshotsFeature
from crowdd.features.snapshots.verification import hash_of, verify_archive
from crowdd.kernel.requester import SYSTEM

NASTY = {
    "n": 12345678901234567890,
    "text": "𝄞 \u0001 = ف",
    "deep": [[{"a": None, "b": 1.10}]],
    "nan": "NaN",
    "secret": "hidden-word",
}


async def answered(served: Any, owner: Any, name: str = "birds", tasks: int = 3) -> dict[str, Any]:
    """A published project with a hidden column, in which two people and a stranger answered."""
    made = await served.project(owner, name, tasks=tasks, published=True, n_answers=2)
    body = {"info": {"task_presenter": "<p>?</p>", "column_roles": {"secret": "hidden"}, "language": "en"}}
    assert (await owner.put(f"/api/project/{made['id']}", json=body)).status == 200
    await served.database.execute(
        "UPDATE task SET info = %(info)s WHERE id = %(id)s", {"info": json_of(NASTY), "id": made["tasks"][0]}
    )
    for who in (await served.person(f"{name}a"), await served.person(f"{name}b")):
        for _ in range(tasks):
            await answer(who, made, {"answer": "owl", "sure": 0.5})
    return made


def json_of(value: Any) -> Any:
    from crowdd.database.access import as_json

    return as_json(value)


async def answer(who: Any, project: dict[str, Any], info: Any) -> None:
    task = (await who.get(f"/api/{project['id']}/newtask")).json()
    sent = await who.post("/api/taskrun", json={"project_id": project["id"], "task_id": task["id"], "info": info})
    assert sent.status == 200, sent.body


async def snapshot(served: Any, owner: Any, project: dict[str, Any]) -> dict[str, Any]:
    """Has one made; as its owner reads it."""
    begun = await owner.post(f"/api/project/{project['id']}/snapshots")
    assert begun.status == 200, begun.body
    assert begun.json()["state"] in ("waiting", "running")
    items = await worked(served)
    assert items[-1]["state"] == "done", items[-1]
    (first, *_rest) = (await owner.get(f"/api/project/{project['id']}/snapshots")).json()
    return first


async def archive(who: Any, project: dict[str, Any], hash_: str) -> dict[str, bytes]:
    """The files of a snapshot as somebody gets them in the ZIP archive."""
    got = await who.get(f"/project/{project['short_name']}/snapshots/{hash_}/archive")
    assert got.status == 200, got.body
    with zipfile.ZipFile(io.BytesIO(got.body)) as opened:
        assert opened.testzip() is None
        return {member.rpartition("/")[2]: opened.read(member) for member in opened.namelist()}


def rows(files: dict[str, bytes], name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in files[name].splitlines()]


@shows("project-snapshot-make", "page-snapshot")
@pytest_twisted.ensureDeferred
async def test_a_snapshot_has_everything_that_strangers_may_read(served):
    owner = await served.person("owner")
    birds = await answered(served, owner)
    made = await snapshot(served, owner, birds)
    assert made["state"] == "done" and made["counts"] == {
        "tasks": 3, "answers": 6, "results": 3, "gold": 0, "rules": 0, "decisions": 0, "volunteers": 2,
    }  # fmt: skip
    files = await archive(owner, birds, made["hash"])
    tasks, answers, results = rows(files, "tasks.ndjson"), rows(files, "answers.ndjson"), rows(files, "results.ndjson")
    assert [task["task"] for task in tasks] == [1, 2, 3]
    assert tasks[0]["info"] == {key: value for key, value in NASTY.items() if key != "secret"}
    assert {task["state"] for task in tasks} == {"completed"}
    assert [one["answer"] for one in answers] == [1, 2, 3, 4, 5, 6]
    assert {one["task"] for one in answers} == {1, 2, 3} and all(
        one["info"] == {"answer": "owl", "sure": 0.5} for one in answers
    )
    assert [one["answers"] for one in results] == [
        [a["answer"] for a in answers if a["task"] == one["task"]] for one in results
    ]
    codes = {one["volunteer"] for one in answers}
    assert len(codes) == 2 and None not in codes
    assert [one["volunteer"] for one in rows(files, "volunteers.ndjson")] == sorted(codes)
    assert files["presenter.html"] == b"<p>?</p>"
    manifest = json.loads(files["manifest.json"])
    assert manifest["hash"] == made["hash"] == hash_of(manifest)
    for entry in (*manifest["content"], *manifest["beside"]):
        assert hashlib.sha256(files[entry["name"]]).hexdigest() == entry["sha256"], entry["name"]
        assert len(files[entry["name"]]) == entry["bytes"]
    assert {entry["name"] for entry in (*manifest["content"], *manifest["beside"])} | {"manifest.json"} == files.keys()
    head = await served.house.base.audit_chain.head()
    assert 0 < manifest["audit_log"]["position"] <= head["position"]
    everything = b"".join(files.values())
    people = await served.database.fetch("SELECT id, name, email_addr FROM account WHERE name LIKE 'birds%%'")
    for secret in (
        b"hidden-word",
        *(row["email_addr"].encode() for row in people),
        *(row["name"].encode() for row in people),
    ):
        assert secret not in everything, secret
    assert b"user_id" not in files["answers.ndjson"] and b"user_ip" not in everything
    single = await owner.get(f"/project/birds/snapshots/{made['hash']}/files/answers.ndjson")
    assert (single.status, single.body) == (200, files["answers.ndjson"])
    page = (await owner.page(f"/project/birds/snapshots/{made['hash']}")).json()
    assert {each["name"] for each in page["files"]} == files.keys()


@pytest_twisted.ensureDeferred
async def test_equal_content_has_one_hash_and_other_content_another(served):
    owner = await served.person("owner")
    birds = await answered(served, owner)
    first = await snapshot(served, owner, birds)
    again = await snapshot(served, owner, birds)
    assert again["id"] == first["id"], "no second one with this content"
    assert (await served.database.fetch("SELECT count(*) AS n FROM snapshot"))[0]["n"] == 1
    await served.database.execute("UPDATE task SET info = '{\"n\": 0}' WHERE id = %(id)s", {"id": birds["tasks"][1]})
    other = await snapshot(served, owner, birds)
    assert other["hash"] != first["hash"] and other["id"] != first["id"]
    # Files that did not change are stored once.
    keys = await served.database.fetch(
        "SELECT count(*) AS n, count(DISTINCT key) AS k FROM snapshot_file WHERE content"
    )
    assert keys[0]["k"] < keys[0]["n"]
    before = await archive(owner, birds, first["hash"])
    assert json.loads(before["manifest.json"])["hash"] == first["hash"], "the address of the first one still has it"
    assert (await owner.delete(f"/api/project/{birds['id']}/snapshots/{other['id']}")).status == 204
    assert await archive(owner, birds, first["hash"]) == before
    assert (await owner.get(f"/project/birds/snapshots/{other['hash']}")).status == 404
    left = await served.database.fetch("SELECT path FROM upload_file WHERE path LIKE '%%.snap' ORDER BY 1")
    assert [row["path"] for row in left] == sorted(
        {row["key"] for row in await served.database.fetch("SELECT key FROM snapshot_file")}
    )


@shows("project-snapshots", "page-snapshot")
@pytest_twisted.ensureDeferred
async def test_others_read_what_is_public_where_answers_are(served):
    owner, stranger = await served.person("owner"), await served.person("stranger")
    birds = await answered(served, owner)
    made = await snapshot(served, owner, birds)
    at, api = f"/project/birds/snapshots/{made['hash']}", f"/api/project/{birds['id']}/snapshots"
    ways = (at, f"{at}/archive", f"{at}/files/answers.ndjson", f"{at}/files/manifest.json")

    async def statuses(who: Any) -> set[int]:
        return {(await who.get(way)).status for way in ways}

    async def seen(who: Any) -> int:
        return len((await who.get(api)).json())

    for who in (stranger, served.client()):
        assert await statuses(who) == {404} and await seen(who) == 0
    assert (await stranger.put(f"{api}/{made['id']}", json={"public": True})).status == 403
    assert (await stranger.post(api)).status == 403
    assert (await served.client().post(api)).status == 401
    assert (await stranger.delete(f"{api}/{made['id']}")).status == 403
    published = await owner.put(f"{api}/{made['id']}", json={"public": True})
    assert published.json()["public"] is True
    for who in (stranger, served.client()):
        assert await statuses(who) == {200} and await seen(who) == 1
        (shown,) = (await who.get(api)).json()
        assert (shown["user_name"], shown["queue_item"], shown["error"]) == (None, None, None)
    key = (await served.database.fetch("SELECT key FROM snapshot_file LIMIT 1"))[0]["key"]
    assert (await stranger.get(f"/uploads/{key}")).status == 404
    # Whatever closes the answers closes it, for others only.
    for closed, opened in (
        ("UPDATE project SET zip_download = false", "UPDATE project SET zip_download = true"),
        (
            "UPDATE project SET info = info || '{\"answers_when_complete\": true}'",
            "UPDATE project SET info = info - 'answers_when_complete'",
        ),
        (
            'UPDATE project SET info = info || \'{"column_roles": {"secret": "hidden", "n": "hidden"}}\'',
            'UPDATE project SET info = info || \'{"column_roles": {"secret": "hidden"}}\'',
        ),
        (
            "UPDATE project SET published = false, first_published = NULL",
            "UPDATE project SET published = true, first_published = clock()",
        ),
    ):
        await served.database.execute(closed)
        for who in (stranger, served.client()):
            assert not await statuses(who) & {200}, closed
            listed = await who.get(api)
            assert listed.status >= 400 or listed.json() == [], closed
        assert await statuses(owner) == {200}
        await served.database.execute(opened)
        assert await statuses(stranger) == {200}, opened


@pytest_twisted.ensureDeferred
async def test_gold_tasks_and_their_answers_stay_out(served):
    owner, stranger = await served.person("owner"), await served.person("stranger")
    birds = await answered(served, owner, tasks=3)
    made = await snapshot(served, owner, birds)
    await owner.put(f"/api/project/{birds['id']}/snapshots/{made['id']}", json={"public": True})
    await served.database.execute(
        "UPDATE task_ledger SET mode = 'gold' WHERE task_id = %(id)s", {"id": birds["tasks"][1]}
    )
    await served.database.execute("UPDATE project SET has_gold = true WHERE id = %(id)s", {"id": birds["id"]})
    assert (await stranger.get(f"/project/birds/snapshots/{made['hash']}")).status in (403, 404)
    other = await snapshot(served, owner, birds)
    assert other["counts"] == {
        "tasks": 2,
        "answers": 4,
        "results": 2,
        "gold": 0,
        "rules": 0,
        "decisions": 0,
        "volunteers": 2,
    }
    files = await archive(owner, birds, other["hash"])
    assert {task["state"] for task in rows(files, "tasks.ndjson")} == {"completed"}
    assert birds["tasks"][1] not in {row["id"] for row in rows(files, "identifiers.ndjson") if row["kind"] == "task"}


@pytest_twisted.ensureDeferred
async def test_a_deleted_account_is_not_in_later_ones_and_marks_earlier_ones(served):
    owner = await served.person("owner")
    birds = await answered(served, owner)
    first = await snapshot(served, owner, birds)
    before = rows(await archive(owner, birds, first["hash"]), "answers.ndjson")
    anna = (await served.database.fetch("SELECT id FROM account WHERE name = 'birdsa'"))[0]["id"]
    code = (await served.database.fetch("SELECT word FROM volunteer_word WHERE actor = 'u:' || %(id)s", {"id": anna}))[
        0
    ]["word"]
    row = await served.house[AccountsFeature].accounts.profile(anna)
    await served.house[PeopleFeature].account_deletion.begin(row, SYSTEM)
    await worked(served)
    second = await snapshot(served, owner, birds)
    files = await archive(owner, birds, second["hash"])
    after = rows(files, "answers.ndjson")
    assert len(after) == len(before) == 6
    assert [one["volunteer"] for one in after if one["volunteer"] is None] == [None] * 3
    assert code not in {one["volunteer"] for one in after}
    assert code not in {one["volunteer"] for one in rows(files, "volunteers.ndjson")}
    marked = (await owner.page(f"/project/birds/snapshots/{first['hash']}")).json()
    assert marked["withdrawn"] == [code] and marked["snapshot"]["withdrawn"] == 1
    assert (await owner.page(f"/project/birds/snapshots/{second['hash']}")).json()["withdrawn"] == []
    assert rows(await archive(owner, birds, first["hash"]), "answers.ndjson") == before


@pytest_twisted.ensureDeferred
async def test_one_changed_byte_is_found(served, tmp_path):
    owner = await served.person("owner")
    birds = await answered(served, owner)
    made = await snapshot(served, owner, birds)
    whole = (await owner.get(f"/project/birds/snapshots/{made['hash']}/archive")).body
    path = tmp_path / "birds.zip"
    path.write_bytes(whole)
    assert verify_archive(path).faults == () and verify_archive(path).hash == made["hash"]
    missed = []
    with zipfile.ZipFile(io.BytesIO(whole)) as opened:
        for member in opened.infolist():
            content = bytearray(opened.read(member)) or bytearray(b" ")
            content[len(content) // 2] ^= 1
            with zipfile.ZipFile(path, "w") as changed:
                for other in opened.infolist():
                    changed.writestr(other.filename, bytes(content) if other is member else opened.read(other))
            try:
                faults = verify_archive(path).faults
            except Exception as error:
                faults = (str(error),)
            missed += [] if faults else [member.filename]
    assert missed == []
    record = await served.house[SnapshotsFeature].snapshots.find(made["hash"])
    assert (await served.house[SnapshotsFeature].snapshots.verify(record)).faults == ()
    for row in await served.database.fetch(
        "SELECT key, name FROM snapshot_file WHERE name IN ('answers.ndjson', 'README.md')"
    ):
        stored = served.house.base.settings.data.dir / "uploads" / row["key"]
        original = stored.read_bytes()
        stored.write_bytes(original[:20] + bytes([original[20] ^ 1]) + original[21:])
        assert [
            fault.partition(" ")[0] for fault in (await served.house[SnapshotsFeature].snapshots.verify(record)).faults
        ] == [row["name"]]
        stored.write_bytes(original)
    stored.unlink()
    assert len((await served.house[SnapshotsFeature].snapshots.verify(record)).faults) == 1


@shows("page-snapshots", "project-snapshot-make")
@pytest_twisted.ensureDeferred
async def test_one_is_made_at_a_time_and_a_schedule_makes_them(served):
    owner = await served.person("owner")
    birds = await answered(served, owner)
    api = f"/api/project/{birds['id']}/snapshots"
    await served.database.execute("UPDATE queue_item SET state = 'done' WHERE state = 'waiting'")
    snapshots = served.house[SnapshotsFeature].snapshots
    begun = await snapshots._db.transaction(lambda tx: snapshots._add(tx, SYSTEM, birds["id"], queued=True))
    busy = await owner.post(api)
    assert busy.status in (409, 415) and "being made" in busy.text
    assert (await owner.delete(f"{api}/{begun}")).status == 204
    await worked(served)
    assert (await owner.get(api)).json() == []
    form = {"license": "CC-BY-4.0", "authors": "Ada Lovelace 0000-0002-1825-0097\nBob", "every": "week"}
    saved = await owner.post("/project/birds/snapshots/settings", json=form)
    assert saved.json()["status"] == "success", saved.body
    assert await snapshots.start_due() == 0
    await served.database.execute("UPDATE clock_shift SET ahead = '8 days'")
    assert await snapshots.start_due() == 1
    assert await snapshots.start_due() == 0
    await worked(served)
    (made,) = (await owner.get(api)).json()
    assert made["state"] == "done" and made["license"] == "CC-BY-4.0"
    assert made["authors"] == [{"name": "Ada Lovelace", "orcid": "0000-0002-1825-0097"}, {"name": "Bob"}]
    assert (await owner.post("/project/birds/snapshots/settings", json={})).json()["status"] == "success"
    page = (await owner.page("/project/birds/snapshots")).json()
    assert page["every"] == "week" and page["dataset"]["authors"] == made["authors"], "what is not sent stays"
    wrong = await owner.post("/project/birds/snapshots/settings", json=form | {"authors": "Ada 0000-0002-1825-0098"})
    assert wrong.json()["status"] == "error"
    assert (
        await owner.put(f"/api/project/{birds['id']}", json={"info": {"dataset": {"license": "mine"}}})
    ).status == 415


@pytest_twisted.ensureDeferred
async def test_a_full_account_gets_no_snapshot_and_keeps_no_files(serve):
    served = await serve(CROWDD_QUOTA_MAX_BYTES="3000")
    owner = await served.person("owner")
    birds = await served.project(owner, "birds", tasks=0)
    await owner.post(f"/api/project/{birds['id']}/snapshots")
    await worked(served)
    (made,) = (await owner.get(f"/api/project/{birds['id']}/snapshots")).json()
    assert made["state"] == "failed" and "MB" in made["error"]
    await served.house[SnapshotsFeature].snapshots.runner.sweep(birds["id"])
    keys = [key async for key, _size in served.house[MediaFeature].media_store.keys(birds["id"])]
    assert keys == []
