"""Lists of questions about marks, and the media that they are drawn on."""

from __future__ import annotations

import io
import math
import struct
import wave
from typing import Any, Final

from PIL import Image, ImageDraw

Json = dict[str, Any]
SITE: Final = "https://media.test"
"""Where the media are; tests answer for it."""
TEXT: Final = "Ahmed 😀 wrote مرحبا to Mary in Paris."
ARABIC: Final = "كتب أحمد رسالة إلى مريم في باريس"
SECONDS: Final = 10
SIZE: Final = (800, 600)
TURNED: Final = 6
"""The EXIF orientation of a camera that is held upright: the stored picture has to be turned by 90 degrees."""


def _picture(turned: int | None = None) -> bytes:
    image = Image.new("RGB", SIZE if turned is None else SIZE[::-1], "#6a8f5f")
    ImageDraw.Draw(image).rectangle((100, 100, 300, 250), fill="#c98a4a")
    exif = Image.Exif()
    if turned is not None:
        exif[0x0112] = turned
    held = io.BytesIO()
    image.save(held, "JPEG", exif=exif)
    return held.getvalue()


def _sound() -> bytes:
    held = io.BytesIO()
    with wave.open(held, "wb") as writer:
        writer.setnchannels(1)
        writer.setsampwidth(2)
        writer.setframerate(8000)
        count = 8000 * SECONDS
        level = (int(9000 * math.sin(n * 0.3) * math.sin(n / 8000)) for n in range(count))
        writer.writeframes(b"".join(struct.pack("<h", each) for each in level))
    return held.getvalue()


def media() -> dict[str, tuple[str, bytes]]:
    """The type and content of each file of SITE, by its path. A film is a sound here: its player is the same."""
    return {
        "/photo.jpg": ("image/jpeg", _picture()),
        "/turned.jpg": ("image/jpeg", _picture(TURNED)),
        "/letter.txt": ("text/plain; charset=utf-8", TEXT.encode()),
        "/arabic.txt": ("text/plain; charset=utf-8", ARABIC.encode()),
        "/call.wav": ("audio/wav", _sound()),
    }


def _medium(kind: str, path: str = "", **options: object) -> Json:
    source = {"source": {"url": SITE + path}} if path else {}
    return {"name": f"medium_{kind}", "type": kind, "description": "An example", **source, **options}


def step(kind: str, medium: Json, *questions: str, **options: object) -> Json:
    """A step with questions of types on one medium; ``options`` are those of the first."""
    asked = [
        {"name": f"{kind}_{name}", "type": name, "text": f"Mark it: {name}", "on": medium["name"]} for name in questions
    ]
    asked[0] |= options
    return {
        "name": f"step_{kind}",
        "title": kind.title(),
        "media": [{**medium, "name": medium["name"]}],
        "questions": asked,
    }


LABELS: Final = [{"value": "left", "text": "Left"}, {"value": "right", "text": "Right", "key": "r"}]
EACH: Final = [{"name": "hidden", "type": "yes_no", "text": "Is it hidden?"}]


def every_mark() -> Json:
    """Each type of marks, in nine steps."""
    photo = _medium("picture", "/photo.jpg")
    steps = [
        step("boxes", photo, "box", "point", labels=LABELS, each=EACH, required=True),
        step("lines", photo | {"name": "photo_lines"}, "line"),
        step("areas", photo | {"name": "photo_areas"}, "polygon", "freehand"),
        step("counted", _medium("zoom_picture", "/photo.jpg"), "count"),
        step("words", _medium("text", "/letter.txt"), "text_spans", labels=LABELS),
        step("sounds", _medium("sound", "/call.wav"), "sound_segments"),
        step("films", _medium("video", "/call.wav"), "video_segments"),
        step("places", _medium("map", center=[48.85, 2.35], zoom=12), "map_place"),
        step("regions", _medium("map", center=[48.85, 2.35], zoom=12) | {"name": "map_regions"}, "map_area"),
        step("writing", photo | {"name": "photo_writing"}, "transcription"),
    ]
    return {"version": 1, "steps": steps}


def only(kind: str, medium: str, path: str, **options: object) -> Json:
    """One question of a type on one medium."""
    return {"version": 1, "steps": [step("one", _medium(medium, path), kind, **options)]}
