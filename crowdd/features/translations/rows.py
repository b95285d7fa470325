"""Rows of translations, and what is shown of them."""

from __future__ import annotations

from typing import TypedDict

from crowdd.kernel.values import JsonObject
from crowdd.kinds.translations import State, Translated


class SourceProject(TypedDict):
    """The texts of a project as its owner wrote them, and what is stored of its translation into one language.

    ``version`` is 0 and ``strings`` is empty where there is none.
    """

    name: str
    short_name: str
    description: str
    long_description: str
    info: JsonObject
    version: int
    strings: dict[str, Translated]


class StoredTranslation(TypedDict):
    """A translation into a language."""

    language: str
    version: int
    strings: dict[str, Translated]


class LanguageProgress(TypedDict):
    """How far a translation is: how many texts of the project are in each state."""

    language: str
    version: int
    missing: int
    outdated: int
    translated: int


class TranslatedString(TypedDict):
    """A text beside its translation, which is "" if there is none. ``digest`` is that of the source."""

    key: str
    source: str
    digest: str
    text: str
    state: State


class Translation(TypedDict):
    """A translation as a file: what programs read and send back."""

    language: str
    source_language: str
    version: int
    strings: list[TranslatedString]
