"""A PyBossa database is moved in: how long it takes, and what five kills on the way leave.

    python -m bench.transfer.move_in [--answers 100000] [--kills 5]     (make move-in)

The source has PyBossa's own tables (``tests/admin_cli/moving/pybossa.sql``): a user for 100 answers, a project for
10,000, tasks of three answers, results. Gates: at most SECONDS for each 100,000 answers, of the clock or, where
others use the machine, of the CPU of crowdctl and PostgreSQL together; ``crowdctl check`` says nothing; all figures
agree. Moved into another new site while ``crowdctl`` is killed (-9) at spread moments, everything is the
same in the end.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import attrs
import psycopg2
from psycopg2.extensions import make_dsn
from support.servers.live import BIN

from bench import ROOT
from bench.support import testbed
from bench.support.cpu import Cpu
from bench.support.figures import table

SECONDS = 120.0
_SCHEMA = ROOT / "tests/admin_cli/moving/pybossa.sql"
_FILL = """
INSERT INTO category VALUES (1, 'Nature', 'nature', 'Outside', '2016-03-01T10:00:00', '{}');
INSERT INTO "user" (id, created, email_addr, name, fullname, api_key, valid_email, info)
SELECT n, '2016-03-01T10:00:00.123456', 'u' || n || '@example.org', 'user' || n, 'User ' || n, 'key-' || n, true, '{}'
  FROM generate_series(1, greatest(3, %(answers)s / 100)) n;
INSERT INTO project (id, created, updated, name, short_name, description, published, secret_key, owner_id, owners_ids,
  category_id, info)
SELECT n, '2016-03-01T10:00:00', '2016-03-01T10:00:00', 'Birds ' || n, 'birds' || n, 'A project', true, 'secret-' || n,
       1, '{1}', 1, '{"task_presenter": "<p>?</p>", "sched": "default"}'
  FROM generate_series(1, greatest(1, %(answers)s / 10000)) n;
INSERT INTO task (id, created, project_id, state, info, n_answers)
SELECT n, '2016-03-01T10:00:00', 1 + n %% (SELECT count(*) FROM project), 'completed',
       json_build_object('url', 'https://pictures.example/' || n || '.jpg', 'place', 'gate ' || n %% 40), 3
  FROM generate_series(1, (%(answers)s + 2) / 3) n;
INSERT INTO task_run (id, created, project_id, task_id, user_id, user_ip, finish_time, info)
SELECT n, '2016-03-01T10:00:00', 1 + (n + 2) / 3 %% (SELECT count(*) FROM project), (n + 2) / 3,
       CASE WHEN n %% 7 > 0 THEN 1 + (n * 7919 + n %% 3) %% (SELECT count(*) FROM "user") END,
       CASE WHEN n %% 7 = 0 THEN '127.' || n %% 200 || '.' || n / 200 %% 200 || '.9' END,
       '2016-03-01T10:01:00', json_build_object('bird', (ARRAY['tit', 'owl', 'wren'])[1 + n %% 3], 'number', n %% 5)
  FROM generate_series(1, (%(answers)s + 2) / 3 * 3) n;
INSERT INTO result (created, project_id, task_id, task_run_ids, last_version)
SELECT '2016-03-01T10:02:00', project_id, task_id, array_agg(id ORDER BY id), true FROM task_run GROUP BY 2, 3
 ORDER BY 3;
ANALYZE;
"""
# All that came over, but for pseudonyms of addresses and numbers of transactions.
_EVERYTHING = """
SELECT md5(string_agg(part, '' ORDER BY part)) FROM (
  SELECT md5(string_agg((to_jsonb(r) - '{actor,user_ip,changed_xid}'::text[])::text, '' ORDER BY id)) AS part
    FROM task_run r UNION ALL
  SELECT md5(string_agg((to_jsonb(r) - '{changed_xid}'::text[])::text, '' ORDER BY id)) FROM result r UNION ALL
  SELECT md5(string_agg(concat_ws(' ', id, project_id, state, n_answers, info), '' ORDER BY id))
    FROM task_record UNION ALL
  SELECT md5(string_agg(concat_ws(' ', id, name, email_addr), '' ORDER BY id)) FROM account UNION ALL
  SELECT md5(string_agg(concat_ws(' ', id, short_name, owner_id, published), '' ORDER BY id)) FROM project UNION ALL
  SELECT md5(string_agg(concat_ws(' ', user_id, runs), '' ORDER BY user_id)) FROM score WHERE runs <> 0) parts"""


@attrs.frozen
class Site:
    """A new site that something is moved into."""

    dsn: str
    environment: dict[str, str]

    def crowdctl(self, *words: str) -> Any:
        """What a command prints as JSON."""
        done = subprocess.run(
            [BIN / "crowdctl", *words, "--json"], env=self.environment, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr.decode()
        return json.loads(done.stdout)

    def everything(self) -> str:
        """The same for sites with the same content."""
        return str(testbed.Sql(self.dsn).one(_EVERYTHING))


def new_site(place: Path, dsn: str, name: str) -> Site:
    """A database with crowdd's tables, and a data folder. All have the same key."""
    testbed.Sql(make_dsn(dsn, user="postgres", dbname="postgres")).rows(f"CREATE DATABASE {name} OWNER crowdd")
    folder = place / name
    folder.mkdir()
    (folder / "secret.key").write_text(f"{'b7' * 32}\n")
    own = make_dsn(dsn, dbname=name)
    site = Site(own, {**os.environ, "CROWDD_DB_DSN": own, "CROWDD_DATA_DIR": str(folder)})
    subprocess.run([BIN / "crowdctl", "db", "upgrade"], env=site.environment, check=True, capture_output=True)
    return site


def pybossa(dsn: str, answers: int) -> str:
    """The DSN of a PyBossa database with so many answers."""
    testbed.Sql(make_dsn(dsn, user="postgres", dbname="postgres")).rows("CREATE DATABASE pybossa OWNER crowdd")
    made = make_dsn(dsn, dbname="pybossa")
    with contextlib.closing(psycopg2.connect(made)) as connection, connection, connection.cursor() as cursor:
        cursor.execute(_SCHEMA.read_text("utf-8"))
        cursor.execute(_FILL, {"answers": answers})
    return made


def moved_at_once(site: Site, source: str, postmaster: int) -> tuple[Any, float, float]:
    """The report, seconds, and CPU seconds of ``crowdctl`` and PostgreSQL together."""
    postgres = Cpu(os.getpid(), postmaster)
    before, earlier, began = resource.getrusage(resource.RUSAGE_CHILDREN), postgres.spent(), time.monotonic()
    report = site.crowdctl("import-pybossa", "--dsn", source)
    after, ended = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return report, ended - began, cpu + postgres.spent().since(earlier).postgres


def moved_with_kills(site: Site, source: str, kills: int) -> list[int]:
    """Answers that were there after each kill; the last run goes to the end."""
    command = [BIN / "crowdctl", "import-pybossa", "--dsn", source]
    total = int(testbed.Sql(source).one("SELECT count(*) FROM task_run"))
    rows, answer_counts = testbed.Sql(site.dsn), []
    for number in range(kills):
        wanted = total * number // kills
        with subprocess.Popen(
            command, env=site.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as process:
            while int(rows.one("SELECT count(*) FROM task_run")) <= wanted:
                assert process.poll() is None, "it ended before it was killed"
                time.sleep(0.02)
            process.kill()
        answer_counts.append(int(rows.one("SELECT count(*) FROM task_run")))
    site.crowdctl("import-pybossa", "--dsn", source)
    return answer_counts


def violations(plan: Any, report: Any, seconds: float, site: Site) -> list[str]:
    """What the gates say of a move that was not interrupted."""
    complaints = []
    if seconds > SECONDS * plan.answers / 100_000:
        complaints.append(f"{plan.answers:,} answers took {seconds:.0f} s")
    compared = report["compared"]
    if compared["projects_differ"] or compared["users_differ"]:
        complaints.append(f"figures differ: {compared}")
    if refused := sum(each["refused"] for each in report["tables"]):
        complaints.append(f"{refused} rows were refused")
    if differences := site.crowdctl("check"):
        complaints.append(f"crowdctl check: {differences}")
    return complaints


def main() -> int:
    """Status 1 if a gate is violated."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=100_000)
    parser.add_argument("--kills", type=int, default=5)
    plan = parser.parse_args()
    with testbed.folder() as place, testbed.postgres(place) as postgres:
        source = pybossa(postgres.dsn, plan.answers)
        once, often = (new_site(place, postgres.dsn, name) for name in ("once", "often"))
        report, seconds, cpu = moved_at_once(once, source, postgres.pid)
        wrong = violations(plan, report, min(seconds, cpu), once)
        answer_counts = moved_with_kills(often, source, plan.kills)
        if often.everything() != once.everything():
            wrong.append("killed on the way, the site is another one")
        if differences := often.crowdctl("check"):
            wrong.append(f"crowdctl check after the kills: {differences}")
    added = {each["table"]: each["added"] for each in report["tables"]}
    lines = [
        ("moved", f"{added['task_run']:,} answers, {added['task']:,} tasks, {added['user']:,} users"),
        ("seconds", f"{seconds:.1f} ({cpu:.1f} of CPU, PostgreSQL included)"),
        ("killed with answers", ", ".join(f"{number:,}" for number in answer_counts)),
    ]
    print(table("Move-in from PyBossa", lines, wrong))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
