"""From draft to deletion: trying, publishing, pausing, deleting."""

from __future__ import annotations

from support.checks.shows import shows

COUNTERS = {"stat_delta", "project_stat", "project_hour", "volunteer"}
TABLES = COUNTERS | {"project", "project_ledger", "task", "task_ledger", "lease", "expired_lease", "position"}
TABLES |= {"task_run", "result", "event", "favourite", "collection_item"}


def rows_of(ledger, project):
    """The tables that have rows of a project."""
    column = {"project": "id"}
    return {
        table
        for table in TABLES
        if ledger.value(f"SELECT count(*) FROM {table} WHERE {column.get(table, 'project_id')} = %(p)s", p=project)
    }


@shows("state-trial")
def test_a_draft_can_be_tried_and_tells_nobody(ledger):
    project = ledger.project(tasks=2, n=1, published=False)
    ledger.all_of(project, "u:1")
    assert ledger.events(project) == []
    assert ledger.value("SELECT bool_and(trial) FROM task_run")
    assert ledger.figures(project)["n_completed_tasks"] == 2
    assert ledger.rows("SELECT * FROM score WHERE runs <> 0") == []


@shows("state-trial")
def test_the_first_publishing_removes_trials_and_starts_over(ledger):
    project = ledger.project(tasks=3, n=1, published=False)
    tasks = ledger.all_of(project, "u:1")
    ledger.fold()
    assert ledger.publish(project)
    figures = ledger.figures(project)
    assert (figures["n_tasks"], figures["n_wanted"], figures["n_counted"], figures["n_completed_tasks"]) == (3, 3, 0, 0)
    assert rows_of(ledger, project) == {"project", "project_ledger", "task", "task_ledger", "project_stat"}
    assert ledger.all_of(project, "u:1") == tasks
    assert ledger.events(project) == [("task_completed", task) for task in tasks]


@shows("state-trial")
def test_a_tester_keeps_his_lease_and_his_answer_counts(ledger):
    project = ledger.project(tasks=2, n=1, published=False)
    task = ledger.take(project, "u:1")
    ledger.publish(project)
    assert ledger.ask(project, "u:2").tasks != [task]
    assert ledger.answer(project, "u:1", task).state == "counted"
    assert not ledger.value("SELECT trial FROM task_run")
    assert ledger.events(project) == [("task_completed", task)]


def test_trial_results_are_no_earlier_versions(ledger):
    project = ledger.project(tasks=1, n=1, published=False)
    ledger.all_of(project, "u:1")
    ledger.publish(project)
    (task,) = ledger.all_of(project, "u:2")
    assert [result["version"] for result in ledger.results(task)] == [1]


@shows("state-publish")
def test_publishing_twice_does_nothing_the_second_time(ledger):
    project = ledger.project(tasks=1, n=1)
    ledger.all_of(project, "u:1")
    assert not ledger.publish(project)
    assert not ledger.publish(project + 1000)
    assert ledger.value("SELECT count(*) FROM task_run") == 1


@shows("state-pause")
def test_a_pause_hands_nothing_out_and_keeps_what_is_there(ledger):
    project = ledger.project(tasks=3, n=2)
    done, held = ledger.contribute(project, "u:1"), ledger.take(project, "u:1")
    assert ledger.pause(project)
    assert ledger.ask(project, "u:2").state == "paused"
    assert ledger.hold(project, "u:2", held) == "paused"
    assert ledger.ask(project, "u:1").tasks == [held], "what is held may be finished"
    assert ledger.answer(project, "u:1", held).state == "counted"
    assert ledger.ask(project, "u:1").state == "paused"
    assert not ledger.pause(project)
    assert ledger.publish(project)
    assert ledger.value("SELECT count(*) FROM task_run") == 2
    assert ledger.contribute(project, "u:2") == done


def test_drafts_cannot_be_paused(ledger):
    project = ledger.project(tasks=1, published=False)
    assert not ledger.pause(project)
    assert ledger.ask(project, "u:1").state == "ok"


def test_published_is_told_to_both_sides_of_a_project(ledger):
    project = ledger.project(published=False)
    seen = (
        "SELECT published, first_published IS NOT NULL AS ever, trial, paused"
        " FROM project JOIN project_ledger ON project_id = id"
    )
    assert tuple(ledger.row(seen).values()) == (False, False, True, False)
    ledger.publish(project)
    assert tuple(ledger.row(seen).values()) == (True, True, False, False)
    first = ledger.value("SELECT first_published FROM project")
    ledger.pause(project)
    assert tuple(ledger.row(seen).values()) == (False, True, False, True)
    ledger.publish(project)
    assert tuple(ledger.row(seen).values()) == (True, True, False, False)
    assert ledger.value("SELECT first_published FROM project") == first


@shows("task-delete")
def test_deleted_tasks_take_everything_along(ledger):
    project = ledger.project(tasks=3, n=2)
    a, b, c = ledger.tasks(project)
    for actor in ("u:1", "c:2"):
        ledger.contribute(project, actor)
    ledger.take(project, "u:1")
    ledger.fold()
    assert ledger.delete_tasks(project, [a, b, b + 1000]) == 2
    assert ledger.tasks(project) == [c]
    assert ledger.answer(project, "u:1", b).state == "no task"
    figures = ledger.figures(project)
    assert (figures["n_tasks"], figures["n_counted"], figures["people_anonymous"]) == (1, 0, 0)
    assert ledger.all_of(project, "u:1") == [c]
    assert ledger.delete_tasks(project, [a]) == 0
    assert ledger.delete_tasks(project, []) == 0


def test_tasks_of_another_project_are_not_deleted(ledger):
    project, other = ledger.project(tasks=1), ledger.project(tasks=1)
    assert ledger.delete_tasks(project, ledger.tasks(other)) == 0
    assert ledger.set_n(project, ledger.tasks(other), 9) == 0
    assert ledger.set_priority(project, ledger.tasks(other), 9.0) == 0
    assert len(ledger.tasks(other)) == 1


@shows("project-delete")
def test_a_deleted_project_leaves_nothing_and_others_alone(ledger):
    project, other = (ledger.project(tasks=3, n=1) for _ in range(2))
    for one in (project, other):
        ledger.contribute(one, "u:1")
        ledger.contribute(one, "c:2")
        task = ledger.take(one, "u:1")
        ledger.release(one, "u:1", task, skip=True)
        ledger.take(one, "u:3")
        ledger.run("INSERT INTO favourite SELECT %(p)s, %(t)s, id, clock() FROM account LIMIT 1", p=one, t=task)
        ledger.run(
            "WITH c AS (INSERT INTO collection (user_id, created, name, description) SELECT id, clock(), %(n)s, '' FROM account LIMIT 1 RETURNING id)"
            " INSERT INTO collection_item (collection_id, project_id, task_id, created, note) SELECT id, %(p)s, %(t)s, clock(), '' FROM c",
            n=f"c{one}", p=one, t=task,
        )  # fmt: skip
    before, figures = rows_of(ledger, other), ledger.figures(other)
    ledger.fold()
    assert ledger.delete_project(project)
    assert ledger.ask(project, "u:1").state == "no project"
    assert ledger.answer(project, "u:3", task - 3).state == "no task"
    ledger.sweep(project)
    assert rows_of(ledger, project) == set()
    assert rows_of(ledger, other) - COUNTERS == before - COUNTERS
    assert ledger.figures(other) == figures
    assert ledger.row("SELECT * FROM score WHERE runs <> 0") == {"user_id": 1, "runs": 1}
    assert not ledger.delete_project(project)


def test_no_tasks_for_a_project_that_is_not_there(ledger):
    assert ledger.add(12345, [0.0]) is None
    project = ledger.project()
    assert ledger.add(project, []) == []
