"""What is due is compared by a process of its own, and one huge answer stops no others."""

from __future__ import annotations

import os
import signal

import pytest
import pytest_twisted
from support.ledger import Ledger

from crowdd.features.results import comparing_program
from crowdd.features.results.comparing_process import ComparingProcess
from crowdd.features.results.comparisons import Comparisons
from crowdd.kernel.concurrency.worker_thread import WorkerThread

FIELDS = '[{"name": "line", "at": "/line", "type": "text"}]'
SAID = "SELECT task_id, consensus FROM result WHERE last_version ORDER BY 1"


def texts(*values):
    import orjson

    return {
        "fields": [{"path": "{line}", "type": "text"}],
        "answers": orjson.dumps([[[v]] for v in values]).decode(),
        "first": None,
    }


@pytest.fixture
def comparing():
    from twisted.internet import reactor

    made = ComparingProcess(WorkerThread(reactor))
    yield made
    made._process.end()


@pytest_twisted.ensureDeferred
async def test_a_task_that_ends_the_process_stops_no_others(comparing):
    broken = {**texts("x"), "answers": "[[["}
    label = {"fields": [{"path": "{a}", "type": "label", "choices": [1]}], "answers": "[[[1]],[[1]]]", "first": None}
    outcomes = await comparing.compare([texts("a fox"), broken, label, texts("an owl", "an owl")])
    assert outcomes[0]["said"][0]["value"] == "a fox"
    assert outcomes[1]["error"].startswith("the process ended")
    assert outcomes[2]["said"] == [None] and outcomes[2]["alpha"][0]["class 1"] == "2"
    assert outcomes[3]["said"][0]["value"] == "an owl"
    process = comparing._process._process
    again = await comparing.compare([texts("x")])
    assert again[0]["said"][0]["value"] == "x" and comparing._process._process is process, "it stays"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert (await comparing.compare([texts("y")]))[0]["said"][0]["value"] == "y", "another one was started"
    assert (await comparing.compare([{**label, "answers": "[["}]))[0]["error"].startswith("JSONDecodeError")


def test_a_task_has_a_limit_of_time(monkeypatch):
    monkeypatch.setattr(comparing_program, "MAX_SECONDS", 0.01)
    monkeypatch.setattr(comparing_program, "compare_task", lambda *task: [None for _ in iter(int, 1)])
    before = signal.signal(signal.SIGALRM, comparing_program._late)
    try:
        assert comparing_program.compare_or_explain({"fields": [], "answers": [], "first": None}) == {
            "error": "took more than 0.01 seconds"
        }
    finally:
        signal.signal(signal.SIGALRM, before)


@pytest_twisted.ensureDeferred
async def test_what_is_due_is_compared_and_told(services, dsn, caplog):
    ledger = Ledger(dsn)
    project = ledger.project(tasks=3, n=2)
    ledger.run("UPDATE project SET info = jsonb_build_object('answers', %(f)s::jsonb)", f=FIELDS)
    first, second, third = ledger.tasks(project)
    for task in (first, second, third):
        for who in ("c:1", "c:2"):
            ledger.hold(project, who, task)
            ledger.answer(project, who, task, {"line": "A fox"})
    ledger.run("UPDATE comparison_due SET result_id = 0 WHERE task_id = %(t)s", t=third)
    project_ids = []
    comparisons = Comparisons(services.db, project_ids.append, services.comparisons.process)

    class Failing:
        async def compare(self, tasks):
            return [{"error": "no"}, *(await services.comparisons.process.compare(tasks[1:]))]

        async def expected(self, fields, tasks, seed):
            return await services.comparisons.process.expected(fields, tasks, seed)

    try:
        failing = Comparisons(services.db, project_ids.append, Failing())
        assert await failing.run() == {project}
        assert project_ids == [project]
        assert [row["consensus"] for row in ledger.rows(SAID)] == [None, "A fox", None]
        assert ledger.rows("SELECT task_id, failure FROM comparison_due") == [{"task_id": first, "failure": "no"}]
        assert await comparisons.run() == set(), "what failed is not tried again"
        ledger.run("SELECT compare_result(%(p)s, %(t)s)", p=project, t=first)
        assert await comparisons.run() == {project} and await comparisons.run() == set()
        assert [row["consensus"] for row in ledger.rows(SAID)] == ["A fox", "A fox", None]
        assert ledger.value("SELECT count(*) FROM alpha_delta") == 0
        assert ledger.value("SELECT expected FROM alpha_expected") == 0
    finally:
        services.comparisons.process._process.end()
        ledger.close()
