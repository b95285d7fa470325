"""The tiles of a large picture as Deep Zoom has them, all in one file of the media store, which is served as many.

The file has the tiles of the largest level first, row by row, then those of the next one, which is half as large, down
to a single pixel. Behind them are their sizes in bytes, and at the end magic, width, height and form of the picture.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Final

import attrs

from crowdd.core.uploads import TILES

SUFFIX: Final = TILES
SIDE: Final = 510  # pixels of the picture that a tile has of its own
OVERLAP: Final = 1  # and how many of its neighbours', at each side
MAX_TILES: Final = 4000
MAX_SIDE: Final = 65_500
TYPES: Final[Mapping[str, str]] = {"jpg": "image/jpeg", "webp": "image/webp"}
_MAGIC: Final = b"crwdTILE"
_END: Final = struct.Struct("<8sII4s")
MAX_END: Final = _END.size + 4 * MAX_TILES
"""Bytes at the end of a file within which all is said of its tiles."""

Tile = tuple[int, int, int]
"""Level, column and row."""


@attrs.frozen
class Pyramid:
    """A picture in tiles; ``form`` is a key of ``TYPES``."""

    width: int
    height: int
    form: str

    def fits(self) -> bool:
        """Whether a picture of this size may have tiles."""
        sides = (self.width, self.height)
        if not all(1 <= side <= MAX_SIDE for side in sides) or self.form not in TYPES:
            return False
        return sum(columns * rows for columns, rows in map(self.grid, self.levels())) <= MAX_TILES

    def levels(self) -> range:
        """The levels, the largest first."""
        return range((max(self.width, self.height) - 1).bit_length(), -1, -1)

    def size(self, level: int) -> tuple[int, int]:
        """Pixels of the picture in a level."""
        shift = self.levels().start - level
        return -(-self.width >> shift), -(-self.height >> shift)

    def grid(self, level: int) -> tuple[int, int]:
        """Columns and rows of tiles of a level."""
        width, height = self.size(level)
        return -(-width // SIDE), -(-height // SIDE)

    def tiles(self) -> Iterator[Tile]:
        """All tiles in the order in which the file has them."""
        for level in self.levels():
            columns, rows = self.grid(level)
            yield from ((level, column, row) for row in range(rows) for column in range(columns))

    def box(self, tile: Tile) -> tuple[int, int, int, int]:
        """Left, upper, right and lower edge of a tile in the picture of its level."""
        level, column, row = tile
        width, height = self.size(level)
        left, upper = max(0, column * SIDE - OVERLAP), max(0, row * SIDE - OVERLAP)
        return left, upper, min(width, (column + 1) * SIDE + OVERLAP), min(height, (row + 1) * SIDE + OVERLAP)

    def end(self, sizes: Sequence[int]) -> bytes:
        """What stands behind the tiles, which have so many bytes."""
        return struct.pack(f"<{len(sizes)}I", *sizes) + _END.pack(_MAGIC, self.width, self.height, self.form.encode())

    def description(self) -> bytes:
        """The XML document by which programs find the tiles."""
        return (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            f'<Image xmlns="http://schemas.microsoft.com/deepzoom/2008" TileSize="{SIDE}" Overlap="{OVERLAP}"'
            f' Format="{self.form}"><Size Width="{self.width}" Height="{self.height}"/></Image>\n'
        ).encode()


def read_end(end: bytes, size: int) -> tuple[Pyramid, Mapping[Tile, tuple[int, int]]] | None:
    """The picture, and where each tile begins and ends in the file; None for a file that is no such picture.

    ``end`` is the last ``MAX_END`` bytes of a file of that size, or all of it.
    """
    if len(end) < _END.size:
        return None
    magic, width, height, form = _END.unpack(end[-_END.size :])
    pyramid = Pyramid(width, height, form.rstrip(b"\0").decode("latin-1"))
    if magic != _MAGIC or not pyramid.fits():
        return None
    tiles = [*pyramid.tiles()]
    sizes = end[: -_END.size][-4 * len(tiles) :]
    if len(sizes) != 4 * len(tiles):
        return None
    edges = [*accumulate(struct.unpack(f"<{len(tiles)}I", sizes), initial=0)]
    if edges[-1] + len(sizes) + _END.size != size:
        return None
    return pyramid, dict(zip(tiles, pairwise(edges), strict=True))
