"""Which values of tasks look like files, and what is said of those that are not there."""

import pytest

from crowdd.features.gallery.folders import MAX_NAMED, Missing, names_file


@pytest.mark.parametrize(
    "value",
    ["images/none.jpg", "none.JPG", "./a.png", "sounds/x/owl.mp3", "images/no ending", "images/with a blank.jpg", "a-b_c.v2.webm"],
)  # fmt: skip
def test_paths_look_like_files(value):
    assert names_file(value, {"images"})


@pytest.mark.parametrize(
    "value",
    [
        "", "yes", "3.14", "https://example.org/a.jpg", "//example.org/a.jpg", "/uploads/a.jpg", "example.org/a.jpg",
        "I saw it in fig.jpg", "a\nb.jpg", "x" * 300 + ".jpg", "Dr. Who", "and/or", "images/", "v1.2", "data:image/png;base64,a/b.png",
    ],
)  # fmt: skip
def test_other_texts_do_not(value):
    assert not names_file(value, {"images"})


def test_each_value_is_told_with_its_task_and_column():
    missing = Missing({"images/one.jpg"})
    missing.look("line 1", {"image": "images/one.jpg", "n": 1})
    missing.look("line 2", {"image": "images/two.jpg", "deep": [{"sound": "x.mp3"}, {"sound": "y.mp3"}]})
    missing.look("line 3", "./images/One.jpg")
    assert str(missing) == "4 values name files that are not in the folder, in 2 tasks"
    assert [*missing.lines(3)] == [
        "line 2, `image`: images/two.jpg", "line 2, `deep.sound`: x.mp3", "line 2, `deep.sound`: y.mp3", "and 1 more",
    ]  # fmt: skip
    assert missing.named[3].similar == "images/one.jpg"


def test_what_is_remembered_is_bounded():
    missing = Missing(set())
    for number in range(10 * MAX_NAMED):
        missing.look(f"line {number}", f"{number}.png")
    assert (missing.values, missing.tasks, len(missing.named)) == (10 * MAX_NAMED, 10 * MAX_NAMED, MAX_NAMED)
    assert [*missing.lines(2)][-1] == f"and {10 * MAX_NAMED - 2:,} more"
