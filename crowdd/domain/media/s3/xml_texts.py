"""The texts in a document of the service, by the names of their elements."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from xml.parsers import expat

_MAX_TEXT = 5000


def texts_of(content: bytes) -> Mapping[str, Sequence[str]]:
    """The texts of elements without children, in their order. An empty mapping for what is no XML, or has entities.

    ``Contents.Key`` is the name of ``<Contents><Key>``: an element with the one around it.
    """
    texts, path, text = defaultdict[str, list[str]](list), [""], [""]
    parser = expat.ParserCreate()

    def begin(name: str, _attributes: object) -> None:
        path.append(name.rpartition(":")[2])
        text[0] = ""

    def data(some: str) -> None:
        text[0] = (text[0] + some)[:_MAX_TEXT]

    def end(_name: str) -> None:
        name = path.pop()
        texts[f"{path[-1]}.{name}"].append(text[0])
        text[0] = ""

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = begin, end, data
    parser.EntityDeclHandler = _refuse
    try:
        parser.Parse(content, True)
    except (expat.ExpatError, ValueError):
        return {}
    return texts


def _refuse(*_declaration: object) -> None:
    raise ValueError("entity")
