"""What can go wrong, as exceptions. All of them are a ``CrowddError``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from crowdd_client.upload_report import UploadReport


class CrowddError(Exception):
    """Any error of this package."""


class ApiError(CrowddError):
    """The server refused a request.

    The message is the server's. ``status`` is the HTTP status, ``exception_cls`` and ``error_code`` are the server's
    names of the error, ``hint`` may say what to do, ``item`` is the index of the element of an array that is the cause,
    and ``request_id`` is what the server's log calls the request. Programs should compare ``error_code``.
    """

    def __init__(self, message: str, status: int, body: Mapping[str, Any] | None = None, request_id: str = "") -> None:
        super().__init__(message)
        fields = body or {}
        self.status, self.request_id = status, request_id
        self.exception_cls = str(fields.get("exception_cls") or "")
        self.error_code = str(fields.get("error_code") or "")
        self.hint = str(fields.get("hint") or "")
        self.item: int | None = fields["item"] if isinstance(fields.get("item"), int) else None

    def __str__(self) -> str:
        message = super().__str__()
        return f"{message} {self.hint}" if self.hint else message


class NotFoundError(ApiError):
    """The object does not exist, or you may not see it (404)."""


class ForbiddenError(ApiError):
    """The key is missing or wrong (401), or its account has not this right (403)."""


class InvalidValueError(ApiError):
    """A value is wrong, unknown or too large (400, 413, 415, 422)."""


class ConflictError(ApiError):
    """A value is taken (``DBIntegrityError``), or the object has changed meanwhile (412)."""


class OutdatedError(ApiError):
    """A cursor cannot be continued (410). Begin a new copy, without a cursor."""


class NotKeptError(OutdatedError):
    """What was at a time is not known any more (410, ``not_kept``). The message says from when on it is."""


class RateLimitError(ApiError):
    """Too many requests (429), for longer than ``Retries.patience``."""


class ServerError(ApiError):
    """The server failed, or was busy for longer than ``Retries`` allow (5xx)."""


class ConnectionLostError(CrowddError):
    """The server could not be reached, or the connection broke, as often as ``Retries`` allow."""


class IncompleteError(CrowddError):
    """A download ended before the file did. Start it again."""


class ResumeError(CrowddError):
    """An upload cannot continue with this file of its state: the rows are others, or it is unclear what was added."""


class TooManyRefusedError(CrowddError):
    """An upload stopped because more rows were refused than ``max_refused``. ``report`` says what was added."""

    def __init__(self, message: str, report: UploadReport) -> None:
        super().__init__(message)
        self.report = report


_CLASSES: Mapping[int, type[ApiError]] = {
    400: InvalidValueError,
    401: ForbiddenError,
    403: ForbiddenError,
    404: NotFoundError,
    410: OutdatedError,
    412: ConflictError,
    413: InvalidValueError,
    415: InvalidValueError,
    422: InvalidValueError,
    429: RateLimitError,
}


def api_error(status: int, reason: str, text: str, request_id: str = "") -> ApiError:
    """The exception for a refusal with this body: an error object of the API, an error page as JSON, or anything."""
    body = _object(text)
    message = str(body.get("exception_msg") or body.get("description") or f"The server returned {status} {reason}.")
    if body.get("exception_cls") == "DBIntegrityError":
        kind: type[ApiError] = ConflictError
    elif body.get("error_code") == "not_kept":
        kind = NotKeptError
    else:
        kind = _CLASSES.get(status, ServerError if status >= 500 else ApiError)
    return kind(message, status, body, request_id)


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
