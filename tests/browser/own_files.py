"""Files as owners have them on their computers: photographs, scanned letters, recordings, a table."""

from __future__ import annotations

import math
import struct
import wave
from pathlib import Path

from PIL import Image, ImageDraw

RATE = 8000


def pictures(folder: Path, n: int = 3) -> list[Path]:
    """Photographs of different things in different colours."""
    made = []
    for number in range(n):
        path = folder / f"IMG_{number:04}.jpg"
        image = Image.new("RGB", (640, 480), (40 + 60 * number, 120, 90))
        ImageDraw.Draw(image).ellipse((200, 140, 420, 330), fill=(230, 180 - 40 * number, 60))
        image.save(path, quality=85)
        made.append(path)
    return made


def letters(folder: Path, n: int = 2) -> list[Path]:
    """Scanned pages with three lines each."""
    made = []
    for number in range(n):
        path = folder / f"letter-{number}.png"
        image = Image.new("L", (600, 400), 245)
        draw = ImageDraw.Draw(image)
        for line in range(3):
            draw.text((60, 80 + 100 * line), f"Page {number}: dear sister, line {line}", fill=20, font_size=28)
        image.save(path)
        made.append(path)
    return made


def recordings(folder: Path, n: int = 2) -> list[Path]:
    """Two seconds of a tone that swells."""
    made = []
    for number in range(n):
        path = folder / f"dawn-{number}.wav"
        with wave.open(str(path), "wb") as writer:
            writer.setnchannels(1)
            writer.setsampwidth(2)
            writer.setframerate(RATE)
            step = 0.2 + 0.1 * number
            level = (int(9000 * math.sin(n * step) * math.sin(n / RATE)) for n in range(2 * RATE))
            writer.writeframes(b"".join(struct.pack("<h", each) for each in level))
        made.append(path)
    return made


def table(folder: Path) -> list[Path]:
    """A spreadsheet with one text for each task."""
    path = folder / "quarters.csv"
    path.write_text("text\nThe way into town from the north\nThe way into town along the river\n", "utf-8")
    return [path]
