"""What leaves a project in files: tasks, answers, results, as JSON and CSV, made while they are read."""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import attrs

from crowdd.domain import rights
from crowdd.domain.cells import cell
from crowdd.errors import InvalidValueError, NotFoundError
from crowdd.kinds import RESULT, TASK, TASK_RUN, Kind
from crowdd.kinds.kind import OWNERS, Field, Standing
from crowdd.languages import _
from crowdd.storage import exports
from crowdd.storage.database import Database, Row
from crowdd.values import Requester

KINDS: Mapping[str, Kind] = {"task": TASK, "task_run": TASK_RUN, "result": RESULT}
FORMATS: Mapping[str, str] = {"json": "application/json", "csv": "text/csv; charset=utf-8"}
PART = 500  # rows of one statement, and of one write
MOST_KEYS = 200  # columns of a table that are keys of info
_COUNTED = {"task": "n_tasks", "task_run": "n_task_runs", "result": "n_results"}
Named = Sequence[int] | None  # tasks; None: all
_FRAME_BYTES = 450  # of a row as JSON, beside its info


@attrs.frozen
class File:
    """A file on its way: its name, its type, and its content in parts, which cost something only when asked for."""

    name: str
    content_type: str
    parts: AsyncIterator[bytes] = attrs.field(repr=False)


class Exports:
    """Files of a project, for pages, API and command line alike."""

    def __init__(self, db: Database, base_url: str, mask: bytes) -> None:
        self._db, self._base_url, self._mask = db, base_url, mask

    def require(self, who: Requester, row: Row) -> None:
        """Owners always; others where answers are open (``zip_download``) and the project is listed for them."""
        if not row["zip_download"]:
            rights.require(who, row["standings"], OWNERS)
        rights.require(who, row["standings"], TASK_RUN.rights.see)

    def file(
        self, who: Requester, row: Row, type_: str, format_: str, *, raw: bool = False, named: Named = None
    ) -> File:
        """The rows of a kind (``type_``: one of KINDS) of a project (a row of ``Projects.page``), those there are now.

        ``named``: only of these tasks. Each row is what its kind shows the requester. In a table no text is a formula,
        unless ``raw``. Raises NotFoundError, InvalidValueError for another format, ForbiddenError, AnonymousError.
        """
        if type_ not in KINDS:
            raise NotFoundError("404 Not Found", hint=f"type is one of {', '.join(KINDS)}.")
        if format_ not in FORMATS:
            raise InvalidValueError(_("%(name)s is one of %(choices)s.", name="format", choices=", ".join(FORMATS)))
        self.require(who, row)
        kind, standings = KINDS[type_], row["standings"]
        of = exports.Part(row["id"], 0, PART, named, complete_only(row), self._mask)
        parts = self._json(kind, standings, of) if format_ == "json" else self._csv(kind, standings, of, raw)
        return File(f"{row['id']}_{row['short_name']}_{type_}.{format_}", FORMATS[format_], parts)

    async def sizes(self, row: Row) -> list[dict[str, Any]]:
        """What there is: ``type``, ``rows`` and about how many ``bytes`` as JSON."""
        found = await exports.sizes(self._db, row["id"])
        counts = {type_: int(row[_COUNTED[type_]]) for type_ in KINDS}
        return [
            {"type": type_, "rows": n, "bytes": round(n * (found[type_] + _FRAME_BYTES))} for type_, n in counts.items()
        ]

    async def _json(self, kind: Kind, standings: frozenset[Standing], of: exports.Part) -> AsyncIterator[bytes]:
        after, begin = 0, "[\n"
        of = attrs.evolve(of, upto=await exports.last_id(self._db, kind, of.project_id))
        while rows := await exports.as_json(self._db, kind, standings, self._base_url, of, after):
            yield (begin + ",\n".join(row["body"] for row in rows)).encode()
            begin, after = ",\n", rows[-1]["id"]
        yield b"[]\n" if begin == "[\n" else b"\n]\n"

    async def _csv(
        self, kind: Kind, standings: frozenset[Standing], of: exports.Part, raw: bool
    ) -> AsyncIterator[bytes]:
        fields = [field for field in kind.fields if field.read & standings or field.name in kind.reduced]
        keys = await exports.info_keys(self._db, kind, of.project_id, MOST_KEYS, complete=of.complete)
        after, of = 0, attrs.evolve(of, upto=await exports.last_id(self._db, kind, of.project_id))
        # The mark says UTF-8 to spreadsheets; programs that read "utf-8-sig" do not see it.
        yield b"\xef\xbb\xbf" + _lines([[cell(name, raw=raw) for name in _names(fields, keys)]])
        while rows := await exports.as_columns(self._db, kind, fields, standings, of, after):
            yield _lines([_cells(row, fields, keys, raw) for row in rows])
            after = rows[-1]["id"]


def complete_only(row: Row) -> bool:
    """Whether those who see a project (its row) see the answers to its complete tasks only."""
    return row["info"].get("answers_when_complete") is True and not row["standings"] & OWNERS


def _names(fields: Sequence[Field], keys: Sequence[str]) -> list[str]:
    return [*(field.name for field in fields), *(f"info_{key}" for key in keys)]


def _cells(row: Row, fields: Sequence[Field], keys: Sequence[str], raw: bool) -> list[str]:
    """A row as texts: its attributes, ``info`` as JSON so that nothing is lost, and its keys one by one."""
    info = row["info"]
    held = info if isinstance(info, dict) else {}
    own = [cell(row[field.name], raw=raw) for field in fields]
    return [*own, *(cell(held.get(key), raw=raw) for key in keys)]


def _lines(rows: Sequence[Sequence[str]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    return text.getvalue().encode()
