"""Work by the clock: each job once, by one process, whatever becomes of it."""

from __future__ import annotations

import contextlib
import os
from datetime import timedelta
from typing import Any

import attrs
import pytest
import pytest_twisted
from support.until import until
from twisted.internet import reactor
from twisted.internet.defer import Deferred, gatherResults
from twisted.internet.task import Clock

from crowdd.core import base
from crowdd.core.change_notifier import MAIL, QUEUE, ChangeNotifier
from crowdd.core.records import statements as record_statements
from crowdd.core.uploads import Upload
from crowdd.features.media.feature import MediaFeature
from crowdd.features.operations import upload_gc
from crowdd.kernel.errors import ForbiddenError, UnavailableError
from crowdd.sched import statements as sched_statements
from crowdd.sched.feature import Scheduling
from crowdd.sched.job import Job, wait_after
from crowdd.sched.job_runner import MAX_WAIT, JobRunner, every_job, scheduled


class Bench:
    """Clockworks on one database, each with a session of its own as processes have; ``ran`` is what they did."""

    def __init__(self, house: Any, settings: Any) -> None:
        self.house, self.settings, self.sessions, self.ran = house, settings, [], []

    async def job_runner(self, *jobs: Job, clock: Any = reactor, **more: Any) -> JobRunner:
        session = base.make_pool(reactor, self.settings, size=1)
        await session.start()
        self.sessions.append(session)
        return JobRunner(clock, session, jobs, lambda job: job.work(self.house), **more)

    def job(self, name: str = "ring", period: float = 100.0, work: Any = None) -> Job:
        async def run(house: Any) -> str:
            self.ran.append(name)
            if work is not None:
                await work()
            return f"run {len(self.ran)}"

        return Job(name, period, run)

    async def row(self, name: str = "ring") -> Any:
        (job,) = [row for row in await sched_statements.list_jobs(self.house.base.db) if row["name"] == name]
        return job

    async def pass_time(self, seconds: float) -> None:
        await self.house.base.db.execute(
            "UPDATE clock_shift SET ahead = ahead + %(by)s", {"by": timedelta(seconds=seconds)}
        )


@pytest_twisted.async_yield_fixture
async def bench(house, settings):
    made = Bench(house, settings)
    yield made
    for session in made.sessions:
        await session.close()


async def raises(error: Exception) -> None:
    raise error


@pytest_twisted.ensureDeferred
async def test_a_job_runs_when_it_is_due_and_not_before(bench):
    job = bench.job()
    job_runner = await bench.job_runner(job)
    turn = await job_runner.run(job)
    assert turn.state == "early" and 59 < turn.wait <= 60, "a new one after a minute"
    await bench.pass_time(60)
    turn = await job_runner.run(job)
    assert (turn.state, turn.wait, turn.words) == ("done", 100, "run 1")
    assert (await job_runner.run(job)).state == "early"
    await bench.pass_time(101)
    assert (await job_runner.run(job)).state == "done"
    row = await bench.row()
    assert (row["outcome"], row["words"], row["runs"], row["failures"]) == ("done", "run 2", 2, 0)
    assert row["seconds"] >= 0 and len(await sched_statements.list_runs(bench.house.base.db, "ring", 10)) == 2


@pytest_twisted.ensureDeferred
async def test_two_processes_run_each_due_job_once(bench):
    async def slow() -> None:
        await Deferred.fromCoroutine(bench.house.base.db.fetch("SELECT pg_sleep(0.02)"))

    several = [bench.job(f"job{n}", 100, slow) for n in range(4)]
    one, two = await bench.job_runner(*several), await bench.job_runner(*several)
    for job in several:
        assert (await one.run(job)).state == "early"
    for _ in range(5):
        await bench.pass_time(101)
        turns = [Deferred.fromCoroutine(each.run(job)) for job in several for each in (one, two)]
        states = [turn.state for turn in await gatherResults(turns)]
        assert states.count("done") == 4, states
    assert sorted(bench.ran) == sorted([job.name for job in several] * 5)


@pytest_twisted.ensureDeferred
async def test_a_long_run_is_left_alone_though_its_time_comes_again(bench):
    reached, gate = Deferred(), Deferred()

    async def long() -> None:
        reached.callback(None)
        await gate

    job = bench.job(work=long)
    one, two = await bench.job_runner(job), await bench.job_runner(job)
    running = Deferred.fromCoroutine(one.run(job, force=True))
    await reached
    await bench.pass_time(1000)
    assert (await two.run(job)).state == "busy"
    assert (await two.run(job, force=True)).state == "busy"
    assert (await bench.row())["outcome"] == "running"
    gate.callback(None)
    assert (await running).state == "done"
    assert (await two.run(job)).state == "early" and bench.ran == ["ring"]


@pytest_twisted.ensureDeferred
async def test_missed_runs_are_made_up_for_once(bench):
    job = bench.job()
    job_runner = await bench.job_runner(job)
    await job_runner.run(job, force=True)
    await bench.pass_time(86400 * 3)
    assert (await bench.row())["overdue"] > 86400 * 2
    assert (await job_runner.run(job)).state == "done"
    assert (await job_runner.run(job)).state == "early"


@pytest_twisted.ensureDeferred
async def test_a_failure_is_written_down_and_retried_and_never_the_end(bench):
    errors = [RuntimeError("secret words"), ForbiddenError("Not here.")]

    async def fails() -> None:
        if errors:
            raise errors.pop(0)

    job = bench.job(period=86400, work=fails)
    job_runner = await bench.job_runner(job)
    waits = [(await job_runner.run(job, force=True)).wait]
    row = await bench.row()
    assert (row["outcome"], row["failures"]) == ("failed", 1)
    assert row["words"] == "RuntimeError. See the server's log."
    await bench.pass_time(121)
    waits.append((await job_runner.run(job)).wait)
    assert (await bench.row())["words"] == "Not here."
    await bench.pass_time(241)
    waits.append((await job_runner.run(job)).wait)
    assert waits == [120, 240, 86400]
    assert (await bench.row())["failures"] == 0
    log = await sched_statements.list_runs(bench.house.base.db, "ring", 10)
    assert [row["outcome"] for row in log] == ["done", "failed", "failed"]


@pytest_twisted.ensureDeferred
async def test_a_run_whose_session_went_is_noticed_and_made_up_for(bench):
    reached = Deferred()

    async def killed() -> None:
        if not reached.called:
            reached.callback(None)
            await Deferred()

    job = bench.job(period=86400, work=killed)
    one, two = await bench.job_runner(job), await bench.job_runner(job)
    Deferred.fromCoroutine(one.run(job, force=True))
    await reached
    await bench.sessions[0].close()  # as when its process is killed: PostgreSQL takes the lock back
    while (turn := await two.run(job)).state == "busy":
        pass
    assert (turn.state, turn.wait) == ("broken", 60)
    assert (await bench.row())["words"] == "Its process ended while it ran."
    assert (await two.run(job)).state == "early"
    await bench.pass_time(61)
    assert (await two.run(job)).state == "done"


@pytest_twisted.ensureDeferred
async def test_who_lost_the_lock_does_not_write_over_the_next(bench):
    reached, gate = Deferred(), Deferred()

    async def long() -> None:
        if not reached.called:
            reached.callback(None)
            await gate

    job = bench.job(work=long)
    one, two = await bench.job_runner(job), await bench.job_runner(job)
    running = Deferred.fromCoroutine(one.run(job, force=True))
    await reached
    sql = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND pid <> pg_backend_pid()"
    await bench.house.base.db.fetch(sql)
    while (await two.run(job)).state != "broken":
        pass
    await bench.pass_time(61)
    assert (await two.run(job)).state == "done"
    with contextlib.suppress(UnavailableError):
        await bench.sessions[0].fetch("SELECT")  # until its loss has been noticed
    gate.callback(None)
    assert (await running).seconds is None
    assert (await bench.row())["words"] == "run 2"


@pytest_twisted.ensureDeferred
async def test_a_service_looks_again_by_itself_after_failures_too(bench):
    clock, runs = Clock(), []

    async def fails() -> None:
        done, runs[:] = runs[:], []
        for each in done:
            each.callback(None)
        raise RuntimeError

    job_runner = await bench.job_runner(bench.job(period=10, work=fails), clock=clock)
    job_runner.startService()
    for _ in range(3):
        ran = Deferred()
        runs.append(ran)
        while not ran.called:  # until it is planned again: what it does is on the real reactor
            await bench.pass_time(MAX_WAIT)
            clock.advance(MAX_WAIT)
    await job_runner.stopService()
    assert (await bench.row())["failures"] == len(bench.ran) >= 3


@pytest_twisted.ensureDeferred
async def test_a_service_asks_once_for_all_jobs_when_they_are_due(bench, monkeypatch):
    asked, begin = [], sched_statements.begin_job
    monkeypatch.setattr(
        sched_statements, "begin_job", lambda session, name, *more: asked.append(name) or begin(session, name, *more)
    )
    clock = Clock()
    job_runner = await bench.job_runner(bench.job("soon", 10), bench.job("late", 1000), clock=clock)
    job_runner.startService()
    await until(lambda: len(clock.getDelayedCalls()) == 2)
    soon, late = sorted(call.getTime() for call in clock.getDelayedCalls())
    assert 9 < soon <= 10 and 59 < late <= 60 and asked == []
    await bench.pass_time(10)
    clock.advance(10)
    await until(lambda: bench.ran == ["soon"])
    await job_runner.stopService()
    assert asked == ["soon"]


@pytest_twisted.ensureDeferred
async def test_first_waits_are_those_that_begin_would_give(bench):
    periods = {f"job{n}": 100.0 for n in range(5)}
    db = bench.house.base.db
    many = periods | {f"more{n}": 100.0 for n in range(1000)}
    both = [
        Deferred.fromCoroutine(sched_statements.list_first_waits(db, each))
        for each in (many, dict(reversed(many.items())))
    ]
    for waits in await gatherResults(both):  # at the same time; a deadlock would take a second
        assert all(59 < wait <= 60 for wait in waits.values())
    await db.execute("UPDATE job SET outcome = 'running' WHERE name = 'job1'")
    await db.execute("UPDATE job SET due = clock() - interval '1 day' WHERE name = 'job2'")
    waits = await sched_statements.list_first_waits(db, {**periods, "another": 7})
    assert waits.keys() == {*periods, "another"} and waits["job1"] == waits["job2"] == 0
    assert 6 < waits["another"] <= 7 and 59 < waits["job3"] <= 60
    assert await sched_statements.list_first_waits(db, {}) == {}


@pytest_twisted.ensureDeferred
async def test_a_service_that_ends_at_once_begins_nothing(bench):
    clock = Clock()
    job_runner = await bench.job_runner(bench.job(), clock=clock)
    job_runner.startService()
    await job_runner.stopService()
    assert clock.getDelayedCalls() == [] and bench.ran == []


@pytest_twisted.ensureDeferred
async def test_the_end_waits_for_what_runs_and_then_breaks_it_off(bench):
    reached = Deferred()

    async def stuck() -> None:
        reached.callback(None)
        await Deferred()

    job = bench.job(period=0.01, work=stuck)
    job_runner = await bench.job_runner(job, patience=0.05)
    job_runner.startService()
    await reached
    await job_runner.stopService()
    assert (await bench.row())["words"] == "The server ended while it ran."
    assert bench.ran == ["ring"]


@pytest_twisted.ensureDeferred
async def test_no_transaction_stays_open_while_a_job_runs(bench):
    seen = []

    async def look() -> None:
        sql = (
            "SELECT count(*) AS n FROM pg_stat_activity WHERE backend_xid IS NOT NULL AND datname = current_database()"
        )
        seen.append((await bench.house.base.db.fetch(sql))[0]["n"])

    job = bench.job(work=look)
    await (await bench.job_runner(job)).run(job, force=True)
    assert seen == [0]


@pytest_twisted.ensureDeferred
async def test_every_job_of_the_server_runs(bench):
    every = scheduled(bench.house.base.settings)
    assert len({job.name for job in every}) == len(every) > 5
    job_runner = await bench.job_runner(*every)
    for job in every:
        turn = await job_runner.run(job, force=True)
        assert turn.state == "done", (job.name, turn)


@pytest.mark.parametrize(
    ("period", "failures", "wait"),
    [(2, 0, 2), (2, 1, 4), (2, 2, 8), (2, 9, 60), (600, 1, 120), (600, 4, 600), (86400, 1, 120), (86400, 99, 86400)],
)
def test_waits_after_failures(period, failures, wait):
    assert wait_after(period, failures) == wait


def test_frequent_runs_are_not_logged_unless_they_fail():
    often, seldom = Job("often", 2, raises), Job("seldom", 600, raises)
    assert [job.is_logged(failed) for job in (often, seldom) for failed in (False, True)] == [False, True, True, True]


@pytest_twisted.ensureDeferred
async def test_sweeping_removes_what_is_old_in_many_short_transactions(bench, monkeypatch):
    monkeypatch.setattr(record_statements, "CHUNK", 3)
    db = bench.house.base.db
    await db.execute(
        "INSERT INTO attempt_count SELECT 'old' || n, 1, clock() - interval '2 days' FROM generate_series(1, 7) n"
    )
    await db.execute("INSERT INTO attempt_count SELECT 'new' || n, 1, clock() FROM generate_series(1, 7) n")
    assert await record_statements.delete_in_batches(db, "attempt_count", "until <= clock() - interval '1 day'") == 7
    assert await db.fetch("SELECT DISTINCT left(subject, 3) AS age FROM attempt_count") == [{"age": "new"}]


@pytest_twisted.ensureDeferred
async def test_a_row_that_is_changed_meanwhile_stays(bench):
    """Such as a session that its owner comes back to while it is being swept."""
    db = bench.house.base.db
    await db.execute("INSERT INTO attempt_count VALUES ('a', 1, clock() - interval '2 days')")

    async def touch(tx: Any) -> Deferred[int]:
        await tx.execute("UPDATE attempt_count SET until = clock()")
        swept = Deferred.fromCoroutine(
            record_statements.delete_in_batches(db, "attempt_count", "until <= clock() - interval '1 day'")
        )
        waiting = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        while not await db.fetch(waiting):
            pass
        return swept

    async def work(tx: Any) -> list[Deferred[int]]:
        return [await touch(tx)]

    (swept,) = await db.transaction(work)
    assert await swept == 0


@pytest_twisted.ensureDeferred
async def test_items_and_logs_have_their_time(bench):
    db = bench.house.base.db
    ends = [("done", 15), ("done", 1), ("dead", 15), ("dead", 91), ("cancelled", 15), ("waiting", 99)]
    for state, days in ends:
        await db.execute(
            "INSERT INTO queue_item (name, arguments, admin, via, state, created, due, ended)"
            " VALUES ('x', '{}', true, 'cli', %(s)s, clock(), clock(),"
            " CASE WHEN %(s)s <> 'waiting' THEN clock() - make_interval(days => %(d)s) END)",
            {"s": state, "d": days},
        )
    assert await bench.house[Scheduling].queue.sweep() == 3
    left = await db.fetch("SELECT state FROM queue_item ORDER BY id")
    assert [row["state"] for row in left] == ["done", "dead", "waiting"]
    await db.execute(
        "INSERT INTO job_run (name, began, seconds, outcome, words)"
        " SELECT 'x', clock() - make_interval(days => d), 0, 'done', '' FROM unnest(ARRAY[1, 29, 31, 99]) d"
    )
    await db.execute("INSERT INTO job (name, due) VALUES ('gone', clock() - interval '31 days')")
    assert await sched_statements.sweep_runs(db, 30) == 3
    assert len(await sched_statements.list_runs(db, "x", 10)) == 2


@pytest_twisted.ensureDeferred
async def test_work_in_the_background_has_time_and_connections_of_its_own(served):
    seconds = "SELECT extract(epoch FROM current_setting('statement_timeout')::interval)::int AS s"
    background = served.server._pools.background
    assert (await background.fetch(seconds))[0]["s"] == 600
    assert (await served.database.fetch(seconds))[0]["s"] == 10
    assert background.figures().size == 4


@pytest_twisted.ensureDeferred
async def test_orphaned_uploads_go_and_nothing_else(served):
    owner = await served.person("ada")
    project = await served.project(owner)
    uploads, db = served.house.base.uploads, served.database
    here = f"project-{project['id']}"
    picture = Upload("a.png", b"\x89PNG\r\n\x1a\n")
    posted, orphan, spoken_of, fresh = [uploads.store(here, picture) for _ in range(4)]
    site, gone = uploads.store("site", picture), uploads.store("project-999999", picture)
    await db.execute(
        "INSERT INTO blogpost (created, updated, project_id, title, body, media_file)"
        " VALUES (clock(), clock(), %(p)s, '', '', %(f)s)",
        {"p": project["id"], "f": posted},
    )
    info = {"task_presenter": "<p>?</p>", "thumbnail": spoken_of.rpartition("/")[2]}
    assert (await owner.put(f"/api/project/{project['id']}", json={"info": info})).status == 200
    (uploads.folder / here / "night.png").write_bytes(b"an owner's")
    (uploads.folder / here / ".night.png.77").write_bytes(b"half of")
    (uploads.folder / "project-999999" / "night.png").write_bytes(b"an owner's who left")
    of_ada, before_that = [uploads.store(f"user-{owner.user_id}", picture) for _ in range(2)]
    of_nobody = uploads.store("user-999999", picture)
    await db.execute(
        "UPDATE account SET avatar_file = %(path)s WHERE id = %(id)s", {"path": of_ada, "id": owner.user_id}
    )
    for path in uploads.folder.glob("*/*"):
        if path.name != fresh.rpartition("/")[2]:
            os.utime(path, (1, 1))
    before = {str(path.relative_to(uploads.folder)) for path in uploads.folder.glob("*/*")}
    assert await upload_gc.sweep(db, uploads) == 6
    left = {str(path.relative_to(uploads.folder)) for path in uploads.folder.glob("*/*")}
    assert before - left == {
        orphan, gone, "project-999999/night.png", f"{here}/.night.png.77", before_that, of_nobody,
    }  # fmt: skip
    assert {of_ada, posted, spoken_of, fresh, site, f"{here}/night.png"} <= left


@pytest_twisted.ensureDeferred
async def test_media_of_projects_that_are_gone_leave_the_bucket(serve, s3_service, tmp_path):
    served = await serve(**s3_service.environment())
    project = await served.project(await served.person("ada"))
    store, names = served.house[MediaFeature].media_store, served.house[MediaFeature].media_names
    (tmp_path / "source").write_bytes(b"a picture")
    keys = [names.key(number, "a" * 64, ".jpg") for number in (project["id"], 999_998)]
    for key in keys:
        await store.put(key, tmp_path / "source", "image/jpeg")
    (job,) = (each for each in every_job() if each.name == "sweep_uploads")
    assert await job.work(served.house) == "1 removed"
    assert [await store.size(key) for key in keys] == [9, None]


@pytest_twisted.ensureDeferred
async def test_a_job_that_follows_changes_runs_soon_after_one_of_its_topic(bench):
    clock = Clock()
    change_notifier = ChangeNotifier(clock)
    jobs = attrs.evolve(bench.job("fold", 3600), pause=2), attrs.evolve(bench.job("send", 3600), pause=1, wakes=MAIL)
    job_runner = await bench.job_runner(*jobs, bench.job("sweep", 3600), clock=clock, change_notifier=change_notifier)
    job_runner.startService()
    await until(lambda: len(clock.getDelayedCalls()) == 3)
    for topic, pause, name in ((7, 2, "fold"), (MAIL, 1, "send"), (8, 2, "fold")):
        before = [*bench.ran]
        change_notifier.notify(topic)
        clock.advance(0)
        clock.advance(pause - 0.1)
        assert bench.ran == before
        clock.advance(0.2)
        await until(lambda expected=[*before, name]: bench.ran == expected and len(clock.getDelayedCalls()) == 3)
    change_notifier.notify(QUEUE)  # nobody's topic here
    clock.advance(0)
    clock.advance(10)
    assert bench.ran == ["fold", "send", "fold"]
    await job_runner.stopService()
    change_notifier.notify(7)
    assert clock.getDelayedCalls() == []  # nobody listens any more


@pytest_twisted.ensureDeferred
async def test_what_changes_while_a_job_runs_has_it_run_again(bench):
    clock, ends = Clock(), [Deferred(), Deferred()]
    change_notifier, waiting = ChangeNotifier(clock), iter(ends)

    async def wait() -> None:
        await next(waiting)

    job = attrs.evolve(bench.job(period=3600, work=wait), pause=2)
    job_runner = await bench.job_runner(job, clock=clock, change_notifier=change_notifier)
    job_runner.startService()
    await until(lambda: clock.getDelayedCalls() != [])
    change_notifier.notify(7)
    clock.advance(0)
    clock.advance(2)
    await until(lambda: len(bench.ran) == 1)
    change_notifier.notify(7)
    clock.advance(0)
    ends[0].callback(None)
    await until(lambda: clock.getDelayedCalls() != [])
    clock.advance(2)
    await until(lambda: len(bench.ran) == 2)
    ends[1].callback(None)
    await job_runner.stopService()
