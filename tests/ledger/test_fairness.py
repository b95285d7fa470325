"""Nobody's minute is wasted, and nobody waits for nothing: a crowd of forty in simulated time, and forty at once."""

from __future__ import annotations

import heapq
import random
import threading

import pytest
from support.checks.proofs import examples
from support.ledger import Ledger

PEOPLE = 40
TURNS = 6  # of each person, who is somebody new each time
MAX_OVER_MIN = 1.25  # wall time of the least possible


def crowd(ledger, project, people, chance):
    """Lets people answer until nothing is left, each minute of theirs on the database's clock.

    Gives the seconds from the first to the last answer, the sum of all work, and what became of the answers.
    """
    now, events, states, work = 0.0, [], [], 0.0
    for n in range(people):
        heapq.heappush(events, (chance.uniform(0, 1), n, None))
    while events:
        at, person, task = heapq.heappop(events)
        ledger.pass_time(at - now)
        now = at
        if task is not None:
            states.append(ledger.answer(project, f"u:{person}", task).state)
        asked = ledger.ask(project, f"u:{person}")
        if asked.state == "ok":
            takes = chance.uniform(10, 50)
            work += takes
            heapq.heappush(events, (at + takes, person, asked.tasks[0]))
        elif asked.state == "wait":
            heapq.heappush(events, (at + 5, person, None))
    return now, work, states


@pytest.mark.proof
def test_forty_people_waste_no_answer_and_hardly_wait(dsn):
    ledger = Ledger(dsn)
    project = ledger.project(tasks=150, n=3)
    seconds, work, states = crowd(ledger, project, PEOPLE, random.Random(7))
    assert states == ["counted"] * 450, "an answer was for nothing"
    assert seconds <= MAX_OVER_MIN * work / PEOPLE, (seconds, work / PEOPLE)
    ledger.close()


def test_who_is_given_a_higher_level_has_done_all_below(dsn):
    ledger, chance = Ledger(dsn), random.Random(8)
    project = ledger.project(tasks=12, n=6, sched="breadth_first")
    for _ in range(6 * 12):
        person = f"u:{chance.randrange(12)}"
        below = ledger.rows(
            "SELECT level FROM task_ledger l WHERE open AND NOT EXISTS (SELECT FROM task_run r"
            " WHERE r.project_id = l.project_id AND r.task_id = l.task_id AND r.actor = %(a)s) ORDER BY level LIMIT 1",
            a=person,
        )
        if below:
            task = ledger.take(project, person)
            assert ledger.ledger(task)["level"] == below[0]["level"] + 1
            ledger.answer(project, person, task)
    ledger.close()


@examples("twelve")
@pytest.mark.parametrize("people", [12, PEOPLE], ids=["twelve", "forty"])
def test_newcomers_at_once_keep_the_levels_even(dsn, people):
    """Answers and leases of tasks differ by one at most, at every moment, however many ask at the same time."""
    ledger = Ledger(dsn)
    project = ledger.project(tasks=people * TURNS // 8, n=8, sched="breadth_first")
    spread = "SELECT max(level) - min(level) FROM task_ledger WHERE project_id = %(p)s"
    widest, failures, begin = [], [], threading.Barrier(people + 1)

    def one(number):
        session = Ledger(dsn)
        try:
            begin.wait()
            for turn in range(TURNS):
                actor = f"c:{number}-{turn}"
                task = session.take(project, actor)
                if turn % 2:
                    session.answer(project, actor, task)
        except BaseException as error:
            failures.append(error)
        finally:
            session.close()

    threads = [threading.Thread(target=one, args=(number,)) for number in range(people)]
    for thread in threads:
        thread.start()
    begin.wait()
    while any(thread.is_alive() for thread in threads):
        widest.append(ledger.value(spread, p=project))
    assert failures == []
    assert max(widest) <= 1
    assert ledger.value(spread, p=project) == 0
    ledger.close()


@pytest.mark.proof
def test_chance_is_the_same_for_every_task_however_much_is_done(dsn):
    """Open tasks among many that are done, for somebody who has answered some of the open ones."""
    ledger = Ledger(dsn)
    project = ledger.project(tasks=120, n=2, sched="random")
    tasks = ledger.tasks(project)
    ledger.run("UPDATE task_ledger SET n_answers = 1000 WHERE ordinal % 6 = 0")
    ledger.run("UPDATE task_ledger SET retired = true WHERE ordinal % 6 <> 0")
    wanted = [task for place, task in enumerate(tasks, 1) if place % 6 == 0]
    counts = dict.fromkeys(wanted, 0)
    for number in range(1000):
        counts[ledger.take(project, f"c:{number}")] += 1
    expected = 1000 / len(wanted)
    chi_squared = sum((n - expected) ** 2 / expected for n in counts.values())
    assert chi_squared < 55, "less likely than 1 in 40,000 at 19 degrees of freedom"
    ledger.close()
