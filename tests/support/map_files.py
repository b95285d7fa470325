"""A PMTiles file (version 3) with vector tiles: in each of them land is in the west and water in the east."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Final

MAX_ZOOM: Final = 2
_EXTENT: Final = 4096
_N_TILES: Final = sum(4**zoom for zoom in range(MAX_ZOOM + 1))
_NONE, _VECTORS = 1, 1  # compression, and the type of tiles


def map_file() -> bytes:
    """Its 21 tiles have the same content, which the file has once."""
    tile = _layer("earth", _box(0, _EXTENT // 2)) + _layer("water", _box(_EXTENT // 2, _EXTENT))
    directory = b"".join(map(_varint, (1, 0, _N_TILES, len(tile), 1)))  # one entry: id, run, length, offset + 1
    metadata = b"{}"
    starts = [127, 127 + len(directory), 127 + len(directory) + len(metadata)]
    header = struct.pack(
        "<7sB11Q6B4iB2i",
        *(b"PMTiles", 3),
        *(starts[0], len(directory), starts[1], len(metadata), 0, 0, starts[2], len(tile)),
        *(_N_TILES, 1, 1),
        *(1, _NONE, _NONE, _VECTORS, 0, MAX_ZOOM),
        *(-1_800_000_000, -850_000_000, 1_800_000_000, 850_000_000),
        *(0, 0, 0),
    )
    return header + directory + metadata + tile


def _box(west: int, east: int) -> list[tuple[int, int]]:
    return [(west, 0), (east, 0), (east, _EXTENT), (west, _EXTENT)]


def _layer(name: str, corners: Sequence[tuple[int, int]]) -> bytes:
    """A layer of a vector tile with one polygon."""
    geometry, x, y = list[int](), 0, 0
    for nth, corner in enumerate(corners):
        if nth < 2:
            geometry.append(1 | 1 << 3 if nth == 0 else 2 | (len(corners) - 1) << 3)
        geometry += [_zigzag(corner[0] - x), _zigzag(corner[1] - y)]
        x, y = corner
    geometry.append(7 | 1 << 3)
    feature = _field(3, 3) + _field(4, b"".join(map(_varint, geometry)))
    return _field(3, _field(15, 2) + _field(1, name.encode()) + _field(2, feature) + _field(5, _EXTENT))


def _field(number: int, value: int | bytes) -> bytes:
    """A field of a message of Protocol Buffers."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _zigzag(number: int) -> int:
    return number << 1 if number >= 0 else (-number << 1) - 1


def _varint(number: int) -> bytes:
    return bytes(_septets(number))


def _septets(number: int) -> Iterable[int]:
    while number > 127:
        yield number & 127 | 128
        number >>= 7
    yield number
