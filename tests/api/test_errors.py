"""Every refusal of the API has one shape, its status and its class."""

import orjson
import pytest_twisted
from support.browsers import newcomer
from support.checks.shows import shows
from support.wire import error_of, request

KEYS = {"status", "status_code", "action", "target", "exception_cls", "exception_msg", "error_code", "hint"}
TEN_MB = 10_000_000


@shows("error-object", "error-unknown-path")
@pytest_twisted.ensureDeferred
async def test_the_table_of_refusals(served):
    owner, stranger = await served.person("owner"), await served.person("stranger")
    project = await served.project(owner, tasks=1, published=True)
    mine = f"/api/project/{project['id']}"
    for who, method, path, body, status, name, code in (
        (stranger, "GET", "/api/project/999", ..., 404, "NotFound", "not_found"),
        (stranger, "PUT", "/api/project/999", {}, 404, "NotFound", "not_found"),
        (stranger, "DELETE", "/api/project/999", None, 404, "NotFound", "not_found"),
        (stranger, "GET", "/api/nothing", ..., 404, "NotFound", "not_found"),
        (stranger, "POST", "/api/nothing/at/all", {}, 404, "NotFound", "not_found"),
        (owner, "POST", "/api/project", {"wrong": 1}, 415, "AttributeError", "unknown_attribute"),
        (owner, "PUT", mine, {"wrong": 1}, 415, "AttributeError", "unknown_attribute"),
        (owner, "POST", "/api/project?wrong=1", {"name": "x"}, 415, "AttributeError", "unknown_attribute"),
        (owner, "PUT", f"{mine}?wrong=1", {}, 415, "AttributeError", "unknown_attribute"),
        (owner, "DELETE", f"{mine}?wrong=1", None, 415, "AttributeError", "unknown_attribute"),
        (owner, "GET", "/api/project?wrong=1", ..., 415, "AttributeError", "unknown_attribute"),
        (owner, "GET", "/api/project?orderby=wrong", ..., 415, "AttributeError", "unknown_attribute"),
        (owner, "POST", "/api/project", {"name": "x", "id": 5}, 400, "BadRequest", "reserved_attribute"),
        (owner, "PUT", mine, {"id": 999}, 400, "BadRequest", "reserved_attribute"),
        (owner, "POST", "/api/project", {"name": 5}, 415, "ValueError", "invalid_value"),
        (owner, "POST", "/api/project", {}, 415, "ValueError", "missing_attribute"),
        (owner, "POST", "/api/project", {"name": "birds"}, 415, "DBIntegrityError", "conflict"),
        (served.client(), "POST", "/api/project", {"name": "x"}, 401, "Unauthorized", "sign_in_required"),
        (stranger, "PUT", mine, {"name": "x"}, 403, "Forbidden", "forbidden"),
        (stranger, "POST", "/api/user", {}, 405, "MethodNotAllowed", "method_not_allowed"),
        (stranger, "PATCH", mine, {}, 405, "MethodNotAllowed", "method_not_allowed"),
        (stranger, "POST", "/api/taskrun", {"project_id": 1, "task_id": 1}, 403, "Forbidden", "no_lease"),
    ):
        answer = await who.request(method, path, **({} if body is ... else {"json": body}))
        error = answer.json()
        assert (answer.status, error["exception_cls"], error["error_code"]) == (status, name, code), (
            method,
            path,
            body,
        )
        assert error.keys() == KEYS and error["status"] == "failed" and error["status_code"] == status
        assert error["action"] == method and error["target"] == path.split("/")[2].split("?")[0]
        assert answer.header("content-type") == "application/json"
        if status == 404:
            assert error["exception_msg"] == "404 Not Found"


@shows("error-unknown-attribute")
@pytest_twisted.ensureDeferred
async def test_an_unknown_attribute_is_named(served):
    owner = await served.person("owner")
    error = (await owner.post("/api/project", json={"name": "x", "colour": "red"})).json()
    assert error["exception_msg"] == "type object 'project' has no attribute 'colour'"


@shows("error-method", "format-head")
@pytest_twisted.ensureDeferred
async def test_405_says_what_is_allowed(served):
    client = served.client()
    for method, path, allowed in (
        ("PUT", "/api/project", "GET, HEAD, OPTIONS, POST"),
        ("POST", "/api/project/1", "DELETE, GET, HEAD, OPTIONS, PUT"),
        ("POST", "/api/user", "GET, HEAD, OPTIONS"),
        ("DELETE", "/api/user/1", "GET, HEAD, OPTIONS, PUT"),
        ("POST", "/api/1/newtask", "GET, HEAD, OPTIONS"),
        ("DELETE", "/api/project/1/userprogress", "GET, HEAD, OPTIONS"),
    ):
        answer = await client.request(method, path)
        assert (answer.status, answer.header("allow")) == (405, allowed), path
        asked = await client.request("OPTIONS", path)
        assert (asked.status, asked.header("allow"), asked.body) == (204, allowed, b"")


@shows("error-value", "family-api")
@pytest_twisted.ensureDeferred
async def test_a_body_that_is_no_json_object_is_refused(served):
    owner = await served.person("owner")
    bodies = [
        b"", b"{", b"nonsense", b"\xff\xfe", b'{"name": "a"', b'{"name": "\xff"}', b'{"name": "\\ud800"}', b"[" * 5000,
        b'{"name": NaN}', b'{"name": 1e400}', b"null", b"5", b'"text"', b"[]", b'["a"]', b"{}garbage", b"\x00",
    ]  # fmt: skip
    for body in bodies:
        answer = await owner.post("/api/project", data=body)
        assert (answer.status, answer.json()["exception_cls"]) == (415, "ValueError"), body[:20]
    assert (await owner.get("/api/project")).json() == []


@shows("error-value")
@shows("format-refused-values")
@pytest_twisted.ensureDeferred
async def test_numbers_that_json_does_not_have_are_named(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    for word, advice in (("NaN", "missing values: send null"), ("Infinity", "a finite number"), ("-Infinity", "null")):
        body = f'{{"project_id": {project["id"]}, "info": {{"depth": {word}}}}}'
        for sent in (body, f"[{body}]", f"[{', '.join([body] * 6000)}]"):
            refused = (await owner.post("/api/task", data=sent.encode())).json()
            assert (refused["status_code"], refused["error_code"]) == (415, "bad_json")
            assert f"JSON has no {word.removeprefix('-')} (line 1, column" in refused["exception_msg"]
            assert advice in refused["exception_msg"]
    other = (await owner.post("/api/task", data=b'{"info": Nan}')).json()["exception_msg"]
    assert "unexpected character" in other and "null" not in other


@pytest_twisted.ensureDeferred
async def test_values_of_the_wrong_type_are_refused_by_name(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1)
    for kind, name, values in (
        ("project", "name", [5, None, [], {}, True, "", " ", "x" * 256, "a\x00b"]),
        ("project", "info", [5, "text", [], True]),
        ("project", "description", [5, "x" * 256]),
        ("project", "allow_anonymous_contributors", ["perhaps", 5, None, []]),
        ("project", "category_id", ["x", 1.5, False, [], 10**20, {}]),
        ("task", "n_answers", ["x", 0, -1, 10_001, 1.5, True, None, 10**30, "1e3"]),
        ("task", "priority_0", ["x", "nan", "inf", True, [], None]),
        ("task", "quorum", [2**63, "9" * 25, {}]),
    ):
        path = f"/api/{kind}/{project['id'] if kind == 'project' else project['tasks'][0]}"
        for value in values:
            answer = await owner.put(path, data=orjson_or_text(name, value))
            error = answer.json()
            assert answer.status in (400, 415) and error["exception_cls"] in ("ValueError", "BadRequest"), (name, value)


def orjson_or_text(name, value):
    """A body with a value that orjson might not write."""
    if isinstance(value, int) and abs(value) >= 2**63:
        return b'{"%s": %d}' % (name.encode(), value)
    return orjson.dumps({name: value})


@shows("format-refused-values")
@pytest_twisted.ensureDeferred
async def test_nul_and_surrogates_and_depth_are_refused_everywhere(served):
    owner = await served.person("owner")
    project = await served.project(owner, tasks=1)
    deep = b"[" * 102 + b"]" * 102
    for info in (
        b'"a\\u0000"',
        b'{"\\u0000": 1}',
        b'[{"a": ["\\u0000"]}]',
        b'"\\udfff"',
        deep,
        b'{"a":' * 500 + b"1" + b"}" * 500,
    ):
        body = b'{"project_id": %d, "info": %b}' % (project["id"], info)
        answer = await owner.post("/api/task", data=body)
        assert (answer.status, answer.json()["exception_cls"]) == (415, "ValueError"), info[:20]
    fine = b'{"project_id": %d, "info": %b}' % (project["id"], b"[" * 99 + b"]" * 99)
    assert (await owner.post("/api/task", data=fine)).status == 200


@pytest_twisted.ensureDeferred
async def test_ids_of_any_length_are_just_not_there(served):
    for number in (0, 999, 2**31, 2**63 - 1, 2**63, 10**20, 10**100):
        for path in (f"/api/project/{number}", f"/api/task/{number}", f"/api/{number}/newtask"):
            answer = await served.client().get(path)
            assert (answer.status, answer.json()["exception_msg"]) == (404, "404 Not Found"), path
    for word in ("x", "-1", "1.5", "1e3", "0x1", "+1", "%00", "%FF", "%F0%9F%98%80", "1%2F2"):
        assert (await served.client().get(f"/api/project/{word}")).status == 404, word
    status, _ = await request(served.base, b"GET /api/project/" + b"9" * 6000)
    assert status == 404


@shows("limit-body")
@pytest_twisted.ensureDeferred
async def test_a_body_over_the_limit_is_refused_before_it_is_read(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    key = owner.key.encode()
    promised = await request(served.base, b"PUT /api/project/1", b"Content-Length: 10000001")
    assert promised[0] == 413
    error = error_of(promised[1])
    assert (error["action"], error["target"], error["error_code"]) == ("PUT", "project", "too_large")
    assert error["exception_cls"] == "RequestEntityTooLarge"
    line, chunked = b"POST /api/task?api_key=" + key, b"Transfer-Encoding: chunked"
    chunk = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
    assert (await request(served.base, line, chunked, body=chunk * 10 + b"0\r\n\r\n"))[0] == 413
    exactly = (b'{"project_id": %d, "info": "x"}' % project["id"]).ljust(TEN_MB)
    assert len(exactly) == TEN_MB and (await owner.post("/api/task", data=exactly)).status == 200
    assert (await owner.post("/api/task", data=exactly + b" ")).status == 413
    assert len((await owner.get("/api/task?info=none")).json()) == 0


@shows("limit-body")
@pytest_twisted.ensureDeferred
async def test_the_limit_on_bodies_is_a_setting(serve):
    served = await serve(CROWDD_HTTP_MAX_BODY_BYTES="100")
    browser = served.client()
    assert (await browser.post("/account/signin", data=b"x" * 101)).status == 413
    assert (await browser.post("/account/signin", data=b"x" * 100)).status == 400


@pytest_twisted.ensureDeferred
async def test_no_header_and_no_address_makes_the_server_stumble(served):
    probes = [
        (b"GET /api/project?%FF=1", 415), (b"GET /api/project?name=%FF", 415), (b"GET /api/project?name=%00", 415),
        (b"GET /api/%FF", 404), (b"GET /api/project/%00/userprogress", 415), (b"GET /api/%2e%2e/project", 404),
        (b"GET /api/project?" + b"&".join(b"a%d=1" % n for n in range(1500)), 415), (b"GET /api%2Fproject", 404),
        (b"GET /api/project", b"X-Presenter: \xff", 200), (b"GET /api/project", b"Authorization: \xff\xfe", 200),
        (b"GET /api/project", b"X-Forwarded-For: \xff", 200), (b"GET /api/project", b"Sec-Fetch-Dest: \xff", 200),
        (b"GET /api/project", b"Origin: \xff", 200), (b"GET /api/project", b"Host: a..b", 421),
        (b"GET /api/project", b"Host: \xff", 400), (b"GET /api/project", b"If-None-Match: \xff", 200),
        (b"GET /api/project", b"Cookie: session=\xff; volunteer=\xff.\xff; unlocked=\xff; csrf==", 200),
        (b"GET /api/task?project_id=%00", b"X-Project-Password: a", 415), (b"GET /api/project/", 200),
        (b"GET //api//project", 200), (b"GET http://localhost/api/project", 200),
        (b"GET HTTP://127.0.0.1:1//api/project", 200), (b"GET /api", 200), (b"HEAD /api/task", 200), (b"HEAD /api/helpinmaterial", 404),
        (b"GET /%61pi/project", 200), (b"GET /api/project?a=1&a=2&name=x&name=y", 415), (b"BREW /api/project", 405),
    ]  # fmt: skip
    for line, *headers, expected in probes:
        status, body = await request(served.base, line, *headers)
        assert status == expected, (line[:60], headers, body[:200])
        if status >= 400 and not line.startswith(b"HEAD") and line != b"GET /api%2Fproject":
            assert error_of(body)["status_code"] == status


@shows("format-slashes")
@pytest_twisted.ensureDeferred
async def test_a_doubled_slash_is_one(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    for path in (
        f"//api//project/{project['id']}",
        f"/api/project//{project['id']}",
        f"///api/project/{project['id']}/",
    ):
        assert (await owner.get(path)).json()["id"] == project["id"], path


@shows("error-nothing-inside")
@pytest_twisted.ensureDeferred
async def test_a_failure_of_ours_says_nothing_of_what_failed(served):
    await served.database.execute("ALTER TABLE category RENAME TO shelf")
    for path in ("/api/category", "/"):
        answer = await served.client().get(path)
        assert answer.status == 500 and answer.header("x-request-id")
        for word in ("category", "shelf", "psycopg", "Traceback", "SELECT", "relation"):
            assert word not in answer.text.replace("/api/category", "").replace('"target":"category"', ""), word
    assert (await served.client().get("/api/category")).json()["error_code"] == "internal"


@shows("format-body-get")
@pytest_twisted.ensureDeferred
async def test_even_a_body_on_get_and_delete_is_fine(served):
    owner = await served.person("owner")
    project = await served.project(owner)
    path = f"/api/project/{project['id']}"
    assert (await owner.request("GET", path, json={})).json()["id"] == project["id"]
    gone = await owner.request("DELETE", path, json=None)
    assert (gone.status, gone.body) == (204, b"")


@shows("family-api")
@pytest_twisted.ensureDeferred
async def test_the_api_is_data_and_never_a_document(served):
    browser = await newcomer(served, "ada")
    for path in ("/api/project", "/api/nothing", "/api/user/1"):
        answer = await browser.get(path)
        assert answer.header("x-content-type-options") == "nosniff"
        assert answer.header("content-security-policy") == "sandbox; default-src 'none'; frame-ancestors 'none'"
        assert answer.header("set-cookie") is None
