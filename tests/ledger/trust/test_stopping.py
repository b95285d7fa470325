"""Adaptive redundancy: a task stops when it is sure, and everything that may happen to it before and afterwards.

Five volunteers who have agreed on thirty tasks are known by then: two of them are sure at 0.95. A stranger alone never is.
"""

from __future__ import annotations

import json

import pytest
from support.ledger import Meanwhile

KNOWN = [f"u:{n}" for n in range(1, 6)]


@pytest.fixture
def project(ledger):
    """A project of foxes and owls in which five volunteers are known, without open tasks."""
    made = ledger.project()
    ledger.declare(made, "fox", "owl", min_answers=2, confidence=0.95)
    ledger.run(
        "INSERT INTO reliability (project_id, actor, generation, gold_right, gold_seen)"
        " SELECT project_id, 'u:' || n, generation, 38, 40 FROM trust_model, generate_series(1, 5) n"
    )
    ledger.run("SELECT keep_volunteer(worked_out(m, r)) FROM reliability r JOIN trust_model m USING (project_id)")
    return made


def say(ledger, project, actor, value="fox", **options):
    """Takes the next task and answers it; the task."""
    task = ledger.take(project, actor, **options)
    ledger.answer(project, actor, task, {"answer": value}, network=options.get("network"))
    return task


def state(ledger, task):
    """done, counted answers, wanted so far, the owner's number."""
    row = ledger.ledger(task)
    return row["done"], row["answers"], row["n_answers"], row["max_answers"]


def last(ledger, task):
    """The last result: reason, class, answers."""
    result = next((row for row in ledger.results(task) if row["last_version"]), None)
    return result and (result["reason"], result["class"], len(result["task_run_ids"]))


def stopped(ledger, project, n=5):
    """A task that two known volunteers have answered alike, so that it is complete."""
    (task,) = ledger.add(project, [0.0], n=n)
    assert say(ledger, project, "u:1") == task
    assert state(ledger, task) == (False, 1, 2, n)
    assert say(ledger, project, "u:2") == task
    assert state(ledger, task) == (True, 2, 2, n)
    assert last(ledger, task) == ("sure", 1, 2)
    return task


def correct(ledger, project, actor, task, value):
    values = {"p": project, "a": actor, "t": task, "i": json.dumps({"answer": value})}
    return ledger.change("SELECT state FROM amend_answer(%(p)s, %(a)s, %(t)s, %(i)s, clock())", **values)


def test_a_task_stops_when_it_is_sure_or_at_the_owners_number(ledger, project):
    task = stopped(ledger, project)
    assert ledger.row("SELECT saved FROM result") == {"saved": 3}
    assert ledger.row("SELECT n_answers FROM task_record WHERE id = %(t)s", t=task) == {"n_answers": 5}
    (full,) = ledger.add(project, [0.0], n=3)
    for actor, value, wanted in (("u:1", "fox", 2), ("u:2", "owl", 3), ("c:1", "fox", 3)):
        assert say(ledger, project, actor, value) == full
        assert ledger.ledger(full)["n_answers"] == wanted
    assert state(ledger, full) == (True, 3, 3, 3) and last(ledger, full)[0] == "full"
    (none,) = ledger.add(project, [0.0], n=2)
    for actor in ("u:1", "u:2"):
        say(ledger, project, actor, ["no", "label"])
    assert last(ledger, none) == ("none", None, 2)
    assert ledger.results(none)[0]["posterior"] is None
    ledger.fold_evidence()
    figures = ledger.row('SELECT tasks, saved, sure, "full", "none" FROM trust_model')
    assert figures == {"tasks": 2, "saved": 3, "sure": 1, "full": 1, "none": 1}


def test_no_lease_is_given_for_an_answer_that_may_not_be_needed(ledger, project):
    (task,) = ledger.add(project, [0.0], n=5)
    assert [ledger.ask(project, actor).state for actor in KNOWN] == ["ok", "ok", "wait", "wait", "wait"]
    for actor, value in (("u:1", "fox"), ("u:2", "owl")):
        ledger.answer(project, actor, task, {"answer": value})
    assert state(ledger, task) == (False, 2, 3, 5)
    assert [ledger.ask(project, actor).state for actor in KNOWN] == ["none", "none", "ok", "wait", "wait"]


def test_an_answer_after_the_stop_is_late_and_counts_first_when_the_task_opens_again(ledger, project):
    (task,) = ledger.add(project, [0.0], n=5)
    assert ledger.take(project, "u:3") == task
    ledger.pass_time(3601)
    for actor in ("u:1", "u:2"):
        say(ledger, project, actor)
    assert ledger.answer(project, "u:3", task, {"answer": "fox"}).state == "late"
    assert state(ledger, task) == (True, 2, 2, 5)
    run = ledger.value("SELECT id FROM task_run WHERE actor = 'u:1'")
    assert ledger.delete_run(project, run)
    assert state(ledger, task) == (True, 2, 2, 5) and last(ledger, task) == ("sure", 1, 2)
    assert ledger.events(project) == [("task_completed", task), ("result_updated", task)]


def test_a_task_is_decided_when_the_last_lease_ends_however_it_does(ledger, project):
    """Two strangers agree and are not sure; meanwhile they become known, and the one who holds the third place goes."""
    for ends in ("release", "lapse"):
        (task,) = ledger.add(project, [0.0], n=5)
        for actor in ("x:a", "x:b"):
            say(ledger, project, actor)
        assert ledger.take(project, "u:1") == task
        assert state(ledger, task) == (False, 2, 3, 5)
        for actor in ("x:a", "x:b"):
            learn(ledger, project, actor, 38, 40)
        if ends == "release":
            ledger.release(project, "u:1", task)
        else:
            ledger.pass_time(3601)
            assert ledger.ask(project, "u:9").state == "none"
        assert state(ledger, task) == (True, 2, 2, 5) and last(ledger, task) == ("sure", 1, 2)
        ledger.run("DELETE FROM reliability WHERE actor LIKE 'x:%'")


def learn(ledger, project, actor, right, seen):
    """Gold tasks have shown what somebody knows."""
    ledger.run(
        "INSERT INTO evidence (project_id, task_id, generation, sign, gold, actors, classes, posterior, is_right)"
        " SELECT project_id, 0, generation, 1, true, ARRAY[%(a)s], ARRAY[CASE WHEN n <= %(r)s THEN 1 ELSE 2 END::smallint],"
        " '{1,0}', n <= %(r)s FROM trust_model, generate_series(1, %(s)s) n WHERE project_id = %(p)s",
        p=project,
        a=actor,
        r=right,
        s=seen,
    )
    ledger.fold_evidence()


def test_a_deleted_answer_is_taken_back_and_the_task_weighed_again(ledger, project):
    task = stopped(ledger, project)
    assert ledger.delete_run(project, ledger.value("SELECT max(id) FROM task_run"))
    assert state(ledger, task) == (False, 1, 2, 5) and last(ledger, task) is None
    assert say(ledger, project, "u:3", "owl") == task
    assert say(ledger, project, "u:4", "fox") == task
    assert state(ledger, task) == (False, 3, 4, 5)
    assert say(ledger, project, "u:5", "fox") == task
    assert state(ledger, task) == (True, 4, 4, 5)
    owl = ledger.value("SELECT id FROM task_run WHERE actor = 'u:3'")
    assert ledger.delete_run(project, owl)
    assert state(ledger, task) == (True, 3, 3, 5), "still sure: a new version"
    assert last(ledger, task) == ("sure", 1, 3)
    ledger.fold_evidence()
    assert ledger.withdraw(project, [task], "u:4") == 1
    assert state(ledger, task) == (True, 2, 2, 5) and last(ledger, task) == ("sure", 1, 2)
    assert ledger.withdraw(project, [task], "u:5") == 1
    assert state(ledger, task) == (False, 1, 2, 5)
    ledger.fold_evidence()
    assert ledger.row("SELECT tasks FROM trust_model") == {"tasks": 0}


def test_a_corrected_answer_opens_its_task_unless_it_is_still_sure(ledger, project):
    task = stopped(ledger, project)
    assert correct(ledger, project, "u:2", task, "owl") == "changed"
    assert state(ledger, task) == (False, 2, 3, 5) and last(ledger, task) is None
    assert correct(ledger, project, "u:1", task, "owl") == "changed"
    assert state(ledger, task) == (False, 2, 3, 5), "decided at the next answer, or when a lease ends"
    assert say(ledger, project, "u:3", "owl") == task
    assert last(ledger, task) == ("sure", 2, 3)
    assert correct(ledger, project, "u:3", task, None) == "changed"
    assert last(ledger, task) == ("sure", 2, 3) and len(ledger.results(task)) == 3
    ledger.pass_time(301)
    assert correct(ledger, project, "u:1", task, "fox") == "in result"


def test_trust_that_changes_later_decides_open_tasks_only(ledger, project):
    done = stopped(ledger, project)
    (task,) = ledger.add(project, [0.0], n=5)
    assert say(ledger, project, "u:1") == task
    for actor in KNOWN:
        learn(ledger, project, actor, 0, 40)
    assert say(ledger, project, "u:6") == task
    assert state(ledger, task) == (False, 2, 3, 5), "u:1 is believed less than a stranger by now"
    assert last(ledger, done) == ("sure", 1, 2)


def test_another_number_of_answers_changes_the_most_that_a_task_gets(ledger, project):
    sure = stopped(ledger, project)
    (full,) = ledger.add(project, [0.0], n=2)
    for actor, value in (("u:1", "fox"), ("u:2", "owl")):
        assert say(ledger, project, actor, value) == full
    (begun,) = ledger.add(project, [0.0], n=4)
    assert say(ledger, project, "u:1") == begun
    preview = ledger.effect("preview_redundancy(%(p)s, NULL, 7)", p=project)
    assert ledger.effect("set_redundancy(%(p)s, %(t)s, 7, clock())", p=project, t=ledger.tasks(project)) == preview
    assert preview == (3, 0, 1, 0)
    assert state(ledger, sure) == (True, 2, 2, 7)
    assert state(ledger, full) == (False, 2, 3, 7)
    assert state(ledger, begun) == (False, 1, 2, 7)
    ledger.highest = 7
    preview = ledger.effect("preview_redundancy(%(p)s, NULL, 1)", p=project)
    assert ledger.effect("set_redundancy(%(p)s, %(t)s, 1, clock())", p=project, t=ledger.tasks(project)) == preview
    assert preview == (3, 2, 0, 0)
    assert state(ledger, begun) == (True, 1, 1, 1) and last(ledger, begun)[0] == "full"


@pytest.mark.parametrize("sched", ["default", "depth_first_all"])
def test_task_that_has_more_than_the_owner_wants_by_now_is_complete_without_one_of_them(ledger, project, sched):
    ledger.schedule(project, sched)
    (task,) = ledger.add(project, [0.0], n=3)
    strangers = {"u:7": "fox", "u:8": "owl", "u:9": "fox"}
    for actor, value in strangers.items():
        assert say(ledger, project, actor, value) == task
    assert last(ledger, task) == ("full", 1, 3)
    ledger.set_n(project, [task], 1)
    assert state(ledger, task) == (True, 3, 3, 1)
    ledger.delete_run(project, ledger.counted(task)[0])
    assert state(ledger, task) == (True, 2, 2, 1)


def test_the_rule_is_switched_off_and_on_for_open_tasks_and_completed_ones_if_wanted(ledger, project):
    sure = stopped(ledger, project)
    (begun,) = ledger.add(project, [0.0], n=5)
    for actor, value in (("u:1", "fox"), ("u:2", "owl"), ("u:3", "fox")):
        assert say(ledger, project, actor, value) == begun
    assert state(ledger, begun) == (False, 3, 4, 5)

    def change(minimum, confidence, completed=False):
        preview = ledger.effect(
            "preview_stopping(%(p)s, NULL, %(m)s, %(c)s, %(d)s)", p=project, m=minimum, c=confidence, d=completed
        )
        assert ledger.stopping(project, minimum, confidence, completed=completed) == preview[:3]
        return preview[:3]

    assert change(None, None) == (1, 0, 0)
    assert state(ledger, begun) == (False, 3, 5, None) and state(ledger, sure) == (True, 2, 2, 5)
    assert change(2, 0.9) == (1, 1, 0)
    assert state(ledger, begun) == (True, 3, 3, 5) and last(ledger, begun) == ("sure", 1, 3)
    assert change(2, 0.999) == (0, 0, 0)
    assert change(3, 0.999, completed=True) == (2, 0, 2)
    assert (state(ledger, sure), state(ledger, begun)) == ((False, 2, 3, 5), (False, 3, 4, 5))
    assert change(2, 0.95) == (1, 1, 0)
    assert change(None, None, completed=True) == (2, 0, 1)
    assert state(ledger, sure) == (False, 2, 5, None)


def test_a_retired_task_is_not_weighed_and_decided_again_when_it_is_put_back(ledger, project):
    (task,) = ledger.add(project, [0.0], n=5)
    for actor in ("x:a", "x:b"):
        say(ledger, project, actor)
    assert ledger.retire(project, [task]) == 1
    for actor in ("x:a", "x:b"):
        learn(ledger, project, actor, 38, 40)
    assert state(ledger, task) == (False, 2, 3, 5)
    preview = ledger.effect("preview_reopen(%(p)s, NULL)", p=project)
    assert ledger.effect("reopen(%(p)s, %(t)s, clock())", p=project, t=[task]) == preview == (1, 1, 0, 0)
    assert last(ledger, task) == ("sure", 1, 2)


def test_trials_are_weighed_and_teach_nothing(ledger):
    project = ledger.project(published=False)
    ledger.declare(project, "fox", "owl", min_answers=1, confidence=0.6)
    (task,) = ledger.add(project, [0.0], n=3)
    assert say(ledger, project, "u:1") == task
    assert state(ledger, task) == (True, 1, 1, 3) and last(ledger, task) == ("sure", 1, 1)
    assert ledger.rows("SELECT * FROM evidence") == []
    assert ledger.publish(project)
    assert state(ledger, task) == (False, 0, 1, 3)


def test_volunteers_who_are_no_better_than_chance_take_no_place_until_the_owner_lifts_it(ledger, project):
    learn(ledger, project, "u:8", 20, 40)
    (task,) = ledger.add(project, [0.0], n=3)
    assert say(ledger, project, "u:8", "owl") == task
    assert state(ledger, task) == (False, 0, 2, 3) and ledger.ledger(task)["uncounted"] == 1
    assert ledger.ask(project, "u:8").state == "none", "they are not told: their answer is stored, and nothing is left"
    assert say(ledger, project, "u:1", "owl") == task
    assert state(ledger, task) == (False, 1, 2, 3)
    preview = ledger.effect("preview_lift(%(p)s, NULL, 'u:8')", p=project)
    assert ledger.effect("lift(%(p)s, %(t)s, 'u:8', clock())", p=project, t=[task])[3] == preview[3] == 1
    assert state(ledger, task) == (False, 2, 3, 3)
    learn(ledger, project, "u:8", 0, 40)
    assert ledger.row("SELECT counts, accuracy FROM reliability WHERE actor = 'u:8'")["counts"], "lifted for good"


def test_with_the_fewest_first_a_task_that_wants_one_more_comes_back(ledger, project):
    ledger.schedule(project, "breadth_first")
    one, two = ledger.add(project, [0.0, 0.0], n=5)
    for actor, value in (("u:1", "fox"), ("u:2", "owl")):
        assert sorted(ledger.all_of_values(project, actor, value)) == [one, two]
    assert [state(ledger, task) for task in (one, two)] == [(False, 2, 3, 5)] * 2
    assert sorted(ledger.all_of_values(project, "u:3", "fox")) == [one, two]


def test_everybody_may_answer_and_the_first_answers_count_until_it_is_sure(ledger, project):
    ledger.schedule(project, "depth_first_all")
    (task,) = ledger.add(project, [0.0], n=5)
    for actor in KNOWN:
        assert ledger.take(project, actor) == task
    states = [ledger.answer(project, actor, task, {"answer": "fox"}).state for actor in KNOWN]
    assert states == ["counted", "counted", "late", "late", "late"]
    assert state(ledger, task) == (True, 2, 2, 5)


def test_of_two_answers_at_once_one_decides_and_the_other_is_late_or_counts_too(ledger, project, beside):
    """One session holds the task while another submits: what the second does rests on what the first has left."""
    (task,) = ledger.add(project, [0.0], n=5)
    for actor in ("u:1", "u:2"):
        assert ledger.take(project, actor) == task
    first = beside()
    first.answer(project, "u:1", task, {"answer": "fox"})
    ledger.check = False
    with_lock = Meanwhile(ledger.answer, project, "u:2", task, {"answer": "fox"})
    first.wait_until_blocked(ledger)
    first.commit()
    assert with_lock.result().state == "counted"
    assert state(ledger, task) == (True, 2, 2, 5) and ledger.broken() == []


def test_an_answer_waits_for_the_change_of_its_task_and_is_decided_by_the_new_rule(ledger, project, beside):
    (task,) = ledger.add(project, [0.0], n=3)
    assert say(ledger, project, "u:1") == task and ledger.take(project, "u:2") == task
    owner = beside()
    owner.stopping(project, None, None)
    ledger.check = False
    answering = Meanwhile(ledger.answer, project, "u:2", task, {"answer": "fox"})
    owner.wait_until_blocked(ledger)
    owner.commit()
    assert answering.result().state == "counted"
    assert state(ledger, task) == (False, 2, 3, None) and ledger.broken() == []


def test_tasks_that_are_added_meanwhile_follow_the_new_rule(ledger, project, beside):
    owner = beside()
    owner.stopping(project, 3, 0.9)
    ledger.check = False
    adding = Meanwhile(ledger.add, project, [0.0], 5)
    owner.wait_until_blocked(ledger)
    owner.commit()
    (task,) = adding.result()
    assert state(ledger, task) == (False, 0, 3, 5) and ledger.broken() == []


def test_leases_given_without_limit_hold_places_under_another_scheduler(ledger, project):
    ledger.schedule(project, "depth_first_all")
    (task,) = ledger.add(project, [0.0], n=5)
    assert [say(ledger, project, "u:1"), ledger.take(project, "u:2"), ledger.take(project, "u:3")] == [task] * 3
    assert state(ledger, task) == (False, 1, 2, 5)
    ledger.schedule(project, "default")
    assert state(ledger, task) == (False, 1, 3, 5)
    ledger.schedule(project, "depth_first_all")
    assert state(ledger, task) == (False, 1, 2, 5)
