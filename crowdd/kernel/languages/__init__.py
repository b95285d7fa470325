"""The languages of pages and mail: which there are, their catalogues, and sentences that can be said in each of them.

Words are written in English where they belong. Templates mark them as usual; Python marks them with ``_`` and
``ngettext`` of this module, which give a ``Sentence``: English for programs, and for people whatever ``Languages.say``
makes of it. The catalogues are the ``.po`` files beside this file, each read when it is first asked for: nothing has to
be compiled. ``make i18n`` brings them up to date.
"""

from __future__ import annotations

import functools
import gettext
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs

from crowdd.kernel.languages.cldr import NATIVE_NAMES

if TYPE_CHECKING:
    from crowdd.kernel.languages.catalogues import Catalogue

SOURCE: Final = "en"
# The languages of pages and mail, each by its own name.
NAMES: Final[Mapping[str, str]] = {code: NATIVE_NAMES[code] for code in (SOURCE, "es", "fr", "de", "ar")}
FOLDER: Final = Path(__file__).parent


class Sentence(str):
    """English words that remember how they were made."""

    __slots__ = ("many", "number", "one", "values")

    one: str
    many: str | None
    number: int
    values: Mapping[str, Any]


def _(message: str, /, **values: object) -> str:
    """A Sentence; ``%(name)s`` in it stands for a value, and ``%%`` for a percent sign.

    A value that is a Sentence itself is said in the same language.
    """
    return _sentence(message, None, 1, values)


def ngettext(one: str, many: str, count: int, /, **values: object) -> str:
    """A Sentence that depends on a number, which is also the value ``num``."""
    return _sentence(one, many, count, {"num": count, **values})


def joined(*sentences: str) -> str:
    """Sentences one after the other, in the language of who reads them. What an f-string makes of them is English."""
    return functools.reduce(lambda first, then: _("%(first)s %(then)s", first=first, then=then), sentences)


def with_commas(*words: str) -> str:
    """Words in a row, such as names, in the language of who reads them; "" for none."""
    if not words:
        return ""
    return functools.reduce(lambda first, then: _("%(first)s, %(then)s", first=first, then=then), words)


def _sentence(one: str, many: str | None, count: int, values: Mapping[str, object]) -> Sentence:
    made = Sentence((one if many is None or count == 1 else many) % values)
    made.one, made.many, made.number, made.values = one, many, count, values
    return made


class Catalogues(Mapping[str, "Catalogue"]):
    """The catalogues of a folder by their languages."""

    def __init__(self, folder: Path) -> None:
        self._paths = {path.stem: path for path in sorted(folder.glob("*.po"))}
        self._read: dict[str, Catalogue] = {}

    def __getitem__(self, code: str) -> Catalogue:
        if code not in self._read:
            # By name: importing what reads them takes a fifth of the start of a command, which says nothing in German.
            self._read[code] = import_module("crowdd.kernel.languages.catalogues").catalogue(self._paths[code])
        return self._read[code]

    def __contains__(self, code: object) -> bool:
        return code in self._paths

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)

    def missing_translations(self) -> dict[str, int]:
        """How often each catalogue that was read lacked a translation."""
        return {code: catalogue.fallback_counter.count for code, catalogue in self._read.items()}


@attrs.frozen
class Languages:
    """Every language with its catalogue; what a catalogue lacks is English."""

    catalogues: Mapping[str, gettext.NullTranslations] = attrs.field(factory=dict, repr=False)
    _english: gettext.NullTranslations = attrs.field(factory=gettext.NullTranslations, repr=False, init=False)

    @classmethod
    def read(cls, folder: Path = FOLDER) -> Languages:
        """The languages whose catalogues lie in a folder."""
        return cls(Catalogues(folder))

    @property
    def names(self) -> dict[str, str]:
        """The languages that pages can be had in, by their code, each by its own name."""
        return {code: name for code, name in NAMES.items() if code == SOURCE or code in self.catalogues}

    def of(self, locale: str) -> gettext.NullTranslations:
        """The catalogue of a language, English for one that there is not."""
        return self.catalogues.get(locale, self._english)

    def missing_translations(self) -> dict[str, int]:
        """By language: how often this process used English because a translation was missing."""
        return self.catalogues.missing_translations() if isinstance(self.catalogues, Catalogues) else {}

    def say(self, words: str, locale: str) -> str:
        """Words of ours in a language. Plain text is looked up as it is; what the catalogue lacks stays English."""
        translations = self.of(locale)
        if not isinstance(words, Sentence):
            return translations.gettext(words) if words else words
        text = (
            translations.gettext(words.one)
            if words.many is None
            else translations.ngettext(words.one, words.many, words.number)
        )
        values = {name: self.say(v, locale) if isinstance(v, Sentence) else v for name, v in words.values.items()}
        return text % values
