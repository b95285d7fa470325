"""Many volunteers at the same moment: one's misfortune is nobody else's, and what was taken is kept."""

import psycopg2
import pytest
import pytest_twisted
from support.browsers import newcomer
from support.checks.invariants import invariants
from twisted.internet import reactor
from twisted.internet.defer import Deferred, ensureDeferred, gatherResults
from twisted.internet.endpoints import TCP4ClientEndpoint, connectProtocol
from twisted.internet.protocol import Protocol
from twisted.internet.task import deferLater

from crowdd.core import base
from crowdd.database import connector
from crowdd.features.tasks.feature import TasksFeature
from crowdd.kernel.errors import UnavailableError

CROWD = 16


async def together(*work):
    """What each comes to, all begun in the same turn."""
    return await gatherResults([ensureDeferred(each) for each in work])


async def crowd(served, count=CROWD):
    """Volunteers with accounts."""
    return [await served.person(f"person{number}") for number in range(count)]


def newtask(project):
    return f"/api/project/{project['id']}/newtask"


def run_of(project, task, info="yes"):
    return {"project_id": project["id"], "task_id": task["id"], "info": info}


def broken_rules(dsn):
    with psycopg2.connect(dsn, options="-c search_path=public,code") as connection:
        return invariants(connection)


@pytest_twisted.ensureDeferred
async def test_everybody_is_served_and_nothing_is_given_twice(served, dsn):
    owner, people = await served.person("owner"), await crowd(served)
    project = await served.project(owner, tasks=CROWD // 4, published=True, n_answers=4)
    tasks = [answer.json() for answer in await together(*(who.get(newtask(project)) for who in people))]
    task_ids = [task["id"] for task in tasks]
    assert all(task_ids.count(task) == 4 for task in project["tasks"])
    work = [
        who.post("/api/taskrun", json=run_of(project, task, n))
        for n, (who, task) in enumerate(zip(people, tasks, strict=True))
    ]
    answers = [await work.pop(0)]
    # Beside the others: a second answer, one without a lease, one that says nonsense, one of nobody's task.
    odd = [
        people[0].post("/api/taskrun", json=run_of(project, tasks[0], 0)),
        people[1].post("/api/taskrun", json=run_of(project, {"id": next(t for t in task_ids if t != task_ids[1])})),
        people[2].post("/api/taskrun", json={**run_of(project, tasks[2]), "wrong": 1}),
        people[3].post("/api/taskrun", json=run_of(project, {"id": 999})),
    ]
    answers += await together(*work, *odd)
    runs = [answer.json() for answer in answers[:CROWD]]
    assert [(run["info"], run["task_id"]) for run in runs] == [(n, task) for n, task in enumerate(task_ids)]
    assert sorted(answer.status for answer in answers[CROWD:]) == [403, 403, 403, 415]
    assert len(await served.database.fetch("SELECT FROM task_run")) == CROWD
    assert broken_rules(dsn) == []


@pytest_twisted.ensureDeferred
async def test_an_answer_that_the_database_refuses_fails_alone(served):
    owner, people = await served.person("owner"), await crowd(served, 5)
    project = await served.project(owner, tasks=5, published=True, n_answers=1)
    tasks = [answer.json() for answer in await together(*(who.get(newtask(project)) for who in people))]
    await served.database.execute("ALTER TABLE task_run ADD CONSTRAINT no_three CHECK (info <> '3')")
    try:
        work = [
            who.post("/api/taskrun", json=run_of(project, t, n))
            for n, (who, t) in enumerate(zip(people, tasks, strict=True))
        ]
        answers = await together(*work)
    finally:
        await served.database.execute("ALTER TABLE task_run DROP CONSTRAINT no_three")
    assert [answer.status for answer in answers] == [200, 200, 200, 500, 200]
    again = await people[3].post("/api/taskrun", json=run_of(project, tasks[3], 3))
    assert again.status == 200, "his lease was not used up"


@pytest_twisted.ensureDeferred
async def test_a_task_that_somebody_holds_delays_only_who_answers_it(serve, monkeypatch):
    session = connector.list_session_settings
    longer = "SET lock_timeout = '1h'"  # who waits for a row would wait for ever
    monkeypatch.setattr(base, "list_session_settings", lambda seconds: [*session(seconds), longer])
    served = await serve(CROWDD_DB_STATEMENT_TIMEOUT="3600")
    owner, people = await served.person("owner"), await crowd(served, 4)
    project = await served.project(owner, tasks=4, published=True, n_answers=1)
    tasks = [answer.json() for answer in await together(*(who.get(newtask(project)) for who in people))]
    held, go_on = Deferred(), Deferred()

    async def hold(tx):
        await tx.fetch("SELECT FROM task_ledger WHERE task_id = %(t)s FOR UPDATE", {"t": tasks[0]["id"]})
        held.callback(None)
        await go_on

    holding = ensureDeferred(served.database.transaction(hold))
    await held
    work = [
        ensureDeferred(who.post("/api/taskrun", json=run_of(project, t))) for who, t in zip(people, tasks, strict=True)
    ]
    try:
        others = await gatherResults(work[1:]).addTimeout(60, reactor)
        assert ([answer.status for answer in others], work[0].called) == ([200] * 3, False)
    finally:
        go_on.callback(None)
        await holding
    assert (await work[0]).status == 200


@pytest_twisted.ensureDeferred
async def test_a_task_that_came_while_the_statement_ran_is_handed_out_whole(served):
    owner, volunteer = await served.person("owner"), await served.person("volunteer")
    project = await served.project(owner, tasks=1, published=True, n_answers=1)
    first = (await volunteer.get(newtask(project))).json()
    held, go_on = Deferred(), Deferred()

    async def hold(tx):
        lock = "SELECT pg_advisory_xact_lock(hashtextextended(%(a)s, %(p)s))"
        await tx.fetch(lock, {"a": f"u:{volunteer.user_id}", "p": project["id"]})
        held.callback(None)
        await go_on

    holding = ensureDeferred(served.database.transaction(hold))
    await held
    asking = ensureDeferred(volunteer.get(newtask(project) + "?limit=2"))
    while not await served.database.fetch("SELECT FROM pg_stat_activity WHERE wait_event = 'advisory'"):
        await deferLater(reactor, 0.005)
    rows = {"project_id": project["id"], "info": "later", "n_answers": 9}
    later = (await owner.post("/api/task", json=rows)).json()
    go_on.callback(None)
    await holding
    tasks = (await asking).json()
    assert [(task["id"], task["info"]) for task in tasks] == [(first["id"], first["info"]), (later["id"], "later")]


class Losing:
    """The pool, which loses its connection at the first answers that are sent: before or after they are stored."""

    def __init__(self, pool, *, stored):
        self._pool, self._stored, self.lost = pool, stored, 0

    def __getattr__(self, name):
        return getattr(self._pool, name)

    async def fetch(self, sql, values=None):
        if "submit_many" not in getattr(sql, "text", "") or self.lost:
            return await self._pool.fetch(sql, values)
        self.lost += 1
        if self._stored:
            await self._pool.fetch(sql, values)
        raise UnavailableError("The database cannot be reached.", uncertain=True)


@pytest.mark.parametrize("stored", [True, False])
@pytest_twisted.ensureDeferred
async def test_a_connection_lost_at_commit_is_not_the_volunteers_trouble(served, dsn, stored):
    owner, people = await served.person("owner"), await crowd(served, 3)
    project = await served.project(owner, tasks=3, published=True, n_answers=2)
    tasks = [answer.json() for answer in await together(*(who.get(newtask(project)) for who in people))]
    early = await people[0].post("/api/taskrun", json=run_of(project, tasks[0], "early"))
    served.house[TasksFeature].contributions._db = Losing(served.database, stored=stored)
    work = [
        who.post("/api/taskrun", json=run_of(project, t, n))
        for n, (who, t) in enumerate(zip(people, tasks, strict=True))
    ]
    second, *others = await together(*work)
    assert served.house[TasksFeature].contributions._db.lost == 1
    assert (early.status, second.status, second.json()["error_code"]) == (200, 403, "duplicate")
    for n, (who, answer) in enumerate(zip(people[1:], others, strict=True), 1):
        run = answer.json()
        assert (answer.status, run["info"], run["user_id"]) == (200, n, who.user_id)
        assert (await owner.get(f"/api/taskrun/{run['id']}")).json() == {**run, "circumstances": None}
    assert len(await served.database.fetch("SELECT FROM task_run")) == 3
    assert broken_rules(dsn) == []


@pytest_twisted.ensureDeferred
async def test_who_leaves_in_the_middle_of_a_batch_loses_nothing(served, dsn):
    owner, people = await served.person("owner"), await crowd(served, 10)
    project = await served.project(owner, tasks=10, published=True, n_answers=1)
    tasks = [answer.json() for answer in await together(*(who.get(newtask(project)) for who in people))]
    port = served.server._port.getHost().port
    wires = [await connectProtocol(TCP4ClientEndpoint(reactor, "127.0.0.1", port), Protocol()) for _ in people]
    occupied, go_on = Deferred(), Deferred()

    async def occupy(tx):
        await tx.fetch("SELECT FROM task_ledger WHERE task_id = ANY (%(t)s) FOR UPDATE", {"t": project["tasks"]})
        occupied.callback(None)
        await go_on

    occupying = ensureDeferred(served.database.transaction(occupy))
    await occupied
    for number, (wire, who, task) in enumerate(zip(wires, people, tasks, strict=True)):
        body = b'{"project_id":%d,"task_id":%d,"info":%d}' % (project["id"], task["id"], number)
        head = f"POST /api/taskrun?api_key={who.key} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n"
        wire.transport.write(head.encode() + body)
    while len(await served.database.fetch("SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'")) < 1:
        await deferLater(reactor, 0.005)
    for wire in wires[::2]:
        wire.transport.abortConnection()
    go_on.callback(None)
    await occupying
    end = reactor.seconds() + 60
    while len(rows := await served.database.fetch("SELECT user_id, info FROM task_run ORDER BY info")) < 10:
        assert reactor.seconds() < end, rows
        await deferLater(reactor, 0.005)
    assert [(row["user_id"], row["info"]) for row in rows] == [(who.user_id, n) for n, who in enumerate(people)]
    for wire in wires[1::2]:
        wire.transport.abortConnection()
    assert broken_rules(dsn) == []


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE account SET api_key_hash = '\\x00' WHERE id = %(id)s",
        'UPDATE account SET "restrict" = true WHERE id = %(id)s',
    ],
    ids=["a new key", "blocked"],
)
@pytest_twisted.ensureDeferred
async def test_a_key_that_another_process_ends_has_ended(served, serve, sql):
    elsewhere = await serve()
    other, stays = await crowd(served, 2)
    for expected in (200, 401):
        answers = await together(other.get("/api/favorites"), stays.get("/api/favorites"))
        assert [answer.status for answer in answers] == [expected, 200]
        await elsewhere.database.execute(sql, {"id": other.user_id})


@pytest_twisted.ensureDeferred
async def test_a_session_that_another_process_ends_has_ended(served, serve):
    elsewhere = await serve()
    other, stays = await newcomer(served, "ada"), await newcomer(served, "eve")
    sql = "DELETE FROM session WHERE user_id = (SELECT id FROM account WHERE name = 'ada')"
    for expected in (200, 401):
        answers = await together(other.get("/api/favorites"), stays.get("/api/favorites"))
        assert [answer.status for answer in answers] == [expected, 200]
        await elsewhere.database.execute(sql)
