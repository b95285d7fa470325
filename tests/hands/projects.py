"""The projects that volunteers answer: one for each thing that is asked, made when somebody comes to it."""

from __future__ import annotations

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
    tasks: dict[str, Json]


class Projects:
    """Makes projects on a server, and reads from its database what volunteers answered."""

    def __init__(self, url: str, dsn: str, site: Site) -> None:
        self._url, self.site = url, site
        self._made: dict[str, Project] = {}
        self._owner: Person | None = None
        self._connection = psycopg2.connect(dsn)
        self._connection.autocommit = True

    def of(self, asked: Asked) -> Project:
        """The project that asks it."""
        if asked.name not in self._made:
            self._made[asked.name] = self._make(asked)
        return self._made[asked.name]

    def _make(self, asked: Asked) -> Project:
        if self._owner is None:
            self._owner = Person(self._url).register(f"owner{uuid.uuid4().hex[:10]}")
        owner, name = self._owner, f"hands-{uuid.uuid4().hex[:10]}"
        infos = [self._filled(info) for info in asked.tasks]
        shown = {"task_presenter": asked.presenter} if asked.presenter else {"questions": self._filled(asked.questions)}
        body = {"name": f"{asked.name} {name}", "short_name": name, "description": "What hands do", "info": shown}
        made = owner.api("POST", "project", body)
        rows = owner.api(
            "POST", "task", [{"project_id": made["id"], "info": info, "n_answers": ENOUGH} for info in infos]
        )
        owner.publish(name)
        return Project(made["id"], name, {str(row["id"]): info for row, info in zip(rows, asked.tasks, strict=True)})

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
