"""The field guide of a project (``info.field_guide``): entries with pictures that volunteers search beside the task."""

from __future__ import annotations

from typing import Any, Final

from crowdd.kinds.guides.guide import FORMAT, MARKDOWN, PICTURE, Names, list_of, schema_of
from crowdd.kinds.questions.options import TEXT, Option, Problems, check_object, needed, object_schema

MAX_BYTES: Final = 512_000
MAX_ENTRIES: Final = 300
MAX_GROUPS: Final = 50
MAX_PICTURES: Final = 10  # of an entry


def _group(names: Names) -> dict[str, Option]:
    return {"name": names.option(), "title": needed(TEXT)}


def _entry(names: Names, groups: Names) -> dict[str, Option]:
    return {
        "name": names.option(),
        "title": needed(TEXT),
        "group": groups.reference(),
        "text": MARKDOWN,
        "keywords": TEXT,
        "pictures": list_of(PICTURE.check, PICTURE.schema, 0, MAX_PICTURES),
    }


def _parts() -> dict[str, Option]:
    """The parts of a document, with names of its own. Groups come before the entries that name them."""
    groups, entries = Names(), Names()

    def check_group(value: object, path: str) -> Problems:
        return check_object(value, path, _group(groups))

    def check_entry(value: object, path: str) -> Problems:
        return check_object(value, path, _entry(entries, groups))

    return {
        "version": FORMAT,
        "groups": list_of(check_group, object_schema(_group(Names())), 0, MAX_GROUPS),
        "entries": needed(list_of(check_entry, object_schema(_entry(Names(), Names())), 1, MAX_ENTRIES)),
    }


def check(document: object) -> Problems:
    """Problems of a document."""
    return check_object(document, "", _parts())


def schema() -> dict[str, Any]:
    """The JSON Schema. The guide has what it cannot say: unique names, groups that exist."""
    return schema_of("Field guide of a crowdd project", _parts())
