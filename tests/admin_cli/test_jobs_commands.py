"""crowdctl jobs and queue."""

from __future__ import annotations

import psycopg2

ADD = (
    "INSERT INTO queue_item (name, arguments, admin, via, state, created, due, began, progressed, done, total, error)"
    " VALUES ('count', '{\"to\": 3}', true, 'cli', %s, clock(), clock(), clock() - interval '10 seconds', clock(), 20, 100, %s)"
    " RETURNING id"
)


def test_jobs_are_listed_run_and_shown(crowdctl, rows):
    crowdctl("db", "upgrade")
    before = {row["name"]: row for row in crowdctl.json("jobs", "list")}
    assert before["sweep_keys"]["outcome"] == "new" and before["sweep_keys"]["period"] == 600
    done = crowdctl.json("jobs", "run", "sweep_keys")
    assert (done["outcome"], done["words"]) == ("done", "0 removed") and done["seconds"] >= 0
    assert [row["outcome"] for row in crowdctl.json("jobs", "show", "sweep_keys")] == ["done"]
    assert crowdctl.refused("jobs", "run", "nothing").startswith("Error: Unknown job nothing.")


def test_a_job_that_runs_elsewhere_is_left_alone(crowdctl, rows, dsn):
    elsewhere = psycopg2.connect(dsn, options="-c search_path=public,code")
    elsewhere.autocommit = True
    with elsewhere.cursor() as cursor:
        cursor.execute("SELECT state FROM begin_job('sweep_keys', 600, true, clock())")
        assert cursor.fetchone() == ("ours",)
    ended = crowdctl("jobs", "run", "sweep_keys")
    assert ended.status == 1 and "another process" in ended.output
    elsewhere.close()


def test_items_are_listed_shown_cancelled_and_retried(crowdctl, rows):
    dead, waiting, running = [
        rows(ADD, state, error)[0]["id"] for state, error in (("dead", "No disk."), ("waiting", ""), ("running", ""))
    ]
    listed = crowdctl.json("queue", "list")
    assert [(row["id"], row["error"]) for row in listed] == [(running, ""), (waiting, ""), (dead, "No disk.")]
    assert (listed[0]["rate"], listed[0]["eta"]) == (2.0, 40.0)
    assert crowdctl.json("queue", "show", str(dead))["arguments"] == {"to": 3}
    assert crowdctl("queue", "show", str(dead), "--wait").status == 1
    assert "will stop at its next step" in crowdctl("queue", "cancel", str(running)).output
    assert crowdctl.json("queue", "retry", str(dead))["state"] == "waiting"
    acts = rows("SELECT via, action, object_id FROM audit WHERE kind = 'queue' ORDER BY id")
    assert [tuple(act.values()) for act in acts] == [("cli", "cancel", running), ("cli", "retry", dead)]
