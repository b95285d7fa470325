"""Steady load on a crowdd whose database goes away for a while."""

from __future__ import annotations

import asyncio
import itertools
import time

import attrs
from support.servers.live import LiveServer

from bench.support.requests import Expected, Requests, marks
from bench.support.testbed import Postgres, Project, Sql
from bench.support.volunteers import address
from bench.support.wire import Client, Response

BEFORE_SECONDS, AFTER_SECONDS = 2.0, 5.0  # at most; an outage that is short for a test has less around it
PAUSE_SECONDS = 0.02  # between two requests of a client
BACK_SECONDS = 4.0  # how soon after the database the server is back: its longest pause between attempts, and some more
SLOW_SECONDS = 3.0  # what a refusal may take beyond the time that it waits for a connection
_ERROR_KEYS = {"status", "status_code", "action", "target", "exception_cls", "exception_msg", "error_code", "hint"}


@attrs.frozen
class Seen:
    """One answer: when it was asked for and when it came, in seconds; ``complaint`` is "" for a right one."""

    name: str
    asked: float
    came: float
    status: int
    complaint: str


class Outage:
    """Clients that ask all the time, and a database that is stopped for ``away`` seconds in the middle.

    ``crashes``: it ends in disorder, and may lose leases of its last half second (record 54). Each client has one at
    most. A client that has lost it is told so, and its answer is not confirmed.
    """

    def __init__(
        self,
        server: LiveServer,
        project: Project,
        postgres: Postgres,
        *,
        clients: int,
        away: float,
        crashes: bool = False,
    ) -> None:
        self._crashes, self.lost_leases = crashes, 0
        self._server, self._project, self._postgres = server, project, postgres
        self._clients, self._away = clients, away
        self._requests = Requests(server.port, project)
        self._numbers = itertools.count(1_000_000)
        self._done = False
        self.seen: list[Seen] = []
        self.certain: list[Expected] = []  # what was answered with 200 and has to be in the database
        self.stopped = self.returned = 0.0

    async def run(self) -> None:
        """Before, without, after."""
        self._began = time.monotonic()
        load = [asyncio.create_task(self._keep_asking(number)) for number in range(self._clients)]
        await asyncio.sleep(min(BEFORE_SECONDS, self._away / 2))
        self.stopped = self._now()
        await asyncio.to_thread(self._postgres.stop)
        await asyncio.sleep(max(0.0, self.stopped + self._away - self._now()))
        await asyncio.to_thread(self._postgres.start)
        self.returned = self._now()
        await asyncio.sleep(min(AFTER_SECONDS, self._away + 1))
        self._done = True
        await asyncio.gather(*load)

    def _now(self) -> float:
        return time.monotonic() - self._began

    async def _keep_asking(self, number: int) -> None:
        kinds = [self._answer_a_task, self._look, self._add]
        while not self._done:
            await kinds[number % len(kinds)]()
            await asyncio.sleep(PAUSE_SECONDS)

    async def _answer_a_task(self) -> None:
        """One new volunteer: a task and its answer. After a refusal they send it again, perhaps in vain."""
        volunteer = Client(self._server.port, {"X-Forwarded-For": address(next(self._numbers))})
        wanted = self._requests.newtask()
        answer = await self._ask(volunteer, wanted)
        if answer.status != 200:
            volunteer.close()
            return
        expected = self._requests.answer_to(answer.json)
        await self._until_stored(volunteer, expected)
        volunteer.close()

    async def _until_stored(self, volunteer: Client, expected: Expected) -> None:
        while (answer := await self._ask(volunteer, expected)).status == 503:
            expected = attrs.evolve(expected, repeated=True)
            await asyncio.sleep(PAUSE_SECONDS)
        if answer.status == 200:
            self.certain.append(expected)

    async def _look(self) -> None:
        client = Client(self._server.port)
        for wanted in (self._requests.tasks(), self._requests.page(), self._requests.progress()):
            await self._ask(client, wanted)
        client.close()

    async def _add(self) -> None:
        wanted = self._requests.add_tasks()
        client = Client(self._server.port, query=self._requests.owner.query)
        if (await self._ask(client, wanted)).status == 200:
            self.certain.append(wanted)
        client.close()

    async def _ask(self, client: Client, expected: Expected) -> Response:
        asked = self._now()
        answer = await client.ask(*expected.request)
        complaint = refusal_complaint(expected, answer) if answer.status == 503 else expected.complaint(answer)
        if self._crashes and answer.status == 403 and answer.json["error_code"] == "no_lease":
            self.lost_leases, complaint = self.lost_leases + 1, ""
        self.seen.append(Seen(expected.name, asked, self._now(), answer.status, complaint))
        return answer

    def lines(self) -> list[tuple[str, object]]:
        """For people."""
        refused = [seen for seen in self.seen if seen.status == 503]
        back = max((seen.came for seen in refused), default=self.returned) - self.returned
        return [
            ("requests around the outage", len(self.seen)),
            (
                "refused with 503",
                f"{len(refused)}, after {max((s.came - s.asked for s in refused), default=0):.1f} s at most",
            ),
            ("without a database", f"{self.returned - self.stopped:.1f} s"),
            ("last refusal after its return", f"{max(back, 0):.1f} s"),
            *([("leases lost with it", self.lost_leases)] if self._crashes else []),
        ]

    def violations(self, pool_timeout: float, sql: Sql) -> list[str]:
        """What should not have come back, come so late, or be missing."""
        complaints = [seen.complaint for seen in self.seen if seen.complaint]
        refused = [seen for seen in self.seen if seen.status == 503]
        if not refused:
            complaints.append("Nobody was refused while the database was away")
        for seen in refused:
            if seen.came < self.stopped or seen.asked > self.returned + BACK_SECONDS:
                complaints.append(
                    f"{seen.name}: refused while the database was there, {seen.came - self.returned:.1f} s after"
                )
            if seen.came - seen.asked > pool_timeout + SLOW_SECONDS:
                complaints.append(f"{seen.name}: refused only after {seen.came - seen.asked:.1f} s")
        if self.lost_leases > self._clients:
            complaints.append(f"{self.lost_leases} leases were lost, more than the clients can have had")
        stored_marks = marks(sql)
        missing = [each.name for each in self.certain if not stored_marks.issuperset(each.marks)]
        return complaints + [f"{name}: confirmed, and not in the database" for name in missing] + self._never_again()

    def _never_again(self) -> list[str]:
        healthy = {seen.name for seen in self.seen if seen.status == 200 and seen.asked > self.returned}
        return [f"{name}: no success after the return" for name in {seen.name for seen in self.seen} - healthy]


def refusal_complaint(expected: Expected, answer: Response) -> str:
    """What is wrong with a 503: it needs Retry-After, and on /api the error object of every API error."""
    if not answer.headers.get("retry-after", "").isdigit():
        return f"{expected.name}: 503 without Retry-After"
    body = answer.json
    if not expected.request[1].startswith("/api/"):
        return "" if isinstance(body, dict) and body.get("code") == 503 else f"{expected.name}: {answer.body[:200]!r}"
    fits = isinstance(body, dict) and body.keys() >= _ERROR_KEYS and body["status_code"] == 503
    return "" if fits and body["exception_cls"] == "ServiceUnavailable" else f"{expected.name}: {answer.body[:200]!r}"
