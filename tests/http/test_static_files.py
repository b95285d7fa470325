"""The table of static files: versions, packing, and that nothing else can be reached."""

from __future__ import annotations

import gzip
import hashlib
import shutil
from pathlib import Path

import brotli
import pytest
from support.checks.shows import shows

from crowdd.http.html.images import draw_placeholder
from crowdd.http.html.static_files import StaticFiles


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "static"
    (root / "img").mkdir(parents=True)
    (root / "style.css").write_text("p { color: red }\n" * 100)
    (root / "img" / "mark.svg").write_text("<svg/>")
    (root / "img" / "p.webp").write_bytes(b"RIFF" * 400)
    (root / ".secret").write_text("no")
    (tmp_path / "outside.css").write_text("no")
    return root


def test_a_file_is_found_by_its_path_with_type_and_version(folder: Path) -> None:
    files = StaticFiles.read(folder)
    digest = hashlib.sha256((folder / "style.css").read_bytes()).hexdigest()
    file = files.lookup("style.css")
    assert file is not None
    assert (file.content_type, file.version) == ("text/css; charset=utf-8", digest[:8])
    assert files.url("style.css") == f"/static/style.css?v={digest[:8]}"
    picture = files.lookup("img/mark.svg")
    assert picture is not None
    assert picture.content_type == "image/svg+xml"


@pytest.mark.parametrize(
    "path", ["../outside.css", "/style.css", "img/../style.css", "img", "", ".secret", "STYLE.CSS"]
)
def test_nothing_else_is_found(folder: Path, path: str) -> None:
    assert StaticFiles.read(folder).lookup(path) is None


def test_our_comments_are_not_sent_and_those_of_others_are(folder: Path) -> None:
    script = "/* Says hello,\n   twice. */\nconst hello = `http://h`; // once\n  // and again\nhello();\n"
    (folder / "vendor").mkdir()
    for path in ("own.js", "vendor/other.js"):
        (folder / path).write_text(script)
    files = StaticFiles.read(folder)
    own, other = files.lookup("own.js"), files.lookup("vendor/other.js")
    assert own is not None and other is not None
    assert own.body.decode() == files.text("own.js") == "const hello = `http://h`; // once\nhello();\n"
    assert other.body.decode() == script


def test_a_wrong_name_in_a_template_is_an_error(folder: Path) -> None:
    with pytest.raises(KeyError):
        StaticFiles.read(folder).url("styel.css")


def test_text_is_packed_the_same_way_each_time_and_pictures_are_not(folder: Path) -> None:
    first, second = (StaticFiles.read(folder).lookup("style.css") for _ in range(2))
    assert first is not None
    assert second is not None
    assert gzip.decompress(first.packed["gzip"]) == first.body
    assert first.packed == second.packed
    assert first.etag() != first.etag("gzip")
    for path in ("img/p.webp", "img/mark.svg"):
        small = StaticFiles.read(folder).lookup(path)
        assert small is not None
        assert small.packed == {}


@shows("format-brotli")
def test_brotli_is_made_once_and_kept_for_the_same_content(folder: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    made = StaticFiles.read(folder)
    file = made.lookup("style.css")
    assert file is not None and file.coding("br, gzip") == "gzip", "it is made in a thread, once the server serves"
    made.pack()
    assert brotli.decompress(file.packed["br"]) == file.body
    assert [file.coding(accepted) for accepted in ("br, gzip", "gzip", "br;q=0.1, gzip", "br", "", "*")] == [
        "br", "gzip", "gzip", "br", "", "gzip",
    ]  # fmt: skip
    assert len({file.etag(), file.etag("gzip"), file.etag("br")}) == 3
    (cached,) = (folder / "__pycache__").iterdir()

    again = StaticFiles.read(folder).lookup("style.css")
    assert again is not None and again.packed == file.packed
    assert StaticFiles.read(folder).lookup(f"__pycache__/{cached.name}") is None, "what is kept is no file of the site"

    (folder / "style.css").write_text("p { color: blue }\n" * 100)
    changed = StaticFiles.read(folder)
    changed.pack()
    (other,) = (folder / "__pycache__").iterdir()
    assert other.name != cached.name, "what belongs to no file is removed"

    shutil.rmtree(folder / "__pycache__")
    (folder / "__pycache__").write_text("a file where the folder would be")
    data = tmp_path / "data"
    data.mkdir()
    StaticFiles.read(folder, data=data).pack()
    assert [path.name for path in (data / "static").iterdir()] == [other.name]
    StaticFiles.read(folder).pack()


def test_no_further_file_is_compressed_once_the_server_ends(folder: Path, tmp_path: Path) -> None:
    for name in ("a.js", "b.js", "c.js"):
        (folder / name).write_text(f"use('{name}');\n" * 100)
    data, answers = tmp_path / "data", iter((True, False))
    data.mkdir()
    StaticFiles.read(folder, data=data).pack(lambda: next(answers))
    assert len([*data.rglob("*.br"), *folder.rglob("*.br")]) == 1


def test_only_the_address_that_names_the_content_may_be_kept(folder: Path) -> None:
    file = StaticFiles.read(folder).lookup("style.css")
    assert file is not None
    assert "immutable" in file.cache_control(file.version)
    assert file.cache_control("00000000") == file.cache_control() == "no-cache"


def test_a_changed_file_has_another_version(folder: Path) -> None:
    before = StaticFiles.read(folder).url("style.css")
    (folder / "style.css").write_text("p { color: blue }\n")
    assert StaticFiles.read(folder).url("style.css") != before


def test_our_own_files_are_there_and_the_style_is_small() -> None:
    files = StaticFiles.read()
    style = files.lookup("style.css")
    assert style is not None
    assert len(style.packed["gzip"]) < 10_000
    assert files.lookup("ui.js") is not None
    assert files.lookup("img/mark.svg") is not None


def test_a_drawing_depends_on_the_name_alone() -> None:
    names = [f"Project {number}" for number in range(60)]
    first = {name: draw_placeholder.__wrapped__(name) for name in names}
    assert first == {name: draw_placeholder.__wrapped__(name) for name in names}
    assert len({*first.values()}) == len(names)
    assert max(len(picture) for picture in first.values()) < 2_000


def test_the_drawing_of_a_known_name_stays() -> None:
    picture = draw_placeholder("Who walks through the night gate")
    assert hashlib.sha256(picture.encode()).hexdigest()[:16] == "1d0fda4a7de22b2c"


def test_nothing_of_the_name_is_in_a_drawing() -> None:
    assert "script" not in draw_placeholder("<script>alert(1)</script>")
