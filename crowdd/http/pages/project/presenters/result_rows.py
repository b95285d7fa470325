"""Finished tasks for the page of results."""

from __future__ import annotations

from crowdd.http import starters
from crowdd.http.starters import Asked
from crowdd.values import Values


def shown(task: Values, asked: Asked) -> Values:
    """A task of ``FinishedTasks.page`` with its ``title`` and the ``pictures`` that it may have.

    They come from columns that volunteers see too. Other columns may be private to the owner.
    """
    info = task["task_info"] if isinstance(task["task_info"], dict) else {}
    title = _text(info, asked.get("caption", "")) or _text(info, "title")
    picture = _text(info, asked.get("picture", ""))
    pictures = [picture] if picture else [value for value in info.values() if isinstance(value, str)]
    rest = {name: value for name, value in task.items() if name != "task_info"}
    return {**rest, "title": title, "pictures": pictures}


def asked_by(info: Values) -> Asked:
    """What the presenter in a project's ``info`` asks and shows; empty if the document does not declare it."""
    document = info.get("task_presenter")
    return (starters.asked(starters.current(document)) if isinstance(document, str) else None) or {}


def _text(info: Values, name: str) -> str:
    value = info.get(name) if name else None
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
