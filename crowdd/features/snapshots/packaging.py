"""The files in which a snapshot describes itself, made from one description.

``CITATION.cff`` (Citation File Format 1.2.0), ``croissant.json`` (MLCommons Croissant 1.0), ``datapackage.json``
(Frictionless Data Package), ``ro-crate-metadata.json`` (RO-Crate 1.1) and ``README.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import attrs
import orjson

from crowdd import PACKAGE
from crowdd.features.projects.dataset import LICENCES, Licence
from crowdd.features.snapshots.tables import FORMAT, IDENTIFIERS, Column, Keys, media_type, table_columns
from crowdd.features.snapshots.zip_stream import FileEntry
from crowdd.kernel.values import Values

MAX_DESCRIPTION: Final = 5000  # characters


@attrs.frozen
class Description:
    """``created`` is when the content was read, in UTC. ``authors`` have ``name`` and ``orcid`` (or none).

    ``address`` is that of the project's snapshots; ``audit`` is the head of the audit log, ``software`` the version of
    crowdd. ``settings`` and ``versions`` are those of the project.
    """

    hash: str
    files: tuple[FileEntry, ...]
    keys: Mapping[str, Keys]
    redundancy: tuple[int, ...]
    name: str
    short_name: str
    description: str
    license: str | None
    authors: Sequence[Mapping[str, str]]
    created: str
    address: str
    site: str
    software: str
    settings: Values
    versions: Values
    audit: Values

    @property
    def url(self) -> str:
        """The address of the snapshot, which never changes."""
        return f"{self.address}/{self.hash}"

    @property
    def version(self) -> str:
        """The snapshot in short: the day, and the beginning of the hash."""
        return f"{self.created[:10]}+{self.hash[:12]}"

    @property
    def year(self) -> str:
        return self.created[:4]

    @property
    def licence(self) -> Licence | None:
        """None while the owners have not chosen one."""
        return None if self.license is None else LICENCES[self.license]

    @property
    def about(self) -> str:
        """What the project is, in a sentence at least."""
        return self.description.strip()[:MAX_DESCRIPTION] or f"Answers of the project {self.name}"

    @property
    def citation(self) -> str:
        """The snapshot as a reference list has it."""
        names = "; ".join(each["name"] for each in self.authors) or f"Contributors of {self.name}"
        return f"{names} ({self.year}). {self.name} [data set], version {self.version}. {self.site}. {self.url}"

    @property
    def tables(self) -> list[FileEntry]:
        """The files with rows."""
        return [each for each in self.files if each.rows is not None]

    @property
    def counts(self) -> dict[str, int]:
        """Rows of the tables."""
        return {each.name.partition(".")[0]: each.rows or 0 for each in self.tables if each.name != IDENTIFIERS}

    def dictionary(self) -> Values:
        """Each column of each table, and the keys of ``info`` that its rows have."""
        return {name: {"columns": self._columns(name), **self._keys(name)} for name in table_columns()}

    def _columns(self, name: str) -> list[Values]:
        return [{"name": each.name, "type": each.type, "description": each.doc} for each in table_columns()[name]]

    def _keys(self, name: str) -> Values:
        table_keys = self.keys.get(name)
        if table_keys is None:
            return {}
        keys = [{"name": key, "rows": types} for key, types in table_keys.found.items()]
        return {"info": keys, "more_keys": table_keys.more}

    def manifest(self, files: Iterable[FileEntry]) -> Values:
        """What is in ``manifest.json``: the content with its hash, and what is beside it."""
        return {
            "format": FORMAT,
            "hash": self.hash,
            "content": [_entry(each) for each in _sorted(files) if each.content],
            "beside": [_entry(each) for each in _sorted(files) if not each.content],
            "counts": self.counts,
            "redundancy": {"min": self.redundancy[0], "max": self.redundancy[1]} if self.redundancy else None,
            "settings": self.settings,
            "versions": self.versions,
            "license": self.license,
            "authors": [dict(each) for each in self.authors],
            "citation": self.citation,
            "name": self.name,
            "short_name": self.short_name,
            "url": self.url,
            "created": self.created,
            "software": {"name": "crowdd", "version": self.software},
            "audit_log": self.audit,
        }


def _sorted(files: Iterable[FileEntry]) -> list[FileEntry]:
    return sorted(files, key=lambda each: each.name)


def _entry(file: FileEntry) -> Values:
    rows = {} if file.rows is None else {"rows": file.rows}
    return {"name": file.name, "bytes": file.bytes, "sha256": file.sha256, **rows}


CITATION_NAME: Final = "CITATION.cff"


def build_citation(of: Description) -> str:
    """The file. Texts are written as JSON has them, which YAML reads."""
    return "\n".join(_citation_lines(of)) + "\n"


def _citation_lines(of: Description) -> Iterator[str]:
    yield "cff-version: 1.2.0"
    yield f"message: {_text('Please cite this data set as below.')}"
    yield "type: dataset"
    yield f"title: {_text(of.name)}"
    yield "authors:"
    for author in of.authors or ({"name": f"Contributors of {of.name}"},):
        yield f"  - name: {_text(author['name'])}"
        if author.get("orcid"):
            yield f"    orcid: {_text('https://orcid.org/' + author['orcid'])}"
    yield f"abstract: {_text(of.about)}"
    yield f"version: {_text(of.version)}"
    yield f"date-released: {of.created[:10]}"
    yield f"url: {_text(of.url)}"
    if of.licence is not None:
        yield f"license: {of.licence.id}"


def _text(text: str) -> str:
    return orjson.dumps(text).decode()


CROISSANT_NAME: Final = "croissant.json"
_CROISSANT_TYPES: Final = {
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


def build_croissant(of: Description) -> Values:
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
        "field": [_croissant_field(name, file.name, each) for each in table_columns()[file.name]],
    }


def _croissant_field(table: str, file: str, column: Column) -> Values:
    return {
        "@type": "cr:Field",
        "@id": f"{table}/{column.name}",
        "name": column.name,
        "description": column.doc,
        "dataType": _CROISSANT_TYPES.get(column.type, "sc:Text"),
        "source": {"fileObject": {"@id": file}, "extract": {"column": column.name}},
    }


DATA_PACKAGE_NAME: Final = "datapackage.json"
_DATA_PACKAGE_TYPES: Final = {"time": "datetime", "list": "array"}


def build_data_package(of: Description) -> Values:
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
    fields = [_data_package_field(each) for each in sorted(table_columns()[file.name], key=lambda each: each.name)]
    return {"profile": "tabular-data-resource", **common, "schema": {"fields": fields, "primaryKey": _key(file)}}


def _key(file: FileEntry) -> list[str]:
    columns = table_columns()[file.name]
    return [each.name for each in columns[: 2 if columns[0].name == "kind" else 1]]


def _data_package_field(column: Column) -> Values:
    return {"name": column.name, "type": _DATA_PACKAGE_TYPES.get(column.type, column.type), "description": column.doc}


READ_ME_NAME: Final = "README.md"


def build_read_me(of: Description) -> str:
    """The text, in Markdown."""
    return "\n".join(_read_me_lines(of)) + "\n"


def _read_me_lines(of: Description) -> Iterator[str]:
    yield f"# {_plain(of.name)}"
    yield ""
    yield _plain(of.about)
    yield ""
    yield f"This is a snapshot of a crowdsourcing project, as it was at {of.created}. It never changes."
    yield ""
    yield f"* Address: {of.url}"
    yield f"* Hash: `{of.hash}`"
    yield f"* Licence: {_licence(of)}"
    yield f"* Cite as: {_plain(of.citation)}"
    yield ""
    yield "## Files"
    yield ""
    yield "Tables have one JSON object per line, in UTF-8. Rows are canonical JSON (RFC 8785), in the order of their"
    yield "first column. Numbers that a double does not have keep all their digits: do not read them as floating point."
    yield "Numbers of rows count from 1 in this snapshot only."
    for name, columns in table_columns().items():
        yield ""
        yield f"### {name}"
        yield ""
        if name == IDENTIFIERS:
            yield "Ids on the server. They are no part of the hash."
            yield ""
        yield "| Column | Type | Meaning |"
        yield "|---|---|---|"
        for column in columns:
            yield f"| `{column.name}` | {column.type} | {column.doc} |"
    yield ""
    yield "`data_dictionary.json` lists the keys of `info`. `datapackage.json`, `croissant.json` and"
    yield "`ro-crate-metadata.json` describe the same files for programs."
    yield ""
    yield "## What is left out"
    yield ""
    yield "Columns of tasks that are hidden from volunteers, trial answers, accounts and addresses of volunteers, and"
    yield "gold tasks with their answers until they have ended or their embargo is over. Volunteers who deleted their"
    yield "account have no code, and no row of their own."
    yield ""
    yield "## Recompute"
    yield ""
    yield "`python recompute.py .` works each posterior, and the figures in `figures.json`, out again from the files."
    yield "`python recheck_rules.py .` checks each decision in `decisions.ndjson` against the rules in `rules.ndjson`."
    yield "They need numpy."
    yield ""
    yield "## Verify"
    yield ""
    yield "`manifest.json` has the SHA-256 of each file. The hash of the snapshot is the SHA-256 of the canonical JSON"
    yield f'`{{"files":[{{"bytes":…,"name":…,"sha256":…}},…],"format":{FORMAT}}}` with the files of `content`, by name.'
    yield "`crowdctl project snapshot verify FILE` checks all of this for a ZIP archive."


def _licence(of: Description) -> str:
    if of.licence is None:
        return "none. Ask the owners of the project before you use the data."
    return f"{of.licence.name} ({of.licence.id}), {of.licence.url}"


def _plain(text: str) -> str:
    """A text in one line, which starts no markup."""
    return " ".join(text.split()).replace("<", "&lt;")


RO_CRATE_NAME: Final = "ro-crate-metadata.json"
_DESCRIPTOR: Final[Values] = {
    "@id": RO_CRATE_NAME,
    "@type": "CreativeWork",
    "about": {"@id": "./"},
    "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
}


def build_ro_crate(of: Description) -> Values:
    """The crate as a flat list of entities."""
    return {"@context": "https://w3id.org/ro/crate/1.1/context", "@graph": [_DESCRIPTOR, *_entities(of)]}


def _entities(of: Description) -> Iterator[Values]:
    licence = of.licence
    yield {
        "@id": "./",
        "@type": "Dataset",
        "name": of.name,
        "description": of.about,
        "datePublished": of.created,
        "version": of.version,
        "identifier": of.url,
        "url": of.url,
        "creditText": of.citation,
        "license": {"@id": "#no-licence" if licence is None else licence.url},
        "author": [{"@id": _person(number, each.get("orcid"))} for number, each in enumerate(of.authors, 1)],
        "hasPart": [{"@id": each.name} for each in of.files],
    }
    for each in of.files:
        yield {
            "@id": each.name,
            "@type": "File",
            "name": each.name,
            "encodingFormat": media_type(each.name),
            "contentSize": str(each.bytes),
            "sha256": each.sha256,
        }
    for number, author in enumerate(of.authors, 1):
        yield {"@id": _person(number, author.get("orcid")), "@type": "Person", "name": author["name"]}
    if licence is None:
        yield {"@id": "#no-licence", "@type": "CreativeWork", "name": "No licence", "description": "Ask the owners."}
    else:
        yield {"@id": licence.url, "@type": "CreativeWork", "name": licence.name, "identifier": licence.id}
    yield {"@id": "#crowdd", "@type": "SoftwareApplication", "name": "crowdd", "version": of.software}
    yield {
        "@id": "#snapshot",
        "@type": "CreateAction",
        "endTime": of.created,
        "instrument": {"@id": "#crowdd"},
        "result": {"@id": "./"},
    }


def _person(number: int, orcid: str | None) -> str:
    return f"https://orcid.org/{orcid}" if orcid else f"#author-{number}"


DICTIONARY = "data_dictionary.json"


def describe_snapshot(of: Description) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the files."""
    yield DICTIONARY, _json(of.dictionary())
    yield CITATION_NAME, build_citation(of).encode()
    yield CROISSANT_NAME, _json(build_croissant(of))
    yield DATA_PACKAGE_NAME, _json(build_data_package(of))
    yield READ_ME_NAME, build_read_me(of).encode()
    yield RO_CRATE_NAME, _json(build_ro_crate(of))
    if of.licence is not None:
        yield "LICENSE.txt", (PACKAGE / f"features/snapshots/licences/{of.licence.id}.txt").read_bytes()


def _json(value: Values) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2) + b"\n"
