"""A IIIF manifest or collection as rows: a row for each canvas, with its texts and the address of its picture. Pure.

Further documents of a collection are named, not fetched. The image service is not asked for the size of a picture: a
manifest says which level of the Image API it has, and level 1 scales pictures.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import orjson

from crowdd.features.imports.prepared.rows_file import RowsFile
from crowdd.kernel import exact_json
from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import _
from crowdd.kernel.lazy import lazy
from crowdd.kernel.values import Values

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


def list_values(value: object) -> list[Any]:
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


WEB_SIZE = 1600  # pixels of the longer side
_LEVEL = re.compile(r"level([0-2])\b")
_VERSION = re.compile(r"image(?:-api)?/(?:api/)?([1-3])(?:\.\d)?/")


def picture_of(resource: Mapping[str, object]) -> tuple[str, str]:
    """The address of an image resource at web size, and that of its service's description; "" without a service."""
    plain = address_of(resource)
    for service in list_values(resource.get("service")):
        if isinstance(service, Mapping) and (version := _version(service)):
            base = address_of(service).removesuffix("/info.json").rstrip("/")
            if base:
                size = _size(service, resource, version)
                quality = "native" if version == 1 else "default"
                return f"{base}/full/{size}/0/{quality}.jpg" if size else plain, f"{base}/info.json"
    return plain, ""


def _version(service: Mapping[str, object]) -> int:
    """The version of the Image API; 0 for another service."""
    kind = service.get("type", service.get("@type"))
    if isinstance(kind, str) and re.fullmatch("ImageService[1-3]", kind):
        return int(kind[-1])
    profile_text = " ".join(
        each for name in ("@context", "profile") for each in list_values(service.get(name)) if isinstance(each, str)
    )
    match = _VERSION.search(profile_text)
    return int(match[1]) if match else 0


def _size(service: Mapping[str, object], resource: Mapping[str, object], version: int) -> str:
    """The size to ask for; "" where only sizes that nobody has named could be asked for."""
    width, height = (_number(service, name) or _number(resource, name) for name in ("width", "height"))
    whole = "max" if version == 3 else "full"
    level = _level(service)
    if level == 0:
        return _named_size(service, version)
    if width and height and max(width, height) <= WEB_SIZE:
        return whole
    if level == 1:
        return f",{WEB_SIZE}" if height > width else f"{WEB_SIZE},"
    return f"!{WEB_SIZE},{WEB_SIZE}"


def _named_size(service: Mapping[str, object], version: int) -> str:
    sizes = [
        (_number(each, "width"), _number(each, "height"))
        for each in list_values(service.get("sizes"))
        if isinstance(each, Mapping)
    ]
    good = [(w, h) for w, h in sizes if w and h and max(w, h) <= WEB_SIZE]
    if not good:
        return ""
    width, height = max(good)
    return f"{width},{height}" if version == 3 else f"{width},"


def _level(service: Mapping[str, object]) -> int:
    for each in list_values(service.get("profile")):
        match = _LEVEL.search(each) if isinstance(each, str) else None
        if match:
            return int(match[1])
    return 0


def _number(value: Mapping[str, object], name: str) -> int:
    number = value.get(name)
    return number if isinstance(number, int) and 0 < number < 2**31 else 0


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
            for each in list_values(document.get(name)):
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
    for sequence in list_values(document.get("sequences"))[:1]:  # further ones are other orders of the same
        if isinstance(sequence, Mapping):
            yield from (each for each in list_values(sequence.get("canvases")) if isinstance(each, Mapping))
    yield from (each for each in list_values(document.get("items")) if type_of(each) == "Canvas")


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
    for image in list_values(canvas.get("images")):
        if isinstance(image, Mapping):
            yield image.get("resource")
    for page in list_values(canvas.get("items")):
        for annotation in list_values(page.get("items")) if isinstance(page, Mapping) else ():
            if isinstance(annotation, Mapping) and "painting" in str(annotation.get("motivation")):
                yield from list_values(annotation.get("body"))


def _resource(body: object) -> Mapping[str, Any]:
    """The resource itself: the first of a choice, the whole of a part."""
    for _level in range(MAX_DEPTH_OF_BODY):
        if not isinstance(body, Mapping):
            return {}
        kind = type_of(body)
        if kind == "Choice":
            body = body.get("default", next(iter(list_values(body.get("items", body.get("item")))), None))
        elif kind == "SpecificResource":
            body = body.get("source", body.get("full"))
        else:
            return body
    return {}


def _rights(document: Mapping[str, object]) -> str:
    """The address of a licence, or what has to be said of the owner of the rights."""
    for name in ("rights", "license"):
        for each in list_values(document.get(name)):
            if address_of(each):
                return address_of(each)
    statement = document.get("requiredStatement")
    return text_of(statement.get("value")) if isinstance(statement, Mapping) else text_of(document.get("attribution"))


MAX_MANIFEST_BYTES = 20_000_000  # of one document
MAX_ROWS_BYTES = 100_000_000  # of its canvases: each has the metadata of the manifest
MAX_REFERENCES = 10_000


def convert_manifest(source: Path, target: Path, about: dict[str, object], _sheet: str) -> None:
    """Writes the canvases of a manifest, or the references of a collection (``references`` of the first line).

    Raises InvalidValueError for what is neither.
    """
    if source.stat().st_size > MAX_MANIFEST_BYTES:
        raise InvalidValueError(_("A IIIF document has at most %(max)s bytes.", max=f"{MAX_MANIFEST_BYTES:,}"))
    try:
        document = orjson.loads(source.read_bytes().removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError as error:
        raise InvalidValueError(_("It is not JSON: %(reason)s.", reason=exact_json.reason(error))) from None
    require_document(document)
    named = list(dict.fromkeys(islice(references(document), MAX_REFERENCES)))
    out = RowsFile(target, {**about, "references": named}, MAX_ROWS_BYTES)
    for row in canvases(document):
        if isinstance(row, NoMedia):
            out.refuse(_("The canvas has no picture, sound or video."), row.canvas.encode("utf-8", "replace"))
        else:
            out.add(row)
    out.close()
