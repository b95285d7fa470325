"""``croissant.json`` (MLCommons Croissant 1.0)."""

from __future__ import annotations

from typing import Final

from crowdd.domain.transfer.snapshots.columns import Column, media_type, table_columns
from crowdd.domain.transfer.snapshots.packaging.description import Description
from crowdd.domain.transfer.snapshots.written_files import FileEntry
from crowdd.values import Values

NAME: Final = "croissant.json"
_TYPES: Final = {
    "integer": "sc:Integer",
    "number": "sc:Float",
    "boolean": "sc:Boolean",
}  # others are texts, also times: mlcroissant fails at sc:DateTime and sc:Date with a time of day
_LINES: Final = "application/jsonlines"
_CONTEXT: Final[Values] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}


def document(of: Description) -> Values:
    """The data set with its files, and a record set for each table."""
    licence = of.licence
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": of.short_name,
        "alternateName": of.name,
        "description": of.about,
        "citeAs": of.citation,
        "version": of.version,
        "datePublished": of.created[:10],
        "url": of.url,
        **({} if licence is None else {"license": licence.url}),
        "creator": [_creator(each["name"], each.get("orcid")) for each in of.authors]
        or [{"@type": "sc:Organization", "name": f"Contributors of {of.name}"}],
        "distribution": [_file(of, each) for each in of.files],
        "recordSet": [_record_set(each) for each in of.tables],
    }


def _creator(name: str, orcid: str | None) -> Values:
    return {"@type": "sc:Person", "name": name, **({"url": f"https://orcid.org/{orcid}"} if orcid else {})}


def _file(of: Description, file: FileEntry) -> Values:
    return {
        "@type": "cr:FileObject",
        "@id": file.name,
        "name": file.name,
        "contentUrl": file.name,
        "contentSize": f"{file.bytes} B",
        "encodingFormat": _LINES if file.rows is not None else media_type(file.name),
        "sha256": file.sha256,
    }


def _record_set(file: FileEntry) -> Values:
    name = file.name.partition(".")[0]
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "field": [_field(name, file.name, each) for each in table_columns()[file.name]],
    }


def _field(table: str, file: str, column: Column) -> Values:
    return {
        "@type": "cr:Field",
        "@id": f"{table}/{column.name}",
        "name": column.name,
        "description": column.doc,
        "dataType": _TYPES.get(column.type, "sc:Text"),
        "source": {"fileObject": {"@id": file}, "extract": {"column": column.name}},
    }
