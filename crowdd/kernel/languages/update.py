"""Bring the catalogues up to date with the sentences in the code, and the names of languages with Babel: ``make i18n``.

Translations are kept, unused messages are removed, and new ones are added without a translation and listed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from babel import Locale
from babel.localedata import locale_identifiers
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import DEFAULT_KEYWORDS, extract_from_dir
from babel.messages.pofile import read_po, write_po

import crowdd
from crowdd import PACKAGE
from crowdd.kernel.languages import FOLDER, NAMES, SOURCE

METHODS: Final = [("**.py", "python"), ("**/templates/**.html", "jinja2"), ("**/templates/**.txt", "jinja2")]
JINJA: Final = {"**/templates/**.html": {"silent": "false"}, "**/templates/**.txt": {"silent": "false"}}
KEYWORDS: Final = {**DEFAULT_KEYWORDS, "by_number": (1, 2)}
CLDR_FILE: Final = FOLDER / "cldr.py"
# The languages that the texts of a project may be in, in the order of their names.
CODES: Final = (
    "ca", "cs", "cy", "da", "de", "et", "en", "es", "eu", "fr", "ga", "gl", "hr", "id", "it", "sw", "lv", "lt", "hu",
    "nl", "nb", "pl", "pt", "pt-BR", "ro", "sq", "sk", "sl", "fi", "sv", "vi", "tr", "el", "bg", "ru", "sr", "uk", "he",
    "ar", "fa", "ur", "hi", "bn", "ta", "th", "ko", "ja", "zh-Hans", "zh-Hant",
)  # fmt: skip
_CLDR: Final = '''\
"""Names and directions of languages, from Babel (CLDR). Written by ``make i18n``: do not edit.

Loading them from Babel at each start would take a second and 50 MB.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

# What each language calls itself.
NATIVE_NAMES: Final[Mapping[str, str]] = {
%s}
# Languages, with their script where it decides, that are written from right to left, and the scripts of such a
# language that are not.
DIRECTIONS: Final[Mapping[str, str]] = {
%s}
'''
_EPOCH: Final = datetime(2026, 1, 1, tzinfo=UTC)  # a date that changed at every run would be all that changed

Words = str | tuple[str, ...]


def marked(package: Path = PACKAGE) -> list[Words]:
    """All words that are marked in the code, sorted; those with a number are pairs of one and many."""
    messages = {_key(message) for _, _, message, _, _ in extract_from_dir(str(package), METHODS, JINJA, KEYWORDS)}
    counted = {words[0] for words in messages if isinstance(words, tuple)}
    return sorted(messages - counted, key=str)


def missing(path: Path, words: list[Words]) -> list[Words]:
    """The words that a catalogue has no (or only a doubtful) translation of."""
    have = _translations(path)
    return [each for each in words if each not in have]


def renewed(path: Path, words: list[Words]) -> Catalog:
    """A catalogue of exactly these words, with the translations that its file has."""
    have = _translations(path)
    made = Catalog(
        locale=path.stem,
        project="crowdd",
        version=crowdd.__version__,
        header_comment=f"# crowdd in {NAMES[path.stem]}",
        creation_date=_EPOCH,
        revision_date=_EPOCH,
        last_translator="crowdd",
        language_team=NAMES[path.stem],
        msgid_bugs_address="crowdd",
        fuzzy=False,
    )
    for each in words:
        made.add(each, have.get(each, "" if isinstance(each, str) else ()))
    return made


def cldr() -> str:
    """The text of the module ``crowdd.kernel.languages.cldr``."""
    return _CLDR % (_entries({code: _native_name(code) for code in CODES}), _entries(_directions()))


def _entries(values: Mapping[str, str]) -> str:
    return "".join(f'    "{key}": "{value}",\n' for key, value in values.items())


def _native_name(code: str) -> str:
    """What a language calls itself (CLDR), with a capital letter as in a list."""
    locale = Locale.parse(code, sep="-")
    name = locale.languages.get(str(locale)) or locale.get_display_name() or code
    return name[:1].upper() + name[1:]


def _directions() -> dict[str, str]:
    locales = [Locale.parse(name) for name in sorted(locale_identifiers())]
    directions = {
        str(locale).replace("_", "-"): locale.text_direction for locale in locales if not _is_regional(locale)
    }
    mixed = {tag.partition("-")[0] for tag, direction in directions.items() if direction == "rtl" and "-" not in tag}
    return {
        tag: direction for tag, direction in directions.items() if direction == "rtl" or tag.partition("-")[0] in mixed
    }


def _is_regional(locale: Locale) -> bool:
    return bool(locale.territory or locale.variant)


def main() -> int:
    """Write the names of languages and every catalogue; print how many translations each lacks."""
    CLDR_FILE.write_text(cldr(), encoding="utf-8")
    words = marked()
    for code in NAMES:
        if code == SOURCE:
            continue
        path = FOLDER / f"{code}.po"
        made = renewed(path, words)
        with path.open("wb") as lines:
            write_po(lines, made, width=120, no_location=True, sort_output=True)
        untranslated = missing(path, words)
        print(f"{path.name}: {len(words)} sentences, {len(untranslated)} without a translation")
        for each in untranslated:
            print(f"    {each!r}")
    return 0


def _translations(path: Path) -> dict[Words, Any]:
    if not path.exists():
        return {}
    with path.open("rb") as lines:
        return {_key(message.id): message.string for message in _messages(read_po(lines, locale=path.stem))}


def _messages(catalog: Catalog) -> Iterator[Message]:
    """Those with a translation that is believed."""
    for message in catalog:
        strings = message.string if isinstance(message.string, list | tuple) else (message.string,)
        if message.id and all(strings) and not message.fuzzy:
            yield message


def _key(words: Any) -> Words:
    return words if isinstance(words, str) else tuple(words)


if __name__ == "__main__":
    sys.exit(main())
