"""Files of media that arrive in parts, by the tus protocol (``crowdd.http.edge.tus``)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Final
from urllib.parse import quote

from crowdd.features.batches import made_files
from crowdd.features.batches.batches import Batches
from crowdd.features.batches.rows import MediaFile
from crowdd.features.media.incoming_files import ChecksumError, LockedFileError, Part, WrongOffsetError
from crowdd.features.projects.projects import Projects
from crowdd.http import queries
from crowdd.http.edge import tus
from crowdd.http.errors import headers_of, message_of, status_of
from crowdd.http.reader_language import locale_of
from crowdd.http.request import Incoming
from crowdd.http.responses import JsonResponse, Response
from crowdd.http.routing import Route, get
from crowdd.kernel.errors import AnonymousError, ConflictError, CrowddError, InvalidValueError
from crowdd.kernel.languages import Languages
from crowdd.kernel.values import JsonObject, Values

FILES: Final = "/project/<short_name>/tasks/media/<int:batch_id>/files"
_FILE: Final = f"{FILES}/<int:file_id>"
_STATUS: Final[Mapping[type[CrowddError], int]] = {
    LockedFileError: 423,
    WrongOffsetError: 409,
    ChecksumError: 460,
    ConflictError: 409,
    InvalidValueError: 400,
}
_MAX_LIST = 1000


class MediaFiles:
    """The files of a batch: listed, created, sent in parts, removed. Errors are JSON, in the language of the page."""

    def __init__(self, projects: Projects, batches: Batches, languages: Languages) -> None:
        self._projects, self._batches, self._languages = projects, batches, languages

    def routes(self) -> Iterator[Route]:
        yield Route("OPTIONS", FILES, self.options, page=False, action="read")
        yield get(FILES, self._answered(self.list_files), page=False)
        yield Route("POST", FILES, self._answered(self.create), page=False, spooled=True)
        yield get(_FILE, self._answered(self.show), page=False)
        yield Route("PATCH", _FILE, self._answered(self.append), page=False, spooled=True)
        yield Route("DELETE", _FILE, self._answered(self.remove), page=False)

    def _answered(self, handler: Callable[..., Awaitable[Response]]) -> Callable[..., Awaitable[Response]]:
        async def answered(incoming: Incoming, **names: object) -> Response:
            try:
                return await handler(incoming, **names)
            except tus.TusError as error:
                return _failed(error.status, error.words, "tus", {})
            except AnonymousError:
                raise
            except CrowddError as error:
                statuses = (number for sort, number in _STATUS.items() if isinstance(error, sort))
                words = self._languages.say(message_of(error), locale_of(incoming))
                offset = error.offset if isinstance(error, WrongOffsetError) else None
                status = next(statuses, None) or status_of(error)[0]
                return _failed(status, words, error.code, {**headers_of(error), **tus.answer(offset)})

        return answered

    async def options(self, incoming: Incoming, short_name: str, batch_id: int) -> Response:
        """What of the protocol the server knows."""
        return JsonResponse(None, 204, tus.capabilities(self._batches.limits.max_file_bytes))

    async def list_files(self, incoming: Incoming, short_name: str, batch_id: int) -> Response:
        """Files of a batch behind the id ``after``: so a client finds those that it need not send again."""
        row = await self._projects.owned(short_name, incoming.who)
        after = queries.parse_number(incoming.query.get("after", "0"), "after", 0)
        files = await self._batches.files(incoming.who, row, batch_id, after, _MAX_LIST)
        shown = [self._shown(incoming, short_name, file) for file in files]
        return JsonResponse({"files": shown, "next": files[-1].id if len(files) == _MAX_LIST else None})

    def _shown(self, incoming: Incoming, short_name: str, file: MediaFile) -> Values:
        reason = self._languages.say(made_files.decode_reason(file.reason), locale_of(incoming)) if file.reason else ""
        return {
            "id": file.id,
            "path": file.path,
            "key": file.key.removeprefix("="),
            "bytes": file.n_bytes,
            "page": file.page,
            "state": file.state,
            "reason": reason,
            "task_id": file.task_id,
            "url": _address(short_name, file),
        }

    async def create(self, incoming: Incoming, short_name: str, batch_id: int) -> Response:
        """A new upload, with its first part if the request has one. The same ``key`` is the same upload."""
        row = await self._projects.owned(short_name, incoming.who)
        tus.require_version(incoming.headers)
        wanted = tus.creation(incoming.headers)
        name, key = wanted.metadata.get("filename", ""), wanted.metadata.get("key", "")
        file = await self._batches.create(incoming.who, row, batch_id, name, wanted.length, key)
        offset = await self._batches.offset(incoming.who, file)
        if incoming.content_type == tus.CONTENT_TYPE and not offset:
            with incoming.body_file() as (content, length):
                part = Part(0, content, length, tus.checksum(incoming.headers))
                offset = await self._batches.append(incoming.who, file, part) if length else 0
        headers = {**tus.answer(offset, expires=file.expires), "Location": _address(short_name, file)}
        return JsonResponse({"id": file.id}, 201, headers)

    async def show(self, incoming: Incoming, short_name: str, batch_id: int, file_id: int) -> Response:
        """How much of a file has come: in ``Upload-Offset``."""
        row = await self._projects.owned(short_name, incoming.who)
        file = await self._batches.file(incoming.who, row, batch_id, file_id)
        offset = await self._batches.offset(incoming.who, file)
        again = await self._batches.file(incoming.who, row, batch_id, file_id)
        shown = {**self._shown(incoming, short_name, again), "offset": offset}
        return JsonResponse(shown, 200, tus.answer(offset, file.n_bytes, again.expires))

    async def append(self, incoming: Incoming, short_name: str, batch_id: int, file_id: int) -> Response:
        """The next part of a file."""
        tus.require_version(incoming.headers)
        tus.require_content_type(incoming.content_type)
        file = await self._file(incoming, short_name, batch_id, file_id)
        with incoming.body_file() as (content, length):
            part = Part(tus.offset(incoming.headers), content, length, tus.checksum(incoming.headers))
            offset = await self._batches.append(incoming.who, file, part)
        return JsonResponse(None, 204, tus.answer(offset, expires=file.expires))

    async def remove(self, incoming: Incoming, short_name: str, batch_id: int, file_id: int) -> Response:
        """Ends an upload before it is complete."""
        tus.require_version(incoming.headers)
        file = await self._file(incoming, short_name, batch_id, file_id)
        await self._batches.remove(file)
        return JsonResponse(None, 204, tus.answer())

    async def _file(self, incoming: Incoming, short_name: str, batch_id: int, file_id: int) -> MediaFile:
        row = await self._projects.owned(short_name, incoming.who)
        return await self._batches.file(incoming.who, row, batch_id, file_id)


def _address(short_name: str, file: MediaFile) -> str:
    return f"/project/{quote(short_name)}/tasks/media/{file.batch_id}/files/{file.id}"


def _failed(status: int, words: str, code: str, headers: dict[str, str]) -> JsonResponse:
    body: JsonObject = {"code": status, "description": words, "error_code": code}
    return JsonResponse(body, status, {**tus.answer(), **headers})
