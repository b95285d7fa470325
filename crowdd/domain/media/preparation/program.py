"""The process that looks at one file, with little memory and time: ``process.py`` starts it.

    python -m crowdd.domain.media.preparation.program SOURCE FOLDER OPTIONS

It writes files into the folder, and ``result.json``: what ``process.py`` reads, or ``error`` with a word of
``refusals.SENTENCES``. Where a limit ends it, its status is not 0.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crowdd.domain.media.preparation import archives, flac, mp3, mp4, ogg, wav, webm
from crowdd.domain.media.preparation.out_folder import OutFolder
from crowdd.domain.media.preparation.refused import RefusedFile
from crowdd.domain.media.preparation.sniffing import format_of
from crowdd.lazy import lazy

RESULT = "result.json"
MAX_MEMORY = 1_200_000_000  # bytes of addresses
MAX_OPEN_FILES = 64
MAX_RESULT_BYTES = 50_000_000
_NICENESS = 10  # requests go first

# What loads large libraries is loaded when a file needs it.
pictures = lazy("crowdd.domain.media.preparation.pictures")
documents = lazy("crowdd.domain.media.preparation.documents")
_MODULES: Mapping[str, Any] = {
    **dict.fromkeys(("JPEG", "PNG", "GIF", "WebP", "TIFF", "HEIC", "AVIF"), pictures),
    "PDF": documents,
    "MP3": mp3,
    "MP4": mp4,
    "WAV": wav,
    "FLAC": flac,
    "Ogg": ogg,
    "WebM": webm,
}


def limit(max_cpu_seconds: int, max_file_bytes: int) -> None:
    """Bounds this process before it looks at anything of the file."""
    for what, maximum in (
        (resource.RLIMIT_AS, MAX_MEMORY),
        (resource.RLIMIT_CPU, max_cpu_seconds),
        (resource.RLIMIT_FSIZE, max_file_bytes),
        (resource.RLIMIT_NOFILE, MAX_OPEN_FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(what, (maximum, maximum))
    os.nice(_NICENESS)


def result_of(source: Path, out: OutFolder, options: Mapping[str, object]) -> dict[str, Any]:
    """What the file is and what was made of it."""
    try:
        format_ = format_of(source)
        if (format_ == "ZIP") != options["archive"]:
            raise RefusedFile("archive" if format_ == "ZIP" else "damaged", format="ZIP")
        if options["archive"]:
            return {**archives.unpack(source, out, options), "files": out.files}
        return {**_MODULES[format_].prepare(source, format_, out, options), "files": out.files}
    except RefusedFile as refused:
        return {"error": refused.word, "values": refused.values}
    except MemoryError:
        return {"error": "costly", "values": {}}


def main(arguments: list[str]) -> int:
    """Prepares the file that the arguments name."""
    source, folder, words = arguments
    options = json.loads(words)
    limit(options["max_cpu_seconds"], options["max_bytes"] + MAX_RESULT_BYTES)
    result = result_of(Path(source), OutFolder(Path(folder), options["max_bytes"]), options)
    (Path(folder) / RESULT).write_text(json.dumps(result), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
