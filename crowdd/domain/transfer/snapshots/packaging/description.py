"""What a snapshot says of itself, whatever the standard."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import attrs

from crowdd.domain.projects.dataset import LICENCES, Licence
from crowdd.domain.transfer.snapshots.columns import FORMAT, IDENTIFIERS, table_columns
from crowdd.domain.transfer.snapshots.tables import Keys
from crowdd.domain.transfer.snapshots.written_files import FileEntry
from crowdd.values import Values

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
