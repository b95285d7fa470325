"""Any mix of answers, edits and deletions by many at once: every figure served is what a recount says (bench/truth.py)."""

import random

import pytest
from support.checks.shows import shows
from support.person import Person

from bench import truth
from bench.support import testbed


@pytest.mark.proof
@shows("format-fresh", "project-exact")
def test_every_figure_is_true_at_once_without_a_job_having_run_and_a_wrong_one_is_noticed(dsn, tmp_path):
    random.seed(11)
    plan = truth.Plan(clients=12, operations=250, tasks=80, n_answers=3)
    sql = testbed.Sql(dsn)
    with testbed.crowdd(dsn, tmp_path, CROWDD_RATELIMIT_LIMIT="0") as server:
        lines, violations = testbed.run(truth.play(plan, server, sql, tmp_path))
        assert violations == []
        a_wrong_figure_is_noticed(server, sql)
    assert dict(lines)["unfolded rows"] > 120
    assert [name for name, text in lines if name in truth.MIX and text.startswith("0 done")] == []


def a_wrong_figure_is_noticed(server, sql):
    """In a new project on the same server; nothing on it is right afterwards."""
    crowd = truth.Crowd(truth.Plan(), server, [testbed.project(server, tasks=2, n_answers=1)])
    volunteer = Person(server.url).register("volunteer")
    task = volunteer.api("GET", f"{crowd.projects[0].id}/newtask")
    volunteer.api("POST", "taskrun", {"project_id": crowd.projects[0].id, "task_id": task["id"], "info": 1})
    assert testbed.run(truth.compare(crowd, sql, "now")) == []
    mine = {"project": crowd.projects[0].id}
    sql.rows(
        "UPDATE task_run SET actor = 'c:somebody', user_id = NULL, finish_time = finish_time + interval '9 seconds'"
        " WHERE project_id = %(project)s",
        mine,
    )
    sql.rows("UPDATE task_ledger SET done = false WHERE project_id = %(project)s", mine)
    differences = " ".join(testbed.run(truth.compare(crowd, sql, "now")))
    words = ("n_completed_tasks", "average_time", "n_anon", "runs_auth", "top", "leaderboard")
    assert [word for word in words if word not in differences] == []
