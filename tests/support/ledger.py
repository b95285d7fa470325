"""The functions of the ledger, called by hand over a connection of one's own.

Volunteers are named as crowdd names them: ``u:7`` is account 7, ``c:…`` and ``i:…`` are anonymous, ``x:…`` is external.
Each has a network of its own unless ``network`` names one.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

import attrs
import psycopg2
from psycopg2.extras import Json, RealDictCursor

from crowdd.features.results.comparing_process import compare_task
from support.checks.invariants import Watch

DRAFT = "try-it"  # the key of every draft; everybody here has it
PATIENCE = 60  # seconds that anything here may take before the test fails
_TRIES = 200
_ASK = """
SELECT state, coalesce(tasks, '{}') AS tasks, extract(epoch FROM retry_at - clock())::float8 AS retry_in
  FROM next_tasks(%(p)s, %(a)s, %(me)s, %(admin)s, %(unlocked)s, %(limit)s, %(offset)s, %(order)s, clock(), %(wait)s,
                  %(network)s, %(also)s)"""
_ANSWER = """
SELECT state, run, late_seconds
  FROM submit(%(p)s, %(a)s, %(t)s, %(user)s, %(ip)s, NULL, %(info)s, NULL, NULL, clock(), NULL, %(also)s)"""


@attrs.frozen
class Asked:
    """What ``next_tasks`` said; ``retry_in`` in seconds."""

    state: str
    tasks: list[int]
    retry_in: float | None = None


@attrs.frozen
class Answered:
    """What ``submit`` said."""

    state: str
    run: int | None
    late: float | None


class Ledger:
    """One session with the database. With ``check``, every invariant is looked for after every change."""

    def __init__(self, dsn: str, *, check: bool = False, autocommit: bool = True) -> None:
        self.connection = psycopg2.connect(dsn, options="-c search_path=public,code -c statement_timeout=60s")
        self.connection.autocommit = autocommit
        self.pid = self.connection.get_backend_pid()
        self.highest = 0  # where n_answers was lowered or the scheduler changed: what it was at most
        self.check = check
        self._watch = Watch(self.connection)

    def wake(self) -> bool:
        """Makes it as new for another test, with what PostgreSQL has planned; False when the session has ended."""
        self.highest, self.check = 0, True
        self._watch.begin()
        try:
            self.connection.autocommit = True
            self.run("RESET ALL; SELECT pg_advisory_unlock_all(); DISCARD TEMP; DISCARD SEQUENCES")
        except psycopg2.Error:
            self.close()
            return False
        return True

    def broken(self, highest: int = 0, share: int = 0) -> list[str]:
        """The rules that are broken now; see ``support.checks.invariants``."""
        return self._watch.broken(highest, share)

    # Plain SQL

    def rows(self, sql: str, **values: Any) -> list[dict[str, Any]]:
        """All rows of a statement."""
        with self.connection.cursor(cursor_factory=RealDictCursor) as cursor:
            cursor.execute(sql, values or None)
            return [dict(row) for row in cursor.fetchall()] if cursor.description else []

    def row(self, sql: str, **values: Any) -> dict[str, Any]:
        """The only row of a statement."""
        (record,) = self.rows(sql, **values)
        return record

    def value(self, sql: str, **values: Any) -> Any:
        """The only value of a statement."""
        (cell,) = self.row(sql, **values).values()
        return cell

    def change(self, sql: str, **values: Any) -> Any:
        """The value of a statement that changes something; then the invariants."""
        outcome = self.value(sql, **values)
        if self.check:
            assert self.broken(self.highest) == []
        return outcome

    def run(self, sql: str, **values: Any) -> None:
        """A statement without rows."""
        with self.connection.cursor() as cursor:
            cursor.execute(sql, values or None)

    def compare(self) -> int:
        """Compares what is due, as the job does; how many results. Then the invariants."""
        due = self.rows("SELECT * FROM due_comparisons(100, 1000)")
        ids = ("project_id", "task_id", "result_id", "stamp")
        none = {"said": None, "alpha": None}
        comparisons = [
            {name: row[name] for name in ids}
            | (none if row["fields"] is None else compare_task(row["fields"], row["answers"], row["first_answers"]))
            for row in due
        ]
        self.run("SELECT store_comparisons(%(found)s, clock())", found=Json(comparisons))
        if self.check:
            assert self.broken(self.highest) == []
        return len(due)

    def commit(self) -> None:
        """Ends the transaction of a session without autocommit."""
        self.connection.commit()

    def close(self) -> None:
        """Leaves; what was not committed is undone."""
        self.connection.close()

    # What owners do

    def project(
        self, tasks: int = 0, n: int = 2, *, sched: str = "default", published: bool = True, **ledger: Any
    ) -> int:
        """The id of a new project; ``ledger`` are columns of its project_ledger."""
        owner = self.value(
            "INSERT INTO account (created, name, fullname, email_addr, api_key_hash, api_key_encrypted)"
            " SELECT clock(), x, x, x, x::text::bytea, '' FROM (SELECT 'owner' || count(*) AS x FROM account) n"
            " RETURNING id"
        )
        project = self.value(
            "INSERT INTO project"
            " (created, updated, name, short_name, secret_key_encrypted, owner_id, owners_ids, category_id)"
            " SELECT clock(), clock(), x, x, '', %(owner)s, ARRAY[%(owner)s::bigint], (SELECT min(id) FROM category)"
            " FROM (SELECT 'project' || %(owner)s AS x) n RETURNING id",
            owner=owner,
        )
        columns = {"project_id": project, "sched": sched, "draft_key": DRAFT, **ledger}
        names, marks = ", ".join(columns), ", ".join(f"%({name})s" for name in columns)
        self.run(f"INSERT INTO project_ledger ({names}) VALUES ({marks})", **columns)
        self.add(project, [0.0] * tasks, n)
        if published:
            assert self.publish(project)
        return project

    def add(self, project: int, priorities: Iterable[float], n: int = 2) -> list[int]:
        """The ids of new tasks, one for each priority."""
        tasks = [
            {"info": {"number": k}, "n_answers": n, "priority_0": p, "quorum": 0, "calibration": 0}
            for k, p in enumerate(priorities)
        ]
        return self.change("SELECT add_tasks(%(p)s, %(tasks)s, clock())", p=project, tasks=Json(tasks))

    def declare(self, project: int, *choices: Any, **trust: Any) -> None:
        """The first answer field is a label at /answer, of these choices or any; ``trust``: min_answers and confidence."""
        field = {"name": "answer", "at": "/answer", "type": "label"} | ({"choices": choices} if choices else {})
        info = {"answers": [field]} | ({"trust": trust} if trust else {})
        self.run("UPDATE project SET info = %(i)s WHERE id = %(p)s", p=project, i=Json(info))
        if not self.rows("SELECT 1 FROM task_run WHERE project_id = %(p)s", p=project):
            self.run("DELETE FROM agreement_due WHERE project_id = %(p)s", p=project)

    def tasks(self, project: int) -> list[int]:
        """The ids of all tasks."""
        return [row["id"] for row in self.rows("SELECT id FROM task WHERE project_id = %(p)s ORDER BY id", p=project)]

    def publish(self, project: int) -> bool:
        return self.change("SELECT publish(%(p)s, clock())", p=project)

    def pause(self, project: int) -> bool:
        return self.change("SELECT pause(%(p)s, clock())", p=project)

    def schedule(self, project: int, name: str) -> None:
        self.highest = 1000  # depth_first_all leases without limit
        self.change("SELECT set_scheduler(%(p)s, %(name)s, clock())", p=project, name=name)

    def set_n(self, project: int, tasks: list[int], n: int) -> int:
        maximum = "SELECT coalesce(max(n_answers), 0) FROM task_ledger WHERE task_id = ANY (%(tasks)s)"
        self.highest = max(self.highest, self.value(maximum, tasks=tasks))
        return self.change(
            "SELECT tasks FROM set_redundancy(%(p)s, %(tasks)s, %(n)s, clock())", p=project, tasks=tasks, n=n
        )

    def set_priority(self, project: int, tasks: list[int], priority: float) -> int:
        return self.change(
            "SELECT tasks FROM set_priority(%(p)s, %(tasks)s, %(f)s)", p=project, tasks=tasks, f=priority
        )

    def delete_tasks(self, project: int, tasks: list[int]) -> int:
        return self.change("SELECT tasks FROM delete_tasks(%(p)s, %(tasks)s, clock())", p=project, tasks=tasks)

    def delete_project(self, project: int) -> bool:
        return self.change("SELECT delete_project(%(p)s)", p=project)

    def sweep(self, project: int) -> None:
        """Takes away all that a deleted project left."""
        while self.change("SELECT sweep_project(%(p)s)", p=project):
            pass

    def effect(self, call: str, **values: Any) -> tuple[int, int, int, int]:
        """What a change does or a preview says: tasks, completed, reopened, answers."""
        row = self.row(f"SELECT * FROM {call}", **values)
        if self.check:
            assert self.broken(self.highest) == []
        return row["tasks"], row["completed"], row["reopened"], row["answers"]

    def stopping(self, project: int, minimum: int | None, confidence: float | None, *, completed: bool = False) -> Any:
        """Changes when tasks stop early, in the project and in all tasks: tasks, completed, reopened."""
        trust = None if minimum is None else Json({"min_answers": minimum, "confidence": confidence})
        self.run(
            "UPDATE project SET info = jsonb_set(info, '{trust}', coalesce(%(t)s::jsonb, 'null')) WHERE id = %(p)s",
            t=trust,
            p=project,
        )
        return self.effect("set_stopping(%(p)s, %(t)s, %(c)s, clock())", p=project, t=self.tasks(project), c=completed)[
            :3
        ]

    def retire(self, project: int, tasks: list[int], reason: str = "retired") -> int:
        return self.change(
            "SELECT tasks FROM retire(%(p)s, %(t)s, %(r)s, 'enough', 1, clock())", p=project, t=tasks, r=reason
        )

    def reopen(self, project: int, tasks: list[int]) -> int:
        return self.change("SELECT tasks FROM reopen(%(p)s, %(t)s, clock())", p=project, t=tasks)

    def withdraw(self, project: int, tasks: list[int], actor: str) -> int:
        return self.change("SELECT answers FROM withdraw(%(p)s, %(t)s, %(a)s, clock())", p=project, t=tasks, a=actor)

    def delete_run(self, project: int, run: int | None) -> bool:
        return self.change("SELECT delete_run(%(p)s, %(run)s, clock())", p=project, run=run)

    def fold(self) -> int:
        return self.change("SELECT fold_stats()")

    def fold_evidence(self) -> None:
        """Folds what completed tasks have taught, in all projects."""
        while self.rows("SELECT fold_evidence(id) FROM projects_to_fold() id"):
            pass
        assert not self.check or self.broken(self.highest) == []

    # What volunteers do

    def ask(
        self,
        project: int,
        actor: str,
        limit: int = 1,
        offset: int = 0,
        *,
        order: str = "priority",
        me: int | None = None,
        admin: bool = False,
        unlocked: Iterable[str] = (),
        once: bool = False,
        wait: bool = True,
        network: str | None = None,
        also: str | None = None,
    ) -> Asked:
        """Asks until the answer is not "again", or ``once``; without ``wait`` as one of many in a transaction."""
        for _ in range(1 if once else _TRIES):
            row = self.row(
                _ASK,
                p=project,
                a=actor,
                me=me if me is not None else account(actor),
                admin=admin,
                unlocked=[*unlocked, DRAFT],
                limit=limit,
                offset=offset,
                order=order,
                wait=wait,
                network=network_of(actor) if network is None else network,
                also=also,
            )
            if self.check:
                assert self.broken(self.highest) == []
            if row["state"] != "again":
                break
        assert once or row["state"] != "again", "asked again and again"
        return Asked(row["state"], row["tasks"], row["retry_in"])

    def take(self, project: int, actor: str, **options: Any) -> int:
        """The one task that a volunteer is given."""
        asked = self.ask(project, actor, **options)
        assert asked.state == "ok", asked
        (task,) = asked.tasks
        return task

    def answer(
        self,
        project: int,
        actor: str,
        task: int,
        info: Any = "yes",
        network: str | None = None,
        also: str | None = None,
    ) -> Answered:
        own = network_of(actor) if network is None else network
        row = self.row(
            _ANSWER,
            p=project,
            a=actor,
            t=task,
            user=account(actor),
            ip=own if actor[:2] in ("c:", "i:") else None,
            info=json.dumps(info),
            also=also,
        )
        if self.check:
            assert self.broken(self.highest) == []
        return Answered(row["state"], row["run"], row["late_seconds"])

    def contribute(self, project: int, actor: str, **options: Any) -> int:
        """Takes a task and answers it; the task."""
        task = self.take(project, actor, **options)
        assert self.answer(project, actor, task, network=options.get("network")).state == "counted"
        return task

    def all_of(self, project: int, actor: str, **options: Any) -> list[int]:
        """Answers until there is nothing left for this volunteer; the tasks in their order."""
        done = []
        while (asked := self.ask(project, actor, **options)).state == "ok":
            for task in asked.tasks:
                answered = self.answer(project, actor, task, network=options.get("network"))
                assert answered.state in ("counted", "late", "surplus")
                done.append(task)
        return done

    def all_of_values(self, project: int, actor: str, value: Any) -> list[int]:
        """The same with one choice for all; the tasks in their order."""
        done = []
        while (asked := self.ask(project, actor)).state == "ok":
            for task in asked.tasks:
                self.answer(project, actor, task, {"answer": value})
                done.append(task)
        return done

    def hold(self, project: int, actor: str, task: int, network: str | None = None) -> str:
        """Opens the page of a task."""
        return self.change(
            "SELECT lease_task(%(p)s, %(a)s, %(me)s, false, %(unlocked)s, %(t)s, clock(), %(network)s)",
            unlocked=[DRAFT],
            p=project,
            a=actor,
            me=account(actor),
            t=task,
            network=network_of(actor) if network is None else network,
        )

    def release(self, project: int, actor: str, task: int, *, skip: bool = False) -> bool:
        return self.change(
            "SELECT release_task(%(p)s, %(a)s, %(t)s, %(skip)s, clock())", p=project, a=actor, t=task, skip=skip
        )

    def link(self, one: str, other: str, project: int = 0) -> None:
        """A browser proves both; ``project`` where one is an external user."""
        self.change("SELECT link_actors(%(one)s, %(other)s, %(p)s, clock())", one=one, other=other, p=project)

    def settle(self) -> int:
        """Looks for double answers of links, as the job does; how many it set aside. Then the invariants."""
        n = 0
        for link in self.rows("SELECT actor, other, project_id, due::text FROM due_links(100)"):
            twice = self.rows("SELECT * FROM answered_twice(%(actor)s, %(other)s, %(project_id)s, 1000)", **link)
            for row in twice:
                call = "SELECT keep_earlier(%(in)s, ARRAY[%(t)s], %(actor)s, %(other)s, clock())"
                n += self.change(call, **link, **{"in": row["project_id"], "t": row["task_id"]})
            self.change("SELECT link_settled(%(actor)s, %(other)s, %(project_id)s, %(due)s)", **link)
        return n

    # What can be seen

    def ledger(self, task: int) -> dict[str, Any]:
        """The ledger row of a task."""
        return self.row("SELECT * FROM task_ledger WHERE task_id = %(t)s", t=task)

    def results(self, task: int) -> list[dict[str, Any]]:
        """Versions of the result of a task."""
        return self.rows("SELECT * FROM result WHERE task_id = %(t)s ORDER BY version", t=task)

    def events(self, project: int) -> list[tuple[str, int]]:
        """Kind and task of each event, in order."""
        rows = self.rows("SELECT kind, task_id FROM event WHERE project_id = %(p)s ORDER BY id", p=project)
        return [(row["kind"], row["task_id"]) for row in rows]

    def figures(self, project: int) -> dict[str, Any]:
        """The figures of a project."""
        return self.row("SELECT * FROM project_figures WHERE project_id = %(p)s", p=project)

    def counted(self, task: int) -> list[int]:
        """The counted runs of a task."""
        rows = self.rows("SELECT id FROM task_run WHERE task_id = %(t)s AND counted ORDER BY id", t=task)
        return [row["id"] for row in rows]

    def pass_time(self, seconds: float) -> None:
        """Moves the clock of the whole database."""
        self.run("UPDATE clock_shift SET ahead = ahead + make_interval(secs => %(s)s)", s=seconds)

    def wait_until_blocked(self, other: Ledger) -> None:
        """Returns when the other session waits for a lock; fails when it does not within some seconds."""
        end = time.monotonic() + PATIENCE
        while not self.value("SELECT cardinality(pg_blocking_pids(%(pid)s)) > 0", pid=other.pid):
            assert time.monotonic() < end, "nobody waits"


def network_of(actor: str) -> str:
    """The network of a volunteer who is alone there."""
    return actor.removeprefix("i:")


class Meanwhile:
    """Something that another session does at the same time: ``with Meanwhile(b.answer, p, "u:2", t) as b_answer``."""

    def __init__(self, work: Callable[..., Any], *arguments: Any, **options: Any) -> None:
        self._work = lambda: work(*arguments, **options)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._result: Any = None
        self._error: BaseException | None = None
        self._thread.start()

    def result(self) -> Any:
        """What it came to; its error is raised here."""
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive(), "it never ended"
        if self._error is not None:
            raise self._error
        return self._result

    def _run(self) -> None:
        try:
            self._result = self._work()
        except BaseException as error:
            self._error = error


def account(actor: str) -> int | None:
    """The account of a volunteer, if they have one."""
    return int(actor[2:]) if actor.startswith("u:") else None
