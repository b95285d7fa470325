"""The process for a file: what it may take, what it knows, and what the server believes of it."""

import json
from pathlib import Path

import pytest
from domain.media.preparing import Prepare
from support.media_files import picture

from crowdd.domain.media.preparation import process
from crowdd.errors import InvalidValueError

COSTLY = "The file is damaged, or reading it takes too much memory or time."


def test_a_picture_that_takes_too_much_memory_is_refused(prepare: Prepare) -> None:
    assert prepare.why(picture("PNG", (19_000, 19_000), "RGBA", compress_level=1), max_pixels=10**9) == COSTLY


def test_limits_of_time_end_the_process(prepare: Prepare, monkeypatch: pytest.MonkeyPatch) -> None:
    content = picture("TIFF", (3000, 2000), save_all=True, append_images=[], compression="tiff_deflate")
    monkeypatch.setattr(process, "MAX_SECONDS", 0.01)
    assert prepare.why(content) == COSTLY


def test_the_process_knows_no_secrets_and_is_limited(prepare: Prepare, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python runs a module of this name at its start."""
    seen, folder = prepare.folder / "seen", prepare.folder / "path"
    folder.mkdir()
    words = (
        "import atexit, json, os, resource\n"
        "def see():\n"
        "    names = ('RLIMIT_AS', 'RLIMIT_CPU', 'RLIMIT_FSIZE', 'RLIMIT_NOFILE', 'RLIMIT_CORE')\n"
        "    limits = {name: resource.getrlimit(getattr(resource, name)) for name in names}\n"
        f"    open({str(seen)!r}, 'w').write(json.dumps([sorted(os.environ), limits, os.nice(0)]))\n"
        "atexit.register(see)\n"
    )
    (folder / "sitecustomize.py").write_text(words)
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.setenv("CROWDD_MEDIA_S3_SECRET_KEY", "secret")
    prepare(picture())
    names, limits, niceness = json.loads(seen.read_text())
    assert not [name for name in names if name.startswith("CROWDD")] and "HOME" not in names
    assert limits["RLIMIT_AS"] == [1_200_000_000] * 2 and limits["RLIMIT_CPU"] == [120, 120] and niceness >= 10
    assert limits["RLIMIT_FSIZE"] == [550_000_000] * 2 and limits["RLIMIT_NOFILE"] == [64, 64]
    assert limits["RLIMIT_CORE"] == [0, 0]


@pytest.mark.parametrize(
    "result",
    [
        {"name": "../0.source", "bytes": 3},
        {"name": "link", "bytes": 3},
        {"name": "there", "bytes": 4},
        {"name": "/etc/passwd", "bytes": 3},
        {"name": "missing", "bytes": 3},
    ],
)
def test_files_that_the_process_cannot_have_made_are_not_believed(tmp_path: Path, result: dict[str, object]) -> None:
    folder = tmp_path / "made"
    folder.mkdir()
    (tmp_path / "0.source").write_bytes(b"abc")
    (folder / "there").write_bytes(b"abc")
    (folder / "link").symlink_to(folder / "there")
    with pytest.raises((InvalidValueError, FileNotFoundError)):
        process._checked(folder, str(result["name"]), int(str(result["bytes"])))
    assert process._checked(folder, "there", 3) == folder / "there"


@pytest.mark.parametrize(
    ("word", "values"), [("nonsense", {}), (None, None), ("pixels", {}), ("pages", {"count": "x", "max": []})]
)
def test_words_that_are_none_become_the_general_sentence(word: object, values: object) -> None:
    assert process.sentence(word, values) == COSTLY


def test_heic_without_its_library_is_refused_with_a_sentence(prepare: Prepare, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = prepare.folder / "path"
    folder.mkdir()
    (folder / "pillow_heif.py").write_text("raise ModuleNotFoundError('pillow_heif')\n")
    monkeypatch.setenv("PYTHONPATH", str(folder))
    content = b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + bytes(100)
    assert prepare.why(content) == "This server cannot read HEIC pictures. Save them as JPEG."
    monkeypatch.delenv("PYTHONPATH")
    assert prepare.why(content) == "The HEIC file is damaged or incomplete."
