"""Parts of files that come at the same time: one is received at a time, so that others need not wait for their tasks."""

from __future__ import annotations

from typing import Any

import pytest_twisted
from support.media import begin, create, state
from support.until import until
from support.wire import Wire, connect
from twisted.internet.defer import Deferred, ensureDeferred
from twisted.internet.task import Clock

from crowdd.http.edge.fair_share import BURST, PART_TURN_SECONDS, PAUSE_SECONDS, PartTurns

_PART = 600_000  # bytes: more than the server reads of a connection at a time
_READ = 2 * 65_536


class Sent:
    """A part that is sent on a connection of its own, and what the server has read of it."""

    def __init__(self, served: Any, wire: Wire, length: int) -> None:
        port = wire.transport.getHost().port
        (self._channel,) = [each for each in served.server._site.channels if each.getPeer().port == port]
        self.wire, self._left = wire, _PART - length

    @property
    def read(self) -> int:
        return self._channel._came

    def rest(self) -> None:
        self.wire.transport.write(bytes(self._left))

    async def status(self, clock: Clock) -> int:
        await until(lambda: clock.advance(PAUSE_SECONDS) or self.wire.got)
        return int(self.wire.got.split()[1])


async def sent(served: Any, owner: Any, url: str, length: int, key: str | None = None) -> Sent:
    head = (
        f"PATCH {url} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {key or owner.key}\r\nTus-Resumable: 1.0.0\r\n"
        f"Content-Type: application/offset+octet-stream\r\nUpload-Offset: 0\r\nContent-Length: {_PART}\r\n\r\n"
    )
    wire = await connect(owner.base, head.encode() + bytes(length))
    number = wire.transport.getHost().port
    await until(lambda: any(each.getPeer().port == number for each in served.server._site.channels))
    return Sent(served, wire, length)


@pytest_twisted.ensureDeferred
async def test_one_part_is_received_at_a_time_and_a_slow_sender_gives_its_turn_up(served):
    clock = Clock()
    turns = served.server._site.part_turns = PartTurns(clock)
    waiting = turns._turns._waiting
    owner, volunteer = await served.person("owner"), served.client()
    project = await served.project(owner, tasks=2, published=True)
    batch = await begin(owner)
    urls = [(await create(owner, batch, f"{n}.bin", _PART)).header("location") for n in range(4)]

    slow = await sent(served, owner, urls[0], 1000)
    await until(lambda: turns._turns._running)
    second = await sent(served, owner, urls[1], _PART)
    await until(lambda: len(waiting) == 1)
    gone, fourth = await sent(served, owner, urls[2], _PART), await sent(served, owner, urls[3], _PART)
    await until(lambda: len(waiting) == 3)
    # This takes several turns of the reactor, in which they could have been read.
    assert (await volunteer.get(f"/api/project/{project['id']}/newtask")).json()["id"]
    assert max(each.read for each in (second, gone, fourth)) <= _READ and not second.wire.got

    gone.wire.transport.abortConnection()
    clock.advance(PART_TURN_SECONDS)
    assert await second.status(clock) == 204
    assert await fourth.status(clock) == 204, (
        "the end of the second part, and the time that it took, is the turn of the fourth"
    )
    slow.rest()
    assert await slow.status(clock) == 204
    await until(lambda: clock.advance(PAUSE_SECONDS) or not turns._turns._running)
    assert not waiting
    assert (await state(owner, batch))["arriving"] == 1


@pytest_twisted.ensureDeferred
async def test_a_part_is_received_in_bursts_with_pauses(served):
    clock = Clock()
    turns = served.server._site.part_turns = PartTurns(clock)
    owner = await served.person("owner")
    await served.project(owner)
    batch = await begin(owner)
    part = await sent(served, owner, (await create(owner, batch, "a.bin", _PART)).header("location"), _PART)
    for burst in range(1, _PART // (BURST + _READ)):
        await until(lambda burst=burst: part.read >= burst * BURST)
        await owner.get("/api/globalstats")  # takes several turns of the reactor, in which more could have been read
        assert part.read < (burst + 1) * (BURST + _READ) and not part.wire.got
        clock.advance(PAUSE_SECONDS)
    assert await part.status(clock) == 204
    await until(lambda: clock.advance(PAUSE_SECONDS) or not turns._turns._running)
    assert not clock.getDelayedCalls(), "no pause is left"


def test_others_have_the_machine_for_themselves_after_each_part():
    clock, begun = Clock(), [Deferred(), Deferred(), Deferred()]
    left, turns = iter(begun), PartTurns(clock)
    begins = list[Deferred[None]]()

    def begin() -> Deferred[None]:
        begins.append(next(left))
        return begins[-1]

    for _ in range(3):
        ensureDeferred(turns.take(begin))
    clock.advance(0.1)
    begun[0].callback(None)
    clock.advance(0.09)
    assert len(begins) == 1
    clock.advance(0.02)
    assert len(begins) == 2
    clock.advance(PART_TURN_SECONDS)
    assert len(begins) == 3, "a slow sender keeps nobody busy"


@pytest_twisted.ensureDeferred
async def test_strangers_and_requests_without_a_body_take_no_turn(served):
    clock = Clock()
    turns = served.server._site.part_turns = PartTurns(clock)
    owner, other = await served.person("owner"), await served.person("other")
    await served.project(owner)
    batch = await begin(owner)
    url = (await create(owner, batch, "a.bin", _PART)).header("location")
    busy = await sent(served, owner, url, 1000)
    await until(lambda: turns._turns._running)
    for key, refusal in ((other.key, 404), ("nobody", 401)):
        assert await (await sent(served, owner, url, 1000, key)).status(clock) == refusal
    assert (await create(owner, batch, "b.bin", 5)).status == 201
    assert not turns._turns._waiting
    busy.wire.transport.abortConnection()
    await until(lambda: clock.advance(PAUSE_SECONDS) or not turns._turns._running)
