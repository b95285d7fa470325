"""Files that owners bring, row by row: good ones, damaged ones, foreign ones."""

from __future__ import annotations

import io
import random
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.checks.damaged_files import DAMAGE, ENCODINGS, STYLES, Damaged, good_file, violations
from support.checks.proofs import examples

from crowdd.features.imports.files import (
    MAX_ROW_BYTES,
    MAX_ROW_LINES,
    Dialect,
    FileRow,
    Inspected,
    detect,
    inspect,
    read_rows,
)
from crowdd.kernel.errors import InvalidValueError

CSV, NDJSON, JSON = Dialect("csv", "utf-8", ","), Dialect("ndjson"), Dialect("json")
CORPUS = Path(__file__).parents[2] / "corpus" / "task_files"
LIMIT = f"It is longer than {MAX_ROW_BYTES:,} bytes."
NEVER = "The quoted cell that begins here is never closed."
BEYOND = "The quoted cell that begins here is not closed within the limit of a row (1,000,000 bytes, 1,000 lines)."
JOINED = "A quotation mark in this row joins it with rows below it. Check whether one is missing or one too many."
MISPLACED = "Text follows the quotation mark that closes a cell. Check whether one is missing or one too many."


def read(dialect: Dialect, content: bytes) -> list[Any]:
    """The values of each row, its error, or "empty", with where it begins."""
    rows = read_rows(dialect, io.BytesIO(content))
    return [(row.number, "empty" if row.empty else row.values or row.error) for row in rows]


def examined(folder: Path, content: bytes, dialect: Dialect | None = None) -> Inspected:
    file = folder / "file"
    file.write_bytes(content)
    return inspect(file, 5, dialect)


# Tables -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"a,b\n1,2\n", [(2, {"a": "1", "b": "2"})]),
        (b"\xef\xbb\xbfa,b\r\n1,2\r\n", [(2, {"a": "1", "b": "2"})]),
        (b"a,b\r1,2\r3,4", [(2, {"a": "1", "b": "2"}), (3, {"a": "3", "b": "4"})]),
        (b"sep=,\na,b\n1,2\n", [(3, {"a": "1", "b": "2"})]),
        (b'a,b\n"x\ny, ""z""",2\n3,4\n', [(2, {"a": 'x\ny, "z"', "b": "2"}), (4, {"a": "3", "b": "4"})]),
        (b'a,b\n24",2\n', [(2, {"a": '24"', "b": "2"})]),
        (b"\n,\na,b\n\n1,2\n , \n", [(1, "empty"), (2, "empty"), (4, "empty"), (5, {"a": "1", "b": "2"}), (6, "empty")]),
        (b"a,b\n1\n1,2,3\n4,5\n", [
            (2, "It has 1 cells, but the first line has 2."), (3, "It has 3 cells, but the first line has 2."), (4, {"a": "4", "b": "5"}),
        ]),
        (b"a,a,\n1,2,3\n", [(2, {"a": "1", "a_2": "2", "column_3": "3"})]),
        (b"a\n" + b"x" * (MAX_ROW_BYTES + 9) + b"\nok\n", [(2, LIMIT), (3, {"a": "ok"})]),
        (b"a\n" + "ü".encode() * (MAX_ROW_BYTES // 2 + 1) + b"\nok\n", [(2, LIMIT), (3, {"a": "ok"})]),
        (b"a\n" + b"x" * 500_000 + b"\n", [(2, {"a": "x" * 500_000})]),
    ],
)  # fmt: skip
def test_rows_of_a_table(content, expected):
    assert read(CSV, content) == expected


def test_table_without_names_counts_its_columns():
    assert read(Dialect("csv", "utf-8", ";", False), b"x\n1;2\n3;4\n") == [
        (1, "It has 1 cells, but most lines have 2."),
        (2, {"column_1": "1", "column_2": "2"}),
        (3, {"column_1": "3", "column_2": "4"}),
    ]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        # never closed, closed too far below
        (b'a,b,c\n1,"x,2\n3,4,5\n6,7,8\n', [(2, NEVER), (3, "345"), (4, "678")]),
        (b'a,b,c\n1,"x,2\n' + b"3,4,5\n" * MAX_ROW_LINES + b'6,7",8\n', [(2, BEYOND), (3, "345")]),
        (b'a,b,c\n1,"x,2\n3,4,"' + b"5" * MAX_ROW_BYTES + b'"\n6,7,8\n', [(2, NEVER), (3, LIMIT), (4, "678")]),
        (b'a,b,c\n1,"x\n' + (b"y" * 9_999 + b"\n") * 101 + b'z",3\n6,7,8\n', [(2, BEYOND)]),
        # closed by the quotation mark that opens a later cell
        (b'a,b,c\n1,"x,2\n3,"y",5\n6,7,8\n', [(2, MISPLACED), (3, "3y5"), (4, "678")]),
        (b'a,b,c\n1,2,"x\n"3",4,5\n6,7,8\n', [(2, MISPLACED), (3, "345"), (4, "678")]),
        (b'a,b,c\n"1","x,"2"\n"3","4","5"\n', [(2, MISPLACED), (3, "345")]),
        # closed in a later row, with the wrong number of cells
        (b'a,b,c\n1,"x,2\n3,4,5\n6,7,8\n9,9,z"\n0,1,2\n', [
            (2, JOINED),
            (3, "345"), (4, "678"),
            (5, "This row is damaged, or is the end of a damaged row above it: a cell contains a quotation mark."),
            (6, "012"),
        ]),
        # a row of several lines that has a cell too many stays one row
        (b'a,b,c\n1,"x\ny, z",2,3\n3,4,5\n', [(2, "It has 4 cells, but the first line has 3."), (4, "345")]),
    ],
)  # fmt: skip
def test_damaged_quotation_marks_cost_their_row_alone(content, expected):
    rows = [(number, "".join(row.values()) if isinstance(row, dict) else row) for number, row in read(CSV, content)]
    assert rows[: len(expected)] == expected


def test_1500_rows_with_one_missing_quotation_mark_lose_one():
    lines = [b"url,note\n"] + [b'"https://x.example/%d.jpg","a, b"\n' % n for n in range(1500)]
    lines[5] = lines[5].replace(b'.jpg"', b".jpg")
    rows = read(CSV, b"".join(lines))
    assert len(rows) == 1500 and [number for number, row in rows if isinstance(row, str)] == [6]
    plain = [b"url,note\n"] + [b"https://x.example/%d.jpg,ab\n" % n for n in range(20_000)]
    plain[5] = b'"' + plain[5]
    rows = read(CSV, b"".join(plain))
    assert len(rows) == 20_000 and [number for number, row in rows if isinstance(row, str)] == [6]


def test_row_of_several_lines_may_reach_over_what_is_read_at_once():
    long = "line, of text\n" * (MAX_ROW_LINES - 2)
    content = f"a,b\n{'1,2' + chr(10)}" + f'"{long}",2\n' * 40
    rows = read(CSV, content.encode())
    assert len(rows) == 41 and all(row == {"a": long, "b": "2"} for _, row in rows[1:])


def test_line_end_that_is_read_in_two_parts_is_one():
    content = b"a,b\r\n" + b"1," + b"x" * (131_072 - 8) + b"\r\n" + b"3,4\r\n"
    assert content[131_071:131_073] == b"\r\n"
    assert [number for number, _ in read(CSV, content)] == [2, 3]


def test_header_that_cannot_be_read_refuses_every_row():
    assert [row[1][:14] for row in read(CSV, b'a,"b\n1,2\n')] == ["The first line"] * 2
    assert [row[1][:14] for row in read(CSV, b",".join(b"c%d" % n for n in range(501)) + b"\n1,2\n")] == [
        "The file has m"
    ]


@examples("content0")
@pytest.mark.parametrize(
    "content",
    [
        b'"x\n",' * 10_000, b'1,"x""y,2\n' * 10_000, b'x","y\n' * 1_000, b"\n" * 100_000, b'"' * 2_000_000,
        b",\n" * 100_000, b"\x00" * 1_000_000, b"\r" * 100_000,
    ],
)  # fmt: skip
def test_worst_tables_take_little_memory(content):
    file = io.BytesIO(b"a,b\n" + content + b"\n3,4\n")
    tracemalloc.start()
    for _row in read_rows(CSV, file):
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 45_000_000


# Encodings ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_encoding_and_delimiter_are_detected(tmp_path, encoding, delimiter):
    text = "\r\n".join(delimiter.join(row) for row in [("Ort", "Größe"), ("Zürich – See", "1.5"), ("„Köln“", "2.5")])
    table = examined(tmp_path, text.encode(encoding))
    assert (table.dialect, table.columns) == (Dialect("csv", encoding, delimiter), ["Ort", "Größe"])
    assert table.sample[1] == {"Ort": "„Köln“", "Größe": "2.5"}
    assert table.doubts == (("encoding",) if encoding in ("utf-16-le", "utf-16-be", "cp1252") else ())


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("имя;город\nИван;Москва\nПётр;Казань\n", "cp1251"), ("名前,都市\n太郎,東京都\n花子,京都市\n", "cp932"),
        ("名称,城市\n博物馆,北京\n图片,上海\n", "gb18030"), ("a;b\nx\x81;é\n", "latin-1"),
    ],
)  # fmt: skip
def test_other_encodings_are_guessed_and_asked_about(tmp_path, text, encoding):
    table = examined(tmp_path, text.encode(encoding))
    assert table.dialect.encoding == encoding and "encoding" in table.doubts
    assert list(table.sample[0].values()) == text.split("\n")[1].replace(";", ",").split(",")


def test_one_bad_byte_refuses_its_row_and_not_the_encoding(tmp_path):
    table = examined(tmp_path, "a,b\nä,1\nö,2\nü,3\n".encode().replace("ö".encode(), b"\xf6"))
    assert (table.dialect.encoding, table.rows, table.refused, table.doubts) == ("utf-8", 3, 1, ("encoding",))
    assert read(CSV, b"a\n\xed\xa0\x80\nok\n") == [
        (2, "It contains bytes that are not valid in the encoding of the file."), (3, {"a": "ok"}),
    ]  # fmt: skip
    (row, _) = read_rows(CSV, io.BytesIO(b"a\nx\xf6y\nok\n"))
    assert row.text == "x\ufffdy"


def test_file_that_ends_within_a_character_refuses_its_last_row():
    assert [isinstance(row, dict) for _, row in read(CSV, b"a\nok\nx\xc3")] == [True, False]


def test_lost_byte_of_utf16_costs_one_row():
    content = "a,b\n".encode("utf-16") + "".join(f"row {n},é\n" for n in range(400)).encode("utf-16-le")
    rows = read(Dialect("csv", "utf-16", ","), content[:4001] + content[4002:])
    good = {row["a"] for _, row in rows if isinstance(row, dict)}
    assert len(good & {f"row {n}" for n in range(400)}) >= 398


def test_chinese_utf16_is_not_mistaken_for_shifted_bytes():
    text = "標題,內容\n" + "".join(f"{n},{'一丁七' * 200}\n" for n in range(50))
    assert (
        len([row for _, row in read(Dialect("csv", "utf-16", ","), text.encode("utf-16")) if isinstance(row, dict)])
        == 50
    )


# JSON ---------------------------------------------------------------------------------------------------------------


def test_rows_of_json():
    content = b'\xef\xbb\xbf [{"a":"],{","b":{"c":[1,{}]}} ,3,\n{"a":"\\ud800"},{"a":1e999},{"a"},{"z":"\\"}"},]\n '
    rows = read(JSON, content)
    assert rows[0] == (1, {"a": "],{", "b": {"c": [1, {}]}}) and rows[1] == (2, "It is not a JSON object.")
    assert [str(error)[:14] for _, error in rows[2:5]] == ["It is not JSON"] * 3
    assert read(JSON, b"[]") == read(JSON, b" [ \n] ") == []
    assert read(JSON, b'[{"a":1},,{"a":2}]') == [
        (1, {"a": 1}),
        (2, "An element is missing before a comma."),
        (3, {"a": 2}),
    ]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{}", "not a JSON array"), (b'[{"a":1}', "ends before its array"), (b'[{"a":1},', "ends before its array"),
        (b'[{"a":1}] x', "Text follows"), (b'["a', "not JSON"), (b"[}", "not JSON"), (b'[{"a":1}]]', "Text follows"),
        (b"[" + b"[" * 1_200_000, "too deep"), (b'["' + b"x" * 1_200_000, "longer than"),
        (b'[{"a":"' + b"x" * 1_200_000 + b'"}]', "longer than"),
    ],
)  # fmt: skip
def test_damage_of_an_array_is_one_refused_row(content, words):
    (error,) = [row for _, row in read(JSON, content) if isinstance(row, str)]
    assert words in error


@pytest.mark.parametrize(
    "content",
    [
        b'[\n {"a": 1, "b": [\n  {"a": 7, "b": 7}\n ,\n },\n {"a": 2, "b": 3}\n]',  # by lines: a part is no element
        b'[{"a": 0, "b": 0}, {"a": "x, "b": {"a": 7}}, {"a": 2, "b": 3}]',  # by keys: neither
        b'[{"a": "x, "b": 1}, {"a": 2, "b": 3}]',  # by the first key of the damaged one
        b'[{"a": 1]}, {"a": 2, "b": 3}]', b'[{"a": 1, {"a": 2, "b": 3}]', b'[{"a": x},\n{"a": 2, "b": 3}]',
    ],
)  # fmt: skip
def test_array_goes_on_behind_a_damaged_element(content):
    rows = [row for _, row in read(JSON, content)]
    assert rows[-1] == {"a": 2, "b": 3} and sum(isinstance(row, str) for row in rows) == 1
    assert not any(isinstance(row, dict) and row.get("a") == 7 for row in rows)


def test_missing_comma_and_text_between_elements_lose_nothing():
    assert [row for _, row in read(JSON, b'[{"a":1} {"a":2}]')] == [{"a": 1}, {"a": 2}]
    assert {"a": 2} in [row for _, row in read(JSON, b'[{"a":1}",{"a":2},{"a":3}]')]
    assert [row for _, row in read(JSON, b'[{"a":1}; {"a":2}], {"a":3}]') if isinstance(row, dict)] == [
        {"a": 1}, {"a": 2}, {"a": 3},
    ]  # fmt: skip


def test_a_text_longer_than_what_is_read_at_once_is_whole():
    long = '"' * 200_000
    content = b'[{"a":"' + b'\\"' * 200_000 + b'"},{"a":1}]'
    assert read(JSON, content) == [(1, {"a": long}), (2, {"a": 1})]


def test_rows_of_ndjson():
    content = b'{"a":1}\n\n[1]\n{"a":\n' + b'{"a":"' + b"x" * MAX_ROW_BYTES + b'"}\n{"a":"\\u0000"}'
    rows = read(NDJSON, content)
    assert [number for number, _ in rows] == [1, 2, 3, 4, 5, 6]
    assert (
        rows[1][1] == "empty" and rows[2][1] == "It is not a JSON object." and rows[3][1].startswith("It is not JSON")
    )
    assert rows[4][1] == LIMIT and rows[5][1] == {"a": "\x00"}


@pytest.mark.parametrize(
    ("word", "advice"),
    [
        ("NaN", "Python and pandas write it for missing values: send null instead."),
        ("Infinity", "Send null or a finite number instead."),
        ("-Infinity", "Send null or a finite number instead."),
    ],
)
def test_numbers_that_json_does_not_have_are_named(tmp_path, word, advice):
    """Also in a file in which no row is without one, which its first lines tell to be JSON."""
    name = word.removeprefix("-")
    bad = f'{{"depth": {word}}}'
    column = 11 + (word != name)
    sentence = f"It is not JSON: JSON has no {name} (line 1, column {column}). {advice}"
    array = f'[{{"depth": 1.5}}, {bad}, {{"depth": 2}}]'.encode()
    assert read(JSON, array) == [(1, {"depth": 1.5}), (2, sentence), (3, {"depth": 2})]
    for lines in (1, 30):
        file = tmp_path / "x"
        file.write_text(f"{bad}\n" * lines)
        assert detect(file) == NDJSON
        assert [error for _, error in read(NDJSON, file.read_bytes())] == [sentence] * lines


# Other files --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"PK\x03\x04 xl/", "workbook"), (b"PK\x03\x04 x", "archive"), (b"\xd0\xcf\x11\xe0", "workbook"), (b"%PDF-1.7", "document"),
        (b"\x1f\x8b\x08", "compressed"), (b"\x89PNG\r\n", "picture"), (b"\xff\xd8\xff\xe0", "picture"), (b"RIFF\x01\0\0\0WEBP", "picture"),
        (b"SQLite format 3\x00", "database"), (b"PAR1", "data frame"), (bytes(range(32)) * 9, "not text"),
        (b"", "empty"), (b" \n\t", "empty"), (b"\xef\xbb\xbf", "empty"), (b"\xff\xfe\x00\x00a\x00\x00\x00", "UTF-32"),
        (b"<!DOCTYPE html><html><body>Not found", "web page"),
        (b"\n<html><head><title>Google Sheets: Sign-in</title>", "sign-in page"),
        (b'<?xml version="1.0"?>\n<TEI>', "XML"), (b'<kml xmlns="http://www.opengis.net/kml/2.2">\n', "XML"),
        (b'{\n  "type": "GeometryCollection",\n  "geometries": []\n}', "GeoJSON"),
        (b'{\n  "type": "Topology",\n  "objects": {}\n}', "GeoJSON"),
        (b'{"tasks": [{"a": 1}, {"a": 2}]}', "`tasks`"), (b'{\n  "a": 1\n}', "one JSON object"),
        (b"TY  - JOUR\nAU  - Darwin\nER  - \n", "references"), (b"@article{darwin,\n title = {x}}", "references"),
        (b"BEGIN:VCARD\nFN:Ada\n", "address book"), (b"INSERT INTO birds VALUES (1, 2);", "dump"),
    ],
)  # fmt: skip
def test_other_kinds_of_files_are_answered_with_what_to_do(tmp_path, content, words):
    file = tmp_path / "x"
    file.write_bytes(content)
    with pytest.raises(InvalidValueError, match=words):
        detect(file)


@pytest.mark.parametrize(
    ("content", "format_"),
    [
        (b"a,b", "csv"), (b" [", "json"), (b"\xef\xbb\xbf{}\n{}", "ndjson"), (b'"[x]",y\n', "csv"), (b"[name],b\n1,2\n", "csv"),
        (b'{"type": "Feature"}\n{"type": "Feature"}\n', "ndjson"), (b'{"a": 1}\n{"a"\n{"a": 3}\n', "ndjson"), (b'{"a": [1]}', "ndjson"),
        (b"RIFF,ID3\n1,2\n", "csv"), (b"name <b>,x\n1,2\n", "csv"), (b"@handle,b\n1,2\n", "csv"),
    ],
)  # fmt: skip
def test_the_format_is_told_from_the_beginning(tmp_path, content, format_):
    file = tmp_path / "x"
    file.write_bytes(content)
    assert detect(file).format == format_


def test_prose_in_one_column_is_not_cut_at_its_commas(tmp_path):
    table = examined(tmp_path, b"text\nHe\tcame\nHe saw, and left\nNever, ever, again\nx\ny\nz\n")
    assert (table.rows, table.refused, table.columns, table.doubts) == (6, 0, ["text"], ("one_column",))


def test_first_line_says_the_delimiter_where_the_rows_do_not(tmp_path):
    table = examined(tmp_path, b"a;b\n1\n2\n3;4\n")
    assert (table.dialect.delimiter, table.rows, table.refused) == (";", 3, 2)


def test_own_delimiter_of_a_file_is_taken_and_survives_being_stored(tmp_path):
    table = examined(tmp_path, b"sep=^\na^b,c\n1^2,3\n")
    assert table.columns == ["a", "b,c"] and Dialect.from_json(table.dialect.to_json()) == table.dialect


@pytest.mark.parametrize(
    "value",
    [None, [], {"format": "xml"}, {"format": "csv", "encoding": "rot13"}, {"format": "csv", "delimiter": "ab"},
     {"format": "csv", "delimiter": '"'}, {"format": "csv", "delimiter": "\n"}, {"format": "csv", "header": "yes"}],
)  # fmt: skip
def test_dialect_that_no_file_has_is_refused(value):
    with pytest.raises(InvalidValueError):
        Dialect.from_json(value)


# What a file holds --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "doubts"),
    [
        (b"a,b\n1,2\n", ()), (b"url\nx\n", ("one_column",)), (b"1,2\n3,4\n", ("no_header",)),
        (b"https://x.example/1.jpg\nhttps://x.example/2.jpg\n", ("one_column", "no_header")),
        (b"a,a\n1,2\n", ("no_header",)), (b"a,\n1,2\n", ("no_header",)), (b"2021-05-01,b\n1,2\n", ("no_header",)),
        (b"a,,b\nx,,y\n", ()),
        ("a,b\né,2\n".encode("latin-1"), ("encoding",)), (b'a,b\n1,"24\n2,24"\n', ("rows_in_cell",)), (b'a,b\n1,"x\ny"\n', ()),
        (b'{"a":1}\n', ()),
    ],
)  # fmt: skip
def test_doubts_are_asked(tmp_path, content, doubts):
    assert examined(tmp_path, content).doubts == doubts


def test_a_file_is_looked_at_in_one_go(tmp_path):
    content = b"url,n\n" + b"".join(b"x%d,%d\n" % (n, n) for n in range(50_000)) + b"bad\n,\n\n"
    rows: list[FileRow] = []
    tracemalloc.start()
    table = examined(tmp_path, content)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (table.columns, table.rows, table.refused, table.empty, len(table.sample)) == (["url", "n"], 50_001, 1, 2, 5)
    assert peak < 10_000_000
    inspect(tmp_path / "file", 5, table.dialect, rows.append)
    assert len(rows) == 50_003
    assert examined(tmp_path, content, Dialect("csv", "utf-8", ",", False)).rows == 50_002


@pytest.mark.parametrize("content", [b"url\n", b"[]", b"[1,2]", b"url,n\nx\n"])
def test_a_file_without_a_good_row_is_refused(tmp_path, content):
    with pytest.raises(InvalidValueError):
        examined(tmp_path, content)


# Damage -------------------------------------------------------------------------------------------------------------


@settings(max_examples=300, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 2**32),
    style=st.sampled_from(STYLES),
    encoding=st.sampled_from(ENCODINGS),
    damage=st.sampled_from(sorted(DAMAGE)),
    rows=st.integers(1, 40),
)
def test_damage_costs_the_rows_that_it_touches(seed, style, encoding, damage, rows):
    dice = random.Random(seed)
    file = good_file(dice, style, encoding, rows)
    assert list(violations(file, DAMAGE[damage](dice, file))) == []
    assert list(violations(file, Damaged(file.content, set()))) == []


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    content=st.one_of(st.binary(max_size=300), st.text('"",;\n\r\tab1[]{}:\\é', max_size=120).map(str.encode)),
    format_=st.sampled_from(["csv", "json", "ndjson"]),
    encoding=st.sampled_from(ENCODINGS),
)
def test_anything_can_be_read(content, format_, encoding):
    rows = list(read_rows(Dialect(format_, encoding, "," if format_ == "csv" else ""), io.BytesIO(content)))
    assert all((row.values is not None) + bool(row.error) + row.empty == 1 for row in rows)


@pytest.mark.parametrize("file", sorted(CORPUS.rglob("*.*")), ids=lambda file: file.name)
def test_nasty_files_that_were_met_give_the_rows_that_they_have(file):
    """The name says what is expected: <what>.<good>-<refused>-<empty>.<ending>, or <what>.foreign.<ending>."""
    expected = file.name.split(".")[1]
    if expected == "foreign":
        with pytest.raises(InvalidValueError):
            detect(file)
        return
    table = inspect(file, 5)
    assert f"{table.rows - table.refused}-{table.refused}-{table.empty}" == expected
