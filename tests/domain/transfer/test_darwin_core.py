"""Darwin Core archives: a row for each medium with its occurrence, and hostile ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.darwin_core import archive, described
from support.workbooks import zipped

from crowdd.features.imports.files import Dialect, detect, read_rows
from crowdd.features.imports.import_rows import unpack_archive
from crowdd.features.imports.prepared import biodiversity
from crowdd.features.imports.prepared.process import prepare
from crowdd.kernel.errors import CrowddError, InvalidValueError

FORMAT = Dialect("dwca")
CORE, MEDIA = "scientificName eventDate institutionCode", "type identifier title license"
OCCURRENCES = [["1", "Vulpes vulpes", "2024-02-29", "NHM"], ["2", 'Strix "aluco"', "", "NHM"], ["3", "Bufo", "", "NHM"]]
RECORDS = [
    ["1", "StillImage", "https://example.org/1.jpg", "At night", "CC0"],
    ["1", "StillImage", "https://example.org/2.jpg", "", ""],
    ["2", "Sound", "https://example.org/3.mp3", "", ""],
    ["2", "StillImage", "", "no address", ""],
    ["9", "MovingImage", "https://example.org/4.mp4", "", ""],
]


def kept(folder: Path, content: bytes) -> Path:
    path = folder / "archive"
    path.write_bytes(content)
    return path


def rows_of(path: Path) -> list[Any]:
    assert unpack_archive(path, 10**8) == "" and detect(path) == FORMAT
    with prepare(path, FORMAT).open("rb") as file:
        return [(r.number, "empty" if r.empty else r.values or r.error) for r in read_rows(FORMAT, file)]


def test_each_medium_is_a_row_with_its_occurrence(tmp_path):
    assert rows_of(kept(tmp_path, archive(CORE, OCCURRENCES, MEDIA, RECORDS))) == [
        (1, {"picture": "https://example.org/1.jpg", "scientificName": "Vulpes vulpes", "eventDate": "2024-02-29",
             "type": "StillImage", "title": "At night", "license": "CC0"}),
        (2, {"picture": "https://example.org/2.jpg", "scientificName": "Vulpes vulpes", "eventDate": "2024-02-29", "type": "StillImage"}),
        (3, {"sound": "https://example.org/3.mp3", "scientificName": 'Strix "aluco"', "type": "Sound"}),
        (4, "empty"),
        (5, {"video": "https://example.org/4.mp4", "type": "MovingImage"}),
    ]  # fmt: skip


def test_without_media_each_occurrence_is_a_row(tmp_path):
    rows = rows_of(kept(tmp_path, archive(CORE, [*OCCURRENCES[:1], ["2", "", "", ""]])))
    fox = {"scientificName": "Vulpes vulpes", "eventDate": "2024-02-29", "institutionCode": "NHM"}
    assert rows == [(1, fox), (2, "empty")]


BOMB = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x "xxxx"><!ENTITY y "&x;&x;">]><archive>&y;'
OUTSIDE = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><archive>&x;'


@pytest.mark.parametrize(
    "members",
    [
        {"meta.xml": "<archive"}, {"meta.xml": "<archive/>"}, {"meta.xml": described(CORE)}, {"meta.xml": b"\xff\xfe\x00"},
        {"meta.xml": described(CORE, head=BOMB), "occurrence.txt": "1\tx\n"},
        {"meta.xml": described(CORE, head=OUTSIDE), "occurrence.txt": "1\tx\n"},
        {"meta.xml": described(CORE).replace("occurrence.txt", "../../etc/passwd"), "occurrence.txt": "1\tx\n"},
        {"meta.xml": described(CORE).replace("UTF-8", "no-such"), "occurrence.txt": "1\tx\n"},
        {"meta.xml": described(CORE).replace('"\\t"', '"ab"'), "occurrence.txt": "1\tx\n"},
        {"meta.xml": " " * 2_000_000 + described(CORE), "occurrence.txt": "1\tx\n"},
    ],
)  # fmt: skip
def test_damaged_and_hostile_archives_are_refused_with_a_sentence(tmp_path, members):
    path = kept(tmp_path, zipped(members, 0))
    with pytest.raises(InvalidValueError, match="Darwin Core archive is damaged") as error:
        rows_of(path)
    assert "root:" not in str(error.value) and [each.name for each in tmp_path.iterdir()] == ["archive"]


def test_sizes_are_bounded(tmp_path, monkeypatch):
    bomb = zipped({"meta.xml": described(CORE), "occurrence.txt": "1\t" + "x" * 20_000_000})
    with pytest.raises(CrowddError, match="unpacks to 20,"):
        detect(kept(tmp_path, bomb))
    path = kept(tmp_path, archive(CORE, OCCURRENCES, MEDIA, RECORDS))
    monkeypatch.setattr(biodiversity, "MAX_ROWS", 3)
    with pytest.raises(InvalidValueError, match="more than 3 rows"):
        biodiversity.convert_darwin_core(path, tmp_path / "rows", {}, "")
    monkeypatch.setattr(biodiversity, "MAX_KEPT", 10)
    with pytest.raises(InvalidValueError, match="too many occurrences"):
        biodiversity.convert_darwin_core(path, tmp_path / "rows", {}, "")
