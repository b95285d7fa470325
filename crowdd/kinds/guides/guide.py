"""What a guide is, declared once: its key in ``info``, its size, and the checks of its documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Final

import attrs
import orjson

from crowdd.kernel.languages import _
from crowdd.kernel.values import JsonObject as Schema
from crowdd.kinds.questions.format import DRAFT, NAME
from crowdd.kinds.questions.options import (
    TEXT,
    Option,
    Problem,
    Problems,
    at,
    check_object,
    check_text,
    needed,
    object_schema,
    text_schema,
)

VERSION: Final = 1
"""The version of the format."""
MAX_WORDS: Final = 10_000  # characters of a text in Markdown
_MAX_PROBLEMS: Final = 100
_MAX_PICTURE: Final = 2000


@attrs.frozen
class Guide:
    """A guide. ``check(document)`` yields the problems of a document that is not too large."""

    name: str
    max_bytes: int
    check: Callable[[object], Problems]
    schema: Callable[[], Schema]

    @property
    def version_key(self) -> str:
        """The key of ``info`` with the number of the document."""
        return f"{self.name}_version"

    def validate(self, document: object) -> list[Problem]:
        """The first problems in the order of the document, [] if it can be shown."""
        try:
            size = len(orjson.dumps(document))
        except (TypeError, ValueError, RecursionError):
            return [Problem("", _("This is not JSON."))]
        if size > self.max_bytes:
            sentence = _("This may have at most %(max)s bytes (got %(size)s).", max=self.max_bytes, size=size)
            return [Problem("", sentence)]
        return list(islice(self.check(document), _MAX_PROBLEMS))


def _check_markdown(value: object, path: str) -> Problems:
    return check_text(value, path, MAX_WORDS)


MARKDOWN: Final = Option(_check_markdown, {"$ref": "#/$defs/markdown"})


def _check_upload(value: Any, path: str) -> Problems:
    """Pictures are uploads or files of this site. Another site would learn who reads, and ``..`` may lead elsewhere."""
    fine = isinstance(value, str) and value.startswith(("/uploads/", "/static/")) and len(value) <= _MAX_PICTURE
    if not fine or ".." in value or any(character <= " " for character in value):
        yield Problem(path, _("This must be an uploaded picture, such as /uploads/…"))


UPLOAD: Final = Option(
    _check_upload,
    {"type": "string", "maxLength": _MAX_PICTURE, "pattern": "^/(uploads|static)/(?!.*\\.\\.)[^\\s]*$"},
    needed=True,
)
PICTURE_PARTS: Final = {"url": UPLOAD, "description": TEXT, "credit": TEXT}


def _check_picture(value: object, path: str) -> Problems:
    return check_object(value, path, PICTURE_PARTS)


PICTURE: Final = Option(_check_picture, {"$ref": "#/$defs/picture"})


@attrs.define
class Names:
    """Names of one sort in a document, each once."""

    known: set[str] = attrs.field(factory=set)

    def option(self) -> Option:
        """A name that is not known yet, and is then."""
        return Option(self._check, {"$ref": "#/$defs/name"}, needed=True)

    def reference(self) -> Option:
        """A name that is known."""
        return Option(self._check_known, {"$ref": "#/$defs/name"})

    def _check(self, value: object, path: str) -> Problems:
        if not isinstance(value, str) or not NAME.fullmatch(value):
            yield Problem(path, _("A name has 1 to 40 lower-case letters, digits and _, and begins with a letter."))
        elif value in self.known:
            yield Problem(path, _("The name “%(name)s” is used twice.", name=value))
        else:
            self.known.add(value)

    def _check_known(self, value: object, path: str) -> Problems:
        if not isinstance(value, str) or value not in self.known:
            yield Problem(path, _("“%(name)s” is not defined in this document.", name=str(value)[:100]))


def list_of(part: Callable[[Any, str], Problems], schema: Schema, minimum: int, maximum: int) -> Option:
    """A list of ``minimum`` to ``maximum`` entries."""

    def check(value: object, path: str) -> Problems:
        if not isinstance(value, list) or not minimum <= len(value) <= maximum:
            yield Problem(path, _("List %(min)s to %(max)s entries.", min=minimum, max=maximum))
            return
        for nth, one in enumerate(value):
            yield from part(one, at(path, nth))

    return Option(check, {"type": "array", "minItems": minimum, "maxItems": maximum, "items": schema})


def _check_version(value: object, path: str) -> Iterator[Problem]:
    if value != VERSION or isinstance(value, bool):
        yield Problem(path, _("The version of the format is %(version)s.", version=VERSION))


FORMAT: Final = needed(Option(_check_version, {"const": VERSION}))


def schema_of(title: str, parts: dict[str, Option]) -> Schema:
    """The JSON Schema of a document with these parts."""
    return {
        "$schema": DRAFT,
        "title": title,
        **object_schema(parts),
        "$defs": {
            "name": {"type": "string", "pattern": f"^{NAME.pattern}$"},
            "text": text_schema(),
            "markdown": text_schema(MAX_WORDS),
            "picture": object_schema(PICTURE_PARTS),
        },
    }
