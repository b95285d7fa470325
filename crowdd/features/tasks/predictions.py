"""Predictions over REST: what models say, kept beside the answers of people and never counted as one."""

from __future__ import annotations

from collections.abc import Sequence

from crowdd.core.records.records import Behaviour
from crowdd.database.access import Database
from crowdd.features.projects import statements as project_statements
from crowdd.features.tasks import statements
from crowdd.kernel.errors import InvalidValueError, NotFoundError, at_item
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values
from crowdd.kinds.prediction import PREDICTION
from crowdd.kinds.questions import QUESTIONS
from crowdd.kinds.questions.suggested import questions_by_name, suggestion_schema, usable
from crowdd.kinds.types import Schema

_KEY = ("project_id", "task_id", "question", "model", "version")


class PredictionBehaviour(Behaviour):
    """A prediction that is sent again takes the place of the one before."""

    def __init__(self) -> None:
        super().__init__(PREDICTION)

    async def create(self, tx: Database, who: Requester, rows: list[Values]) -> list[int]:
        """All of them in one statement. Raises InvalidValueError for values that do not fit their questions."""
        last = {tuple(row[name] for name in _KEY): nth for nth, row in enumerate(rows)}
        await _require_fitting(tx, rows)
        chosen = sorted(last.values())
        stored = await statements.store_predictions(tx, [rows[nth] for nth in chosen])
        ids = {chosen[one["nth"]]: one["id"] for one in stored}
        for key, nth in last.items():
            if nth not in ids:
                with at_item(nth if len(rows) > 1 else None):
                    raise NotFoundError("404 Not Found", hint=f"Project {key[0]} has no task {key[1]}.")
        return [ids[last[tuple(row[name] for name in _KEY)]] for row in rows]


async def _require_fitting(tx: Database, rows: Sequence[Values]) -> None:
    """Passes for values that can be an answer to a question of their project, and for all where it declares none."""
    schemas: dict[int, dict[str, Schema]] = {}
    for nth, row in enumerate(rows):
        project_id = row["project_id"]
        if project_id not in schemas:
            info = await project_statements.read_info(tx, project_id)
            asked = questions_by_name(info.get(QUESTIONS))
            schemas[project_id] = {name: suggestion_schema(question) for name, question in asked.items()}
        schema = schemas[project_id].get(row["question"])
        with at_item(nth if len(rows) > 1 else None):
            if not schemas[project_id]:
                continue
            if schema is None:
                raise InvalidValueError(_("The project has no question “%(name)s”.", name=row["question"]))
            if usable(schema, row["value"]) is None:
                words = _("The value does not fit the question “%(name)s”.", name=row["question"])
                raise InvalidValueError(words, hint="docs/projects/questions.md says what an answer looks like.")
