"""The processes that look at files, one for each, with little memory and time: ``Helper`` starts them.

    python -m crowdd.features.media.preparation_program

The process that is started this way loads the libraries and never looks at a file. For each line of its input, an
object with ``source``, ``folder``, ``options`` and ``seconds``, it forks one that prepares this file, and writes a line
with the status in which that one ended (negative: the signal); after so many seconds it ends it. The forked process
writes files into the folder, and ``result.json``: what ``preparation`` reads, or ``error`` with a word of
``prepared.SENTENCES``. Where a limit ends it, its status is not 0.
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from crowdd.features.media import archives, sound, video
from crowdd.features.media.file_formats import format_of
from crowdd.features.media.file_parts import OutFolder
from crowdd.features.media.prepared import RefusedFile
from crowdd.kernel.concurrency.isolated import Limits, yield_to_requests
from crowdd.kernel.lazy import lazy

RESULT = "result.json"
MAX_MEMORY = 1_200_000_000  # bytes of addresses
MAX_OPEN_FILES = 64
MAX_RESULT_BYTES = 50_000_000
IDLE_SECONDS = 60.0  # without a file, after which the memory is given back
_NICENESS = 19  # requests go first

Facts = dict[str, Any]  # what is known of a file
# What loads large libraries is loaded when a file needs it.
pictures = lazy("crowdd.features.media.pictures")
documents = lazy("crowdd.features.media.pdf")


def _prepare_picture(*file: object) -> Facts:
    return pictures.prepare(*file)


def _prepare_document(*file: object) -> Facts:
    try:
        return documents.prepare(*file)
    except ModuleNotFoundError:
        raise RefusedFile("pdf") from None


_PREPARE: Mapping[str, Callable[..., Facts]] = {
    **dict.fromkeys(("JPEG", "PNG", "GIF", "WebP", "TIFF", "HEIC", "AVIF"), _prepare_picture),
    "PDF": _prepare_document,
    "MP3": sound.prepare_mp3,
    "MP4": video.prepare_mp4,
    "WAV": sound.prepare_wav,
    "FLAC": sound.prepare_flac,
    "Ogg": sound.prepare_ogg,
    "WebM": video.prepare_webm,
}


def result_of(source: Path, out: OutFolder, options: Mapping[str, object]) -> Facts:
    """What the file is and what was made of it."""
    try:
        format_ = format_of(source)
        if (format_ == "ZIP") != options["archive"]:
            raise RefusedFile("archive" if format_ == "ZIP" else "damaged", format="ZIP")
        if options["archive"]:
            return {**archives.unpack(source, out, options), "files": out.files}
        return {**_PREPARE[format_](source, format_, out, options), "files": out.files}
    except RefusedFile as refused:
        return {"error": refused.word, "values": refused.values}
    except MemoryError:
        return {"error": "costly", "values": {}}


def write_result(source: str, folder: str, options: Mapping[str, Any]) -> None:
    """Prepares a file, in the process for it."""
    Limits(MAX_MEMORY, options["max_cpu_seconds"], options["max_bytes"] + MAX_RESULT_BYTES, MAX_OPEN_FILES).apply()
    result = result_of(Path(source), OutFolder(Path(folder), options["max_bytes"]), options)
    (Path(folder) / RESULT).write_text(json.dumps(result), "utf-8")


def in_a_process(source: str, folder: str, options: Mapping[str, Any], seconds: float) -> int:
    """Has a file prepared by a process of its own; the status in which it ended."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(_ended(child, time.monotonic() + seconds))
    status = 1
    try:
        for stream in (0, 1):  # through these it could speak for the others
            os.dup2(2, stream)
        write_result(source, folder, options)
        status = 0
    finally:
        os._exit(status)


def _ended(child: int, until: float) -> int:
    while (left := until - time.monotonic()) > 0:
        signal.sigtimedwait({signal.SIGCHLD}, left)
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return status
    os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


def main() -> int:
    """Waits for files until the server closes the input, or brings none for a while."""
    yield_to_requests(_NICENESS)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})  # it waits for them
    pictures.load_formats()
    gc.freeze()  # what is here is shared by all processes
    while select.select([0], [], [], IDLE_SECONDS)[0]:
        line = sys.stdin.buffer.readline()
        if not line:
            break
        os.write(1, b"%d\n" % in_a_process(**json.loads(line)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
