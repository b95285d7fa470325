"""Counters: true at once, the same before and after folding."""

from __future__ import annotations

from support.checks.shows import shows
from support.ledger import Meanwhile

ACTORS = ["u:1", "u:2", "c:a", "c:b", "i:10.0.0.1", "x:pupil"]


def everything(ledger):
    """All that readers are told."""
    return {
        "figures": [
            {**row, "seconds": round(row["seconds"], 3)}  # sums of floats: their order shows in the last digits
            for row in ledger.rows("SELECT * FROM project_figures ORDER BY project_id")
        ],
        "scores": ledger.rows("SELECT * FROM score WHERE runs <> 0 ORDER BY user_id"),
        "people": ledger.rows(
            "SELECT p.id, a.actor, runs_of(p.id, a.actor) FROM project p, unnest(%(actors)s) a(actor) ORDER BY 1, 2",
            actors=ACTORS,
        ),
    }


def busy(ledger):
    """Two projects with answers, late answers, deletions and a draft."""
    first, second = ledger.project(tasks=4, n=2), ledger.project(tasks=2, n=3, published=False)
    for actor in ACTORS:
        ledger.contribute(first, actor)
    for actor in ACTORS[2:5]:
        ledger.contribute(second, actor)
    ledger.pass_time(3700)
    for actor in ACTORS[:2]:
        ledger.contribute(first, actor)
    ledger.delete_run(first, ledger.value("SELECT min(id) FROM task_run"))
    return first, second


@shows("project-exact")
def test_folding_changes_no_figure(ledger):
    busy(ledger)
    before = everything(ledger)
    assert ledger.fold() > 0
    assert everything(ledger) == before
    assert ledger.fold() == 0
    assert everything(ledger) == before


def test_figures_are_true_when_half_of_it_is_folded(ledger):
    first, second = busy(ledger)
    ledger.fold()
    ledger.contribute(first, "c:new")
    ledger.delete_tasks(first, [ledger.tasks(first)[0]])
    ledger.set_n(second, ledger.tasks(second), 1)
    before = everything(ledger)
    ledger.fold()
    assert everything(ledger) == before


def test_people_are_counted_once_however_much_they_answer(ledger):
    project = ledger.project(tasks=3, n=5)
    for actor in ("u:1", "c:a", "x:pupil"):
        ledger.all_of(project, actor)
        ledger.fold()
    ledger.contribute(project, "u:2")
    figures = ledger.figures(project)
    assert (figures["people_authenticated"], figures["people_anonymous"]) == (2, 2)
    assert (figures["runs_authenticated"], figures["runs_anonymous"]) == (4, 6)


def test_who_has_no_answer_left_is_no_volunteer(ledger):
    project = ledger.project(tasks=1, n=1)
    ledger.contribute(project, "c:a")
    ledger.fold()
    ledger.delete_run(project, ledger.value("SELECT id FROM task_run"))
    assert ledger.figures(project)["people_anonymous"] == 0
    ledger.fold()
    assert ledger.figures(project)["people_anonymous"] == 0
    ledger.contribute(project, "c:a")
    ledger.fold()
    assert ledger.figures(project)["people_anonymous"] == 1


@shows("state-trial")
def test_trials_give_no_score(ledger):
    project = ledger.project(tasks=2, n=1, published=False)
    ledger.contribute(project, "u:7")
    assert ledger.rows("SELECT * FROM score WHERE runs <> 0") == []
    ledger.publish(project)
    ledger.contribute(project, "u:7")
    assert ledger.row("SELECT * FROM score WHERE runs <> 0") == {"user_id": 7, "runs": 1}


def test_an_answer_belongs_to_the_hour_in_which_it_came_even_when_it_goes(ledger):
    project = ledger.project(tasks=2, n=1)
    ledger.contribute(project, "u:1")
    ledger.pass_time(7200)
    ledger.contribute(project, "u:1")
    ledger.delete_run(project, ledger.value("SELECT min(id) FROM task_run"))
    ledger.fold()
    hours = ledger.rows("SELECT runs_authenticated FROM project_hour WHERE runs_authenticated <> 0")
    assert [hour["runs_authenticated"] for hour in hours] == [1]


def test_seconds_are_those_between_handing_out_and_answer(ledger):
    project = ledger.project(tasks=1)
    task = ledger.take(project, "u:1")
    ledger.pass_time(50)
    ledger.answer(project, "u:1", task)
    assert 50 <= ledger.figures(project)["seconds"] < 80


def test_an_answer_that_comes_during_a_fold_is_in_neither_twice_nor_lost(ledger, beside):
    project = ledger.project(tasks=3, n=1)
    ledger.contribute(project, "u:1")
    folding, answering = beside(), beside()
    task = answering.take(project, "u:1")
    answering.answer(project, "u:1", task)
    assert folding.fold() > 0
    answering.commit()
    assert ledger.figures(project)["n_counted"] == 2
    folding.commit()
    assert ledger.figures(project)["n_counted"] == 2
    assert ledger.fold() == 1


def test_two_folds_at_once_wait_for_each_other(ledger, beside):
    project = ledger.project(tasks=2, n=1)
    ledger.contribute(project, "u:1")
    first, second = beside(), beside()
    assert first.fold() > 0
    other = Meanwhile(second.fold)
    ledger.wait_until_blocked(second)
    first.commit()
    assert other.result() == 0
    second.commit()
    assert ledger.figures(project)["n_counted"] == 1
    assert ledger.value("SELECT count(*) FROM stat_delta") == 0


def test_an_answer_of_a_transaction_that_took_long_is_not_passed(ledger, beside):
    project = ledger.project(tasks=9, n=1)
    slow = beside()
    slow.answer(project, "u:1", slow.take(project, "u:1"))
    for _ in range(3):
        ledger.contribute(project, "u:2")
        for _ in range(120):
            ledger.value("SELECT pg_current_xact_id()::text")
        ledger.fold()
    slow.commit()
    assert ledger.figures(project)["n_counted"] == 4 and ledger.value("SELECT runs_of(%(p)s, 'u:1')", p=project) == 1
    assert ledger.fold() == 1
    assert ledger.figures(project)["n_counted"] == 4


def test_readers_begin_behind_what_is_folded(ledger):
    project = ledger.project(tasks=3, n=1)
    for _ in range(3):
        for _ in range(150):
            ledger.value("SELECT pg_current_xact_id()::text")
        ledger.contribute(project, "u:1")
        ledger.fold()
    last = ledger.value("SELECT unfolded_from()")
    assert ledger.value("SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint") - last < 150


def test_a_floor_of_another_servers_transactions_hides_nothing(ledger):
    project = ledger.project(tasks=3, n=1)
    ledger.fold()
    ledger.run("UPDATE stat_floor SET xact = 1000000000000")
    ledger.contribute(project, "u:1")
    assert ledger.figures(project)["n_counted"] == 1
    assert ledger.fold() > 0
    assert ledger.value("SELECT xact FROM stat_floor") < 1000000000000
    ledger.contribute(project, "u:1")
    assert ledger.figures(project)["n_counted"] == 2


def test_time_after_the_end_of_a_lease_is_not_counted(ledger):
    project = ledger.project(1, n=1)
    task = ledger.take(project, "u:2")
    ledger.pass_time(30 * 86400)
    ledger.take(project, "u:3")
    late = ledger.answer(project, "u:2", task)
    assert late.state == "late" and late.late > 29 * 86400
    assert 3600 <= ledger.figures(project)["seconds"] < 3660
    assert ledger.delete_run(project, late.run)
    assert abs(ledger.figures(project)["seconds"]) < 0.001


@shows("account-score")
def test_answers_in_ones_own_project_make_no_score(ledger):
    project = ledger.project(3, n=3)
    owner = ledger.value("SELECT owner_id FROM project WHERE id = %(p)s", p=project)

    def scores():
        rows = ledger.rows("SELECT user_id, runs FROM score WHERE runs <> 0")
        return {row["user_id"]: row["runs"] for row in rows}

    other = person(ledger)
    ledger.contribute(project, f"u:{owner}")
    for _ in range(2):
        ledger.contribute(project, f"u:{other}")
    assert scores() == {other: 2}
    set_owners = "SELECT set_owners(%(p)s, %(o)s, %(all)s::bigint[], clock())"
    ledger.change(set_owners, p=project, o=owner, all=[owner, other])
    assert scores() == {}
    ledger.contribute(project, f"u:{other}")
    assert scores() == {}
    ledger.change(set_owners, p=project, o=other, all=[other])
    assert scores() == {owner: 1}
    ledger.fold()
    assert scores() == {owner: 1} and ledger.rows("SELECT * FROM check_people(NULL, clock())") == []
    ledger.delete_project(project)
    ledger.sweep(project)
    assert scores() == {} and ledger.rows("SELECT * FROM check_people(NULL, clock())") == []


def person(ledger):
    """The id of somebody without projects."""
    return ledger.value(
        "INSERT INTO account (created, name, fullname, email_addr, api_key_hash, api_key_encrypted)"
        " VALUES (clock(), 'helper', 'helper', 'helper', 'helper', '') RETURNING id"
    )
