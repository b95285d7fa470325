"""The process that writes the files of a snapshot, with bounded memory and time: ``process`` starts it.

    python -m crowdd.features.snapshots.snapshot_program RAW FOLDER

It knows no database. ``RAW`` has rows as the database gave them, and ``about.json``. ``FOLDER`` gets the
files, deflated, and ``findings.json``. Where a limit ends the process, its status is not 0.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import attrs
import orjson

from crowdd.features.snapshots.canonical_json import dumps
from crowdd.features.snapshots.packaging import Description, describe_snapshot
from crowdd.features.snapshots.tables import FORMAT, MANIFEST, Tables
from crowdd.features.snapshots.zip_stream import FileEntry, WrittenFile
from crowdd.kernel.concurrency.isolated import bound_process, watch_server, yield_to_requests
from crowdd.kernel.values import Values

MAX_MEMORY: Final = 4_000_000_000  # bytes of addresses
MAX_CPU_SECONDS: Final = 3600
MAX_FILE_BYTES: Final = 20_000_000_000
ABOUT, FINDINGS = "about.json", "findings.json"
_DEEP: Final = 20_000  # levels of JSON; the database gives no more than it was given


def limit() -> None:
    """Bounds this process, and lets all others go first."""
    yield_to_requests(19)
    sys.setrecursionlimit(_DEEP)
    sys.set_int_max_str_digits(0)
    bound_process(memory=MAX_MEMORY, cpu_seconds=MAX_CPU_SECONDS, file_bytes=MAX_FILE_BYTES)


def main(arguments: list[str]) -> int:
    """Writes the files into the folder that the arguments name."""
    limit()
    watch_server()
    raw, folder = map(Path, arguments)
    findings = write_files(raw, folder, orjson.loads((raw / ABOUT).read_bytes()))
    (folder / FINDINGS).write_bytes(orjson.dumps(findings))
    return 0


def write_files(raw: Path, folder: Path, about: Values) -> Values:
    """Writes all files. What was found: ``hash``, ``files`` and ``manifest``.

    ``about``: ``documents`` (of the content, by their names), and what ``Description`` takes besides.
    """
    tables = Tables(raw, folder)
    files = [
        *tables.write(),
        *(_write(folder, name, _bytes(value), True) for name, value in about["documents"].items()),
    ]
    snapshot_hash = content_hash(files)
    description = Description(
        hash=snapshot_hash,
        files=tuple(files),
        keys=tables.keys,
        redundancy=tuple(tables.redundancy),
        **about["description"],
    )
    files += [_write(folder, name, text, False) for name, text in describe_snapshot(description)]
    manifest = description.manifest(files)
    files.append(_write(folder, MANIFEST, dumps(manifest) + b"\n", False))
    return {"hash": snapshot_hash, "manifest": manifest, "files": [attrs.asdict(each) for each in files]}


def content_hash(files: Iterable[FileEntry]) -> str:
    """SHA-256 of the content as a whole: of the canonical JSON that names its files, by their names."""
    return hashlib.sha256(dumps(content_of(files))).hexdigest()


def content_of(files: Iterable[FileEntry]) -> Values:
    """What the hash of a snapshot is made of."""
    content = sorted((each for each in files if each.content), key=lambda each: each.name)
    return {"format": FORMAT, "files": [{"name": e.name, "bytes": e.bytes, "sha256": e.sha256} for e in content]}


def _bytes(value: object) -> bytes:
    """A text as it is, anything else as canonical JSON."""
    return value.encode() if isinstance(value, str) else dumps(value) + b"\n"


def _write(folder: Path, name: str, content: bytes, of_content: bool) -> FileEntry:
    out = WrittenFile(folder, name, content=of_content)
    out.write(content)
    return out.end()


def entries(rows: Sequence[Values]) -> list[FileEntry]:
    """The files of findings."""
    return [FileEntry(**row) for row in rows]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
