"""A large picture in small tiles, as libraries serve them: IIIF Image API 2 and 3 at level 0, and Deep Zoom."""

from __future__ import annotations

import io
import json
import math
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, Self

from PIL import Image, ImageDraw

WIDTH: Final = 2000
HEIGHT: Final = 1500
TILE: Final = 512
_SCALES: Final = (1, 2, 4)


def picture() -> Image.Image:
    """Something to see in each corner: red, green, blue and yellow, and a white cross in the middle."""
    image = Image.new("RGB", (WIDTH, HEIGHT), "#456")
    draw = ImageDraw.Draw(image)
    for x, y, colour in (
        (0, 0, "red"),
        (WIDTH - 200, 0, "lime"),
        (0, HEIGHT - 200, "blue"),
        (WIDTH - 200, HEIGHT - 200, "yellow"),
    ):
        draw.rectangle((x, y, x + 199, y + 199), fill=colour)
    draw.line((WIDTH / 2 - 100, HEIGHT / 2, WIDTH / 2 + 100, HEIGHT / 2), fill="white", width=9)
    draw.line((WIDTH / 2, HEIGHT / 2 - 100, WIDTH / 2, HEIGHT / 2 + 100), fill="white", width=9)
    return image


def _jpeg(image: Image.Image) -> bytes:
    held = io.BytesIO()
    image.save(held, "JPEG", quality=60)
    return held.getvalue()


def _iiif(image: Image.Image, site: str, name: str, version: int) -> dict[str, bytes]:
    """The files of a level 0 image service: its description, and each tile under its canonical address."""
    about: dict[str, Any] = {
        "protocol": "http://iiif.io/api/image",
        "width": WIDTH,
        "height": HEIGHT,
        "tiles": [{"width": TILE, "height": TILE, "scaleFactors": list(_SCALES)}],
    }
    if version == 2:
        about |= {"@context": "http://iiif.io/api/image/2/context.json", "@id": f"{site}/{name}"}
        about["profile"] = ["http://iiif.io/api/image/2/level0.json"]
    else:
        about |= {"@context": "http://iiif.io/api/image/3/context.json", "id": f"{site}/{name}"}
        about |= {"type": "ImageService3", "profile": "level0"}
    files = {f"/{name}/info.json": json.dumps(about).encode()}
    for scale in _SCALES:
        span = TILE * scale
        for left in range(0, WIDTH, span):
            for top in range(0, HEIGHT, span):
                width, height = min(span, WIDTH - left), min(span, HEIGHT - top)
                out = math.ceil(width / scale), math.ceil(height / scale)
                size = f"{out[0]}," if version == 2 else f"{out[0]},{out[1]}"
                region = "full" if (width, height) == (WIDTH, HEIGHT) else f"{left},{top},{width},{height}"
                tile = image.resize(out, box=(left, top, left + width, top + height))
                files[f"/{name}/{region}/{size}/0/default.jpg"] = _jpeg(tile)
    return files


def _deep_zoom(image: Image.Image, name: str) -> dict[str, bytes]:
    """A ``.dzi`` and its tiles."""
    about = (
        f'<?xml version="1.0"?><Image xmlns="http://schemas.microsoft.com/deepzoom/2008" TileSize="{TILE}" Overlap="0"'
        f' Format="jpg"><Size Width="{WIDTH}" Height="{HEIGHT}"/></Image>'
    )
    files = {f"/{name}.dzi": about.encode()}
    levels = math.ceil(math.log2(max(WIDTH, HEIGHT)))
    for level in range(levels + 1):
        scale = 2 ** (levels - level)
        small = image.resize((math.ceil(WIDTH / scale), math.ceil(HEIGHT / scale)))
        for column in range(math.ceil(small.width / TILE)):
            for row in range(math.ceil(small.height / TILE)):
                box = (
                    column * TILE,
                    row * TILE,
                    min((column + 1) * TILE, small.width),
                    min((row + 1) * TILE, small.height),
                )
                files[f"/{name}_files/{level}/{column}_{row}.jpg"] = _jpeg(small.crop(box))
    return files


class TileServer:
    """Another site with these pictures: ``/two`` and ``/three`` by IIIF, ``/deep.dzi``, ``/whole.jpg``, ``/closed`` without CORS."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.asked.append(self.path)
                body = server.files.get(self.path)
                self.send_response(404 if body is None else 200)
                if not self.path.startswith("/closed"):
                    self.send_header("Access-Control-Allow-Origin", "*")
                self.send_header("Content-Type", "image/jpeg" if self.path.endswith("jpg") else "application/json")
                self.send_header("Content-Length", str(len(body or b"")))
                self.end_headers()
                self.wfile.write(body or b"")

            def log_message(self, *_: object) -> None:
                """Says nothing."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        image = picture()
        self.files = _iiif(image, self.url, "two", 2) | _iiif(image, self.url, "three", 3) | _deep_zoom(image, "deep")
        self.files["/whole.jpg"] = _jpeg(image)
        self.files["/closed/info.json"] = self.files["/two/info.json"]
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
