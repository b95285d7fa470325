"""The process for a file: what it may take, what it knows, and what the server believes of it."""

import json
import os
import signal
from pathlib import Path

import pytest
from domain.media.preparing import Prepare
from support.media_files import blank_png, picture

from crowdd.features.media import preparation
from crowdd.features.media.preparation import Helper
from crowdd.kernel.errors import InvalidValueError

COSTLY = "The file is damaged, or reading it takes too much memory or time."


def test_limits_of_time_end_the_process(prepare: Prepare, monkeypatch: pytest.MonkeyPatch) -> None:
    content = picture("TIFF", (3000, 2000), save_all=True, append_images=[], compression="tiff_deflate")
    monkeypatch.setattr(preparation, "MAX_SECONDS", 0.01)
    assert prepare.why(content) == COSTLY


SEE = """
import json, os, resource, sys
def see(event, arguments):
    if event == "open" and str(arguments[0]).endswith("result.json"):
        names = ("RLIMIT_AS", "RLIMIT_CPU", "RLIMIT_FSIZE", "RLIMIT_NOFILE", "RLIMIT_CORE")
        limits = {name: resource.getrlimit(getattr(resource, name)) for name in names}
        streams = [os.readlink(f"/proc/self/fd/{number}") for number in (0, 1, 2)]
        seen = [sorted(os.environ), limits, os.nice(0), streams, os.getpid(), os.getppid()]
        os.write(os.open(PLACE, os.O_CREAT | os.O_APPEND | os.O_WRONLY), json.dumps(seen).encode() + b"\\n")
sys.addaudithook(see)
"""


def test_each_file_has_a_limited_process_that_knows_no_secrets(
    prepare: Prepare, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python runs a module of this name at its start."""
    seen, folder = prepare.folder / "seen", prepare.folder / "path"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(f"PLACE = {str(seen)!r}\n{SEE}")
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.setenv("CROWDD_MEDIA_S3_SECRET_KEY", "secret")
    alone = Prepare(prepare.folder, Helper())
    for _ in range(2):
        alone(picture())
    alone.helper.end()
    (names, limits, niceness, streams, first, parent), (*_, second, same) = map(
        json.loads, seen.read_text().split("\n")[:2]
    )
    assert not [name for name in names if name.startswith("CROWDD")] and "HOME" not in names
    assert limits["RLIMIT_AS"] == [1_200_000_000] * 2 and limits["RLIMIT_CPU"] == [120, 120] and niceness >= 10
    assert limits["RLIMIT_FSIZE"] == [550_000_000] * 2 and limits["RLIMIT_NOFILE"] == [64, 64]
    assert limits["RLIMIT_CORE"] == [0, 0] and streams == ["/dev/null"] * 3
    assert parent == same and len({first, second, parent}) == 3


def test_a_file_is_prepared_after_one_that_broke_its_process_and_after_the_helper_ended(prepare: Prepare) -> None:
    assert prepare.why(blank_png(19_000, 19_000, rgba=True), max_pixels=10**9) == COSTLY
    assert len(prepare(picture()).files) == 2
    assert prepare.helper._process is not None
    before = prepare.helper._process
    os.kill(before.pid, signal.SIGKILL)
    before.wait()
    assert len(prepare(picture()).files) == 2 and prepare.helper._process is not before


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
        preparation._checked(folder, str(result["name"]), int(str(result["bytes"])))
    assert preparation._checked(folder, "there", 3) == folder / "there"


@pytest.mark.parametrize(
    ("word", "values"), [("nonsense", {}), (None, None), ("pixels", {}), ("pages", {"count": "x", "max": []})]
)
def test_words_that_are_none_become_the_general_sentence(word: object, values: object) -> None:
    assert preparation.refusal_sentence(word, values) == COSTLY


def test_heic_without_its_library_is_refused_with_a_sentence(prepare: Prepare, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = prepare.folder / "path"
    folder.mkdir()
    (folder / "pillow_heif.py").write_text("raise ModuleNotFoundError('pillow_heif')\n")
    monkeypatch.setenv("PYTHONPATH", str(folder))
    alone = Prepare(prepare.folder, Helper())
    content = b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + bytes(100)
    assert alone.why(content) == "This server cannot read HEIC pictures. Save them as JPEG."
    alone.helper.end()
    monkeypatch.undo()  # the other one may start only now
    assert prepare.why(content) == "The HEIC file is damaged or incomplete."


def test_pdf_without_its_library_names_the_extra(prepare: Prepare, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = prepare.folder / "path"
    folder.mkdir()
    (folder / "pypdfium2.py").write_text("raise ModuleNotFoundError('pypdfium2')\n")
    monkeypatch.setenv("PYTHONPATH", str(folder))
    alone = Prepare(prepare.folder, Helper())
    assert "pip install 'crowdd[pdf]'" in alone.why(b"%PDF-1.4\n" + bytes(100))
    alone.helper.end()
