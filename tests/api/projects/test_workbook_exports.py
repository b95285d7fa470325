"""Tables that stand alone: workbooks, columns of tasks beside answers, wide tables, and separators."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import subprocess
import zipfile
import zlib
from datetime import datetime, timedelta
from typing import Any

import openpyxl
import pandas
import pytest
import pytest_twisted
from python_calamine import CalamineWorkbook
from support.checks.shows import shows
from twisted.internet.threads import deferToThread

from crowdd.core.text.words import column_letters
from crowdd.features.exports import workbooks
from crowdd.features.exports.column_statements import Column
from crowdd.features.exports.workbooks import SmallSheet, Workbook

QUESTIONS = {
    "version": 1,
    "steps": [
        {
            "name": "look",
            "questions": [
                {
                    "name": "seen",
                    "type": "multiple_choice",
                    "text": "What do you see?",
                    "choices": [{"value": "fox", "text": "Red fox"}, {"value": "owl", "text": "Owl"}],
                },
                {
                    "name": "how",
                    "type": "matrix",
                    "text": "How much?",
                    "rows": [{"value": "snow", "text": "Snow"}, {"value": "rain", "text": "Rain"}],
                    "columns": [{"value": "little", "text": "A little"}, {"value": "much", "text": "Much"}],
                },
                {
                    "name": "best",
                    "type": "ranking",
                    "text": "Best first",
                    "choices": [{"value": "a", "text": "A"}, {"value": "b", "text": "B"}],
                },
                {"name": "day", "type": "date", "text": "When?", "partial": True},
                {"name": "note", "type": "short_text", "text": "Anything else?"},
            ],
        }
    ],
}
ANSWERS = [
    {"seen": ["owl"], "how": {"snow": "much"}, "best": ["b", "a"], "day": "1954-02-03", "note": "=1+1"},
    {"seen": ["fox", "owl"], "how": {"snow": "little", "rain": "much"}, "best": ["a", "b"], "day": "1890-01-02", "note": "-"},
    {"day": "1954", "note": " <b>&amp; \n\t_x0041_ \u0001 "},
]  # fmt: skip
TASKS = [
    {"filename": "owl 1.jpg", "url": "https://birds.example/1.jpg?a=1&b=2", "made": "1999-12-31", "n": 12345678901234567},
    {"filename": "=2.jpg", "url": "https://birds.example/2.jpg", "made": "1899-12-31", "secret": "nest"},
    {"filename": "3.jpg", "deep": {"lat": 1.5, "lon": [1, 2]}},
]  # fmt: skip


async def birds(served: Any) -> tuple[Any, Any, dict[str, Any]]:
    """An owner, a volunteer, and a published project in which each task has one answer."""
    owner, ada = await served.person("owner"), await served.person("ada")
    project = await served.project(owner)
    rows = [{"project_id": project["id"], "info": info, "n_answers": 1} for info in TASKS]
    project["tasks"] = [task["id"] for task in (await owner.post("/api/task", json=rows)).json()]
    info = {"questions": QUESTIONS, "column_roles": {"secret": "hidden"}}
    changed = await owner.put(f"/api/project/{project['id']}", json={"info": info})
    assert changed.status == 200, changed.text
    assert (await owner.post("/project/birds/publish", json={})).status == 200
    for answer in ANSWERS:
        task = (await ada.get(f"/api/{project['id']}/newtask")).json()["id"]
        body = {"project_id": project["id"], "task_id": task, "info": answer}
        assert (await ada.post("/api/taskrun", json=body)).status == 200
    return owner, ada, project


async def exported(client: Any, project: dict[str, Any], query: str) -> Any:
    answer = await client.get(f"/api/project/{project['id']}/export?{query}")
    assert answer.status == 200, answer.text
    return answer


def sheets(body: bytes) -> dict[str, list[dict[str, Any]]]:
    """The rows of each sheet as pandas reads them; empty cells are left out."""
    read = pandas.read_excel(io.BytesIO(body), sheet_name=None, engine="calamine", dtype=object)
    return {
        name: [{key: value for key, value in row.items() if value == value} for row in rows.to_dict("records")]
        for name, rows in read.items()
    }


@shows("export-workbook")
@pytest_twisted.ensureDeferred
async def test_a_workbook_has_results_answers_tasks_questions_and_columns_with_their_types(served):
    owner, _, project = await birds(served)
    answer = await exported(owner, project, "type=workbook&format=xlsx&task=columns")
    assert "openxmlformats" in answer.header("Content-Type")
    book = sheets(answer.body)
    assert [*book] == ["Results", "Answers", "Tasks", "Questions", "Columns"]
    one, two, three = book["Answers"]
    assert one["task_info_filename"] == "owl 1.jpg" and two["task_info_filename"] == "=2.jpg"
    assert one["task_info_url"] == TASKS[0]["url"] and one["task_info_n"] == str(TASKS[0]["n"])
    assert str(one["task_info_made"])[:10] == "1999-12-31" and one["task_info_made"] != "1999-12-31", "a date"
    assert two["task_info_made"] == "1899-12-31" and two["task_info_secret"] == "nest"
    assert (one["info_seen_fox"], one["info_seen_owl"]) == (False, True) and "info_seen_owl" not in three
    assert (one["info_how_snow"], two["info_how_rain"]) == ("much", "much") and "info_how_rain" not in one
    assert (one["info_best_a"], one["info_best_b"]) == (2, 1)
    assert str(one["info_day"])[:10] == "1954-02-03" and two["info_day"] == "1890-01-02"
    assert str(three["info_day"]) == "1954" and one["info_note"] == "=1+1" and two["info_note"] == "-"
    assert one["task_id"] == project["tasks"][0] and "project_id" not in one
    stored = (await owner.get(f"/api/taskrun?project_id={project['id']}")).json()[0]
    assert one["finish_time"].isoformat()[:19] == stored["finish_time"][:19]
    assert [row["task_info_filename"] for row in book["Results"]] == [task["filename"] for task in TASKS]
    assert book["Tasks"][2]["info_deep_lat"] == 1.5 and book["Tasks"][2]["info_deep_lon"] == "1; 2"
    assert {"Question": "What do you see?", "Name": "seen", "Choice": "Red fox", "Value": "fox"} in book["Questions"]
    meanings = {(row["Sheet"], row["Column"]): row.get("Meaning", "") for row in book["Columns"]}
    assert "owl" in meanings["Answers", "info_seen_owl"] and ("Tasks", "info_filename") in meanings
    assert not [
        cell for rows in book.values() for row in rows for cell in row.values() if str(cell).startswith(("{", "["))
    ]
    read = openpyxl.load_workbook(io.BytesIO(answer.body))
    assert read["Answers"].freeze_panes == "A2"
    assert [sheet.title for sheet in read if sheet.sheet_view.tabSelected] == ["Results"]
    cells = {cell.value: cell for cell in read["Answers"][1]}
    link = read["Answers"][2][cells["task_info_url"].column - 1]
    assert link.data_type == "f" and link.value == f'=HYPERLINK("{TASKS[0]["url"]}")'
    note = read["Answers"][2][cells["info_note"].column - 1]
    assert note.data_type == "s" and note.value == "=1+1" and cells["id"].font.bold
    assert read["Answers"][2][cells["finish_time"].column - 1].is_date


@pytest_twisted.ensureDeferred
async def test_nasty_texts_of_a_workbook_are_those_that_were_answered(served):
    owner, _, project = await birds(served)
    texts = ["=1", "+1", "@a", "-1", "'", "", " ", "\r\n", "a\rb", "]]>", "<t>", "&lt;", "_x000D_", "\x1f", "007", "1e5",
             "true", "x" * 32_767, "\U0001f98a" * 5, "\u202e\u0645", "NaN", "https://birds.example/", "\t"]  # fmt: skip
    rows = [{"project_id": project["id"], "info": {"text": text}, "n_answers": 9} for text in texts]
    assert (await owner.post("/api/task", json=rows)).status == 200
    body = (await exported(owner, project, "type=task&format=xlsx")).body
    names, *read = CalamineWorkbook.from_filelike(io.BytesIO(body)).get_sheet_by_name("Tasks").to_python()
    assert [row[names.index("info_text")] for row in read][len(TASKS) :] == texts
    long = [{"project_id": project["id"], "info": {"text": text}} for text in ("y" * 40_000, "\U0001f98a" * 30_000)]
    assert (await owner.post("/api/task", json=long)).status == 200
    body = (await exported(owner, project, "type=task&format=xlsx")).body
    cut = [
        row[names.index("info_text")]
        for row in CalamineWorkbook.from_filelike(io.BytesIO(body)).get_sheet_by_name("Tasks").to_python()[-2:]
    ]
    assert cut == ["y" * 32_766 + "…", "\U0001f98a" * 16_383 + "…"]


@pytest.mark.proof
@pytest.mark.skipif(
    not shutil.which("soffice"), reason="LibreOffice is not installed: apt-get install libreoffice-calc-nogui"
)
@pytest_twisted.ensureDeferred
async def test_libreoffice_reads_the_same_cells_with_their_types(served, tmp_path):
    owner, _, project = await birds(served)
    path = tmp_path / "birds.xlsx"
    path.write_bytes((await exported(owner, project, "type=workbook&format=xlsx&task=columns")).body)
    await deferToThread(
        subprocess.run,
        ["soffice", f"-env:UserInstallation={tmp_path.as_uri()}/home", "--headless", "--convert-to", "ods", path.name],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    ours, theirs = (CalamineWorkbook.from_path(tmp_path / f"birds.{ending}") for ending in ("xlsx", "ods"))
    assert theirs.sheet_names == ours.sheet_names
    for name in ours.sheet_names:
        rows, read = (book.get_sheet_by_name(name).to_python() for book in (ours, theirs))
        assert len(read) == len(rows)
        for row, other in zip(rows, read, strict=True):
            padded = [*other, *[""] * (len(row) - len(other))]
            assert [plain(cell) for cell in padded] == [plain(cell) for cell in row], name


def plain(cell: object) -> tuple[type, object]:
    """A cell with its type: yes and no are numbers to LibreOffice, people read moments in seconds, and ODS has no controls."""
    if isinstance(cell, bool):
        return float, float(cell)
    if isinstance(cell, str):
        return str, re.sub("[\x01-\x08\t\x0b-\x1f]", "", cell)
    return type(cell), (cell + timedelta(seconds=0.5)).replace(microsecond=0) if isinstance(cell, datetime) else cell


@pytest_twisted.ensureDeferred
async def test_rows_beyond_the_limit_go_on_in_further_sheets(served, monkeypatch):
    monkeypatch.setattr(workbooks, "MAX_ROWS", 2)
    monkeypatch.setattr(workbooks.Workbook.__init__, "__defaults__", (2,))
    owner, _, project = await birds(served)
    book = sheets((await exported(owner, project, "type=task&format=xlsx")).body)
    assert [*book] == ["Tasks", "Tasks 2", "Questions", "Columns"]
    rows = [row["id"] for name in ("Tasks", "Tasks 2") for row in book[name]]
    assert rows == project["tasks"] and len(book["Tasks"]) == 2


@pytest.mark.parametrize("pieces", [[7], [1] * 7, [3, 4], [2, 5]])
def test_sheets_are_the_same_however_the_rows_come(pieces):
    book, written = Workbook(3), b""
    written += book.begin_sheet("A", [Column("n", "integer", "t.n")])
    first = 0
    for size in pieces:
        lines = (f'<row r="{n % 3 + 2}"><c r="A{n % 3 + 2}"><v>{n}</v></c></row>' for n in range(first, first + size))
        written += book.add("\n".join(lines).encode(), size)
        first += size
    written += book.end([SmallSheet("About", [["a", "b"], ["=1", "x"]])])
    read = CalamineWorkbook.from_filelike(io.BytesIO(written))
    assert read.sheet_names == ["A", "A 2", "A 3", "About"]
    numbers = [row[0] for name in read.sheet_names[:3] for row in read.get_sheet_by_name(name).to_python()[1:]]
    assert numbers == [*range(7)] and read.get_sheet_by_name("About").to_python() == [["a", "b"], ["=1", "x"]]


def test_columns_have_the_names_that_spreadsheets_give_them():
    assert [column_letters(nth) for nth in (0, 25, 26, 51, 52, 701, 702, 16383)] == [
        "A",
        "Z",
        "AA",
        "AZ",
        "BA",
        "ZZ",
        "AAA",
        "XFD",
    ]


@shows("export-task-columns")
@pytest_twisted.ensureDeferred
async def test_columns_of_the_task_stand_beside_each_row_and_hidden_ones_for_owners_only(served):
    owner, ada, project = await birds(served)
    shapes = ("type=task_run", "type=result", "type=consensus", "type=task_run&rows=mark", "type=task_run&rows=task")
    for shape in shapes:
        formats = ("csv", "ndjson", "json", "parquet", "arrow", "xlsx", "dictionary")
        for format_ in (*formats, *(["geojson"] if shape in ("type=task_run", "type=consensus") else [])):
            query = f"{shape}&format={format_}&task=columns"
            files = [(await exported(who, project, query)).body for who in (owner, ada, served.client())]
            if format_ == "xlsx":
                files = [json.dumps(sheets(file), default=str).encode() for file in files]
            if format_ not in ("parquet", "arrow", "geojson"):  # compressed, and without a place
                assert b"task_info_filename" in files[1], query
                assert b"secret" in files[0], query
            assert not [file for file in files[1:] if b"secret" in file or b"nest" in file], query
    rows = [json.loads(line) for line in (await exported(owner, project, "task=columns")).text.splitlines()]
    assert [row["task_info_filename"] for row in rows] == [task["filename"] for task in TASKS]
    assert rows[0]["task_info_n"] == TASKS[0]["n"] and rows[2]["task_info_deep"] == TASKS[2]["deep"]
    for wrong in ("type=task&task=columns", "type=volunteer&task=columns", "task=yes", "task=columns&since="):
        refused = await owner.get(f"/api/project/{project['id']}/export?{wrong}")
        assert refused.status == 415, wrong


@shows("export-wide")
@pytest_twisted.ensureDeferred
async def test_csv_has_the_separator_of_the_reader_times_with_z_and_no_json_in_wide_cells(served):
    owner, _, project = await birds(served)
    text = {}
    for name, sign in (("comma", ","), ("semicolon", ";"), ("tab", "\t")):
        text[name] = (await exported(owner, project, f"format=csv&info=wide&task=columns&separator={name}")).text
        read = csv.DictReader(io.StringIO(text[name], newline=""), delimiter=sign)
        rows = [*read]
        assert [row["task_info_filename"] for row in rows] == ["owl 1.jpg", "'=2.jpg", "3.jpg"], name
        assert [row["info_seen_owl"] for row in rows] == ["true", "true", ""]
        assert all(row["finish_time"].endswith("Z") and len(row["finish_time"]) == 27 for row in rows)
        assert not [cell for row in rows for cell in row.values() if cell.startswith(("{", "["))]
        assert rows[2]["task_info_deep_lon"] == "1; 2"
    assert (await owner.get(f"/api/project/{project['id']}/export?format=csv&separator=pipe")).status == 415


@shows("export-wide")
@pytest_twisted.ensureDeferred
async def test_headings_are_the_words_of_the_questions_and_the_labels_of_choices(served):
    owner, _, project = await birds(served)
    options = "format=csv&info=wide&task=columns&headings=words"
    file = await exported(owner, project, f"type=task_run&{options}")
    names = (await exported(owner, project, "type=task_run&format=csv&info=wide&task=columns")).text.splitlines()[0]
    heading, first = next(csv.reader([file.text.splitlines()[0]])), names.split(",")
    assert len(heading) == len(first) == len({*heading})
    words = dict(zip(first, heading, strict=True))
    assert words["info_seen_owl"] == "What do you see? – Owl" and words["info_how_snow"] == "How much? – Snow"
    assert words["info_day"] == "When?" and words["task_info_filename"] == "Task: filename" and words["id"] == "id"
    heading = (await exported(owner, project, f"type=result&{options}")).text.splitlines()[0]
    assert "What do you see?" in heading and "What do you see? – Agreement" in heading
    book = sheets((await exported(owner, project, "type=workbook&format=xlsx&headings=words")).body)
    rows = {(row["Sheet"], row["Column"]): row["Name"] for row in book["Columns"]}
    assert rows["Answers", "What do you see? – Owl"] == "info_seen_owl"
    assert {"What do you see? – Owl", "When?"} <= book["Answers"][0].keys()
    wrong = await owner.get(f"/api/project/{project['id']}/export?format=csv&headings=loud")
    assert wrong.status == 415


@pytest_twisted.ensureDeferred
async def test_places_have_coordinates_and_areas_an_outline_in_rows_of_marks(served):
    owner, ada, project = await birds(served)
    place = {"geometry": {"type": "Point", "coordinates": [9.5, 54.25]}}
    area = {"geometry": {"type": "Polygon", "coordinates": [[[0, 0], [0, 1], [1, 1], [0, 0]]]}}
    line = {"points": [[1, 2], [3, 4.5]], "text": "Ahoi"}
    task = (await owner.post("/api/task", json={"project_id": project["id"], "info": {}, "n_answers": 1})).json()["id"]
    await ada.get(f"/api/{project['id']}/newtask")
    body = {"project_id": project["id"], "task_id": task, "info": {"places": [place, area, line]}}
    assert (await ada.post("/api/taskrun", json=body)).status == 200
    owned = (await owner.put(f"/api/project/{project['id']}", json={"info": {}})).status
    assert owned == 200
    rows = [json.loads(row) for row in (await exported(owner, project, "rows=mark")).text.splitlines()]
    marks = [row for row in rows if row["field"] == "places"]
    assert [(row["longitude"], row["latitude"]) for row in marks] == [(9.5, 54.25), (None, None), (None, None)]
    assert [row["outline"] for row in marks] == [None, "POLYGON ((0 0, 0 1, 1 1, 0 0))", "LINESTRING (1 2, 3 4.5)"]
    assert [row["text"] for row in marks] == [None, None, "Ahoi"]
    collection = json.loads((await exported(owner, project, "format=geojson&task=columns")).text)
    features = collection["features"]
    assert collection["type"] == "FeatureCollection" and {each["type"] for each in features} == {"Feature"}
    assert [each["geometry"] for each in features] == [place["geometry"], area["geometry"]]
    about = features[1]["properties"]
    assert (about["task_id"], about["field"], about["mark"]) == (task, "places", 2) and "outline" not in about
    none = json.loads((await exported(owner, project, "type=consensus&format=geojson")).text)
    assert none == {"type": "FeatureCollection", "features": []}
    assert (await owner.get(f"/api/project/{project['id']}/export?type=task&format=geojson")).status == 415


def test_sheets_are_compressed_as_fast_as_they_are_made():
    """The sixth level, which zip takes by itself, costs four times as much as the third for a tenth of the size."""
    book, lines = Workbook(), "\n".join(f'<row r="{n}"><c r="A{n}"><v>{n * n}</v></c></row>' for n in range(2, 5000))
    written = book.begin_sheet("A", [Column("n", "integer", "t.n")]) + book.add(lines.encode(), 4998) + book.end([])
    archive = zipfile.ZipFile(io.BytesIO(written))
    sheet = archive.getinfo("xl/worksheets/sheet1.xml")
    sizes = [len(zlib.compress(archive.read(sheet), level, -15)) for level in (3, 6)]
    assert sizes[0] == sheet.compress_size != sizes[1]
