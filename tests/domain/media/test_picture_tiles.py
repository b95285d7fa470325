"""Large pictures in tiles: which have them, what they show, and that nothing else is read as tiles."""

from __future__ import annotations

import io
import struct
from itertools import pairwise

import pytest
from domain.media.preparing import Prepare, by_role
from PIL import Image, ImageChops
from support.media_files import blank_png, exif, picture

from crowdd.features.media.tiles import MAX_SIDE, OVERLAP, SIDE, Pyramid, read_end

SMALL = {"web_pixels": 400, "tile_pixels": 500_000}


def drawn(size: tuple[int, int], mode: str = "RGB") -> bytes:
    """A picture in which each place has its own colour."""
    across, down = Image.linear_gradient("L").rotate(90).resize(size), Image.linear_gradient("L").resize(size)
    image = Image.merge("RGB", (across, down, Image.new("L", size, 40)))
    if mode == "RGBA":
        image.putalpha(across)
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def level(content: bytes, number: int) -> Image.Image:
    """A level, put together from its tiles."""
    tiled = read_end(content, len(content))
    assert tiled is not None
    pyramid, places = tiled
    whole = Image.new("RGBA", pyramid.size(number))
    for tile, (begin, end) in places.items():
        if tile[0] == number:
            left, upper, right, lower = pyramid.box(tile)
            part = Image.open(io.BytesIO(content[begin:end]))
            assert part.size == (right - left, lower - upper) and max(part.size) <= SIDE + 2 * OVERLAP
            whole.paste(part, (left, upper))
    return whole


@pytest.mark.parametrize(("mode", "form"), [("RGB", "jpg"), ("RGBA", "webp")])
def test_tiles_show_the_whole_picture_at_each_level(prepare: Prepare, mode: str, form: str) -> None:
    size = (1500, 1101)
    made = prepare(drawn(size, mode), **SMALL)
    files = by_role(made)
    content = files["tiles"].path.read_bytes()
    tiled = read_end(content, len(content))
    assert tiled is not None
    assert (files["tiles"].suffix, tiled[0]) == (".dzi", Pyramid(*size, form))
    assert [tiled[0].size(n) for n in (11, 10, 9, 1, 0)] == [size, (750, 551), (375, 276), (2, 2), (1, 1)]
    expected = Image.open(io.BytesIO(drawn(size, mode))).convert("RGBA")
    for number in (11, 10, 9, 5):
        shown = level(content, number)
        difference = ImageChops.difference(shown.convert("RGB"), expected.resize(shown.size).convert("RGB"))
        assert max(difference.convert("L").tobytes()) < 40 or mode == "RGBA"
    opacity = level(content, 11).getchannel("A").getextrema()
    assert opacity == ((0, 255) if mode == "RGBA" else (255, 255))


def test_tiles_are_upright(prepare: Prepare) -> None:
    made = prepare(picture("JPEG", (1200, 900), exif=exif(orientation=6)), **SMALL)
    tiles = by_role(made)["tiles"]
    assert (tiles.width, tiles.height) == (900, 1200) == (made.width, made.height)


@pytest.mark.parametrize(
    ("size", "settings", "tiled"),
    [
        ((1000, 600), SMALL, True),
        ((700, 600), SMALL, False),  # few pixels
        ((1000, 600), {**SMALL, "web_pixels": 1000}, False),  # nothing is lost
        ((1000, 600), {**SMALL, "tile_pixels": 0}, False),  # switched off
        ((MAX_SIDE + 1, 20), SMALL, False),
    ],
)
def test_pictures_of_which_much_is_lost_have_tiles(
    prepare: Prepare, size: tuple[int, int], settings: dict[str, int], tiled: bool
) -> None:
    assert ("tiles" in by_role(prepare(blank_png(*size), **settings))) is tiled


@pytest.mark.parametrize("size", [(1, 1), (30, 40), (511, 510), (12_000, 9_000), (MAX_SIDE, 1)])
def test_the_end_of_a_file_says_where_its_tiles_are(size: tuple[int, int]) -> None:
    pyramid = Pyramid(*size, "webp")
    sizes = [100 + n for n, _ in enumerate(pyramid.tiles())]
    end = pyramid.end(sizes)
    tiled = read_end(end, sum(sizes) + len(end))
    assert tiled is not None and tiled[0] == pyramid
    places = [*tiled[1].values()]
    assert places[0][0] == 0 and all(end - begin == size for (begin, end), size in zip(places, sizes, strict=True))
    assert all(one[1] == next_[0] for one, next_ in pairwise(places))


@pytest.mark.parametrize("harm", ["size", "cut", "magic", "wide", "none", "form", "empty", "sizes"])
def test_what_is_no_such_file_has_no_tiles(harm: str) -> None:
    pyramid = Pyramid(30, 40, "jpg")
    sizes = [9 for _ in pyramid.tiles()]
    end = pyramid.end(sizes)
    total = sum(sizes) + len(end)
    foot = struct.pack("<II4s", 30, 40, b"jpg")
    harmed = {
        "size": (end, total + 1),
        "cut": (end[-30:], total),
        "magic": (end.replace(b"crwdTILE", b"crwdFILE"), total),
        "wide": (end.replace(foot, struct.pack("<II4s", 2**32 - 1, 2**32 - 1, b"jpg")), total),
        "none": (end.replace(foot, struct.pack("<II4s", 0, 0, b"jpg")), total),
        "form": (end.replace(foot, struct.pack("<II4s", 30, 40, b"html")), total),
        "empty": (b"", 0),
        "sizes": (pyramid.end([2**32 - 1 for _ in sizes]), total),
    }
    assert read_end(*harmed[harm]) is None
