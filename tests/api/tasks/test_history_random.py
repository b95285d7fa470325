"""300 random changes: what was at any time is what was read then."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import pytest_twisted
from support.checks.histories import after, answer, at
from support.checks.shows import shows

SEED, CHANGES, VOLUNTEERS = 16, 300, 4
LISTS = {
    "task": "/api/task?project_id={id}&limit=100",
    "taskrun": "/api/taskrun?project_id={id}&limit=100",
    "result": "/api/result?project_id={id}&limit=100",
    "older result": "/api/result?project_id={id}&limit=100&last_version=false",
    "figures": "/api/projectstats?project_id={id}",
}
WHO = ("user_id", "user_ip", "external_uid")
Copy = dict[str, Any]


class World:
    """A project, those who work on it, and what they may do next."""

    def __init__(self, served: Any, owner: Any, people: list[Any], project: dict[str, Any]) -> None:
        self.served, self.owner, self.people, self.project = served, owner, people, project
        self.chance = random.Random(SEED)
        self.withdrawn: set[int] = set()
        self.done: dict[str, int] = {}

    async def copy(self) -> Copy:
        """Everything as it is."""
        lists = {}
        for name, path in LISTS.items():
            response = await self.owner.get(path.format(id=self.project["id"]))
            assert response.status == 200, response.text
            lists[name] = response.json()
        return lists

    async def past(self, time: str) -> Copy:
        """Everything as it was."""
        lists = {}
        for name, path in LISTS.items():
            response = await self.owner.get(at(path.format(id=self.project["id"]), time))
            assert response.status == 200, response.text
            lists[name] = response.json()
        return lists

    async def task(self) -> int:
        return int(self.chance.choice(await self._ids("task")))

    async def _ids(self, kind: str) -> list[int]:
        where = {"project": self.project["id"]}
        rows = await self.served.database.fetch(
            f"SELECT id FROM {kind} WHERE project_id = %(project)s ORDER BY id", where
        )
        return [row["id"] for row in rows] or [0]

    async def add(self) -> int:
        body = {"project_id": self.project["id"], "info": {"n": self.chance.random()}, "n_answers": 2}
        return int((await self.owner.post("/api/task", json=body)).status)

    async def answer(self) -> int:
        person, task = self.chance.choice(self.people), await self.task()
        if (await person.post(f"/api/task/{task}/lease", json={})).status != 200:
            return 403
        body = {
            "project_id": self.project["id"],
            "task_id": task,
            "info": self.chance.choice(["fox", "owl", None, {"a": 1.5}]),
        }
        return int((await person.post("/api/taskrun", json=body)).status)

    async def correct(self) -> int:
        person, task = self.chance.choice(self.people), await self.task()
        return int((await person.post(f"/api/task/{task}/correct", json={"info": self.chance.random()})).status)

    async def withdraw(self) -> int:
        person = self.chance.choice(self.people)
        rows = await self.served.database.fetch(
            "SELECT id FROM task_run WHERE user_id = %(id)s ORDER BY id", {"id": person.user_id}
        )
        mine = [row["id"] for row in rows]
        if not mine:
            return 404
        run = self.chance.choice(mine)
        status = int((await person.delete(f"/api/taskrun/{run}")).status)
        self.withdrawn |= {run} if status == 204 else set()
        return status

    async def delete_answer(self) -> int:
        return int((await self.owner.delete(f"/api/taskrun/{self.chance.choice(await self._ids('task_run'))}")).status)

    async def edit(self) -> int:
        body = self.chance.choice(
            [{"info": {"n": self.chance.random()}}, {"priority_0": 0.5}, {"calibration": 1}, {"quorum": 3}]
        )
        return int((await self.owner.put(f"/api/task/{await self.task()}", json=body)).status)

    async def redundancy(self) -> int:
        body = {"n_answers": self.chance.randint(1, 4)}
        return int((await self.owner.put(f"/api/task/{await self.task()}", json=body)).status)

    async def retire(self) -> int:
        body = {"reason": self.chance.choice(["retired", "cancelled"]), "note": "why"}
        return int((await self.owner.post(f"/api/task/{await self.task()}/retire", json=body)).status)

    async def reopen(self) -> int:
        return int((await self.owner.post(f"/api/task/{await self.task()}/reopen", json={})).status)

    async def fill(self) -> int:
        result = self.chance.choice(await self._ids("result"))
        return int(
            (await self.owner.put(f"/api/result/{result}", json={"info": {"note": self.chance.random()}})).status
        )

    async def delete_task(self) -> int:
        return int((await self.owner.delete(f"/api/task/{await self.task()}")).status)

    async def step(self) -> None:
        """One change, or one that is refused."""
        acts: dict[Callable[[], Awaitable[int]], int] = {
            self.answer: 40, self.correct: 12, self.withdraw: 4, self.delete_answer: 5, self.edit: 10, self.redundancy: 10,
            self.retire: 3, self.reopen: 6, self.fill: 8, self.add: 5, self.delete_task: 3,
        }  # fmt: skip
        (act,) = self.chance.choices(list(acts), list(acts.values()))
        status = await act()
        assert status < 500
        name = act.__name__
        self.done[name] = self.done.get(name, 0) + (status < 300)


def without_who(copy: Copy, gone: set[int], withdrawn: set[int]) -> Copy:
    """A copy without what is not kept: who gave answers that were deleted since, and what withdrawn ones said.

    The code of a volunteer is kept, unless the volunteer has withdrawn the answer.
    """
    runs = [{**run, **dict.fromkeys(WHO)} if run["id"] in gone else run for run in copy["taskrun"]]
    runs = [{**run, "info": None, "volunteer": None} if run["id"] in withdrawn else run for run in runs]
    known = {run["volunteer"] for run in runs} - {None}
    figures = [{**row, "n_volunteers": len(known)} for row in copy["figures"]]
    tasks = [{**task, "retired_by": None} for task in copy["task"]]
    return {**copy, "taskrun": runs, "figures": figures, "task": tasks}


@pytest.mark.proof
@shows("list-at")
@pytest_twisted.ensureDeferred
async def test_what_was_at_any_time_is_what_was_read_then(serve):
    served = await serve(CROWDD_RATELIMIT_LIMIT="1000000")
    owner = await served.person("owner")
    people = [await served.person(f"person{n}") for n in range(VOLUNTEERS)]
    world = World(served, owner, people, await served.project(owner, tasks=5, published=True, n_answers=2))
    await answer(people[0], world.project, world.project["tasks"][0])
    copies = []
    for number in range(CHANGES):
        await world.step()
        time = await after(served)
        if number % 7 == 0 or number > CHANGES - 5:
            copies.append((time, await world.copy()))
    left = {run["id"] for run in (await world.copy())["taskrun"]}
    assert min(world.done.values()) > 0 and len(world.done) == 11, world.done
    for time, copy in world.chance.sample(copies, len(copies)):
        gone = {run["id"] for run in copy["taskrun"]} - left
        lists = await world.past(time)
        past = {**lists, "task": [{**task, "retired_by": None} for task in lists["task"]]}
        then = without_who(copy, gone, world.withdrawn)
        for name in LISTS:
            assert [row for row in past[name] if row not in then[name]] == [
                row for row in then[name] if row not in past[name]
            ], (name, time)
        assert past == then, time
