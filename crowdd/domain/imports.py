"""Tasks that come as a file: looked at first, then made by the queue, a thousand rows at a time.

Each step is one transaction that adds the tasks of its rows, keeps the rows that were refused, and says how far it is:
whoever is killed half-way goes on there, and no row is taken twice or left out.
"""

from __future__ import annotations

import secrets as random
import shutil
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import attrs

from crowdd.domain import rights, sources
from crowdd.domain.import_rows import checked, task_of, usual
from crowdd.domain.outgoing import Outgoing
from crowdd.domain.people.workshop import Workshop
from crowdd.domain.queue import Item, Queue
from crowdd.domain.quota import Quota
from crowdd.domain.records import NOT_FOUND
from crowdd.errors import ConflictError, InvalidValueError, NotFoundError, TooLargeError, TooManyRequestsError
from crowdd.kinds.kind import OWNERS
from crowdd.languages import _
from crowdd.storage import audit, imports, records, tasks
from crowdd.storage.database import Database, Row, Transactions
from crowdd.values import Requester

WORK = "import_tasks"
CHUNK = 1000  # rows of one transaction
CHUNK_BYTES = 2_000_000  # about so much of them in memory at once
SHOWN_ROWS = 5
MOST_PENDING = 20  # files of a project that wait for a word
MAX_PENDING_OF_ACCOUNT = 20  # files of one person that do, over all projects
MAX_AT_ONCE = 3  # files of one person that are copied or downloaded at a time
KEPT_DAYS, PENDING_DAYS = 14, 2
FETCH_SECONDS = 60.0
_OK = 200
_A_DAY = 86_400.0


@attrs.frozen
class Chunk:
    """Some rows of a file: tasks to make, rows that were refused, and how many rows these are."""

    rows: int
    tasks: list[dict[str, Any]]
    refused: list[dict[str, Any]]


class Imports:
    """Bringing tasks, for pages and command line alike. Files lie below ``folder`` until they are done."""

    def __init__(
        self,
        db: Transactions,
        ring: Callable[[int], None],
        queue: Queue,
        outgoing: Outgoing,
        workshop: Workshop,
        folder: Path,
        most_bytes: int,
        quota: Quota,
    ) -> None:
        self._quota = quota
        self._db, self._ring, self._queue = db, ring, queue
        self._outgoing, self._workshop = outgoing, workshop
        self._folder, self.most_bytes = folder, most_bytes
        self._bringing: Counter[int | None] = Counter()  # files on their way, by person

    async def bring(self, who: Requester, row: Row, name: str, source: BinaryIO) -> int:
        """The id of a new import from an open file. Raises InvalidValueError where nothing of it can be used.

        TooManyRequestsError: enough files of the project or the person wait already, or one of theirs is on its way.
        """
        rights.require(who, row["standings"], OWNERS)
        return await self._alone(who, row, partial(self._bring, who, row, name, source))

    async def fetch(self, who: Requester, row: Row, url: str) -> int:
        """The same from an address. Raises RefusedTargetError, UnreachableError, InvalidValueError, TooLargeError."""
        rights.require(who, row["standings"], OWNERS)
        return await self._alone(who, row, partial(self._fetch, who, row, url))

    async def _alone(self, who: Requester, row: Row, work: Callable[[], Awaitable[int]]) -> int:
        """The work, unless the limits are reached; they are looked at before anything is copied or asked for."""
        me = who.user_id
        if self._bringing[me] >= MAX_AT_ONCE:
            raise TooManyRequestsError(
                _("Other files of yours are being read. Wait until one is done."), retry_after=10
            )
        self._bringing[me] += 1
        try:
            pending = await imports.pending(self._db, row["id"], me)
            if pending["project"] >= MOST_PENDING:
                raise _too_many(MOST_PENDING)
            if me is not None and pending["person"] + self._bringing[me] > MAX_PENDING_OF_ACCOUNT:
                raise _too_many(MAX_PENDING_OF_ACCOUNT)
            return await work()
        finally:
            self._bringing[me] -= 1
            self._bringing += Counter()  # keeps those above 0

    async def _bring(self, who: Requester, row: Row, name: str, source: BinaryIO) -> int:
        path = self._new_file()
        await self._workshop.do(_copy, source, path)
        return await self._look(who, row, name, path)

    async def _fetch(self, who: Requester, row: Row, url: str) -> int:
        path = self._new_file()
        try:
            with path.open("wb") as file:
                reply = await self._outgoing.request(
                    "GET", url, seconds=FETCH_SECONDS, most_bytes=self.most_bytes, sink=file.write
                )
            _require_good(reply.status, reply.headers.get("location", ""))
            if not reply.whole:
                raise TooLargeError(_("The file has more than %(most)s bytes.", most=f"{self.most_bytes:,}"))
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return await self._look(who, row, url[:500], path)

    def _new_file(self) -> Path:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self._folder / random.token_hex(16)

    async def _look(self, who: Requester, row: Row, name: str, path: Path) -> int:
        try:
            found = await self._workshop.do(sources.inspect, path, SHOWN_ROWS)
            values = {
                "name": _printable(name),
                "format": found.format,
                "file": path.name,
                "bytes": path.stat().st_size,
                "rows": found.rows,
                "columns": [name for name in found.columns if "\x00" not in name],
                "sample": [_short(each) for each in found.sample],
            }
            made = await imports.add(self._db, row["id"], who.user_id, values, MOST_PENDING)
            if made is None:
                raise _too_many(MOST_PENDING)
            return made
        except BaseException:
            path.unlink(missing_ok=True)
            raise

    async def get(self, who: Requester, row: Row, import_id: int) -> Row:
        """An import of a project. Raises NotFoundError."""
        rights.require(who, row["standings"], OWNERS)
        found = await imports.get(self._db, row["id"], import_id) if import_id < 2**63 else None
        if found is None:
            raise NotFoundError(NOT_FOUND)
        return {**found, "usual": usual(found["format"], found["columns"])}

    async def newest(self, who: Requester, row: Row, most: int = 10) -> list[Row]:
        """The newest imports of a project."""
        rights.require(who, row["standings"], OWNERS)
        return await imports.newest(self._db, row["id"], most)

    async def begin(self, who: Requester, row: Row, import_id: int, uses: Any = None, again: bool = False) -> int:
        """Has the tasks made; ``uses`` says what each column becomes, as usual unless given. The item of the queue.

        ``again``: rows that are tasks of the project already are taken once more. Raises InvalidValueError,
        NotFoundError, ConflictError when it has begun already.
        """
        found = await self.get(who, row, import_id)
        chosen = checked(found["usual"] if uses is None else uses, found["columns"])

        async def work(tx: Database) -> int:
            if await imports.lock_pending(tx, row["id"], import_id) is None:
                raise ConflictError(_("This import has begun already."))
            item = await self._queue.add(tx, WORK, {"import": import_id}, who, row["id"])
            await imports.begin(tx, import_id, chosen, again, item)
            after = {"name": found["name"], "rows": found["rows"]}
            await audit.write(tx, who, "import", "project", row["id"], project_id=row["id"], after=after)
            return item

        return await self._db.transaction(work)

    async def forget(self, who: Requester, row: Row, import_id: int) -> None:
        """Drops a file that has not begun. Raises NotFoundError."""
        rights.require(who, row["standings"], OWNERS)
        file = await imports.forget(self._db, row["id"], import_id)
        if file is None:
            raise NotFoundError(NOT_FOUND)
        (self._folder / file).unlink(missing_ok=True)

    async def errors(self, who: Requester, row: Row, import_id: int, after: int, most: int) -> list[Row]:
        """Refused rows of an import behind a line: line, reason, text."""
        await self.get(who, row, import_id)
        return await imports.errors(self._db, import_id, after, most)

    async def carry_on(self, item: Item) -> dict[str, object]:
        """Makes the tasks, from where an earlier attempt came to. Raises NotFoundError when the file is gone."""
        project_id, import_id = int(item.project_id or 0), int(item.arguments["import"])
        found = await imports.get(self._db, project_id, import_id)
        if found is None:
            raise NotFoundError("The import has been removed.")
        if found["ended"] is None:
            await self._require(self._db, item.who, project_id)
            await self._take(item, found)
        ended = await imports.end(self._db, import_id)
        (self._folder / ended["file"]).unlink(missing_ok=True)
        return {"import": import_id, **{name: ended[name] for name in ("added", "present", "refused")}}

    async def _take(self, item: Item, found: Row) -> None:
        path = self._folder / found["file"]
        if not path.is_file():
            raise NotFoundError("The file is gone. Bring it once more: what was taken of it is not taken twice.")
        taken = int((item.checkpoint or {}).get("rows", 0))
        with path.open("rb") as file:
            lines = sources.lines(found["format"], file)
            await self._workshop.do(_pass, lines, taken)
            while (chunk := await self._workshop.do(chunk_of, lines, found["uses"])).rows:
                taken += chunk.rows
                await self._db.transaction(self._step(item, found, chunk, taken))
                self._ring(found["project_id"])

    def _step(self, item: Item, found: Row, chunk: Chunk, taken: int) -> Any:
        async def step(tx: Database) -> None:
            await tasks.hold_imports(tx, found["project_id"])
            await self._require(tx, item.who, found["project_id"])
            new = chunk.tasks if found["again"] else await _missing(tx, found["project_id"], chunk.tasks)
            if new:
                await tasks.add(tx, found["project_id"], new)
            await imports.count(tx, found["id"], len(new), len(chunk.tasks) - len(new), chunk.refused)
            await item.progress(taken, found["rows"], {"rows": taken}, within=tx)
            await self._quota.require(tx, item.who)

        return step

    async def _require(self, db: Database, who: Requester, project_id: int) -> None:
        standings = await records.standings_to_project(db, project_id, who)
        if standings is None:
            raise NotFoundError("The project has been deleted meanwhile.")
        rights.require(who, standings, OWNERS)

    async def sweep(self, now: float) -> int:
        """Removes what is over: imports that ended long ago, files that nobody wants. ``now`` in epoch seconds."""
        gone = await imports.sweep(self._db, KEPT_DAYS, PENDING_DAYS)
        wanted = await imports.files(self._db)
        for path in self._folder.iterdir() if self._folder.is_dir() else ():
            if path.name not in wanted and now - path.stat().st_mtime > _A_DAY:
                path.unlink(missing_ok=True)
        return gone


def chunk_of(lines: Iterator[sources.Line], uses: dict[str, str]) -> Chunk:
    """The next rows as tasks, as many as one transaction should take; none at the end."""
    rows, size = 0, 0
    made: list[dict[str, Any]] = []
    refused: list[dict[str, Any]] = []
    for line in islice(lines, CHUNK):
        rows += 1
        try:
            if line.values is None:
                raise InvalidValueError(line.error)
            size += sum(len(str(value)) for value in line.values.values())
            made.append(task_of(line.values, uses))
        except InvalidValueError as error:
            text = line.text or _beginning(line.values)
            refused.append({"line": line.number, "reason": str(error)[:500], "text": _printable(text)})
        if size > CHUNK_BYTES:
            break
    return Chunk(rows, made, refused)


async def _missing(tx: Database, project_id: int, made: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those that the project does not have, each once."""
    if not made:
        return []
    seen: set[str] = set()
    new = []
    for values, known in zip(made, await imports.known(tx, project_id, [v["info"] for v in made]), strict=True):
        if not known["present"] and known["digest"] not in seen:
            seen.add(known["digest"])
            new.append(values)
    return new


def _too_many(most: int) -> TooManyRequestsError:
    words = _("%(most)s files wait for a word of yours already.", most=most)
    return TooManyRequestsError(words, retry_after=60, hint="Begin or remove one of them.")


def _copy(source: BinaryIO, path: Path) -> None:
    source.seek(0)
    with path.open("wb") as target:
        shutil.copyfileobj(source, target)


def _pass(lines: Iterator[sources.Line], rows: int) -> None:
    for _line in islice(lines, rows):
        pass


def _require_good(status: int, location: str) -> None:
    if location:
        words = _("The address leads on to another one; give that one: %(address)s", address=location[:300])
        raise InvalidValueError(words)
    if status != _OK:
        raise InvalidValueError(_("The other server answered %(status)s.", status=status))


def _beginning(values: dict[str, Any] | None) -> str:
    return ", ".join(str(value)[:100] for value in (values or {}).values())[:200]


def _short(values: dict[str, Any]) -> dict[str, str]:
    """The first rows as texts for people."""
    shown = {name: value for name, value in values.items() if "\x00" not in name}
    return {name: _printable(value if isinstance(value, str) else str(value)) for name, value in shown.items()}


def _printable(text: str) -> str:
    """A text that can be stored and shown, its beginning."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text[:200])
