"""What a second PostgreSQL adds when projects live on several: CPU of each for a pair of newtask and answer.

    python -m bench.shards [--seconds 10] [--rounds 3] [--pace 100] [--answers 20000] [--report]

Home and two shards, each a PostgreSQL of its own, and one server. Volunteers (browsers, addresses, people with keys)
ask and answer in rounds in turn: ``--pace`` pairs a second in projects that are all on the first shard, and twice as
many in projects half of which are on the second. So each shard in use has the same to do, and as many requests share a
transaction. A PostgreSQL bears as many pairs in a second as its CPU time for one fits into it; a server can bear what
the busiest of its PostgreSQL servers allows. Then a paused project with ``--answers`` answers moves from home to a
shard while volunteers go on in the others.

Gates: two shards bear at least 1.8 times as many pairs as one; CPU of PostgreSQL for a pair at most 1.1 times; no
request of the others fails, every answer is there once, redundancy is kept; at most 60 seconds for 100,000 answers.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import attrs
import psycopg2
from support.replication.cluster import Cluster
from support.servers.live import BIN, LiveServer

from bench.hot import accounts
from bench.support import testbed, volunteers
from bench.support.cpu import Cpu
from bench.support.figures import table
from bench.support.filled import Filling, fill
from bench.support.pairs import Identity, Rush
from bench.support.testbed import Project, Sql
from crowdd import config
from crowdd.domain.core import secrets
from crowdd.domain.server.shards.locations import KNOWN_SECONDS
from crowdd.domain.server.shards.moving import Moved, move_named
from crowdd.http.auth.cookies import VOLUNTEER
from crowdd.storage.server.shards import moving

HOME, ONE, TWO = NAMES = ("home", "one", "two")
CONNECTIONS, KEYS, N_ANSWERS = 24, 400, 3
ON_A_SHARD = 2  # projects that volunteers work in
MIN_GAIN, MAX_CPU, MAX_SECONDS = 1.8, 1.1, 60.0
PREPARED = (
    "CREATE ROLE crowdd LOGIN REPLICATION",
    "GRANT SET ON PARAMETER session_replication_role TO crowdd",
    "CREATE DATABASE crowdd OWNER crowdd",
)


@attrs.frozen
class Databases:
    """Home and the shards by name: their connection strings and their postmasters."""

    dsns: dict[str, str]
    pids: dict[str, int]

    @property
    def setting(self) -> str:
        """[db] shards."""
        return "; ".join(f"{name} = {self.dsns[name]}" for name in (ONE, TWO))


@attrs.frozen
class Round:
    """Milliseconds of CPU of each PostgreSQL for a pair, and pairs in a second on this machine."""

    cpu: dict[str, float]
    speed: float

    @property
    def capacity(self) -> float:
        """Pairs in a second of a processor for each PostgreSQL."""
        return 1000 / max(self.cpu.values())

    @property
    def whole(self) -> float:
        """Milliseconds of all PostgreSQL servers together."""
        return sum(self.cpu.values())


@contextlib.contextmanager
def databases(place: Path) -> Iterator[Databases]:
    """Three PostgreSQL servers with an empty database each."""
    made: dict[str, Cluster] = {}
    try:
        for name in NAMES:
            folder = place / name
            folder.mkdir()
            folder.chmod(0o755)
            cluster = Cluster(folder)
            cluster.create()
            with (folder / "data/postgresql.conf").open("a") as settings:
                settings.write("wal_level = logical\n")
            cluster.start()
            made[name] = cluster
            with contextlib.closing(psycopg2.connect(cluster.dsn())) as connected:
                connected.autocommit = True
                for statement in PREPARED:
                    connected.cursor().execute(statement)
        pids = {name: int((place / name / "data/postmaster.pid").read_text().split()[0]) for name in NAMES}
        yield Databases({name: made[name].dsn(dbname="crowdd", user="crowdd") for name in NAMES}, pids)
    finally:
        for cluster in made.values():
            cluster.stop()


def add(all_databases: Databases, data: Path) -> None:
    """Tables at home, and both databases as shards, by the commands that an operator has."""
    environment = {
        "CROWDD_DB_DSN": all_databases.dsns[HOME],
        "CROWDD_DB_SHARDS": all_databases.setting,
        "CROWDD_DATA_DIR": str(data),
    }
    _crowdctl(environment, "db", "upgrade")
    for name in (ONE, TWO):
        superuser = all_databases.dsns[name].replace("user=crowdd", "user=postgres")
        _crowdctl(environment, "shards", "add", name, "--superuser", superuser)


def _crowdctl(environment: dict[str, str], *words: str) -> None:
    full_environment = {**os.environ, **environment}
    subprocess.run([BIN / "crowdctl", *words], env=full_environment, cwd="/", check=True, stdout=subprocess.DEVNULL)


def people(sql: Sql, data: Path, count: int) -> list[Iterator[Identity]]:
    """For each connection those who use it: browsers, addresses, and people with keys."""
    root, numbers = secrets.load(data), itertools.count(time.time_ns() % 10**12)
    keys = itertools.cycle([key for _, key in accounts(sql, data, KEYS)])

    def of(kind: int) -> Iterator[Identity]:
        while True:
            number = next(numbers)
            network = f"X-Forwarded-For: {volunteers.address(number)}\r\n"
            if kind == 0:
                yield Identity(f"Cookie: {VOLUNTEER}={root.sign(VOLUNTEER, f'bench-{number}')}\r\n{network}")
            else:
                yield Identity(network, "" if kind == 1 else f"api_key={next(keys)}")

    return [of(number % 3) for number in range(count)]


def placed(server: LiveServer, settings: config.Settings, places: Sequence[str], tasks: int) -> list[Project]:
    """A published project on each of these databases, with tasks for all of the run."""
    projects = [testbed.project(server, tasks=1, n_answers=N_ANSWERS) for _ in places]
    for project in projects:
        pause(project)
    with ThreadPoolExecutor(len(places)) as threads:
        names = [project.short_name for project in projects]
        list(threads.map(lambda name, place: move_named(settings, name, place, KNOWN_SECONDS), names, places))
    time.sleep(KNOWN_SECONDS)
    for project in projects:
        rows = [{"project_id": project.id, "info": {"n": n}, "n_answers": N_ANSWERS} for n in range(tasks)]
        for first in range(0, tasks, 1000):
            project.owner.api("POST", "task", rows[first : first + 1000])
        project.owner.publish(project.short_name)
    return projects


def pause(project: Project) -> None:
    """Ends its assignment of tasks."""
    path, token = f"/project/{project.short_name}/pause", project.owner.csrf()
    answer = project.owner.ask("POST", path, {"csrf": token}, **{"X-CSRFToken": token})
    assert answer.status == 200, answer.text


def measured(rush: Rush, all_databases: Databases, server: LiveServer, seconds: float, pace: float) -> Round:
    """The volunteers at work."""
    looks = {name: Cpu(server.process.pid, pid) for name, pid in all_databases.pids.items()}
    before, pairs = {name: look.spent().postgres for name, look in looks.items()}, rush.pairs
    took = rush.run(seconds, pace)
    done = max(1, rush.pairs - pairs)
    cpu = {name: 1000 * (look.spent().postgres - before[name]) / done for name, look in looks.items()}
    return Round(cpu, done / took)


def middle(rounds: Sequence[Round]) -> Round:
    """The median of each figure."""
    cpu = {name: statistics.median(each.cpu[name] for each in rounds) for name in NAMES}
    return Round(cpu, statistics.median(each.speed for each in rounds))


def moved_beside(rush: Rush, settings: config.Settings, short_name: str) -> Moved:
    """Moves a project to the second shard while the volunteers of others go on."""
    done: list[Moved | None] = []
    mover = threading.Thread(target=lambda: done.append(move_named(settings, short_name, TWO, KNOWN_SECONDS)))
    mover.start()
    while mover.is_alive():
        rush.run(1.0, pace=60.0)
    if not done or done[0] is None:
        raise RuntimeError("the project was not moved")
    return done[0]


def wrong(all_databases: Databases, projects: Sequence[Project], pairs: int, moved: int, answers: int) -> list[str]:
    """What is not as it must be. Home has figures of projects without their rows, so only shards have to keep rules."""
    sqls = {name: Sql(dsn) for name, dsn in all_databases.dsns.items()}
    ids = [project.id for project in projects]
    runs = sum(sql.one("SELECT count(*) FROM task_run WHERE project_id = ANY (%s)", [ids]) for sql in sqls.values())
    of_moved = "SELECT count(*) FROM task_run WHERE project_id = %s"
    answer_counts = {name: sql.one(of_moved, [moved]) for name, sql in sqls.items()}
    forget(all_databases.dsns[TWO], moved)  # what was filled in never followed the rules
    broken = [f"{name}: {rule}" for name in (ONE, TWO) for rule in sqls[name].broken_rules()]
    if runs != pairs:
        broken.append(f"{pairs} answers were acknowledged, {runs} are there")
    if answer_counts != {HOME: 0, ONE: 0, TWO: answers}:
        broken.append(f"of {answers} moved answers there are {answer_counts}")
    over = "SELECT count(*) FROM task_ledger WHERE answers > n_answers AND project_id = ANY (%s)"
    return broken + [f"{name}: tasks have too many answers" for name, sql in sqls.items() if sql.one(over, [ids])]


def forget(dsn: str, project_id: int) -> None:
    """Removes a project without a trace."""
    session = moving.Session(dsn)
    session.work_unseen()
    with session.transaction():
        moving.remove(session, project_id, ())
    session.close()


def measure(place: Path, seconds: float, n_rounds: int, pace: float, answers: int) -> list[str]:
    """The gates that are broken."""
    with databases(place) as all_databases:
        data = place / "data"
        data.mkdir()
        (data / "secret.key").write_text(f"{'b7' * 32}\n")
        add(all_databases, data)
        environment = {"CROWDD_DB_SHARDS": all_databases.setting, "CROWDD_HTTP_MAX_REQUESTS_PER_NETWORK": "0"}
        settings = config.load(
            None, {**environment, "CROWDD_DB_DSN": all_databases.dsns[HOME], "CROWDD_DATA_DIR": str(data)}
        )
        with testbed.crowdd(all_databases.dsns[HOME], place, **environment) as server:
            sql, tasks = Sql(all_databases.dsns[HOME]), int(pace * (seconds * n_rounds + 30) / ON_A_SHARD)
            on_one = placed(server, settings, [ONE] * ON_A_SHARD, tasks)
            on_both = placed(server, settings, [ONE, TWO] * ON_A_SHARD, tasks)
            first = Rush(server.port, [project.id for project in on_one], people(sql, data, CONNECTIONS))
            second = Rush(server.port, [project.id for project in on_both], people(sql, data, 2 * CONNECTIONS))
            for rush in (first, second):
                rush.run(2)
            alone, together = [], []
            for _ in range(n_rounds):
                alone.append(measured(first, all_databases, server, seconds, pace))
                together.append(measured(second, all_databases, server, seconds, 2 * pace))
            one, two = middle(alone), middle(together)
            large = testbed.project(server, tasks=1, n_answers=1)
            fill(sql, large.id, Filling(answers // 10, answers, n_answers=10))
            pause(large)
            large_answers = sql.one("SELECT count(*) FROM task_run WHERE project_id = %s", [large.id])
            moved = moved_beside(second, settings, large.short_name)
            per = moved.seconds * 100_000 / large_answers
            broken = wrong(all_databases, [*on_one, *on_both], first.pairs + second.pairs, large.id, large_answers)
            refused = first.refused + second.refused
            complaints = testbed.complaints(server)
        gain, cost = two.capacity / one.capacity, two.whole / one.whole
        lines = [
            (f"PostgreSQL CPU per pair, projects on {words}", ", ".join(f"{n} {c:.2f} ms" for n, c in each.cpu.items()))
            for words, each in (("one shard", one), ("two shards", two))
        ]
        lines += [
            ("pairs that PostgreSQL bears per second", f"{one.capacity:.0f}, {two.capacity:.0f}: {gain:.2f} times"),
            ("CPU of PostgreSQL for a pair", f"{one.whole:.2f} ms, {two.whole:.2f} ms: {cost:.2f} times"),
            ("pairs per second in this run", f"{one.speed:.0f}, {two.speed:.0f}"),
            (f"move of {large_answers:,} answers beside volunteers", f"{moved.seconds:.1f} s: {per:.1f} s per 100,000"),
            ("pairs, requests refused", f"{first.pairs + second.pairs:,}, {sum(refused.values())}"),
        ]
    gates = [
        ("two shards bear fewer than 1.8 times as many pairs", gain < MIN_GAIN),
        ("a pair costs more than 1.1 times as much on two shards", cost > MAX_CPU),
        ("the move took more than 60 seconds for 100,000 answers", per > MAX_SECONDS),
        (f"requests were refused: {refused.most_common(3)}", bool(refused)),
    ]
    violations = [*(words for words, fails in gates if fails), *broken, *complaints]
    print(table("Projects on one shard and on two", lines, violations))
    return violations


def main() -> int:
    """The exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pace", type=float, default=100.0)
    parser.add_argument("--answers", type=int, default=20_000)
    parser.add_argument("--report", action="store_true", help="Print broken gates without failing.")
    chosen = parser.parse_args()
    with testbed.folder() as place:
        broken = measure(place, chosen.seconds, chosen.rounds, chosen.pace, chosen.answers)
    return int(bool(broken) and not chosen.report)


if __name__ == "__main__":
    sys.exit(main())
