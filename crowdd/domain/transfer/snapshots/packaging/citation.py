"""``CITATION.cff`` (Citation File Format 1.2.0)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import orjson

from crowdd.domain.transfer.snapshots.packaging.description import Description

NAME: Final = "CITATION.cff"


def document(of: Description) -> str:
    """The file. Texts are written as JSON has them, which YAML reads."""
    return "\n".join(_lines(of)) + "\n"


def _lines(of: Description) -> Iterator[str]:
    yield "cff-version: 1.2.0"
    yield f"message: {_text('Please cite this data set as below.')}"
    yield "type: dataset"
    yield f"title: {_text(of.name)}"
    yield "authors:"
    for author in of.authors or ({"name": f"Contributors of {of.name}"},):
        yield f"  - name: {_text(author['name'])}"
        if author.get("orcid"):
            yield f"    orcid: {_text('https://orcid.org/' + author['orcid'])}"
    yield f"abstract: {_text(of.about)}"
    yield f"version: {_text(of.version)}"
    yield f"date-released: {of.created[:10]}"
    yield f"url: {_text(of.url)}"
    if of.licence is not None:
        yield f"license: {of.licence.id}"


def _text(text: str) -> str:
    return orjson.dumps(text).decode()
