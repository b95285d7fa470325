"""A picture for a project that has none: a blue print drawn from its name, the same one each time.

What comes out is a whole ``<svg>`` of our own numbers and colours; nothing of the name itself is in it.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from math import cos, pi, sin
from typing import Final

from markupsafe import Markup

WIDTH: Final = 480
HEIGHT: Final = 320

# Ground and line: cyanotypes, washed and strong, and two prints on toned paper.
_INKS: Final = (
    ("#0b3f63", "#dbe8f0"),
    ("#123a5c", "#cfe0ea"),
    ("#17536f", "#dcebe9"),
    ("#0f4a52", "#d6e7dd"),
    ("#d9e1e3", "#1c557c"),
    ("#d8cfba", "#3d4a50"),
)

Point = tuple[float, float]


@lru_cache(maxsize=2048)
def drawing(name: str) -> Markup:
    """The print of a name: 480 by 320, cropped by its box like a photograph, silent for screen readers."""
    # A drawing, not a secret: the generator only has to be the same in each process.
    chance = random.Random(hashlib.sha256(name.encode()).digest())  # noqa: S311
    ground, line = chance.choice(_INKS)
    motif = chance.choice(_MOTIFS)
    return Markup(  # noqa: S704 - numbers and colours from this module only
        f'<svg class="print" viewBox="0 0 {WIDTH} {HEIGHT}" preserveAspectRatio="xMidYMid slice" aria-hidden="true">'
        f'<path fill="{ground}" d="M0 0h{WIDTH}v{HEIGHT}H0z"/><g stroke="{line}" fill="none">{motif(chance, line)}</g>'
        "</svg>"
    )


def _fern(chance: random.Random, line: str) -> str:
    fronds = chance.choice(((135, 345), (240,), (150, 320)))
    return "".join(_frond(chance, x, line) for x in fronds)


def _frond(chance: random.Random, foot: float, line: str) -> str:
    """A stem that leans, and leaves in pairs that shorten towards its tip."""
    lean, height, pairs = chance.uniform(-60, 60), chance.uniform(235, 265), chance.randint(12, 16)
    longest, lift = chance.uniform(112, 140), chance.uniform(0.45, 0.75)
    leaves = []
    for step in range(1, pairs + 1):
        along = step / (pairs + 1)
        x, y = foot + lean * along * along, 300 - height * along
        reach = longest * sin(pi * (0.16 + 0.8 * along)) * (1.12 - along)
        leaves += [_leaf(x, y, side * reach, reach * lift, 5 + 7 * (1 - along)) for side in (-1, 1)]
    stem = f"M{foot:.0f} 320Q{foot:.0f} {300 - height / 2:.0f} {foot + lean:.0f} {300 - height:.0f}"
    return f'<path stroke-width="2.5" d="{stem}"/><path fill="{line}" stroke="none" d="{"".join(leaves)}"/>'


def _leaf(x: float, y: float, reach: float, rise: float, thick: float) -> str:
    """Two curves from foot to tip and back, ``thick`` above and below the straight line."""
    foot, tip = _at((x, y)), _at((x + reach, y - rise))
    over, under = ((x + reach / 2, y - rise / 2 + bend) for bend in (-thick, thick))
    return f"M{foot}Q{_at(over)} {tip}Q{_at(under)} {foot}"


def _rings(chance: random.Random, line: str) -> str:
    """A trunk or a hill: closed lines around one place that bend together."""
    middle = chance.uniform(170, 310), chance.uniform(120, 200)
    waves = [(lobes, chance.uniform(0, 2 * pi), chance.uniform(0.02, 0.07)) for lobes in (2, 3, 5)]
    radius, lines = 7.0, []
    while radius < 330:
        lines.append(_notify(middle, radius, waves))
        radius += chance.uniform(8, 21)
    return f'<path stroke-width="1.6" opacity=".85" d="{"".join(lines)}"/>'


def _notify(middle: Point, radius: float, waves: Sequence[tuple[int, float, float]]) -> str:
    turns = [2 * pi * step / 20 for step in range(20)]
    reach = [radius * (1 + sum(depth * sin(lobes * turn + phase) for lobes, phase, depth in waves)) for turn in turns]
    points = [(middle[0] + r * cos(turn), middle[1] + r * sin(turn)) for turn, r in zip(turns, reach, strict=True)]
    return _smooth([*points, points[0]])


def _smooth(points: Sequence[Point]) -> str:
    """A line through the middles of neighbouring points, each point pulling it; closed when it ends where it began."""
    middles = [((a[0] + b[0]) / 2, (a[1] + b[1]) / 2) for a, b in pairwise(points)]
    if points[0] == points[-1]:
        points, middles = [*points, points[1]], [*middles, middles[0]]
    bends = (f"Q{_at(point)} {_at(middle)}" for point, middle in zip(points[1:], middles[1:], strict=False))
    return f"M{_at(middles[0])}{''.join(bends)}"


def _at(point: Point) -> str:
    return f"{point[0]:.0f} {point[1]:.0f}"


def _water(chance: random.Random, line: str) -> str:
    """Lines of sound or of water, loudest around one place."""
    peak, phases = chance.uniform(140, 340), [chance.uniform(0, 2 * pi) for _ in range(3)]
    lines = []
    for y in range(54, 300, 15):
        drift = [phase + y * speed for phase, speed in zip(phases, (0.021, -0.034, 0.05), strict=True)]
        lines.append(_smooth([(x, y - _height(x, peak, drift)) for x in range(-20, WIDTH + 61, 22)]))
    return f'<path stroke-width="1.8" opacity=".9" d="{"".join(lines)}"/>'


def _height(x: float, peak: float, phases: Sequence[float]) -> float:
    near = 1 / (1 + ((x - peak) / 95) ** 2)
    return near * (16 + 13 * sin(x / 37 + phases[0]) + 9 * sin(x / 23 + phases[1]) + 6 * sin(x / 15 + phases[2]))


def _count(chance: random.Random, line: str) -> str:
    """A page of a field book: rows of bundles of five, the last one not full."""
    rows, step = chance.choice(((3, 82), (4, 68), (5, 56)))
    bundles = [(x, y) for y in range(rows) for x in range(rows + 1)][: -chance.randint(1, rows)]
    left, top, scale = WIDTH / 2 - (rows + 1) * step * 0.6, HEIGHT / 2 - rows * step / 2, step / 56
    lines = (_bundle(chance, left + x * step * 1.2, top + y * step, scale) for x, y in bundles)
    return f'<path stroke-width="{2.6 * scale:.1f}" stroke-linecap="round" opacity=".88" d="{"".join(lines)}"/>'


def _bundle(chance: random.Random, x: float, y: float, scale: float) -> str:
    def near(value: float) -> float:
        return (value + chance.uniform(-1.5, 1.5)) * scale

    strokes = (f"M{_at((x + near(14 + 11 * k), y + near(10)))}v{near(34):.0f}" for k in range(4))
    return f"{''.join(strokes)}M{_at((x + near(6), y + near(37)))}L{_at((x + near(57), y + near(17)))}"


def _river(chance: random.Random, line: str) -> str:
    """Water that parts and meets again on its way."""
    slope, bend = chance.uniform(-90, 90), chance.uniform(20, 46)
    start = HEIGHT / 2 - slope / 2
    threads = []
    for _ in range(chance.randint(6, 9)):
        wave, phase, away = chance.uniform(50, 90), chance.uniform(0, 2 * pi), chance.uniform(14, 44)
        course = [(x, start + slope * x / WIDTH + bend * sin(x / 75)) for x in range(-40, WIDTH + 81, 20)]
        water = _smooth([(x, y + away * sin(x / wave + phase)) for x, y in course])
        threads.append(f'<path stroke-width="{chance.choice((2, 3, 5, 7))}" d="{water}"/>')
    return f'<g opacity=".86">{"".join(threads)}</g>'


def _sky(chance: random.Random, line: str) -> str:
    """Stars, and some of them joined by somebody who looked."""
    stars = [(chance.uniform(12, 468), chance.uniform(12, 308), chance.choice((1, 1, 1, 1.5, 2, 3))) for _ in range(90)]
    bright = sorted(stars, key=lambda star: -star[2])[: chance.randint(6, 9)]
    joined = "L".join(f"{x:.0f} {y:.0f}" for x, y, _ in sorted(bright))
    dots = "".join(f'<circle cx="{x:.0f}" cy="{y:.0f}" r="{r}"/>' for x, y, r in stars)
    return f'<path stroke-width="1" opacity=".6" d="M{joined}"/><g fill="{line}" stroke="none">{dots}</g>'


def _shells(chance: random.Random, line: str) -> str:
    """Diatoms under glass: round ones with rays and long ones with ribs."""
    places = [(x + chance.uniform(-24, 24), y + chance.uniform(-20, 20)) for y in (78, 238) for x in (78, 240, 402)]
    shapes = [_round(chance, *place) if chance.random() < 0.5 else _long(chance, *place) for place in places]
    return f'<g stroke-width="1.5" opacity=".9">{"".join(shapes)}</g>'


def _round(chance: random.Random, x: float, y: float) -> str:
    """Circles, and between two of them rays: the dashes of one wide stroke."""
    radius, rays = chance.uniform(30, 64), chance.randint(20, 34)
    between, wide = 0.68 * radius, 0.46 * radius
    gap = 2 * pi * between / rays - 1
    at = f'cx="{x:.0f}" cy="{y:.0f}"'
    circles = "".join(f'<circle {at} r="{radius * part:.0f}"/>' for part in (0.18, 0.42, 1))
    dashes = f'stroke-width="{wide:.0f}" stroke-linecap="butt" stroke-dasharray="1 {gap:.2f}"'
    return f'{circles}<circle {at} r="{between:.1f}" {dashes}/>'


def _long(chance: random.Random, x: float, y: float) -> str:
    length, width, turn = chance.uniform(60, 84), chance.uniform(13, 22), chance.uniform(-70, 70)
    ribs = []
    for step in range(-8, 9):
        at, half = length * step / 9, width * (1 - (step / 9) ** 2) ** 0.5 * 0.82
        ribs.append(f"M{at:.0f} {-half:.0f}V{half:.0f}")
    return (
        f'<g transform="translate({x:.0f} {y:.0f}) rotate({turn:.0f})"><ellipse rx="{length:.0f}" ry="{width:.0f}"/>'
        f'<path stroke-width="1" d="M{-length:.0f} 0H{length:.0f}{"".join(ribs)}"/></g>'
    )


_MOTIFS: Final[Sequence[Callable[[random.Random, str], str]]] = (_fern, _rings, _water, _count, _river, _sky, _shells)
