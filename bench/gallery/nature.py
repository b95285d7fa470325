"""Pictures of animals: a wildlife camera, a lake with ducks and boats, a colony of penguins."""

from __future__ import annotations

import math
import random

from bench.gallery.canvas import Canvas, mixed

WIDTH, HEIGHT = 800, 600
_TIMES = {"day": ("#bcd6e0", "#e8efe2", "#6f8f5a", "#3f5b3a"), "dusk": ("#41506b", "#d9a07a", "#4d5b47", "#27342c")}


def trap(animals: list[tuple[str, float, float, float]], seed: int, time: str = "day") -> Canvas:
    """A clearing with (species, x, y, size) in it, as a wildlife camera would see it."""
    chance = random.Random(seed)
    high, low, meadow, wood = _TIMES[time]
    canvas = Canvas(WIDTH, HEIGHT, meadow)
    canvas.gradient(high, low, 0, 290)
    hills = [(0, 300), *((x, 250 + 30 * math.sin(x / 130 + seed)) for x in range(0, WIDTH + 1, 20)), (WIDTH, 300)]
    canvas.polygon(hills, mixed(meadow, low, 0.45))
    canvas.gradient(mixed(meadow, low, 0.2), meadow, 290, HEIGHT)
    for _tree in range(9):
        _tree_at(canvas, chance.uniform(0, WIDTH), chance.uniform(270, 330), chance.uniform(70, 150), wood, chance)
    for species, x, y, size in animals:
        canvas.ellipse(x, y + size * 0.52, size * 0.7, size * 0.09, mixed(meadow, "#000000", 0.25))
        DRAWN[species](canvas, x, y, size)
    for _blade in range(140):
        x, y = chance.uniform(0, WIDTH), chance.uniform(330, HEIGHT)
        canvas.line(
            [(x, y), (x + chance.uniform(-5, 5), y - chance.uniform(6, 18))], mixed(meadow, wood, chance.random()), 1
        )
    canvas.polygon([(0, HEIGHT - 26), (WIDTH, HEIGHT - 26), (WIDTH, HEIGHT), (0, HEIGHT)], "#14181b")
    canvas.text(
        12,
        HEIGHT - 22,
        f"CAM {seed % 7 + 1:02d}   2026-05-{seed % 28 + 1:02d}   0{seed % 9}:4{seed % 10}",
        15,
        "#e8efe2",
    )
    return canvas


def _tree_at(canvas: Canvas, x: float, y: float, size: float, colour: str, chance: random.Random) -> None:
    canvas.line([(x, y), (x, y - size * 0.5)], mixed(colour, "#5b4630", 0.6), size * 0.07)
    for layer in range(3):
        at = y - size * (0.3 + 0.25 * layer)
        wide = size * (0.34 - 0.08 * layer)
        canvas.polygon(
            [(x - wide, at), (x + wide, at), (x, at - size * 0.42)], mixed(colour, "#7fa06a", chance.uniform(0, 0.25))
        )


def fox(canvas: Canvas, x: float, y: float, size: float) -> None:
    """A fox that looks to the left."""
    fur, dark, white = "#b9592a", "#3a2a22", "#f3ece2"
    canvas.ellipse(x + size * 0.62, y + size * 0.12, size * 0.34, size * 0.12, fur, -28)
    canvas.ellipse(x + size * 0.86, y - size * 0.01, size * 0.11, size * 0.07, white, -28)
    for leg in (-0.3, -0.16, 0.2, 0.33):
        canvas.line([(x + leg * size, y + size * 0.15), (x + leg * size, y + size * 0.5)], dark, size * 0.07)
    canvas.ellipse(x, y, size * 0.46, size * 0.2, fur)
    canvas.polygon(
        [
            (x - size * 0.3, y - size * 0.18),
            (x - size * 0.62, y - size * 0.42),
            (x - size * 0.86, y - size * 0.2),
            (x - size * 0.5, y - size * 0.06),
        ],
        fur,
    )
    canvas.polygon(
        [(x - size * 0.86, y - size * 0.2), (x - size * 0.62, y - size * 0.16), (x - size * 0.5, y - size * 0.06)],
        white,
    )
    for ear in (-0.64, -0.5):
        canvas.polygon(
            [
                (x + ear * size - size * 0.07, y - size * 0.36),
                (x + ear * size + size * 0.07, y - size * 0.34),
                (x + ear * size, y - size * 0.56),
            ],
            dark,
        )
    canvas.ellipse(x - size * 0.86, y - size * 0.2, size * 0.035, size * 0.03, dark)
    canvas.ellipse(x - size * 0.66, y - size * 0.28, size * 0.022, size * 0.028, dark)


def deer(canvas: Canvas, x: float, y: float, size: float) -> None:
    """A deer with antlers."""
    fur, dark = "#8a6239", "#4a3524"
    for leg in (-0.34, -0.24, 0.24, 0.34):
        canvas.line([(x + leg * size, y + size * 0.1), (x + leg * size, y + size * 0.55)], dark, size * 0.05)
    canvas.ellipse(x, y, size * 0.44, size * 0.19, fur)
    canvas.polygon(
        [
            (x - size * 0.42, y - size * 0.02),
            (x - size * 0.2, y - size * 0.14),
            (x - size * 0.46, y - size * 0.58),
            (x - size * 0.58, y - size * 0.52),
        ],
        fur,
    )
    canvas.ellipse(x - size * 0.6, y - size * 0.58, size * 0.16, size * 0.075, fur, -14)
    for side in (-1, 1):
        top = (x - size * 0.5 + side * size * 0.2, y - size * 0.98)
        canvas.line(
            [(x - size * 0.52, y - size * 0.62), (x - size * 0.5 + side * size * 0.13, y - size * 0.8), top],
            dark,
            size * 0.028,
        )
        canvas.line(
            [
                (x - size * 0.5 + side * size * 0.13, y - size * 0.8),
                (x - size * 0.5 + side * size * 0.27, y - size * 0.84),
            ],
            dark,
            size * 0.024,
        )
    canvas.ellipse(x + size * 0.44, y - size * 0.04, size * 0.05, size * 0.08, "#f3ece2")
    canvas.ellipse(x - size * 0.62, y - size * 0.6, size * 0.018, size * 0.02, "#14181b")


def hedgehog(canvas: Canvas, x: float, y: float, size: float) -> None:
    """A hedgehog."""
    dark, light = "#4c4034", "#c9ad88"
    canvas.ellipse(x - size * 0.46, y + size * 0.24, size * 0.22, size * 0.13, light, 12)
    for step in range(60):
        angle = math.pi + step * math.pi / 59
        reach = size * (0.5 + 0.05 * (step % 2))
        canvas.line(
            [(x, y + size * 0.3), (x + reach * math.cos(angle), y + size * 0.3 + reach * 0.8 * math.sin(angle))],
            mixed(dark, light, step % 3 / 4),
            size * 0.03,
        )
    canvas.ellipse(x - size * 0.67, y + size * 0.25, size * 0.035, size * 0.035, "#14181b")
    canvas.ellipse(x - size * 0.5, y + size * 0.18, size * 0.024, size * 0.028, "#14181b")
    for leg in (-0.3, 0.25):
        canvas.ellipse(x + leg * size, y + size * 0.4, size * 0.09, size * 0.05, light)


def bird(canvas: Canvas, x: float, y: float, size: float) -> None:
    """A blackbird with a yellow bill."""
    for leg in (-0.05, 0.08):
        canvas.line([(x + leg * size, y + size * 0.2), (x + leg * size, y + size * 0.48)], "#7a5a20", size * 0.035)
    canvas.polygon(
        [
            (x + size * 0.25, y),
            (x + size * 0.8, y + size * 0.2),
            (x + size * 0.72, y + size * 0.28),
            (x + size * 0.2, y + size * 0.2),
        ],
        "#1d2226",
    )
    canvas.ellipse(x, y + size * 0.08, size * 0.36, size * 0.23, "#262c31", 12)
    canvas.ellipse(x - size * 0.3, y - size * 0.16, size * 0.17, size * 0.16, "#262c31")
    canvas.polygon(
        [(x - size * 0.44, y - size * 0.2), (x - size * 0.44, y - size * 0.1), (x - size * 0.64, y - size * 0.13)],
        "#e0a030",
    )
    canvas.ellipse(x - size * 0.33, y - size * 0.19, size * 0.028, size * 0.028, "#f0d9a0")


DRAWN = {"fox": fox, "deer": deer, "hedgehog": hedgehog, "bird": bird}


def lake(ducks: int, boats: int, seed: int) -> Canvas:
    """A lake with ducks and boats."""
    chance = random.Random(seed)
    canvas = Canvas(WIDTH, HEIGHT, "#5f8fa6")
    canvas.gradient("#cfe2ea", "#e9efe6", 0, 170)
    canvas.polygon(
        [(0, 175), *((x, 140 + 18 * math.sin(x / 90 + seed)) for x in range(0, WIDTH + 1, 20)), (WIDTH, 175)], "#5f7f5b"
    )
    canvas.gradient("#8fb6c6", "#3f7088", 170, HEIGHT)
    for _wave in range(120):
        x, y = chance.uniform(0, WIDTH), chance.uniform(180, HEIGHT)
        canvas.line([(x, y), (x + (y - 140) / 12, y)], mixed("#b9d5df", "#4b7c93", chance.random()), 1)
    things = ["boat"] * boats + ["duck"] * ducks
    places = _apart(chance, len(things), 130, 60, 230, HEIGHT - 50)
    for thing, (x, y) in sorted(zip(things, places, strict=True), key=lambda pair: pair[1][1]):
        (_boat if thing == "boat" else _duck)(canvas, x, y, (y + 60) / 600, chance)
    return canvas


def _duck(canvas: Canvas, x: float, y: float, near: float, chance: random.Random) -> None:
    size, way = 62 * near, chance.choice((-1, 1))
    body = chance.choice(("#7a5f45", "#8f8378", "#6b7a6a"))
    left, right = sorted((x - way * size * 0.7, x + way * size * 0.82))
    canvas.things.append(("duck", left, y - size * 0.48, right, y + size * 0.24))
    canvas.ellipse(x, y + size * 0.24, size * 0.62, size * 0.08, "#2f5a70")
    canvas.ellipse(x, y, size * 0.5, size * 0.24, body)
    canvas.polygon(
        [
            (x - way * size * 0.4, y - size * 0.05),
            (x - way * size * 0.7, y - size * 0.24),
            (x - way * size * 0.38, y - size * 0.16),
        ],
        body,
    )
    canvas.ellipse(x + way * size * 0.42, y - size * 0.32, size * 0.17, size * 0.16, "#2f6b4a")
    canvas.line(
        [(x + way * size * 0.36, y - size * 0.1), (x + way * size * 0.4, y - size * 0.26)], "#f0ece4", size * 0.12
    )
    canvas.polygon(
        [
            (x + way * size * 0.55, y - size * 0.36),
            (x + way * size * 0.82, y - size * 0.28),
            (x + way * size * 0.55, y - size * 0.24),
        ],
        "#e0a030",
    )
    canvas.ellipse(x + way * size * 0.46, y - size * 0.37, size * 0.025, size * 0.025, "#101418")


def _boat(canvas: Canvas, x: float, y: float, near: float, chance: random.Random) -> None:
    size, hull = 110 * near, chance.choice(("#8c3b2e", "#f0ece4", "#2e4a63"))
    canvas.things.append(("boat", x - size * 0.6, y - size * 0.95, x + size * 0.6, y + size * 0.22))
    canvas.polygon(
        [
            (x - size * 0.6, y),
            (x + size * 0.6, y),
            (x + size * 0.42, y + size * 0.22),
            (x - size * 0.45, y + size * 0.22),
        ],
        hull,
    )
    canvas.line([(x, y), (x, y - size * 0.95)], "#4a3524", size * 0.03)
    canvas.polygon(
        [(x + size * 0.03, y - size * 0.93), (x + size * 0.03, y - size * 0.08), (x + size * 0.46, y - size * 0.12)],
        "#f7f3ea",
    )
    canvas.polygon(
        [(x - size * 0.03, y - size * 0.85), (x - size * 0.03, y - size * 0.08), (x - size * 0.32, y - size * 0.1)],
        "#e6ded0",
    )


def penguins(adults: int, chicks: int, seed: int) -> Canvas:
    """A colony on ice."""
    chance = random.Random(seed)
    canvas = Canvas(WIDTH, HEIGHT, "#e9f0f4")
    canvas.gradient("#9fc0d4", "#dbe8ee", 0, 130)
    canvas.gradient("#f4f8fa", "#cfdde6", 130, HEIGHT)
    for _crack in range(18):
        x, y = chance.uniform(0, WIDTH), chance.uniform(150, HEIGHT)
        canvas.line([(x, y), (x + chance.uniform(20, 90), y + chance.uniform(-8, 8))], "#b9cdd9", 2)
    kinds = ["adult"] * adults + ["chick"] * chicks
    places = _apart(chance, len(kinds), 52, 30, 175, HEIGHT - 40)
    chance.shuffle(kinds)
    for kind, (x, y) in sorted(zip(kinds, places, strict=True), key=lambda pair: pair[1][1]):
        _penguin(canvas, x, y, (0.55 + y / 900) * (34 if kind == "adult" else 20), kind)
    return canvas


def _penguin(canvas: Canvas, x: float, y: float, size: float, kind: str) -> None:
    coat = "#20272c" if kind == "adult" else "#9aa3a8"
    canvas.things.append((kind, x - size * 0.5, y - size * 1.2, x + size * 0.6, y + size))
    canvas.ellipse(x + size * 0.3, y + size * 0.98, size * 0.7, size * 0.14, "#b4c6d1")
    canvas.ellipse(x, y, size * 0.5, size, coat)
    canvas.ellipse(x, y + size * 0.18, size * 0.32, size * 0.72, "#fbfaf6")
    canvas.ellipse(x, y - size * 0.85, size * 0.34, size * 0.36, coat)
    if kind == "adult":
        canvas.ellipse(x + size * 0.2, y - size * 0.62, size * 0.12, size * 0.12, "#e8b23a")
    canvas.polygon(
        [(x + size * 0.2, y - size * 0.98), (x + size * 0.62, y - size * 0.86), (x + size * 0.2, y - size * 0.78)],
        "#3a3f43",
    )
    for foot in (-0.22, 0.22):
        canvas.ellipse(x + foot * size, y + size * 0.98, size * 0.18, size * 0.08, "#d48a2a")


def _apart(
    chance: random.Random, count: int, gap: float, edge: float, top: float, bottom: float
) -> list[tuple[float, float]]:
    """Places that keep a distance from each other, as long as there is room."""
    places: list[tuple[float, float]] = []
    for _try in range(4000):
        if len(places) == count:
            break
        place = (chance.uniform(edge, WIDTH - edge), chance.uniform(top, bottom))
        if all(math.dist(place, other) > gap for other in places):
            places.append(place)
    while len(places) < count:
        places.append((chance.uniform(edge, WIDTH - edge), chance.uniform(top, bottom)))
    return places
