"""Files of snapshots as responses: whole, or the part that a client asks for."""

from __future__ import annotations

from urllib.parse import quote

from crowdd.domain.transfer.snapshots.snapshots import GivenFile
from crowdd.http import partial_content
from crowdd.http.html.presenter import api_headers
from crowdd.http.request import Incoming
from crowdd.http.responses import PiecesResponse, Response


def sent_file(incoming: Incoming, given: GivenFile, content_type: str) -> Response:
    """A file to keep. No cache has it, because its snapshot may be closed or deleted, but its tag stays the same."""
    headers = {
        **api_headers(),
        "Cache-Control": "private, no-cache",
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(given.name, safe='')}",
        "X-Accel-Buffering": "no",
    }

    def sent(begin: int, end: int, status: int, said: dict[str, str]) -> Response:
        return PiecesResponse(given.pieces(begin, end), end - begin, content_type, status, said)

    return partial_content.answered(incoming, given.etag, given.size, content_type, headers, sent)
