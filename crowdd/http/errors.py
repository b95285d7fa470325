"""The one table from domain errors to status codes and to the names that clients of the interface know."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from crowdd import errors
from crowdd.languages import _

# Most special first; the first that fits counts.
TABLE: tuple[tuple[type[errors.CrowddError], int, str], ...] = (
    (errors.NotFoundError, 404, "NotFound"),
    (errors.AnonymousError, 401, "Unauthorized"),
    (errors.ProofNeededError, 403, "Forbidden"),
    (errors.SecondFactorNeededError, 403, "Forbidden"),
    (errors.ForbiddenError, 403, "Forbidden"),
    (errors.UnknownFieldError, 415, "AttributeError"),
    (errors.ReservedFieldError, 400, "BadRequest"),
    (errors.InvalidRequestError, 400, "BadRequest"),
    (errors.RefusedTargetError, 415, "ValueError"),
    (errors.CostlyTextError, 415, "ValueError"),
    (errors.InvalidValueError, 415, "ValueError"),
    (errors.ConflictError, 415, "DBIntegrityError"),
    (errors.MethodError, 405, "MethodNotAllowed"),
    (errors.MisdirectedError, 421, "MisdirectedRequest"),
    (errors.TooLargeError, 413, "RequestEntityTooLarge"),
    (errors.PreconditionError, 412, "PreconditionFailed"),
    (errors.OutdatedError, 410, "Gone"),
    (errors.NotKeptError, 410, "Gone"),
    (errors.IdempotencyError, 422, "UnprocessableEntity"),
    (errors.TooManyRequestsError, 429, "TooManyRequests"),
    (errors.StatementTimeoutError, 503, "ServiceUnavailable"),
    (errors.BusyError, 503, "ServiceUnavailable"),
    (errors.MediaStoreError, 503, "ServiceUnavailable"),
    (errors.UnavailableError, 503, "ServiceUnavailable"),
)
UNKNOWN = (500, "InternalServerError")
_UNIQUE = {
    "account_name": _("A user with this name exists already."),
    "account_name_skeleton": _("A user whose name looks the same exists already. Choose another name."),
    "account_email_addr": _("An account with this e-mail address already exists."),
    "project_name": _("A project with this name exists already."),
    "project_name_skeleton": _("A project whose name looks the same exists already. Choose another name."),
    "project_short_name": _("A project with this short_name exists already."),
    "project_short_name_skeleton": _("A project whose short_name looks the same exists already. Choose another one."),
    "category_name": _("A category with this name exists already."),
    "category_name_skeleton": _("A category whose name looks the same exists already. Choose another name."),
    "category_short_name": _("A category with this short_name exists already."),
    "category_short_name_skeleton": _("A category whose short_name looks the same exists already. Choose another one."),
}


class ErrorObject(TypedDict):
    """The body of a failed API request (interface: error-object)."""

    status: str
    status_code: int
    action: str
    target: str
    exception_cls: str
    exception_msg: str
    error_code: str
    hint: str
    item: NotRequired[int]


def status_of(error: Exception) -> tuple[int, str]:
    """Status code and exception class of an error; a stranger is 500."""
    return status_of_class(type(error))


def status_of_class(sort: type[Exception]) -> tuple[int, str]:
    """The same of every error of a class."""
    for kind, status, name in TABLE:
        if issubclass(sort, kind):
            return status, name
    return UNKNOWN


def message_of(error: Exception) -> str:
    """What people may read of an error: never SQL, a traceback or a class path; what they sent as far as it is text."""
    message = _message(error)
    readable = message.encode("utf-8", "replace").decode()
    return message if readable == message else readable  # a Sentence stays one


def _message(error: Exception) -> str:
    if isinstance(error, errors.ConflictError):
        return _UNIQUE.get(error.constraint) or _own_message(error) or _("This value must be unique and is taken.")
    if isinstance(error, errors.MethodError):
        return _own_message(error) or _("This address does not support the method.")
    if isinstance(error, errors.CrowddError):
        return _own_message(error) or _("The request cannot be carried out.")
    return _("Something went wrong on our side. The error has been logged.")


def _own_message(error: Exception) -> str:
    """The words of an error as they were given: ``str()`` would forget that they are a Sentence."""
    return error.args[0] if error.args and isinstance(error.args[0], str) else str(error)


def headers_of(error: Exception) -> dict[str, str]:
    """Headers that belong to an error: Allow, Retry-After."""
    if isinstance(error, errors.MethodError):
        return {"Allow": ", ".join(error.allowed)}
    if isinstance(error, errors.TooManyRequestsError | errors.UnavailableError):
        return {"Retry-After": str(error.retry_after)}
    if isinstance(error, errors.StatementTimeoutError):
        return {"Retry-After": "1"}
    return {}


def error_object(error: Exception, method: str, target: str) -> ErrorObject:
    """The body of a failed API request (interface: error-object).

    ``item`` is there where one element of an array is the cause: its index, from 0.
    """
    status, name = status_of(error)
    known = isinstance(error, errors.CrowddError)
    item: int | None = error.item if known else None  # type: ignore[attr-defined]
    message = message_of(error)
    shown: ErrorObject = {
        "status": "failed",
        "status_code": status,
        "action": "GET" if method == "HEAD" else method,
        "target": target,
        "exception_cls": name,
        "exception_msg": message if item is None else f"item {item}: {message}",
        "error_code": error.code if known else "internal",  # type: ignore[attr-defined]
        "hint": error.hint if known else "",  # type: ignore[attr-defined]
    }
    return shown if item is None else {**shown, "item": item}
