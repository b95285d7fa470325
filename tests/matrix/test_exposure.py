"""Who reads what: every kind × attribute × requester × way out, made from the declarations.

A value that a requester may not read comes out in no list, by no id, by no filter, order, relation, error or page; one
that they may read does.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from itertools import product
from typing import Any

import orjson
import pyarrow
import pyarrow.parquet
import pytest
import pytest_twisted
from matrix.example_site import REQUESTERS, Stage, roles
from matrix.planted import PUBLIC_KEY, Value, plant, recognised, values_of
from support.checks.proofs import examples
from support.checks.shows import shows
from support.servers.queue_runner import worked
from twisted.internet.defer import ensureDeferred

from crowdd.core.records.history import HISTORIC
from crowdd.features.exports.changes import KINDS as FOLLOWED
from crowdd.features.exports.formats import KINDS as EXPORTED
from crowdd.kinds import KINDS
from crowdd.kinds.kind import Field, Kind
from crowdd.kinds.roles import EVERYONE
from crowdd.kinds.types import Text
from crowdd.kinds.user import USER

everybody = pytest.mark.parametrize("requester", REQUESTERS)
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
# Kinds with much that is not for everybody: one of a project, and people.
some_kinds = examples("taskrun", "user")
Check = Callable[[Kind, str, Stage, "list[Value]"], Awaitable[None]]


def for_each_requester(check: Check) -> Any:
    """A test of each kind, which makes the check for each requester and names those for whom it fails."""

    async def test(kind: Kind, stage: Stage, values: list[Value]) -> None:
        wrong = {}
        for requester in REQUESTERS:
            if kind is not USER and requester == "herself":
                continue  # she is a stranger to all but her own record
            try:
                await check(kind, requester, stage, values)
            except AssertionError as error:
                wrong[requester] = str(error)
        assert wrong == {}

    test.__name__, test.__qualname__, test.__doc__ = check.__name__, check.__qualname__, check.__doc__
    return every_kind(pytest_twisted.ensureDeferred(test))


PAGES = (
    "/", "/project/open/", "/project/second/", "/project/locked/", "/project/open/publish", "/project/open/newtask",
    "/project/open/results", "/project/open/tutorial", "/project/open/thanks", "/account/anna/", "/account/berta/", "/account/dora/",
    "/account/owner/", "/account/volunteer/", "/account/profile", "/api/", "/account/page/1", "/account/owner/update",
    "/account/owner/projects", "/account/owner/sessions", "/account/owner/delete",
)  # fmt: skip
# A link holds the id of its object by the interface, also that of a person, which is no attribute for others.
IN_LINKS = {("user", "id"), ("task", "fav_user_ids")}
# Pages tell everybody how far a project is and what people publish of themselves.
# (interface: page-project-common, account-record)
ON_PAGES = frozenset({"last_activity", "last_activity_raw"})
HIDDEN_NAME = "owner-fullname-hidden"


@pytest.fixture(scope="session")
def values(stage: Stage) -> list[Value]:
    async def work() -> list[Value]:
        await plant(stage)
        await stage.sql(
            "UPDATE account SET fullname = %(name)s WHERE id = %(id)s RETURNING 1",
            name=HIDDEN_NAME,
            id=stage["owner"].user_id,
        )
        return await values_of(stage)

    return pytest_twisted.blockon(ensureDeferred(work()))


def forbidden(values: list[Value], requester: str) -> set[str]:
    """Texts that no answer to the requester may hold."""
    secret = {text for v in values if (v.kind.name, v.field.name) not in IN_LINKS for text in v.texts(requester)}
    if requester not in ("owner", "admin"):
        secret.add(HIDDEN_NAME)  # also where a project names its owner
    return secret - {text for v in values if v.readable(requester) for text in recognised(v.truth)}


def of(values: list[Value], kind: Kind, *, hidden: bool = False) -> list[Value]:
    return [value for value in values if value.kind is kind and value.hidden is hidden]


def assert_silent(answer: Any, secret: set[str], where: str) -> None:
    assert answer.status < 500, (where, answer.text)
    leaked = {text for text in secret if text in answer.text}
    assert not leaked, f"{where} tells {leaked}: {answer.text[:2000]}"


def rows(answer: Any) -> dict[int, dict[str, Any]]:
    """The rows of a list by the id in their link."""
    assert answer.status == 200, answer.text
    return {int(re.search(r"/(\d+)'", row["link"]).group(1)): row for row in answer.json()}


def expected(value: Value, requester: str) -> Any:
    """The attribute as it must come out."""
    if isinstance(value.truth, dict):
        hidden = set(value.texts(requester))
        return {key: text for key, text in value.truth.items() if not (isinstance(text, str) and text in hidden)}
    return value.truth


def assert_shown(row: dict[str, Any], values: list[Value], requester: str, row_id: int) -> None:
    for value in values:
        if value.row_id != row_id or value.field.name == "contrib_button":
            continue
        name = value.field.name
        if value.readable(requester):
            assert row[name] == expected(value, requester), name
        elif value.field.masked:
            assert re.fullmatch("[0-9a-f]{32}", row[name] or "0" * 32), name
        elif name in value.kind.reduced:
            assert row[name] is None, name
        else:
            assert name not in row, f"{name} comes out"


@every_kind
def test_the_planted_values_tell_one_attribute_from_another(kind, values):
    planted_values = of(values, kind) or [v for v in values if v.kind is kind]  # of some kinds all rows are hidden
    recognisable = [v for v in planted_values if list(recognised(v.truth)) or isinstance(v.truth, dict)]
    assert {"info", "created"} & kind.by_name.keys() <= {v.field.name for v in recognisable}
    texts = [str(t) for v in values if isinstance(v.field.type, Text) and v.truth for t in recognised(v.truth)]
    planted = [text for text in texts if text.endswith("-planted")]
    assert len(planted) == len(set(planted)) > 20


@shows("record-rights")
@for_each_requester
async def test_a_list_and_a_row_show_what_the_requester_may_read_and_nothing_else(kind, requester, stage, values):
    secret = forbidden(values, requester)
    listed = await stage[requester].get(f"/api/{kind.name}?all=1&limit=100")
    assert_silent(listed, secret, "the list")
    rows_by_id = rows(listed)
    for row_id in stage.rows[kind.name]:
        single = await stage[requester].get(f"/api/{kind.name}/{row_id}")
        assert_silent(single, secret, "the row")
        assert_shown(single.json(), of(values, kind), requester, row_id)
        assert_shown(rows_by_id[row_id], of(values, kind), requester, row_id)
    for row_id in stage.hidden.get(kind.name, ()):
        assert_silent(await stage[requester].get(f"/api/{kind.name}/{row_id}"), secret, "the hidden row")


@shows("list-filter", "record-exposure")
@some_kinds
@for_each_requester
async def test_a_filter_finds_by_what_the_requester_may_read_and_by_nothing_else(kind, requester, stage, values):
    secret = forbidden(values, requester)
    for value in of(values, kind) + [value for value in of(values, kind, hidden=True) if value.number == 0]:
        if value.truth is None or value.field.name in ("api_key", "contrib_button"):
            continue  # a key in the query says who asks; the button is each requester's own
        answer = await stage[requester].get(f"/api/{kind.name}?all=1&limit=100&{value.field.name}={value.as_filter()}")
        # What was asked is said again where it is refused; nothing else is.
        assert_silent(answer, secret - {*recognised(value.truth), *value.texts(requester)}, value.field.name)
        if not searched(value.field):
            assert (answer.status, answer.json()["exception_cls"]) == (415, "AttributeError"), value.field.name
        elif value.readable(requester) and expected(value, requester) == value.truth:
            assert value.row_id in rows(answer), value.field.name
        else:
            assert value.row_id not in rows(answer), f"{value.field.name} is found by its value"


def searched(field: Field) -> bool:
    return field.search and not field.encrypted


@shows("list-orderby", "record-exposure")
@some_kinds
@for_each_requester
async def test_an_order_follows_what_the_requester_may_read_and_nothing_else(kind, requester, stage, values):
    secret = forbidden(values, requester)
    for field in kind.fields:
        pair = [value for value in of(values, kind) if value.field is field]
        for descending in (False, True):
            path = f"/api/{kind.name}?all=1&limit=100&orderby={field.name}&desc={descending}"
            answer = await stage[requester].get(path)
            assert_silent(answer, secret, field.name)
            if searched(field):
                order = [row_id for row_id in rows(answer) if row_id in stage.rows[kind.name]]
                assert order == (ordered(pair, requester, descending) if pair else []), (field.name, descending)
            else:
                assert (answer.status, answer.json()["exception_cls"]) == (415, "AttributeError"), field.name


def ordered(pair: list[Value], requester: str, descending: bool) -> list[int]:
    """The ids by what the requester may read, what they may not read like null: last, and by id."""
    known = [v for v in pair if v.truth is not None and v.readable(requester) and expected(v, requester) == v.truth]
    known = pair if pair[0].field.name == "id" else known  # links tell it anyway
    first = sorted(known, key=lambda v: (str(v.truth) if isinstance(v.truth, dict) else v.truth, v.row_id))
    last = [value for value in pair if value not in known]
    return [v.row_id for part in (first, last) for v in (part[::-1] if descending else part)]


@shows("list-related")
@for_each_requester
async def test_related_rows_show_no_more_than_when_asked_for_themselves(kind, requester, stage, values):
    secret = forbidden(values, requester)
    answer = await stage[requester].get(f"/api/{kind.name}?all=1&limit=100&related=1")
    assert_silent(answer, secret, "related")
    rows_by_id = rows(answer)
    for name, relation in kind.related.items():
        other = KINDS[relation.kind]
        shown = [row[name] for row_id, row in rows_by_id.items() if row_id in stage.rows[kind.name]]
        nested = [one for some in shown for one in (some if isinstance(some, list) else [some])]
        assert {row["id"] for row in nested} == set(stage.rows[other.name])
        for row in nested:
            own = {key: value for key, value in row.items() if key not in ("link", "links")}
            assert_shown(own, of(values, other), requester, row["id"])


@some_kinds
@for_each_requester
async def test_an_error_tells_nothing_of_the_row_it_is_about(kind, requester, stage, values):
    secret = forbidden(values, requester)
    targets = [*stage.rows[kind.name], *stage.hidden.get(kind.name, ())]
    for number, field in enumerate(kind.fields):
        body = {field.name: {"no": ["such"]}, "nonsense": 1}
        refused = await stage[requester].put(f"/api/{kind.name}/{targets[number % len(targets)]}", json=body)
        assert 400 <= refused.status < 500, refused.text
        assert_silent(refused, secret, f"PUT {field.name}")
        asked = await stage[requester].get(f"/api/{kind.name}?{field.name}=%00&limit=x")
        assert 400 <= asked.status < 500
        assert_silent(asked, secret, f"GET {field.name}")


@everybody
@pytest_twisted.ensureDeferred
async def test_a_page_as_json_tells_nothing_that_the_api_hides(requester, stage, values):
    shown = {text for v in values if v.field.name in ON_PAGES for text in recognised(v.truth)}
    shown |= {v.truth[PUBLIC_KEY] for v in values if v.kind is USER and v.field.name == "info" and not v.hidden}
    secret = forbidden(values, requester) - shown
    for path in PAGES:
        assert_silent(await stage[requester].page(path), secret, path)


@everybody
@pytest_twisted.ensureDeferred
async def test_a_page_as_json_shows_what_is_public(requester, stage, values):
    page = (await stage[requester].page("/project/open/")).json()["project"]
    mine = roles("project", requester)
    for value in of(values, KINDS["project"]):
        if value.row_id == stage.rows["project"][0] and value.field.read & mine and searched(value.field):
            assert page[value.field.name] == expected(value, requester), value.field.name


FILES = ("format=ndjson", "format=ndjson&info=columns", "format=csv&raw=1", "format=dictionary", "format=parquet")


@examples("volunteer", "coowner")
@shows("export-rights")
@everybody
@pytest_twisted.ensureDeferred
async def test_a_file_tells_nothing_that_the_api_hides(requester, stage, values):
    secret = forbidden(values, requester)
    for short_name, kind, query in product(("open", "locked"), EXPORTED, FILES):
        at = f"/api/project/{stage.projects[short_name]['id']}/export?type={kind}&{query}"
        answer = await stage[requester].get(at)
        may = requester in ("owner", "coowner", "admin") or (
            short_name == "open" and kind not in ("event", "prediction")
        )
        assert answer.status == (200 if may else answer.status) and (may or answer.status in (401, 403)), at
        text = answer.body.decode("utf-8", "replace")
        if may and query == "format=parquet":
            text = str(pyarrow.parquet.read_table(pyarrow.BufferReader(answer.body)).to_pylist())
        assert not [one for one in secret if one in text], at


@examples("volunteer", "coowner")
@shows("export-rights")
@everybody
@pytest_twisted.ensureDeferred
async def test_what_changed_tells_nothing_that_the_api_hides(requester, stage, values):
    secret = forbidden(values, requester)
    for short_name, kind in product(("open", "locked"), FOLLOWED):
        at = f"/api/project/{stage.projects[short_name]['id']}/export?type={kind.table}&since="
        answer = await stage[requester].get(at)
        may = requester in ("owner", "coowner", "admin") or short_name == "open"
        assert answer.status == (200 if may else answer.status) and (may or answer.status in (401, 403)), at
        assert_silent(answer, secret, at)
        if not may:
            assert (await stage[requester].get(f"{at}&follow=1")).status == answer.status
            continue
        *rows_, last = [orjson.loads(line) for line in answer.text.splitlines()]
        assert set(last) == {"cursor"}
        whole = await stage[requester].get(at.removesuffix("&since="))
        shown = {row["id"]: row for row in map(orjson.loads, whole.text.splitlines())}
        assert {row["id"]: row for row in rows_} == {
            id_: {name: row[name] for name in row if name != "fav_user_ids"} for id_, row in shown.items()
        }
        other = last["cursor"].replace("-o", "-x").replace("-p", "-o").replace("-x", "-p")  # with the rights of others
        assert (await stage[requester].get(at + other)).status == 410


@shows("list-at-rights")
@everybody
@pytest_twisted.ensureDeferred
async def test_what_was_is_for_those_who_run_the_project_and_tells_them_what_the_api_does(requester, stage, values):
    secret, client = forbidden(values, requester), stage[requester]
    (now,) = await stage.sql("SELECT to_char(clock() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US') AS at")
    for short_name, kind in product(("open", "locked"), HISTORIC):
        ids = (stage.rows if short_name == "open" else stage.hidden)[kind]
        project_id = stage.projects[short_name]["id"]
        for path in (
            f"/api/{kind}?project_id={project_id}&at={now['at']}",
            f"/api/{kind}/{ids[0]}?at={now['at']}",
        ):
            answer = await client.get(path)
            assert_silent(answer, secret, path)
            if requester in ("owner", "coowner", "admin"):
                assert answer.status == 200, (path, answer.text)
                today = (await client.get(f"{path.partition('at=')[0]}all=1")).json()
                assert answer.json() == today or kind == "projectstats", (
                    path
                )  # its counters know nothing of what is planted
            else:
                assert answer.status in (401, 403), path


# By hand: a change that opens an attribute to more people, or closes it, is made here too.
OWNERS, PERSON, ADMINS = {"owner", "admin"}, {"self", "admin"}, {"admin"}
NOT_FOR_EVERYBODY: dict[str, dict[str, set[str]]] = {
    "project": dict.fromkeys(
        (
            "zip_download", "contacted", "webhook", "n_completed_tasks", "n_task_runs", "n_tasks",
            "n_volunteers", "overall_progress", "last_activity", "last_activity_raw", "owner",
        ),
        OWNERS,
    )
    | {"secret_key": {"keyholder"}},
    "taskrun": {"user_ip": OWNERS, "circumstances": OWNERS, "external_uid": OWNERS | {"author"}},
    "task": dict.fromkeys(("calibration", "fav_user_ids", "retired_at", "retired_by", "retired_note"), OWNERS),
    "user": {
        **dict.fromkeys(USER.by_name.keys() - {"name", "locale"}, PERSON),
        **dict.fromkeys(("fullname", "created"), PERSON | {"open"}),
        **dict.fromkeys(("passwd_hash", "restrict"), ADMINS),
        "api_key": {"keyholder"},
    },
}  # fmt: skip


@every_kind
def test_what_is_not_for_everybody_is_written_down_twice(kind):
    declared = {f.name: {role.value for role in f.read} for f in kind.fields if f.read != EVERYONE}
    assert declared == NOT_FOR_EVERYBODY.get(kind.name, {})


def test_an_attribute_that_does_not_say_who_may_read_it_cannot_be_declared():
    with pytest.raises(TypeError, match="read"):
        Field("colour", Text(), "Its colour.")


@pytest_twisted.ensureDeferred
async def test_a_snapshot_tells_nothing_that_a_stranger_may_not_read(stage, values):
    at = f"/api/project/{stage.projects['open']['id']}/snapshots"
    assert (await stage["owner"].post(at)).status == 200
    assert (await worked(stage.served))[-1]["state"] == "done"
    (made,) = (await stage["owner"].get(at)).json()
    here = f"/project/open/snapshots/{made['hash']}"
    names = [file["name"] for file in (await stage["owner"].page(here)).json()["files"]]
    assert {"tasks.ndjson", "answers.ndjson", "results.ndjson", "project.json", "manifest.json"} <= {*names}
    for requester in ("anonymous", "external", "stranger", "volunteer"):
        for way in (here, f"{here}/archive", f"{here}/files/answers.ndjson"):
            assert (await stage[requester].get(way)).status == 404, (requester, way)
    assert (await stage["owner"].put(f"{at}/{made['id']}", json={"public": True})).status == 200
    secret = forbidden(values, "anonymous")
    for name in names:
        answer = await stage["anonymous"].get(f"{here}/files/{name}")
        assert answer.status == 200
        assert_silent(answer, secret, name)
    locked = f"/api/project/{stage.projects['locked']['id']}/snapshots"
    assert {(await stage[name].get(locked)).status for name in ("anonymous", "stranger", "volunteer")} <= {401, 403}
    assert (await stage["owner"].delete(f"{at}/{made['id']}")).status == 204
