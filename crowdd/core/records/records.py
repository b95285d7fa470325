"""Records over REST: read, create, change and delete rows of every kind, and read them as JSON texts.

What all kinds share is here; what a kind does in particular when it is created, changed or deleted is its Behaviour.
PostgreSQL makes the JSON texts. Where it cannot show a value, the row comes as a view.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import attrs
import orjson

from crowdd.core import log_statements
from crowdd.core.quotas import Once, Quota
from crowdd.core.records import listing_statements, projection_statements, rights, statements
from crowdd.core.records.item_errors import SLICE, Pause, each_in_turns, refused_item
from crowdd.core.records.listing_statements import ListText, Query
from crowdd.core.records.statements import MAX_LIST_BYTES
from crowdd.core.secrets import Secrets, place
from crowdd.core.site import Exposure, Viewpoint
from crowdd.core.text import picture_addresses, rendered_text
from crowdd.core.text.rendered_text import Prose
from crowdd.core.text.words import ago
from crowdd.core.uploads import FileChanges, Upload, Uploads, with_files
from crowdd.database.access import Database, Row, Transactions
from crowdd.database.pool import SlowReads
from crowdd.kernel.concurrency.batching import Batcher, BatcherFactory
from crowdd.kernel.concurrency.cache import Cache
from crowdd.kernel.errors import (
    NOT_FOUND,
    AnonymousError,
    CrowddError,
    ForbiddenError,
    InvalidRequestError,
    InvalidValueError,
    NotFoundError,
    TooLargeError,
    at_item,
)
from crowdd.kernel.languages import _
from crowdd.kernel.requester import Requester
from crowdd.kernel.values import Values
from crowdd.kinds import KINDS
from crowdd.kinds.kind import Kind, Relation
from crowdd.kinds.project import PROJECT
from crowdd.kinds.roles import OWNERS, Role
from crowdd.kinds.types import missing, require_object

T = TypeVar("T")


Views = list[Values]
Rows = list[Row]
Match = Callable[[Values], None]
MAX_ROWS = 10_000  # of one request


def _any(view: Values) -> None:
    """Accept any version."""


class Behaviour:
    """What happens when a row of a kind is created, changed or deleted; the plain case is one row of one table."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind

    async def create(self, tx: Database, who: Requester, rows: list[Values]) -> list[int]:
        """The ids of new rows, which are parsed and allowed."""
        return [await statements.insert_row(tx, self.kind, await self.prepare(tx, who, values)) for values in rows]

    async def lock(self, tx: Database, row_id: int) -> None:
        """Makes others who change the row wait."""
        await statements.lock_row(tx, self.kind, row_id)

    async def prepare(self, tx: Database, who: Requester, values: Values) -> Values:
        """The columns of a new row: what the server adds to what was given."""
        return values

    async def change(self, tx: Database, who: Requester, row: Row, changes: Values) -> None:
        """Writes changes of a row, which are parsed and allowed."""
        await statements.update_row(tx, self.kind, row["id"], changes)

    async def attach(self, tx: Database, row: Row, upload: Upload, files: FileChanges) -> None:
        """Gives a row its file; only for kinds that have files."""
        raise InvalidRequestError(f"A {self.kind.name} cannot have a file.")

    async def delete(self, tx: Database, who: Requester, row: Row, files: FileChanges) -> None:
        """Deletes a row; rights are checked before."""
        await statements.delete_row(tx, self.kind, row["id"])


@attrs.frozen(eq=False)
class Records:
    """Lists, reads, creates, changes and deletes; every row leaves through ``view``.

    ``slow_reads`` are for lists that may read much of a table; ``pause`` lets the reactor serve others.
    """

    _db: Transactions
    _notify: Callable[[int], None]
    _secrets: Secrets
    _uploads: Uploads
    base_url: str
    _behaviours: Mapping[str, Behaviour]
    _slow_reads: SlowReads
    _prose: Prose
    _quota: Quota
    _pause: Pause

    async def list(self, query: Query, who: Requester) -> list[Values]:
        """The rows of a list that the requester may see."""
        return [self._found(query.kind, row) for row in await self._selected(query, who)]

    async def list_text(self, query: Query, who: Requester, *, large: bool = False) -> bytes:
        """The same as the JSON of an array. Between large steps the reactor serves others.

        ``large``: the rows are as many bytes as a list may have.
        """
        texts, size = list[bytes](), 0
        for row in await self._selected(query, who, large=large):
            texts += b"," if texts else b"[", orjson.dumps(self._found(query.kind, row))
            size += row["bytes"]
            if size > listing_statements.STEP_BYTES:
                await self._pause()
                size = 0
        return b"".join([*texts, b"]"] if texts else [b"[]"])

    async def list_related(self, query: Query, who: Requester) -> Views:
        """The same with the rows that belong to each (``related``)."""
        rows = await self._selected(query, who)
        views = [self._found(query.kind, row) for row in rows]
        left = MAX_LIST_BYTES - sum(row["bytes"] for row in rows)
        for name, relation in query.kind.related.items():
            fitting_count, left = await self._relate(name, relation, who, rows, views, left)
            del rows[fitting_count:], views[fitting_count:]
        return views

    async def _selected(self, query: Query, who: Requester, *, large: bool = False) -> Rows:
        return await self.in_turn(query, who, lambda db: listing_statements.select(db, query, who), large=large)

    async def in_turn(
        self, query: Query, who: Requester, select: Callable[[Database], Awaitable[T]], *, large: bool = False
    ) -> T:
        """What ``select`` reads for a list.

        Lists that may cost much, or are ``large``, are slow reads, and have less time for people without an account.
        """
        if who.via == "cli" or not (large or listing_statements.is_dear(query)):
            return await select(self._db)
        return await self._slow_reads.run(who.network, select, stranger=not who.signed_in)

    def _found(self, kind: Kind, row: Row) -> Values:
        """A row of a list; one of a full-text search says where its words were found."""
        extra: Row = {name: row[name] for name in ("headline", "rank") if name in row and name not in kind.by_name}
        return {**self.view(kind, row), **extra}

    async def _relate(
        self, name: str, relation: Relation, who: Requester, rows: Sequence[Row], views: Views, left: int
    ) -> tuple[int, int]:
        """Adds related rows to as many views as ``left`` bytes allow: how many those are, and what is left then.

        One statement for each sort of related rows, whatever the number of rows; only what the requester may see.
        """
        other, keys = KINDS[relation.kind], list(dict.fromkeys(row[relation.own] for row in rows))
        related = await statements.list_related_rows(self._db, other, relation, keys, who, max(left, 0))
        fitting_count, left = _fitting([row[relation.own] for row in rows], related, relation.theirs, left)
        views_by_key: dict[int, Views] = {}
        for row in related:
            views_by_key.setdefault(row[relation.theirs], []).append(self.view(other, row))
        for row, view in zip(rows[:fitting_count], views[:fitting_count], strict=True):
            mine = views_by_key.get(row[relation.own], [])
            view[name] = mine if relation.maximum > 1 else (mine[0] if mine else None)
        return fitting_count, left

    async def of_ids(self, kind: Kind, who: Requester, ids: Sequence[int]) -> dict[int, Values]:
        """The rows with these ids that there are and that the requester may get, by id."""
        existing_rows = await statements.list_rows(self._db, kind, ids, who)
        return {row["id"]: self.view(kind, row) for row in existing_rows if row["roles"] & kind.rights.get}

    async def get(self, kind: Kind, who: Requester, row_id: int) -> Values:
        """One row. Raises NotFoundError, AnonymousError, ForbiddenError."""
        row = await self.find(self._db, kind, who, row_id)
        rights.require(who, row["roles"], kind.rights.get)
        return self.view(kind, row)

    async def create(
        self, kind: Kind, who: Requester, body: object, upload: Upload | None = None, once: Once | None = None
    ) -> Any:
        """A new row as its maker sees it; for an array of bodies all rows, or none when one is refused.

        A request that is sent again (``once``) gets what the first one made.
        """
        many = isinstance(body, list) and kind.bulk
        bodies: Sequence[object] = bounded(body, MAX_ROWS) if isinstance(body, list) and many else [body]
        if kind.has_texts:
            await self._admit_new(kind, who, body)

        async def work(tx: Database, files: FileChanges) -> list[Values]:
            before = await once.made_before(tx) if once else None
            if before is not None:
                return await self.views_of(tx, kind, who, before)
            roles = await self._allow_creations(tx, kind, who, bodies, many)

            def parsed(one: object) -> Values:
                values = kind.creation(require_object(one))
                kind.require_writers(values, roles[values.get("project_id")])
                picture_addresses.check(kind, values, {}, self.base_url)
                return values

            rows = await each_in_turns(bodies, many, parsed, self._pause)
            ids = await refused_item(tx, rows, many, partial(self._behaviours[kind.name].create, tx, who))
            await self._attach(tx, kind, who, ids[:1], upload, files)
            if once:
                await once.keep(tx, ids)
            return await self.views_of(tx, kind, who, ids)

        made = await self._with_files(who, work)
        self._tell(kind, made)
        return made if many else made[0]

    async def require_creator(self, kind: Kind, who: Requester, project_ids: Sequence[int]) -> None:
        """Passes for those who may create rows of a kind, in one of these projects at least.

        For bodies that take long to parse: what they say is not known yet but for the projects that they may name.
        """
        if "project_id" not in kind.by_name:
            await self._allow_creation(self._db, kind, who, None)
            return
        refusal: CrowddError = missing("project_id")
        if not project_ids and not who.signed_in:
            refusal = AnonymousError("Only signed-in people may do this.")
        for project_id in project_ids:
            try:
                await self._allow_creation(self._db, kind, who, project_id)
                return
            except (AnonymousError, ForbiddenError, NotFoundError) as error:
                refusal = error
        raise refusal

    async def require_role(self, kind: Kind, who: Requester, row_id: int, roles: frozenset[Role]) -> None:
        """Passes for those who have one of these roles towards a row.

        Raises NotFoundError, AnonymousError, ForbiddenError.
        """
        row = await self.find(self._db, kind, who, row_id)
        rights.require(who, row["roles"], roles)

    async def change(
        self, kind: Kind, who: Requester, row_id: int, body: object, upload: Upload | None = None, match: Match = _any
    ) -> Values:
        """A changed row as its owner sees it (interface: record-change). ``match`` may refuse the row as it is."""
        if kind.has_texts:
            await self._admit_changed(kind, who, row_id, body)

        async def work(tx: Database, files: FileChanges) -> Values:
            row = await self._locked(tx, kind, who, row_id, kind.rights.update)
            match(self.view(kind, row))
            changes = kind.change(self._open(kind, row), require_object(body), row["roles"])
            if changes:
                picture_addresses.check(kind, changes, row, self.base_url)
                await self._behaviours[kind.name].change(tx, who, row, changes)
            await self._attach(tx, kind, who, [row_id], upload, files)
            return self.view(kind, await self.find(tx, kind, who, row_id))

        changed = await self._with_files(who, work)
        self._tell(kind, [changed])
        return changed

    async def _with_files(self, who: Requester, work: Callable[[Database, FileChanges], Awaitable[T]]) -> T:
        return await with_files(self._db, self._uploads, work, lambda tx: self._quota.require(tx, who))

    async def _admit_new(self, kind: Kind, who: Requester, body: object) -> None:
        """Renders the texts of a new row, while no transaction is open. Rights are checked first."""
        project_id = _named_project(kind, body) if "project_id" in kind.by_name else None
        await self._allow_creation(self._db, kind, who, project_id)
        rendered_text.require_small(kind, require_object(body))
        await self._prose.admit(kind, kind.creation(require_object(body)))

    async def _admit_changed(self, kind: Kind, who: Requester, row_id: int, body: object) -> None:
        """The same of a row that changes, for texts that become others."""
        wanted = require_object(body)
        names = [field.name for field in kind.fields if field.heading and field.name in wanted]
        if names:
            row = await self.find(self._db, kind, who, row_id)
            rights.require(who, row["roles"], kind.rights.update)
            await self._prose.admit(kind, {name: wanted[name] for name in names if wanted[name] != row[name]})

    async def delete(self, kind: Kind, who: Requester, row_id: int) -> None:
        """Deletes a row and its files."""

        async def work(tx: Database, files: FileChanges) -> Row:
            row = await self._locked(tx, kind, who, row_id, kind.rights.delete)
            await self._behaviours[kind.name].delete(tx, who, row, files)
            project_id = row.get("project_id")
            await log_statements.write_act(
                tx, who, "delete", kind.name, row_id, project_id=project_id, before=_titled(row)
            )
            return row

        self._tell(kind, [await self._with_files(who, work)])

    def _tell(self, kind: Kind, rows: Sequence[Row]) -> None:
        """Rings for the projects of rows whose change is committed."""
        for project_id in {_project_of(kind, row) for row in rows}:
            if project_id is not None:
                self._notify(project_id)

    async def views_of(
        self, tx: Database, kind: Kind, who: Requester, ids: Sequence[int], also: frozenset[Role] = frozenset()
    ) -> Views:
        """Rows by their ids in this order; NotFoundError when one is gone. ``also``: roles that no row can tell."""
        views_by_id: dict[int, Values] = {}
        for first in range(0, len(ids), SLICE):  # between two statements the reactor serves others
            for row in await statements.list_rows(tx, kind, ids[first : first + SLICE], who):
                views_by_id[row["id"]] = self.view(kind, {**row, "roles": row["roles"] | also})
        if len(views_by_id) < len(set(ids)):
            raise NotFoundError(NOT_FOUND, hint="The object that this request created has been deleted.")
        return [views_by_id[row_id] for row_id in ids]

    async def _locked(self, tx: Database, kind: Kind, who: Requester, row_id: int, wanted: frozenset[Role]) -> Row:
        await self._behaviours[kind.name].lock(tx, row_id)
        row = await self.find(tx, kind, who, row_id)
        rights.require(who, row["roles"], wanted)
        return row

    async def _attach(
        self, tx: Database, kind: Kind, who: Requester, ids: Sequence[int], upload: Upload | None, files: FileChanges
    ) -> None:
        behaviour = self._behaviours[kind.name]
        if upload is None:
            return
        for row_id in ids:
            await behaviour.attach(tx, await self.find(tx, kind, who, row_id), upload, files)

    async def find(self, db: Database, kind: Kind, who: Requester, row_id: int) -> Row:
        """A row with the requester's roles; NotFoundError when there is none, or when it is of somebody's draft."""
        row = await statements.get_row(db, kind, row_id, who)
        if row is None or (who.presenter is not None and _project_of(kind, row) != who.presenter):
            raise NotFoundError(NOT_FOUND)
        if not may_know(kind, row["roles"]):
            raise NotFoundError(NOT_FOUND)
        return row

    def view(self, kind: Kind, row: Row) -> Values:
        """The row as a requester with its roles may see it."""
        return kind.view(self._open(kind, row), row["roles"], self.base_url)

    def public_view(self, kind: Kind, row: Row) -> Values:
        """The row as everybody may see it."""
        return self.view(kind, {**row, "roles": frozenset({Role.ANYBODY})})

    def _open(self, kind: Kind, row: Row) -> Row:
        """The row with encrypted attributes decrypted for those who may read them, and masked ones for all others."""
        opened: dict[str, object] = {}
        for field in kind.fields:
            if field.encrypted:
                readable = field.read & row["roles"]
                opened[field.name] = self._decrypted(kind, f"{field.name}_encrypted", row) if readable else None
            if field.masked and not field.read & row["roles"] and row[field.name] is not None:
                opened[f"{field.name}_masked"] = self._secrets.masked(row["project_id"], row[field.name])
        if "last_activity_raw" in row:
            opened["last_activity"] = ago(row["last_activity_raw"])
        return {**row, **opened}

    def _decrypted(self, kind: Kind, column: str, row: Row) -> str:
        return self._secrets.decrypt(row[column], place(kind.table, column, row["id"]))

    async def _allow_creations(
        self, tx: Database, kind: Kind, who: Requester, bodies: Sequence[object], many: bool
    ) -> dict[int | None, frozenset[Role]]:
        """The roles to each project that the bodies name; asked before they are parsed, which takes longer.

        A body that names no project is parsed here: what is wrong with it is raised.
        """
        if "project_id" not in kind.by_name:
            return {None: await self._allow_creation(tx, kind, who, None)}
        first: dict[int | None, int] = {}  # the body that named a project first
        named = await each_in_turns(bodies, many, partial(_named_project, kind), self._pause)
        for number, project_id in enumerate(named):
            first.setdefault(project_id, number)
        roles = {}
        for project_id, number in first.items():
            with at_item(number if many else None):
                roles[project_id] = await self._allow_creation(tx, kind, who, project_id)
        return roles

    async def _allow_creation(
        self, tx: Database, kind: Kind, who: Requester, project_id: int | None
    ) -> frozenset[Role]:
        have: frozenset[Role] | None = rights.of_requester(who)
        if project_id is not None:
            have = await statements.roles_to_project(tx, project_id, who)
            if have is None or not have & (OWNERS | {Role.REACHABLE}):
                raise NotFoundError(NOT_FOUND, hint=f"Project {project_id} does not exist.")
        rights.require(who, have or frozenset(), kind.rights.create)
        return have or frozenset()


def may_know(kind: Kind, roles: frozenset[Role]) -> bool:
    """Whether somebody may learn that a row exists: one of a draft is as good as none for others than its owners."""
    return not statements.has_project(kind) or bool(roles & (kind.rights.get | {Role.REACHABLE}))


def _fitting(keys: Sequence[int], related: Sequence[Row], column: str, left: int) -> tuple[int, int]:
    """How many rows, by their keys, keep within ``left`` bytes with what is related to them; and what is left then.

    The first row always stays, with as much as was read of it.
    """
    cut = bool(related) and len(related) < related[0]["n_rows"]
    incomplete = related[-1][column] if cut else None
    sizes: dict[int, int] = {}
    for row in related:
        sizes[row[column]] = sizes.get(row[column], 0) + row["bytes"]
    for number, key in enumerate(keys):
        left -= sizes.get(key, 0)
        if number and (left < 0 or key == incomplete):
            return number, left + sizes.get(key, 0)
    return (len(keys) if incomplete is None or incomplete != keys[0] else min(1, len(keys))), left


def _project_of(kind: Kind, row: Row) -> int | None:
    project_id: int | None = row["id"] if kind.name == "project" else row.get("project_id")
    return project_id


def _named_project(kind: Kind, body: object) -> int | None:
    """The project of a new row, by its body alone."""
    values = require_object(body)
    project_id: int | None
    try:
        project_id = kind.field("project_id").parse(values["project_id"])
    except (KeyError, InvalidValueError):
        project_id = kind.creation(values).get("project_id")
    return project_id


def bounded(bodies: list[T], maximum: int) -> list[T]:
    """The bodies of an array that is not empty. Raises TooLargeError when there are more than ``maximum``."""
    if len(bodies) > maximum:
        words = _(
            "A request may hold at most %(maximum)s rows, not %(rows)s.",
            maximum=f"{maximum:,}",
            rows=f"{len(bodies):,}",
        )
        raise TooLargeError(words, code="too_many_rows", hint="Send them in several requests.")
    return not_empty(bodies)


def not_empty(bodies: list[T]) -> list[T]:
    """The bodies of an array; an empty one is refused: it names no project that one could have rights to."""
    if not bodies:
        raise InvalidValueError("The array is empty.")
    return bodies


def _titled(row: Row) -> Values | None:
    """How people know a row that is deleted; None for one without a name."""
    return next(({name: log_statements.shorten_value(row[name])} for name in ("title", "name") if row.get(name)), None)


class RecordTexts:
    """Reads and lists what ``Records`` reads and lists, with the same rights and values."""

    def __init__(
        self,
        db: Database,
        new_batcher: BatcherFactory,
        records: Records,
        secrets: Secrets,
        exposure: Exposure,
        large: Cache[bool],
    ) -> None:
        """``large`` has the keys of lists that were too long to be read as one text."""
        self._db, self._records, self._mask, self._exposure = db, records, secrets.key("mask"), exposure
        self._large = large
        self._rows: Mapping[str, Batcher[projection_statements.Ask, str | None]] = {
            name: new_batcher(partial(self._together, kind)) for name, kind in KINDS.items()
        }

    async def _together(self, kind: Kind, asks: list[projection_statements.Ask]) -> list[str | None]:
        return await projection_statements.texts_of(self._db, kind, asks, self._records.base_url, self._mask)

    async def viewpoint(self, kind: Kind, who: Requester, *, again: bool) -> Viewpoint:
        """Who stands for all requesters that see rows of the kind as ``who`` does, as far as that is known.

        ``again``: they have asked before, and it is worth a look whether anything was committed since.
        """
        requester_viewpoint = await self._exposure.alike(who) if kind is PROJECT else Viewpoint(who)
        if again and requester_viewpoint.moment is None:
            return Viewpoint(requester_viewpoint.who, await self._exposure.moment())
        return requester_viewpoint

    def list_key(self, query: Query, who: Requester) -> Hashable | None:
        """Equal for those who get the same text of a list that is read at the same time; None: it is not shared."""
        return listing_statements.key_of(query, who)

    def row_key(self, kind: Kind, who: Requester, row_id: int) -> Hashable | None:
        """The same for the text of a row."""
        return None if who.presenter is not None else (row_id, *listing_statements.requester_key(kind, who))

    async def get(self, kind: Kind, who: Requester, row_id: int) -> str:
        """One row. Raises NotFoundError, AnonymousError, ForbiddenError."""
        text = None
        if who.presenter is None:
            text = await self._rows[kind.name].add(projection_statements.ask(who, row_id))
        return text if text is not None else orjson.dumps(await self._records.get(kind, who, row_id)).decode()

    async def list(self, query: Query, who: Requester) -> str | bytes:
        """The rows of a list that the requester may see, as the JSON of an array."""

        async def select(db: Database) -> ListText:
            return await listing_statements.select_text(db, query, who, self._records.base_url, self._mask)

        key = self.list_key(query, who)
        if key is not None and self._large.peek(key):  # making the text only to find that it is too long costs more
            return await self._records.list_text(query, who, large=True)
        listed = await self._records.in_turn(query, who, select)
        if listed.large and key is not None:
            self._large.put(key, True)
        return await self._records.list_text(query, who, large=listed.large) if listed.text is None else listed.text
