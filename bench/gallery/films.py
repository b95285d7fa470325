"""Drawn films: birds that come to a feeder. Saved as WebM (VP9). Needs ``pip install av``."""

from __future__ import annotations

import math
from pathlib import Path

from PIL import Image

from bench.gallery.canvas import Canvas
from bench.gallery.nature import bird

WIDTH, HEIGHT, FPS, SECONDS = 480, 320, 10, 12


def feeder(visits: list[tuple[float, float, float]]) -> list[Image.Image]:
    """The frames. A visit is (arrives, eats until, is gone) in seconds."""
    frames = []
    for number in range(FPS * SECONDS):
        now = number / FPS
        canvas = _garden()
        for order, visit in enumerate(visits):
            _visitor(canvas, now, visit, order)
        frames.append(canvas.image.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS))
    return frames


def _garden() -> Canvas:
    canvas = Canvas(WIDTH, HEIGHT, "#c6dbe6")
    canvas.gradient("#b5d0e0", "#e6eee4", 0, 220)
    canvas.polygon([(0, 225), (WIDTH, 215), (WIDTH, HEIGHT), (0, HEIGHT)], "#86a566")
    canvas.line([(300, 320), (300, 190)], "#6a4c30", 12)
    canvas.polygon([(210, 190), (390, 190), (390, 200), (210, 200)], "#7d5a38")
    for x in (222, 378):
        canvas.line([(x, 190), (x, 110)], "#6a4c30", 5)
    canvas.polygon([(195, 112), (405, 112), (300, 60)], "#8c4434")
    for seed in range(9):
        canvas.ellipse(245 + seed * 13, 187, 4, 3, "#d8b255")
    return canvas


def _visitor(canvas: Canvas, now: float, visit: tuple[float, float, float], order: int) -> None:
    arrives, until, gone = visit
    seat = (270 + order * 62, 152)
    if arrives <= now < arrives + 1.5:
        share = (now - arrives) / 1.5
        _flying(canvas, WIDTH + 40 - (WIDTH + 40 - seat[0]) * share, 40 + (seat[1] - 40) * share, now)
    elif arrives + 1.5 <= now < until:
        peck = 9 * max(0.0, math.sin(now * 9))
        bird(canvas, seat[0], seat[1] + peck, 60)
    elif until <= now < gone:
        share = (now - until) / (gone - until)
        _flying(canvas, seat[0] - (seat[0] + 60) * share, seat[1] - 110 * share, now)


def _flying(canvas: Canvas, x: float, y: float, now: float) -> None:
    bird(canvas, x, y, 60)
    lift = 26 * math.sin(now * 22)
    canvas.polygon([(x - 8, y), (x + 18, y + 2), (x + 14, y - lift - 8)], "#3b434a")


def save(frames: list[Image.Image], path: Path) -> None:
    """Writes WebM."""
    import av  # noqa: PLC0415 - only who makes the samples has it

    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w") as out:
        stream = out.add_stream("libvpx-vp9", rate=FPS)
        stream.width, stream.height, stream.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        stream.options = {"crf": "38", "b": "0", "deadline": "good", "cpu-used": "2", "threads": "1"}
        for image in frames:
            for packet in stream.encode(av.VideoFrame.from_image(image)):
                out.mux(packet)
        for packet in stream.encode(None):
            out.mux(packet)
