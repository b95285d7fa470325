"""What the documentation says about the five operations that every kind has."""

from __future__ import annotations

from functools import partial

from crowdd.core.records.history import HISTORIC
from crowdd.http.api.schemas import answer_name, change, change_name, creation, creation_name, filtered, form, people
from crowdd.http.operation import JSON, Audience, Link, Operation, Parameter, Schema, array_of, non_empty, reference
from crowdd.http.queries import CONTROL, CONTROL_OF, DEFAULT_LIMIT, MAX_LIMIT, UNSPECIFIC
from crowdd.kernel import errors
from crowdd.kinds.kind import Kind
from crowdd.kinds.roles import EVERYONE, Role
from crowdd.kinds.task_run import TASK_RUN
from crowdd.kinds.types import Boolean, Integer, Text, Timestamp

MULTIPART = "multipart/form-data"
COUNT = Integer(minimum=0).schema()
_TEXT = Text().text_schema()

LIMIT = Parameter(
    "limit",
    COUNT,
    f"Number of rows (default: {DEFAULT_LIMIT}). Values above {MAX_LIMIT} are reduced to it.",
    empty=True,
)
OFFSET = Parameter("offset", COUNT, "Number of rows to skip. Skipped rows cost time: prefer last_id.", empty=True)
DESC = Parameter("desc", Boolean().text_schema(), "With true, the order is descending.", empty=True)
EXTERNAL_UID = Parameter(
    "external_uid", TASK_RUN.field("external_uid").type.schema(), "External user on whose behalf the request is sent."
)
PASSWORD = Parameter(
    "X-Project-Password",
    _TEXT,
    "Password of the project, if it requires one. The address or the query must name the project.",
    where="header",
)
_IF_NONE_MATCH = Parameter(
    "If-None-Match", _TEXT, "An ETag. The response is 304 if nothing has changed since.", where="header"
)
_IF_MATCH = Parameter(
    "If-Match", _TEXT, "An ETag. The response is 412 if the object has changed since.", where="header"
)
_ONCE = Parameter(
    "Idempotency-Key",
    {"type": "string", "maxLength": 255, "pattern": r"^[^\x00-\x1f\x7f]*$"},
    "Repeating the request within 24 hours returns the stored result and creates nothing. Another body gets 422.",
    where="header",
)
_PREFER = Parameter(
    "Prefer", _TEXT, "With next, the answer has next_task: what newtask would return then, or null.", where="header"
)
_AT = Parameter(
    "at",
    Timestamp().text_schema(),
    "A time: what was then, for those who run the project. An ISO 8601 time, in UTC unless it has a zone.",
)
_PAST = (errors.AnonymousError, errors.NotFoundError, errors.InvalidRequestError, errors.NotKeptError)
_ID = Parameter("object_id", COUNT, "Id of the object.", where="path")
PROJECT_ID = Parameter("object_id", COUNT, "Id of the project.", where="path")
of_project = partial(
    Operation,
    section="project",
    refusals=(errors.AnonymousError, errors.NotFoundError),
    audience=Audience.SIGNED_IN,
)
"""An operation on a project, for those who run it."""


def listing(kind: Kind) -> Operation:
    """GET of a list."""
    rows = "rows that you may see, by id unless orderby is given"
    context = " With a key or a session, only rows of your own projects, unless all=1." if kind.context else ""
    return Operation(
        name=f"list_{kind.name}",
        section=kind.name,
        summary=f"List {kind.name}s",
        about=f"Returns an array of {rows}.{context} Attributes in the query are filters.",
        parameters=(*_steering(kind), *_at(kind), *_filters(kind), PASSWORD, _IF_NONE_MATCH),
        answer=array_of(reference(answer_name(kind))),
        refusals=_PAST if kind.name in HISTORIC else (),
    )


def reading(kind: Kind) -> Operation:
    """GET of one."""
    return Operation(
        name=f"read_{kind.name}",
        section=kind.name,
        summary=f"Read a {kind.name}",
        parameters=(_ID, *_at(kind), PASSWORD, _IF_NONE_MATCH),
        answer=reference(answer_name(kind)),
        refusals=_PAST if kind.name in HISTORIC else (errors.AnonymousError, errors.NotFoundError),
    )


def creating(kind: Kind) -> Operation:
    """POST; for bulk kinds of an array too."""
    body, made = reference(creation_name(kind)), reference(answer_name(kind))
    verbs = [verb for method, verb in _OF_ONE.items() if method in kind.methods]
    open_to_all = kind.rights.create == EVERYONE
    headers = (PASSWORD, _ONCE, _PREFER) if kind is TASK_RUN else (PASSWORD, _ONCE)
    return Operation(
        name=f"create_{kind.name}",
        section=kind.name,
        summary=f"Create a {kind.name}",
        about=_for(kind.rights.create, _ARRAY if kind.bulk else ""),
        parameters=(*((EXTERNAL_UID,) if open_to_all else ()), *headers),
        bodies=_bodies(kind, {"anyOf": [body, non_empty(body)]} if kind.bulk else body, form(kind, creation(kind))),
        answer={"anyOf": [made, array_of(made)]} if kind.bulk else made,
        refusals=(*_WRITING, errors.IdempotencyError, errors.TooLargeError),
        audience=Audience.VOLUNTEER if open_to_all else Audience.SIGNED_IN,
        links=tuple(Link(f"{verb}_{kind.name}", {"object_id": "/id"}) for verb in verbs),
    )


def changing(kind: Kind) -> Operation:
    """PUT."""
    return Operation(
        name=f"change_{kind.name}",
        section=kind.name,
        summary=f"Change a {kind.name}",
        about=_for(kind.rights.update, _PARTLY + (_FILE if kind.files else "")),
        parameters=(_ID, PASSWORD, _IF_MATCH),
        bodies=_bodies(kind, reference(change_name(kind)), form(kind, change(kind))),
        answer=reference(answer_name(kind)),
        refusals=(*_WRITING, errors.PreconditionError, errors.TooLargeError),
        audience=Audience.SIGNED_IN,
    )


def deleting(kind: Kind) -> Operation:
    """DELETE."""
    return Operation(
        name=f"delete_{kind.name}",
        section=kind.name,
        summary=f"Delete a {kind.name}",
        about=_for(kind.rights.delete),
        parameters=(_ID, PASSWORD),
        answer=None,
        refusals=(errors.AnonymousError, errors.NotFoundError),
        audience=Audience.SIGNED_IN,
    )


_ARRAY = (
    " The body may be an array: all rows are created, or none if one is refused. The response is then an array, too."
)
_PARTLY = " Attributes that the body does not contain stay unchanged."
_FILE = " A new file replaces the previous one."
_OF_ONE = {"GET": "read", "PUT": "change", "DELETE": "delete"}
_WRITING = (errors.AnonymousError, errors.NotFoundError, errors.InvalidRequestError)


def _for(roles: frozenset[Role], more: str = "") -> str:
    return f"For {people(roles)}.{more}"


def _bodies(kind: Kind, body: Schema, with_file: Schema) -> dict[str, Schema]:
    return {JSON: body, MULTIPART: with_file} if kind.files or kind is TASK_RUN else {JSON: body}


def _steering(kind: Kind) -> tuple[Parameter, ...]:
    """The words of the query that are no attributes."""
    names = [field.name for field in kind.fields if field.search and not field.encrypted]
    known = {
        "limit": LIMIT,
        "offset": OFFSET,
        "last_id": Parameter("last_id", COUNT, "Only rows with an id above this one.", empty=True),
        "orderby": Parameter(
            "orderby", {"type": "string", "enum": names}, "Attribute to sort by (default: id).", empty=True
        ),
        "desc": DESC,
        "all": Parameter("all", _TEXT, "With 1, also rows of projects of other people."),
        "participated": Parameter("participated", _TEXT, "Only tasks that the caller has not answered."),
        "external_uid": Parameter(
            "external_uid",
            _TEXT,
            "With participated: the external user who has not answered, instead of the caller. For those who may name"
            " them: with the token of the project and project_id, or an owner.",
        ),
        "related": Parameter("related", _TEXT, f"With 1, each row contains {', '.join(kind.related)}."),
        "stats": Parameter("stats", _TEXT, "With 1, each project contains stats, its complete statistics."),
        "full": Parameter(
            "full", _TEXT, "With 1, info contains figures by hour, day and person for the last two weeks."
        ),
        "fulltextsearch": Parameter(
            "fulltextsearch", _TEXT, "With 1, info=key::words is a full-text search for the words."
        ),
    }
    return tuple(known[name] for name in _words(kind))


def _at(kind: Kind) -> tuple[Parameter, ...]:
    return (_AT,) if kind.name in HISTORIC else ()


def _words(kind: Kind) -> list[str]:
    apply = {
        "all": kind.context,
        "participated": kind.name == "task",
        **{word: word in CONTROL_OF.get(kind.name, ()) for words in CONTROL_OF.values() for word in words},
        "related": bool(kind.related),
        "fulltextsearch": any(field.name == "info" and field.search for field in kind.fields),
    }
    order = ["limit", "last_id", "orderby", "desc", *apply, "offset"]
    return [word for word in order if apply.get(word, word in CONTROL - UNSPECIFIC)]


def _filters(kind: Kind) -> tuple[Parameter, ...]:
    fields = [field for field in kind.fields if field.search and not field.encrypted]
    return tuple(Parameter(field.name, filtered(field), field.doc) for field in fields)
