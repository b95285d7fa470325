"""From the rows of a table to bodies of tasks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from crowdd_client.values import json_value

ATTRIBUTES = ("n_answers", "priority_0", "quorum", "calibration")
_ARROW_ROWS = 1000


def rows_of(source: Any) -> Iterator[Mapping[str, Any]]:
    """The rows of a DataFrame of polars or pandas, of an Arrow table, or of an iterable of dicts."""
    if hasattr(source, "iter_rows"):
        yield from source.iter_rows(named=True)
    elif hasattr(source, "itertuples"):
        names = [str(name) for name in source.columns]
        if len(set(names)) < len(names):
            raise ValueError("Two columns of the DataFrame have the same name.")
        for cells in source.itertuples(index=False, name=None):
            yield dict(zip(names, cells, strict=True))
    elif hasattr(source, "to_batches"):
        for part in source.to_batches(max_chunksize=_ARROW_ROWS):
            yield from part.to_pylist()
    else:
        yield from source


def count_of(source: object) -> int | None:
    """How many rows there are, where that is known before."""
    return len(source) if hasattr(source, "__len__") else None


def task_body(row: Mapping[str, Any], project_id: int, n_answers: int | None = None) -> bytes:
    """The task of a row as JSON. Raises ValueError for a row that cannot be one."""
    if not isinstance(row, Mapping):
        raise ValueError(f"A row must be a dict or another mapping (got {type(row).__name__}).")
    values = {str(name): json_value(value) for name, value in row.items()}
    attributes = {name: values.pop(name) for name in ATTRIBUTES if name in values}
    values.pop("state", None)
    body: dict[str, Any] = {"project_id": project_id}
    if n_answers is not None:
        body["n_answers"] = n_answers
    body |= {name: value for name, value in attributes.items() if value is not None}
    body["info"] = values["info"] if set(values) == {"info"} else values
    try:
        return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        raise ValueError("A text contains half of a character (a lone surrogate).") from None
