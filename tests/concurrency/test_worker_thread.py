"""The thread for pictures and files: one thing at a time, and a bounded queue."""

from __future__ import annotations

import io
import threading

import pytest
import pytest_twisted
from twisted.internet import reactor
from twisted.internet.defer import ensureDeferred, gatherResults

from crowdd.concurrency.worker_thread import WorkerThread
from crowdd.errors import UnavailableError


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


@pytest_twisted.ensureDeferred
async def test_large_forms_do_not_wait_for_pictures(served):
    owner = await served.person("owner")
    await served.project(owner)
    free = threading.Event()
    picture = ensureDeferred(served.services.people.worker_thread.do(free.wait, 60))
    files = {"file": ("tasks.csv", "text/csv", io.BytesIO(b"a\n" + b"1\n" * 200_000))}
    answer = await owner.post("/project/birds/tasks/import?response_format=json", data={"map": "y"}, files=files)
    assert answer.json().get("import"), answer.body
    free.set()
    await picture
