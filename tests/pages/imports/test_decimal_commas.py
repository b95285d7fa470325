"""Columns of numbers with a decimal comma become numbers where the owner says so."""

from __future__ import annotations

import orjson
import pytest
import pytest_twisted
from hypothesis import given
from hypothesis import strategies as st
from support.checks.shows import shows
from support.importing import AT, looked_at, tasks_of
from support.servers.queue_runner import worked

from crowdd.features.imports.files.decimal_commas import CommaColumns, number_of, with_numbers
from crowdd.features.imports.files.rows import FileRow

HTML = {"Accept": "text/html"}
PLACES = "Name;Breite;Länge;Nr\nUlm;48,4000;9,99;007,1\nKiel;54,32;10,12;8\nRom;41,9;;9,5\n".encode("cp1252")


@shows("page-import-one")
@pytest_twisted.ensureDeferred
async def test_the_owner_says_whether_texts_become_numbers(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    upload = await looked_at(owner, PLACES)
    path = f"{AT}/{upload['id']}"
    assert upload["dialect"]["commas"] == {"Breite": False, "Länge": False} and "decimal_commas" in upload["doubts"]
    page = (await owner.get(path, headers=HTML)).text
    assert "Read texts with a decimal comma as numbers: Breite, Länge" in page
    assert upload["sample"][0]["Breite"] == "48,4000"
    chosen = (await owner.post(path, json={"commas": "y", "check": "y"})).json()
    assert chosen["status"] in ("success", "info", "warning"), chosen
    upload = (await owner.page(path)).json()["import"]
    assert upload["dialect"]["commas"] == {"Breite": True, "Länge": True} and "decimal_commas" not in upload["doubts"]
    assert str(upload["sample"][0]["Breite"]) == "48.4" and upload["sample"][0]["Nr"] == "007,1"
    begun = (await owner.post(path, json={"on_error": "skip"})).json()
    assert begun["status"] == "success", begun
    await worked(served)
    infos = {task["info"]["Name"]: task["info"] for task in await tasks_of(owner, project)}
    assert infos["Kiel"] == {"Name": "Kiel", "Breite": 54.32, "Länge": 10.12, "Nr": "8"}
    assert infos["Rom"]["Länge"] == "", "an empty cell stays one"
    sql = "SELECT info->>'Breite' AS text FROM task WHERE info->>'Name' = 'Ulm'"
    (stored,) = await served.database.fetch(sql, {})
    assert float(stored["text"]) == 48.4


@shows("page-import-one")
@pytest_twisted.ensureDeferred
async def test_without_a_word_of_the_owner_texts_stay_texts(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    upload = await looked_at(owner, PLACES)
    await owner.post(f"{AT}/{upload['id']}", json={"on_error": "skip"})
    await worked(served)
    assert {task["info"]["Breite"] for task in await tasks_of(owner, project)} == {"48,4000", "54,32", "41,9"}


def test_a_column_with_anything_else_is_none_and_a_row_that_breaks_a_choice_is_refused():
    columns = CommaColumns()
    for values in ({"a": "1,5", "b": "1,5", "c": "7", "d": 1.5}, {"a": "", "b": "1,5 m", "c": "8", "d": "1,5"}):
        columns.look_at(values)
    assert columns.names() == ["a"], "the second has a unit, the third no comma, the fourth numbers already"
    good = with_numbers(FileRow(2, {"a": "-1.234,50", "b": "x"}), ["a"])
    assert good.values == {"a": -1234.5, "b": "x"}
    bad = with_numbers(FileRow(3, {"a": "1,5 m"}), ["a"])
    assert bad.values is None and "1,5 m" in bad.error and bad.number == 3
    assert with_numbers(FileRow(4, {"a": ""}), ["a"]).values == {"a": ""}


@pytest.mark.parametrize(
    "text", ["", "1,", ",5", "1,2,3", "12.34,5", "1.2", "1e5", "٣,٥", "0x1,2", "-", "1 2,3", "9" * 200]
)
def test_what_is_no_such_number_stays_a_text(text):
    assert number_of(text) is None


@given(st.decimals(-(10**9), 10**9, places=6, allow_nan=False, allow_infinity=False))
def test_a_number_is_what_was_typed(number):
    typed = f"{number:f}".replace(".", ",")
    assert float(orjson.dumps(number_of(typed))) == float(number)
