"""bench.exact in small: people leave, come late and are cut off while the owner edits."""

import os
import random

import pytest
from support.checks.proofs import examples
from support.checks.shows import shows

from bench import exact


@examples("default")
@pytest.mark.parametrize("scheduler", ["default", "breadth_first"])
@shows("lease-exact")
def test_the_ledger_stays_exact(dsn, tmp_path, scheduler):
    random.seed(20)
    kills = (
        1 if os.environ.get("CROWDD_DAEMON_WORKERS", "1") == "1" else 2
    )  # the whole server, then one of its processes
    plan = exact.Plan(clients=8, tasks=12, kills=kills, think_seconds=0.02, lease_seconds=1)
    lines, violations = exact.play(plan, [scheduler], dsn, tmp_path)
    assert violations == []
    assert all(f", {kills} kills" in words for _, words in lines), lines
