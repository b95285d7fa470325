"""Plain asks and answers are done in a few statements (take_next, the beginning of submit): as the general way would."""

from __future__ import annotations

import pytest

WHERE = {
    "lease": "",
    "expired_lease": "",
    "task_run": "",
    "task_ledger": "",
    "stat_delta": "AND runs > 0",
    "position": "AND actor <> ''",
}
OTHERS = "{id,project_id,xact,hour,changed_xid,requeued_xid,k1,used,ordinal,granted,expires,created,finish_time,timeout,seconds}"


def written(ledger, project):
    """What the tables have of a project; tasks are numbers within it, and times how long something takes."""
    first = min(ledger.tasks(project)) - 1
    return {
        table: ledger.rows(
            "SELECT to_jsonb(x) - %(others)s::text[] || jsonb_strip_nulls(jsonb_build_object("
            "  'task_id', (to_jsonb(x)->>'task_id')::bigint - %(first)s, 'k2', (to_jsonb(x)->>'k2')::bigint - %(first)s,"
            "  'late', (to_jsonb(x)->>'timeout')::float8 > 0,"
            "  'hours', date_trunc('hour', (to_jsonb(x)->>'expires')::timestamptz - (to_jsonb(x)->>'granted')::timestamptz)"
            f")) AS row FROM {table} x WHERE project_id = %(p)s {more} ORDER BY 1",
            others=OTHERS,
            first=first,
            p=project,
        )
        for table, more in WHERE.items()
    }


def work(ledger, project, actor, network, info="yes"):
    """Asks and answers of one volunteer, and what each came to: a task that comes first again, a skipped one, and a late answer."""
    first, *_ = tasks = ledger.tasks(project)
    outcomes = []
    for number in range(5):
        asked = ledger.ask(project, actor, network=network)
        outcomes.append((asked.state, [task - first for task in asked.tasks]))
        if number == 1:
            ledger.value("SELECT give_back(%(p)s, %(a)s, %(t)s, true, clock())", p=project, a=actor, t=asked.tasks)
            continue
        if number == 3:
            ledger.pass_time(10_000)
        answer = ledger.answer(project, actor, asked.tasks[0], info, network=network)
        outcomes.append((answer.state, answer.late is None))
    ledger.ask(project, actor, network=network)
    assert len(tasks) == 6
    return outcomes


WHO = pytest.mark.parametrize(
    ("actor", "network"), [("c:a", "10.0.0.1"), ("i:10.0.0.2", "10.0.0.2"), ("u:90", ""), ("x:7", "")]
)


@WHO
def test_they_write_what_the_general_way_writes(ledger, actor, network):
    plain, general = ledger.project(tasks=6, n=3), ledger.project(tasks=6, n=3)
    ledger.change("SELECT bar(%(p)s, 'u:1000', NULL, 1, '', clock())", p=general)  # a rule that needs the general way
    assert work(ledger, plain, actor, network) == work(ledger, general, actor, network)
    assert written(ledger, plain) == written(ledger, general)


@WHO
@pytest.mark.parametrize("n", [1, 3])
def test_so_does_an_answer_of_a_label(ledger, actor, network, n):
    """With adaptive redundancy; with one answer at first it is decided after each whether it is enough."""
    projects = [ledger.project(), ledger.project()]
    for project in projects:
        ledger.declare(project, "fox", "owl", min_answers=n, confidence=0.9)
        ledger.add(project, [0.0] * 6, n=5)
    _, general = projects
    ledger.change("SELECT bar(%(p)s, 'u:1000', NULL, 1, '', clock())", p=general)
    outcomes = [work(ledger, project, actor, network, {"answer": "fox"}) for project in projects]
    assert outcomes[0] == outcomes[1]
    ours, theirs = (written(ledger, project) for project in projects)
    for tables in (ours, theirs):  # what came back and is theirs to answer no more is passed later
        tables["position"] = [row for row in tables["position"] if not row["row"]["scan"].startswith("returns")]
    assert ours == theirs
    assert all(row["row"]["n_answers"] == max(n, row["row"]["answers"] + 1) for row in ours["task_ledger"])


def test_what_came_back_to_others_changes_nothing(ledger):
    project = ledger.project(tasks=4, n=3)
    first, second, third, _ = ledger.tasks(project)
    ledger.contribute(project, "u:90")
    for task in (first, third):  # answered, and still ahead
        ledger.hold(project, "u:91", task)
        ledger.release(project, "u:91", task)
    plain = "SELECT task FROM take_next(%(p)s, %(a)s, NULL, '', clock())"
    assert ledger.value(plain, p=project, a="u:90") == second
    task = ledger.take(project, "u:92")
    ledger.release(project, "u:92", task)
    assert ledger.value(plain, p=project, a="u:92") is None, "it came back to them"
    assert ledger.take(project, "u:92") == task
