"""Rows of one project as they leave in files: their lines, piece by piece.

Lines are made by COPY: what is left to do here is to pass them on. What is read before them belongs in one transaction that
``begin`` has begun, and whose moment COPY sees, too: the file is one moment.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import attrs

from crowdd.core.records import projection_statements
from crowdd.core.records import statements as record_statements
from crowdd.core.records.role_statements import COMPLETE
from crowdd.database.access import Database, one, one_or_none
from crowdd.database.copying import Copies, Copy
from crowdd.features.exports import sheet_statements
from crowdd.features.exports.column_statements import Column, Source, literal
from crowdd.kinds.exported import CONSENSUS, EVENT, VOLUNTEER
from crowdd.kinds.kind import Kind
from crowdd.kinds.result import RESULT
from crowdd.kinds.roles import Role
from crowdd.kinds.task import TASK
from crowdd.kinds.task_run import TASK_RUN

_MEASURED = 100  # rows that say how large one is
ORDER = "t.project_id, t.id"
"""The order of rows t by their key."""
_CHANGED_ORDER = "t.changed_xid, t.id"
CHANGED = "t.project_id = %(project)s AND -t.project_id = -%(project)s AND t.changed_xid > %(since)s AND t.changed_xid < %(horizon)s"
"""A condition: the row t changed between two positions."""
# A task also changes when it is completed: its result notes that.
_CHANGED_TASKS = (
    f"SELECT t.project_id, t.task_id FROM task_ledger t WHERE {CHANGED}"
    f" UNION SELECT t.project_id, t.task_id FROM result t WHERE {CHANGED.replace('changed_xid', 'completed_xid')}"
)
# As task_run_record, but a join remembers what it has looked up: few volunteers have many answers.
_ANSWERS = (
    "(SELECT r.*, w.word AS volunteer FROM task_run r"
    " LEFT JOIN volunteer_word w ON w.project_id = r.project_id AND w.actor = r.actor)"
)
_MAX_ARGUMENTS = 90
_OF_GOLD = (
    "(SELECT FROM task_ledger g WHERE g.project_id = t.project_id AND g.task_id = t.{} AND g.mode::text = 'gold')"
)
_TRIAL = "(SELECT l.trial FROM project_ledger l WHERE l.project_id = t.project_id)"
_NO_TRIALS = {
    TASK: "true",
    TASK_RUN: "NOT t.trial",
    # A draft may have imported answers, which are no trials.
    RESULT: f"(NOT {_TRIAL} OR NOT EXISTS (SELECT FROM task_run u WHERE u.project_id = t.project_id AND u.id = ANY (t.task_run_ids) AND u.trial))",
    CONSENSUS: f"NOT {_TRIAL}",
    EVENT: f"NOT {_TRIAL}",
}


@attrs.frozen
class Chosen:
    """Which rows of a project leave.

    ``named``: only of these tasks. ``complete``: only answers to complete tasks. ``volunteer``: only answers with this
    code. ``mask``: the key of masked attributes. ``owns``: they leave for an owner, who sees hidden columns of tasks.
    ``ordinary``: no trial answers, and neither gold tasks nor what belongs to them, unless ``gold``. ``changed``: only rows that changed
    behind the first of these positions and before the second, in the order of their changes.
    """

    project_id: int
    named: Sequence[int] | None = None
    complete: bool = False
    volunteer: str = ""
    mask: bytes = attrs.field(default=b"", repr=False)
    owns: bool = False
    ordinary: bool = False
    gold: bool = False
    changed: tuple[int, int] | None = None

    @property
    def order(self) -> str:
        """The order of the rows t."""
        return ORDER if self.changed is None else _CHANGED_ORDER

    def where(self, kind: Kind) -> str:
        """Which rows t of a kind these are, behind ``%(after)s``; in the order of ``order``.

        The project as a range: only the key is in this order then, and the planner cannot walk by id over the rows of all
        other projects. It still knows how many rows the project has. Changes have an index of their own.
        """
        conditions = ["t.project_id >= %(project)s::bigint AND t.project_id <= %(project)s::bigint", "t.id > %(after)s"]
        if self.changed is not None:
            conditions = ["true" if kind is TASK else CHANGED]
        if self.named is not None:
            conditions.append(f"t.{'id' if kind is TASK else 'task_id'} = ANY (%(named)s::bigint[])")
        if self.complete and kind not in (TASK, EVENT):
            conditions.append(COMPLETE)
        if self.ordinary:
            conditions.append(_NO_TRIALS[kind])
            if not self.gold:
                conditions.append(f"NOT EXISTS {_OF_GOLD.format('id' if kind is TASK else 'task_id')}")
        if self.volunteer and kind is TASK_RUN:
            conditions.append(
                "t.actor = (SELECT w.actor FROM volunteer_word w"
                " WHERE w.word = %(word)s AND w.project_id = %(project)s)"
            )
        return " AND ".join(conditions)

    def values(self, after: int, maximum: int) -> dict[str, object]:
        """What stands for the names in it."""
        named = None if self.named is None else list(self.named)
        window = {"project": self.project_id, "after": after, "maximum": maximum, "mask": self.mask}
        since, horizon = self.changed or (None, None)
        return {**window, "named": named, "word": self.volunteer, "since": since, "horizon": horizon}


async def begin(tx: Database) -> None:
    """Makes a transaction that has just begun see one moment, and change nothing."""
    # It waits as long as COPY takes on its own connection.
    await tx.execute(
        "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY; SET LOCAL idle_in_transaction_session_timeout = 0"
    )


# Characters that no JSON text has: COPY then gives texts as they are.
_AS_IT_IS = r"FORMAT csv, DELIMITER E'\x02', QUOTE E'\x01'"


@attrs.frozen
class Lines:
    """The lines of a file: the rows of ``query``, which COPY puts together with its ``options``.

    ``between`` stands between two lines.
    """

    query: str
    chosen: Chosen
    options: str
    between: bytes
    base_url: str = ""

    async def open(self, copies: Copies, tx: Database) -> Copy:
        """Begins a file as of the moment of a transaction. Close it."""
        values = {**self.chosen.values(0, 0), "base_url": projection_statements.in_json(self.base_url)}
        # The first lines soon, in the order of an index; of few rows in a large project all of them soon.
        few = self.chosen.named is not None or bool(self.chosen.volunteer)
        order = [] if few else ["SET LOCAL enable_sort = off"]
        settings = ["SET LOCAL max_parallel_workers_per_gather = 0", "SET LOCAL datestyle = 'ISO'", *order]
        return await copies.open(tx, self.query, self.options, values, self.between, settings)

    def behind(self, first: Lines) -> Lines:
        """These lines behind others of the same kind of file."""
        # Without parallel workers PostgreSQL reads one part of a union after the other.
        return attrs.evolve(self, query=f"({first.query}) UNION ALL ({self.query})")


def _ordered(rows: str, chosen: Chosen, columns: Sequence[str], beside: str = "") -> str:
    """The statement with the columns of each row t."""
    joined = f" CROSS JOIN LATERAL {beside}" if beside else ""
    return f"SELECT {', '.join(columns)} FROM (SELECT t.* FROM {rows}) t{joined} ORDER BY {chosen.order}"


def rows_of(kind: Kind, chosen: Chosen) -> str:
    """The rows t of a kind that leave."""
    if kind is VOLUNTEER:
        return (
            "(SELECT min(t.id) AS id, t.project_id, (SELECT w.word FROM volunteer_word w WHERE w.project_id = t.project_id"
            " AND w.actor = t.actor) AS volunteer, count(*) AS task_runs, count(*) FILTER (WHERE t.counted) AS counted,"
            " min(t.finish_time) AS first, max(t.finish_time) AS last, sum(time_spent(t.created, t.finish_time, t.timeout))::float8 AS seconds"
            f" FROM task_run t WHERE {chosen.where(TASK_RUN)} GROUP BY t.project_id, t.actor) t"
        )
    source = _ANSWERS if kind is TASK_RUN else record_statements.kind_relation(kind, owns=chosen.owns)
    if kind is TASK and chosen.changed is not None:
        source = f"(SELECT t.* FROM ({_CHANGED_TASKS}) c JOIN {source} t ON t.project_id = c.project_id AND t.id = c.task_id)"
    return f"{source} t WHERE {chosen.where(kind)}"


def stored_rows(kind: Kind, chosen: Chosen) -> str:
    """The same rows, with what is stored of them alone."""
    source = record_statements.task_relation(owns=chosen.owns) if kind is TASK else kind.table
    return f"{source} t WHERE {chosen.where(kind)}"


@attrs.frozen
class Table:
    """What lines of columns are made of: the rows t of ``rows``, and what is read ``beside`` each."""

    rows: str
    chosen: Chosen
    columns: Sequence[Column]
    beside: str = ""

    def joined(self, source: Source) -> Table:
        """The table with the columns of a source behind its own."""
        beside = f"{self.beside or '(SELECT) j'} LEFT JOIN LATERAL ({source.rows}) {source.alias} ON true"
        return attrs.evolve(self, columns=[*self.columns, *source.columns], beside=beside)

    def as_csv(self, *, raw: bool, separator: str = ",") -> Lines:
        """Each row as a line of a CSV file. Texts are no formulas, unless ``raw``."""
        options = f"FORMAT csv, DELIMITER '{separator}'"
        if raw:
            return self._lines([column.cell() for column in self.columns], options, b"\r\n")
        cells, texts = list[str](), list[str]()
        for n, column in enumerate(self.columns):
            if column.is_guarded and not column.is_stored:
                texts.append(f"{column.text} AS c{n}")  # is made once, and looked at several times
                cells.append(f"csv_text(c.c{n})")
            else:
                cells.append(f"csv_text({column.text})" if column.is_guarded else column.cell())
        read = [f"(SELECT {', '.join(texts)} OFFSET 0) c"] if texts else []
        beside = " CROSS JOIN LATERAL ".join([*([self.beside] if self.beside else []), *read])
        return Lines(_ordered(self.rows, self.chosen, cells, beside), self.chosen, options, b"\r\n")

    def as_sheet(self, max_rows: int) -> Lines:
        """Each row as one of a sheet of a workbook (SpreadsheetML), behind a heading; their numbers begin again after so many."""
        numbered = f"(SELECT t.*, ((row_number() OVER (ORDER BY {self.chosen.order}) - 1) %% {max_rows} + 2)::text AS sheet_row FROM {self.rows}) t"
        values = [sheet_statements.value(column) for column in self.columns]
        read = ", ".join(f"{each} AS c{n}" for n, each in enumerate(values) if each)
        cells = [sheet_statements.cell(column, n, f"c.c{n}") for n, column in enumerate(self.columns)]
        row = _concatenated(["'<row r=\"'", "t.sheet_row", "'\">'", *cells, "'</row>'"])
        beside = " CROSS JOIN LATERAL ".join([*([self.beside] if self.beside else []), f"(SELECT {read} OFFSET 0) c"])
        return Lines(_ordered(numbered, self.chosen, [row], beside), self.chosen, _AS_IT_IS, b"\n")

    def as_exact_csv(self) -> Lines:
        """The same for programs, which tell null from an empty text: that is in quotation marks."""
        return self._lines([column.exact() for column in self.columns], "FORMAT csv", b"\n")

    def as_json(self, between: bytes) -> Lines:
        """Each row as a JSON object of the columns."""
        return self._lines([_concatenated([*self._members(), "'}'"])], _AS_IT_IS, between)

    def as_features(self, between: bytes) -> Lines:
        """Each row, which has a mark with a geometry, as a feature of GeoJSON with the columns as its properties."""
        geometry = [literal('{"type":"Feature","geometry":'), "(t.mark->'geometry')::text", literal(',"properties":')]
        return self._lines([_concatenated([*geometry, *self._members(), "'}}'"])], _AS_IT_IS, between)

    async def begins(self, tx: Database) -> bytes:
        """What the first line of ``as_json`` begins with, whatever columns come behind these; empty without rows."""
        line = f"{_concatenated(self._members())} AS line"
        query = _ordered(self.rows, self.chosen, [line], self.beside)
        row = await one_or_none(tx, f"{query} LIMIT 1", self.chosen.values(0, 0))
        return b"" if row is None else str(row["line"]).encode()

    def _members(self) -> list[str]:
        """Expressions: an object of JSON of the columns, in parts, without its end."""
        members = (column.member() for column in self.columns)
        return [
            part for n, (name, value) in enumerate(members) for part in (literal(("," if n else "{") + name), value)
        ]

    def _lines(self, columns: Sequence[str], options: str, between: bytes) -> Lines:
        return Lines(_ordered(self.rows, self.chosen, columns, self.beside), self.chosen, options, between)


def _concatenated(parts: Sequence[str]) -> str:
    """An expression: the parts as one text. A function has no more than 100 arguments."""
    # concat() takes null for an empty text and numbers as they are, at a third of what array_to_string costs.
    while len(parts) > _MAX_ARGUMENTS:
        groups = (parts[n : n + _MAX_ARGUMENTS] for n in range(0, len(parts), _MAX_ARGUMENTS))
        parts = [f"concat({', '.join(group)})" for group in groups]
    return f"concat({', '.join(parts)})"


def table(kind: Kind, chosen: Chosen, columns: Sequence[Column], sources: Sequence[Source] = ()) -> Table:
    """Rows of a kind as these columns and those of the sources.

    Columns of ``info`` read the row i, in which it is unpacked once for all of its keys.
    """
    every = [*columns, *(column for each in sources for column in each.columns)]
    joined = "".join(f" LEFT JOIN LATERAL ({each.rows}) {each.alias} ON true" for each in sources)
    if "info" not in kind.by_name:
        return Table(rows_of(kind, chosen), chosen, every)
    consensus_column = ", t.consensus AS said" if kind is RESULT else ""
    whole = f"(SELECT CASE WHEN jsonb_typeof(t.info) = 'object' THEN t.info || '{{}}' END AS info{consensus_column} OFFSET 0) i"
    return Table(rows_of(kind, chosen), chosen, every, whole + joined)


def as_json(
    kind: Kind,
    roles: frozenset[Role],
    base_url: str,
    chosen: Chosen,
    between: bytes = b",\n",
    without: Collection[str] = (),
) -> Lines:
    """Each row as ``Kind.view`` shows it to these roles, as JSON; ``without`` some attributes."""
    shown = attrs.evolve(kind, fields=tuple(field for field in kind.fields if field.name not in without))
    return json_lines(rows_of(kind, chosen), chosen, projection_statements.json_of(shown, roles), between, base_url)


def json_lines(rows: str, chosen: Chosen, line: str, between: bytes, base_url: str = "") -> Lines:
    """Each row t of ``rows`` as a JSON text, which the expression ``line`` makes of it."""
    return Lines(_ordered(rows, chosen, [line]), chosen, _AS_IT_IS, between, base_url)


async def imported_columns(db: Database, project_id: int) -> list[str]:
    """The columns of the files that tasks were made of, in their order, the oldest file first."""
    rows = await db.fetch(
        "SELECT DISTINCT ON (c.name) c.name, i.id, c.nth FROM task_import i CROSS JOIN LATERAL"
        " jsonb_array_elements_text(i.columns) WITH ORDINALITY c(name, nth) WHERE i.project_id = %(project)s ORDER BY c.name, i.id, c.nth",
        {"project": project_id},
    )
    return [row["name"] for row in sorted(rows, key=lambda row: (row["id"], row["nth"]))]


async def sizes(db: Database, chosen: Chosen, counted: Sequence[Kind], maximum: int) -> dict[str, float]:
    """About how many bytes a row of each kind has as JSON, by the name of its table; 0 without rows.

    For the ``counted`` kinds also how many rows leave, as ``n_`` and the name; counting ends at ``maximum``.
    """
    measured = {
        TASK: "octet_length(info::text)",
        TASK_RUN: "octet_length(info::text)",
        RESULT: (
            "coalesce(octet_length(info::text), 0) + coalesce(octet_length(consensus::text), 0)"
            " + coalesce(octet_length(posterior::text), 0)"
        ),
    }
    columns = [
        f"(SELECT coalesce(avg({bytes_}), 0)::float8 FROM (SELECT * FROM {kind.source}"
        f" WHERE project_id = %(project)s ORDER BY id LIMIT {_MEASURED}) s) AS {kind.table}"
        for kind, bytes_ in measured.items()
    ]
    columns += [
        f"(SELECT count(*) FROM (SELECT FROM {kind.table} t WHERE {chosen.where(kind)} LIMIT %(maximum)s) s)::float8"
        f" AS n_{kind.table}"
        for kind in counted
    ]
    row = await one(db, f"SELECT {', '.join(columns)}", chosen.values(0, maximum))
    return {name: float(size) for name, size in row.items()}
