"""UTF-16 in which a byte was lost or came in between: all characters behind it would be others.

In text that is partly ASCII, every other byte is zero. Where the zeros change sides, one byte is left out and a lone
surrogate stands in its place, which a decoder reports like any byte that it does not know.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

_WINDOW = 512  # bytes that are judged together
_MIN_WINDOW = 64
_MIN_KINDS = 6  # of letters


def realigned(pieces: Iterable[bytes], big: bool) -> Iterator[bytes]:
    """The same bytes, in pairs again behind every byte that shifted them. ``big``: big-endian."""
    high = 0 if big else 1
    mark = b"\xdc\xff" if big else b"\xff\xdc"
    rest = b""
    for piece in pieces:
        data, begin = rest + piece, 0
        while (shift := _shift(data, begin, high)) is not None:
            yield data[begin : shift - 1] + mark
            begin = shift
        end = len(data) - (len(data) - begin) % 2
        yield data[begin:end]
        rest = data[end:]
    yield rest


def _shift(data: bytes, begin: int, high: int) -> int | None:
    """Where a pair begins that lies an odd number of bytes behind ``begin``; None where all is well."""
    for window in range(begin, len(data) - _MIN_WINDOW, _WINDOW):
        end = window + _WINDOW
        right, wrong = data[window + high : end : 2].count(0), data[window + 1 - high : end : 2].count(0)
        likely = wrong > 4 * right + _MIN_WINDOW // 8 and wrong * 8 > min(_WINDOW, len(data) - window) // 2
        if likely and _is_ascii_beside_zeros(data[window:end], high):
            return _border(data, max(begin, window - _WINDOW), min(end, len(data)), high)
    return None


def _is_ascii_beside_zeros(data: bytes, high: int) -> bool:
    """Whether bytes beside misplaced zeros are of many kinds, as letters are. Chinese has few."""
    if high:  # little-endian: the letter of a shifted pair stands before its zero, which is at an even place
        beside = {data[at - 1] for at in range(2, len(data), 2) if data[at] == 0}
    else:
        beside = {data[at + 1] for at in range(1, len(data) - 1, 2) if data[at] == 0}
    return len(beside) >= _MIN_KINDS


def _border(data: bytes, begin: int, end: int, high: int) -> int:
    """Where zeros change from the high half of pairs to the other one: the last of the likeliest places."""
    behind = data[begin + 1 - high : end : 2].count(0)
    best, place, before = -1, begin + 1, 0
    for at in range(begin, end):
        odd = (at - begin) % 2
        if odd and before + behind >= best:
            best, place = before + behind, at
        if data[at] == 0:
            before += odd == high
            behind -= odd != high
    return place
