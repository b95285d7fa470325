"""A move-in that is killed goes on where it was, and the outcome is the same."""

from __future__ import annotations

import subprocess

import psycopg2
import pytest
import pytest_twisted
from support.checks.proofs import examples
from support.servers.live import BIN

from crowdd.features.accounts.feature import AccountsFeature
from crowdd.features.movein import runner as movein_runner
from crowdd.features.movein.statements import Pybossa
from crowdd.features.webhooks.feature import WebhooksFeature
from crowdd.kernel.errors import UnavailableError
from crowdd.sched.feature import Scheduling
from moving.conftest import sums

EVERYTHING = """
SELECT jsonb_build_object('runs', (SELECT jsonb_agg(to_jsonb(r) - 'actor' - 'user_ip' ORDER BY id) FROM task_run r),
  'results', (SELECT jsonb_agg(to_jsonb(r) ORDER BY id) FROM result r), 'tasks', (SELECT jsonb_agg(to_jsonb(t) - 'requeued_xid' ORDER BY task_id) FROM task_ledger t),
  'people', (SELECT jsonb_agg(name ORDER BY id) FROM account), 'score', (SELECT jsonb_object_agg(user_id, runs) FROM score WHERE runs <> 0)) AS found
"""


@examples("task_run")
@pytest.mark.parametrize("table", ["project", "task_run", "announcement"])
def test_a_killed_command_is_resumed(crowdctl, filled, rows, table: str) -> None:
    holder = psycopg2.connect(filled.dsn)
    with holder.cursor() as cursor:
        cursor.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
    waiting = "SELECT count(*) AS n FROM pg_locks WHERE NOT granted AND relation IS NOT NULL"
    command = [BIN / "crowdctl", "import-pybossa", "--dsn", filled.dsn]
    with subprocess.Popen(command, env=crowdctl.environment, stderr=subprocess.PIPE) as process:
        while not rows(waiting)[0]["n"]:
            assert process.poll() is None, process.stderr.read()
        process.kill()
    holder.close()
    half = rows("SELECT count(*) AS n FROM task_run")[0]["n"]
    assert half == (4 if table == "announcement" else 0)
    report = crowdctl.json("import-pybossa", "--dsn", filled.dsn)
    assert report["resumed"] and not report["before"] and sums(report)["task_run"] == (4, 4, 0, 0)
    assert rows("SELECT count(*) AS n FROM task_run") == [{"n": 4}] and crowdctl.json("check") == []


@pytest_twisted.ensureDeferred
async def test_it_may_end_after_any_batch(house, filled, pool, monkeypatch) -> None:
    monkeypatch.setattr(movein_runner, "BATCH", 1)
    more = [
        {"id": 100 + n, "created": "2016-03-02T00:00:00", "project_id": 3, "n_answers": 1, "state": "ongoing"}
        for n in range(3)
    ]
    filled.add("task", *more)
    allowed, attempts = 0, 0
    while True:
        left = allowed

        async def aside(work, *arguments):
            nonlocal left
            left -= 1
            if left < 0:
                raise UnavailableError("The source went away.")
            return work(*arguments)

        moving = movein_runner.MoveIn(
            pool,
            house.base.secrets,
            house[AccountsFeature].passwords,
            house[WebhooksFeature].webhooks,
            house.base.uploads,
            aside,
        )
        source = Pybossa(filled.dsn)
        try:
            report = await moving.run(source, None, lambda what, number: None)
            break
        except UnavailableError:
            allowed, attempts = allowed + 1, attempts + 1
        finally:
            source.close()
        assert attempts < 100
    assert attempts >= 5
    counts = {t["table"]: (t["read"], t["added"]) for t in report.tables}
    assert (counts["task"], counts["task_run"], counts["result"]) == ((6, 6), (4, 4), (2, 2))
    assert [difference async for difference in house[Scheduling].checking.run()] == []
