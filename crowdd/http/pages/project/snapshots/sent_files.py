"""Files of snapshots as responses: whole, or the part that a client asks for."""

from __future__ import annotations

from urllib.parse import quote

from crowdd.domain.transfer.snapshots.snapshots import GivenFile
from crowdd.http import partial_content
from crowdd.http.html.presenter import api_headers
from crowdd.http.request import Incoming
from crowdd.http.responses import PiecesResponse, Response


def sent_file(incoming: Incoming, file: GivenFile, content_type: str) -> Response:
    """A file to keep. No cache has it, because its snapshot may be closed or deleted, but its tag stays the same."""
    headers = {
        **api_headers(),
        "Cache-Control": "private, no-cache",
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(file.name, safe='')}",
        "X-Accel-Buffering": "no",
    }

    def sent(begin: int, end: int, status: int, response_headers: dict[str, str]) -> Response:
        return PiecesResponse(file.pieces(begin, end), end - begin, content_type, status, response_headers)

    return partial_content.answered(incoming, file.etag, file.size, content_type, headers, sent)
