"""Collects the canvases of a manifest or of a whole collection into one file of rows, document by document.

Documents are fetched like any address that an owner gives, so nothing inside the server's network is asked. What was
fetched is kept in a journal beside the file: a line for each row, and one for each document that is done. After a kill
the rows behind the last such line are dropped, and the next document is fetched.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import attrs
import orjson

from crowdd.core.outbound.client import Outgoing
from crowdd.features.imports.files import Dialect
from crowdd.features.imports.files.reading import read_about
from crowdd.features.imports.prepared.iiif import MAX_MANIFEST_BYTES
from crowdd.features.imports.prepared.process import SUFFIX, prepare
from crowdd.features.imports.prepared.rows_file import RowsFile
from crowdd.kernel.concurrency.worker_thread import WorkerThread
from crowdd.kernel.errors import CrowddError, InvalidValueError, RefusedTargetError, TooLargeError, UnreachableError
from crowdd.kernel.languages import _

MAX_DOCUMENTS = 1000  # of a collection
MAX_DEPTH = 5  # of collections in collections
MAX_SERVERS = 50  # of the media of one document
MAX_JOURNAL = 400_000_000  # bytes of rows
MAX_FAILURES = 20  # documents in a row that could not be fetched
FETCH_SECONDS = 30.0
JOURNAL = ".journal"
_OK = 200
MEDIA = ("picture", "sound", "video", "service")
_DONE = b"."  # begins the line of a document that is done
Progress = Callable[[int, int], Awaitable[None]]


@attrs.define
class _State:
    """Documents to fetch, each with its depth; what has been seen, fetched and failed; the ``size`` of the journal."""

    todo: deque[tuple[str, int]] = attrs.field(factory=deque)
    seen: set[str] = attrs.field(factory=set)
    done: int = 0
    bytes: int = 0
    failures: int = 0
    size: int = 0

    def take(self, entry: dict[str, Any]) -> None:
        """Counts a document that is done: ``depth``, ``bytes``, ``failed``, and ``references`` to others."""
        if self.todo:
            self.todo.popleft()
        self.done += 1
        self.bytes += entry["bytes"]
        self.failures = self.failures + 1 if entry["failed"] else 0
        new = [each for each in entry["references"] if each not in self.seen]
        self.seen.update(new)
        self.todo.extend((each, entry["depth"] + 1) for each in new)


class CollectionReader:
    """Turns IIIF documents into rows. ``max_bytes`` are for all documents of a collection."""

    def __init__(self, outgoing: Outgoing, worker_thread: WorkerThread, max_bytes: int) -> None:
        self._outgoing, self._worker_thread, self._max_bytes = outgoing, worker_thread, max_bytes

    async def read(self, path: Path, dialect: Dialect, progress: Progress | None) -> Path | None:
        """The file of rows of a document. None where others have to be fetched, and there is no ``progress`` to tell.

        Raises InvalidValueError for a document that is no manifest and no collection.
        """
        rows = path.with_name(path.name + SUFFIX)
        if rows.is_file():
            return rows
        journal = path.with_name(path.name + JOURNAL)
        state = await self._worker_thread.do(_resumed, journal)
        if not state.done:
            await self._take(journal, state, await self._read(path, dialect), 0)
        if state.todo and progress is None:
            return None
        while state.todo and progress is not None:
            stop = self._stop(state)
            if stop:
                await self._worker_thread.do(_append, journal, [_refusal(stop, state.todo[0][0])], None)
                break
            address, depth = state.todo[0]
            await self._take(journal, state, await self._fetched(path, address, depth, dialect), depth)
            await progress(state.done, state.done + len(state.todo))
        await self._worker_thread.do(_finish, journal, rows, {"format": dialect.format, "chosen": dialect.options()})
        return rows

    def _stop(self, state: _State) -> str:
        """Why the documents that are left are not fetched; "" to go on."""
        more = {"left": f"{len(state.todo):,}"}
        if state.done >= MAX_DOCUMENTS:
            maximum = f"{MAX_DOCUMENTS:,}"
            return _("A collection has at most %(max)s documents. %(left)s more were left out.", max=maximum, **more)
        if state.bytes >= self._max_bytes or state.size >= MAX_JOURNAL:
            return _("The documents of the collection are too large together. %(left)s more were left out.", **more)
        if state.failures >= MAX_FAILURES:
            failed = MAX_FAILURES
            return _("%(n)s documents in a row could not be read. %(left)s more were left out.", n=failed, **more)
        return ""

    async def _take(self, journal: Path, state: _State, document: _Found, depth: int) -> None:
        """Writes down what a document has."""
        references = document.references if depth < MAX_DEPTH else []
        refusals = [*document.refusals]
        if document.references and not references:
            words = _("Collections are nested more than %(max)s levels deep.", max=MAX_DEPTH)
            refusals.append(_refusal(words, document.references[0]))
        entry = {"depth": depth, "bytes": document.size, "failed": document.failed, "references": references}
        try:
            judged = () if document.rows is None else _judged_rows(document.rows, await self._verdicts(document.rows))
            lines = chain(refusals, judged)
            state.size = await self._worker_thread.do(_append, journal, lines, entry)
        finally:
            if document.rows is not None:
                await self._worker_thread.do(_discard, document.rows)
        state.take(entry)

    async def _fetched(self, path: Path, address: str, depth: int, dialect: Dialect) -> _Found:
        """What a document has that is fetched; where that fails, a refused row."""
        file = path.with_name(f"{path.name}.document")
        try:
            with file.open("wb") as out:
                reply = await self._outgoing.fetch(
                    address, seconds=FETCH_SECONDS, max_bytes=MAX_MANIFEST_BYTES, sink=out.write
                )
            if reply.status != _OK:
                raise InvalidValueError(_("The other server returned status %(status)s.", status=reply.status))
            if not reply.whole:
                raise TooLargeError(_("The file has more than %(maximum)s bytes.", maximum=f"{MAX_MANIFEST_BYTES:,}"))
            return await self._read(file, dialect)
        except (InvalidValueError, TooLargeError, UnreachableError, RefusedTargetError) as error:
            return _Found(None, [], 0, [_refusal(str(error), address)])
        finally:
            await self._worker_thread.do(_discard, file)

    async def _read(self, file: Path, dialect: Dialect) -> _Found:
        """What is in one document."""
        rows = await self._worker_thread.do(prepare, file, dialect)
        summary = await self._worker_thread.do(read_about, rows)
        return _Found(rows, summary["references"], file.stat().st_size)

    async def _verdicts(self, rows: Path) -> dict[str, str]:
        """Why media of a document are refused, by the scheme and server of their address; "" where they are not."""
        verdicts = {}
        for server, address in (await self._worker_thread.do(_servers, rows)).items():
            verdicts[server] = ""
            try:
                await self._outgoing.require_public(address)
            except UnreachableError:
                continue  # the name has no address now, so it leads nowhere
            except CrowddError as error:
                verdicts[server] = str(error)
        return verdicts


@attrs.frozen
class _Found:
    """What a document has: a file of rows, ``references``, and its ``size`` in bytes. Without rows it was not read."""

    rows: Path | None
    references: list[str]
    size: int
    refusals: list[bytes] = attrs.field(factory=list)

    @property
    def failed(self) -> bool:
        """Whether it could not be read."""
        return self.rows is None


def _refusal(reason: str, text: str) -> bytes:
    return b"!" + orjson.dumps({"": reason, "text": text[:200]}) + b"\n"


def _media(row: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The addresses in a row, each with its scheme and server."""
    for name in MEDIA:
        if address := row.get(name):
            yield "/".join(address.split("/", 3)[:3]), address


def _servers(rows: Path) -> dict[str, str]:
    """The first MAX_SERVERS servers of a document's media, each with an address there."""
    addresses: dict[str, str] = {}
    for line in _lines(rows):
        for server, address in () if line.startswith(b"!") else _media(orjson.loads(line)):
            if len(addresses) < MAX_SERVERS:
                addresses[server] = address
    return addresses


def _judged_rows(rows: Path, verdicts: Mapping[str, str]) -> Iterator[bytes]:
    """The rows of a document, with a refusal for each whose media nobody outside could open."""
    others = _("The media of the document are on more than %(max)s servers.", max=MAX_SERVERS)
    for line in _lines(rows):
        media = [] if line.startswith(b"!") else [*_media(orjson.loads(line))]
        bad = next(((verdicts.get(server, others), at) for server, at in media if verdicts.get(server, others)), None)
        yield line if bad is None else _refusal(*bad)


def _lines(rows: Path) -> Iterator[bytes]:
    """The lines of a file of rows behind its first."""
    with rows.open("rb") as lines:
        next(lines)
        yield from lines


def _resumed(journal: Path) -> _State:
    """Where a journal has come to; what stands behind its last document is dropped."""
    state, at = _State(), 0
    if not journal.is_file():
        return state
    with journal.open("r+b") as file:
        for line in file:
            at += len(line)
            if line.startswith(_DONE) and line.endswith(b"\n"):
                state.take(orjson.loads(line[1:]))
                state.size = at
        file.truncate(state.size)
    return state


def _append(journal: Path, lines: Iterable[bytes], entry: dict[str, object] | None) -> int:
    """Adds lines; how many bytes the journal has then."""
    with journal.open("ab") as file:
        file.writelines(lines)
        if entry is not None:
            file.write(_DONE + orjson.dumps(entry) + b"\n")
        return file.tell()


def _rows(journal: Path) -> Iterator[bytes]:
    with journal.open("rb") as file:
        yield from (line for line in file if not line.startswith(_DONE))


def _finish(journal: Path, rows: Path, summary: dict[str, object]) -> None:
    """Makes the file of rows of a journal."""
    draft = rows.with_name(f"{rows.name}.draft")
    out = RowsFile(draft, summary)
    for line in _rows(journal):
        out.write(line.rstrip(b"\n"))
    out.close()
    draft.replace(rows)
    journal.unlink()


def _discard(file: Path) -> None:
    file.unlink(missing_ok=True)
