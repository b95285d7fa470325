"""What owners say of a gold task: the task, the answers that are right, how they are compared, and a message."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from crowdd.errors import InvalidValueError, UnknownFieldError
from crowdd.languages import _
from crowdd.values import Json, Values

RULES = ("equal", "set", "number", "text", "boxes", "points", "polygon", "spans")
MAX_ANSWERS = 20
MAX_MESSAGE = 1000  # characters
_KEYS = ("task_id", "answer", "answers", "rule", "message")


@attrs.frozen
class Description:
    """A gold task as an owner describes it. ``answers`` is None where the consensus of the task is right."""

    task_id: int
    answers: list[Json] | None
    rule: Values | None
    message: str | None


def described(body: object) -> Description:
    """The description that a body is. Raises InvalidValueError, UnknownFieldError."""
    if not isinstance(body, dict):
        raise InvalidValueError(_("The body is not a JSON object."))
    for name in body:
        if name not in _KEYS:
            raise UnknownFieldError(f"Unknown attribute {name[:100]}. Known attributes: {', '.join(_KEYS)}.")
    task_id = body.get("task_id")
    if type(task_id) is not int or not 0 < task_id < 2**63:
        raise InvalidValueError("`task_id` must be the id of a task.")
    return Description(
        task_id,
        _answers(body),
        checked_rule(body.get("rule")),
        _checked_message(body.get("message")),
    )


def _answers(body: Mapping[str, Json]) -> list[Json] | None:
    if "answer" in body and "answers" in body:
        raise InvalidValueError("Send either answer or answers.")
    if "answer" in body:
        return [body["answer"]]
    answers = body.get("answers")
    if answers is None:
        return None
    if not isinstance(answers, list) or not 1 <= len(answers) <= MAX_ANSWERS:
        raise InvalidValueError(f"`answers` must be an array of 1 to {MAX_ANSWERS} values.")
    return answers


def _checked_message(message: object) -> str | None:
    if message is not None and (not isinstance(message, str) or len(message) > MAX_MESSAGE or "\0" in message):
        raise InvalidValueError(f"`message` must be a string of at most {MAX_MESSAGE} characters.")
    return message or None


def checked_rule(rule: object) -> Values | None:
    """How answers are compared: ``type``, perhaps ``threshold`` and ``tolerance``; None: by the answer field."""
    if rule is None:
        return None
    if not isinstance(rule, dict) or rule.get("type") not in RULES or rule.keys() - {"type", "threshold", "tolerance"}:
        raise InvalidValueError(f"`rule` must be an object whose `type` is one of {', '.join(RULES)}.")
    for name, maximum in (("threshold", 1), ("tolerance", 1e12)):
        value = rule.get(name, 0)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= maximum:
            raise InvalidValueError(f"`{name}` of the rule must be a number from 0 to {maximum:g}.")
    return dict(rule)
