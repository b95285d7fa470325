"""Addresses of pictures that people write into records: an upload of this server, or a picture of another site.

A browser asks for a picture with its owner's cookie, so no other address of this server may stand where a picture does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import _
from crowdd.kinds.kind import Kind
from crowdd.kinds.types import PICTURE_ADDRESS, UPLOAD_PATH

FILES_AT: Final = "/uploads/gallery/"
"""Where the files of templates are, which the gallery shows."""
_UPLOAD: Final = re.compile(UPLOAD_PATH)
_PICTURE: Final = re.compile(PICTURE_ADDRESS)


def is_upload(address: str) -> bool:
    """Whether an address is ``/uploads/<container>/<name>``, without query or fragment."""
    return _UPLOAD.fullmatch(address) is not None


def upload_path(address: object, base_url: str) -> str:
    """The path of an upload of this server, "" for any other address; ``base_url`` may stand in front of it."""
    if not isinstance(address, str):
        return ""
    path = address.removeprefix(base_url) if base_url and address.startswith(f"{base_url}/") else address
    return path if is_upload(path) else ""


def is_picture(address: object, base_url: str) -> bool:
    """Whether an address is an upload, here or elsewhere, or ``https`` on another host than ours."""
    if not isinstance(address, str) or not _PICTURE.fullmatch(address):
        return False
    try:
        parts, ours = urlsplit(address), urlsplit(base_url).hostname
    except ValueError:
        return False
    return (is_upload(parts.path) and not (parts.query or parts.fragment)) or parts.hostname != ours


def check(kind: Kind, values: Mapping[str, object], stored: Mapping[str, object], base_url: str) -> None:
    """Raises InvalidValueError for the address of a picture that is neither; one that is stored already stays."""
    for name in kind.pictures:
        address, before = _value(values, name), _value(stored, name)
        if address in (None, "", before) or is_picture(address, base_url):
            continue
        words = _("`%(name)s` must be /uploads/<container>/<name> or an https address on another site.", name=name)
        raise InvalidValueError(words, hint="Upload the picture, or give its full https address.")


def _value(values: Mapping[str, object], name: str) -> object:
    """The value of an attribute, or of a key of one (``info.thumbnail_url``)."""
    attribute, _dot, key = name.partition(".")
    value = values.get(attribute)
    return value.get(key) if key and isinstance(value, Mapping) else None if key else value
