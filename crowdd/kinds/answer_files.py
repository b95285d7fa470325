"""What volunteers may send as files with their answers (``info.answer_files`` of a project)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Self

import attrs

from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import _
from crowdd.kernel.values import JsonObject

ANSWER_FILES: Final = "answer_files"
"""The key of ``info``: an object with some of the names of ``FileRules``, or null."""
_LIMITS: Final = {
    "max_bytes": (10_000, 50_000_000),
    "max_files": (1, 20),
    "total_bytes": (1_000_000, 1_000_000_000_000),
}


@attrs.frozen
class FileRules:
    """Bytes of one file, files of one answer, bytes of all files of a project, and whether others see them.

    ``shown``: everybody who may read an answer may open its files. Otherwise those who run the project, and who sent
    them.
    """

    max_bytes: int = 10_000_000
    max_files: int = 5
    total_bytes: int = 1_000_000_000
    shown: bool = False

    @classmethod
    def of(cls, declared: JsonObject | None) -> Self:
        """Those of a checked declaration; the defaults where it says nothing."""
        return cls(**(declared or {}))  # type: ignore[arg-type]  # check_answer_files has seen them


def check_answer_files(value: object) -> None:
    """Refuses anything but null and an object with known names and values within their limits."""
    if value is None:
        return
    if not isinstance(value, dict) or not value.keys() <= {*_LIMITS, "shown"}:
        names = ", ".join(f"`{name}`" for name in (*_LIMITS, "shown"))
        raise InvalidValueError(_("`info.answer_files` must be an object with %(names)s, or null.", names=names))
    if not isinstance(value.get("shown", False), bool):
        raise InvalidValueError(_("`info.answer_files.shown` must be true or false."))
    for name, (lowest, highest) in _LIMITS.items():
        limit = value.get(name, lowest)
        if type(limit) is not int or not lowest <= limit <= highest:
            words = _(
                "`info.answer_files.%(name)s` must be a whole number from %(min)s to %(max)s.",
                name=name,
                min=lowest,
                max=highest,
            )
            raise InvalidValueError(words)


FILE_KINDS: Final = ("picture", "sound", "video")
AT: Final = "/answer-files/"
"""Where files of answers are served. An answer names each file by its address there."""
_ADDRESS: Final = re.compile(rf"{AT}([0-9a-f]{{40}})")


def named_files(info: object) -> list[str]:
    """The words of the addresses of files that an answer names, each once: ``{"photo": [{"file": address}]}``."""
    return list(dict.fromkeys(_word(entry) for entries in _lists(info) for entry in entries if _word(entry)))


def files_of(value: object) -> list[JsonObject]:
    """The files of an answer to a question for files, as they were stored; [] for every other value."""
    return [
        each for each in _entries(value) if isinstance(each, dict) and _word(each) and each.get("kind") in FILE_KINDS
    ]


def with_facts(info: object, facts: Mapping[str, JsonObject]) -> object:
    """The answer with what is known of its files, by their words, in place of what its sender says of them."""
    if not facts or not isinstance(info, dict):
        return info
    return {name: [_described(each, facts) for each in _entries(value)] or value for name, value in info.items()}


def _described(entry: object, facts: Mapping[str, JsonObject]) -> object:
    word = _word(entry)
    return {"file": AT + word, **facts[word]} if word in facts else entry


def _lists(info: object) -> list[list[object]]:
    return [_entries(value) for value in info.values()] if isinstance(info, dict) else []


def _entries(value: object) -> list[object]:
    """The value of a question for files; an empty list for every other value, without a look at all of it."""
    return value if isinstance(value, list) and value and _word(value[0]) else []


def _word(entry: object) -> str:
    address = entry.get("file") if isinstance(entry, dict) else None
    match = _ADDRESS.fullmatch(address) if isinstance(address, str) else None
    return match[1] if match else ""
