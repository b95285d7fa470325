"""The columns of tasks that a list of questions shows."""

from __future__ import annotations

from typing import Any, Final

from crowdd.kinds.questions.suggest import SUGGEST_KEYS

PICTURE: Final = "picture"
SOUND: Final = "sound"
VIDEO: Final = "video"
MEDIA_KINDS: Final = (PICTURE, SOUND, VIDEO)
_KIND_OF_MEDIUM: Final = {
    "picture": PICTURE,
    "pictures": PICTURE,
    "zoom_picture": PICTURE,
    "sound": SOUND,
    "video": VIDEO,
}


def columns_of(document: object) -> list[str]:
    """The columns that sources, descriptions and suggestions name, each once, in order.

    None for what is no list of questions.
    """
    return list(dict.fromkeys(_named(document)))


def _named(value: object) -> list[str]:
    if isinstance(value, list):
        return [name for each in value for name in _named(each)]
    if not isinstance(value, dict):
        return []
    if {"column"} <= value.keys() <= SUGGEST_KEYS and isinstance(value["column"], str):
        return [value["column"]]
    return [name for each in value.values() for name in _named(each)]


def question_columns(questions: object) -> dict[str, list[str]]:
    """The columns that the media of a list of questions read, by kind (picture, sound, video), in their order."""
    columns: dict[str, list[str]] = {kind: [] for kind in MEDIA_KINDS}
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
