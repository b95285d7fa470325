"""Media files and their upload."""

from __future__ import annotations

import attrs

from crowdd.config.option import option
from crowdd.config.parsers import choice, not_negative, positive, s3_bucket, s3_endpoint


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
