"""Adding tasks: each row once, and each refused one with its reason, whatever happens on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from crowdd_client import (
    Client,
    ConnectionLostError,
    ForbiddenError,
    Refused,
    ResumeError,
    Retries,
    TooManyRefusedError,
)
from crowdd_client import upload as upload_module
from crowdd_client.journal import KEPT_SECONDS
from support.servers.breaking_proxy import LOSE_RESPONSE, PASS


def numbers(project):
    """The ``n`` of all tasks."""
    return [task["info"]["n"] for task in project.tasks()]


def test_sums_are_exact_and_each_refused_row_has_its_reason(project):
    rows = [{"n": n} for n in range(1000)]
    for n in (0, 7, 8, 499, 500, 998):
        rows[n] = {"n": n, "n_answers": 0}
    rows[3] = {"n": 3, "n_answers": "many"}
    rows[5] = {"n": float("inf")}
    rows[6] = {"n": 2**64}
    rows[9] = {"n": "\x00"}
    report = project.add_tasks(rows, n_answers=2, batch=300)
    assert [each.row for each in report.refused] == [0, 3, 5, 6, 7, 8, 9, 499, 500, 998]
    assert (report.sent, report.added) == (1000, 990) and str(report) == "1,000 rows = 990 added + 10 refused"
    reasons = {each.row: each.reason for each in report.refused}
    assert reasons[0] == "`n_answers` must be between 1 and 10000 (got 0)."
    assert "not finite" in reasons[5] and "64 bits" in reasons[6] and "NUL" in reasons[9]
    assert numbers(project) == [n for n in range(1000) if n not in reasons]
    assert {task["n_answers"] for task in project.tasks()} == {2}


def test_columns_become_attributes_and_info(project):
    report = project.add_tasks(
        [
            {"url": "a", "n_answers": 3, "priority_0": 0.5, "state": "completed"},
            {"info": {"whole": [1]}, "n_answers": None},
            {"info": "text"},
            {"info": 1, "other": 2},
        ]
    )
    assert report.added == 4
    rows = [(task["info"], task["n_answers"], task["priority_0"]) for task in project.tasks()]
    assert rows == [({"url": "a"}, 3, 0.5), ({"whole": [1]}, 30, 0), ("text", 30, 0), ({"info": 1, "other": 2}, 30, 0)]


def test_a_lost_response_adds_nothing_twice(project, proxy, owner):
    with Client(proxy.url, owner.key, wait=lambda delay: None) as client:
        broken = client.project(project.short_name)
        proxy.plan = [LOSE_RESPONSE, PASS, LOSE_RESPONSE, LOSE_RESPONSE, PASS]
        rows = [{"n": n} if n != 4 else {"n": n, "n_answers": -1} for n in range(30)]
        assert str(broken.add_tasks(rows, batch=10)) == "30 rows = 29 added + 1 refused"
    assert sorted(numbers(project)) == [n for n in range(30) if n != 4]


def test_same_rows_are_as_many_tasks(project):
    assert project.add_tasks([{"n": 1}] * 25, batch=4).added == 25
    assert numbers(project) == [1] * 25


@pytest.mark.proof
def test_a_batch_that_is_too_large_is_sent_in_parts(live_server, project, monkeypatch):
    """Each row fits, together they are beyond what the server takes; one row alone is too large for a task."""
    monkeypatch.setattr("crowdd_client.batches.MAX_BYTES", 100_000_000)
    rows = [{"n": n, "text": "x" * 250_000} for n in range(50)]
    rows[20]["text"] = "x" * 300_000
    report = project.add_tasks(rows)
    assert [(each.row, each.error_code) for each in report.refused] == [(20, "attribute_too_large")]
    assert numbers(project) == [n for n in range(50) if n != 20]


def test_what_is_not_the_fault_of_a_row_is_raised(project, live_server):
    project.add_tasks([{"n": 0}])
    project.publish()
    with Client(live_server.url, "") as stranger, pytest.raises(ForbiddenError):
        stranger.project(project.short_name).add_tasks([{"n": 1}])
    assert numbers(project) == [0]


def test_too_many_refused_rows_stop_it(project):
    rows = [{"n": n} if n < 20 else {"n": n, "n_answers": 0} for n in range(40)]
    with pytest.raises(TooManyRefusedError, match="More than 5 rows") as stopped:
        project.add_tasks(rows, batch=10, max_refused=5)
    assert (stopped.value.report.added, stopped.value.report.refused) == (20, [])
    assert numbers(project) == list(range(20))


# Continuing ---------------------------------------------------------------------------------------------------------


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_finished_upload_is_not_sent_again(project, tmp_path):
    path, rows = tmp_path / "state", [{"n": n, "n_answers": 0 if n == 3 else 1} for n in range(25)]
    first = project.add_tasks(rows, resume=path, batch=10)
    again = project.add_tasks(iter(rows), resume=path, batch=10)
    assert first == again and first.refused == [Refused(3, first.refused[0].reason, first.refused[0].error_code)]
    assert len(numbers(project)) == 24 and sum("begins" in line for line in lines(path)) == 3


def test_an_upload_continues_where_it_was(project, proxy, owner, tmp_path):
    """The server had added the second batch, but nobody was told: it is not added again."""
    path, rows = tmp_path / "state", [{"n": n} for n in range(30)]
    with Client(proxy.url, owner.key, retries=Retries(attempts=1)) as client:
        broken = client.project(project.short_name)
        proxy.plan = [PASS, LOSE_RESPONSE]
        with pytest.raises(ConnectionLostError):
            broken.add_tasks(rows, resume=path, batch=10)
        assert len(numbers(project)) == 20
        with path.open("a") as file:
            file.write('{"ends": 1, "dig')  # as a kill leaves it
        assert broken.add_tasks(rows, resume=path, batch=10).added == 30
    assert numbers(project) == list(range(30))


def test_the_file_of_another_upload_is_refused(project, client, new_name, tmp_path):
    path, rows = tmp_path / "state", [{"n": n} for n in range(25)]
    project.add_tasks(rows, resume=path, batch=10)
    with pytest.raises(ResumeError, match="Rows 10 to 19 are not those"):
        project.add_tasks([*rows[:12], {"n": "other"}, *rows[13:]], resume=path, batch=10)
    with pytest.raises(ResumeError, match="more rows than there are now"):
        project.add_tasks(rows[:10], resume=path, batch=10)
    with pytest.raises(ResumeError, match="its batch is 10, not 500"):
        project.add_tasks(rows, resume=path)
    other = client.create_project(name := new_name(), name)
    with pytest.raises(ResumeError, match="another upload: its project"):
        other.add_tasks(rows, resume=path, batch=10)
    path.write_text("code,url\n")
    with pytest.raises(ResumeError, match="not the state of an upload"):
        project.add_tasks(rows, resume=path, batch=10)
    assert len(numbers(project)) == 25


def test_after_a_day_somebody_has_to_say_what_became_of_the_last_batch(project, tmp_path):
    path, rows = tmp_path / "state", [{"n": n} for n in range(20)]
    project.add_tasks(rows, resume=path, batch=10)
    *earlier, last = lines(path)
    assert last["ends"] == 1 and earlier[-1]["begins"] == 1
    earlier[-1]["at"] -= KEPT_SECONDS + 60
    state = "".join(json.dumps(line) + "\n" for line in earlier)
    path.write_text(state)
    with pytest.raises(ResumeError, match="Rows 10 to 19 were sent more than 23 hours ago"):
        project.add_tasks(rows, resume=path, batch=10)
    assert project.add_tasks(rows, resume=path, batch=10, uncertain="added").added == 20
    assert len(numbers(project)) == 20
    assert project.add_tasks(rows, resume=path, batch=10).added == 20, "it is known from now on"


def test_two_uploads_with_one_file_at_once_add_each_row_once(project, tmp_path, owner):
    path, rows, reports = tmp_path / "state", [{"n": n} for n in range(200)], []
    project.add_tasks(rows[:10], resume=path, batch=10)

    def upload():
        with Client(owner.url, owner.key) as client:
            reports.append(client.project(project.short_name).add_tasks(rows, resume=path, batch=10))

    threads = [threading.Thread(target=upload) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [report.added for report in reports] == [200, 200]
    assert sorted(numbers(project)) == list(range(200))


PROGRAM = """
import os, sys
from crowdd_client import Client

def rows():
    for n in range(3000):
        if n % 50 == 0:
            print(n, flush=True)
        yield {"n": n, "n_answers": 0 if n % 100 == 7 else 1}

with Client(os.environ["SITE"]) as client:
    print(client.project(sys.argv[1]).add_tasks(rows(), resume=sys.argv[2], batch=50))
"""


@pytest.mark.proof
def test_killed_at_any_moment_it_ends_with_each_row_once(project, owner, tmp_path):
    """kill -9 while it works, five times; then it runs to its end."""
    path, source = tmp_path / "state", Path(upload_module.__file__).parents[1]
    environment = {**os.environ, "SITE": owner.url, "KEY": owner.key, "PYTHONPATH": str(source)}
    command = [sys.executable, "-c", PROGRAM, project.short_name, str(path)]
    for kill in range(5):
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        for line in process.stdout:
            if int(line) >= 400 * (kill + 1):
                break
        process.send_signal(signal.SIGKILL)
        process.communicate()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.splitlines()[-1] == "3,000 rows = 2,970 added + 30 refused", done.stderr
    assert sorted(numbers(project)) == [n for n in range(3000) if n % 100 != 7]
