"""Which columns of a task the media of a batch fill: those that the questions of the project read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

PICTURE, SOUND, VIDEO = "picture", "sound", "video"
KINDS: Final = (PICTURE, SOUND, VIDEO)
MAX_COLUMN = 100  # characters, as sources of questions have it
_KIND_OF_MEDIUM: Final = {
    "picture": PICTURE,
    "pictures": PICTURE,
    "zoom_picture": PICTURE,
    "sound": SOUND,
    "video": VIDEO,
}


@attrs.frozen
class Medium:
    """What a prepared file gives a task.

    ``facts`` are further columns (``thumbnail``, ``width``, ``height``, ``type``, ``date`` …) with their values.
    """

    kind: str
    url: str
    filename: str
    facts: Mapping[str, Any]


def question_columns(questions: object) -> dict[str, list[str]]:
    """The columns that the media of a list of questions read, by kind (picture, sound, video), in their order."""
    columns: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for step in _dicts(questions, "steps"):
        for medium in _dicts(step, "media"):
            kind = _KIND_OF_MEDIUM.get(str(medium.get("type")))
            source = medium.get("source")
            for each in source if isinstance(source, list) else [source]:
                column = each.get("column") if isinstance(each, dict) else None
                if kind and isinstance(column, str) and column not in columns[kind]:
                    columns[kind].append(column)
    return columns


def _dicts(value: object, name: str) -> list[dict[str, Any]]:
    listed = value.get(name) if isinstance(value, dict) else None
    return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []


def columns_for(kind: str, questions: Mapping[str, Sequence[str]], chosen: str = "") -> list[str]:
    """The columns that files of a kind fill, the first file the first one.

    ``chosen`` is what the owner has named; otherwise those of the questions, or the name of the kind.
    """
    of_questions = list(questions.get(kind, ())) or [kind]
    return [chosen, *(column for column in of_questions if column != chosen)] if chosen else of_questions


def info_of(media: Sequence[Medium], questions: Mapping[str, Sequence[str]], chosen: str = "") -> dict[str, Any]:
    """The columns of a task with these media, in the order of its group.

    Each file of a kind fills the next column of that kind; behind the last one the first is counted on (``picture_2``).
    Facts are those of the first file, those of further ones are counted on in the same way.
    """
    info: dict[str, Any] = {}
    counts: dict[str, int] = {}
    for number, medium in enumerate(media, 1):
        nth = counts[medium.kind] = counts.get(medium.kind, 0) + 1
        columns = columns_for(medium.kind, questions, chosen)
        info[columns[nth - 1] if nth <= len(columns) else f"{columns[0]}_{nth}"] = medium.url
        for name, value in {"filename": medium.filename, **medium.facts}.items():
            column = name if number == 1 else f"{name}_{number}"
            if value not in (None, "") and column not in info:
                info[column] = value
    return info
