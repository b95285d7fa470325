"""The API of the rules of owners."""

from __future__ import annotations

from collections.abc import Iterator

from crowdd.features.tasks.effects import is_dry_run
from crowdd.features.trust.rule_statements import MAX_REPLAYED, MAX_VERSIONS
from crowdd.features.trust.task_rules import MAX_LISTED, TaskRules
from crowdd.http import queries
from crowdd.http.api.objects import checked_id
from crowdd.http.api.operations import COUNT, PASSWORD, PROJECT_ID, of_project
from crowdd.http.operation import Parameter, Schema, array_of, closed_object
from crowdd.http.request import Incoming
from crowdd.http.responses import JsonResponse, Response
from crowdd.http.routing import Route, get, post
from crowdd.kinds.body import Body, key
from crowdd.kinds.task_rules import ACTIONS
from crowdd.kinds.types import Boolean, Json

_TEXT: Schema = {"type": "string"}
_KIND: Schema = {"type": "string", "enum": list(ACTIONS)}
_RULES: Schema = {"type": "array", "items": {"type": "object"}, "description": "As in info.task_rules."}
_DRY_RUN = Parameter("dry_run", Boolean().text_schema(), "With 1, nothing is saved.", empty=True)
_OWNERS = "For owners of the project and administrators. "
_LIST = of_project(
    name="task_rules",
    summary="Read the rules of a project and what they did",
    about=_OWNERS + f"Returns the newest {MAX_VERSIONS} versions that are stored; those that decided nothing are"
    " deleted some time after the next one.",
    parameters=(PROJECT_ID, PASSWORD),
    answer=closed_object(
        version={**COUNT, "description": "Number of the rules that hold; 0: there never were any."},
        rules=_RULES,
        versions=array_of(closed_object(version=COUNT, since=_TEXT, rules=_RULES)),
        decided=array_of(
            closed_object(
                rule=_TEXT,
                kind=_KIND,
                version={**COUNT, "description": "The last version by which it decided something."},
                tasks={**COUNT, "description": "Tasks with such a decision."},
                last=_TEXT,
            )
        ),
        choices={
            "anyOf": [{"type": "array", "items": {}}, {"type": "null"}],
            "description": "The choices of the first answer field; null: it is no label, and rules do nothing.",
        },
    ),
)
_SAVE = of_project(
    name="set_task_rules",
    summary="Change the rules of a project",
    about=_OWNERS + f"Returns what the rules would have done with the {MAX_REPLAYED} tasks that were completed last."
    " Open tasks follow them from their next answer on. [] removes all rules.",
    parameters=(PROJECT_ID, _DRY_RUN, PASSWORD),
    answer=closed_object(
        tasks={**COUNT, "description": "Tasks that were replayed."},
        answers={**COUNT, "description": "Their counted answers."},
        rules=array_of(
            closed_object(
                name=_TEXT,
                then=_KIND,
                tasks={**COUNT, "description": "Tasks in which it would have decided something."},
                answers={**COUNT, "description": "Answers that it would have spared, or asked for."},
            )
        ),
    ),
)
_DECISIONS = of_project(
    name="rule_decisions",
    summary="List what the rules of a project decided",
    about=_OWNERS + f"Returns all decisions about at most {MAX_LISTED} tasks, by the id of the task.",
    parameters=(PROJECT_ID, Parameter("last_id", COUNT, "Only tasks with a higher id.", empty=True), PASSWORD),
    answer=array_of(
        closed_object(
            task_id=COUNT,
            rule=_TEXT,
            version={**COUNT, "description": "Of the rules."},
            kind=_KIND,
            answers={**COUNT, "description": "Counted answers of the task by then."},
            at=_TEXT,
        )
    ),
)


class TaskRulesBody(Body):
    """The rules of a project."""

    rules: object = key(Json(), "A list of rules.", null=True)


class TaskRulesApi:
    """/api/project/<id>/rules."""

    def __init__(self, rules: TaskRules) -> None:
        self._rules = rules

    def routes(self) -> Iterator[Route]:
        at = "/api/project/<int:object_id>/rules"
        yield get(at, self.overview, endpoint="task_rules", operation=_LIST)
        yield post(at, self.save, endpoint="task_rules", operation=_SAVE, body=TaskRulesBody)
        yield get(f"{at}/decisions", self.decisions, endpoint="rule_decisions", operation=_DECISIONS)

    async def overview(self, incoming: Incoming, object_id: int) -> Response:
        """The rules, their versions, and how many tasks they decided about."""
        await self._rules.require(incoming.who, checked_id(object_id))
        return JsonResponse(await self._rules.overview(checked_id(object_id)))

    async def save(self, incoming: Incoming, object_id: int, body: TaskRulesBody) -> Response:
        """Saves rules, or only says what they would have done."""
        await self._rules.require(incoming.who, checked_id(object_id))
        replayed = await self._rules.replay(checked_id(object_id), body.rules)
        if not is_dry_run(incoming):
            await self._rules.save(incoming.who, checked_id(object_id), body.rules)
        return JsonResponse(replayed)

    async def decisions(self, incoming: Incoming, object_id: int) -> Response:
        """What the rules decided, task by task."""
        await self._rules.require(incoming.who, checked_id(object_id))
        after = queries.parse_number(incoming.query.get("last_id", "") or "0", "last_id", 0)
        return JsonResponse(await self._rules.decisions(checked_id(object_id), after))
