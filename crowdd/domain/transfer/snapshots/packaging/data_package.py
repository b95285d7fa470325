"""``datapackage.json`` (Frictionless Data Package)."""

from __future__ import annotations

from typing import Final

from crowdd.domain.transfer.snapshots.columns import Column, media_type, table_columns
from crowdd.domain.transfer.snapshots.packaging.description import Description
from crowdd.domain.transfer.snapshots.written_files import FileEntry
from crowdd.values import Values

NAME: Final = "datapackage.json"
_TYPES: Final = {"time": "datetime", "list": "array"}


def document(of: Description) -> Values:
    """The descriptor: a resource per file of the content, with a schema where it has rows."""
    licence = of.licence
    licences = [] if licence is None else [{"name": licence.id, "title": licence.name, "path": licence.url}]
    return {
        "profile": "data-package",
        "name": of.short_name.lower(),
        "id": of.hash,
        "title": of.name,
        "description": of.about,
        "version": of.version,
        "created": of.created,
        "homepage": of.url,
        **({"licenses": licences} if licences else {}),
        "contributors": [_contributor(each["name"], each.get("orcid")) for each in of.authors],
        "resources": [_resource(each) for each in of.files],
    }


def _contributor(name: str, orcid: str | None) -> Values:
    return {"title": name, "role": "author", **({"path": f"https://orcid.org/{orcid}"} if orcid else {})}


def _resource(file: FileEntry) -> Values:
    name, _dot, suffix = file.name.rpartition(".")
    common = {
        "name": file.name.replace(".", "-").lower() if suffix != "ndjson" else name,
        "path": file.name,
        "format": suffix,
        "mediatype": media_type(file.name),
        "encoding": "utf-8",
        "bytes": file.bytes,
        "hash": f"sha256:{file.sha256}",
    }
    if file.rows is None:
        return {"profile": "data-resource", **common}
    # In the order in which canonical JSON has them.
    fields = [_field(each) for each in sorted(table_columns()[file.name], key=lambda each: each.name)]
    return {"profile": "tabular-data-resource", **common, "schema": {"fields": fields, "primaryKey": _key(file)}}


def _key(file: FileEntry) -> list[str]:
    columns = table_columns()[file.name]
    return [each.name for each in columns[: 2 if columns[0].name == "kind" else 1]]


def _field(column: Column) -> Values:
    return {"name": column.name, "type": _TYPES.get(column.type, column.type), "description": column.doc}
