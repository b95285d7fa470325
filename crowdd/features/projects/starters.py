"""Presenters to begin with: whole documents of an owner, in which a few words can be changed without reading them.

What is asked stands in the first lines of a starter as JSON: ``question``, ``unsure`` (words for "I can't tell", "" for
none), for buttons ``answers``, and which columns of a task are shown (COLUMNS). A source that has such lines, however
changed otherwise, can be asked for them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

import orjson

from crowdd import PACKAGE
from crowdd.kinds.answers import validate

Asked = dict[str, Any]
NAMES: Final = ("picture", "text")
ANSWER_KEY: Final = "answer"  # under which presenters made of a starter store what was answered
# What front ends and people of the field call them.
_ALIASES: Final[Mapping[str, str]] = {"image": "picture", "basic": "text"}
_OPENING, _CLOSING = '<script type="application/json" id="asked">', "</script>"
_SOURCES: Final = {
    name: (PACKAGE / f"features/projects/starter_{name}.html").read_text(encoding="utf-8") for name in NAMES
}
COLUMNS: Final = ("picture", "text", "caption")
"""Words that name a column of the tasks; "" leaves it to the presenter, or shows none."""
# What starters were before, without the words. The first ones did not name their columns: they showed whatever text of
# a task came first. The last ones did not enlarge their pictures.
_BEFORE: Final[Mapping[str, str]] = {
    "6949b61fb47d23e1c11265cf93e5e4c5ebde0d9156d145ea5dd2f242fd469f73": "picture",
    "b99f6522fc45035670bf308b8ec992b6d94e2210d6d228a97f1bf19a9d456af0": "picture",
    "de4a58483e04507260bd67094529e5877e9b9a9a1107b8ba975e79c761364a9e": "picture",
    "338fa72c1dd320a4c2ea4a68d51e08129f98e1530a76928c22eef6e5fbf8ed56": "picture",
    "3f87636e73bac5100c1ab21d4029d3d4fd33aeacbe60838984ecb5a77c8cc893": "text",
    "d41c418977a212ed64bc490f070eb31222d0fe5bb607a5c872e01ba28273cdca": "text",
    "d641095601de4a7835355c64f13a3b51dc96f9beff70a3f48118c5cad1fb3146": "text",
    "ff4e367066b31bb89fb0d824a2787b7d696f2d0d2b2a38c70d5dedf79f02dd99": "text",
    "5878813c795d27c19ba6f4c0d74fc95426f8135a1ef8e26adfc3c9f8d6547813": "text",
}
_SAMPLES: Final[Mapping[str, list[dict[str, str]]]] = {
    "picture": [{"picture": f"/static/img/sample-{number}.svg"} for number in (1, 2, 3)],
    "text": [
        {"text": "Wind NNW, 4. Heavy swell from the west all night."},
        {"text": "Sighted two sails at noon, bearing south."},
        {"text": "Barometer falling since the morning watch."},
    ],
}


def source(name: str) -> str | None:
    """The document of a starter, None when there is none of that name."""
    return _SOURCES.get(_ALIASES.get(name, name))


def asked(document: str) -> Asked | None:
    """What a document asks; None when it is not made of a starter."""
    block = _block(document)
    try:
        texts = orjson.loads(block[1]) if block else None
    except orjson.JSONDecodeError:
        return None
    return texts if _understood(texts) else None


def _block(document: str) -> tuple[str, str, str] | None:
    """The document up to the texts, the texts, and what follows; None without texts."""
    before, opening, rest = document.partition(_OPENING)
    texts, closing, after = rest.partition(_CLOSING)
    return (before + opening, texts, closing + after) if closing else None


def _understood(value: object) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("question"), str):
        return False
    answers = value.get("answers", [])
    texts = isinstance(answers, list) and all(isinstance(answer, str) for answer in answers)
    return texts and all(isinstance(value.get(name, ""), str) for name in ("unsure", *COLUMNS))


def answer_fields(document: str) -> list[dict[str, Any]] | None:
    """The answer fields of what a document asks (docs/projects/answer-fields.md); None when it asks nothing."""
    texts = asked(document)
    if texts is None:
        return None
    unsure = {"unsure": None} if texts.get("unsure") else {}
    field = {"name": ANSWER_KEY, "at": f"/{ANSWER_KEY}", "type": "label" if "answers" in texts else "text"}
    choices = [*dict.fromkeys(texts.get("answers", [])), *unsure.values()]
    declared = [field | ({"choices": choices} if "answers" in texts else {}) | unsure]
    return declared if not validate(declared) else [field | unsure]


def current(document: str) -> str:
    """The document, or where it is a starter of before with words of its owner, what that starter is now."""
    texts, block = asked(document), _block(document)
    rest = (block[0] + block[2]).replace("\r\n", "\n").strip() if texts is not None and block else ""
    name = _BEFORE.get(hashlib.sha256(rest.encode("utf-8", "surrogatepass")).hexdigest())
    return begun(name, texts or {}) or document if name else document


def asking(document: str, texts: Asked) -> str:
    """The document with other texts; whatever they hold stays text."""
    block = _block(document)
    words = orjson.dumps(texts).decode().replace("<", "\\u003c")
    return block[0] + words + block[2] if block else document


def begun(name: str, words: Asked) -> str | None:
    """A starter that asks these words, as far as it has a place for them; None when there is none of that name."""
    document = source(name)
    texts = asked(document) if document else None
    if document is None or texts is None or not words:
        return document
    return asking(document, texts | {word: value for word, value in words.items() if word in texts})


def merged(texts: Asked, shown: Asked, typed: Asked) -> Asked:
    """What a document with these ``texts`` shall ask: ``typed`` where it differs from what the fields had (``shown``).

    The same words stand in the fields and in the document, and people may change either.
    """
    return texts | {word: value for word, value in typed.items() if value != shown.get(word)}


def samples(document: str) -> list[dict[str, str]]:
    """What a task may look like for a document, while the project has none."""
    texts = asked(document)
    return _SAMPLES["picture" if texts is not None and "answers" in texts else "text"]
