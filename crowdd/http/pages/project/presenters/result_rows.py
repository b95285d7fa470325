"""Finished tasks as the page of results shows them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crowdd.http import starters
from crowdd.http.starters import Asked


def shown(task: Mapping[str, Any], asked: Asked) -> dict[str, Any]:
    """A task of ``FinishedTasks.page`` with its ``title`` and the ``pictures`` that it may have.

    Only columns that volunteers are shown, too: an owner's other columns are not for everybody who reads results.
    """
    info = task["task_info"] if isinstance(task["task_info"], dict) else {}
    title = _text(info, asked.get("caption", "")) or _text(info, "title")
    picture = _text(info, asked.get("picture", ""))
    pictures = [picture] if picture else [value for value in info.values() if isinstance(value, str)]
    rest = {name: value for name, value in task.items() if name != "task_info"}
    return {**rest, "title": title, "pictures": pictures}


def asked_by(info: Mapping[str, Any]) -> Asked:
    """What the presenter of a project (its ``info``) asks and shows, as far as it says so."""
    document = info.get("task_presenter")
    return (starters.asked(starters.current(document)) if isinstance(document, str) else None) or {}


def _text(info: Mapping[str, Any], name: str) -> str:
    value = info.get(name) if name else None
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""
