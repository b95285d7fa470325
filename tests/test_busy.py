"""On a busy machine every field gets its consensus and alpha, whatever is killed (bench/busy.py)."""

import random

import pytest

from bench import busy
from bench.support import testbed
from bench.support.testbed import Sql


@pytest.mark.proof
def test_every_field_is_compared_though_the_machine_is_busy_and_the_server_is_killed(dsn, tmp_path):
    random.seed(7)
    plan = busy.Plan(seconds=15, tasks=12, kills=2, people=6)
    with testbed.crowdd(dsn, tmp_path, CROWDD_RATELIMIT_LIMIT="0") as server:
        run = busy.Run(plan, server, Sql(dsn))
        assert testbed.run(run.play()) < busy.WAITS
        assert run.violations == [] and run.kills == 2 and len(run.confirmed) >= 30
        # What is missing is noticed.
        mine = {"project": run.project.id}
        run.sql.rows("UPDATE alpha_expected SET expected = NULL WHERE project_id = %(project)s", mine)
        run.sql.rows(
            "UPDATE result SET further = NULL WHERE id = (SELECT min(id) FROM result WHERE project_id = %(project)s)",
            mine,
        )
        lacking = " ".join(busy.missing(run.project, plan.tasks + 1))
        for words in ("12 of 13 tasks", "no consensus of labels, number, text", "no alpha of polygon"):
            assert words in lacking
