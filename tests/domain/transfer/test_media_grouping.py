"""Names of files that owners bring: made fit to be shown, and grouped into tasks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdd.features.batches.batches import plan
from crowdd.features.batches.grouping import (
    MAX_NAME,
    MAX_PATH,
    by_name,
    clean_path,
    group_of,
    group_paths,
    is_system_file,
)
from crowdd.features.batches.made_files import Medium, task_info_of
from crowdd.kinds.questions.columns import question_columns


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("fox.jpg", "fox.jpg"),
        ("trip/day 1/fox.jpg", "trip/day 1/fox.jpg"),
        ("../../etc/passwd", "etc/passwd"),
        ("/absolute/fox.jpg", "absolute/fox.jpg"),
        ("C:\\Users\\ada\\fox.jpg", "C:/Users/ada/fox.jpg"),
        ("a\x00b\n\x1b[31m.jpg", "ab[31m.jpg"),
        ("evil\u202egpj.exe", "evilgpj.exe"),
        ("u\u0308ber.jpg", "über.jpg"),  # as a Mac names it
        ("..", "file"),
        ("", "file"),
        ("\udcff.jpg", ".jpg"),  # no Unicode
    ],
)
def test_a_path_is_shown_without_what_could_mislead(name, shown):
    assert clean_path(name) == shown


def test_names_with_numbers_come_as_people_count():
    names = ["quay.jpg", "page 11/b.jpg", "page 10.jpg", "page 9.jpg", "Page 11/a.jpg"]
    assert sorted(names, key=by_name) == ["page 9.jpg", "page 10.jpg", "Page 11/a.jpg", "page 11/b.jpg", "quay.jpg"]


@given(st.lists(st.text(max_size=MAX_PATH)))
def test_any_names_can_be_sorted(names):
    assert len(sorted(names, key=by_name)) == len(names)


@given(st.text(max_size=2000))
def test_a_clean_path_is_short_printable_relative_and_stays_as_it_is(text):
    path = clean_path(text)
    assert 0 < len(path) <= MAX_PATH and path.isprintable() and not path.startswith("/")
    assert not {"", ".", ".."} & {*path.split("/")} and all(len(part) <= MAX_NAME for part in path.split("/"))
    assert clean_path(path) == path


def test_the_files_of_systems_are_known():
    system = [".DS_Store", "a/Thumbs.db", "__MACOSX/a/._fox.jpg", ".git/config", "x/desktop.ini"]
    assert [name for name in [*system, "fox.jpg", "a.b/fox.jpg"] if is_system_file(name)] == system


@pytest.mark.parametrize(
    ("name", "group"),
    [
        ("IMG_12a.jpg", ("IMG_12", "a")),
        ("IMG_12B.jpg", ("IMG_12", "b")),
        ("0012_front.jpg", ("0012", "front")),
        ("0012-2.jpg", ("0012", "2")),
        ("x/0012 back.tif", ("x/0012", "back")),
        ("0012.mp3", ("0012", "")),
        ("IMG_0001.jpg", ("IMG_0001", "")),  # nothing before the number ends in a digit
        ("IMG_20240501_121314.jpg", ("IMG_20240501_121314", "")),  # a number of six digits is no part
        ("red_fox.jpg", ("red_fox", "")),
        ("12ab.jpg", ("12ab", "")),
    ],
)
def test_a_part_follows_a_digit(name, group):
    assert group_of(name) == group


def test_groups_are_in_the_order_of_their_parts():
    names = ["2_back.jpg", "1b.jpg", "2_front.jpg", "1a.jpg", "3.jpg", "3.mp3", "4_10.png", "4_9.png", "x/1a.jpg"]
    assert group_paths(names) == {
        "2": ["2_front.jpg", "2_back.jpg"],
        "1": ["1a.jpg", "1b.jpg"],
        "3": ["3.jpg", "3.mp3"],
        "4": ["4_9.png", "4_10.png"],
        "x/1": ["x/1a.jpg"],
    }
    made = plan([*names, ".DS_Store"])
    assert (made.files, made.left_out, made.tasks_by_file, made.tasks_by_name) == (9, [".DS_Store"], 9, 5)
    assert "x/1" not in made.groups and made.groups["1"] == ["1a.jpg", "1b.jpg"]


QUESTIONS = {
    "version": 1,
    "steps": [
        {
            "media": [
                {"type": "text", "source": {"column": "letter"}},
                {"type": "picture", "source": {"column": "scan"}},
            ]
        },
        {"media": [{"type": "pictures", "source": [{"column": "scan"}, {"column": "back"}, {"url": "/x.png"}]}]},
        {"media": [{"type": "sound", "source": {"url": "/a.mp3"}}], "questions": []},
    ],
}


def picture(name: str, **facts: object) -> Medium:
    return Medium("picture", f"/uploads/{name}", name, facts)


def test_files_fill_the_columns_that_the_questions_read():
    columns = question_columns(QUESTIONS)
    assert columns == {"picture": ["scan", "back"], "sound": [], "video": []}
    media = [picture("a", width=3, thumbnail="/t"), picture("b", width=4), picture("c"), Medium("sound", "/s", "s", {})]
    assert task_info_of(media, columns) == {
        "scan": "/uploads/a", "filename": "a", "width": 3, "thumbnail": "/t", "back": "/uploads/b", "filename_2": "b",
        "width_2": 4, "scan_3": "/uploads/c", "filename_3": "c", "sound": "/s", "filename_4": "s",
    }  # fmt: skip
    assert task_info_of(media[:1], columns, "photo") == {
        "photo": "/uploads/a",
        "filename": "a",
        "width": 3,
        "thumbnail": "/t",
    }


@pytest.mark.parametrize("questions", [None, {}, [], {"steps": 3}, {"steps": [{"media": [{"type": "picture"}]}]}])
def test_files_fill_columns_of_their_kinds_without_questions(questions):
    assert task_info_of([picture("a")], question_columns(questions)) == {"picture": "/uploads/a", "filename": "a"}
