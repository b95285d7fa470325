"""Settings of PostgreSQL, the data folder, backups, background tasks, media files and their upload."""

from __future__ import annotations

from pathlib import Path

import attrs

from crowdd.kernel.config.options import choice, not_negative, option, positive, s3_bucket, s3_endpoint


@attrs.frozen
class DbSettings:
    """``[db]``: PostgreSQL."""

    dsn: str = option(
        "",
        doc=(
            "libpq connection string. Leave it empty and `crowdctl serve` starts an embedded PostgreSQL. "
            "Prefer a socket folder or an IP address: looking up a host name blocks the server. Several hosts need "
            "target_session_attrs=read-write: the one that is the primary is used."
        ),
        fixed=True,
    )
    migrate_dsn: str = option(
        "",
        doc=(
            "Connection string for `crowdctl db upgrade`, with the role that owns the tables. Leave it empty "
            "if the role in dsn owns them."
        ),
    )
    replica_dsn: str = option(
        "",
        doc=(
            "Connection string of one streaming replica, with the same role and database, for exports and for lists "
            "that may read much of a table. Nobody sees less there: a read waits until the replica has what was "
            "committed, or the primary reads."
        ),
        fixed=True,
    )
    replica_timeout: int = option(
        1, positive, doc="How long a read waits for the replica before the primary reads, in seconds.", fixed=True
    )
    pool_size: int = option(8, positive, doc="Connections for the requests of one process.", fixed=True)
    max_queue: int = option(
        1000, positive, doc="Requests that may wait for a connection. Further ones get 503.", fixed=True
    )
    pool_timeout: int = option(
        5, positive, doc="How long a request waits for a connection before it gets 503, in seconds.", fixed=True
    )
    statement_timeout: int = option(10, positive, doc="Timeout of a single statement, in seconds.", fixed=True)
    slow_read_timeout: int = option(
        10,
        positive,
        doc=(
            "Timeout of a list that may read much of a table (full-text, filters on info, other orders, large "
            "offsets), in seconds. People without an account have 2 seconds at most."
        ),
        fixed=True,
    )


@attrs.frozen
class DataSettings:
    """``[data]``: files on disk beside the database."""

    dir: Path = option(
        Path("var"),
        Path,
        doc=(
            "Folder for secrets, uploads, logs and the embedded database. For an installation, give an "
            "absolute path such as /var/lib/crowdd."
        ),
        fixed=True,
    )
    postgres_user: str = option(
        "",
        doc=(
            "System user that runs the embedded PostgreSQL if crowdd is started as root. Default: postgres, "
            "else nobody."
        ),
        fixed=True,
    )
    min_free_bytes: int = option(
        100_000_000,
        not_negative,
        doc="Free space that the data folder needs, in bytes. With less, /ready reports that the server is not ready.",
    )
    backup_days: int = option(
        8, not_negative, doc="`crowdctl doctor` warns if the last backup is older than this many days. 0: never."
    )


@attrs.frozen
class BackupSettings:
    """``[backups]``: backups on a schedule."""

    dir: str = option(
        "",
        doc=(
            "Folder for scheduled backups, on another disk if possible. It must exist. Nobody else should be able to "
            "read it. Leave it empty on servers that make none."
        ),
        fixed=True,
    )
    every_hours: int = option(24, positive, doc="Hours between the end of a backup and the next.", fixed=True)
    keep_days: int = option(14, positive, doc="Days for which every scheduled backup is kept. The last one stays.")
    keep_weeks: int = option(
        8,
        not_negative,
        doc="Weeks for which the last scheduled backup of each week is kept. 0: none longer than keep_days.",
    )
    passphrase_file: str = option(
        "", doc="File with the passphrase of scheduled backups in its first line, at least 10 characters."
    )
    dsn: str = option(
        "",
        doc=(
            "Connection string of a standby that backups read, with a role that can read all tables. Leave it empty to "
            "read the database itself."
        ),
    )


@attrs.frozen
class QueueSettings:
    """``[queue]``: background tasks."""

    workers: int = option(
        2,
        not_negative,
        doc=(
            "Background tasks (imports, changes of many tasks) that a process runs at the same time. 0: "
            "none, other processes run them."
        ),
        fixed=True,
    )


@attrs.frozen
class MediaSettings:
    """``[media]``: pictures, sound, video and documents that owners upload."""

    store: str = option(
        "folder",
        choice("folder", "s3"),
        doc=(
            "Where media files are kept: folder (`uploads` in the data folder) or s3 (a bucket of an S3-compatible "
            "service). To change it, see `crowdctl media copy`."
        ),
        fixed=True,
    )
    s3_endpoint: str = option(
        "",
        s3_endpoint,
        doc=(
            "Address of the S3 service, such as https://s3.eu-central-1.amazonaws.com or http://minio.internal:9000. "
            "It may be a private address."
        ),
        fixed=True,
    )
    s3_bucket: str = option("", s3_bucket, doc="Name of the bucket. It must exist.", fixed=True)
    s3_region: str = option("us-east-1", doc="Region of the bucket. MinIO uses us-east-1.", fixed=True)
    s3_access_key: str = option("", doc="Access key id.", fixed=True)
    s3_secret_key: str = option("", doc="Secret access key.", fixed=True)
    s3_secret_key_file: str = option(
        "", doc="File that contains the secret access key, in place of s3_secret_key.", fixed=True
    )
    web_pixels: int = option(
        2000, positive, doc="Longest side of the pictures that volunteers see, in pixels. Larger ones are scaled down."
    )
    tile_pixels: int = option(
        4_000_000,
        not_negative,
        doc=(
            "Pictures with more pixels (width times height) that are scaled down are also kept in tiles, so that "
            "volunteers can enlarge them up to their full size. 0: no tiles."
        ),
    )
    thumbnail_pixels: int = option(400, positive, doc="Longest side of the thumbnails of pictures, in pixels.")
    max_pixels: int = option(
        120_000_000,
        positive,
        doc=(
            "Largest picture that is accepted, in pixels (width times height). Preparing it takes up to 9 bytes of "
            "memory for each."
        ),
    )
    max_pages: int = option(300, positive, doc="Pages that a PDF or a TIFF may have.")


@attrs.frozen
class UploadSettings:
    """``[uploads]``: folders of media that owners upload in parts."""

    max_file_bytes: int = option(1_000_000_000, positive, doc="Largest file that an owner can upload, in bytes.")
    max_batch_files: int = option(
        10_000,
        positive,
        doc="Files of one batch: what an owner drops onto the page at once, unpacked archives included.",
    )
    max_open_files: int = option(
        20_000,
        positive,
        doc="Files of one person, and of one project, that may be uploading or in preparation at the same time.",
    )
    max_open_bytes: int = option(20_000_000_000, positive, doc="Bytes of these files.")
    max_site_open_bytes: int = option(
        100_000_000_000,
        positive,
        doc="Bytes of all files of the site that may be uploading or in preparation at the same time.",
    )
    max_site_bytes: int = option(
        0,
        not_negative,
        doc="Bytes that all projects together may hold. Above it, owners cannot upload further files. 0: no limit.",
    )
    expire_hours: int = option(48, positive, doc="Hours after which a file that has not arrived completely is deleted.")
