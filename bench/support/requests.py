"""The requests of a storm, each with what has to come back and what has to be in the database afterwards."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import attrs

from bench.support.testbed import Project, Sql
from bench.support.volunteers import address
from bench.support.wire import Client, Response

BATCH = 3  # tasks that the owner adds with one request: all or none
# Of every twenty requests.
MIX = {"newtask": 5, "taskrun": 5, "tasks": 3, "page": 2, "progress": 2, "add tasks": 3}
_PATTERN = [name for name, share in MIX.items() for _ in range(share)]
_LIST = 20


@attrs.frozen
class Expected:
    """A request (method, path and body), whether a body is its right answer, and the marks on the rows that it makes.

    ``repeated``: sent before, perhaps with success, so that "You have already answered this task" is right too.
    """

    name: str
    request: tuple[Any, ...]
    fits: Callable[[Any], bool]
    marks: tuple[str, ...] = ()
    repeated: bool = False

    def complaint(self, answer: Response) -> str:
        """What is wrong with an answer, or ""."""
        if answer.status == 200 and self._right(answer.json):
            return ""
        if answer.status == 403 and self.repeated and answer.json["error_code"] == "duplicate":
            return ""
        return f"{self.name}: {answer.status} {answer.body[:200]!r}"

    def _right(self, body: Any) -> bool:
        try:
            return self.fits(body)
        except (LookupError, TypeError):
            return False


def marks(sql: Sql) -> set[str]:
    """The marks of all rows in the database."""
    query = "SELECT info->>'mark' AS mark FROM task UNION ALL SELECT info->>'mark' FROM task_run"
    return {row["mark"] for row in sql.rows(query)}


class Requests:
    """Makes requests of every kind to one project."""

    def __init__(self, port: int, project: Project) -> None:
        self._port, self._project = port, project
        self.owner = Client(port, query=f"api_key={project.owner.key}")

    async def make(self, number: int) -> tuple[Expected, Client]:
        """The request with this number, by the mix, and who sends it: a volunteer of its own, or the owner."""
        volunteer = Client(self._port, {"X-Forwarded-For": address(number + 1)})
        match _PATTERN[number % len(_PATTERN)]:
            case "newtask":
                return self.newtask(), volunteer
            case "taskrun":
                return await self.taskrun(volunteer, both=number % 2 == 0), volunteer
            case "tasks":
                return self.tasks(), volunteer
            case "page":
                return self.page(), volunteer
            case "progress":
                return self.progress(), volunteer
        return self.add_tasks(), self.owner

    def newtask(self) -> Expected:
        """A task for somebody new."""
        path = f"/api/project/{self._project.id}/newtask"
        return Expected(
            "newtask", ("GET", path), lambda task: task["project_id"] == self._project.id and "n" in task["info"]
        )

    async def taskrun(self, volunteer: Client, *, both: bool) -> Expected:
        """The answer to a task that the volunteer asks for now; ``both``: to two tasks, with one request."""
        path = f"/api/project/{self._project.id}/newtask?limit={1 + both}"
        task_or_tasks = (await volunteer.ask("GET", path)).json
        volunteer.close()
        return self.answer_to(task_or_tasks)

    def answer_to(self, task_or_tasks: Any) -> Expected:
        """The answer to one task or, in one request, to several, as newtask gave them."""
        many = task_or_tasks if isinstance(task_or_tasks, list) else [task_or_tasks]
        rows = [{"project_id": self._project.id, "task_id": task["id"], "info": {"mark": _mark()}} for task in many]
        body = rows if isinstance(task_or_tasks, list) else rows[0]
        made = tuple(row["info"]["mark"] for row in rows)
        return Expected("taskrun", ("POST", "/api/taskrun", body), _returns(body, "task_id"), made)

    def tasks(self) -> Expected:
        """The first tasks of the project."""
        path = f"/api/task?project_id={self._project.id}&limit={_LIST}"

        def fits(tasks: Any) -> bool:
            return len(tasks) == _LIST and {task["project_id"] for task in tasks} == {self._project.id}

        return Expected("task list", ("GET", path), fits)

    def page(self) -> Expected:
        """The page of the project, as JSON."""
        path = f"/project/{self._project.short_name}/?response_format=json"
        return Expected("project page", ("GET", path), lambda page: page["project"]["id"] == self._project.id)

    def progress(self) -> Expected:
        """The progress of a volunteer without answers."""
        path = f"/api/project/{self._project.short_name}/userprogress"
        return Expected(
            "userprogress",
            ("GET", path),
            lambda user_progress: user_progress["done"] == 0 and user_progress["total"] > 0,
        )

    def add_tasks(self) -> Expected:
        """A batch of new tasks."""
        made = tuple(_mark() for _ in range(BATCH))
        body = [{"project_id": self._project.id, "info": {"mark": mark, "n": 0}, "n_answers": 10} for mark in made]
        return Expected("add tasks", ("POST", "/api/task", body), _returns(body, "project_id"), made)


def _mark() -> str:
    return uuid.uuid4().hex


def _returns(body: Any, key: str) -> Callable[[Any], bool]:
    """Whether an answer holds the rows that were sent, in their order, each with its id."""
    rows = body if isinstance(body, list) else [body]

    def fits(answer: Any) -> bool:
        made = answer if isinstance(answer, list) else [answer]
        same = [(row["info"], row[key]) for row in made] == [(row["info"], row[key]) for row in rows]
        return same and isinstance(answer, list) == isinstance(body, list) and all(row["id"] > 0 for row in made)

    return fits
