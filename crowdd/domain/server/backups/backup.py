"""A backup: the database of one moment, the files that it names, and the keys, in one archive; the server goes on.

Archives of one folder may share their files: then a file that an earlier backup has is neither read nor written again.
"""

from __future__ import annotations

import os
import secrets as random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from importlib.metadata import version
from pathlib import Path
from typing import IO

import attrs

from crowdd import config
from crowdd.config import Settings
from crowdd.domain.core import secrets as root_keys
from crowdd.domain.server import server_key
from crowdd.domain.server.backups.backup_archive import Report, Writer, found_files, no_links
from crowdd.domain.server.backups.file_store import FileStore, StoredFile, look
from crowdd.embedded.tools import find_tools
from crowdd.errors import ConflictError
from crowdd.storage import schema
from crowdd.storage.server import dump
from crowdd.storage.server.dump import Snapshot


@attrs.frozen
class Made:
    """A backup that was made. ``missing`` files were named by rows, and deleted before or while it was made.

    ``new_files``: how many files are in it, or came to those that backups share.
    """

    path: str
    bytes: int
    snapshot_at: datetime
    rows: dict[str, int]
    files: int
    new_files: int
    missing: int


@attrs.frozen
class Sharing:
    """Where files go that backups share. ``known``: digests of files that an earlier backup read, by their ``look``."""

    store: FileStore
    known: Mapping[bytes, bytes]


@attrs.frozen
class Databases:
    """Where the rows come from, and where the backup is noted: the DSN of the owner of the tables.

    The source may be a standby. The other one is always the primary.
    """

    source: str
    primary: str


def back_up(
    settings: Settings,
    databases: Databases,
    target: Path,
    passphrase: str,
    report: Report,
    *,
    pg_bin: Path | None = None,
    sharing: Sharing | None = None,
) -> Made:
    """Write an archive of what the database held when this began, and of the files that it names.

    The target has its name only when it is whole. Raises ConflictError when it is there already, StartError without a
    pg_dump that fits, ServerKeyError for a key file that is not the database's, SchemaError, DumpError.
    """
    if target.exists():
        raise ConflictError(f"{target} already exists.")
    secrets = root_keys.existing(settings.data.dir)
    with dump.snapshot(databases.source) as seen:
        shape = seen.shape()
        schema.Status(shape.migrations, tuple(schema.migrations()), True).require()
        _require_keys(settings, seen, secrets)
        tools = find_tools(seen.server_version // 10_000, pg_bin)
        missing = sum(not (settings.data.dir / "uploads" / path).is_file() for path in seen.named_files())
        with _draft(target) as out:
            writer = Writer(out, report, shared=sharing is not None)
            writer.header(_header(seen, shape, tools.version))
            added = _Added()
            if sharing is None:
                added.missing = writer.files(settings.data.dir)
                added.new = writer.counts["files"]
            else:
                writer.listed(_shared(settings.data.dir, sharing, added))
            writer.dump(dump.dumped(tools, databases.source, seen))
            writer.end(passphrase, _secret(settings, secrets))
            if added.new:
                os.sync()
    made = target.stat().st_size
    dump.note_backup(databases.primary, seen.at, made)
    return Made(str(target), made, seen.at, shape.rows, writer.counts["files"], added.new, missing + added.missing)


@attrs.define
class _Added:
    """Files that are new in a store, and files that were deleted while they were listed."""

    new: int = 0
    missing: int = 0


def _shared(folder: Path, sharing: Sharing, added: _Added) -> Iterator[StoredFile]:
    """The files of the data folder, which are in the store when they are given."""
    for path in found_files(folder):
        try:
            with open(path, "rb", opener=no_links) as content:
                seen, name = os.fstat(content.fileno()), str(path.relative_to(folder))
                known = sharing.known.get(look(name, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns), b"").hex()
                size, new = seen.st_size, False
                if not known or not sharing.store.holds(known, size):
                    known, size, new = sharing.store.add(content)
        except FileNotFoundError:
            added.missing += 1
            continue
        added.new += new
        yield StoredFile(name, size, known, seen.st_mtime_ns, seen.st_ctime_ns)


def _require_keys(settings: Settings, seen: Snapshot, secrets: root_keys.Secrets | None) -> None:
    """A backup with another key file than the database's would be worth little."""
    finding = server_key.KeyState(seen.server_keys(), secrets)
    if complaint := finding.complaint(settings.data.dir):
        raise server_key.ServerKeyError(complaint)


def _header(seen: Snapshot, shape: dump.Shape, tools: str) -> dict[str, object]:
    return {
        "crowdd": version("crowdd"),
        "migrations": list(shape.migrations),
        "postgresql": seen.server_version,
        "pg_dump": tools,
        "snapshot_at": seen.at.isoformat(),
        "rows": shape.rows,
    }


def _secret(settings: Settings, secrets: root_keys.Secrets | None) -> dict[str, object]:
    return {"keys": [root.hex() for root in secrets.roots] if secrets else [], "settings": written(settings)}


def written(settings: Settings) -> str:
    """The settings that differ from their defaults, as a configuration file has them."""
    lines: list[str] = []
    for section, option, _doc, default in config.options():
        value = getattr(getattr(settings, section), option)
        if value != default:
            if f"[{section}]" not in lines:
                lines.append(f"[{section}]")
            lines.append(f"{option} = {_word(value)}")
    return "\n".join(lines) + "\n"


def variables(settings: Settings) -> dict[str, str]:
    """The settings that differ from their defaults, as the environment of a program has them."""
    entries = (
        (s, option, getattr(getattr(settings, s), option), default) for s, option, _doc, default in config.options()
    )
    return {f"CROWDD_{s}_{option}".upper(): _word(value) for s, option, value, default in entries if value != default}


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


@contextmanager
def _draft(target: Path) -> Iterator[IO[bytes]]:
    """A file beside the target that only its owner may read; it gets the target's name at a good end, else it goes."""
    draft = target.with_name(f".{target.name}.{random.token_hex(4)}.part")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as out:
            yield out
            out.flush()
            os.fsync(descriptor)
        os.link(draft, target)
    except FileExistsError:
        raise ConflictError(f"{target} already exists.") from None
    finally:
        draft.unlink(missing_ok=True)
