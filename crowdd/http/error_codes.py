"""Every ``code`` of the API's error objects: with which status it comes, and what it means."""

from __future__ import annotations

import attrs

from crowdd import errors
from crowdd.http.errors import UNKNOWN, status_of_class


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
    ErrorCode(
        "metrics_closed", errors.ForbiddenError, "Metrics are only for local requests or requests with the token."
    ),
    ErrorCode("paused", errors.ForbiddenError, "The project is paused."),
    ErrorCode("barred", errors.ForbiddenError, "The project's owner does not accept answers from this volunteer."),
    ErrorCode(
        "batch_full", errors.ForbiddenError, "The batch has reached its maximum number of files. Start another one."
    ),
    ErrorCode("site_full", errors.ForbiddenError, "The site has no space for more media files."),
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
    ErrorCode("unknown_attribute", errors.UnknownFieldError, "The query or the body names an unknown attribute."),
    ErrorCode("invalid_value", errors.InvalidValueError, "A value has the wrong type or is out of range."),
    ErrorCode(
        "no_right_answer", errors.InvalidValueError, "The answers to the task do not agree: say which one is right."
    ),
    ErrorCode("not_installed", errors.InvalidValueError, "This server lacks the libraries of that method."),
    ErrorCode("text_too_costly", errors.CostlyTextError, "A text is too long or takes too long to render."),
    ErrorCode("system_file", errors.InvalidValueError, "The file belongs to an operating system. Leave it out."),
    ErrorCode("invalid_answer_fields", errors.InvalidValueError, "`info.answers` does not follow its format."),
    ErrorCode("invalid_questions", errors.InvalidValueError, "`info.questions` does not follow its format."),
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
