"""Large JSON arrays, parsed item by item: in a thread, so that the reactor goes on meanwhile."""

from __future__ import annotations

import re
from collections.abc import Iterator

from crowdd.kernel import exact_json
from crowdd.kernel.errors import InvalidValueError, TooLargeError
from crowdd.kernel.languages import _

MAX_ITEMS = 10_000
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.?)*+"?|[\[\]{},]', re.DOTALL)
"""A string, also one that does not end, or one character; no byte is read twice."""


def parse(body: bytes) -> list[object]:
    """The items of a JSON array.

    One call of orjson would hold the interpreter for the whole body: half a second for 10 MB of small objects.
    Raises InvalidValueError where the body is not such an array, TooLargeError for more than MAX_ITEMS items.
    """
    items = []
    for number, piece in enumerate(_pieces(body)):
        if number == MAX_ITEMS:
            words = _("A request may hold at most %(maximum)s rows.", maximum=f"{MAX_ITEMS:,}")
            raise TooLargeError(words, code="too_many_rows", hint="Send them in several requests.")
        items.append(exact_json.loads(piece))
    return items


def _pieces(body: bytes) -> Iterator[bytes]:
    """The text of each item; what is not JSON ends in a piece that orjson refuses."""
    first = start = body.index(b"[") + 1
    depth = 0
    for token in _TOKEN.finditer(body, start):
        character = token[0]
        if character in (b"[", b"{"):
            depth += 1
        elif depth and character in (b"]", b"}"):
            depth -= 1
        elif not depth and character in (b",", b"]"):
            piece = body[start : token.start()]
            if character == b"," or first < start or piece.strip():  # [] has no item
                yield piece
            start = token.end()
            if character == b"]":
                if body[start:].strip():
                    break
                return
    raise InvalidValueError(_("The body is not JSON: %(reason)s.", reason="the array does not end"), code="bad_json")
