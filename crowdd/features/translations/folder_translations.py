"""Translations of a project in its folder (``translations.json``): by language and key, ``text`` and ``source``.

``source`` is the digest of the text that a translation was made from.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import orjson

from crowdd.database.access import Database
from crowdd.features.translations import statements
from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import NAMES
from crowdd.kernel.values import Values
from crowdd.kinds.translations import ATTRIBUTES, DIGEST, MAX_BYTES, NAME_KEY, Translated

TRANSLATIONS_FILE: Final = "translations.json"
FolderTranslations = Mapping[str, dict[str, Translated]]


async def stored(db: Database, project_id: int) -> dict[str, dict[str, Translated]]:
    """The translations of a project by language."""
    listed = await statements.list_translations(db, project_id)
    return {each["language"]: each["strings"] for each in listed if each["strings"]}


async def restore(db: Database, project_id: int, translations: FolderTranslations) -> None:
    """Gives a project these translations; others in the same languages stay. A name that is in use is left out."""
    for language, brought in translations.items():
        held = await statements.hold_translation(db, project_id, language)
        if held is None:
            continue
        name = brought.get(NAME_KEY)
        taken = name is not None and await statements.is_name_taken(db, project_id, name["text"])
        new = {key: each for key, each in brought.items() if not (taken and key == NAME_KEY)}
        strings = {**held["strings"], **new}
        if strings != held["strings"] and len(orjson.dumps(strings)) <= MAX_BYTES:
            await statements.write_translation(db, project_id, language, strings, held["version"] + 1)


def checked(value: Values, place: str) -> dict[str, dict[str, Translated]]:
    """The content of the file, ``place``. Raises InvalidValueError."""
    for language, strings in value.items():
        if language not in NAMES or not isinstance(strings, dict):
            raise InvalidValueError(f"{place}: must have an object for each of some of {', '.join(NAMES)}.")
        if len(orjson.dumps(strings)) > MAX_BYTES:
            raise InvalidValueError(f"{place}, {language}: may have at most {MAX_BYTES:,} bytes.")
        for key, each in strings.items():
            if not _is_translated(each):
                raise InvalidValueError(f"{place}, {language}, {key[:100]}: must have `text` and `source`, a digest.")
    return value


def _is_translated(value: object) -> bool:
    if not isinstance(value, dict) or value.keys() != {"text", "source"}:
        return False
    text, source = value["text"], value["source"]
    fits = isinstance(text, str) and 0 < len(text) <= max(ATTRIBUTES.values()) and "\0" not in text
    return fits and isinstance(source, str) and DIGEST.fullmatch(source) is not None
