"""Workbooks: what their cells become, which sheet is read, and hostile ones."""

from __future__ import annotations

import resource
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest
from support.workbooks import (
    DATE,
    DURATION,
    MOMENT,
    TIME,
    cell,
    ods,
    ods_cell,
    ods_row,
    row,
    table,
    xlsx,
    xlsx_members,
    zipped,
)

from crowdd.features.imports.files import Dialect, Inspected, detect, inspect, read_rows
from crowdd.features.imports.prepared import process as prepared_process
from crowdd.features.imports.prepared.process import discard, prepare
from crowdd.kernel.concurrency.isolated import command
from crowdd.kernel.errors import CrowddError, StoppedError

PLAIN = table([["name", "n"], ["fox", 3]])


def test_without_its_library_the_extra_is_named(tmp_path, monkeypatch):
    path = tmp_path / "path"
    path.mkdir()
    (path / "python_calamine.py").write_text("raise ModuleNotFoundError('python_calamine')\n")
    monkeypatch.setenv("PYTHONPATH", str(path))
    with pytest.raises(CrowddError, match=r"pip install 'crowdd\[workbooks\]'"):
        rows_of(kept(tmp_path, xlsx({"Sheet": PLAIN})))


def kept(folder: Path, content: bytes) -> Path:
    path = folder / "book"
    path.write_bytes(content)
    return path


def rows_of(path: Path, **chosen: Any) -> list[Any]:
    """The rows of a workbook: number, values or reason; "empty" for empty ones."""
    dialect = Dialect.from_json({**detect(path).to_json(), **chosen})
    with prepare(path, dialect).open("rb") as file:
        return [(r.number, "empty" if r.empty else r.values or r.error) for r in read_rows(dialect, file)]


def examined(path: Path, **chosen: Any) -> Inspected:
    dialect = Dialect.from_json({**detect(path).to_json(), **chosen})
    return inspect(prepare(path, dialect), 5, dialect)


def refusal(folder: Path, content: bytes, **chosen: Any) -> str:
    path = kept(folder, content)
    with pytest.raises(CrowddError) as error:
        examined(path, **chosen)
    assert {each.name for each in folder.iterdir()} <= {"book", "book.rows"}, (
        "no draft is left of a file that was refused"
    )
    discard(path)
    return str(error.value)


def test_cells_keep_their_values_and_formulas_those_that_were_stored(tmp_path):
    names = row(3, *(cell(f"{at}3", name) for at, name in zip("BCDEFGHIJ", "abcdefghi", strict=True)))
    values = row(
        6,
        cell("B6", 12),
        cell("C6", 0.1),
        cell("D6", 45000, DATE),
        cell("E6", 45000.5, MOMENT),
        cell("F6", 1.5, DURATION),
        cell("G6", 0.25, TIME),
        cell("H6", True),
        cell("I6", 42, formula="WEBSERVICE(&quot;http://127.0.0.1:9/&quot;)"),
        cell("J6", "=cmd|x", formula="HYPERLINK(1)"),
    )
    rows = rows_of(kept(tmp_path, xlsx({"One": names + values + row(7) + row(8, cell("C8", " "), cell("K8", "j"))})))
    expected = {
        "a": 12, "b": 0.1, "c": "2023-03-15", "d": "2023-03-15T12:00:00", "e": "PT36H", "f": "06:00:00", "g": True,
        "h": 42, "i": "=cmd|x", "column_10": "",
    }  # fmt: skip
    assert rows[:3] == [(4, "empty"), (5, "empty"), (6, expected)]
    assert rows[3] == (7, "empty") and rows[4][0] == 8 and rows[4][1]["column_10"] == "j"


def test_an_opendocument_sheet_is_read_alike_and_repeated_rows_are_counted(tmp_path):
    head = ods_row(ods_cell("string", "name"), ods_cell("string", "n"), ods_cell("string", "day"))
    cells = (ods_cell("string", "fox"), ods_cell("float", "3", "of:=1+2"), ods_cell("date", "2024-02-29"))
    path = kept(tmp_path, ods("One", head + ods_row(*cells, repeated=2) + ods_row(repeated=1_000_000)))
    fox = {"name": "fox", "n": 3, "day": "2024-02-29"}
    rows = rows_of(path)
    assert [(number, {**values, "day": values["day"][:10]}) for number, values in rows] == [(2, fox), (3, fox)]
    assert detect(path).format == "ods"


def test_the_first_visible_sheet_with_rows_is_read_unless_another_is_named(tmp_path):
    path = kept(tmp_path, xlsx({"Codes": table([["c"], [1]]), "Empty": "", "Data": PLAIN}, hidden=["Codes"]))
    workbook = examined(path)
    assert workbook.sheets == (
        {"name": "Codes", "hidden": True, "rows": 2, "chosen": False},
        {"name": "Empty", "hidden": False, "rows": 0, "chosen": False},
        {"name": "Data", "hidden": False, "rows": 2, "chosen": True},
    )
    assert (workbook.columns, workbook.dialect.sheet, workbook.rows) == (["name", "n"], "Data", 1)
    made = (tmp_path / "book.rows").stat().st_mtime_ns
    assert examined(path, sheet="Data").columns == ["name", "n"]
    assert (tmp_path / "book.rows").stat().st_mtime_ns == made, "a file is read into rows once"
    assert examined(path, sheet="Codes").columns == ["c"]
    with pytest.raises(CrowddError, match=r"no sheet Nope\. Its sheets: Codes, Empty, Data"):
        examined(path, sheet="Nope")
    with pytest.raises(CrowddError, match="sheet Empty is empty"):
        examined(path, sheet="Empty")
    assert examined(path, sheet="Data", header=False).columns == ["column_1", "column_2"]
    discard(path)
    assert list(tmp_path.iterdir()) == []


def test_days_before_1900_are_those_that_were_typed(tmp_path):
    # As LibreOffice and openpyxl write 1890-01-02 and 1899-12-29 06:00; spreadsheets have no serial below zero.
    days = (-3649, -0.75, 45_000, 2)
    rows = row(1, cell("A1", "name"), cell("B1", "day"))
    rows += "".join(row(n, cell(f"A{n}", "x"), cell(f"B{n}", day, DATE)) for n, day in enumerate(days, 2))
    read = rows_of(kept(tmp_path, xlsx({"One": rows})))
    assert [values["day"] for _, values in read] == ["1890-01-02", "1899-12-29T06:00:00", "2023-03-15", "1900-01-02"]


def test_a_cell_that_is_not_of_the_type_of_its_column_refuses_its_row_and_says_which_it_is(tmp_path):
    rows = row(1, cell("A1", "name"), cell("B1", "day"), cell("C1", "sum"))
    rows += row(2, cell("A2", "fox"), cell("B2", 45_000, DATE), cell("C2", 1))
    rows += row(3, cell("A3", "owl"), cell("B3", 0, DATE), cell("C3", 2))
    rows += row(4, cell("A4", "elk"), cell("B4", 45_001, DATE), '<c r="C4" t="e"><v>#DIV/0!</v></c>')
    rows += row(5, cell("A5", "eel"), cell("B5", 45_002, DATE), '<c r="C5"><f>A1&amp;B1</f></c>')
    rows += row(6, cell("A6", "emu"), cell("B6", 45_003, DATE), '<c r="C6" t="str"><f>""</f><v></v></c>')
    rows += row(7, cell("A7", "ewe"), cell("B7", 45_004, DATE), '<c r="C7"><f>1+1</f><v /></c>')
    read = rows_of(kept(tmp_path, xlsx({"One": rows})))
    assert read[0] == (2, {"name": "fox", "day": "2023-03-15", "sum": 1})
    assert [read[n][0] for n in range(6)] == [2, 3, 4, 5, 6, 7]
    assert "B3 has a time of day" in str(read[1][1]) and "C4 has the error #DIV/0!" in str(read[2][1])
    assert "C5 has a formula without its result" in str(read[3][1]) and read[4][1]["sum"] == ""
    assert "C7 has a formula without its result" in str(read[5][1]), "as openpyxl writes it"
    times = row(1, cell("A1", "n"), cell("B1", "at")) + row(2, cell("A2", 1), cell("B2", 0, TIME))
    (tmp_path / "other").mkdir()
    assert rows_of(kept(tmp_path / "other", xlsx({"One": times})))[0] == (2, {"n": 1, "at": "00:00:00"})


def test_decimals_are_those_that_were_typed(tmp_path):
    typed = [6982.299999999999, 0.1 + 0.2, 1e-7, 1234.5678901234]
    path = kept(tmp_path, xlsx({"One": table([["n"], *([value] for value in typed)])}))
    assert [values["n"] for _, values in rows_of(path)] == [6982.3, 0.3, 1e-7, 1234.5678901234]


def test_titles_above_the_names_and_a_cover_are_passed_over_and_the_owner_may_say_otherwise(tmp_path):
    titled = table(
        [
            ["Birds of 1954"],
            ["Museum of the island"],
            [],
            ["name", "n", "place"],
            ["fox", 3, "a"],
            ["owl", 4, "b"],
        ]
    )
    path = kept(tmp_path, xlsx({"Cover": table([["Birds"]]), "Data": titled}))
    workbook = examined(path)
    assert (workbook.dialect.sheet, workbook.dialect.line, workbook.columns) == ("Data", 4, ["name", "n", "place"])
    assert [sheet["rows"] for sheet in workbook.sheets] == [1, 6] and workbook.rows == 2
    assert rows_of(path)[-1] == (6, {"name": "owl", "n": 4, "place": "b"})
    assert examined(path, line=5).columns == ["fox", "3", "a"]
    assert examined(path, line=1).columns == ["Birds of 1954", "column_2", "column_3"]
    csv = kept(tmp_path, b"Birds of 1954;;\r\n\r\nname;n;place\r\nfox;3;a\r\nowl;4;b\r\n")
    assert detect(csv).line == 3 and inspect(csv, 5).columns == ["name", "n", "place"] and inspect(csv, 5).rows == 2
    assert inspect(csv, 5, Dialect("csv", delimiter=";", line=4)).columns == ["fox", "3", "a"]
    for plain in (
        b"name;n\nfox;3\n",
        b"name\nfox\nowl\n",
        b"sep=;\nname;n\nfox;3\n",
        b"a,b,c\n1,,\n2,,\n",
        b"a,\n1,2\n3,4\n",
    ):
        assert detect(kept(tmp_path, plain)).line == 0, plain
    for wrong in (-1, 1001, "3", True):
        with pytest.raises(CrowddError, match="line"):
            Dialect.from_json({"format": "csv", "line": wrong})


def test_a_sheet_that_claims_more_than_memory_holds_is_refused(tmp_path):
    corners = row(1, cell("A1", "a")) + row(1_048_576, cell("XFD1048576", 1))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert "too much memory or time" in refusal(tmp_path, xlsx({"One": corners}))
    within_reach_of_many_machines = row(1, cell("A1", "a")) + row(1_048_576, cell("BZ1048576", 1))  # about 2 GB
    assert "too much memory or time" in refusal(tmp_path, xlsx({"One": within_reach_of_many_machines}))
    wide = ods_cell("string", "a").replace(
        "<table:table-cell", '<table:table-cell table:number-columns-repeated="16384"'
    )
    billion = ods_row(wide, repeated=1_000_000_000)
    assert "The workbook cannot be read" in refusal(tmp_path, ods("One", billion))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < before + 20_000, "kB"


def test_a_workbook_that_unpacks_to_too_much_is_refused_before_it_is_read(tmp_path):
    bomb = xlsx({"One": PLAIN + row(3, cell("A3", "x" * 20_000_000))})
    assert len(bomb) < 50_000
    with pytest.raises(CrowddError, match="unpacks to 20,"):
        detect(kept(tmp_path, bomb))


def test_a_workbook_whose_members_lie_about_their_size_is_bounded_by_its_process(tmp_path):
    bomb = xlsx({"One": row(1, *(cell("A1", "x" * 100_000) for _ in range(300)))})
    with zipfile.ZipFile(kept(tmp_path, bomb)) as archive:
        true = archive.getinfo("xl/worksheets/sheet1.xml").file_size
    lie = bomb.replace(true.to_bytes(4, "little"), (1000).to_bytes(4, "little"))
    assert lie != bomb and detect(kept(tmp_path, lie)).format == "xlsx"
    words = refusal(tmp_path, lie)
    assert "cannot be read" in words or "too much memory or time" in words or "no rows" in words


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (zipped({"xl/workbook.xml": "<a"}), "cannot be read"),
        (zipped({"xl/workbook.xml": "not xml"}), "cannot be read"),
        (xlsx({"One": ""}), "The sheet One is empty"),
        (xlsx({"One": PLAIN})[:-40], "workbook"),
        (zipped({**xlsx_members({"One": PLAIN}), "xl/worksheets/sheet1.xml": "<worksheet><sheetData><row"}), ""),
        (xlsx({"One": row(1, cell("A1", "a"), cell("SG1", "b")) + row(2, cell("A2", 1))}), "more than 500 columns"),
        (xlsx({"One": table([["a"]])}), "The file has no rows"),
    ],
)
def test_damaged_workbooks_are_refused_with_a_sentence(tmp_path, content, words):
    sentence = refusal(tmp_path, content)
    assert words in sentence and sentence.endswith(".") and str(tmp_path) not in sentence


def test_entities_and_links_to_other_files_are_not_followed(tmp_path):
    secret = kept(tmp_path, b"SECRET").rename(tmp_path / "secret")
    head = f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "file://{secret}"><!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'
    sheet = f'{head}<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{table([["a"], ["&e;&b;"], ["x"]])}</sheetData></worksheet>'
    members = {**xlsx_members({"One": PLAIN}), "xl/worksheets/sheet1.xml": sheet}
    external = '<?xml version="1.0"?><externalLink xmlns:r="r"><externalBook r:id="rId1"/></externalLink>'
    path = kept(tmp_path, zipped({**members, "xl/externalLinks/externalLink1.xml": external}))
    try:
        text = str(rows_of(path))
    except CrowddError as error:
        text = str(error)
    assert "SECRET" not in text and "aaaa" not in text


def test_a_cell_beyond_the_limit_of_a_row_refuses_that_row_alone(tmp_path):
    long = [["a", "b"], ["x" * 30_000, 1], *([["y", "z" * 1_000]] * 2)]
    wide = row(5, *(cell(f"{chr(65 + n)}5", "w" * 32_000) for n in range(2)))
    path = kept(tmp_path, xlsx({"One": table(long) + wide}))
    assert len(rows_of(path)) == 4
    discard(path)
    huge = row(4, cell("A4", "q" * 1_100_000))
    rows = rows_of(kept(tmp_path, zipped(xlsx_members({"One": table(long[:2]) + row(3, cell("A3", "ok")) + huge}), 0)))
    assert [number for number, _value in rows] == [2, 3, 4]
    assert rows[2][1] == "It is longer than 1,000,000 bytes."


def test_the_process_has_its_limits_before_it_reads():
    code = (
        "import resource; from crowdd.features.imports.prepared import program; program.LIMITS.apply();"
        "print(*(resource.getrlimit(getattr(resource, 'RLIMIT_' + name))[0] for name in ('AS', 'CPU', 'FSIZE', 'CORE')))"
    )
    done = subprocess.run([command("x")[0], "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["1000000000", "100", "600000000", "0"]


def test_a_process_that_is_told_to_end_says_nothing_of_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(prepared_process, "_PROGRAM", "killed:end")
    (tmp_path / "killed.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(StoppedError):
        rows_of(kept(tmp_path, xlsx({"One": PLAIN})))
    (tmp_path / "killed.py").write_text("import os, signal\n\nos.kill(os.getpid(), signal.SIGKILL)\n")
    assert "too much memory or time" in refusal_of(tmp_path / "book")


def test_a_process_that_takes_too_long_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(prepared_process, "MAX_SECONDS", 0.05)
    assert "too much memory or time" in refusal_of(kept(tmp_path, xlsx({"One": PLAIN})))


def refusal_of(path: Path) -> str:
    with pytest.raises(CrowddError) as error:
        prepare(path, Dialect("xlsx"))
    assert not [*path.parent.glob("book.*")]
    return str(error.value)
