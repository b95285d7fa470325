"""``/answer-files/<word>``: a file that came with an answer, for those who may see it (interface: answer-files)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import attrs

from crowdd.core.uploads import TYPES, suffix_of
from crowdd.features.answer_files.answer_files import AnswerFiles
from crowdd.features.answer_files.feature import AnswerFilesFeature
from crowdd.features.media.feature import MediaFeature
from crowdd.features.media.sending import answer_media
from crowdd.features.media.store import MediaStore, read_part
from crowdd.http import queries
from crowdd.http.html.frames import upload_headers
from crowdd.http.request import Incoming
from crowdd.http.responses import Response
from crowdd.http.routing import Route, View, get
from crowdd.http.web import FeatureWeb
from crowdd.kernel.errors import NOT_FOUND, NotFoundError
from crowdd.kinds.answer_files import AT

_WORD: Final = re.compile(r"[0-9a-f]{40}")


class AnswerFilePages:
    """Files of answers."""

    def __init__(self, answer_files: AnswerFiles, store: MediaStore) -> None:
        self._answer_files, self._store = answer_files, store

    def routes(self) -> Iterator[Route]:
        yield get(f"{AT}<word>", self.file, page=False)

    async def file(self, incoming: Incoming, word: str) -> Response:
        """The file; with ``small``, the thumbnail of a picture."""
        if not _WORD.fullmatch(word):
            raise NotFoundError(NOT_FOUND)
        file = await self._answer_files.open(incoming.who, word)
        small = queries.parse_flag(incoming.query.get("small", ""), "small") and file.thumbnail is not None
        media = await self._store.open(str(file.thumbnail) if small else file.path)
        if media is None:
            raise NotFoundError(NOT_FOUND)
        type_ = TYPES[suffix_of(await read_part(media, 0, 16))] if small else str(file.facts["type"])
        # Frames of presenters have no origin, and no cookies that would open it: it is for our own pages alone.
        headers = {name: value for name, value in upload_headers().items() if name != "Access-Control-Allow-Origin"}
        headers |= {"Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "private, no-cache"}
        return answer_media(incoming, attrs.evolve(media, type=type_), headers)


@attrs.frozen
class AnswerFilesWeb(FeatureWeb):
    """Files of answers over HTTP."""

    answer_files: AnswerFilesFeature
    media: MediaFeature

    def views(self) -> Iterator[View]:
        yield AnswerFilePages(self.answer_files.answer_files, self.media.media_store)
