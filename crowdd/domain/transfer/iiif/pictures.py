"""The address of a picture at a size for the web, by what is said of its image service. Pure.

The service is not asked: a manifest says which level of the Image API it has, and level 1 scales pictures.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from crowdd.domain.transfer.iiif.iiif_texts import address_of, listed

WEB_SIZE = 1600  # pixels of the longer side
_LEVEL = re.compile(r"level([0-2])\b")
_VERSION = re.compile(r"image(?:-api)?/(?:api/)?([1-3])(?:\.\d)?/")


def picture_of(resource: Mapping[str, object]) -> tuple[str, str]:
    """The address of an image resource at web size, and that of its service's description; "" without a service."""
    plain = address_of(resource)
    for service in listed(resource.get("service")):
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
        each for name in ("@context", "profile") for each in listed(service.get(name)) if isinstance(each, str)
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
        for each in listed(service.get("sizes"))
        if isinstance(each, Mapping)
    ]
    good = [(w, h) for w, h in sizes if w and h and max(w, h) <= WEB_SIZE]
    if not good:
        return ""
    width, height = max(good)
    return f"{width},{height}" if version == 3 else f"{width},"


def _level(service: Mapping[str, object]) -> int:
    for each in listed(service.get("profile")):
        match = _LEVEL.search(each) if isinstance(each, str) else None
        if match:
            return int(match[1])
    return 0


def _number(value: Mapping[str, object], name: str) -> int:
    number = value.get(name)
    return number if isinstance(number, int) and 0 < number < 2**31 else 0
