"""The program that writes the files of a snapshot, with bounded memory and time: ``runner`` starts it.

It knows no database. ``raw`` has rows as the database gave them, and ``about.json``. ``folder`` gets the files,
deflated, and ``findings.json``.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import attrs
import orjson

from crowdd import PACKAGE
from crowdd.features.snapshots.canonical_json import dumps
from crowdd.features.snapshots.figures import FIGURES, Figures
from crowdd.features.snapshots.packaging import Description, describe_snapshot
from crowdd.features.snapshots.tables import FORMAT, MANIFEST, Tables
from crowdd.features.snapshots.zip_stream import FileEntry, WrittenFile
from crowdd.kernel.concurrency.isolated import Limits
from crowdd.kernel.values import Values
from crowdd.kinds.stopping import STOPPING

LIMITS: Final = Limits(memory=4_000_000_000, cpu_seconds=3600, file_bytes=20_000_000_000, niceness=19)
ABOUT, FINDINGS = "about.json", "findings.json"
RECOMPUTE: Final = ("recompute.py", "recheck_rules.py")
"""The programs that work the figures of a snapshot out again and check what rules decided, which come with it."""
_DEEP: Final = 20_000  # levels of JSON; the database gives no more than it was given


def write_snapshot(raw: str, folder: str) -> None:
    """Writes the files, and what was found."""
    read_deep_values()
    findings = write_files(Path(raw), Path(folder), orjson.loads((Path(raw) / ABOUT).read_bytes()))
    (Path(folder) / FINDINGS).write_bytes(orjson.dumps(findings))


def read_deep_values() -> None:
    """Has this process read all JSON that the database has."""
    sys.setrecursionlimit(_DEEP)
    sys.set_int_max_str_digits(0)


def write_files(raw: Path, folder: Path, about: Values) -> Values:
    """Writes all files. What was found: ``hash``, ``files`` and ``manifest``.

    ``about``: ``documents`` (of the content, by their names), ``recalibration``, and what ``Description`` takes.
    """
    first_answers = (about["documents"]["project.json"].get("settings", {}).get(STOPPING) or {}).get("min_answers")
    tables = Tables(raw, folder, figures=Figures(first_answers, about["recalibration"]))
    files = [
        *tables.write(),
        *(_write(folder, name, _bytes(value), True) for name, value in about["documents"].items()),
        _write(folder, FIGURES, _bytes(tables.figures.stated()), True),
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
    programs = PACKAGE / "features/snapshots"
    files += [_write(folder, name, (programs / name).read_bytes(), False) for name in RECOMPUTE]
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
