"""The guided tutorial of a project (``info.guided_tutorial``): steps beside the task page, and practice tasks."""

from __future__ import annotations

from typing import Any, Final

import orjson

from crowdd.kernel.languages import _
from crowdd.kinds.guides.guide import FORMAT, MARKDOWN, PICTURE, Names, list_of, schema_of
from crowdd.kinds.questions.options import (
    TEXT,
    Option,
    Problem,
    Problems,
    at,
    check_object,
    integer,
    needed,
    number,
    object_schema,
)

MAX_BYTES: Final = 256_000
MAX_STEPS: Final = 30
MAX_TASKS: Final = 20
MAX_CHECKS: Final = 50  # questions of a practice task with a known answer
MAX_ACCEPTED: Final = 20  # answers to one question that are right
MAX_ANSWER_BYTES: Final = 20_000
MAX_EDITION: Final = 1_000_000
_PIXELS: Final = number(0, 1_000_000)
_RECTANGLE: Final = {name: needed(_PIXELS) for name in ("x", "y", "width", "height")}


def _check_info(value: object, path: str) -> Problems:
    if not isinstance(value, dict):
        yield Problem(path, _("This must be an object."))


def _check_answer(value: object, path: str) -> Problems:
    if len(orjson.dumps(value)) > MAX_ANSWER_BYTES:
        yield Problem(path, _("An answer may have at most %(max)s bytes.", max=MAX_ANSWER_BYTES))


def _check_rectangle(value: object, path: str) -> Problems:
    yield from check_object(value, path, _RECTANGLE)


_INFO: Final = Option(_check_info, {"type": "object"}, needed=True)
_ACCEPTED: Final = needed(list_of(_check_answer, {}, 1, MAX_ACCEPTED))


def _check_part(value: object, path: str) -> Problems:
    """A part of the page: a question, a medium, or a rectangle on a medium."""
    names = Names().option()
    if isinstance(value, dict) and "question" in value:
        yield from check_object(value, path, {"question": names})
    else:
        yield from check_object(value, path, {"medium": names, "rectangle": _RECTANGLE_OPTION})


_RECTANGLE_OPTION: Final = Option(_check_rectangle, object_schema(_RECTANGLE))
_PART_SCHEMA: Final[dict[str, Any]] = {
    "oneOf": [
        object_schema({"question": Names().option()}),
        object_schema({"medium": Names().option(), "rectangle": _RECTANGLE_OPTION}),
    ]
}
_HIGHLIGHT: Final = Option(_check_part, _PART_SCHEMA)


def _check_known(names: Names) -> dict[str, Option]:
    """What is known about the answer to one question of a practice task."""
    parts = {"answers": _ACCEPTED, "tolerance": number(0, 1_000_000_000), "right": TEXT, "wrong": TEXT}
    return {"question": names.option(), **parts}


def _check_practice(value: object, path: str) -> Problems:
    names = Names()
    known = list_of(lambda one, here: check_object(one, here, _check_known(names)), {}, 1, MAX_CHECKS)
    yield from known.check(value, path)


_PRACTICE: Final = Option(
    _check_practice,
    {"type": "array", "minItems": 1, "maxItems": MAX_CHECKS, "items": object_schema(_check_known(Names()))},
)


def _step(names: Names, tasks: Names) -> dict[str, Option]:
    return {
        "name": names.option(),
        "title": needed(TEXT),
        "text": MARKDOWN,
        "picture": PICTURE,
        "task": tasks.reference(),
        "highlight": _HIGHLIGHT,
        "practice": _PRACTICE,
    }


def _task(names: Names) -> dict[str, Option]:
    return {"name": names.option(), "info": _INFO}


def _parts() -> dict[str, Option]:
    """The parts of a document, with names of its own. Tasks come before the steps that name them."""
    tasks, steps = Names(), Names()

    def check_step(value: object, path: str) -> Problems:
        yield from check_object(value, path, _step(steps, tasks))
        if not isinstance(value, dict):
            return
        if "practice" in value and "highlight" in value:
            yield Problem(at(path, "highlight"), _("A practice task has no highlighted part."))
        if "practice" in value and not tasks.known:
            yield Problem(at(path, "practice"), _("A practice task needs a sample task."))

    return {
        "version": FORMAT,
        "edition": integer(1, MAX_EDITION),
        "tasks": list_of(
            lambda one, path: check_object(one, path, _task(tasks)), object_schema(_task(tasks)), 0, MAX_TASKS
        ),
        "steps": needed(list_of(check_step, object_schema(_step(Names(), Names())), 1, MAX_STEPS)),
    }


def check(document: object) -> Problems:
    """Problems of a document."""
    return check_object(document, "", _parts())


def schema() -> dict[str, Any]:
    """The JSON Schema. The guide has what it cannot say: unique names, tasks that exist."""
    return schema_of("Guided tutorial of a crowdd project", _parts())
