"""How a kind is declared: its attributes, who may read and write each, its parents and rights.

Everything that crowdd does with a kind in general (REST, filters, views, hypermedia, OpenAPI, listings) is derived
from these values. What is special to a kind is in its feature.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any

import attrs

from crowdd.kernel.errors import ForbiddenError, InvalidValueError, ReservedFieldError, UnknownFieldError
from crowdd.kernel.languages import _
from crowdd.kernel.values import Values
from crowdd.kinds.roles import EVERYONE, WHOLE_INFO, Role
from crowdd.kinds.sizes import json_bytes, require_size
from crowdd.kinds.types import Json, Type, iso, missing

MAX_BYTES = 64_000  # of a JSON attribute that declares nothing else


class Write(enum.Enum):
    """Who gives an attribute its value."""

    FREE = "free"  # the requester, when creating and when changing
    ONCE = "once"  # the requester when creating; later accepted unchanged only
    STAMPED = "stamped"  # the server when creating, whatever a body says; later accepted unchanged only
    RESERVED = "reserved"  # the server; accepted unchanged in a PUT, refused otherwise
    COMPUTED = "computed"  # the server, on reading; ignored in bodies


@attrs.frozen
class Field:
    """An attribute of a kind."""

    name: str
    type: Type
    doc: str
    read: frozenset[Role]  # no default: each declaration says it
    write: Write = Write.FREE
    writers: frozenset[Role] | None = None  # None: everybody who may change the row
    default: object = None  # a callable is called; None with null=False means: must be given
    null: bool = False
    search: bool = True  # may be filtered and ordered by, among the rows whose value one may read
    encrypted: bool = False  # stored encrypted in the column <name>_encrypted
    masked: bool = False  # those who may not read it see a keyed hash; the kind must name it in ``reduced``
    max_bytes: int = MAX_BYTES  # of a JSON value, as compact JSON
    max_key_bytes: Mapping[str, int] = attrs.field(factory=dict, eq=False)  # first-level keys not counted in max_bytes
    heading: int = 0  # the text is Markdown whose highest headings get this level; 0: it is not Markdown

    def require_size(self, value: object, stored: object = None) -> None:
        """Raises TooLargeError for a JSON value that is too large, unless it is no larger than the stored one."""
        if isinstance(self.type, Json) and not (stored is not None and json_bytes(value) <= json_bytes(stored)):
            require_size(self.name, value, self.max_bytes, self.max_key_bytes)

    def parse(self, value: object, place: str = "") -> Any:
        """The value to store for a value of a body. InvalidValueError and TooLargeError name the attribute.

        ``place``: where the value stands in its body, unless the name says so.
        """
        if value is None:
            if self.null:
                return None
            raise InvalidValueError(_("`%(name)s` must not be null.", name=place or self.name))
        self.require_size(value)  # first: to check every part of a large value is dear
        return self.type.parse_at(value, place or self.name)

    def from_text(self, text: str) -> Any:
        """The value to compare with for a text of a query."""
        try:
            return self.type.from_text(text)
        except InvalidValueError as error:
            raise InvalidValueError(f"`{self.name}` {error}.") from None

    def initial(self) -> object:
        """The value of a row whose maker said nothing."""
        return self.default() if callable(self.default) else self.default


@attrs.frozen
class Rights:
    """Who may do what with a row. ``see`` is for lists, ``get`` for a row asked for by its id."""

    see: frozenset[Role]
    get: frozenset[Role]
    create: frozenset[Role]  # for a child: roles towards the project named in the body
    update: frozenset[Role]
    delete: frozenset[Role]


@attrs.frozen
class Relation:
    """Rows that belong to a row: those of ``kind`` whose attribute ``theirs`` is the row's attribute ``own``."""

    kind: str
    own: str
    theirs: str
    maximum: int = 1  # 1: an object or null; more: a list of at most so many


@attrs.frozen(eq=False)
class Kind:
    """A kind of domain object.

    ``name`` stands in URLs and as the title of links; ``source`` is the relation that is read (a view that adds
    computed attributes, or the table), ``table`` the one that is written. ``parents`` maps kind names to the
    attribute that holds their id, in the order of the links. ``context`` kinds show a signed-in requester only
    rows of their own projects unless ``all=1``.
    """

    name: str
    fields: tuple[Field, ...]
    rights: Rights
    doc: str
    table: str
    source: str
    parents: Mapping[str, str] = attrs.field(factory=dict)
    context: bool = False
    # Keys of ``info`` that everybody may read; None: all of it.
    public_info: frozenset[str] | None = None
    # Attributes that a reduced record shows, present and null, to those who may not read them.
    reduced: tuple[str, ...] = ()
    # What a list brings along with ``related=1``.
    related: Mapping[str, Relation] = attrs.field(factory=dict)
    # What a list brings along with a word of its own in the query: the record of that kind with the same id.
    beside: Mapping[str, str] = attrs.field(factory=dict)
    # POST takes an array too: all rows or none.
    bulk: bool = False
    # A row may come with a file: a multipart body on POST and PUT.
    files: bool = False
    # Attributes, or keys of them (``info.thumbnail_url``), that hold the address of a picture.
    pictures: tuple[str, ...] = ()
    # A row has an address below /api, which it names.
    linked: bool = True
    # Methods that the kind has at all; others are 405.
    methods: frozenset[str] = frozenset({"GET", "POST", "PUT", "DELETE"})
    by_name: dict[str, Field] = attrs.field(init=False, repr=False)
    _given_at_creation: tuple[Field, ...] = attrs.field(init=False, repr=False)

    @by_name.default
    def _index(self) -> dict[str, Field]:
        return {field.name: field for field in self.fields}

    @_given_at_creation.default
    def _index_of_creation(self) -> tuple[Field, ...]:
        return tuple(field for field in self.fields if field.write in (Write.FREE, Write.ONCE))

    @property
    def has_texts(self) -> bool:
        """Whether an attribute of it is Markdown."""
        return any(field.heading for field in self.fields)

    def field(self, name: str) -> Field:
        """The attribute of that name; UnknownFieldError when the kind has none."""
        try:
            return self.by_name[name]
        except KeyError:
            raise self.unknown(name) from None

    def unknown(self, name: str) -> UnknownFieldError:
        """The error for an attribute that does not exist, or that must not be learned of."""
        return UnknownFieldError(f"type object '{self.name}' has no attribute '{name[:100]}'")

    def searchable(self, name: str) -> Field:
        """The attribute of that name for a filter or an order; secret ones are as unknown as missing ones."""
        field = self.field(name)
        if not field.search or field.encrypted:
            raise self.unknown(name)
        return field

    def readers(self, field: Field, keys: Iterable[str] | None = None) -> frozenset[Role]:
        """Who may read all of an attribute, or of its first-level ``keys``: who may filter and order by it."""
        if field.name != "info" or self.public_info is None or field.read != EVERYONE:
            return field.read
        return EVERYONE if keys is not None and self.public_info.issuperset(keys) else WHOLE_INFO

    def creation(self, body: Mapping[str, object]) -> Values:
        """The values of a new row for a body: parsed, defaults filled in.

        Raises UnknownFieldError, ReservedFieldError, InvalidValueError.
        """
        self._refuse_reserved(body)
        return {field.name: self._given_or_initial(field, body) for field in self._given_at_creation}

    def require_writers(self, values: Mapping[str, object], roles: frozenset[Role]) -> None:
        """Raises ForbiddenError for a value of a new row that only others may give, unless it is the default."""
        for field in self.fields:
            mine = field.writers is None or field.writers & roles
            if not mine and field.name in values and values[field.name] != field.initial():
                raise ForbiddenError(f"You may not change {field.name}.")

    def _given_or_initial(self, field: Field, body: Mapping[str, object]) -> object:
        if field.name in body and not (body[field.name] is None and field.default is not None):
            return field.parse(body[field.name])
        initial = field.initial()
        if initial is None and not field.null:
            raise missing(field.name)
        return initial

    def _refuse_reserved(self, body: Mapping[str, object]) -> None:
        for name in body:
            if name not in LINKS and self.field(name).write is Write.RESERVED:
                raise ReservedFieldError("Reserved keys in payload", hint=f"Leave out {name}: the server sets it.")

    def change(self, row: Mapping[str, object], body: Mapping[str, object], roles: frozenset[Role]) -> Values:
        """What a body changes of a row: parsed values of attributes whose value differs.

        Computed attributes are ignored; others that the requester may not set are accepted when they say what is
        stored anyway.
        """
        changes = {}
        for name, value in body.items():
            if name in LINKS:
                continue
            field = self.field(name)
            if field.write is Write.COMPUTED or value == outward(row[name]):
                continue
            field.require_size(value)  # before it is parsed, which is dear
            if _same(field, value, row[name]):
                continue
            if field.write is not Write.FREE:
                raise ReservedFieldError("Reserved keys in payload", hint=f"{name} cannot be changed.")
            if field.writers is not None and not field.writers & roles:
                raise ForbiddenError(f"You may not change {name}.")
            changes[name] = field.parse(value)
        return changes

    def view(self, row: Mapping[str, object], roles: frozenset[Role], base_url: str) -> Values:
        """The row as a requester with these roles may see it, with its links.

        ``row`` has a value for every attribute. Attributes that they may not read are left out, but for those of
        ``reduced``, which are null, or what the row has as ``<name>_masked``.
        """
        seen: Values = {
            # as outward() does, whose calls are a third of what this takes
            name: (iso(value) if isinstance(value := row[name], datetime) else value)
            if readable
            else row.get(f"{name}_masked")
            for name, readable in _shown(self, roles)
        }
        if "info" in seen and self.public_info is not None and not roles & WHOLE_INFO:
            seen["info"] = {k: v for k, v in (seen.get("info") or {}).items() if k in self.public_info}
        return seen | self.links(row, base_url)

    def shown(self, roles: frozenset[Role]) -> list[Field]:
        """The attributes that a view for these roles has."""
        return [self.by_name[name] for name, _readable in _shown(self, roles)]

    def links(self, row: Mapping[str, Any], base_url: str) -> Values:
        """``link`` and, for a child, ``links``; {} without addresses (interface: link-self, link-parents)."""
        if not self.linked:
            return {}
        made: Values = {"link": _link("self", self.name, base_url, row["id"])}
        if self.parents:
            made["links"] = [_link("parent", name, base_url, row[column]) for name, column in self.parents.items()]
        return made


@lru_cache(maxsize=1000)
def _shown(kind: Kind, roles: frozenset[Role]) -> tuple[tuple[str, bool], ...]:
    """The attributes that a view of a kind has, and whether their values may be read."""
    shown = [(field.name, bool(field.read & roles)) for field in kind.fields]
    return tuple((name, readable) for name, readable in shown if readable or name in kind.reduced)


LINKS = frozenset({"link", "links"})
LINK = "<link rel='{rel}' title='{title}' href='{base_url}/api/{title}/{row_id}'/>"


def _same(field: Field, value: object, stored: object) -> bool:
    try:
        return bool(value is not None and field.type.parse(value) == stored)
    except InvalidValueError:
        return False


def _link(rel: str, title: str, base_url: str, row_id: int) -> str:
    return LINK.format(rel=rel, title=title, base_url=base_url, row_id=row_id)


def outward(value: object) -> object:
    """A stored value as it leaves in JSON."""
    return iso(value) if isinstance(value, datetime) else value
