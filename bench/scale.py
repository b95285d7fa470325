"""Figures and ranks on a site of a million people and ten million answers beside one of a thousand and ten thousand.

    python -m bench.scale [--users 1000000] [--answers 10000000] [--requests 100]

Two databases on one PostgreSQL, a crowdd on each. Accounts and answers are written straight into the tables, all
answers in one project, many of them in the last two weeks; the counters are then made by the repairs of the checks,
which recount ten million rows, and the checks have to find nothing.

Hard gates: CPU of crowdd and PostgreSQL per request at most 1.25 times that on the small site (median of five
interleaved rounds), and the leaderboard within 10 ms in PostgreSQL. Then a burst of 100,000 unfolded rows, of another
project and of this one: how long figures take before, meanwhile and after folding.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import sys
import time
from collections.abc import Iterator

import attrs
import psycopg2
from psycopg2.extensions import make_dsn

from bench.support import testbed
from bench.support.cpu import Cpu
from bench.support.figures import table

MAX_CPU, MAX_SECONDS, ROUNDS = 1.25, 0.010, 5
N_ANSWERS = 10
SMALL = (1_000, 10_000)
BURST = 100_000
FILL = (
    "ALTER TABLE account DISABLE TRIGGER USER",
    "INSERT INTO account (created, name, fullname, email_addr, api_key_hash, api_key_encrypted)"
    " SELECT now(), 'p' || n, 'p' || n, 'p' || n, ('p' || n)::bytea, '' FROM generate_series(1, %(users)s) n",
    "ALTER TABLE account ENABLE TRIGGER USER",
    "INSERT INTO task (id, project_id, created, info)"
    " SELECT %(base)s + n, %(p)s, now(), '{}' FROM generate_series(1, %(answers)s / %(wanted)s) n",
    "INSERT INTO task_ledger (project_id, task_id, ordinal, n_answers, answers, done)"
    " SELECT %(p)s, %(base)s + n, %(base)s + n, %(wanted)s, %(wanted)s, n %% 3 > 0"
    " FROM generate_series(1, %(answers)s / %(wanted)s) n",
    # Each of the answers of a task comes from its own tenth of the people; some people answer far more than others.
    "INSERT INTO task_run (project_id, task_id, actor, user_id, created, finish_time, counted, info)"
    " SELECT %(p)s, %(base)s + 1 + n / %(wanted)s, 'u:' || u, u, at - interval '7 seconds', at, true, '{}'"
    " FROM (SELECT n, %(first)s + n %% 10 + 10 * floor(random() ^ 3 * (%(users)s / 10))::bigint AS u,"
    " now() - random() ^ 2 * interval '140 days' AS at FROM generate_series(0, %(answers)s - 1) n) r",
    "UPDATE project_ledger SET n_ordinals = %(base)s + %(answers)s, max_rank = 0 WHERE project_id = %(p)s",
)
REPAIRS = ("repair_volunteers", "repair_recent", "repair_hours", "repair_figures", "repair_people")


@attrs.frozen
class Site:
    """A database with a server on it, and where to ask."""

    sql: testbed.Sql
    project: testbed.Project
    cpu: Cpu
    addresses: dict[str, str]

    def milliseconds(self, name: str, requests: int) -> float:
        """CPU for one request."""
        before = self.cpu.spent()
        for _ in range(requests):
            answer = self.project.owner.ask("GET", self.addresses[name])
            assert answer.status == 200, answer.text[:300]
        return self.cpu.spent().since(before).server / requests * 1000

    def seconds(self, sql: str, **values: object) -> float:
        """How long a statement takes, at best of five."""
        return min(self._once(sql, values) for _ in range(5))

    def _once(self, sql: str, values: dict[str, object]) -> float:
        (plan,) = self.sql.one(f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {sql}", values)
        return float(plan["Execution Time"]) / 1000


def fill(site: Site, users: int, answers: int) -> str:
    """Writes people and answers; says how long that and the recount took."""
    began = time.monotonic()
    first = site.sql.one("SELECT max(id) + 1 FROM account")
    values = {
        "p": site.project.id,
        "users": users,
        "answers": answers,
        "wanted": N_ANSWERS,
        "base": 1_000,
        "first": first,
    }
    for statement in FILL:
        site.sql.rows(statement, values)
    site.sql.rows("VACUUM ANALYZE")
    filled = time.monotonic() - began
    for repair in REPAIRS:
        site.sql.rows(f"SELECT {repair}(%(p)s, clock())", {"p": site.project.id})
    site.sql.rows("VACUUM ANALYZE")
    recounted = time.monotonic() - began - filled
    return f"{users:,} people, {answers:,} answers in {filled:.0f} s, counted in {recounted:.0f} s"


def addresses(project: testbed.Project) -> dict[str, str]:
    """What is compared, as the owner asks for it: they have no answers, so their rank is that of the last."""
    json = "response_format=json"
    return {
        "leaderboard": f"/leaderboard/?{json}",
        "leaderboard/window/10": f"/leaderboard/window/10?{json}",
        "projectstats?full=1": f"/api/projectstats?project_id={project.id}&full=1",
        "project statistics": f"/project/{project.short_name}/stats?{json}",
        "project": f"/api/project/{project.id}?api_key={project.owner.key}",
    }


@contextlib.contextmanager
def sites(sizes: list[tuple[int, int]], lines: list[tuple[str, object]]) -> Iterator[list[Site]]:
    """A filled site of each size."""
    with contextlib.ExitStack() as stack:
        place = stack.enter_context(testbed.folder())
        database = stack.enter_context(testbed.postgres(place))
        made = []
        for number, (users, answers) in enumerate(sizes):
            name, folder = f"site{number}", place / f"site{number}"
            folder.mkdir()
            above = make_dsn(database.dsn, dbname="postgres", user="postgres")
            testbed.Sql(above).rows(f"CREATE DATABASE {name} OWNER crowdd")
            dsn = make_dsn(database.dsn, dbname=name)
            testbed.upgrade(dsn, folder)
            server = stack.enter_context(testbed.crowdd(dsn, folder, CROWDD_RATELIMIT_LIMIT="0"))
            sql = testbed.Sql(dsn)
            sql.rows(f"ALTER DATABASE {name} SET search_path = public, code")
            project = testbed.project(server, tasks=1, n_answers=1)
            made.append(Site(sql, project, Cpu(server.process.pid, database.pid), addresses(project)))
            lines.append((name, fill(made[-1], users, answers)))
        yield made


def burst(site: Site, lines: list[tuple[str, object]]) -> None:
    """100,000 unfolded rows at once, of another project and then of this one."""
    page = "SELECT * FROM projectstats_record WHERE id = %(p)s"
    for whose, shift in (("another project", 1), ("this project", 0)):
        times = [site.seconds(page, p=site.project.id)]
        values = {"p": site.project.id + shift, "n": BURST}
        with contextlib.closing(psycopg2.connect(site.sql.dsn)) as held, held.cursor() as cursor:
            cursor.execute("SELECT lock_stats()")
            site.sql.rows(
                "INSERT INTO stat_delta (project_id, hour, actor, user_id, runs)"
                " SELECT %(p)s, date_trunc('hour', clock()), 'u:' || id, id, 1 FROM account"
                " WHERE id %% 7 = 3 LIMIT %(n)s",
                values,
            )
            times.append(site.seconds(page, p=site.project.id))
            board = site.seconds("SELECT * FROM top_people(20)")
        began = time.monotonic()
        while site.sql.one("SELECT count(*) FROM stat_delta"):
            site.sql.one("SELECT fold_stats()")
        folded = time.monotonic() - began
        times.append(site.seconds(page, p=site.project.id))
        timings = ", ".join(f"{seconds * 1000:.1f}" for seconds in times)
        lines.append(
            (
                f"burst of {whose}",
                f"figures in {timings} ms, leaderboard {board * 1000:.0f} ms, folded in {folded:.1f} s",
            )
        )


def main() -> int:
    """Runs it and prints a table; 1 when a gate is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=1_000_000)
    parser.add_argument("--answers", type=int, default=10_000_000)
    parser.add_argument("--requests", type=int, default=100)
    options = parser.parse_args()
    lines: list[tuple[str, object]] = []
    wrong: list[str] = []
    with sites([SMALL, (options.users, options.answers)], lines) as (small, large):
        for name in small.addresses:
            spent = [
                (small.milliseconds(name, options.requests), large.milliseconds(name, options.requests))
                for _ in range(ROUNDS)
            ]
            low, high = (statistics.median(one) for one in zip(*spent, strict=True))
            lines.append((name, f"{low:.2f} / {high:.2f} ms of CPU = {high / low:.2f}"))
            wrong += [f"{name}: {high / low:.2f} times the CPU"] if high > MAX_CPU * low else []
        for name, sql in (
            ("top", "SELECT * FROM top_people(20)"),
            ("around", "SELECT * FROM people_around(%(u)s, 10)"),
        ):
            middle = large.sql.one("SELECT user_id FROM person_stat WHERE runs > 0 ORDER BY runs OFFSET 1000 LIMIT 1")
            seconds = large.seconds(sql, u=middle)
            lines.append((f"leaderboard, {name}", f"{seconds * 1000:.2f} ms in PostgreSQL"))
            wrong += [f"leaderboard, {name}: {seconds * 1000:.1f} ms"] if seconds > MAX_SECONDS else []
        for check in (repair.replace("repair", "check") for repair in REPAIRS):
            began = time.monotonic()
            differences = large.sql.rows(f"SELECT * FROM {check}(%(p)s, clock()) LIMIT 3", {"p": large.project.id})
            lines.append((check, f"{time.monotonic() - began:.1f} s"))
            wrong += [f"{check}: {row}" for row in differences]
        burst(large, lines)
    print(table("Figures and ranks on a large site", lines, wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
