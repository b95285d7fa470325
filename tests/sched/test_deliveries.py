"""Deliveries to a real receiver: signed, in order, at least once, with patience, and never to where they must not go."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import attrs
import pytest
import pytest_twisted
from standardwebhooks import Webhook
from support.checks.refused import PORT, REFUSED
from support.checks.shows import shows
from support.ledger import Ledger
from support.servers.receiver import CLOSE, HANG, Receiver
from support.until import until
from twisted.internet import reactor
from twisted.internet.defer import ensureDeferred

from crowdd.core.outbound.client import Outgoing
from crowdd.core.secrets import Secrets
from crowdd.database.locks import Leadership
from crowdd.features.projects.feature import ProjectsFeature
from crowdd.features.webhooks.feature import WebhooksFeature
from crowdd.house import build_house
from crowdd.kernel.requester import SYSTEM
from crowdd.sched.webhook_deliveries import LOOK, Deliverer, Deliveries
from crowdd.sched.webhook_messages import decrypted
from crowdd.sched.webhook_retries import ATTEMPTS

PATIENCE = 60
AT_ONCE = 8  # what docs/webhooks.md promises
FIRST_DELAY = 5.0
SECRETS = Secrets(b"\x07" * 32)


class Post:
    """Projects with webhooks, somebody who delivers, and the mail that owners got."""

    def __init__(self, settings: Any, pool: Any) -> None:
        webhooks = attrs.evolve(settings.webhooks, first_delay=FIRST_DELAY, timeout=5.0)
        outgoing = attrs.evolve(settings.outgoing, allowed_hosts=("127.0.0.1:*",))
        self.settings = attrs.evolve(settings, webhooks=webhooks, outgoing=outgoing)
        self.pool = pool
        self.house = build_house(reactor, pool, self.settings, SECRETS)
        self.ledger = Ledger(settings.db.dsn)
        self.deliveries = self.make()
        self.deliverers: list[Deliverer] = []

    def make(self, **settings: Any) -> Deliveries:
        own = attrs.evolve(self.settings.webhooks, **settings)
        out = self.house.base.outgoing
        return Deliveries(self.pool, out, SECRETS, own, reactor.seconds, lambda: 0.5, self.house.base.mail.send)

    @property
    def mail(self) -> list[dict[str, Any]]:
        """The e-mails that were written."""
        return self.ledger.rows("SELECT recipient, template, text, locale FROM mail ORDER BY id")

    def start(self) -> Deliverer:
        made = Deliverer(
            reactor,
            self.deliveries,
            self.house.base.shared.change_notifier,
            Leadership(reactor, self.settings.db.dsn, "deliveries"),
        )
        self.deliverers.append(made)
        made.startService()
        return made

    async def stop(self) -> None:
        for deliverer in self.deliverers:
            if deliverer.running:
                await deliverer.stopService()
        self.ledger.close()

    async def project(self, url: str | None, tasks: int = 3) -> int:
        """The id of a published project; one answer completes a task."""
        project = self.ledger.project(tasks, n=1)
        if url is not None:
            await self.address(project, url)
        return project

    async def address(self, project: int, url: str | None) -> None:
        """Sets the address as REST does."""
        before = self.ledger.value("SELECT webhook FROM project WHERE id = %(p)s", p=project)

        async def work(tx: Any) -> None:
            await self.house[WebhooksFeature].webhooks.follow(tx, project, before, url)
            await tx.execute("UPDATE project SET webhook = %(url)s WHERE id = %(p)s", {"url": url, "p": project})

        await self.pool.transaction(work)

    async def owned(self, project: int) -> Any:
        name = self.ledger.value("SELECT short_name FROM project WHERE id = %(p)s", p=project)
        return await self.house[ProjectsFeature].projects.owned(name, SYSTEM)

    def happen(self, project: int, count: int = 1, actor: str = "u:5") -> list[int]:
        """So many tasks are completed, and their events numbered."""
        made = []
        for _ in range(count):
            made.append(self.ledger.ask(project, actor).tasks[0])
            self.ledger.answer(project, actor, made[-1])
        self.number(project)
        return made

    def number(self, project: int) -> None:
        self.ledger.value("SELECT number_events(%(p)s, clock())", p=project)
        self.house.base.shared.change_notifier.notify(project)

    def pass_time(self, **length: float) -> None:
        self.ledger.run("UPDATE clock_shift SET ahead = ahead + %(by)s", by=timedelta(**length))
        self.house.base.shared.change_notifier.notify(0)

    def rows(self, project: int) -> list[dict[str, Any]]:
        return self.ledger.rows("SELECT * FROM delivery WHERE project_id = %(p)s ORDER BY id", p=project)

    def states(self, project: int) -> list[str]:
        return [row["state"] for row in self.rows(project)]

    def attempts(self, project: int) -> int:
        """Of the first delivery."""
        return sum(row["attempts"] for row in self.rows(project)[:1])

    def webhook(self, project: int) -> dict[str, Any]:
        return self.ledger.row("SELECT * FROM webhook WHERE project_id = %(p)s", p=project)

    def secret(self, project: int) -> str:
        return decrypted(SECRETS, self.webhook(project)["secret_encrypted"], project)

    async def quiet(self) -> None:
        """Nothing is on its way, and what came of it is written down."""
        await until(lambda: not any(each._under_way or each._turns._under_way for each in self.deliverers))

    async def looked(self) -> None:
        """Each has looked at all projects once more, and what came of it is written down."""
        before = [each._poll_loop for each in self.deliverers]
        for each in self.deliverers:
            each._look_at_all = True
            each._turns.plan(0)
        await until(lambda: all(each._poll_loop > number for each, number in zip(self.deliverers, before, strict=True)))
        await self.quiet()

    async def all_sent(self, project: int) -> None:
        """Nothing waits any more."""
        await until(lambda: (rows := self.states(project)) and "waiting" not in rows)


@pytest.fixture
def post(settings: Any, pool: Any) -> Iterator[Post]:
    made = Post(settings, pool)
    yield made
    pytest_twisted.blockon(ensureDeferred(made.stop()))


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.close()


def seqs(receiver: Receiver) -> list[int | None]:
    return [request.seq for request in receiver.taken]


@shows("delivery-address", "delivery-signed")
@pytest_twisted.ensureDeferred
async def test_an_event_arrives_signed_with_the_keys_of_pybossa(post, receiver):
    project = await post.project(receiver.url)
    post.start()
    (task,) = post.happen(project)
    await post.all_sent(project)
    (request,) = receiver.taken
    body = Webhook(post.secret(project)).verify(request.body, request.headers)
    assert body | {"fired_at": ""} == {
        "event": "task_completed", "project_short_name": f"project{project}", "project_id": project, "task_id": task,
        "result_id": body["result_id"], "fired_at": "", "sequence": 1, "user_ids": [5],
        "volunteers": [], "consensus": None,
    }  # fmt: skip
    assert (request.path, request.headers["content-type"]) == ("/hook", "application/json")
    (seen,) = await post.house[WebhooksFeature].webhooks.log(await post.owned(project), SYSTEM)
    assert (seen["state"], seen["response_status_code"], seen["payload"], seen["attempts"]) == (
        "delivered",
        204,
        body,
        1,
    )
    assert seen["response"].startswith("HTTP 204") and 0 < seen["seconds"] < 5 and seen["problem"] == ""


@shows("event-draft", "event-transaction")
@pytest_twisted.ensureDeferred
async def test_drafts_rollbacks_and_projects_without_an_address_send_nothing(post, receiver):
    silent = await post.project(None)
    draft = post.ledger.project(1, n=1, published=False)
    await post.address(draft, receiver.url)
    subscribed = await post.project(receiver.url)
    post.start()
    post.happen(silent)
    post.happen(draft)
    undone = Ledger(post.settings.db.dsn, autocommit=False)
    undone.answer(subscribed, "u:6", undone.ask(subscribed, "u:6").tasks[0])
    undone.connection.rollback()
    undone.close()
    post.happen(subscribed)
    await post.all_sent(subscribed)
    assert [(request.json["project_id"], request.seq) for request in receiver.requests] == [(subscribed, 1)]
    assert post.rows(silent) == post.rows(draft) == []


@shows("delivery-order")
@pytest_twisted.ensureDeferred
async def test_eight_at_once_and_a_slow_receiver_holds_up_no_other(post, receiver):
    def slow(request: Any) -> int:
        receiver.gate.wait(PATIENCE)
        return 200

    receiver.behave = slow
    quick = Receiver()
    busy, other = await post.project(receiver.url, 30), await post.project(quick.url)
    post.start()
    post.happen(busy, 30)
    await until(lambda: receiver.at_once == AT_ONCE)
    post.happen(other)
    await post.all_sent(other)
    assert (receiver.at_once, len(receiver.requests), len(quick.taken)) == (AT_ONCE, AT_ONCE, 1)
    receiver.gate.set()
    await post.all_sent(busy)
    quick.close()
    assert sorted(seqs(receiver)) == [*range(1, 32)] and receiver.max_at_once == AT_ONCE
    assert seqs(receiver)[-1] == 31, "project_completed comes after all before it"


@shows("delivery-order")
@pytest_twisted.ensureDeferred
async def test_events_of_a_task_stay_in_order_though_the_first_fails(post, receiver):
    project = await post.project(receiver.url)
    (task,) = post.happen(project)
    for n in (2, 3):
        post.ledger.set_n(project, [task], n)
        post.ledger.value(
            "SELECT lease_task(%(p)s, %(a)s, NULL, false, '{}', %(t)s, clock())", p=project, a=f"u:{n}", t=task
        )
        post.ledger.answer(project, f"u:{n}", task)
    post.number(project)
    post.happen(project)
    receiver.behave = lambda request: 500 if request.json["task_id"] == task and len(receiver.requests) < 5 else 200
    post.start()
    await until(lambda: seqs(receiver) == [4] and post.attempts(project) == 1)
    assert [request.seq for request in receiver.requests if request.json["task_id"] == task] == [1]
    post.pass_time(seconds=6)
    await until(lambda: post.attempts(project) == 2)
    receiver.behave = lambda request: 200
    post.pass_time(seconds=30)
    await post.all_sent(project)
    assert [(r.seq, r.json["event"]) for r in receiver.taken if r.json["task_id"] == task] == [
        (1, "task_completed"), (2, "result_updated"), (3, "result_updated"),
    ]  # fmt: skip


@shows("delivery-order")
@pytest_twisted.ensureDeferred
async def test_that_the_project_is_complete_is_told_after_all_before_it(post, receiver):
    receiver.behave = lambda request: 500
    project = await post.project(receiver.url, 1)
    post.start()
    post.happen(project)
    await until(lambda: post.attempts(project) == 1)
    assert [request.seq for request in receiver.requests] == [1]
    receiver.behave = lambda request: 200
    post.pass_time(seconds=6)
    await post.all_sent(project)
    assert [(request.seq, request.json["event"]) for request in receiver.taken] == [
        (1, "task_completed"), (2, "project_completed"),
    ]  # fmt: skip


@shows("delivery-retries")
@pytest_twisted.ensureDeferred
async def test_a_failing_receiver_is_asked_with_one_at_a_time_and_later_and_later(post, receiver):
    receiver.behave = lambda request: 500
    project = await post.project(receiver.url, 40)
    post.start()
    post.happen(project, 30)
    await until(lambda: post.webhook(project)["failures"] >= 2)
    await post.looked()
    begun = len(receiver.requests)
    assert begun <= 2 * AT_ONCE + 2
    for probe in range(3):
        failures = post.webhook(project)["failures"]
        post.pass_time(seconds=FIRST_DELAY * 5 ** (failures - 1) + 1)
        await until(lambda failures=failures: post.webhook(project)["failures"] == failures + 1)
        assert len(receiver.requests) == begun + probe + 1
    assert len({request.seq for request in receiver.requests}) == begun + 3, "not the same one each time"
    await post.quiet()
    receiver.behave = lambda request: 200
    post.pass_time(days=1)
    await post.all_sent(project)
    assert sorted(seqs(receiver)) == [*range(1, 31)] and post.webhook(project)["failures"] == 0


@shows("delivery-once")
@pytest_twisted.ensureDeferred
async def test_a_receiver_that_is_down_for_two_days_misses_nothing(post, receiver):
    receiver.behave = lambda request: CLOSE
    project = await post.project(receiver.url, 60)
    post.start()
    for _two_hours in range(24):
        post.happen(project)
        post.pass_time(hours=2)
        await post.looked()
    assert post.webhook(project)["active"] and 5 < len(receiver.requests) < 20
    receiver.behave = lambda request: 200
    post.pass_time(days=1)
    await until(lambda: len(receiver.taken) == 24)
    assert sorted(seqs(receiver)) == [*range(1, 25)]


@shows("delivery-off")
@pytest_twisted.ensureDeferred
async def test_after_ten_attempts_it_is_switched_off_and_the_owner_gets_mail_once(post, receiver):
    receiver.behave = lambda request: (503, {"Retry-After": "7"})
    project = await post.project(receiver.url, 9)
    post.ledger.run("UPDATE account SET email_addr = 'ada@example.org', locale = 'de'")
    post.start()
    post.happen(project)
    for attempt in range(1, ATTEMPTS + 1):
        await until(lambda attempt=attempt: post.attempts(project) == attempt)
        assert post.webhook(project)["active"] is (attempt < ATTEMPTS)
        post.pass_time(seconds=FIRST_DELAY * min(5 ** (attempt - 1), 17280) + 3)
    assert (post.states(project), len(receiver.requests)) == (["waiting"], ATTEMPTS)
    (letter,) = post.mail
    assert (letter["recipient"], letter["template"], letter["locale"]) == ("ada@example.org", "webhook_off", "de")
    assert "The receiver answered 503." in letter["text"] and f"/project/project{project}/webhook" in letter["text"]
    post.happen(project, 2)
    await post.looked()
    assert len(receiver.requests) == ATTEMPTS
    receiver.behave = lambda request: 200
    owned = await post.owned(project)
    assert (await post.house[WebhooksFeature].webhooks.state(owned, SYSTEM))["state"] == "off"
    await post.house[WebhooksFeature].webhooks.switch_on(owned, SYSTEM)
    await until(lambda: sorted(seqs(receiver)) == [1, 2, 3])
    assert await post.house[WebhooksFeature].webhooks.all_failed_again(owned, SYSTEM) == 0
    assert {request.path for request in receiver.taken} == {"/hook"} and len(post.mail) == 1


@shows("delivery-off")
@pytest_twisted.ensureDeferred
async def test_410_ends_it_at_once(post, receiver):
    receiver.behave = lambda request: 410
    project = await post.project(receiver.url)
    post.start()
    post.happen(project)
    await until(lambda: not post.webhook(project)["active"])
    assert post.states(project) == ["waiting"] and len(receiver.requests) == len(post.mail) == 1
    assert "410" in post.webhook(project)["why_off"]
    receiver.behave = lambda request: 200
    await post.address(project, receiver.url + "/new")
    post.happen(project)
    await until(lambda: sorted(seqs(receiver)) == [1, 2])
    assert {request.path for request in receiver.taken} == {"/hook/new"}


@shows("delivery-off")
@pytest_twisted.ensureDeferred
async def test_events_in_flight_when_a_receiver_says_410_are_sent_once_it_is_on_again(post, receiver):
    project = await post.project(receiver.url, 9)
    receiver.behave = lambda request: receiver.gate.wait(60) and 410
    post.start()
    post.happen(project, 3)
    await until(lambda: receiver.at_once == 3)
    receiver.behave = lambda request: 200
    receiver.gate.set()
    await until(lambda: not post.webhook(project)["active"] and [r["attempts"] for r in post.rows(project)] == [1] * 3)
    post.happen(project, 2)
    assert post.states(project) == ["waiting"] * 3 and receiver.taken == [] and len(post.mail) == 1
    await post.house[WebhooksFeature].webhooks.switch_on(await post.owned(project), SYSTEM)
    await until(lambda: sorted(seqs(receiver)) == [1, 2, 3, 4, 5])
    await post.all_sent(project)
    assert post.states(project) == ["delivered"] * 5


@pytest_twisted.ensureDeferred
async def test_one_event_that_the_receiver_never_takes_ends_alone(post, receiver):
    receiver.behave = lambda request: 422 if request.seq == 1 else 200
    project = await post.project(receiver.url, 20)
    post.start()
    post.happen(project)
    for attempt in range(1, ATTEMPTS + 1):
        await until(lambda attempt=attempt: post.attempts(project) == attempt)
        post.happen(project)
        await until(lambda attempt=attempt: len(receiver.taken) == attempt)
        post.pass_time(days=1, hours=4)
    await post.all_sent(project)
    assert post.states(project) == ["failed"] + ["delivered"] * ATTEMPTS
    assert post.webhook(project)["active"] and post.mail == []


@pytest.mark.parametrize(
    ("behave", "words"),
    [
        ((302, {"Location": "http://127.0.0.1:1/"}), "a redirect, which crowdd does not follow"),
        (404, "answered 404"),
        (CLOSE, "closed the connection before it responded"),
        (HANG, "did not respond within 0.3 seconds"),
    ],
    ids=["redirect", "404", "close", "hang"],
)
@pytest_twisted.ensureDeferred
async def test_the_log_says_why(behave, words, post, receiver):
    receiver.behave = lambda request: behave
    project = await post.project(receiver.url)
    post.happen(project)
    deliveries = post.make(timeout=0.3 if behave == HANG else 60)
    await deliveries.feed([project])
    (due,) = await deliveries.due(project, 8, [])
    await deliveries.send(due)
    (seen,) = await post.house[WebhooksFeature].webhooks.log(await post.owned(project), SYSTEM)
    assert words in seen["problem"] and (seen["state"], seen["attempts"]) == ("waiting", 1)
    assert seen["response_status_code"] == (
        behave[0] if isinstance(behave, tuple) else behave if behave == 404 else None
    )
    assert seen["url"] == receiver.url and seen["payload"]["sequence"] == 1


@pytest_twisted.ensureDeferred
async def test_refused_addresses_reach_nobody_and_each_leaves_a_line(post, receiver):
    """Names that lead astray are in tests/domain/test_outbound_http.py."""
    port = receiver.url.rpartition(":")[2].partition("/")[0]
    outgoing = Outgoing(reactor, [])
    strict = Deliveries(
        post.pool, outgoing, SECRETS, post.settings.webhooks, reactor.seconds, lambda: 0.5, post.house.base.mail.send
    )
    for url, words in REFUSED.items():
        if ".example" in url and "@" not in url and words not in ("web port", "port", "longer", "control"):
            continue
        project = await post.project(receiver.url, 1)
        post.ledger.run("UPDATE project SET webhook = %(url)s WHERE id = %(p)s", url=url.replace(PORT, port), p=project)
        post.happen(project)
        await strict.feed([project])
        (due,) = await strict.due(project, 8, [])
        await strict.send(due)
        (seen, *_) = await post.house[WebhooksFeature].webhooks.log(await post.owned(project), SYSTEM, only="waiting")
        tried = (await post.house[WebhooksFeature].webhooks.delivery(await post.owned(project), SYSTEM, due.id))[
            "attempts_made"
        ]
        assert len(tried) == 1 and words in tried[0]["problem"], url
        assert seen["response_status_code"] is None
    assert receiver.requests == []


@pytest_twisted.ensureDeferred
async def test_a_process_that_does_not_deliver_asks_once_a_second_whether_it_may(post):
    first = post.start()
    await until(lambda: first._leadership.held)
    second = post.start()
    await until(lambda: second._leadership._proven and second._turns._planned is not None)
    assert not second._leadership.held
    assert second._turns._planned.getTime() - reactor.seconds() > LOOK / 2


@shows("delivery-once")
@pytest_twisted.ensureDeferred
async def test_one_process_delivers_and_another_goes_on_when_it_dies(post, receiver):
    project = await post.project(receiver.url, 20)
    first = post.start()
    await until(lambda: first._leadership.held)
    second = post.start()
    post.happen(project, 3)
    await post.all_sent(project)
    assert not second._leadership.held and sorted(seqs(receiver)) == [1, 2, 3]
    receiver.behave = lambda request: HANG
    post.happen(project)
    await until(lambda: receiver.at_once == 1)
    for sending in first._under_way[project].values():
        sending.pause()  # as if its process were gone, with a delivery on its way
    receiver.behave = lambda request: 200  # before another one can ask
    await until(lambda: first._turns._planned is not None)  # it is not looking for deliveries right now
    first.running = first._turns._running = False
    first._turns._planned.cancel()
    post.ledger.run(
        "SELECT pg_terminate_backend(l.pid) FROM pg_locks l WHERE locktype = 'advisory' AND database ="
        " (SELECT oid FROM pg_database WHERE datname = current_database()) AND objsubid = 1"
    )
    await until(lambda: second._leadership.held)
    await until(lambda: sorted(seqs(receiver)) == [1, 2, 3, 4])
    assert [request.headers["webhook-id"] for request in receiver.requests if request.seq == 4] == [
        f"event_{project}_4"
    ] * 2


@shows("delivery-signed")
@pytest_twisted.ensureDeferred
async def test_two_secrets_sign_for_a_day_after_a_change(post, receiver):
    project = await post.project(receiver.url, 9)
    old = post.secret(project)
    new = await post.house[WebhooksFeature].webhooks.rotate(await post.owned(project), SYSTEM)
    assert (
        new
        == post.secret(project)
        == await post.house[WebhooksFeature].webhooks.secret(await post.owned(project), SYSTEM)
        != old
    )
    post.start()
    post.happen(project)
    await until(lambda: len(receiver.taken) == 1)
    for secret in (old, new):
        Webhook(secret).verify(receiver.taken[0].body, receiver.taken[0].headers)
    post.pass_time(hours=25)
    post.happen(project)
    await until(lambda: len(receiver.taken) == 2)
    assert [len(request.headers["webhook-signature"].split()) for request in receiver.taken] == [2, 1]
    Webhook(new).verify(receiver.taken[1].body, receiver.taken[1].headers)


@pytest_twisted.ensureDeferred
async def test_a_test_is_sent_at_any_time_and_once(post, receiver):
    receiver.behave = lambda request: 500
    project = await post.project(receiver.url)
    post.start()
    post.happen(project)
    await until(lambda: post.webhook(project)["failures"] == 1)
    post.pass_time(seconds=6)
    await until(lambda: post.webhook(project)["failures"] == 2)
    owned = await post.owned(project)
    await post.house[WebhooksFeature].webhooks.ping(owned, SYSTEM)
    await until(lambda: post.states(project) == ["waiting", "failed"])
    receiver.behave = lambda request: 200
    ping = await post.house[WebhooksFeature].webhooks.ping(owned, SYSTEM)
    await post.all_sent(project)  # what waited goes too: the receiver is back
    assert [request.json["event"] for request in receiver.taken] == ["ping", "task_completed"]
    assert receiver.taken[0].json["sequence"] is None
    assert (await post.house[WebhooksFeature].webhooks.delivery(owned, SYSTEM, ping))[
        "message_id"
    ] == f"ping_{project}_{ping}"


@shows("delivery-log")
@pytest_twisted.ensureDeferred
async def test_what_happened_before_the_address_is_sent_when_it_is_asked_for(post, receiver):
    project = await post.project(None, 12)
    post.happen(project, 3)
    await post.address(project, receiver.url)
    post.start()
    post.happen(project)
    await post.all_sent(project)
    assert seqs(receiver) == [4]
    owned = await post.owned(project)
    assert (await post.house[WebhooksFeature].webhooks.state(owned, SYSTEM))["n_missed"] == 3
    assert await post.house[WebhooksFeature].webhooks.backfill(owned, SYSTEM) == 3
    await until(lambda: len(receiver.taken) == 4)
    assert sorted(seqs(receiver)) == [1, 2, 3, 4] and receiver.taken[-1].path == "/hook"
    assert await post.house[WebhooksFeature].webhooks.backfill(owned, SYSTEM) == 0
    await post.address(project, None)
    post.happen(project, 2)
    await post.address(project, receiver.url)
    post.happen(project)
    await until(lambda: seqs(receiver)[4:] == [7])
    assert await post.house[WebhooksFeature].webhooks.backfill(await post.owned(project), SYSTEM) == 2
    await until(lambda: sorted(seqs(receiver)) == [1, 2, 3, 4, 5, 6, 7])


@shows("delivery-log")
@pytest_twisted.ensureDeferred
async def test_one_and_a_range_are_sent_again(post, receiver):
    project = await post.project(receiver.url, 9)
    post.start()
    post.happen(project, 5)
    await until(lambda: len(receiver.taken) == 5)
    await post.all_sent(project)
    owned, webhooks = await post.owned(project), post.house[WebhooksFeature].webhooks
    await webhooks.again(owned, SYSTEM, post.rows(project)[0]["id"])
    await until(lambda: len(receiver.taken) == 6)
    post.ledger.run("DELETE FROM delivery WHERE seq = 3")  # the log does not keep it any more
    assert await webhooks.replay(owned, SYSTEM, 2, 4) == 3
    await until(lambda: len(receiver.taken) == 9)
    assert sorted(seqs(receiver)[6:]) == [2, 3, 4] and all(r.path.endswith("rerun=True") for r in receiver.taken[5:])
    await post.all_sent(project)
    assert await webhooks.replay(owned, SYSTEM, 5) == 1


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_a_large_backlog_is_made_as_it_goes(post, receiver):
    """Three hundred events while it was off; at no time do all of them wait."""
    project = await post.project(receiver.url, 1)
    post.ledger.run(
        "INSERT INTO event (project_id, kind, task_id, at) SELECT %(p)s, 'task_completed', n, clock() FROM generate_series(1, 300) n",
        p=project,
    )
    post.number(project)
    await post.deliveries.feed([project])
    await post.deliveries.feed([project])
    assert len(post.rows(project)) == 256
    post.start()
    await until(lambda: len(receiver.taken) == 300)
    assert sorted(seqs(receiver)) == [*range(1, 301)]


@pytest_twisted.ensureDeferred
async def test_the_log_is_bounded_in_time_and_rows(post, receiver):
    project = await post.project(receiver.url, 30)
    post.start()
    post.happen(project, 3)
    await post.all_sent(project)
    post.pass_time(days=31)
    post.happen(project, 6)
    await until(lambda: post.states(project) == ["delivered"] * 9)
    await post.quiet()
    receiver.behave = lambda request: 500
    post.happen(project)
    await until(lambda: (last := post.rows(project)[-1])["seq"] == 10 and last["attempts"] == 1)
    assert await post.house[WebhooksFeature].webhooks.prune(30, 4) == 5
    deliveries = [(row["seq"], row["state"]) for row in post.rows(project)]
    assert deliveries == [(6, "delivered"), (7, "delivered"), (8, "delivered"), (9, "delivered"), (10, "waiting")]
    assert post.ledger.value("SELECT count(*) FROM delivery_attempt WHERE project_id = %(p)s", p=project) == 5


@shows("project-delete")
@pytest_twisted.ensureDeferred
async def test_a_deleted_project_takes_its_deliveries_along(post, receiver):
    receiver.behave = lambda request: HANG
    project = await post.project(receiver.url)
    post.start()
    post.happen(project)
    await until(lambda: receiver.at_once == 1)
    assert post.ledger.value("SELECT delete_project(%(p)s)", p=project)
    receiver.gate.set()
    await until(lambda: not post.deliverers[0]._under_way)
    assert post.ledger.value("SELECT count(*) FROM delivery_attempt") == 0


@pytest_twisted.ensureDeferred
async def test_an_address_that_came_by_no_way_of_ours_works_too(post, receiver):
    project = await post.project(None)
    post.ledger.run("UPDATE project SET webhook = %(url)s WHERE id = %(p)s", url=receiver.url, p=project)
    post.start()
    await until(lambda: post.ledger.rows("SELECT 1 FROM webhook"))
    post.happen(project)
    await post.all_sent(project)
    Webhook(post.secret(project)).verify(receiver.taken[0].body, receiver.taken[0].headers)


@pytest_twisted.ensureDeferred
async def test_a_secret_that_cannot_be_read_is_said_in_the_log(post, receiver):
    project = await post.project(receiver.url)
    post.ledger.run(
        "UPDATE webhook SET secret_encrypted = %(x)s", x=Secrets(b"\x08" * 32).encrypt("whsec_x", "elsewhere")
    )
    post.happen(project)
    await post.deliveries.feed([project])
    (due,) = await post.deliveries.due(project, 8, [])
    await post.deliveries.send(due)
    (seen,) = await post.house[WebhooksFeature].webhooks.log(await post.owned(project), SYSTEM)
    assert "Create a new one" in seen["problem"] and receiver.requests == []
    assert await post.house[WebhooksFeature].webhooks.secret(await post.owned(project), SYSTEM) is None
