"""What is due is compared by a process of its own, and one huge answer stops no others."""

from __future__ import annotations

import os
import select
import signal
import threading
import time

import orjson
import pytest
import pytest_twisted
from psycopg2.extras import Json
from support.ledger import Ledger

from crowdd.features.results import (
    alpha,
    alpha_sums,
    comparing_marks,
    comparing_process,
    comparing_program,
    outcome_statements,
)
from crowdd.features.results.comparing_process import ComparingProcess
from crowdd.features.results.comparisons import Comparisons
from crowdd.features.results.feature import ResultsFeature
from crowdd.kernel.concurrency.isolated import HelperProcess
from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.kernel.errors import StoppedError
from crowdd.kinds import answers

FIELDS = '[{"name": "line", "at": "/line", "type": "text"}]'
BOX = {"x": 0, "y": 0, "width": 9, "height": 9}
SAID = "SELECT task_id, consensus FROM result WHERE last_version ORDER BY 1"


def texts(*values):
    return {
        "fields": [{"path": "{line}", "type": "text"}],
        "answers": orjson.dumps([[[v]] for v in values]).decode(),
        "first": None,
        "seconds": 5,
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
    label = {
        "fields": [{"path": "{a}", "type": "label", "choices": [1]}],
        "answers": "[[[1]],[[1]]]",
        "first": None,
        "seconds": 5,
    }
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


@pytest.fixture
def expiring():
    """The handler that the program sets; the timer of pytest is another one."""
    before = signal.signal(signal.SIGPROF, comparing_program.expire)
    yield
    signal.signal(signal.SIGPROF, before)


@pytest.mark.usefixtures("expiring")
def test_a_field_that_takes_too_long_harms_no_other(monkeypatch):
    def endless(field, values):
        while True:
            pass

    monkeypatch.setitem(comparing_process.COMPARED, "boxes", endless)
    types = ("text", "boxes", "number", "spans")
    fields = [{"path": "{a}", "type": each} for each in types]
    answers = [[["a fox"], [marks], [3], [[{"start": 0, "end": 2}]]] for marks in ([], [BOX])]
    task = {"fields": fields, "answers": answers, "first": None, "seconds": 0.05}
    compared = comparing_program.reply_to(task)
    assert compared["said"][0]["value"] == "a fox" and compared["said"][3]["agreement"] == 1
    assert compared["said"][1] is compared["said"][2] is compared["alpha"][1] is None
    assert [sums and sums["values"] for sums in compared["alpha"]] == ["2", None, "2", "2"]
    assert compared["failure"] == "answer field 2 (boxes): took more than 0.05 seconds of processor time"
    monkeypatch.setitem(comparing_process.COMPARED, "boxes", lambda *_: bytes(10**15))
    assert comparing_program.reply_to(task)["failure"] == "answer field 2 (boxes): took too much memory"
    # The same of chance agreement.
    monkeypatch.setattr(comparing_marks, "read_boxes", lambda value: endless(None, value))
    monkeypatch.setitem(alpha_sums._DISTANCES, "boxes", (comparing_marks.read_boxes, None))
    question = {
        "fields": [fields[0], None, fields[1]],
        "tasks": [[[["a"], [1], [[BOX]]]] * 2],
        "seed": 1,
        "seconds": 0.05,
    }
    measured = comparing_program.reply_to(question)["expected"]
    assert measured == [0, None, "took more than 0.05 seconds of processor time"]


@pytest.mark.usefixtures("expiring")
def test_time_in_which_others_have_the_processor_does_not_count():
    limit = comparing_program.ProcessorTime(0.2)

    def waits():
        end = time.monotonic() + 0.6
        while time.monotonic() < end:
            select.select([], [], [], 0.05)
        return "done"

    assert limit(waits) == "done"
    with pytest.raises(TimeoutError):
        limit(lambda: [None for _ in iter(int, 1)])


def test_a_process_that_has_to_wait_for_the_processor_is_waited_for():
    process = HelperProcess("crowdd.features.results.comparing_program")

    def ask(within, **task):
        return process.ask(orjson.dumps([task]) + b"\n", within, of_processor=True)

    text = {"fields": [{"path": "{a}", "type": "text"}], "answers": [[["a fox"]]], "first": None, "seconds": 5}
    assert ask(30, **text)[0]
    pid = process._process.pid
    os.kill(pid, signal.SIGSTOP)  # as if others had all processors
    threading.Timer(1.5, os.kill, (pid, signal.SIGCONT)).start()
    answer, ended = ask(0.5, **text)
    assert (orjson.loads(answer)[0]["said"][0]["value"], ended, process._process.pid) == ("a fox", 0, pid)
    overlapping = [{"x": n / 1000, "y": 0, "width": 10, "height": 10} for n in range(1500)]
    boxes = {
        "fields": [{"path": "{a}", "type": "boxes"}],
        "answers": [[[overlapping]], [[overlapping[::-1]]]] * 2,
        "first": None,
    }
    assert ask(0.5, **boxes, seconds=100) == (b"", -signal.SIGKILL)
    process.end()


@pytest_twisted.ensureDeferred
async def test_what_is_due_is_compared_and_told(house, dsn, caplog):
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
    comparisons = Comparisons(house.base.db, project_ids.append, house[ResultsFeature].comparisons.process)

    class Failing:
        """Fails to compare the first of several tasks, and each that comes alone."""

        async def compare(self, tasks):
            seconds.extend(task["seconds"] for task in tasks)
            return [{"error": "no"}, *(await house[ResultsFeature].comparisons.process.compare(tasks[1:]))]

        async def expected(self, fields, tasks, seed, seconds):
            return ["not now"]

    def later(seconds):
        ledger.run("UPDATE clock_shift SET ahead = ahead + %(s)s * interval '1 second'", s=seconds)

    failed = "SELECT task_id, failure, tries, retry_at IS NULL AS by_hand FROM comparison_due"
    check = "SELECT what, key FROM check_comparisons(%(p)s, clock())"
    seconds = []
    try:
        failing = Comparisons(house.base.db, project_ids.append, Failing())
        assert await failing.run() == {project}
        assert project_ids == [project]
        assert [row["consensus"] for row in ledger.rows(SAID)] == [None, "A fox", None]
        assert ledger.rows(failed) == [{"task_id": first, "failure": "no", "tries": 1, "by_hand": False}]
        assert await comparisons.run() == set(), "not yet"
        assert ledger.rows(check, p=project) == []
        later(31)
        assert await failing.run() == {project}, "it is tried again"
        later(31)
        assert await failing.run() == set()
        later(90)
        assert await failing.run() == {project}
        assert ledger.rows(failed) == [{"task_id": first, "failure": "no", "tries": 3, "by_hand": True}]
        later(10_000)
        assert await failing.run() == set(), "it is tried again by hand only"
        assert seconds == [5, 5, 5, 10, 20], "each time it has more time"
        assert ledger.rows("SELECT field, expected, answers, failure, tries, retry_at FROM alpha_expected") == [
            {"field": 1, "expected": None, "answers": 0, "failure": "not now", "tries": 3, "retry_at": None}
        ]
        assert {row["key"] for row in ledger.rows(check, p=project)} == {f"task {first}", "field 1"}
        assert await outcome_statements.count_failed(house.base.db, project) == {
            "results": 1, "fields": 1, "gold": 0, "failure": "no", "again": False
        }  # fmt: skip
        assert await outcome_statements.retry_failed(house.base.db, project) == 2
        assert (await outcome_statements.count_failed(house.base.db, project))["again"]
        assert await comparisons.run() == {project} and await comparisons.run() == set()
        assert [row["consensus"] for row in ledger.rows(SAID)] == ["A fox", "A fox", None]
        assert (
            ledger.value("SELECT count(*) FROM comparison_due") == ledger.value("SELECT count(*) FROM alpha_due") == 0
        )
        assert ledger.value("SELECT count(*) FROM alpha_delta") == 0
        assert ledger.rows("SELECT expected, failure, tries, answers FROM alpha_expected") == [
            {"expected": 0, "failure": None, "tries": 0, "answers": 4}
        ]
        ledger.run("UPDATE comparison_due SET failure = 'no'")
        assert ledger.rows(check, p=project) == []
    finally:
        house[ResultsFeature].comparisons.process._process.end()
        ledger.close()


@pytest_twisted.ensureDeferred
async def test_a_field_that_fails_keeps_the_others_and_comes_by_itself(house, dsn):
    ledger = Ledger(dsn)
    project = ledger.project(tasks=1, n=2)
    fields = [{"name": "line", "at": "/line", "type": "text"}, {"name": "at", "at": "/at", "type": "points"}]
    ledger.run("UPDATE project SET info = jsonb_build_object('answers', %(f)s::jsonb)", f=Json(fields))
    (task,) = ledger.tasks(project)
    for who in ("c:1", "c:2"):
        ledger.hold(project, who, task)
        ledger.answer(project, who, task, {"line": "a fox", "at": [{"x": 1, "y": 2}]})
    process = house[ResultsFeature].comparisons.process

    class Slow:
        async def compare(self, tasks):
            (one,) = await process.compare(tasks)
            first = {name: [one[name][0], None] for name in ("said", "alpha")}
            return [{**first, "failure": "answer field 2 (points): took too long"}]

        async def expected(self, fields, tasks, seed, seconds):
            assert [field and field["type"] for field in fields] == ["text", None], (
                "nothing is known of the second field"
            )
            return await process.expected(fields, tasks, seed, seconds)

    events = "SELECT data FROM event WHERE kind = 'result_compared' ORDER BY id"
    try:
        await Comparisons(house.base.db, lambda _: None, Slow()).run()
        row = ledger.row("SELECT * FROM result WHERE last_version")
        assert (row["consensus"], row["further"]) == ("a fox", [None])
        assert [sums and sums["values"] for sums in row["alpha"]] == ["2", None]
        (event,) = ledger.rows(events)
        assert event["data"]["consensus"]["line"]["value"] == "a fox" and event["data"]["consensus"]["at"] is None
        ledger.run("UPDATE clock_shift SET ahead = ahead + interval '40 seconds'")
        assert await house[ResultsFeature].comparisons.run() == {project}
        row = ledger.row("SELECT * FROM result WHERE last_version")
        assert row["further"][0]["value"] == [{"x": 1, "y": 2}]
        assert [sums["values"] for sums in row["alpha"]] == ["2", "2"]
        assert ledger.rows(events)[1]["data"]["consensus"]["at"]["value"] == [{"x": 1, "y": 2}]
        alphas = await alpha.of_project(house.base.db, project, answers.declared({"answers": fields}))
        assert [(one["tasks"], one["pending"], one["failure"]) for one in alphas] == [(1, False, None)] * 2
    finally:
        process._process.end()
        ledger.close()


@pytest_twisted.ensureDeferred
async def test_chance_is_measured_although_the_server_was_killed_before(house, dsn):
    """What is to be measured is written with what was compared, so that nobody has to remember it."""
    ledger = Ledger(dsn)
    project = ledger.project(tasks=2, n=2)
    ledger.run("UPDATE project SET info = jsonb_build_object('answers', %(f)s::jsonb)", f=FIELDS)
    for task, lines in zip(ledger.tasks(project), (("a fox", "a fix"), ("an owl", "an owl")), strict=True):
        for who, line in zip(("c:1", "c:2"), lines, strict=True):
            ledger.hold(project, who, task)
            ledger.answer(project, who, task, {"line": line})
    comparisons = house[ResultsFeature].comparisons

    class Killed:
        async def compare(self, tasks):
            return await comparisons.process.compare(tasks)

        async def expected(self, fields, tasks, seed, seconds):
            raise StoppedError("ending")

    try:
        with pytest.raises(StoppedError):
            await Comparisons(house.base.db, lambda _: None, Killed()).run()
        assert ledger.value("SELECT count(*) FROM comparison_due") == 0
        (line,) = await alpha.of_project(house.base.db, project, answers.declared({"answers": orjson.loads(FIELDS)}))
        assert (line["alpha"], line["pending"], line["tasks"]) == (None, True, 2)
        assert await comparisons.run() == set(), "there is nothing to compare"
        (line,) = await alpha.of_project(house.base.db, project, answers.declared({"answers": orjson.loads(FIELDS)}))
        assert line["alpha"] is not None and not line["pending"]
        assert ledger.value("SELECT count(*) FROM alpha_due") == 0
    finally:
        comparisons.process._process.end()
        ledger.close()
