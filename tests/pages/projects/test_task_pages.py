"""The tasks of a project: overview, list, one task with its answers, and what leaves as files."""

from __future__ import annotations

import csv
import io
from typing import Any

import orjson
import pytest
import pytest_twisted
from support.browsers import lock
from support.checks.shows import shows

from crowdd.database.connection import Connection
from crowdd.features.tasks import task_list
from crowdd.features.tasks.task_list import MAX_PASSED, PER_PAGE, Asked, agreement, place_of
from crowdd.http.html.filters import plain
from crowdd.kernel.errors import InvalidValueError, NotFoundError

PROJECT_KEYS = {
    "last_activity", "n_completed_tasks", "n_task_runs", "n_tasks", "n_volunteers", "overall_progress", "owner",
    "pro_features", "project", "template", "title",
}  # fmt: skip
PAGES = ("tasks/", "tasks/browse", "tasks/export")
CHANGES = ("tasks/redundancy", "tasks/priority", "tasks/scheduler", "tasks/delete", "tasks/import", "queue")


class Place:
    """A project with 25 tasks; ada, bob and an anonymous volunteer have answered the first."""

    def __init__(self, served: Any) -> None:
        self.served = served

    async def build(self, tasks: int = 25) -> Place:
        self.boss = await self.served.person("boss", admin=True)
        self.owner = await self.served.person("owner")
        self.other = await self.served.person("other")
        self.anonymous = self.served.client()
        self.project = await self.served.project(self.owner, tasks=tasks, published=tasks > 0)
        self.tasks = self.project.get("tasks", [])
        return self

    async def answer(self, client: Any, info: Any) -> dict[str, Any]:
        task = (await client.get(f"/api/project/{self.project['id']}/newtask")).json()
        body = {"project_id": self.project["id"], "task_id": task["id"], "info": info}
        answer = await client.post("/api/taskrun", json=body)
        assert answer.status == 200, answer.text
        return answer.json()

    async def change(self, **body: Any) -> None:
        assert (await self.owner.put(f"/api/project/{self.project['id']}", json=body)).status == 200


@shows("page-tasks")
@pytest_twisted.ensureDeferred
async def test_the_overview_has_the_keys_of_the_interface_for_everybody(served):
    place = await Place(served).build(3)
    await place.answer(place.other, "yes")
    for client in (place.anonymous, place.other, place.owner, place.boss):
        for path in ("/project/birds/tasks/", "/project/birds/tasks"):
            page = await client.page(path)
            shown = page.json()
            assert page.status == 200 and shown.keys() == {*PROJECT_KEYS, "autoimporter_enabled"}
            assert shown["autoimporter_enabled"] is False and shown["overall_progress"] == 16
            assert (shown["n_tasks"], shown["n_task_runs"], shown["n_volunteers"]) == (3, 1, 1)
            assert ("secret_key" in shown["project"]) == (client in (place.owner, place.boss))
    owners = (await place.owner.get("/project/birds/tasks/", headers={"Accept": "text/html"})).text
    others = (await place.other.get("/project/birds/tasks/", headers={"Accept": "text/html"})).text
    for name in ("browse", "export"):
        assert f"/project/birds/tasks/{name}" in owners and f"/project/birds/tasks/{name}" in others
    assert "What you can change" in owners and "What you can change" not in others
    assert 'href="/project/birds/volunteers"' in owners and 'href="/project/birds/volunteers"' not in others


@shows("page-tasks-browse")
@pytest_twisted.ensureDeferred
async def test_a_list_of_tasks_goes_on_where_it_was(served):
    place = await Place(served).build()
    await place.answer(place.other, "yes")
    first = (await place.anonymous.page("/project/birds/tasks/browse")).json()
    assert first.keys() == {*PROJECT_KEYS, "tasks", "pagination", "chosen"}
    assert [task["id"] for task in first["tasks"]] == place.tasks[:10]
    assert first["tasks"][0] == {
        "id": place.tasks[0], "n_answers": 2, "n_task_runs": 1, "pct_status": 0.5, "priority_0": 0.0,
        "state": "ongoing", "retired": False,
    }  # fmt: skip
    pagination = {"page": 1, "per_page": 10, "total": 25, "prev": False, "next": True}
    assert first["pagination"] == {**pagination, "before": place.tasks[0], "after": place.tasks[9]}
    second = (await place.anonymous.page(f"/project/birds/tasks/browse/2?after={place.tasks[9]}")).json()
    assert second["tasks"] == (await place.anonymous.page("/project/birds/tasks/browse/2")).json()["tasks"]
    third = (await place.anonymous.page("/project/birds/tasks/browse/3")).json()
    assert [t["id"] for t in third["tasks"]] == place.tasks[20:] and third["pagination"]["next"] is False
    back = (await place.anonymous.page(f"/project/birds/tasks/browse/2?before={place.tasks[20]}")).json()
    assert back["tasks"] == second["tasks"]
    falling = (await place.anonymous.page("/project/birds/tasks/browse?desc=1")).json()
    assert [task["id"] for task in falling["tasks"]] == place.tasks[:14:-1]
    for page in ("4", "100000000000000000000"):
        assert (await place.anonymous.page(f"/project/birds/tasks/browse/{page}")).status == 404, page


@shows("page-tasks-browse")
@pytest_twisted.ensureDeferred
async def test_tasks_are_chosen_by_state_and_sorted_by_their_owner(served, monkeypatch):
    place = await Place(served).build(12)
    for client in (place.other, place.owner):
        await place.answer(client, "yes")
    await place.owner.put(f"/api/task/{place.tasks[7]}", json={"priority_0": 0.9})

    async def ids(query: str, client: Any = None) -> list[int]:
        page = await (client or place.owner).page(f"/project/birds/tasks/browse{query}")
        assert page.status == 200, page.text
        return [task["id"] for task in page.json()["tasks"]]

    assert await ids("?state=completed") == [place.tasks[0]]
    assert await ids("?state=ongoing", place.anonymous) == place.tasks[1:11]
    assert await ids("/2?state=ongoing") == place.tasks[11:]
    assert (await place.owner.page("/project/birds/tasks/browse?state=ongoing")).json()["pagination"]["total"] == 11
    by_priority = await ids("?orderby=priority_0&desc=1")
    assert by_priority[0] == place.tasks[7] and by_priority[1] == place.tasks[-1]
    assert (await ids("?orderby=n_task_runs&desc=1"))[0] == place.tasks[0]
    assert await ids(f"/2?orderby=priority_0&desc=1&after={by_priority[-1]}") == place.tasks[1::-1]
    assert await ids(f"?orderby=priority_0&desc=1&before={place.tasks[1]}") == by_priority
    assert (await place.other.page("/project/birds/tasks/browse?orderby=priority_0")).status == 403
    assert (await place.anonymous.page("/project/birds/tasks/browse?orderby=n_task_runs")).status == 302
    assert await ids("?orderby=priority_0&desc=1&state=completed") == [place.tasks[0]]
    assert await ids("/2?orderby=priority_0&state=ongoing") == [place.tasks[7]]
    monkeypatch.setattr(task_list, "MAX_SORTED", 11)
    assert (await place.owner.page("/project/birds/tasks/browse?orderby=n_task_runs")).status == 415
    for query in ("?state=lost", "?orderby=info", "?orderby=secret_key", "?after=x", "?desc=perhaps", "/0"):
        assert (await place.owner.page(f"/project/birds/tasks/browse{query}")).status == 415, query


@shows("page-tasks-browse")
@pytest_twisted.ensureDeferred
async def test_a_number_leads_to_its_task(served):
    place = await Place(served).build(3)
    fish = await served.project(place.owner, "fish", tasks=1, published=True)
    response = await place.anonymous.get(f"/project/birds/tasks/browse?id={place.tasks[1]}")
    assert (response.status, response.header("location")) == (302, f"/project/birds/tasks/{place.tasks[1]}")
    for wrong in (fish["tasks"][0], 0, 10**30, "x", "²", "-1"):
        page = await place.anonymous.get(f"/project/birds/tasks/browse?id={wrong}", headers={"Accept": "text/html"})
        assert page.status == 200 and "No task of this project has this number." in page.text, wrong
    assert (await place.anonymous.page(f"/project/birds/tasks/{fish['tasks'][0]}")).status == 404
    assert (await place.anonymous.page(f"/project/birds/tasks/{10**30}")).status == 404


@shows("page-tasks-one", "page-tasks-results-json")
@pytest_twisted.ensureDeferred
async def test_a_task_shows_all_its_answers_and_names_only_to_its_owners(served):
    place = await Place(served).build(1)
    await place.change(info={"task_presenter": "x"})
    await place.owner.put(f"/api/task/{place.tasks[0]}", json={"n_answers": 4})
    for client, info in ((place.other, {"a": 1}), (place.boss, "no"), (place.anonymous, {"a": 1})):
        await place.answer(client, info)
    at = f"/project/birds/tasks/{place.tasks[0]}"
    page = (await place.owner.page(at)).json()
    assert page.keys() == {*PROJECT_KEYS, "task", "task_runs", "agreement", "fields", "posterior", "next", "csrf"}
    assert page["agreement"]["share"] == 2 / 3 and page["agreement"]["leading"] == {"a": 1}
    assert page["agreement"]["agreement"] == pytest.approx(1 / 3) and page["fields"] == []
    assert page["agreement"]["votes"] == [{"value": {"a": 1}, "n": 2}, {"value": "no", "n": 1}]
    assert page["task"]["id"] == place.tasks[0] and "calibration" in page["task"]
    public = (await place.other.page(at)).json()
    assert "calibration" not in public["task"]
    listed = (await place.anonymous.get(f"/api/taskrun?task_id={place.tasks[0]}")).json()
    assert public["task_runs"] == listed == (await place.anonymous.page(at)).json()["task_runs"]
    bare = await place.anonymous.page(f"/project/birds/{place.tasks[0]}/results.json")
    assert bare.json() == listed and bare.header("content-type") == "application/json"
    html = {"Accept": "text/html"}
    owners, others = (await place.owner.get(at, headers=html)).text, (await place.anonymous.get(at, headers=html)).text
    assert 'href="/account/other/"' in owners and 'href="/account/other/"' not in others
    assert "Without an account" in owners and "Without an account" not in others


@shows("page-tasks-who")
@pytest_twisted.ensureDeferred
async def test_who_may_look_is_decided_for_all_of_it(served):
    place = await Place(served).build(2)
    await place.answer(place.other, "yes")
    more = (f"tasks/{place.tasks[0]}", f"{place.tasks[0]}/results.json")
    closed = ("tasks/browse", "tasks/export", "tasks/export?type=task&format=json", *more)
    await place.change(zip_download=False)
    for path in closed:
        assert (await place.anonymous.page(f"/project/birds/{path}")).status == 302, path
        assert (await place.other.page(f"/project/birds/{path}")).status == 403, path
        for client in (place.owner, place.boss):
            assert (await client.page(f"/project/birds/{path}")).status == 200, path
    html = {"Accept": "text/html"}
    assert "tasks/export" not in (await place.other.get("/project/birds/tasks/", headers=html)).text
    await place.change(zip_download=True)
    await lock(served, "birds", place.owner, "sesame")
    for path in (*PAGES, *closed):
        refused = await place.other.page(f"/project/birds/{path}")
        assert (refused.status, refused.json()["reason"]) == (403, "project_password"), path
        page = await place.other.get(f"/project/birds/{path}", headers=html)
        assert page.status == 302 and page.header("location").startswith("/project/birds/password?next="), path
        opened = await place.other.page(f"/project/birds/{path}&x" if "?" in path else f"/project/birds/{path}")
        assert opened.status == 403
    assert (await place.owner.page("/project/birds/tasks/browse")).status == 200
    for path in (*PAGES, *closed):
        assert (await place.owner.page(f"/project/nothing/{path}")).status == 404, path


@shows("page-tasks-who")
@pytest_twisted.ensureDeferred
async def test_of_a_draft_tasks_are_seen_and_answers_are_not(served):
    owner, other = await served.person("owner"), await served.person("other")
    project = await served.project(owner, tasks=1)
    link = (await owner.page("/project/birds/publish")).json()["try_link"]
    other.headers = {"X-Draft-Key": link.partition("try=")[2]}
    place = Place(served)
    place.project = project
    await place.answer(other, "yes")
    at = f"/project/birds/tasks/{project['tasks'][0]}"
    assert (await other.page(at)).json()["task_runs"] == [] and (await other.page(at)).json()["agreement"] is None
    assert [run["info"] for run in (await owner.page(at)).json()["task_runs"]] == ["yes"]
    assert (await other.page("/project/birds/tasks/export?type=task_run&format=csv")).status == 403
    assert (await served.client().page("/project/birds/tasks/export?type=task_run&format=csv")).status == 404
    assert (await owner.page("/project/birds/tasks/export?type=task_run&format=csv")).status == 200


# Files --------------------------------------------------------------------------------------------------------------


@shows("page-export")
@pytest_twisted.ensureDeferred
async def test_a_file_of_json_is_what_the_api_shows(served):
    place = await Place(served).build(3)
    for client in (place.other, place.owner):
        await place.answer(client, {"wort": "Ärger\u2028", "n": 1.5})
    for client in (place.anonymous, place.other, place.owner, place.boss):
        for type_, kind in (("task", "task"), ("task_run", "taskrun"), ("result", "result")):
            file = await client.get(f"/project/birds/tasks/export?type={type_}&format=json")
            assert file.status == 200 and file.header("content-type") == "application/json"
            named = f"attachment; filename*=UTF-8''{place.project['id']}_birds_{type_}.json"
            assert file.header("content-disposition") == named and file.header("cache-control") == "no-store"
            listed = await client.get(f"/api/{kind}?project_id={place.project['id']}&all=1")
            assert file.json() == listed.json(), (type_, client.key)
            assert len(file.json()) == {"task": 3, "task_run": 2, "result": 1}[type_]
    assert "calibration" not in (await place.anonymous.get("/project/birds/tasks/export?type=task&format=json")).text
    assert "calibration" in (await place.owner.get("/project/birds/tasks/export?type=task&format=json")).text


def table(body: bytes) -> list[dict[str, str]]:
    assert body.startswith(b"\xef\xbb\xbf")
    return list(csv.DictReader(io.StringIO(body.decode("utf-8-sig"), newline="")))


@shows("page-export")
@pytest_twisted.ensureDeferred
async def test_a_table_has_info_whole_and_in_columns(served):
    place = await Place(served).build(0)
    infos = [{"url": 'a,b\n"c"', "n": -3, "deep": {"x": [1]}}, {"n": None, "ü": True}, "text", [1, 2], 7, {}]
    for info in infos:
        body = {"project_id": place.project["id"], "info": info}
        assert (await place.owner.post("/api/task", json=body)).status == 200
    await place.owner.post("/project/birds/publish", json={})
    rows = table((await place.owner.get("/project/birds/tasks/export?type=task&format=csv")).body)
    assert [orjson.loads(row["info"]) if row["info"] != "text" else "text" for row in rows] == infos
    assert (rows[0]["info_url"], rows[0]["info_n"], rows[0]["info_deep"]) == ('a,b\n"c"', "-3", '{"x": [1]}')
    assert (rows[1]["info_n"], rows[1]["info_ü"], rows[2]["info_url"]) == ("", "true", "")
    assert rows[0]["created"].count(":") == 2 and rows[0]["n_answers"] == "30"
    public = table((await place.anonymous.get("/project/birds/tasks/export?type=task&format=csv")).body)
    assert rows[0].keys() - public[0].keys() == {
        "calibration",
        "fav_user_ids",
        "retired_at",
        "retired_by",
        "retired_note",
    }
    empty = await place.owner.get("/project/birds/tasks/export?type=result&format=csv")
    assert table(empty.body) == [] and b"task_run_ids" in empty.body
    assert (await place.owner.get("/project/birds/tasks/export?type=result&format=json")).json() == []


@shows("page-export-formulas")
@pytest_twisted.ensureDeferred
async def test_no_cell_of_a_table_is_a_formula_unless_somebody_wants_it_raw(served):
    place = await Place(served).build(1)
    evil = '=HYPERLINK("https://evil")'
    await place.answer(place.other, {"say": evil, "=cmd()": "+1+1", "number": -5, "text": "-5"})
    (row,) = table((await place.owner.get("/project/birds/tasks/export?type=task_run&format=csv")).body)
    assert (row["info_say"], row["info_=cmd()"], row["info_number"], row["info_text"]) == (
        f"'{evil}",
        "'+1+1",
        "-5",
        "-5",
    )
    assert not any(value.startswith(("=", "+", "@", "\t")) for value in [*row, *row.values()])
    (row,) = table((await place.owner.get("/project/birds/tasks/export?type=task_run&format=csv&raw=1")).body)
    assert (row["info_say"], row["info_=cmd()"]) == (evil, "+1+1")
    assert (await place.owner.page("/project/birds/tasks/export?type=task&format=csv&raw=perhaps")).status == 415


@shows("page-export")
@pytest_twisted.ensureDeferred
async def test_the_choice_of_files_says_how_much_there_is(served):
    place = await Place(served).build(3)
    await place.answer(place.other, "yes")
    page = (await place.anonymous.page("/project/birds/tasks/export")).json()
    assert page.keys() == {*PROJECT_KEYS, "exports", "formats", "types"}
    assert page["formats"][:2] == ["json", "csv"] and {"task", "task_run", "result"} < {*page["types"]}
    assert [(one["type"], one["rows"]) for one in page["exports"]] == [("task", 3), ("task_run", 1), ("result", 0)]
    assert page["exports"][0]["bytes"] > 900 and page["exports"][2]["bytes"] == 0
    for query, status in (
        ("type=task", 404), ("format=csv", 404), ("type=user&format=csv", 404), ("type=task&format=xls", 415),
        ("type=&format=", 404),
    ):  # fmt: skip
        assert (await place.owner.page(f"/project/birds/tasks/export?{query}")).status == status, query
    head = await place.owner.request("HEAD", "/project/birds/tasks/export?type=task&format=csv")
    assert head.status == 200 and head.body == b""


# Pure decisions -----------------------------------------------------------------------------------------------------


def test_a_page_far_inside_begins_at_an_ordinal():
    far = MAX_PASSED // PER_PAGE + 2
    assert place_of(Asked(page=far - 1), 10**6, 10**6).offset == MAX_PASSED
    assert place_of(Asked(page=far), 10**6, 10**6).ordinal == MAX_PASSED + PER_PAGE + 1
    assert place_of(Asked(page=far, descending=True), 10**6, 10**6).ordinal == 10**6 - MAX_PASSED - PER_PAGE
    assert place_of(Asked(page=far), 500_000, 10**6).ordinal == 2 * (MAX_PASSED + PER_PAGE) + 1
    assert place_of(Asked(page=far, after=7), 10**6, 0).after == 7
    with pytest.raises(NotFoundError):
        place_of(Asked(page=far, order="priority_0"), 10**6, 10**6)
    with pytest.raises(InvalidValueError):
        Asked(order="created; DROP TABLE task")


def test_agreement_is_that_of_pairs_and_the_share_that_of_the_most_frequent_answer():
    row = {
        "consensus": "a", "won": True, "short": True, "n_compared": 5, "agreement": 0.3, "confidence": 0.6, "model": None, "further": None,
    }  # fmt: skip
    assert agreement([], None) is None
    common = {"key": "answer", "counts": [3, 1, 1]}
    figures = agreement([common | {"value": "a", "n": 3}, common | {"value": None, "n": 1}], row)
    shown = [{"value": "a", "n": 3}, {"value": None, "n": 1}]
    about = {"key": "answer", "agreement": 0.3, "share": 0.6, "leading": "a", "kinds": 3}
    assert figures == {**about, "votes": shown}
    figures = agreement(
        [{"key": "answer", "counts": [1], "value": "a", "n": 1}], row | {"n_compared": 1, "agreement": 1.0}
    )
    assert figures["agreement"] is None, "a single answer has nothing to agree with"


@pytest_twisted.ensureDeferred
async def test_answers_agree_by_the_key_that_the_project_names(served):
    place = await Place(served).build(1)
    await place.owner.put(f"/api/task/{place.tasks[0]}", json={"n_answers": 3})
    for client, info in (
        (place.other, {"answer": "fox", "label": "a", "seconds": 7}),
        (place.boss, {"answer": "fox", "label": "b", "seconds": 8}),
        (place.anonymous, {"answer": "owl", "label": "b"}),
    ):
        await place.answer(client, info)

    async def told(key=None):
        await place.change(info={"task_presenter": "x"} | ({} if key is None else {"answer_key": key}))
        figures = (await place.owner.page(f"/project/birds/tasks/{place.tasks[0]}")).json()["agreement"]
        return figures["key"], [(vote["value"], vote["n"]) for vote in figures["votes"]]

    assert await told() == ("answer", [("fox", 2), ("owl", 1)]), "whatever else the answers hold"
    assert await told("label") == ("label", [("b", 2), ("a", 1)])
    assert await told("seconds") == ("seconds", [(7, 1), (8, 1)]), "who leaves it out says nothing"
    assert await told("nothing") == ("answer", [("fox", 2), ("owl", 1)]), "a key that no answer has is of no use"
    at = f"/api/project/{place.project['id']}"
    for wrong in ("", 7, ["answer"], "x" * 201, "a\0b"):
        refused = await place.owner.put(at, json={"info": {"task_presenter": "x", "answer_key": wrong}})
        assert (refused.status, refused.json()["error_code"]) == (415, "invalid_value"), wrong


def test_a_value_is_shown_as_plain_text():
    assert [plain(value) for value in ("<b>", {"a": 1}, None, True)] == ["<b>", '{"a":1}', "null", "true"]


# What it costs ------------------------------------------------------------------------------------------------------

STATEMENTS = {  # for a program of the owner's: one finds him by his key
    "tasks/": 3, "tasks/browse": 4, "tasks/browse/2": 4, "tasks/browse?state=ongoing": 4, "tasks/browse?orderby=priority_0": 4,
    "tasks/export": 4, "tasks/redundancy": 4, "tasks/priority": 3, "tasks/order": 4, "tasks/scheduler": 3, "tasks/delete": 3, "tasks/import": 7,
    "queue": 4,
}  # fmt: skip
FILL = (
    "INSERT INTO task (id, project_id, created, info) SELECT 1000 + i, 1, clock(), '{}' FROM generate_series(1, 10000) i",
    "INSERT INTO task_ledger (project_id, task_id, ordinal, n_answers) SELECT 1, 1000 + i, 1000 + i, 2 FROM generate_series(1, 10000) i",
    "UPDATE project_ledger SET n_ordinals = 11000",
    "INSERT INTO stat_delta (project_id, hour, tasks, wanted) VALUES (1, date_trunc('hour', clock()), 10000, 20000)",
)  # fmt: skip


@pytest_twisted.ensureDeferred
async def test_pages_take_as_many_statements_for_ten_tasks_as_for_ten_thousand(served, monkeypatch):
    statements: list[str] = []
    run = Connection.run

    def listen(self: Any, sql: Any, *more: Any, **named: Any) -> Any:
        statements.append(str(sql))
        return run(self, sql, *more, **named)

    monkeypatch.setattr(Connection, "run", listen)
    place = await Place(served).build(11)

    async def minimum(path: str, stated: int) -> int:
        """The fewest of some tries: jobs of the server run meanwhile."""
        counts: list[int] = []
        while len(counts) < 12 and stated not in counts:
            statements.clear()
            assert (await place.owner.page(f"/project/birds/{path}")).status == 200, path
            counts.append(len(statements))
        return min(counts)

    few = {path: await minimum(path, stated) for path, stated in STATEMENTS.items()}
    assert few == STATEMENTS
    for statement in FILL:
        await served.database.execute(statement)
    assert (await place.owner.page("/project/birds/tasks/browse/1001")).json()["pagination"]["total"] == 10_011
    assert {path: await minimum(path, stated) for path, stated in STATEMENTS.items()} == few


@shows("page-export")
@pytest_twisted.ensureDeferred
async def test_ticked_tasks_are_named_on_the_pages_of_changes_and_in_files(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=4, published=True)
    ids = [task["id"] for task in (await owner.get(f"/api/task?project_id={project['id']}")).json()]
    at, ticked = "/project/birds/tasks", f"ticked=1&task_ids={ids[1]}&task_ids={ids[3]}"
    shown = (await owner.get(f"{at}/browse", headers={"Accept": "text/html"})).text
    assert shown.count('name="task_ids"') == 4 and f'formaction="{at}/delete"' in shown
    assert 'name="task_ids"' not in (await served.client().get(f"{at}/browse", headers={"Accept": "text/html"})).text
    for change in ("priority", "redundancy", "delete"):
        page = (await owner.page(f"{at}/{change}?{ticked}")).json()
        assert page["form"]["task_ids"] == f"{ids[1]}, {ids[3]}", change
    named = (await owner.page(f"{at}/priority?{ticked}")).json()["form"]["task_ids"]
    changed = (await owner.post(f"{at}/priority", json={"task_ids": named, "priority_0": 0.7})).json()
    assert changed["effect"]["tasks"] == 2
    files = f"{at}/export?type=task&format=json&{ticked}"
    assert [(task["id"], task["priority_0"]) for task in (await owner.get(files)).json()] == [
        (ids[1], 0.7), (ids[3], 0.7),
    ]  # fmt: skip
    for task_id in ids[:2]:
        run = {"project_id": project["id"], "task_id": task_id, "info": 1}
        await owner.get(f"/project/birds/task/{task_id}", headers={"Accept": "text/html"})
        assert (await owner.post("/api/taskrun", json=run)).status == 200
    runs = (await owner.get(f"{at}/export?type=task_run&format=csv&{ticked}")).text.splitlines()
    assert len(runs) == 2, runs
    choice = (await owner.get(f"{at}/export?{ticked}", headers={"Accept": "text/html"})).text
    assert f"format=csv&amp;task_ids={ids[1]}%2C{ids[3]}" in choice


@pytest_twisted.ensureDeferred
async def test_nothing_ticked_is_not_everything(served):
    owner, stranger = await served.person("owner"), await served.person("stranger")
    await served.project(owner, tasks=2, published=True)
    at = "/project/birds/tasks"
    for page in ("priority", "redundancy", "delete", "export", "export?type=task&format=json"):
        back = (await owner.page(f"{at}/{page}{'&' if '?' in page else '?'}ticked=1")).json()
        assert (back["next"], back["status"]) == (f"{at}/browse", "error"), page
        assert back["flash"] == "Select tasks first."
    assert (await stranger.page(f"{at}/delete?ticked=1&task_ids=1")).status == 403
    assert (await owner.get(f"{at}/export?type=task&format=json&task_ids=x")).status == 415
    assert (await owner.get(f"{at}/export?type=task&format=json&task_ids={2**70}")).status == 415
    assert (await owner.get(f"{at}/export?type=task&format=json&task_ids=99")).json() == []
    evil = (await owner.get(f"{at}/delete?task_ids=%3Cscript%3E1", headers={"Accept": "text/html"})).text
    assert "<script>1" not in evil and "&lt;script&gt;1" in evil
    evil = (await owner.get(f"{at}/export?task_ids=%22%3E%3Cscript%3E1", headers={"Accept": "text/html"})).text
    assert "<script>1" not in evil


@shows("page-tasks-browse")
@pytest_twisted.ensureDeferred
async def test_tasks_are_found_by_words_piece_by_piece(served, monkeypatch):
    owner = await served.person("owner")
    project = await served.project(owner)
    infos = [{"n": n, "what": "Red fox" if n % 10 == 3 else 'a "hen" at 5%_'} for n in range(40)]
    made = await owner.post("/api/task", json=[{"project_id": project["id"], "info": info} for info in infos])
    ids = [task["id"] for task in made.json()]
    assert (await owner.post("/project/birds/publish", json={})).status == 200
    at = "/project/birds/tasks/browse"

    async def found(query):
        page = (await served.client().page(f"{at}?{query}")).json()
        return [ids.index(task["id"]) for task in page["tasks"]], page["pagination"]

    numbers, pages = await found("words=FOX%20red")
    assert numbers == [3, 13, 23, 33] and (pages["next"], pages["after"], pages["total"]) == (False, None, 40)
    assert (await found("words=fox&desc=1"))[0] == [33, 23, 13, 3]
    assert (await found("words=fox&state=completed"))[0] == [] and (await found("words=fox&state=ongoing"))[0][0] == 3
    assert (await found("words=%22hen%22&desc=1"))[0][0] == 39, "a quotation mark is looked for as it stands"
    assert (await found("words=5%25_"))[0] == [n for n in range(12) if n != 3][:10]
    assert (await found("words=5_%25"))[0] == [], "signs of LIKE are letters like others"
    assert (await found("words=fox%20hen"))[0] == [] and (await found("words=%5C"))[0] != [0]
    numbers, pages = await found("words=hen")
    assert len(numbers) == 10 and pages["after"] == ids[numbers[-1]]
    assert (await found(f"words=hen&after={pages['after']}"))[0][0] == numbers[-1] + 1
    monkeypatch.setattr(task_list, "MAX_WALKED", 15)
    numbers, pages = await found("words=fox")
    assert numbers == [3, 13] and pages["after"] == ids[14] and pages["next"] is True
    numbers, pages = await found(f"words=fox&after={ids[14]}")
    assert numbers == [23] and pages["after"] == ids[29]
    assert await found(f"words=fox&after={ids[29]}") == ([33], pages | {"next": False, "after": None})
    shown = (await owner.get(f"{at}?words=%3Cscript%3Efox", headers={"Accept": "text/html"})).text
    assert "<script>fox" not in shown and "Search more tasks" in shown
    for wrong in ("words=a%00b", "words=" + "x" * 201, "words=fox&orderby=priority_0"):
        assert (await owner.page(f"{at}?{wrong}")).status == 415, wrong


async def finished(place: Place, answers: list[list[str]]) -> None:
    """Answers to the first tasks, two each; the third volunteer is the owner."""
    people = [place.other, place.owner]
    for words in answers:
        for client, word in zip(people, words, strict=True):
            await place.answer(client, {"answer": word})


@shows("page-tasks-agreement")
@pytest_twisted.ensureDeferred
async def test_tasks_are_sorted_and_chosen_by_agreement(served):
    place = await Place(served).build(6)
    await finished(place, [["fox", "owl"], ["fox", "fox"], ["owl", "cat"], ["cat", "cat"]])
    a, b, c, d, *_ = place.tasks

    async def ids(query: str) -> list[int]:
        page = await place.anonymous.page(f"/project/birds/tasks/browse?{query}")
        assert page.status == 200, page.text
        return [task["id"] for task in page.json()["tasks"]]

    cases = {
        "orderby=agreement": [a, c, b, d], "orderby=agreement&desc=1": [d, b, c, a], "min_agreement=51": [b, d],
        "max_agreement=50&desc=1": [c, a], "min_agreement=0&max_agreement=99": [a, c], "orderby=agreement&state=ongoing": [],
        f"orderby=agreement&after={c}": [b, d], f"orderby=agreement&before={b}": [a, c], f"orderby=agreement&desc=1&after={b}": [c, a],
    }  # fmt: skip
    for query, expected in cases.items():
        assert await ids(query) == expected, query
    page = (await place.anonymous.page("/project/birds/tasks/browse?min_agreement=51")).json()
    assert page["pagination"]["total"] == 2 and page["chosen"]["orderby"] == "agreement"
    for query in ("min_agreement=101", "max_agreement=x", "per_page=30"):
        assert (await place.owner.page(f"/project/birds/tasks/browse?{query}")).status == 415, query


@shows("page-tasks-table")
@pytest_twisted.ensureDeferred
async def test_the_list_is_a_table_whose_columns_are_in_the_address(served):
    place = await Place(served).build(27)
    await place.owner.put(
        f"/api/task/{place.tasks[0]}", json={"info": {"gate": "north", "=cmd()": 7, "deep": {"a": 1}}}
    )
    await place.owner.put(f"/api/task/{place.tasks[1]}", json={"info": {"gate": "<b>south</b>", "late": True}})
    await finished(place, [["fox", "fox"]])
    at, html = "/project/birds/tasks/browse", {"Accept": "text/html"}
    page = (await place.anonymous.get(at, headers=html)).text
    assert page.count('name="task_ids"') == 0 and page.count('<th scope="row"><a') == 25 and "&lt;b&gt;south" in page
    for words in ("north", "fox", "100\u00a0%", 'value="late"'):
        assert words in page, words
    one = (await place.anonymous.get(f"{at}?columns=late&per_page=50", headers=html)).text
    assert one.count('<th scope="row"><a') == 27 and "north" not in one and 'data-label="late">true' not in one
    nothing = (await place.anonymous.get(f"{at}?columns=", headers=html)).text
    assert "<code" in nothing and 'data-label="gate"' not in nothing
    file = await place.anonymous.get(f"{at}?columns=gate&columns=%3Dcmd()&csv=1", headers=html)
    assert file.header("content-type") == "text/csv; charset=utf-8"
    rows = list(csv.DictReader(io.StringIO(file.text.removeprefix("\ufeff"))))
    assert len(rows) == 25 and rows[0] == {
        "id": str(place.tasks[0]), "gate": "north", "'=cmd()": "7", "n_task_runs": "2", "n_answers": "2", "priority_0": "0.0",
        "state": "completed", "consensus": "fox", "agreement": "1.0",
    }  # fmt: skip
    assert len((await place.anonymous.page(f"{at}?columns=gate&per_page=100")).json()["tasks"]) == 27


@shows("page-tasks-table")
@pytest_twisted.ensureDeferred
async def test_keys_of_later_tasks_are_columns_and_uploads_are_pictures(served):
    place = await Place(served).build(210)
    upload = "/uploads/project-8/0123456789abcdef0123456789abcdef.png"
    infos = {
        0: {"first": 1},
        100: {"middle": 1},
        104: {"middle": 1},
        109: {"middle": 1},
        209: {"last": upload, "tone": upload.replace(".png", ".mp3"), "tiles": upload.replace(".png", ".dzi")},
    }
    for n in range(95, 115):
        infos.setdefault(n, {"middle": n})
    for n, info in infos.items():
        await place.owner.put(f"/api/task/{place.tasks[n]}", json={"info": info})
    at, html = "/project/birds/tasks/browse", {"Accept": "text/html"}
    page = (await place.anonymous.get(f"{at}?desc=1&columns=last", headers=html)).text
    for key in ("first", "middle", "last"):
        assert f'name="columns" value="{key}"' in page, key
    assert f'<img class="thumb" src="{upload}"' in page
    for key in ("tone", "tiles"):
        page = (await place.anonymous.get(f"{at}?desc=1&columns={key}", headers=html)).text
        assert infos[209][key] in page and 'class="thumb"' not in page, key


@pytest_twisted.ensureDeferred
async def test_closed_answers_are_in_no_table_of_others(served):
    place = await Place(served).build(2)
    await finished(place, [["fox", "fox"]])
    await place.change(zip_download=False)
    for query in ("orderby=agreement", "min_agreement=50", "csv=1"):
        assert (await place.other.page(f"/project/birds/tasks/browse?{query}")).status == 403, query
    assert (await place.owner.page("/project/birds/tasks/browse?orderby=agreement")).json()["tasks"] != []
