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
    ErrorCode("bad_request", errors.InvalidRequestError, "The request makes no sense as a whole."),
    ErrorCode("no_webhook", errors.InvalidRequestError, "The project names no address to tell of its events."),
    ErrorCode("csrf", errors.InvalidRequestError, "The form's token is missing or old. Load the form again."),
    ErrorCode("reserved_attribute", errors.ReservedFieldError, "The body sets what only the server sets."),
    ErrorCode("sign_in_required", errors.AnonymousError, "Sign in, or send an API key. A wrong key counts as none."),
    ErrorCode("signed_out", errors.AnonymousError, "The session of the account that X-Volunteer names is over."),
    ErrorCode("members_only", errors.AnonymousError, "The project takes no answers from people without an account."),
    ErrorCode("invalid_header", errors.AnonymousError, "An external user must send Authorization: Bearer <token>."),
    ErrorCode("decode_error", errors.AnonymousError, "The external user's token is none of the project's."),
    ErrorCode("wrong_project", errors.AnonymousError, "The external user's token was made for another project."),
    ErrorCode("token_expired", errors.AnonymousError, "The external user's token has run out. Ask for a new one."),
    ErrorCode("wrong_external_uid", errors.AnonymousError, "The token was made for another external user."),
    ErrorCode("token_names_nobody", errors.AnonymousError, "The project demands tokens that name their external user."),
    ErrorCode("forbidden", errors.ForbiddenError, "You are known, and still you may not do this."),
    ErrorCode("session_needed", errors.ForbiddenError, "An API key may not do this. Sign in."),
    ErrorCode("cross_site", errors.ForbiddenError, "A cookie may not speak for a request of another site's page."),
    ErrorCode(
        "cross_origin", errors.ForbiddenError, "A page of another site may not take or answer tasks without a key."
    ),
    ErrorCode("opaque_origin", errors.ForbiddenError, "The request comes from a page without an origin."),
    ErrorCode("presenter", errors.ForbiddenError, "A presenter asked for another project than its own."),
    ErrorCode("project_password", errors.ForbiddenError, "The project asks for a password: send X-Project-Password."),
    ErrorCode("metrics_closed", errors.ForbiddenError, "Figures are for this machine, or for who sends the token."),
    ErrorCode("paused", errors.ForbiddenError, "The project is paused and hands out no tasks."),
    ErrorCode("barred", errors.ForbiddenError, "The project's owner does not accept answers from this volunteer."),
    ErrorCode("quota_exceeded", errors.ForbiddenError, "The projects of the account would hold more than they may."),
    ErrorCode("not_ready", errors.ForbiddenError, "The project lacks its presenter or its tasks."),
    ErrorCode("no_draft", errors.ForbiddenError, "Only a draft has a link to try it."),
    ErrorCode("no_lease", errors.ForbiddenError, "You never asked for this task. Ask newtask first."),
    ErrorCode("duplicate", errors.ForbiddenError, "You have answered this task already."),
    ErrorCode("invalid_task", errors.ForbiddenError, "There is no such task, or it belongs to another project."),
    ErrorCode("in_result", errors.ForbiddenError, "The answer is part of a result and stays as it is."),
    ErrorCode("external_uid", errors.ForbiddenError, "The body and the address name different external users."),
    ErrorCode("key_missing", errors.ForbiddenError, "The project's secret key is missing."),
    ErrorCode("session_needed", errors.ForbiddenError, "Sign in: an API key or token may not do this."),
    ErrorCode(
        "proof_needed", errors.ProofNeededError, "Give your password or a second factor at /account/prove first."
    ),
    ErrorCode("second_factor_needed", errors.SecondFactorNeededError, "Administrators need a second factor here."),
    ErrorCode("token_scope", errors.ForbiddenError, "The scope of the API token does not allow this."),
    ErrorCode("not_found", errors.NotFoundError, "There is no such thing, or you must not learn that there is."),
    ErrorCode("not_configured", errors.NotFoundError, "The operator has not set this up."),
    ErrorCode("method_not_allowed", errors.MethodError, "The address has other methods: those in Allow."),
    ErrorCode("misdirected", errors.MisdirectedError, "The Host header names no host of this server."),
    ErrorCode("precondition_failed", errors.PreconditionError, "The object is not what If-Match says. Read it again."),
    ErrorCode("too_large", errors.TooLargeError, "A body, file, address or header is larger than the server takes."),
    ErrorCode("too_many_rows", errors.TooLargeError, "The array has more rows than one request may hold."),
    ErrorCode("attribute_too_large", errors.TooLargeError, "An attribute of the body is larger than it may be."),
    ErrorCode("unknown_attribute", errors.UnknownFieldError, "The query or the body names an unknown attribute."),
    ErrorCode("invalid_value", errors.InvalidValueError, "A value has the wrong type or is out of range."),
    ErrorCode("text_too_costly", errors.CostlyTextError, "A text is too long, or too dear to be laid out."),
    ErrorCode("missing_attribute", errors.InvalidValueError, "The body lacks an attribute that must be given."),
    ErrorCode("refused_target", errors.RefusedTargetError, "The address of another server is none that crowdd asks."),
    ErrorCode("bad_json", errors.InvalidValueError, "The body is not JSON."),
    ErrorCode("bad_multipart", errors.InvalidValueError, "The multipart body is broken."),
    ErrorCode("conflict", errors.ConflictError, "The value must be unique and is taken, or others still need the row."),
    ErrorCode("replay_under_way", errors.ConflictError, "Another range of events is just being sent once more."),
    ErrorCode("idempotency_key_reused", errors.IdempotencyError, "The Idempotency-Key came back with another body."),
    ErrorCode("too_many_requests", errors.TooManyRequestsError, "The limit is used up. Wait for Retry-After seconds."),
    ErrorCode("too_many_attempts", errors.TooManyRequestsError, "Too many attempts. Try again after Retry-After."),
    ErrorCode("queue_full", errors.TooManyRequestsError, "So much work waits for you that no more is taken."),
    ErrorCode("too_many_streams", errors.TooManyRequestsError, "The address has as many streams open as it may have."),
    ErrorCode(
        "too_many_downloads", errors.TooManyRequestsError, "Too many files are being downloaded, or were lately."
    ),
    ErrorCode("internal", None, "Something went wrong on the server's side. It has been written down."),
    ErrorCode("unavailable", errors.UnavailableError, "The database is away or busy. Try again after Retry-After."),
    ErrorCode("busy", errors.BusyError, "Too many passwords are being checked. Try again after Retry-After."),
    ErrorCode("timeout", errors.StatementTimeoutError, "The request asks for too much at once. Narrow it."),
)
