"""The words of a presenter in the editor's form: fields beside the text that they stand in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import orjson

from crowdd.errors import FormError, InvalidValueError
from crowdd.http import starters
from crowdd.http.request import Incoming
from crowdd.http.starters import Asked
from crowdd.languages import _
from crowdd.storage.projects.rows import ProjectPage

MAX_ANSWERS: Final = 40
_MAX_CHARACTERS: Final = 500
_MAX_COLUMNS: Final = 200
_LINES: Final = ("question", "unsure", *starters.COLUMNS)


def sent_document(incoming: Incoming, stored: str) -> str:
    """The text of the form, or what is stored where the form has none."""
    return incoming.field("editor") if "editor" in incoming.form else stored


def typed(incoming: Incoming) -> Asked:
    """What the fields hold: only those that the form has."""
    words: Asked = {name: _line(incoming.field(name)) for name in _LINES if name in incoming.form}
    if "answers" in incoming.form:
        lines = (_line(line) for line in incoming.field("answers").splitlines())
        words["answers"] = list(dict.fromkeys(line for line in lines if line))
    return words


def _line(text: str) -> str:
    return text.strip()[:_MAX_CHARACTERS]


def shown(incoming: Incoming) -> Asked:
    """What the fields held when the page was made; nothing is known of forms that programs send."""
    try:
        found = orjson.loads(incoming.field("shown") or "{}")
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def wanted(incoming: Incoming, document: str) -> Asked:
    """What a document and the fields beside it ask together, whether or not the document has a place for it."""
    said, words = starters.asked(document) or {}, typed(incoming)
    return {**words, **starters.merged(said, shown(incoming), words)}


def worded(incoming: Incoming, document: str) -> str:
    """The same for storing. Raises FormError by field, InvalidValueError for a document without words of its own."""
    said = starters.asked(document)
    if said is None:
        return _wordless(incoming, document)
    changed = {name: value for name, value in wanted(incoming, document).items() if name in said or name != "answers"}
    wrong: dict[str, list[str]] = {} if changed["question"] else {"question": [_("Please fill this in.")]}
    if "answers" in said and not 1 <= len(changed["answers"]) <= MAX_ANSWERS:
        wrong["answers"] = [_("Write 1 to %(maximum)s answers, each on a line of its own.", maximum=MAX_ANSWERS)]
    if wrong:
        raise FormError(wrong)
    return document if changed == said else starters.asking(document, changed)


def _wordless(incoming: Incoming, document: str) -> str:
    """A text from which the line with the words was taken: kept unless something was typed that it cannot hold."""
    before, words = shown(incoming), typed(incoming)
    if not before:
        raise InvalidValueError(_("This presenter has no texts that can be edited separately."))
    if lost := [name for name, value in words.items() if name in before and value != before[name]]:
        raise FormError({name: [_("The HTML below no longer contains this text.")] for name in lost})
    return document


def fields(incoming: Incoming, form: Mapping[str, Any]) -> dict[str, Any]:
    """What the page is told of the fields.

    ``_asked``: what they hold, None without any; ``_shown``: what they are compared with when they come back;
    ``_kept_answers``: those that were typed and have no field now.
    """
    sent = typed(incoming) if incoming.changes_state else {}
    known = starters.asked(form["editor"])
    compared = known
    if form["errors"]:
        compared = shown(incoming) or known
        known = {name: sent.get(name, value) for name, value in (known or compared or {}).items()} or None
    kept = [] if known is not None and "answers" in known else sent.get("answers", [])
    return {"_asked": known, "_shown": orjson.dumps(compared or {}).decode(), "_kept_answers": kept}


def columns(tasks: Iterable[Mapping[str, Any]]) -> list[str]:
    """The columns that some tasks have, in the order in which they come."""
    found = (name for task in tasks if isinstance(task["info"], dict) for name in task["info"])
    return list(dict.fromkeys(found))[:_MAX_COLUMNS]


def outcome(part: str, before: ProjectPage, now: ProjectPage) -> str:
    """What has come of saving, told by the rows before and after it."""
    if before["info"].get(part) == now["info"].get(part):
        return _("Nothing has changed.")
    if now["published"]:
        return _("Saved. Volunteers see it from now on.")
    if now["first_published"] is not None:
        return _("Saved. Volunteers see it when the project resumes.")
    return _("Saved. Volunteers see it when you publish the project.")
