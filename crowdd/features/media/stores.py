"""Open the media store that the settings name, copy files from the folder to it, and check that a store works."""

from __future__ import annotations

import hashlib
import secrets as random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

import attrs

from crowdd.features.media.s3 import S3Client, S3Store
from crowdd.features.media.store import FolderStore, MediaStore, StoredMedia, type_of
from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.kernel.config.data import MediaSettings
from crowdd.kernel.errors import ConfigError, MediaStoreError
from crowdd.kernel.reactor import IReactor

_PROBE: Final = b"written by crowdctl doctor"
_PIECE: Final = 1 << 20
Report = Callable[[int], object]


@attrs.define
class Copied:
    """Files and their bytes: all of the folder, those that were copied now, and those that were removed from it."""

    files: int = 0
    bytes: int = 0
    copied: int = 0
    copied_bytes: int = 0
    removed: int = 0


async def copy_media(source: FolderStore, target: MediaStore, report: Report, *, remove: bool) -> Copied:
    """Copies what the target does not have in the same size; it can be stopped and run again.

    ``report`` gets the number of files so far. ``remove``: files that the target returns unchanged are removed from the
    folder. Raises MediaStoreError, also for a file that the target returns changed.
    """
    done = Copied()
    async for project_id in source.projects():
        target_sizes = {key: size async for key, size in target.keys(project_id)}
        async for key, size in source.keys(project_id):
            source_file = await source.open(key)
            if source_file is None or source_file.path is None:
                continue  # removed since it was listed
            if target_sizes.get(key) != size:
                await target.put(key, source_file.path, type_of(key))
                done.copied, done.copied_bytes = done.copied + 1, done.copied_bytes + size
            done.files, done.bytes = done.files + 1, done.bytes + size
            if remove:
                if await _digest(await target.open(key)) != await _digest(source_file):
                    raise MediaStoreError(f"{key} differs from the file in the folder, which was kept.")
                await source.delete([key])
                done.removed += 1
            report(done.files)
    return done


async def check_store(store: MediaStore) -> str:
    """Writes a file, lists, reads and removes it. Why that does not work; empty if it does."""
    key = f"project-0/{random.token_hex(20)}.png"
    try:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "probe"
            source.write_bytes(_PROBE)
            await store.put(key, source, "image/png")
        listed = {each async for each, _size in store.keys(0)}
        same = await _digest(await store.open(key)) == hashlib.sha256(_PROBE).hexdigest()
        await store.delete([key])
        if key not in listed or not same or await store.size(key) is not None:
            return "A file that was written was not listed, read or removed as it should be."
    except MediaStoreError as error:
        return error.reason
    return ""


async def _digest(stored_media: StoredMedia | None) -> str:
    digest = hashlib.sha256()
    if stored_media is None:
        return ""
    if stored_media.path is not None:
        with stored_media.path.open("rb") as file:
            while piece := file.read(_PIECE):
                digest.update(piece)
    elif stored_media.pieces is not None:
        async for piece in stored_media.pieces(0, stored_media.size):
            digest.update(piece)
    return digest.hexdigest()


async def fetch(store: MediaStore, key: str, target: Path) -> None:
    """Writes a stored file to a place of this machine. Raises MediaStoreError, also if there is none."""
    stored_media = await store.open(key)
    if stored_media is None:
        raise MediaStoreError(f"{key} is missing.")
    with target.open("wb") as file:
        if stored_media.path is not None:
            file.write(stored_media.path.read_bytes())
        elif stored_media.pieces is not None:
            async for piece in stored_media.pieces(0, stored_media.size):
                file.write(piece)


_NEEDED = ("s3_endpoint", "s3_bucket", "s3_region", "s3_access_key")


def media_store(reactor: IReactor, settings: MediaSettings, uploads: Path) -> MediaStore:
    """The store for media files; ``uploads`` is the folder of uploads. Raises ConfigError."""
    if settings.store == "s3":
        return build_s3_store(reactor, settings)
    return FolderStore(uploads, WorkerThread(reactor))


def build_s3_store(reactor: IReactor, settings: MediaSettings) -> S3Store:
    """The bucket of the settings, whether it is in use or not. Raises ConfigError for settings that are missing."""
    return S3Store(S3Client(reactor, settings, require_s3_settings(settings)), WorkerThread(reactor))


def require_s3_settings(settings: MediaSettings) -> str:
    """The secret access key, if everything else that an S3 store needs is set. Raises ConfigError."""
    missing = [name for name in _NEEDED if not getattr(settings, name)]
    if missing:
        raise ConfigError(f"[media] {missing[0]} is missing. An S3 store needs {', '.join(_NEEDED)} and s3_secret_key.")
    return read_s3_secret_key(settings)


def read_s3_secret_key(settings: MediaSettings) -> str:
    """The secret access key, from the setting or from the file that it names. Raises ConfigError."""
    path = settings.s3_secret_key_file
    if not path:
        if not settings.s3_secret_key:
            raise ConfigError("[media] s3_secret_key is missing. Set it, or s3_secret_key_file.")
        return settings.s3_secret_key
    try:
        return Path(path).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise ConfigError(f"[media] s3_secret_key_file: cannot read {path}: {reason}.") from None
