"""Good files of tasks, what happens to files on their way, and what has to be true of their rows afterwards."""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable, Iterator
from itertools import pairwise

import attrs

from crowdd.features.imports.files import Dialect, FileRow, read_rows

ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252", "latin-1")
STYLES = ("csv", "semicolons", "tsv", "pipes", "quoted", "ndjson", "json", "json lines", "json pretty")
_DELIMITERS = {"csv": ",", "semicolons": ";", "tsv": "\t", "pipes": "|", "quoted": ","}
_TEXTS = (
    "gate", "north side", "a, b", "x; y", "tab\tinside", "p|q", 'she said "yes"', '""', "two\nlines", "three\r\nmore, lines\nend",
    "", " ", "Zürich", "é", "naïve café", "{[]}", "5", "https://pictures.example/7.jpg", "'", "\\", "a" * 300,
)  # fmt: skip


@attrs.frozen
class GoodFile:
    """A file without faults: how it is read, its rows, and its bytes piece by piece, one for each row."""

    style: str
    dialect: Dialect
    rows: list[dict[str, str]]
    head: bytes
    pieces: list[bytes]
    tail: bytes

    @property
    def content(self) -> bytes:
        return b"".join([self.head, *self.pieces, self.tail])

    def rows_at(self, begin: int, end: int) -> set[int]:
        """The rows that have bytes between these places or beside them; -1 for the head of the file."""
        at, hit = len(self.head), {-1} if begin <= len(self.head) - 1 else set()
        for number, piece in enumerate(self.pieces):
            if begin <= at + len(piece) and end >= at:
                hit.add(number)
            at += len(piece)
        return hit


@attrs.frozen
class Damaged:
    """A file after damage, and which rows were touched by it."""

    content: bytes
    touched: set[int]


def good_file(dice: random.Random, style: str, encoding: str, rows: int) -> GoodFile:
    """A file of so many rows. Each names itself in its first column, so that it can be told from all others."""
    texts = [text for text in _TEXTS if "\t" not in text or style != "tsv"]
    made = [
        {"id": f"row-{n}", "text": dice.choice(texts), "note": dice.choice(texts), "n": str(dice.randrange(9))}
        for n in range(rows)
    ]
    format_ = {"ndjson": "ndjson"}.get(style, "json" if style.startswith("json") else "csv")
    head, pieces, tail = _written(dice, style, made)
    codec, mark = {"utf-8-sig": ("utf-8", b"\xef\xbb\xbf"), "utf-16": ("utf-16-le", b"\xff\xfe")}.get(
        encoding, (encoding, b"")
    )
    return GoodFile(
        style,
        Dialect(format_, encoding, _DELIMITERS.get(style, "")),
        made,
        mark + head.encode(codec),
        [piece.encode(codec) for piece in pieces],
        tail.encode(codec),
    )


def _written(dice: random.Random, style: str, rows: list[dict[str, str]]) -> tuple[str, list[str], str]:
    if style == "ndjson":
        return "", [json.dumps(row, ensure_ascii=False) + "\n" for row in rows], ""
    if style.startswith("json"):
        indent = 2 if style == "json pretty" else None
        between, around = (",\n", "\n") if style != "json" else (",", "")
        texts = [json.dumps(row, ensure_ascii=False, indent=indent) for row in rows]
        if indent:
            texts = ["  " + text.replace("\n", "\n  ") for text in texts]
        return "[" + around, [text + between for text in texts[:-1]] + texts[-1:], around + "]"
    ending = dice.choice(["\n", "\r\n", "\r"])
    endings = [dice.choice(["\n", "\r\n", "\r"]) for _ in rows] if dice.random() < 0.2 else [ending] * len(rows)
    pieces = [_line(list(row.values()), style, end) for row, end in zip(rows, endings, strict=True)]
    return _line(list(rows[0]), style, ending), pieces, ""


def _line(cells: list[str], style: str, ending: str) -> str:
    special = ('"', "\r", "\n", _DELIMITERS[style])
    quoted = ['"' + cell.replace('"', '""') + '"' for cell in cells]
    plain = [cell if not any(each in cell for each in special) else q for cell, q in zip(cells, quoted, strict=True)]
    return _DELIMITERS[style].join(quoted if style == "quoted" else plain) + ending


# Damage -------------------------------------------------------------------------------------------------------------


def _unit(file: GoodFile) -> int:
    return 2 if file.dialect.encoding.startswith("utf-16") else 1


def _place(dice: random.Random, file: GoodFile) -> int:
    return dice.randrange(len(file.content)) // _unit(file) * _unit(file)


def _changed(file: GoodFile, begin: int, end: int, new: bytes) -> Damaged:
    content = file.content
    return Damaged(content[:begin] + new + content[end:], file.rows_at(begin, end))


def _quote(file: GoodFile) -> bytes:
    codec = {"utf-16": "utf-16-le", "utf-8-sig": "utf-8"}.get(file.dialect.encoding, file.dialect.encoding)
    return '"'.encode(codec)


def _insert_quote(dice: random.Random, file: GoodFile) -> Damaged:
    at = _place(dice, file)
    return _changed(file, at, at, _quote(file))


def _remove_quote(dice: random.Random, file: GoodFile) -> Damaged:
    quote, content, unit = _quote(file), file.content, _unit(file)
    budget = [at for at in range(0, len(content), unit) if content[at : at + unit] == quote]
    at = dice.choice(budget) if budget else _place(dice, file)
    return _changed(file, at, at + unit, b"")


def _flip(dice: random.Random, file: GoodFile) -> Damaged:
    at = _place(dice, file) + dice.randrange(_unit(file))
    at = min(at, len(file.content) - 1)
    begin = at // _unit(file) * _unit(file)
    pair = bytearray(file.content[begin : begin + _unit(file)])
    pair[at - begin] = dice.randrange(256)
    return _changed(file, begin, begin + len(pair), bytes(pair))


def _cut(dice: random.Random, file: GoodFile) -> Damaged:
    begin = _place(dice, file)
    end = begin + _unit(file) * dice.choice([1, 2, 5, 30, 200])
    return _changed(file, begin, min(end, len(file.content)), b"")


def _truncate(dice: random.Random, file: GoodFile) -> Damaged:
    at = dice.randrange(len(file.content))
    return _changed(file, at, len(file.content), b"")


def _garbage(dice: random.Random, file: GoodFile) -> Damaged:
    at = _place(dice, file)
    return _changed(file, at, at, dice.randbytes(_unit(file) * dice.randrange(1, 20)))


def _break_line(dice: random.Random, file: GoodFile) -> Damaged:
    at = _place(dice, file)
    return _changed(file, at, at, b"\n\x00"[: _unit(file)] if file.dialect.encoding != "utf-16-be" else b"\x00\n")


DAMAGE: dict[str, Callable[[random.Random, GoodFile], Damaged]] = {
    "quote inserted": _insert_quote,
    "quote removed": _remove_quote,
    "byte changed": _flip,
    "text cut out": _cut,
    "file cut off": _truncate,
    "garbage inserted": _garbage,
    "line broken": _break_line,
}


# What has to be true ------------------------------------------------------------------------------------------------


def text_of(content: bytes, encoding: str) -> str:
    codec = {"utf-16": "utf-16-le", "utf-8-sig": "utf-8"}.get(encoding, encoding)
    return content.decode(codec, "replace").removeprefix("\ufeff")


def violations(file: GoodFile, damaged: Damaged) -> Iterator[str]:
    """What is wrong with the rows that are read from a damaged file: nothing, it is hoped."""
    rows = list(read_rows(file.dialect, io.BytesIO(damaged.content)))
    numbers = [row.number for row in rows]
    if any(later <= earlier for earlier, later in pairwise(numbers)):
        yield f"numbers do not grow: {numbers}"
    for row in rows:
        if (row.values is not None) + bool(row.error) + row.empty != 1:
            yield f"{row} is not one of good, refused and empty"
    if file.dialect.format != "json":
        yield from _lines_lost(file, damaged, rows)
    if -1 not in damaged.touched:
        yield from _rows_lost(file, damaged, rows)


def _lines_lost(file: GoodFile, damaged: Damaged, rows: list[FileRow]) -> Iterator[str]:
    """Lines of the file that are in no row: a good row must be exactly its lines."""
    lines = list(io.StringIO(text_of(damaged.content, file.dialect.encoding), newline=""))
    table = file.dialect.format == "csv"
    if rows and not table and rows[0].number != 1:
        yield "the first line is in no row"
    ends = [row.number - 1 for row in rows[1:]] + [len(lines)]
    for row, end in zip(rows, ends, strict=False):
        text = "".join(lines[row.number - 1 : end])
        if row.empty and lines[row.number - 1].strip(f' "\t\r\n{file.dialect.delimiter}'):
            yield f"line {row.number} is not an empty row: {text!r}"
        if row.values is None or "\ufffd" in text:
            continue
        if table:
            cells = list(csv.reader(io.StringIO(text, newline=""), delimiter=file.dialect.delimiter))
            if cells != [list(row.values.values())]:
                yield f"line {row.number} is {row.values}, but stands there as {text!r}"
        elif json.loads(text) != row.values:
            yield f"line {row.number} is {row.values}, but stands there as {text!r}"


def _rows_lost(file: GoodFile, damaged: Damaged, rows: list[FileRow]) -> Iterator[str]:
    arrived = {json.dumps(row.values, sort_keys=True) for row in rows if row.values is not None}
    given_up = any("No further element" in row.error for row in rows)
    hidden = _extents(file, damaged) if file.dialect.format == "csv" else ""
    for number, row in enumerate(file.rows):
        if number in damaged.touched or json.dumps(row, sort_keys=True) in arrived:
            continue
        if row["id"] in hidden or (given_up and number > max(damaged.touched, default=0)):
            continue
        yield f"row {number} was not touched and did not arrive: {row}"


def _extents(file: GoodFile, damaged: Damaged) -> str:
    """The text of all rows that begin in what was touched, to where their quotation marks let them end."""
    if not damaged.touched:
        return ""
    text = text_of(damaged.content, file.dialect.encoding)
    first = len(file.head) + sum(map(len, file.pieces[: max(0, min(damaged.touched))]))
    begin = len(text_of(damaged.content[:first], file.dialect.encoding))
    last = (
        len(file.head)
        + sum(map(len, file.pieces[: max(damaged.touched) + 1]))
        + len(damaged.content)
        - len(file.content)
    )
    until = len(text_of(damaged.content[: max(0, last)], file.dialect.encoding))
    at, hidden = begin, ""
    while at < until:
        end = _record_end(text, at, file.dialect.delimiter)
        if end > until:
            hidden += text[until:end] + "\n"
        breaks = [place for place in (text.find("\n", at), text.find("\r", at)) if place >= 0]
        at = min(breaks, default=len(text)) + 1
    return hidden


def _record_end(text: str, at: int, delimiter: str) -> int:
    """Where the line ends in which a row is over, read as a plain machine reads it, or cannot go on."""
    quoted, begins = False, True
    while at < len(text):
        char = text[at]
        if quoted and text.startswith('""', at):
            at += 1
        elif quoted and char == '"':
            quoted = False
            if text[at + 1 : at + 2] not in (delimiter, "\r", "\n", ""):
                break
        elif not quoted and begins and char == '"':
            quoted = True
        elif not quoted and char in "\r\n":
            return at + 1
        begins = not quoted and char == delimiter
        at += 1
    breaks = [place for place in (text.find("\n", at), text.find("\r", at)) if place >= 0]
    return min(breaks, default=len(text)) + 1
