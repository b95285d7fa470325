"""What a project shows in the presenter frame, and what the page around it knows of the project and the volunteer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from crowdd.features.projects import starters
from crowdd.features.projects.rows import ProjectPage
from crowdd.features.questions import documents
from crowdd.kernel.values import Values
from crowdd.kinds.guides import FIELD_GUIDE, TUTORIAL
from crowdd.kinds.questions import QUESTIONS

Kind = Literal["newtask", "task", "tutorial", "results"]

_SOURCES: Final[Mapping[str, str]] = {
    "newtask": "task_presenter",
    "task": "task_presenter",
    "tutorial": "tutorial",
    "results": "results",
}
_NOT_TOLD: Final = frozenset(
    {*_SOURCES.values(), "questions", "answers", TUTORIAL.name, FIELD_GUIDE.name}
)  # what the frame has, and much besides

Info = Values
"""A project's ``info``, or a project as a view."""


def source(info: Info, kind: Kind) -> str:
    """The HTML for a page from a project's ``info``: the owner's, a starter as it is now, or questions; "" for none."""
    if is_written(info, kind):
        return starters.current(info[_SOURCES[kind]])
    return documents.render_question_page(info) if kind in ("newtask", "task") else ""


def is_written(info: Info, kind: Kind) -> bool:
    """Whether a page shows HTML of the owner, which may use the libraries of the frame."""
    html = info.get(_SOURCES[kind])
    return isinstance(html, str) and bool(html.strip())


def guided(info: Info) -> bool:
    """Whether the tutorial is the guided one: a project's own HTML comes before it."""
    return not source(info, "tutorial") and info.get(TUTORIAL.name) is not None


def has(info: Info, kind: Kind) -> bool:
    """Whether a project has something to show on a page."""
    return bool(source(info, kind).strip()) or (kind == "tutorial" and guided(info))


def tutorial_seen(project_id: int, info: Info) -> str:
    """The name under which a browser remembers that its volunteer has seen the tutorial.

    It stays the same when the tutorial changes, unless the owner wants it to be shown again: that is another edition.
    """
    edition = info[TUTORIAL.name].get("edition", 1) if guided(info) else 1
    return f"tutorial-{project_id}" + (f"-{edition}" if edition > 1 else "")


def record(project: Info, uploads: str | None = None) -> dict[str, object]:
    """The project as the bridge tells it to presenters: its public view without secrets and without the sources.

    ``uploads``: where the frame of a locked project finds the project's files, for it sends no cookies.
    """
    public = {name: value for name, value in project.items() if name not in ("secret_key", "webhook", "info")}
    info = project.get("info") or {}
    view = {**public, "info": {name: value for name, value in info.items() if name not in _NOT_TOLD}}
    return view if uploads is None else view | {"uploads": uploads}


def page_context(
    kind: Kind,
    project: Info,
    *,
    task_id: int | None = None,
    volunteer: int | None = None,
    own_count: int = 0,
    rank: int | None = None,
    progress: tuple[int, int] = (0, 0),
    share: int = 0,
    uploads: str | None = None,
    info: Info,
) -> dict[str, object]:
    """The ``presenter`` of the template project/presenter.html for the public view of a project and its whole ``info``.

    ``volunteer`` is the account of who looks at it, ``rank`` its place among all, ``own_count`` how many tasks of the
    project they have answered, ``progress`` how many are completed and how many there are,
    ``share`` the answers that have come in per cent of those wanted, ``uploads`` as in ``record``. A page that shows
    questions has ``first``, their first step, and ``paths`` and ``bytes`` of what their frame loads.
    """
    done, total = progress
    return {
        "kind": kind,
        "task_id": task_id,
        "volunteer": volunteer,
        "own_count": own_count,
        "rank": rank,
        "progress": {"done": done, "total": total, "share": share},
        "has_tutorial": has(info, "tutorial"),
        "guided": guided(info),
        "tutorial_seen": tutorial_seen(project["id"], info),
        "has_field_guide": info.get(FIELD_GUIDE.name) is not None,
        "record": record(project, uploads),
        "first": None,
        "paths": [],
        "bytes": 0,
    }


def is_asked(row: ProjectPage) -> bool:
    """Whether volunteers of a project see its questions."""
    return not row["info"].get("task_presenter") and row["info"].get(QUESTIONS) is not None
