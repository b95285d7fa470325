"""Texts of IIIF documents: plain ones, with a language, and by language. Pure."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from crowdd.lazy import lazy

if TYPE_CHECKING:
    import nh3
else:
    nh3 = lazy("nh3")

_MAX_CHARACTERS = 10_000


def text_of(value: object) -> str:
    """A text in the first language that it is given in, without markup; several values are joined by "; "."""
    return "; ".join(filter(None, map(_plain, _values(value))))[:_MAX_CHARACTERS]


def metadata_of(document: Mapping[str, object]) -> dict[str, str]:
    """``metadata`` of a document: labels with their values; values of one label are joined."""
    metadata: dict[str, str] = {}
    pairs = document.get("metadata")
    for pair in pairs if isinstance(pairs, list) else ():
        if isinstance(pair, Mapping) and (name := text_of(pair.get("label"))):
            value = text_of(pair.get("value"))
            metadata[name] = f"{metadata[name]}; {value}" if name in metadata else value
    return metadata


def address_of(value: object) -> str:
    """The id of a resource, or a string that is one."""
    if isinstance(value, Mapping):
        value = value.get("id", value.get("@id"))
    return value if isinstance(value, str) else ""


def type_of(value: object) -> str:
    """The type of a resource without its prefix: Manifest, Collection, Canvas, Image."""
    type_name = value.get("type", value.get("@type")) if isinstance(value, Mapping) else ""
    return type_name.rpartition(":")[2] if isinstance(type_name, str) else ""


def listed(value: object) -> list[Any]:
    """A list, or the one value that stands in its place."""
    return value if isinstance(value, list) else [] if value is None else [value]


def _values(value: object) -> Iterator[str]:
    """The texts of a value: of its first language, where there are several."""
    if isinstance(value, str | int | float):
        yield str(value)
    elif isinstance(value, Mapping):
        if "@value" in value:
            yield from _values(value["@value"])
        elif value:
            yield from _values(next(iter(value.values())))
    elif isinstance(value, list):
        language = next((each.get("@language") for each in value if isinstance(each, Mapping)), None)
        for each in value:
            if not isinstance(each, Mapping) or each.get("@language") == language:
                yield from _values(each) if not isinstance(each, list) else ()


def _plain(text: str) -> str:
    clean = html.unescape(nh3.clean(text, tags=set())) if "<" in text or "&" in text else text
    return " ".join(clean.split())
