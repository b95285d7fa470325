"""A file of COCO as rows: one for each picture, with its marks in columns that questions can suggest."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import orjson

from crowdd.features.exports.annotations.pictures import Coco
from crowdd.features.imports.prepared.rows_file import RowsFile
from crowdd.kernel import exact_json
from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import _

MAX_BYTES: Final = 100_000_000


def convert(source: Path, target: Path, about: dict[str, object], _sheet: str) -> None:
    """Writes the pictures with their marks. Raises InvalidValueError."""
    if source.stat().st_size > MAX_BYTES:
        raise InvalidValueError(_("A file of COCO has at most %(max)s bytes.", max=f"{MAX_BYTES:,}"))
    try:
        document = orjson.loads(source.read_bytes().removeprefix(b"\xef\xbb\xbf"))
    except orjson.JSONDecodeError as error:
        raise InvalidValueError(_("It is not JSON: %(reason)s.", reason=exact_json.reason(error))) from None
    if not isinstance(document, dict) or not isinstance(document.get("images"), list):
        raise InvalidValueError(_("The file of COCO has no list of images."))
    out = RowsFile(target, about)
    for row in Coco().read(document):
        out.add(row)
    out.close()
