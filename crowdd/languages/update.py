"""Update the catalogues with the messages in the code: ``make i18n``.

Translations are kept, unused messages are removed, and new ones are added without a translation and listed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import DEFAULT_KEYWORDS, extract_from_dir
from babel.messages.pofile import read_po, write_po

import crowdd
from crowdd.languages import FOLDER, NAMES, SOURCE

PACKAGE: Final = FOLDER.parent
METHODS: Final = [("**.py", "python"), ("**/templates/**.html", "jinja2"), ("**/templates/**.txt", "jinja2")]
JINJA: Final = {"**/templates/**.html": {"silent": "false"}, "**/templates/**.txt": {"silent": "false"}}
KEYWORDS: Final = {**DEFAULT_KEYWORDS, "by_number": (1, 2)}
_EPOCH: Final = datetime(2026, 1, 1, tzinfo=UTC)  # a date that changed at every run would be all that changed

Words = str | tuple[str, ...]


def said(package: Path = PACKAGE) -> list[Words]:
    """All words that are marked in the code, sorted; those with a number are pairs of one and many."""
    found = {_key(message) for _, _, message, _, _ in extract_from_dir(str(package), METHODS, JINJA, KEYWORDS)}
    counted = {words[0] for words in found if isinstance(words, tuple)}
    return sorted(found - counted, key=str)


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


def main() -> int:
    """Writes every catalogue; says how many translations each lacks."""
    words = said()
    for code in NAMES:
        if code == SOURCE:
            continue
        path = FOLDER / f"{code}.po"
        made = renewed(path, words)
        with path.open("wb") as lines:
            write_po(lines, made, width=120, no_location=True, sort_output=True)
        lacking = missing(path, words)
        print(f"{path.name}: {len(words)} sentences, {len(lacking)} without a translation")
        for each in lacking:
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
