"""Requests that nobody should send: hypothesis strategies for bytes, and what a server must answer all the same."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlsplit

import attrs
import orjson
from hypothesis import strategies as st

from crowdd.http.queries import CONTROL
from crowdd.kinds import KINDS
from crowdd.kinds.kind import Write

SECONDS = 60.0  # what no answer may take
BOUNDARY = "b0undary"
KEYS = {"status", "status_code", "action", "target", "exception_cls", "exception_msg", "error_code", "hint"}
TELLTALES = ("Traceback", "psycopg2", "crowdd.", "SELECT ", 'File "', "LINE 1", "site-packages")

TEXTS = (
    "", " ", "\0", "a\0b", "\ud800", "\udfff\ud800", "\ufeff", "\u202egnp.exe", "é" * 300, "A" * 100_000, "9" * 20, "-1",
    "1e400", "NaN", "Infinity", "null", "true", "[1,2", "{}", "::", "a::b|c::d", "|", "*", "%", "%s%n%(me)s", "\\", "\r\nX: 1",
    "'", "' OR '1'='1", "'; DROP TABLE project; --", "1; SELECT pg_sleep(60)", "\" UNION SELECT api_key FROM account --",
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "javascript:alert(1)", "{{7*7}}${7*7}#{7*7}",
    "../../../etc/passwd", "file:///etc/passwd", "http://169.254.169.254/", "__proto__", "constructor", "0x1f", "１２",
    "2024-02-31", "0000-00-00", "99999-01-01", "24:00",
)  # fmt: skip
# JSON that a careful encoder would not write; some of it is right all the same.
ODD = (
    "1e-400", "-0.0", "9" * 20, "-" + "9" * 20, "9" * 5000, "18446744073709551616", "1e25", "-9223372036854775809", "1e308",
    "12345678901234567890123.5", '{"a": 1, "a": 2}', '{"__proto__": {"admin": true}}', '{"constructor": {"prototype": {}}}',
    '"\\u0000"', '{"\\u0000": 1}', '{"": {"": [{}]}}', "[" * 50 + "]" * 50, "[" * 99 + "]" * 99, "[" * 101 + "]" * 101,
    "[" * 900 + "]" * 900, '{"a":' * 90 + "1" + "}" * 90, "[" + "0," * 50_000 + "0]", " 1 ", '"\\ud83d\\ude00"', "1E5", "5.0",
)  # fmt: skip
# No JSON at all.
BROKEN = (
    "1e400", "-1e400", "NaN", "Infinity", '"\\ud800"', '"\\udc00\\ud800"', "[" * 5000 + "]" * 5000, "[" * 100_000, "undefined",
    '{"a":' * 3000 + "1" + "}" * 3000, "'a'", "01", "+1", "tru", '"\x01"', "", "//", "[1,]", '{"a":1,}', '"\ud800"',
)  # fmt: skip
NAMES = (
    "__proto__",
    "constructor",
    "id",
    "link",
    "links",
    "owner_id",
    "admin",
    "'",
    "<b>",
    "a" * 1000,
    "",
    "roles",
    "\0",
)
TYPES = (
    "application/json", "application/json; charset=utf-16", "text/plain", "text/html", "application/xml", "", "garbage",
    "application/x-www-form-urlencoded", "multipart/form-data", f"multipart/form-data; boundary={BOUNDARY}",
    "multipart/form-data; boundary=" + "x" * 500, 'multipart/form-data; boundary="', "multipart/mixed; boundary=a",
)  # fmt: skip

texts = st.sampled_from(TEXTS) | st.text(max_size=20)
numbers = (
    st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0, 1, -1, 2**31, 2**63, 2**64])
)
scalars = st.none() | st.booleans() | numbers | texts
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3))


def often(*choices: tuple[int, st.SearchStrategy[Any]]) -> st.SearchStrategy[Any]:
    """One of several strategies, each as often as its number says. (``one_of`` counts what it gets twice once.)"""
    # By number: hypothesis writes down what is chosen from, and strategies in strategies would fill the memory.
    numbers = [number for number, (times, _) in enumerate(choices) for _ in range(times)]
    return st.sampled_from(numbers).flatmap(lambda number: choices[number][1])


fragments = often((5, values.map(json.dumps)), (5, st.sampled_from(ODD)), (1, st.sampled_from(BROKEN)))
Ids = Mapping[str, Sequence[int]]  # of rows that exist, by kind


@attrs.frozen
class Hostile:
    """One request; ``body`` None sends none."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes | None

    def send(self, url: str) -> Answer:
        """Raises TimeoutError when no answer comes in time."""
        connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=SECONDS)
        try:
            headers = {name: value.encode("utf-8", "surrogatepass") for name, value in self.headers.items()}
            connection.request(self.method, self.target, self.body, headers)  # type: ignore[arg-type]
            response = connection.getresponse()
            return Answer(response.status, response.headers.get("Content-Type", ""), response.read())
        finally:
            connection.close()


@attrs.frozen
class Answer:
    """What came back."""

    status: int
    content_type: str
    body: bytes

    def faults(self, method: str) -> list[str]:
        """What is wrong with it: a failure of the server's, no error object, or more said than should be."""
        problems = [f"says {word!r}" for word in TELLTALES if self.status >= 400 and word.encode() in self.body]
        if self.status >= 500:
            problems.append(f"is {self.status}")
        if self.status >= 400 and method != "HEAD":
            problems += self._faults_of_error()
        return problems

    def _faults_of_error(self) -> list[str]:
        try:
            error = orjson.loads(self.body)
        except orjson.JSONDecodeError:
            return [f"is no JSON: {self.body[:200]!r}"]
        if not isinstance(error, dict) or error.keys() - {"item"} != KEYS:
            return [f"is no error object: {self.body[:200]!r}"]
        right = error["status"] == "failed" and error["status_code"] == self.status and error["exception_msg"]
        return [] if right and self.content_type == "application/json" else [f"is odd: {self.body[:200]!r}"]


def requests(ids: Ids, keys: Sequence[str]) -> st.SearchStrategy[Hostile]:
    """Requests to every address below /api about these ids, with one of these API keys or none.

    Most go to an operation that exists, so that what is odd gets past the door.
    """
    asked, sent = headers(keys), st.sampled_from(sorted(KINDS))
    lists = sent.flatmap(
        lambda kind: st.builds(_request, _one("GET", "HEAD"), _at(kind), queries(kind), asked, st.none())
    )
    rows = sent.flatmap(
        lambda kind: st.builds(
            _request, _one("GET", "PUT", "PUT", "PUT", "DELETE"), _row(kind, ids), st.just(""), asked, bodies(kind, ids)
        )
    )
    made = sent.flatmap(
        lambda kind: st.builds(_request, _one("POST"), _at(kind), st.just(""), asked, bodies(kind, ids))
    )
    loop = st.builds(_request, _one("GET"), _special(ids), queries("task"), asked, st.none())
    marks = st.builds(_request, _one("POST"), _one("/api/favorites"), st.just(""), asked, bodies("task", ids))
    anything = st.builds(_request, METHODS, _anywhere(ids), queries("task"), asked, bodies("task", ids))
    return often((4, lists), (4, rows), (4, made), (1, loop), (1, marks), (1, anything))


def _one(*values: str) -> st.SearchStrategy[str]:
    return st.sampled_from(values)


METHODS = _one("GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "X")


def _at(kind: str) -> st.SearchStrategy[str]:
    return st.just(f"/api/{kind}")


def _row(kind: str, ids: Ids) -> st.SearchStrategy[str]:
    return st.builds("/api/{}/{}".format, st.just(kind), _numbers(ids[kind][1:] or ids[kind]))


def _numbers(ids: Sequence[int]) -> st.SearchStrategy[str]:
    odd = ("0", "-1", "9" * 18, "9" * 20, "9" * 400, "1e3", "%EF%BC%91", "%00", "..", "x" * 3000)
    return often((6, st.sampled_from([*map(str, ids)])), (1, st.sampled_from(odd)))


def _special(ids: Ids) -> st.SearchStrategy[str]:
    numbers = _numbers(ids["project"])
    return st.one_of(
        st.builds("/api/{}{}/newtask".format, _one("", "project/"), numbers),
        st.builds("/api/project/{}/userprogress".format, numbers | texts.map(_quoted)),
        st.builds("/api/auth/project/{}/token".format, numbers | texts.map(_quoted)),
        _one("/api/favorites", "/api/commenting/sso", "/api/", "/api/docs", "/api/openapi.json"),
    )


def _anywhere(ids: Ids) -> st.SearchStrategy[str]:
    return st.one_of(
        _special(ids),
        st.builds("/api//{}//{}//".format, st.sampled_from(sorted(KINDS)), _numbers(ids["task"])),
        st.builds("/api/favorites/{}".format, _numbers(ids["task"])),
        st.builds("/api/{}".format, texts.map(_quoted)),
        _one("/api", "/api/%2e%2e/account", "/api/\\..\\"),
    )


def _request(method: str, target: str, query: str, headers: dict[str, str], body: tuple[str, bytes] | None) -> Hostile:
    content_type, content = body or ("", None)
    typed = {"Content-Type": content_type} if content is not None else {}
    return Hostile(method, f"{target}?{query}" if query else target, {**typed, **headers}, content)


def _quoted(text: str) -> str:
    return quote(text.encode("utf-8", "surrogatepass"), safe="")


def queries(kind: str) -> st.SearchStrategy[str]:
    """Attributes and words that steer lists, with values of all sorts; some of them no UTF-8, or badly quoted."""
    known = sorted({*KINDS[kind].by_name} | CONTROL | {"external_uid"})
    names = often((9, st.sampled_from(known)), (1, st.sampled_from([*map(_quoted, NAMES)])))
    odd = texts.map(_quoted) | _one("%ff", "%", "%zz", "%u0000", "a+b", "=", "&&", "info", "id", "1", "1", "[1,2]")
    return st.lists(st.builds("{}={}".format, names, odd), max_size=3).map("&".join)


def headers(keys: Sequence[str]) -> st.SearchStrategy[dict[str, str]]:
    """Who asks, and conditions that make no sense. Only bytes that HTTP allows in a header."""
    printable = texts.map(lambda text: "".join(each for each in text if each.isprintable())[:2000])
    odd = st.fixed_dictionaries(
        {},
        optional=dict.fromkeys(("Idempotency-Key", "If-Match", "If-None-Match", "X-Project-Password", "Accept", "Accept-Encoding", "Cookie", "Content-Encoding", "X-Presenter", "X-Forwarded-For", "Origin", "Range", "Accept-Language", "X-CSRFToken"), printable),
    )  # fmt: skip
    known = st.sampled_from([*[*keys] * 5, ""]).map(lambda key: {"Authorization": key} if key else {})
    stranger = printable.map(lambda text: {"Authorization": text})
    return st.builds(
        lambda one, two: {**two, **one}, often((8, known), (1, stranger)), often((1, odd), (3, st.just({})))
    )


def bodies(kind: str, ids: Ids) -> st.SearchStrategy[tuple[str, bytes] | None]:
    """A type and a content that may fit each other, or not."""
    as_json = st.tuples(st.just("application/json"), contents(kind, ids))
    typed = st.tuples(st.sampled_from(TYPES), contents(kind, ids))
    return often((9, as_json), (2, typed), (3, multiparts(ids)), (1, st.none()))


def contents(kind: str, ids: Ids) -> st.SearchStrategy[bytes]:
    """JSON of a kind with something odd in it; arrays of it; halves of it; no JSON at all."""
    whole = objects(kind, ids)
    arrays = st.lists(whole, max_size=3).map(lambda items: f"[{','.join(items)}]")
    cut = st.builds(lambda text, share: text[: int(len(text) * share)], whole, st.floats(0, 1))
    written = often((9, whole), (2, arrays), (1, cut), (1, fragments)).map(_encoded)
    return often((12, written), (1, st.binary(max_size=200)))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def objects(kind: str, ids: Ids) -> st.SearchStrategy[str]:
    """A body that would nearly be right: most attributes as they should be, one or two not."""
    fields = KINDS[kind].fields
    # Of a kind that is only read, any attribute is as wrong as another.
    writable = [field.name for field in fields if field.write in (Write.FREE, Write.ONCE)]
    known = st.sampled_from(writable or [field.name for field in fields])
    any_ = st.dictionaries(often((8, known), (1, st.sampled_from(NAMES))), fragments, max_size=2)
    free = st.dictionaries(st.just("info"), fragments, max_size=1)  # holds nearly everything

    def written(number: int, odd: dict[str, str]) -> str:
        fair = {"project_id": ids["project"][0], "task_id": ids["task"][0], "title": "Birds", "body": "Birds"}
        fair |= {"name": f"Birds {number}", "short_name": f"birds{number}"}
        right = {name: json.dumps(value) for name, value in fair.items() if name in KINDS[kind].by_name}
        return "{" + ",".join(f"{json.dumps(name)}:{value}" for name, value in (right | odd).items()) + "}"

    return st.builds(written, st.integers(0, 2**60), often((1, any_), (1, free)))


def multiparts(ids: Ids) -> st.SearchStrategy[tuple[str, bytes]]:
    """Forms with a file whose names and contents are odd, whole or cut anywhere."""
    names = st.sampled_from(["file", "info", "title", "body", "project_id", "published", *NAMES])
    parts = st.lists(st.tuples(names, texts, st.none() | texts), max_size=5)

    def written(fields: list[tuple[str, str, str | None]], share: float) -> tuple[str, bytes]:
        fields = [("project_id", str(ids["project"][0]), None), *fields]
        content = "".join(map(_part, fields)) + f"--{BOUNDARY}--\r\n"
        raw = content.encode("utf-8", "surrogatepass")
        return f"multipart/form-data; boundary={BOUNDARY}", raw[: int(len(raw) * share)]

    return st.builds(written, parts, st.just(1.0) | st.floats(0, 1))


def _part(field: tuple[str, str, Any]) -> str:
    name, value, filename = field
    named = "" if filename is None else f'; filename="{filename}"'
    return f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"{named}\r\n\r\n{value}\r\n'
