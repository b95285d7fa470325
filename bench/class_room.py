"""A class room and ten accounts label tasks; crowd-kit reads the export as it is.

    make class-room             (python -m bench.class_room [--tasks 600] [--pupils 30] [--accounts 10])

The pupils are browsers with cookies behind one address, in a project whose owner raised ``info.counted_per_network``. A
third of them guesses. Limits are those of a server with default settings. crowd-kit is installed into a new virtual
environment (some 700 MB; ``--python`` names one that has it).

Gates: every answer counts, in the table of answers there are as many workers as people and none answered a task twice,
and Dawid and Skene's method labels every task.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import attrs
import requests
from support.servers.live import LiveServer

from bench.crowd import Crowd
from bench.crowd import Plan as CrowdPlan
from bench.support import testbed, volunteers
from bench.support.figures import table
from bench.support.testbed import Project
from bench.support.wire import Client

LABELS = ("fox", "hare", "marten", "owl")
GUESSERS, DILIGENT = 1 / 3, 0.9  # of the pupils; how often the others are right
LIMITS = {
    "CROWDD_RATELIMIT_LIMIT": "300",
    "CROWDD_VOLUNTEERS_COOKIES_PER_HOUR": "200",
    "CROWDD_VOLUNTEERS_COOKIES_PER_DAY": "500",
}
CROWD_KIT = "crowd-kit>=1.4,<2"
READ = """
import json, sys
import pandas as pd
from crowdkit.aggregation import DawidSkene, MajorityVote

runs = pd.read_csv(sys.argv[1])
told = {"volunteer": runs["volunteer"], "account or address": runs["user_id"].astype("string").fillna(runs["user_ip"])}
found = {}
for name, worker in told.items():
    frame = pd.DataFrame({"task": runs["task_id"], "worker": worker, "label": runs["info_answer"]})
    found[name] = {
        "workers": int(frame["worker"].nunique()), "twice": int(frame.duplicated(["task", "worker"]).sum()),
        "majority": MajorityVote().fit_predict(frame).to_dict(),
        "dawid_skene": DawidSkene(n_iter=100).fit_predict(frame).to_dict(),
    }
print(json.dumps(found))
"""


@attrs.frozen
class Plan:
    """How many people and tasks; how many answers a task wants."""

    tasks: int = 600
    pupils: int = 30
    accounts: int = 10
    n_answers: int = 3


class ClassRoom(Crowd):
    """People who say what they see, each as well as they can; ``truth`` has the label of each task."""

    def __init__(self, project: Project, clients: list[Client], skill: dict[int, float]) -> None:
        super().__init__(CrowdPlan(clients=len(clients)), project, clients)
        self._skill, self.truth = skill, {}

    async def answer(self, client: Client, task: Any) -> None:
        truth = self.truth.setdefault(str(task["id"]), LABELS[task["info"]["n"] % len(LABELS)])
        right = random.random() < self._skill[id(client)]
        info = {"seconds": random.randint(1, 60), "answer": truth if right else random.choice(LABELS)}
        body = {"project_id": self.project.id, "task_id": task["id"], "info": info}
        response = await client.ask("POST", "/api/taskrun", body)
        if response.status != 200 or not response.json["volunteer"]:
            self.violations.append(f"The answer to task {task['id']} was refused: {response}")


async def labelled(plan: Plan, server: LiveServer, project: Project) -> ClassRoom:
    """The tasks, answered by everybody together."""
    pupils = [await volunteers.browser(server.port, project, 7) for _ in range(plan.pupils)]
    people = [await volunteers.make("user", number, server.port, project) for number in range(plan.accounts)]
    for number, client in enumerate(people):  # each at home
        client.headers["X-Forwarded-For"] = volunteers.address(1000 + number)
    skill = {id(client): DILIGENT for client in (*pupils, *people)}
    skill |= {id(client): 0.0 for client in pupils[: round(GUESSERS * len(pupils))]}
    room = ClassRoom(project, [*pupils, *people], skill)
    room.begin()
    await room.end()
    return room


def export(project: Project, server: LiveServer, place: Path) -> Path:
    """The table of answers as the owner downloads it."""
    address = f"{server.url}/project/{project.short_name}/tasks/export?type=task_run&format=csv"
    answer = requests.get(address, headers={"Authorization": project.owner.key}, timeout=60)
    answer.raise_for_status()
    path = place / "answers.csv"
    path.write_bytes(answer.content)
    return path


def python_with_crowd_kit(python: str, place: Path) -> str:
    """A Python that has crowd-kit: the given one, or a new environment."""
    if python:
        return python
    venv.create(place / "venv", with_pip=True)
    pip = [place / "venv" / "bin" / "pip", "install", "-q", "--disable-pip-version-check", CROWD_KIT]
    subprocess.run(pip, check=True)
    return str(place / "venv" / "bin" / "python")


def judge(
    plan: Plan, room: ClassRoom, analyses: dict[str, Any], counted: int
) -> tuple[list[tuple[str, object]], list[str]]:
    """The lines of the table, and what is violated."""
    people, answers = plan.pupils + plan.accounts, plan.tasks * plan.n_answers
    lines: list[tuple[str, object]] = [("answers that count", f"{counted:,} of {answers:,}")]
    wrong = [*room.violations, *(["not every answer counts"] if counted != answers else [])]
    for name, seen in analyses.items():
        shares = {
            method: sum(room.truth[task] == label for task, label in seen[method].items()) / plan.tasks
            for method in ("majority", "dawid_skene")
        }
        accuracy = f"majority {shares['majority']:.1%}, Dawid–Skene {shares['dawid_skene']:.1%} right"
        lines.append(
            (f"by {name}", f"{seen['workers']} workers, {seen['twice']} answers by one who has answered; {accuracy}")
        )
    mine = analyses["volunteer"]
    if (mine["workers"], mine["twice"]) != (people, 0):
        wrong.append(f"{mine['workers']} workers instead of {people}, {mine['twice']} answered twice")
    if len(mine["dawid_skene"]) != plan.tasks:
        wrong.append(f"Dawid–Skene labels {len(mine['dawid_skene'])} of {plan.tasks} tasks")
    return lines, wrong


def play(plan: Plan, dsn: str, place: Path, python: str) -> tuple[list[tuple[str, object]], list[str]]:
    """The whole of it."""
    with testbed.crowdd(dsn, place, **LIMITS) as server:
        project = testbed.project(server, tasks=plan.tasks, n_answers=plan.n_answers)
        info = {"task_presenter": "<p>?</p>", "counted_per_network": plan.pupils}
        project.owner.api("PUT", f"project/{project.id}", {"info": info})
        room = testbed.run(labelled(plan, server, project))
        path = export(project, server, place)
    counted = testbed.Sql(dsn).one("SELECT count(*) FROM task_run WHERE project_id = %s AND counted", [project.id])
    done = subprocess.run([python, "-c", READ, path], capture_output=True, text=True, check=False)
    if done.returncode:
        return [("crowd-kit", "failed")], [done.stderr.strip().splitlines()[-1]]
    return judge(plan, room, json.loads(done.stdout), counted)


def main() -> int:
    """Runs it and prints a table; 1 when a gate is broken."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for field in attrs.fields(Plan):
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=int, default=field.default)
    parser.add_argument("--python", default="", help="A Python that has crowd-kit.")
    parser.add_argument("--seed", type=int, default=1)
    options = vars(parser.parse_args())
    python, seed = options.pop("python"), options.pop("seed")
    random.seed(seed)
    with testbed.folder() as place, testbed.postgres(place) as database:
        lines, wrong = play(Plan(**options), database.dsn, place, python_with_crowd_kit(python, place))
    print(table("A class room and accounts", lines, wrong))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
