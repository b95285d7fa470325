"""``crowdctl media``: pictures, sound and video of projects."""

from __future__ import annotations

from pathlib import Path

import attrs
import click

from crowdd.admin_cli.groups import Group
from crowdd.admin_cli.output import json_option, say, watching
from crowdd.admin_cli.prompts import confirm, yes_option
from crowdd.admin_cli.runtime import reactor, with_domain
from crowdd.core.feature import House
from crowdd.features.media import stores
from crowdd.features.media.store import FolderStore
from crowdd.features.media.stores import Copied, build_s3_store
from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.kernel.errors import CrowddError, MediaStoreError


@click.group(cls=Group)
def media() -> None:
    """Move the media files of projects to S3."""


@media.command()
@click.option("--remove", is_flag=True, help="Remove each file from the folder once S3 returns it unchanged.")
@yes_option
@json_option
@click.pass_obj
def copy(config: Path | None, remove: bool, yes: bool, as_json: bool) -> None:
    """Copy the media files in the data folder to the bucket of [media] s3_bucket.

    Files that the bucket has in the same size are not copied again, so you can stop the command and run it again. The
    server may run meanwhile. Other uploads (profile pictures, pictures in texts) remain in the folder.
    """
    if remove:
        confirm(yes, "Media files are removed from the data folder.")
    with watching("Copying files", quiet=as_json) as report:
        done = with_domain(config, lambda house: _copy(house, report, remove))
    words = f"{done.copied:,} of {done.files:,} files copied ({_mb(done.copied_bytes)} of {_mb(done.bytes)})."
    say(as_json, attrs.asdict(done), words, *([f"{done.removed:,} files removed from the folder."] if remove else []))


async def _copy(house: House, report: stores.Report, remove: bool) -> Copied:
    settings = house.base.settings
    if remove and settings.media.store != "s3":
        raise CrowddError("[media] store is folder. Set it to s3 and restart the server before you remove files.")
    folder = FolderStore(settings.data.dir / "uploads", WorkerThread(reactor))
    try:
        return await stores.copy_media(folder, build_s3_store(reactor, settings.media), report, remove=remove)
    except MediaStoreError as error:
        raise CrowddError(error.reason) from None


def _mb(size: int) -> str:
    return f"{size / 1_000_000:,.1f} MB"
