"""The queue: work is done once and to its end, whatever happens to those who do it."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import attrs
import pytest
import pytest_twisted
from support.checks.shows import shows
from support.servers.counting import COUNTED, counting, worker_on
from support.servers.programs import Program
from support.until import until
from twisted.internet import reactor
from twisted.internet.defer import Deferred, DeferredList, gatherResults
from twisted.internet.task import Clock

from crowdd.core.base import make_pool
from crowdd.core.rows import QueueItem
from crowdd.kernel.errors import (
    ConflictError,
    InvalidValueError,
    NotFoundError,
    StoppedError,
    TooManyRequestsError,
    UnavailableError,
)
from crowdd.kernel.requester import SYSTEM, Requester
from crowdd.sched import queue
from crowdd.sched.feature import Scheduling
from crowdd.sched.job import Handler
from crowdd.sched.queue import Outcome, after_error, pace, pause
from crowdd.sched.queue_worker import Worker, handlers
from crowdd.sched.rows import QueueFilter

TESTS = Path(__file__).parents[1]


@attrs.frozen
class Bench:
    """A queue, and workers on it."""

    house: Any
    pool: Any

    def worker(self, work: Handler, *, clock: Any = reactor, size: int = 1, **more: Any) -> Worker:
        return worker_on(self.house, work, clock=clock, size=size, **more)

    async def work_off(self, work: Handler, **more: Any) -> None:
        """Does what is due, until nothing is."""
        worker = self.worker(work, **more)
        while begun := await worker.take():
            await DeferredList(begun)

    async def add(self, who: Requester = SYSTEM, project_id: int | None = None, **arguments: Any) -> int:
        return await self.house[Scheduling].queue.add(
            self.house.base.db, "count", {"to": 3, **arguments}, who, project_id
        )

    async def item(self, item_id: int, who: Requester = SYSTEM) -> Any:
        return await self.house[Scheduling].queue.get(who, item_id)

    async def counted(self) -> list[tuple[int, int]]:
        rows = await self.pool.fetch(COUNTED)
        return [(row["n"], row["attempt"]) for row in rows]

    async def pass_time(self, **more: float) -> None:
        await self.pool.execute("UPDATE clock_shift SET ahead = ahead + %(by)s", {"by": timedelta(**more)})

    async def person(self, name: str) -> Requester:
        rows = await self.pool.fetch(
            "INSERT INTO account (created, name, fullname, email_addr, api_key_hash, api_key_encrypted)"
            " VALUES (clock(), %(n)s, %(n)s, %(n)s, %(n)s::text::bytea, '') RETURNING id",
            {"n": name},
        )
        return Requester(user_id=rows[0]["id"], user_name=name)


@pytest.fixture
def bench(house, pool):
    return Bench(house, pool)


def raising(*errors: Exception) -> Any:
    """Something to await that raises these, one at each call, and then nothing."""
    left = [*errors]

    async def stopped() -> None:
        if left:
            raise left.pop(0)

    return stopped


@pytest_twisted.ensureDeferred
async def test_work_is_done_and_says_so(bench):
    item_id = await bench.add()
    await bench.work_off(counting())
    item = await bench.item(item_id)
    assert await bench.counted() == [(0, 1), (1, 1), (2, 1)]
    assert (item["state"], item["done"], item["total"], item["attempt"]) == ("done", 3, 3, 1)
    assert item["result"] == {"counted": 3} and item["error"] == "" and item["ended"]


@pytest_twisted.ensureDeferred
async def test_work_is_seen_only_once_its_transaction_is_committed(bench):
    class UndoneError(Exception):
        pass

    async def work(tx: Any) -> None:
        await bench.house[Scheduling].queue.add(tx, "count", {"to": 1}, SYSTEM)
        raise UndoneError

    with pytest.raises(UndoneError):
        await bench.house.base.db.transaction(work)
    await bench.work_off(counting())
    assert await bench.counted() == []


@pytest_twisted.ensureDeferred
async def test_each_item_goes_to_one_of_many_workers(bench):
    items = [await bench.add(to=1) for _ in range(12)]
    workers = [bench.worker(counting(), size=3) for _ in range(4)]
    for _ in range(3):
        begun = await gatherResults([Deferred.fromCoroutine(worker.take()) for worker in workers])
        await DeferredList([one for some in begun for one in some])
    assert await bench.counted() == [(0, 1)] * 12
    assert {(await bench.item(one))["state"] for one in items} == {"done"}


@pytest_twisted.ensureDeferred
async def test_a_failure_is_retried_later_from_the_checkpoint(bench):
    item_id = await bench.add()
    work = counting(1, raising(UnavailableError("The disk is away.")))
    await bench.work_off(work)
    item = await bench.item(item_id)
    assert (item["state"], item["done"], item["error"]) == ("waiting", 1, "The disk is away.")
    await bench.work_off(work)
    assert (await bench.item(item_id))["attempt"] == 1, "not before its time"
    await bench.pass_time(seconds=queue.FIRST_PAUSE)
    await bench.work_off(work)
    assert await bench.counted() == [(0, 1), (1, 2), (2, 2)]
    assert (await bench.item(item_id))["state"] == "done"


@pytest_twisted.ensureDeferred
async def test_work_that_gets_nowhere_ends_dead_with_its_error_and_can_be_retried(bench):
    item_id = await bench.add()
    work = counting(1, raising(*[RuntimeError("secret words")] * 3), max_attempts=3)
    for _ in range(3):
        await bench.work_off(work)
        await bench.pass_time(hours=1)
    item = await bench.item(item_id)
    assert (item["state"], item["attempt"], item["done"]) == ("dead", 3, 1)
    assert item["error"] == "RuntimeError. See the server's log."
    await bench.work_off(work)
    assert (await bench.item(item_id))["state"] == "dead"
    await bench.house[Scheduling].queue.retry(SYSTEM, item_id)
    await bench.work_off(work)
    assert (await bench.item(item_id))["state"] == "done"
    assert await bench.counted() == [(0, 1), (1, 4), (2, 4)]


@pytest_twisted.ensureDeferred
async def test_getting_further_forgives_failures(bench):
    item_id = await bench.add(to=4)

    async def run(house: Any, item: Any) -> None:
        await item.progress(item.done + 1, 4)
        if item.done < 4:
            raise RuntimeError

    for _ in range(4):
        await bench.work_off(Handler("count", run, max_attempts=2))
        await bench.pass_time(hours=1)
    assert (await bench.item(item_id))["state"] == "done"


@pytest_twisted.ensureDeferred
async def test_a_way_gone_before_forgives_nothing(bench):
    item_id = await bench.add()

    async def run(house: Any, item: Any) -> None:
        await item.progress(0, 4)
        await item.progress(1, 4)
        raise RuntimeError

    for _ in range(4):
        await bench.work_off(Handler("count", run, max_attempts=3))
        await bench.pass_time(hours=1)
    item = await bench.item(item_id)
    assert (item["state"], item["attempt"]) == ("dead", 3)


@pytest_twisted.ensureDeferred
async def test_a_refusal_is_not_repeated(bench):
    item_id = await bench.add()
    await bench.work_off(counting(0, raising(InvalidValueError("Line 3 is no task."))))
    item = await bench.item(item_id)
    assert (item["state"], item["error"]) == ("dead", "Line 3 is no task.")


@shows("queue-cancel")
@pytest_twisted.ensureDeferred
async def test_waiting_work_is_cancelled_at_once(bench):
    item_id = await bench.add()
    assert (await bench.house[Scheduling].queue.cancel(SYSTEM, item_id))["state"] == "cancelled"
    await bench.work_off(counting())
    assert await bench.counted() == []
    with pytest.raises(ConflictError):
        await bench.house[Scheduling].queue.cancel(SYSTEM, item_id)


@shows("queue-cancel")
@pytest_twisted.ensureDeferred
async def test_running_work_is_cancelled_at_its_next_step_and_that_step_is_undone(bench):
    item_id = await bench.add()

    async def cancelled() -> None:
        item = await bench.house[Scheduling].queue.cancel(SYSTEM, item_id)
        assert (item["state"], item["cancelling"]) == ("running", True)

    await bench.work_off(counting(1, cancelled))
    assert (await bench.item(item_id))["state"] == "cancelled"
    assert await bench.counted() == [(0, 1)]


@pytest_twisted.ensureDeferred
async def test_whoever_lost_an_item_changes_nothing_any_more(bench):
    item_id = await bench.add()

    async def overtaken() -> None:
        await bench.pass_time(seconds=61)
        await bench.work_off(counting())

    await bench.work_off(counting(1, overtaken))
    assert await bench.counted() == [(0, 1), (1, 2), (2, 2)]
    assert (await bench.item(item_id))["attempt"] == 2


@pytest_twisted.ensureDeferred
async def test_whoever_lost_an_item_is_told_while_the_next_is_at_it(bench):
    item_id = await bench.add()
    first = await bench.house[Scheduling].queue.claim(["count"])
    await bench.pass_time(seconds=61)
    second = await bench.house[Scheduling].queue.claim(["count"])
    with pytest.raises(StoppedError) as stopped:
        await first.progress(2, 3, "mine")
    assert stopped.value.reason == "lost"
    assert not await first.heartbeat()
    for ending in (Outcome("done"), Outcome("waiting", "Away.", 10, failed=True)):
        assert not await bench.house[Scheduling].queue.record_outcome(first, ending)
    await second.progress(1, 3)
    assert await second.heartbeat() and await bench.house[Scheduling].queue.record_outcome(second, Outcome("done"))
    item = await bench.item(item_id)
    assert (item["state"], item["done"], item["error"]) == ("done", 3, "")


@pytest_twisted.ensureDeferred
async def test_work_of_a_killed_process_goes_on_in_another(bench, settings):
    item_id = await bench.add(to=5)
    command = [sys.executable, "-m", "support.servers.counting", settings.db.dsn, "3"]
    killed = Program(command, env={**os.environ, "PYTHONPATH": str(TESTS)}, cwd=TESTS.parent)
    killed.read_until("in the middle")
    await bench.work_off(counting())
    assert (await bench.item(item_id))["attempt"] == 1, "nobody takes it from a living process"
    killed.process.kill()
    killed.end()
    await bench.work_off(counting())
    assert (await bench.item(item_id))["attempt"] == 1, "nor before it counts as lost"
    await bench.pass_time(seconds=61)
    await bench.work_off(counting())
    assert await bench.counted() == [(0, 1), (1, 1), (2, 1), (3, 2), (4, 2)]
    assert (await bench.item(item_id))["state"] == "done"


@pytest_twisted.ensureDeferred
async def test_work_goes_on_at_once_when_the_lock_of_its_killed_process_is_free(bench, settings):
    item_id = await bench.add(to=5)
    command = [sys.executable, "-m", "support.servers.counting", settings.db.dsn, "3", "presence"]
    killed = Program(command, env={**os.environ, "PYTHONPATH": str(TESTS)}, cwd=TESTS.parent)
    killed.read_until("in the middle")
    session = make_pool(reactor, settings, size=1)
    await session.start()
    await bench.work_off(counting(), session=session)
    assert (await bench.item(item_id))["attempt"] == 1, "nobody takes it from a living process"
    killed.process.kill()
    killed.end()
    while (await bench.item(item_id))["attempt"] == 1:  # PostgreSQL notices the death of a session by itself
        await bench.work_off(counting(), session=session)
    assert await bench.counted() == [(0, 1), (1, 1), (2, 1), (3, 2), (4, 2)]
    assert (await bench.item(item_id))["state"] == "done"
    await session.close()


@pytest_twisted.ensureDeferred
async def test_of_many_workers_one_takes_over_and_who_lost_its_lock_changes_nothing(bench, settings):
    item_id, sessions = await bench.add(), [make_pool(reactor, settings, size=1) for _ in range(5)]
    await gatherResults([session.start() for session in sessions])

    async def overtaken() -> None:
        sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = %(pid)s"
        pid = (await sessions[0].fetch("SELECT pg_backend_pid() AS pid"))[0]["pid"]
        await bench.pool.fetch(sql, {"pid": pid})
        others = [bench.worker(counting(), session=session) for session in sessions[1:]]
        begun: list[Any] = []
        while not begun:  # the lock goes with the session, a moment after it was ended
            takes = await gatherResults([Deferred.fromCoroutine(worker.take()) for worker in others])
            begun = [one for some in takes for one in some]
        await DeferredList(begun)

    await bench.work_off(counting(1, overtaken), session=sessions[0])
    assert await bench.counted() == [(0, 1), (1, 2), (2, 2)]
    assert (await bench.item(item_id))["attempt"] == 2
    await gatherResults([session.close() for session in sessions])


@pytest_twisted.ensureDeferred
async def test_work_that_kills_its_process_each_time_ends_dead(bench):
    item_id = await bench.add()
    for _ in range(9):
        assert await bench.house[Scheduling].queue.claim(["count"])
        await bench.pass_time(seconds=61)
    await bench.work_off(counting())
    item = await bench.item(item_id)
    assert item["state"] == "dead" and "process" in item["error"]
    assert await bench.counted() == []


@pytest_twisted.ensureDeferred
async def test_silent_work_is_kept_alive_by_its_process_and_then_broken_off(bench):
    item_id, clock, reached = await bench.add(), Clock(), Deferred()

    async def silent(house: Any, item: Any) -> None:
        reached.callback(None)
        await Deferred()

    worker = bench.worker(Handler("count", silent, stall_seconds=300), clock=clock)
    (settled,) = await worker.take()
    await reached
    beaten = f"SELECT FROM queue_item WHERE id = {item_id} AND due > clock() + interval '30 seconds'"
    for _ in range(3):
        await bench.pass_time(seconds=50)
        clock.pump([15] * 4)
        # The beats are statements on the way; this one is answered after them or not at all.
        await until(lambda: bench.pool.fetch(beaten))
        assert await bench.house[Scheduling].queue.claim(["count"]) is None
    clock.advance(300)
    await settled
    item = await bench.item(item_id)
    assert (item["state"], item["error"]) == ("waiting", "No progress for 300 seconds.")


@pytest_twisted.ensureDeferred
async def test_a_server_that_ends_gives_its_work_back(bench):
    item_id, reached, gate = await bench.add(), Deferred(), Deferred()

    def slow() -> Deferred[None]:
        reactor.callLater(0, reached.callback, None)  # by itself, as a signal comes: statements may be answered at once
        return gate

    worker = bench.worker(counting(1, slow))
    worker.startService()
    await reached
    stopped = worker.stopService()
    gate.callback(None)
    await stopped
    assert (await bench.item(item_id))["state"] == "waiting"
    await bench.work_off(counting())
    assert await bench.counted() == [(0, 1), (1, 2), (2, 2)]
    assert (await bench.item(item_id))["error"] == ""


@pytest_twisted.ensureDeferred
async def test_a_server_that_ends_does_not_wait_for_ever(bench):
    item_id, reached = await bench.add(), Deferred()

    async def stuck(house: Any, item: Any) -> None:
        reactor.callLater(0, reached.callback, None)
        await Deferred()

    worker = bench.worker(Handler("count", stuck), patience=0.01)
    worker.startService()
    await reached
    await worker.stopService()
    item = await bench.item(item_id)
    assert (item["state"], item["error"]) == ("waiting", "")
    await bench.work_off(counting())
    assert (await bench.item(item_id))["state"] == "done"


@pytest_twisted.ensureDeferred
async def test_work_that_this_server_does_not_know_waits_for_one_that_does(bench):
    item_id = await bench.add()
    await bench.work_off(Handler("other", counting().run))
    assert (await bench.item(item_id))["state"] == "waiting"
    assert await bench.house[Scheduling].queue.dead_letter_unknown(["other"], 24) == 0
    await bench.pass_time(hours=25)
    assert await bench.house[Scheduling].queue.dead_letter_unknown(["count"], 24) == 0
    assert await bench.house[Scheduling].queue.dead_letter_unknown(["other"], 24) == 1
    assert (await bench.item(item_id))["state"] == "dead"


@pytest.mark.parametrize("failed", [True, False])
@pytest_twisted.ensureDeferred
async def test_nothing_begins_beside_work_that_failed(failed, bench):
    """It may have killed its process, and would take with it what runs beside it."""
    first = await bench.add(to=1)
    if failed:
        await bench.work_off(counting(0, raising(UnavailableError("The disk is away."))))
        await bench.pass_time(seconds=queue.FIRST_PAUSE)
    second = await bench.add(to=1)
    go_on = Deferred()
    worker = bench.worker(counting(0, lambda: go_on), size=3)
    begun = await worker.take()
    assert [item.id for item in worker._active] == ([first] if failed else [first, second])
    assert await worker.take() == []
    go_on.callback(None)
    await DeferredList(begun)
    await DeferredList(await worker.take())
    assert {(await bench.item(one))["state"] for one in (first, second)} == {"done"}


@pytest_twisted.ensureDeferred
async def test_who_has_less_under_way_comes_first(bench):
    ada, bob = await bench.person("ada"), await bench.person("bob")
    first, second = await bench.add(ada), await bench.add(ada)
    bobs = await bench.add(bob)
    claimed = [(await bench.house[Scheduling].queue.claim(["count"])).id for _ in range(3)]
    assert claimed == [first, bobs, second]


@shows("queue-full")
@pytest_twisted.ensureDeferred
async def test_nobody_fills_the_queue(bench, monkeypatch):
    monkeypatch.setattr(queue, "MAX_UNFINISHED", 2)
    ada, bob = await bench.person("ada"), await bench.person("bob")
    item_id = await bench.add(ada)
    await bench.add(ada)
    with pytest.raises(TooManyRequestsError):
        await bench.add(ada)
    await bench.add(bob)
    await bench.house[Scheduling].queue.cancel(ada, item_id)
    await bench.add(ada)


@shows("queue-list")
@pytest_twisted.ensureDeferred
async def test_items_are_their_owners_and_their_projects_owners(bench):
    ada, bob, eve = [await bench.person(name) for name in ("ada", "bob", "eve")]
    rows = await bench.pool.fetch(
        "INSERT INTO project (created, updated, name, short_name, secret_key_encrypted, owner_id, owners_ids, category_id)"
        " SELECT clock(), clock(), 'p', 'p', '', %(bob)s, ARRAY[%(bob)s::bigint], min(id) FROM category RETURNING id",
        {"bob": bob.user_id},
    )
    item_id = await bench.add(ada, rows[0]["id"])
    for who in (ada, bob):
        assert [one["id"] for one in await bench.house[Scheduling].queue.list(who, QueueFilter())] == [item_id]
        assert (await bench.item(item_id, who))["user_id"] == ada.user_id
    assert await bench.house[Scheduling].queue.list(eve, QueueFilter(everybodys=True)) == []
    for refused in (bench.item(item_id, eve), bench.house[Scheduling].queue.cancel(eve, item_id)):
        with pytest.raises(NotFoundError):
            await refused
    assert (await bench.house[Scheduling].queue.cancel(bob, item_id))["state"] == "cancelled"


@pytest_twisted.ensureDeferred
async def test_work_has_the_rights_that_are_left(bench):
    ada = attrs.evolve(await bench.person("ada"), admin=True)
    seen = []

    async def look(house: Any, item: Any) -> None:
        seen.append((item.who.user_name, item.who.acting_admin, item.who.via))

    for admin in (True, False):
        await bench.pool.execute("UPDATE account SET admin = %(admin)s", {"admin": admin})
        await bench.add(ada)
        await bench.work_off(Handler("count", look))
    await bench.add(SYSTEM)
    await bench.work_off(Handler("count", look))
    assert seen == [("ada", True, "job"), ("ada", False, "job"), ("", True, "job")]
    await bench.pool.execute('UPDATE account SET "restrict" = true')
    blocked = await bench.add(ada)
    await bench.work_off(Handler("count", look))
    assert len(seen) == 3 and (await bench.item(blocked))["state"] == "cancelled"


@pytest_twisted.ensureDeferred
async def test_no_transaction_stays_open_while_work_runs(bench):
    """A long one would hold back what the ledger's volunteers may pass."""
    await bench.add()

    async def look(house: Any, item: Any) -> None:
        sql = "SELECT count(*) AS n FROM pg_stat_activity WHERE backend_xid IS NOT NULL AND pid <> pg_backend_pid()"
        assert (await bench.pool.fetch(sql + " AND datname = current_database()"))[0]["n"] == 0
        await item.progress(1)

    await bench.work_off(Handler("count", look))
    assert (await bench.house[Scheduling].queue.list(SYSTEM, QueueFilter(everybodys=True)))[0]["state"] == "done"


START = datetime(2024, 5, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("done", "total", "rate", "eta"),
    [(30, 100, 2.0, 35.0), (30, None, 2.0, None), (10, 100, None, None), (130, 100, 12.0, 0.0)],
)
def test_pace(done, total, rate, eta):
    nothing = dict.fromkeys(attrs.fields_dict(QueueItem))
    times = {"began": START, "progressed": START + timedelta(seconds=10)}
    item = QueueItem(**nothing | times | {"state": "running", "done_before": 10, "done": done, "total": total})
    progress = pace(item)
    assert (progress.rate, progress.eta) == (rate, eta)
    assert pace(attrs.evolve(item, state="waiting")).rate is None


def test_pauses_grow_up_to_an_hour():
    assert [pause(n) for n in (0, 1, 2, 20, 2000)] == [10.0, 30.0, 90.0, 3600.0, 3600.0]


def test_what_becomes_of_errors():
    assert after_error(StoppedError("cancelled"), 0, 8) == Outcome("cancelled")
    assert after_error(StoppedError("ending"), 7, 8) == Outcome("waiting")
    assert after_error(UnavailableError("Away."), 0, 8) == Outcome("waiting", "Away.", 10.0, failed=True)
    assert after_error(UnavailableError("Away."), 7, 8).state == "dead"
    assert after_error(NotFoundError("Gone."), 0, 8) == Outcome("dead", "Gone.")


def test_every_work_is_found_by_its_name():
    assert all(name == work.name and work.max_attempts > 0 for name, work in handlers().items())


def test_every_handler_says_in_words_what_it_does() -> None:
    titles = [handler.title for handler in handlers().values()]
    notes = [handler.note for handler in handlers().values()]
    assert all(titles) and len({*titles}) == len(titles)
    assert all(note.endswith(".") for note in notes) and len({*notes}) == len(notes)
