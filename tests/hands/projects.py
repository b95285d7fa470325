"""The projects that volunteers answer: one for each thing that is asked, made when somebody comes to it."""

from __future__ import annotations

import functools
import json
import uuid
from collections.abc import Sequence
from typing import Any, Final

import attrs
import psycopg2
from support.person import Person

from hands.asked import SITE, Asked
from hands.site import Site

Json = dict[str, Any]
ENOUGH: Final = 10_000  # answers of a task: none is ever finished
_ROWS: Final = "SELECT id, task_id, info FROM task_run WHERE project_id = %s AND id > %s ORDER BY id"


@attrs.frozen
class Project:
    """A published project; ``tasks`` has what each task shows, by its number."""

    id: int
    short_name: str
    secret_key: str
    tasks: dict[str, Json]


class Projects:
    """Makes projects on a server, and reads from its database what volunteers answered."""

    def __init__(self, url: str, dsn: str, site: Site, answers: int = ENOUGH) -> None:
        self._url, self.site, self._answers = url, site, answers
        self._made: dict[str, Project] = {}
        self._connection = psycopg2.connect(dsn)
        self._connection.autocommit = True

    def of(self, asked: Asked) -> Project:
        """The project that asks it."""
        if asked.name not in self._made:
            self._made[asked.name] = self._make(asked)
        return self._made[asked.name]

    @functools.cached_property
    def owner(self) -> Person:
        """Whose projects they are."""
        return Person(self._url).register(f"owner{uuid.uuid4().hex[:10]}")

    def _make(self, asked: Asked) -> Project:
        owner, name = self.owner, f"hands-{uuid.uuid4().hex[:10]}"
        shown = {"task_presenter": asked.presenter} if asked.presenter else {"questions": self._filled(asked.questions)}
        body = {"name": f"{asked.name} {name}", "short_name": name, "description": "What hands do", "info": shown}
        made = owner.api("POST", "project", body)
        secret = owner.api("GET", f"project/{made['id']}")["secret_key"]
        project = Project(made["id"], name, secret, {})
        self.add(project, asked.tasks)
        owner.publish(name)
        return project

    def add(self, project: Project, tasks: Sequence[Json]) -> None:
        """Adds tasks."""
        rows = [{"project_id": project.id, "info": self._filled(info), "n_answers": self._answers} for info in tasks]
        added = self.owner.api("POST", "task", rows)
        project.tasks.update({str(row["id"]): info for row, info in zip(added, tasks, strict=True)})

    def agreed(self, project: Project) -> dict[str, Json]:
        """The consensus of each finished task, by its number."""
        found: dict[str, Json] = {}
        last = 0
        while page := self.owner.api("GET", "result", project_id=project.id, limit=100, last_id=last):
            found |= {str(result["task_id"]): result["consensus"] for result in page if result["last_version"]}
            last = page[-1]["id"]
        return found

    def _filled(self, value: Any) -> Any:
        """With the addresses of media: a map's tiles are named ``{"SITE": path}``, since a path has braces of its own."""
        text = json.dumps(value, ensure_ascii=False)
        text = text.replace('{"SITE": "', f'"{self.site.url}').replace('.png"}', '.png"')
        return json.loads(text.replace(SITE, self.site.url))

    def rows(self, project: Project, after: int) -> Sequence[tuple[int, int, Any]]:
        """Answers of a project with a higher number: number, task, what is stored."""
        with self._connection.cursor() as cursor:
            cursor.execute(_ROWS, (project.id, after))
            return [*cursor.fetchall()]

    def account(self) -> Person:
        """An account of a volunteer who has answered nothing with it."""
        return Person(self._url).register(f"hand{uuid.uuid4().hex[:10]}")

    def close(self) -> None:
        """Ends the session with the database."""
        self._connection.close()
