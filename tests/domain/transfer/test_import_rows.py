"""What the columns of a file become, and rows that go together into one transaction."""

from __future__ import annotations

from datetime import UTC, datetime

import orjson
import pytest

from crowdd.features.imports.files import Dialect
from crowdd.features.imports.import_rows import TaskMaker, check_uses, default_uses, info_text, task_of
from crowdd.features.imports.reader import CHUNK, Plan, RowReader
from crowdd.kernel.errors import InvalidValueError
from crowdd.kinds.answers import MarkLimit


def test_columns_are_keys_of_info_but_for_what_a_task_has():
    uses = default_uses("csv", ["url", "state", "n_answers", "priority_0", "info"])
    assert uses == {
        "url": "info",
        "state": "skip",
        "n_answers": "n_answers",
        "priority_0": "priority_0",
        "info": "info",
    }
    row = {"url": "x", "state": "completed", "n_answers": "5", "priority_0": "", "info": "y", "late": 1}
    assert task_of(row, uses) == {
        "info": {"url": "x", "info": "y", "late": 1}, "n_answers": 5, "priority_0": 0.0, "quorum": 0, "calibration": 0,
        "given": ["n_answers"],
    }  # fmt: skip
    assert (
        default_uses("ndjson", ["info", "n_answers"])["info"] == "whole"
        and default_uses("json", ["info", "x"])["info"] == "info"
    )
    assert task_of({"info": [1], "n_answers": 2}, {"info": "whole", "n_answers": "n_answers"})["info"] == [1]


@pytest.mark.parametrize(
    "row",
    [{"n_answers": "many"}, {"n_answers": "0"}, {"priority_0": "nan"}, {"a": "\x00"}, {"a\x00": 1}, {"a": "\ud800"}],
)
def test_a_row_that_is_no_task_is_refused(row):
    with pytest.raises(InvalidValueError):
        task_of({"x": "y", **row}, default_uses("csv", ["x", *row]))


def test_what_is_remembered_of_a_row_is_right_for_the_next_one():
    made = TaskMaker({"n": "n_answers", "g": "gold", "x": "skip"}, 4).made
    for cell, wanted in ((1, 1), ("2", 2), (None, 4), ("", 4), (3.0, 3), (1, 1), ("2", 2)):
        assert made({"n": cell, "a": 1})[1]["n_answers"] == wanted
    for wrong in (True, 0, "many", [1], {"n": 1}):
        with pytest.raises(InvalidValueError):
            made({"n": wrong, "a": 1})
    rows = [{"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": 1, "g": "owl"}, {"g": "", "a": 1}, {"x": 1, "late": 2}]
    assert [made(row)[0] for row in rows] == [rows[0], rows[1], {"a": 1}, {"a": 1}, {"late": 2}]
    assert [made(row)[1].get("gold") for row in rows] == [None, None, "owl", None, None]
    assert made({"n": "2", "a": 1})[2] == ["n_answers"] and made({"n": "", "a": 1})[2] == []


@pytest.mark.parametrize("value", [None, "ü", [1.5, {"b": None, "a": "null"}], {"a": "\\u0000 as text"}, 2**63, []])
def test_info_that_can_be_stored_is_its_text(value):
    assert orjson.loads(info_text(value)) == value


@pytest.mark.parametrize(
    "value", ["\x00", {"\x00": 1}, {"a": "\ud800"}, "x" * 256_000, orjson.loads("[" * 102 + "]" * 102)]
)
def test_info_that_cannot_be_stored_is_refused(value):
    with pytest.raises(InvalidValueError):
        info_text(value)


@pytest.mark.parametrize(
    ("uses", "words"),
    [
        ({"a": "key"}, "cannot be used as"), ({"a": "n_answers", "b": "n_answers"}, "Only one column"), ("info", "must be an object"),
        ({"a": "skip", "b": "priority_0"}, "be empty"), ({"a": "whole", "b": "info"}, "entire task data"), ({"a": []}, "cannot"),
    ],
)  # fmt: skip
def test_uses_that_contradict_each_other_are_refused(uses, words):
    with pytest.raises(InvalidValueError, match=words):
        check_uses(uses, ["a", "b"])
    assert check_uses({"a": "skip"}, ["a", "b"]) == {"a": "skip", "b": "info"}


def test_a_chunk_has_so_many_rows_and_so_many_bytes(tmp_path):
    def chunks(content: bytes, dialect: Dialect) -> list[int]:
        path = tmp_path / "rows"
        path.write_bytes(content)
        plan = Plan(
            "table",
            dialect,
            {"a": "info"},
            None,
            True,
            None,
            lambda project, volunteer: "",
            datetime.now(UTC),
            MarkLimit.of({}),
        )
        reader = RowReader(path, plan)
        sizes = list(iter(lambda: reader.next_chunk().rows, 0))
        reader.close()
        return sizes

    assert chunks(b"a\n" + b"x\n" * (CHUNK + 5), Dialect("csv", delimiter=",")) == [CHUNK, 5]
    large = b'{"a":"' + b"x" * 900_000 + b'"}\n'
    assert chunks(large * 7, Dialect("ndjson")) == [3, 3, 1]
