"""The documents in a snapshot that describe the project, and snapshots as pages and programs get them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, TypedDict

from crowdd.features.projects import dataset
from crowdd.features.questions.rows import KeptVersion
from crowdd.features.snapshots.rows import SnapshotFile, SnapshotProject, SnapshotRow
from crowdd.kernel.values import Values
from crowdd.kinds.answer_files import ANSWER_FILES
from crowdd.kinds.guides import GUIDES
from crowdd.kinds.questions import QUESTIONS
from crowdd.kinds.stopping import STOPPING
from crowdd.kinds.task_rules import TASK_RULES


class SnapshotView(TypedDict):
    """A snapshot. ``url``, ``hash``, ``counts`` and what follows are None until it is made.

    ``user_name``, ``queue_item`` and ``error`` are for owners, null for others. ``withdrawn``: volunteers of the
    project who deleted their account since.
    """

    id: int
    project_id: int
    created: datetime
    state: str
    done: int
    total: int | None
    public: bool
    user_name: str | None
    queue_item: int | None
    error: str | None
    hash: str | None
    url: str | None
    as_of: datetime | None
    bytes: int
    counts: Values | None
    license: str | None
    authors: list[Values] | None
    citation: str | None
    software: str | None
    audit_log: Values | None
    withdrawn: int


class SnapshotFileView(TypedDict):
    """A file of a snapshot. ``content``: the hash of the snapshot depends on it."""

    name: str
    bytes: int
    sha256: str
    content: bool


def snapshot_view(snapshot: SnapshotRow, address: str, *, owns: bool) -> SnapshotView:
    """A row; ``address`` is that of the project's snapshots."""
    manifest: Values = {**(snapshot["manifest"] or {})}
    return SnapshotView(
        id=snapshot["id"],
        project_id=snapshot["project_id"],
        created=snapshot["created"],
        state=snapshot["state"],
        done=snapshot["done"],
        total=snapshot["total"],
        public=snapshot["public"],
        user_name=snapshot["user_name"] if owns else None,
        queue_item=snapshot["queue_item"] if owns else None,
        error=snapshot["error"] if owns else None,
        hash=snapshot["hash"],
        url=None if snapshot["hash"] is None else f"{address}/{snapshot['hash']}",
        as_of=snapshot["as_of"],
        bytes=snapshot["bytes"],
        counts=manifest.get("counts"),
        license=manifest.get("license"),
        authors=manifest.get("authors"),
        citation=manifest.get("citation"),
        software=manifest["software"]["version"] if manifest else None,
        audit_log=manifest.get("audit_log"),
        withdrawn=snapshot["withdrawn"],
    )


def file_view(file: SnapshotFile) -> SnapshotFileView:
    """A file."""
    return SnapshotFileView(name=file["name"], bytes=file["bytes"], sha256=file["sha256"], content=file["content"])


TEXTS: Final = {"presenter.html": "task_presenter", "tutorial.html": "tutorial", "results.html": "results"}
"""Files with a text of ``info``."""
VERSIONED: Final = {QUESTIONS: "questions_version", **{guide.name: guide.version_key for guide in GUIDES}}
"""Keys of ``info`` with a document that has versions, and where its number is."""
_SETTINGS: Final = (
    "sched", "lease_seconds", "counted_per_network", "counted_per_group", "max_answer_bytes", "max_marks", "answer_key",
    "answers_when_complete", STOPPING, TASK_RULES, ANSWER_FILES,
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
