"""Workbooks that owners import: the sheet that they choose, and what becomes of the file."""

from __future__ import annotations

import pytest_twisted
from support.checks.shows import shows
from support.importing import AT, bring, figures, looked_at, tasks_of
from support.servers.queue_runner import worked
from support.workbooks import DATE, cell, row, table, xlsx

HTML = {"Accept": "text/html"}
DATA = table([["picture", "n_answers"], ["a.jpg", 3], [None], ["b.jpg", "many"], ["a.jpg", 3]])
BOOK = xlsx({"Photos": DATA, "Codes": table([["code"], [7]])}, hidden=["Codes"])


def in_folder(served):
    return sorted(path.suffix for path in (served.house.base.settings.data.dir / "imports").iterdir())


@shows("page-import-workbook")
@pytest_twisted.ensureDeferred
async def test_a_sheet_is_previewed_chosen_and_imported(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    upload = await looked_at(owner, BOOK, "book.xlsx")
    assert (upload["format"], upload["columns"], upload["empty"]) == ("xlsx", ["picture", "n_answers"], 1)
    assert upload["sheets"] == [
        {"name": "Photos", "hidden": False, "rows": 5, "chosen": True},
        {"name": "Codes", "hidden": True, "rows": 2, "chosen": False},
    ]  # fmt: skip
    assert figures(upload["preview"]) == {"added": 1, "present": 1, "twice": 1, "refused": 1, "empty": 1}
    assert in_folder(served) == ["", ".rows"]
    page = (await owner.get(f"{AT}/{upload['id']}", headers=HTML)).text
    assert "Codes (hidden)" in page and 'name="encoding"' not in page
    # The form of the page, sent as it is, changes nothing of what was counted.
    form = {
        "form": "y",
        "header": "y",
        "sheet": "Photos",
        "use_0": "info",
        "use_1": "n_answers",
        "n_answers": "30",
        "key": "",
    }
    begun = (await owner.post(f"{AT}/{upload['id']}?response_format=json", data={**form, "on_error": "skip"})).json()
    assert begun["status"] == "success", begun
    assert figures((await worked(served))[-1]["result"]) == {
        "added": 1,
        "present": 1,
        "twice": 1,
        "refused": 1,
        "empty": 1,
    }
    (task,) = await tasks_of(owner, project)
    assert (task["info"], task["n_answers"]) == ({"picture": "a.jpg"}, 3)
    assert in_folder(served) == []


@pytest_twisted.ensureDeferred
async def test_a_column_without_a_name_and_a_value_is_left_out_unless_it_is_wanted(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    book = xlsx(
        {"One": table([["title", None, "maker", None], ["Vase", None, "Anna", None], ["Cup", None, "Ben", "!"]])}
    )
    upload = await looked_at(owner, book, "book.xlsx")
    assert upload["uses"] == {"title": "info", "column_2": "skip", "maker": "info", "column_4": "info"}
    assert (await bring(owner, book, "book.xlsx"))["status"] == "success"
    await worked(served)
    assert [task["info"] for task in await tasks_of(owner, project)] == [
        {"title": "Vase", "maker": "Anna", "column_4": ""},
        {"title": "Cup", "maker": "Ben", "column_4": "!"},
    ]
    wanted = {f"use_{nth}": "info" for nth in range(4)}
    form = {"form": "y", "header": "y", "sheet": "One", **wanted, "n_answers": "30", "key": "title", "on_error": "skip"}
    await owner.post(f"{AT}/{upload['id']}?response_format=json", data=form)
    chosen = (await owner.page(f"{AT}/{upload['id']}")).json()["import"]["uses"]
    assert chosen["column_2"] == "info"


@shows("page-import-workbook")
@pytest_twisted.ensureDeferred
async def test_another_sheet_is_named_with_the_file_or_later_and_numbers_stay_numbers(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    answer = await bring(owner, BOOK, "book.xlsx", sheet="Codes")
    assert answer["status"] == "success", answer
    await worked(served)
    assert [task["info"] for task in await tasks_of(owner, project)] == [{"code": 7}]
    days = table([["n", "day"]]) + row(2, cell("A2", 0.1), cell("B2", 45000, DATE))
    upload = await looked_at(owner, xlsx({"One": DATA, "Two": days}), "book.xlsx")
    at = f"{AT}/{upload['id']}"
    missing = (await owner.post(at, json={"sheet": "Three", "check": "y"})).json()
    assert "no sheet Three. Its sheets: One, Two" in missing["flash"]
    assert (await owner.page(at)).json()["import"]["state"] == "unreadable"
    assert "<option" in (await owner.get(at, headers=HTML)).text
    await owner.post(at, json={"sheet": "Two"})
    await worked(served)
    infos = [task["info"] for task in await tasks_of(owner, project)]
    assert {"n": 0.1, "day": "2023-03-15"} in infos and len(infos) == 2


@pytest_twisted.ensureDeferred
async def test_the_work_goes_on_when_the_rows_of_a_workbook_are_gone_and_a_hostile_one_leaves_nothing(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    upload = await looked_at(owner, xlsx({"One": table([["n"], *([n] for n in range(20))])}), "book.xlsx")
    for path in (served.house.base.settings.data.dir / "imports").glob("*.rows"):
        path.unlink()
    await owner.post(f"{AT}/{upload['id']}", json={})
    assert figures((await worked(served))[-1]["result"]) == {"added": 20}
    assert len(await tasks_of(owner, project)) == 20
    corners = row(1, cell("A1", "a")) + row(1_048_576, cell("XFD1048576", 1))
    refused = await bring(owner, xlsx({"One": corners}), "book.xlsx")
    assert refused["status"] == "error" and "too much memory or time" in refused["flash"]
    bomb = await bring(owner, xlsx({"One": row(1, cell("A1", "x" * 20_000_000))}), "book.xlsx")
    assert bomb["status"] == "error" and "unpacks to" in bomb["flash"]
    assert in_folder(served) == []
