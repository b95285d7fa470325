"""No network takes the whole process: its requests beyond its share wait, those of others do not."""

import pytest
import pytest_twisted
from support.checks.shows import shows
from twisted.internet import reactor
from twisted.internet.defer import ensureDeferred, gatherResults
from twisted.internet.task import Clock, deferLater

from crowdd.database.connection import Connection
from crowdd.http.edge.fair_share import (
    MAX_PAGES_PER_TURN,
    MAX_PER_TURN,
    MAX_WAITING,
    PAGES,
    SHARE_TURN_SECONDS,
    FairShare,
    PageTurns,
)
from crowdd.http.steps import WaitForPageTurn
from crowdd.kernel.errors import TooManyRequestsError


async def enter(share, network):
    if not share.begin(network):
        await share.wait(network)


def entering(share, clock, order, *networks):
    for number, network in enumerate(networks):
        ensureDeferred(enter(share, network)).addCallback(lambda _, name=f"{network}{number}": order.append(name))
    clock.advance(0)


@shows("limit-fair-share")
def test_beyond_its_share_a_network_waits_in_order_and_others_do_not():
    clock, order = Clock(), []
    share = FairShare(clock, 2)
    entering(share, clock, order, "a", "a", "a", "a", "b")
    assert order == ["a0", "a1", "b4"]
    share.leave("a")
    assert order == ["a0", "a1", "b4"]  # in a later turn of the reactor
    clock.advance(0)
    assert order == ["a0", "a1", "b4", "a2"]
    for _ in range(3):
        share.leave("a")
        clock.advance(0)
    share.leave("b")
    assert order == ["a0", "a1", "b4", "a2", "a3"]
    entering(share, clock, order, "a", "a")
    assert order[-2:] == ["a0", "a1"]


def test_so_many_wait_and_no_more_and_zero_is_no_limit():
    clock, order, refused = Clock(), [], []
    share = FairShare(clock, 1)
    entering(share, clock, order, *["a"] * (1 + MAX_WAITING))
    ensureDeferred(enter(share, "a")).addErrback(lambda failure: refused.append(failure.type))
    assert order == ["a0"] and refused == [TooManyRequestsError]
    free = FairShare(clock, 0)
    entering(free, clock, order, *["a"] * 500)
    assert len(order) == 501


def test_requests_refused_at_once_leave_room_for_others_in_each_turn():
    clock, order = Clock(), []
    share = FairShare(clock, 100)

    async def refused(name):
        await enter(share, name[0])
        order.append(name)
        share.leave(name[0])

    for name in [f"a{number}" for number in range(2 * MAX_PER_TURN + 1)] + ["b"]:
        ensureDeferred(refused(name))
    first = [f"a{number}" for number in range(MAX_PER_TURN)]
    assert order == [*first, "b"], "the fifth request of a network waits for the next turn"
    clock.advance(0)
    assert order == [*first, "b", *(f"a{number}" for number in range(MAX_PER_TURN, 2 * MAX_PER_TURN + 1))]
    clock.advance(SHARE_TURN_SECONDS)
    ensureDeferred(refused("a-later"))
    assert order[-1] == "a-later" and not clock.getDelayedCalls(), "nobody waits, so nothing is planned"


@shows("limit-fair-share")
@pytest_twisted.ensureDeferred
@pytest.mark.parametrize("path", ["/api/project", "/nowhere", "/about"])
async def test_more_requests_at_once_than_the_share_are_all_answered(serve, path):
    served = await serve(CROWDD_HTTP_MAX_REQUESTS_PER_NETWORK="2")
    clients = [served.client() for _ in range(12)]
    answers = await gatherResults([ensureDeferred(client.get(path)) for client in clients])
    assert {answer.status for answer in answers} == {404 if path == "/nowhere" else 200}
    assert reactor.running


def test_so_many_pages_begin_in_a_turn_whoever_asks_and_none_is_refused():
    clock, order = Clock(), []
    share = PageTurns(clock)
    entering(share, Clock(), order, *[PAGES] * (MAX_WAITING + MAX_PAGES_PER_TURN))
    assert len(order) == MAX_PAGES_PER_TURN
    clock.callLater(0, order.append, "another request")
    clock.advance(0)
    assert order.index("another request") == 2 * MAX_PAGES_PER_TURN, "what comes behind a turn of pages follows it"
    order.remove("another request")
    assert order == [f"{PAGES}{number}" for number in range(MAX_WAITING + MAX_PAGES_PER_TURN)]


def test_while_volunteers_wait_one_page_is_sent_in_a_turn():
    clock, order = Clock(), []
    share = PageTurns(clock)
    share.volunteers = 2
    entering(share, Clock(), order, *[PAGES] * 8)
    assert len(order) == 1
    clock.callLater(0, order.append, "a task")
    clock.advance(0)
    assert order.index("a task") == 2 and len(order) == 9, "what comes behind a page follows it"
    order.clear()
    share.volunteers = 0
    clock.advance(SHARE_TURN_SECONDS)
    entering(share, Clock(), order, *[PAGES] * 8)
    assert len(order) == MAX_PAGES_PER_TURN


@pytest_twisted.ensureDeferred
async def test_requests_for_tasks_and_answers_count_as_long_as_they_are_under_way(served, monkeypatch):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1, published=True)
    turns, seen = served.step(WaitForPageTurn).turns, []
    run = Connection.run
    monkeypatch.setattr(
        Connection, "run", lambda self, *sql, **named: (seen.append(turns.volunteers), run(self, *sql, **named))[1]
    )
    task = (await owner.get(f"/api/{project['id']}/newtask")).json()
    assert max(seen) == 1 and turns.volunteers == 0
    seen.clear()
    answer = {"project_id": project["id"], "task_id": task["id"], "info": 1}
    assert (await owner.post("/api/taskrun", json=answer)).status == 200
    assert max(seen) == 1 and turns.volunteers == 0
    seen.clear()
    assert (await owner.post("/api/taskrun", json={**answer, "task_id": 0})).status >= 400
    assert (await owner.get("/api/0/newtask")).status == 404 and turns.volunteers == 0
    seen.clear()
    assert (await owner.get("/", headers={"Accept": "text/html"})).status == 200
    assert max(seen) == 0


@shows("limit-fair-share")
@pytest_twisted.ensureDeferred
async def test_a_task_is_given_while_pages_wait_for_their_turn(served):
    project = await served.project(await served.person("owner"), tasks=1, published=True)
    clock = Clock()
    served.step(WaitForPageTurn).turns = turns = PageTurns(clock)
    for _ in range(MAX_PAGES_PER_TURN):
        assert turns.begin(PAGES)
    page = ensureDeferred(served.client().get("/about"))
    while not (clock.getDelayedCalls() or page.called):
        await deferLater(reactor, 0.005)
    for path in (f"/api/project/{project['id']}/newtask", "/api/project", "/health"):
        assert (await served.client().get(path)).status == 200
    assert not page.called
    clock.advance(0)
    assert (await page).status == 200
