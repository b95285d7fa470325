"""Posters: any script, long names, pictures, bounded time and size; and the fonts that we ship."""

from __future__ import annotations

import contextlib
import hashlib
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from PIL import Image

from crowdd.features.projects import poster_drawing, posters
from crowdd.features.projects.poster_drawing import MAX_CHARACTERS, OURS, Poster, draw, fonts_for, reads_right_to_left
from crowdd.kernel.errors import InvalidValueError

ADDRESS = "https://crowd.example/project/night/"
ARABIC = "من يعبر بوابة الليل؟"


def poster(name: str = "Night gate", sentence: str = "Who comes through?", **more: str | None) -> Poster:
    words = {"call": "Scan the code", "link": "crowd.example/project/night", "site": "Museum", "address": ADDRESS}
    return Poster(name=name, sentence=sentence, **(words | more))


def pages_of(pdf: bytes) -> int:
    return len(re.findall(rb"/Type /Page\b", pdf))


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("Night gate", "Who comes through?"),
        (ARABIC, ARABIC),
        ("Ναι · Да · כן", "Ž"),
        ("W" * 5000, "many words " * 500),
        ("", ""),
    ],
)
def test_it_is_one_page_of_a4_with_a_link(name, sentence):
    pdf = draw(poster(name, sentence))
    assert pdf.startswith(b"%PDF") and pages_of(pdf) == 1 and b"[0 0 595.28 841.89]" in pdf
    assert ADDRESS.encode() in pdf and len(pdf) < 400_000


def test_other_accounts_of_the_machine_do_not_read_its_texts():
    """They see the arguments of each process (``ps``)."""
    with ThreadPoolExecutor(1) as pool:
        drawn, seen = pool.submit(posters.draw_poster, poster("Hidden heron")), set()
        while not drawn.done():
            seen |= {words for words in arguments() if "poster_program" in words}
    assert pages_of(drawn.result()) == 1 and seen and not [words for words in seen if "heron" in words]


def arguments():
    """The arguments of each process of the machine."""
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            yield file.read_bytes().decode("utf-8", "replace")


def test_the_picture_is_on_it(tmp_path):
    path = tmp_path / "thumbnail.webp"
    Image.effect_noise((720, 480), 60).convert("RGB").save(path)
    assert b"/Image" in posters.draw_poster(poster(picture=str(path))) and b"/Subtype /Image" not in draw(poster())


def test_letters_without_a_font_are_named_and_emoji_left_out(tmp_path):
    """Private folders stand for a machine without further fonts."""
    chosen = fonts_for(["Fuchs 狐 🦊"], [tmp_path])
    assert (chosen.missing, chosen.unprinted, chosen.more) == ({"狐"}, {"🦊"}, ())
    assert pages_of(draw(poster("Fuchs 🦊").without(chosen.unprinted))) == 1
    with pytest.raises(InvalidValueError, match="letters: \U00010570\U00010571\\. Print"):
        posters.draw_poster(poster("\U00010571 \U00010570"))  # Vithkuqi, which hardly a font has


def test_fonts_of_the_machine_are_used_for_other_scripts():
    installed = fonts_for(["谁在夜里"])
    if installed.missing:
        pytest.skip("No font with Chinese letters is installed: apt-get install fonts-droid-fallback")
    assert installed.more and not set(installed.more) & {poster_drawing.REGULAR_FONT, poster_drawing.BOLD_FONT}
    plain, with_chinese = draw(poster("Night")), posters.draw_poster(poster("谁在夜里穿过大门"))
    assert with_chinese.count(b"/FontFile2") + with_chinese.count(b"/FontFile3") > plain.count(b"/FontFile2")


def test_files_that_are_no_fonts_are_passed_over(tmp_path):
    (tmp_path / "broken.ttf").write_bytes(b"\0\1\0\0" + b"\xff" * 200)
    (tmp_path / "empty.otf").touch()
    assert fonts_for(["狐"], [tmp_path]).missing == {"狐"}


def test_without_its_libraries_the_extra_is_named(tmp_path, monkeypatch):
    (tmp_path / "fpdf.py").write_text("raise ModuleNotFoundError('fpdf')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(InvalidValueError, match=r"pip install 'crowdd\[posters\]'"):
        posters.draw_poster(poster())


def test_texts_are_one_line_of_bounded_length_without_hidden_characters():
    made = poster("a\n\tb\u202ec" + "x" * 1000, "\0")
    assert made.name.startswith("a bcx") and len(made.name) == MAX_CHARACTERS and made.name.endswith("…")
    assert made.sentence == ""
    assert reads_right_to_left("(2026) " + ARABIC) and not reads_right_to_left("Night " + ARABIC)


def test_the_fonts_are_those_of_their_package():
    table = (OURS / "README.md").read_text("utf-8")
    digests = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in OURS.iterdir() if path.suffix != ".md"
    }
    assert all(f"| `{name}` | `{digest}` |" in table for name, digest in digests.items()) and len(digests) == 3
