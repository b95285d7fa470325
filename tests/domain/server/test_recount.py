"""Counters beside the rows: nothing is found that is right, also amid answers; whatever is wrong is found and repaired."""

from __future__ import annotations

import pytest
import pytest_twisted
from support.ledger import Ledger, Meanwhile

from crowdd.sched import check_statements
from crowdd.sched.statistics import CHECKS, Checking

# Each makes one folded counter wrong; the words are those of the differences that it must cause.
BREAKING = {
    "UPDATE project_ledger SET n_gold = 3": {"project_ledger.n_gold"},
    "UPDATE volunteer SET runs = runs + 2 WHERE actor = 'c:2'": {"volunteer.runs"},
    "UPDATE volunteer SET seconds = seconds - 5 WHERE actor = 'u:1'": {"volunteer.seconds"},
    "DELETE FROM volunteer WHERE actor = 'u:1'": {
        "volunteer.runs", "volunteer.seconds", "volunteer.recent", "project_stat.recent_authenticated",
    },
    "UPDATE volunteer_day SET runs = 7 WHERE actor = 'u:1'": {"volunteer_day.runs", "volunteer.recent"},
    "UPDATE volunteer SET recent = 0 WHERE actor = 'u:1'": {
        "volunteer.recent", "project_stat.recent_authenticated",
    },
    "UPDATE project_stat SET recent_anonymous = 9": {"project_stat.recent_anonymous"},
    "UPDATE project_hour SET runs_anonymous = runs_anonymous + 1": {"project_hour.runs_anonymous"},
    "UPDATE project_hour SET completed = completed + 1, counted = 0": {
        "project_hour.completed", "project_hour.counted",
    },
    "DELETE FROM project_hour": {
        "project_hour.runs_anonymous", "project_hour.runs_authenticated", "project_hour.completed", "project_hour.counted",
    },
    "UPDATE project_stat SET tasks = 0, wanted = 1, completed = 0, counted = 0, seconds = 0, results = 4": {
        f"project_stat.{name}" for name in ("tasks", "wanted", "completed", "counted", "seconds", "results")
    },
    "UPDATE project_stat SET runs_anonymous = 0, people_anonymous = 0": {
        "project_stat.runs_anonymous", "project_stat.people_anonymous",
    },
    "UPDATE person_stat SET runs = 5 WHERE user_id = 1": {"person_stat.runs", "score_count.people"},
    "UPDATE person_stat SET shown = false WHERE user_id = 1": {"person_stat.shown", "score_count.people"},
    "UPDATE score_count SET people = people + 1 WHERE level = 0": {"score_count.people"},
    "DELETE FROM score_count": {"score_count.people"},
    "UPDATE task_ledger SET answers = 1, leases = 1 WHERE task_id = 1": {
        "task_ledger.answers", "task_ledger.leases", "task_ledger.done",
    },
    "UPDATE task_ledger SET uncounted = 2 WHERE task_id = 3": {"task_ledger.uncounted"},
    "INSERT INTO lease (project_id, actor, task_id, granted, expires) SELECT 1, 'u:1', 1, now(), now()": {
        "lease", "task_ledger.leases",
    },
    "INSERT INTO lease (project_id, actor, task_id, granted, expires) SELECT 1, 'u:1', 99, now(), now()": {"lease"},
    "INSERT INTO expired_lease SELECT 1, 'u:1', 1, now(), now(), false": {"expired_lease"},
    "UPDATE task_ledger SET done = false WHERE done": {"task_ledger.done", "project_stat.completed", "project_hour.completed"},
    "UPDATE result SET last_version = false": {"last results", "results of exactly the counted answers"},
    "UPDATE result SET task_run_ids = task_run_ids[1:1] WHERE last_version": {"results of exactly the counted answers"},
    "UPDATE result SET agreement = 0.1, consensus = '7' WHERE last_version": {"result.agreement", "results with the consensus"},
    "UPDATE result SET further = '[null]' WHERE last_version": {"results with the consensus of further fields"},
    "UPDATE result SET confidence = 0.3 WHERE last_version": {"results with the consensus"},
    "INSERT INTO outcome_count SELECT 1, 'value', 7, 1, 1, 0, 0, 0, 0, 0, 1000, 2": {"outcome_count.tasks", "outcome_count.answers"},
    "UPDATE result SET n_compared = NULL WHERE last_version": {"result.n_compared"},
    "INSERT INTO retirement SELECT 1, 2, 'retired', '', 1, now()": {"task_ledger.retired"},
    "UPDATE task_ledger SET requeued_xid = NULL; UPDATE position SET k1 = 5 WHERE actor = '' AND scan LIKE 'priority/%'": {
        "open tasks passed by the low-water mark",
    },
    **{
        "UPDATE task_ledger SET requeued_xid = NULL; INSERT INTO position"
        f" SELECT project_id, '', '{order}/' || epoch, {k1}, {k2} FROM project_ledger": {"open tasks passed by the low-water mark"}
        for order, k1, k2 in (("priority-up", 5, 0), ("id", 0, 99), ("id-down", 0, 0))
    },
    "UPDATE task_ledger SET requeued_xid = 10^12": {"stamps of the future"},
    "UPDATE outcome_count SET tasks = tasks + 1, agreement = agreement + 1": {"outcome_count.tasks", "outcome_count.agreement"},
    "DELETE FROM outcome_count": {
        f"outcome_count.{name}" for name in ("tasks", "answers", "several", "agreement", "half", "most", "unanimous")
    },
    "UPDATE project_stat SET bytes = bytes + 7": {"project_stat.bytes"},
    "INSERT INTO answer_file_sum SELECT id, 7 FROM project": {"answer_file_sum.bytes"},
    "INSERT INTO same_person VALUES ('c:2', 0, 'u:1', now()), ('u:1', 0, 'c:2', now())": {"tasks with two counted answers of one person"},
}  # fmt: skip


@pytest.fixture
def ledger(dsn):
    made = Ledger(dsn)
    yield made
    made.close()


@pytest.fixture
def project(ledger):
    """A project with answers of account 1 and a stranger, folded; and one more answer that is not."""
    made = ledger.project(tasks=3, n=2)
    ledger.release(made, "u:9", ledger.take(made, "u:9"))
    for actor in ("u:1", "c:2"):
        task = ledger.take(made, actor)
        ledger.pass_time(10)
        ledger.answer(made, actor, task)
    ledger.fold()
    ledger.contribute(made, "c:2")
    return made


async def found(pool, **options):
    return [difference async for difference in Checking(pool).run(**options)]


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_whatever_is_wrong_is_found_and_repaired(pool, ledger, project):
    assert await found(pool) == []
    for statement, names in BREAKING.items():
        ledger.run(statement)
        differences = await found(pool)
        assert {difference.what for difference in differences} == names, statement
        assert not any(difference.repaired for difference in differences)
        assert await found(pool) == differences, "looking repairs nothing"
        assert any(difference.repaired for difference in await found(pool, repair=True)), statement
        assert await found(pool, repair=True) == [], statement
    ledger.fold()
    assert await found(pool) == []


@pytest_twisted.ensureDeferred
async def test_of_very_many_differences_the_first_come_and_the_others_are_counted(pool, ledger, project, monkeypatch):
    monkeypatch.setattr(check_statements, "MAX_DIFFERENCES", 3)
    ledger.run("UPDATE project_stat SET tasks = 9, wanted = 9, completed = 9, counted = 9, seconds = 99")
    differences = await found(pool)
    assert [difference.more for difference in differences] == [0, 0, 2]
    assert differences[-1].sentence().endswith(" (and 2 more of this check)")
    assert all(difference.repaired for difference in await found(pool, repair=True))
    assert await found(pool) == [], "those that did not come are repaired, too"


# The same where answers have classes and redundancy is adaptive.
BREAKING_TRUST = {
    "UPDATE task_run SET class = 2 WHERE class = 1": {
        "answers with their class", "trust_model.confusion_sums", "trust_model.peer_right", "reliability.peer_right",
    },
    "UPDATE result SET posterior = '{0.5,0.5}' WHERE last_version": {
        "results with their posterior", "results with their most probable class", "trust_model.class_sums",
        "trust_model.confusion_sums", "trust_model.peer_right", "reliability.peer_right",
    },
    "UPDATE task_ledger SET n_answers = 3 WHERE NOT done": {"task_ledger.n_answers", "project_stat.wanted"},
    "UPDATE trust_model SET tasks = 7, saved = 0, sure = 0, peer_right = 9, class_sums[1] = 5": {
        "trust_model.tasks", "trust_model.saved", "trust_model.sure", "trust_model.peer_right", "trust_model.class_sums",
    },
    "UPDATE reliability SET peer_seen = 9 WHERE actor = 'u:1'": {"reliability.peer_seen"},
    "DELETE FROM reliability WHERE actor = 'u:1'": {
        "reliability.peer_seen", "reliability.peer_right", "reliability.gold_seen", "reliability.gold_right",
    },
    "UPDATE reliability SET gold_right = 0 WHERE actor = 'u:1'; UPDATE trust_model SET gold_seen = 7": {
        "reliability.gold_right", "trust_model.gold_seen",
    },
}  # fmt: skip


@pytest_twisted.ensureDeferred
async def test_posteriors_and_reliability_are_worked_out_again(pool, ledger):
    project = ledger.project()
    ledger.declare(project, "fox", "owl", min_answers=2, confidence=0.7)
    ledger.add(project, [0.0] * 2, n=5)
    for actor in ("u:1", "u:2"):
        ledger.answer(project, actor, ledger.take(project, actor), {"answer": "fox"})
    ledger.answer(project, "u:1", ledger.take(project, "u:1"), {"answer": "owl"})
    (gold,) = ledger.add(project, [0.0])
    ledger.change("SELECT make_gold(%(p)s, %(t)s, '[\"fox\"]', NULL, NULL, 1, clock())", p=project, t=gold)
    ledger.hold(project, "u:1", gold)
    ledger.answer(project, "u:1", gold, {"answer": "fox"})
    ledger.fold()
    ledger.fold_evidence()
    assert await found(pool) == []
    for statement, names in BREAKING_TRUST.items():
        ledger.run(statement)
        assert {difference.what for difference in await found(pool)} == names, statement
        assert any(difference.repaired for difference in await found(pool, repair=True)), statement
        ledger.fold_evidence()
        assert await found(pool, repair=True) == [], statement


def test_every_check_is_broken_above():
    assert {check.name for check in CHECKS} == {
        "places of tasks", "states and results", "agreement of results", "positions", "answers of volunteers", "the last two weeks", "hours", "figures of projects", "bytes of projects",
        "scores and ranks", "outcomes", "classes and posteriors", "reliability", "gold tasks",
        "answers of linked volunteers", "answers to compare", "sums of alpha",  # tests/ledger/test_comparison.py
        "next steps",  # tests/domain/tasks/test_following.py
    }  # fmt: skip


@pytest_twisted.ensureDeferred
async def test_a_database_restored_elsewhere_loses_nobodys_place(pool, ledger, project):
    """The transactions of another PostgreSQL begin at small numbers: stamps of the old one would lie ahead for ever."""
    ledger.run("UPDATE task_ledger SET requeued_xid = 10^12")
    ledger.run("UPDATE position SET k1 = 10^12 WHERE scan LIKE 'returns:%%'")
    ledger.run(
        "INSERT INTO position SELECT project_id, 'u:8', 'returns:priority/' || epoch, 10^12, 0 FROM project_ledger"
    )
    assert not await check_statements.know_cluster(pool)
    ledger.run("UPDATE cluster SET system_identifier = 1")
    assert await check_statements.know_cluster(pool)
    assert not await check_statements.know_cluster(pool)
    assert await found(pool) == []
    assert ledger.value("SELECT stamp(%(p)s) > 10::bigint^12", p=project)
    for actor in ("u:8", "u:9"):
        ledger.release(project, "u:7", ledger.take(project, "u:7"))
        assert ledger.take(project, actor)


@pytest_twisted.ensureDeferred
async def test_an_answer_that_is_not_committed_is_no_difference(pool, dsn, project):
    other = Ledger(dsn, autocommit=False)
    other.answer(project, "u:9", other.take(project, "u:9"))
    assert await found(pool) == []
    other.commit()
    assert await found(pool) == []
    other.close()


@pytest_twisted.ensureDeferred
async def test_what_changes_while_it_is_repaired_is_not_lost(pool, ledger, dsn, project):
    ledger.run("UPDATE project_stat SET tasks = 50, counted = 50; UPDATE volunteer SET runs = 50")
    other = Ledger(dsn, autocommit=False)
    other.contribute(project, "u:9")
    ledger.contribute(project, "c:3")
    assert all(difference.repaired for difference in await found(pool, repair=True))
    other.commit()
    other.close()
    assert await found(pool) == []


@pytest_twisted.ensureDeferred
async def test_a_repair_waits_for_a_fold(pool, ledger, dsn, project):
    folding, repairing = Ledger(dsn, autocommit=False), Ledger(dsn)
    ledger.run("UPDATE project_stat SET counted = 50")
    assert folding.fold() > 0
    other = Meanwhile(repairing.run, "SELECT repair_figures(%(p)s, clock())", p=project)
    ledger.wait_until_blocked(repairing)
    folding.commit()
    other.result()
    assert await found(pool) == []
    for session in (folding, repairing):
        session.close()
