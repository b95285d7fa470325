"""A IIIF manifest or collection as rows: a canvas each. Further documents of a collection are named, not fetched."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import orjson

from crowdd import exact_json
from crowdd.domain.transfer.iiif.documents import NoMedia, canvases, references, require_document
from crowdd.domain.transfer.prepared.rows_file import RowsFile
from crowdd.errors import InvalidValueError
from crowdd.languages import _

MAX_BYTES = 20_000_000  # of one document
MAX_ROWS_BYTES = 100_000_000  # of its canvases: each has the metadata of the manifest
MAX_REFERENCES = 10_000


def convert(source: Path, target: Path, about: dict[str, object], _sheet: str) -> None:
    """Writes the canvases of a manifest, or the references of a collection (``references`` of the first line).

    Raises InvalidValueError for what is neither.
    """
    if source.stat().st_size > MAX_BYTES:
        raise InvalidValueError(_("A IIIF document has at most %(max)s bytes.", max=f"{MAX_BYTES:,}"))
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
