"""PDF: a picture of each page. Nothing of the document itself is kept."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium_raw

from crowdd.features.media.file_parts import OutFolder
from crowdd.features.media.pictures import add_picture, add_thumbnail, web_picture
from crowdd.features.media.prepared import RefusedFile, damaged

_MAX_SCALE = 300 / 72  # a page of points is drawn with at most 300 dots per inch


def prepare(source: Path, _format: str, out: OutFolder, options: Mapping[str, Any]) -> dict[str, Any]:
    """Draws the pages. Raises RefusedFile."""
    try:
        document = pypdfium2.PdfDocument(source)
        pages = len(document)
    except pypdfium2.PdfiumError as error:
        if error.err_code == pdfium_raw.FPDF_ERR_PASSWORD:
            raise RefusedFile("password") from None
        raise damaged("PDF") from None
    if pages > options["max_pages"]:
        raise RefusedFile("pages", count=pages, max=options["max_pages"])
    if not pages:
        raise damaged("PDF")
    for number in range(pages):
        _draw(document, number, out, options)
    return {"kind": "document", "type": "application/pdf", "pages": pages}


def _draw(document: Any, number: int, out: OutFolder, options: Mapping[str, Any]) -> None:
    try:
        page = document[number]
        width, height = page.get_size()
        if not 0 < min(width, height) <= max(width, height) < 1e6:
            raise RefusedFile("page_size", page=number + 1)
        scale = min(options["web_pixels"] / max(width, height), _MAX_SCALE)
        if min(width, height) * scale < 1:
            raise RefusedFile("page_size", page=number + 1)
        bitmap = page.render(scale=scale, may_draw_forms=False)
    except pypdfium2.PdfiumError:
        raise damaged("PDF") from None
    web = web_picture(bitmap.to_pil().convert("RGB"), options["web_pixels"])
    page.close()
    add_picture(out, "page", web, page=number + 1)
    add_thumbnail(out, web, options, page=number + 1)
