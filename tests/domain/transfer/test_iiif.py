"""IIIF documents: what a canvas becomes, which picture is asked for, and damaged documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from support.iiif import canvas, collection, manifest, manifest_2

from crowdd.features.imports.files import Dialect, detect, read_rows
from crowdd.features.imports.prepared.iiif import (
    NoMedia,
    canvases,
    convert_manifest,
    metadata_of,
    picture_of,
    references,
    text_of,
)
from crowdd.kernel.errors import InvalidValueError

AT = "https://example.org/m"
LEVEL_2 = {"id": "https://img.example.org/1", "type": "ImageService3", "profile": "level2"}


def test_a_canvas_of_version_3_becomes_a_row():
    body = {"id": "https://img.example.org/1/full/max/0/default.jpg", "type": "Image", "width": 4000, "height": 3000, "service": [LEVEL_2]}  # fmt: skip
    document = manifest(
        AT, [], items=[canvas(f"{AT}/c", body, metadata=[{"label": {"en": ["Folio"]}, "value": {"en": ["1r"]}}])],
        rights="https://creativecommons.org/publicdomain/mark/1.0/",
        metadata=[{"label": {"en": ["Date"]}, "value": {"none": ["1912", "1913"]}}],
    )  # fmt: skip
    assert [*canvases(document)] == [{
        "picture": "https://img.example.org/1/full/!1600,1600/0/default.jpg", "service": "https://img.example.org/1/info.json",
        "title": "Letters", "label": "p. 1", "manifest": AT, "canvas": f"{AT}/c",
        "rights": "https://creativecommons.org/publicdomain/mark/1.0/", "metadata": {"Date": "1912; 1913", "Folio": "1r"},
    }]  # fmt: skip


def test_a_canvas_of_version_2_becomes_the_same_row():
    service = {"@context": "http://iiif.io/api/image/2/context.json", "@id": "https://img.example.org/2/", "profile": ["http://iiif.io/api/image/2/level1.json"]}  # fmt: skip
    resource = {"@id": "https://x.example.org/2.jpg", "@type": "dctypes:Image", "width": 3000, "height": 4000, "service": service}  # fmt: skip
    document = manifest_2(AT, resource, attribution="<b>City</b> archive", metadata=[{"label": "Date", "value": [
        {"@value": "about 1400", "@language": "en"}, {"@value": "um 1400", "@language": "de"}]}])  # fmt: skip
    assert [*canvases(document)] == [{
        "picture": "https://img.example.org/2/full/,1600/0/default.jpg", "service": "https://img.example.org/2/info.json",
        "title": "Atlas", "label": "f. 1r", "manifest": AT, "canvas": f"{AT}/c", "rights": "City archive",
        "metadata": {"Date": "about 1400"},
    }]  # fmt: skip


@pytest.mark.parametrize(
    ("service", "picture"),
    [
        (None, "P"),
        ({"@id": "S", "profile": "http://example.org/other"}, "P"),
        ({"@id": "S", "profile": "http://library.stanford.edu/iiif/image-api/1.1/conformance.html#level2"}, "S/full/!1600,1600/0/native.jpg"),
        ({"@id": "S", "profile": "http://iiif.io/api/image/2/level0.json"}, "P"),
        ({"@id": "S", "profile": "http://iiif.io/api/image/2/level0.json", "sizes": [{"width": 300, "height": 200}, {"width": 1200, "height": 800}, {"width": 6000, "height": 4000}]}, "S/full/1200,/0/default.jpg"),
        ({"id": "S", "type": "ImageService3", "profile": "level0", "sizes": [{"width": 1200, "height": 800}]}, "S/full/1200,800/0/default.jpg"),
        ({"id": "S", "type": "ImageService3", "profile": "level1"}, "S/full/1600,/0/default.jpg"),
        ({"id": "S", "type": "ImageService3", "profile": "level1", "width": 800, "height": 600}, "S/full/max/0/default.jpg"),
        ({"id": "S", "type": "ImageService2", "profile": "level2", "width": 800, "height": 600}, "S/full/full/0/default.jpg"),
        ({"id": 7, "type": "ImageService2"}, "P"),
    ],
)  # fmt: skip
def test_the_picture_is_asked_for_in_a_size_that_the_service_has(service, picture):
    resource = {"id": "P", "type": "Image", "width": 6000, "height": 4000} | ({"service": service} if service else {})
    assert picture_of(resource)[0] == picture


def test_choices_parts_sounds_and_videos_are_found_and_empty_canvases_told():
    image = {"id": "https://x.example.org/1.jpg", "type": "Image"}
    bodies = [
        {"type": "Choice", "items": [{"type": "SpecificResource", "source": image}, {"id": "no", "type": "Image"}]},
        {"id": "https://x.example.org/1.mp3", "type": "Sound"},
        {"type": "TextualBody", "value": "x"},
        {"type": "Choice", "items": []},
    ]
    rows = [*canvases(manifest(AT, [], items=[canvas(f"{AT}/{n}", body) for n, body in enumerate(bodies)]))]
    assert rows[0]["picture"] == "https://x.example.org/1.jpg" and rows[1]["sound"] == "https://x.example.org/1.mp3"
    assert rows[2:] == [NoMedia(f"{AT}/2"), NoMedia(f"{AT}/3")]


def test_texts_lose_their_markup_and_keep_their_first_language():
    assert text_of({"de": ["Ein <i>Brief</i>"], "en": ["A letter"]}) == "Ein Brief"
    assert text_of("<script>alert(1)</script>Fish &amp; chips") == "Fish & chips"
    assert text_of(None) == text_of({}) == text_of([[["x"]]]) == ""
    assert metadata_of({"metadata": [{"label": "a", "value": 1}, {"label": "a", "value": "2"}, 7, {"value": "x"}]}) == {"a": "1; 2"}  # fmt: skip


def test_a_collection_names_its_documents_in_both_versions():
    assert [*references(collection(AT, ("Manifest", "https://a"), ("Collection", "https://b")))] == [
        "https://a",
        "https://b",
    ]
    old = {"@type": "sc:Collection", "collections": [{"@id": "https://c"}], "manifests": ["https://d", {"no": 1}], "members": [{"@id": "https://e", "@type": "sc:Manifest"}]}  # fmt: skip
    assert [*references(old)] == ["https://c", "https://d", "https://e"]
    assert [*references({**collection(AT), "type": "Manifest"})] == []


def converted(folder: Path, content: bytes) -> list[Any]:
    (folder / "file").write_bytes(content)
    convert_manifest(folder / "file", folder / "rows", {}, "")
    with (folder / "rows").open("rb") as file:
        return [*read_rows(Dialect("iiif"), file)]


@pytest.mark.parametrize(
    "content",
    [
        b"[]", b"{}", b'{"type": 7}', b'{"type": "Canvas"}', b"{", b'"x"', b"\xff\xfe{",
        b'{"type":"Manifest","items":' + b"[" * 5000 + b"]" * 5000 + b"}",
    ],
)  # fmt: skip
def test_what_is_no_document_is_refused_with_a_sentence(tmp_path, content):
    with pytest.raises(InvalidValueError, match=r"not a IIIF manifest or collection|It is not JSON"):
        converted(tmp_path, content)


@pytest.mark.parametrize("value", [None, 7, "x", [7], {"type": "Canvas"}, [{"type": "Canvas", "items": 7}], [[]]])
def test_odd_values_anywhere_in_a_document_raise_nothing(tmp_path, value):
    for document in (manifest(AT, ["https://x"]), manifest_2(AT, {"@type": "dctypes:Image", "@id": "https://x"})):
        for name in [*document]:
            if name not in ("type", "@type"):
                converted(tmp_path, orjson.dumps({**document, name: value}))
    for name in ("label", "items", "images", "service", "metadata", "rights"):
        converted(tmp_path, orjson.dumps(manifest(AT, [], items=[{"type": "Canvas", name: value}])))
        body = {"type": "Image", "id": "https://x", name: value}
        converted(tmp_path, orjson.dumps(manifest(AT, [], items=[canvas(AT, body), canvas(AT, value)])))


def test_a_manifest_is_told_from_rows_of_json(tmp_path):
    file = tmp_path / "m.json"
    file.write_bytes(orjson.dumps(manifest(AT, ["https://x"]), option=orjson.OPT_INDENT_2))
    assert detect(file) == Dialect("iiif")
    file.write_bytes(orjson.dumps(manifest_2(AT, {"@id": "https://x", "@type": "dctypes:Image"})))
    assert detect(file) == Dialect("iiif")
    file.write_bytes(b'{"a": 1}\n{"a": 2}\n')
    assert detect(file).format == "ndjson"
