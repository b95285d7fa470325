"""Projects of any size, straight into the tables by COPY: what years of work would have left."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence

import attrs
import psycopg2

from bench.support.testbed import Sql

_TIME = "2026-01-01 00:00:00+00"
_TABLES = {
    "task": "id, project_id, created, info",
    "task_ledger": "project_id, task_id, ordinal, n_answers, answers, mode, requeued_xid",
    "task_run": "project_id, task_id, actor, user_id, created, finish_time, counted, info",
    "position": "project_id, actor, scan, k1, k2",
}
_INFO = '{"question": "Is there a bird?", "url": "https://example.org/images/%d.jpg"}'
_ANSWER = '{"answer": "%s", "seconds": 7}'


@attrs.frozen
class Filling:
    """``runs`` answers spread over ``tasks`` tasks that want ``n_answers`` each, the default order followed.

    ``veterans`` have answered the first so many of the tasks; their answers are among the ``runs``.
    """

    tasks: int
    runs: int
    n_answers: int = 30
    sched: str = "default"
    veterans: Mapping[str, int] = attrs.field(factory=dict)
    choices: Sequence[str] = ("yes",)

    def answer(self, task: int, person: int) -> str:
        """What somebody says of a task: three in four the same, for each task another choice."""
        wrong = (7 * task + 13 * person) % 4 == 0
        return self.choices[(task + person * wrong) % len(self.choices)]

    @property
    def each(self) -> int:
        """Answers of strangers on each task."""
        return max(0, self.runs - sum(self.veterans.values())) // self.tasks


def fill(sql: Sql, project: int, filling: Filling) -> int:
    """Gives a project this content in place of what it has; the id before its first task."""
    first = int(sql.one("SELECT nextval(pg_get_serial_sequence('task', 'id'))"))
    sql.rows("SELECT delete_tasks(%(p)s, ARRAY(SELECT id FROM task WHERE project_id = %(p)s), clock())", {"p": project})
    mode = sql.one("SELECT mode_of(%s)", [filling.sched])
    with contextlib.closing(psycopg2.connect(sql.dsn, options="-c search_path=public,code")) as connection:
        with connection, connection.cursor() as cursor:
            cursor.execute("SET synchronous_commit = off")
            for table, lines in _content(project, first, filling, mode):
                cursor.copy_expert(f"COPY {table} ({_TABLES[table]}) FROM STDIN", Lines(lines))
            cursor.execute(_REST, {"p": project, "first": first, "n": filling.tasks, "sched": filling.sched})
            for actor, runs in _people(filling):
                cursor.execute(_FIGURES, {"p": project, "actor": actor, "runs": runs})
            cursor.execute(_TOTALS, {"p": project, "n": filling.tasks, "wanted": filling.tasks * filling.n_answers})
            cursor.execute("SELECT fold_stats()")
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")
    return first


def set_scheduler(sql: Sql, project: int, filling: Filling, sched: str) -> None:
    """Changes how tasks are chosen. The veterans of an order are where they were, as if it had always been so."""
    sql.rows("SELECT set_scheduler(%s, %s, clock())", [project, sched])
    for actor, runs in filling.veterans.items() if sched != "breadth_first" else ():
        sql.rows(_POSITION, {"p": project, "actor": actor, "runs": runs})
    sql.rows("VACUUM ANALYZE task_ledger")


_POSITION = """
INSERT INTO position (project_id, actor, scan, k1, k2)
SELECT %(p)s, %(actor)s, 'priority/' || epoch, 0, (SELECT task_id FROM task_ledger WHERE project_id = %(p)s AND ordinal = %(runs)s)
  FROM project_ledger WHERE project_id = %(p)s ON CONFLICT DO NOTHING"""  # noqa: E501
_REST = """
UPDATE project_ledger SET n_ordinals = %(n)s, max_rank = 0, sched = %(sched)s WHERE project_id = %(p)s;
SELECT setval(pg_get_serial_sequence('task', 'id'), %(first)s + %(n)s)"""
_FIGURES = """
INSERT INTO stat_delta (project_id, hour, actor, runs, counted, seconds)
SELECT %(p)s, date_trunc('hour', clock()), %(actor)s, %(runs)s, %(runs)s, 7 * %(runs)s"""
_TOTALS = """
INSERT INTO stat_delta (project_id, hour, tasks, wanted) SELECT %(p)s, date_trunc('hour', clock()), %(n)s, %(wanted)s"""


def _people(filling: Filling) -> Iterator[tuple[str, int]]:
    """Everybody who has answered, and how often."""
    yield from ((f"c:stranger{k}", filling.tasks) for k in range(filling.each))
    yield from filling.veterans.items()


def _content(project: int, first: int, filling: Filling, mode: str) -> Iterator[tuple[str, Iterable[str]]]:
    numbers, veterans, each = range(1, filling.tasks + 1), filling.veterans, filling.each
    requeued_xid = "100" if filling.sched == "breadth_first" else r"\N"
    yield "task", (f"{first + o}\t{project}\t{_TIME}\t{_INFO % o}\n" for o in numbers)
    yield (
        "task_ledger",
        (
            f"{project}\t{first + o}\t{o}\t{filling.n_answers}"
            f"\t{each + sum(o <= runs for runs in veterans.values())}\t{mode}\t{requeued_xid}\n"
            for o in numbers
        ),
    )
    people = list(_people(filling))
    marks = {actor: (actor[2:] if actor.startswith("u:") else r"\N") for actor, _ in people}
    yield (
        "task_run",
        (
            f"{project}\t{first + o}\t{actor}\t{marks[actor]}\t{_TIME}\t{_TIME}\ttrue"
            f"\t{_ANSWER % filling.answer(o, k)}\n"
            for o in numbers
            for k, (actor, runs) in enumerate(people)
            if o <= runs
        ),
    )
    yield "position", (f"{project}\t{actor}\tpriority/1\t0\t{first + runs}\n" for actor, runs in veterans.items())


class Lines(io.RawIOBase):
    """Lines as a file that COPY reads."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines, self._rest = iter(lines), b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        parts, length = [self._rest], len(self._rest)
        for line in self._lines:
            parts.append(line.encode())
            length += len(parts[-1])
            if length >= size > 0:
                break
        whole = b"".join(parts)
        read, self._rest = (whole[:size], whole[size:]) if size > 0 else (whole, b"")
        return read
