"""A list answer holds at most so many bytes: its rows are cut in SQL, so that what is left out is never sent here."""

from __future__ import annotations

from crowdd.kinds.kind import Kind
from crowdd.kinds.types import Integers, Json, Text

MAX_LIST_BYTES = 5_000_000
_SMALL_TEXT = 10_000  # characters; shorter texts are part of what every row is taken to have
_ROW_BYTES = 1000


def within(kind: Kind, rows: str) -> str:
    """The rows of a SELECT until together they exceed ``%(max_bytes)s``, always the first one.

    ``bytes`` is the size of a row as JSON, or a little more, ``n_rows`` how many rows there were. The order stays.
    ``stored_bytes`` is known without unpacking a value: it keeps PostgreSQL from unpacking thousands of rows to find out that they are too large.
    """
    stored = " + ".join([str(_ROW_BYTES), *(f'coalesce(pg_column_size(s."{name}"), 0)' for name in _large(kind))])
    size = " + ".join([str(_ROW_BYTES), *(f'coalesce(octet_length(s."{name}"::text), 0)' for name in _large(kind))])
    walk = "OVER (ROWS UNBOUNDED PRECEDING)"
    return (
        f"SELECT * FROM (SELECT s.*, {size} AS bytes, sum({size}) {walk} AS bytes_so_far FROM ("
        f"SELECT * FROM (SELECT s.*, row_number() OVER () AS place, count(*) OVER () AS n_rows,"
        f" sum({stored}) {walk} AS stored_bytes FROM ({rows}) s) s WHERE stored_bytes <= %(max_bytes)s OR place = 1"
        f") s) s WHERE bytes_so_far <= %(max_bytes)s OR place = 1"
    )


def _large(kind: Kind) -> list[str]:
    """The attributes of a kind that may be large."""
    return [
        field.name
        for field in kind.fields
        if isinstance(field.type, Json | Integers)
        or (isinstance(field.type, Text) and field.type.maximum > _SMALL_TEXT)
    ]
