"""Sending a stored file to a client, whole or the part that it asks for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from crowdd.features.media.store import StoredMedia
from crowdd.http.edge import downloads
from crowdd.http.request import Incoming
from crowdd.http.responses import FileResponse, PiecesResponse, Response


def answer_media(
    incoming: Incoming, media: StoredMedia, headers: Mapping[str, str], begin: int = 0, end: int | None = None
) -> Response:
    """The file, or what lies between two places of it, with its type."""
    size = (media.size if end is None else end) - begin
    return downloads.answer_file(incoming, media.etag, size, media.type, headers, partial(_sent, media, begin))


def _sent(media: StoredMedia, at: int, begin: int, end: int, status: int, headers: dict[str, str]) -> Response:
    begin, end = at + begin, at + end
    if media.path is not None:
        return FileResponse(media.path, media.type, begin, end, status, headers)
    if media.pieces is None:
        raise ValueError(media)
    return PiecesResponse(media.pieces(begin, end), end - begin, media.type, status, headers)
