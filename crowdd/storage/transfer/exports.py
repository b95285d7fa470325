"""Rows of one project as they leave in files: which keys they have, and their lines, piece by piece.

Lines are made in SQL and come many at a time as one text: what is left to do here is to pass them on. All statements of a
file belong in one transaction that ``begin`` has begun: the file is one moment.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import attrs
import orjson

from crowdd.kinds.kind import Field, Kind
from crowdd.kinds.result import RESULT
from crowdd.kinds.roles import Role
from crowdd.kinds.task import TASK
from crowdd.kinds.task_run import TASK_RUN
from crowdd.kinds.types import Integers, Json, Text, Timestamp
from crowdd.storage.core import hidden_columns, projections
from crowdd.storage.core.roles import COMPLETE
from crowdd.storage.database import Database, Prepared, one, one_or_none
from crowdd.values import Json as JsonValue

SAID = ("value", "answers", "agreement", "confidence")
"""Columns of a table with what answers say at a field."""
_MEASURED = 100  # rows that say how large one is
_KEY_ROWS = 10_000  # whose keys one statement looks through
_FEW_KEYS = 50  # so many known ones are faster taken away from a row than all of its own listed
_ORDER = "t.project_id, t.id"
_MAX_STORED = 500_000  # bytes of info, as they are stored, of the rows of one piece; the first row comes always
_TYPES = {"project": "bigint", "after": "bigint", "maximum": "int", "named": "bigint[]", "word": "text"}


_OF_GOLD = (
    "(SELECT FROM task_ledger g WHERE g.project_id = t.project_id AND g.task_id = t.{} AND g.mode::text = 'gold')"
)
_ORDINARY = {
    TASK: f"NOT EXISTS {_OF_GOLD.format('id')}",
    TASK_RUN: f"NOT t.trial AND NOT EXISTS {_OF_GOLD.format('task_id')}",
    RESULT: (
        f"NOT (SELECT l.trial FROM project_ledger l WHERE l.project_id = t.project_id) AND NOT EXISTS {_OF_GOLD.format('task_id')}"
    ),
}


@attrs.frozen
class Piece:
    """The next lines as one text; ``last`` is the id of the last row, ``rows`` how many there are."""

    text: str
    last: int
    rows: int


@attrs.frozen
class Chosen:
    """Which rows of a project leave.

    ``named``: only of these tasks. ``complete``: only answers to complete tasks. ``volunteer``: only answers with this
    code. ``mask``: the key of masked attributes. ``owns``: they leave for an owner, who sees hidden columns of tasks.
    ``ordinary``: neither gold tasks and what belongs to them, nor trial answers.
    """

    project_id: int
    named: Sequence[int] | None = None
    complete: bool = False
    volunteer: str = ""
    mask: bytes = attrs.field(default=b"", repr=False)
    owns: bool = False
    ordinary: bool = False

    def where(self, kind: Kind) -> str:
        """Which rows t of a kind these are, behind ``%(after)s``; in the order of ``_ORDER``.

        Project and id together, as in the key: by id alone the planner may walk over the rows of all other projects.
        """
        conditions = [
            "(t.project_id, t.id) > (%(project)s, %(after)s)",
            "(t.project_id, t.id) < (%(project)s::bigint + 1, 0::bigint)",
        ]
        if self.named is not None:
            conditions.append(f"t.{'id' if kind is TASK else 'task_id'} = ANY (%(named)s::bigint[])")
        if self.complete and kind is not TASK:
            conditions.append(COMPLETE)
        if self.ordinary:
            conditions.append(_ORDINARY[kind])
        if self.volunteer and kind is TASK_RUN:
            conditions.append(
                "t.actor = (SELECT w.actor FROM volunteer_word w"
                " WHERE w.word = %(word)s AND w.project_id = %(project)s)"
            )
        return " AND ".join(conditions)

    def values(self, after: int, maximum: int) -> dict[str, object]:
        """What stands for the names in it."""
        named = None if self.named is None else list(self.named)
        window = {"project": self.project_id, "after": after, "maximum": maximum}
        return {**window, "named": named, "word": self.volunteer}


async def begin(tx: Database) -> None:
    """Makes a transaction that has just begun see one moment, and change nothing."""
    await tx.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")


@attrs.frozen
class Lines:
    """The statement that makes the lines of a file: a row t as ``line``, lines put together by ``between``."""

    kind: Kind
    chosen: Chosen
    line: str
    between: str
    base_url: str = ""

    def statement(self) -> Prepared:
        """Planned once: a table may have thousands of columns."""
        walk = "OVER (ORDER BY t.id ROWS UNBOUNDED PRECEDING)"
        window = (
            f"SELECT array_agg(id ORDER BY id) AS ids FROM (SELECT t.id, sum(pg_column_size(t.info)) {walk} AS bytes,"
            f" row_number() {walk} AS nth FROM (SELECT t.id, t.info FROM {self.kind.table} t"
            f" WHERE {self.chosen.where(self.kind)} ORDER BY {_ORDER} LIMIT %(maximum)s) t) s WHERE bytes <= {_MAX_STORED} OR nth = 1"
        )
        # A look-up for each row: whatever the planner takes, it costs that of the rows that leave.
        source = hidden_columns.source(self.kind, owns=self.chosen.owns)
        row = f"SELECT {self.line} AS line FROM {source} t WHERE t.project_id = %(project)s AND t.id = u.id OFFSET 0"
        text = (
            f"WITH w AS MATERIALIZED ({window}) SELECT w.ids[cardinality(w.ids)] AS last, cardinality(w.ids) AS n, ("
            f"SELECT string_agg(s.line, %(between)s ORDER BY u.id) FROM unnest(w.ids) u(id) CROSS JOIN LATERAL ({row}) s) AS text"
            " FROM w"
        )
        return Prepared(text, **_TYPES, between="text", mask="bytea", base_url="text")

    async def next(self, tx: Database, statement: Prepared, after: int, maximum: int) -> Piece | None:
        """The next lines behind a row; None behind the last."""
        more = {"between": self.between, "mask": self.chosen.mask, "base_url": projections.in_json(self.base_url)}
        row = await one(tx, statement, {**self.chosen.values(after, maximum), **more})
        return None if row["last"] is None else Piece(row["text"], row["last"], int(row["n"]))


def as_json(kind: Kind, roles: frozenset[Role], base_url: str, chosen: Chosen) -> Lines:
    """Each row as ``Kind.view`` shows it to these roles, as JSON; between two a comma and a line break."""
    return Lines(kind, chosen, projections.json_of(kind, roles), ",\n", base_url)


@attrs.frozen
class Trusted:
    """Columns of a table that rows of a project with a label have behind the others: their names, and how they are made.

    ``cells`` read the row ``alias`` that ``source`` finds for the row t.
    """

    names: Sequence[str]
    cells: Sequence[str]
    source: str
    alias: str = "x"


@attrs.frozen
class ExportedAnalysis:
    """An analysis whose labels stand beside results, and its choices."""

    id: int
    choices: Sequence[JsonValue]


_DECIDED = (
    "SELECT cardinality(r.task_run_ids) AS n_counted, r.posterior, a.name AS decided_by, r.decided_at,"
    " (SELECT jsonb_object_agg(coalesce(v.choice #>> '{}', 'null'), v.n) FROM (SELECT q.choices[u.class] AS choice, count(*) AS n"
    " FROM task_run u JOIN trust_model q ON q.project_id = u.project_id WHERE u.project_id = r.project_id AND u.id = ANY (r.task_run_ids)"
    " AND u.class IS NOT NULL GROUP BY 1) v) AS votes"
    " FROM result r LEFT JOIN account a ON a.id = r.decided_by WHERE r.project_id = t.project_id AND r.id = t.id"
)
_WEIGHED = (
    "SELECT q.choices[r.class] AS class, r.counted,"
    " answer_weight(coalesce(v.log_likelihoods, q.newcomer), r.class::int, q.k::int) AS weight"
    " FROM task_run r JOIN trust_model q ON q.project_id = r.project_id"
    " LEFT JOIN reliability v ON v.project_id = r.project_id AND v.actor = r.actor AND v.generation = q.generation"
    " WHERE r.project_id = t.project_id AND r.id = t.id"
)
_MAX_CLASSES = 10  # that have a column each


def trusted(kind: Kind, choices: Sequence[JsonValue], *, owns: bool, raw: bool) -> Trusted | None:
    """What tells of results or answers how sure they are; only owners learn who decided and what answers weigh."""
    cell, text = ("csv_raw_cell", "csv_raw") if raw else ("csv_cell", "csv_text")
    if not choices or kind is TASK:
        return None
    if kind is TASK_RUN:
        names, cells = ["class", "counted"], [f"{cell}(x.class)", "x.counted::text"]
        return Trusted(
            [*names, *(["weight"] if owns else [])],
            [*cells, *(["round(x.weight::numeric, 4)::text"] if owns else [])],
            _WEIGHED,
        )
    names = ["n_counted", "votes"]
    cells = ["x.n_counted::text", f"{cell}(x.votes)"]
    names, cells = [*names, *_of_choices("posterior", choices)], [*cells, *_probabilities("x", choices)]
    if owns:
        names += ["decided_by", "decided_at"]
        cells += [f"{text}(x.decided_by)", """to_char(x.decided_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US')"""]
    return Trusted(names, cells, _DECIDED)


def analysed(analysis: ExportedAnalysis, *, raw: bool) -> Trusted:
    """What an analysis says of the task of a last result."""
    source = (
        f"SELECT a.id, a.choices->(e.class - 1) AS class, e.posterior FROM analysis_task e JOIN analysis a ON a.id = e.analysis_id"
        f" WHERE e.project_id = t.project_id AND e.analysis_id = {analysis.id} AND e.task_id = t.task_id AND t.last_version"
    )
    names = ["analysis", "analysis_class", *_of_choices("analysis_posterior", analysis.choices)]
    cells = ["y.id::text", f"{'csv_raw_cell' if raw else 'csv_cell'}(y.class)", *_probabilities("y", analysis.choices)]
    return Trusted(names, cells, source, "y")


def _of_choices(name: str, choices: Sequence[JsonValue]) -> list[str]:
    """A column for each choice, unless they are too many."""
    words = [choice if isinstance(choice, str) else orjson.dumps(choice).decode() for choice in choices]
    return [f"{name}_{word}" for word in words] if len(choices) <= _MAX_CLASSES else []


def _probabilities(alias: str, choices: Sequence[JsonValue]) -> list[str]:
    numbers = range(1, len(choices) + 1) if len(choices) <= _MAX_CLASSES else ()
    return [f"round({alias}.posterior[{n}]::numeric, 6)::text" for n in numbers]


async def analysis(db: Database, project_id: int, analysis_id: int | None) -> ExportedAnalysis | None:
    """The analysis of a project with this id, or the last one, if it is done."""
    row = await one_or_none(
        db,
        "SELECT id, choices FROM analysis WHERE project_id = %(project)s AND id = coalesce(%(id)s, id) AND ended IS NOT NULL"
        " ORDER BY id DESC LIMIT 1",
        {"project": project_id, "id": analysis_id},
    )
    return ExportedAnalysis(int(row["id"]), row["choices"]) if row else None


async def label_choices(db: Database, project_id: int) -> list[JsonValue]:
    """The classes of a project; [] where its first answer field is no label."""
    row = await one_or_none(
        db,
        "SELECT to_jsonb(choices) AS choices FROM trust_model WHERE project_id = %(project)s",
        {"project": project_id},
    )
    return list(row["choices"]) if row else []


def as_table(
    kind: Kind,
    fields: Sequence[Field],
    keys: Sequence[str],
    roles: frozenset[Role],
    chosen: Chosen,
    *,
    raw: bool,
    said: Sequence[str] = (),
    more: Sequence[Trusted] = (),
) -> Lines:
    """Each row as a line of a table: these attributes as these roles may see them, then these keys of ``info``.

    Of results also what the answers say at these fields (``said``): SAID of each of them. ``more``: further columns.
    """
    cells = [_cell(field, projections.column_of(kind, field, roles), raw=raw) for field in fields]
    cell = "csv_raw_cell" if raw else "csv_cell"
    cells += [f"{cell}(i.info->{_literal(key)})" for key in keys]
    # Unpacked once for all of its keys.
    whole = "(SELECT CASE WHEN jsonb_typeof(t.info) = 'object' THEN t.info || '{}' END AS info OFFSET 0) i"
    cells += [f"{cell}(i.said->{_literal(name)}->'{of}')" for name in said for of in SAID]
    if said:
        whole = whole.replace(" AS info", " AS info, t.consensus AS said")
    for one_more in more:
        cells += one_more.cells
        whole += f" LEFT JOIN LATERAL ({one_more.source}) {one_more.alias} ON true"
    line = f"(SELECT array_to_string(ARRAY[{', '.join(cells)}]::text[], ',', '') FROM {whole})"
    return Lines(kind, chosen, line, "\r\n")


def _literal(text: str) -> str:
    """A text in a statement that is prepared, where it must not look like the name of a value."""
    return "('" + text.replace("'", "''").replace("%(", "%' || '(") + "')"


def _cell(field: Field, column: str | None, *, raw: bool) -> str:
    if column is None:
        return "NULL"
    match field.type:
        case Timestamp():
            return f"""to_char({column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US')"""
        case Json():
            return f"{'csv_raw_cell' if raw else 'csv_cell'}({column})"
        case Text():
            return f"{'csv_raw' if raw else 'csv_text'}({column})"
        case Integers():
            return f"csv_raw(array_to_json({column})::text)"
    return f"({column})::text"


async def info_keys(
    tx: Database, kind: Kind, chosen: Chosen, known: Collection[str], after: int
) -> tuple[list[str], int | None]:
    """Further keys of ``info`` in the next rows, in the order in which rows first have them; the last row, None at the end."""
    taken = list(known) if len(known) <= _FEW_KEYS else []
    table = hidden_columns.tasks(owns=chosen.owns) if kind is TASK else kind.table
    row = await one(
        tx,
        "WITH r AS MATERIALIZED ("
        f"SELECT t.id, CASE WHEN jsonb_typeof(t.info) = 'object' THEN t.info - %(known)s::text[] ELSE '{{}}' END AS rest FROM {table} t"
        f" WHERE {chosen.where(kind)} ORDER BY {_ORDER} LIMIT %(maximum)s), k AS ("
        "SELECT k.key, min(r.id) AS first, min(k.nth) AS nth FROM r CROSS JOIN LATERAL jsonb_object_keys(r.rest) WITH ORDINALITY k(key, nth)"
        " WHERE r.rest <> '{}' GROUP BY k.key)"
        " SELECT (SELECT max(id) FROM r) AS last, (SELECT array_agg(key ORDER BY first, nth) FROM k) AS keys",
        {**chosen.values(after, _KEY_ROWS), "known": taken},
    )
    return row["keys"] or [], row["last"]


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
