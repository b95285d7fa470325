"""Pages become lines, lines become transcriptions, while what makes them is killed again and again."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
import pytest_twisted
from support.ledger import Ledger
from support.until import until

from crowdd.features.chains.feature import ChainsFeature
from crowdd.kernel.requester import Requester
from crowdd.kinds.chains import read_rule
from crowdd.sched.statistics import Checking

PAGES, KILLS, MAX_LINES = 50, 6, 4  # MAX_LINES: lines of a page
TESTS = Path(__file__).parents[1]
WRITING = (
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    " AND backend_xid IS NOT NULL"
)
BOXES = [{"name": "lines", "at": "/lines", "type": "boxes"}]
TEXT = [{"name": "text", "at": "/text", "type": "text"}]
LINES = {"each": {"field": "lines"}, "columns": {}, "n_answers": 1}
CHECKS = {"answers": {"text": "text"}, "columns": {"y": "y"}, "n_answers": 1}


class Crowd:
    """Robots who draw lines on pages, write what stands in each, and sometimes correct themselves."""

    def __init__(self, ledger, chance):
        self.ledger, self.chance = ledger, chance
        self.steps = [ledger.project(tasks=PAGES, n=1), ledger.project(), ledger.project()]
        owner = ledger.value("SELECT owner_id FROM project WHERE id = %(p)s", p=self.steps[0])
        for project, fields in zip(self.steps, (BOXES, TEXT, TEXT), strict=True):
            ledger.run(
                "UPDATE project SET owner_id = %(o)s, owners_ids = ARRAY[%(o)s::bigint],"
                " info = info || jsonb_build_object('answers', %(f)s::jsonb) WHERE id = %(p)s",
                o=owner,
                f=json.dumps(fields),
                p=project,
            )
        self.owner, self.turns = Requester(user_id=owner), 0

    def open(self, step):
        sql = "SELECT task_id FROM task_ledger WHERE project_id = %(p)s AND open ORDER BY task_id"
        return [row["task_id"] for row in self.ledger.rows(sql, p=self.steps[step])]

    def work(self, maximum):
        """Answers some open pages and lines; whether there were any."""
        worked = False
        for step in (0, 1):
            for task in self.open(step)[:maximum]:
                self.answer(step, task)
                worked = True
        self.ledger.compare()
        return worked

    def answer(self, step, task):
        self.turns += 1
        lines = [{"x": 9, "y": 100 * n, "width": 80, "height": 20} for n in range(self.chance.randint(0, MAX_LINES))]
        info = {"lines": lines} if step == 0 else {"text": f"line {task}, {self.turns}"}
        actor = f"c:{self.turns}"
        if self.ledger.hold(self.steps[step], actor, task) == "leased":
            self.ledger.answer(self.steps[step], actor, task, info)

    def correct(self):
        """Takes the answers to a few complete tasks back, which then wait for others."""
        for step in (0, 1):
            sql = "SELECT task_id, actor FROM task_run WHERE project_id = %(p)s ORDER BY id"
            for run in self.chance.sample(rows := self.ledger.rows(sql, p=self.steps[step]), min(3, len(rows))):
                self.ledger.withdraw(self.steps[step], [run["task_id"]], run["actor"])

    def sources(self, step):
        sql = "SELECT s.*, t.info FROM task_source s JOIN task t ON t.id = s.task_id WHERE s.project_id = %(p)s"
        return self.ledger.rows(sql, p=self.steps[step])


def following_process(dsn):
    """Follows all chains until it is killed."""
    arguments = [sys.executable, "-m", "support.outside.follow_chains", dsn]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, cwd=TESTS)


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_each_line_and_each_transcription_becomes_one_task_however_often_the_job_is_killed(house, dsn):
    ledger = Ledger(dsn)
    crowd = Crowd(ledger, random.Random(7))
    chains, following = house[ChainsFeature].chains, house[ChainsFeature].following
    pages, lines, checks = crowd.steps
    await chains.put(crowd.owner, pages, lines, read_rule(LINES))
    await chains.put(crowd.owner, lines, checks, read_rule(CHECKS))
    for _kill in range(KILLS):
        process = following_process(dsn)
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == b"ready\n"
            crowd.work(maximum=12)
            crowd.correct()
            before = len(crowd.sources(1)) + len(crowd.sources(2))
            crowd.work(maximum=12)
            await until(
                lambda before=before: len(crowd.sources(1)) + len(crowd.sources(2)) != before or not crowd.open(0)
            )
        finally:
            process.kill()
            process.wait()
        await until(lambda: ledger.value(WRITING) == 0)
    while await following.run() or crowd.work(maximum=1000):
        pass
    assert await following.run() == 0
    texts = {row["task_id"]: row["consensus"] for row in ledger.rows("SELECT * FROM result WHERE last_version")}
    drawn = {(page, line["y"]) for page in ledger.tasks(pages) for line in texts[page]}
    made = crowd.sources(1)
    unchanged = [(row["source_task_id"], row["info"]["y"]) for row in made if not row["changed"]]
    assert len(unchanged) == len({*unchanged}) and {*unchanged} <= drawn
    stale = {(row["source_task_id"], row["info"]["y"]) for row in made if row["changed"]}
    assert drawn == {*unchanged}, (drawn - {*unchanged}, stale)
    assert len(ledger.tasks(lines)) == len(made), "no task without its source"
    last = [row for row in crowd.sources(2) if not row["changed"]]
    assert sorted(row["source_task_id"] for row in last) == sorted(ledger.tasks(lines))
    assert all(row["info"]["text"] == texts[row["source_task_id"]] for row in last)
    assert [one async for one in Checking(house.base.db).run()] == [] and ledger.broken() == []
    ledger.close()
