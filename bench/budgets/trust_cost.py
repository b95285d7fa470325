"""What it costs to weigh answers, and to stop early: a pair of newtask and answer in four projects of one server.

    make trust-cost                     (python -m bench.budgets.trust_cost [--slices 24] [--seconds 1.2])

Equal projects with 64 volunteers at a time, who give 30 answers each and are right in four of five, among four choices.
"plain" has no answer field, "label" has one, "adaptive" stops early (2 to 11 answers, 0.95), and so does "gold", which
has 40 gold tasks as well. Slices go round in turns, so that all meet the same machine. Figures are the medians of
ratios to the slice of "plain" beside it; newtask with gold is compared with "adaptive". Then the posterior alone: the
CPU time of PostgreSQL for the answers of complete tasks.

Gates: adaptive at most 1.5 times the CPU of plain, at least 0.75 times the pairs at full speed, p99 at 300 pairs a
second at most 1.2 times; newtask with gold at most 1.1 times (p50); a posterior of 2 to 7 answers at most 110 µs.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence

import attrs
import psycopg2
from support.servers.live import LiveServer

from bench import hot
from bench.support import testbed
from bench.support.cpu import Cpu, Meter
from bench.support.figures import Times, table
from bench.support.filled import Filling, fill
from bench.support.pairs import Rush
from bench.support.testbed import Postgres, Project, Sql

CHOICES = ("fox", "owl", "cat", "dog")
TASKS, N_ANSWERS, MIN_ANSWERS, MAX_ANSWERS, N_GOLD, STAYS, RIGHT = 40_000, 3, 2, 11, 40, 30, 0.8
MAX_CPU, MIN_PAIRS, MAX_P99, MAX_GOLD, MAX_POSTERIOR = 1.5, 0.75, 1.2, 1.1, 110e-6
_LABEL = {"answers": [{"name": "animal", "at": "/answer", "type": "label", "choices": list(CHOICES)}]}
_TRUST = {"trust": {"min_answers": MIN_ANSWERS, "confidence": 0.95}}
SETUPS: dict[str, dict[str, object]] = {
    "plain": {},
    "label": _LABEL,
    "adaptive": _LABEL | _TRUST,
    "gold": _LABEL | _TRUST,
}
_WANTED = "UPDATE task_ledger SET max_answers = %s, n_answers = %s WHERE project_id = %s"
_GOLD = """
SELECT make_gold(%(p)s, t.id, jsonb_build_array(%(c)s::text), NULL, NULL, 1, clock()) FROM task t
 WHERE project_id = %(p)s AND id %% 1000 = 0 ORDER BY id LIMIT 1 OFFSET %(n)s"""
_COMPLETE = """
SELECT task_id FROM result WHERE project_id = %s AND last_version AND cardinality(task_run_ids) = %s LIMIT 500"""
Slices = Sequence[dict[str, hot.Outcome]]
Found = tuple[list[tuple[str, object]], list[str]]
"""Lines of the table, and the gates that are broken."""


def says(chance: random.Random) -> Callable[[bytes], bytes]:
    """What volunteers answer: the truth of a task follows from its number."""

    def answer(task: bytes) -> bytes:
        right = CHOICES[int(task) % len(CHOICES)]
        return b'{"answer":"%b"}' % (right if chance.random() < RIGHT else chance.choice(CHOICES)).encode()

    return answer


@attrs.define
class Turn:
    """A project with its volunteers. ``times`` are those of all slices, ``middles`` the p50 of newtask in each."""

    name: str
    project: Project
    rush: Rush
    times: Times = attrs.field(factory=Times)
    middles: list[float] = attrs.field(factory=list)

    def slice(self, cpu: Cpu, seconds: float, pace: float) -> hot.Outcome:
        """Volunteers work for a while."""
        self.rush.times = Times()
        outcome = hot.over_http(self.rush, cpu, seconds, pace)
        self.times.extend(self.rush.times)
        self.middles.append(self.rush.times.percentile("newtask", 50))
        return outcome

    def forget(self) -> None:
        """Its times."""
        self.times, self.middles = Times(), []


def prepare(server: LiveServer, sql: Sql, name: str, *, tasks: int) -> Turn:
    """A published project of this setup."""
    project = testbed.project(server, tasks=1, n_answers=1)
    info = project.owner.api("GET", f"project/{project.id}")["info"]
    project.owner.api("PUT", f"project/{project.id}", {"info": info | SETUPS[name]})
    fill(sql, project.id, Filling(tasks, 0, n_answers=N_ANSWERS))
    if name in ("adaptive", "gold"):
        sql.rows(_WANTED, [MAX_ANSWERS, MIN_ANSWERS, project.id])
    for nth in range(N_GOLD if name == "gold" else 0):
        values = {"p": project.id, "n": nth, "c": CHOICES[0]}  # id % 1000 = 0, so the first choice is right
        sql.rows(_GOLD, values)
    people = hot.people(server, project, sql)
    return Turn(name, project, Rush(server.port, project.id, people, says=says(random.Random(1)), stays=STAYS))


def rounds(
    turns: Sequence[Turn], cpu: Cpu, slices: int, seconds: float, pace: float
) -> Iterator[dict[str, hot.Outcome]]:
    """A slice of each project; each time another one begins."""
    for turn in turns:
        turn.forget()
    for nth in range(slices):
        order = [*turns[nth % len(turns) :], *turns[: nth % len(turns)]]
        yield {turn.name: turn.slice(cpu, seconds, pace) for turn in order}


def ratio(slices: Slices, name: str, figure: Callable[[hot.Outcome], float]) -> float:
    """The median of the ratios to "plain"."""
    return statistics.median(figure(one[name]) / figure(one["plain"]) for one in slices)


def posterior_seconds(dsn: str, project: int, n_answers: int) -> float | None:
    """CPU of the session for the posterior of a task with so many answers; None where there are too few such tasks."""
    with psycopg2.connect(dsn, options="-c search_path=public,code") as connection, connection.cursor() as cursor:
        cursor.execute(_COMPLETE, [project, n_answers])
        tasks = [task for (task,) in cursor]
        if len(tasks) < 20:
            return None
        session = Meter(connection.info.backend_pid)
        times = []
        for _ in range(5):
            began, _waited = session()
            cursor.execute("SELECT count((weigh(%s, t)).confidence) FROM unnest(%s) t", [project, tasks])
            times.append((session()[0] - began) / len(tasks))
        return min(times)


def full_speed(slices: Slices) -> Found:
    """Lines and broken gates."""
    lines: list[tuple[str, object]] = []
    wrong = []
    for name in SETUPS:
        outcomes = [one[name] for one in slices]
        crowdd, postgres, rate = (statistics.median(map(of, outcomes)) for of in (_crowdd, _postgres, _rate))
        cpu, pairs = ratio(slices, name, _server), ratio(slices, name, _rate)
        lines.append(
            (f"  {name}", f"{rate:5.0f} pairs/s ({pairs:.2f}), CPU {crowdd:.3f} + {postgres:.3f} ms ({cpu:.2f})")
        )
        if name == "adaptive" and cpu > MAX_CPU:
            wrong.append(f"{name}: {cpu:.2f} times the CPU per pair")
        if name == "adaptive" and pairs < MIN_PAIRS:
            wrong.append(f"{name}: {pairs:.2f} times the pairs a second")
    return lines, wrong


def paced(turns: Sequence[Turn]) -> Found:
    """The same at 300 pairs a second."""
    by_name = {turn.name: turn for turn in turns}
    lines: list[tuple[str, object]] = []
    for name, turn in by_name.items():
        lines.append((f"  {name}", ", ".join(_percentiles(turn.times, what) for what in ("newtask", "taskrun"))))
    late = by_name["adaptive"].times.of_all(99) / by_name["plain"].times.of_all(99)
    beside = zip(by_name["gold"].middles, by_name["adaptive"].middles, strict=True)
    drawn = statistics.median(gold / other for gold, other in beside)
    lines.append(("  p99 of adaptive, p50 of newtask with gold", f"{late:.2f}, {drawn:.2f} times"))
    wrong = [f"adaptive: {late:.2f} times the p99"] if late > MAX_P99 else []
    return lines, wrong + ([f"newtask with gold: {drawn:.2f} times"] if drawn > MAX_GOLD else [])


def _percentiles(times: Times, name: str) -> str:
    p50, p99 = (1000 * times.percentile(name, percent) for percent in (50, 99))
    return f"{name} p50 {p50:.1f} p99 {p99:.1f} ms"


def _server(outcome: hot.Outcome) -> float:
    return outcome.crowdd + outcome.postgres


def _crowdd(outcome: hot.Outcome) -> float:
    return outcome.crowdd


def _postgres(outcome: hot.Outcome) -> float:
    return outcome.postgres


def _rate(outcome: hot.Outcome) -> float:
    return outcome.rate


def measure(server: LiveServer, database: Postgres, options: argparse.Namespace) -> Found:
    """All of it."""
    sql, cpu = Sql(database.dsn), Cpu(server.process.pid, database.pid)
    turns = [prepare(server, sql, name, tasks=options.tasks) for name in SETUPS]
    database.checkpoint()
    for _ in rounds(turns, cpu, 2, 2.0, 0):  # until the first volunteers are known
        pass
    fast, wrong = full_speed([*rounds(turns, cpu, options.slices, options.seconds, 0)])
    lines: list[tuple[str, object]] = [("as many as possible", ""), *fast]
    for _ in rounds(turns, cpu, options.slices, options.seconds, hot.PACE):
        pass
    calm, late = paced(turns)
    lines += [(f"{hot.PACE} pairs a second", ""), *calm]
    wrong += late
    for n in (2, 3, 5, 7, 11):
        spent = posterior_seconds(database.dsn, turns[2].project.id, n)
        if spent is not None:
            lines.append((f"posterior of {n} answers", f"{1e6 * spent:.0f} µs"))
            wrong += [f"a posterior of {n} answers: {1e6 * spent:.0f} µs"] if spent > MAX_POSTERIOR and n <= 7 else []
    for turn in turns:
        wrong += [f"{turn.name}: {count} times {what!r}" for what, count in turn.rush.refused.items()]
        turn.rush.close()
    return lines, wrong


def main() -> int:
    """Runs it and prints a table; 1 when a gate is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=int, default=TASKS)
    parser.add_argument("--slices", type=int, default=24)
    parser.add_argument("--seconds", type=float, default=1.2)
    options = parser.parse_args()
    with (
        testbed.folder() as place,
        testbed.postgres(place) as database,
        testbed.crowdd(database.dsn, place, **hot.SETTINGS) as server,
    ):
        lines, wrong = measure(server, database, options)
        wrong += [f"The server's log: {line}" for line in testbed.complaints(server)[:3]]
    print(table("A pair with what is known of volunteers", lines, wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
