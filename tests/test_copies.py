"""bench.transfer.copies in small: copies follow a project whose server is killed."""

import random

import pytest
from support.checks.shows import shows

from bench import exact
from bench.transfer import copies


@shows("export-since", "export-follow")
@pytest.mark.proof
@pytest.mark.size
def test_copies_become_equal_to_their_source(dsn, tmp_path):
    random.seed(20)
    plan = exact.Plan(clients=12, tasks=60, kills=2, think_seconds=0.02, lease_seconds=1)
    lines, violations = copies.play(plan, dsn, tmp_path)
    assert violations == []
    assert len(lines) == 7 and ", 2 kills" in str(lines[0][1])
