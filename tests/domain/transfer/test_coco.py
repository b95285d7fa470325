"""Files of COCO: a row for each picture, with its marks as questions suggest them, and back again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.checks.shows import shows

from crowdd.features.exports.annotations.annotation_format import Answer, Asked
from crowdd.features.exports.annotations.registry import annotation_formats
from crowdd.features.imports.files import Dialect, detect, read_rows
from crowdd.features.imports.prepared.process import prepare
from crowdd.kernel.errors import InvalidValueError
from crowdd.kinds.questions.suggested import suggestion_schema, usable

FORMAT = Dialect("coco")
LABELS = [{"value": one, "text": one} for one in ("fox", "owl")]
QUESTIONS = {
    name: {"name": name, "type": type_, "text": "?", "on": "photo", "labels": LABELS}
    for name, type_ in (("boxes", "box"), ("areas", "polygon"), ("points", "point"))
}


def rows_of(path: Path, document: Any) -> list[Any]:
    (file := path / "instances.json").write_text(document if isinstance(document, str) else json.dumps(document))
    assert detect(file) == FORMAT
    with prepare(file, FORMAT).open("rb") as rows:
        return [row.values or row.error for row in read_rows(FORMAT, rows)]


@shows("import-coco")
def test_each_picture_is_a_row_with_marks_that_can_be_suggested(tmp_path: Path) -> None:
    document = {
        "info": {"year": 2024},
        "categories": [{"id": 5, "name": "fox"}, {"id": 6, "name": "owl"}],
        "images": [
            {"id": 1, "file_name": "a.jpg", "width": 640, "height": 480},
            {"id": 2, "file_name": "b.jpg", "coco_url": "https://example.org/b.jpg"},
        ],
        "annotations": [
            {"id": 1, "image_id": 1, "category_id": 5, "bbox": [1, 2, 30, 40]},
            {"id": 2, "image_id": 1, "category_id": 6, "bbox": [0, 0, 9, 9], "segmentation": [[0, 0, 9, 0, 9, 9]]},
            {"id": 3, "image_id": 1, "category_id": 5, "bbox": [], "segmentation": {"counts": "x", "size": [1, 1]}},
            {"id": 4, "image_id": 2, "category_id": 6, "keypoints": [7, 8, 2], "bbox": [7, 8, 0, 0]},
            {"id": 5, "image_id": [], "bbox": [1, 2, 3, 4]},
            "nonsense",
        ],
    }
    first, second = rows_of(tmp_path, document)
    assert first == {
        "url": "a.jpg",
        "width": 640,
        "height": 480,
        "boxes": [{"x": 1, "y": 2, "width": 30, "height": 40, "label": "fox"}],
        "areas": [{"points": [[0, 0], [9, 0], [9, 9]], "label": "owl"}],
    }
    assert second == {"url": "https://example.org/b.jpg", "points": [{"x": 7, "y": 8, "label": "owl"}]}
    for name, question in QUESTIONS.items():
        for row in (first, second):
            assert name not in row or usable(suggestion_schema(question), row[name]) == row[name]


@shows("import-coco")
def test_what_leaves_as_coco_comes_back_as_it_was(tmp_path: Path) -> None:
    answers = {
        "boxes": [{"x": 1.5, "y": 2, "width": 30, "height": 40, "label": "fox"}],
        "areas": [{"points": [[0, 0], [9, 0], [9, 9]], "label": "owl"}],
        "points": [{"x": 7, "y": 8, "label": "fox"}, {"x": 1, "y": 1, "label": "owl"}],
    }
    media = [{"name": "photo", "type": "picture", "source": {"column": "url"}, "description": "A photo"}]
    steps = [{"name": "look", "media": media, "questions": list(QUESTIONS.values())}]
    task = {"url": "a.jpg", "width": 640, "height": 480}
    writer = annotation_formats()["coco"].writer(Asked.of({"version": 1, "steps": steps}))
    answer = Answer.of({"task_id": 7, "by": "", "said": answers, "task": task})
    content = b"".join([writer.begin(), writer.add(answer), *writer.end()]).decode()
    assert rows_of(tmp_path, content) == [{**task, **answers}]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"images": [{"file_name": "a"}\n', "not JSON"),
        ('{"annotations": [{"image_id": 1}],\n"images": {}}', "no list of images"),
    ],
)
def test_what_is_none_is_refused_with_a_sentence(tmp_path: Path, content: str, words: str) -> None:
    (file := tmp_path / "x.json").write_text(content)
    with pytest.raises(InvalidValueError, match=words):
        prepare(file, FORMAT)
