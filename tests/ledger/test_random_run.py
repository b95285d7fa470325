"""Everybody does everything at once, as chance has it; the rules hold in the middle and at the end."""

from __future__ import annotations

import json
import random
import threading

import pytest
from support.checks.invariants import invariants
from support.ledger import Ledger

WORKS = 600  # make exact goes on for longer
SEED = 20
VOLUNTEERS = [*(f"u:{n}" for n in range(1, 7)), *(f"c:{n}" for n in range(4)), "i:10.0.0.1", "x:pupil"]
CHOICES = ["fox", "owl", None]
ANSWERS = [*CHOICES, "fox", "fox", ["no", "class"]]
RULES = [
    {"name": "row", "when": [{"measure": "in_a_row", "choice": "fox", "min": 2}], "then": "complete"},
    {"name": "more", "when": [{"measure": "agreement", "max": 0.5}], "then": "more_answers", "answers": 2},
    {"name": "look", "when": [{"measure": "votes", "choice": "owl", "min": 1}], "then": "review"},
]
SCHEDULERS = ["default", "breadth_first", "depth_first_all", "random", "incremental"]
ALSO = {"u:1": "c:0", "u:2": "c:1", "u:3": "c:1", "x:pupil": "c:2"}  # whom a browser proves, too, at times
NETWORKS = {"c:0": "10.0.0.1", "c:1": "10.0.0.1", "c:2": "10.0.0.2", "i:10.0.0.1": "10.0.0.1"}  # others are alone
BEFORE_A_LAPSE = 1200  # seconds, the most by which the clock jumps; a lease lasts 3600


class Run:
    """What the threads of one run share."""

    def __init__(self, dsn: str, edits: list[str]) -> None:
        self.dsn, self.edits = dsn, edits
        self.errors: list[BaseException] = []
        self.done = 0
        self.raising = threading.Lock()

    def crowd(self, projects: list[int]) -> None:
        """Lets 13 volunteers, two owners and a checker work side by side."""
        works = [self._volunteer] * 13 + [self._owner] * 2 + [self._checker]
        threads = [
            threading.Thread(target=self._go, args=(work, number, projects)) for number, work in enumerate(works)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self.errors:
            raise self.errors[0]

    def _go(self, work, number, projects):
        session = Ledger(self.dsn)
        chance = random.Random(f"{SEED}/{number}")
        try:
            while self.done < WORKS and not self.errors:
                work(session, chance, chance.choice(projects))
                self.done += 1
        except BaseException as error:
            self.errors.append(error)
        finally:
            session.close()

    def _volunteer(self, session, chance, project):
        actor = chance.choice(VOLUNTEERS)
        place = NETWORKS.get(actor)
        if chance.random() < 0.05:
            place = "10.0.0.2"  # somebody on the way
        if chance.random() < 0.1:
            broken_off(session, lambda: session.ask(project, actor, limit=3, once=True, network=place))
        also = ALSO.get(actor) if chance.random() < 0.1 else None
        limit, offset = (1, 0) if chance.random() < 0.7 else (chance.randint(1, 4), chance.randint(0, 3))
        asked = session.ask(
            project, actor, limit, offset, order=chance.choice(["priority", "id"]), once=True, network=place, also=also
        )
        assert asked.state in ("ok", "again", "wait", "network", "none", "paused")
        for task in asked.tasks:
            match chance.choices(["answer", "release", "skip", "leave", "hold", "killed"], [12, 1, 1, 3, 1, 1])[0]:
                case "answer":
                    info = {"answer": chance.choice(ANSWERS)}
                    state = session.answer(project, actor, task, info, network=place, also=also).state
                    assert state != "no task" or "delete" in self.edits
                case "release" | "skip" as how:
                    session.release(project, actor, task, skip=how == "skip")
                case "hold":
                    other = chance.choice(VOLUNTEERS)
                    session.hold(project, other, task, network=NETWORKS.get(other))
                case "killed":
                    broken_off(session, lambda t=task: session.answer(project, actor, t, network=place))
        if chance.random() < 0.2:
            for row in session.rows(
                "SELECT task_id FROM expired_lease WHERE project_id = %(p)s AND actor = %(a)s LIMIT 2",
                p=project,
                a=actor,
            ):
                session.answer(project, actor, row["task_id"], {"answer": "fox"}, network=place)
        if chance.random() < 0.1 and "correct" in self.edits:
            self._correct(session, chance, project, actor)

    def _correct(self, session, chance, project, actor):
        """Puts another answer in the place of the last one."""
        session.run(
            "SELECT amend_answer(project_id, actor, task_id, %(i)s, clock()) FROM task_run"
            " WHERE project_id = %(p)s AND actor = %(a)s ORDER BY id DESC LIMIT 1",
            i=json.dumps({"answer": chance.choice(ANSWERS)}),
            p=project,
            a=actor,
        )

    def _owner(self, session, chance, project):
        tasks = session.tasks(project)
        some = chance.sample(tasks, min(len(tasks), 3))
        match chance.choice(self.edits):
            case "add":
                session.add(project, [chance.choice([0.0, 0.5, -1.0])], n=chance.randint(1, 3))
            case "raise":
                # Between the two statements another owner could raise it further: this would lower it.
                with self.raising:
                    n = session.value("SELECT max(n_answers) FROM task_ledger WHERE task_id = ANY (%(t)s)", t=some)
                    session.set_n(project, some, min(4, (n or 1) + 1))
            case "set":
                session.set_n(project, some, chance.randint(1, 4))
            case "priority":
                session.set_priority(project, some, chance.choice([0.0, 1.0, 2.0, -1.0, -2.0]))
            case "delete":
                session.delete_tasks(project, some[:1])
            case "delete_run":
                run = session.value("SELECT max(id) FROM task_run WHERE project_id = %(p)s", p=project)
                session.delete_run(project, run)
            case "pause":
                session.pause(project)
                session.publish(project)
            case "schedule":
                session.schedule(project, chance.choice(SCHEDULERS))
            case "clock":
                session.pass_time(chance.randint(1, BEFORE_A_LAPSE))
            case "settle":
                session.settle()
            case "unlink":
                session.run("SELECT unlink_all(%(a)s)", a=chance.choice(["u:1", "u:2", "c:1"]))
            case "fold":
                session.fold()
                session.fold_evidence()
            case "withdraw":
                session.withdraw(project, some, chance.choice(VOLUNTEERS))
            case "retire":
                session.retire(project, some[:1])
                session.reopen(project, chance.sample(tasks, min(len(tasks), 3)))
            case "claim":
                self._claim(session, chance, project, some)
            case "stop":
                with self.raising:  # what the tasks follow is what the project says
                    session.connection.autocommit = False
                    session.stopping(project, *chance.choice([(2, 0.9), (2, 0.6), (1, 0.8), (None, None)]))
                    session.commit()
                    session.connection.autocommit = True
            case "rule":
                session.run(
                    "UPDATE project SET info = info || jsonb_build_object('task_rules', %(r)s::jsonb) WHERE id = %(p)s",
                    p=project,
                    r=json.dumps(chance.sample(RULES, chance.randint(0, len(RULES)))),
                )

    def _claim(self, session, chance, project, tasks):
        """An account takes over what an anonymous volunteer has answered."""
        session.run(
            "SELECT move_runs(%(p)s, %(f)s, NULL, 'u:1', 1, NULL, %(t)s, clock())",
            p=project,
            f=chance.choice(["c:0", "c:1", "c:2"]),
            t=tasks,
        )

    def _checker(self, session, chance, project):
        broken = session.broken(1000 if "set" in self.edits else 0, 3 if "claim" in self.edits else 0)
        assert broken == []


def broken_off(session, work):
    """Something whose connection is lost before it commits."""
    session.connection.autocommit = False
    work()
    session.connection.rollback()
    session.connection.autocommit = True


def drain(ledger, project):
    """Everybody answers until nothing is left for anyone; who holds a task and is gone loses it."""
    for _ in range(5):
        for actor in VOLUNTEERS:
            ledger.all_of(project, actor, limit=5, network=NETWORKS.get(actor))
        ledger.pass_time(3601)
    assert {ledger.ask(project, actor, network=NETWORKS.get(actor)).state for actor in VOLUNTEERS} <= {
        "none",
        "network",
    }


STEADY = ["add", "raise", "priority", "delete", "delete_run", "pause", "clock", "clock", "fold", "settle"]
EVERYTHING = [*STEADY, "set", "schedule"]
ADAPTIVE = [*EVERYTHING, "withdraw", "retire", "claim", "stop", "rule", "fold", "correct", "unlink"]


# The last has all that the second has, the first the strictest bounds.
@pytest.mark.proof
@pytest.mark.parametrize(
    "edits",
    [STEADY, pytest.param(EVERYTHING, marks=pytest.mark.size), ADAPTIVE],
    ids=["steady", "everything", "adaptive"],
)
def test_a_crowd(dsn, edits):
    """In the last run answers have classes, redundancy is adaptive, and all that may happen to it happens."""
    ledger = Ledger(dsn)
    projects = [ledger.project(sched=sched) for sched in SCHEDULERS]
    for number, project in enumerate(projects):
        if edits is ADAPTIVE:
            ledger.declare(project, *([] if number == 1 else CHOICES), min_answers=2, confidence=0.9)
        ledger.add(project, [0.0] * 12, n=5 if edits is ADAPTIVE else 2)
    run = Run(dsn, edits)
    run.crowd(projects)
    for project in projects:
        drain(ledger, project)
    left = ledger.rows(
        "SELECT task_id FROM task_ledger l WHERE NOT done AND NOT retired AND (SELECT count(*) FROM task_run r"
        " WHERE r.project_id = l.project_id AND r.task_id = l.task_id) < %(n)s"
        " AND NOT EXISTS (SELECT FROM task_run r WHERE r.task_id = l.task_id AND r.unreliable)",
        n=len(VOLUNTEERS),
    )
    assert left == []
    assert invariants(ledger.connection, 1000 if "set" in edits else 0, 3 if "claim" in edits else 0) == []
    ledger.close()
