"""Darwin Core archives of the tests."""

from __future__ import annotations

from support.workbooks import zipped

_HEAD = '<?xml version="1.0"?><archive xmlns="http://rs.tdwg.org/dwc/text/">'
_FORM = 'encoding="UTF-8" fieldsTerminatedBy="\\t" linesTerminatedBy="\\n" fieldsEnclosedBy="" ignoreHeaderLines="1"'
_DWC, _DC = "http://rs.tdwg.org/dwc/terms/", "http://purl.org/dc/terms/"


def described(core: str, media: str = "", head: str = _HEAD) -> str:
    """A description with fields of the core and of media: terms by their local name, the first column is the key."""
    tables = (
        f'<core {_FORM} rowType="{_DWC}Occurrence"><files><location>occurrence.txt</location></files><id index="0"/>'
    )
    tables += _fields(core, _DWC) + "</core>"
    if media:
        tables += f'<extension {_FORM} rowType="http://rs.gbif.org/terms/1.0/Multimedia"><files>'
        tables += f'<location>multimedia.txt</location></files><coreid index="0"/>{_fields(media, _DC)}</extension>'
    return f"{head}{tables}</archive>"


def _fields(names: str, vocabulary: str) -> str:
    return "".join(f'<field index="{n}" term="{vocabulary}{name}"/>' for n, name in enumerate(names.split(), 1))


def archive(core: str, occurrences: list[list[str]], media: str = "", records: list[list[str]] | None = None) -> bytes:
    """An archive with these terms and rows."""
    members = {"meta.xml": described(core, media), "occurrence.txt": _table(core, occurrences)}
    if records is not None:
        members["multimedia.txt"] = _table(media, records)
    return zipped(members)


def _table(names: str, rows: list[list[str]]) -> str:
    return "\n".join("\t".join(row) for row in [["id", *names.split()], *rows]) + "\n"
