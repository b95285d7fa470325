"""The OpenAPI document and its page: valid, whole, and true to the declarations."""

from __future__ import annotations

import re
from typing import Any

import pytest
import pytest_twisted
import schemathesis
from support.checks.page_reader import Page
from support.checks.shows import shows
from support.person import Person

from crowdd.http import queries
from crowdd.http.api.openapi import document
from crowdd.http.errors import CODES
from crowdd.http.routing import get
from crowdd.kernel.errors import UnknownFieldError
from crowdd.kernel.requester import Requester
from crowdd.kinds import KINDS
from crowdd.kinds.kind import LINKS, Kind, Write

SAMPLE = {"time-prefix": "2024-05", "integer": "1", "number": "1", "boolean": "true"}
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)


@pytest.fixture(scope="module")
def described(live_server: Any) -> Any:
    """The document as it is served."""
    answer = Person(live_server.url).ask("GET", "/api/openapi.json")
    assert answer.status == 200
    return answer.json


@shows("version-paths")
def test_the_document_is_valid_openapi(described):
    schemathesis.openapi.from_dict(described).validate()
    assert described["openapi"].startswith("3.1.")


def test_no_two_operations_have_one_name(described):
    names = [one["operationId"] for path in described["paths"].values() for one in path.values()]
    assert len(names) == len({*names})


def test_every_reference_leads_somewhere(described):
    for reference in re.findall(r"'\$ref': '#/([^']+)'", str(described)):
        part: Any = described
        for word in reference.split("/"):
            part = part[word]


def test_links_name_operations_and_their_parameters(described):
    operations = {one["operationId"]: one for path in described["paths"].values() for one in path.values()}
    links = [
        link
        for one in operations.values()
        for answer in one["responses"].values()
        for link in answer.get("links", {}).values()
    ]
    assert links
    for link in links:
        parameters = {one["name"] for one in operations[link["operationId"]]["parameters"]}
        assert link["parameters"].keys() <= parameters


@shows("record-methods")
@every_kind
def test_every_method_of_a_kind_is_there_and_no_other(described, kind: Kind):
    paths = described["paths"]
    many, one = paths[f"/api/{kind.name}"], paths[f"/api/{kind.name}/{{object_id}}"]
    arrays = {"put"} if kind.name == "result" else set()
    assert {*many} - arrays == {"get", "post"} & {method.lower() for method in kind.methods}
    assert {*one} == {"get", "put", "delete"} & {method.lower() for method in kind.methods}


@every_kind
def test_every_attribute_is_there(described, kind: Kind):
    schemas = described["components"]["schemas"]
    name = kind.name.capitalize()
    attributes = {field.name for field in kind.fields}
    links = {*LINKS} if kind.parents else {"link"}
    in_some_responses = {"headline", "rank", "gold", "next_task"}
    expected = attributes | links | {*kind.related} | {*kind.beside}
    assert {*schemas[name]["properties"]} - in_some_responses == expected
    if "PUT" in kind.methods:
        change = schemas[f"{name}Change"]["properties"]
        free = {field.name for field in kind.fields if field.write is Write.FREE}
        assert {name for name, schema in change.items() if not schema.get("readOnly")} == free


@every_kind
def test_what_a_list_takes_is_what_the_document_says(described, kind: Kind):
    parameters = [it for it in described["paths"][f"/api/{kind.name}"]["get"]["parameters"] if it["in"] == "query"]
    for parameter in parameters:
        if parameter["name"] == "at":
            queries.parse_past_list(kind.name, {"at": sample(parameter), "project_id": "1"})
            continue
        queries.parse_query(kind, {parameter["name"]: sample(parameter)}, Requester())
    unsaid = {*kind.by_name} - queries.UNSPECIFIC - {parameter["name"] for parameter in parameters}
    for name in unsaid:
        with pytest.raises(UnknownFieldError):
            queries.parse_query(kind, {name: "1"}, Requester())


def test_every_word_that_steers_a_list_is_said_somewhere(described):
    paths = (described["paths"][f"/api/{name}"]["get"] for name in KINDS)
    names = {parameter["name"] for path in paths for parameter in path["parameters"]}
    assert names >= queries.CONTROL - queries.UNSPECIFIC


def sample(parameter: dict[str, Any]) -> str:
    """A value that the schema of a parameter allows."""
    schema = parameter["schema"]
    one = {**schema, **schema.get("anyOf", [{}])[0]}
    return one.get("enum", [None])[0] or SAMPLE.get(one.get("format", "")) or SAMPLE.get(one["type"], "word")


def test_a_route_below_api_that_does_not_describe_itself_is_refused():
    async def handler(incoming: Any) -> Any:
        raise NotImplementedError

    with pytest.raises(ValueError, match="GET /api/secretly has no operation"):
        document([], [get("/api/secretly", handler)], "", "")
    assert document([], [get("/about", handler)], "", "")["paths"] == {}


@pytest_twisted.ensureDeferred
async def test_the_document_is_the_same_until_the_server_changes(served):
    first = await served.client().get("/api/openapi.json")
    again = await served.client().get("/api/openapi.json", headers={"If-None-Match": first.header("etag")})
    assert (again.status, again.body) == (304, b"")


@pytest_twisted.ensureDeferred
async def test_the_page_shows_every_operation_and_every_code(served, described):
    answer = await served.client().get("/api/docs")
    assert answer.status == 200
    assert answer.header("content-type") == "text/html; charset=utf-8"
    assert "script-src 'nonce-" in answer.header("content-security-policy")
    page = Page(answer.text)
    assert [script.get("src").partition("?")[0] for script in page.all("script")] == ["/static/ui.js"]
    words = {element.text for element in page.all("code")}
    assert {*described["paths"]} <= words
    assert {code.code for code in CODES} <= words
    operations = {one["operationId"] for path in described["paths"].values() for one in path.values()}
    assert {element.get("id") for element in page.all("details")} >= operations


@pytest_twisted.ensureDeferred
async def test_the_page_answers_json_too(served):
    answer = (await served.client().page("/api/docs")).json()
    assert answer["template"] == "about/api.html"
    assert {section["name"] for section in answer["sections"]} >= {*KINDS}
    assert {row["code"] for row in answer["error_codes"]} == {code.code for code in CODES}


@shows("version-index", "version-paths")
@pytest_twisted.ensureDeferred
async def test_what_there_is_below_api(served):
    assert (await served.client().get("/api/")).json() == {"name": "crowdd", "objects": sorted(KINDS)}
