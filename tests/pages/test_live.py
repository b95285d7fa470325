"""Watching a project: its state for everybody, its events for owners."""

import os
import time

import psycopg2
import pytest
import pytest_twisted
from support.browsers import lock, newcomer, signed_in
from support.checks.shows import shows
from support.listening import listen
from support.until import until
from twisted.internet import reactor
from twisted.internet.defer import ensureDeferred
from twisted.internet.task import deferLater

from crowdd.features.statistics.feature import StatisticsFeature

STATE, EVENTS = "/project/birds/live", "/project/birds/events"
SEVERAL = os.environ.get("CROWDD_DAEMON_WORKERS", "1") != "1"  # processes serve


async def answer(client, project):
    """A task asked for and answered."""
    task = (await client.get(f"/api/{project['id']}/newtask")).json()
    made = await client.post("/api/taskrun", json={"project_id": project["id"], "task_id": task["id"], "info": 1})
    assert made.status == 200, made.text


def streams(served):
    return len(served.server._site.streams)


@pytest.fixture
def sql(dsn):
    """Runs a statement beside the server."""
    connection = psycopg2.connect(dsn, options="-c search_path=public,code")
    connection.autocommit = True

    def run(statement, *values):
        with connection.cursor() as cursor:
            cursor.execute(statement, values)
            return cursor.fetchall() if cursor.description else []

    yield run
    connection.close()


@shows("stream-state")
@pytest.mark.inside
@pytest_twisted.ensureDeferred
async def test_the_state_comes_at_once_and_moves_with_every_answer(served):
    owner, ada = await served.person("owner"), await served.person("ada")
    project = await served.project(owner, tasks=2, published=True, n_answers=1)
    stream = await listen(served.client(), STATE)
    assert stream.status == 200
    assert stream.headers.getRawHeaders("content-type") == ["text/event-stream"]
    assert stream.headers.getRawHeaders("cache-control") == ["no-store"]
    assert stream.headers.getRawHeaders("x-ratelimit-limit") is None
    first = await stream.next()
    assert first.name == "state" and first.data == {
        "status": "open", "n_tasks": 2, "n_completed_tasks": 0, "n_task_runs": 0, "n_volunteers": 0,
        "overall_progress": 0, "last_activity": None,
    }  # fmt: skip
    await answer(ada, project)
    moved = (await stream.next()).data
    assert moved["last_activity"] is not None
    assert [moved[name] for name in ("n_completed_tasks", "n_task_runs", "n_volunteers", "overall_progress")] == [
        1,
        1,
        1,
        50,
    ]
    await owner.post("/project/birds/pause", json={})
    assert (await stream.until(lambda event: event.data["status"] != "open")).data["status"] == "paused"
    stream.leave()
    await until(lambda: streams(served) == 0)


@shows("stream-state")
@pytest.mark.inside
@pytest_twisted.ensureDeferred
async def test_the_state_is_json_for_who_asks_for_that(served):
    owner = await served.person("owner")
    await served.project(owner, tasks=3)
    response = await owner.page(STATE)
    assert response.status == 200 and response.json()["n_tasks"] == 3 and response.json()["status"] == "draft"
    head = await owner.request("HEAD", STATE)
    assert (head.status, head.body, head.header("content-type")) == (200, b"", "text/event-stream")
    assert streams(served) == 0


@shows("stream-state")
@pytest.mark.inside
@pytest_twisted.ensureDeferred
async def test_many_answers_are_two_states_a_second_and_the_last_is_told(served):
    """One read of the database for all who listen, none when nobody does."""
    owner, ada = await served.person("owner"), await served.person("ada")
    project = await served.project(owner, tasks=40, published=True, n_answers=1)
    reads = []
    live = served.house[StatisticsFeature].live
    live_state, db = live.state, live.db

    class Counting:
        async def fetch(self, sql, values=None):
            reads.append(time.monotonic())
            return await db.fetch(sql, values)

    object.__setattr__(live, "db", Counting())
    await answer(ada, project)
    assert reads == []
    begun = time.monotonic()
    listeners = [await listen(served.client(), STATE) for _ in range(5)]
    for _ in range(20):
        await answer(ada, project)
    states = [await stream.until(lambda event: event.data["n_task_runs"] == 21) for stream in listeners]
    seconds = time.monotonic() - begun
    assert len({str(state.data) for state in states}) == 1
    assert len(reads) <= 3 + 2 * seconds
    assert live_state is not None


@shows("page-streams")
@pytest_twisted.ensureDeferred
async def test_who_may_watch_is_who_may_see_the_page(served):
    owner, ada = await served.person("owner"), await served.person("ada")
    await served.project(owner, tasks=1)
    assert (await listen(served.client(), STATE)).status == 404  # a draft
    await owner.post("/project/birds/publish", json={})
    assert (await listen(served.client(), STATE)).status == 200
    assert (await listen(served.client(), "/project/nothing/live")).status == 404
    assert (await listen(served.client(), STATE, Origin="null")).status == 403
    assert (await listen(served.client(), STATE, X_Presenter="1")).status == 403
    assert (await listen(served.client(), STATE, Sec_Fetch_Site="cross-site", Sec_Fetch_Dest="empty")).status == 403
    await lock(served, "birds", owner, "sesame")
    while (asked := await listen(ada, STATE)).status == 200:
        assert SEVERAL, (
            "one process knows at once; of several one may hear of it a moment later, and ends what it began"
        )
        while await asked.next():
            pass
    assert asked.status == 403
    assert (await listen(ada, STATE, X_Project_Password="sesame")).status == 200
    assert (await listen(owner, STATE)).status == 200
    for client, status in ((ada, 403), (served.client(), 302), (owner, 200)):
        assert (await listen(client, EVENTS, X_Project_Password="sesame")).status == status
    assert (await listen(owner, EVENTS, Last_Event_ID="x")).status == 415
    assert (await owner.post(STATE, json={})).status == 405


@shows("stream-state")
@pytest.mark.inside
@pytest_twisted.ensureDeferred
async def test_a_draft_that_its_owner_watches_stays_hidden_from_others(served):
    """What is already read for the owner is given to nobody else: not once, and not while it changes."""
    owner, ada = await served.person("owner"), await served.person("ada")
    project = await served.project(owner, tasks=1)
    watching = await listen(owner, STATE)
    assert (await watching.next()).data["status"] == "draft"
    watched = served.house[StatisticsFeature].broadcast._names["birds"]
    await until(lambda: not watched._throttled.due)
    for client in (served.client(), ada):
        assert (await listen(client, STATE)).status == 404
    await owner.post("/api/task", json={"project_id": project["id"], "info": {}})
    assert (await watching.next()).data["n_tasks"] == 2
    assert (await listen(served.client(), STATE)).status == 404
    await owner.post("/project/birds/publish", json={})
    assert await watching.next() is None  # browsers come back at once
    assert (await (await listen(served.client(), STATE)).next()).data["status"] == "open"


@shows("stream-who")
@pytest_twisted.ensureDeferred
async def test_a_password_set_meanwhile_ends_streams_and_who_may_not_stays_out(serve):
    served = await serve(CROWDD_LIVE_HEARTBEAT_SECONDS="1")
    owner, ada = await served.person("owner"), await served.person("ada")
    await served.project(owner, tasks=1, published=True)
    stream = await listen(ada, STATE)
    await stream.next()
    await lock(served, "birds", owner, "sesame")
    assert await stream.next() is None and 1000 <= stream.retry <= 4000
    assert (await listen(ada, STATE)).status == 403
    knows = await listen(ada, STATE, X_Project_Password="sesame")
    await knows.next()
    for _ in range(2):  # is asked again, and still may
        comments = knows.comments
        while knows.comments == comments:
            await knows.more()
    assert not knows.ended
    await lock(served, "birds", owner, "open")
    assert await knows.next() is None


@shows("page-streams", "stream-events")
@pytest_twisted.ensureDeferred
async def test_owners_follow_events_from_any_position_and_lose_none(served):
    owner, ada = await served.person("owner"), await served.person("ada")
    project = await served.project(owner, tasks=6, published=True, n_answers=1)
    await answer(ada, project)
    first = await listen(owner, f"{EVENTS}?after=0")
    assert [(await first.next()).data, (await first.next()).id] == [{"sequence": 0}, "1"]
    now = await listen(owner, EVENTS)
    assert (await now.next()).data == {"sequence": 1}
    await answer(ada, project)
    event = await now.next()
    assert (event.name, event.id) == ("task_completed", "2")
    assert event.data["task_id"] == project["tasks"][1] and event.data["project_short_name"] == "birds"
    assert event.data["sequence"] == 2 and event.data["project_id"] == project["id"] and event.data["result_id"]
    now.leave()
    for _ in range(3):
        await answer(ada, project)
    assert [(await first.next()).id for _ in range(4)] == ["2", "3", "4", "5"]
    for headers, path, wanted in (
        ({"Last_Event_ID": "2"}, EVENTS, ["3", "4", "5"]),
        ({}, f"{EVENTS}?after=0", ["1", "2", "3", "4", "5"]),
        ({"Last_Event_ID": "4"}, f"{EVENTS}?after=0", ["5"]),
    ):
        again = await listen(owner, path, **headers)
        await again.next()
        assert [(await again.next()).id for _ in wanted] == wanted
        again.leave()


@shows("stream-who")
@pytest_twisted.ensureDeferred
async def test_a_log_ends_with_the_session_and_with_the_ownership(serve, sql):
    served = await serve(CROWDD_LIVE_HEARTBEAT_SECONDS="1")
    browser = await newcomer(served, "owner")
    token = (await browser.page("/account/profile")).json()["user"]["api_key"]
    program = served.client(token)
    await served.project(program, tasks=1)
    by_cookie, by_key = await listen(browser, EVENTS), await listen(program, EVENTS)
    other = await listen(await signed_in(served, "owner"), EVENTS)
    for stream in (by_cookie, by_key, other):
        assert (await stream.next()).name == "position"
    await browser.page("/account/signout")
    assert await by_cookie.next() is None
    assert not by_key.ended and not other.ended
    boss = await served.person("boss", admin=True)
    sql("UPDATE project SET owner_id = %s, owners_ids = ARRAY[%s::bigint]", boss.user_id, boss.user_id)
    assert await by_key.next() is None and await other.next() is None


@shows("stream-who")
@pytest_twisted.ensureDeferred
async def test_no_event_is_told_after_a_removal(served):
    """The stream ends with the next event, long before the next heartbeat, and without it."""
    owner, ada, helper = [await served.person(name) for name in ("owner", "ada", "helper")]
    project = await served.project(owner, tasks=3, published=True, n_answers=1)
    await owner.post("/project/birds/add_coowner/helper", json={})
    stream, stays = await listen(helper, f"{EVENTS}?after=0"), await listen(owner, f"{EVENTS}?after=0")
    await answer(ada, project)
    assert [(await stream.next()).name, (await stream.next()).id] == ["position", "1"]
    await owner.post("/project/birds/del_coowner/helper", json={})
    await answer(ada, project)
    assert await stream.next() is None
    assert [(await stays.next()).name for _ in range(3)] == ["position", "task_completed", "task_completed"]


@shows("stream-limits")
@pytest.mark.inside
@pytest_twisted.ensureDeferred
async def test_streams_are_counted_by_address_and_in_all(serve):
    served = await serve(
        CROWDD_LIVE_MAX_STREAMS="4", CROWDD_LIVE_MAX_STREAMS_PER_ADDRESS="3", CROWDD_HTTP_TRUSTED_PROXIES="127.0.0.1"
    )
    owner = await served.person("owner")
    await served.project(owner, tasks=1, published=True)

    async def from_(address):
        return await listen(served.client(), STATE, X_Forwarded_For=address)

    first = [await from_("10.0.0.1") for _ in range(3)]
    refused = await from_("10.0.0.1")
    assert (refused.status, refused.headers.getRawHeaders("retry-after")) == (429, ["30"])
    other = await from_("10.0.0.2")
    assert [stream.status for stream in (*first, other)] == [200] * 4
    assert (await from_("10.0.0.3")).status == 503
    first[0].leave()
    await until(lambda: streams(served) == 3)
    assert (await from_("10.0.0.1")).status == 200


@pytest_twisted.ensureDeferred
async def test_a_stream_on_which_nothing_happens_says_so(serve):
    served = await serve(CROWDD_LIVE_HEARTBEAT_SECONDS="1")
    owner = await served.person("owner")
    await served.project(owner, tasks=1)
    stream = await listen(owner, STATE)
    await stream.next()
    for _ in range(2):
        await stream.more()
    assert stream.comments >= 2 and stream.events == []


@shows("stream-limits")
@pytest.mark.inside
@pytest_twisted.ensureDeferred
async def test_a_client_that_does_not_read_is_cut_off_and_nothing_grows(serve, sql):
    served = await serve(CROWDD_LIVE_STALLED_TIMEOUT="1")
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1)
    sql(
        "INSERT INTO event (project_id, seq, kind, at, data) SELECT %s, n, 'x', clock(), jsonb_build_object('x', repeat('x', 5000))"
        " FROM generate_series(1, 4000) n",
        project["id"],
    )
    stream = await listen(owner, f"{EVENTS}?after=0")
    await stream.next()
    stream.transport.pauseProducing()
    (client,) = served.server._site.streams._clients
    await until(lambda: client.full)
    transport = client.request.channel.transport
    maximum, end = 0, time.monotonic() + 60
    while not client.ended:
        assert time.monotonic() < end, "nobody cut it off"
        maximum = max(maximum, len(transport.dataBuffer) + transport._tempDataLen)
        await deferLater(reactor, 0.01)
    assert maximum < 2_000_000  # one batch beyond what fits
    assert streams(served) == 0
    reader = await listen(owner, f"{EVENTS}?after=0")
    read = [await reader.next() for _ in range(4001)]
    assert [event.id for event in read] == [str(n) for n in range(4001)]


@shows("stream-limits")
@pytest.mark.inside
@pytest_twisted.ensureDeferred
async def test_every_process_tells_what_happens_in_any_and_says_when_it_ends(serve):
    here, other_process = await serve(), await serve()
    owner, ada = await here.person("owner"), await here.person("ada")
    project = await here.project(owner, tasks=3, published=True, n_answers=1)
    stream = await listen(other_process.client(), STATE)
    await stream.next()
    await answer(ada, project)
    assert (await stream.next()).data["n_task_runs"] == 1
    ending = ensureDeferred(other_process.server._site.drain(10))
    assert (await stream.next()).name == "restart"
    assert await stream.next() is None and stream.retry >= 1000
    await ending
    assert streams(other_process) == 0


@pytest_twisted.ensureDeferred
async def test_a_configured_front_end_elsewhere_may_watch_others_may_not(serve):
    served = await serve(CROWDD_HTTP_ALLOWED_ORIGINS="https://front.example")
    owner = await served.person("owner")
    await served.project(owner, tasks=1, published=True)
    ours = await listen(served.client(), STATE, Origin="https://front.example")
    assert ours.headers.getRawHeaders("access-control-allow-origin") == ["https://front.example"]
    strange = await listen(served.client(), STATE, Origin="https://strange.example")
    assert strange.headers.getRawHeaders("access-control-allow-origin") is None
