"""Answers in the formats of other programs: what each holds is there, and nothing that volunteers must not see."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterable
from typing import Any
from xml.etree import ElementTree

import pytest
import pytest_twisted
from support.checks.shows import shows

from crowdd.features.exports.annotations.annotation_format import Answer, Asked
from crowdd.features.exports.annotations.registry import annotation_formats
from crowdd.features.exports.annotations.zip_files import ZipFiles

BOX = {"x": 10, "y": 20, "width": 100, "height": 50, "label": "fox"}
SQUARE = [[0, 0], [10, 0], [10, 10], [0, 10]]
LABELS = [{"value": one, "text": one.title()} for one in ("fox", "owl")]
MEDIA = [
    {"name": "photo", "type": "picture", "source": {"column": "url"}, "description": "A photo"},
    {"name": "letter", "type": "text", "source": {"column": "words"}, "description": "A letter"},
    {"name": "call", "type": "sound", "source": {"column": "sound"}, "description": "A call"},
]
QUESTIONS = [
    {"name": "boxes", "type": "box", "on": "photo", "labels": LABELS},
    {"name": "spots", "type": "point", "on": "photo"},
    {"name": "areas", "type": "polygon", "on": "photo"},
    {"name": "names", "type": "text_spans", "on": "letter", "labels": [{"value": "person", "text": "Person"}]},
    {"name": "calls", "type": "sound_segments", "on": "call"},
    {"name": "kind", "type": "single_choice", "choices": LABELS},
    {"name": "note", "type": "short_text"},
]
DOCUMENT = {
    "version": 1,
    "steps": [{"name": "look", "media": MEDIA, "questions": [{**one, "text": "?"} for one in QUESTIONS]}],
}
TASK = {"url": "/a & b.jpg", "words": "Ada 😀 wrote", "sound": "/s.wav", "width": 200, "height": "100", "duration": 9}
FRAGMENT = {"selector": {"type": "FragmentSelector"}}
SAID = {
    "boxes": [{**BOX, **FRAGMENT}, {**BOX, "label": "owl", "x": 50, **FRAGMENT}],
    "spots": [{"x": 5, "y": 6, **FRAGMENT}],
    "areas": [{"points": SQUARE, "selector": {"type": "SvgSelector"}}],
    "names": [{"start": 0, "end": 3, "text": "Ada", "label": "person", "selector": {"type": "TextPositionSelector"}}],
    "calls": [{"start": 1, "end": 2.5, **FRAGMENT}, {"start": 2, "end": 3, **FRAGMENT}],
    "kind": "fox",
    "note": "two of them",
}


def written(name: str, answers: Iterable[Any] = (), document: Any = DOCUMENT) -> bytes:
    made = annotation_formats()[name]
    writer = made.writer([one for one in Asked.of(document) if one.type in made.types])
    parts = [writer.begin(), *(writer.add(answer) for answer in answers), *writer.end()]
    return b"".join(parts)


def answer(said: Any = SAID, task: Any = TASK, by: str = "", number: int = 7) -> Answer:
    return Answer.of({"task_id": number, "by": by, "said": said, "task": task})


def files(content: bytes) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(content)) as opened:
        assert opened.testzip() is None
        return {name: opened.read(name).decode() for name in opened.namelist()}


def test_coco_has_pictures_boxes_areas_and_points() -> None:
    coco = json.loads(written("coco", [answer(by="ada"), answer(by="bob", said={"boxes": [BOX]}), answer(number=8)]))
    assert [(one["id"], one["file_name"], one["width"], one["height"], one["task_id"]) for one in coco["images"]] == [
        (1, "/a & b.jpg", 200, 100, 7),
        (2, "/a & b.jpg", 200, 100, 8),
    ]
    names = {one["id"]: one["name"] for one in coco["categories"]}
    first = [one for one in coco["annotations"] if one.get("volunteer") == "ada"]
    assert [names[one["category_id"]] for one in first] == ["fox", "owl", "spots", "areas"]
    assert first[0]["bbox"] == [10, 20, 100, 50] and first[0]["area"] == 5000
    assert first[2]["keypoints"] == [5, 6, 2] and first[3]["segmentation"] == [[0, 0, 10, 0, 10, 10, 0, 10]]
    assert first[3]["area"] == 100 and first[3]["bbox"] == [0, 0, 10, 10]
    assert [one["id"] for one in coco["annotations"]] == list(range(1, 10))
    assert {one["image_id"] for one in coco["annotations"] if "volunteer" in one} == {1}
    assert json.loads(written("coco"))["annotations"] == []


def test_yolo_is_in_shares_of_the_picture_and_lists_what_has_no_size() -> None:
    contents = files(written("yolo", [answer(), answer(task={"url": "/b.jpg"}, by="ada", number=8)]))
    assert contents["classes.txt"] == "fox\nowl\n" and contents["left_out.txt"] == "8_ada\n"
    assert contents["labels/7.txt"].splitlines() == [
        "0 0.300000 0.450000 0.500000 0.500000",
        "1 0.500000 0.450000 0.500000 0.500000",
    ]


def test_pascal_voc_is_xml_whatever_a_task_says() -> None:
    contents = files(written("voc", [answer(), answer(task={"url": "a\x00<b>"}, number=8)]))
    root = ElementTree.fromstring(contents["Annotations/7.xml"])
    assert root.findtext("filename") == "/a & b.jpg" and root.findtext("size/width") == "200"
    assert [one.findtext("name") for one in root.iter("object")] == ["fox", "owl"]
    edges = [root.findtext(f"object/bndbox/{edge}") for edge in ("xmin", "ymin", "xmax", "ymax")]
    assert edges == ["10", "20", "110", "70"]
    assert ElementTree.fromstring(contents["Annotations/8.xml"]).findtext("filename") == "a<b>"


def test_web_annotations_select_in_pictures_texts_and_sounds() -> None:
    page = json.loads(written("webannotation", [answer(by="ada")]))
    assert page["type"] == "AnnotationPage" and len({one["id"] for one in page["items"]}) == len(page["items"]) == 7
    by_question = {one["id"].split(":")[3]: one for one in page["items"]}
    values = {name: one["target"]["selector"].get("value") for name, one in by_question.items()}
    assert values["boxes"] == "xywh=pixel:50,20,100,50" and values["calls"] == "t=2,3"
    assert ElementTree.fromstring(values["areas"])[0].get("points") == "0,0 10,0 10,10 0,10"
    assert by_question["names"]["target"] == {
        "source": "urn:crowdd:task:7",
        "selector": {"type": "TextPositionSelector", "start": 0, "end": 3},
    }
    assert by_question["boxes"]["body"][0]["value"] == "owl" and by_question["boxes"]["creator"]["nickname"] == "ada"


def test_audacity_and_praat_have_the_parts_of_a_sound() -> None:
    assert files(written("audacity", [answer()]))["7.txt"] == "1.000000\t2.500000\tcalls\n2.000000\t3.000000\tcalls\n"
    grid = files(written("textgrid", [answer()]))["7.TextGrid"]
    assert grid.startswith('File type = "ooTextFile"\nObject class = "TextGrid"\n\nxmin = 0\nxmax = 9\n')
    assert re.findall(r'name = "(.*)"', grid) == ["calls", "calls 2"], "parts that overlap"
    assert re.findall(r"intervals: size = (\d+)", grid) == ["3", "3"]
    tier = grid.partition("item [2]:")[0]
    edges = [(float(start), float(end)) for start, end in re.findall(r"xmin = (\S+)\n\s+xmax = (\S+)\n\s+text", tier)]
    assert edges == [(0, 1), (1, 2.5), (2.5, 9)], "without gaps"
    empty = files(written("textgrid", [answer(said={}, task={})]))["7.TextGrid"]
    assert "xmax = 1\n" in empty and "intervals: size = 1" in empty


def test_spacy_has_texts_with_spans_in_code_points() -> None:
    remote = answer(task={"words": "https://example.org/a.txt"}, number=8)
    lines = [json.loads(line) for line in written("spacy", [answer(), remote]).splitlines()]
    assert lines == [
        {"text": "Ada 😀 wrote", "spans": [{"start": 0, "end": 3, "label": "person"}], "meta": {"task_id": 7}}
    ]
    assert lines[0]["text"][0:3] == "Ada"


def test_label_studio_has_choices_texts_and_marks_in_percent() -> None:
    [task] = json.loads(written("labelstudio", [answer()]))
    contents = {one["from_name"]: one for one in task["annotations"][0]["result"]}
    assert contents["kind"]["value"] == {"choices": ["fox"]} and contents["note"]["value"] == {"text": ["two of them"]}
    assert contents["boxes"]["value"]["x"] == 25 and contents["boxes"]["value"]["rectanglelabels"] == ["owl"]
    assert (contents["boxes"]["original_width"], contents["boxes"]["original_height"]) == (200, 100)
    assert contents["names"]["value"]["labels"] == ["person"] and task["data"]["crowdd_task"] == 7
    [bare] = json.loads(written("labelstudio", [answer(task={})]))
    assert {one["from_name"] for one in bare["annotations"][0]["result"]} == {"names", "calls", "kind", "note"}


@pytest.mark.parametrize("name", annotation_formats())
@pytest.mark.parametrize("mark", [{}, {"x": "1"}, {"points": "x"}, {"points": [[1]]}, {"start": 2, "end": 1}, 7, None])
def test_marks_of_another_form_are_left_out(name: str, mark: Any) -> None:
    answers = {one["name"]: [mark] for one in QUESTIONS}
    assert len(written(name, [answer(said=answers), answer(said=None, task=None)])) > 0


def test_an_archive_of_many_files_is_whole() -> None:
    archive = ZipFiles()
    parts = [archive.add(f"{number}.txt", b"fox " * (number % 50)) for number in range(70_000)]
    content = b"".join([*parts, *archive.end()])
    with zipfile.ZipFile(io.BytesIO(content)) as opened:
        assert len(opened.namelist()) == 70_000 and opened.read("69999.txt") == b"fox " * 49


async def project_of(served: Any) -> tuple[Any, Any]:
    owner = await served.person("owner")
    project = await served.project(owner)
    info = {"questions": DOCUMENT, "task_presenter": None, "column_roles": {"secret": "hidden"}}
    assert (await owner.put(f"/api/project/{project['id']}", json={"info": info})).status == 200
    task = {"project_id": project["id"], "info": {**TASK, "secret": "classified"}, "n_answers": 2}
    assert (await owner.post("/api/task", json=[task])).status == 200
    assert (await owner.post("/project/birds/publish", json={})).status == 200
    for name in ("ada", "bob"):
        person = await served.person(name)
        task = (await person.get(f"/api/{project['id']}/newtask")).json()
        body = {"project_id": project["id"], "task_id": task["id"], "info": {**SAID, "questions_version": 1}}
        assert (await person.post("/api/taskrun", json=body)).status == 200
    return owner, project


@shows("export-annotations")
@pytest_twisted.ensureDeferred
async def test_each_format_leaves_with_answers_and_results_and_without_hidden_columns(served: Any) -> None:
    owner, project = await project_of(served)
    at = f"/api/project/{project['id']}/export"
    for name, made in annotation_formats().items():
        for type_ in ("task_run", "result"):
            answered = await owner.get(f"{at}?type={type_}&format={name}")
            assert answered.status == 200, answered.text
            assert f"_birds_{type_}.{name}.{made.ending}" in answered.header("content-disposition")
            content = answered.body
            if made.ending == "zip":
                assert "classified" not in str(files(content))
            assert b"classified" not in content
    coco = (await owner.get(f"{at}?type=task_run&format=coco")).json()
    assert len(coco["images"]) == 1 and len({one["volunteer"] for one in coco["annotations"]}) == 2
    result = (await owner.get(f"{at}?type=result&format=labelstudio")).json()
    choices = [one for one in result[0]["annotations"][0]["result"] if one["type"] == "choices"]
    assert len(result) == 1 and choices[0]["value"] == {"choices": ["fox"]}


@shows("export-annotations")
@pytest_twisted.ensureDeferred
async def test_what_a_format_cannot_hold_is_said_before_and_nothing_is_made_of_it(served: Any) -> None:
    owner, project = await project_of(served)
    page = (await owner.get("/project/birds/tasks/export", headers={"Accept": "text/html"})).text
    assert "Only boxes are kept." in page and "format=yolo" in page
    at = f"/api/project/{project['id']}/export"
    assert (await owner.get(f"{at}?type=task&format=coco")).status == 415
    assert (await owner.get(f"{at}?type=task_run&format=coco&rows=mark")).status == 415
    steps = [{"name": "look", "questions": [{"name": "note", "type": "short_text", "text": "?"}]}]
    changed = {"info": {"questions": {"version": 1, "steps": steps}}}
    assert (await owner.put(f"/api/project/{project['id']}", json=changed)).status == 200
    refused = await owner.get(f"{at}?type=task_run&format=coco")
    assert refused.status == 415 and "COCO" in refused.text
    page = (await owner.get("/project/birds/tasks/export", headers={"Accept": "text/html"})).text
    assert "format=labelstudio" in page and "format=coco" not in page
    assert (await served.client().get(f"{at}?type=task_run&format=labelstudio")).status == 200, "answers are open"
    closed = await owner.put(f"/api/project/{project['id']}", json={"zip_download": False})
    assert closed.status == 200
    assert (await served.client().get(f"{at}?type=task_run&format=labelstudio")).status == 401
