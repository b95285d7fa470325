"""Four weeks of projects: volunteers who look carefully, with hands of every sort, and the consensus is what is there.

5,000 answers over HTTP, as a page sends them; and of each type a few tasks in Chromium, by mouse and by finger.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random
from typing import Any, Final

import attrs
import pytest
from support.checks.proofs import examples

from bench.support import testbed, volunteers
from bench.support.wire import Client
from hands.asked import Asked
from hands.intents import Walk
from hands.projects import Project, Projects
from hands.site import Site
from hands.truths import by_hand, disagreements, each_type, intent_of, truth_of
from hands.volunteer import Volunteers
from hands.worlds import World

WEEKS: Final = 4
TASKS: Final = 19  # of a project, added each week
ALIKE: Final = 3  # answers of a task
PEOPLE: Final = 7  # of a project
COMPARED: Final = "SELECT NOT EXISTS (SELECT FROM comparison_due)"
LIMITS: Final = {"CROWDD_RATELIMIT_LIMIT": "0", "CROWDD_VOLUNTEERS_COUNTED_PER_NETWORK": "0"}


@attrs.define
class Weeks:
    """Projects with what is right of their tasks, and the people who come."""

    server: Any
    projects: Projects
    people: dict[str, list[Client]] = attrs.field(factory=dict)
    answers: int = 0

    async def week(self, number: int) -> None:
        """The owner adds tasks, and people come until nothing is left to do."""
        for asked in each_type():
            more = [{**asked.tasks[0], "n": n} for n in range(number * TASKS, (number + 1) * TASKS)]
            if number:
                self.projects.add(self.projects.of(asked), more)
            else:
                self.projects.of(attrs.evolve(asked, tasks=more))
        await asyncio.gather(*(self._crowd(asked, number) for asked in each_type()))

    async def _crowd(self, asked: Asked, week: int) -> None:
        project, random = self.projects.of(asked), Random(f"{asked.name} {week}")
        if asked.name not in self.people:
            known = testbed.Project(project.id, project.short_name, project.secret_key, self.projects.owner)
            kinds = enumerate(volunteers.kinds(PEOPLE), project.id * 100)
            self.people[asked.name] = [
                await volunteers.make(kind, number, self.server.port, known) for number, kind in kinds
            ]
        crowd = self.people[asked.name]
        await asyncio.gather(*(self._takes_part(asked, project, each, Random(random.random())) for each in crowd))
        for each in crowd:
            each.close()

    async def _takes_part(self, asked: Asked, project: Project, client: Client, random: Random) -> None:
        """Takes tasks until there are none: now and then skips one, sends twice, or changes what was not meant."""
        while task := (await client.ask("GET", f"/api/project/{project.id}/newtask")).json:
            number, chance = task["id"], random.random()
            if chance < 0.05:
                await client.ask("POST", f"/api/task/{number}/release", {"skip": True})
                continue
            nth = task["info"]["n"]
            info = by_hand(truth_of(asked, nth), random)
            first = by_hand(truth_of(asked, nth + 1), random) if chance > 0.9 else info
            body = {"project_id": project.id, "task_id": number, "info": {**first, "questions_version": 1}}
            sent = await client.ask("POST", "/api/taskrun", body)
            assert sent.status == 200, sent.body
            self.answers += 1
            if chance > 0.9:
                changed = await client.ask(
                    "POST", f"/api/task/{number}/correct", {"info": {**info, "questions_version": 1}}
                )
                assert changed.status == 200, changed.body
            elif chance > 0.85:
                assert (await client.ask("POST", "/api/taskrun", body)).status == 403  # a button that bounces


@pytest.mark.proof
def test_what_people_agree_on_is_what_is_there(dsn: str, tmp_path: Path) -> None:
    sql, site = testbed.Sql(dsn), Site()
    with testbed.crowdd(dsn, tmp_path, **LIMITS) as server:
        projects = Projects(server.url, dsn, site, answers=ALIKE)
        weeks = Weeks(server, projects)
        for number in range(WEEKS):
            testbed.run(weeks.week(number))
            sql.rows("UPDATE clock_shift SET ahead = ahead + interval '7 days'")
        assert testbed.run(testbed.until(lambda: sql.one(COMPARED), 300))
        wrong = [each for asked in each_type() for each in differing(projects, asked)]
        projects.close()
    site.close()
    assert wrong == [] and weeks.answers >= 5000


def differing(projects: Projects, asked: Asked) -> list[str]:
    """Tasks of which there is no consensus, or one that is not what is right."""
    project = projects.of(asked)
    agreed = projects.agreed(project)
    return [
        f"{asked.name}, task {task['n']}: {words}"
        for number, task in project.tasks.items()
        for words in disagreements(truth_of(asked, task["n"]), agreed.get(number, {}))
    ]


WORLDS: Final = (World("1280x900"), World("390x844", "de", "de"), World("200 %", "ar"))
BY_HAND: Final = 2  # tasks of a project
SHOWN: Final = "type point on zoom_picture"


@examples(SHOWN)
@pytest.mark.parametrize(
    "asked",
    [pytest.param(each, id=each.name, marks=() if each.name == SHOWN else pytest.mark.size) for each in each_type()],
)
def test_what_hands_in_chromium_agree_on_is_what_they_meant(
    browser: Any, dsn: str, tmp_path: Path, asked: Asked
) -> None:
    site = Site()
    with testbed.crowdd(dsn, tmp_path, **LIMITS) as server:
        projects = Projects(server.url, dsn, site, answers=len(WORLDS))
        people, project = Volunteers(browser, projects, server.url, tmp_path), projects.of(asked)
        intents = [intent_of(asked, nth) for nth in range(BY_HAND)]
        outcomes = [each for world in WORLDS for each in people.walk(Walk(0, world, asked.name, intents))]
        people.close()
        assert [each.told() for each in outcomes if each.fault or each.refused] == []
        assert testbed.run(testbed.until(lambda: testbed.Sql(dsn).one(COMPARED), 60))
        agreed = projects.agreed(project)
        projects.close()
    site.close()
    assert len(agreed) == BY_HAND
    for nth, number in enumerate(sorted(agreed, key=int)):
        meant = next(each.meant for each in outcomes if each.intent.number == nth + 1)
        assert disagreements(meant, agreed[number]) == [], (nth, meant, agreed[number])
