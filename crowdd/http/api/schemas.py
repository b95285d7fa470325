"""JSON Schemas of the kinds: what is answered, what may be sent. Made of the same declarations that validate."""

from __future__ import annotations

from crowdd.http.operation import Schema, array_of, reference
from crowdd.kinds.kind import LINKS, Field, Kind, Write
from crowdd.kinds.roles import EVERYONE, Role
from crowdd.kinds.types import Integer, Json

_INTEGERS = r"^\[?\s*[+-]?[0-9]{1,18}([\s,]+[+-]?[0-9]{1,18})*\s*\]?$"
_WHO = {
    Role.ANYBODY: "everybody",
    Role.SIGNED_IN: "signed-in people",
    Role.OWNER: "owners of the project",
    Role.CREATOR: "the owner of the project",
    Role.AUTHOR: "the author",
    Role.SELF: "the person",
    Role.OPEN: "everybody unless privacy_mode is on",
    Role.ADMIN: "administrators",
}
_LINKS: dict[str, Schema] = {
    "link": {"type": "string", "description": "Link element of the object itself."},
    "links": {**array_of({"type": "string"}), "description": "Link elements of its parents."},
}


def answer_name(kind: Kind) -> str:
    """The name of the schema of a record: TaskRun is ``Taskrun``, as titles of links are lower case."""
    return kind.name.capitalize()


def creation_name(kind: Kind) -> str:
    """The name of the schema of a body of POST."""
    return f"{answer_name(kind)}Creation"


def change_name(kind: Kind) -> str:
    """The name of the schema of a body of PUT."""
    return f"{answer_name(kind)}Change"


# What a response adds to a record when it is created.
_SAID: dict[str, dict[str, Schema]] = {
    "taskrun": {
        "gold": {
            "type": "object",
            "properties": {
                "is_right": {"type": ["boolean", "null"]},
                "answers": {"type": "array", "items": {}},
                "message": {"type": ["string", "null"]},
            },
            "description": "Only in the response to an answer to a gold task, with info.gold_feedback of the project.",
        },
        "next_task": {
            "anyOf": [reference("Task"), {"type": "null"}],
            "description": "Only in the response to an answer that was sent with Prefer: next.",
        },
    }
}


def answer(kind: Kind) -> Schema:
    """A record as it leaves. Attributes that not everybody may read are there only for those who may."""
    properties = {field.name: _described(field, _answered(kind, field), _read_by(field)) for field in kind.fields}
    always = [field.name for field in kind.fields if field.read == EVERYONE or field.name in kind.reduced]
    links = sorted(LINKS if kind.parents else LINKS - {"links"})
    more = {name: _LINKS[name] for name in links} | {name: _related(kind, name) for name in kind.related}
    more |= {
        word: {**reference(other.capitalize()), "description": f"Only in lists with {word}=1."}
        for word, other in kind.beside.items()
    }
    if any(isinstance(field.type, Json) and field.search for field in kind.fields):
        more |= _FOUND
    more |= _SAID.get(kind.name, {})
    return _object(kind.doc, properties | more, [*always, *links])


def creation(kind: Kind) -> Schema:
    """A body of POST. What the server sets is read-only."""
    writable_modes = (Write.FREE, Write.ONCE)
    properties = {
        field.name: _sent(field, writable=field.write in writable_modes, initial=True) for field in kind.fields
    }
    required = [field.name for field in kind.fields if field.write in writable_modes and _must_be_given(field)]
    return _object(f"A new {kind.name}.", properties | _read_only_links(kind), required)


def change(kind: Kind) -> Schema:
    """A body of PUT: what is left out stays as it is. A read-only attribute may stand there with its own value."""
    properties = {field.name: _sent(field, writable=field.write is Write.FREE, initial=False) for field in kind.fields}
    return _object(f"Changes of a {kind.name}.", properties | _read_only_links(kind), [])


def form(kind: Kind, body: Schema) -> Schema:
    """The multipart form of a body: the file, and attributes as texts (JSON ones as JSON text)."""
    file = {"type": "string", "format": "binary", "description": "The file."}
    sent = [field for field in kind.fields if not body["properties"][field.name].get("readOnly")]
    properties = {"file": file, **{field.name: _described(field, field.type.schema(), "") for field in sent}}
    return _object("A file with the attributes of its row.", properties, ["file", *body["required"]])


def filtered(field: Field) -> Schema:
    """What a list takes as a filter by this attribute."""
    if isinstance(field.type, Integer):
        return {"anyOf": [field.type.text_schema(), {"type": "string", "pattern": _INTEGERS}]}
    if isinstance(field.type, Json):
        return {"type": "string", "anyOf": [{"not": {"pattern": "::"}}, {"pattern": "^(?!::)[^|]+::"}]}
    return field.type.text_schema()


def people(roles: frozenset[Role]) -> str:
    """Roles in words."""
    return ", ".join(words for role, words in _WHO.items() if role in roles) or "nobody"


_FOUND: dict[str, Schema] = {
    "headline": {
        "type": "string",
        "description": "Excerpt with the words that were found, as HTML. Only with fulltextsearch.",
    },
    "rank": {"type": "number", "description": "Relevance of the match. Only with fulltextsearch."},
}


def _object(doc: str, properties: dict[str, Schema], required: list[str]) -> Schema:
    return {
        "type": "object",
        "description": doc,
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _answered(kind: Kind, field: Field) -> Schema:
    return _or_null(field.type.schema()) if field.null or field.name in kind.reduced else field.type.schema()


def _sent(field: Field, *, writable: bool, initial: bool) -> Schema:
    if not writable:
        return {"description": field.doc, "readOnly": True}
    stands_for_default = initial and field.default is not None
    schema = field.type.schema()
    described = _described(field, _or_null(schema) if field.null or stands_for_default else schema, _written_by(field))
    if initial and not callable(field.default) and field.default is not None:
        described["default"] = field.default
    return described


def _must_be_given(field: Field) -> bool:
    return field.initial() is None and not field.null


def _or_null(schema: Schema) -> Schema:
    return {**schema, "type": [schema["type"], "null"]} if "type" in schema else schema


def _described(field: Field, schema: Schema, more: str) -> Schema:
    return {**schema, "description": f"{field.doc} {more}".strip()}


def _read_by(field: Field) -> str:
    return "" if field.read == EVERYONE else f"Read by {people(field.read)}."


def _written_by(field: Field) -> str:
    return "" if field.writers is None else f"Set by {people(field.writers)}."


def _related(kind: Kind, name: str) -> Schema:
    relation = kind.related[name]
    one = reference(relation.kind.capitalize())
    schema: Schema = array_of(one) if relation.maximum > 1 else {"anyOf": [one, {"type": "null"}]}
    return {**schema, "description": "Only in lists with related=1."}


def _read_only_links(kind: Kind) -> dict[str, Schema]:
    return {name: {**schema, "readOnly": True} for name, schema in _LINKS.items()}
