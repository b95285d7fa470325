"""Files that people bring, row by row; and what their columns become."""

from __future__ import annotations

import io
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from crowdd.domain.import_rows import checked, task_of, usual
from crowdd.domain.imports import CHUNK, chunk_of
from crowdd.domain.sources import MOST_BYTES, elements, format_of, inspect, lines
from crowdd.errors import InvalidValueError


def read(format_: str, content: bytes) -> list[Any]:
    """The values of each row, or the beginning of its error, with where it begins."""
    return [(line.number, line.values or line.error) for line in lines(format_, io.BytesIO(content))]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"a,b\n1,2\n", [(2, {"a": "1", "b": "2"})]),
        (b"\xef\xbb\xbfa;b\r\n1;2\r\n", [(2, {"a": "1", "b": "2"})]),
        (b"a\tb\n1\t2,3", [(2, {"a": "1", "b": "2,3"})]),
        (b'"a,b";c\n1;2', [(2, {"a,b": "1", "c": "2"})]),
        (b'a,b\n"x\ny, ""z""",2\n3,4\n', [(2, {"a": 'x\ny, "z"', "b": "2"}), (4, {"a": "3", "b": "4"})]),
        (b"a,b\n\n1,2\n\n", [(3, {"a": "1", "b": "2"})]),
        (b"a,b\n1\n1,2,3\n4,5\n", [
            (2, "It has 1 cells, the first line 2."), (3, "It has 3 cells, the first line 2."), (4, {"a": "4", "b": "5"}),
        ]),
        ("a\nä\n\xe4\n".encode()[:-3] + b"\xe4\nok\n", [(2, {"a": "ä"}), (3, "It is not UTF-8."), (4, {"a": "ok"})]),
        (b"a\n" + b"x" * (MOST_BYTES + 9) + b"\nok\n", [(2, f"It is longer than {MOST_BYTES:,} bytes."), (3, {"a": "ok"})]),
        (b"a\n\xed\xa0\x80\nok\n", [(2, "It is not UTF-8."), (3, {"a": "ok"})]),
    ],
)  # fmt: skip
def test_rows_of_a_table(content, expected):
    found = read("csv", content)
    assert found == expected


def test_a_cell_that_does_not_end_costs_its_lines_and_no_memory():
    found = read("csv", b'a,b\n1,2\n"' + b"x,y\n" * 50_000 + b"3,4\n")
    assert found[0] == (2, {"a": "1", "b": "2"}) and "Is a quotation mark missing?" in found[1][1]
    assert found[-1][1] == {"a": "3", "b": "4"}


def test_row_of_600_000_cells_over_as_many_lines_is_refused_once_in_little_memory():
    content = io.BytesIO(b"a,b\n" + b'"x\n",' * 600_000 + b'"end"\n3,4\n')
    tracemalloc.start()
    found = [(line.number, line.values or line.error) for line in lines("csv", content)]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    refused, (number, values) = found[0], found[1]
    assert refused == (2, f"It is longer than {MOST_BYTES:,} bytes.")
    assert (number, values, len(found)) == (600_003, {"a": "3", "b": "4"}, 2)
    assert peak < 25_000_000


@pytest.mark.parametrize("ending", [b'"\n1,2\n', b'",b\n1,2\n'])
def test_row_too_long_ends_with_the_line_that_closes_it(ending):
    lines_of_it = b"x,y\n" * (100_000 // 4)
    long = b'a,b\n"' + (lines_of_it + b'","') * 12 + ending
    found = read("csv", long)
    assert [each[1] for each in found] == [f"It is longer than {MOST_BYTES:,} bytes.", {"a": "1", "b": "2"}]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a,a\n1,2", "Two columns are called a."), (b"a,\n1,2", "Column 2 has no name"), (b",,\n1", "names no columns"),
        (b"\n1,2", "names no columns"), (b"\xff\xe4\n1", "The first line is not UTF-8."),
        (b",".join(b"c%d" % n for n in range(501)), "more than 500 columns"),
    ],
)  # fmt: skip
def test_a_table_whose_first_line_is_no_good_is_refused(content, words):
    with pytest.raises(InvalidValueError, match=words):
        read("csv", content)


def test_rows_of_json():
    content = b'\xef\xbb\xbf [{"a":"],{","b":{"c":[1,{}]}} ,3,\n{"a":"\\ud800"},{"a":1e999},{"a"},{"z":"\\"}"}]\n '
    found = read("json", content)
    assert found[0] == (1, {"a": "],{", "b": {"c": [1, {}]}}) and found[1] == (2, "It is no JSON object.")
    assert [error[:14] for _, error in found[2:5]] == ["It is not JSON"] * 3 and found[5] == (6, {"z": '"}'})
    assert read("json", b"[]") == read("json", b" [ \n] ") == []
    assert [number for number, _ in read("json", b"[1,]")] == [1, 2]


@pytest.mark.parametrize(
    "content",
    [b"{}", b"[1", b"[1] x", b'[{"a":1}', b'["a', b"[}", b"[1]]", b"[" + b"[" * 1_200_000, b'["' + b"x" * 1_200_000],
)
def test_what_is_no_array_is_refused(content):
    with pytest.raises(InvalidValueError):
        list(elements(io.BytesIO(content)))


def test_a_text_longer_than_what_is_read_at_once_is_whole():
    long = b'{"a":"' + b'\\"' * 200_000 + b'"}'
    assert list(elements(io.BytesIO(b"[" + long + b",1]"))) == [long, b"1"]


def test_rows_of_ndjson():
    content = b'{"a":1}\n\n[1]\n{"a":\n' + b'{"a":"' + b"x" * MOST_BYTES + b'"}\n{"a":"\\u0000"}'
    found = read("ndjson", content)
    assert [number for number, _ in found] == [1, 3, 4, 5, 6]
    assert found[1][1] == "It is no JSON object." and found[2][1].startswith("It is not JSON")
    assert found[3][1].startswith("It is longer") and found[4][1] == {"a": "\x00"}


@pytest.mark.parametrize(
    ("head", "words"),
    [
        (b"\xff\xfea\x00", "UTF-16"), (b"\xfe\xff\x00a", "UTF-16"), (b"PK\x03\x04", "workbook"), (b"%PDF-1.7", "PDF"),
        (b"\x1f\x8b\x08", "compressed"), (b"", "empty"), (b" \n\t", "empty"), (b"a\x00,\x00", "UTF-8"),
    ],
)  # fmt: skip
def test_what_is_none_of_ours_is_told_from_its_beginning(head, words):
    with pytest.raises(InvalidValueError, match=words):
        format_of(head)


def test_the_format_is_told_from_the_beginning():
    assert [format_of(head) for head in (b"a,b", b" [", b"\xef\xbb\xbf{", b'"[x]"')] == ["csv", "json", "ndjson", "csv"]


def test_a_file_is_looked_at_in_one_go(tmp_path: Path):
    file = tmp_path / "x"
    file.write_bytes(b"url,n\n" + b"".join(b"x%d,%d\n" % (n, n) for n in range(50_000)) + b"bad\n")
    tracemalloc.start()
    found = inspect(file, 5)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (found.format, found.columns, found.rows) == ("csv", ["url", "n"], 50_001) and len(found.sample) == 5
    assert peak < 5_000_000
    for content in (b"url\n", b"[]", b"[1,2]", b"url,n\nx\n"):
        file.write_bytes(content)
        with pytest.raises(InvalidValueError):
            inspect(file, 5)


# What columns become ------------------------------------------------------------------------------------------------


def test_columns_are_keys_of_info_but_for_what_a_task_has():
    uses = usual("csv", ["url", "state", "n_answers", "priority_0", "info"])
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
    }  # fmt: skip
    assert usual("ndjson", ["info", "n_answers"])["info"] == "whole" and usual("json", ["info", "x"])["info"] == "info"
    assert task_of({"info": [1], "n_answers": 2}, {"info": "whole", "n_answers": "n_answers"})["info"] == [1]


@pytest.mark.parametrize(
    "row",
    [{"n_answers": "many"}, {"n_answers": "0"}, {"priority_0": "nan"}, {"a": "\x00"}, {"a\x00": 1}, {"a": "\ud800"}],
)
def test_a_row_that_is_no_task_is_refused(row):
    with pytest.raises(InvalidValueError):
        task_of({"x": "y", **row}, usual("csv", ["x", *row]))


@pytest.mark.parametrize(
    ("uses", "words"),
    [
        ({"a": "key"}, "cannot become"), ({"a": "n_answers", "b": "n_answers"}, "Two columns"), ("info", "no object"),
        ({"a": "skip", "b": "priority_0"}, "hold nothing"), ({"a": "whole", "b": "info"}, "whole info"), ({"a": []}, "cannot"),
    ],
)  # fmt: skip
def test_uses_that_contradict_each_other_are_refused(uses, words):
    with pytest.raises(InvalidValueError, match=words):
        checked(uses, ["a", "b"])
    assert checked({"a": "skip"}, ["a", "b"]) == {"a": "skip", "b": "info"}


def test_a_chunk_has_so_many_rows_and_so_many_bytes():
    rows = b"a\n" + b"x\n" * (CHUNK + 5)
    found = lines("csv", io.BytesIO(rows))
    assert [chunk_of(found, {}).rows for _ in range(3)] == [CHUNK, 5, 0]
    large = b'{"a":"' + b"x" * 900_000 + b'"}\n'
    found = lines("ndjson", io.BytesIO(large * 7))
    assert [chunk_of(found, {}).rows for _ in range(4)] == [3, 3, 1, 0]
