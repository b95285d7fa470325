"""Loaded by schemathesis: what it needs to know to judge crowdd fairly. Every check is on.

A failure is dropped only where the interface or a decision (docs/decisions, docs/errors.md) asks for that very answer;
each of these stands here with its reason.
"""

from __future__ import annotations

import os
import re
from datetime import datetime, timedelta
from typing import Any

import schemathesis
from hypothesis import strategies
from jsonschema_rs import Draft202012Validator
from schemathesis.core.failures import AcceptedNegativeData, Failure
from schemathesis.openapi.checks import IgnoredAuth, MissingHeaderNotRejected, RejectedPositiveData

from crowdd.kinds import names
from crowdd.kinds.types import TIME_PREFIX

# Well-formed requests that are refused for what the database holds, or for where an address leads: no schema can say so.
REFUSED_FOR_THE_STATE_OF_THINGS = {
    "conflict": "Errors: a unique name that is taken is 415 DBIntegrityError, never 409",
    "idempotency_key_reused": "Idempotency-Key: the same key with another body is 422",
    "precondition_failed": "If-Match: 412 when the object is another one (RFC 9110, 13.1.1)",
    "bad_request": "Errors: a category that does not exist is 400 BadRequest",
    "circle": "Chains: a project would come before itself",
    "another_language": "Translations: the language in the body is not that of the address",
    "no_source_language": "Translations: of a project that names its language",
    "not_installed": "Analyses: some methods need libraries that an installation may lack",
    "no_right_answer": "Gold tasks: answers that do not agree do not say which one is right",
    "nothing_to_order": "Order of tasks: by predictions or numbers that open tasks have",
    "repeated_column": "Chains: the names of two columns, which no schema compares, are the same",
    "refused_target": "Outgoing requests: a webhook leads to a public host, which its text alone does not tell",
}
# Parameters of an export that need others: no schema of a parameter can say so.
_ALONE = re.compile(r"(analysis|follow|rows=\w+|since|volunteer) requires ")
PROJECT = int(os.environ["CONFORMANCE_PROJECT"])
TASKS = [int(word) for word in os.environ["CONFORMANCE_TASKS"].split()]
_YES, _NO = ("true", "yes", "on", "y", "1"), ("false", "no", "off", "n", "0")
_YES_AND_NO = dict.fromkeys(_YES, True) | dict.fromkeys(_NO, False)

moments = strategies.datetimes(min_value=datetime(1000, 1, 1), max_value=datetime(9000, 1, 1) - timedelta(days=1))
forms = strategies.sampled_from(["%Y", "%Y-%m", "%Y-%m-%d", "%Y-%m-%dT%H", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S.%f"])
schemathesis.openapi.format(names.FREE_FORMAT, strategies.text("abé王 ", min_size=1, max_size=30).filter(str.strip))
schemathesis.openapi.format(names.ADDRESS_FORMAT, strategies.text("abcxyz019éα王._-", min_size=3, max_size=30))
schemathesis.openapi.format(TIME_PREFIX, strategies.builds(lambda moment, form: moment.strftime(form), moments, forms))


@schemathesis.hook
def filter_failure(context: Any, failure: Failure, case: Any, response: Any) -> bool:
    """Whether a failure counts."""
    if isinstance(failure, RejectedPositiveData):
        if str(case.path).endswith("/export") and needs_another(response):
            return False
        return code_of(response) not in REFUSED_FOR_THE_STATE_OF_THINGS
    if isinstance(failure, AcceptedNegativeData):
        # In a form everything is text: the null and the list that were to be refused arrive as "null" and "[]".
        return case.media_type != "multipart/form-data" and not is_coerced(case)
    if isinstance(failure, IgnoredAuth):
        # Asked again without a key after a DELETE that worked: 404, as for everything that does not exist.
        return not (case.method == "DELETE" and "got `404" in failure.message)
    if isinstance(failure, MissingHeaderNotRejected):
        # The token for external users: 403 without the project's secret key, as clients of the interface know it.
        return code_of(response) != "key_missing"
    return True


@schemathesis.hook
def map_body(context: Any, body: Any) -> Any:
    """The same body about a project and a task that exist, or nearly everything would be 404."""
    for one in body if isinstance(body, list) else [body]:
        if isinstance(one, dict) and type(one.get("project_id")) is int and 0 <= one["project_id"] < 2**63:
            one["project_id"] = PROJECT
            if type(one.get("task_id")) is int and 0 <= one["task_id"] < 2**63:
                one["task_id"] = TASKS[one["task_id"] % len(TASKS)]
    return body


@schemathesis.hook
def filter_case(context: Any, case: Any) -> bool:
    """The project that the others need stays."""
    path = case.path_parameters or {}
    return not (case.method == "DELETE" and str(path.get("object_id")) == str(PROJECT))


def code_of(response: Any) -> str:
    """The code of an error object."""
    return _said(response, "error_code")


def needs_another(response: Any) -> bool:
    """Whether a parameter of an export was refused because it stands without another one that it needs."""
    return bool(_ALONE.match(_said(response, "exception_msg")))


def _said(response: Any, name: str) -> str:
    try:
        body = response.json()
    except ValueError:
        return ""
    return str(body.get(name, "")) if isinstance(body, dict) else ""


def is_coerced(case: Any) -> bool:
    """Whether the only fault of a body is a value that its type can hold all the same: "5" for 5, " a" for "a"."""
    document = case.operation.schema.raw_schema
    content = case.operation.definition.raw.get("requestBody", {}).get("content", {})
    if case.media_type not in content:
        return False
    schema = content[case.media_type]["schema"]
    validator = Draft202012Validator({**schema, "components": document["components"]})
    return bool(validator.is_valid(coerced(case.body, schema, document)))


def coerced(value: Any, schema: dict[str, Any], document: dict[str, Any]) -> Any:
    """The value with texts read as the numbers and truth values that the schema wants."""
    if "$ref" in schema:
        return coerced(value, document["components"]["schemas"][schema["$ref"].rpartition("/")[2]], document)
    if "anyOf" in schema:
        wanted = "array" if isinstance(value, list) else "object"
        one = next((it for it in schema["anyOf"] if (it.get("type") == "array") == (wanted == "array")), {})
        return coerced(value, one, document)
    if isinstance(value, list) and "items" in schema:
        return [coerced(item, schema["items"], document) for item in value]
    if isinstance(value, dict) and "properties" in schema:
        known = {name: schema["properties"].get(name, {}) for name in value}
        # What only the server says (links, counters) may stand in a body and is ignored.
        writable = {name: item for name, item in value.items() if not known[name].get("readOnly")}
        return {name: coerced(item, known[name], document) for name, item in writable.items()}
    return _held(value, schema)


def _held(value: Any, schema: dict[str, Any]) -> Any:
    types = schema.get("type", "")
    if "boolean" in types and isinstance(value, str | int):
        return _YES_AND_NO.get(str(value).strip().lower(), value)
    if not isinstance(value, str):
        return value
    try:
        return int(value) if "integer" in types else float(value) if "number" in types else value.strip()
    except ValueError:
        return value
