"""Makes tasks.ndjson, images/ and thumbnail.png from the handwritten digits that scikit-learn ships.

    pip install scikit-learn pillow
    python make_tasks.py

The result is part of the repository; crowdd itself needs neither library. Twenty pictures of each digit, in a fixed
random order; what they show is not written anywhere, that is for the volunteers to say.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy
from PIL import Image
from sklearn.datasets import load_digits

HERE = Path(__file__).parent
PER_DIGIT = 20
SCALE = 16
GROUND, STROKE = (6, 11, 16), (235, 241, 244)  # the colours of the design, so that the picture has no visible edge


def chosen(labels: numpy.ndarray) -> list[int]:
    """Indices of PER_DIGIT pictures of each digit, shuffled; the same at every run."""
    chance = random.Random(1998)
    indices = [i for digit in range(10) for i in chance.sample(numpy.flatnonzero(labels == digit).tolist(), PER_DIGIT)]
    chance.shuffle(indices)
    return indices


def picture(pixels: numpy.ndarray) -> Image.Image:
    """The 8 x 8 grey values (0 to 16) with a margin, SCALE times as large and smooth, light on dark, in 32 shades."""
    grey = Image.fromarray(numpy.pad(pixels * 255 / 16, 1).astype("uint8"))
    smooth = grey.resize((10 * SCALE, 10 * SCALE), Image.Resampling.BICUBIC)
    shades = smooth.point(lambda value: round(value / 255 * 31)).convert("P")
    mixed = [round(a + (b - a) * shade / 31) for shade in range(32) for a, b in zip(GROUND, STROKE, strict=True)]
    shades.putpalette(mixed)
    return shades


def thumbnail(pictures: list[Image.Image]) -> Image.Image:
    """Fifteen pictures side by side, three rows of five, in the proportion of the project list."""
    sheet = Image.new("RGB", (600, 400), GROUND)
    for place, each in enumerate(pictures[:15]):
        small = each.convert("RGB").resize((110, 110), Image.Resampling.LANCZOS)
        sheet.paste(small, (20 + place % 5 * 113, 30 + place // 5 * 115))
    return sheet.quantize(64)


def main() -> None:
    digits = load_digits()
    pictures = [picture(digits.images[i]) for i in chosen(digits.target)]
    (HERE / "images").mkdir(exist_ok=True)
    with (HERE / "tasks.ndjson").open("w", encoding="utf-8") as tasks:
        for number, each in enumerate(pictures, start=1):
            name = f"images/{number:04}.png"
            each.save(HERE / name, optimize=True)
            tasks.write(json.dumps({"info": {"image": name, "number": number}, "n_answers": 3}) + "\n")
    thumbnail(pictures).save(HERE / "thumbnail.png", optimize=True)


if __name__ == "__main__":
    main()
