"""ZIP archives: what is unpacked, and what is refused of hostile ones."""

import io
import struct
import warnings
import zipfile

import pytest
from domain.media.preparing import Prepare
from support.media_files import picture, zipped


def entry(name: str, **attributes: int) -> zipfile.ZipInfo:
    made = zipfile.ZipInfo(name)
    for attribute, value in attributes.items():
        setattr(made, attribute, value)
    return made


def test_files_of_an_archive_are_unpacked_under_other_names(prepare: Prepare) -> None:
    files = {"trip/Übersicht.jpg": picture(), "trip/b.jpg": picture(size=(20, 20)), "trip/b.png": b"", "trip/": b""}
    rubbish = {"__MACOSX/trip/._b.jpg": b"x", "trip/.DS_Store": b"x", "Thumbs.db": b"x", "trip/._c": b"x"}
    made = prepare.unpack(zipped(files | rubbish))
    assert [each.name for each in made.members] == ["trip/Übersicht.jpg", "trip/b.jpg", "trip/b.png"]
    assert [each.path.read_bytes() for each in made.members] == [*files.values()][:3]
    assert [each.bytes for each in made.members] == [len(each) for each in files.values()][:3]
    assert (made.skipped, made.refused) == (4, ()) and {each.path.name for each in made.members} == {
        "00001",
        "00002",
        "00003",
    }


def test_names_of_macos_are_read_as_utf_8(prepare: Prepare) -> None:
    content = zipped({"Uebersicht-XX.jpg": b"1"}).replace(b"XX", "ü".encode())
    assert [each.name for each in prepare.unpack(content).members] == ["Uebersicht-ü.jpg"]


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "/etc/passwd", "a/../../b.jpg", "C:\\x.jpg", "..\\x.jpg", "a\x1b[2J.jpg", "n" * 600]
)
def test_paths_that_lead_elsewhere_are_refused_and_the_rest_is_unpacked(prepare: Prepare, name: str) -> None:
    made = prepare.unpack(zipped({name: b"bad", "good.jpg": b"good"}))
    assert [each.name for each in made.members] == ["good.jpg"]
    assert [each.reason for each in made.refused] == ["Its path in the archive is not allowed."]
    assert "\x1b" not in made.refused[0].name and len(made.refused[0].name) <= 500
    assert {path.parent.name for path in prepare.folder.rglob("*") if path.is_file()} == {"prepared", "0.made"}


def test_links_archives_and_bombs_are_refused_one_by_one(prepare: Prepare) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(entry("link", external_attr=0o120777 << 16), "/etc/passwd")
        archive.writestr("inner.zip", zipped({"a": b"b"}))
        archive.writestr("bomb.png", bytes(5_000_000))
        archive.writestr("good.jpg", b"good")
    locked = bytearray(zipped({"locked": b"secret"}))
    locked[6] |= 1
    locked[locked.index(b"PK\1\2") + 8] |= 1
    made = prepare.unpack(out.getvalue())
    assert [each.name for each in made.members] == ["good.jpg"]
    assert [(each.name, each.reason.split()[0:4]) for each in made.refused] == [
        ("link", ["It", "is", "a", "link"]),
        ("inner.zip", ["Archives", "inside", "an", "archive"]),
        ("bomb.png", ["It", "is", "compressed", "far"]),
    ]
    assert "password" in prepare.unpack(bytes(locked)).refused[0].reason


def test_a_damaged_member_is_refused_and_the_rest_is_unpacked(prepare: Prepare) -> None:
    content = bytearray(zipped({"bad.jpg": b"b" * 100, "good.jpg": b"good"}, zipfile.ZIP_STORED))
    content[content.index(b"bbbb")] = 0
    made = prepare.unpack(bytes(content))
    assert [(each.name, each.path.read_bytes()) for each in made.members] == [("good.jpg", b"good")]
    assert [each.name for each in made.refused] == ["bad.jpg"] and "damaged" in made.refused[0].reason


def understated(content: bytes, stated: int) -> bytes:
    """An archive whose directory says that its file has fewer bytes."""
    directory = content.index(b"PK\1\2")
    return (
        content[:22]
        + struct.pack("<I", stated)
        + content[26 : directory + 24]
        + struct.pack("<I", stated)
        + content[directory + 28 :]
    )


def overlapping() -> bytes:
    """An archive in which two names share their packed data."""
    content = zipped({"a": b"x" * 1000}, zipfile.ZIP_STORED)
    directory, end = content.index(b"PK\1\2"), content.index(b"PK\5\6")
    record = content[directory:end]
    counts = struct.pack("<HHII", 2, 2, 2 * len(record), directory)
    return content[:end] + record + content[end : end + 8] + counts + b"\0\0"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (zipped({str(number): b"x" for number in range(6)}), "The archive has 6 files. The limit is 5."),
        (zipped({"a": b"a" * 600_000, "b": b"b" * 600_000}), "The files in the archive take 2 MB. The limit is 1 MB."),
        (overlapping(), "Files in the archive overlap."),
        (b"PK\3\4" + b"\0" * 100, "The ZIP file is damaged or incomplete."),
        (zipped({"a": b"a"})[:-10], "The ZIP file is damaged or incomplete."),
        (b"%PDF-1.4", "The ZIP file is damaged or incomplete."),
    ],
    ids=["many", "large", "overlapping", "damaged", "cut", "another format"],
)
def test_archives_that_are_refused_as_a_whole(prepare: Prepare, content: bytes, why: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert prepare.why_not_unpacked(content, max_files=5, max_bytes=1_000_000).startswith(why)


def test_no_more_is_unpacked_than_the_directory_states(prepare: Prepare) -> None:
    made = prepare.unpack(understated(zipped({"a": b"a" * 900_000}), 10), max_bytes=1000)
    assert made.members == () and "damaged" in made.refused[0].reason
    assert sum(path.stat().st_size for path in prepare.folder.glob("*.made/0*")) <= 1000
