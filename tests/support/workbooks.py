"""Workbooks made by hand, so that tests can make damaged and hostile ones, too."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Mapping

_XML = '<?xml version="1.0" encoding="UTF-8"?>'
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
DATE, MOMENT, DURATION, TIME = 1, 2, 3, 4  # styles of cells


def zipped(members: Mapping[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """An archive."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def cell(at: str, value: object, style: int = 0, formula: str = "") -> str:
    """A cell of a sheet: a text, a number or a truth value, and the formula that it came from."""
    inner = f"<f>{formula}</f>" if formula else ""
    if isinstance(value, bool):
        return f'<c r="{at}" t="b">{inner}<v>{int(value)}</v></c>'
    if isinstance(value, str):
        return f'<c r="{at}" t="str">{inner}<v>{value}</v></c>'
    return f'<c r="{at}" s="{style}">{inner}<v>{value}</v></c>'


def row(number: int, *cells: str) -> str:
    """A row of cells."""
    return f'<row r="{number}">{"".join(cells)}</row>'


def table(rows: Iterable[Iterable[object]]) -> str:
    """The rows of a sheet from A1 on; None is an empty cell."""
    return "".join(
        row(n, *(cell(f"{chr(65 + c)}{n}", value) for c, value in enumerate(values) if value is not None))
        for n, values in enumerate(rows, 1)
    )


def xlsx_members(sheets: Mapping[str, str], hidden: Iterable[str] = ()) -> dict[str, str | bytes]:
    """The members of a workbook with these sheets, each as its rows."""
    listed, related = "", ""
    members: dict[str, str | bytes] = {}
    for n, (name, rows) in enumerate(sheets.items(), 1):
        state = ' state="hidden"' if name in hidden else ""
        listed += f'<sheet name="{name}" sheetId="{n}"{state} r:id="r{n}"/>'
        related += f'<Relationship Id="r{n}" Type="{_OFFICE}/worksheet" Target="worksheets/sheet{n}.xml"/>'
        sheet = f'{_XML}<worksheet xmlns="{_MAIN}"><sheetData>{rows}</sheetData></worksheet>'
        members[f"xl/worksheets/sheet{n}.xml"] = sheet
    styles = "".join(f'<xf numFmtId="{number}"/>' for number in (0, 14, 22, 46, 20))
    related += f'<Relationship Id="s" Type="{_OFFICE}/styles" Target="styles.xml"/>'
    root = f'<Relationship Id="r" Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/>'
    return {
        "[Content_Types].xml": f'{_XML}<Types xmlns="{_TYPES}"><Default Extension="xml" ContentType="application/xml"/></Types>',
        "_rels/.rels": f'{_XML}<Relationships xmlns="{_PACKAGE}">{root}</Relationships>',
        "xl/workbook.xml": f'{_XML}<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'{_XML}<Relationships xmlns="{_PACKAGE}">{related}</Relationships>',
        "xl/styles.xml": f'{_XML}<styleSheet xmlns="{_MAIN}"><cellXfs>{styles}</cellXfs></styleSheet>',
        **members,
    }


def xlsx(sheets: Mapping[str, str], hidden: Iterable[str] = ()) -> bytes:
    """A workbook with these sheets."""
    return zipped(xlsx_members(sheets, hidden))


def ods(name: str, rows: str, head: str = _XML) -> bytes:
    """An OpenDocument workbook with one sheet, whose rows are ``table:table-row`` elements."""
    office = "urn:oasis:names:tc:opendocument:xmlns:"
    spaces = "".join(f' xmlns:{short}="{office}{short}:1.0"' for short in ("office", "table", "text"))
    sheet = f'<table:table table:name="{name}">{rows}</table:table>'
    body = f"<office:body><office:spreadsheet>{sheet}</office:spreadsheet></office:body>"
    manifest = "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
    return zipped(
        {
            "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
            "content.xml": f"{head}<office:document-content{spaces}>{body}</office:document-content>",
            "META-INF/manifest.xml": f'{_XML}<manifest:manifest xmlns:manifest="{manifest}"/>',
        }
    )


def ods_row(*cells: str, repeated: int = 1) -> str:
    """A row of an OpenDocument sheet."""
    return f'<table:table-row table:number-rows-repeated="{repeated}">{"".join(cells)}</table:table-row>'


def ods_cell(type_: str, value: str, formula: str = "") -> str:
    """A cell: ``type_`` string, float, date, boolean; its stored value."""
    name = {"date": "date-value", "boolean": "boolean-value"}.get(type_, "value")
    attribute = "" if type_ == "string" else f' office:{name}="{value}"'
    of = f' table:formula="{formula}"' if formula else ""
    return f'<table:table-cell office:value-type="{type_}"{attribute}{of}><text:p>{value}</text:p></table:table-cell>'
