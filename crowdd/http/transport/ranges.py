"""Parts of a file that a client asks for (RFC 9110, 14)."""

from __future__ import annotations

import re

_ONE = re.compile(r"bytes=(?:(\d{1,18})-(\d{0,18})|-(\d{1,18}))", re.IGNORECASE)


def wanted(header: str, size: int) -> tuple[int, int] | None:
    """First byte and end of the one range that a Range header names; None: the whole file.

    A header with several ranges, or one that is no range, is ignored, as the standard allows. Raises ValueError for a
    range of which the file has nothing.
    """
    match = _ONE.fullmatch(header.strip())
    if match is None:
        return None
    first, last, tail = match.groups()
    begin = max(size - int(tail), 0) if tail is not None else int(first)
    end = min(int(last) + 1, size) if last else size
    if tail is None and last and int(last) < int(first):
        return None
    if begin >= end:
        raise ValueError(header)
    return begin, end
