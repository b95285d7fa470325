"""Columns of files: what each is called, its type, and how PostgreSQL makes its value for a row ``t``."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import orjson

from crowdd.core.records import projection_statements
from crowdd.core.records.statements import task_relation
from crowdd.database.access import Database, one_or_none
from crowdd.kernel.values import Json as JsonValue
from crowdd.kinds.answers import AnswerField
from crowdd.kinds.kind import Field, Kind
from crowdd.kinds.result import RESULT
from crowdd.kinds.roles import Role
from crowdd.kinds.task import TASK
from crowdd.kinds.task_run import TASK_RUN
from crowdd.kinds.types import Boolean, Integer, Integers, Json, Number, Timestamp

SAID = ("value", "answers", "agreement", "confidence")
"""Columns of a table with what answers say at a field."""
STATES = "answered, nothing (there is no such thing), unsure (can't tell) or left_out"
ISO = """'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'"""
_QUOTED_ISO = r"""'\"YYYY-MM-DD"T"HH24:MI:SS.US\"'"""
_SAID_TYPES = {"value": "json", "answers": "integer", "agreement": "number", "confidence": "number"}
_SAID_ABOUT = {
    "value": "What the counted answers say together.",
    "answers": "How many answers were compared.",
    "agreement": "How much two of the compared answers are alike, on average, from 0 to 1.",
    "confidence": "How far the answers support the value, from 0 to 1: not how often such a value is right.",
    "model": "How probable the model of the volunteers says the value is; not measured.",
}
_MAX_CLASSES = 10  # that have a column each


@attrs.frozen
class Column:
    """A column of a file. ``sql`` makes its value of a row ``t``: a jsonb if ``is_json``, or else what its type says.

    ``type`` is integer, number, boolean, text, timestamp or json, or decimal for numbers that no other type has exactly.
    ``about`` says what it is, ``origin`` where name and type come from: attribute, declared, values or computed.
    ``shorter`` makes the value as text, where there is a shorter way than by ``sql``. ``plain``: arrays and objects are
    texts for people in tables, not JSON. ``shown``: how a spreadsheet shows a text, as date or link. ``title``: its
    heading in words, "" for its name.
    """

    name: str
    type: str
    sql: str
    is_json: bool = False
    about: str = ""
    origin: str = "computed"
    shorter: str = ""
    plain: bool = False
    shown: str = ""
    title: str = ""

    @property
    def heading(self) -> str:
        """What stands above it in tables."""
        return self.title or self.name

    @property
    def is_stored(self) -> bool:
        """Whether it is a column of the row as it is stored, which costs nothing to look at several times."""
        return not self.is_json and self.sql == f't."{self.name}"'

    @property
    def is_guarded(self) -> bool:
        """Whether its cells may be formulas to a spreadsheet."""
        return self.is_json or self.type == "text" or self.plain

    @property
    def text(self) -> str:
        """Its value as text; null for a null of JSON, too."""
        if self.plain:
            return f"plain_text(({self.sql})::jsonb)"
        return self.shorter or (f"({self.sql} #>> '{{}}')" if self.is_json else f"({self.sql})")

    def cell(self) -> str:
        """Its value for COPY as CSV. An empty text is in quotation marks, nothing is not."""
        match self.type:
            case "timestamp":
                return f"to_char({self.sql} AT TIME ZONE 'UTC', {ISO})"
            case "boolean" | "json" if not self.is_json and not self.plain:
                return f"({self.sql})::text"
        return self.text

    def exact(self) -> str:
        """The same for programs: null and an empty text are kept apart, and JSON is as it is."""
        match self.type:
            case "timestamp":
                return f"({self.sql})::timestamptz"  # in the style of ISO, and in UTC: settings of the connection
            case "json":
                return f"nullif(({self.sql})::text, 'null')"
            case "boolean" if not self.is_json:
                return f"({self.sql})::text"
        return self.text

    def member(self) -> tuple[str, str]:
        """Its name and value as a member of a JSON object, in two parts."""
        value = f"{self.sql}" if self.is_json else f"to_json({self.sql})"
        if self.type == "timestamp":
            value = f"to_char({self.sql} AT TIME ZONE 'UTC', {_QUOTED_ISO})"
        elif self.type == "integer" and not self.is_json:
            value = f"({self.sql})"
        return orjson.dumps(self.name).decode() + ":", f"coalesce(({value})::text, 'null')"


@attrs.frozen
class Source:
    """Columns that are made of rows beside a row ``t``: ``rows`` finds them, under the name ``alias``."""

    columns: Sequence[Column]
    rows: str
    alias: str


def literal(text: str) -> str:
    """A text in a statement with values, where it must not look like the name of one."""
    return "'" + text.replace("'", "''").replace("%", "%%") + "'"


def attributes(kind: Kind, fields: Sequence[Field], roles: frozenset[Role]) -> list[Column]:
    """The attributes of a kind as these roles may see them."""
    return [_attribute(kind, field, roles) for field in fields]


def _attribute(kind: Kind, field: Field, roles: frozenset[Role]) -> Column:
    shown = projection_statements.column_of(kind, field, roles)
    types = {Timestamp: "timestamp", Integer: "integer", Number: "number", Boolean: "boolean", Json: "json"}
    name = "json" if isinstance(field.type, Integers) else types.get(type(field.type), "text")
    sql = f"array_to_json({shown})" if isinstance(field.type, Integers) and shown != "NULL" else shown
    if sql is None or sql == "NULL":
        sql = {"timestamp": "NULL::timestamptz", "text": "NULL::text"}.get(name, "NULL::jsonb")
    return Column(field.name, name, sql, isinstance(field.type, Json), field.doc, "attribute")


def of_info(name: str, key: str, type_: str = "json", about: str = "", origin: str = "values") -> Column:
    """The value of a key of ``info``, which the row ``i`` has."""
    return Column(name, type_, f"(i.info->{literal(key)})", True, about, origin, f"(i.info->>{literal(key)})")


def for_people(column: Column) -> Column:
    """A column without JSON in its cells."""
    return attrs.evolve(column, plain=column.type == "json")


def in_task(column: Column) -> Column:
    """A column of ``info`` of a task, beside a row that belongs to it."""
    sql, shorter = (text.replace("i.info", "k.info") for text in (column.sql, column.shorter))
    return attrs.evolve(column, name=f"task_{column.name}", sql=sql, shorter=shorter)


def of_task(columns: Sequence[Column], task_id: str, *, owns: bool) -> Source:
    """These columns of the task with the id of a row; only owners read hidden ones."""
    rows = (
        "SELECT CASE WHEN jsonb_typeof(k.info) = 'object' THEN k.info || '{}' END AS info"
        f" FROM {task_relation(owns=owns)} k WHERE k.project_id = t.project_id AND k.id = {task_id} OFFSET 0"
    )
    return Source(columns, rows, "k")


def without_nothing(column: Column) -> Column:
    """A column of ``info`` with no value where the answer says "nothing there"."""
    return attrs.evolve(column, sql=f"nullif({column.sql}, '[]')", shorter=f"nullif({column.shorter}, '[]')")


def state_of_info(name: str, key: str, unsure: Sequence[JsonValue]) -> Column:
    """Whether an answer has a value at a key of ``info``, or says that nothing is there, or "can't tell", or nothing at all."""
    return Column(name, "text", state(f"(i.info->{literal(key)})", unsure), about=STATES)


def state(value: str, unsure: Sequence[JsonValue]) -> str:
    """An expression: which of STATES a value is; null (not that of JSON) was left out."""
    words = ", ".join(literal(orjson.dumps(each).decode()) for each in (None, *unsure))
    return (
        f"(CASE WHEN {value} IS NULL THEN 'left_out' WHEN {value} IN ({words}) THEN 'unsure'"
        f" WHEN {value} = '[]' THEN 'nothing' ELSE 'answered' END)"
    )


def rest_of_info(info: Column) -> Column:
    """An ``info`` without keys, because it is not an object."""
    sql = f"(CASE WHEN jsonb_typeof({info.sql}) <> 'object' THEN {info.sql} END)"
    return attrs.evolve(info, sql=sql)


MODEL = "model"
"""What the confidence of a label is called in files: how probable the model of the volunteers says it is."""
_MODELLED = frozenset({"label", "labels"})


def is_modelled(fields: Sequence[AnswerField]) -> bool:
    """Whether the confidence of the first field comes from the model of the volunteers."""
    return bool(fields) and fields[0].type in _MODELLED and not fields[0].opinion


def said(fields: Sequence[AnswerField], nth: int, of: str) -> Column:
    """What answers say at the nth field, which the row ``i`` has."""
    name = fields[nth].name
    shown = MODEL if of == "confidence" and nth == 0 and is_modelled(fields) else of
    title = f"consensus_{name}" if of == "value" else f"consensus_{name}_{shown}"
    return Column(title, _SAID_TYPES[of], f"(i.said->{literal(name)}->'{shown}')", True, _SAID_ABOUT[shown])


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
    "SELECT q.choices[r.class] AS class, r.class IS NOT NULL AS fits, r.counted,"
    " why_not_counted(r.counted, r.gold, r.aside, r.unreliable) AS not_counted,"
    " answer_weight(coalesce(v.log_likelihoods, q.newcomer), r.class::int, q.k::int) AS weight"
    " FROM task_run r JOIN trust_model q ON q.project_id = r.project_id"
    " LEFT JOIN reliability v ON v.project_id = r.project_id AND v.actor = r.actor AND v.generation = q.generation"
    " WHERE r.project_id = t.project_id AND r.id = t.id"
)


def trusted(kind: Kind, choices: Sequence[JsonValue], *, owns: bool) -> list[Source]:
    """What tells of results or answers how sure they are; only owners learn who decided and what answers weigh."""
    if not choices or kind not in (TASK_RUN, RESULT):
        return []
    if kind is TASK_RUN:
        type_ = "text" if all(choice is None or isinstance(choice, str) for choice in choices) else "json"
        columns = [
            Column("class", type_, "x.class", True, "The choice that the answer says; null if it does not fit, too."),
            Column(
                "fits", "boolean", "x.fits", about="Whether the answer says one of the choices, such as can't tell."
            ),
            Column("counted", "boolean", "x.counted", about="Whether the answer counts."),
            Column(
                "not_counted", "text", "x.not_counted", about="Why not: late, unreliable, repeated, set_aside or gold."
            ),
        ]
        weight = Column(
            "weight",
            "number",
            "round(x.weight::numeric, 4)",
            about="How much the answer speaks for its class: ln of odds.",
        )
        return [Source([*columns, *([weight] if owns else [])], _WEIGHED, "x")]
    columns = [
        Column("n_counted", "integer", "x.n_counted", about="How many answers count."),
        Column("votes", "json", "x.votes", True, "How many of them say which choice."),
        *_probabilities("posterior", choices, "x", "the model of the volunteers says the choice is; not measured"),
    ]
    if owns:
        columns += [
            Column("decided_by", "text", "x.decided_by", about="Which expert has decided it."),
            Column("decided_at", "timestamp", "x.decided_at", about="When an expert decided it."),
        ]
    return [Source(columns, _DECIDED, "x")]


async def predicted(db: Database, project_id: int) -> list[Source]:
    """A column with what models predict for the task of a row, where the project has predictions. For owners."""
    if await one_or_none(db, "SELECT id FROM prediction WHERE project_id = %(id)s LIMIT 1", {"id": project_id}) is None:
        return []
    about = "What models predict for the task: model, version, question, value and probability of each."
    rows = (
        "SELECT jsonb_agg(jsonb_build_object('model', p.model, 'version', p.version, 'question', p.question, 'value', p.value,"
        " 'probability', p.probability) ORDER BY p.id) AS said FROM prediction p WHERE p.project_id = t.project_id AND p.task_id = t.task_id"
    )
    return [Source([Column("predictions", "json", "predicted.said", True, about)], rows, "predicted")]


async def chained(db: Database, kind: Kind, project_id: int) -> list[Source]:
    """Columns with what the task of a row was made of, where tasks were made of those of another project. For owners."""
    sql = "SELECT 1 FROM task_source WHERE (project_id + 0) = %(id)s LIMIT 1"
    if await one_or_none(db, sql, {"id": project_id}) is None:
        return []
    task_id = "t.id" if kind is TASK else "t.task_id"
    columns = [
        Column("source_task_id", "integer", "source.source_task_id", about="The task of the step before."),
        Column(
            "source_part", "text", "source.part", about="Which part of that task, such as a line; '' for all of it."
        ),
        Column(
            "source_changed",
            "boolean",
            "source.changed",
            about="Whether that task says something else by now, or is gone.",
        ),
    ]
    rows = (
        f"SELECT source_task_id, part, changed FROM task_source WHERE task_id = {task_id} AND project_id = t.project_id"
    )
    return [Source(columns, rows, "source")]


def analysed(analysis: ExportedAnalysis) -> Source:
    """What an analysis says of the task of a last result."""
    rows = (
        f"SELECT a.id, a.choices->(e.class - 1) AS class, e.posterior FROM analysis_task e JOIN analysis a ON a.id = e.analysis_id"
        f" WHERE e.project_id = t.project_id AND e.analysis_id = {analysis.id} AND e.task_id = t.task_id AND t.last_version"
    )
    columns = [
        Column("analysis", "integer", "y.id", about="Id of the analysis."),
        Column("analysis_class", "json", "y.class", True, "The choice that the analysis finds most probable."),
        *_probabilities("analysis_posterior", analysis.choices, "y", "the analysis says the choice is; not measured"),
    ]
    return Source(columns, rows, "y")


def _probabilities(name: str, choices: Sequence[JsonValue], alias: str, says: str) -> list[Column]:
    """A column for each choice, unless they are too many."""
    if len(choices) > _MAX_CLASSES:
        return []
    words = [choice if isinstance(choice, str) else orjson.dumps(choice).decode() for choice in choices]
    return [
        Column(f"{name}_{word}", "number", f"{alias}.posterior[{n}]", about=f"How probable {says}.")
        for n, word in enumerate(words, 1)
    ]


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
