"""What the events of a young project cost, whose tables have not been analyzed yet."""

from __future__ import annotations

import pytest_twisted
from support.checks.explained import Explained
from support.ledger import Ledger
from twisted.internet import reactor

from crowdd.core import base
from crowdd.sched import event_statements

EVENTS, ANSWERS, VOLUNTEERS = 200, 3, 6_000
MAXIMUM = EVENTS * (ANSWERS * 10 + 15)  # pages: an index and a row for each answer and each code

_FILL = """
INSERT INTO task_run (project_id, task_id, actor, created, finish_time, counted, info)
SELECT %(p)s, n, 'u:' || n, clock(), clock(), true, 'null' FROM generate_series(1, %(volunteers)s) n;
INSERT INTO volunteer_word (project_id, actor, word) SELECT %(p)s, 'u:' || n, 'w' || n FROM generate_series(1, %(volunteers)s) n;
INSERT INTO result (project_id, task_id, created, version, last_version, task_run_ids)
SELECT %(p)s, n, clock(), 1, true, ARRAY(SELECT r.id FROM task_run r WHERE r.task_id BETWEEN n * %(answers)s AND n * %(answers)s + %(answers)s - 1)
  FROM generate_series(1, %(events)s) n;
INSERT INTO event (project_id, seq, kind, task_id, result_id, at)
SELECT project_id, row_number() OVER (ORDER BY id), 'task_completed', task_id, id, clock() FROM result;
"""


@pytest_twisted.ensureDeferred
async def test_events_cost_what_their_answers_do(dsn, settings):
    ledger = Ledger(dsn)
    project = ledger.project()
    ledger.close()
    pool = base.make_pool(reactor, settings, size=1)
    await pool.start()
    autovacuum = "ALTER TABLE {} SET (autovacuum_enabled = off)"
    await pool.execute("; ".join(autovacuum.format(name) for name in ("task_run", "result", "volunteer_word")))
    await pool.execute(_FILL, {"p": project, "volunteers": VOLUNTEERS, "answers": ANSWERS, "events": EVENTS})
    rows = await event_statements.list_events_after(pool, project, 0, EVENTS)
    assert len(rows) == EVENTS and all(len(event["data"]["volunteers"]) == ANSWERS for event in rows)
    explained = Explained(pool)
    await event_statements.list_events_after(explained, project, 0, EVENTS)
    assert 0 < explained.pages <= MAXIMUM, explained.pages
    await pool.close()
