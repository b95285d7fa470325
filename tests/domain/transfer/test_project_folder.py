"""What a project folder may hold, and what is said of one that cannot be used."""

import json

import pytest

from crowdd.features.gallery import folders
from crowdd.kernel.errors import InvalidValueError, NotFoundError

ABOUT = {"name": "Night birds", "short_name": "birds"}


@pytest.fixture
def birds(tmp_path):
    """A project folder with nothing but a project.json."""
    write(tmp_path, "project.json", json.dumps(ABOUT))
    return tmp_path


def write(path, name, text):
    (path / name).write_bytes(text if isinstance(text, bytes) else text.encode())


def about(**more):
    return json.dumps(ABOUT | more)


def test_texts_stand_in_files_of_their_own(birds):
    names = ("presenter.html", "results.html", "tutorial.html", "long_description.md")
    for name in names:
        write(birds, name, f"\ufeff{name}")
    write(birds, "project.json", about(short_name=" birds ", info={"sched": "random", "results": "old"}))
    read = folders.read_folder(birds)
    assert read.project["short_name"] == "birds"
    assert read.project["info"] == {
        "sched": "random", "task_presenter": names[0], "results": names[1], "tutorial": names[2],
    }  # fmt: skip
    assert read.project["long_description"] == names[3]
    assert (read.n_tasks, read.files) == (0, {})


def test_values_are_replaced_where_they_name_a_file(birds):
    write(birds, "a.png", b"")
    read = folders.read_folder(birds)
    value = {"a.png": ["a.png", {"deep": "a.png"}], "other": "./a.png", "number": 1, "none": None}
    assert read.named_in(value, str.upper) == {**value, "a.png": ["A.PNG", {"deep": "A.PNG"}]}


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("project.json", "{", "project.json: this is not JSON"),
        ("project.json", "[]", "project.json: this is not a JSON object"),
        ("project.json", '{"short_name": "x"}', "project.json: name is missing"),
        ("project.json", '{"name": "x", "short_name": " "}', "project.json: short_name is missing"),
        ("project.json", about(info=1), "project.json: info must be an object"),
        ("project.json", about(published="perhaps"), "project.json: published must be true or false"),
        ("project.json", about(category=["thinking"]), "project.json: category must be a string"),
        ("presenter.html", b"\xff", "presenter.html is not UTF-8 text"),
        ("tasks.ndjson", '{"a": 1}\n\n{"a": ', "tasks.ndjson, line 3: this is not JSON"),
        ("tasks.ndjson", b'{"a": "\xff"}', "tasks.ndjson, line 1: this is not JSON"),
        ("tasks.ndjson", "7", "tasks.ndjson, line 1: this is not a JSON object"),
        ("tasks.ndjson", '{"info": 1, "colour": 2}', "line 1: besides info, the only attributes allowed are"),
        ("tasks.ndjson", '{"info": 1, "n_answers": "many"}', "line 1: `n_answers` is not an integer"),
        ("tasks.ndjson", '{"info": "\\u0000"}', "line 1: `info` contains a NUL"),
        ("tasks.csv", "a,b\n1\n", "tasks.csv, line 2: the number of cells differs"),
        ("tasks.csv", "a,b\n1,2,3\n", "tasks.csv, line 2: the number of cells differs"),
        ("tasks.csv", "a,a\n1,2\n", "tasks.csv: two columns have the same name"),
        ("tasks.csv", b"a\n\xff\n", "tasks.csv, after line 0: 'utf-8'"),
    ],
)
def test_what_cannot_be_used_is_named(birds, name, text, said):
    write(birds, name, text)
    with pytest.raises(InvalidValueError, match=said):
        folders.read_folder(birds)


def test_two_files_of_tasks(birds):
    write(birds, "tasks.csv", "a\n1\n")
    write(birds, "tasks.ndjson", '{"a": 1}\n')
    with pytest.raises(InvalidValueError, match="remove one"):
        folders.read_folder(birds)


def test_no_project_folder(tmp_path):
    with pytest.raises(NotFoundError, match=r"it contains no project\.json"):
        folders.read_folder(tmp_path)
