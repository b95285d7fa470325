"""Rules of owners: what they do with tasks, in which transaction, and what stays of it."""

from __future__ import annotations

import json

import pytest
from support.ledger import Meanwhile

EMPTY = {
    "name": "empty",
    "when": [{"measure": "in_a_row", "choice": "nothing", "min": 3}],
    "then": "complete",
}
DIFFER = {
    "name": "differ",
    "when": [{"measure": "choices", "skill": 0.85, "min": 2}],
    "then": "more_answers",
    "answers": 3,
}
MARKED = {
    "name": "marked",
    "when": [{"measure": "votes", "choice": "owl", "skill": 0.85, "min": 1}],
    "then": "review",
}


@pytest.fixture
def project(ledger):
    """A project of foxes, owls and nothing, in which u:1 to u:5 are known to be right."""
    made = ledger.project()
    ledger.declare(made, "fox", "owl", "nothing")
    ledger.run(
        "INSERT INTO reliability (project_id, actor, generation, gold_right, gold_seen)"
        " SELECT project_id, 'u:' || n, generation, 38, 40 FROM trust_model, generate_series(1, 5) n"
    )
    ledger.run("SELECT keep_volunteer(worked_out(m, r)) FROM reliability r JOIN trust_model m USING (project_id)")
    return made


def rule(ledger, project, *rules):
    """Has these rules hold; the number of their version."""
    ledger.run(
        "UPDATE project SET info = info || jsonb_build_object('task_rules', %(r)s::jsonb) WHERE id = %(p)s",
        p=project,
        r=json.dumps(rules),
    )
    return ledger.value("SELECT max(version) FROM task_rules WHERE project_id = %(p)s", p=project)


def say(ledger, project, task, *answers):
    """Answers of volunteers to a task, as (actor, value)."""
    for actor, value in answers:
        assert ledger.take(project, actor) == task
        ledger.answer(project, actor, task, {"answer": value})


def state(ledger, task):
    """done, counted answers, wanted so far, the owner's number, what it has at least."""
    row = ledger.ledger(task)
    return row["done"], row["answers"], row["n_answers"], row["max_answers"], row["least_answers"]


def decided(ledger, task):
    """What rules decided: kind, rule, version, counted answers."""
    rows = ledger.rows("SELECT * FROM rule_decision WHERE task_id = %(t)s ORDER BY kind, rule", t=task)
    return [(row["kind"], row["rule"], row["version"], row["answers"]) for row in rows]


def test_a_task_is_complete_after_so_many_equal_answers_in_a_row(ledger, project):
    assert rule(ledger, project, EMPTY) == 1
    (task,) = ledger.add(project, [0.0], n=6)
    say(ledger, project, task, ("u:6", "nothing"), ("u:7", "fox"), ("u:8", "nothing"), ("u:9", "nothing"))
    assert state(ledger, task) == (False, 4, 6, None, None) and decided(ledger, task) == []
    say(ledger, project, task, ("c:1", "nothing"))
    assert state(ledger, task) == (True, 5, 5, 6, None)
    assert decided(ledger, task) == [("complete", "empty", 1, 5)]
    assert ledger.ask(project, "u:10").state == "none"
    event = ledger.row("SELECT data FROM event WHERE kind = 'task_completed'")["data"]
    assert event["rule"] == {"name": "empty", "version": 1} and event["label"] == "nothing"
    (result,) = ledger.results(task)
    assert (result["saved"], result["weighed_by"]["rule"]) == (1, event["rule"])
    assert ledger.row("SELECT n_answers FROM task_record WHERE id = %(t)s", t=task) == {"n_answers": 6}


def test_other_tasks_and_other_projects_know_nothing_of_rules(ledger, project):
    rule(ledger, project, EMPTY)
    (task,) = ledger.add(project, [0.0], n=3)
    say(ledger, project, task, ("u:6", "nothing"), ("u:7", "nothing"), ("u:8", "nothing"))
    assert state(ledger, task) == (True, 3, 3, None, None) and decided(ledger, task) == [], "it had all its answers"
    rule(ledger, project)
    assert ledger.value("SELECT has_rules FROM project_ledger WHERE project_id = %(p)s", p=project) is False
    (task,) = ledger.add(project, [0.0], n=4)
    say(ledger, project, task, ("u:6", "nothing"), ("u:7", "nothing"), ("u:8", "nothing"))
    assert state(ledger, task) == (False, 3, 4, None, None)
    (plain,) = ledger.add(ledger.project(), [0.0], n=4)
    assert ledger.ledger(plain)["least_answers"] is None


def test_answers_that_are_out_when_a_rule_completes_a_task_are_late(ledger, project):
    rule(ledger, project, EMPTY)
    (task,) = ledger.add(project, [0.0], n=6)
    ledger.highest = 6
    for actor in ("u:6", "u:7", "u:8", "u:9"):
        assert ledger.take(project, actor) == task
    for actor in ("u:6", "u:7", "u:8"):
        ledger.answer(project, actor, task, {"answer": "nothing"})
    assert state(ledger, task) == (True, 3, 3, 6, None)
    assert ledger.answer(project, "u:9", task, {"answer": "fox"}).state == "late"
    assert ledger.delete_run(project, ledger.value("SELECT id FROM task_run WHERE actor = 'u:6'"))
    assert state(ledger, task) == (False, 3, 6, 6, None), "the late one counts, and the row is over"
    say(ledger, project, task, ("c:1", "nothing"), ("c:2", "nothing"))
    assert state(ledger, task)[:2] == (False, 5), "two in a row"
    say(ledger, project, task, ("c:3", "nothing"))
    assert state(ledger, task) == (True, 6, 6, 6, None)
    assert decided(ledger, task) == [], "what was decided about the earlier result is gone"


def test_a_task_that_a_rule_completed_stays_so_when_an_answer_goes_and_the_rule_still_holds(ledger, project):
    rule(ledger, project, EMPTY)
    (task,) = ledger.add(project, [0.0], n=6)
    answers = [("u:6", "fox"), ("u:7", "nothing"), ("u:8", "nothing"), ("u:9", "nothing")]
    say(ledger, project, task, *answers)
    ledger.highest = 6
    assert ledger.delete_run(project, ledger.value("SELECT id FROM task_run WHERE actor = 'u:6'"))
    assert state(ledger, task) == (True, 3, 3, 6, None) and decided(ledger, task) == [("complete", "empty", 1, 3)]
    assert ledger.events(project) == [("task_completed", task), ("result_updated", task)]


def test_a_task_gets_more_answers_once_when_two_who_are_known_differ(ledger, project):
    rule(ledger, project, DIFFER)
    (task,) = ledger.add(project, [0.0], n=3)
    say(ledger, project, task, ("u:8", "fox"), ("u:9", "owl"), ("u:1", "owl"))
    assert state(ledger, task) == (True, 3, 3, None, None), "only one of them is known"
    (task,) = ledger.add(project, [0.0], n=3)
    say(ledger, project, task, ("u:1", "fox"), ("u:2", "owl"))
    assert state(ledger, task) == (False, 2, 6, None, 5)
    assert decided(ledger, task) == [("more_answers", "differ", 1, 2)]
    assert ledger.row("SELECT n_answers FROM task_record WHERE id = %(t)s", t=task) == {"n_answers": 6}
    say(ledger, project, task, *((f"u:{n}", "fox") for n in (3, 4, 5, 6)))
    assert state(ledger, task) == (True, 6, 6, None, 5)
    assert decided(ledger, task) == [("more_answers", "differ", 1, 2)]


def test_no_rule_and_no_model_ends_a_task_before_it_has_the_answers_that_a_rule_wants(ledger, project):
    ledger.run(
        """UPDATE project SET info = info || '{"trust": {"min_answers": 2, "confidence": 0.8}}' WHERE id = %(p)s""",
        p=project,
    )
    rule(ledger, project, DIFFER, {**EMPTY, "when": [{"measure": "votes", "choice": "fox", "min": 2}]})
    (task,) = ledger.add(project, [0.0], n=5)
    say(ledger, project, task, ("u:1", "fox"), ("u:2", "owl"))
    assert state(ledger, task) == (False, 2, 5, 8, 5)
    assert [ledger.ask(project, f"u:{n}").state for n in (3, 4, 5, 6)] == ["ok", "ok", "ok", "wait"]
    for n in (3, 4):
        ledger.answer(project, f"u:{n}", task, {"answer": "fox"})
        assert state(ledger, task) == (False, n, 5, 8, 5)
    ledger.answer(project, "u:5", task, {"answer": "fox"})
    assert state(ledger, task) == (True, 5, 5, 8, 5)
    assert [kind for kind, *_ in decided(ledger, task)] == ["complete", "more_answers"]


def test_a_result_is_reviewed_that_a_known_volunteer_marked(ledger, project):
    rule(ledger, project, MARKED, DIFFER)
    (task,) = ledger.add(project, [0.0], n=2)
    say(ledger, project, task, ("u:1", "owl"), ("u:9", "owl"))
    assert decided(ledger, task) == [("review", "marked", 1, 2)]
    (other,) = ledger.add(project, [0.0], n=2)
    say(ledger, project, other, ("u:8", "owl"), ("u:9", "owl"))
    assert decided(ledger, other) == []
    values = {"p": project, "t": task, "i": json.dumps({"answer": "fox"})}
    ledger.change("SELECT state FROM amend_answer(%(p)s, 'u:1', %(t)s, %(i)s, clock())", **values)
    assert decided(ledger, task) == [], "of the corrected answers no rule wants a review"


def test_a_decision_names_the_version_by_which_it_was_made_and_later_ones_do_not_undo_it(ledger, project):
    rule(ledger, project, EMPTY)
    (first,) = ledger.add(project, [0.0], n=6)
    say(ledger, project, first, *((f"u:{n}", "nothing") for n in (6, 7, 8)))
    (second,) = ledger.add(project, [0.0], n=6)
    say(ledger, project, second, ("u:6", "nothing"), ("u:7", "nothing"))
    looser = {**EMPTY, "when": [{"measure": "in_a_row", "choice": "nothing", "min": 2}]}
    assert rule(ledger, project, looser) == 2
    assert state(ledger, second)[0] is False, "open tasks follow at their next answer"
    say(ledger, project, second, ("u:8", "nothing"))
    assert decided(ledger, first) == [("complete", "empty", 1, 3)]
    assert decided(ledger, second) == [("complete", "empty", 2, 3)]
    assert rule(ledger, project) == 3
    ledger.pass_time(3 * 86_400)
    assert rule(ledger, project, MARKED) == 4
    ledger.pass_time(3 * 86_400)
    assert rule(ledger, project, EMPTY) == 5
    versions = ledger.rows("SELECT version FROM task_rules WHERE project_id = %(p)s ORDER BY 1", p=project)
    assert [row["version"] for row in versions] == [1, 2, 4, 5], "3 decided nothing, and is long over"
    ledger.highest = 9
    more = ledger.effect("set_redundancy(%(p)s, %(t)s, 9, clock())", p=project, t=[first])
    assert more == (1, 0, 0, 0) and state(ledger, first) == (True, 3, 3, 9, None)


def test_drafts_retired_and_gold_tasks_follow_no_rules(ledger, project):
    rule(ledger, project, {**EMPTY, "when": [{"measure": "answers", "min": 1}]}, {**DIFFER, "name": "more"})
    (retired,) = ledger.add(project, [0.0], n=3)
    assert ledger.take(project, "u:1") == retired
    ledger.run("SELECT retire(%(p)s, %(t)s, 'retired', '', NULL, clock())", p=project, t=[retired])
    assert ledger.answer(project, "u:1", retired, {"answer": "fox"}).state == "late"
    assert decided(ledger, retired) == []
    draft = ledger.project(published=False)
    ledger.declare(draft, "fox", "owl", "nothing")
    rule(ledger, draft, {**EMPTY, "when": [{"measure": "answers", "min": 1}]})
    (trial,) = ledger.add(draft, [0.0], n=3)
    say(ledger, draft, trial, ("u:1", "nothing"))
    assert state(ledger, trial)[:3] == (False, 1, 3)


def test_of_two_at_once_one_completes_the_task_and_the_other_is_late(ledger, project, beside):
    """The third and the fourth of a row come at the same time: the fourth sees that the task is complete."""
    rule(ledger, project, EMPTY)
    (task,) = ledger.add(project, [0.0], n=6)
    ledger.highest = 6
    say(ledger, project, task, ("u:6", "nothing"), ("u:7", "nothing"))
    for actor in ("u:8", "u:9"):
        assert ledger.take(project, actor) == task
    first = beside()
    assert first.answer(project, "u:8", task, {"answer": "nothing"}).state == "counted"
    ledger.check = False
    fourth = Meanwhile(ledger.answer, project, "u:9", task, {"answer": "nothing"})
    first.wait_until_blocked(ledger)
    first.commit()
    assert fourth.result().state == "late"
    assert state(ledger, task) == (True, 3, 3, 6, None) and decided(ledger, task) == [("complete", "empty", 1, 3)]
    assert ledger.broken(6) == []


def test_an_answer_that_waits_for_another_one_is_decided_by_the_rules_that_hold_then(ledger, project, beside):
    rule(ledger, project, EMPTY)
    (task,) = ledger.add(project, [0.0], n=6)
    ledger.highest = 6
    say(ledger, project, task, ("u:6", "nothing"))
    for actor in ("u:7", "u:8"):
        assert ledger.take(project, actor) == task
    first, owner = beside(), beside()
    first.answer(project, "u:7", task, {"answer": "nothing"})
    ledger.check = False
    third = Meanwhile(ledger.answer, project, "u:8", task, {"answer": "nothing"})
    first.wait_until_blocked(ledger)
    rule(owner, project, MARKED)
    owner.commit()
    first.commit()
    assert third.result().state == "counted"
    assert state(ledger, task) == (False, 3, 6, None, None) and decided(ledger, task) == []


def test_a_replay_says_what_rules_would_have_done_and_changes_nothing(ledger, project):
    kinds = {"e": "nothing", "f": "fox", "o": "owl"}
    for word in ("eeeef", "fofff", "feeee", "ffoee"):
        (task,) = ledger.add(project, [0.0], n=len(word))
        say(ledger, project, task, *((f"u:{n}", kinds[letter]) for n, letter in enumerate(word, 1)))
    rules = [EMPTY, DIFFER, MARKED]
    replayed = ledger.rows("SELECT * FROM replay_rules(%(p)s, %(r)s, 100)", p=project, r=json.dumps(rules))
    assert [(row["tasks"], row["answers"]) for row in replayed] == [(1, 2), (3, 9), (2, 0)]
    assert {(row["replayed"], row["counted"]) for row in replayed} == {(4, 20)}
    assert ledger.value("SELECT count(*) FROM rule_decision") == 0
    (last,) = ledger.rows("SELECT * FROM replay_rules(%(p)s, %(r)s, 1)", p=project, r=json.dumps([EMPTY]))
    assert (last["tasks"], last["replayed"]) == (0, 1)
