"""The thread for pictures and files: one thing at a time, and a bounded queue."""

from __future__ import annotations

import io
import threading
from collections.abc import AsyncGenerator

import pytest
import pytest_twisted
from twisted.internet import reactor
from twisted.internet.defer import ensureDeferred, gatherResults

from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.kernel.errors import UnavailableError


@pytest_twisted.ensureDeferred
async def test_calls_beyond_the_queue_are_refused_and_others_run_in_turn():
    worker_thread, free = WorkerThread(reactor, max_waiting=2), threading.Event()
    running = [ensureDeferred(worker_thread.do(free.wait, 60)) for _ in range(3)]
    with pytest.raises(UnavailableError, match="Too many files"):
        await worker_thread.do(free.wait, 60)
    assert await worker_thread.another().do(lambda: "beside it") == "beside it"
    free.set()
    assert await gatherResults(running) == [True, True, True]
    assert await worker_thread.do(lambda: "again") == "again"


async def numbers(asked: list[int], maximum: int) -> AsyncGenerator[int, None]:
    for n in range(maximum):
        asked.append(n)
        yield n
    if maximum == 3:
        raise ValueError("no more")


@pytest_twisted.ensureDeferred
async def test_the_next_one_is_asked_for_while_a_function_runs():
    worker_thread, free, asked = WorkerThread(reactor), threading.Event(), list[int]()
    made = worker_thread.do_each(lambda n: (free.wait(60), n)[1], numbers(asked, 2))
    first = ensureDeferred(anext(made))
    assert asked == [0, 1] and not first.called
    free.set()
    assert [await first, *[n async for n in made]] == [0, 1]


@pytest_twisted.ensureDeferred
async def test_what_goes_wrong_while_a_function_runs_ends_both():
    worker_thread, asked, made = WorkerThread(reactor), list[int](), list[int]()
    with pytest.raises(ValueError, match="no more"):
        async for n in worker_thread.do_each(lambda n: n, numbers(asked, 3)):
            made.append(n)
    assert made == [0, 1], "what the last one gives is not wanted any more"

    def fails(n: int) -> int:
        raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        await anext(worker_thread.do_each(fails, numbers(asked, 2)))
    left = worker_thread.do_each(lambda n: n, numbers(asked, 2))
    assert await anext(left) == 0
    await left.aclose()
    assert await worker_thread.do(lambda: "again") == "again"


@pytest_twisted.ensureDeferred
async def test_large_forms_do_not_wait_for_pictures(served):
    owner = await served.person("owner")
    await served.project(owner)
    free = threading.Event()
    picture = ensureDeferred(served.house.base.worker_thread.do(free.wait, 60))
    files = {"file": ("tasks.csv", "text/csv", io.BytesIO(b"a\n" + b"1\n" * 200_000))}
    answer = await owner.post("/project/birds/tasks/import?response_format=json", data={"map": "y"}, files=files)
    assert answer.json().get("import"), answer.body
    free.set()
    await picture
