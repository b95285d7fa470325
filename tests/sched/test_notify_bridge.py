"""Notifications between processes: each process here has a pool, a notifier and a bridge of its own on one database."""

import attrs
import psycopg2
import pytest
import pytest_twisted
from support.until import until
from twisted.internet import reactor
from twisted.internet.defer import Deferred, ensureDeferred, succeed
from twisted.internet.task import Clock

from crowdd.core.base import make_pool
from crowdd.core.change_notifier import ANY, ChangeNotifier
from crowdd.kernel.errors import UnavailableError
from crowdd.sched.nodes import MAX_PROJECTS, MAX_WAITING, PAUSE, NotifyBridge, projects_in


class Process:
    """What a crowdd process has of it; ``callback`` is what its own listeners hear."""

    def __init__(self, settings):
        self.pool = make_pool(reactor, attrs.evolve(settings, db=attrs.evolve(settings.db, pool_size=1)))
        self.change_notifier, self.heard = ChangeNotifier(reactor), []
        self.change_notifier.listen(self.heard.append)
        self.notices = NotifyBridge(reactor, self.pool, self.change_notifier)

    async def start(self):
        await self.pool.start()
        self.notices.startService()
        await self.notices.listening

    async def stop(self):
        await self.notices.stopService()
        await self.pool.close()


@pytest.fixture
def processes(settings):
    """Starts one: ``await processes()``."""
    made = []

    async def start():
        made.append(Process(settings))
        await made[-1].start()
        return made[-1]

    yield start
    for process in made:
        pytest_twisted.blockon(ensureDeferred(process.stop()))


# Not of PostgreSQL itself, whose vacuum only a superuser may end.
_OTHERS = (
    "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    " AND backend_type = 'client backend'"
)


def sessions(dsn):
    """The process ids of all sessions on the database."""
    with psycopg2.connect(dsn) as connection, connection.cursor() as cursor:
        cursor.execute(f"SELECT pid {_OTHERS}")
        pids = [pid for (pid,) in cursor.fetchall()]
    connection.close()
    return pids


def end_sessions(dsn, but=()):
    """Ends every other session on the database, as a restart of PostgreSQL does, save those."""
    with psycopg2.connect(dsn) as connection, connection.cursor() as cursor:
        cursor.execute(f"SELECT pg_terminate_backend(pid) {_OTHERS} AND pid <> ALL (%s)", [list(but)])
    connection.close()


@pytest_twisted.ensureDeferred
async def test_a_ring_is_heard_in_every_process_once(processes):
    here, other = await processes(), await processes()
    for project_id in (1, 2, 1):
        here.change_notifier.notify(project_id)
    await until(lambda: len(other.heard) == 2)
    other.change_notifier.notify(3)
    await until(lambda: 3 in here.heard)
    assert (here.heard, other.heard) == ([1, 2, 3], [1, 2, 3])  # nothing comes back to where it was notified


@pytest_twisted.ensureDeferred
async def test_after_a_lost_connection_everybody_looks_once(processes, dsn):
    here, other = await processes(), await processes()
    end_sessions(dsn)
    await until(lambda: ANY in other.heard and ANY in here.heard)


@pytest_twisted.ensureDeferred
async def test_what_was_rung_while_the_connection_was_lost_is_told_afterwards(processes, dsn):
    other = await processes()
    theirs = sessions(dsn)
    here = await processes()
    end_sessions(dsn, but=theirs)
    here.change_notifier.notify(5)
    await until(lambda: other.heard == [5] and here.heard == [5, ANY])


@pytest_twisted.ensureDeferred
async def test_what_was_rung_last_is_still_told(processes):
    other = await processes()
    here = await processes()
    here.change_notifier.notify(9)
    await here.notices.stopService()
    await until(lambda: other.heard == [9])


@pytest_twisted.ensureDeferred
async def test_a_server_that_runs_hears_what_the_command_line_does(served, dsn):
    heard = []
    served.house.base.shared.change_notifier.listen(heard.append)
    with psycopg2.connect(dsn) as connection, connection.cursor() as cursor:
        cursor.execute("NOTIFY changes, 'somebody 4,x,,-1,6'")
    connection.close()
    await until(lambda: heard == [4, 6])


class Wire:
    """Keeps what was sent; refuses while ``down``."""

    def __init__(self):
        self.sent, self.down, self.on_the_way = [], False, succeed(None)

    def add_observer(self, observer):
        pass

    async def listen(self, channel):
        pass

    async def notify(self, channel, payload):
        if self.down:
            raise UnavailableError("down")
        assert len(payload) < 8000
        self.sent.append(projects_in(payload.partition(" ")[2]))
        await self.on_the_way


@pytest.fixture
def played():
    """(clock, connection, notifier) of a bridge that runs."""
    clock, wire = Clock(), Wire()
    change_notifier = ChangeNotifier(clock)
    NotifyBridge(clock, wire, change_notifier).startService()
    return clock, wire, change_notifier


def notify(clock, change_notifier, projects):
    for project_id in projects:
        change_notifier.notify(project_id)
    clock.advance(0)
    clock.advance(0)


def test_the_first_ring_goes_at_once_and_later_ones_at_most_ten_times_a_second(played):
    clock, wire, change_notifier = played
    notify(clock, change_notifier, [1])
    assert wire.sent == [[1]]
    for step in range(200):  # two seconds, notified every 10 ms
        notify(clock, change_notifier, [step % 3])
        clock.advance(0.01)
    assert 18 <= len(wire.sent) <= 22
    clock.advance(PAUSE)
    clock.advance(PAUSE)
    before = len(wire.sent)
    clock.advance(10)
    assert len(wire.sent) == before  # a notifier that is still costs nothing


def test_many_projects_are_told_in_parts_and_too_many_as_any(played):
    clock, wire, change_notifier = played
    notify(clock, change_notifier, range(10**18, 10**18 + 2 * MAX_PROJECTS))
    clock.advance(PAUSE)
    assert [len(sent) for sent in wire.sent] == [MAX_PROJECTS, MAX_PROJECTS]
    clock.advance(PAUSE)
    wire.down = True
    notify(clock, change_notifier, range(1, MAX_WAITING + 2))
    wire.down = False
    clock.advance(PAUSE)
    assert wire.sent[2] == [ANY]


def test_what_is_rung_while_its_notice_is_on_its_way_is_told_again(played):
    clock, wire, change_notifier = played
    wire.on_the_way = Deferred()
    notify(clock, change_notifier, [1])
    notify(clock, change_notifier, [1])
    wire.on_the_way.callback(None)
    clock.advance(PAUSE)
    assert wire.sent == [[1], [1]]


def test_what_could_not_be_sent_is_sent_later(played):
    clock, wire, change_notifier = played
    wire.down = True
    notify(clock, change_notifier, [1, 2])
    clock.advance(PAUSE)
    assert wire.sent == []
    wire.down = False
    clock.advance(PAUSE)
    assert wire.sent == [[1, 2]]
