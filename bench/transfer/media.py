"""Media files that are prepared: memory and CPU of the process that asks for it, and of those that do it.

    python -m bench.transfer.media [--pictures 200] [--megapixels 12]

First so many photographs of about 2 MB, each stored in a folder and in the end removed; then hostile files of each
format: bombs, huge pictures, files that are two formats. Gates: the memory of the asking process grows by at most
MAX_MEMORY, a process for a file takes at most MAX_CHILD, a photograph takes at most MAX_CPU seconds, and every hostile
file is refused with a sentence, or what is made of it has nothing of it.
"""

from __future__ import annotations

import argparse
import io
import os
import resource
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

from PIL import Image
from support import media_files

from bench.support.figures import table
from crowdd.features.media import preparation
from crowdd.features.media.preparation import Helper
from crowdd.features.media.prepared import Choices
from crowdd.kernel.config.data import MediaSettings
from crowdd.kernel.errors import InvalidValueError

MAX_MEMORY = 50e6  # bytes
MAX_CHILD = 1.2e9
MAX_CPU = 1.0  # seconds for each photograph
MAX_LEFT = 20e6  # bytes that are made of a hostile file
_SCRIPT = b"<script>alert(1)</script>"


def photograph(seed: int, megapixels: float) -> bytes:
    """A picture with as much detail as a camera's, and with a place: 2 MB at 12 megapixels."""
    width = int((megapixels * 1e6 * 4 / 3) ** 0.5)
    size = (width, width * 3 // 4)
    rough = Image.effect_noise((size[0] // 4, size[1] // 4), 60 + seed % 20).resize(size, Image.Resampling.BICUBIC)
    picture, out = Image.merge("RGB", [rough, rough.rotate(180), rough]), io.BytesIO()
    picture.save(out, "JPEG", quality=60, exif=media_files.exif(1 + seed % 8, media_files.BERLIN, _SCRIPT.decode()))
    return out.getvalue()


def hostile() -> Iterator[tuple[str, bytes, bool]]:
    """Name, content, and whether it is an archive."""
    yield "PNG, 400 million pixels", media_files.picture("PNG", (20_000, 20_000), "1"), False
    yield "PNG, 100 million pixels with transparency", media_files.picture("PNG", (10_900, 10_900), "RGBA"), False
    yield "SVG", b"<svg xmlns='http://www.w3.org/2000/svg'>" + _SCRIPT + b"</svg>", False
    yield "GIF that is a script", b"GIF89a=1;/*" + _SCRIPT + b"*/", False
    yield "JPEG and ZIP", media_files.picture() + media_files.zipped({"x.html": _SCRIPT}), False
    yield "WAV and ZIP", media_files.wav() + media_files.zipped({"x.html": _SCRIPT}), False
    yield "MP4 and web page", media_files.mp4() + b"<html>" + _SCRIPT, False
    yield "PDF with a script", media_files.pdf(more=b"/OpenAction<</S/JavaScript/JS(app.alert(1))>>"), False
    yield "PDF, 10,000 pages", media_files.pdf([(100, 100)] * 10_000), False
    yield "ZIP bomb, 1 GB", bomb(), True
    yield "ZIP with paths", media_files.zipped({"../../etc/passwd": b"root::0:0"}), True


def bomb() -> bytes:
    """An archive of a megabyte with a gigabyte of zeros."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("zeros.png", "w") as member:
        for _piece in range(1000):
            member.write(bytes(1_000_000))
    return out.getvalue()


def resident() -> int:
    """Bytes of memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def cpu() -> float:
    """Seconds of CPU of all processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def child() -> int:
    """Bytes of memory of the largest process that has ended."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024


def photographs(
    count: int, megapixels: float, folder: Path, helper: Helper, violations: list[str]
) -> list[tuple[str, object]]:
    """Prepares them; rows of a table. The helper is ended, so that its CPU and that of its processes counts."""
    samples = [photograph(seed, megapixels) for seed in range(8)]
    before, peak, begun, sent, made = resident(), 0, cpu(), 0, 0
    taken = 0.0
    for number in range(count):
        content = samples[number % len(samples)]
        with tempfile.TemporaryDirectory(dir=folder) as place:
            source = Path(place) / "source"
            source.write_bytes(content)
            (target := Path(place) / "made").mkdir()
            start = time.monotonic()
            done = preparation.prepare(source, target, Choices(), MediaSettings(), helper)
            taken += time.monotonic() - start
            sent, made = sent + len(content), made + sum(each.bytes for each in done.files)
            if any(_SCRIPT in each.path.read_bytes() for each in done.files):
                violations.append(f"Photograph {number} has kept a script.")
        peak = max(peak, resident() - before)
    helper.end()
    each = (cpu() - begun) / count
    if peak > MAX_MEMORY:
        violations.append(f"The process that asks takes {peak / 1e6:.0f} MB more.")
    if each > MAX_CPU:
        violations.append(f"A photograph takes {each:.2f} s of CPU.")
    return [
        (f"photographs of {megapixels:g} megapixels", count),
        ("MB that came, for each", f"{sent / count / 1e6:.2f}"),
        ("MB that were made, for each", f"{made / count / 1e6:.2f}"),
        ("seconds of CPU, for each", f"{each:.3f}"),
        ("photographs a second, one after the other", f"{count / taken:.1f}"),
        ("MB more in the process that asks, at most", f"{peak / 1e6:.1f}"),
    ]


def refusals(folder: Path, helper: Helper, violations: list[str]) -> list[tuple[str, object]]:
    """Prepares hostile files; rows of a table."""
    rows = []
    for name, content, archive in hostile():
        with tempfile.TemporaryDirectory(dir=folder) as place:
            source, target = Path(place) / "source", Path(place) / "made"
            source.write_bytes(content)
            target.mkdir()
            before = cpu()
            outcome = _outcome(source, target, archive, helper)
            helper.end()
            rows.append((name, f"{outcome} ({cpu() - before:.1f} s of CPU)"))
            left = [path.read_bytes() for path in target.iterdir() if path.name != "result.json"]
            if any(b"script" in content for content in left) or sum(map(len, left)) > MAX_LEFT:
                violations.append(f"{name}: something of it is left.")
    return rows


def _outcome(source: Path, target: Path, archive: bool, helper: Helper) -> str:
    try:
        if archive:
            return preparation.unpack(source, target, 10_000, 4_000_000_000, helper).refused[0].reason
        made = preparation.prepare(source, target, Choices(), MediaSettings(), helper)
        return f"redrawn as {len(made.files)} files"
    except InvalidValueError as refused:
        return str(refused)


def main() -> int:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pictures", type=int, default=200)
    parser.add_argument("--megapixels", type=float, default=12)
    chosen = parser.parse_args()
    violations: list[str] = []
    helper = Helper()
    with tempfile.TemporaryDirectory(prefix="crowdd-media-") as folder:
        lines = photographs(chosen.pictures, chosen.megapixels, Path(folder), helper, violations)
        lines.append(("MB of a process for a photograph, at most", f"{child() / 1e6:.0f}"))
        lines += refusals(Path(folder), helper, violations)
    lines.append(("MB of a process for a hostile file, at most", f"{child() / 1e6:.0f}"))
    if child() > MAX_CHILD:
        violations.append("A process for a file takes too much memory.")
    print(table("Media files are prepared", lines, violations))
    return int(bool(violations))


if __name__ == "__main__":
    sys.exit(main())
