"""Steady mixed load on a project, at a given rate: what people and programs do on an ordinary day."""

from __future__ import annotations

import asyncio
import itertools
import time

from bench.support.figures import Times
from bench.support.requests import Expected, Requests
from bench.support.testbed import Project
from bench.support.volunteers import address
from bench.support.wire import Client, LostError

TURNS = ("answer", "answer", "answer", "answer", "list", "page", "html", "progress")


class Load:
    """Begins one turn after the other, ``rate`` a second, whether or not the ones before have ended."""

    def __init__(self, port: int, project: Project, rate: float, *, max_under_way: int = 200) -> None:
        self._port, self._project, self._rate = port, project, rate
        self._requests = Requests(port, project)
        self._numbers = itertools.count(1)
        self._under_way: set[asyncio.Task[None]] = set()
        self._maximum = max_under_way
        self._ends = False
        self.times = Times()
        self.done = self.left_out = 0
        self.violations: list[str] = []

    async def run(self, seconds: float = float("inf")) -> None:
        """Until the time is over or ``end`` is called."""
        began, number = time.monotonic(), 0
        while not self._ends and time.monotonic() - began < seconds:
            number += 1
            await asyncio.sleep(max(0.0, began + number / self._rate - time.monotonic()))
            if len(self._under_way) >= self._maximum:
                self.left_out += 1  # it cannot keep up: the figures say so
                continue
            turn = asyncio.create_task(self._turn(TURNS[number % len(TURNS)]))
            self._under_way.add(turn)
            turn.add_done_callback(self._under_way.discard)
        await asyncio.gather(*self._under_way, return_exceptions=True)

    def end(self) -> None:
        """No further turn begins."""
        self._ends = True

    async def _turn(self, name: str) -> None:
        client = Client(self._port, {"X-Forwarded-For": address(next(self._numbers))})
        try:
            await getattr(self, f"_{name}")(client)
            self.done += 1
        except (LostError, OSError, TimeoutError) as error:
            self.violations.append(f"{name}: {error!r}")
        finally:
            client.close()

    async def _answer(self, client: Client) -> None:
        path = f"/api/project/{self._project.id}/newtask"
        with self.times.of("newtask"):
            response = await client.ask("GET", path)
        if response.status == 200 and response.json:
            await self._ask(client, self._requests.answer_to(response.json))

    async def _list(self, client: Client) -> None:
        await self._ask(client, self._requests.tasks())

    async def _page(self, client: Client) -> None:
        await self._ask(client, self._requests.page())

    async def _progress(self, client: Client) -> None:
        await self._ask(client, self._requests.progress())

    async def _html(self, client: Client) -> None:
        with self.times.of("page"):
            answer = await client.ask("GET", f"/project/{self._project.short_name}/", Accept="text/html")
        if answer.status != 200:
            self.violations.append(f"page: {answer.status}")

    async def _ask(self, client: Client, expected: Expected) -> None:
        with self.times.of(expected.name):
            answer = await client.ask(*expected.request)
        if complaint := expected.complaint(answer):
            self.violations.append(complaint)

    def percentile(self, percent: float) -> float:
        """Of all requests, in milliseconds."""
        return self.times.of_all(percent) * 1000
