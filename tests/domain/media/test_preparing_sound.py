"""Sound and video: what is passed on is checked to its end, without places, texts and pictures that it carries."""

import io
import wave

import pytest
from domain.media.preparing import Prepare, by_role
from support.media_files import box, element, flac, id3, mp3, mp4, ogg, ogg_page, wav, webm, zipped

SECRET = b"52.5200 13.4050 <script>alert(1)</script>"
TAIL = zipped({"x.html": SECRET})


def chunk(name: bytes, body: bytes) -> bytes:
    return name + len(body).to_bytes(4, "little") + body + b"\0" * (len(body) % 2)


@pytest.mark.parametrize(
    ("content", "kind", "type_", "suffix", "seconds", "size"),
    [
        (wav(1.5, chunk(b"LIST", SECRET)), "sound", "audio/wav", ".wav", 1.5, (0, 0)),
        (id3(SECRET) + mp3(100) + b"TAG" + SECRET.ljust(125), "sound", "audio/mpeg", ".mp3", 2.612, (0, 0)),
        (flac(SECRET), "sound", "audio/flac", ".flac", 1.0, (0, 0)),
        (ogg(), "sound", "audio/ogg", ".ogg", 2.0, (0, 0)),
        (ogg(b"\x80theora" + bytes(40)), "video", "video/ogg", ".ogv", None, (0, 0)),
        (mp4(texts=SECRET), "video", "video/mp4", ".mp4", 2.0, (640, 480)),
        (mp4(handler=b"soun", brand=b"M4A "), "sound", "audio/mp4", ".m4a", 2.0, (640, 480)),
        (webm(element(0x1941A469, SECRET)), "video", "video/webm", ".webm", 3.0, (320, 240)),
        (webm(live=True), "video", "video/webm", ".webm", 3.0, (320, 240)),
        (webm(track=2), "sound", "audio/webm", ".weba", 3.0, (320, 240)),
    ],
)
def test_sound_and_video_are_passed_on_without_what_they_say(
    prepare: Prepare, content: bytes, kind: str, type_: str, suffix: str, seconds: float, size: tuple[int, int]
) -> None:
    made = prepare(content)
    web = by_role(made)["web"]
    assert (made.kind, made.type, made.seconds, (made.width, made.height)) == (kind, type_, seconds, size)
    assert (web.type, web.suffix, web.path.suffix) == (type_, suffix, suffix)
    passed_on = web.path.read_bytes()
    assert b"script" not in passed_on and b"52.52" not in passed_on and b"where it was made" not in passed_on
    again = prepare(passed_on)  # it is still what it was, and nothing is left to remove
    assert (again.type, again.seconds, by_role(again)["web"].sha256) == (type_, seconds, web.sha256)


def test_the_sound_itself_is_not_touched(prepare: Prepare) -> None:
    content = wav(1.0, chunk(b"bext", SECRET))
    with wave.open(io.BytesIO(by_role(prepare(content))["web"].path.read_bytes())) as file:
        assert (file.getframerate(), file.getnframes(), file.readframes(9000)) == (8000, 8000, bytes(16_000))
    assert by_role(prepare(id3(SECRET) + mp3(9) + bytes(100)))["web"].path.read_bytes() == mp3(9)
    film, web_film = mp4(texts=SECRET), by_role(prepare(mp4(texts=SECRET)))["web"].path.read_bytes()
    assert len(web_film) == len(film) and web_film[film.index(b"mdat") :] == film[film.index(b"mdat") :]
    live = webm()
    assert len(by_role(prepare(live))["web"].path.read_bytes()) == len(live)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (wav() + TAIL, "The WAV file contains extra data after its end"),
        (mp3() + TAIL, "The MP3 file contains extra data after its end"),
        (mp3() + b"<html>" + SECRET * 100, "The MP3 file contains extra data after its end"),
        (flac() + TAIL, "The FLAC file contains extra data after its end"),
        (ogg() + TAIL, "The Ogg file contains extra data after its end"),
        (mp4() + TAIL, "The MP4 file contains extra data after its end"),
        (mp4(box(b"html", SECRET)), "The MP4 file contains extra data after its end"),
        (webm() + TAIL, "The WebM file contains extra data after its end"),
        (webm(live=True) + TAIL, "The WebM file is damaged or incomplete."),
        (wav()[:-100], "The WAV file is damaged or incomplete."),
        (mp3(2), "The MP3 file is damaged or incomplete."),
        (b"\xff\xfb\x90\x00" + SECRET * 100, "The MP3 file is damaged or incomplete."),
        (flac()[:20], "The FLAC file is damaged or incomplete."),
        (ogg()[:-100], "The Ogg file is damaged or incomplete."),
        (mp4()[:-100], "The MP4 file is damaged or incomplete."),
        (box(b"ftyp", b"isom0000") + box(b"mdat", SECRET), "The MP4 file is damaged or incomplete."),
        (webm()[:-100], "The WebM file is damaged or incomplete."),
        (mp4(handler=b"text"), "The MP4 file has neither sound nor video."),
        (webm(track=17), "The WebM file has neither sound nor video."),
        (webm(kind=b"matroska"), "Matroska"),
        (ogg(b"unknown"), "This form of Ogg is not supported."),
        (ogg_page(b"\x01vorbis" + bytes(30)), "Ogg file is damaged"),  # a stream that never began
        (b"ID3\3\0\0\x7f\x7f\x7f\x7f" + SECRET, "The MP3 file is damaged or incomplete."),
        (b"\0\0\0\x01ftypisom" + b"\xff" * 8, "The MP4 file is damaged or incomplete."),
        (b"\x1aE\xdf\xa3" + b"\xff" * 50, "The WebM file is damaged or incomplete."),
    ],
)
def test_hostile_and_damaged_files_are_refused_with_a_sentence(prepare: Prepare, content: bytes, why: str) -> None:
    sentence = prepare.why(content)
    assert why in sentence, sentence
    assert "script" not in sentence
