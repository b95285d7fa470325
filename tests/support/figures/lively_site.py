"""A site on which everything has happened: its pages tell figures, and these have to be those of the rows."""

from __future__ import annotations

import itertools
import random
from typing import Any

import attrs

from support.importing import bring, brought
from support.servers.receiver import Receiver
from support.servers.served import PASSWORD
from support.until import until

CSV = b"title,n_answers\nnest,2\negg,2\nowl,many\nnest,2\nwing,3\n"
MORE = b"title,n_answers\nreed,2\nwren,2\nrook,many\nnest,2\nswan,2\ncoot,2\n"
SETTINGS = {"CROWDD_OUTGOING_ALLOWED_HOSTS": "127.0.0.1:*", "CROWDD_WEBHOOKS_FIRST_DELAY": "0.05"}
"""What the server has to be started with: receivers of webhooks are on this machine."""
SMALL = 18  # projects with a single task, so that lists of projects have two pages
FIELDS: list[dict[str, Any]] = [
    {"name": "animal", "at": "/answer", "type": "label"},
    {"name": "how many", "at": "/count", "type": "number", "tolerance": 1},
    {"name": "seen", "at": "/seen", "type": "labels", "choices": ["day", "night", "tracks"]},
]
"""What the project "cats" asks."""
WORDS = ("fox", "fox", "fox", "owl", "cat", None, {"boxes": [1, 2]})


@attrs.define
class Site:
    """The site, its people by their names, browsers without an account, and the ids of its projects by short names."""

    served: Any
    people: dict[str, Any] = attrs.field(factory=dict)
    browsers: list[Any] = attrs.field(factory=list)
    projects: dict[str, int] = attrs.field(factory=dict)
    imported: dict[str, int] = attrs.field(factory=dict)
    moving: int = 0  # an import that is under way
    _chance: random.Random = attrs.field(factory=lambda: random.Random(16))
    _shift: float = 0

    async def later(self, hours: float) -> None:
        """The clock of the database goes on."""
        self._shift += hours
        values = {"ahead": self._shift}
        await self.served.database.execute("UPDATE clock_shift SET ahead = %(ahead)s * interval '1 hour'", values)

    async def rows(self, sql: str, **values: Any) -> list[dict[str, Any]]:
        """Rows of a statement, as they are counted here."""
        return [dict(row) for row in await self.served.database.fetch(sql, values)]

    async def one(self, sql: str, **values: Any) -> dict[str, Any]:
        """The only row."""
        [row] = await self.rows(sql, **values)
        return row

    async def fold(self) -> None:
        """Folds all counters."""
        while (await self.one("SELECT fold_stats() AS n"))["n"]:
            pass

    async def html(self, path: str, who: Any = None) -> str:
        """A page as people get it."""
        answer = await (who or self.served.client()).get(path, headers={"Accept": "text/html"})
        assert answer.status == 200, (path, answer.status, answer.text[:300])
        return answer.text.replace("\xa0", " ")

    async def json(self, path: str, who: Any = None) -> Any:
        """A page as programs get it."""
        answer = await (who or self.served.client()).page(path)
        assert answer.status == 200, (path, answer.status, answer.text[:300])
        return answer.json()

    async def answer(self, who: Any, name: str) -> dict[str, Any] | None:
        """Answers the next task; None if there is none."""
        task = (await who.get(f"/api/{self.projects[name]}/newtask")).json()
        return await self.send(who, name, task["id"]) if "id" in task else None

    async def send(self, who: Any, name: str, task_id: int) -> dict[str, Any]:
        """Answers a task that was reserved."""
        info: dict[str, Any] = {"answer": self._chance.choice(WORDS)}
        if name == "cats":
            more = random.Random(task_id + self._chance.random())
            info |= {"count": more.randint(1, 4)} if more.random() < 0.8 else {}
            info |= {"seen": [one for one in FIELDS[2]["choices"] if more.random() < 0.5]}
        body = {"project_id": self.projects[name], "task_id": task_id, "info": info}
        return await done(who.post("/api/taskrun", json=body))

    async def project(self, owner: str, name: str, infos: list[Any], n_answers: int, category: int) -> None:
        """A draft with these tasks."""
        who = self.people[owner]
        made = await self.served.project(who, name)
        self.projects[name] = made["id"]
        await done(who.put(f"/api/project/{made['id']}", json={"category_id": category}))
        rows = [{"project_id": made["id"], "info": info, "n_answers": n_answers} for info in infos]
        await done(who.post("/api/task", json=rows))

    async def tasks(self, name: str) -> list[int]:
        """The ids of the tasks of a project."""
        sql = "SELECT id FROM task WHERE project_id = %(id)s ORDER BY id"
        return [row["id"] for row in await self.rows(sql, id=self.projects[name])]


async def done(asked: Any) -> Any:
    """The JSON of an answer that is no refusal."""
    answer = await asked
    assert answer.status in (200, 204), (answer.status, answer.text[:400])
    return answer.json() if answer.body else None


async def lively(served: Any, receiver: Receiver) -> Site:
    """Several projects in all states with answers, corrections, deletions and more, over some days.

    ``receiver`` gets the events of two projects. The server has SETTINGS; its queue does nothing more afterwards.
    """
    site = Site(served)
    site.people["boss"] = await served.person("boss", admin=True)
    for name in ("owner", "helper", "ada", "bob", "eve", "shy", "bad", "leaver", "barred"):
        site.people[name] = await served.person(name)
    await served.database.execute("UPDATE account SET privacy_mode = name = 'shy'")
    await _projects(site)
    await _answers(site)
    await _changes(site)
    await _people(site)
    await site.later(1)
    await _own(site)
    await _webhooks(site, receiver)
    await _long_lists(site)
    await _moving_import(site)
    return site


async def _projects(site: Site) -> None:
    first, second = [row["id"] for row in await site.rows("SELECT id FROM category ORDER BY id LIMIT 2")]
    places = [
        {"title": f"bird {n}", "lat": 40 + n, "lon": 7 + n % 3, "date": f"2023-0{1 + n % 4}-1{n % 10}"}
        for n in range(12)
    ]
    plain: list[Any] = [{"n": n} for n in range(8)]
    await site.project("owner", "birds", places, 3, first)
    await site.project("helper", "cats", plain, 2, second)
    cats, helper = site.projects["cats"], site.people["helper"]
    info = (await done(helper.get(f"/api/project/{cats}")))["info"]
    await done(helper.put(f"/api/project/{cats}", json={"info": info | {"answers": FIELDS}}))
    await site.project("owner", "finished", plain[:2], 1, first)
    await site.project("owner", "paused", [{"n": n} for n in range(30)], 2, first)
    await site.project("owner", "locked", plain[:4], 2, second)
    await site.project("owner", "gone", plain[:3], 2, second)
    await site.project("owner", "own", plain[:3], 2, first)
    await site.project("helper", "draft", plain[:5], 2, second)
    for n in range(SMALL):
        await site.project("helper", f"small{n}", plain[:1], 1, second)
    owner = site.people["owner"]
    await done(owner.post("/project/birds/add_coowner/helper", json={}))
    await site.answer(owner, "birds")  # a trial, deleted when it is published
    for name in site.projects:
        who = helper if name in ("cats", "draft") or name.startswith("small") else owner
        if name != "draft":
            await done(who.post(f"/project/{name}/publish", json={}))
    for _ in range(2):
        await site.answer(helper, "draft")
    await site.answer(owner, "own")
    site.browsers = [site.served.client() for _ in range(3)]
    for browser in site.browsers:
        await site.html("/project/birds/newtask", browser)


async def _answers(site: Site) -> None:
    """Over four days; somebody reserves a task in time and answers when it is finished."""
    names = ("ada", "bob", "eve", "shy", "bad", "leaver", "barred", "owner")
    crowd = [*(site.people[name] for name in names), *site.browsers]
    late = (await site.people["ada"].get(f"/api/{site.projects['finished']}/newtask")).json()["id"]
    for who, name in itertools.product(crowd[:3], ("gone", "paused", "locked")):
        await site.answer(who, name)
    for hours in (30, 27, 9, 25.5, 11.25, 2):
        await site.later(hours)
        for who in crowd:
            await site.answer(who, "birds")
            if who is not crowd[2]:
                await site.answer(who, "cats")
        await site.answer(crowd[1], "finished")
    await site.send(site.people["ada"], "finished", late)
    runs = await site.rows("SELECT actor, counted FROM task_run WHERE task_id = %(task)s ORDER BY id", task=late)
    assert [row["counted"] for row in runs] == [True, False], runs


async def _changes(site: Site) -> None:
    """Corrections, deletions, more and fewer answers, tasks taken out, an import; states of projects."""
    owner, birds = site.people["owner"], site.projects["birds"]
    await done(
        owner.post(
            "/api/task", json=[{"project_id": birds, "info": {"title": f"new {n}"}, "n_answers": 4} for n in range(3)]
        )
    )
    await site.answer(site.people["ada"], "birds")
    await site.answer(site.people["shy"], "birds")
    changed = await site.rows(
        "SELECT r.id, a.name FROM task_run r JOIN task_ledger l USING (project_id, task_id) JOIN account a ON a.id = user_id"
        " WHERE NOT l.done AND r.project_id = %(id)s AND a.name IN ('ada', 'shy', 'eve') ORDER BY r.id LIMIT 3",
        id=birds,
    )
    assert changed
    for run in changed:
        await done(site.people[run["name"]].put(f"/api/taskrun/{run['id']}", json={"info": {"answer": "moth"}}))
    runs = [
        row["id"] for row in await site.rows("SELECT id FROM task_run WHERE project_id = %(id)s ORDER BY id", id=birds)
    ]
    for run_id in (runs[0], runs[7]):
        await done(owner.delete(f"/api/taskrun/{run_id}"))
    tasks = await site.tasks("birds")
    await done(owner.delete(f"/api/task/{tasks[1]}"))
    await done(owner.put(f"/api/task/{tasks[2]}", json={"n_answers": 5}))
    await done(owner.put(f"/api/task/{tasks[-1]}", json={"n_answers": 1}))
    for name in ("birds", "draft"):
        last = (await site.tasks(name))[-1]
        who = site.people["helper"]
        await done(who.post(f"/project/{name}/tasks/retire", json={"task_ids": str(last), "note": "blurred"}))
    await done(site.people["helper"].put(f"/api/task/{(await site.tasks('draft'))[0]}", json={"n_answers": 4}))
    site.imported = await brought(site.served, owner, CSV, at="/project/birds/tasks/import", on_error="skip")
    await done(owner.post("/project/paused/pause", json={}))
    await done(owner.post("/project/locked/update", json={"btn": "Password", "password": "sesame", "protect": True}))
    await done(owner.post("/project/gone/delete", json={"confirm": "gone"}))


async def _people(site: Site) -> None:
    """One is blocked, one leaves, one is barred, one marks and collects."""
    boss = site.people["boss"]
    bad, leaver = site.people["bad"].user_id, site.people["leaver"]
    await done(boss.post(f"/admin/users/block/{bad}", json={}))
    await done(leaver.post("/account/leaver/delete", json={"password": PASSWORD}))
    owner, birds = site.people["owner"], site.projects["birds"]
    [run] = await site.rows(
        "SELECT id FROM task_run WHERE project_id = %(id)s AND user_id = %(user)s ORDER BY id LIMIT 1",
        id=birds, user=site.people["barred"].user_id,
    )  # fmt: skip
    await done(owner.post(f"/api/project/{birds}/bar", json={"taskrun_id": run["id"], "reason": "noise"}))


async def _own(site: Site) -> None:
    """Marks and a collection of one person; some are at work now."""
    ada = site.people["ada"]
    tasks = await site.tasks("birds")
    for task in tasks[:3]:
        await done(ada.post("/api/favorites", json={"task_id": task}))
    made = await done(ada.post("/account/ada/collections", json={"name": "Owls", "description": ""}))
    number = int(made["next"].rsplit("/", 1)[1])
    for task in tasks[1:3]:
        await done(ada.post("/account/ada/collections/add", json={"task_id": task, "collection_id": number}))
    for who in (ada, site.browsers[0]):
        await who.get(f"/api/{site.projects['birds']}/newtask")


async def _webhooks(site: Site, receiver: Receiver) -> None:
    """One project tells what happened before it had an address, and makes tests, some of which fail; another one has just begun."""
    for name, who in (("cats", "helper"), ("birds", "owner")):
        body = {"webhook": receiver.url}
        await done(site.people[who].put(f"/api/project/{site.projects[name]}", json=body))
    at, helper = "/project/cats/webhook", site.people["helper"]
    assert (await done(helper.post(f"{at}/backfill", json={})))["count"] > 3
    await until(lambda: _sent(site, receiver))
    receiver.behave = lambda request: 204 if len(receiver.requests) % 3 else 500
    for _ in range(24):
        await done(helper.post(f"{at}/test", json={}))
    await until(lambda: _sent(site, receiver))
    receiver.behave = lambda request: (503, {"Retry-After": "800"})
    await done(helper.post(f"{at}/redeliver", json={"from": "3", "to": "3"}))
    await until(lambda: _sent(site, receiver))


async def _sent(site: Site, receiver: Receiver) -> bool:
    """Whether nothing is sent now or in the next minutes."""
    rows = await site.one(
        "SELECT (SELECT count(*) FROM delivery WHERE state = 'waiting' AND (attempts = 0 OR next_at < clock() + interval '5 minutes'))"
        " + (SELECT count(*) FROM webhook w JOIN event_sequence s USING (project_id)"
        "     WHERE replay_to IS NOT NULL OR w.last_seq < s.last_seq) AS left"
    )
    return not rows["left"]


async def _long_lists(site: Site) -> None:
    """People, letters and background tasks in every state, more than a page has."""
    await site.rows(
        'INSERT INTO account (created, name, fullname, email_addr, api_key_hash, api_key_encrypted, "restrict")'
        " SELECT clock(), 'quiet' || n, 'Quiet', 'quiet' || n || '@example.org', n::text::bytea, '', n %% 10 = 0"
        " FROM generate_series(1, 60) n RETURNING id"
    )
    await site.rows(
        "INSERT INTO mail (created, recipient, template, locale, subject, state, due, attempts, ended, error)"
        " SELECT clock(), 'quiet' || n || '@example.org', 'test', 'en', 'Letter ' || n, s, clock() + interval '1 day', n %% 4,"
        " CASE WHEN s IN ('sent', 'dead') THEN clock() END, CASE s WHEN 'dead' THEN 'no such box' ELSE '' END"
        " FROM generate_series(1, 60) n, LATERAL (SELECT (ARRAY['waiting', 'held', 'sent', 'dead'])[1 + n %% 4] AS s) x RETURNING id"
    )
    await site.rows(
        "INSERT INTO queue_item (name, arguments, user_id, admin, via, state, created, due, ended, done, total, error)"
        " SELECT 'import_tasks', '{}', %(user)s, false, 'web', s, clock(), clock() + interval '1 day', CASE WHEN s <> 'waiting' THEN clock() END, n,"
        " CASE WHEN n %% 2 = 0 THEN n * 1000 END, CASE s WHEN 'dead' THEN 'The file is gone.' ELSE '' END"
        " FROM generate_series(1, 60) n, LATERAL (SELECT (ARRAY['waiting', 'done', 'dead', 'cancelled'])[1 + n %% 4] AS s) x RETURNING id",
        user=site.people["owner"].user_id,
    )
    await site.rows(
        "INSERT INTO security_log (at, last_at, kind, user_id, network, count) SELECT clock(), clock(), 'sign_in_failed', %(user)s, '10.0.0.' || n, n * 100"
        " FROM generate_series(1, 40) n RETURNING id",
        user=site.people["ada"].user_id,
    )


async def _moving_import(site: Site) -> None:
    """An import that was read and is under way: it has added 3 of its rows in 10 seconds."""
    served, owner, at = site.served, site.people["owner"], "/project/birds/tasks/import"
    answer = await bring(owner, MORE, at=at, map="y")
    site.moving = int(answer["next"].rsplit("/", 1)[1])
    served.server._worker._size = 0  # it takes nothing more
    begun = await done(owner.post(answer["next"], json={"on_error": "skip"}))
    await site.rows(
        "UPDATE queue_item SET state = 'running', began = clock() - interval '10 seconds', progressed = clock(), due = clock() + interval '1 day',"
        " done = 5, total = 6 WHERE id = %(id)s RETURNING id",
        id=begun["queue_item"],
    )
    await site.rows(
        "UPDATE task_import SET added = 3, present = 1, refused = 1 WHERE id = %(id)s RETURNING id", id=site.moving
    )
