"""How a file is to be read."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import orjson

from crowdd import exact_json
from crowdd.domain.transfer.task_files.containers import container_of
from crowdd.domain.transfer.task_files.decoding import decoded
from crowdd.domain.transfer.task_files.delimiters import detect_delimiter
from crowdd.domain.transfer.task_files.dialect import Dialect
from crowdd.domain.transfer.task_files.encodings import detect_encoding
from crowdd.domain.transfer.task_files.foreign_files import (
    is_iiif,
    object_words,
    require_not_binary,
    require_table,
    require_text,
)
from crowdd.errors import InvalidValueError
from crowdd.languages import _

_HEAD = 65_536  # bytes whose beginning tells other kinds of files
_SAMPLE = 131_072  # characters
_LINES = 200
_ARRAY = re.compile(r"\s*\[\s*(?:[\[\]{\",\d-]|true\b|false\b|null\b|\Z)")


def detect(path: Path) -> Dialect:
    """How a file is to be read. Raises InvalidValueError for files of other kinds, with what to do instead.

    TooLargeError for a workbook that unpacks to too much.
    """
    if container := container_of(path):
        return Dialect(container)
    with path.open("rb") as file:
        head = file.read(_HEAD)
        require_text(head)
        if head.startswith((b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff")):
            raise InvalidValueError(_("The file is UTF-32. Save it as UTF-8."))
        encoding = detect_encoding(file)
        text = _beginning(file, encoding)
    require_not_binary(text)
    if not text.strip():
        raise InvalidValueError(_("The file is empty."))
    begin = text.lstrip()[:1]
    if begin == "[" and _is_array(text):
        return Dialect("json", encoding)
    if begin == "{":
        return _objects(text, encoding)
    require_table(text)
    return Dialect("csv", encoding, detect_delimiter(_whole_lines(text)))


def _beginning(file: BinaryIO, encoding: str) -> str:
    """The first characters of the file, blanks in front of them not counted."""
    file.seek(0)
    text = ""
    for piece in decoded(file, encoding):
        text = text.lstrip(" \t\r\n") + piece if not text.strip() else text + piece
        if len(text) >= _SAMPLE and text.strip():
            break
    return text[:_SAMPLE]


def _whole_lines(text: str) -> Sequence[str]:
    """The first lines of the file, without one that the sample cuts off."""
    lines = list(islice(io.StringIO(text, newline=""), _LINES + 1))
    cut = len(lines) > 1 and len(text) >= _SAMPLE and len(lines) <= _LINES
    return lines[:-1] if cut else lines[:_LINES]


def _is_array(text: str) -> bool:
    """Whether what begins with a bracket is JSON, and not a table whose first column is called [something]."""
    return _ARRAY.match(text) is not None


def _objects(text: str, encoding: str) -> Dialect:
    """NDJSON or IIIF, unless the file is one object: over many lines, or on one and rather a document than a row."""
    lines = [line for line in _whole_lines(text) if line.strip()]
    good = sum(map(_is_object, lines))
    if good * (5 if _is_object(lines[0]) else 2) < len(lines) or (len(lines) == 1 and _is_document(lines[0])):
        if is_iiif(text):
            return Dialect("iiif")
        raise InvalidValueError(object_words(text))
    return Dialect("ndjson", encoding)


def _is_object(line: str) -> bool:
    """Whether a line is a JSON object, or would be one without NaN, which its row says."""
    try:
        return isinstance(orjson.loads(line), dict)
    except orjson.JSONDecodeError as error:
        return line.lstrip().startswith("{") and bool(exact_json.non_finite(error))


def _is_document(line: str) -> bool:
    """Whether an object holds rows itself: a list of objects, or what GeoJSON and IIIF have."""
    try:
        values = orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    lists = (value for value in values.values() if isinstance(value, list))
    return "features" in values or "@context" in values or any(isinstance(e, dict) for each in lists for e in each)
