"""Plain asks and answers of a batch are done together: as one after the other would be, in the order of what is returned.

CROWDD_EXAMPLES=100 pytest tests/ledger/test_together.py goes further.
"""

from __future__ import annotations

import json
import os
import random
import threading
from collections import Counter

import attrs
import pytest
from psycopg2 import errors
from support.checks.invariants import invariants
from support.checks.proofs import examples
from support.ledger import Ledger, Meanwhile, account, network_of

WRITTEN = {
    "lease": "true",
    "expired_lease": "true",
    "task_run": "true",
    "task_ledger": "true",
    "stat_delta": "runs > 0",
    "position": "actor <> '' AND actor NOT LIKE 'n:%%'",  # not the low-water marks, which spare index entries only
    "result": "true",
}
OTHERS = (  # ids and transactions
    "{id,project_id,k1,k2,xact,changed_xid,completed_xid,requeued_xid,stamp,task_run_ids,used,ordinal,granted,expires,created,finish_time,seconds,generation,weighed_by}"
)
HOME = "10.0.0.1"
ACTORS = [*(f"u:{n}" for n in range(901, 906)), *(f"c:{n}" for n in range(7)), "i:10.0.0.1", "i:10.0.0.9", "x:a", "x:b"]
AT_HOME = {"c:0", "c:1", "c:2", "i:10.0.0.1", "u:901", "u:902"}
LINKS = [("c:2", "u:903"), ("c:3", "u:904")]


def place(actor: str) -> str:
    """The network of a volunteer."""
    return HOME if actor in AT_HOME else network_of(actor)


def ask_of(project: int, actor: str, maximum: int = 1, skip: int = 0, scan: str = "priority", also: str | None = None):
    """One of many."""
    return {
        "project": project, "actor": actor, "me": account(actor), "is_admin": False, "unlocked": [],
        "maximum": maximum, "skip": skip, "scan": scan, "network": place(actor), "also": also,
    }  # fmt: skip


def answer_of(project: int, actor: str, task: int, info: object = "yes", also: str | None = None):
    """One of many."""
    return {
        "project": project, "actor": actor, "task": task, "user_id": account(actor),
        "ip": place(actor) if actor[:2] in ("c:", "i:") else None, "external": actor[2:] if actor[0] == "x" else None,
        "info": info, "also": also,
    }  # fmt: skip


def ask_many(ledger: Ledger, asks):
    """State and tasks of each, in the order in which they were done, with its place among them."""
    sql = "SELECT nth, state, coalesce(tasks, '{}') AS tasks FROM ask_many(%(asks)s, false, clock())"
    return [(row["nth"] - 1, row["state"], row["tasks"]) for row in ledger.rows(sql, asks=json.dumps(asks))]


def submit_many(ledger: Ledger, answers):
    """The same of answers: what became of each, and whether a run was named and it was late."""
    sql = "SELECT nth, state, run IS NULL AS without, late_seconds > 0 AS late FROM submit_many(%(answers)s, true, clock())"
    rows = ledger.rows(sql, answers=json.dumps(answers))
    return [(row["nth"] - 1, row["state"], row["without"], bool(row["late"])) for row in rows]


@attrs.frozen
class Twins:
    """Two projects with the same tasks: what is done in batches in one is done one by one in the other."""

    ledger: Ledger
    batch: int
    alone: int

    def both(self, work):
        """Does something to each, with its tasks; what comes of it is the same."""
        one, other = (work(project, self.ledger.tasks(project)) for project in (self.batch, self.alone))
        assert one == other
        return one

    def first(self, project: int) -> int:
        """The id of its first task."""
        return min(self.ledger.tasks(project))

    def ask(self, asks) -> Counter[str]:
        """Volunteers and what else they say."""
        done = ask_many(self.ledger, [ask_of(self.batch, *one) for one in asks])
        assert sorted(nth for nth, *_ in done) == list(range(len(asks)))
        for nth, state, tasks in done:
            ((_, alone, theirs),) = ask_many(self.ledger, [ask_of(self.alone, *asks[nth])])
            mine, others = self.first(self.batch), self.first(self.alone)
            assert (state, [task - mine for task in tasks]) == (alone, [task - others for task in theirs]), asks[nth]
        return self._same(state for _, state, _ in done)

    def answer(self, answers) -> Counter[str]:
        """Volunteers, tasks by their place, and what else they say."""
        mine, others = self.first(self.batch), self.first(self.alone)
        done = submit_many(
            self.ledger, [answer_of(self.batch, actor, mine + task, *more) for actor, task, *more in answers]
        )
        assert sorted(nth for nth, *_ in done) == list(range(len(answers)))
        for nth, *result in done:
            actor, task, *more = answers[nth]
            ((_, *alone),) = submit_many(self.ledger, [answer_of(self.alone, actor, others + task, *more)])
            assert result == alone, answers[nth]
        return self._same(state for _, state, *_ in done)

    def _same(self, states) -> Counter[str]:
        assert self.ledger.broken(self.ledger.highest) == []
        assert self.written(self.batch) == self.written(self.alone)
        assert [(kind, task - self.first(self.batch)) for kind, task in self.ledger.events(self.batch)] == [
            (kind, task - self.first(self.alone)) for kind, task in self.ledger.events(self.alone)
        ]
        return Counter(states)

    def written(self, project: int):
        """What the tables have of a project, its tasks numbered, times as how long something takes."""
        first = self.first(project)
        return {
            table: self.ledger.rows(
                "SELECT to_jsonb(x) - %(others)s::text[] || jsonb_strip_nulls(jsonb_build_object("
                "  'task_id', (to_jsonb(x)->>'task_id')::bigint - %(first)s, "
                "  'at', CASE WHEN to_jsonb(x)->>'scan' !~ '^(returns|level)' THEN jsonb_build_array(to_jsonb(x)->'k1', (to_jsonb(x)->>'k2')::bigint - %(first)s) END,"
                "  'weighing', (to_jsonb(x) #- '{weighed_by,generation}') -> 'weighed_by',"
                "  'runs_', jsonb_array_length(to_jsonb(x)->'task_run_ids'), 'requeued', (to_jsonb(x)->>'requeued_xid') IS NOT NULL, 'timeout', (to_jsonb(x)->>'timeout')::float8 > 0,"
                "  'hours', date_trunc('hour', (to_jsonb(x)->>'expires')::timestamptz - (to_jsonb(x)->>'granted')::timestamptz)"
                f")) AS row FROM {table} x WHERE project_id = %(p)s AND {condition} ORDER BY 1",
                others=OTHERS,
                first=first,
                p=project,
            )
            for table, condition in WRITTEN.items()
        }

    def held(self) -> list[tuple[str, int]]:
        """Who holds or held which task."""
        sql = "SELECT actor, task_id FROM {} WHERE project_id = %(p)s ORDER BY 1, 2"
        rows = [
            row for table in ("lease", "expired_lease") for row in self.ledger.rows(sql.format(table), p=self.batch)
        ]
        return [(row["actor"], row["task_id"] - self.first(self.batch)) for row in rows]


def twins(ledger: Ledger, *, tasks: int = 8, **project) -> Twins:
    """Both without an answer."""
    return Twins(ledger, *(ledger.project(tasks=tasks, **project) for _ in range(2)))


def edit(twin: Twins, chance: random.Random) -> None:
    """Something else that happens to both."""
    ledger, nth, actor = twin.ledger, chance.randrange(6), chance.choice(ACTORS)
    match chance.choice(["pass", "skip", "release", "n", "priority", "retire", "delete", "hold", "link"]):
        case "pass":
            ledger.pass_time(chance.choice([600, 4000]))
        case "skip" | "release" as how:
            twin.both(
                lambda p, t: ledger.value(
                    "SELECT give_back(%(p)s, %(a)s, %(t)s, %(s)s, clock())", p=p, a=actor, t=t, s=how == "skip"
                )
            )
        case "n":
            n = chance.randint(1, 4)
            twin.both(lambda p, t: ledger.set_n(p, t[nth : nth + 2], n))
        case "priority":
            priority = chance.choice([-1.0, 0.0, 2.0])
            twin.both(lambda p, t: ledger.set_priority(p, t[nth : nth + 1], priority))
        case "retire":
            twin.both(lambda p, t: ledger.retire(p, t[nth : nth + 1]))
        case "delete":
            twin.both(
                lambda p, t: [
                    ledger.delete_run(p, row["id"])
                    for row in ledger.rows(
                        "SELECT id FROM task_run WHERE project_id = %(p)s AND task_id = %(t)s ORDER BY actor LIMIT 1",
                        p=p,
                        t=t[nth],
                    )
                ]
            )
        case "hold":
            twin.both(lambda p, t: ledger.hold(p, actor, t[nth], network=place(actor)))
        case "link":
            one, other = chance.choice(LINKS)
            ledger.link(one, other)


CHOICES = ["fox", "owl", "elk"]
DECLARED: dict[str, dict[str, float] | None] = {  # what tasks stop by; None: answers are no choices
    "plain": None,
    "a label": {},
    "adaptive": {"min_answers": 2, "confidence": 0.8},
}


@pytest.mark.parametrize("seed", range(int(os.environ.get("CROWDD_EXAMPLES", "3"))))
@pytest.mark.parametrize("declared", DECLARED)
def test_a_batch_comes_to_what_its_members_come_to_one_by_one(ledger, declared, seed):
    chance, trust = random.Random(seed), DECLARED[declared]
    says = ["yes", "no", None] if trust is None else [*({"answer": choice} for choice in [*CHOICES, "fox", None]), "no"]
    twin = twins(
        ledger,
        n=chance.choice([1, 2, 3]),
        sched=chance.choice(["default", "default", "depth_first_all", "breadth_first", "incremental"]),
        counted_per_network=chance.choice([0, 1, 2]),
    )
    if trust is not None:
        for project in (twin.batch, twin.alone):
            ledger.declare(project, *CHOICES, **trust)
            ledger.stopping(project, *(trust.get(name) for name in ("min_answers", "confidence")))
            ledger.set_n(project, ledger.tasks(project), 4)
    states: Counter[str] = Counter()
    for turn in range(12):
        actors = chance.choices(ACTORS, k=chance.choice([2, 6, 12]))
        asks = [(actor, *chance.choice([*[()] * 6, (2, 1), (1, 0, "id")])) for actor in actors]
        states += twin.ask(asks)
        held = twin.held()
        answers = [(*one, chance.choice(says)) for one in held if chance.random() < 0.8]
        answers += [(chance.choice(ACTORS), chance.randrange(8), "yes") for _ in range(3)] + answers[:1]
        chance.shuffle(answers)
        states += twin.answer(answers)
        if turn % 3 == 2:
            edit(twin, chance)
        if turn % 5 == 4 and trust is not None:
            ledger.fold_evidence()
    assert {"ok", "counted"} <= set(states)


def crowd(ledger: Ledger, project: int, people: int) -> list[str]:
    """Accounts that have asked before: each has a place in the order."""
    actors = [f"u:{910 + n}" for n in range(people)]
    ledger.run(
        "INSERT INTO position SELECT %(p)s, a, 'priority/' || epoch, '-infinity', 0, clock() FROM project_ledger, unnest(%(a)s) a"
        " WHERE project_id = %(p)s",
        p=project,
        a=actors,
    )
    return actors


def handed(session: Ledger, project: int, actors) -> list[int]:
    """The task of each, by their place, in their order."""
    first = min(session.tasks(project))
    rows = sorted(ask_many(session, [ask_of(project, actor) for actor in actors]))
    return [task - first for _, _, tasks in rows for task in tasks]


def test_a_plain_batch_is_done_together_as_a_whole(ledger):
    project = ledger.project(tasks=4, n=3)
    asks = [ask_of(project, actor) for actor in crowd(ledger, project, 8)]
    (found,) = ledger.rows("SELECT * FROM take_together(%(asks)s, clock())", asks=json.dumps(asks))
    first = min(ledger.tasks(project))
    assert [task - first for task in found["handed"]] == [0, 0, 0, 1, 1, 1, 2, 2]
    answers = [answer_of(project, ask["actor"], task) for ask, task in zip(asks, found["handed"], strict=True)]
    done = ledger.rows(
        "SELECT * FROM submit_together(%(answers)s, clock(), change_base())", answers=json.dumps(answers)
    )
    assert [row["state"] for row in done] == ["counted"] * 8
    assert ledger.events(project) == [("task_completed", first), ("task_completed", first + 1)]
    assert invariants(ledger.connection) == []


def test_who_passes_a_task_that_somebody_has_locked_meets_it_again(ledger, beside):
    project = ledger.project(tasks=4, n=5)
    one, *others = crowd(ledger, project, 5)
    busy = beside()
    assert busy.take(project, one) == min(ledger.tasks(project))
    assert handed(ledger, project, others) == [1, 1, 1, 1]
    busy.commit()
    answers = [answer_of(project, actor, min(ledger.tasks(project)) + 1) for actor in others]
    assert {state for _, state, *_ in submit_many(ledger, answers)} == {"counted"}
    assert handed(ledger, project, others) == [0, 0, 0, 0]
    assert invariants(ledger.connection) == []


def test_two_batches_of_asks_never_share_a_place(ledger, beside):
    project = ledger.project(tasks=5, n=2)
    actors = crowd(ledger, project, 12)
    first, second = beside(), beside()
    assert handed(first, project, actors[:4]) == [0, 0, 1, 1]
    assert handed(second, project, actors[4:8]) == [3, 3, 4, 4], "the first batch has locked one in reserve"
    first.commit(), second.commit()
    assert handed(ledger, project, actors[8:]) == [2, 2]
    assert invariants(ledger.connection) == []


def test_who_asks_in_two_batches_at_once_is_handed_one_task(ledger, beside):
    project = ledger.project(tasks=9, n=2)
    actors = crowd(ledger, project, 4)
    first, second = beside(), beside()
    assert handed(first, project, actors) == [0, 0, 1, 1]
    assert handed(second, project, actors) == []
    first.commit(), second.commit()
    assert handed(ledger, project, actors) == [0, 0, 1, 1]
    assert invariants(ledger.connection) == []


def test_two_batches_of_answers_to_one_task_complete_it_once(ledger, beside):
    project = ledger.project(tasks=1, n=8)
    actors, (task,) = crowd(ledger, project, 8), ledger.tasks(project)
    assert handed(ledger, project, actors) == [0] * 8
    first, second = beside(), beside()
    submit_many(first, [answer_of(project, actor, task) for actor in actors[:4]])
    late = Meanwhile(submit_many, second, [answer_of(project, actor, task) for actor in [*actors[4:], *actors[:2]]])
    ledger.wait_until_blocked(second)
    first.commit()
    assert Counter(state for _, state, *_ in late.result()) == {"counted": 4, "duplicate": 2}
    second.commit()
    assert ledger.events(project) == [("task_completed", task)]
    (result,) = ledger.results(task)
    assert result["task_run_ids"] == ledger.counted(task)
    assert invariants(ledger.connection) == []


def test_answers_of_a_label_are_stored_together_and_decided_one_by_one(ledger):
    project = ledger.project()
    ledger.declare(project, *CHOICES, min_answers=2, confidence=0.8)
    sure, unsure = ledger.add(project, [0.0, 0.0], n=9)
    says = {"u:921": (sure, "fox"), "u:922": (sure, "fox"), "u:923": (unsure, "fox"), "u:924": (unsure, "owl")}
    for actor, (task, _) in says.items():
        ledger.hold(project, actor, task)
    answers = [answer_of(project, actor, task, {"answer": choice}) for actor, (task, choice) in says.items()]
    ledger.publish(project)
    stored = "SELECT state FROM submit_together(%(answers)s, clock(), change_base())"
    assert [row["state"] for row in ledger.rows(stored, answers=json.dumps(answers))] == ["counted"] * 4
    assert [(ledger.ledger(task)["done"], ledger.ledger(task)["n_answers"]) for task in (sure, unsure)] == [
        (True, 2),
        (False, 3),
    ]
    assert ledger.broken() == []


def test_asks_of_a_batch_that_pass_by_a_link_keep_it(ledger, beside):
    project = ledger.project(tasks=4, n=9)
    task = ledger.contribute(project, "c:tab")
    actors = crowd(ledger, project, 4)
    ledger.link("c:tab", actors[0])
    session = beside()
    assert handed(session, project, actors) == [1, 0, 0, 0]
    assert ledger.value("SELECT unlink_actors('c:tab', %(a)s, 0)", a=actors[0]) is False
    session.commit()
    assert ledger.value("SELECT unlink_actors('c:tab', %(a)s, 0)", a=actors[0]) is True
    assert ledger.ask(project, actors[0], limit=2).tasks == [task + 1, task]


def test_of_a_batch_no_more_count_than_the_task_wants(ledger):
    project = ledger.project(tasks=1, n=3, sched="depth_first_all")
    actors, (task,) = [f"u:{940 + n}" for n in range(5)], ledger.tasks(project)
    for actor in actors:
        ledger.hold(project, actor, task)
    done = submit_many(ledger, [answer_of(project, actor, task) for actor in actors])
    assert [(nth, state) for nth, state, *_ in done] == [*((n, "counted") for n in range(3)), (3, "late"), (4, "late")]
    assert invariants(ledger.connection) == []


def test_one_person_in_two_of_a_batch_has_one_answer(ledger):
    project = ledger.project(tasks=1, n=9)
    (task,) = ledger.tasks(project)
    actors = ["c:one", "u:950", "u:951", "u:952", "u:953"]
    for actor in actors:
        ledger.hold(project, actor, task)
    ledger.link("c:one", "u:950")
    done = submit_many(ledger, [answer_of(project, actor, task) for actor in actors])
    assert Counter(state for _, state, *_ in done) == {"counted": 4, "duplicate": 1}
    assert invariants(ledger.connection) == []


def test_of_a_network_in_batches_each_has_another_task(ledger):
    project = ledger.project(tasks=6, n=5, counted_per_network=1)
    actors = [f"c:{n}" for n in range(8)]
    for actor in actors:
        ledger.run(
            "INSERT INTO position SELECT %(p)s, %(a)s, 'priority/' || epoch || '@10.0.0.1', '-infinity', 0, clock()"
            " FROM project_ledger WHERE project_id = %(p)s",
            p=project,
            a=actor,
        )
    tasks = []
    for batch in (actors[:4], actors[4:]):
        rows = ask_many(ledger, [{**ask_of(project, actor), "network": HOME} for actor in batch])
        tasks += [task for _, _, tasks in rows for task in tasks]
    assert sorted(tasks) == ledger.tasks(project)
    assert invariants(ledger.connection) == []


def test_nobody_passes_a_task_that_keeps_a_place(ledger):
    project = ledger.project(tasks=4, n=2)
    actors = crowd(ledger, project, 4)
    task = ledger.tasks(project)[1]
    ledger.hold(project, actors[2], task)
    ledger.answer(project, actors[2], task)
    assert handed(ledger, project, actors) == [0, 0, 2, 1], "the third has answered the second task"
    assert invariants(ledger.connection) == []


def test_an_answer_from_another_network_counts_for_that_one(ledger):
    project = ledger.project(tasks=1, n=9, counted_per_network=1)
    (task,) = ledger.tasks(project)
    actors = ["c:home", "c:away", "c:third", "c:fourth", "c:fifth"]
    for actor in actors:
        ledger.hold(project, actor, task, network=HOME if actor == "c:home" else actor)
    ledger.answer(project, "c:home", task, network=HOME)
    answers = [{**answer_of(project, actor, task), "ip": HOME if actor == "c:away" else actor} for actor in actors[1:]]
    states = {answers[nth]["actor"]: state for nth, state, *_ in submit_many(ledger, answers)}
    assert states == {"c:away": "surplus", "c:third": "counted", "c:fourth": "counted", "c:fifth": "counted"}
    assert invariants(ledger.connection) == []


def test_answers_of_owners_in_a_batch_do_not_score(ledger):
    project = ledger.project(tasks=1, n=9)
    (task,) = ledger.tasks(project)
    owner = ledger.value("SELECT 'u:' || owner_id FROM project WHERE id = %(p)s", p=project)
    actors = [owner, *(f"u:{960 + n}" for n in range(4))]
    for actor in actors:
        ledger.hold(project, actor, task)
    submit_many(ledger, [answer_of(project, actor, task) for actor in actors])
    scored = ledger.rows(
        "SELECT actor FROM stat_delta WHERE project_id = %(p)s AND user_id IS NOT NULL ORDER BY 1", p=project
    )
    assert [row["actor"] for row in scored] == actors[1:]
    assert invariants(ledger.connection) == []


@examples("0")
@pytest.mark.parametrize("n_gold", [0, 3])
def test_batches_of_four_sessions_at_once_fill_every_task_exactly(ledger, dsn, n_gold):
    project = ledger.project(tasks=20 + n_gold, n=3)
    actors = crowd(ledger, project, 24)
    tasks, gold = ledger.tasks(project)[:20], ledger.tasks(project)[20:]
    for task in gold:
        ledger.change("""SELECT make_gold(%(p)s, %(t)s, '["yes"]', NULL, NULL, 1, clock())""", p=project, t=task)
    failures: list[BaseException] = []

    def work(seed: int) -> None:
        session, chance = Ledger(dsn), random.Random(seed)
        try:
            while ledger_left(session, project) and not failures:
                some = chance.sample(actors, chance.randint(4, 12))
                done = ask_many(session, [ask_of(project, actor) for actor in some])
                answers = [answer_of(project, some[nth], task) for nth, _, tasks in done for task in tasks]
                try:
                    submit_many(session, chance.sample(answers, len(answers)))
                except errors.LockNotAvailable:
                    continue
        except BaseException as failure:
            failures.append(failure)
        finally:
            session.close()

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert [len(ledger.counted(task)) for task in tasks] == [3] * 20
    assert sorted(ledger.events(project)) == [("task_completed", task) for task in tasks]
    assert all(ledger.row("SELECT count(*) AS n FROM task_run WHERE task_id = %(t)s", t=task)["n"] for task in gold)
    assert invariants(ledger.connection) == []


def ledger_left(session: Ledger, project: int) -> bool:
    """Whether a task is still to be done."""
    return (
        session.value("SELECT count(*) FROM task_ledger WHERE project_id = %(p)s AND NOT (done OR retired)", p=project)
        > 0
    )
