"""The price of statistics: the function that stores an answer beside the same without counters.

    python -m bench.price [--clients 64] [--answers 130] [--rounds 7]

Both functions are in one database; the one without counters is made of the text of the other. Rounds take turns, each
with its own tasks of one project, whose answers are handed in by pgbench (which comes with PostgreSQL's server) with
prepared statements. Folding is part of the price: it goes on every two seconds, and is finished before the CPU is read.

Hard gates on the medians: CPU of PostgreSQL per answer at most 1.15 times, answers per second at least 0.9 times.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import threading
from pathlib import Path

import attrs
import psycopg2

from bench.support import testbed
from bench.support.cpu import Cpu
from bench.support.figures import table
from crowdd.database.embedded.binaries import find_all

MAX_CPU, MIN_SPEED = 1.15, 0.9
N_ANSWERS = 3
FOLD_SECONDS = 2
_BARE = (  # of any answer, and of one that submit stores in a single statement
    re.compile(r"\n\s*INSERT INTO stat_delta .*?;", re.DOTALL),
    re.compile(r",\n\s*figures AS \(.*?(?=\n\s*INSERT INTO task_run)", re.DOTALL),
)
_SETUP = (
    "INSERT INTO account (created, name, fullname, email_addr, api_key_hash, api_key_encrypted)"
    " SELECT now(), 'p' || n, 'p' || n, 'p' || n, n::text::bytea, '' FROM generate_series(1, %(clients)s) n",
    "INSERT INTO project (created, updated, name, short_name, secret_key_encrypted, owner_id, owners_ids, category_id)"
    " SELECT now(), now(), 'p', 'p', '', a.id, ARRAY[a.id], c.id FROM account a, category c ORDER BY 6, 8 LIMIT 1",
    "INSERT INTO project_ledger (project_id, trial) SELECT id, false FROM project",
)
_LEASES = (
    "INSERT INTO task_ledger (project_id, task_id, ordinal, n_answers, leases)"
    " SELECT %(p)s, %(base)s + n, %(base)s + n, %(wanted)s, %(wanted)s FROM generate_series(0, %(tasks)s - 1) n",
    "INSERT INTO lease (project_id, actor, task_id, granted, expires)"
    " SELECT %(p)s, 'u:' || n %% %(clients)s + 1, %(base)s + n / %(wanted)s, now(), now() + interval '1 hour'"
    " FROM generate_series(0, %(tasks)s * %(wanted)s - 1) n",
)
_SCRIPT = """\\set n :i * {clients} + :client_id
\\set i :i + 1
\\set task {base} + :n / {wanted}
\\set user :n % {clients} + 1
SELECT * FROM {function}({project}, 'u:' || :user, :task, :user, NULL, NULL, '{{"a": 1}}', NULL, NULL, clock());
"""


@attrs.frozen
class Round:
    """Milliseconds of CPU for an answer, and answers per second."""

    cpu: float
    speed: float


class Scales:
    """A project, and pgbench to put answers on one side or the other."""

    def __init__(self, database: testbed.Postgres, place: Path, clients: int, answers: int) -> None:
        self._sql, self._place, self._clients, self._answers = testbed.Sql(database.dsn), place, clients, answers
        self._cpu = Cpu(os.getpid(), database.pid)
        self._base = 0
        for statement in _SETUP:
            self._sql.rows(statement, {"clients": clients})
        self._project = self._sql.one("SELECT id FROM project")
        text = self._sql.one("SELECT pg_get_functiondef(oid) FROM pg_proc WHERE proname = 'submit'")
        bare = text.replace("FUNCTION code.submit", "FUNCTION code.submit_bare")
        for counters in _BARE:
            bare, n = counters.subn("", bare)
            assert n == 1, "submit appends its counters with one statement in each way"
        self._sql.rows(bare.replace("%", "%%"))

    def round(self, function: str) -> Round:
        """So many answers of each client by this function."""
        total = self._clients * self._answers
        self._base += total + 1
        values = {"p": self._project, "base": self._base, "tasks": total // N_ANSWERS, "clients": self._clients}
        for statement in _LEASES:
            self._sql.rows(statement, {**values, "wanted": N_ANSWERS})
        self._sql.rows("VACUUM ANALYZE task_ledger, lease, task_run, stat_delta, result, event")
        before = self._cpu.spent()
        speed = self._hand_in(function)
        while self._sql.one("SELECT fold_stats()"):
            pass
        stored = self._sql.one(f"SELECT count(*) FROM task_run WHERE task_id >= {self._base}")
        assert stored >= total - self._clients * N_ANSWERS, f"only {stored} answers are there"
        return Round(self._cpu.spent().since(before).postgres / stored * 1000, speed)

    def _hand_in(self, function: str) -> float:
        script = self._place / f"{function}.sql"
        names = {"clients": self._clients, "base": self._base, "wanted": N_ANSWERS, "project": self._project}
        script.write_text(_SCRIPT.format(function=function, **names))
        over = threading.Event()
        folding = threading.Thread(target=self._fold, args=(over,))
        folding.start()
        done = subprocess.run(self._pgbench(script), check=True, capture_output=True, text=True)
        over.set()
        folding.join()
        match = re.search(r"tps = ([\d.]+)", done.stdout)
        assert match, done.stdout
        return float(match[1])

    def _fold(self, over: threading.Event) -> None:
        while not over.wait(FOLD_SECONDS):
            self._sql.one("SELECT fold_stats()")

    def _pgbench(self, script: Path) -> list[str | Path]:
        parts = psycopg2.extensions.parse_dsn(self._sql.dsn)
        where = [
            "-h",
            parts["host"],
            "-p",
            parts.get("port", "5432"),
            "-U",
            parts.get("user", "crowdd"),
            parts["dbname"],
        ]
        load = ["-n", "-M", "prepared", "-c", str(self._clients), "-j", "2", "-t", str(self._answers - N_ANSWERS)]
        return [pgbench(), *load, "-D", "i=0", "-f", script, *where]


def pgbench() -> Path:
    """The program. Raises SystemExit where no server package has brought it."""
    for binaries in find_all():
        program = Path(binaries.tool("pgbench"))
        if program.exists():
            return program
    raise SystemExit("pgbench is missing; it comes with PostgreSQL's server package.")


def main() -> int:
    """Runs it and prints a table; 1 when a gate is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--answers", type=int, default=130, help="of each client in each round")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    with testbed.folder() as place, testbed.postgres(place) as database:
        testbed.Sql(database.dsn).rows("ALTER DATABASE crowdd SET search_path = public, code")
        scales = Scales(database, place, options.clients, options.answers)
        rounds: dict[str, list[Round]] = {"submit": [], "submit_bare": []}
        for number in range(options.rounds + 1):
            for function in sorted(rounds, reverse=number % 2 == 1):
                measured = scales.round(function)
                rounds[function] += [measured] * (number > 0)  # the first is for warming up
    middle = {
        name: (statistics.median(one.cpu for one in measured), statistics.median(one.speed for one in measured))
        for name, measured in rounds.items()
    }
    (cpu, speed), (bare_cpu, bare_speed) = middle["submit"], middle["submit_bare"]
    lines = [
        ("CPU for an answer", f"{cpu:.3f} ms with counters, {bare_cpu:.3f} ms without: {cpu / bare_cpu:.2f}"),
        ("answers a second", f"{speed:.0f} with counters, {bare_speed:.0f} without: {speed / bare_speed:.2f}"),
    ]
    wrong = [f"{cpu / bare_cpu:.2f} times the CPU"] if cpu > MAX_CPU * bare_cpu else []
    wrong += [f"{speed / bare_speed:.2f} times the speed"] if speed < MIN_SPEED * bare_speed else []
    print(table("The price of statistics", list(lines), wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
