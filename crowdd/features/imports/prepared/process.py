"""Has files read into rows by a process with little memory and time, once each. Waits: call it in a thread."""

from __future__ import annotations

import secrets as random
from collections.abc import Mapping
from pathlib import Path

import orjson

from crowdd.features.imports.files import Dialect
from crowdd.features.imports.files.dialect import PREPARED
from crowdd.features.imports.files.reading import read_about
from crowdd.kernel.concurrency import isolated
from crowdd.kernel.concurrency.isolated import LimitError
from crowdd.kernel.errors import InvalidValueError
from crowdd.kernel.languages import _

MAX_SECONDS = 120.0
SUFFIX = ".rows"
_PROGRAM = "crowdd.features.imports.prepared.program:convert"
_MORE = {"ARROW_DEFAULT_MEMORY_POOL": "system", "RUST_BACKTRACE": "0"}


def prepare(path: Path, dialect: Dialect) -> Path:
    """The file with the rows of a file: itself where it is text, otherwise one beside it, made when missing.

    Raises InvalidValueError with why the file cannot be used, StoppedError when the process was told to end.
    """
    if dialect.format not in PREPARED:
        return path
    rows = path.with_name(path.name + SUFFIX)
    chosen = dialect.options()
    if not rows.is_file() or not _fits(read_about(rows), dialect):
        _make(path, rows, dialect.format, orjson.dumps(chosen).decode())
    return rows


def _fits(description: Mapping[str, object], dialect: Dialect) -> bool:
    """Whether rows were made as a dialect has it: of its sheet, which may have been named since."""
    return description["chosen"] == dialect.options() or (description["format"], description.get("sheet")) == (
        dialect.format,
        dialect.sheet,
    )


def discard(path: Path) -> None:
    """Removes a file with what was made of it."""
    path.unlink(missing_ok=True)
    for beside in path.parent.glob(f"{path.name}.*"):
        beside.unlink(missing_ok=True)


def _make(path: Path, rows: Path, format_: str, options: str) -> None:
    draft = rows.with_name(f"{rows.name}.{random.token_hex(8)}")
    try:
        refusal = isolated.call(_PROGRAM, format_, str(path), str(draft), options, seconds=MAX_SECONDS, more=_MORE)
        if refusal:
            raise InvalidValueError(orjson.loads(refusal)["error"])
        draft.replace(rows)
    except LimitError:
        raise InvalidValueError(_too_costly()) from None
    finally:
        draft.unlink(missing_ok=True)


def _too_costly() -> str:
    return _(
        "The file is damaged, or reading it takes too much memory or time. Save its table as CSV (UTF-8) and import"
        " that."
    )
