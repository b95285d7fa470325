"""``ro-crate-metadata.json`` (RO-Crate 1.1)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from crowdd.domain.transfer.snapshots.columns import media_type
from crowdd.domain.transfer.snapshots.packaging.description import Description
from crowdd.values import Values

NAME: Final = "ro-crate-metadata.json"
_DESCRIPTOR: Final[Values] = {
    "@id": NAME,
    "@type": "CreativeWork",
    "about": {"@id": "./"},
    "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
}


def document(of: Description) -> Values:
    """The crate as a flat list of entities."""
    return {"@context": "https://w3id.org/ro/crate/1.1/context", "@graph": [_DESCRIPTOR, *_entities(of)]}


def _entities(of: Description) -> Iterator[Values]:
    licence = of.licence
    yield {
        "@id": "./",
        "@type": "Dataset",
        "name": of.name,
        "description": of.about,
        "datePublished": of.created,
        "version": of.version,
        "identifier": of.url,
        "url": of.url,
        "creditText": of.citation,
        "license": {"@id": "#no-licence" if licence is None else licence.url},
        "author": [{"@id": _person(number, each.get("orcid"))} for number, each in enumerate(of.authors, 1)],
        "hasPart": [{"@id": each.name} for each in of.files],
    }
    for each in of.files:
        yield {
            "@id": each.name,
            "@type": "File",
            "name": each.name,
            "encodingFormat": media_type(each.name),
            "contentSize": str(each.bytes),
            "sha256": each.sha256,
        }
    for number, author in enumerate(of.authors, 1):
        yield {"@id": _person(number, author.get("orcid")), "@type": "Person", "name": author["name"]}
    if licence is None:
        yield {"@id": "#no-licence", "@type": "CreativeWork", "name": "No licence", "description": "Ask the owners."}
    else:
        yield {"@id": licence.url, "@type": "CreativeWork", "name": licence.name, "identifier": licence.id}
    yield {"@id": "#crowdd", "@type": "SoftwareApplication", "name": "crowdd", "version": of.software}
    yield {
        "@id": "#snapshot",
        "@type": "CreateAction",
        "endTime": of.created,
        "instrument": {"@id": "#crowdd"},
        "result": {"@id": "./"},
    }


def _person(number: int, orcid: str | None) -> str:
    return f"https://orcid.org/{orcid}" if orcid else f"#author-{number}"
