"""``README.md`` of a snapshot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from crowdd.domain.transfer.snapshots.columns import IDENTIFIERS, table_columns
from crowdd.domain.transfer.snapshots.packaging.description import Description

NAME: Final = "README.md"


def document(of: Description) -> str:
    """The text, in Markdown."""
    return "\n".join(_lines(of)) + "\n"


def _lines(of: Description) -> Iterator[str]:
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
    yield "Columns of tasks that are hidden from volunteers, gold tasks and answers to them, trial answers, accounts"
    yield "and addresses of volunteers. Volunteers who deleted their account have no code, and no row of their own."
    yield ""
    yield "## Verify"
    yield ""
    yield "`manifest.json` has the SHA-256 of each file. The hash of the snapshot is the SHA-256 of the canonical JSON"
    yield '`{"files":[{"bytes":…,"name":…,"sha256":…},…],"format":1}` with the files of `content`, by their names.'
    yield "`crowdctl project snapshot verify FILE` checks all of this for a ZIP archive."


def _licence(of: Description) -> str:
    if of.licence is None:
        return "none. Ask the owners of the project before you use the data."
    return f"{of.licence.name} ({of.licence.id}), {of.licence.url}"


def _plain(text: str) -> str:
    """A text in one line, which starts no markup."""
    return " ".join(text.split()).replace("<", "&lt;")
