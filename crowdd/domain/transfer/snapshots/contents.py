"""The documents of a snapshot: what the project itself is."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from crowdd.domain.projects import dataset
from crowdd.domain.projects.answers.stopping import STOPPING
from crowdd.kinds.guides import GUIDES
from crowdd.kinds.questions import QUESTIONS
from crowdd.storage.projects.versions.version_rows import KeptVersion
from crowdd.storage.transfer.snapshot_rows import SnapshotProject
from crowdd.values import Values

TEXTS: Final = {"presenter.html": "task_presenter", "tutorial.html": "tutorial", "results.html": "results"}
"""Files with a text of ``info``."""
VERSIONED: Final = {QUESTIONS: "questions_version", **{guide.name: guide.version_key for guide in GUIDES}}
"""Keys of ``info`` with a document that has versions, and where its number is."""
_SETTINGS: Final = (
    "sched", "lease_seconds", "counted_per_network", "max_answer_bytes", "max_marks", "answer_key",
    "answers_when_complete", STOPPING,
)  # fmt: skip


def documents(project: SnapshotProject, versions: Mapping[str, Sequence[KeptVersion]]) -> Values:
    """Files of the content by their names: texts, or values that become canonical JSON.

    ``versions``: earlier versions by key of ``info``. Raises InvalidValueError for a wrong ``info.dataset``.
    """
    info = project.info
    files: Values = {"project.json": _project(project)}
    files |= {name: info[key] for name, key in TEXTS.items() if isinstance(info.get(key), str) and info[key]}
    if info.get("answers"):
        files["answer_fields.json"] = info["answers"]
    for key, number in VERSIONED.items():
        if info.get(key) is not None or versions.get(key):
            files[f"{key}.json"] = _versioned(info.get(key), info.get(number), versions.get(key, ()))
    return files


def _project(project: SnapshotProject) -> Values:
    return {
        "name": project.name,
        "short_name": project.short_name,
        "description": project.description,
        "long_description": project.long_description,
        "language": project.info.get("language"),
        "category": project.category,
        "allow_anonymous_contributors": project.allow_anonymous_contributors,
        "settings": settings(project),
        "versions": version_numbers(project),
        **dataset.written(dataset.read(project.info)),
    }


def settings(project: SnapshotProject) -> Values:
    """What decides who gets which task, and when a task is complete; null where the project says nothing."""
    return {name: project.info.get(name) for name in _SETTINGS}


def version_numbers(project: SnapshotProject) -> Values:
    """The versions of documents by number, and those of texts by SHA-256; null for what the project does not have."""
    info = project.info
    numbers = {key: info.get(number) if info.get(key) is not None else None for key, number in VERSIONED.items()}
    texts = {key: _hash(info.get(key)) for key in TEXTS.values()}
    return {**texts, **numbers}


def _hash(text: object) -> str | None:
    return hashlib.sha256(text.encode()).hexdigest() if isinstance(text, str) and text else None


def _versioned(document: object, number: object, earlier: Sequence[KeptVersion]) -> Values:
    before = [
        {"version": each["version"], "created": utc(each["created"]), "document": each["document"]} for each in earlier
    ]
    return {"version": number, "document": document, "earlier": before}


def utc(moment: datetime) -> str:
    """A time in UTC, with microseconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
