"""Archives with a table of observations and one of their media: a row for each medium, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.workbooks import zipped

from crowdd.features.imports.files import Dialect, detect, read_rows
from crowdd.features.imports.import_rows import unpack_archive
from crowdd.features.imports.prepared.process import prepare
from crowdd.kernel.errors import InvalidValueError

FORMAT = Dialect("observations")


def rows_of(path: Path, content: bytes) -> list[Any]:
    (file := path / "export.zip").write_bytes(content)
    assert unpack_archive(file, 10**8) == "" and detect(file) == FORMAT
    with prepare(file, FORMAT).open("rb") as rows:
        return ["empty" if row.empty else row.values or row.error for row in read_rows(FORMAT, rows)]


def test_each_medium_is_a_row_with_its_observation(tmp_path):
    observations = '\ufeffid,observed_on,species_guess,license,description\n7,2024-05-01,Fox,CC0,"On a wall,\nat night"\n8,,Owl,,\n9,,Newt,,\n'
    media = "id,observation_id,license,url,file_content_type\n1,7,CC-BY,https://example.org/1/large.jpg,\n2,7,,https://example.org/2.jpg?v=1,\n"
    media += "3,8,,https://example.org/3.mp3,\n4,8,,,\n5,99,,https://example.org/5,audio/wav\n"
    fox = {"observed_on": "2024-05-01", "species_guess": "Fox", "description": "On a wall,\nat night"}
    assert rows_of(tmp_path, zipped({"export/observations-123.csv": observations, "export/photos.csv": media})) == [
        {"picture": "https://example.org/1/large.jpg", "observation_id": "7", **fox, "observation_license": "CC0",
         "id": "1", "license": "CC-BY"},
        {"picture": "https://example.org/2.jpg?v=1", "observation_id": "7", **fox, "observation_license": "CC0", "id": "2"},
        {"sound": "https://example.org/3.mp3", "observation_id": "8", "species_guess": "Owl", "id": "3"},
        "empty",
        {"sound": "https://example.org/5", "observation_id": "99", "file_content_type": "audio/wav", "id": "5"},
    ]  # fmt: skip


def test_open_data_name_their_pictures_by_number_and_ending(tmp_path):
    observations = "observation_uuid\tlatitude\ttaxon_id\nab\t52.5\t3\n"
    photos = "photo_uuid\tphoto_id\tobservation_uuid\textension\nx\t17\tab\tjpeg\ny\t../18\tab\tjpg\n"
    taxa = "taxon_id\tname\n3\tVulpes\n"
    rows = rows_of(tmp_path, zipped({"observations.csv": observations, "photos.csv": photos, "taxa.csv": taxa}))
    assert rows[0]["picture"] == "https://inaturalist-open-data.s3.amazonaws.com/photos/17/medium.jpeg"
    assert (rows[0]["latitude"], rows[0]["observation_uuid"], rows[1]) == ("52.5", "ab", "empty")


@pytest.mark.parametrize(
    ("observations", "media", "words"),
    [
        ("name,x\nFox,1\n", "observation_id,url\n1,u\n", "needs a column that names the observation"),
        ("id,x\n1,2\n", "photo,url\n1,u\n", "needs a column that names the observation"),
        ("id\n1\n", "observation_id,url\n1,u\n", "archive of observations is damaged"),
        (b"\0" * 100, "observation_id,url\n1,u\n", "archive of observations is damaged"),
    ],
)
def test_tables_that_do_not_belong_together_are_refused_with_a_sentence(tmp_path, observations, media, words):
    with pytest.raises(InvalidValueError, match=words):
        rows_of(tmp_path, zipped({"observations.csv": observations, "media.csv": media}))
