"""The texts of a project in other languages: which there are, what is missing or outdated, and how one is shown.

A text has a key that stays when others are added, moved or removed: it is made of the names of the document's parts and
of the values of choices, such as ``questions/animal/choices/duck/text``. A translation remembers the digest of the text
that it was made from. Once that text is another one, the translation is outdated, and readers get the source.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from typing import Final, Literal, TypedDict

import attrs

from crowdd.kernel.languages.content_languages import is_tag, language_of
from crowdd.kernel.values import Json, JsonObject, Values
from crowdd.kinds.guides import GUIDES
from crowdd.kinds.guides.guide import MAX_WORDS
from crowdd.kinds.questions.format import QUESTIONS
from crowdd.kinds.questions.options import MAX_TEXT, at
from crowdd.kinds.questions.text_languages import TEXTS, text_in

ATTRIBUTES: Final[Mapping[str, int]] = {"name": 255, "description": 255, "long_description": 50_000}
"""The attributes of a project that are texts, with how many characters they may have."""
MAX_BYTES: Final = 1_000_000
"""Of all translations of a project into one language."""
NAME_KEY: Final = "project/name"
DIGEST: Final = re.compile("[0-9a-f]{16}")
"""What a translation remembers of the text that it was made from."""
_DOCUMENTS: Final = (QUESTIONS, *(guide.name for guide in GUIDES))
_TEXTS: Final = TEXTS | {"keywords", "credit", "right", "wrong"}
_NO_TEXTS: Final = frozenset({"tasks", "answers", "show_if", "suggest", "source"})  # hold what owners like
_NAMES: Final = ("name", "value", "question")  # the first of these names an element of a list
State = Literal["missing", "outdated", "translated"]


class Translated(TypedDict):
    """A translation, and the digest of the text that it was made from."""

    text: str
    source: str


Translations = Mapping[str, Translated]
"""By the keys of the texts."""


@attrs.frozen
class SourceText:
    """A text of a project; ``given`` is what its document itself says in the other language, "" for nothing."""

    key: str
    text: str
    maximum: int
    given: str

    @property
    def digest(self) -> str:
        """What a translation remembers of it."""
        return digest_of(self.text)

    def state(self, translations: Translations) -> State:
        """What has become of it in the other language."""
        if (stored := translations.get(self.key)) is not None:
            return "translated" if stored["source"] == self.digest else "outdated"
        return "translated" if self.given else "missing"

    def shown(self, translations: Translations) -> str:
        """What there is in the other language, be it outdated."""
        stored = translations.get(self.key)
        return self.given if stored is None else stored["text"]


def digest_of(text: str) -> str:
    """Sixteen hexadecimal digits that differ for different texts."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def same_language(one: str, other: str) -> bool:
    """Whether two language tags name one language, be it of other countries: de and de-AT."""
    return one.partition("-")[0] == other.partition("-")[0]


def source_texts(project: Mapping[str, object], language: str) -> list[SourceText]:
    """The texts of a project (a row with ``info``) that can be translated, in their order."""
    info = project["info"]
    assert isinstance(info, dict)
    source, texts = language_of(info), list[SourceText]()

    def visit(key: str, text: Json, maximum: int) -> Json:
        theirs = str(text.get(language, "")) if isinstance(text, dict) else ""
        texts.append(SourceText(key, _original(text, source), maximum, theirs))
        return text

    for name, maximum in ATTRIBUTES.items():
        text = project[name]
        if isinstance(text, str) and text.strip():
            texts.append(SourceText(f"project/{name}", text, maximum, ""))
    for name in _DOCUMENTS:
        if info.get(name) is not None:
            _Walk(name, visit).part(info[name], name)
    return texts


def translated(project: Values, translations: Translations | None, language: str) -> Values:
    """The project with its texts in a language, as far as they are translated and not outdated.

    In documents, a text becomes one by language, so that each reader is told in which it is. ``translated`` has the
    languages of attributes that are not in that of the project.
    """
    source = language_of(project["info"])
    if not translations or same_language(source, language):
        return project

    def known(key: str, text: str) -> str | None:
        stored = translations.get(key)
        return stored["text"] if stored is not None and stored["source"] == digest_of(text) else None

    def visit(key: str, text: Json, maximum: int) -> Json:
        words = known(key, _original(text, source))
        if words is None:
            return text
        before: JsonObject = text if isinstance(text, dict) else {source: text} if source else {}
        return {**before, language: words}

    changed: Values = {}
    for name in ATTRIBUTES:
        if (words := known(f"project/{name}", project[name])) is not None:
            changed[name] = words
    info = dict(project["info"])
    for name in _DOCUMENTS:
        if info.get(name) is not None and any(key.startswith(f"{name}/") for key in translations):
            info[name] = _Walk(name, visit).part(info[name], name)
    return {**project, **changed, "info": info, "translated": dict.fromkeys(changed, language)}


def _original(text: Json, source: str) -> str:
    """What the owner wrote in the language of the project, or in the one that comes next."""
    if not isinstance(text, dict):
        return str(text)
    return str(text[source]) if source in text else text_in({tag: str(words) for tag, words in text.items()}, source)


@attrs.frozen
class _Walk:
    """Visits each text of a document, and makes the document of what ``visit`` gives for them."""

    _document: str
    _visit: Callable[[str, Json, int], Json]

    def part(self, value: Json, key: str) -> Json:
        """A part of the document, with all texts in it."""
        if isinstance(value, list):
            return [self.part(each, self._element(each, nth, key)) for nth, each in enumerate(value)]
        if isinstance(value, dict):
            return {name: self._property(name, each, key) for name, each in value.items()}
        return value

    def _property(self, name: str, value: Json, key: str) -> Json:
        if name in _NO_TEXTS:
            return value
        here = at(key, name)
        if name in _TEXTS and _is_text(value):
            maximum = MAX_WORDS if name == "text" and self._document != QUESTIONS else MAX_TEXT
            return self._visit(here, value, maximum)
        return self.part(value, here)

    def _element(self, value: Json, nth: int, key: str) -> str:
        named = (value[name] for name in _NAMES if isinstance(value, dict) and isinstance(value.get(name), str))
        word = next(iter(named), None)
        if self._document == QUESTIONS and isinstance(value, dict) and "name" in value:
            return at(QUESTIONS, str(value["name"]))  # names are unique there, in whatever step they are
        return at(key, nth if word is None else str(word))


def _is_text(value: Json) -> bool:
    if isinstance(value, dict):
        return bool(value) and all(is_tag(tag) and isinstance(text, str) for tag, text in value.items())
    return isinstance(value, str) and bool(value.strip())


def count_states(texts: list[SourceText], translations: Translations) -> dict[State, int]:
    """How many texts are in each state."""
    counts: dict[State, int] = {"missing": 0, "outdated": 0, "translated": 0}
    for text in texts:
        counts[text.state(translations)] += 1
    return counts
