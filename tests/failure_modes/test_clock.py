"""The clock goes back by an hour, and forward by a day and back: nothing hangs, nothing is lost, nothing lasts for ever."""

from __future__ import annotations

import itertools
import os
import time
from datetime import timedelta

import psycopg2
import pytest
import pytest_twisted
from support.checks.proofs import examples
from support.servers.live import LiveServer
from support.until import until
from twisted.internet import reactor
from twisted.internet.task import Clock

from crowdd.core import base
from crowdd.database.embedded.cluster import wait_until
from crowdd.http.edge.rate_limits import Window
from crowdd.kernel.reactor import SteadySeconds, epoch_seconds, keep_steady
from crowdd.sched import statements as sched_statements
from crowdd.sched import statements as stored_clock
from crowdd.sched.feature import Scheduling
from crowdd.sched.job import Job, wait_after
from crowdd.sched.job_runner import JobRunner
from crowdd.sched.rows import EndedJob

DAY, HOUR = 86_400, 3600
NUMBERS = itertools.count(1)


async def move(db, **by):
    """The clock of the database is set."""
    await db.execute("UPDATE clock_shift SET ahead = ahead + %(by)s", {"by": timedelta(**by)})


async def newcomer(served):
    """A volunteer who was not here before."""
    return await served.person(f"volunteer{next(NUMBERS)}")


async def one(db, sql):
    (row,) = await db.fetch(sql)
    return next(iter(row.values()))


class TestTimersOfAProcess:
    def test_they_do_not_follow_a_clock_that_is_set(self):
        of_day, passed = [1_700_000_000.0], [50.0]
        seconds = SteadySeconds(lambda: of_day[0], lambda: passed[0])
        assert seconds() == 1_700_000_000
        of_day[0] -= DAY
        passed[0] += 2
        assert seconds() == 1_700_000_002

    def test_the_time_of_day_is_another_one(self, monkeypatch):
        clock = Clock()
        clock.advance(7)
        assert epoch_seconds(clock) == 7
        keep_steady(clock)
        steady_seconds = clock.seconds
        keep_steady(clock)
        assert clock.seconds is steady_seconds, "what is planned already stays where it is"
        monkeypatch.setattr(time, "time", lambda: 5.0)
        assert epoch_seconds(clock) == 5 and clock.seconds() > 5

    def test_a_rate_limit_ends_with_its_window_though_the_clock_was_set_back(self):
        clock = Clock()
        clock.advance(2 * DAY)
        window = Window(clock, 1, 60)
        assert window.take("owl").allowed and not window.take("owl").allowed
        clock.rightNow -= DAY
        assert window.take("owl").allowed and not window.take("owl").allowed
        assert window.end() - clock.seconds() <= 60


MOVED = """
import pathlib, time
_real, _file = time.time, pathlib.Path({file!r})
time.time = lambda: _real() + float(_file.read_text() or 0)
"""


@pytest.mark.proof
@pytest.mark.parametrize("began", [DAY, -HOUR])
def test_a_server_goes_on_at_once_when_its_clock_is_set(own_server_with_clock, began):
    """From a day ahead to now, and from an hour behind to now."""
    server = own_server_with_clock(began)
    beats = "SELECT seen, (SELECT sum(runs) FROM job) FROM node"
    server.start()
    before = server.fetch(beats)
    server.set_clock(0)
    assert wait_until(lambda: all(now > then for now, then in zip(server.fetch(beats), before, strict=True)), 60)
    assert server.answers()
    server.stop()


@pytest.fixture
def own_server_with_clock(dsn, tmp_path):
    """Makes a server in a process of its own, whose clock of the day is so far ahead, as that of its database is."""

    class Moved(LiveServer):
        def set_clock(self, ahead):
            (tmp_path / "ahead").write_text(str(ahead))
            connection = psycopg2.connect(dsn)
            with connection, connection.cursor() as cursor:
                cursor.execute("UPDATE clock_shift SET ahead = make_interval(secs => %s)", (ahead,))
            connection.close()

        def fetch(self, sql):
            connection = psycopg2.connect(dsn, options="-c search_path=public,code")
            with connection, connection.cursor() as cursor:
                cursor.execute(sql)
                row = cursor.fetchone()
            connection.close()
            # Times of the database move with its clock; what is compared is when they were written.
            return (row[0].timestamp() - float((tmp_path / "ahead").read_text()), float(row[1]))

        def answers(self):
            return self._answers()

    made = []

    def make(ahead):
        (tmp_path / "data").mkdir()
        (tmp_path / "sitecustomize.py").write_text(MOVED.format(file=str(tmp_path / "ahead")))
        path = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
        server = Moved(dsn, tmp_path / "data", PYTHONPATH=path)
        server.set_clock(ahead)
        made.append(server)
        return server

    yield make
    for server in made:
        server.stop()


async def ring(house):
    return "done"


class TestJobs:
    job = Job("ring", HOUR, ring)

    @pytest_twisted.async_yield_fixture
    async def runner(self, house, settings):
        session = base.make_pool(reactor, settings, size=1)
        await session.start()
        yield JobRunner(reactor, session, [self.job], lambda job: job.work(house))
        await session.close()

    @pytest_twisted.ensureDeferred
    async def test_a_job_that_ran_tomorrow_runs_again_today(self, runner, house):
        await runner.run(self.job, force=True)
        await move(house.base.db, days=1)
        await runner.run(self.job, force=True)
        assert (await runner.run(self.job)).state == "early"
        await move(house.base.db, days=-1)
        assert (await sched_statements.list_first_waits(house.base.db, {"ring": HOUR}))["ring"] <= HOUR
        assert (await runner.run(self.job)).state == "done"
        assert (await runner.run(self.job)).state == "early", "not over and over"

    @pytest_twisted.ensureDeferred
    async def test_a_run_during_which_the_clock_was_set_back_ends_in_order(self, runner, house):
        begun = await sched_statements.begin_job(runner._session, "ring", HOUR, True)
        await move(house.base.db, hours=-1)
        ended = EndedJob("done", "", HOUR, True)
        assert await sched_statements.end_job(runner._session, "ring", begun, ended) == 0
        assert (await runner.run(self.job)).state == "early"

    def test_no_job_waits_longer_than_what_counts_as_possible(self):
        for period in (1.0, 2.0, 60.0, 600.0, 86_400.0):
            assert all(wait_after(period, failures) <= max(period, 60) for failures in range(50))


@pytest_twisted.ensureDeferred
async def test_what_waits_for_tomorrow_waits_as_long_as_it_would_have(house):
    db = house.base.db
    assert await stored_clock.follow_clock(db) == 0
    await move(db, days=1)
    assert await stored_clock.follow_clock(db) == 0, "forward is no fault"
    await house.base.mail.send(db, "owl@example.org", "test", {}, "en")
    await db.execute("UPDATE mail SET state = 'waiting', due = clock() + interval '10 minutes'")
    await db.execute(
        "INSERT INTO queue_item (name, arguments, admin, via, created, due, state)"
        " VALUES ('a', '{}', false, 'job', clock(), clock() + interval '90 seconds', 'waiting'),"
        " ('b', '{}', false, 'job', clock(), clock() - interval '10 seconds', 'waiting'),"
        " ('c', '{}', false, 'job', clock(), clock() + interval '60 seconds', 'running')"
    )
    await db.execute(
        "INSERT INTO attempt_count (subject, used, until) VALUES ('owl', 5, clock() + interval '15 minutes')"
    )
    await move(db, days=-1)
    assert DAY - 60 < await stored_clock.follow_clock(db) <= DAY
    waits = "SELECT array_agg(round(extract(epoch FROM due - clock())) ORDER BY name)::int[] FROM queue_item"
    first, second, third = await one(db, waits)
    assert 60 <= first <= 90 and -60 <= second <= 0 and third <= 60
    assert 500 < await one(db, "SELECT extract(epoch FROM due - clock())::int FROM mail") <= 600
    assert 800 < await one(db, "SELECT extract(epoch FROM until - clock())::int FROM attempt_count") <= 900
    assert await stored_clock.follow_clock(db) == 0, "once"
    assert 500 < await one(db, "SELECT extract(epoch FROM due - clock())::int FROM mail") <= 600


@pytest_twisted.ensureDeferred
async def test_a_small_correction_of_a_time_server_changes_nothing(house):
    await stored_clock.follow_clock(house.base.db)
    await move(house.base.db, seconds=-8)
    assert await stored_clock.follow_clock(house.base.db) == 0


@pytest_twisted.ensureDeferred
async def test_no_lease_is_held_for_a_day(served):
    owner, db = await served.person("owner"), served.database
    birds = await served.project(owner, tasks=1, published=True, n_answers=1)
    await stored_clock.follow_clock(db)
    await move(db, days=1)
    first, second = await newcomer(served), await newcomer(served)
    task = (await first.get(f"/api/{birds['id']}/newtask")).json()["id"]
    await stored_clock.follow_clock(db)
    await move(db, days=-1)
    assert await stored_clock.follow_clock(db) > 0
    assert (await second.get(f"/api/{birds['id']}/newtask")).json() == {}, "it is still theirs"
    await move(db, minutes=61)
    assert (await second.get(f"/api/{birds['id']}/newtask")).json()["id"] == task


async def answer(served, project):
    volunteer = await newcomer(served)
    task = (await volunteer.get(f"/api/{project['id']}/newtask")).json()
    if not task:
        return None
    body = {"project_id": project["id"], "task_id": task["id"], "info": "owl"}
    stored = await volunteer.post("/api/taskrun", json=body)
    assert stored.status == 200, stored.text
    return stored.json()["id"]


@examples("back0")
@pytest.mark.parametrize("back", [{"hours": 1}, {"days": 1}])
@pytest_twisted.ensureDeferred
async def test_work_goes_on_while_the_clock_is_set(served, back):
    owner, db = await served.person("owner"), served.database
    birds = await served.project(owner, tasks=6, published=True)
    await stored_clock.follow_clock(db)
    late = await newcomer(served)
    held = (await late.get(f"/api/{birds['id']}/newtask")).json()["id"]
    runs = [await answer(served, birds) for _ in range(3)]
    await move(db, **back)  # all leases expire
    body = {"project_id": birds["id"], "task_id": held, "info": "wren"}
    stored = await late.post("/api/taskrun", json=body)
    assert stored.status == 200, "an answer that comes a day late by the clock alone is not lost"
    runs += [await answer(served, birds) for _ in range(3)]
    await stored_clock.follow_clock(db)
    await move(db, **{name: -value for name, value in back.items()})
    runs += [await answer(served, birds) for _ in range(6)]
    await stored_clock.follow_clock(db)
    assert None not in runs[:11]
    tasks = (await owner.get(f"/api/task?project_id={birds['id']}&limit=20")).json()
    assert {task["state"] for task in tasks} == {"completed"}
    for path, change in (("task", {"n_answers": 3}), ("task", {"priority_0": 0.5})):
        done = await owner.put(f"/api/{path}/{birds['tasks'][0]}", json=change)
        assert done.status == 200, done.text
    assert await answer(served, birds)
    assert (await owner.delete(f"/api/task/{birds['tasks'][1]}")).status == 204
    assert (await owner.get("/project/birds/stats")).status == 200
    assert (await owner.get("/project/birds/tasks/export?type=task_run&format=json")).status == 200
    assert (await owner.put(f"/api/project/{birds['id']}", json={"description": "later"})).status == 200
    assert [finding async for finding in served.house[Scheduling].checking.run()] == []

    async def numbered():
        return await one(db, "SELECT count(*) FILTER (WHERE seq IS NULL) FROM event") == 0

    await until(numbered)


@pytest_twisted.ensureDeferred
async def test_a_proof_of_identity_does_not_last_a_day_longer(served):
    owner, db = await served.person("owner"), served.database
    await stored_clock.follow_clock(db)
    await move(db, days=1)
    await owner.session()
    await stored_clock.follow_clock(db)
    await move(db, days=-1)
    await stored_clock.follow_clock(db)
    assert await one(db, "SELECT bool_and(proved <= clock() AND last_seen <= clock()) FROM session")
    browser = await owner.by_session()
    assert (await browser.get("/account/profile")).status in (200, 302), "and the session lives"
