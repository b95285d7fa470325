"""Bodies that are declared: the same mistake is the same error in each of them, and none is parsed elsewhere."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
import pytest_twisted
from support.checks.shows import shows

import crowdd
from crowdd import features
from crowdd.kernel.errors import CrowddError, InvalidValueError, UnknownFieldError
from crowdd.kinds.body import Body, Listed, Nested, key
from crowdd.kinds.types import Integer, Text, Type

for module in pkgutil.walk_packages(features.__path__, "crowdd.features."):
    if module.name.endswith("api"):
        importlib.import_module(module.name)  # it names its bodies

PACKAGE = Path(crowdd.__file__).parent
# Where bodies become Python: for declared ones, for forms, and for kinds (PUT /api/result takes an array of results).
PARSERS = {"http/steps.py", "http/request.py", "http/api/objects.py", "features/results/api.py"}


def declared(of: type[Body] = Body) -> Iterator[type[Body]]:
    for body in of.__subclasses__():
        if body.__module__.startswith("crowdd."):
            yield body
        yield from declared(body)


def valid_value(schema: dict[str, Any]) -> Any:
    schema = {**schema, **schema.get("anyOf", [{}])[0]}
    if "enum" in schema:
        return schema["enum"][0]
    if "properties" in schema:
        return {name: valid_value(schema["properties"][name]) for name in schema["required"]}
    values = {"integer": schema.get("minimum", 1), "number": schema.get("minimum", 1), "string": "a", "boolean": True}
    return [valid_value(schema["items"])] if schema.get("type") == "array" else values.get(schema.get("type", ""))


def valid_body(body: type[Body]) -> dict[str, Any]:
    """One with as few keys as possible."""
    schema = body.schema()
    chosen = schema.get("oneOf", [{"required": []}])[0]["required"]
    return {name: valid_value(schema["properties"][name]) for name in (*schema["required"], *chosen)}


def wrong_values(schema: dict[str, Any], type_: Type) -> Iterator[tuple[Any, str, int | None]]:
    """Values that a key refuses, each with the rest of its sentence, and the index of the element that is refused."""
    inner = schema.get("anyOf", [schema])[0]
    if inner is schema and "type" in schema:
        yield None, " must not be null.", None
    if "enum" in inner:
        words = ", ".join(filter(None, inner["enum"]))
        yield from ((value, f" must be one of {words}.", None) for value in ("nonsense", 1, []))
        return
    sorts = {
        "integer": " is not an integer.",
        "number": " is not a number.",
        "string": " is not a string.",
        "boolean": " must be true or false.",
        "array": " is not an array.",
        "object": " must be an object.",
    }
    if (sort := inner.get("type")) in sorts:
        yield {} if sort != "object" else [], sorts[sort], None
    if "minimum" in inner and inner["minimum"] > -(2**63):
        low, high = inner["minimum"], inner["maximum"]
        number = f"{low - 1:g}" if sort == "number" else str(low - 1)
        bounds = f"{low:g} and {high:g}" if sort == "number" else f"{low} and {high}"
        yield low - 1, f" must be between {bounds} (got {number}).", None
    if sort == "string":
        maximum = type_.maximum if isinstance(type_, Text) else inner.get("maxLength", 10_000)
        yield "a" * (maximum + 1), f" may have at most {maximum:,} characters (got {maximum + 1:,}).", None
        yield "a\0", " contains a NUL or a lone surrogate.", None
    if sort == "array":
        one = valid_value(inner["items"])
        yield [one] * (inner["maxItems"] + 1), f" must have {inner.get('minItems', 0):,} to ", None
        if item := inner["items"].get("type"):
            yield [one, [] if item == "object" else {}], f"[1]`{sorts[item]}", 1


def refusal(body: type[Body], value: object) -> CrowddError:
    with pytest.raises(CrowddError) as caught:
        body.parse(value)
    return caught.value


@shows("format-body")
@pytest.mark.parametrize("body", sorted({*declared()}, key=lambda body: body.__name__), ids=lambda body: body.__name__)
def test_the_same_mistake_is_the_same_error(body: type[Body]):
    valid, schema = valid_body(body), body.schema()
    body.parse(valid)
    for value in (None, [valid], "word", 1, True):
        error = refusal(body, value)
        assert (type(error), str(error)) == (InvalidValueError, "The body is not a JSON object."), value
    error = refusal(body, {**valid, "nonsense": 1})
    known = ", ".join(schema["properties"]) or "none"
    assert (type(error), str(error)) == (
        UnknownFieldError,
        f"Unknown attribute nonsense. Known attributes: {known}.",
    )
    for name in schema["required"]:
        error = refusal(body, {other: value for other, value in valid.items() if other != name})
        assert (error.code, str(error)) == ("missing_attribute", f"`{name}` is missing.")
    for name, inner in schema["properties"].items():
        for value, words, item in wrong_values(inner, attrs.fields_dict(body)[name].metadata["field"].type):
            error = refusal(body, {**valid, name: value})
            place = f"`{name}" if words.startswith("[") else f"`{name}`"
            assert (type(error), error.code, error.item) == (InvalidValueError, "invalid_value", item), (name, value)
            assert str(error).removeprefix(f"item {item}: ").startswith(f"{place}{words}"), (str(error), words)
    if "oneOf" in schema:
        choices = [one["required"][0] for one in schema["oneOf"]]
        names = ", ".join(choices)
        error = refusal(body, {name: value for name, value in valid.items() if name not in choices})
        assert (error.code, str(error)) == ("missing_attribute", f"Send one of {names}.")
        second = {choices[1]: valid_value(schema["properties"][choices[1]])}
        error = refusal(body, valid | second)
        assert (error.code, str(error)) == ("invalid_value", f"Send only one of {names}.")


class InnerBody(Body):
    size: int = key(Integer(minimum=1))


class OuterBody(Body, at_most_one=("one", "other")):
    inner: InnerBody | None = key(Nested(of=InnerBody), default=None)
    rows: list[InnerBody] = key(Listed(of=Nested(of=InnerBody), maximum=3), default=())
    one: str = key(Text(), default="")
    other: str = key(Text(), default="")


@pytest.mark.parametrize(
    ("value", "words", "item"),
    [
        ({"inner": {"size": 0}}, f"`inner.size` must be between 1 and {2**63 - 1} (got 0).", None),
        ({"inner": {}}, "`inner.size` is missing.", None),
        ({"inner": 5}, "`inner` must be an object.", None),
        ({"inner": {"sice": 1}}, "Unknown attribute inner.sice. Known attributes: size.", None),
        ({"rows": [{"size": 1}, {"size": "x"}]}, "`rows[1].size` is not an integer.", 1),
        ({"one": "a", "other": "b"}, "Send only one of one, other.", None),
    ],
)
def test_an_error_names_the_path_of_the_value(value: object, words: str, item: int | None):
    error = refusal(OuterBody, value)
    assert (str(error).removeprefix(f"item {item}: "), error.item) == (words, item)


def test_values_are_typed_and_defaults_are_filled_in():
    outer = OuterBody.parse({"inner": {"size": "5"}, "rows": [{"size": 2}]})
    assert outer == OuterBody(inner=InnerBody(size=5), rows=[InnerBody(size=2)])
    assert (outer.one, OuterBody.schema()["not"]) == ("", {"required": ["one", "other"]})


@pytest_twisted.ensureDeferred
async def test_a_route_refuses_a_broken_body_before_its_handler_runs(served):
    person = await served.person("ada")
    routes = [route for route in served.routes if route.body is not None]
    assert len(routes) > 15
    for route in routes:
        path = "/".join("1" if word.startswith("<") else word for word in route.path.split("/"))
        for body, code in ((b"{", "bad_json"), (b"[]", "invalid_value"), (b'{"nonsense": 1}', "unknown_attribute")):
            answer = await person.request(route.method, path, data=body)
            assert (answer.status, answer.json()["error_code"]) == (415, code), (path, answer.text)


@pytest_twisted.ensureDeferred
async def test_every_route_with_a_body_declares_it(served):
    for route in served.routes:
        takes = "body" in inspect.signature(route.handler).parameters
        assert takes == (route.body is not None), route.path
        if route.body is None and route.operation is not None and route.operation.bodies:
            kinds = "Creation'" in str(route.operation.bodies) or "Change'" in str(route.operation.bodies)
            other = {("PUT", "/api/result"), ("PUT", "/api/task/<int:object_id>/file/<key>")}
            assert kinds or (route.method, route.path) in other, route.path


def test_bodies_are_parsed_in_one_place():
    callers = {
        str(file.relative_to(PACKAGE))
        for file in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Attribute) and node.attr == "json_body"
    }
    assert callers == PARSERS
