"""Volunteers who answer at a given pace and, like real clients, send again what they do not know the outcome of."""

from __future__ import annotations

import asyncio
import time
import uuid
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import attrs

from bench.support.figures import Times
from bench.support.testbed import Project
from bench.support.wire import Client, Response

AGAIN_SECONDS = 0.25
STANDSTILL_SECONDS = 1.0  # this machine gave us no turn for so long: it is halted, or hopelessly busy
ATTEMPT_SECONDS = 20.0  # after that a client takes its connection for dead


@attrs.frozen
class Confirmed:
    """An answer that a volunteer was told is stored. ``run`` is None where they were told that it was there already."""

    task: int
    run: int | None
    asked: float
    told: float


class Volunteers:
    """Everybody who answers. Every second one sends an Idempotency-Key.

    ``confirmed``: what they were told. ``failed``: requests without a good outcome, by what came instead.
    ``standstills``: when this machine itself stood still, as begin and end.
    """

    def __init__(self, project: Project, clients: list[Client], rate: float) -> None:
        self._project, self._clients, self._rate = project, clients, rate
        self._turns = asyncio.Semaphore(0)
        self._stopping = False
        self._at_work: list[asyncio.Task[None]] = []
        self.times = Times()
        self.confirmed: list[Confirmed] = []
        self.failed: dict[str, int] = {}
        self.repeated = self.found_stored = self.recognised = self.lost_leases = self.waits = 0
        self.violations: list[str] = []
        self.standstills: list[tuple[float, float]] = []

    def begin(self) -> None:
        """Sends everybody to work."""
        self._at_work = [asyncio.create_task(self._pace())]
        self._at_work += [asyncio.create_task(self._work(n, client)) for n, client in enumerate(self._clients)]

    async def end(self) -> None:
        """Lets everybody finish what they have begun, however long it takes."""
        self._stopping = True
        for _ in self._clients:
            self._turns.release()
        await asyncio.gather(*self._at_work)

    def silence(self, since: float) -> float:
        """The longest time without a confirmed answer, until now; not what the machine stood still."""
        moments = [since, *sorted(each.told for each in self.confirmed if each.told > since), time.monotonic()]
        return max(later - earlier - self.stood_still(earlier, later) for earlier, later in pairwise(moments))

    def stood_still(self, since: float, until: float) -> float:
        """How long this machine stood still in between."""
        return sum(max(0.0, min(end, until) - max(begin, since)) for begin, end in self.standstills)

    def confirmed_since(self, moment: float) -> int:
        """How many answers were sent after this and confirmed."""
        return sum(each.asked > moment for each in self.confirmed)

    async def _pace(self) -> None:
        began, released = time.monotonic(), 0
        before = began
        while not self._stopping:
            now = time.monotonic()
            if now - before > STANDSTILL_SECONDS:
                self.standstills.append((before, now))
            before = now
            # What could not begin while the servers were away is not made up for.
            due = int((time.monotonic() - began) * self._rate)
            if self._turns.locked():
                for _ in range(min(due - released, len(self._clients))):
                    self._turns.release()
            released = due
            await asyncio.sleep(0.01)

    async def _work(self, number: int, client: Client) -> None:
        while True:
            await self._turns.acquire()
            if self._stopping:
                return
            task = await self._next_task(client)
            if task is not None:
                await self._answer(client, task, keyed=number % 2 == 0)

    async def _next_task(self, client: Client) -> Any:
        answer, _, _ = await self._insist(client, "newtask", "GET", f"/api/project/{self._project.id}/newtask")
        if answer.status == 200 and answer.json:
            return answer.json
        if answer.status != 200 or answer.headers.get("x-no-task") != "wait":
            self.violations.append(f"newtask: {answer}")
        self.waits += 1
        return None

    async def _answer(self, client: Client, task: Any, *, keyed: bool) -> None:
        body = {"project_id": self._project.id, "task_id": task["id"], "info": {"seen": task["info"]["n"] % 2}}
        headers = {"Idempotency-Key": str(uuid.uuid4())} if keyed else {}
        asked = time.monotonic()
        answer, repeated, sent = await self._insist(client, "taskrun", "POST", "/api/taskrun", body, **headers)
        code = answer.json.get("error_code") if answer.json and answer.status == 403 else None
        if answer.status == 200 and answer.json["task_id"] == task["id"]:
            self._confirm(task, answer.json["id"], asked)
            self.repeated += repeated
            self.found_stored += repeated and datetime.fromisoformat(answer.json["finish_time"]) < sent
        elif code == "duplicate" and repeated and not keyed:
            self.recognised += 1
            self._confirm(task, None, asked)
        elif (
            code == "no_lease"
        ):  # leases of the last moment before a failure may be lost; the volunteer asks for another task
            self.lost_leases += 1
        else:
            self.violations.append(f"The answer to task {task['id']} was refused: {answer}")

    def _confirm(self, task: Any, run: int | None, asked: float) -> None:
        self.confirmed.append(Confirmed(task["id"], run, asked, time.monotonic()))

    async def _insist(
        self, client: Client, name: str, *request: Any, **headers: str
    ) -> tuple[Response, bool, datetime]:
        """An answer, whether an attempt before the last may have had an effect, and when the last began."""
        repeated = False
        while True:
            sent = datetime.now(UTC).replace(tzinfo=None)
            try:
                with self.times.of(name):
                    async with asyncio.timeout(ATTEMPT_SECONDS):
                        answer = await client.ask(*request, **headers)
            except OSError as error:  # TimeoutError is one
                client.close()
                self._count(f"{name}: {type(error).__name__}")
            else:
                if answer.status < 500:
                    return answer, repeated, sent
                self._count(f"{name}: {answer.status}")
            repeated = True
            await asyncio.sleep(AGAIN_SECONDS)

    def _count(self, what: str) -> None:
        self.failed[what] = self.failed.get(what, 0) + 1
