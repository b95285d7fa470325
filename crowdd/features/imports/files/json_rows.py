"""The rows of a JSON array of objects, read element by element, and the rows of NDJSON.

NDJSON has one object in each line. In an array, Python's decoder finds where an element ends, and orjson says what is
in it. Behind a damaged element the reader looks for the next object that parses and that begins where elements of the
array begin: on a line of its own with their indentation, or, in a file without line breaks, with exactly the keys of an
earlier one. What lies between is one refused row; where no next element can be told, that is everything to the end of
the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Set

from crowdd.features.imports.files.rows import FileRow, object_row, refused, too_long
from crowdd.features.imports.files.text import MAX_ROW_BYTES, SHOWN_CHARACTERS, Credit
from crowdd.kernel.languages import _

_DECODER = json.JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*+")
_FIRST_KEY = re.compile(r'\{\s*("(?:[^"\\\n]|\\.)*+")\s*:')
_NEAR_END = 16  # characters at the end of what was read that may be half a number, a word or an escape
_BEHIND = 200  # characters in front of an element that are kept, to see how its line begins
_MAX_KNOWN = 100  # of each thing that is remembered of elements
_TRIAL = 1_000  # characters that might be read while one place is tried in vain


class _DamagedError(Exception):
    """An element cannot be read; the argument says why."""


class JsonRows:
    """Reads an array from pieces of text. ``_buffer`` holds what was read and is in no row yet, from ``_at`` on."""

    def __init__(self, texts: Iterator[str]) -> None:
        self._texts, self._ended = texts, False
        self._buffer, self._at, self._number = "", 0, 0
        self._credit = Credit()
        self._over = False  # whether what follows cannot be told apart any more
        self._starts: set[str | None] = set()  # what stands before elements on their line (see _start_of)
        self._first_keys: set[str] = set()
        self._shapes: set[frozenset[str]] = set()  # the keys of good elements

    def rows(self) -> Iterator[FileRow]:
        """All rows, in order."""
        if self._next_char() != "[":
            yield self._refuse(_("The file is not a JSON array."), self._pass_rest())
            return
        self._at += 1
        closed = False
        while not self._over and (char := self._next_char()):
            if closed:
                closed = False
                yield self._skip(_("Text follows the end of the array."))
            elif char == "]":
                self._at += 1
                closed = True
            else:
                yield self._row(char)
        if not closed and not self._over:
            yield self._refuse(_("The file ends before its array does. It may have been cut off."), "")

    def _row(self, char: str) -> FileRow:
        """The element that begins here, or what stands in its place, and the comma behind it."""
        if char == ",":
            row = self._refuse(_("An element is missing before a comma."), "")
        else:
            row = self._element(char)
        if not self._over and self._next_char() == ",":
            self._at += 1
        return row

    def _element(self, char: str) -> FileRow:
        if char == "{":
            self._note_start()
        try:
            end = self._end_of_element()
        except _DamagedError as error:
            return self._skip(error.args[0], 1)
        if char not in "{[" and not self._is_followed(end):
            return self._skip(_("It is not a JSON object."), 1)
        self._number += 1
        row = object_row(self._number, self._buffer[self._at : end])
        if row.values is not None and len(self._shapes) < _MAX_KNOWN:
            self._shapes.add(frozenset(row.values))
        self._credit.earn(end - self._at)
        self._at = end
        return row

    def _is_followed(self, end: int) -> bool:
        """Whether a text or number is an element: it may as well be what a stray quotation mark left over."""
        space = _SPACE.match(self._buffer, end)
        return self._buffer[space.end() if space else end :][:1] in ("", ",", "]")

    def _refuse(self, words: str, text: str) -> FileRow:
        self._number += 1
        return refused(self._number, words, text)

    # Elements -------------------------------------------------------------------------------------------------------

    def _end_of_element(self) -> int:
        """Where the element that begins here ends; reads on until it is there. Raises _DamagedError."""
        while True:
            words, end, cut = self._decode()
            length = len(self._buffer) - self._at
            if not cut or self._ended:
                break
            if length > MAX_ROW_BYTES:
                words = too_long()
                break
            self._read_more(length)
        if words or end - self._at > MAX_ROW_BYTES:
            self._credit.spend(end - self._at + _TRIAL)
            raise _DamagedError(words or too_long())
        return end

    def _decode(self) -> tuple[str, int, bool]:
        """What is wrong with the element that begins here, up to where, and whether more text may mend that."""
        last = len(self._buffer)
        try:
            _value, end = _DECODER.raw_decode(self._buffer, self._at)
        except json.JSONDecodeError as error:
            words = _("It is not JSON: %(reason)s.", reason=error.msg)
            unterminated = error.msg.startswith("Unterminated")
            return words, last if unterminated else error.pos, unterminated or error.pos >= last - _NEAR_END
        except (RecursionError, ValueError):
            return _("It is not JSON: %(reason)s.", reason="nested too deeply, or a number is too long"), last, False
        return "", end, end == last

    def _note_start(self) -> None:
        """Remembers how an element begins."""
        if len(self._starts) < _MAX_KNOWN:
            self._starts.add(self._start_of())
        key = _FIRST_KEY.match(self._buffer, self._at)
        if key and len(self._first_keys) < _MAX_KNOWN:
            self._first_keys.add(key[1])

    def _start_of(self) -> str | None:
        """What stands on the line before this place, if that is no more than blanks and a comma; else None."""
        before = self._buffer[max(0, self._at - _BEHIND) : self._at]
        line = before[max(before.rfind("\n"), before.rfind("\r")) + 1 :]
        return line if len(line) < len(before) and not line.strip(" \t,") else None

    # Behind damage --------------------------------------------------------------------------------------------------

    def _skip(self, words: str, characters: int = 0) -> FileRow:
        """A refused row from here, but at least so many characters, to where the next element begins."""
        text = self._buffer[self._at : self._at + 2 * SHOWN_CHARACTERS]
        self._at += characters
        if not self._find_element():
            self._over = True
            self._pass_rest()
            words = _("%(reason)s No further element was found after it.", reason=words)
        return self._refuse(words, text)

    def _find_element(self) -> bool:
        """Goes on to where the next element certainly begins. False when there is none."""
        while not self._credit.exhausted:
            at = self._buffer.find("{", self._at)
            if at >= 0:
                self._credit.earn(at - self._at)
                self._at = at
                if self._begins_element():
                    return True
                self._at += 1
            else:
                self._at = len(self._buffer)
                if not self._read_more(0):
                    return False
        return False

    def _begins_element(self) -> bool:
        """Whether an object begins here that is an element of the array and not a part of one."""
        start = self._start_of()
        if self._starts - {None, start} and start not in self._starts:
            return False
        try:
            end = self._end_of_element()
        except _DamagedError:
            return False
        text = self._buffer[self._at : end]
        values = object_row(0, text).values
        if values is not None and self._is_like_others(start, text, values.keys()):
            return True
        self._credit.spend(len(text) + _TRIAL)
        return False

    def _is_like_others(self, start: str | None, text: str, keys: Set[str]) -> bool:
        unknown = start is None or start not in self._starts
        if unknown and self._shapes:
            return frozenset(keys) in self._shapes
        if unknown:
            key = _FIRST_KEY.match(text)
            return key is not None and key[1] in self._first_keys
        return not self._shapes or any(keys & shape for shape in self._shapes)

    # The buffer -----------------------------------------------------------------------------------------------------

    def _next_char(self) -> str:
        """The next character that is no white space, at which the buffer then stands; "" at the end of the file."""
        while True:
            space = _SPACE.match(self._buffer, self._at)
            self._at = space.end() if space else self._at
            if self._at < len(self._buffer):
                return self._buffer[self._at]
            if not self._read_more(0):
                return ""

    def _read_more(self, characters: int) -> bool:
        """Reads on, at least so many characters. False at the end of the file."""
        begin = max(0, self._at - _BEHIND)
        pieces, size = [self._buffer[begin:]], 0
        for text in self._texts:
            pieces.append(text)
            size += len(text)
            if size and size >= characters:
                break
        else:
            self._ended = True
        self._buffer, self._at = "".join(pieces), self._at - begin
        return size > 0

    def _pass_rest(self) -> str:
        """Passes over the rest of the file. Returns how it begins."""
        text = self._buffer[self._at : self._at + 2 * SHOWN_CHARACTERS]
        self._at = len(self._buffer)
        while self._read_more(0):
            self._at = len(self._buffer)
        return text


def ndjson_rows(blocks: Iterator[list[str]]) -> Iterator[FileRow]:
    """All rows, in order; a line without text is an empty row."""
    number = 0
    for block in blocks:
        for line in block:
            number += 1
            yield object_row(number, line) if line.strip() else FileRow(number, empty=True)
