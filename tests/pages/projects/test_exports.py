"""Files with tasks and answers: every column, one moment, so many at a time."""

from __future__ import annotations

import csv
import io
from typing import Any

import orjson
import psycopg2
import pytest
import pytest_twisted
from hypothesis import given, settings
from hypothesis import strategies as st
from support.checks.shows import shows
from support.servers.queue_runner import worked
from twisted.internet import reactor
from twisted.internet.defer import Deferred, ensureDeferred
from twisted.internet.task import Clock, deferLater
from twisted.web._newclient import ResponseFailed

from crowdd.core.text.words import csv_cell
from crowdd.database.connector import ConnectionBudget
from crowdd.database.copying import Copy
from crowdd.database.pool import Apart
from crowdd.features.exports import exported_columns, file_writer, table_statements
from crowdd.features.exports.exported_columns import in_order
from crowdd.features.exports.feature import ExportsFeature
from crowdd.features.exports.spools import DOWNLOAD_WINDOW, AbandonedError, DownloadLimits, Spools
from crowdd.features.projects.feature import ProjectsFeature
from crowdd.kernel.config.limits import ExportSettings
from crowdd.kernel.errors import TooManyRequestsError, UnavailableError
from crowdd.kernel.requester import SYSTEM, Requester

AT = "/project/birds/tasks/export?type={}&format={}"


def table(body: bytes) -> tuple[list[str], list[dict[str, str]]]:
    reader = csv.DictReader(io.StringIO(body.decode("utf-8-sig"), newline=""))
    return list(reader.fieldnames or []), list(reader)


async def built(served: Any, infos: list[Any], name: str = "birds") -> Any:
    owner = await served.person("owner")
    project = await served.project(owner, name)
    bodies = [{"project_id": project["id"], "info": info} for info in infos]
    assert (await owner.post("/api/task", json=bodies)).status == 200
    assert (await owner.post(f"/project/{name}/publish", json={})).status == 200
    return owner, project


def own_columns(header: list[str]) -> list[str]:
    return [name.removeprefix("info_") for name in header if name.startswith("info_")]


@pytest_twisted.ensureDeferred
async def test_a_table_has_a_column_for_every_key_of_every_row(served, monkeypatch):
    monkeypatch.setattr(table_statements, "_WINDOW", 2)
    monkeypatch.setattr(table_statements, "_FIRST_WINDOW", 1)
    monkeypatch.setattr(file_writer, "PART", 2)
    infos = [{"a": n} for n in range(7)]
    infos[3] |= {"rare": "x"}
    infos[5] |= {f"wide{n:03}": n for n in range(300)}
    owner, _ = await built(served, infos)
    header, rows = table((await owner.get(AT.format("task", "csv"))).body)
    assert own_columns(header) == ["a", "rare", *(f"wide{n:03}" for n in range(300))]
    assert [row["info_rare"] for row in rows] == ["", "", "", "x", "", "", ""]
    assert rows[5]["info_wide299"] == "299" and rows[6]["info_wide299"] == ""


@pytest_twisted.ensureDeferred
async def test_columns_come_as_in_the_file_that_was_imported(served):
    owner, _ = await built(served, [{"late": 1, "b": 2}])
    text = "zebra,Title,b,a long name\n1,2,3,4\n5,6,7,8\n"
    made = await owner.send_form("/project/birds/tasks/import", {"rows": text})
    assert made.status == 200, made.text
    await worked(served)
    header, rows = table((await owner.get(AT.format("task", "csv"))).body)
    assert own_columns(header) == ["zebra", "Title", "b", "a long name", "late"] and len(rows) == 3


@pytest_twisted.ensureDeferred
async def test_the_key_of_the_answer_comes_first(served):
    owner, project = await built(served, [{"a": 1}])
    info = {"task_presenter": "<p>?</p>", "answer_key": "what it shows"}
    assert (await owner.put(f"/api/project/{project['id']}", json={"info": info})).status == 200
    task = (await owner.get(f"/api/{project['id']}/newtask")).json()["id"]
    body = {"project_id": project["id"], "task_id": task, "info": {"s": 1, "what it shows": "a fox"}}
    assert (await owner.post("/api/taskrun", json=body)).status == 200
    header, _ = table((await owner.get(AT.format("task_run", "csv"))).body)
    assert own_columns(header) == ["what it shows", "s"]
    assert in_order({"b": None, "a": None}, ["x", "a"]) == ["a", "b"]


@pytest_twisted.ensureDeferred
async def test_a_table_of_too_many_columns_is_refused_and_json_has_it_all(served, monkeypatch):
    monkeypatch.setattr(exported_columns, "MAX_KEYS", 10)
    owner, _ = await built(served, [{str(n): n} for n in range(11)])
    refused = await owner.page(AT.format("task", "csv"))
    assert refused.status == 415 and "more than 10 different keys" in refused.text and "JSON" in refused.text
    assert len((await owner.get(AT.format("task", "json"))).json()) == 11
    monkeypatch.setattr(exported_columns, "MAX_KEYS", 11)
    assert len(own_columns(table((await owner.get(AT.format("task", "csv"))).body)[0])) == 11


@pytest_twisted.ensureDeferred
async def test_names_of_columns_are_whatever_a_key_may_be(served):
    keys = ["it's", "%(project)s", "%s %", "$1", 'a "b", c', "x\\y", "é", "", "line\nbreak"]
    owner, _ = await built(served, [dict.fromkeys(keys, "=1")])
    header, (row,) = table((await owner.get(AT.format("task", "csv"))).body)
    assert sorted(own_columns(header)) == sorted(keys)
    assert all(row[f"info_{key}"] == "'=1" for key in keys)


@shows("page-export-moment")
@pytest_twisted.ensureDeferred
async def test_a_file_is_one_moment_however_slowly_it_is_made(served, monkeypatch):
    monkeypatch.setattr(file_writer, "PART", 1)
    owner, project = await built(served, [{"n": n} for n in range(4)])
    row = await served.house[ProjectsFeature].projects.page("birds", SYSTEM)
    parts: list[bytes] = []
    writing: list[Deferred[Any]] = []

    def take(part: bytes, rows: int) -> None:
        parts.append(part)
        if rows and len(writing) < 2:  # while it is made
            change = f"UPDATE task SET info = '{{\"new\": {len(parts)}}}' WHERE project_id = %(p)s"
            writing.append(ensureDeferred(served.database.execute(change, {"p": project["id"]})))
            writing.append(
                ensureDeferred(owner.post("/api/task", json={"project_id": project["id"], "info": {"new": 1}}))
            )

    file = served.house[ExportsFeature].exports.file(SYSTEM, row, "task", "csv")
    await served.house[ExportsFeature].exports.write(file, take)
    for each in writing:
        await each
    header, rows = table(b"".join(parts))
    assert own_columns(header) == ["n"] and [each["info_n"] for each in rows] == ["0", "1", "2", "3"]
    assert own_columns(table((await owner.get(AT.format("task", "csv"))).body)[0]) == ["new"]


@pytest_twisted.ensureDeferred
async def test_large_rows_come_few_at_a_time(served, monkeypatch):
    monkeypatch.setattr(file_writer, "PART_BYTES", 100)
    owner, _ = await built(served, [{"n": n, "x": "y" * 60} for n in range(5)] + [{"n": 5}])
    rows = (await owner.get(AT.format("task", "json"))).json()
    assert [row["info"]["n"] for row in rows] == list(range(6))
    _, rows = table((await owner.get(AT.format("task", "csv"))).body)
    assert [row["info_n"] for row in rows] == [str(n) for n in range(6)]


@pytest_twisted.ensureDeferred
async def test_a_file_whose_making_fails_does_not_look_whole(served, monkeypatch):
    monkeypatch.setattr(file_writer, "PART", 1)
    await built(served, [{"n": n} for n in range(3)])
    next_piece, made = Copy.next, []
    end = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE query LIKE '%%SET TRANSACTION SNAPSHOT%%' AND pid <> pg_backend_pid() AND datname = current_database()"
    )

    async def failing(self: Any, *about: Any) -> Any:
        made.append(1)
        assert await served.database.fetch(end)
        return await next_piece(self, *about)

    monkeypatch.setattr(Copy, "next", failing)
    with pytest.raises(ResponseFailed):  # the names of the columns have left
        await served.client().get(AT.format("task", "csv"))
    assert made
    monkeypatch.setattr(Copy, "next", next_piece)
    assert len((await served.client().get(AT.format("task", "json"))).json()) == 3


@shows("page-export")
@pytest_twisted.ensureDeferred
async def test_answers_of_one_volunteer_alone(served):
    owner, project = await built(served, [{"n": n} for n in range(2)])
    ada, words = await served.person("ada"), set()
    for client in (ada, owner, ada):
        task = (await client.get(f"/api/{project['id']}/newtask")).json()["id"]
        body = {"project_id": project["id"], "task_id": task, "info": {"by": client.user_id}}
        made = (await client.post("/api/taskrun", json=body)).json()
        words.add(made["volunteer"])
    mine = f"{AT.format('task_run', 'csv')}&volunteer={made['volunteer']}"
    _, rows = table((await owner.get(mine)).body)
    assert [row["info_by"] for row in rows] == [str(ada.user_id)] * 2 and len(words) == 2
    assert (await owner.get(f"{AT.format('task_run', 'json')}&volunteer=nobody")).json() == []
    assert (await owner.page(f"{AT.format('task', 'csv')}&volunteer=nobody")).status == 415


# Limits ---------------------------------------------------------------------------------------------------------------


class Slow:
    """Downloads that are begun and not ended."""

    def __init__(self, served: Any) -> None:
        self.exports = served.house[ExportsFeature].exports

    async def begin(self, who: Any, row: Any, network: str) -> Any:
        parts = self.exports.download(who, self.exports.file(who, row, "task", "json"), network)
        await anext(parts)
        return parts


@shows("limit-downloads")
@pytest_twisted.ensureDeferred
async def test_visitors_are_limited_by_network_and_in_number_and_owners_go_on(serve):
    served = await serve(CROWDD_EXPORTS_MAX_DOWNLOADS="4", CROWDD_EXPORTS_MAX_DOWNLOADS_PER_NETWORK="5")
    owner, _ = await built(served, [{"n": 1}])
    visitor = served.client()
    slow, who = Slow(served), Requester()
    row = await served.house[ProjectsFeature].projects.page("birds", who)
    begun = [await slow.begin(who, row, network) for network in ("192.0.2.1", "192.0.2.1", "192.0.2.2")]
    with pytest.raises(TooManyRequestsError) as refused:
        await slow.begin(who, row, "192.0.2.1")
    assert refused.value.code == "too_many_downloads" and refused.value.retry_after == 10
    begun.append(await slow.begin(who, row, "192.0.2.3"))
    answer = await visitor.page(AT.format("task", "json"))
    assert (answer.status, answer.json()["error_code"]) == (429, "too_many_downloads")
    assert answer.header("retry-after") == "10"
    assert (await owner.get(AT.format("task", "json"))).status == 200, "owners have places of their own"
    for parts in begun:
        await parts.aclose()
    for status in (200, 200, 200, 200, 200, 429):
        answer = await visitor.get(AT.format("task", "csv"))
        assert answer.status == status
    assert 0 < int(answer.header("retry-after")) <= DOWNLOAD_WINDOW
    head = await visitor.request("HEAD", AT.format("task", "csv"))
    assert head.status == 200, "to ask what there is costs nothing"
    assert (await owner.get(AT.format("task", "csv"))).status == 200


@shows("limit-downloads")
def test_counts_start_over_after_a_window():
    clock = Clock()
    limits = DownloadLimits(clock, ExportSettings(max_downloads=2, max_downloads_per_network=1))
    with limits.place("a", own=False):
        with pytest.raises(TooManyRequestsError):
            limits.place("a", own=False).__enter__()
        with limits.place("a", own=True), limits.place("b", own=False):
            pass
    with pytest.raises(TooManyRequestsError) as refused:
        limits.place("a", own=False).__enter__()
    assert refused.value.retry_after == DOWNLOAD_WINDOW
    clock.advance(DOWNLOAD_WINDOW)
    with limits.place("a", own=False):
        pass


@pytest_twisted.ensureDeferred
async def test_what_nobody_reads_any_more_is_no_longer_made(served, monkeypatch):
    monkeypatch.setattr(file_writer, "PART", 1)
    await built(served, [{"n": n} for n in range(50)])
    who = Requester()
    row = await served.house[ProjectsFeature].projects.page("birds", who)
    asked: list[int] = []
    turns = served.house[ExportsFeature].resources.turns
    run = turns.run

    async def counted(key: str, step: Any) -> Any:
        asked.append(1)
        return await run(key, step)

    monkeypatch.setattr(type(turns), "run", lambda self, key, step: counted(key, step))
    parts = await Slow(served).begin(who, row, "192.0.2.1")
    await parts.aclose()
    seen = -1
    while seen != len(asked):
        seen = len(asked)
        await deferLater(reactor, 0.2, lambda: None)
    assert seen < 50


# The parts ------------------------------------------------------------------------------------------------------------


@pytest_twisted.ensureDeferred
async def test_a_spool_gives_what_was_written_as_it_grows_and_its_error_at_once(tmp_path):
    spool = Spools(tmp_path / "spool", 0).open()
    assert list((tmp_path / "spool").iterdir()) == [], "it has no name"
    reader, taken = spool.parts(), []
    spool.write(b"one")
    taken.append(await anext(reader))
    waiting = ensureDeferred(anext(reader))
    assert not waiting.called
    spool.write(b"two")
    taken.append(await waiting)
    spool.end()
    assert taken == [b"one", b"two"] and await anext(reader, None) is None
    spool.close()
    with pytest.raises(AbandonedError):
        spool.write(b"three")
    other = Spools(tmp_path / "spool", 0).open()
    other.write(b"half")
    other.end(ValueError("broken"))
    with pytest.raises(ValueError, match="broken"):
        await anext(other.parts())


def test_a_full_disk_takes_no_spool(tmp_path):
    with pytest.raises(UnavailableError):
        Spools(tmp_path, 2**62).open()


@pytest_twisted.ensureDeferred
async def test_a_connection_apart_is_opened_for_one_transaction_and_closed(dsn, pool):
    apart = Apart(reactor, dsn, ["SET application_name = 'apart'"], ConnectionBudget())
    query = "SELECT count(*) AS n FROM pg_stat_activity WHERE application_name = 'apart'"

    async def work(tx: Any) -> int:
        return int((await tx.fetch("SELECT 1 AS n"))[0]["n"]) + int((await pool.fetch(query))[0]["n"])

    assert await apart.transaction(work) == 2
    while (await pool.fetch(query))[0]["n"]:
        await deferLater(reactor, 0.01, lambda: None)

    async def fails(tx: Any) -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await apart.transaction(fails)
    waiting: Deferred[None] = Deferred()
    begun: Deferred[None] = Deferred()

    async def waits(tx: Any) -> None:
        begun.callback(None)
        await waiting
        await tx.fetch("SELECT 1")

    running = ensureDeferred(apart.transaction(waits))
    await begun
    apart.close()
    waiting.callback(None)
    with pytest.raises(UnavailableError):
        await running
    nowhere = Apart(reactor, "host=127.0.0.1 port=1 dbname=x", [], ConnectionBudget(), seconds=0.3)
    with pytest.raises(UnavailableError):
        await nowhere.transaction(work)


_TEXTS = st.text(alphabet=st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=6)
_EDGES = st.text(
    alphabet=" \t\r\n\"',;=+-@|%0123456789.eE\u00a0\u2003\u3000\ufeff\uff1d\uff20\x1c\x1f\x85\u180e\u200b", max_size=6
)


def test_cells_made_in_sql_are_those_made_here(dsn):
    connection = psycopg2.connect(dsn, options="-c search_path=public,code")
    values_ = st.one_of(_TEXTS, _EDGES, st.none(), st.booleans(), st.integers(-(10**15), 10**15))

    @given(st.lists(values_, min_size=100, max_size=100))
    @settings(max_examples=5, deadline=None, derandomize=True)
    def same(values: list[Any]) -> None:
        for raw, made in ((False, "csv_text(v #>> '{}')"), (True, "v #>> '{}'")):
            with connection.cursor() as cursor:
                for value in values:
                    one = cursor.mogrify(f"SELECT 1, {made} FROM to_jsonb(%s::json) v", [orjson.dumps(value).decode()])
                    out = io.BytesIO()
                    cursor.copy_expert(f"COPY ({one.decode()}) TO STDOUT (FORMAT csv)", out)
                    assert out.getvalue().decode() == f"1,{line_of(value, raw=raw)}\n", (value, raw)

    try:
        same()
    finally:
        connection.close()


def line_of(value: Any, *, raw: bool) -> str:
    if value == "":
        return '""'  # an empty text is not the same as none
    text = io.StringIO(newline="")
    csv.writer(text).writerow(["", csv_cell(value, raw=raw)])
    return text.getvalue()[1:-2]
