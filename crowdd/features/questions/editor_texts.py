"""The texts of a presenter that the editor offers as fields beside the document."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NotRequired, TypedDict

import orjson

from crowdd.features.projects import starters
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.projects.starters import Asked
from crowdd.http.html.forms import Form
from crowdd.http.request import Incoming
from crowdd.kernel.errors import FormError, InvalidValueError
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values

PART: Final = "questions"
"""The part of the editor's page that has the questions; the other parts are texts."""
MAX_ANSWERS: Final = 40
_MAX_CHARACTERS: Final = 500
_MAX_COLUMNS: Final = 200
_LINES: Final = ("question", "unsure", *starters.COLUMNS)


def sent_document(incoming: Incoming, stored: str) -> str:
    """The document of the form, or the stored one if the form has none."""
    return incoming.field("editor") if "editor" in incoming.form else stored


def typed(incoming: Incoming) -> Asked:
    """The values of the fields that the form has."""
    words: Asked = {name: _line(incoming.field(name)) for name in _LINES if name in incoming.form}
    if "answers" in incoming.form:
        lines = (_line(line) for line in incoming.field("answers").splitlines())
        words["answers"] = list(dict.fromkeys(line for line in lines if line))
    return words


def _line(text: str) -> str:
    return text.strip()[:_MAX_CHARACTERS]


def shown(incoming: Incoming) -> Asked:
    """The values of the fields when the page was made. Forms that programs send have none."""
    try:
        field_values = orjson.loads(incoming.field("shown") or "{}")
    except orjson.JSONDecodeError:
        return {}
    return field_values if isinstance(field_values, dict) else {}


def wanted(incoming: Incoming, document: str) -> Asked:
    """The texts of a document merged with the fields, also those that the document has no place for."""
    texts, words = starters.asked(document) or {}, typed(incoming)
    return {**words, **starters.merged(texts, shown(incoming), words)}


def worded(incoming: Incoming, document: str) -> str:
    """The document with the fields merged in. Raises FormError by field, and InvalidValueError without texts."""
    texts = starters.asked(document)
    if texts is None:
        return _wordless(incoming, document)
    changed = {name: value for name, value in wanted(incoming, document).items() if name in texts or name != "answers"}
    wrong: dict[str, list[str]] = {} if changed["question"] else {"question": [_("Please fill this in.")]}
    if "answers" in texts and not 1 <= len(changed["answers"]) <= MAX_ANSWERS:
        wrong["answers"] = [_("Write 1 to %(maximum)s answers, each on a line of its own.", maximum=MAX_ANSWERS)]
    if wrong:
        raise FormError(wrong)
    return document if changed == texts else starters.asking(document, changed)


def _wordless(incoming: Incoming, document: str) -> str:
    """A document without declared texts. Raises FormError if a field was changed that it cannot hold."""
    before, words = shown(incoming), typed(incoming)
    if not before:
        raise InvalidValueError(_("This page has no texts that can be edited separately."))
    if lost := [name for name, value in words.items() if name in before and value != before[name]]:
        raise FormError({name: [_("The HTML below no longer contains this text.")] for name in lost})
    return document


class TextFields(TypedDict):
    """The fields of a presenter's texts.

    ``asked``: their values, None without any; ``shown``: the values that they are compared with when they come back, as
    JSON; ``kept_answers``: answers that were typed and have no field now.
    """

    asked: Asked | None
    shown: NotRequired[str]
    kept_answers: NotRequired[list[str]]


NO_FIELDS: Final[TextFields] = {"asked": None}


def fields(incoming: Incoming, form: Form) -> TextFields:
    """The fields for the form of a presenter."""
    sent = typed(incoming) if incoming.changes_state else {}
    known = starters.asked(form["editor"])
    compared = known
    if form["errors"]:
        compared = shown(incoming) or known
        known = {name: sent.get(name, value) for name, value in (known or compared or {}).items()} or None
    answers = [] if known is not None and "answers" in known else sent.get("answers", [])
    return TextFields(asked=known, shown=orjson.dumps(compared or {}).decode(), kept_answers=answers)


def columns(tasks: Iterable[Values]) -> list[str]:
    """The columns of some tasks, in the order in which they appear."""
    column_names = (name for task in tasks if isinstance(task["info"], dict) for name in task["info"])
    return list(dict.fromkeys(column_names))[:_MAX_COLUMNS]


def outcome(part: str, before: ProjectPage, now: ProjectPage) -> str:
    """The message after saving, from the rows before and after it."""
    if before["info"].get(part) == now["info"].get(part):
        return _("Nothing has changed.")
    if now["published"]:
        return _("Saved. Volunteers see it from now on.")
    if now["first_published"] is not None:
        return _("Saved. Volunteers see it when the project resumes.")
    return _("Saved. Volunteers see it when you publish the project.")
