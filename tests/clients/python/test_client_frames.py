"""DataFrames: what is read becomes columns of one type, and tables become tasks."""

from __future__ import annotations

import datetime as dt
import decimal
import json
import sys
import uuid

import numpy
import pandas
import polars
import pyarrow
import pytest
from crowdd_client import Export, InvalidValueError
from crowdd_client.export import FILES
from crowdd_client.frames import columns
from crowdd_client.values import json_value
from support.person import Person

INFOS = [
    {"answer": "yes", "count": 3, "share": 1, "sure": True, "mixed": 1, "boxes": [{"x": 1}]},
    {"answer": "NaN", "count": None, "share": 0.5, "sure": None, "mixed": "one", "big": 12345678901234567890},
    "just text",
]


@pytest.fixture
def answers(project, live_server):
    """Answers of one volunteer with these infos."""
    project.add_tasks([{"n": n} for n in range(len(INFOS))])
    project.publish()
    volunteer = Person(live_server.url).register(f"v{uuid.uuid4().hex[:8]}")
    for info in INFOS:
        task = volunteer.api("GET", f"project/{project.id}/newtask")
        volunteer.api("POST", "taskrun", {"project_id": project.id, "task_id": task["id"], "info": info})
    return project.answers()


def test_pandas_and_polars_have_the_same_columns_and_values(answers, project):
    frame, other = answers.to_pandas(), answers.to_polars()
    assert list(frame.columns) == other.columns and len(frame) == len(other) == 3
    types = {name: str(frame[name].dtype) for name in frame.columns}
    assert types["id"] == "Int64" and types["info_count"] == "Int64" and types["info_share"] == "Float64"
    assert (
        types["info_sure"] == "boolean" and types["finish_time"].startswith("datetime64[") and "UTC" in types["created"]
    )
    assert other.schema["info_count"] == polars.Int64 and other.schema["info_sure"] == polars.Boolean
    assert other.schema["finish_time"] == polars.Datetime("us", "UTC")
    for row, named in zip(answers, other.iter_rows(named=True), strict=True):
        assert named["id"] == row["id"] and named["finish_time"].replace(tzinfo=None).isoformat() == row["finish_time"]
    assert list(other["info_answer"]) == ["yes", "NaN", None] and list(other["info"]) == [None, None, "just text"]
    assert list(other["info_mixed"]) == ["1", "one", None] and list(other["info_share"]) == [1.0, 0.5, None]
    assert json.loads(other["info_boxes"][0]) == [{"x": 1}] and list(other["info_big"])[1] == "12345678901234567890"
    assert frame["info_answer"].tolist()[:2] == ["yes", "NaN"] and frame["info_count"].isna().tolist() == [
        False,
        True,
        True,
    ]


def test_an_export_is_a_frame_with_the_types_of_the_server(answers, project):
    export = project.export("answers")
    frame, other = export.to_pandas(), export.to_polars()
    rows = list(answers)
    assert list(frame.columns) == other.columns and len(frame) == len(other) == 3
    types = {name: str(frame[name].dtype) for name in frame.columns}
    assert (types["id"], types["info_count"], types["info_share"]) == ("Int64", "Int64", "Float64")
    assert types["info_sure"] == "boolean" and "UTC" in types["finish_time"]
    assert other.schema["finish_time"].time_zone == "UTC" and other.schema["info_sure"] == polars.Boolean
    for row, named in zip(rows, other.iter_rows(named=True), strict=True):
        assert named["id"] == row["id"] and named["finish_time"].replace(tzinfo=None).isoformat() == row["finish_time"]
    assert other["info_answer"].to_list() == ["yes", "NaN", None] and other["info_big"][1] == "12345678901234567890"
    assert repr(export) == "<Export of answers>" and repr(answers) == "<Rows of answers>"


def test_every_export_is_a_frame(answers, project, monkeypatch):
    """With a box to look for marks in; events come a little later."""
    n = len(list(answers))
    sizes = {what: len(project.export(what).to_polars()) for what in FILES}
    assert sizes | {"events": 0} == {
        "tasks": n, "answers": n, "results": 0, "consensus": 0, "volunteers": 1, "events": 0, "marks": 1,
    }  # fmt: skip
    marks = project.export("marks")
    assert marks.to_pandas()["task_id"].tolist() == [row["task_id"] for row in marks]
    assert [row["volunteer"] for row in project.export("volunteers")] == [row["volunteer"] for row in answers][:1]
    # A server without Parquet sends rows.
    refusal = InvalidValueError("x", 415, {"error_code": "not_installed"})

    def refused(*_query):
        raise refusal

    monkeypatch.setattr(answers._transport, "stream", refused)
    monkeypatch.setattr(Export, "__iter__", lambda _self: iter([{"id": 7}]))
    assert (
        project.export("answers").to_polars()["id"].to_list()
        == [7]
        == project.export("tasks").to_pandas()["id"].tolist()
    )
    refusal.error_code = "other"
    with pytest.raises(InvalidValueError):
        project.export("answers").to_polars()


def test_of_no_rows_the_frame_is_empty(project):
    assert len(project.tasks().to_pandas()) == 0 == len(project.tasks().to_polars())


def test_a_key_that_is_an_attribute_of_the_record_stays_apart():
    table = columns([{"id": 1, "info": {"id": "x"}}, {"id": 2, "info": None}])
    assert table == {"id": ("integer", [1, 2]), "info": ("null", [None, None]), "info_id": ("text", ["x", None])}


ROWS = {
    "url": ["a", "b", None],
    "n_answers": [1, 2, 3],
    "seen": [dt.datetime(2026, 3, 1, 12, 30), None, dt.datetime(2026, 3, 2)],
    "weight": [0.5, float("nan"), 2.0],
}
TASKS = [
    ({"url": "a", "seen": "2026-03-01T12:30:00", "weight": 0.5}, 1),
    ({"url": "b", "seen": None, "weight": None}, 2),
    ({"url": None, "seen": "2026-03-02T00:00:00", "weight": 2.0}, 3),
]


@pytest.mark.parametrize("make", [pandas.DataFrame, polars.DataFrame, pyarrow.table], ids=["pandas", "polars", "arrow"])
def test_a_table_becomes_tasks(project, make):
    assert str(project.add_tasks(make(ROWS))) == "3 rows = 3 added + 0 refused"
    assert [(task["info"], task["n_answers"]) for task in project.tasks()] == TASKS


def test_answers_come_back_as_tasks_of_another_project(answers, client, new_name):
    second = client.create_project(name := new_name(), name)
    frame = answers.to_pandas()[["info_answer", "info_count", "finish_time"]]
    assert second.add_tasks(frame).added == 3
    assert [task["info"]["info_count"] for task in second.tasks()] == [3, None, None]


def test_two_columns_of_one_name_are_refused(project):
    with pytest.raises(ValueError, match="same name"):
        project.add_tasks(pandas.DataFrame([[1, 2]], columns=["a", "a"]))


def test_values_of_libraries_become_json():
    document = {
        "numpy": numpy.int64(7), "array": numpy.array([[1.5, 2.5]]), "na": pandas.NA, "nat": pandas.NaT, "truth": numpy.bool_(True),
        "stamp": pandas.Timestamp("2026-03-01T12:00:00Z"), "exact": decimal.Decimal("1.10"), "day": dt.date(2026, 3, 1),
        "list": (1, None), "series": polars.Series([1, 2]), "float": numpy.float32(0.5), "nan": numpy.float64("nan"),
    }  # fmt: skip
    assert json_value(document) == {
        "numpy": 7, "array": [[1.5, 2.5]], "na": None, "nat": None, "truth": True, "stamp": "2026-03-01T12:00:00+00:00",
        "exact": "1.10", "day": "2026-03-01", "list": [1, None], "series": [1, 2], "float": 0.5, "nan": None,
    }  # fmt: skip
    for wrong in (object(), b"bytes", {"deep": [float("inf")]}, 2**63):
        with pytest.raises(ValueError, match=r"\."):
            json_value(wrong)


def test_progress_bars_count_the_rows(project, capfd):
    project.add_tasks(pandas.DataFrame({"n": range(30)}), progress=True)
    assert "30/30" in capfd.readouterr().err
    assert len(list(project.tasks().with_progress(total=30))) == 30
    assert "tasks" in capfd.readouterr().err


@pytest.mark.parametrize(("module", "use"), [
    ("tqdm.auto", lambda rows: rows.with_progress()),
    ("pandas", lambda rows: rows.to_pandas()),
    ("polars", lambda rows: rows.to_polars()),
], ids=["tqdm", "pandas", "polars"])  # fmt: skip
def test_what_is_not_installed_is_named(project, monkeypatch, module, use):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=r"pip install 'crowdd-client\[\w+\]'"):
        use(project.tasks())
