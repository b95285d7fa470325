"""The store that the settings name."""

from __future__ import annotations

from pathlib import Path

from crowdd.concurrency.worker_thread import WorkerThread
from crowdd.config.media import MediaSettings
from crowdd.domain.media.folder_store import FolderStore
from crowdd.domain.media.s3.client import S3Client
from crowdd.domain.media.s3.s3_store import S3Store
from crowdd.domain.media.store import MediaStore
from crowdd.errors import ConfigError
from crowdd.reactor import IReactor

_NEEDED = ("s3_endpoint", "s3_bucket", "s3_region", "s3_access_key")


def media_store(reactor: IReactor, settings: MediaSettings, uploads: Path) -> MediaStore:
    """The store for media files; ``uploads`` is the folder of uploads. Raises ConfigError."""
    if settings.store == "s3":
        return s3_store(reactor, settings)
    return FolderStore(uploads, WorkerThread(reactor))


def s3_store(reactor: IReactor, settings: MediaSettings) -> S3Store:
    """The bucket of the settings, whether it is in use or not. Raises ConfigError for settings that are missing."""
    missing = [name for name in _NEEDED if not getattr(settings, name)]
    if missing:
        raise ConfigError(f"[media] {missing[0]} is missing. An S3 store needs {', '.join(_NEEDED)} and s3_secret_key.")
    return S3Store(S3Client(reactor, settings, secret_key(settings)), WorkerThread(reactor))


def secret_key(settings: MediaSettings) -> str:
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
