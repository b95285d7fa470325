"""Analyses of a project: /api/project/<id>/analysis."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from crowdd.core.records.statements import Keyset
from crowdd.features.analyses.analyses import ANSWERS, MAX_KEPT, Analyses, AnalysisBody
from crowdd.features.analyses.methods import EXTRA, METHODS
from crowdd.features.tasks.effects import DRY_RUN, EFFECT, LARGE, effect_response, is_dry_run
from crowdd.http import queries
from crowdd.http.api.objects import checked_id
from crowdd.http.api.operations import COUNT, LIMIT, PASSWORD, PROJECT_ID
from crowdd.http.html.tables import outward_rows
from crowdd.http.operation import Audience, Operation, Parameter, Schema, array_of, closed_object
from crowdd.http.request import Incoming
from crowdd.http.responses import JsonResponse, Response
from crowdd.http.routing import Route, get, post
from crowdd.kernel.errors import AnonymousError, ConflictError, InvalidValueError, NotFoundError

_AT: Final = "/api/project/<int:object_id>/analysis"
_ONE: Final = f"{_AT}/<int:analysis_id>"
_TEXT: Final = {"type": "string"}
_SHARE: Final = {"type": "number", "minimum": 0, "maximum": 1}


def _or_null(schema: Schema, doc: str = "") -> Schema:
    return {"anyOf": [schema, {"type": "null"}], **({"description": doc} if doc else {})}


_ANALYSIS = closed_object(
    id=COUNT,
    project_id=COUNT,
    method={"type": "string", "enum": [*METHODS]},
    answers={"type": "string", "enum": [*ANSWERS]},
    parameters={"type": "object", "description": "Numbers that the method takes."},
    created=_TEXT,
    user_id=_or_null(COUNT, "Who started it; null for deleted accounts."),
    user_name=_or_null(_TEXT),
    queue_item=_or_null(COUNT, "Its background task; null once that is forgotten."),
    state={"type": "string", "enum": ["waiting", "running", "done", "failed", "cancelled"]},
    done={**COUNT, "description": "Steps done. Each task is read, and later stored."},
    total=_or_null(COUNT, "Steps."),
    error={**_TEXT, "description": "Why it failed."},
    ended=_or_null(_TEXT, "When it was done. This and the following are null until then."),
    seconds=_or_null({"type": "number"}, "Processor time that the method took."),
    n_answers=_or_null(COUNT, "Answers that were analysed."),
    n_unfit=_or_null(COUNT, "Answers without one of the choices, which were left out."),
    n_tasks=_or_null(COUNT),
    n_volunteers=_or_null(COUNT),
    n_different=_or_null(COUNT, "Tasks whose result said something else."),
    choices=_or_null(array_of({}), "The values, in the order of probabilities."),
    frequencies=_or_null(array_of({"type": "number"}), "How frequent each choice is, by the method."),
    input_hash=_or_null(_TEXT, "SHA-256 of the answers that were analysed."),
    versions=_or_null({"type": "object"}, "Of crowdd and of the libraries."),
    rounds=_or_null(COUNT, "How often the method went through all answers."),
    converged=_or_null({"type": "boolean"}, "Whether it stopped because little changed."),
)
_TASK = closed_object(
    task_id=COUNT,
    decided={"type": "boolean", "description": "false if several choices are equally probable."},
    value={"description": "The most probable choice; null if decided is false."},
    model={**_SHARE, "description": "Probability of the most probable choice, as the method says; 0 for texts."},
    probabilities={**array_of({"type": "number"}), "description": "Of each of the choices of the analysis."},
    different={"type": "boolean", "description": "Whether the result said something else when the analysis was done."},
    consensus={"description": "What the result of the task says now; null without one."},
)
_VOLUNTEER = closed_object(
    volunteer={**_TEXT, "description": "Volunteer code, as in their answers."},
    answers=COUNT,
    accuracy={**_SHARE, "description": "Mean probability of what they answered; of texts, how near they are."},
    skill=_or_null({"type": "number"}, "What the method itself says of them; null for majority."),
)
_ITEM = closed_object(
    item=_TEXT,
    score={"type": "number", "description": "ln of its strength. Items have 0 on average."},
    low={"type": "number", "description": "Where its 95 % interval begins (Wald)."},
    high={"type": "number", "description": "Where that ends."},
    chosen={**COUNT, "description": "How often it was chosen."},
    compared={**COUNT, "description": "In how many answers."},
)
_NAMED = (PROJECT_ID, Parameter("analysis_id", COUNT, "Id of the analysis.", where="path"), PASSWORD)
_REFUSALS = (AnonymousError, NotFoundError, InvalidValueError)
_OWNERS = "For owners of the project and administrators. "


def _operation(name: str, summary: str, about: str, answer: Schema | None, *parameters: Parameter) -> Operation:
    return Operation(
        name=name,
        section="project",
        summary=summary,
        about=_OWNERS + about,
        parameters=parameters,
        answer=answer,
        refusals=_REFUSALS,
        audience=Audience.SIGNED_IN,
    )


_LIST = _operation(
    "list_analyses",
    "List the analyses of a project",
    f"Returns the newest first. A project keeps at most {MAX_KEPT}.",
    array_of(_ANALYSIS),
    PROJECT_ID,
    PASSWORD,
)
_ADD = Operation(
    name="start_analysis",
    section="project",
    summary="Analyse the answers of a project",
    about=_OWNERS + "Starts a background task that gives each task a label and each volunteer an accuracy. Results do"
    f" not change. Methods that the server lacks libraries for are refused (they come with {EXTRA}).",
    parameters=(PROJECT_ID, PASSWORD),
    answer=_ANALYSIS,
    refusals=(AnonymousError, NotFoundError, ConflictError),
    audience=Audience.SIGNED_IN,
)
_GET = _operation("get_analysis", "Read an analysis", "Without what it found.", _ANALYSIS, *_NAMED)
_DELETE = _operation(
    "delete_analysis", "Delete an analysis", "With what it found. An analysis that runs ends.", None, *_NAMED
)
_APPLY = Operation(
    name="apply_analysis",
    section="project",
    summary="Make the labels of an analysis results",
    about=_OWNERS + "Completed tasks whose result says something else get a new version of it (reason analysis, event"
    " result_updated). Decisions of experts stay, and so do results of answers that came after the analysis was"
    " started. The first answer field of the project must be a label." + LARGE,
    parameters=(*_NAMED[:2], DRY_RUN, PASSWORD),
    answer=EFFECT,
    refusals=(*_REFUSALS, ConflictError),
    audience=Audience.SIGNED_IN,
)
_TASKS = _operation(
    "list_analysis_tasks",
    "List the tasks of an analysis",
    "By their ids. last_id of the next page is the last task_id of this one.",
    array_of(_TASK),
    *_NAMED,
    LIMIT,
    Parameter("last_id", COUNT, "Returns the tasks behind this one.", empty=True),
    Parameter(
        "different",
        {"type": "string", "enum": ["true", "false"]},
        "With true, only tasks whose result said something else.",
        empty=True,
    ),
)
_AGREEMENT = _operation(
    "read_agreement_figures",
    "How far volunteers agree",
    "Of an analysis with the method agreement: coefficients with intervals, by choice, by pair of volunteers, by task,"
    " and against what is known to be right. null for other methods. Pairs are personal data.",
    _or_null({"type": "object"}, "Figures, each with what it rests on."),
    *_NAMED,
)
_ITEMS = _operation(
    "list_analysis_items",
    "List the items that an analysis compared",
    "Of an analysis with the method bradley_terry, the strongest first. [] for other methods.",
    array_of(_ITEM),
    *_NAMED,
)
_VOLUNTEERS = _operation(
    "list_analysis_volunteers",
    "List the volunteers of an analysis",
    "Returns the least accurate first. Accuracy is personal data: use it for this project only.",
    array_of(_VOLUNTEER),
    *_NAMED,
    LIMIT,
    Parameter("after", _TEXT, "Volunteer code. Returns the volunteers that follow this one.", empty=True),
)


class AnalysesApi:
    """/api/project/<id>/analysis."""

    def __init__(self, analyses: Analyses) -> None:
        self._analyses = analyses

    def routes(self) -> Iterator[Route]:
        yield get(_AT, self.listed, endpoint="analysis", operation=_LIST)
        yield post(_AT, self.add, endpoint="analysis", operation=_ADD, body=AnalysisBody)
        yield get(_ONE, self.one, endpoint="analysis", operation=_GET)
        yield Route("DELETE", _ONE, self.delete, endpoint="analysis", operation=_DELETE)
        yield post(f"{_ONE}/apply", self.apply, endpoint="analysis", operation=_APPLY)
        yield get(f"{_ONE}/tasks", self.tasks, endpoint="analysis", operation=_TASKS)
        yield get(f"{_ONE}/agreement", self.agreement, endpoint="analysis", operation=_AGREEMENT)
        yield get(f"{_ONE}/items", self.items, endpoint="analysis", operation=_ITEMS)
        yield get(f"{_ONE}/volunteers", self.volunteers, endpoint="analysis", operation=_VOLUNTEERS)

    async def listed(self, incoming: Incoming, object_id: int) -> Response:
        return JsonResponse(outward_rows(await self._analyses.listed(incoming.who, checked_id(object_id))))

    async def add(self, incoming: Incoming, object_id: int, body: AnalysisBody) -> Response:
        row = await self._analyses.add(incoming.who, checked_id(object_id), body)
        return JsonResponse(outward_rows([row])[0])

    async def one(self, incoming: Incoming, object_id: int, analysis_id: int) -> Response:
        row = await self._analyses.get(incoming.who, checked_id(object_id), checked_id(analysis_id))
        return JsonResponse(outward_rows([row])[0])

    async def delete(self, incoming: Incoming, object_id: int, analysis_id: int) -> Response:
        await self._analyses.delete(incoming.who, checked_id(object_id), checked_id(analysis_id))
        return JsonResponse(None, 204)

    async def apply(self, incoming: Incoming, object_id: int, analysis_id: int) -> Response:
        ids = (checked_id(object_id), checked_id(analysis_id))
        return effect_response(await self._analyses.apply(incoming.who, *ids, is_dry_run(incoming)))

    async def tasks(self, incoming: Incoming, object_id: int, analysis_id: int) -> Response:
        last = incoming.query.get("last_id", "")
        after = queries.parse_number(last, "last_id", 0) if last else None
        place = Keyset(_limit(incoming), descending=False, after=after)
        different = queries.parse_flag(incoming.query.get("different", ""), "different")
        row = await self._analyses.get(incoming.who, checked_id(object_id), checked_id(analysis_id))
        return JsonResponse((await self._analyses.tasks(row, place, different=different)).rows)

    async def agreement(self, incoming: Incoming, object_id: int, analysis_id: int) -> Response:
        row = await self._analyses.get(incoming.who, checked_id(object_id), checked_id(analysis_id))
        return JsonResponse(await self._analyses.agreement(row))

    async def items(self, incoming: Incoming, object_id: int, analysis_id: int) -> Response:
        row = await self._analyses.get(incoming.who, checked_id(object_id), checked_id(analysis_id))
        return JsonResponse(await self._analyses.items(row))

    async def volunteers(self, incoming: Incoming, object_id: int, analysis_id: int) -> Response:
        place = Keyset(_limit(incoming), "accuracy", descending=False, after=_code(incoming))
        row = await self._analyses.get(incoming.who, checked_id(object_id), checked_id(analysis_id))
        return JsonResponse((await self._analyses.volunteers(row, place)).rows)


def _limit(incoming: Incoming) -> int:
    limit = queries.parse_number(incoming.query.get("limit", ""), "limit", queries.DEFAULT_LIMIT)
    return min(limit, queries.MAX_LIMIT)


def _code(incoming: Incoming) -> str | None:
    """The code of the volunteer behind whom the page begins; None for the first page."""
    code = incoming.query.get("after", "")
    if code and not (code.isascii() and code.isalnum()):
        raise InvalidValueError("after must be a volunteer code.")
    return code or None
