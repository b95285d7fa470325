"""Whether there is room for another file of media, decided before any byte of it is taken."""

from __future__ import annotations

import attrs

from crowdd.features.batches.rows import MediaTotals, Unfinished
from crowdd.kernel.config.data import UploadSettings
from crowdd.kernel.errors import CrowddError, ForbiddenError, InvalidValueError, TooLargeError, TooManyRequestsError
from crowdd.kernel.languages import _

_MB = 1_000_000


@attrs.frozen
class Demand:
    """What a file asks for: its bytes, and how many files its batch would have. ``exempt``: no quota counts."""

    bytes: int
    batch_files: int
    exempt: bool = False


def refusal(
    limits: UploadSettings, max_account_bytes: int, demand: Demand, open_: Unfinished, totals: MediaTotals
) -> CrowddError | None:
    """Why a file is not taken; None if there is room. ``max_account_bytes`` 0: no limit.

    ``totals`` does not have what is arriving, so that is counted on. What a file becomes is about as large as the file.
    """
    if demand.bytes < 0:
        return InvalidValueError(_("The size of a file must be 0 or more bytes."))
    if demand.bytes > limits.max_file_bytes:
        words = _(
            "The file has %(size)s. A file may have at most %(maximum)s.",
            size=mb(demand.bytes),
            maximum=mb(limits.max_file_bytes),
        )
        return TooLargeError(words, code="file_too_large")
    if demand.batch_files > limits.max_batch_files:
        words = _(
            "A batch has at most %(maximum)s files. Start another one for the rest.",
            maximum=f"{limits.max_batch_files:,}",
        )
        return ForbiddenError(words, code="batch_full")
    if demand.exempt:
        return None
    return _no_quota(limits, max_account_bytes, demand, open_, totals) or _too_much_open(limits, demand, open_)


def _no_quota(
    limits: UploadSettings, max_account_bytes: int, demand: Demand, open_: Unfinished, totals: MediaTotals
) -> CrowddError | None:
    left = max_account_bytes - totals.owner_bytes - open_.owner_bytes
    if max_account_bytes and demand.bytes > left:
        words = _(
            "The file has %(size)s, but the projects of this account have only %(left)s left of %(maximum)s.",
            size=mb(demand.bytes), left=mb(max(0, left)), maximum=mb(max_account_bytes),
        )  # fmt: skip
        return ForbiddenError(words, code="quota_exceeded", hint="Delete something, or ask the operator for more.")
    left = limits.max_site_bytes - totals.site_bytes - open_.site_bytes
    if limits.max_site_bytes and demand.bytes > left:
        words = _(
            "The file has %(size)s, but this site has only %(left)s left for files. Ask its operator.",
            size=mb(demand.bytes), left=mb(max(0, left)),
        )  # fmt: skip
        return ForbiddenError(words, code="site_full")
    return None


def _too_much_open(limits: UploadSettings, demand: Demand, open_: Unfinished) -> CrowddError | None:
    files = max(open_.person_files, open_.project_files)
    bytes_ = max(open_.person_bytes, open_.project_bytes)
    if files >= limits.max_open_files or bytes_ + demand.bytes > limits.max_open_bytes:
        words = _(
            "%(count)s of your files (%(size)s) are still being uploaded or prepared. Wait until some are done.",
            count=f"{files:,}",
            size=mb(bytes_),
        )
        return TooManyRequestsError(words, retry_after=30, code="uploads_full")
    if open_.site_bytes + demand.bytes > limits.max_site_open_bytes:
        words = _("This site is preparing many files. Wait until some are done.")
        return TooManyRequestsError(words, retry_after=60, code="uploads_full")
    return None


def mb(size: int) -> str:
    """A number of bytes for people: MB, or kB below one."""
    return f"{size / _MB:,.0f} MB" if size >= _MB else f"{-(-size // 1000):,} kB"
