"""Numbers of events: after the commit, without gaps, once; and project_completed once per completion."""

from __future__ import annotations

from typing import Any

import attrs
import pytest
import pytest_twisted
from support.checks.shows import shows
from support.ledger import Ledger, Meanwhile
from twisted.internet import reactor
from twisted.internet.defer import DeferredQueue
from twisted.internet.task import Clock

from crowdd.core.base import make_pool
from crowdd.core.change_notifier import ChangeNotifier
from crowdd.sched import event_statements
from crowdd.sched.sequencer import LOOK, LOOKS_PER_CENSUS, SOON, Sequencer

EVENTS = "SELECT seq, kind, task_id FROM event WHERE project_id = %(p)s ORDER BY seq NULLS LAST, id"


@pytest.fixture
def ledger(dsn: str) -> Any:
    made = Ledger(dsn)
    yield made
    made.close()


@pytest.fixture
def beside(dsn: str) -> Any:
    """Further sessions, each with a transaction that lasts until ``commit``."""
    made: list[Ledger] = []

    def another() -> Ledger:
        made.append(Ledger(dsn, autocommit=False))
        return made[-1]

    yield another
    for session in made:
        session.close()


def number(ledger: Ledger, project: int) -> int:
    return int(ledger.value("SELECT number_events(%(p)s, clock())", p=project))


def kinds(ledger: Ledger, project: int) -> list[tuple[int | None, str]]:
    return [(row["seq"], row["kind"]) for row in ledger.rows(EVENTS, p=project)]


def finish(ledger: Ledger, project: int, actor: str) -> int:
    """One volunteer's answer to the next task of a project with one answer per task."""
    task = ledger.ask(project, actor).tasks[0]
    assert ledger.answer(project, actor, task).state == "counted"
    return task


@shows("event-transaction")
def test_numbers_come_after_the_commit_without_gaps_in_the_order_of_each_task(ledger, beside):
    project = ledger.project(3, n=1)
    slow, quick, undone = beside(), beside(), beside()
    first = finish(slow, project, "c:slow")  # draws its event's id first and commits last
    finish(quick, project, "c:quick")
    finish(undone, project, "c:undone")
    undone.connection.rollback()
    quick.commit()
    assert number(ledger, project) == 1
    assert kinds(ledger, project) == [(1, "task_completed")]
    slow.commit()
    assert number(ledger, project) == 1
    assert [row["task_id"] for row in ledger.rows(EVENTS, p=project)][1] == first
    assert number(ledger, project) == 0
    assert ledger.value("SELECT last_seq FROM event_sequence WHERE project_id = %(p)s", p=project) == 2


def test_two_who_number_at_once_give_each_event_one_number(ledger, beside):
    project = ledger.project(3, n=1)
    first = finish(ledger, project, "c:a")
    assert number(ledger, project) == 1
    slow, one, two = beside(), beside(), beside()
    late = finish(slow, project, "c:slow")  # its event's id is the lower one
    early = finish(ledger, project, "c:b")
    assert number(one, project) == 1
    slow.commit()
    waiting = Meanwhile(number, two, project)
    ledger.wait_until_blocked(two)
    one.commit()
    assert waiting.result() == 2  # the late one, and with it the project
    two.commit()
    rows = ledger.rows(EVENTS, p=project)
    assert [(row["seq"], row["task_id"]) for row in rows] == [(1, first), (2, early), (3, late), (4, None)]


def test_other_projects_do_not_wait(ledger, beside):
    busy, other = ledger.project(2, n=1), ledger.project(2, n=1)
    finish(ledger, busy, "c:a")
    finish(ledger, other, "c:a")
    assert number(beside(), busy) == 1
    assert number(ledger, other) == 1


@shows("event-kinds")
def test_project_completed_comes_once_per_completion(ledger):
    project = ledger.project(2, n=1)
    finish(ledger, project, "c:a")
    number(ledger, project)
    finish(ledger, project, "c:a")
    assert number(ledger, project) == 2
    assert number(ledger, project) == 0
    ledger.add(project, [0.0], 1)
    assert number(ledger, project) == 0
    finish(ledger, project, "c:a")
    assert number(ledger, project) == 2
    ledger.set_n(project, ledger.tasks(project)[:1], 2)
    assert number(ledger, project) == 0
    finish(ledger, project, "c:b")
    number(ledger, project)
    completed, *_ = zip(*[row for row in kinds(ledger, project) if row[1] == "project_completed"], strict=True)
    assert completed == (3, 5, 7)
    assert [seq for seq, _ in kinds(ledger, project)] == [1, 2, 3, 4, 5, 6, 7]


def test_the_last_two_tasks_completed_between_two_looks_complete_the_project_once(ledger, beside):
    """The second is not yet committed when the events of the first are numbered."""
    project = ledger.project(2, n=1)
    late = beside()
    finish(late, project, "c:late")
    finish(ledger, project, "c:early")
    assert number(ledger, project) == 1
    late.commit()
    assert number(ledger, project) == 2
    assert [kind for _, kind in kinds(ledger, project)] == ["task_completed", "task_completed", "project_completed"]


def test_a_task_added_and_completed_between_two_looks_completes_the_project_again(ledger):
    project = ledger.project(1, n=1)
    finish(ledger, project, "c:a")
    assert number(ledger, project) == 2
    ledger.add(project, [0.0], 1)
    finish(ledger, project, "c:a")
    assert number(ledger, project) == 2
    assert [kind for _, kind in kinds(ledger, project)] == ["task_completed", "project_completed"] * 2


def test_an_event_that_completes_nothing_does_not_complete_the_project_again(ledger):
    project = ledger.project(1, n=1)
    finish(ledger, project, "c:a")
    assert number(ledger, project) == 2
    ledger.run("INSERT INTO event (project_id, kind, at) VALUES (%(p)s, 'something_else', clock())", p=project)
    assert number(ledger, project) == 1


@shows("event-draft")
def test_drafts_complete_silently(ledger):
    project = ledger.project(1, n=1, published=False)
    ledger.answer(project, "c:a", ledger.ask(project, "c:a").tasks[0])
    assert number(ledger, project) == 0
    assert ledger.publish(project)
    assert number(ledger, project) == 0
    finish(ledger, project, "c:a")
    assert number(ledger, project) == 2


def test_a_deleted_project_leaves_nothing(ledger):
    project = ledger.project(1, n=1)
    finish(ledger, project, "c:a")
    number(ledger, project)
    assert ledger.value("SELECT delete_project(%(p)s)", p=project)
    assert number(ledger, project) == 0
    assert ledger.rows("SELECT FROM event WHERE project_id = %(p)s", p=project) == []


@pytest_twisted.ensureDeferred
async def test_the_log_is_read_from_a_number(ledger, pool):
    project = ledger.project(3, n=1)
    tasks = [finish(ledger, project, "u:7") for _ in range(3)]
    number(ledger, project)
    read = await event_statements.list_events_after(pool, project, 1, 2)
    assert [(row["seq"], row["task_id"]) for row in read] == [(2, tasks[1]), (3, tasks[2])]
    assert await event_statements.find_last_seq(pool, project) == 4
    assert await event_statements.find_last_seq(pool, project + 1) == 0


class Sequenced:
    """A sequencer on a clock that stands still until it is moved, and what it notified."""

    def __init__(self, pool: Any) -> None:
        self.clock, self.told = Clock(), list[int]()
        self.change_notifier = ChangeNotifier(self.clock)
        self.sequencer = Sequencer(self.clock, pool, self.change_notifier)
        self.change_notifier.listen(self.told.append)

    async def wait(self, seconds: float) -> None:
        """Moves the clock; then all that this set off has ended."""
        self.clock.advance(seconds)
        if self.sequencer._turns._under_way is not None:
            await self.sequencer._turns._under_way
        self.clock.advance(0)


@pytest_twisted.ensureDeferred
async def test_the_bell_has_events_numbered_and_rings_again(ledger, pool):
    project = ledger.project(5, n=1)
    here = Sequenced(pool)
    here.sequencer.startService()
    await here.wait(0)
    finish(ledger, project, "c:a")
    finish(ledger, project, "c:b")
    here.change_notifier.notify(project)
    await here.wait(0)
    assert kinds(ledger, project) == [(None, "task_completed")] * 2
    await here.wait(SOON)
    assert kinds(ledger, project) == [(1, "task_completed"), (2, "task_completed")]
    assert here.told == [project, project]
    await here.wait(SOON)
    assert here.told == [project, project], "nothing new, nobody told"
    await here.sequencer.stopService()


@pytest_twisted.ensureDeferred
async def test_what_a_killed_process_left_is_found_without_a_ring(ledger, pool):
    project = ledger.project(5, n=1)
    here = Sequenced(pool)
    here.sequencer.startService()
    await here.wait(0)
    finish(ledger, project, "c:a")
    await here.wait(LOOK)
    assert (kinds(ledger, project), here.told) == ([(1, "task_completed")], [project])
    await here.sequencer.stopService()
    assert here.clock.getDelayedCalls() == []


@pytest_twisted.ensureDeferred
async def test_a_project_that_deletions_complete_is_found_by_the_census(ledger, pool):
    project = ledger.project(2, n=1)
    here = Sequenced(pool)
    here.sequencer.startService()
    done = finish(ledger, project, "c:a")
    await here.wait(0)
    rest = [task for task in ledger.tasks(project) if task != done]
    ledger.value("SELECT delete_tasks(%(p)s, %(t)s, clock())", p=project, t=rest)
    for _ in range(LOOKS_PER_CENSUS):
        await here.wait(LOOK)
    assert kinds(ledger, project) == [(1, "task_completed"), (2, "project_completed")]
    await here.sequencer.stopService()


@pytest_twisted.ensureDeferred
async def test_a_project_that_cannot_be_numbered_holds_up_no_other(ledger, beside, settings):
    busy, other = ledger.project(2, n=1), ledger.project(2, n=1)
    finish(ledger, busy, "c:a")
    finish(ledger, other, "c:a")
    number(beside(), busy)
    impatient = make_pool(reactor, attrs.evolve(settings, db=attrs.evolve(settings.db, pool_size=1)))
    await impatient.start()
    await impatient.execute("SET lock_timeout = '30ms'")
    here = Sequenced(impatient)
    here.sequencer.startService()
    await here.wait(0)
    assert (kinds(ledger, busy), here.told) == ([(None, "task_completed")], [other])
    await here.sequencer.stopService()
    await impatient.close()


@pytest_twisted.ensureDeferred
async def test_an_answer_over_the_web_is_numbered_soon(served):
    owner = await served.person("ada")
    project = await served.project(owner, tasks=1, n_answers=1, published=True)
    rings: DeferredQueue[int] = DeferredQueue()
    served.house.base.shared.change_notifier.listen(rings.put)
    client = served.client()
    task = (await client.get(f"/api/project/{project['id']}/newtask")).json()
    body = {"project_id": project["id"], "task_id": task["id"], "info": 1}
    assert (await client.post("/api/taskrun", json=body)).status == 200
    rows: list[Any] = []
    while not rows:  # it is notified when they are numbered, too
        assert await rings.get().addTimeout(60, reactor) == project["id"]
        rows = await event_statements.list_events_after(served.database, project["id"], 0, 10)
    assert [(row["seq"], row["kind"]) for row in rows] == [(1, "task_completed"), (2, "project_completed")]
