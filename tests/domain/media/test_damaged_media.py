"""Files that were damaged at random: a container's reader refuses them in its own words, or passes them on."""

import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from support import media_files

from crowdd.features.media import archives, sound, video
from crowdd.features.media.file_parts import OutFolder
from crowdd.features.media.prepared import SENTENCES, RefusedFile

Reader = Callable[[Path, OutFolder], Any]
TURNS = 250


def reader(prepare: Callable[..., Any], format_: str) -> Reader:
    return lambda source, out: prepare(source, format_, out, {})


def unpacked(source: Path, out: OutFolder) -> Any:
    return archives.unpack(source, out, {"max_files": 10, "max_bytes": 1_000_000})


READERS: Mapping[str, tuple[Reader, bytes]] = {
    "WAV": (reader(sound.prepare_wav, "WAV"), media_files.wav(0.05, b"LIST\4\0\0\0abcd")),
    "MP3": (reader(sound.prepare_mp3, "MP3"), media_files.id3(b"x" * 20) + media_files.mp3(6)),
    "FLAC": (reader(sound.prepare_flac, "FLAC"), media_files.flac()),
    "Ogg": (reader(sound.prepare_ogg, "Ogg"), media_files.ogg()),
    "MP4": (reader(video.prepare_mp4, "MP4"), media_files.mp4()),
    "WebM": (reader(video.prepare_webm, "WebM"), media_files.webm()),
    "live": (reader(video.prepare_webm, "WebM"), media_files.webm(live=True)),
    "ZIP": (unpacked, media_files.zipped({"a.jpg": b"a" * 200, "b/c.png": b"b" * 30})),
}


def damaged(content: bytes, chance: random.Random) -> bytes:
    """A file with some bytes changed, removed or inserted, most of them at its beginning."""
    made = bytearray(content)
    for _place in range(chance.randint(1, 6)):
        at = chance.randrange(len(made) if chance.random() < 0.5 else min(len(made), 120))
        what = chance.random()
        if what < 0.5:
            made[at] = chance.choice((0, 1, 127, 128, 255, chance.randrange(256)))
        elif what < 0.7:
            del made[at : at + chance.randint(1, 20)]
        elif what < 0.9:
            made[at:at] = chance.randbytes(chance.randint(1, 8))
        else:
            del made[at:]
        made = made or bytearray(1)
    return bytes(made)


@pytest.mark.parametrize("name", READERS)
def test_damaged_files_are_refused_in_words_or_passed_on(tmp_path: Path, name: str) -> None:
    read, content = READERS[name]
    chance, outcomes = random.Random(7), {"refused": 0, "passed on": 0}
    for _turn in range(TURNS):
        (tmp_path / "source").write_bytes(damaged(content, chance))
        try:
            read(tmp_path / "source", OutFolder(tmp_path, 1_000_000))
            outcomes["passed on"] += 1
        except RefusedFile as refused:
            assert SENTENCES[refused.word](refused.values)
            outcomes["refused"] += 1
    assert min(outcomes.values()) > 5, outcomes
