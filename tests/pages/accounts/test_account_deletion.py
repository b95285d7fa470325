"""One's own data as a file; leaving for good, after which nothing here says who it was."""

import io
import json
import zipfile
from io import BytesIO

import psycopg2
import pytest
import pytest_twisted
from PIL import Image
from support.browsers import PASSWORD, newcomer, registration, sign_in, signed_in, who
from support.checks.invariants import invariants
from support.checks.shows import shows
from support.servers.queue_runner import worked
from twisted.logger import formatEvent, globalLogPublisher

from crowdd.core.secrets import place
from crowdd.features.people.feature import PeopleFeature
from crowdd.features.people.personal_data import Table
from crowdd.features.signin.feature import SigninFeature
from crowdd.sched.statistics import Checking

NAME, FULLNAME, EMAIL = "xquill", "Xanthippe Quillfeather", "xanthippe@planted.example"


async def answer(client, project, info="a"):
    task = (await client.get(f"/api/{project['id']}/newtask")).json()
    sent = await client.post("/api/taskrun", json={"project_id": project["id"], "task_id": task["id"], "info": info})
    assert sent.status == 200, sent.body
    return task["id"]


async def collect(served, name, task, note):
    await served.database.execute(
        "WITH c AS (INSERT INTO collection (user_id, created, name, description) SELECT id, clock(), 'Owls', %(note)s FROM account"
        "  WHERE name = %(name)s RETURNING id)"
        " INSERT INTO collection_item (collection_id, project_id, task_id, created, note)"
        " SELECT c.id, t.project_id, t.id, clock(), %(note)s FROM c, task t WHERE t.id = %(task)s",
        {"name": name, "note": note, "task": task},
    )


def broken(dsn):
    connection = psycopg2.connect(dsn, options="-c search_path=public,code")
    try:
        return invariants(connection, 0)
    finally:
        connection.close()


async def leave(browser, name, **form):
    return await browser.send_form(f"/account/{name}/delete", form or {"password": PASSWORD})


def picture():
    out = BytesIO()
    Image.new("RGB", (50, 50), (200, 10, 10)).save(out, "PNG")
    return out.getvalue()


@pytest.fixture
def logged():
    """Every line of the log."""
    lines = []
    observer = lambda event: lines.append(str(formatEvent(event)) + str(event.get("log_failure", "")))  # noqa: E731
    globalLogPublisher.addObserver(observer)
    yield lines
    globalLogPublisher.removeObserver(observer)


@shows("account-export")
@pytest_twisted.ensureDeferred
async def test_everything_about_a_person_in_one_file(served):
    owner, ada = await served.person("owner"), await newcomer(served, "ada")
    birds = await served.project(owner, tasks=2, published=True)
    task = await answer(ada, birds, {"said": "=1+1"})
    await ada.post("/api/favorites", json={"task_id": task})
    owls = await served.project(owner, "owls", tasks=13, published=True)
    for sql in (  # eleven answers to gold tasks, and what is known of ada there
        "INSERT INTO task_run (project_id, task_id, actor, user_id, created, finish_time, counted, gold, is_right, info)"
        " SELECT project_id, task_id, 'u:' || a.id, a.id, clock(), clock() - interval '1 hour', false, true, ordinal %% 5 > 0, '1'"
        " FROM task_ledger, account a WHERE project_id = %(p)s AND a.name = 'ada' AND ordinal <= 11 ORDER BY ordinal",
        "INSERT INTO reliability (project_id, actor, gold_right, gold_seen, peer_right, peer_seen, accuracy)"
        " SELECT %(p)s, 'u:' || id, 9, 11, 9.111, 12, 0.8123 FROM account WHERE name = 'ada'",
    ):
        await served.database.execute(sql, {"p": owls["id"]})
    await collect(served, "ada", task, "my note")
    page = (await ada.get("/account/ada/export")).text
    assert "Create export" in page
    done = await ada.send_form("/account/ada/export", {})
    assert done.json()["status"] in ("success", "info") and done.json()["job"] == "enqueued"
    assert (await ada.page("/account/ada/export")).json()["export"]["state"] == "waiting"
    assert "being prepared" in (await ada.get("/account/ada/export")).text
    assert (await ada.get("/account/ada/export/download")).status == 404
    (item,) = await worked(served)
    assert item["state"] == "done", item
    letters = await served.database.fetch("SELECT recipient, template, text FROM mail")
    assert [(letter["recipient"], letter["template"]) for letter in letters] == [("ada@example.org", "export_ready")]
    assert f"{served.house.base.settings.base_url}/account/profile\n" in letters[0]["text"]
    export = (await ada.page("/account/ada/export")).json()["export"]
    assert export.keys() == {"state", "requested", "ready", "bytes", "url"} and export["state"] == "ready"
    file = await ada.get(export["url"])
    assert file.header("content-type") == "application/zip" and len(file.body) == export["bytes"]
    archive = zipfile.ZipFile(io.BytesIO(file.body))
    parts = {
        name.removesuffix(".json"): json.loads(archive.read(name))
        for name in archive.namelist()
        if name.endswith(".json")
    }
    assert parts["account"][0]["email_addr"] == "ada@example.org" and len(parts["sessions"]) == 1
    runs = [run for run in parts["task_runs"] if run["project_id"] == birds["id"]]
    assert [(run["task_id"], run["info"]) for run in runs] == [(task, {"said": "=1+1"})]
    (known,) = parts["reliability"]
    assert (known["id"], known["gold_seen"], known["gold_right"]) == (owls["id"], 10, 8), "in steps of ten"
    assert (known["agreement"], known["accuracy"]) == (0.76, 0.81) and 0.4 < known["gold_low"] < 0.8 < known[
        "gold_high"
    ]
    assert [row["id"] for row in parts["favourites"]] == [task] and parts["blogposts"] == []
    assert [row["name"] for row in parts["collections"]] == ["Owls"]
    assert [(row["task_id"], row["note"]) for row in parts["collected_tasks"]] == [(task, "my note")]
    assert {row["action"] for row in parts["acts"]} >= {"create", "export"}
    assert "ada@example.org" in archive.read("account.csv").decode()
    text = b"".join(archive.read(name) for name in archive.namelist()).decode()
    key = (await ada.page("/account/profile")).json()["user"]["api_key"]
    assert key not in text and "argon2" not in text and ada.cookies["session"] not in text


@shows("account-export")
@pytest_twisted.ensureDeferred
async def test_a_front_end_asks_by_get_and_gets_what_is_there(served):
    ada = await newcomer(served, "ada")
    assert (await ada.get("/account/ada/export?response_format=json")).json()["export"]["state"] == "none"
    assert (await ada.page("/account/ada/export")).json()["export"]["state"] == "waiting"
    assert (await ada.page("/account/ada/export")).json()["export"]["state"] == "waiting"
    assert [item["state"] for item in await worked(served)] == ["done"]
    assert (await ada.page("/account/ada/export")).json()["export"]["state"] == "ready"


@shows("account-export")
@pytest_twisted.ensureDeferred
async def test_an_export_is_its_persons_and_goes_after_three_days(served):
    ada, bob = await newcomer(served, "ada"), await newcomer(served, "bob")
    boss = await served.person("boss", admin=True)
    await ada.page("/account/ada/export")
    await worked(served)
    for other in (bob, boss):
        assert (await other.get("/account/ada/export/download")).status == 403
    assert (await served.client().get("/account/ada/export/download")).status == 302
    folder = served.house[PeopleFeature].personal_data.folder
    (file,) = folder.iterdir()
    assert file.stat().st_mode & 0o077 == 0 and folder.stat().st_mode & 0o077 == 0
    assert (await served.client().get(f"/uploads/exports/{file.name}")).status == 404
    await ada.send_form("/account/ada/export", {})
    await worked(served)
    assert len(list(folder.iterdir())) == 1 and not file.exists()
    await served.database.execute("UPDATE clock_shift SET ahead = '73 hours'")
    assert await served.house[PeopleFeature].personal_data.sweep(0.0) == 1
    assert list(folder.iterdir()) == [] and (await ada.get("/account/ada/export/download")).status == 404


def test_a_table_that_a_spreadsheet_reads_runs_nothing(tmp_path):
    table = Table(tmp_path, "t")
    table.add([{"id": 1, "info": '=HYPERLINK("http://evil.example")'}, {"id": 2, "info": {"a": [1]}}])
    table.add([{"id": 3, "info": "-1+1"}])
    table.end()
    lines = (tmp_path / "t.csv").read_text().splitlines()
    assert lines[0] == "id,info" and lines[1].startswith("1,\"'=HYPER") and lines[3] == "3,'-1+1"
    assert [row["id"] for row in json.loads((tmp_path / "t.json").read_text())] == [1, 2, 3]


@shows("account-delete", "taskrun-anonymised")
@pytest_twisted.ensureDeferred
async def test_an_account_goes_and_its_answers_stay(served, dsn):
    owner, ada, bob = await served.person("owner"), await newcomer(served, "ada"), await newcomer(served, "bob")
    birds = await served.project(owner, tasks=4, published=True, n_answers=2)
    fish = await served.project(owner, "fish", tasks=1, published=True, n_answers=1)
    for person, project in ((ada, birds), (ada, birds), (ada, fish), (bob, birds)):
        await answer(person, project)
    await ada.get(f"/api/{birds['id']}/newtask")
    await served.database.fetch("SELECT fold_stats()")
    elsewhere, key = await signed_in(served, "ada"), (await ada.page("/account/profile")).json()["user"]["api_key"]
    done = (await leave(ada, "ada")).json()
    assert (done["status"], done["next"], done["job"]) == ("success", "/", "enqueued")
    assert (await who(ada), await who(elsewhere), "session" in ada.cookies) == (None, None, False)
    assert (await served.client(key).get("/api/favorites")).status == 401
    assert (await sign_in(served.client(), "ada")).json()["status"] == "error"
    assert [(item["name"], item["state"], item["result"]) for item in await worked(served)] == [
        ("delete_account", "done", {"answers": 3}),
    ]  # fmt: skip
    runs = await served.database.fetch(
        "SELECT DISTINCT project_id, actor, user_id, user_ip FROM task_run WHERE actor NOT LIKE 'u:%%'"
    )
    assert len(runs) == 2 == len({run["user_ip"] for run in runs}), "one pseudonym in each project"
    assert all(run["user_id"] is None and run["actor"] == f"i:{run['user_ip']}" for run in runs)
    assert (await served.client().page("/account/ada")).status == 404
    assert broken(dsn) == []
    await served.database.fetch("SELECT fold_stats()")
    assert broken(dsn) == [] and [d async for d in Checking(served.database).run(repair=False)] == []
    assert (await served.client().page("/project/birds/")).json()["n_volunteers"] == 2
    top = (await served.client().page("/")).json()["top_users"]
    assert [user["name"] for user in top] == ["bob"]


@shows("taskrun-anonymised")
@pytest_twisted.ensureDeferred
async def test_nothing_is_left_that_says_who_it_was(served, logged, tmp_path):
    owner = await served.person("owner")
    birds = await served.project(owner, tasks=3, published=True)
    browser = served.client()
    form = registration(NAME, fullname=FULLNAME, email_addr=EMAIL)
    await browser.send_form("/account/register", form)
    me = (await browser.page("/account/profile")).json()["user"]["id"]
    task = await answer(browser, birds, {"box": [1, 2]})
    await collect(served, NAME, task, f"seen by {FULLNAME}")
    await browser.post("/api/favorites", json={"task_id": task})
    await browser.post("/api/favorites", json={"task_id": task}, headers={"Idempotency-Key": "k1"})
    token = (await browser.page(f"/account/{NAME}/update")).json()["form"]["csrf"]
    upload = {"data": {"btn": "Upload"}, "files": {"avatar": ("a.png", BytesIO(picture()))}}
    await browser.post(f"/account/{NAME}/update", headers={"X-CSRFToken": token}, **upload)
    external = {"btn": "External", "catalog_api": f"key of {FULLNAME}"}
    await browser.post(f"/account/{NAME}/update", json=external, headers={"X-CSRFToken": token})
    await served.database.fetch(
        "SELECT set_owners(id, owner_id, owners_ids || %(me)s, clock()) FROM project WHERE id = %(id)s",
        {"me": [me], "id": birds["id"]},
    )
    await browser.put(f"/api/project/{birds['id']}", json={"description": "Changed"})
    await served.house[SigninFeature].social_login._keep(served.database, me, _identity())
    await served.database.execute(
        "INSERT INTO audit (at, user_name, via, action, kind, object_id, after) VALUES (clock(), 'owner', 'web', 'add_coowner',"
        " 'project', 1, %(after)s::jsonb)",
        {"after": json.dumps({"name": NAME})},
    )
    await sign_in(served.client(), NAME, "wrong password")
    await served.client().send_form("/account/signin", {"email": EMAIL, "password": "wrong again"})
    await browser.send_form(f"/account/{NAME}/export", {})
    await browser.send_form("/account/forgot-password", {"email_addr": EMAIL})
    await worked(served)
    assert (await served.house.base.mail.deliver()).held == 2
    assert await planted(served), "the search finds what is there"
    done = await browser.send_form(f"/account/{NAME}/delete", {"password": PASSWORD})
    assert done.json()["status"] == "success", done.body
    assert {item["state"] for item in await worked(served)} == {"done"}
    await served.database.fetch("SELECT fold_stats()")
    assert await planted(served) == []
    words = [line for line in logged if any(word.lower() in line.lower() for word in (NAME, FULLNAME, EMAIL))]
    assert words == []
    await served.database.execute("UPDATE clock_shift SET ahead = '4 hours'")
    assert await served.house[PeopleFeature].account_deletion.finish() == 0
    left = await served.database.fetch(
        "SELECT 'person_stat' AS t FROM person_stat WHERE user_id = %(me)s UNION ALL SELECT 'volunteer' FROM volunteer WHERE actor = 'u:' || %(me)s"
        " UNION ALL SELECT 'account_deletion' FROM account_deletion UNION ALL SELECT 'project' FROM project WHERE %(me)s = ANY (owners_ids)",
        {"me": me},
    )
    assert left == []


def _identity():
    from crowdd.features.signin.providers import ProviderIdentity

    return ProviderIdentity("google", "1", token=f"token of {EMAIL}")


async def planted(served):
    """Where name, full name or address of the person stand: in any table, decrypted where it is encrypted, or in a file."""
    words = [word.lower() for word in (NAME, FULLNAME, EMAIL)]
    places = []
    tables = await served.database.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    for table in [row["tablename"] for row in tables]:
        for row in await served.database.fetch(f"SELECT * FROM {table}"):
            text = " ".join(_opened(served, table, row, name) for name in row).lower()
            places += [(table, word) for word in words if word in text]
    for path in served.house.base.settings.data.dir.rglob("*"):
        content = path.read_bytes() if path.is_file() else b""
        if path.suffix == ".zip":
            archive = zipfile.ZipFile(path)
            content = b"".join(archive.read(name) for name in archive.namelist())
        places += [(str(path), word) for word in words if word.encode() in content.lower()]
    return places


def _opened(served, table, row, name):
    value, key = row[name], f"{row['user_id']}.{row['provider']}" if table == "provider_token" else row.get("id")
    if isinstance(value, memoryview | bytes):
        try:
            return served.house.base.secrets.decrypt(value, place(table, name, key))
        except Exception:
            return bytes(value).decode("latin-1")
    return json.dumps(value, default=str, ensure_ascii=False)


@shows("account-delete")
@pytest_twisted.ensureDeferred
async def test_owners_and_the_last_administrator_stay(served):
    ada = await newcomer(served, "ada")
    key = (await ada.page("/account/profile")).json()["user"]["api_key"]
    await served.project(served.client(key), "birds")
    page = (await ada.page("/account/ada/delete")).json()
    assert page["projects"] == [{"short_name": "birds", "name": "Birds"}]
    assert "Transfer or delete them" in (await ada.get("/account/ada/delete")).text
    refused = (await leave(ada, "ada")).json()
    assert refused["status"] == "error" and "birds" in refused["flash"] and await who(ada) == "ada"
    boss = await newcomer(served, "boss")
    await served.database.execute("UPDATE account SET admin = true WHERE name = 'boss'")
    assert "last administrator" in (await leave(boss, "boss")).json()["flash"]
    await served.person("other", admin=True)
    assert (await leave(boss, "boss")).json()["status"] == "success"


@shows("account-delete")
@pytest_twisted.ensureDeferred
async def test_leaving_takes_a_proof_and_a_post(served):
    ada, bob = await newcomer(served, "ada"), await newcomer(served, "bob")
    page = (await ada.page("/account/ada/delete")).json()
    assert page.keys() == {"form", "projects", "template", "title"}
    assert page["form"].keys() == {"password", "confirm", "csrf", "errors"}
    for sent in ({"password": "wrong"}, {"confirm": "ada"}, {}):
        refused = (await ada.send_form("/account/ada/delete", sent)).json()
        assert list(refused["form"]["errors"]) == ["password"] and refused["form"]["password"] is None
    token = page["form"]["csrf"]
    assert (await ada.post("/account/ada/delete", json={"password": PASSWORD})).status == 400
    assert (
        await bob.post("/account/ada/delete", json={"password": PASSWORD}, headers={"X-CSRFToken": token})
    ).status in (400, 403)
    assert (await bob.page("/account/ada/delete")).status == 403 and await who(ada) == "ada"
    await served.person("boss", admin=True)
    boss = await signed_in(served, "boss")
    assert (await boss.send_form("/account/bob/delete", {"confirm": "ada"})).json()["status"] == "error"
    assert (await boss.send_form("/account/bob/delete", {"confirm": "bob"})).json()["status"] == "success"
    assert await who(bob) is None and (await boss.page("/account/profile")).json()["user"]["name"] == "boss"


@pytest_twisted.ensureDeferred
async def test_an_answer_on_its_way_finds_the_pseudonym(served, dsn):
    owner, ada = await served.person("owner"), await newcomer(served, "ada")
    birds = await served.project(owner, tasks=2, published=True)
    await answer(ada, birds)
    me = (await ada.page("/account/profile")).json()["user"]["id"]
    await leave(ada, "ada")
    await worked(served)
    await served.database.execute(
        "INSERT INTO expired_lease SELECT project_id, %(actor)s, task_id, clock(), clock(), false FROM task_ledger t WHERE NOT EXISTS"
        " (SELECT FROM task_run r WHERE r.task_id = t.task_id)",
        {"actor": f"u:{me}"},
    )
    await served.database.fetch(
        "SELECT s.* FROM expired_lease l, submit(l.project_id, l.actor, l.task_id, %(me)s, NULL, NULL, '1', NULL, NULL, clock()) s",
        {"me": me},
    )
    assert await served.house[PeopleFeature].account_deletion.finish() == 1
    actors = await served.database.fetch("SELECT DISTINCT actor, user_id FROM task_run")
    assert len(actors) == 1 and actors[0]["user_id"] is None and broken(dsn) == []


@shows("event-anonymised")
@pytest_twisted.ensureDeferred
async def test_events_do_not_say_who_answered_once_the_account_is_gone(served):
    owner, ada, bob = await served.person("owner"), await newcomer(served, "ada"), await served.person("bob")
    me = (await ada.page("/account/profile")).json()["user"]["id"]
    birds = await served.project(owner, tasks=3, published=True, n_answers=2)
    for person in (ada, bob, ada, bob):
        await answer(person, birds)
    words = {
        run["volunteer"] for run in (await owner.get(f"/api/taskrun?project_id={birds['id']}&user_id={me}")).json()
    }
    before = await events(served)
    assert [event["user_ids"] for event in before] == [[me, bob.user_id]] * 2
    await leave(ada, "ada")
    assert {item["state"] for item in await worked(served)} == {"done"}
    after = await events(served)
    assert [event["user_ids"] for event in after] == [[bob.user_id]] * 2
    items = await served.database.fetch("SELECT arguments FROM queue_item")
    assert [item["arguments"] for item in items] == [{"user_id": me}], "nobody can work out the pseudonyms later"
    assert await served.database.fetch("SELECT FROM volunteer_word WHERE actor = 'u:' || %(me)s", {"me": me}) == []
    runs = (await owner.get(f"/api/taskrun?project_id={birds['id']}")).json()
    assert {run["volunteer"] for run in runs if run["user_id"] is None} == words and len(words) == 1


async def events(served):
    """What receivers and the log of events are told, in the order of the events."""
    rows = await served.database.fetch("SELECT data FROM event WHERE kind = 'task_completed' ORDER BY id")
    return [row["data"] for row in rows]


@pytest_twisted.ensureDeferred
async def test_an_event_that_comes_after_the_account_went_is_put_right_too(served):
    owner, ada = await served.person("owner"), await newcomer(served, "ada")
    birds = await served.project(owner, tasks=1, published=True, n_answers=1)
    me = (await ada.page("/account/profile")).json()["user"]["id"]
    await ada.get(f"/api/{birds['id']}/newtask")
    await leave(ada, "ada")
    await served.database.fetch(
        "SELECT s.* FROM lease l, submit(l.project_id, l.actor, l.task_id, %(me)s, NULL, NULL, '1', NULL, NULL, clock()) s",
        {"me": me},
    )
    assert [event["user_ids"] for event in await events(served)] == [[me]]
    assert await served.house[PeopleFeature].account_deletion.finish() == 1
    assert [event["user_ids"] for event in await events(served)] == [[]]
