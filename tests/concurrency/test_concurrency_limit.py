"""Turns for lists that may read a large part of a table."""

from __future__ import annotations

from typing import Any

import pytest
import pytest_twisted
from support.checks.shows import shows
from twisted.internet import reactor
from twisted.internet.defer import CancelledError, Deferred, ensureDeferred
from twisted.internet.task import Clock, deferLater

from crowdd.core.records import listing_statements
from crowdd.http import queries
from crowdd.kernel.concurrency.throttling import MAX_WAITING, MAX_WAITING_OF_ONE, Turns
from crowdd.kernel.errors import UnavailableError
from crowdd.kernel.requester import Requester
from crowdd.kinds import KINDS


class Work:
    """Calls that run until they are told to end."""

    def __init__(self, turns: Turns) -> None:
        self._turns, self.running = turns, {}
        self.results: dict[str, Any] = {}

    def begin(self, name: str, key: str) -> Deferred[Any]:
        async def work() -> str:
            self.running[name] = Deferred()
            await self.running[name]
            return name

        return ensureDeferred(self._turns.run(key, work)).addBoth(lambda result: self.results.update({name: result}))

    def end(self, name: str) -> None:
        self.running.pop(name).callback(None)


@shows("limit-searches")
def test_two_run_at_a_time_and_one_of_each_network():
    work = Work(Turns(Clock(), 2, 3.0))
    for name, key in (("a1", "a"), ("a2", "a"), ("b1", "b"), ("c1", "c")):
        work.begin(name, key)
    assert list(work.running) == ["a1", "b1"]
    work.end("b1")
    assert list(work.running) == ["a1", "c1"], "a2 waits for its own network"
    work.end("a1")
    assert list(work.running) == ["c1", "a2"]
    for name in ("c1", "a2"):
        work.end(name)
    assert work.results == {name: name for name in ("a1", "a2", "b1", "c1")}


def test_calls_that_end_as_soon_as_they_begin_pass_the_turn_on():
    turns, ran = Turns(Clock(), 1, 3.0, max_waiting_of_one=90), []
    work = Work(turns)

    async def at_once(number: int) -> None:
        ran.append(number)

    work.begin("first", "a")
    waiting = [
        ensureDeferred(turns.run("ab"[number % 2], lambda number=number: at_once(number))) for number in range(90)
    ]
    work.end("first")
    assert (ran, [each.result for each in waiting]) == (list(range(90)), [None] * 90)


@shows("error-database")
def test_turn_that_does_not_come_in_time_is_refused():
    clock = Clock()
    work = Work(Turns(clock, 1, 3.0))
    work.begin("first", "a")
    for number in range(MAX_WAITING_OF_ONE + 1):
        work.begin(f"{number}", "b")
    refused = work.results.pop(f"{MAX_WAITING_OF_ONE}")
    assert refused.check(UnavailableError) and not work.results, "one network has so many places"
    clock.advance(3.1)
    assert all(one.check(UnavailableError) for one in work.results.values()) and len(work.results) == MAX_WAITING_OF_ONE
    work.end("first")
    work.begin("again", "b")
    assert list(work.running) == ["again"]


def test_turn_rests_for_a_share_of_the_time_that_it_took():
    clock = Clock()
    work = Work(Turns(clock, 1, 30.0, rest=0.5))
    work.begin("first", "a")
    work.begin("second", "b")
    clock.advance(4)
    work.end("first")
    assert work.results == {"first": "first"} and not work.running, "the caller does not wait for the rest"
    clock.advance(1.9)
    assert not work.running
    clock.advance(0.2)
    assert list(work.running) == ["second"]


@shows("limit-searches")
@pytest.mark.parametrize(
    ("kind", "query", "dear"),
    [
        ("task", "", False), ("task", "project_id=1", False), ("task", "project_id=1&state=completed", False),
        ("task", "id=5&info=a::b", False), ("taskrun", "project_id=1&user_id=3", False), ("result", "", False),
        ("project", "short_name=x", False), ("project", "orderby=created", False), ("task", "offset=10000", False),
        ("task", "info=a::b", True), ("task", "project_id=1&info=a::b&fulltextsearch=1", True), ("user", "info=a::b", True),
        ("task", "orderby=created", True), ("taskrun", "user_id=3", True), ("task", "project_id=1&offset=10001", True),
    ],
)  # fmt: skip
def test_which_lists_take_turns(kind, query, dear):
    arguments = dict(pair.split("=", 1) for pair in query.split("&") if pair)
    assert listing_statements.is_dear(queries.parse_query(KINDS[kind], arguments, Requester())) is dear


@pytest_twisted.ensureDeferred
async def test_dear_lists_of_strangers_leave_connections_to_volunteers(served, monkeypatch):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1, published=True)
    gate, limits = Deferred(), []
    served.house.base.shared.slow_reads.turns._seconds = 60.0
    select = listing_statements.select

    async def held(db: Any, query: Any, who: Any) -> Any:
        limits.append((await db.fetch("SHOW statement_timeout"))[0]["statement_timeout"])
        waiting: Deferred[None] = Deferred()
        gate.addCallback(lambda _: waiting.callback(None))
        await waiting
        return await select(db, query, who)

    monkeypatch.setattr(listing_statements, "select", held)
    path = "/api/task?info=n::0&fulltextsearch=1&all=1"
    asked = [ensureDeferred(served.client().get(path)) for _ in range(8)]
    while not limits:
        await deferLater(reactor, 0.01, lambda: None)
    assert (await served.client().get(f"/api/{project['id']}/newtask")).json()["id"] == project["tasks"][0]
    assert limits == ["2s"], "one at a time of one network"
    gate.callback(None)
    assert {(await one).status for one in asked} == {200}
    await owner.get(path)
    assert limits[-1] == "10s"


def test_cancelled_caller_gives_up_its_place():
    clock = Clock()
    turns, begun = Turns(clock, 1, 5), []

    async def work(name, end):
        begun.append(name)
        await end

    first, third = Deferred(), Deferred()
    ensureDeferred(turns.run("a", lambda: work("a", first)))
    gone = ensureDeferred(turns.run("b", lambda: work("b", Deferred())))
    ensureDeferred(turns.run("c", lambda: work("c", third)))
    gone.addErrback(lambda failure: failure.trap(CancelledError))
    gone.cancel()
    first.callback(None)
    assert begun == ["a", "c"]
    third.callback(None)
    assert ensureDeferred(turns.run("d", lambda: work("d", Deferred()))) and begun[-1] == "d"


def test_without_a_time_any_number_of_calls_waits():
    clock = Clock()
    turns, ends, begun = Turns(clock, 1, None, rest=1.0), [Deferred() for _ in range(MAX_WAITING + 10)], []

    async def work(end):
        begun.append(end)
        await end

    for end in ends:
        ensureDeferred(turns.run("", lambda end=end: work(end)))
    clock.advance(100_000)
    for number, end in enumerate(ends, 1):
        assert len(begun) == number
        end.callback(None)
        clock.advance(100_000)
