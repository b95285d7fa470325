"""The keys of ``info`` that rows of a project have, and the forms of their values, window by window in the order of ids.

Most rows have only what earlier rows have. That is a cheap question for each row; only rows with something new are taken
apart.
"""

from __future__ import annotations

from collections.abc import Mapping

from crowdd.storage.database import Database, one
from crowdd.storage.transfer.export_columns import literal
from crowdd.storage.transfer.exports import ORDER, Chosen

_WINDOW = 25_000  # rows that one statement looks through
_FIRST_WINDOW = 500  # rows that are taken apart before anything is known
_FEW_KEYS = 50  # so many known ones are faster looked for in a row than all of its own listed
_END = 2**63 - 1

Forms = Mapping[str, frozenset[str]]
"""Keys of ``info`` with the forms of their values (definitions 62: json_form), in the order in which rows first have them."""


async def more(
    tx: Database, rows: str, chosen: Chosen, known: Forms, after: int, *, typed: bool
) -> tuple[Forms, int | None]:
    """What the next of ``rows`` (``exports.stored_rows``) have that is not known, and the last row; None at the end.

    ``typed``: with forms. A known key without forms may have values of any form.
    """
    if not known or len(known) > _FEW_KEYS:
        window = chosen.values(after, _WINDOW if known else _FIRST_WINDOW)
        return await _taken_apart(tx, rows, "true", {**window, "until": _END}, typed=typed)
    new = _is_new(known)
    values = {**chosen.values(after, _WINDOW), "known": list(known)}
    row = await one(
        tx,
        "SELECT max(r.id) AS last, min(r.id) FILTER (WHERE r.new) AS first"
        f" FROM (SELECT t.id, {new} AS new FROM {rows} ORDER BY {ORDER} LIMIT %(maximum)s) r",
        values,
    )
    if row["first"] is None:
        return {}, row["last"]
    window = {**values, "after": row["first"] - 1, "until": row["last"]}
    forms, _ = await _taken_apart(tx, rows, new, window, typed=typed)
    return forms, row["last"]


async def _taken_apart(
    tx: Database, rows: str, new: str, window: Mapping[str, object], *, typed: bool
) -> tuple[Forms, int | None]:
    """The keys of those rows of a window for which ``new`` holds, and the last of these rows."""
    keys, forms = ("jsonb_object_keys(r.info) k(key)", "'{}'::text[]")
    if typed:
        keys, forms = ("jsonb_each(r.info) k(key, value)", "array_agg(DISTINCT json_form(k.value))")
    row = await one(
        tx,
        "WITH r AS MATERIALIZED (SELECT t.id, CASE WHEN jsonb_typeof(t.info) = 'object' THEN t.info END AS info"
        f" FROM {rows} AND t.id <= %(until)s AND {new} ORDER BY {ORDER} LIMIT %(maximum)s),"
        f" k AS (SELECT k.key, min(r.id) AS first, {forms} AS forms FROM r CROSS JOIN LATERAL {keys} GROUP BY k.key)"
        # Within a row, the order of jsonb.
        " SELECT (SELECT max(id) FROM r) AS last, (SELECT jsonb_agg(jsonb_build_array(key, forms)"
        ' ORDER BY first, octet_length(key), key COLLATE "C") FROM k) AS keys',
        window,
    )
    return {key: frozenset(forms) for key, forms in row["keys"] or []}, row["last"]


def _is_new(known: Forms) -> str:
    """A condition: the row t has a key that is none of ``%(known)s``, or a known one with a value of another form."""
    others = "(CASE WHEN jsonb_typeof(t.info) = 'object' THEN t.info - %(known)s::text[] <> '{}' ELSE false END)"
    forms = (
        f"json_form(t.info->{literal(key)}) <> ALL ('{{{','.join(sorted(each))}}}'::text[])"
        for key, each in known.items()
        if each
    )
    return f"({' OR '.join([others, *forms])})"
