"""A picture to draw on, twice as large as it is saved, so that edges are smooth."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

Point = tuple[float, float]
SCALE = 2


class Canvas:
    """Shapes in the coordinates of the saved picture. Colours are ``#rrggbb``.

    ``things`` are what people would mark in it: what each is, and its left, upper, right and lower edge.
    """

    def __init__(self, width: int, height: int, colour: str) -> None:
        self.width, self.height = width, height
        self.image = Image.new("RGB", (width * SCALE, height * SCALE), colour)
        self._draw = ImageDraw.Draw(self.image)
        self.things: list[tuple[str, float, float, float, float]] = []

    def ellipse(self, x: float, y: float, rx: float, ry: float, colour: str, turn: float = 0.0) -> None:
        """An ellipse around a centre, turned by degrees."""
        angle = math.radians(turn)
        steps = [index * math.tau / 48 for index in range(48)]
        shape = [(rx * math.cos(step), ry * math.sin(step)) for step in steps]
        turned = [
            (x + a * math.cos(angle) - b * math.sin(angle), y + a * math.sin(angle) + b * math.cos(angle))
            for a, b in shape
        ]
        self.polygon(turned, colour)

    def polygon(self, points: Sequence[Point], colour: str) -> None:
        """A filled area."""
        self._draw.polygon([(x * SCALE, y * SCALE) for x, y in points], fill=colour)

    def line(self, points: Sequence[Point], colour: str, width: float = 2) -> None:
        """A line with round corners."""
        scaled = [(x * SCALE, y * SCALE) for x, y in points]
        self._draw.line(scaled, fill=colour, width=max(1, round(width * SCALE)), joint="curve")

    def gradient(self, top: str, bottom: str, first: float = 0, last: float | None = None) -> None:
        """Fills rows from one colour to another."""
        end = self.height if last is None else last
        for row in range(round(first * SCALE), round(end * SCALE)):
            share = (row / SCALE - first) / max(1, end - first)
            self._draw.line([(0, row), (self.width * SCALE, row)], fill=mixed(top, bottom, share))

    def text(self, x: float, y: float, words: str, size: float, colour: str) -> None:
        """Printed words; ``x``, ``y`` is the left upper corner."""
        self._draw.text((x * SCALE, y * SCALE), words, fill=colour, font=font(size * SCALE))

    def handwriting(self, x: float, y: float, words: str, size: float, colour: str, chance: random.Random) -> float:
        """Words in a slanted, uneven hand. Where they end."""
        face = font(size * SCALE)
        at = x * SCALE
        for letter in words:
            wide = face.getlength(letter)
            tile = Image.new("L", (round(wide + size * SCALE), round(size * SCALE * 2)), 0)
            ImageDraw.Draw(tile).text((size * SCALE * 0.3, size * SCALE * 0.3), letter, fill=255, font=face)
            tile = tile.transform(
                tile.size, Image.Transform.AFFINE, (1, 0.24, -size * 0.25, 0, 1, 0), Image.Resampling.BICUBIC
            )
            tile = tile.rotate(chance.uniform(-3, 3), Image.Resampling.BICUBIC)
            place = (round(at - size * SCALE * 0.3), round(y * SCALE + chance.uniform(-1.2, 1.2) * SCALE))
            self.image.paste(colour, (*place, place[0] + tile.width, place[1] + tile.height), tile)
            at += wide * 0.96
        return at / SCALE

    def save(self, path: Path, quality: int = 62) -> None:
        """Writes the picture as WebP."""
        small = self.image.resize((self.width, self.height), Image.Resampling.LANCZOS)
        path.parent.mkdir(parents=True, exist_ok=True)
        small.save(path, "WEBP", quality=quality, method=6)


def font(size: float) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """The font that comes with Pillow."""
    return ImageFont.load_default(size)


def mixed(one: str, other: str, share: float) -> str:
    """A colour between two."""
    pairs = zip(_parts(one), _parts(other), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * min(1.0, max(0.0, share))):02x}" for a, b in pairs)


def _parts(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[at : at + 2], 16) for at in (1, 3, 5))


def blob(x: float, y: float, radius: float, chance: random.Random, corners: int = 24, flat: float = 1.0) -> list[Point]:
    """The edge of an uneven round area."""
    waves = [(chance.uniform(0.04, 0.16) / n, chance.uniform(0, math.tau), n) for n in range(1, 6)]
    edge = []
    for index in range(corners * 3):
        angle = index * math.tau / (corners * 3)
        reach = radius * (1 + sum(size * math.sin(n * angle + shift) for size, shift, n in waves))
        edge.append((x + reach * math.cos(angle), y + reach * flat * math.sin(angle)))
    return edge
