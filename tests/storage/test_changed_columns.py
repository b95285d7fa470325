"""Every column of answers and results is followed by those who keep copies, or stands here among those that nobody sees."""

import re

import pytest
import pytest_twisted

NEVER_CHANGED = {"id", "project_id", "task_id", "changed_xid", "circumstances"}
UNSEEN = {
    "task_run": {"counted", "trial", "aside", "class", "unreliable", "gold", "is_right", "taught", "origin"},
    "result": {
        "version",
        "consensus_hash",
        "class",
        "log_likelihoods",
        "weighed_by",  # snapshots have it
        "saved",
        "alpha",
        "decided_by",
        "decided_at",
        "decided",  # consensus follows from it
        "completed_xid",
    },
}


@pytest.mark.parametrize(("table", "trigger"), [("task_run", "task_run_changes"), ("result", "shown_result_changes")])
@pytest_twisted.ensureDeferred
async def test_a_trigger_names_each_column_that_somebody_sees(pool, table, trigger):
    (row,) = await pool.fetch(
        "SELECT pg_get_triggerdef(t.oid) AS text, (SELECT array_agg(attname::text) FROM pg_attribute"
        " WHERE attrelid = t.tgrelid AND attnum > 0 AND NOT attisdropped) AS columns"
        " FROM pg_trigger t WHERE tgrelid = %(table)s::regclass AND tgname = %(trigger)s",
        {"table": table, "trigger": trigger},
    )
    named = set(re.findall(r"old\.(\w+)", row["text"].lower()))
    assert set(row["columns"]) - named == NEVER_CHANGED & set(row["columns"]) | UNSEEN[table]
