"""What a manifest or a collection holds: canvases as rows, and references to further documents. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from crowdd.domain.transfer.iiif.iiif_texts import address_of, listed, metadata_of, text_of, type_of
from crowdd.domain.transfer.iiif.pictures import picture_of
from crowdd.errors import InvalidValueError
from crowdd.languages import _
from crowdd.values import Values

_MEDIA = {"Image": "picture", "Sound": "sound", "Video": "video"}
_DOCUMENTS = frozenset({"Manifest", "Collection"})
MAX_DEPTH_OF_BODY = 5  # choices and parts around an image


@attrs.frozen
class NoMedia:
    """A canvas without a picture, sound or video."""

    canvas: str


def require_document(document: object) -> None:
    """Raises InvalidValueError for JSON that is no manifest and no collection."""
    if type_of(document) not in _DOCUMENTS:
        raise InvalidValueError(_("The file is not a IIIF manifest or collection."))


def references(document: Mapping[str, object]) -> Iterator[str]:
    """The addresses of the documents in a collection, in order."""
    if type_of(document) == "Collection":
        for name in ("collections", "manifests", "members", "items"):
            for each in listed(document.get(name)):
                if address_of(each) and type_of(each) in ("", *_DOCUMENTS):
                    yield address_of(each)


def canvases(document: Mapping[str, object]) -> Iterator[Values | NoMedia]:
    """A row for each canvas of a manifest, in order."""
    if type_of(document) != "Manifest":
        return
    title, rights, metadata = text_of(document.get("label")), _rights(document), metadata_of(document)
    for canvas in _canvases(document):
        media = _media(canvas)
        if not media:
            yield NoMedia(address_of(canvas))
            continue
        yield {
            **media,
            "title": title,
            "label": text_of(canvas.get("label")),
            "manifest": address_of(document),
            "canvas": address_of(canvas),
            "rights": _rights(canvas) or rights,
            "metadata": {**metadata, **metadata_of(canvas)},
        }


def _canvases(document: Mapping[str, object]) -> Iterator[Mapping[str, Any]]:
    for sequence in listed(document.get("sequences"))[:1]:  # further ones are other orders of the same
        if isinstance(sequence, Mapping):
            yield from (each for each in listed(sequence.get("canvases")) if isinstance(each, Mapping))
    yield from (each for each in listed(document.get("items")) if type_of(each) == "Canvas")


def _media(canvas: Mapping[str, object]) -> dict[str, str]:
    """What is painted on a canvas: the address of a picture with its service, of a sound or of a video."""
    for body in _bodies(canvas):
        resource = _resource(body)
        name = _MEDIA.get(type_of(resource))
        if name == "picture":
            address, service = picture_of(resource)
            if address:
                return {"picture": address, "service": service}
        elif name and address_of(resource):
            return {name: address_of(resource)}
    return {}


def _bodies(canvas: Mapping[str, object]) -> Iterator[Any]:
    for image in listed(canvas.get("images")):
        if isinstance(image, Mapping):
            yield image.get("resource")
    for page in listed(canvas.get("items")):
        for annotation in listed(page.get("items")) if isinstance(page, Mapping) else ():
            if isinstance(annotation, Mapping) and "painting" in str(annotation.get("motivation")):
                yield from listed(annotation.get("body"))


def _resource(body: object) -> Mapping[str, Any]:
    """The resource itself: the first of a choice, the whole of a part."""
    for _level in range(MAX_DEPTH_OF_BODY):
        if not isinstance(body, Mapping):
            return {}
        kind = type_of(body)
        if kind == "Choice":
            body = body.get("default", next(iter(listed(body.get("items", body.get("item")))), None))
        elif kind == "SpecificResource":
            body = body.get("source", body.get("full"))
        else:
            return body
    return {}


def _rights(document: Mapping[str, object]) -> str:
    """The address of a licence, or what has to be said of the owner of the rights."""
    for name in ("rights", "license"):
        for each in listed(document.get(name)):
            if address_of(each):
                return address_of(each)
    statement = document.get("requiredStatement")
    return text_of(statement.get("value")) if isinstance(statement, Mapping) else text_of(document.get("attribution"))
