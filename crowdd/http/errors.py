"""Errors of the API: the table from domain errors to statuses and names, and every ``code`` with its meaning."""

from __future__ import annotations

import secrets as random
from http import HTTPStatus
from typing import NotRequired, TypedDict

import attrs
import orjson

from crowdd.kernel import errors
from crowdd.kernel.languages import _

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


@attrs.frozen
class ErrorCode:
    """A stable word for programs. ``sort`` is the class of the errors that carry it; None: not one of ours."""

    code: str
    sort: type[errors.CrowddError] | None
    meaning: str

    @property
    def status(self) -> int:
        """The status code of the answer."""
        return self._row[0]

    @property
    def name(self) -> str:
        """The ``exception_cls`` of the error object."""
        return self._row[1]

    @property
    def _row(self) -> tuple[int, str]:
        return UNKNOWN if self.sort is None else status_of_class(self.sort)


CODES: tuple[ErrorCode, ...] = (
    ErrorCode("bad_request", errors.InvalidRequestError, "The request is invalid."),
    ErrorCode("no_webhook", errors.InvalidRequestError, "The project has no webhook address."),
    ErrorCode("csrf", errors.InvalidRequestError, "The form's token is missing or expired. Load the form again."),
    ErrorCode("reserved_attribute", errors.ReservedFieldError, "The body sets an attribute that only the server sets."),
    ErrorCode("sign_in_required", errors.AnonymousError, "Sign in, or send an API key. A wrong key counts as no key."),
    ErrorCode("signed_out", errors.AnonymousError, "The session of the account in X-Volunteer has ended."),
    ErrorCode(
        "members_only", errors.AnonymousError, "The project does not accept answers from people without an account."
    ),
    ErrorCode("invalid_header", errors.AnonymousError, "An external user must send Authorization: Bearer <token>."),
    ErrorCode("decode_error", errors.AnonymousError, "The external user's token is not valid for this project."),
    ErrorCode("wrong_project", errors.AnonymousError, "The external user's token was made for another project."),
    ErrorCode("token_expired", errors.AnonymousError, "The external user's token has expired. Request a new one."),
    ErrorCode("wrong_external_uid", errors.AnonymousError, "The token was made for another external user."),
    ErrorCode(
        "token_names_nobody", errors.AnonymousError, "The project requires tokens that name their external user."
    ),
    ErrorCode("forbidden", errors.ForbiddenError, "You are signed in but may not do this."),
    ErrorCode("cross_site", errors.ForbiddenError, "Cross-site cookie request refused."),
    ErrorCode(
        "cross_origin", errors.ForbiddenError, "A page of another site needs an API key to request or answer tasks."
    ),
    ErrorCode("opaque_origin", errors.ForbiddenError, "The request comes from a page without an origin."),
    ErrorCode("presenter", errors.ForbiddenError, "A presenter requested a project other than its own."),
    ErrorCode("project_password", errors.ForbiddenError, "The project requires a password: send X-Project-Password."),
    ErrorCode("paused", errors.ForbiddenError, "The project is paused."),
    ErrorCode("barred", errors.ForbiddenError, "The project's owner does not accept answers from this volunteer."),
    ErrorCode(
        "batch_full", errors.ForbiddenError, "The batch has reached its maximum number of files. Start another one."
    ),
    ErrorCode("site_full", errors.ForbiddenError, "The site has no space for more media files."),
    ErrorCode("no_files", errors.ForbiddenError, "The project does not accept files of volunteers."),
    ErrorCode(
        "files_full", errors.ForbiddenError, "The project has as many bytes of files of volunteers as it accepts."
    ),
    ErrorCode("file_used", errors.ForbiddenError, "Another answer has a file that this answer names."),
    ErrorCode("step_taken", errors.ConflictError, "The project is the next step of another project."),
    ErrorCode("too_many_steps", errors.ConflictError, "The project has as many next steps as it may have."),
    ErrorCode("quota_exceeded", errors.ForbiddenError, "The account's projects would exceed their quota."),
    ErrorCode("not_ready", errors.ForbiddenError, "The project has no presenter or no tasks."),
    ErrorCode("no_draft", errors.ForbiddenError, "Only drafts have a “try it” link."),
    ErrorCode("no_lease", errors.ForbiddenError, "You have not requested this task. Request it from newtask first."),
    ErrorCode("duplicate", errors.ForbiddenError, "You have answered this task already."),
    ErrorCode("invalid_task", errors.ForbiddenError, "The task does not exist or belongs to another project."),
    ErrorCode("gold_exists", errors.ForbiddenError, "The task is a gold task already."),
    ErrorCode("in_result", errors.ForbiddenError, "The answer is part of a result and cannot be changed."),
    ErrorCode("external_uid", errors.ForbiddenError, "The body and the address name different external users."),
    ErrorCode("key_missing", errors.ForbiddenError, "The project's secret key is missing."),
    ErrorCode("session_needed", errors.ForbiddenError, "Sign in: an API key or token may not do this."),
    ErrorCode(
        "proof_needed", errors.ProofNeededError, "Give your password or a second factor at /account/prove first."
    ),
    ErrorCode("second_factor_needed", errors.SecondFactorNeededError, "Administrators need a second factor here."),
    ErrorCode("token_scope", errors.ForbiddenError, "The scope of the API token does not allow this."),
    ErrorCode("not_found", errors.NotFoundError, "Not found, or not visible to you."),
    ErrorCode("not_configured", errors.NotFoundError, "The operator has not set this up."),
    ErrorCode(
        "method_not_allowed", errors.MethodError, "The address does not support this method. See the Allow header."
    ),
    ErrorCode("misdirected", errors.MisdirectedError, "The Host header does not name a host of this server."),
    ErrorCode(
        "precondition_failed",
        errors.PreconditionError,
        "The object has changed since it was read (If-Match). Read it again.",
    ),
    ErrorCode("decided_before", errors.PreconditionError, "Somebody else has decided the task meanwhile."),
    ErrorCode(
        "result_changed", errors.PreconditionError, "The task has another result by now, or none. Read it again."
    ),
    ErrorCode("file_too_large", errors.TooLargeError, "The file is larger than the limit for its kind."),
    ErrorCode("too_large", errors.TooLargeError, "A body, file, address or header is larger than the server accepts."),
    ErrorCode("too_many_rows", errors.TooLargeError, "The array has more rows than one request may hold."),
    ErrorCode("attribute_too_large", errors.TooLargeError, "An attribute of the body is larger than it may be."),
    ErrorCode(
        "too_many_marks", errors.TooLargeError, "The answer has more marks than an answer to the project may have."
    ),
    ErrorCode("too_many_files", errors.TooLargeError, "The answer names more files than its project allows."),
    ErrorCode("unknown_attribute", errors.UnknownFieldError, "The query or the body names an unknown attribute."),
    ErrorCode("invalid_value", errors.InvalidValueError, "A value has the wrong type or is out of range."),
    ErrorCode(
        "no_right_answer", errors.InvalidValueError, "The answers to the task do not agree: say which one is right."
    ),
    ErrorCode("nothing_to_order", errors.InvalidValueError, "No open task has what tasks are to be ordered by."),
    ErrorCode("circle", errors.InvalidValueError, "A project would come before itself."),
    ErrorCode("repeated_column", errors.InvalidValueError, "Two things of a rule would go into the same column."),
    ErrorCode("not_installed", errors.InvalidValueError, "This server lacks a library for that."),
    ErrorCode("text_too_costly", errors.CostlyTextError, "A text is too long or takes too long to render."),
    ErrorCode("bad_file", errors.InvalidValueError, "The file cannot be used: its kind, its size, or it is damaged."),
    ErrorCode(
        "unknown_file", errors.InvalidValueError, "The answer names a file that is not the volunteer's, or has expired."
    ),
    ErrorCode("system_file", errors.InvalidValueError, "The file belongs to an operating system. Leave it out."),
    ErrorCode("invalid_answer_fields", errors.InvalidValueError, "`info.answers` does not follow its format."),
    ErrorCode("invalid_questions", errors.InvalidValueError, "`info.questions` does not follow its format."),
    ErrorCode(
        "no_such_language",
        errors.InvalidValueError,
        "Pages do not have the language, or it is that of the project itself.",
    ),
    ErrorCode("another_language", errors.InvalidValueError, "The body is a translation into another language."),
    ErrorCode(
        "no_source_language",
        errors.InvalidValueError,
        "The project does not say in which language its texts are (`info.language`).",
    ),
    ErrorCode(
        "invalid_guide",
        errors.InvalidValueError,
        "`info.guided_tutorial` or `info.field_guide` does not follow its format.",
    ),
    ErrorCode("missing_attribute", errors.InvalidValueError, "The body lacks a required attribute."),
    ErrorCode("refused_target", errors.RefusedTargetError, "Target address not allowed."),
    ErrorCode("bad_json", errors.InvalidValueError, "The body is not JSON."),
    ErrorCode("bad_multipart", errors.InvalidValueError, "The multipart body is broken."),
    ErrorCode("batch_closed", errors.ConflictError, "The batch takes no further files. Start another one."),
    ErrorCode("upload_complete", errors.ConflictError, "The file has already been uploaded."),
    ErrorCode(
        "changed_meanwhile",
        errors.ConflictError,
        "Someone else has changed what the form changes since it was read.",
    ),
    ErrorCode(
        "conflict",
        errors.ConflictError,
        "The value must be unique and is taken, or other rows still refer to this one.",
    ),
    ErrorCode(
        "replay_under_way", errors.ConflictError, "Another range of events is being sent again. Wait until it is done."
    ),
    ErrorCode(
        "outdated_cursor",
        errors.OutdatedError,
        "What follows the cursor is not known any more. Begin a new copy: send `since` without a value.",
    ),
    ErrorCode("not_kept", errors.NotKeptError, "What was at the time in `at` is not known any more."),
    ErrorCode("idempotency_key_reused", errors.IdempotencyError, "The Idempotency-Key was used with a different body."),
    ErrorCode("too_many_requests", errors.TooManyRequestsError, "The limit is used up. Wait for Retry-After seconds."),
    ErrorCode("too_many_attempts", errors.TooManyRequestsError, "Too many attempts. Try again after Retry-After."),
    ErrorCode(
        "queue_full",
        errors.TooManyRequestsError,
        "You have too many background tasks waiting. Wait until some are done.",
    ),
    ErrorCode("uploads_full", errors.TooManyRequestsError, "Too many files are being sent. Finish some first."),
    ErrorCode("too_many_streams", errors.TooManyRequestsError, "Too many streams are open from this address."),
    ErrorCode(
        "too_many_downloads", errors.TooManyRequestsError, "Too many files are being downloaded, or were recently."
    ),
    ErrorCode("internal", None, "Something went wrong on the server. The error has been logged."),
    ErrorCode(
        "unavailable", errors.UnavailableError, "The database is unavailable or busy. Try again after Retry-After."
    ),
    ErrorCode(
        "media_unavailable",
        errors.MediaStoreError,
        "The store of media files is unavailable. Try again after Retry-After.",
    ),
    ErrorCode("busy", errors.BusyError, "Too many passwords are being checked. Try again after Retry-After."),
    ErrorCode("timeout", errors.StatementTimeoutError, "The request takes too long. Narrow it."),
)


def target_of(path: str) -> str:
    """The kind that an address below /api names."""
    words = [word for word in path.split("/") if word][1:]
    if len(words) >= 2 and words[-1] in ("newtask", "userprogress"):
        return words[-1]
    return words[0][:100].encode("utf-8", "replace").decode() if words else "api"


def bare_refusal(error: Exception, method: bytes, address: bytes) -> bytes:
    """A whole HTTP answer with an error object, for what never became a request."""
    target = target_of(address.partition(b"?")[0].decode("ascii", "replace"))
    shown = error_object(error, method.decode("ascii", "replace"), target)
    body, status = orjson.dumps(shown), shown["status_code"]
    head = (
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}",
        "Server: crowdd",
        "Connection: close",
        *(f"{name}: {value}" for name, value in headers_of(error).items()),
        f"X-Request-Id: {random.token_hex(8)}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
    )
    return "\r\n".join((*head, "", "")).encode() + body
