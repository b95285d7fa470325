"""Gold tasks: out of the work, drawn by chance, compared, and never in the way of what counts."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable

import pytest
from support.checks.proofs import examples
from support.ledger import Ledger, Meanwhile


def make(ledger: Ledger, project: int, task: int, *answers: object, rule: object = None) -> str:
    """Makes a task a gold task; says what became of it."""
    return ledger.change(
        "SELECT make_gold(%(p)s, %(t)s, %(a)s, %(r)s, NULL, 1, clock())",
        p=project,
        t=task,
        a=json.dumps(answers or ["yes"]),
        r=json.dumps(rule),
    )


def end(ledger: Ledger, project: int, task: int) -> bool:
    return ledger.change("SELECT end_gold(%(p)s, %(t)s, clock())", p=project, t=task)


def always(ledger: Ledger, project: int, rate: float = 1) -> None:
    """Volunteers get gold tasks with this chance."""
    ledger.run(
        "UPDATE project_ledger SET gold_rate = %(r)s, gold_start = 0 WHERE project_id = %(p)s", p=project, r=rate
    )


def runs(ledger: Ledger, task: int) -> list[tuple[str, bool, bool, bool | None]]:
    rows = ledger.rows("SELECT actor, gold, counted, is_right FROM task_run WHERE task_id = %(t)s ORDER BY id", t=task)
    return [(row["actor"], row["gold"], row["counted"], row["is_right"]) for row in rows]


def evidence(ledger: Ledger, project: int) -> list[tuple[str, int, bool]]:
    """Of each row of gold the volunteer, the sign and whether the answer was right."""
    rows = ledger.rows("SELECT actors, sign, is_right FROM evidence WHERE project_id = %(p)s AND gold", p=project)
    return [(row["actors"][0], row["sign"], row["is_right"]) for row in rows]


def test_gold_task_is_out_of_the_work_and_its_answers_do_not_count(ledger: Ledger) -> None:
    project = ledger.project(tasks=4, n=1)
    gold, other, *_rest = ledger.tasks(project)
    assert make(ledger, project, gold) == "made"
    assert make(ledger, project, gold) == "exists"
    assert make(ledger, project, 10**9) == "no task"
    always(ledger, project)
    figures = ledger.figures(project)
    assert (figures["n_tasks"], figures["n_completed_tasks"], figures["n_wanted"]) == (3, 0, 3)

    assert ledger.take(project, "u:1") == gold
    assert ledger.answer(project, "u:1", gold, "yes").state == "late"
    assert ledger.take(project, "c:b") == gold
    ledger.answer(project, "c:b", gold, "no")
    assert runs(ledger, gold) == [("u:1", True, False, True), ("c:b", True, False, False)]
    assert ledger.ledger(gold)["done"] is False
    assert ledger.results(gold) == [] and ledger.events(project) == []
    assert evidence(ledger, project) == [("u:1", 1, True), ("c:b", 1, False)]
    assert ledger.value("SELECT runs_of(%(p)s, 'u:1')", p=project) == 1
    # They have answered it: from now on they get the others only, and nothing at all when these are done.
    assert sorted(ledger.all_of(project, "u:1")) == sorted([other, *_rest])
    assert ledger.ask(project, "u:2").state == "none"


def test_completed_task_stays_complete_and_an_open_one_comes_back(ledger: Ledger) -> None:
    project = ledger.project(tasks=3, n=2)
    done, unfinished, _third = ledger.tasks(project)
    for actor in ("u:1", "u:2"):
        ledger.hold(project, actor, done)
        ledger.answer(project, actor, done)
    ledger.hold(project, "u:1", unfinished)
    ledger.answer(project, "u:1", unfinished)
    before = ledger.figures(project)
    for task in (done, unfinished):
        assert make(ledger, project, task) == "made"
    assert ledger.figures(project)["n_completed_tasks"] == 0
    for actor in ("u:4", "u:5", "u:6"):
        for task in (done, unfinished):
            assert ledger.hold(project, actor, task) == "leased"
            assert ledger.answer(project, actor, task).state == "late"
    # A mass change of redundancy, the scheduler and retirement leave them gold.
    ledger.set_n(project, [unfinished], 1)
    ledger.schedule(project, "breadth_first")
    assert ledger.reopen(project, [unfinished]) == 0 and ledger.retire(project, [done]) == 0
    assert ledger.results(unfinished) == []
    ledger.set_n(project, [unfinished], 2)
    ledger.schedule(project, "default")
    assert end(ledger, project, done) and not end(ledger, project, done)
    assert len(ledger.results(done)) == 1 and ledger.ledger(done)["answers"] == 2
    assert end(ledger, project, unfinished)
    # A place was free: the first answer that it got meanwhile counts as a late one does.
    assert [run[2] for run in runs(ledger, unfinished)] == [True, True, False, False]
    assert ledger.figures(project)["n_completed_tasks"] == before["n_completed_tasks"] + 1
    assert ledger.figures(project)["n_tasks"] == before["n_tasks"]


def test_numbers_stay_dense_and_deleted_tasks_take_their_evidence_along(ledger: Ledger) -> None:
    project = ledger.project(tasks=5, n=2)
    tasks = ledger.tasks(project)
    for task in tasks[:4]:
        make(ledger, project, task)
    ledger.hold(project, "u:1", tasks[1])
    ledger.answer(project, "u:1", tasks[1])
    assert end(ledger, project, tasks[0])
    ledger.delete_tasks(project, [tasks[1], tasks[4]])
    numbers = ledger.rows("SELECT task_id, number FROM gold_task WHERE project_id = %(p)s ORDER BY 2", p=project)
    assert [row["number"] for row in numbers] == [1, 2]
    assert evidence(ledger, project) == [("u:1", 1, True), ("u:1", -1, True)]
    ledger.delete_project(project)
    ledger.run("DELETE FROM gold_task WHERE false")
    ledger.sweep(project)
    assert ledger.value("SELECT count(*) FROM gold_task WHERE project_id = %(p)s", p=project) == 0


def test_corrections_and_deletions_take_back_what_was_taught(ledger: Ledger) -> None:
    project = ledger.project(tasks=2, n=2)
    gold, _other = ledger.tasks(project)
    make(ledger, project, gold, "yes", "perhaps")
    ledger.hold(project, "u:1", gold)
    run = ledger.answer(project, "u:1", gold, "no").run
    correct = "SELECT state FROM amend_answer(%(p)s, 'u:1', %(t)s, %(i)s, clock())"
    assert ledger.change(correct, p=project, t=gold, i='"perhaps"') == "changed"
    assert evidence(ledger, project) == [("u:1", 1, False), ("u:1", -1, False), ("u:1", 1, True)]
    ledger.delete_run(project, run)
    assert evidence(ledger, project)[3:] == [("u:1", -1, True)]
    # With feedback the right answer is known after the first one.
    ledger.run("UPDATE project_ledger SET gold_feedback = true WHERE project_id = %(p)s", p=project)
    ledger.hold(project, "u:2", gold)
    run = ledger.answer(project, "u:2", gold, "no").run
    assert ledger.value("SELECT gold_feedback(%(p)s, %(r)s)", p=project, r=run) == {
        "is_right": False, "answers": ["yes", "perhaps"], "message": None
    }  # fmt: skip
    assert ledger.change(correct.replace("u:1", "u:2"), p=project, t=gold, i='"yes"') == "in result"
    # Another right answer: the answers are compared again.
    assert ledger.change("SELECT change_gold(%(p)s, %(t)s, '[\"no\"]', NULL, NULL)", p=project, t=gold)
    assert runs(ledger, gold) == [("u:2", True, False, True)]


def silent(ledger: Ledger, project: int) -> bool:
    """Whether a recount finds in what is known of volunteers, folded or not, what the answers say."""
    for _ in range(2):
        assert ledger.rows("SELECT * FROM trust_differences(%(p)s)", p=project) == []
        ledger.fold_evidence()
    return True


@pytest.mark.parametrize("labelled", [False, True])
def test_what_gold_answers_taught_goes_where_they_go(ledger: Ledger, labelled: bool) -> None:
    project = ledger.project(tasks=0)
    if labelled:
        ledger.declare(project, "yes", "no")
    gold, ended, _other = ledger.add(project, [0.0] * 3)
    for task in (gold, ended):
        make(ledger, project, task)
        ledger.hold(project, "c:tab", task)
        ledger.answer(project, "c:tab", task, {"answer": "no"})
    # A browser's answers are claimed for an account, and the account goes.
    for was, to, account in (("c:tab", "u:7", 7), ("u:7", "i:10.0.0.1", None)):
        assert silent(ledger, project)
        moved = "SELECT move_runs(%(p)s, %(a)s, %(w)s, %(to)s, %(u)s, NULL, %(t)s, clock())"
        before = int(was[2:]) if was.startswith("u:") else None
        assert ledger.change(moved, p=project, a=was, w=before, to=to, u=account, t=[gold, ended]) == 2
        assert ledger.change("SELECT change_gold(%(p)s, %(t)s, '[\"yes\"]', NULL, NULL)", p=project, t=gold)
    assert silent(ledger, project)
    assert [row["actor"] for row in ledger.rows("SELECT actor FROM reliability WHERE gold_seen > 0")] == ["i:10.0.0.1"]
    # A task that was gold once is deleted.
    assert end(ledger, project, ended)
    ledger.delete_tasks(project, [ended])
    assert silent(ledger, project)
    assert ledger.value("SELECT gold_seen FROM reliability WHERE project_id = %(p)s", p=project) == 1


def test_imported_answer_to_a_gold_task_is_compared(ledger: Ledger) -> None:
    project = ledger.project(tasks=2)
    gold, _other = ledger.tasks(project)
    make(ledger, project, gold)
    row = {"source": project, "task": gold, "run": 10**12, "actor": "x:one", "uid": "one", "info": "no"}
    row |= {"created": "2026-01-01T00:00:00Z", "finished": "2026-01-01T00:00:09Z"}
    ledger.change("SELECT fate FROM import_exported_answers(%(p)s, %(r)s, clock())", p=project, r=json.dumps([row]))
    assert runs(ledger, gold) == [("x:one", True, False, False)]
    assert evidence(ledger, project) == [("x:one", 1, False)] and silent(ledger, project)


def test_time_for_corrections_does_not_tell_which_task_is_gold(ledger: Ledger) -> None:
    project = ledger.project(tasks=3, n=2)
    gold, ordinary, _third = ledger.tasks(project)
    make(ledger, project, gold)
    states = {}
    for task in (gold, ordinary):
        ledger.hold(project, "u:1", task)
        ledger.answer(project, "u:1", task, "a")
    correct = "SELECT state FROM amend_answer(%(p)s, 'u:1', %(t)s, %(i)s, clock())"
    for info in ('"b"', '"c"'):
        states[info] = {task: ledger.change(correct, p=project, t=task, i=info) for task in (gold, ordinary)}
        ledger.pass_time(301)
    assert states == {
        '"b"': dict.fromkeys((gold, ordinary), "changed"),
        '"c"': dict.fromkeys((gold, ordinary), "in result"),
    }


@pytest.mark.parametrize(
    ("rule", "right", "wrong"),
    [
        ({"type": "equal"}, [1, 1.0], [2, "1"]),
        ({"type": "set"}, [["a", "b"], ["b", "a"]], [["a"], "a"]),
        ({"type": "set", "threshold": 0.5}, [["a", "b"], ["a"]], [["c"], []]),
        ({"type": "number", "tolerance": 2}, [10, 11.5, 8], [7.9, "10", None]),
        ({"type": "text"}, ["Two  Foxes", "two foxes "], ["two fox", 2]),
    ],
)
def test_answers_are_compared_by_the_rule(ledger: Ledger, rule, right, wrong) -> None:
    compare = "SELECT is_right(%(rule)s, %(answers)s, %(v)s)"
    for values, expected in ((right, True), (wrong, False)):
        for value in values:
            parameters = {"rule": json.dumps(rule), "answers": json.dumps(right[:1]), "v": json.dumps(value)}
            assert ledger.value(compare, **parameters) is expected, value


@pytest.mark.parametrize("type_", ["equal", "set", "number", "text", "boxes", "points", "polygon", "spans"])
def test_left_out_nothing_there_and_cannot_tell_are_three_answers_to_a_gold_task(ledger: Ledger, type_) -> None:
    compare = "SELECT is_right(%(rule)s, %(right)s, gold_value('{marks,seen}', %(info)s))"
    answers = {"left out": {}, "nothing": {"marks": {"seen": []}}, "unsure": {"marks": {"seen": None}}}
    answers |= {"nothing at all": {"marks": []}, "unsure of all": {"marks": None}}

    def right(*values: object) -> set[str]:
        rule, accepted = json.dumps({"type": type_}), json.dumps(values)
        return {
            name
            for name, info in answers.items()
            if ledger.value(compare, rule=rule, right=accepted, info=json.dumps(info)) is not False
        }

    assert right(None) == {"unsure", "unsure of all"}
    assert right([]) == {"nothing", "nothing at all"}
    assert right("fox", [1]) == set()


@pytest.mark.parametrize(
    ("type_", "right", "value"),
    [
        ("equal", "Fox", "fox "),
        ("equal", "café", "cafe\u0301"),
        ("set", ["Fox", "owl"], ["OWL", " fox"]),
        ("text", "Straße", "STRASSE"),
    ],
)
def test_the_form_of_texts_does_not_make_an_answer_to_a_gold_task_wrong(ledger: Ledger, type_, right, value) -> None:
    compare = "SELECT is_right(%(rule)s, %(right)s, %(value)s)"
    rule = json.dumps({"type": type_})
    assert ledger.value(compare, rule=rule, right=json.dumps([right]), value=json.dumps(value))
    assert not ledger.value(compare, rule=rule, right=json.dumps([7, None]), value=json.dumps(value))


def test_lease_and_answer_outlive_what_owners_do_meanwhile(ledger: Ledger) -> None:
    project = ledger.project(tasks=2, n=1)
    first, second = ledger.tasks(project)
    # Made gold while somebody has it: their answer is one to a gold task, and it takes no place.
    assert ledger.take(project, "u:1") == first
    make(ledger, project, first)
    assert ledger.value("SELECT count(*) FROM lease WHERE task_id = %(t)s", t=first) == 1
    for actor in ("u:2", "u:3"):
        assert ledger.hold(project, actor, first) == "leased"
    assert ledger.answer(project, "u:1", first).state == "late"
    # Ended while two have it: both may still answer; one counts.
    assert end(ledger, project, first)
    assert [ledger.answer(project, actor, first).state for actor in ("u:2", "u:3")] == ["late", "late"]
    assert [run[1:3] for run in runs(ledger, first)] == [(True, True), (False, False), (False, False)]
    assert ledger.row("SELECT timeout FROM task_run WHERE actor = 'u:2'")["timeout"] is None
    # A lease of a gold task is renewed, lapses and is given back like any other.
    make(ledger, project, second)
    always(ledger, project)
    ledger.add(project, [0.0])
    assert ledger.take(project, "u:9") == second
    ledger.pass_time(3601)
    assert ledger.ask(project, "u:8").state == "ok"
    assert ledger.release(project, "u:9", second, skip=True) in (True, False)


def test_two_owners_at_once_and_an_answer_at_the_same_time(ledger: Ledger, beside: Callable[[], Ledger]) -> None:
    project = ledger.project(tasks=3, n=2)
    gold, _other, _third = ledger.tasks(project)
    first, second = beside(), beside()
    assert make(first, project, gold) == "made"
    blocked = Meanwhile(make, second, project, gold)
    first.wait_until_blocked(second)
    first.commit()
    assert blocked.result() == "exists"
    second.commit()
    # An answer while gold ends: it waits for the row, and is an ordinary one.
    assert ledger.hold(project, "u:1", gold) == "leased"
    assert end(first, project, gold)
    answered = Meanwhile(second.answer, project, "u:1", gold)
    first.wait_until_blocked(second)
    first.commit()
    assert answered.result().state == "counted"
    second.commit()
    assert runs(ledger, gold) == [("u:1", False, True, None)]
    assert ledger.broken() == []


def test_chance_falls_from_the_start_to_the_rate_and_never_shows_the_end(ledger: Ledger) -> None:
    project = ledger.project(tasks=400, n=1, sched="random")
    tasks = ledger.tasks(project)
    ledger.check = False
    gold = set(tasks[::10])
    for task in gold:
        make(ledger, project, task)
    chance = "SELECT gold_chance(p, %(n)s) FROM project_ledger p WHERE project_id = %(p)s"
    assert [round(ledger.value(chance, p=project, n=n), 3) for n in (0, 3, 6, 60)] == [0.3, 0.15, 0.075, 0.03]
    always(ledger, project, 0.25)
    ledger.run("SELECT setseed(0.4)")
    taken = [ledger.take(project, f"u:{n}") for n in range(200)]
    assert 30 <= sum(task in gold for task in taken) <= 70
    # Drawn evenly: of forty gold tasks far more than a few.
    assert len(gold & set(taken)) >= 20
    # A batch comes in the order of its leases, also when it is asked for again.
    batch = ledger.ask(project, "u:900", 12).tasks
    assert len(batch) == len(set(batch)) == 12 and ledger.ask(project, "u:900", 12).tasks == batch
    assert set(batch) & gold
    ledger.check = True
    assert ledger.broken() == []


@examples("priority")
@pytest.mark.parametrize("order", ["priority", "id", "id-down"])
def test_without_a_chosen_scheduler_the_order_does_not_tell_gold_tasks(ledger: Ledger, order: str) -> None:
    ledger.check = False
    ledger.run("SELECT setseed(0.3)")
    project = ledger.project(tasks=80, n=30)
    tasks, ordinary = ledger.tasks(project), ledger.ask(project, "u:1", 20, order=order).tasks
    assert ordinary in (tasks[:20], tasks[::-1][:20]), "in order without gold tasks"
    behind: dict[bool, list[bool]] = {True: [], False: []}
    for _ in range(10):  # in each of them other tasks are begun first
        project = ledger.project(tasks=80, n=30)
        tasks = ledger.tasks(project)
        gold = set(tasks[5::10])
        for task in gold:
            make(ledger, project, task)
        always(ledger, project, 0.2)
        for n in range(2, 8):
            batch = ledger.ask(project, f"u:{n}", 20, order=order).tasks
            for before, task in itertools.pairwise(batch):
                behind[task in gold].append(task < before)
    shares = {which: sum(flags) / len(flags) for which, flags in behind.items()}
    assert len(behind[True]) > 100 and all(0.4 < share < 0.6 for share in shares.values()), shares
    ledger.check = True
    assert ledger.broken(30) == []


def test_incremental_projects_mix_none_in(ledger: Ledger) -> None:
    project = ledger.project(tasks=3, n=2, sched="incremental")
    make(ledger, project, ledger.tasks(project)[2])
    always(ledger, project)
    assert ledger.take(project, "u:1") == ledger.tasks(project)[0]


def test_gold_answers_teach_under_the_label_that_is_declared(ledger: Ledger) -> None:
    project = ledger.project(tasks=2, n=2)
    ledger.declare(project, "fox", "owl", "hare")
    gold = ledger.tasks(project)[0]
    make(ledger, project, gold, "owl")
    for actor, value in (("u:1", "owl"), ("u:2", "hare"), ("u:3", "whale")):
        ledger.hold(project, actor, gold)
        ledger.answer(project, actor, gold, {"answer": value})
    rows = ledger.rows("SELECT classes, posterior, is_right FROM evidence WHERE project_id = %(p)s AND gold", p=project)
    assert [(row["classes"], row["posterior"], row["is_right"]) for row in rows] == [
        ([2], [0, 1, 0], True), ([3], [0, 1, 0], False), (None, None, False)
    ]  # fmt: skip
    ledger.fold_evidence()
    known = "SELECT actor, gold_right, gold_seen, gold_given FROM reliability WHERE project_id = %(p)s ORDER BY 1"
    assert [tuple(row.values()) for row in ledger.rows(known, p=project)] == [
        ("u:1", 1, 1, 1), ("u:2", 0, 1, 1), ("u:3", 0, 1, 1)
    ]  # fmt: skip
    # Another label: what they said is compared again, and learned again.
    ledger.declare(project, "owl", "whale")
    assert ledger.value("SELECT rejudge_due(10)") == 1 and ledger.value("SELECT rejudge_due(10)") == 0
    ledger.fold_evidence()
    assert [row["gold_seen"] for row in ledger.rows(known, p=project)] == [1, 1, 1]
    taught = ledger.rows("SELECT taught->'class' AS class FROM task_run WHERE task_id = %(t)s ORDER BY id", t=gold)
    assert [row["class"] for row in taught] == [1, None, 2]
    assert ledger.rows("SELECT * FROM check_gold(%(p)s, clock())", p=project) == []
    ledger.run("UPDATE gold_task SET n_seen = 7, number = 4 WHERE project_id = %(p)s", p=project)
    ledger.run("UPDATE project_ledger SET n_gold = 9 WHERE project_id = %(p)s", p=project)
    assert len(ledger.rows("SELECT * FROM check_gold(%(p)s, clock())", p=project)) == 2
    ledger.run("SELECT repair_gold(%(p)s, clock())", p=project)
    assert ledger.rows("SELECT * FROM check_gold(%(p)s, clock())", p=project) == [] and ledger.broken() == []


def test_own_accuracy_is_shown_from_the_tenth_on_and_in_steps_of_ten(ledger: Ledger) -> None:
    project = ledger.project(tasks=21, n=2)
    ledger.check = False
    shown = []
    for number, task in enumerate(ledger.tasks(project)[:20]):
        make(ledger, project, task)
        ledger.hold(project, "u:1", task)
        ledger.answer(project, "u:1", task, "no" if number == 3 else "yes")
        assert ledger.value("SELECT shown_accuracy(%(p)s, 'u:1')", p=project) == (shown[-1] if shown else None)
        ledger.pass_time(3600)  # not with the answer itself
        shown.append(ledger.value("SELECT shown_accuracy(%(p)s, 'u:1')", p=project))
    assert shown[8] is None and shown[9] == shown[18] != shown[19]
    assert shown[9] == {"n_seen": 10, "n_right": 9, "low": 0.596, "high": 0.982}


def test_with_gold_tasks_few_others_are_under_way_although_they_are_drawn(ledger: Ledger) -> None:
    project = ledger.project(tasks=13, n=4)
    gold, *_tasks = ledger.tasks(project)
    make(ledger, project, gold)
    always(ledger, project, 0)
    begun = []
    count = "SELECT count(*) FROM task_ledger WHERE project_id = %(p)s AND answers > 0 AND done = %(done)s"
    for number in range(24):
        task = ledger.take(project, f"c:{number}")
        ledger.answer(project, f"c:{number}", task)
        begun += [task] if task not in begun else []
        assert ledger.value(count, p=project, done=False) <= 4, "alike, nine would be"
    assert ledger.value(count, p=project, done=True) >= 4
    assert begun != sorted(begun), "no order tells which one is next"


def test_tasks_of_a_batch_are_no_neighbours_beside_which_a_gold_task_would_stand_out(ledger: Ledger) -> None:
    project = ledger.project(tasks=601, n=2)
    gold, *tasks = ledger.tasks(project)
    make(ledger, project, gold)
    always(ledger, project, 0)
    ledger.run("SELECT setseed(0.2)")
    near = pairs = 0
    for number in range(30):
        places = sorted(map(tasks.index, ledger.ask(project, f"c:{number}", 4).tasks))
        assert len(set(places)) == 4
        near += sum(after - before < 30 for before, after in itertools.pairwise(places))
        pairs += 3
    assert near < pairs / 2, "of one draw, all would be near"
