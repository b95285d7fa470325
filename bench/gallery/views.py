"""Pictures of places and things: aerial views, the night sky, a village twice, objects of a museum."""

from __future__ import annotations

import math
import random

from bench.gallery.canvas import Canvas, blob, mixed

WIDTH, HEIGHT = 800, 600
_FIELDS = ("#a9b665", "#c9bd74", "#8aa35a", "#b8a15f", "#7f9a57", "#d3c98c")


def fields(lakes: int, seed: int) -> Canvas:
    """Fields with lakes, from above."""
    chance = random.Random(seed)
    canvas = Canvas(WIDTH, HEIGHT, "#8aa35a")
    slope = chance.uniform(-0.25, 0.25)
    for row in range(-2, 7):
        for column in range(-1, 6):
            x, y = column * 165 + chance.uniform(-8, 8), row * 110 + column * 165 * slope
            corners = [(x, y), (x + 160, y + 160 * slope), (x + 155, y + 105 + 160 * slope), (x - 3, y + 105)]
            colour = chance.choice(_FIELDS)
            canvas.polygon(corners, colour)
            for furrow in range(1, 9):
                share = furrow / 9
                canvas.line(
                    [(x + 160 * share, y + 160 * share * slope), (x + 155 * share, y + 105 + 160 * share * slope)],
                    mixed(colour, "#5b5a35", 0.16),
                    1,
                )
    canvas.line([(0, 470), (260, 430), (520, 455), (WIDTH, 395)], "#e2ddcf", 7)
    for number in range(lakes):
        x, y = 150 + 500 * (number + 0.5) / lakes + chance.uniform(-30, 30), chance.uniform(150, 420)
        water = chance.choice(("#2f6d86", "#3f7f86", "#4f8a55"))
        edge = blob(x, y, chance.uniform(65, 115), chance, flat=0.75)
        canvas.polygon([(a + (a - x) * 0.07, b + (b - y) * 0.07) for a, b in edge], "#d8cfae")
        canvas.polygon(edge, water)
        canvas.polygon([(x + (a - x) * 0.6, y + (b - y) * 0.6) for a, b in edge], mixed(water, "#16384a", 0.35))
    for _wood in range(3):
        x, y = chance.uniform(40, WIDTH - 40), chance.choice((60, 540)) + chance.uniform(-30, 30)
        for _tree in range(40):
            a, b = chance.gauss(x, 40), chance.gauss(y, 22)
            canvas.ellipse(a, b, 9, 9, mixed("#2f5a34", "#4f7a45", chance.random()))
    return canvas


def sky(galaxies: int, seed: int) -> Canvas:
    """A piece of the night sky that is worth zooming into."""
    chance = random.Random(seed)
    canvas = Canvas(1800, 1200, "#070b14")
    for _star in range(900):
        x, y, size = chance.uniform(0, 1800), chance.uniform(0, 1200), chance.expovariate(1.4) + 0.5
        canvas.ellipse(x, y, min(size, 4), min(size, 4), chance.choice(("#ffffff", "#ffe9c9", "#cfe0ff", "#ffd0b0")))
    for number in range(galaxies):
        x, y = chance.uniform(120, 1680), chance.uniform(120, 1080)
        (_spiral if number % 2 else _smooth)(canvas, x, y, chance.uniform(34, 70), chance)
    return canvas


def _spiral(canvas: Canvas, x: float, y: float, size: float, chance: random.Random) -> None:
    turn, flat = chance.uniform(0, math.tau), chance.uniform(0.5, 1.0)
    for ring in range(12, 0, -1):
        canvas.ellipse(x, y, size * 0.05 * ring, size * 0.05 * ring * flat, mixed("#ffe9c9", "#141a2b", ring / 12))
    for arm in (0, math.pi):
        for step in range(160):
            angle, reach = turn + arm + step * 0.045, size * (0.15 + step / 160)
            a, b = x + reach * math.cos(angle), y + reach * flat * math.sin(angle)
            canvas.ellipse(
                a + chance.gauss(0, 3), b + chance.gauss(0, 3), 2.6, 2.2, mixed("#c9d8ff", "#101828", step / 190)
            )


def _smooth(canvas: Canvas, x: float, y: float, size: float, chance: random.Random) -> None:
    turn, flat = chance.uniform(0, 180), chance.uniform(0.45, 0.9)
    for ring in range(24, 0, -1):
        share = ring / 24
        canvas.ellipse(x, y, size * share, size * share * flat, mixed("#ffedd2", "#0a0f1a", share**0.55), turn)


def village(seed: int, gone: tuple[int, ...] = (), flooded: bool = False) -> Canvas:
    """A village from above. ``gone`` are the houses that are missing."""
    chance = random.Random(seed)
    canvas = Canvas(560, 420, "#9db071")
    for _patch in range(16):
        x, y = chance.uniform(0, 560), chance.uniform(0, 420)
        canvas.polygon(blob(x, y, chance.uniform(40, 90), chance), mixed("#9db071", chance.choice(_FIELDS), 0.5))
    river = [(430, -10), (400, 90), (440, 190), (410, 300), (450, 430)]
    canvas.line(river, "#4f87a0", 70 if flooded else 26)
    canvas.line([(-10, 250), (180, 225), (390, 240), (570, 210)], "#d8d2c4", 13)
    for number in range(14):
        x, y = 30 + (number % 5) * 72 + chance.uniform(-10, 10), 60 + number // 5 * 120 + chance.uniform(-18, 18)
        roof = chance.choice(("#a4503a", "#8c4434", "#b5684a"))
        if number in gone:
            canvas.polygon(blob(x + 20, y + 15, 22, random.Random(number)), "#b7a98c")
            continue
        canvas.polygon([(x + 5, y + 6), (x + 47, y + 6), (x + 47, y + 36), (x + 5, y + 36)], "#71804f")
        canvas.polygon([(x, y), (x + 42, y), (x + 42, y + 15), (x, y + 15)], roof)
        canvas.polygon([(x, y + 15), (x + 42, y + 15), (x + 42, y + 30), (x, y + 30)], mixed(roof, "#000000", 0.18))
    for _tree in range(40):
        canvas.ellipse(
            chance.uniform(0, 560), chance.uniform(0, 420), 7, 7, mixed("#3c6b3c", "#5f8a4f", chance.random())
        )
    return canvas


def thing(kind: str, seed: int) -> Canvas:
    """An object of a collection before a grey wall: vase, key or bottle."""
    canvas = Canvas(600, 600, "#d9d6cf")
    canvas.gradient("#e4e1da", "#bdb8ae", 0, 600)
    canvas.ellipse(300, 520, 170, 24, "#a49e92")
    {"vase": _vase, "key": _key, "bottle": _bottle}[kind](canvas, random.Random(seed))
    canvas.line([(60, 566), (260, 566)], "#3a3f43", 3)
    for tick in range(6):
        canvas.line([(60 + tick * 40, 560), (60 + tick * 40, 572)], "#3a3f43", 2)
    canvas.text(270, 556, "5 cm", 18, "#3a3f43")
    return canvas


def _turned(profile: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The outline of a turned shape: half widths at heights."""
    return [(300 - wide, y) for wide, y in profile] + [(300 + wide, y) for wide, y in reversed(profile)]


def _vase(canvas: Canvas, chance: random.Random) -> None:
    profile = [(52, 110), (44, 135), (40, 190), (96, 260), (128, 340), (112, 430), (70, 500), (66, 522)]
    canvas.polygon(_turned(profile), "#b4623a")
    for y in (270, 345, 420):
        points = [(300 - 125 + index * 10, y + 9 * math.sin(index * 1.3)) for index in range(26)]
        canvas.line([(x, b) for x, b in points if abs(x - 300) < 108], "#2f2420", 5)
    canvas.ellipse(300, 110, 52, 12, "#7c3f24")
    canvas.line([(385, 250), (360, 300), (392, 338)], "#6f3a22", 3)


def _key(canvas: Canvas, chance: random.Random) -> None:
    metal = "#5d5a55"
    canvas.ellipse(300, 180, 78, 66, metal)
    canvas.ellipse(300, 180, 46, 36, "#cfcbc2")
    canvas.line([(300, 240), (300, 505)], metal, 24)
    for y, wide in ((430, 62), (470, 78), (500, 54)):
        canvas.polygon([(300, y - 10), (300 + wide, y - 10), (300 + wide, y + 12), (300, y + 12)], metal)
    for _spot in range(60):
        canvas.ellipse(
            300 + chance.gauss(0, 9), chance.uniform(250, 500), 3, 3, mixed(metal, "#8f5a34", chance.random())
        )


def _bottle(canvas: Canvas, chance: random.Random) -> None:
    profile = [(26, 90), (26, 120), (30, 220), (74, 280), (80, 330), (80, 500), (70, 522)]
    canvas.polygon(_turned(profile), "#4f7a62")
    canvas.polygon(_turned([(18, 130), (22, 225), (62, 290), (66, 500)]), "#6f9a80")
    canvas.line([(252, 310), (248, 470)], "#c4dccd", 7)
    canvas.polygon([(228, 360), (372, 360), (372, 450), (228, 450)], "#efe6cf")
    canvas.text(250, 378, "N° 12", 40, "#5b4630")
