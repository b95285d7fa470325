"""How large attributes and list answers may be (docs/api.md, Sizes)."""

from __future__ import annotations

import gzip
import itertools
import random

import pytest
import pytest_twisted
from support.checks.shows import shows
from twisted.internet.defer import ensureDeferred, gatherResults

from crowdd.core.records import listing_statements
from crowdd.core.records import statements as record_statements
from crowdd.http import queries
from crowdd.kernel.requester import Requester
from crowdd.kinds import KINDS
from crowdd.kinds.task_run import TASK_RUN
from crowdd.kinds.types import Json
from crowdd.kinds.user import USER

NUMBERS = itertools.count()
LIMITS = {
    "user": 16_000,
    "task": 256_000,
    "taskrun": 2_000_000,
    "taskrun.circumstances": 50_000,
    "result": 256_000,
    "result.consensus": 64_000,
    "result.posterior": 64_000,
    "project": 1_000_000,
    "blogpost": 64_000,
    "announcement": 64_000,
    "category": 16_000,
    "helpingmaterial": 256_000,
}


def text_of(size):
    """A text that makes {"x": text} as many bytes of JSON."""
    return "x" * (size - len('{"x":""}'))


async def answered(served, project, task_id, info):
    volunteer = await served.person(f"volunteer{next(NUMBERS)}")
    await volunteer.post(f"/api/task/{task_id}/lease", json={})
    body = {"project_id": project["id"], "task_id": task_id, "info": info}
    return await volunteer.post("/api/taskrun", json=body)


@shows("limit-attributes")
def test_every_json_attribute_declares_its_size() -> None:
    declared = {
        kind.name if field.name == "info" else f"{kind.name}.{field.name}": field.max_bytes
        for kind in KINDS.values()
        for field in kind.fields
        if isinstance(field.type, Json) and kind.name in LIMITS
    }
    assert declared == LIMITS


@shows("limit-attributes")
@pytest_twisted.ensureDeferred
async def test_info_of_a_person_holds_16_kb_and_not_a_byte_more(served):
    ada = await served.person("ada")
    at = f"/api/user/{ada.user_id}"
    assert (await ada.put(at, json={"info": {"x": text_of(16_000)}})).status == 200
    refused = await ada.put(at, json={"info": {"x": text_of(16_001)}})
    assert (refused.status, refused.json()["error_code"]) == (413, "attribute_too_large")
    refused = await ada.put(at, json={"info": {"extra": "x" * 8_999_900}})
    assert refused.json()["exception_msg"] == "`info` may hold 16 kB (got 9,000 kB)."
    assert len((await ada.get(at)).json()["info"]["x"]) == len(text_of(16_000))


@shows("limit-attributes")
@pytest_twisted.ensureDeferred
async def test_tasks_are_refused_as_a_whole_when_one_is_too_large(served):
    ada = await served.person("ada")
    project = await served.project(ada)
    rows = [{"project_id": project["id"], "info": {"x": text_of(size)}} for size in (10, 256_001)]
    assert (await ada.post("/api/task", json=rows)).json()["error_code"] == "attribute_too_large"
    assert (await ada.get("/api/task")).json() == []
    made = (await ada.post("/api/task", json={"project_id": project["id"], "info": {"x": text_of(256_000)}})).json()
    refused = await ada.put(f"/api/task/{made['id']}", json={"info": {"x": text_of(256_001)}})
    assert refused.status == 413


@pytest_twisted.ensureDeferred
async def test_each_page_of_a_project_may_hold_1_mb_beside_the_rest_of_its_info(served):
    ada = await served.person("ada")
    project = await served.project(ada)
    at = f"/api/project/{project['id']}"
    pages = dict.fromkeys(("task_presenter", "tutorial", "results"), "x" * 999000)
    assert (await ada.put(at, json={"info": {**pages, "x": "y" * 999_000}})).status == 200
    refused = (await ada.put(at, json={"info": {"tutorial": "x" * 1_000_001}})).json()
    assert refused["exception_msg"] == "`info.tutorial` may hold 1,000 kB (got 1,001 kB)."
    refused = (await ada.put(at, json={"info": {**pages, "x": "y" * 1_000_001}})).json()
    assert refused["exception_msg"] == "`info` may hold 1,000 kB (got 1,001 kB)."


@pytest_twisted.ensureDeferred
async def test_the_presenter_editor_says_what_is_too_large(served):
    ada = await served.person("ada")
    await served.project(ada)
    at = "/project/birds/tasks/taskpresentereditor"
    refused = await ada.send_form(at, {"editor": "x" * 1_000_001})
    assert refused.json()["form"]["errors"] == {"editor": ["`info.task_presenter` may hold 1,000 kB (got 1,001 kB)."]}
    row = (await ada.get("/api/project?short_name=birds")).json()[0]
    assert row["info"]["task_presenter"] == "<p>?</p>"


@shows("taskrun-size")
@pytest_twisted.ensureDeferred
async def test_an_answer_holds_256_kb_unless_its_project_raises_that(served):
    ada = await served.person("ada")
    project = await served.project(ada, tasks=1, published=True, n_answers=5)
    (task,) = project["tasks"]
    assert (await answered(served, project, task, {"x": text_of(256_000)})).status == 200
    refused = await answered(served, project, task, {"x": text_of(256_001)})
    assert refused.status == 413
    assert refused.json()["exception_msg"] == "`info` may hold 256 kB (got 257 kB)."
    at = f"/api/project/{project['id']}"
    for impossible in (255_999, 2_000_001, "300000", 300_000.5, True):
        wrong = await ada.put(at, json={"info": {"task_presenter": "<p>", "max_answer_bytes": impossible}})
        assert wrong.json()["error_code"] == "invalid_value", impossible
    await ada.put(at, json={"info": {"task_presenter": "<p>", "max_answer_bytes": 300_000}})
    assert (await answered(served, project, task, {"x": text_of(300_000)})).status == 200
    assert (await answered(served, project, task, {"x": text_of(300_001)})).status == 413


@shows("taskrun-marks", "gold-make")
@pytest_twisted.ensureDeferred
async def test_an_answer_has_a_thousand_marks_unless_its_project_raises_that(served):
    ada = await served.person("ada")
    project = await served.project(ada, tasks=2, published=True, n_answers=9)
    task, other = project["tasks"]
    at = f"/api/project/{project['id']}"
    fields = [
        {"name": "foxes", "at": "/foxes", "type": "boxes"},
        {"name": "trees", "at": "/trees", "type": "points"},
        {"name": "said", "at": "/said", "type": "label"},
    ]
    info = {"task_presenter": "<p>", "answers": fields}
    assert (await ada.put(at, json={"info": info})).status == 200

    def marks(boxes, points=0):
        box, point = {"x": 1, "y": 2, "width": 3, "height": 4}, {"x": 1, "y": 2}
        return {"foxes": [box] * boxes, "trees": [point] * points, "said": "yes"}

    words = "An answer may have at most 1,000 marks (got 1,001)."
    assert (await answered(served, project, task, marks(1000))).status == 200
    assert (await answered(served, project, task, {**marks(1), "track": [[1, 2]] * 5000})).status == 200
    for refused in (
        await answered(served, project, task, marks(1001)),
        await answered(served, project, task, marks(900, 101)),
        await ada.post(f"{at}/gold", json={"task_id": other, "answer": marks(1001)["foxes"]}),
    ):
        assert (refused.status, refused.json()["error_code"], refused.json()["exception_msg"]) == (
            413,
            "too_many_marks",
            words,
        )
    ben = await served.person("ben")
    assert (await ben.post(f"/api/task/{task}/lease", json={})).status == 200
    body = {"project_id": project["id"], "task_id": task, "info": marks(3)}
    run = (await ben.post("/api/taskrun", json=body)).json()
    assert (await ben.put(f"/api/taskrun/{run['id']}", json={"info": marks(1001)})).status == 413
    assert (await ben.post(f"/api/task/{task}/correct", json={"info": marks(1001)})).status == 413
    gold = {"task_id": other, "answer": marks(1000)["foxes"]}
    assert (await ada.post(f"{at}/gold", json=gold)).status == 200
    assert (await ada.put(f"{at}/gold", json={"task_id": other, "answer": marks(1001)["foxes"]})).status == 413
    for impossible in (999, 10_001, "2000", 2000.5, True):
        wrong = await ada.put(at, json={"info": info | {"max_marks": impossible}})
        assert wrong.json()["error_code"] == "invalid_value", impossible
    assert (await ada.put(at, json={"info": info | {"max_marks": 1001}})).status == 200
    assert (await answered(served, project, task, marks(900, 101))).status == 200
    assert (await answered(served, project, task, marks(900, 102))).status == 413


@shows("taskrun-marks")
@pytest_twisted.ensureDeferred
async def test_marks_of_questions_are_limited_although_no_answer_field_has_them(served):
    ada = await served.person("ada")
    project = await served.project(ada, tasks=1, published=True)
    question = {"type": "line", "name": "path", "text": "Where did it go?", "on": "picture"}
    media = [{"type": "picture", "name": "picture", "source": {"column": "url"}}]
    questions = {"version": 1, "steps": [{"name": "one", "media": media, "questions": [question]}]}
    changed = await ada.put(f"/api/project/{project['id']}", json={"info": {"questions": questions}})
    assert changed.status == 200, changed.text
    lines = {"path": [{"points": [[0, 0], [1, 1]]}] * 1001}
    assert (await answered(served, project, project["tasks"][0], lines)).json()["error_code"] == "too_many_marks"


@shows("page-settings")
@pytest_twisted.ensureDeferred
async def test_the_owner_raises_the_size_of_answers_on_the_settings_page(served):
    ada = await served.person("ada")
    project = await served.project(ada)
    page = (await ada.page("/project/birds/settings")).json()
    assert page["max_answer_bytes"] == 256_000
    done = await ada.send_form("/project/birds/settings", {"max_answer_kb": 2000})
    assert done.json()["status"] == "success"
    row = (await ada.get(f"/api/project/{project['id']}")).json()
    assert (row["info"]["max_answer_bytes"], row["info"].get("max_marks")) == (2_000_000, None)
    assert (await ada.send_form("/project/birds/settings", {"max_answer_kb": 300, "max_marks": 5000})).status == 200
    page = (await ada.page("/project/birds/settings")).json()
    assert (page["max_answer_bytes"], page["max_marks"], page["form"]["max_marks"]) == (300_000, 5000, 5000)
    wrong = (await ada.send_form("/project/birds/settings", {"max_answer_kb": 300, "max_marks": 10_001})).json()
    assert wrong["form"]["errors"] == {"max_marks": ["Enter a whole number from 1,000 to 10,000."]}
    refused = (await ada.send_form("/project/birds/settings", {"max_answer_kb": 2001})).json()
    assert refused["form"]["errors"] == {"max_answer_kb": ["Enter a whole number from 256 to 2,000."]}
    assert refused["form"]["max_answer_kb"] == "2001"


@pytest_twisted.ensureDeferred
async def test_a_corrected_answer_has_the_same_limit(served):
    ada = await served.person("ada")
    project = await served.project(ada, tasks=1, published=True)
    (task,) = project["tasks"]
    await ada.get(f"/api/project/{project['id']}/newtask")
    run = (await ada.post("/api/taskrun", json={"project_id": project["id"], "task_id": task, "info": 1})).json()
    large = {"info": {"x": text_of(256_001)}}
    assert (await ada.put(f"/api/taskrun/{run['id']}", json=large)).status == 413
    assert (await ada.post(f"/api/task/{task}/correct", json=large)).status == 413


@pytest_twisted.ensureDeferred
async def test_what_was_larger_before_stays_readable_and_may_be_sent_back(served):
    ada = await served.person("ada")
    await served.database.execute(
        "UPDATE account SET info = jsonb_build_object('extra', repeat('x', 50000)) WHERE id = %(id)s",
        {"id": ada.user_id},
    )
    row = (await ada.get(f"/api/user/{ada.user_id}")).json()
    assert len(row["info"]["extra"]) == 50_000
    assert (await ada.put(f"/api/user/{ada.user_id}", json={"info": row["info"], "fullname": "Ada L"})).status == 200


@pytest_twisted.ensureDeferred
async def test_a_large_value_is_refused_before_its_parts_are_looked_at(served, monkeypatch):
    ada = await served.person("ada")
    monkeypatch.setattr("crowdd.kinds.types.clean_json", lambda value, depth=0: value / 0)
    refused = await ada.put(f"/api/user/{ada.user_id}", json={"info": {"x": [0] * 1_000_000}})
    assert refused.json()["error_code"] == "attribute_too_large"


# Lists


@pytest.mark.proof
@shows("limit-list-bytes")
@pytest_twisted.ensureDeferred
async def test_a_list_stops_at_5_mb_and_last_id_goes_on(served):
    ada = await served.person("ada")
    project = await served.project(ada, tasks=1, published=True, n_answers=200)
    (task,) = project["tasks"]
    await served.database.execute(
        "INSERT INTO task_run (project_id, task_id, actor, created, finish_time, counted, trial, info)"
        " SELECT %(project)s, %(task)s, 'c:' || n, clock(), clock(), true, false, jsonb_build_object('n', n, 'x', repeat('x', 255980))"
        " FROM generate_series(1, 100) n",
        {"project": project["id"], "task": task},
    )
    at = f"/api/taskrun?project_id={project['id']}&all=1&limit=100"
    for order in ("", "&desc=true", "&orderby=created"):
        seen, page, sizes = [], [None], []
        last = ""
        while page:
            answer = await ada.get(f"{at}{order}{last}")
            page = answer.json()
            seen += [run["info"]["n"] for run in page]
            sizes.append(len(answer.body))
            last = f"&last_id={page[-1]['id']}" if page else ""
        assert sorted(seen) == list(range(1, 101)), order
        assert max(sizes) <= record_statements.MAX_LIST_BYTES, order
        assert len(sizes) == 7, order
    # PostgreSQL finds that it is too long for one text, and sends nothing of it.
    brought = Brought(served.database)
    query = queries.parse_query(TASK_RUN, {"project_id": str(project["id"]), "limit": "100"}, Requester())
    listed = await listing_statements.select_text(brought, query, Requester(), "http://here", b"")
    assert listed == listing_statements.ListText(None, large=True)
    assert len(str(brought.rows)) < 100


class Brought:
    """A database, and the rows that it sent last."""

    def __init__(self, database):
        self.database, self.rows = database, []

    async def fetch(self, sql, values):
        self.rows = await self.database.fetch(sql, values)
        return self.rows


@pytest.mark.proof
@pytest_twisted.ensureDeferred
async def test_lists_of_large_rows_are_read_in_turns_by_network(served):
    ada = await served.person("ada")
    project = await served.project(ada, tasks=1, published=True, n_answers=200)
    await served.database.execute(
        "INSERT INTO task_run (project_id, task_id, actor, created, finish_time, counted, trial, info)"
        " SELECT project_id, id, 'c:' || n, clock(), clock(), true, false, jsonb_build_object('x', repeat('x', 255980))"
        " FROM task, generate_series(1, 100) n WHERE project_id = %(project)s",
        {"project": project["id"]},
    )
    at = [f"/api/taskrun?project_id={project['id']}&limit={limit}" for limit in (100, 99, 98, 3)]
    answers = await gatherResults([ensureDeferred(ada.get(each)) for each in at])
    assert [len(answer.json()) for answer in answers] == [19, 19, 19, 3]
    again = await gatherResults([ensureDeferred(ada.get(each)) for each in at])  # known as long by now
    assert [answer.body for answer in again] == [answer.body for answer in answers]


@shows("limit-list-bytes")
@pytest_twisted.ensureDeferred
async def test_related_rows_are_within_the_same_5_mb(served):
    ada = await served.person("ada")
    project = await served.project(ada, tasks=30, published=True, n_answers=9)
    await served.database.execute(
        "INSERT INTO task_run (project_id, task_id, actor, created, finish_time, counted, trial, info)"
        " SELECT project_id, id, 'c:' || n, clock(), clock(), true, false, jsonb_build_object('n', n, 'x', repeat('x', 250000))"
        " FROM task, generate_series(1, 3) n WHERE project_id = %(project)s",
        {"project": project["id"]},
    )
    seen, last, page = [], "", [None]
    while page:
        answer = await ada.get(f"/api/task?project_id={project['id']}&limit=100&related=1{last}")
        page = answer.json()
        assert len(answer.body) <= record_statements.MAX_LIST_BYTES
        seen += [(task["id"], [run["info"]["n"] for run in task["task_runs"]]) for task in page]
        last = f"&last_id={page[-1]['id']}" if page else ""
    assert seen == [(task, [1, 2, 3]) for task in project["tasks"]]


@pytest_twisted.ensureDeferred
async def test_a_task_that_many_answers_share_is_counted_as_often_as_it_is_sent(served):
    ada = await served.person("ada")
    project = await served.project(ada, tasks=1, published=True, n_answers=60, info={"x": text_of(200_000)})
    await served.database.execute(
        "INSERT INTO task_run (project_id, task_id, actor, created, finish_time, counted, trial, info)"
        " SELECT project_id, id, 'c:' || n, clock(), clock(), true, false, '1' FROM task, generate_series(1, 60) n"
        " WHERE project_id = %(project)s",
        {"project": project["id"]},
    )
    answer = await ada.get(f"/api/taskrun?project_id={project['id']}&limit=100&related=1")
    assert len(answer.body) <= record_statements.MAX_LIST_BYTES
    assert len(answer.json()) == 24


@shows("newtask-bytes")
@pytest_twisted.ensureDeferred
async def test_newtask_hands_out_as_many_tasks_as_fit(served):
    ada = await served.person("ada")
    await served.project(ada, tasks=30, published=True, info={"x": text_of(250_000)})
    answer = await served.client().get("/api/project/1/newtask?limit=30")
    assert len(answer.json()) == 19
    assert len(answer.body) <= record_statements.MAX_LIST_BYTES + 1000


@pytest_twisted.ensureDeferred
async def test_lists_of_people_read_no_large_info(served):
    people = [await served.person(f"person{n}") for n in range(24)]
    await served.database.execute(
        "UPDATE account SET info = jsonb_build_object('extra', jsonb_build_object('x', repeat('x', 15000)),"
        " 'private', repeat('x', 500))"
    )
    await served.database.execute(
        "UPDATE account SET info = jsonb_build_object('extra', repeat('x', 9000000), 'avatar', 'a.png') WHERE name = 'person0'"
    )
    page = await served.client().page("/account/")
    shown = {row["name"]: row["info"] for row in page.json()["accounts"]}
    assert shown["person0"] == {"avatar": "a.png"}
    assert shown["person1"].keys() == {"extra"}
    assert len(page.body) < 24 * 16_500
    listed = (await served.client().get("/api/user?limit=100")).json()
    assert len(listed) == 24 and not any("info" in row for row in listed)
    own = (await people[1].get("/api/user?limit=100")).json()
    assert [row["name"] for row in own if "info" in row] == ["person1"]


def test_the_keys_of_people_that_sql_shows_are_those_of_the_declaration(pytestconfig) -> None:
    sql = (pytestconfig.rootpath / "crowdd/database/definitions/core/60_records.sql").read_text()
    keys = sql.partition("CREATE FUNCTION public_person_info")[2].partition("WHERE key IN (")[2].partition(")")[0]
    assert {key.strip(" '") for key in keys.split(",")} == USER.public_info


@shows("page-project-summary")
@pytest_twisted.ensureDeferred
async def test_lists_of_projects_read_no_presenter(served):
    ada = await served.person("ada")
    project = await served.project(ada, tasks=1, published=True)
    info = {"task_presenter": "p" * 900_000, "tutorial": "t" * 900_000, "language": "en", "notes": "n" * 900_000}
    body = {"info": info, "long_description": "d" * 50_000}
    assert (await ada.put(f"/api/project/{project['id']}", json=body)).status == 200
    for path in ("/", "/project/category/thinking/", "/project/search?q=birds", "/account/ada/"):
        page = await served.client().page(path)
        assert b"ppppp" not in page.body and b"ddddd" not in page.body and b"nnnnn" not in page.body, path
    assert (await served.client().page("/")).json()["top_projects"][0]["info"] == {"language": "en"}


# Compression


@pytest_twisted.ensureDeferred
async def test_a_large_answer_is_compressed_in_a_thread_and_keeps_its_tag(served, monkeypatch):
    ada = await served.person("ada")
    words = "".join(random.Random(1).choices("abcdefgh", k=200_000))
    await served.project(ada, tasks=1, published=True, info={"x": words})
    threads = []
    real = type(served.house.base.worker_thread).do_soon

    async def counted(worker_thread, work, *arguments):
        threads.append(work.__name__)
        return await real(worker_thread, work, *arguments)

    monkeypatch.setattr(type(served.house.base.worker_thread), "do_soon", counted)
    plain = await served.bare("/api/task/1", "identity")
    packed = await served.bare("/api/task/1", "gzip")
    assert threads == ["_packed"]
    assert gzip.decompress(packed.body) == plain.body
    again = await served.client().get("/api/task/1", headers={"If-None-Match": packed.header("etag")})
    assert (again.status, again.body) == (304, b"")
